/*
 * The problems of a cluster, present or expected, and the remedy for each: errors of Cleura, the last
 * operation, conditions, constraints, drift, versions that expire, an outdated view. Tables; GA-2, GA-4.
 * Pure; any thread. Documents are only read; reference counts do not change.
 */
#ifndef MODEL_ISSUES_H
#define MODEL_ISSUES_H

#include <stdbool.h>

#include "model/cluster.h"
#include "model/operation.h"

enum issue_severity { ISSUE_CRITICAL, ISSUE_WARNING, ISSUE_INFO, ISSUE_SEVERITY_MAX_ };
const char *issue_severity_name(int severity);
/* Returns -1 for an unknown name, and for NULL. */
int issue_severity_from_name(const char *name);

/* The part of the cluster's data that shows an issue. */
enum { ISSUE_SOURCE_MAX_ = 7 };
const char *issue_source_name(int source);
int issue_source_from_name(const char *name);

/* The meaning of an error code of Gardener for the user (GA-2). */
struct error_meaning {
    const char *code;
    bool user_error; /* the owner of the account can correct it */
    bool retryable;  /* Gardener tries again by itself */
    const char *action;
};

/* Returns the row of a code, never NULL: unknown codes have a row of their own. */
const struct error_meaning *model_error_meaning(const char *code);

/*
 * Converts one last error of Cleura {description, codes} and appends it to `errors`, one entry per code:
 * {code, description, user_error, retryable, action} (status.errors).
 */
void model_append_errors(json_t *errors, const json_t *last_error);

/*
 * Returns an array of {code, severity, source, subject, title, description, action, since, expires_at,
 * target_version}, critical ones first. The caller owns it. `op`: the open or last operation, or NULL;
 * `catalog`: of the project, or NULL.
 */
json_t *issues_of(const struct cluster *c, const struct operation *op, const json_t *catalog, wall_us now);

/*
 * Two cheap checks for callers that process many clusters. A cluster that is not stale has no issues when
 * both return false.
 */
/* Whether an issue is possible that does not depend on the catalog or the time. */
bool issues_are_possible(const struct cluster *c, const struct operation *op);
/* Whether a version is expired, expires soon, or is not offered any more. `images` as in struct shoot. */
bool issues_of_versions(const char *kubernetes, char **images, const json_t *catalog, wall_us now);

#endif
