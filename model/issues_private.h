/* What the files that make issues share. Pure; any thread. */
#ifndef MODEL_ISSUES_PRIVATE_H
#define MODEL_ISSUES_PRIVATE_H

#include "model/expiry.h"
#include "model/issues.h"
#include "model/remedy.h"

struct issues {
    /* the cluster, for lasting issues */
    const struct cluster *cluster;
    const struct operation *op;
    /* the facts about the cluster, for the issues that are not lasting */
    const struct issue_facts *facts;
    bool managed; /* shootd changes only clusters that it manages */
    wall_us now;
    struct trouble trouble;
    json_t *found[ISSUE_SEVERITY_MAX_]; /* NULL: the issues are only counted */
};

struct issue_kind {
    const char *code;
    enum issue_severity severity;
    const char *source;
    const char *responsible;
    const char *title;
    const char *action; /* a sentence for people: what to do */
    struct remedy remedy;
};

struct issue_occurrence {
    const char *subject;     /* the id, name or path of the affected object, or NULL */
    const char *description; /* or NULL */
    const char *action;      /* NULL: the action of the kind */
    const char *responsible; /* NULL: that of the kind */
    wall_us since;           /* 0: not known */
    wall_us expires_at;      /* for versions; 0: no date */
    const char *target;      /* for versions: the version to upgrade to, or NULL */
    const char *operation;   /* the id of the operation that shows the issue, or NULL */
    struct remedy remedy;    /* REMEDY_NONE: that of the kind */
    json_t *codes;           /* error codes of Gardener, taken over; NULL: none */
};

/* Returns an issue as JSON, which the caller owns. */
json_t *issue_new(const struct issue_kind *kind, enum issue_severity severity,
                  const struct issue_occurrence *o);
/* Counts the issue, and adds it to those that were found. */
void issue_add(struct issues *in, const struct issue_kind *kind, enum issue_severity severity,
               const struct issue_occurrence *o);
/* Returns the remedy; for a cluster that shootd does not manage, and so does not change, whom to ask. */
struct remedy issue_remedy(const struct issues *in, struct remedy remedy);
/* Adds each code once to `codes`, as far as there is room. */
void issue_add_codes(json_t *codes, const json_t *more);
/* Adds the issues of the cluster's conditions and constraints. */
void issues_of_conditions(struct issues *in);
/* Adds the issue of a version in use, if there is one; notes when time will make one. `ctx` is struct issues.
 */
void issue_of_version(void *ctx, const struct version_in_use *v);
/* Notes that the issues change at this time, if it is in the future. */
void issues_change_at(struct issues *in, wall_us at);

#endif
