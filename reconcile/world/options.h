/* The options that the reconciler is given at its start. */
#ifndef RECONCILE_WORLD_OPTIONS_H
#define RECONCILE_WORLD_OPTIONS_H

#include "config/config.h"
#include "loop/loop.h"
#include "loop/transport.h"
#include "loop/worker.h"
#include "storage/storage.h"
#include "view/feed.h"
#include "view/view.h"

/* Everything is borrowed and outlives the reconciler. */
struct reconcile_options {
    struct loop *loop;
    struct transport *upstream_transport;
    struct transport *webhook_transport;
    struct worker *worker;  /* reads what Cleura sends */
    struct worker *copyist; /* makes backups */
    struct worker *lister;  /* lists them, also while one is made */
    struct storage *storage;
    struct view *view;
    struct feed *feed;
    const struct config *config;
    const struct seal_key *key;
    /* Somebody wants the configuration read again: the number of the request, for struct reload_outcome. Loop
     * thread. */
    uint64_t (*ask_reload)(void *ctx);
    void *reload_ctx;
};

#endif
