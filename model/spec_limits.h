/*
 * How much of everything there may be in what a caller asks for: each array, each map and each string of the
 * body of a create, PUT or PATCH, in one table that openapi.yaml repeats (a test compares them). Arrays and
 * maps are looked at first, before anything goes over them; strings where their form is checked. Pure; any
 * thread.
 */
#ifndef MODEL_SPEC_LIMITS_H
#define MODEL_SPEC_LIMITS_H

#include <stdint.h>

#include "base/json.h"
#include "model/problem.h"

enum spec_limit_kind {
    LIMIT_ITEMS,   /* of an array */
    LIMIT_MEMBERS, /* of a map */
    LIMIT_KEYS,    /* bytes of each name in a map */
    LIMIT_BYTES,   /* of a string */
};

struct spec_limit {
    const char *path; /* members below the body, parted by '/'; '*' is every item or member */
    enum spec_limit_kind kind;
    int64_t max;
};

/* Ends with a NULL path; what is around comes before what is in it. */
extern const struct spec_limit spec_limits[];

enum { SPEC_VALUES_MAX = 5000 }; /* of a body in all: the loop takes 10 ms for that many */

enum spec_part { SPEC_PART_BODY, SPEC_PART_POOL };

/*
 * Adds the first array or map with too much in it of a body, or of one pool, to *faults. `known` is what is
 * stored of the same thing, or NULL: what was accepted when there were other limits may stay, and shrink.
 */
void spec_check_limits(const json_t *body, enum spec_part part, const json_t *known, struct problem **faults);

#endif
