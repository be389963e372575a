/*
 * The limits of a caller's body: each array, each map and each string of a create, PUT or PATCH, in one
 * table. openapi.yaml has the same limits (a test compares them). Arrays and maps are checked before any
 * other code iterates over them; strings are checked together with their form. Pure; any thread.
 */
#ifndef MODEL_SPEC_LIMITS_H
#define MODEL_SPEC_LIMITS_H

#include <stdint.h>

#include "base/json.h"
#include "model/problem.h"

enum spec_limit_kind {
    LIMIT_ITEMS,   /* items of an array */
    LIMIT_MEMBERS, /* members of a map */
    LIMIT_KEYS,    /* bytes of each name in a map */
    LIMIT_BYTES,   /* bytes of a string */
};

struct spec_limit {
    const char *path; /* the path below the body: names separated by '/'; '*' matches every item or member */
    enum spec_limit_kind kind;
    int64_t max;
};

/* The last row has a NULL path. The row of an outer array or map comes before the rows of the parts inside
 * it. */
extern const struct spec_limit spec_limits[];

/* The limit of values in a body; the loop thread needs 10 ms for this many. */
enum { SPEC_VALUES_MAX = 5000 };

enum spec_part { SPEC_PART_BODY, SPEC_PART_POOL };

/*
 * Adds a fault to *faults for the first array or map of a body, or of one pool, that has too many items.
 * `known` is the stored form of the same object, or NULL: a size above the limit that was accepted earlier
 * may stay, or become smaller.
 */
void spec_check_limits(const json_t *body, enum spec_part part, const json_t *known, struct problem **faults);

#endif
