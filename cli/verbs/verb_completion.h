/* The shells that have a completion. */
#ifndef CLI_VERBS_VERB_COMPLETION_H
#define CLI_VERBS_VERB_COMPLETION_H

/* The names of the shells; the last one is NULL. */
extern const char *const completion_shells[];

#endif
