/*
 * The problems of a cluster, present or near, and the remedy of each: errors of Cleura, the last operation,
 * conditions, constraints, drift, versions that run out, a view that is old. Tables; GA-2, GA-4. Pure; any
 * thread; documents are only read, reference counts stay untouched.
 */
#ifndef MODEL_ISSUES_H
#define MODEL_ISSUES_H

#include <stdbool.h>

#include "model/cluster.h"

enum issue_severity { ISSUE_CRITICAL, ISSUE_WARNING, ISSUE_INFO, ISSUE_SEVERITY_MAX_ };
const char *issue_severity_name(int severity);
/* -1 for an unknown name, and for NULL. */
int issue_severity_from_name(const char *name);

/* The part of the data of a cluster that an issue was concluded from. */
enum { ISSUE_SOURCE_MAX_ = 7 };
const char *issue_source_name(int source);
int issue_source_from_name(const char *name);

/* The meaning of an error code of Gardener for the user (GA-2). */
struct error_meaning {
    const char *code;
    bool user_error; /* the account's owner can mend it */
    bool retryable;  /* Gardener tries again by itself */
    const char *action;
};

/* The row of a code; unknown codes get a row that says so (never NULL). */
const struct error_meaning *model_error_meaning(const char *code);

/*
 * Appends one upstream last error {description, codes} to `errors` in our form, an entry per code:
 * {code, description, user_error, retryable, action} (status.errors).
 */
void model_append_errors(json_t *errors, const json_t *last_error);

/*
 * An array of {code, severity, source, subject, title, description, action, since, expires_at,
 * target_version}, critical ones first; the caller owns it. `op`: the open or last operation, or NULL;
 * `catalog`: of the project, or NULL.
 */
json_t *issues_of(const struct cluster *c, const struct operation *op, const json_t *catalog, wall_us now);

/*
 * Two cheap questions, for who looks at many clusters. A cluster that is not stale, and for which both are
 * answered by false, has no issues.
 */
/* Whether there may be one that neither the catalog nor the time alone brings about. */
bool issues_are_possible(const struct cluster *c, const struct operation *op);
/* Whether a version is over, soon over, or not offered any more. `images` as in struct shoot. */
bool issues_of_versions(const char *kubernetes, char **images, const json_t *catalog, wall_us now);

#endif
