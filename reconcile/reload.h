/*
 * The configuration is read again (SIGHUP, POST /v1/reload). The main thread reads and compares it; what is
 * here puts one that is good into force, step by step, while everything else goes on, and answers who asked.
 * Loop thread.
 */
#ifndef RECONCILE_RELOAD_H
#define RECONCILE_RELOAD_H

#include "base/buffer.h"
#include "config/changes.h"
#include "reconcile/reconcile.h"

/* The outcome of a reading. */
struct reload_outcome {
    uint64_t covers; /* who asked until then is answered: a number of reconcile_options.ask_reload */
    struct config_changes changes; /* without faults: what was changed */
    const char *faults;            /* lines; NULL: there are none */
};

/*
 * Puts a configuration into force: accounts come, go and change, projects, too. The one before stays in use
 * until `done`, which runs once, in a later turn, and not at all when shootd stops before. One at a time.
 */
void reconcile_configure(struct reconcile *r, const struct config *config, void (*done)(void *ctx),
                         void *ctx);
/* Somebody asks for it, and waits. */
void command_reload(struct reconcile *r, struct command *cmd);
/* Answers with the outcome of the last one. */
void command_last_reload(struct reconcile *r, struct command *cmd);
/* The end of a reading, of one with faults, too: answers and logs. */
void reconcile_reloaded(struct reconcile *r, const struct reload_outcome *outcome);
/* Any thread. */
void reload_metrics(struct buffer *out);

#endif
