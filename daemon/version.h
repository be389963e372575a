#ifndef DAEMON_VERSION_H
#define DAEMON_VERSION_H

extern const char shootd_version[];
extern const char shootd_revision[];

#endif
