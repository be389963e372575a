/* The version of this build: static text, set by the Makefile. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

extern const char shootd_version[];
extern const char shootd_revision[]; /* the revision of the sources */

#endif
