/* The proof that a shoot is shootd's own. Loop thread. */
#ifndef RECONCILE_OPERATIONS_PROOF_H
#define RECONCILE_OPERATIONS_PROOF_H

#include "reconcile/world/entity.h"

/* Whether the create may have made a shoot. Returns false when Cleura has certainly refused the create: a
 * shoot with that name is then foreign, and must not be deleted. */
bool proof_may_have_been_made(const struct entity *e);
/* Whether a shoot that has the name of the cluster belongs to somebody else. While no uid of the cluster is
 * known, this is so when nothing shows that shootd has made the shoot: Cleura has refused the create, or the
 * create is not known any more, or the shoot is not certainly its result. */
bool proof_is_foreign(const struct entity *e, const struct shoot *shoot);
/* Whether too little of the shoot can be read to know whose it is, although the create may have made it. */
bool proof_is_unclear(const struct entity *e, const struct shoot *shoot);
/* Whether this shoot can be the result of the create, whose answer was lost or named no shoot. Such a shoot
 * has the uid that the answer named, or it was made just now, and has the requested version and pools. */
enum likeness {
    LIKENESS_NONE,     /* the shoot cannot be the result */
    LIKENESS_UNPROVEN, /* too little of the shoot can be read */
    LIKENESS_PROVEN,
};
enum likeness proof_likeness(const struct entity *e, const struct shoot *shoot);
/* Whether the shoot is certainly shootd's own. Every deletion requires this. */
bool proof_is_ours(const struct entity *e, const struct shoot *shoot);

#endif
