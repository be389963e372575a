/*
 * The problems of a cluster, present or expected, and the solution of each: errors of Cleura, the last
 * operation, conditions, constraints, drift, versions that expire, outdated data. Problems and solutions are
 * in tables (GA-2, GA-4). Pure; any thread. The functions only read documents, and do not change their
 * reference counts.
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

/* The number of sources. The source of an issue is the part of the cluster's data that shows the issue. */
enum { ISSUE_SOURCE_MAX_ = 7 };
const char *issue_source_name(int source);
int issue_source_from_name(const char *name);

/*
 * An issue is {code, severity, source, responsible, subject, title, description, action, since, expires_at,
 * target_version, operation_id, codes}. One fault is one issue: a failed or retrying cluster has one, with
 * the errors of Cleura and the failed operation in it. Arrays of issues begin with the critical issues; the
 * caller owns the arrays.
 *
 * Returns the part of a cluster's issues that is made together with the cluster's entry in the view, as an
 * object. The member `lasting` of this object has the issues that depend neither on the catalog nor on the
 * time, with one entry for each error of Cleura that the phase does not say. The member `deletion` describes
 * an open deletion. NULL: there are no such issues and no open deletion. `op` is the open or last operation,
 * or NULL. Parses documents of the cluster only when an issue is possible.
 */
json_t *issues_prepare(const struct cluster *c, const struct operation *op);

/* The facts from which all issues of a cluster are made at any time. Borrowed; texts may be NULL. */
struct issue_facts {
    const char *prepared; /* the text of issues_prepare */
    enum phase phase;
    bool managed, stale;
    /* Cleura upgrades these versions by itself, in the maintenance window. */
    bool updates_kubernetes, updates_images;
    const char *kubernetes_version;
    char **images; /* as in struct shoot */
    wall_us observed_at;
};
/* Returns all issues. `catalog` is the project's catalog, or NULL. */
json_t *issues_of(const struct issue_facts *f, const json_t *catalog, wall_us now);

/* Returns the title of the worst condition that is not met; NULL: all are met. *ret_said is what Cleura says
 * about it, borrowed from the shoot until its documents are dropped; or NULL. */
const char *issue_of_conditions(const struct shoot *s, const char **ret_said);

/* Whether a version is expired, expires soon, or is not offered any more. `images` has the form of struct
 * shoot. This is a cheap check for callers that process many clusters. A cluster has no issues when this
 * check returns false, the cluster is not stale, and issues_prepare found neither `lasting` issues nor a
 * `deletion`. */
bool issues_of_versions(const char *kubernetes, char **images, const json_t *catalog, wall_us now);

#endif
