/*
 * The daemon without its HTTP side, in a virtual world: loop, store with its real threads, view, reconciler,
 * and a transport that answers from memory. A test can kill the daemon between any two turns and start it
 * again on the same store.
 */
#ifndef TESTS_SUPPORT_RUNNING_H
#define TESTS_SUPPORT_RUNNING_H

#include "config/config.h"
#include "model/command.h"
#include "reconcile/reconcile.h"
#include "tests/support/test_store.h"
#include "tests/support/virtual.h"
#include "view/view.h"

struct running {
    struct virtual_world world;
    struct config config; /* one account; projects "p00", "p01", ... with ids "id00", "id01", ... */
    struct seal_key key;
    struct test_store store; /* stays while the daemon is down */
    /* Set while the daemon runs: */
    struct loop *loop;
    struct fake_transport *cleura;
    struct fake_transport *receivers; /* the receivers of webhooks, which never answer */
    struct worker *worker;
    struct storage *storage;
    struct view *view;
    struct feed *feed;
    struct reconcile *reconcile;
    /* Cleura's answers. */
    struct canned_answer (*respond)(void *ctx, const struct seen_request *request);
    void *ctx;
};

/* Cleura's catalog, with two versions and one of everything else. */
extern const char small_catalog[];

struct polling {
    int64_t active_us, idle_us, discovery_us;
};

/* Drops all log lines from now on. For tests that let the daemon fail thousands of times. */
void running_silence_log(void);

void running_init(struct running *d, uint64_t seed, size_t projects, const struct polling *polling);
void running_done(struct running *d);

void running_start(struct running *d);
/*
 * Ends the daemon without a stop: calls are dropped, and commands are given back as dropped, each exactly
 * once. Changes that were already submitted to the store are stored. With lose_last_turn one more turn runs,
 * and all changes that this turn submits are lost. Returns whether a call to Cleura was in flight.
 */
bool running_kill(struct running *d, bool lose_last_turn);

void running_run(struct running *d, int64_t duration_us);
/* Runs one turn of the loop. When no work is due now, the clock jumps to the next work, at most 5 s ahead. */
void running_turn(struct running *d);

/* Makes a command of an operator. The caller frees the command after its answer or a kill. Takes over the
 * body. */
struct command *running_command(struct running *d, enum command_type type, const char *project,
                                const char *name, json_t *body);
void running_post(struct running *d, struct command *cmd);
/* Whether the command was answered, and not dropped at a kill. Uses the ctx of the command. */
bool running_answered(const struct command *cmd);

#endif
