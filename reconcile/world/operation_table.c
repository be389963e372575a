/*
 * The operations in memory. r->left_out is the greatest id of an ended operation that is not in memory. A
 * page whose operations all have greater ids is made from the view; other pages come from the store, which
 * has all operations. Loop thread.
 */
#include "reconcile/world/operation_table.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/trouble.h"
#include "view/render.h"

/* Limits for one call that removes operations from memory. An operation with many steps or messages counts as
 * several operations, because it needs more memory. */
enum { ENDED_SLICE = 250, FORGET_SLICE = 500, STEPS_OF_ONE = 8, NOTES_OF_ONE = 32 };

struct operation_entry *operation_entry(struct reconcile *r, const char *id)
{
    struct operation_entry *entry;
    HASH_FIND_STR(r->operations, id, entry);
    return entry;
}

static bool has_ended(const struct operation_entry *entry)
{
    return operation_status_is_final(entry->op->status);
}

static size_t weight_of(const struct operation_entry *entry)
{
    const struct operation *op = entry->op;
    return has_ended(entry) ? 1 + op->step_count / STEPS_OF_ONE + op->note_count / NOTES_OF_ONE : 0;
}

struct operation *operation_remember(struct reconcile *r, struct operation *op)
{
    struct operation_entry *entry = operation_entry(r, op->id);
    if (entry) {
        r->ended_weight -= weight_of(entry);
    } else {
        entry = MEM_NEW(struct operation_entry);
        memcpy(entry->id, op->id, sizeof(entry->id));
        list_init(&entry->waiters);
        HASH_ADD_STR(r->operations, id, entry);
    }
    struct operation *before = entry->op;
    if (!before || !operation_status_is_final(before->status))
        usual_note(&r->usual, op);
    entry->op = op;
    r->ended_weight += weight_of(entry);
    return before;
}

bool operation_has_left(const struct reconcile *r, const char *id)
{
    return strcmp(id, r->left_out) <= 0;
}

static void entry_forget(struct reconcile *r, struct operation_entry *entry)
{
    assert(list_is_empty(&entry->waiters));
    r->ended_weight -= weight_of(entry);
    HASH_DEL(r->operations, entry);
    operation_free(entry->op);
    free(entry);
}

void operations_settle(struct reconcile *r)
{
    struct operation_entry *entry, *next;
    HASH_ITER (hh, r->operations, entry, next) {
        if (has_ended(entry) && operation_has_left(r, entry->id)) {
            entry_forget(r, entry);
            continue;
        }
        operation_trim(entry->op);
        if (!has_ended(entry))
            entry->op->counted_to = env_wall(r->env);
        view_set(r->o.view, VIEW_OPERATIONS, entry->id, render_operation_blob(entry->op));
    }
    view_set_left_out(r->o.view, r->left_out);
}

/* Removes the operation from memory and from the view. When its id is greater than r->left_out, r->left_out
 * becomes this id. */
static void leave_to_store(struct reconcile *r, struct operation_entry *entry)
{
    if (strcmp(entry->id, r->left_out) > 0)
        memcpy(r->left_out, entry->id, sizeof(r->left_out));
    view_set(r->o.view, VIEW_OPERATIONS, entry->id, NULL);
    entry_forget(r, entry);
}

void operations_leave_to_store(struct reconcile *r)
{
    if (r->ended_weight < STORE_RECENT_OPERATIONS + ENDED_SLICE)
        return;
    struct view_cursor place = view_seek(view_shown(r->o.view), VIEW_OPERATIONS, "");
    const struct view_entry *shown;
    for (unsigned left = ENDED_SLICE;
         left && r->ended_weight > STORE_RECENT_OPERATIONS && (shown = view_next(&place));) {
        struct operation_entry *entry = operation_entry(r, shown->key);
        /* An operation with waiting commands stays in memory: they are answered at its end, which the
         * published view may not show yet. */
        if (!entry || !has_ended(entry) || !list_is_empty(&entry->waiters))
            continue;
        leave_to_store(r, entry);
        left--;
    }
    view_set_left_out(r->o.view, r->left_out);
}

bool operations_forget(struct reconcile *r, wall_us before)
{
    unsigned left = FORGET_SLICE;
    struct operation_entry *entry, *next;
    HASH_ITER (hh, r->operations, entry, next) {
        if (!entry->op->finished_at || entry->op->finished_at >= before)
            continue;
        if (!left--)
            return false;
        view_set(r->o.view, VIEW_OPERATIONS, entry->id, NULL);
        entry_forget(r, entry);
    }
    return true;
}

void operations_free(struct reconcile *r)
{
    struct operation_entry *entry, *next;
    HASH_ITER (hh, r->operations, entry, next)
        entry_forget(r, entry);
}
