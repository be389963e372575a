/*
 * Everything that the reconciler knows, and the reactions of the rooms above to what happens in the world.
 * Each room of reconcile/ knows the rooms below it only (docs/architecture.md); what leads upwards is one of
 * these reactions. Loop thread.
 */
#ifndef RECONCILE_WORLD_WORLD_H
#define RECONCILE_WORLD_WORLD_H

#include <uthash.h>

#include "base/list.h"
#include "base/settled_clock.h"
#include "reconcile/world/options.h"
#include "reconcile/world/overlap.h"
#include "reconcile/world/walk.h"
#include "webhook/webhook.h"

struct account;
struct audit_limit;
struct command;
struct departed;
struct entity;
struct held_key;
struct operation_entry;
struct fetches;
struct project;

/* Set once, by reconcile.c, before anything happens. */
struct reactions {
    /* The open operation may go on (operations/). */
    void (*advance)(struct entity *e);
    /* A read that belongs to a step shows the shoot, which is taken (observation/). */
    void (*sighted)(struct entity *e, struct shoot *shoot);
    /* Credentials that were given out are void (lookups/). */
    void (*credentials_rotated)(struct entity *e);
    /* It is about to be freed: nobody may know it any more (lookups/). */
    void (*left)(struct entity *e);
    /* The object that a command waited for is there: the command is decided anew. */
    void (*decide_again)(struct reconcile *r, struct command *cmd);
};

/* A token that is stored. */
struct token_entry {
    UT_hash_handle hh;
    char id[40];
    struct api_token *token;
    uint8_t shown[2][32]; /* digests in the view: the secret, and the one before; zeros: none */
    bool is_leaving;      /* its row is being removed; the entry goes with it */
    bool switches_off;    /* so: webhooks that were made with it, too */
    struct reconcile *r;
    struct overlap overlap; /* of the secret before, once it is watched */
};

struct subscription_entry {
    UT_hash_handle hh;
    char id[40];
    struct subscription *subscription;
    bool recovering; /* the store is asked what it missed */
    struct reconcile *r;
    struct overlap overlap; /* of the keys before */
};

/* A configuration that is being put into force (reconcile/reload.h). */
struct reload {
    const struct config *config; /* NULL: none is */
    struct project *next;        /* to be bound to it, or put to rest; NULL: all are */
    bool all_at_rest;            /* those that are to be */
    size_t at;                   /* the next of the configuration's projects to be taken up */
    struct loop_timer turn;      /* goes on in the next turn of the loop */
    void (*done)(void *ctx);
    void *ctx;
};

struct reconcile {
    struct reconcile_options o;
    struct reactions reactions;
    const struct env *env;
    struct webhook_engine *webhooks;
    struct account *accounts;           /* hash by name */
    struct project *projects;           /* hash by name */
    struct project *retired;            /* hash by name: those that the configuration does not name */
    struct project_state *all_projects; /* what is about all of them together (PROJECT_ALL); or NULL */
    struct entity *entities;            /* hash by key */
    struct operation_entry *operations; /* hash by id (operation_table.h) */
    size_t ended_weight;                /* how much of memory those take that ended */
    char left_out[40]; /* of those that ended, the greatest id that is not among them, or "" */
    struct token_entry *tokens;
    struct subscription_entry *subscriptions;
    struct fetches *fetches; /* lookups/ */
    struct list name_checks;
    struct departed *departed;              /* departed.c */
    struct audit_limit *audit_limits;       /* hash by token id */
    struct held_key *held_keys;             /* of requests that are being decided */
    struct account_state **absent_accounts; /* what is remembered of those that are not configured */
    size_t absent_account_count;
    struct list walks; /* those under way */
    struct reload reload;
    struct list reload_waiters; /* struct waiting */
    json_t *last_reload;        /* its outcome, as GET /v1/reload shows it; NULL: there was none */
    struct loop_timer housekeeping;
    unsigned ticks;
    struct walk look_over;       /* of the housekeeping */
    uint64_t phases[PHASE_MAX_]; /* that it counted until now */
    uint64_t open_operations;
    bool purge_again;
    struct {
        wall_us look_at; /* when the next one may be due */
        bool under_way;  /* one by the clock */
    } backups;
    mono_us started_at;
    struct settled_clock settled; /* from the start on */
    bool started;
    bool stopping;
};

#endif
