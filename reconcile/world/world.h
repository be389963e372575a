/*
 * Everything that the reconciler knows, and the reactions of the rooms above to what happens in the world.
 * Each room of reconcile/ knows the rooms below it only (docs/architecture.md); what leads upwards is one of
 * these reactions. Loop thread.
 */
#ifndef RECONCILE_WORLD_WORLD_H
#define RECONCILE_WORLD_WORLD_H

#include <uthash.h>

#include "base/list.h"
#include "reconcile/world/options.h"
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
    /* What a command waited for is there: it is decided anew. */
    void (*decide_again)(struct reconcile *r, struct command *cmd);
};

struct token_entry {
    UT_hash_handle hh;
    char id[40];
    struct api_token *token;
    uint8_t shown[2][32]; /* digests in the view: the secret, and the one before; zeros: none */
    bool is_leaving;      /* its row is being removed; the entry goes with it */
};

struct subscription_entry {
    UT_hash_handle hh;
    char id[40];
    struct subscription *subscription;
    bool recovering; /* the store is asked what it missed */
};

struct reconcile {
    struct reconcile_options o;
    struct reactions reactions;
    const struct env *env;
    struct webhook_engine *webhooks;
    struct account *accounts;
    size_t account_count;
    struct project *projects;           /* hash by name */
    struct entity *entities;            /* hash by key */
    struct operation_entry *operations; /* hash by id (remembered.h) */
    size_t ended_weight;                /* how much of memory those take that ended */
    char left_out[40]; /* of those that ended, the greatest id that is not among them, or "" */
    struct token_entry *tokens;
    struct subscription_entry *subscriptions;
    struct fetches *fetches; /* lookups/ */
    struct list name_checks;
    struct departed *departed;              /* departed.c */
    struct audit_limit *audit_limits;       /* hash by token id */
    struct held_key *held_keys;             /* of requests that are being decided */
    struct account_state **loaded_accounts; /* until accounts exist */
    size_t loaded_account_count;
    struct list walks; /* those under way */
    struct loop_timer housekeeping;
    unsigned ticks;
    struct walk look_over;       /* of the housekeeping */
    uint64_t phases[PHASE_MAX_]; /* that it counted until now */
    uint64_t open_operations;
    bool purge_again;
    wall_us started_at;
    bool started;
    bool stopping;
};

#endif
