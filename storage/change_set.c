/* Makes and frees change sets, event pages and queries. These functions use only memory, so they need no
 * thread and no lock. This file does not depend on any backend. */
#include "storage/storage.h"

#include "base/mem.h"
#include "model/string_list.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const status_names[] = {
    [STORE_OK] = "ok",       [STORE_NONE] = "none",           [STORE_CONFLICT] = "conflict",
    [STORE_RETRY] = "retry", [STORE_UNCERTAIN] = "uncertain", [STORE_BROKEN] = "broken",
    [STORE_NEWER] = "newer", [STORE_LOCKED] = "locked",
};

const char *store_status_name(enum store_status status)
{
    return (size_t)status < ARRAY_LEN(status_names) ? status_names[status] : "unknown";
}

struct change_set *change_set_new(void)
{
    return MEM_NEW(struct change_set);
}

static void change_done(struct change *change)
{
    switch (change->kind) {
    case CHANGE_CLUSTER_PUT:
        cluster_free(change->cluster);
        break;
    case CHANGE_OPERATION_PUT:
        operation_free(change->operation);
        break;
    case CHANGE_EVENT_APPEND:
        event_free(change->event);
        break;
    case CHANGE_SUBSCRIPTION_PUT:
        subscription_free(change->subscription);
        break;
    case CHANGE_DELIVERY_PUT:
        free(change->delivery);
        break;
    case CHANGE_TOKEN_PUT:
        api_token_free(change->token);
        break;
    case CHANGE_ACCOUNT_PUT:
        account_state_free(change->account);
        break;
    case CHANGE_PROJECT_PUT:
        project_state_free(change->project);
        break;
    case CHANGE_REPLAY_PUT:
        replay_free(change->replay);
        break;
    case CHANGE_AUDIT_APPEND:
        audit_entry_free(change->audit);
        break;
    case CHANGE_AUDIT_PURGE:
    case CHANGE_CLUSTER_DELETE:
    case CHANGE_SUBSCRIPTION_DELETE:
    case CHANGE_STANDING_PUT:
    case CHANGE_TOKEN_DELETE:
    case CHANGE_OPERATION_PURGE:
    case CHANGE_EVENT_PURGE:
    case CHANGE_DELIVERY_PURGE:
    case CHANGE_REPLAY_PURGE:
    case CHANGE_SEAL_KEY_PUT:
    case CHANGE_KIND_MAX_:
        break;
    }
}

void change_set_free(struct change_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        change_done(&set->changes[i]);
    free(set->changes);
    free(set);
}

static struct change *change_add(struct change_set *set, enum change_kind kind)
{
    assert((unsigned)kind < CHANGE_KIND_MAX_);
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? set->capacity * 2 : 4;
        set->changes = mem_realloc_array(set->changes, set->capacity, sizeof(*set->changes));
    }
    struct change *change = &set->changes[set->count++];
    *change = (struct change){.kind = kind};
    return change;
}

static void change_add_id(struct change_set *set, enum change_kind kind, const char *id)
{
    struct change *change = change_add(set, kind);
    assert(strlen(id) < sizeof(change->id));
    (void)snprintf(change->id, sizeof(change->id), "%s", id);
}

void change_put_cluster(struct change_set *set, struct cluster *c)
{
    change_add(set, CHANGE_CLUSTER_PUT)->cluster = c;
}

void change_delete_cluster(struct change_set *set, const char *id)
{
    change_add_id(set, CHANGE_CLUSTER_DELETE, id);
}

void change_put_operation(struct change_set *set, struct operation *op)
{
    change_add(set, CHANGE_OPERATION_PUT)->operation = op;
}

struct event *change_append_event(struct change_set *set, struct event *e)
{
    assert(!e->sequence); /* the store assigns the sequence */
    change_add(set, CHANGE_EVENT_APPEND)->event = e;
    return e;
}

void change_put_subscription(struct change_set *set, struct subscription *s)
{
    change_add(set, CHANGE_SUBSCRIPTION_PUT)->subscription = s;
}

void change_delete_subscription(struct change_set *set, const char *id)
{
    change_add_id(set, CHANGE_SUBSCRIPTION_DELETE, id);
}

void change_put_standing(struct change_set *set, const char *webhook, const struct webhook_standing *standing)
{
    struct change *change = change_add(set, CHANGE_STANDING_PUT);
    (void)snprintf(change->standing.webhook, sizeof(change->standing.webhook), "%s", webhook);
    change->standing.of = *standing;
}

void change_put_delivery(struct change_set *set, struct delivery *d)
{
    change_add(set, CHANGE_DELIVERY_PUT)->delivery = d;
}

void change_put_token(struct change_set *set, struct api_token *t)
{
    change_add(set, CHANGE_TOKEN_PUT)->token = t;
}

void change_delete_token(struct change_set *set, const char *id)
{
    change_add_id(set, CHANGE_TOKEN_DELETE, id);
}

void change_put_account(struct change_set *set, struct account_state *a)
{
    change_add(set, CHANGE_ACCOUNT_PUT)->account = a;
}

void change_put_project(struct change_set *set, struct project_state *p)
{
    change_add(set, CHANGE_PROJECT_PUT)->project = p;
}

void change_put_replay(struct change_set *set, struct replay *p)
{
    change_add(set, CHANGE_REPLAY_PUT)->replay = p;
}

void change_append_audit(struct change_set *set, struct audit_entry *e)
{
    change_add(set, CHANGE_AUDIT_APPEND)->audit = e;
}

void change_put_seal_key(struct change_set *set, const char *key_id)
{
    change_add_id(set, CHANGE_SEAL_KEY_PUT, key_id);
}

void change_purge_events(struct change_set *set, wall_us before, int64_t newest, int64_t limit)
{
    change_purge(set, CHANGE_EVENT_PURGE, before, limit);
    set->changes[set->count - 1].purge.newest = newest;
}

void change_purge(struct change_set *set, enum change_kind kind, wall_us before, int64_t limit)
{
    struct change *change = change_add(set, kind);
    assert(limit > 0);
    change->purge.before = before;
    change->purge.limit = limit;
}

bool change_set_left_over(const struct change_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->changes[i].left_over)
            return true;
    return false;
}

void event_page_free(struct event_page *page)
{
    if (!page)
        return;
    for (size_t i = 0; i < page->count; i++) {
        free(page->events[i].project);
        free(page->events[i].cluster);
        free(page->events[i].body);
    }
    free(page->events);
    free(page);
}

void event_query_done(struct event_query *q)
{
    string_list_free(q->types);
    string_list_free(q->projects);
    string_list_free(q->actors);
    string_list_free(q->targets);
    free(q->cluster);
    free(q->undelivered_to);
    *q = (struct event_query){0};
}
