/*
 * Results on their way to the store. Built on the loop thread; the writer thread gives them back to
 * on_stored, which touches nothing of the engine: a result that cannot be stored is found pending after a
 * restart and sent again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/moves.h"
#include "webhook/engine_private.h"

static void on_stored(struct change_set *set, enum store_status status)
{
    /* A conflict is a subscription that was deleted meanwhile: its deliveries went with it. */
    if (status != STORE_OK && status != STORE_CONFLICT)
        log_warning("webhook result not stored", "status", store_status_name(status));
    change_set_free(set);
}

struct change_set *record_new(void)
{
    struct change_set *set = change_set_new();
    set->droppable = false;
    set->on_done = on_stored;
    return set;
}

void record_delivery(struct webhook_engine *e, const struct delivery *row)
{
    struct change_set *set = record_new();
    change_put_delivery(set, mem_dup(row, sizeof(*row)));
    storage_submit(e->o.storage, set);
}

void record_failed(struct webhook_engine *e, struct change_set *set, struct delivery *row, const char *error)
{
    delivery_move(row, DELIVERY_FAILED);
    row->next_attempt_at = 0;
    row->updated_at = env_wall(e->env);
    (void)snprintf(row->error, sizeof(row->error), "%s", error);
    change_put_delivery(set, mem_dup(row, sizeof(*row)));
}
