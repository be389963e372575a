/*
 * The cluster specification (design 5): which members exist, what each may be, what a create uses for those
 * left out. One table of members; every fault is reported at once, with the valid values (promise 5). Pure;
 * any thread.
 */
#ifndef MODEL_SPEC_H
#define MODEL_SPEC_H

#include "base/env.h"
#include "base/json.h"
#include "model/problem.h"

struct spec_context {
    const json_t *catalog;  /* of the project; NULL: checks that need it are left out */
    const json_t *defaults; /* of the project: {machine_type, minimum, ...}, or NULL */
    bool v1;                /* the account's generation: narrower names, fewer members */
    wall_us now;            /* versions that expired before it are not offered; 0: expiry is not looked at */
};

enum spec_use { SPEC_CREATE, SPEC_PUT };

/*
 * Checks a create or PUT body: {name (create only), labels, description, deletion_protection, spec}. Faults
 * are added to *faults (created on the first one).
 */
void spec_check_body(const json_t *body, enum spec_use use, const struct spec_context *context,
                     struct problem **faults);
/* Whether a cluster name is acceptable at all (gardener.md 3.1, Cleura's 15). */
bool spec_name_is_valid(const char *name);

/* The complete spec that a create sends, `name` included. Call only after spec_check_body found nothing. */
json_t *spec_resolve(const char *name, const json_t *spec, const struct spec_context *context);
/* What spec_resolve uses when the caller says nothing: for the catalog's `defaults`. */
json_t *spec_defaults(const struct spec_context *context);

/*
 * Compares what is wanted with what is there. Members that `spec` leaves out are not compared; "1.33" equals
 * "1.33.7". Appends {path, wanted, found} to `differences`; returns how many were found.
 */
size_t spec_differences(const json_t *spec, const json_t *observed, json_t *differences);

/* Whether a version entry of the catalog is expired at `now`. */
bool version_is_expired(const json_t *entry, wall_us now);
/* Compares dotted version numbers: <0, 0, >0. */
int version_compare(const char *left, const char *right);

#endif
