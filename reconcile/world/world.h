/*
 * The whole state of the reconciler. Each folder of reconcile/ includes only the folders below it
 * (reconcile/README.md). Nothing in this folder calls a folder above it: results and facts are put into
 * lists, and the end of the turn (reconcile/turn.h) handles them. Loop thread.
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
struct audit_reads;
struct command;
struct departed;
struct entity;
struct held_key;
struct operation_entry;
struct fetches;
struct project;

/* A stored token. */
struct token_entry {
    UT_hash_handle hh;
    char id[40];
    struct api_token *token;
    uint8_t shown[2][32]; /* the digests in the view: the digest of the secret, and the digest of the old
                           * secret; zeros: there is no digest */
    bool is_leaving;      /* the token's row is being removed from the store; after that, the entry is
                           * removed */
    bool switches_off;    /* the token's webhooks are disabled together with the removal */
    struct reconcile *r;
    struct overlap overlap; /* the expiry of the old secret */
};

struct subscription_entry {
    UT_hash_handle hh;
    char id[40];
    struct subscription *subscription;
    bool recovering; /* a query for the webhook's missed events is running */
    struct reconcile *r;
    struct overlap overlap; /* the expiry of the old keys */
};

/* How long the last operations of each type took that succeeded (world/trouble.h). */
enum { USUAL_KEPT = 15 };
struct usual_sample {
    int64_t us[USUAL_KEPT]; /* a ring */
    size_t noted;
};
struct usual {
    struct usual_sample of[OPERATION_TYPE_MAX_];
};

/* A configuration that is being applied (reconcile/reload.h). */
struct reload {
    const struct config *config; /* NULL: none */
    struct project *next;        /* next project to bind or to stop; NULL: all projects were handled */
    bool all_at_rest;            /* all projects that must stop have stopped */
    size_t at;                   /* next project of the configuration to resume */
    struct loop_timer turn;      /* a timer that continues the work in the next turn of the loop */
    void (*done)(void *ctx);
    void *ctx;
};

/* Lists of the results and facts of this turn of the loop; at the end of the turn, reconcile/turn.h handles
 * them. */
struct turn {
    struct list touched;   /* entities whose operation must be continued */
    struct list returned;  /* saves whose on_saved is due */
    struct list committed; /* saves whose events are published */
    struct list late;      /* waiting commands whose on_deadline is due */
    struct list found;     /* queries of the store whose on_found is due */
    struct list reported;  /* webhooks that have failed for good (struct webhook_report) */
    struct list sighted;   /* entities whose shoot was read for a step */
    struct list due_walks; /* walks whose next slice is due */
    struct list ready;     /* commands that are decided again */
    struct list answered;  /* commands that are given back */
};

struct reconcile {
    struct reconcile_options o;
    const struct env *env;
    struct webhook_engine *webhooks;
    struct account *accounts;           /* hash by name */
    struct project *projects;           /* hash by name */
    struct project *retired;            /* hash by name: projects that the configuration does not name */
    struct project_state *all_projects; /* state for all projects together (PROJECT_ALL); or NULL */
    struct entity *entities;            /* hash by key */
    struct turn turn;
    struct operation_entry *operations; /* hash by id (operation_table.h) */
    struct usual usual;
    size_t ended_weight;                /* memory used by ended operations */
    char left_out[40];                  /* greatest id of an ended operation that is not in memory, or "" */
    struct token_entry *tokens;
    struct subscription_entry *subscriptions;
    struct fetches *fetches;                /* lookups/ */
    struct departed *departed;              /* departed.c */
    struct audit_limit *audit_limits;       /* hash by token id */
    struct audit_reads *audit_reads;        /* hash by token, address and secret */
    struct held_key *held_keys;             /* idempotency keys of requests that are being processed */
    struct account_state **absent_accounts; /* states of accounts that are not configured */
    size_t absent_account_count;
    struct list walks; /* running walks */
    struct reload reload;
    struct list reload_waiters; /* struct waiting */
    json_t *last_reload; /* the outcome of the last reload, in the form of GET /v1/reload; NULL: there was no
                          * reload */
    struct loop_timer housekeeping;
    unsigned ticks;
    struct walk look_over;    /* the walk of the housekeeping */
    uint64_t open_operations; /* counted so far by this walk */
    bool purge_again;
    struct {
        mono_us look_at; /* when the next backup may be due */
        bool under_way;  /* a scheduled backup is running */
    } backups;
    struct {
        struct list oldest_first; /* of lookups/kubeconfig.c: those whose text is in memory */
        size_t count, bytes;
    } kubeconfigs;
    mono_us events_paid_until; /* the use of the share of events without a project (event_share.c) */
    mono_us started_at;
    struct settled_clock settled; /* the clock for purges: it does not follow wrong jumps in time */
    bool started;
    bool stopping;
};

#endif
