/* The shells that have a completion. */
#ifndef CLI_VERBS_COMPLETION_H
#define CLI_VERBS_COMPLETION_H

/* Ends with NULL. */
extern const char *const completion_shells[];

#endif
