/*
 * The contract of storage/storage.h on bare connections, one suite for every backend. test_running.c tests
 * the parts above a backend (threads, group commit).
 */
#include "tests/storage/store_fixture.h"

struct fixture {
    const struct store_backend *backend;
    char dir[256];
    char location[300];
    void *writer;
    void *reader;
};

static const struct store_backend *const backends[] = {&store_sqlite};

static int set_up(void **state)
{
    struct fixture *f = MEM_NEW(struct fixture);
    f->backend = *state;
    make_temporary(f->dir, sizeof(f->dir));
    (void)snprintf(f->location, sizeof(f->location), "%s/store.db", f->dir);
    char *error = NULL;
    if (f->backend->open(f->location, true, &f->writer, &error) != STORE_OK ||
        f->backend->open(f->location, false, &f->reader, &error) != STORE_OK)
        fail_msg("open: %s", error);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    f->backend->close(f->reader);
    f->backend->close(f->writer);
    remove_temporary(f->dir);
    free(f);
    return 0;
}

/* ---- counts of stored rows ---- */

struct seen {
    int clusters;
    int operations;
    int subscriptions;
    int deliveries;
    int tokens;
    int accounts;
    int projects;
    char last[256];
    int64_t number;
    wall_us discovered_at;            /* of the last project */
    char left_out[40];                /* of the operations */
    wall_us last_success;             /* of any subscription */
    struct webhook_standing standing; /* of the last subscription */
    int64_t oldest_event;
    int64_t newest_event;
};

static void see(struct seen *seen, int *counter, const char *what)
{
    (*counter)++;
    (void)snprintf(seen->last, sizeof(seen->last), "%s", what);
}

static void see_cluster(void *ctx, struct cluster *c)
{
    struct seen *seen = ctx;
    see(seen, &seen->clusters, c->name);
    seen->number = c->version;
    cluster_free(c);
}

static void see_operation(void *ctx, struct operation *op)
{
    struct seen *seen = ctx;
    see(seen, &seen->operations, op->id);
    seen->number = op->finished_at;
    operation_free(op);
}

static void see_left_out(void *ctx, const char *id)
{
    struct seen *seen = ctx;
    assert_int_equal(seen->operations, 0);
    set_id(seen->left_out, id);
}

static void see_subscription(void *ctx, struct subscription *s)
{
    struct seen *seen = ctx;
    see(seen, &seen->subscriptions, s->description);
    if (s->last_success_at > seen->last_success)
        seen->last_success = s->last_success_at;
    seen->standing = s->standing;
    assert_int_equal(s->key_count, 1);
    assert_int_equal(s->keys[0].sealed_len, 6);
    assert_memory_equal(s->keys[0].sealed, "sealed", 6);
    subscription_free(s);
}

static void see_delivery(void *ctx, struct delivery *d)
{
    struct seen *seen = ctx;
    see(seen, &seen->deliveries, d->id);
    free(d);
}

static void see_token(void *ctx, struct api_token *t)
{
    struct seen *seen = ctx;
    see(seen, &seen->tokens, t->id);
    seen->number = t->digest[31];
    api_token_free(t);
}

static void see_account(void *ctx, struct account_state *a)
{
    struct seen *seen = ctx;
    see(seen, &seen->accounts, a->name);
    seen->number = a->login_failures;
    account_state_free(a);
}

static void see_project(void *ctx, struct project_state *p)
{
    struct seen *seen = ctx;
    see(seen, &seen->projects, p->name);
    seen->discovered_at = p->discovered_at;
    project_state_free(p);
}

static void see_event_numbers(void *ctx, int64_t oldest, int64_t newest)
{
    struct seen *seen = ctx;
    seen->oldest_event = oldest;
    seen->newest_event = newest;
}

static struct seen load(struct fixture *f)
{
    struct seen seen = {0};
    const struct store_visitor visitor = {
        .cluster = see_cluster,
        .operation = see_operation,
        .operations_left_out = see_left_out,
        .subscription = see_subscription,
        .delivery = see_delivery,
        .token = see_token,
        .account = see_account,
        .project = see_project,
        .event_numbers = see_event_numbers,
        .ctx = &seen,
    };
    assert_int_equal(f->backend->load(f->writer, &visitor, NULL), STORE_OK);
    return seen;
}

static enum store_status run(struct fixture *f, struct change_set *set)
{
    return store_run(f->backend, f->writer, set);
}

static struct event_page *page_of(struct fixture *f, const struct event_query *query)
{
    struct event_page *page = MEM_NEW(struct event_page);
    assert_int_equal(f->backend->events(f->reader, query, page), STORE_OK);
    return page;
}

/* `want`: the sequences of a page, such as "1 2 5". */
static void check_page(struct fixture *f, const struct event_query *query, const char *want)
{
    char got[256] = "";
    struct event_page *page = page_of(f, query);
    for (size_t i = 0, n = 0; i < page->count; i++)
        n += (size_t)snprintf(got + n, sizeof(got) - n, i ? " %d" : "%d", (int)page->events[i].sequence);
    assert_string_equal(got, want);
    event_page_free(page);
}

/* ---- the suite ---- */

static void every_kind_is_stored_and_loaded(void **state)
{
    struct fixture *f = *state;
    struct change_set *set = change_set_new();
    change_put_cluster(set, make_cluster("cl_1", "p1", "c1", 3));
    change_put_operation(set, make_operation("op_1", 0));
    change_put_subscription(set, make_subscription("wh_1", "hook"));
    change_put_delivery(set, make_delivery("dlv_1", "evt_1", "wh_1", DELIVERY_PENDING, 5));
    change_put_delivery(set, make_delivery("dlv_2", "evt_1", "wh_1", DELIVERY_FAILED, 5));
    change_put_token(set, make_token("tok_1", 9));
    change_put_account(set, make_account("acme", 2));
    change_put_project(set, make_project("p1", 77));
    (void)change_append_event(set, make_event("evt_1", EVENT_CLUSTER_READY, "p1", "c1", 8));
    assert_int_equal(run(f, set), STORE_OK);
    struct seen seen = load(f);
    assert_int_equal(seen.clusters, 1);
    assert_int_equal(seen.operations, 1);
    assert_int_equal(seen.subscriptions, 1);
    assert_int_equal(seen.deliveries, 1); /* pending ones only */
    assert_int_equal(seen.tokens, 1);
    assert_int_equal(seen.accounts, 1);
    assert_int_equal(seen.projects, 1);

    struct event *e = NULL;
    assert_int_equal(f->backend->event_by_id(f->reader, "evt_1", &e), STORE_OK);
    assert_int_equal(e->sequence, 1);
    assert_int_equal(e->type, EVENT_CLUSTER_READY);
    assert_string_equal(e->project, "p1");
    assert_string_equal(e->cluster, "c1");
    assert_int_equal(e->at, 8);
    assert_string_equal(e->body, "{\"id\":\"evt_1\"}");
    event_free(e);
    assert_int_equal(f->backend->event_by_id(f->reader, "evt_2", &e), STORE_NONE);
}

static struct replay *make_replay(char digit, const char *body, wall_us created_at)
{
    struct replay *p = MEM_NEW(struct replay);
    memset(p->key, digit, sizeof(p->key) - 1);
    memset(p->fingerprint, 'f', sizeof(p->fingerprint) - 1);
    p->status = 202;
    p->sealed_body = mem_dup(body, strlen(body));
    p->sealed_body_len = strlen(body);
    p->created_at = created_at;
    return p;
}

static enum store_status find_replay(struct fixture *f, char digit, struct replay **ret_replay)
{
    struct replay *wanted = make_replay(digit, "", 0);
    enum store_status status = f->backend->replay_by_key(f->reader, wanted->key, ret_replay);
    replay_free(wanted);
    return status;
}

/* Replays are read in the order of their keys, and the id of the seal key is stored. A rotation of the key
 * needs both. */
static void replays_are_walked_and_the_key_is_named(void **state)
{
    struct fixture *f = *state;
    char key[REPLAY_DIGEST_BYTES] = "", id[SEAL_KEY_ID_BYTES];
    struct replay *p = NULL;
    struct change_set *set = change_set_new();
    assert_int_equal(f->backend->seal_key(f->reader, id), STORE_OK);
    assert_string_equal(id, "");
    change_put_replay(set, make_replay('b', "two", 20));
    change_put_replay(set, make_replay('a', "one", 10));
    change_put_seal_key(set, "0123456789abcdef0123456789abcdef");
    assert_int_equal(run(f, set), STORE_OK);
    assert_int_equal(f->backend->seal_key(f->reader, id), STORE_OK);
    assert_string_equal(id, "0123456789abcdef0123456789abcdef");
    assert_int_equal(f->backend->begin(f->writer, NULL), STORE_OK);
    for (const char *c = "ab"; *c; c++) {
        assert_int_equal(f->backend->replay_behind(f->writer, key, &p), STORE_OK);
        assert_int_equal(key[0], *c);
        assert_string_equal(p->key, key);
        replay_free(p);
    }
    assert_int_equal(f->backend->replay_behind(f->writer, key, &p), STORE_NONE);
    f->backend->rollback(f->writer);
}

static void replays_are_found_replaced_and_purged(void **state)
{
    struct fixture *f = *state;
    struct replay *p = NULL;
    struct change_set *set = change_set_new();
    assert_int_equal(find_replay(f, 'a', &p), STORE_NONE);
    change_put_replay(set, make_replay('a', "one", 10));
    change_put_replay(set, make_replay('b', "two", 20));
    change_put_replay(set, make_replay('a', "three", 30));
    assert_int_equal(run(f, set), STORE_OK);
    assert_int_equal(find_replay(f, 'a', &p), STORE_OK);
    assert_int_equal(p->status, 202);
    assert_int_equal(p->sealed_body_len, 5);
    assert_memory_equal(p->sealed_body, "three", 5);
    assert_int_equal(p->created_at, 30);
    replay_free(p);
    set = change_set_new();
    change_purge(set, CHANGE_REPLAY_PURGE, 30, 1000);
    assert_int_equal(run(f, set), STORE_OK);
    assert_int_equal(find_replay(f, 'b', &p), STORE_NONE);
    assert_int_equal(find_replay(f, 'a', &p), STORE_OK);
    replay_free(p);
}

static void append_audit(struct change_set *set, wall_us at, const char *action, const char *project,
                         enum audit_outcome outcome)
{
    struct audit_entry *e = MEM_NEW(struct audit_entry);
    e->at = at;
    e->token_id = mem_strdup(project ? "tok_1" : NULL);
    e->action = mem_strdup(action);
    e->project = mem_strdup(project);
    e->cluster = mem_strdup(project ? "dev" : NULL);
    e->outcome = outcome;
    e->body = mem_printf("{\"action\":\"%s\"}", action);
    change_append_audit(set, e);
}

/* `wanted`: the sequences of a page, as a text. */
static void assert_audit(struct fixture *f, struct audit_query query, const char *wanted)
{
    struct audit_page *page = MEM_NEW(struct audit_page);
    char found[64] = "";
    if (!query.limit)
        query.limit = 100;
    assert_int_equal(f->backend->audit(f->reader, &query, page), STORE_OK);
    for (size_t i = 0; i < page->count; i++) {
        size_t len = strlen(found);
        assert_non_null(strstr(page->entries[i].body, "\"action\""));
        (void)snprintf(found + len, sizeof(found) - len, "%s%lld", i ? " " : "",
                       (long long)page->entries[i].sequence);
    }
    audit_page_free(page);
    assert_string_equal(found, wanted);
}

/* Stores audit entries and events 1 to `count`. Numbers 2 to 5 differ from the others in one member
 * each. */
static void store_entries(struct fixture *f, int count)
{
    struct change_set *set = change_set_new();
    for (int i = 1; i <= count; i++) {
        struct audit_entry *e = MEM_NEW(struct audit_entry);
        char id[40];
        (void)snprintf(id, sizeof(id), "evt_%d", i);
        struct event *event = make_event(id, EVENT_OPERATION_STARTED, "a", NULL, i);
        e->at = i;
        e->token_id = mem_strdup(i == 3 ? "tok_9" : "tok_1");
        e->action = mem_strdup("x");
        e->cluster = mem_strdup(i == 4 ? "dev" : NULL);
        e->body = mem_printf("{\"action\":\"x\",\"token_name\":\"%s\",\"target\":%s}", i == 2 ? "ci" : "me",
                             i == 5 ? "\"wh_7\"" : "null");
        if (i == 6) /* not JSON: no search finds the row, and the row hinders no search */
            (void)snprintf(e->body, strlen(e->body), "\"action\"");
        free(event->body);
        event->body = mem_printf("{\"data\":{\"requested_by\":\"%s\",\"%s\":\"%s\"}}", i == 2 ? "ci" : "me",
                                 i == 5 ? "webhook" : "message", "wh_7");
        event->cluster = mem_strdup(i == 4 ? "dev" : NULL);
        change_append_audit(set, e);
        (void)change_append_event(set, event);
    }
    assert_int_equal(run(f, set), STORE_OK);
}

static void searches_find_members_that_only_the_body_contains(void **state)
{
    struct fixture *f = *state;
    char *ci[] = {(char[]){"ci"}, NULL}, *tok_9[] = {(char[]){"tok_9"}, (char[]){"none"}, NULL};
    char *dev[] = {(char[]){"dev"}, NULL}, *wh_7[] = {(char[]){"wh_7"}, NULL};
    store_entries(f, 12);
    assert_audit(f, (struct audit_query){.oldest_first = true, .actors = ci}, "2");
    assert_audit(f, (struct audit_query){.oldest_first = true, .actors = tok_9}, "3");
    assert_audit(f, (struct audit_query){.oldest_first = true, .targets = dev}, "4");
    assert_audit(f, (struct audit_query){.oldest_first = true, .targets = wh_7}, "5");
    assert_audit(f, (struct audit_query){.targets = wh_7, .until = 10}, "5");
    check_page(f, &(struct event_query){.actors = ci, .limit = 10}, "2");
    check_page(f, &(struct event_query){.targets = dev, .limit = 10}, "4");
    check_page(f, &(struct event_query){.targets = wh_7, .limit = 10}, "5");
    check_page(f, &(struct event_query){.targets = wh_7, .until = 6, .newest_first = true, .limit = 10}, "5");
}

/* No page of a search examines more rows than its limit. */
static void searches_are_cut_and_go_on(void **state)
{
    struct fixture *f = *state;
    char *ci[] = {(char[]){"ci"}, NULL};
    store_entries(f, STORE_LOOKED_AT + 5);
    assert_audit(f, (struct audit_query){.oldest_first = true, .actors = ci}, "2");
    struct audit_page *page = MEM_NEW(struct audit_page);
    assert_int_equal(f->backend->audit(f->reader, &(struct audit_query){.actors = ci, .limit = 10}, page),
                     STORE_OK);
    assert_int_equal(page->count, 0);
    assert_int_equal(page->next, 6);
    audit_page_free(page);
    page = MEM_NEW(struct audit_page);
    assert_int_equal(
        f->backend->audit(f->reader, &(struct audit_query){.actors = ci, .place = 6, .limit = 10}, page),
        STORE_OK);
    assert_int_equal(page->count, 1);
    assert_int_equal(page->next, 0);
    audit_page_free(page);
    struct event_page *events = page_of(f, &(struct event_query){.actors = ci, .limit = 10});
    assert_int_equal(events->count, 1);
    assert_int_equal(events->cut, STORE_LOOKED_AT);
    event_page_free(events);
    events = page_of(f, &(struct event_query){.actors = ci, .after = STORE_LOOKED_AT, .limit = 10});
    assert_int_equal(events->count + (size_t)events->cut, 0);
    event_page_free(events);
}

/* A search by time finds all entries of the period, also those that were written while the clock was
 * wrong. */
static void a_clock_that_was_set_back_hides_no_entry(void **state)
{
    struct fixture *f = *state;
    static const wall_us times[] = {10, 20, 900, 910, 30, 40, 35, 950, 960, 970};
    struct change_set *set = change_set_new();
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        append_audit(set, times[i], "create", "a", AUDIT_SUCCESS);
    assert_int_equal(run(f, set), STORE_OK);
    assert_audit(f, (struct audit_query){.since = 20, .until = 40}, "7 5 2");
    assert_audit(f, (struct audit_query){.since = 20, .until = 40, .oldest_first = true}, "2 5 7");
    assert_audit(f, (struct audit_query){.since = 36}, "10 9 8 6 4 3");
    assert_audit(f, (struct audit_query){.since = 905, .oldest_first = true}, "4 8 9 10");
    assert_audit(f, (struct audit_query){.until = 36}, "7 5 2 1");
    assert_audit(f, (struct audit_query){.until = 920, .since = 900}, "4 3");
    assert_audit(f, (struct audit_query){.until = 10}, "");
    assert_audit(f, (struct audit_query){.since = 971}, "");

    set = change_set_new();
    change_purge(set, CHANGE_AUDIT_PURGE, 30, 1000); /* numbers 1 and 2 */
    append_audit(set, 50, "create", "a", AUDIT_SUCCESS);
    assert_int_equal(run(f, set), STORE_OK);
    assert_audit(f, (struct audit_query){.until = 60}, "11 7 6 5");
    assert_audit(f, (struct audit_query){.since = 30, .until = 51, .oldest_first = true}, "5 6 7 11");
}

static void audit_entries_are_numbered_filtered_and_purged(void **state)
{
    struct fixture *f = *state;
    char *a[] = {(char[]){"a"}, NULL}, *create[] = {(char[]){"create"}, (char[]){"other"}, NULL};
    char *none[] = {NULL}, *dev[] = {(char[]){"dev"}, NULL}, *token[] = {(char[]){"tok_1"}, NULL};
    struct change_set *set = change_set_new();
    append_audit(set, 10, "create", "a", AUDIT_SUCCESS);
    append_audit(set, 20, "delete", "b", AUDIT_DENIED);
    append_audit(set, 30, "start", NULL, AUDIT_SUCCESS);
    append_audit(set, 40, "create", "b", AUDIT_ERROR);
    assert_int_equal(run(f, set), STORE_OK);
    assert_audit(f, (struct audit_query){0}, "4 3 2 1");
    assert_audit(f, (struct audit_query){.limit = 2}, "4 3");
    assert_audit(f, (struct audit_query){.place = 3, .limit = 2}, "2 1");
    assert_audit(f, (struct audit_query){.oldest_first = true}, "1 2 3 4");
    assert_audit(f, (struct audit_query){.oldest_first = true, .place = 2, .limit = 1}, "3");
    assert_audit(f, (struct audit_query){.oldest_first = true, .since = 20, .until = 40}, "2 3");
    assert_audit(f, (struct audit_query){.place = 1}, "");
    assert_audit(f, (struct audit_query){.projects = a}, "1");
    assert_audit(f, (struct audit_query){.since = 20}, "4 3 2");
    assert_audit(f, (struct audit_query){.since = 20, .until = 40}, "3 2");
    assert_audit(f, (struct audit_query){.until = 10}, "");
    assert_audit(f, (struct audit_query){.projects = none}, "");
    assert_audit(f, (struct audit_query){.actions = create}, "4 1");
    assert_audit(f, (struct audit_query){.clusters = dev, .tokens = token}, "4 2 1");
    assert_audit(f, (struct audit_query){.outcomes = 1 << AUDIT_DENIED | 1 << AUDIT_ERROR}, "4 2");
    set = change_set_new();
    change_purge(set, CHANGE_AUDIT_PURGE, 41, 1000);
    assert_int_equal(run(f, set), STORE_OK);
    assert_audit(f, (struct audit_query){0}, "");
    set = change_set_new();
    append_audit(set, 50, "create", "a", AUDIT_SUCCESS);
    assert_int_equal(run(f, set), STORE_OK);
    assert_audit(f, (struct audit_query){0}, "5"); /* numbers are not used twice */
}

/* ---- operations ---- */

static struct operation *operation_of(const char *id, const char *project, const char *cluster,
                                      enum operation_status status)
{
    struct operation *op = make_operation(id, operation_status_is_final(status) ? 50 : 0);
    op->status = status;
    mem_set_str(&op->project, project);
    mem_set_str(&op->cluster, cluster);
    op->body = json_pack("{s:{s:s}}", "spec", "region", "Kna1");
    return op;
}

/* `wanted`: the ids of the page, each without its prefix "op_", then a slash and the id at which the next
 * page begins. */
static void assert_operations(struct fixture *f, struct operation_query query, const char *wanted)
{
    struct operation_page *page = MEM_NEW(struct operation_page);
    char found[128] = "";
    if (!query.limit)
        query.limit = 100;
    assert_int_equal(f->backend->operations(f->reader, &query, page), STORE_OK);
    for (size_t i = 0; i < page->count; i++) {
        size_t len = strlen(found);
        assert_null(page->operations[i]->body);
        (void)snprintf(found + len, sizeof(found) - len, "%s ", page->operations[i]->id + 3);
    }
    (void)snprintf(found + strlen(found), sizeof(found) - strlen(found), "/%s", page->next);
    operation_page_free(page);
    assert_string_equal(found, wanted);
}

static void operations_are_paged_and_filtered(void **state)
{
    struct fixture *f = *state;
    char *a[] = {(char[]){"a"}, NULL}, *both[] = {(char[]){"b"}, (char[]){"a"}, NULL}, *none[] = {NULL};
    char *dev[] = {(char[]){"dev"}, NULL}, *two[] = {(char[]){"dev"}, (char[]){"prod"}, NULL};
    const unsigned open = 1U << OPERATION_PENDING | 1U << OPERATION_RUNNING;
    struct change_set *set = change_set_new();
    change_put_operation(set, operation_of("op_1", "a", "dev", OPERATION_SUCCEEDED));
    change_put_operation(set, operation_of("op_2", "a", "prod", OPERATION_FAILED));
    change_put_operation(set, operation_of("op_3", "b", "dev", OPERATION_RUNNING));
    change_put_operation(set, operation_of("op_4", "a", "dev", OPERATION_RUNNING));
    assert_int_equal(run(f, set), STORE_OK);
    assert_operations(f, (struct operation_query){.limit = 9}, "4 3 2 1 /");
    assert_operations(f, (struct operation_query){.limit = 3}, "4 3 2 /op_2");
    assert_operations(f, (struct operation_query){.limit = 3, .before = "op_2"}, "1 /");
    assert_operations(f, (struct operation_query){.id = "op_3"}, "3 /");
    assert_operations(f, (struct operation_query){.id = "op_9"}, "/");
    assert_operations(f, (struct operation_query){.projects = a}, "4 2 1 /");
    assert_operations(f, (struct operation_query){.projects = both}, "4 3 2 1 /");
    assert_operations(f, (struct operation_query){.projects = none}, "/");
    assert_operations(f, (struct operation_query){.clusters = dev}, "4 3 1 /");
    assert_operations(f, (struct operation_query){.projects = a, .clusters = dev}, "4 1 /");
    assert_operations(f, (struct operation_query){.projects = a, .clusters = dev, .limit = 1}, "4 /op_4");
    assert_operations(f, (struct operation_query){.limit = 4}, "4 3 2 1 /");
    assert_operations(f, (struct operation_query){.projects = a, .clusters = two}, "4 2 1 /");
    char *part[] = {(char[]){"ro"}, (char[]){"zz"}, NULL},
         *special[] = {(char[]){"%"}, (char[]){"_"}, (char[]){"\\"}, NULL};
    const unsigned creates = 1U << OPERATION_CREATE;
    assert_operations(f, (struct operation_query){.cluster_parts = part}, "2 /");
    assert_operations(f, (struct operation_query){.cluster_parts = special}, "/");
    assert_operations(f, (struct operation_query){.cluster_parts = none}, "/");
    assert_operations(f, (struct operation_query){.cluster_parts = part, .types = creates}, "2 /");
    assert_operations(f, (struct operation_query){.projects = a, .clusters = dev, .cluster_parts = part},
                      "/");
    assert_operations(f, (struct operation_query){.projects = a, .cluster_parts = dev, .limit = 1},
                      "4 /op_4");
    assert_operations(f, (struct operation_query){.statuses = open}, "4 3 /");
    assert_operations(f, (struct operation_query){.projects = a, .clusters = dev, .statuses = open}, "4 /");
    set = change_set_new();
    change_put_operation(set, operation_of("op_4", "a", "dev", OPERATION_SUCCEEDED));
    assert_int_equal(run(f, set), STORE_OK);
    assert_operations(f, (struct operation_query){.statuses = open}, "3 /");
}

static void operations_are_found_by_type_and_time(void **state)
{
    struct fixture *f = *state;
    char *p1[] = {(char[]){"p1"}, NULL}, *dev[] = {(char[]){"dev"}, NULL};
    struct change_set *set = change_set_new();
    for (int i = 1; i <= 4; i++) {
        char at[ID_BYTES], id[ID_BYTES];
        (void)snprintf(id, sizeof(id), "%s%016d", id_floor(ID_OPERATION, i * 1000 * US_PER_S, at), i);
        struct operation *op = operation_of(id, "p1", "dev", OPERATION_SUCCEEDED);
        op->type = i % 2 ? OPERATION_CREATE : OPERATION_DELETE;
        change_put_operation(set, op);
    }
    assert_int_equal(run(f, set), STORE_OK);
    const unsigned creates = 1U << OPERATION_CREATE, deletes = 1U << OPERATION_DELETE;
    const char *all = "000003t2800000000000000004 000002vhp00000000000000003 000001x1400000000000000002 "
                      "000000ygj00000000000000001 /";
    const char *last = "000003t2800000000000000004 /";
    assert_operations(f, (struct operation_query){.since = 1000 * US_PER_S}, all);
    assert_operations(f, (struct operation_query){.types = creates | deletes}, all);
    assert_operations(
        f, (struct operation_query){.types = creates | deletes, .projects = p1, .clusters = dev}, all);
    assert_operations(f, (struct operation_query){.since = 4000 * US_PER_S}, last);
    assert_operations(f, (struct operation_query){.since = 3001 * US_PER_S, .projects = p1, .clusters = dev},
                      last);
    assert_operations(f, (struct operation_query){.since = 3000 * US_PER_S, .types = deletes}, last);
    assert_operations(f, (struct operation_query){.since = 4001 * US_PER_S}, "/");
    assert_operations(f, (struct operation_query){.types = 1U << OPERATION_WAKE}, "/");
}

/* The load returns open operations, the newest ended ones, and those that a cluster shows. */
static void only_recent_operations_are_loaded(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = make_cluster("cl_1", "p1", "c1", 1);
    set_id(c->operation_id, "op_000002");
    struct change_set *set = change_set_new();
    change_put_cluster(set, c);
    change_put_operation(set, make_operation("op_000001", 0));
    for (int i = 2; i < 2 + STORE_RECENT_OPERATIONS; i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "op_%06d", i);
        change_put_operation(set, make_operation(id, 50));
    }
    assert_int_equal(run(f, set), STORE_OK);
    struct seen seen = load(f);
    assert_string_equal(seen.left_out, "");
    assert_int_equal(seen.operations, STORE_RECENT_OPERATIONS + 1);
    set = change_set_new();
    change_put_operation(set, make_operation("op_100000", 50));
    change_put_operation(set, make_operation("op_100001", 50));
    assert_int_equal(run(f, set), STORE_OK);
    seen = load(f);
    assert_string_equal(seen.left_out, "op_000003");
    /* op_000001 is open, a cluster shows op_000002 */
    assert_int_equal(seen.operations, STORE_RECENT_OPERATIONS + 2);
    assert_operations(f, (struct operation_query){.before = "op_000004"}, "000003 000002 000001 /");
}

static void a_second_put_replaces(void **state)
{
    struct fixture *f = *state;
    for (int i = 1; i <= 2; i++) {
        struct change_set *set = change_set_new();
        change_put_account(set, make_account("acme", i));
        change_put_token(set, make_token("tok_1", (uint8_t)i));
        change_put_operation(set, make_operation("op_1", i == 2 ? 50 : 0));
        change_put_project(set, make_project("p1", i * 10));
        assert_int_equal(run(f, set), STORE_OK);
    }
    struct seen seen = load(f);
    assert_int_equal(seen.accounts + seen.tokens + seen.operations + seen.projects, 4);
    assert_int_equal(seen.discovered_at, 20);
}

static void stale_cluster_versions_conflict(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(store_cluster(f->backend, f->writer, make_cluster("cl_1", "p1", "c1", 5)), STORE_OK);
    assert_int_equal(store_cluster(f->backend, f->writer, make_cluster("cl_1", "p1", "c1", 4)),
                     STORE_CONFLICT);
    assert_int_equal(load(f).number, 5);
    assert_int_equal(store_cluster(f->backend, f->writer, make_cluster("cl_1", "p1", "c1", 5)), STORE_OK);
    assert_int_equal(store_cluster(f->backend, f->writer, make_cluster("cl_1", "p1", "c1", 6)), STORE_OK);
    assert_int_equal(load(f).number, 6);
}

static void live_clusters_are_unique_by_name(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(store_cluster(f->backend, f->writer, make_cluster("cl_1", "p1", "c1", 1)), STORE_OK);
    assert_int_equal(store_cluster(f->backend, f->writer, make_cluster("cl_2", "p1", "c1", 1)),
                     STORE_CONFLICT);
    assert_int_equal(store_cluster(f->backend, f->writer, make_cluster("cl_2", "p2", "c1", 1)), STORE_OK);
    struct cluster *gone = make_cluster("cl_1", "p1", "c1", 2);
    gone->deleted = true;
    assert_int_equal(store_cluster(f->backend, f->writer, gone), STORE_OK);
    assert_int_equal(store_cluster(f->backend, f->writer, make_cluster("cl_3", "p1", "c1", 1)), STORE_OK);
    struct change_set *set = change_set_new();
    change_delete_cluster(set, "cl_1");
    change_delete_cluster(set, "cl_unknown");
    assert_int_equal(run(f, set), STORE_OK);
    assert_int_equal(load(f).clusters, 2);
}

static void digests_and_event_ids_are_unique(void **state)
{
    struct fixture *f = *state;
    struct change_set *set = change_set_new();
    change_put_token(set, make_token("tok_1", 9));
    assert_int_equal(run(f, set), STORE_OK);
    set = change_set_new();
    change_put_token(set, make_token("tok_2", 9));
    assert_int_equal(run(f, set), STORE_CONFLICT);
    set = change_set_new();
    change_delete_token(set, "tok_1");
    change_delete_token(set, "tok_unknown");
    change_put_token(set, make_token("tok_2", 9));
    assert_int_equal(run(f, set), STORE_OK);
    assert_int_equal(load(f).tokens, 1);
    assert_int_equal(
        store_event(f->backend, f->writer, make_event("evt_1", EVENT_CLUSTER_READY, "p1", "c1", 1)),
        STORE_OK);
    assert_int_equal(
        store_event(f->backend, f->writer, make_event("evt_1", EVENT_CLUSTER_READY, "p1", "c1", 1)),
        STORE_CONFLICT);
    check_page(f, &(struct event_query){.limit = 10}, "1");
}

static void a_set_is_stored_whole_or_not(void **state)
{
    struct fixture *f = *state;
    struct change_set *set = change_set_new();
    change_put_cluster(set, make_cluster("cl_1", "p1", "c1", 1));
    struct event *e = change_append_event(set, make_event("evt_1", EVENT_CLUSTER_CREATED, "p1", "c1", 1));
    change_put_delivery(set, make_delivery("dlv_1", "evt_1", "wh_none", DELIVERY_PENDING, 1));
    assert_int_equal(store_try(f->backend, f->writer, set), STORE_CONFLICT);
    assert_int_equal(load(f).clusters, 0);
    check_page(f, &(struct event_query){.limit = 10}, "");
    set->count = 2;
    assert_int_equal(store_try(f->backend, f->writer, set), STORE_OK);
    assert_int_equal(e->sequence, 1);
    free(set->changes[2].delivery);
    change_set_free(set);
}

static void readers_do_not_see_open_transactions(void **state)
{
    struct fixture *f = *state;
    struct change_set *set = change_set_new();
    (void)change_append_event(set, make_event("evt_1", EVENT_CLUSTER_CREATED, "p1", "c1", 1));
    assert_int_equal(f->backend->begin(f->writer, NULL), STORE_OK);
    assert_int_equal(f->backend->apply(f->writer, &set->changes[0], NULL), STORE_OK);
    check_page(f, &(struct event_query){.limit = 10}, "");
    assert_int_equal(f->backend->commit(f->writer, NULL), STORE_OK);
    check_page(f, &(struct event_query){.limit = 10}, "1");
    change_set_free(set);
}

static void assert_last_marked(struct fixture *f, int64_t wanted)
{
    int64_t number = -1;
    assert_int_equal(f->backend->last_marked(f->writer, &number), STORE_OK);
    assert_int_equal(number, wanted);
}

/* After a failed commit the number shows whether the commit had an effect. */
static void the_last_marked_transaction_is_the_last_that_was_committed(void **state)
{
    struct fixture *f = *state;
    assert_last_marked(f, 0);
    assert_int_equal(f->backend->begin(f->writer, NULL), STORE_OK);
    assert_int_equal(f->backend->mark(f->writer, 7, NULL), STORE_OK);
    assert_int_equal(f->backend->commit(f->writer, NULL), STORE_OK);
    assert_last_marked(f, 7);
    assert_int_equal(f->backend->begin(f->writer, NULL), STORE_OK);
    assert_int_equal(f->backend->mark(f->writer, 8, NULL), STORE_OK);
    f->backend->rollback(f->writer);
    assert_last_marked(f, 7);
    assert_int_equal(store_cluster(f->backend, f->writer, make_cluster("cl_1", "p1", "c1", 1)), STORE_OK);
    assert_last_marked(f, 7); /* a transaction without a number does not change it */
    f->backend->close(f->writer);
    assert_int_equal(f->backend->open(f->location, true, &f->writer, NULL), STORE_OK);
    assert_last_marked(f, 7);
}

static void sequences_are_dense_and_never_reused(void **state)
{
    struct fixture *f = *state;
    char id[40];
    for (int i = 1; i <= 6; i++) {
        struct change_set *set = change_set_new();
        (void)snprintf(id, sizeof(id), "evt_%d", i);
        (void)change_append_event(set, make_event(id, EVENT_CLUSTER_READY, "p1", "c1", i));
        if (i % 2) { /* a rollback returns the number */
            assert_int_equal(f->backend->begin(f->writer, NULL), STORE_OK);
            assert_int_equal(f->backend->apply(f->writer, &set->changes[0], NULL), STORE_OK);
            f->backend->rollback(f->writer);
            f->backend->rollback(f->writer); /* a rollback without a transaction is no fault */
        }
        assert_int_equal(store_try(f->backend, f->writer, set), STORE_OK);
        assert_int_equal(set->changes[0].event->sequence, i);
        change_set_free(set);
    }
    struct change_set *set = change_set_new();
    change_purge_events(set, 100, 1000, 1000);
    assert_int_equal(run(f, set), STORE_OK);
    struct event_page *page = page_of(f, &(struct event_query){.limit = 10});
    assert_int_equal(page->count, 0);
    assert_int_equal(page->oldest, 0);
    assert_int_equal(page->newest, 6);
    event_page_free(page);
    assert_int_equal(
        store_event(f->backend, f->writer, make_event("evt_7", EVENT_CLUSTER_READY, "p1", "c1", 7)),
        STORE_OK);
    check_page(f, &(struct event_query){.limit = 10}, "7");
}

static void event_pages_filter(void **state)
{
    struct fixture *f = *state;
    static const struct {
        enum event_type type;
        const char *project;
        const char *cluster;
    } rows[] = {
        {EVENT_CLUSTER_CREATED, "p1", "c1"},  {EVENT_OPERATION_STARTED, "p1", "c1"},
        {EVENT_CLUSTER_READY, "p2", "c1"},    {EVENT_ACCOUNT_LOGIN_FAILED, NULL, NULL},
        {EVENT_CLUSTER_CREATED, "p1", "c2"},  {EVENT_OPERATION_FAILED, "p3", "c3"},
        {EVENT_VERSION_EXPIRING, "p1", "c2"},
    };
    char id[40];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)snprintf(id, sizeof(id), "evt_%d", (int)i);
        struct event *e = make_event(id, rows[i].type, rows[i].project, rows[i].cluster, (wall_us)i);
        assert_int_equal(store_event(f->backend, f->writer, e), STORE_OK);
    }
    char cluster_all[] = "cluster.*", all[] = "*", failed[] = "operation.failed",
         login[] = "account.login_failed";
    char p1[] = "p1", p2[] = "p2", c1[] = "c1", none[] = "nothing.like.this";
    check_page(f, &(struct event_query){.limit = 100}, "1 2 3 4 5 6 7");
    check_page(f, &(struct event_query){.limit = 2}, "1 2");
    check_page(f, &(struct event_query){.after = 2, .limit = 3}, "3 4 5");
    check_page(f, &(struct event_query){.after = 7, .limit = 3}, "");
    check_page(f, &(struct event_query){.newest_first = true, .limit = 3}, "7 6 5");
    check_page(f, &(struct event_query){.newest_first = true, .before = 5, .limit = 3}, "4 3 2");
    check_page(f, &(struct event_query){.newest_first = true, .before = 1, .limit = 3}, "");
    check_page(f, &(struct event_query){.limit = -4}, "1");
    check_page(f, &(struct event_query){.limit = 9, .types = (char *[]){cluster_all, NULL}}, "1 3 5");
    check_page(f, &(struct event_query){.limit = 9, .types = (char *[]){failed, login, NULL}}, "4 6");
    check_page(f, &(struct event_query){.limit = 9, .types = (char *[]){all, NULL}}, "1 2 3 4 5 6 7");
    check_page(f, &(struct event_query){.limit = 9, .types = (char *[]){none, NULL}}, "");
    check_page(f, &(struct event_query){.limit = 9, .projects = (char *[]){p1, NULL}}, "1 2 5 7");
    check_page(f, &(struct event_query){.limit = 9, .projects = (char *[]){p1, p2, NULL}}, "1 2 3 5 7");
    check_page(f, &(struct event_query){.limit = 9, .projects = (char *[]){NULL}}, "");
    check_page(f, &(struct event_query){.limit = 9, .cluster = c1}, "1 2 3");
    check_page(f, &(struct event_query){.limit = 9, .cluster = c1, .projects = (char *[]){p2, NULL}}, "3");
    check_page(
        f,
        &(struct event_query){
            .after = 1, .limit = 9, .projects = (char *[]){p1, NULL}, .types = (char *[]){cluster_all, NULL}},
        "5");
}

static void purges_keep_what_is_needed(void **state)
{
    struct fixture *f = *state;
    struct change_set *set = change_set_new();
    change_put_operation(set, make_operation("op_open", 0));
    change_put_operation(set, make_operation("op_old", 10));
    change_put_operation(set, make_operation("op_edge", 20));
    change_put_subscription(set, make_subscription("wh_1", "hook"));
    (void)change_append_event(set, make_event("evt_1", EVENT_CLUSTER_READY, "p1", "c1", 10));
    (void)change_append_event(set, make_event("evt_2", EVENT_CLUSTER_READY, "p1", "c1", 10));
    (void)change_append_event(set, make_event("evt_3", EVENT_CLUSTER_READY, "p1", "c1", 20));
    change_put_delivery(set, make_delivery("dlv_1", "evt_1", "wh_1", DELIVERY_PENDING, 10));
    change_put_delivery(set, make_delivery("dlv_2", "evt_2", "wh_1", DELIVERY_DELIVERED, 10));
    change_put_delivery(set, make_delivery("dlv_3", "evt_2", "wh_1", DELIVERY_FAILED, 20));
    change_purge(set, CHANGE_OPERATION_PURGE, 20, 1000);
    change_purge_events(set, 20, 1000, 1000);
    change_purge(set, CHANGE_DELIVERY_PURGE, 20, 1000);
    assert_int_equal(run(f, set), STORE_OK);
    assert_int_equal(load(f).operations, 2);
    struct event_page *page = page_of(f, &(struct event_query){.limit = 10});
    assert_int_equal(page->count, 3); /* the purge stops at the event of the pending delivery */
    assert_int_equal(page->oldest, 1);
    assert_int_equal(page->newest, 3);
    event_page_free(page);
    struct delivery *array = NULL;
    size_t count = 0;
    assert_int_equal(
        f->backend->deliveries(f->reader,
                               &(struct delivery_query){.subscription_id = "wh_1", .status = -1, .limit = 10},
                               &array, &count),
        STORE_OK);
    assert_int_equal(count, 2);
    assert_string_equal(array[0].id, "dlv_3");
    assert_string_equal(array[1].id, "dlv_1");
    free(array);
    assert_int_equal(load(f).last_success, 10); /* of a delivery that was purged */
}

/* The events that are kept have no gap. Purges go by age and by number, and never beyond a pending
 * delivery. */
static void the_event_log_is_purged_from_its_beginning(void **state)
{
    static const struct {
        wall_us before;
        int64_t newest;
        const char *kept;
    } steps[] = {
        {0, 1000, "1 2 3 4 5 6 7 8"}, {3, 1000, "3 4 5 6 7 8"}, {0, 5, "4 5 6 7 8"}, {5, 2, "6 7 8"},
        {100, 1000, "6 7 8"},
    };
    struct fixture *f = *state;
    struct change_set *set = change_set_new();
    change_put_subscription(set, make_subscription("wh_1", "hook"));
    change_put_delivery(set, make_delivery("dlv_1", "evt_6", "wh_1", DELIVERY_PENDING, 10));
    change_put_delivery(set, make_delivery("dlv_2", "evt_2", "wh_1", DELIVERY_FAILED, 10));
    char id[40];
    for (int i = 1; i <= 8; i++) {
        (void)snprintf(id, sizeof(id), "evt_%d", i);
        (void)change_append_event(set, make_event(id, EVENT_CLUSTER_READY, "p1", "c1", i));
    }
    assert_int_equal(run(f, set), STORE_OK);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        set = change_set_new();
        change_purge_events(set, steps[i].before, steps[i].newest, 1000);
        assert_int_equal(run(f, set), STORE_OK);
        check_page(f, &(struct event_query){.limit = 100}, steps[i].kept);
    }
    set = change_set_new();
    change_put_delivery(set, make_delivery("dlv_1", "evt_6", "wh_1", DELIVERY_DELIVERED, 10));
    change_purge_events(set, 0, 1, 1000);
    assert_int_equal(run(f, set), STORE_OK);
    struct event_page *page = page_of(f, &(struct event_query){.limit = 10});
    assert_int_equal(page->oldest, 8);
    assert_int_equal(page->newest, 8);
    event_page_free(page);
    struct seen seen = load(f);
    assert_int_equal(seen.oldest_event, 8);
    assert_int_equal(seen.newest_event, 8);
}

static struct change_set *old_rows_of_every_kind(int count)
{
    struct change_set *set = change_set_new();
    change_put_subscription(set, make_subscription("wh_1", "hook"));
    for (int i = 1; i <= count; i++) {
        char op[40], event[40], delivery[40];
        (void)snprintf(op, sizeof(op), "op_%d", i);
        (void)snprintf(event, sizeof(event), "evt_%d", i);
        (void)snprintf(delivery, sizeof(delivery), "dlv_%d", i);
        change_put_operation(set, make_operation(op, i));
        (void)change_append_event(set, make_event(event, EVENT_CLUSTER_READY, "p1", "c1", i));
        change_put_delivery(set, make_delivery(delivery, event, "wh_1", DELIVERY_DELIVERED, i));
        change_put_replay(set, make_replay((char)('a' + i), "body", i));
        append_audit(set, i, "create", "p1", AUDIT_SUCCESS);
    }
    return set;
}

/* 7 of 10 rows must go, at most 3 at a time. */
static void purges_go_in_slices(void **state)
{
    struct fixture *f = *state;
    static const enum change_kind kinds[] = {CHANGE_OPERATION_PURGE, CHANGE_EVENT_PURGE,
                                             CHANGE_DELIVERY_PURGE, CHANGE_REPLAY_PURGE, CHANGE_AUDIT_PURGE};
    static const struct {
        bool left_over;
        const char *kept;
    } slices[] = {
        {true, "4 5 6 7 8 9 10"},
        {true, "7 8 9 10"},
        {false, "8 9 10"},
        {false, "8 9 10"},
    };
    assert_int_equal(run(f, old_rows_of_every_kind(10)), STORE_OK);
    for (size_t i = 0; i < ARRAY_LEN(slices); i++) {
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            struct change_set *set = change_set_new();
            if (kinds[k] == CHANGE_EVENT_PURGE)
                change_purge_events(set, 8, 1000, 3);
            else
                change_purge(set, kinds[k], 8, 3);
            assert_int_equal(store_try(f->backend, f->writer, set), STORE_OK);
            if (change_set_left_over(set) != slices[i].left_over)
                fail_msg("kind %d, slice %zu", kinds[k], i);
            change_set_free(set);
        }
        check_page(f, &(struct event_query){.limit = 100}, slices[i].kept);
    }
    struct replay *p = NULL;
    assert_int_equal(load(f).operations, 3);
    assert_audit(f, (struct audit_query){0}, "10 9 8");
    assert_int_equal(find_replay(f, 'a' + 7, &p), STORE_NONE);
    assert_int_equal(find_replay(f, 'a' + 8, &p), STORE_OK);
    replay_free(p);
}

static void deliveries_page_newest_first_and_cascade(void **state)
{
    struct fixture *f = *state;
    struct change_set *set = change_set_new();
    change_put_subscription(set, make_subscription("wh_1", "one"));
    change_put_subscription(set, make_subscription("wh_2", "two"));
    char id[40];
    for (int i = 1; i <= 5; i++) {
        (void)snprintf(id, sizeof(id), "dlv_%d", i);
        change_put_delivery(set, make_delivery(id, "evt_1", i == 3 ? "wh_2" : "wh_1", DELIVERY_PENDING, i));
    }
    /* a change keeps the deliveries of the subscription */
    change_put_subscription(set, make_subscription("wh_1", "changed"));
    assert_int_equal(run(f, set), STORE_OK);
    struct delivery *array = NULL;
    size_t count = 0;
    assert_int_equal(
        f->backend->deliveries(f->reader,
                               &(struct delivery_query){.subscription_id = "wh_1", .status = -1, .limit = 2},
                               &array, &count),
        STORE_OK);
    assert_int_equal(count, 2);
    assert_string_equal(array[0].id, "dlv_5");
    assert_string_equal(array[1].id, "dlv_4");
    struct delivery *want = make_delivery("dlv_5", "evt_1", "wh_1", DELIVERY_PENDING, 5);
    assert_memory_equal(&array[0], want, offsetof(struct delivery, attempts));
    assert_int_equal(array[0].attempts_known, 2);
    assert_int_equal(array[0].attempts[0].at, 10);
    assert_int_equal(array[0].attempts[1].at, 11);
    assert_int_equal(array[0].attempts[1].latency_ms, 41);
    assert_int_equal(array[0].attempts[1].response_status, 503);
    assert_int_equal(array[0].attempts[1].result, ATTEMPT_SERVER_ERROR);
    free(want);
    free(array);
    assert_int_equal(
        f->backend->deliveries(
            f->reader,
            &(struct delivery_query){.subscription_id = "wh_1", .before = "dlv_4", .status = -1, .limit = 9},
            &array, &count),
        STORE_OK);
    assert_int_equal(count, 2);
    assert_string_equal(array[0].id, "dlv_2");
    free(array);

    set = change_set_new();
    change_delete_subscription(set, "wh_1");
    change_delete_subscription(set, "wh_unknown");
    assert_int_equal(run(f, set), STORE_OK);
    struct seen seen = load(f);
    assert_int_equal(seen.subscriptions, 1);
    assert_int_equal(seen.deliveries, 1);
    assert_int_equal(
        f->backend->deliveries(f->reader,
                               &(struct delivery_query){.subscription_id = "wh_1", .status = -1, .limit = 9},
                               &array, &count),
        STORE_OK);
    assert_int_equal(count, 0);
    free(array);
}

/* `want`: the newest delivery of a query, or "" when there is none. */
static void first_of(struct fixture *f, const struct delivery_query *query, size_t want_count,
                     const char *want)
{
    struct delivery *array = NULL;
    size_t count = 0;
    assert_int_equal(f->backend->deliveries(f->reader, query, &array, &count), STORE_OK);
    assert_int_equal(count, want_count);
    assert_string_equal(count ? array[0].id : "", want);
    free(array);
}

static void deliveries_are_found_by_status_and_id(void **state)
{
    struct fixture *f = *state;
    struct change_set *set = change_set_new();
    change_put_subscription(set, make_subscription("wh_1", "one"));
    change_put_subscription(set, make_subscription("wh_2", "two"));
    change_put_delivery(set, make_delivery("dlv_1", "evt_1", "wh_1", DELIVERY_FAILED, 3));
    change_put_delivery(set, make_delivery("dlv_2", "evt_2", "wh_1", DELIVERY_DELIVERED, 8));
    change_put_delivery(set, make_delivery("dlv_3", "evt_3", "wh_1", DELIVERY_PENDING, 9));
    change_put_delivery(set, make_delivery("dlv_4", "evt_1", "wh_2", DELIVERY_FAILED, 3));
    assert_int_equal(run(f, set), STORE_OK);
    first_of(f, &(struct delivery_query){"wh_1", .status = DELIVERY_FAILED, .limit = 9}, 1, "dlv_1");
    first_of(f, &(struct delivery_query){"wh_1", .status = DELIVERY_DELIVERED, .limit = 9}, 1, "dlv_2");
    first_of(f, &(struct delivery_query){"wh_1", .status = -1, .limit = 9}, 3, "dlv_3");
    first_of(f, &(struct delivery_query){"wh_1", .id = "dlv_2", .status = -1, .limit = 1}, 1, "dlv_2");
    first_of(f, &(struct delivery_query){"wh_2", .id = "dlv_2", .status = -1, .limit = 1}, 0, "");
    assert_int_equal(load(f).last_success, 8);
}

static void the_standing_of_a_receiver_outlives_a_change_of_its_webhook(void **state)
{
    struct fixture *f = *state;
    const struct webhook_standing wanted = {
        .last_at = 9, .failing_since = 7, .last_status = 502, .last_result = ATTEMPT_SERVER_ERROR};
    struct change_set *set = change_set_new();
    change_put_subscription(set, make_subscription("wh_1", "one"));
    change_put_standing(set, "wh_1", &wanted);
    change_put_standing(set, "wh_gone", &wanted);
    change_put_subscription(set, make_subscription("wh_1", "changed"));
    assert_int_equal(run(f, set), STORE_OK);
    const struct seen seen = load(f);
    assert_int_equal(seen.subscriptions, 1);
    assert_string_equal(seen.last, "changed");
    assert_int_equal(seen.standing.last_at, 9);
    assert_int_equal(seen.standing.failing_since, 7);
    assert_int_equal(seen.standing.last_status, 502);
    assert_int_equal(seen.standing.last_result, ATTEMPT_SERVER_ERROR);
}

static void events_that_a_subscription_missed(void **state)
{
    struct fixture *f = *state;
    struct change_set *set = change_set_new();
    change_put_subscription(set, make_subscription("wh_1", "one"));
    for (int i = 1; i <= 6; i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "evt_%d", i);
        (void)change_append_event(
            set, make_event(id, i == 6 ? EVENT_WEBHOOK_TEST : EVENT_CLUSTER_READY, "p1", "c1", 10 * i));
    }
    change_put_delivery(set, make_delivery("dlv_2", "evt_2", "wh_1", DELIVERY_FAILED, 1));
    change_put_delivery(set, make_delivery("dlv_3", "evt_3", "wh_1", DELIVERY_DELIVERED, 1));
    change_put_delivery(set, make_delivery("dlv_4", "evt_4", "wh_1", DELIVERY_PENDING, 1));
    assert_int_equal(run(f, set), STORE_OK);
    static char hook[] = "wh_1";
    struct event_query query = {.limit = 10, .undelivered_to = hook, .since = 20};
    struct event_page *page = page_of(f, &query);
    assert_int_equal(page->count, 2);
    assert_string_equal(page->events[0].id, "evt_2");
    assert_string_equal(page->events[1].id, "evt_5");
    event_page_free(page);
    set = change_set_new(); /* a second delivery of an event whose first delivery failed */
    change_put_delivery(set, make_delivery("dlv_5", "evt_2", "wh_1", DELIVERY_PENDING, 1));
    assert_int_equal(run(f, set), STORE_OK);
    page = page_of(f, &query);
    assert_int_equal(page->count, 1);
    event_page_free(page);
    static char other[] = "other";
    query.projects = (char *[]){other, NULL};
    page = page_of(f, &query);
    assert_int_equal(page->count, 0);
    event_page_free(page);
    set = change_set_new(); /* the clock was set back: events count by their time, wherever they are in the
                               order */
    (void)change_append_event(set, make_event("evt_7", EVENT_CLUSTER_READY, "p1", "c1", 46));
    (void)change_append_event(set, make_event("evt_8", EVENT_CLUSTER_READY, "p1", "c1", 5));
    assert_int_equal(run(f, set), STORE_OK);
    query = (struct event_query){.limit = 10, .undelivered_to = hook, .since = 45};
    page = page_of(f, &query);
    assert_int_equal(page->count, 2);
    assert_string_equal(page->events[0].id, "evt_5");
    assert_string_equal(page->events[1].id, "evt_7");
    event_page_free(page);
    query.after = 5;
    page = page_of(f, &query);
    assert_int_equal(page->count, 1);
    assert_string_equal(page->events[0].id, "evt_7");
    event_page_free(page);
    query = (struct event_query){.limit = 10, .undelivered_to = hook, .since = 1000};
    page = page_of(f, &query);
    assert_int_equal(page->count, 0);
    event_page_free(page);
}

static void leases_exclude_expire_and_fence(void **state)
{
    struct fixture *f = *state;
    const struct store_backend *b = f->backend;
    struct store_lease lease = {0};
    assert_int_equal(b->lease_take(f->writer, "daemon", "a", 100, 30, &lease, NULL), STORE_OK);
    assert_int_equal(lease.until, 130);
    assert_int_equal(lease.fence, 1);
    assert_int_equal(b->lease_take(f->writer, "daemon", "b", 129, 30, &lease, NULL), STORE_CONFLICT);
    assert_string_equal(lease.holder, "a");
    assert_int_equal(lease.until, 130);
    assert_int_equal(b->lease_take(f->writer, "daemon", "a", 120, 30, &lease, NULL), STORE_OK);
    assert_int_equal(lease.fence, 1); /* the lease was renewed */
    assert_int_equal(lease.until, 150);
    assert_int_equal(b->lease_take(f->writer, "other", "b", 120, 30, &lease, NULL), STORE_OK);
    assert_int_equal(lease.fence, 1);
    /* the lease has expired */
    assert_int_equal(b->lease_take(f->writer, "daemon", "b", 150, 30, &lease, NULL), STORE_OK);
    assert_int_equal(lease.fence, 2);
    assert_int_equal(b->lease_release(f->writer, "daemon", "a"), STORE_NONE);
    assert_int_equal(b->lease_release(f->writer, "daemon", "b"), STORE_OK);
    assert_int_equal(b->lease_take(f->writer, "daemon", "b", 151, 30, &lease, NULL), STORE_OK);
    assert_int_equal(lease.fence, 3); /* the lease was released in between, so this is a new one */
}

static void status_names_are_complete(void **state)
{
    for (int status = STORE_OK; status <= STORE_LOCKED; status++)
        assert_string_not_equal(store_status_name((enum store_status)status), "unknown");
}

#define SUITE_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    int failed = 0;
    for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
        struct CMUnitTest tests[] = {
            SUITE_TEST(every_kind_is_stored_and_loaded),
            SUITE_TEST(a_second_put_replaces),
            SUITE_TEST(replays_are_found_replaced_and_purged),
            SUITE_TEST(replays_are_walked_and_the_key_is_named),
            SUITE_TEST(replays_are_walked_and_the_key_is_named),
            SUITE_TEST(audit_entries_are_numbered_filtered_and_purged),
            SUITE_TEST(a_clock_that_was_set_back_hides_no_entry),
            SUITE_TEST(searches_find_members_that_only_the_body_contains),
            SUITE_TEST(searches_are_cut_and_go_on),
            SUITE_TEST(operations_are_found_by_type_and_time),
            SUITE_TEST(operations_are_paged_and_filtered),
            SUITE_TEST(only_recent_operations_are_loaded),
            SUITE_TEST(stale_cluster_versions_conflict),
            SUITE_TEST(live_clusters_are_unique_by_name),
            SUITE_TEST(digests_and_event_ids_are_unique),
            SUITE_TEST(a_set_is_stored_whole_or_not),
            SUITE_TEST(readers_do_not_see_open_transactions),
            SUITE_TEST(the_last_marked_transaction_is_the_last_that_was_committed),
            SUITE_TEST(sequences_are_dense_and_never_reused),
            SUITE_TEST(event_pages_filter),
            SUITE_TEST(purges_keep_what_is_needed),
            SUITE_TEST(the_event_log_is_purged_from_its_beginning),
            SUITE_TEST(purges_go_in_slices),
            SUITE_TEST(deliveries_page_newest_first_and_cascade),
            SUITE_TEST(deliveries_are_found_by_status_and_id),
            SUITE_TEST(the_standing_of_a_receiver_outlives_a_change_of_its_webhook),
            SUITE_TEST(events_that_a_subscription_missed),
            SUITE_TEST(leases_exclude_expire_and_fence),
            cmocka_unit_test(status_names_are_complete),
        };
        struct store_backend backend = *backends[i];
        for (size_t t = 0; t < ARRAY_LEN(tests); t++)
            tests[t].initial_state = &backend;
        failed += cmocka_run_group_tests_name(backend.name, tests, NULL, NULL);
    }
    return failed ? 1 : 0;
}
