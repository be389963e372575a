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

/* The number of sources. The source of an issue is the part of the data that shows the issue. */
enum { ISSUE_SOURCE_MAX_ = 10 };
const char *issue_source_name(int source);
int issue_source_from_name(const char *name);

/* What decides about the issues of a cluster, in addition to its record. Borrowed. */
struct issue_world {
    const json_t *catalog; /* the catalog of the project, or NULL */
    wall_us now;
    int64_t usual_us; /* how long operations of the type of the open one usually take (0: not known) */
    bool is_unread;   /* Cleura answers, but what it says about this cluster cannot be read */
};

/*
 * What is wrong with a cluster, in short. The order of clusters with trouble is one: first by the severity of
 * the worst issue, then by its age.
 */
struct trouble {
    const char *code, *title; /* of the worst issue, static texts; NULL: the cluster has no issue */
    wall_us since[ISSUE_SEVERITY_MAX_]; /* when the oldest issue of each severity began; 0: not known */
    uint16_t counts[ISSUE_SEVERITY_MAX_];
    wall_us until; /* when the issues change although nothing else does; INT64_MAX: never */
};
/* Returns the severity of the worst issue; ISSUE_SEVERITY_MAX_: there is no issue. */
enum issue_severity trouble_severity(const struct trouble *t);
bool trouble_is_equal(const struct trouble *a, const struct trouble *b);
/* The place in the order of trouble, as a number: smaller is worse. `severity` may be ISSUE_SEVERITY_MAX_. */
int64_t trouble_rank(enum issue_severity severity, wall_us since);
int trouble_severity_of_rank(int64_t rank);
/* {"code", "severity", "title", "since"} of the worst issue; NULL: there is none. The caller owns it. */
json_t *trouble_to_json(const struct trouble *t);

/*
 * An issue is {code, severity, source, responsible, subject, title, description, action, remedy, since,
 * expires_at, target_version, operation_id, codes}. One fault is one issue: a failed or retrying cluster has
 * one, with the errors of Cleura and the failed operation in it. Arrays of issues begin with the critical
 * issues; the caller owns the arrays.
 *
 * Returns the part of a cluster's issues that is made together with the cluster's entry in the view, as an
 * object. The member `lasting` of this object has the issues that depend neither on the catalog nor on the
 * time, with one entry for each error of Cleura that the phase does not say. The member `open` describes an
 * operation that has not ended. NULL: there are neither. `op` is the open or last operation, or NULL. Parses
 * documents of the cluster only when an issue is possible. *ret sums up all issues at the time of `world`.
 */
json_t *issues_prepare(const struct cluster *c, const struct operation *op, const struct issue_world *world,
                       struct trouble *ret);

/* The facts from which all issues of a cluster are made at any time. Borrowed; texts may be NULL. */
struct issue_facts {
    const char *prepared; /* the text of issues_prepare */
    const char *project, *name;
    enum phase phase;
    bool managed, is_unread;
    /* Cleura upgrades these versions by itself, in the maintenance window. */
    bool updates_kubernetes, updates_images;
    const char *kubernetes_version;
    char **images; /* as in struct shoot */
    wall_us observed_at;
};
/* Returns all issues. `catalog` is the project's catalog, or NULL. */
json_t *issues_of(const struct issue_facts *f, const json_t *catalog, wall_us now);

/* Returns the title of the worst condition that is not met, and its severity; NULL: all are met. *ret_said is
 * what Cleura says about it, borrowed from the shoot until its documents are dropped; or NULL. */
const char *issue_of_conditions(const struct shoot *s, const char **ret_said,
                                enum issue_severity *ret_severity);

/* What is wrong with an account at Cleura, with the reads of a project, and with a webhook. Borrowed; texts may
 * be NULL. */
struct issue_place {
    const char *name;
    const char *description;
    wall_us since; /* 0: not known */
};
enum place_fault {
    ACCOUNT_LOGIN_FAILED,
    ACCOUNT_NEEDS_CODE, /* Cleura asks for a second factor */
    ACCOUNT_AWAY,       /* Cleura does not answer */
    PROJECT_UNREAD,     /* Cleura answers, but the project's clusters cannot be read */
    PROJECT_SET_ASIDE,
    WEBHOOK_FAILS,
    PLACE_FAULT_MAX_,
};
/* Returns the one issue of this fault, which stands for all clusters of the account or project. The name of a
 * webhook is its id. The caller owns the issue. */
json_t *issue_of_place(enum place_fault fault, const struct issue_place *place);

#endif
