/* The rule of each sub-resource: the interface between the fetch (lookup.c) and the table
 * (lookup_rules.c). */
#ifndef RECONCILE_LOOKUPS_LOOKUP_RULE_H
#define RECONCILE_LOOKUPS_LOOKUP_RULE_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

enum lookup_kind {
    LOOKUP_MONITORING,
    LOOKUP_NODES,
    LOOKUP_SSH_KEY,
    LOOKUP_UPGRADES,
    LOOKUP_QUOTA,
    LOOKUP_CA_STAGE,
    LOOKUP_KIND_MAX_,
};

struct lookup_rule {
    enum lookup_kind kind;
    enum command_type command; /* asks for the document; COMMAND_NONE: the document is only for decisions */
    enum command_need need;    /* decisions that need this get it from the document; 0: no decision does */
    bool of_catalog;           /* the document is made from the catalog, too */
    const char *what;          /* the name in messages for people */
    enum upstream_op op;
    int keep_s;  /* for this many seconds, a document is returned without a new call */
    bool secret; /* the document is a secret: it is overwritten before it is freed, and sent with no-store */
    /* When one call fails, the document reports that, and the lookup does not fail. */
    bool parts_may_fail;
    /* Returns the items to request, one call for each; the caller owns the array. NULL: there is only one
     * call. */
    json_t *(*items)(const struct project *p, const struct entity *e);
    /* A second call, after the first. `then_item` returns the item of the second call from the answer of the
     * first call (borrowed); NULL: there is no such item, and the lookup fails. */
    enum upstream_op then;
    const char *(*then_item)(const struct project *p, const json_t *first);
    /* Makes the document from all answers, without sharing data with them; `e` is NULL for projects. The
     * caller owns it. */
    json_t *(*compose)(const struct project *p, const struct entity *e, const json_t *answers);
};

const struct lookup_rule *lookup_rule(enum lookup_kind kind);
/* Returns the rule of the document for which commands of this type ask. */
const struct lookup_rule *lookup_rule_of(enum command_type type);

#endif
