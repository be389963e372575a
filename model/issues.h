/*
 * What is wrong with a cluster, or soon will be, and what to do about it: errors of Cleura, the last
 * operation, conditions, constraints, drift, versions that run out, a view that is old. Tables;
 * GA-2, GA-4. Pure; any thread; documents are only read, reference counts stay untouched.
 */
#ifndef MODEL_ISSUES_H
#define MODEL_ISSUES_H

#include "model/cluster.h"

/*
 * An array of {code, severity, source, subject, title, description, action, since, expires_at,
 * target_version}, critical ones first; the caller owns it. `op`: the open or last operation, or NULL;
 * `catalog`: of the project, or NULL.
 */
json_t *issues_of(const struct cluster *c, const struct operation *op, const json_t *catalog, wall_us now);

#endif
