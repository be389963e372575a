/* The options of the reconciler, set at its start. */
#ifndef RECONCILE_WORLD_OPTIONS_H
#define RECONCILE_WORLD_OPTIONS_H

#include "config/config.h"
#include "loop/loop.h"
#include "loop/transport.h"
#include "loop/worker.h"
#include "storage/storage.h"
#include "view/feed.h"
#include "view/view.h"

/* All pointers are borrowed and stay valid longer than the reconciler. */
struct reconcile_options {
    struct loop *loop;
    struct transport *upstream_transport;
    struct transport *webhook_transport;
    struct worker *worker;  /* parses Cleura's answers */
    struct worker *copyist; /* makes backups */
    struct worker *lister;  /* lists backups, also while a backup is made */
    struct storage *storage;
    struct view *view;
    struct feed *feed;
    const struct config *config;
    const struct seal_key *key;
    /* Requests that the configuration is read again. Returns the number of the request, for struct
     * reload_outcome. Loop thread. */
    uint64_t (*ask_reload)(void *ctx);
    void *reload_ctx;
};

#endif
