/* Accounts at Cleura and their projects: clusters, and what is read and shown of them. Loop thread. */
#ifndef RECONCILE_WORLD_PROJECT_H
#define RECONCILE_WORLD_PROJECT_H

#include <uthash.h>

#include "base/heap.h"
#include "base/list.h"
#include "model/spec.h"
#include "reconcile/world/world.h"
#include "upstream/upstream.h"

struct gone_shoot;

struct account {
    const struct config_account *config;
    struct reconcile *r;
    struct upstream_account *lane;
    struct account_state *remembered; /* as last given to the store; has failed_told */
    struct list login_waiters;        /* struct waiting */
    struct list verify_waiters;
    struct walk resumption; /* what waited for a login is taken up */
    char *shown;            /* last published JSON, to publish only changes */
};

struct project {
    UT_hash_handle hh;
    struct reconcile *r;
    const struct config_project *config;
    struct account *account;
    struct project_state *state;
    struct list clusters; /* struct entity */
    struct heap due;      /* entities by next poll */
    mono_us discovery_due;
    bool list_again; /* the list under way began too early for somebody */
    struct loop_timer poll_timer;
    struct upstream_call poll_call;
    char *poll_name;     /* shoot of a single read, NULL for a list */
    unsigned lists;      /* asked for until now; struct sightings names some of them */
    int64_t poll_jitter; /* of this round, in percent */
    bool unremembered;   /* nothing of it was in the store */
    bool set_aside; /* the configuration names another place than the clusters are known from (location.c) */
    unsigned poll_failures;
    unsigned poll_phase, poll_phases; /* its place among the projects of its account */
    struct list fresh_next;           /* struct waiting: for a read that has not begun */
    struct list fresh_now;            /* for the one under way */
    struct list fresh_failed;         /* struct waiting: answered when stale_marks is done */
    struct walk stale_marks;          /* marks clusters as stale */
    struct walk poll_failure;         /* a list failed (poll.c) */
    struct walk expiry;               /* versions that run out (catalog.c) */
    struct walk confirmation;         /* an admin said what the clusters belong to (location.c) */
    struct command *confirming;       /* who said so, while clusters are forgotten; or NULL */
    struct upstream_call catalog_call;
    struct loop_timer catalog_timer;
    struct list catalog_waiters; /* struct waiting */
    struct gone_shoot *gone;     /* see departed.c */
    char *last_error;
    char *shown;                        /* last published JSON, to publish only changes */
    json_t *catalog_shared;             /* what was read, on its way to the other projects; or NULL */
    struct project *catalog_share_next; /* who gets it next */
    struct loop_timer catalog_share;
};

struct project *project_find(struct reconcile *r, const char *name);
void project_spec_context(const struct project *p, struct spec_context *ret);
struct upstream_account *project_lane(const struct project *p);
/* As readers see it; the caller owns it. */
json_t *project_document(const struct project *p);
void project_show(struct project *p);
void project_store(struct project *p);
json_t *time_or_null(wall_us at);
/* The entity tag of a document without a version of its own: a digest of its text (HT-21). */
enum { TAG_BYTES = 20 };
void tag_of(const char *text, char etag[static TAG_BYTES]);
/* Of its clusters; of their operations, those that wait too. */
void project_count(const struct project *p, int64_t *ret_clusters, int64_t *ret_open);

#endif
