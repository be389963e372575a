/*
 * What helps against an issue, in a form that a program can carry out. A page makes a button of it, shootctl
 * a command, a client of the API sends the request in it. Pure; any thread.
 */
#ifndef MODEL_REMEDY_H
#define MODEL_REMEDY_H

#include <jansson.h>
#include <stdbool.h>

enum remedy_kind {
    REMEDY_NONE,    /* shootd can do nothing: the sentence says who has to do what */
    REMEDY_ACTION,  /* word: an action on the cluster, or "delete" */
    REMEDY_CANCEL,  /* word: the id of the operation to cancel */
    REMEDY_PATCH,   /* word: the body of a PATCH of the cluster, as JSON text */
    REMEDY_UPGRADE, /* word: the version of Kubernetes to upgrade to */
    REMEDY_WAIT,    /* word: why nobody has to do anything now */
    REMEDY_CONTACT, /* word: whom (BY_CLEURA, BY_OPERATOR) */
    REMEDY_KIND_MAX_,
};

struct remedy {
    enum remedy_kind kind;
    const char *word; /* borrowed; NULL for REMEDY_NONE */
};

/* Returns {"action"}, {"action": "cancel", "operation"}, {"patch"}, {"upgrade"}, {"wait"} or {"contact"};
 * NULL for REMEDY_NONE. The caller owns it. */
json_t *remedy_to_json(const struct remedy *remedy);
/* Returns whether somebody can carry the remedy out through shootd. */
bool remedy_can_be_done(const struct remedy *remedy);
/* Adds to a remedy that can be done how it is done: `request` {"method", "path", "body"}, and `command`, the
 * same with shootctl. `remedy` may be NULL. */
void remedy_add_deed(json_t *remedy, const char *project, const char *cluster);

#endif
