/* Accounts at Cleura and their projects: clusters, and what is read and shown of them. Loop thread. */
#ifndef RECONCILE_WORLD_PROJECT_H
#define RECONCILE_WORLD_PROJECT_H

#include <uthash.h>

#include "base/heap.h"
#include "base/list.h"
#include "model/spec.h"
#include "reconcile/world/world.h"
#include "upstream/upstream.h"

struct deleted_shoot;

struct account {
    UT_hash_handle hh;
    char *name;
    struct reconcile *r;
    const struct config_account *config;
    bool ends; /* the configuration that is being put into force does not have it, or has it elsewhere */
    unsigned projects; /* that the configuration names, as of projects_spread */
    struct upstream_account *lane;
    struct account_state *remembered; /* as last given to the store; has failure_announced */
    struct list login_waiters;        /* struct waiting */
    struct list verify_waiters;
    struct walk resumption; /* what waited for a login is taken up */
    char *shown;            /* last published JSON, to publish only changes */
};

#define NOT_OBSERVED INT64_MAX /* of a mono_us */

struct project {
    UT_hash_handle hh;
    char *name;
    struct reconcile *r;
    const struct config_project *config; /* NULL: it is retired (reconcile/projects.h) */
    char *region, *project_id;           /* where it is: calls under way have them */
    struct account *account;             /* NULL: it is retired */
    struct project_state *state;
    struct list clusters; /* struct entity */
    size_t cluster_count;
    mono_us listed_at;          /* the end of the last complete list of this run; 0: none yet */
    mono_us oldest_observation; /* of its clusters, as of the last look at all; NOT_OBSERVED: none was */
    mono_us oldest_until_now;   /* of the look under way */
    struct heap due;            /* entities by next poll */
    mono_us discovery_due;
    bool list_again; /* the list under way began too early for somebody */
    struct loop_timer poll_timer;
    struct upstream_call poll_call;
    char *poll_name;     /* shoot of a single read, NULL for a list */
    unsigned lists;      /* asked for until now; struct sightings names some of them */
    int64_t poll_jitter; /* of this round, in percent */
    bool unremembered;   /* nothing of it was in the store */
    bool resting;   /* it is retired, or its account or place is about to change (reconcile/projects.h) */
    bool set_aside; /* the configuration names another place than the clusters are known from (location.c) */
    unsigned poll_failures;
    unsigned poll_phase, poll_phases; /* its place among the projects of its account */
    struct list fresh_next;           /* struct waiting: for a read that has not begun */
    struct list fresh_now;            /* for the one under way */
    struct list fresh_failed;         /* struct waiting: answered when stale_marks is done */
    struct walk stale_marks;          /* marks clusters as stale */
    struct walk poll_failure;         /* a list failed (poll.c) */
    struct walk expiry;               /* versions that run out (catalog.c) */
    struct walk moving;               /* it is retired, or returns (reconcile/projects.c) */
    void (*moved)(struct project *p); /* then */
    struct walk confirmation;         /* an admin said what the clusters belong to (location.c) */
    struct command *confirming;       /* who said so, while clusters are forgotten; or NULL */
    struct upstream_call catalog_call;
    struct loop_timer catalog_timer;
    struct list catalog_waiters;          /* struct waiting */
    struct deleted_shoot *deleted_shoots; /* see departed.c */
    char *last_error;
    char *shown;                        /* last published JSON, to publish only changes */
    json_t *catalog_shared;             /* what was read, on its way to the other projects; or NULL */
    struct project *catalog_share_next; /* who gets it next */
    struct loop_timer catalog_share;
};

/* One that the configuration names; NULL: there is none. */
struct project *project_find(struct reconcile *r, const char *name);
/* The state that is about all projects together; it is made when it is first wanted. */
struct project_state *project_state_of_all(struct reconcile *r);
/* Nothing is read or sent for it: it is set aside, or the configuration does not name it. */
bool project_is_at_rest(const struct project *p);
void project_spec_context(const struct project *p, struct spec_context *ret);
struct upstream_account *project_lane(const struct project *p);
/* The freeze that keeps the project's clusters from being changed: its own, or that of all projects; NULL:
 * none. */
struct freeze {
    const char *scope; /* "all", or the project's name */
    const json_t *in_force;
};
struct freeze project_freeze(const struct project *p);
/* That of a project's state, or of all projects together, while it lasts; NULL: none. */
const json_t *freeze_in_force(const struct project_state *state, wall_us now);
/* As callers see it; the caller owns it. */
json_t *freeze_document(const char *scope, const json_t *freeze);
/* As readers see it; the caller owns it. */
json_t *project_document(const struct project *p);
/* As it is now. One that a reload has put to rest has no account: it is shown when it is taken up. */
void project_show(struct project *p);
void project_store(struct project *p);
json_t *time_or_null(wall_us at);
/* The entity tag of a document without a version of its own: a digest of its text (HT-21). */
enum { TAG_BYTES = 20 };
void tag_of(const char *text, char etag[static TAG_BYTES]);
/* Counts its clusters, and their operations, those that wait too. */
void project_count(const struct project *p, int64_t *ret_clusters, int64_t *ret_open);

#endif
