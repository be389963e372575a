/* The help for an unknown member of a cluster's body, for the daemon and for `shootctl`. Pure; any thread. */
#ifndef MODEL_SPEC_HINT_H
#define MODEL_SPEC_HINT_H

/* Returns "; did you mean 'labels'?", ": 'node_pools' belongs into 'spec'", or "" when no member is similar.
 * The caller frees it. */
char *spec_member_hint(const char *name);

#endif
