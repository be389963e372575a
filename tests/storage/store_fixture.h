/*
 * Shared by the storage tests: model structs with one call each, change sets applied on a bare connection.
 * Test thread only.
 */
#ifndef TESTS_STORAGE_STORE_FIXTURE_H
#define TESTS_STORAGE_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/string_list.h"
#include "storage/storage.h"
#include "tests/support/temporary.h"

static inline void set_id(char *target, const char *id)
{
    (void)snprintf(target, 40, "%s", id);
}

static inline struct cluster *make_cluster(const char *id, const char *project, const char *name,
                                           int64_t version)
{
    struct cluster *c = cluster_new();
    set_id(c->id, id);
    c->project = mem_strdup(project);
    c->name = mem_strdup(name);
    c->version = version;
    return c;
}

static inline struct operation *make_operation(const char *id, wall_us finished_at)
{
    struct operation *op = operation_new();
    set_id(op->id, id);
    set_id(op->cluster_id, "cl_1");
    op->project = mem_strdup("p1");
    op->cluster = mem_strdup("c1");
    op->status = finished_at ? OPERATION_SUCCEEDED : OPERATION_RUNNING;
    op->finished_at = finished_at;
    (void)operation_add_step(op, STEP_CREATE_SHOOT, "");
    return op;
}

static inline struct event *make_event(const char *id, enum event_type type, const char *project,
                                       const char *cluster, wall_us at)
{
    struct event *e = MEM_NEW(struct event);
    set_id(e->id, id);
    e->type = type;
    e->project = mem_strdup(project);
    e->cluster = mem_strdup(cluster);
    e->at = at;
    e->body = mem_printf("{\"id\":\"%s\"}", id);
    return e;
}

static inline struct subscription *make_subscription(const char *id, const char *description)
{
    static char *none[] = {NULL};
    struct subscription *s = MEM_NEW(struct subscription);
    set_id(s->id, id);
    s->url = mem_strdup("https://example.org/hook");
    s->event_types = string_list_copy(none);
    s->projects = string_list_copy(none);
    s->description = mem_strdup(description);
    s->keys[0].sealed = mem_dup("sealed", 6);
    s->keys[0].sealed_len = 6;
    s->key_count = 1;
    s->created_by = mem_strdup("admin");
    return s;
}

static inline struct delivery *make_delivery(const char *id, const char *event_id,
                                             const char *subscription_id, enum delivery_status status,
                                             wall_us updated_at)
{
    struct delivery *d = MEM_NEW(struct delivery);
    set_id(d->id, id);
    set_id(d->event_id, event_id);
    set_id(d->subscription_id, subscription_id);
    d->status = status;
    d->attempt = 2;
    d->response_status = 503;
    d->latency_ms = 41;
    (void)snprintf(d->error, sizeof(d->error), "http_status");
    for (int i = 0; i < 2; i++)
        delivery_note_attempt(
            d, &(struct delivery_attempt){
                   .at = 10 + i, .latency_ms = 41, .response_status = 503, .result = ATTEMPT_SERVER_ERROR});
    d->next_attempt_at = status == DELIVERY_PENDING ? 99 : 0;
    d->created_at = 7;
    d->updated_at = updated_at;
    return d;
}

static inline struct api_token *make_token(const char *id, uint8_t digest)
{
    static char all[] = "*";
    static char *projects[] = {all, NULL};
    struct api_token *t = MEM_NEW(struct api_token);
    set_id(t->id, id);
    t->name = mem_strdup(id);
    t->role = ROLE_ADMIN;
    t->projects = string_list_copy(projects);
    memset(t->digest, digest, sizeof(t->digest));
    (void)snprintf(t->last4, sizeof(t->last4), "wxyz");
    t->created_by = mem_strdup("admin");
    return t;
}

static inline struct account_state *make_account(const char *name, int failures)
{
    struct account_state *a = MEM_NEW(struct account_state);
    a->name = mem_strdup(name);
    a->login_failures = failures;
    return a;
}

static inline struct project_state *make_project(const char *name, wall_us discovered_at)
{
    struct project_state *p = MEM_NEW(struct project_state);
    p->name = mem_strdup(name);
    p->discovered_at = discovered_at;
    return p;
}

/* Runs one transaction on a bare connection. The caller keeps the set. */
static inline enum store_status store_try(const struct store_backend *b, void *conn, struct change_set *set)
{
    enum store_status status = b->begin(conn, NULL);
    for (size_t i = 0; status == STORE_OK && i < set->count; i++)
        status = b->apply(conn, &set->changes[i], NULL);
    if (status == STORE_OK)
        status = b->commit(conn, NULL);
    if (status != STORE_OK)
        b->rollback(conn);
    return status;
}

/* Does the same as store_try, and also frees the set. */
static inline enum store_status store_run(const struct store_backend *b, void *conn, struct change_set *set)
{
    enum store_status status = store_try(b, conn, set);
    change_set_free(set);
    return status;
}

static inline enum store_status store_event(const struct store_backend *b, void *conn, struct event *e)
{
    struct change_set *set = change_set_new();
    (void)change_append_event(set, e);
    return store_run(b, conn, set);
}

static inline enum store_status store_cluster(const struct store_backend *b, void *conn, struct cluster *c)
{
    struct change_set *set = change_set_new();
    change_put_cluster(set, c);
    return store_run(b, conn, set);
}

#endif
