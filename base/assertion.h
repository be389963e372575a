/*
 * A failed assert() is logged like any other error, with the object that the thread was working on, before
 * the process is aborted. The service manager starts shootd again, and the store has all that was
 * acknowledged.
 */
#ifndef BASE_ASSERTION_H
#define BASE_ASSERTION_H

/* Names the object that the calling thread works on from now on, for example ("cluster", "team-a/dev"). Both
 * texts are copied, long ones are cut. NULL: none. */
void assertion_about(const char *kind, const char *name);

#endif
