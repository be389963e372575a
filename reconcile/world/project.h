/* Accounts at Cleura and their projects: clusters, their reads, and their form in the API. Loop thread. */
#ifndef RECONCILE_WORLD_PROJECT_H
#define RECONCILE_WORLD_PROJECT_H

#include <uthash.h>

#include "base/heap.h"
#include "base/list.h"
#include "model/spec.h"
#include "reconcile/world/world.h"
#include "upstream/upstream.h"
#include "view/view.h"

struct deleted_shoot;

struct account {
    UT_hash_handle hh;
    char *name;
    struct reconcile *r;
    const struct config_account *config;
    bool ends; /* the account will be removed: the configuration that is being applied lacks it, or gives it a
                * different server or API */
    unsigned projects; /* the number of the account's projects in the configuration, set by projects_spread */
    struct upstream_account *lane;
    struct account_state *remembered; /* the state that was stored last; it contains failure_announced */
    struct list login_waiters;        /* struct waiting: commands that wait for the running login */
    struct list verify_waiters;       /* commands that wait for the check of a code */
    struct list login_saving;         /* commands whose login succeeded, while its token is being stored */
    struct list verify_saving; /* commands whose SMS code was correct, while the token is being stored */
    struct walk resumption;    /* continues work that waited for a login */
    char *shown;               /* last published JSON, with the issue, to publish only changes */
};

#define NOT_OBSERVED INT64_MAX /* the value of a mono_us when there is no observation */

/* Reads of the project's clusters (observation/poll.c). */
struct project_poll {
    struct heap due; /* entities, ordered by the time of their next poll */
    struct loop_timer timer;
    struct upstream_call call;
    char *name;     /* the shoot that is read alone; NULL: a list is read */
    unsigned lists; /* the number of lists requested so far; struct sightings refers to it */
    mono_us discovery_due;
    bool list_again;   /* another list follows the running list, which began too early for a waiting reader */
    mono_us listed_at; /* when the last complete list ended; 0: there was none after the start of shootd */
    int64_t jitter;    /* the jitter of this round, in percent */
    unsigned phase, phases; /* the position of the project among the projects of its account */
    unsigned failures;
    struct walk failure; /* handles each cluster after a failed list */
    char *last_error;
};

/* Lists of readers that wait for a fresh read (observation/fresh.h). */
struct project_fresh {
    struct list next;   /* readers that wait for a read that has not begun */
    struct list now;    /* readers that wait for the running read */
    struct list failed; /* readers whose read failed; they are answered when all clusters are marked as
                         * stale */
    struct walk stale_marks;
};

/* The catalog of the project's region (lookups/catalog.c). */
struct project_catalog {
    struct upstream_call call;
    struct loop_timer timer;
    struct list waiters; /* struct waiting */
    json_t *shared;      /* a catalog that is being copied to the other projects; or NULL */
    struct project *share_next;
    struct loop_timer share;
    struct walk expiry; /* emits the events about versions that expire */
};

/* The location of the project at Cleura, and the state of a move (reconcile/projects.h,
 * commands/location.c). */
struct project_place {
    bool resting;   /* nothing is read or sent: the project is retired, or its account or location is about to
                     * change */
    bool set_aside; /* the configuration names a location that is not the location of the stored clusters */
    struct walk moving;
    void (*moved)(struct project *p); /* called when the walk `moving` has ended */
    struct walk confirmation;         /* handles the clusters after an admin has decided where they belong */
    struct command *confirming;       /* the admin's command while clusters are removed; or NULL */
};

struct project {
    UT_hash_handle hh;
    char *name;
    struct reconcile *r;
    const struct config_project *config; /* NULL: the project is retired (reconcile/projects.h) */
    char *region, *project_id;           /* the location of the project; running calls borrow these texts */
    struct account *account;             /* NULL: the project is retired */
    struct project_state *state;
    bool unremembered;    /* the store contained no row of the project */
    struct list clusters; /* struct entity */
    size_t cluster_count;
    mono_us events_paid_until;  /* its use of its share in the event log (event_share.c) */
    mono_us oldest_observation; /* the oldest observation of its clusters at the last walk; NOT_OBSERVED: no
                                 * cluster was observed */
    mono_us oldest_until_now;   /* the oldest observation that the current walk has found so far */
    struct project_poll poll;
    struct project_fresh fresh;
    struct project_catalog catalog;
    struct project_place place;
    struct deleted_shoot *deleted_shoots; /* see departed.c */
    char *shown;                          /* last published JSON, with the issue, to publish only changes */
};

/* Returns the project with this name; NULL when the configuration has no such project. */
struct project *project_find(struct reconcile *r, const char *name);
/* Returns the state that belongs to all projects together. It is made at the first use. */
struct project_state *project_state_of_all(struct reconcile *r);
/* Whether nothing is read or sent for the project: it is set aside or retired. */
bool project_is_at_rest(const struct project *p);
void project_spec_context(const struct project *p, struct spec_context *ret);
struct upstream_account *project_lane(const struct project *p);
/* The freeze that is in force for a project: its own freeze, or the freeze of all projects. in_force is NULL
 * when there is no freeze. */
struct freeze {
    const char *scope; /* "all", or the project's name */
    const json_t *in_force;
};
struct freeze project_freeze(const struct project *p);
/* Returns the active freeze of one state (the state of a project, or of all projects); NULL: there is no
 * freeze. */
const json_t *freeze_in_force(const struct project_state *state, wall_us now);
/* Returns the freeze in the form of the API; the caller owns it. */
json_t *freeze_document(const char *scope, const json_t *freeze);
/* Returns the project in the form of the API; the caller owns it. */
json_t *project_document(const struct project *p);
/* What Cleura's answers, or their absence, say about an account. The caller owns the issue; NULL: nothing is
 * wrong. */
json_t *account_issue(const struct account *a);
/* Publishes an account or a project, if its document or its issue differ from what was published last
 * (*shown). Takes over both; `issue` may be NULL. */
void place_show(struct reconcile *r, enum view_section section, const char *name, char **shown, json_t *doc,
                bool is_frozen, json_t *issue);
/* Publishes the current state of the project. A project that a reload has stopped has no account, and is
 * published when it is resumed. */
void project_show(struct project *p);
void project_store(struct project *p);
json_t *time_or_null(wall_us at);
/* Counts the project's clusters, and their open operations, including waiting operations. */
void project_count(const struct project *p, int64_t *ret_clusters, int64_t *ret_open);

#endif
