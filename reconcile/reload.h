/*
 * Reloads of the configuration (SIGHUP, POST /v1/reload). The main thread reads the new configuration and
 * compares it with the old configuration. This file applies a valid configuration step by step, while all
 * other work continues, and answers the commands that requested the reload. Loop thread.
 */
#ifndef RECONCILE_RELOAD_H
#define RECONCILE_RELOAD_H

#include "base/buffer.h"
#include "config/changes.h"
#include "reconcile/reconcile.h"

/* The outcome of reading the configuration. */
struct reload_outcome {
    uint64_t covers; /* the commands whose number (from reconcile_options.ask_reload) is at most this one are
                      * answered */
    struct config_changes changes; /* the changes, when there were no faults */
    const char *faults;            /* the faults, one per line; NULL: there are no faults */
};

/*
 * Applies a configuration: adds, removes and changes accounts and projects. The previous configuration stays
 * in use until `done` runs. `done` runs once, in a later turn; when shootd stops first, `done` never runs.
 * Only one configuration is applied at a time.
 */
void reconcile_configure(struct reconcile *r, const struct config *config, void (*done)(void *ctx),
                         void *ctx);
/* Called when the configuration was read, also when it has faults: answers the waiting commands and logs the
 * outcome. */
void reconcile_reloaded(struct reconcile *r, const struct reload_outcome *outcome);
/* Appends the counters. Any thread. */
void reload_metrics(struct buffer *out);

#endif
