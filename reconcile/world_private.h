/*
 * The world in memory and the seams between the files of reconcile/. Loop thread only.
 *
 *   commands.c   shared by create.c, change.c,       persist.c   change sets, the way back from the writer
 *                node_pools.c, delete.c
 *   actions.c    hibernate, wake, rotate, ...        poll.c      when to read what
 *   plan.c       which steps an operation has        observe.c   what an answer changes
 *   steps.c      operations, step by step            events.c    facts and their deliveries
 *   step_kinds.c what each kind of step is           expiry.c    versions that run out
 *   step_ends.c  when a waiting step is over         reconcile.c life, load, dispatch
 *   ends.c       how operations and clusters end     projects.c  catalogs, bootstrap, upstream state
 *   queue.c      operations that wait their turn     kubeconfig.c, lookup.c  fetched on demand, not stored
 *   accounts.c   logins, by hand and remembered      fresh.c     readers that wait for a new look
 *   reply.c      how commands are answered           replay.c    and answered again
 *   walk.c       all clusters, a few in each turn
 */
#ifndef RECONCILE_WORLD_PRIVATE_H
#define RECONCILE_WORLD_PRIVATE_H

#include <uthash.h>

#include "base/heap.h"
#include "base/list.h"
#include "model/decide.h"
#include "reconcile/reconcile.h"
#include "upstream/upstream.h"

enum {
    ENTITY_KEY_BYTES = 256,
    ABSENT_READS = 2,    /* how often a shoot must be missing before it is believed */
    LOOK_AGAIN_S = 3,    /* between two such reads: an effect may become visible a little late */
    OBSERVE_LAG_S = 300, /* how long an answer may show what was before */
};

struct project;

/* A cluster with everything that drives it. */
struct entity {
    UT_hash_handle hh;
    char key[ENTITY_KEY_BYTES]; /* project/name */
    struct reconcile *r;
    struct project *project;
    struct list in_project;
    struct cluster *cluster;
    struct operation *op;     /* the open one, or the last one until the next; may be NULL */
    struct operation **queue; /* accepted, waiting for their turn; first come first (queue.c) */
    size_t queued;
    struct heap_item due;      /* in the project's heap */
    struct upstream_call call; /* of the current step or its read-back */
    struct loop_timer retry;   /* when the step is to be taken up again */
    int retries;               /* failures of the step in a row, for the back-off */
    json_t *call_body;         /* what the running call sends, when it was made for it */
    bool op_end_saved;         /* the final state of op is on its way to the store or there */
    bool reading_back;
    mono_us
        looked_at; /* the shoot was read for the current step, and is the one meant; 0: it is to be read */
    wall_us newest_at;    /* newest time of an operation that Cleura told, by its clock */
    mono_us newest_since; /* when that was told last */
    wall_us heard_at;     /* last answer about it that was passed over; 0: none */
    int other_reads;      /* consecutive reads that found another uid */
    mono_us unmet_since;  /* Cleura is done since then, but the step's effect does not show; 0: no */
    mono_us lost_at;      /* first read back of the current step; 0: none yet */
    int conflicts;        /* 409 answers in a row to the current step, of a cluster that seems idle */
    int unexplained;      /* refusals in a row of its calls without Cleura's words */
    unsigned quiet_polls; /* observations in a row that changed nothing: the idle interval grows with them */
    mono_us absent_read_at;  /* last read that confirmed the absence; 0: Cleura could not be read since */
    int64_t absent_us;       /* for so long reads have confirmed it, one after the other */
    int absent_reads;        /* consecutive reads that found nothing */
    unsigned listed_in;      /* the last list of the project that held it */
    bool missing_in_list;    /* the last list did not hold it */
    struct problem *refusal; /* a definite answer after a lost one: told when the read-back finds nothing */
    bool committing;         /* a step's intent is on its way to the store */
    bool confirm_absent;     /* missing from a list: read it alone before believing it */
    unsigned saving;         /* change sets about it on their way */
    unsigned unsettled;      /* changes that callers asked for and that are not durable yet */
};

/*
 * walk.c: a look at every cluster, or at those of a project, in slices of WALK_TURN. A visit says what it
 * took. The one that is visited may end; those that come meanwhile to the project under way are visited, too.
 */
struct walk {
    const char *name;                                    /* static, for the watchdog */
    unsigned (*visit)(struct walk *w, struct entity *e); /* a WALK_... */
    void (*done)(struct walk *w);                        /* all were visited; NULL: nothing follows */
    void (*stopped)(struct walk *w); /* in place of it, when shootd stops; NULL: nobody waits */
    /* walk.c's own */
    struct list link;
    struct reconcile *r;
    struct project *only; /* whose clusters; NULL: all */
    struct entity *next;
    struct loop_timer timer;
    bool under_way;
};

/* A turn is a few milliseconds: sixteen clusters that are rendered anew, or a thousand that are passed by. */
enum { WALK_PASSED_BY = 1, WALK_LOOKED_AT = 8, WALK_CHANGED = 64, WALK_TURN = 1024 };

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
    unsigned lists;      /* asked for until now; entity.listed_in names one of them */
    int64_t poll_jitter; /* of this round, in percent */
    bool unremembered;   /* nothing of it was in the store */
    bool set_aside; /* the configuration names another place than the clusters are known from (location.c) */
    unsigned poll_failures;
    unsigned poll_phase, poll_phases; /* its place among the projects of its account */
    struct list fresh_next;           /* struct waiting: for a read that has not begun */
    struct list fresh_now;            /* for the one under way */
    struct list fresh_failed;         /* struct waiting: answered when all clusters are marked as stale */
    struct walk doubt;                /* marks them (fresh.c) */
    struct walk poll_failure;         /* a list failed (poll.c) */
    struct walk expiry;               /* versions that run out (expiry.c) */
    struct walk confirmation;         /* an admin said what the clusters belong to (location.c) */
    struct command *confirming;       /* who said so, while clusters are forgotten; or NULL */
    struct upstream_call catalog_call;
    struct loop_timer catalog_timer;
    struct list catalog_waiters; /* struct waiting */
    struct gone_shoot *gone;     /* see gone.c */
    char *last_error;
    char *shown;                        /* last published JSON, to publish only changes */
    json_t *catalog_shared;             /* what was read, on its way to the other projects; or NULL */
    struct project *catalog_share_next; /* who gets it next */
    struct loop_timer catalog_share;
};

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

/* A command that waits for something. */
struct waiting {
    struct list link;
    struct command *cmd;
    struct reconcile *r;
    struct loop_timer deadline;
    void (*on_deadline)(struct waiting *w);
};

struct operation_entry {
    UT_hash_handle hh;
    char id[40];
    struct operation *op; /* last committed state */
    struct list waiters;  /* struct waiting */
};

struct token_entry {
    UT_hash_handle hh;
    char id[40];
    struct api_token *token;
};

struct subscription_entry {
    UT_hash_handle hh;
    char id[40];
    struct subscription *subscription;
    bool recovering; /* the store is asked what it missed */
};

struct held_key;
struct kubeconfigs;

struct audit_limit;
struct departed;

struct reconcile {
    struct reconcile_options o;
    const struct env *env;
    struct webhook_engine *webhooks;
    struct account *accounts;
    size_t account_count;
    struct project *projects; /* hash by name */
    struct entity *entities;  /* hash by key */
    struct operation_entry *operations;
    struct token_entry *tokens;
    struct subscription_entry *subscriptions;
    struct kubeconfigs *kubeconfigs;
    struct lookups *lookups;
    struct list name_checks;
    struct departed *departed;              /* absence.c */
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

/* entities.c */
struct entity *entity_find(struct reconcile *r, const char *project, const char *name);
/* Takes the cluster. */
struct entity *entity_add(struct reconcile *r, struct project *p, struct cluster *c);
/* Removes from memory and view; frees. No call may be active. */
void entity_remove(struct entity *e);
/* Makes `op` (taken) the entity's operation; the old one is freed. */
void entity_set_operation(struct entity *e, struct operation *op);

/* walk.c. Each begins, or begins anew; the first slice is done at once. */
void walk_project(struct project *p, struct walk *w);
void walk_all(struct reconcile *r, struct walk *w);
bool walk_is_under_way(const struct walk *w);
/* All of them, at a stop. */
void walks_stop(struct reconcile *r);
/* The entity ends. */
void walks_pass(struct entity *e);

struct project *project_find(struct reconcile *r, const char *name);
bool entity_has_open_operation(const struct entity *e);
struct operation_entry *operation_entry(struct reconcile *r, const char *id);
/* Spec context of a project; defaults borrowed. */
struct spec_context;
void project_spec_context(const struct project *p, struct spec_context *ret);
struct upstream_account *project_lane(const struct project *p);

/* persist.c: a change set on its way, with what to do when it is durable. */
struct save {
    struct loop_task task;
    struct reconcile *r;
    struct change_set *set;
    enum store_status status;
    /* Loop thread, after the view was updated; status is STORE_OK unless the save was droppable. */
    void (*on_saved)(struct save *save);
    void *ctx;
    bool answers;               /* ctx is a command, which on_saved answers */
    char key[ENTITY_KEY_BYTES]; /* of the entity it is about: looked up again, it may be gone */
};
struct save *save_new(struct reconcile *r, void (*on_saved)(struct save *save), void *ctx);
/* One whose on_saved answers `cmd`, its ctx. */
struct save *save_answer(struct reconcile *r, void (*on_saved)(struct save *save), struct command *cmd);
/* Adds copies of the cluster (its version raised) and of its operation, when there is one. */
void save_entity(struct save *save, struct entity *e);
void save_operation(struct save *save, struct operation *op);
/* Droppable saves may fail; the others are retried by storage until they succeed. */
void save_submit(struct save *save, bool droppable);
/* Saves an entity with nothing to do afterwards. */
void entity_store(struct entity *e);
/* Shows an entity anew without a change in the store (observed_at moved). */
void entity_show(struct entity *e);

/* events.c: appends an event (and its deliveries) to a change set. message may be NULL. */
void emit_cluster(struct save *save, enum event_type type, const struct entity *e, enum phase previous,
                  const char *message);
void emit_operation(struct save *save, enum event_type type, const struct entity *e,
                    const struct operation *op);
struct expiring {
    const char *what; /* "kubernetes", or the name of a machine image */
    const char *version;
    const char *expires_at; /* RFC 3339 */
    int64_t days_left;
};
void emit_expiring(struct save *save, const struct entity *e, const struct expiring *x);
void emit_account(struct save *save, enum event_type type, const struct account *a, const char *message);
/* One that is due at once; the caller owns it. */
struct delivery *delivery_new(struct reconcile *r, const char *subscription_id, const char *event_id,
                              const char *event_type, wall_us at);
void emit_webhook(struct save *save, enum event_type type, const struct subscription *s, const char *message);
/* For this webhook only, whatever it is subscribed to. The delivery is the save's. */
const struct delivery *emit_webhook_test(struct save *save, const struct subscription *s,
                                         const char *message);

/* steps.c */
/* Begins or goes on with the entity's open operation; harmless at any time. */
void steps_advance(struct entity *e);
/* An observation arrived: may end the waiting step, and with it the operation. The save gets what changes. */
void steps_observed(struct entity *e, struct save *save, const struct decision *d);

/* step_kinds.c: whether this version knows each step of a stored operation. */
bool steps_are_known(const struct operation *op);
/* The step sends something to Cleura, and has not: the operation can still end without it. */
bool step_is_unsent(const struct operation_step *step);

/* Cleura took the step's call, and nothing of it shows: what is told meanwhile, or NULL. The caller owns it.
 */
char *steps_missing_effect(const struct entity *e);

/* Whether an observation that changed nothing is to be handed to steps_observed all the same. */
bool steps_want(const struct entity *e, const struct decision *d);

/* plan.c: the steps of a new operation. */
void plan_create(struct entity *e, struct operation *op);
void plan_delete(struct entity *e, struct operation *op);
/* Its turn comes: what became of the create before it decides whether anything is to be deleted. */
void plan_delete_after_create(struct entity *e, struct operation *op);
/* What leads from what is there to op->body's `spec`; made anew when the operation's turn comes. */
void plan_update(struct entity *e, struct operation *op);
void plan_action(struct operation *op);
/* A shoot of the entity's name that Cleura shows cannot be the one that our create was to make. */
bool plan_is_stranger(const struct entity *e);
/* Whether this shoot can be the one that our create made although its answer was lost: just made, as asked.
 */
bool plan_made(const struct entity *e, const struct shoot *shoot);
/* Whether Cleura may have made the shoot although nobody saw it yet. */
bool plan_may_have_been_made(const struct entity *e);

/* queue.c */
void queue_push(struct entity *e, struct operation *op);
/* Removes one without ending it; the caller owns it. */
struct operation *queue_take(struct entity *e, size_t index);
void queue_free(struct entity *e);
/* The waiting operation of this type, or NULL. */
struct operation *queue_find(const struct entity *e, enum operation_type type);
/* Whether the first waiting operation may begin: the one before it ended, or is to be cut short. */
bool queue_is_due(const struct entity *e);
/* Ends those that `by` makes void, each with its own truth, in the same change set. */
void queue_supersede(struct entity *e, struct save *save, const struct operation *by);
/* The first waiting operation becomes the current one. */
void queue_promote(struct entity *e);
bool entity_is_leaving(const struct entity *e);
/* Cleura's last operation is a deletion, also one that failed. */
bool entity_is_deleted_at_cleura(const struct entity *e);

/* ends.c */
void operation_finish(struct entity *e, struct save *save, struct operation *op, enum operation_status status,
                      struct problem *problem);
void operation_supersede(struct entity *e, struct save *save, struct operation *op,
                         const struct operation *by);
/* The current operation ends badly and is stored. Takes the problem. */
void entity_fail_operation(struct entity *e, struct problem *problem);
/* As was asked for with op->cancelled_by: the current operation ends before its next step and is stored. */
void entity_cancel_operation(struct entity *e);
struct problem *operation_cancelled_problem(const struct operation *op);
struct problem *cluster_failed_problem(const struct entity *e);
/* The shoot is gone (404 confirmed): ends a delete, or reports a loss. The entity is freed. */
void entity_gone(struct entity *e);
/* The record ends without a word about the shoot. The entity is freed. */
void entity_forget(struct entity *e);
/* So, because what has its name cannot be told to be ours: nothing was deleted, and the operation failed. */
void entity_disown(struct entity *e);

/* observe.c: takes the shoot. */
void observe(struct entity *e, struct shoot *shoot);
/* An answer told this much of the shoot: what is older is not believed for OBSERVE_LAG_S. */
void observe_note(struct entity *e, const struct shoot *shoot);
/* absence.c: a read of the cluster alone found nothing. The entity may be on its way out then. */
void absence_noted(struct entity *e);
/* Cleura could not be read: the time until the next read says nothing about an absence. */
void absence_unread(struct entity *e);
/* A record whose shoot vanished, taken; it comes back when the same uid does. */
void departed_add(struct project *p, struct cluster *c);
/* The record of this shoot, or NULL; the caller owns it. Its row is still in the store. */
struct cluster *departed_take(struct project *p, const struct shoot *shoot);
/* The oldest, a bounded number of them: false: there are more. */
bool departed_purge(struct reconcile *r);
void departed_free(struct reconcile *r);
/* location.c: notices at the start that the project is at another place than before. */
void location_check(struct project *p);
/* Answers what would need Cleura while the project is set aside; false: it is not. */
bool location_refuses(const struct project *p, struct command *cmd);
/* For readers: null, or what was there before. The caller owns it. */
json_t *location_change(const struct project *p);
void command_location_confirm(struct reconcile *r, struct command *cmd);
/* gone.c: for OBSERVE_LAG_S a list may still show it. `shoot` may be NULL. */
void gone_remember(struct project *p, const struct shoot *shoot);
bool gone_is_known(struct project *p, const struct shoot *shoot);
void gone_forget_all(struct project *p);
/* Nobody could confirm it just now: shown as stale at once. This and the two below: false: nothing changed.
 */
bool observe_doubt(struct entity *e);
/* Decides phase, health and drift anew from what is known, after an operation began or ended. */
void observe_settle(struct entity *e, struct save *save);
/* A read failed: what is older than one interval is stale now. */
bool observe_failure(struct entity *e);
/* Looked at now and then: whatever the reason, what is older than two intervals is stale. */
bool observe_age(struct entity *e);
/* phase_events.c: tells of a change of phase since `*before`, once. */
void phase_told(struct entity *e, struct save *save, enum phase *before);
bool entity_is_active(const struct entity *e);
int entity_wish(const struct entity *e);

/* poll.c */
void poll_init(struct project *p);
void poll_stop(struct project *p);
void poll_soon(struct entity *e, int64_t in_us);
void poll_forget(struct entity *e);
void poll_rearm(struct project *p);
/* Lists the project, also when a list is under way that began before. */
void poll_list_soon(struct project *p);
int64_t poll_interval(const struct entity *e);
/* fresh.c: readers that wait for a new look at Cleura, one read for all of a project. */
void command_fresh(struct reconcile *r, struct command *cmd);
bool fresh_is_wanted(const struct project *p);
/* The read that starts now serves everybody who waits. Returns the one shoot that all ask for, or NULL. */
const char *fresh_take_up(struct project *p);
void fresh_answer(struct project *p, bool ok);
void fresh_init(struct project *p);

/* projects.c */
void project_init(struct project *p, struct reconcile *r, const struct config_project *config,
                  struct project_state *state);
void project_done(struct project *p);
/* As readers see it; the caller owns it. */
json_t *project_document(const struct project *p);
void project_show(struct project *p);
void project_store(struct project *p);
void catalog_fetch(struct project *p);
/* Parks the command until a catalog is there, then decides it anew; false (and nothing done) when there is
 * one. */
bool catalog_wait(struct project *p, struct command *cmd);
json_t *time_or_null(wall_us at);

/* accounts.c */
/* `remembered` is borrowed and may be NULL. */
void account_start(struct account *a, struct reconcile *r, const struct config_account *config,
                   const struct account_state *remembered);
void account_done(struct account *a);
void account_show(struct account *a);
void command_account_login(struct reconcile *r, struct command *cmd);
void command_account_verify(struct reconcile *r, struct command *cmd);

/* kubeconfig.c */
struct kubeconfigs *kubeconfigs_new(struct reconcile *r);
void kubeconfigs_free(struct kubeconfigs *k);
void kubeconfigs_forget(struct kubeconfigs *k, const char *entity_key);
/* What was given out before is void: fetched anew when asked for. Who waits is answered. */
void kubeconfigs_drop(struct kubeconfigs *k, const char *entity_key);
void kubeconfig_command(struct reconcile *r, struct command *cmd);
void kubeconfigs_stop(struct kubeconfigs *k);

/* commands.c: shared by what callers ask of a cluster. */
struct project *command_project(struct reconcile *r, struct command *cmd);
struct entity *command_cluster(struct reconcile *r, struct command *cmd);
struct operation *command_operation(struct entity *e, const struct command *cmd, enum operation_type type);
bool command_wait_until_settled(struct entity *e, struct command *cmd);
void command_reply_busy(struct command *cmd, const struct entity *e, const char *why);
/* Queues or begins `op` (taken); the caller is answered with it when all is durable. */
void command_accept(struct entity *e, struct command *cmd, struct operation *op);

/*
 * precondition.c: false when the command was answered with 412. Looked at last, when nothing else stands
 * against the request (HT-18). e: the cluster of the command, or NULL when it does not exist.
 */
bool command_precondition(struct command *cmd, const struct entity *e);

/* actions.c: the stage of the rotation was read for this command. */
void action_stage_known(struct entity *e, struct command *cmd, const char *stage);

/* expiry.c: tells of versions in use that run out. */
void expiry_init(struct project *p);
void expiry_look(struct project *p);
/* Notes when the first version that the cluster uses runs out: before it is shown. */
void expiry_note(struct entity *e);

/* lookup.c: fetched on demand, shared by those who wait, kept for moments, never stored. */
struct lookups;
struct lookups *lookups_new(struct reconcile *r);
void lookups_stop(struct lookups *l);
void lookups_free(struct lookups *l);
void lookups_forget(struct lookups *l, const char *entity_key);
/* Reads the stage of the CA rotation, then calls action_stage_known. */
void lookup_stage(struct entity *e, struct command *cmd);
void command_lookup(struct reconcile *r, struct command *cmd);

/*
 * name_check.c: asks Cleura whether the name of a cluster to be made is free, for a moment at most, then
 * decides the command anew. False (and nothing done) when that was done, or cannot be.
 */
bool name_check_wait(struct project *p, struct command *cmd, const char *name);
void name_checks_stop(struct reconcile *r);

/* event_log.c */
/* The set is durable and shown: its events go to the streams. */
void event_log_published(struct reconcile *r, const struct change_set *set);
/* A purge is over: the feed learns what is left. */
void event_log_purged(struct reconcile *r);

/* Each takes the command. */
void command_cluster_create(struct reconcile *r, struct command *cmd);
void command_cluster_put(struct reconcile *r, struct command *cmd);
void command_cluster_patch(struct reconcile *r, struct command *cmd);
void command_cluster_delete(struct reconcile *r, struct command *cmd);
void command_cluster_action(struct reconcile *r, struct command *cmd);
void command_node_pool(struct reconcile *r, struct command *cmd);
void command_operation_cancel(struct reconcile *r, struct command *cmd);
void command_operation_wait(struct reconcile *r, struct command *cmd);
void command_events(struct reconcile *r, struct command *cmd);
void command_webhook_create(struct reconcile *r, struct command *cmd);
void command_webhook_patch(struct reconcile *r, struct command *cmd);
void command_webhook_delete(struct reconcile *r, struct command *cmd);
void command_webhook_enable(struct reconcile *r, struct command *cmd);
void command_webhook_rotate(struct reconcile *r, struct command *cmd);
/* The engine switched a webhook off; takes the engine's copy. */
void webhook_was_disabled(struct reconcile *r, struct subscription *s);
/* Keys whose grace is over sign nothing any more; they are not kept either. Once an hour. */
void webhooks_drop_expired_keys(struct reconcile *r);
/* Marks the webhooks that were made with a token which the save revokes, and switches them off if so asked.
 */
void webhooks_token_revoked(struct save *save, const struct api_token *t, bool disable);
void command_webhook_test(struct reconcile *r, struct command *cmd);
void command_webhook_recover(struct reconcile *r, struct command *cmd);
void command_deliveries(struct reconcile *r, struct command *cmd);
void command_delivery(struct reconcile *r, struct command *cmd);
void command_redeliver(struct reconcile *r, struct command *cmd);
void command_token_create(struct reconcile *r, struct command *cmd);
void command_token_delete(struct reconcile *r, struct command *cmd);
void command_catalog(struct reconcile *r, struct command *cmd);
/* Makes a token row; *ret_secret is the token itself. */
struct api_token *token_new(struct reconcile *r, const char *name, enum role role, char **projects,
                            const char *created_by, char **ret_secret);

/* reply.c: each answers and gives the command back. Problem and body are taken. */
void reply_problem(struct command *cmd, struct problem *problem);
/* 503: shootd is stopping. */
void reply_stopping(struct command *cmd);
/* Makes the pointers of faults fit what the caller sent. */
void reply_fit_faults(const struct command *cmd, struct problem *problem);
void reply_json(struct command *cmd, int status, json_t *body);
/* Fills in the answer without giving it: what is promised now is answered when it is durable. Body is taken.
 */
void reply_prepare(struct command *cmd, int status, json_t *body);
void reply_prepare_cluster(struct command *cmd, int status, const struct entity *e,
                           const struct operation *op);
void reply_prepare_operation(struct command *cmd, int status, const struct operation *op);
/* Gives what was prepared; an accepted operation is waited for first when the caller asked for that. */
void reply_prepared(struct reconcile *r, struct command *cmd);
/* The last thing that the deciding side does with a command. */
void reply_give_back(struct command *cmd);
/* Gives what was prepared for a request that changed nothing: with a key, it is bound to this answer first
 * (HT-48). */
void reply_unchanged(struct reconcile *r, struct command *cmd);
/* So with a cluster. `op` is the operation that answers this caller; NULL: the entity's own. */
void reply_cluster(struct command *cmd, int status, const struct entity *e, const struct operation *op);
void reply_operation(struct command *cmd, const struct operation *op);

/* audit.c */
/* The change that the save holds is told, with the answer that was prepared for it. */
void audit_accepted(struct save *save, struct command *cmd);
/* What was refused, and what gave a secret away. */
void audit_answered(struct command *cmd);
/* What the daemon did itself; `what` is static. */
void audit_daemon(struct reconcile *r, const char *what);
/* Ends the minutes that are over, or all: what was left out is told. */
void audit_tick(struct reconcile *r, bool all);
void audit_free(struct reconcile *r);
void command_audit(struct reconcile *r, struct command *cmd);
void command_audit_denied(struct reconcile *r, struct command *cmd);
/* reconcile.c: whether commands of this type change something. */
bool reconcile_writes(enum command_type type);

/* Of a request that is accepted: its prepared answer is kept for repetitions, the audit log tells of it. */
void command_keep(struct save *save, struct command *cmd);

/* replay.c: requests with an Idempotency-Key. */
/* True when the command was taken: it was answered before, its key is in use, or it is looked up first. */
bool replay_take(struct reconcile *r, struct command *cmd);
/* The prepared answer becomes durable with the effect that the save holds. */
void replay_keep(struct save *save, const struct command *cmd);
void replays_free(struct reconcile *r);
/* Others may use the key again. */
void replay_let_go(struct command *cmd);

/* waiting.c */
struct waiting *wait_new(struct reconcile *r, struct command *cmd, struct list *where,
                         void (*on_deadline)(struct waiting *w));
/* A call that answers those who wait is made for the first of them; for nobody when nobody waits. */
void call_for_waiters(struct upstream_call *call, const struct list *waiters);
/* Unlinks and frees; returns the command. */
struct command *wait_take(struct waiting *w);
/* Answers every waiter of a finished or changed operation. */
void operation_waiters_answer(struct reconcile *r, struct operation_entry *entry);

#endif
