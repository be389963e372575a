/* What the files that make issues share. Pure; any thread. */
#ifndef MODEL_ISSUES_PRIVATE_H
#define MODEL_ISSUES_PRIVATE_H

#include "model/issues.h"

struct issues {
    /* the cluster, for lasting issues */
    const struct cluster *cluster;
    const struct operation *op;
    /* the facts about the cluster, for the issues that are not lasting */
    const struct issue_facts *facts;
    wall_us now;
    json_t *found[ISSUE_SEVERITY_MAX_];
};

struct issue_kind {
    const char *code;
    enum issue_severity severity;
    const char *source;
    const char *responsible;
    const char *title;
    const char *action;
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
    json_t *codes;           /* error codes of Gardener, taken over; NULL: none */
};

void issue_add(struct issues *in, const struct issue_kind *kind, enum issue_severity severity,
               const struct issue_occurrence *o);
/* Adds each code once to `codes`, as far as there is room. */
void issue_add_codes(json_t *codes, const json_t *more);
/* Adds the issues of the cluster's conditions and constraints. */
void issues_of_conditions(struct issues *in);

#endif
