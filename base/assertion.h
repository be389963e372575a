/*
 * A failed assert() is logged like any other error, with the object that the thread was working on, before
 * the process is aborted. The service manager starts shootd again, and the store contains every change that
 * was acknowledged.
 */
#ifndef BASE_ASSERTION_H
#define BASE_ASSERTION_H

/* Sets the object that the calling thread works on, for example ("cluster", "team-a/dev"). A failed assert()
 * logs it. Both texts are copied; long texts are cut. NULL: the thread works on no object. */
void assertion_about(const char *kind, const char *name);

#endif
