/*
 * The in-memory backend for tests. Connections with the same location share one state while at least one of
 * them is open. The state's mutex protects everything, so connections may be used on different threads. A
 * transaction changes a copy (snapshot) of the tables, and a commit makes this copy the current state.
 * Readers therefore never see a part of a transaction, and a rollback discards the snapshot.
 *
 * The fake behaves like a store that several daemons share: several writers may be open, only one has a
 * transaction at a time, and leases decide which one may write.
 */
#include "storage/storage.h"

#include "base/list.h"
#include "base/mem.h"
#include "storage/fake/fake_private.h"
#include "storage/storage_private.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { FAKE_LEASES = 8 };

struct fake_state {
    struct list link;
    char *location;
    unsigned refs; /* protected by the registry's mutex, like `link` and `location` */

    pthread_mutex_t mutex;
    pthread_cond_t turn;
    const void *transaction_of; /* the connection with an open transaction, or NULL */
    struct fake_tables committed;
    struct store_lease leases[FAKE_LEASES];
    int fail_in;
    enum store_status fail_status;
    bool failed_commits_have_effect;
    int last_marked_fails;
};

struct fake_conn {
    struct fake_state *state;
    struct fake_tables working; /* the copy that the open transaction changes */
};

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct list registry = {&registry, &registry};

static struct fake_state *state_ref(const char *location)
{
    (void)pthread_mutex_lock(&registry_mutex);
    struct fake_state *state = NULL;
    LIST_FOR_EACH (it, &registry) {
        struct fake_state *candidate = CONTAINER_OF(it, struct fake_state, link);
        if (!strcmp(candidate->location, location))
            state = candidate;
    }
    if (!state) {
        state = MEM_NEW(struct fake_state);
        state->location = mem_strdup(location);
        (void)pthread_mutex_init(&state->mutex, NULL);
        (void)pthread_cond_init(&state->turn, NULL);
        list_append(&registry, &state->link);
    }
    state->refs++;
    (void)pthread_mutex_unlock(&registry_mutex);
    return state;
}

static void state_unref(struct fake_state *state)
{
    (void)pthread_mutex_lock(&registry_mutex);
    assert(state->refs);
    bool last = --state->refs == 0;
    if (last)
        list_remove(&state->link);
    (void)pthread_mutex_unlock(&registry_mutex);
    if (!last)
        return;
    fake_tables_done(&state->committed);
    (void)pthread_cond_destroy(&state->turn);
    (void)pthread_mutex_destroy(&state->mutex);
    free(state->location);
    free(state);
}

static void lock(struct fake_conn *conn)
{
    (void)pthread_mutex_lock(&conn->state->mutex);
}

static void unlock(struct fake_conn *conn)
{
    (void)pthread_mutex_unlock(&conn->state->mutex);
}

static enum store_status fake_open(const char *location, bool writer, void **ret_conn, char **ret_error)
{
    (void)writer;
    (void)ret_error;
    struct fake_conn *conn = MEM_NEW(struct fake_conn);
    conn->state = state_ref(location ? location : "");
    *ret_conn = conn;
    return STORE_OK;
}

/* ---- transactions ---- */

static enum store_status fake_begin(void *arg, char **ret_error)
{
    (void)ret_error;
    struct fake_conn *conn = arg;
    lock(conn);
    assert(conn->state->transaction_of != conn);
    while (conn->state->transaction_of)
        (void)pthread_cond_wait(&conn->state->turn, &conn->state->mutex);
    conn->state->transaction_of = conn;
    fake_tables_copy(&conn->working, &conn->state->committed);
    unlock(conn);
    return STORE_OK;
}

/* The caller holds the lock. */
static void end_transaction(struct fake_conn *conn)
{
    fake_tables_done(&conn->working);
    conn->state->transaction_of = NULL;
    (void)pthread_cond_signal(&conn->state->turn);
}

/* Called with the lock. Returns the failure that a test has requested for this call, otherwise STORE_OK. */
static enum store_status ordered_failure(struct fake_state *state)
{
    if (!state->fail_in || --state->fail_in)
        return STORE_OK;
    return state->fail_status;
}

static enum store_status fake_apply(void *arg, struct change *change, char **ret_error)
{
    struct fake_conn *conn = arg;
    lock(conn);
    assert(conn->state->transaction_of == conn);
    enum store_status status = ordered_failure(conn->state);
    if (status == STORE_OK)
        status = fake_apply_change(&conn->working, change);
    unlock(conn);
    if (status != STORE_OK && ret_error)
        *ret_error = mem_printf("change refused: %s", store_status_name(status));
    return status;
}

static enum store_status fake_mark(void *arg, int64_t number, char **ret_error)
{
    struct fake_conn *conn = arg;
    (void)ret_error;
    conn->working.marked = number;
    return STORE_OK;
}

static enum store_status fake_identity(void *arg, char ret_id[static STORE_ID_BYTES])
{
    (void)arg;
    memcpy(ret_id, "00000000-0000-4000-8000-000000000001", STORE_ID_BYTES);
    return STORE_OK;
}

static enum store_status fake_last_marked(void *arg, int64_t *ret_number)
{
    struct fake_conn *conn = arg;
    lock(conn);
    bool fails = conn->state->last_marked_fails > 0;
    conn->state->last_marked_fails -= fails;
    *ret_number = conn->state->committed.marked;
    unlock(conn);
    return fails ? STORE_BROKEN : STORE_OK;
}

static enum store_status fake_commit(void *arg, char **ret_error)
{
    struct fake_conn *conn = arg;
    lock(conn);
    assert(conn->state->transaction_of == conn);
    enum store_status status = ordered_failure(conn->state);
    /* In the fake, a commit that ends with STORE_UNCERTAIN had its effect; only its answer was lost. */
    if (status == STORE_OK || status == STORE_UNCERTAIN || conn->state->failed_commits_have_effect) {
        struct fake_tables old = conn->state->committed;
        conn->state->committed = conn->working;
        conn->working = old;
        end_transaction(conn);
    }
    unlock(conn);
    if (status != STORE_OK && ret_error)
        *ret_error = mem_printf("commit failed: %s", store_status_name(status));
    return status;
}

static void fake_rollback(void *arg)
{
    struct fake_conn *conn = arg;
    lock(conn);
    if (conn->state->transaction_of == conn)
        end_transaction(conn);
    unlock(conn);
}

static void fake_close(void *arg)
{
    struct fake_conn *conn = arg;
    fake_rollback(conn);
    state_unref(conn->state);
    free(conn);
}

void store_fake_fail_nth(void *arg, int nth, enum store_status status)
{
    struct fake_conn *conn = arg;
    lock(conn);
    conn->state->fail_in = nth;
    conn->state->fail_status = status;
    unlock(conn);
}

void store_fake_failed_commits_have_effect(void *arg, bool have)
{
    struct fake_conn *conn = arg;
    lock(conn);
    conn->state->failed_commits_have_effect = have;
    unlock(conn);
}

void store_fake_fail_last_marked(void *arg, int times)
{
    struct fake_conn *conn = arg;
    lock(conn);
    conn->state->last_marked_fails = times;
    unlock(conn);
}

/* ---- copies ---- */

struct store_fake_copy {
    struct fake_tables tables;
};

struct store_fake_copy *store_fake_backup(void *arg)
{
    struct fake_conn *conn = arg;
    struct store_fake_copy *copy = MEM_NEW(struct store_fake_copy);
    lock(conn);
    fake_tables_copy(&copy->tables, &conn->state->committed);
    unlock(conn);
    return copy;
}

void store_fake_restore(void *arg, const struct store_fake_copy *copy)
{
    enum { JUMP = 100000 };
    struct fake_conn *conn = arg;
    lock(conn);
    assert(!conn->state->transaction_of);
    const int64_t newest = conn->state->committed.sequence;
    fake_tables_done(&conn->state->committed);
    fake_tables_copy(&conn->state->committed, &copy->tables);
    conn->state->committed.sequence = newest + JUMP;
    fake_mark_restored(&conn->state->committed);
    unlock(conn);
}

void store_fake_copy_free(void *arg, struct store_fake_copy *copy)
{
    struct fake_conn *conn = arg;
    if (!copy)
        return;
    lock(conn); /* the store counts references to the same rows */
    fake_tables_done(&copy->tables);
    unlock(conn);
    free(copy);
}

/* ---- reads ---- */

static enum store_status fake_load(void *arg, const struct store_visitor *visitor, char **ret_error)
{
    struct fake_conn *conn = arg;
    lock(conn);
    enum store_status status = fake_read_all(&conn->state->committed, visitor);
    unlock(conn);
    if (status != STORE_OK && ret_error)
        *ret_error = mem_strdup("a stored document cannot be read");
    return status;
}

static enum store_status fake_events(void *arg, const struct event_query *query, struct event_page *ret_page)
{
    struct fake_conn *conn = arg;
    lock(conn);
    fake_read_events(&conn->state->committed, query, ret_page);
    unlock(conn);
    return STORE_OK;
}

static enum store_status fake_event_by_id(void *arg, const char *id, struct event **ret_event)
{
    struct fake_conn *conn = arg;
    lock(conn);
    struct event *found = fake_read_event(&conn->state->committed, id);
    unlock(conn);
    if (!found)
        return STORE_NONE;
    *ret_event = found;
    return STORE_OK;
}

static enum store_status fake_deliveries(void *arg, const struct delivery_query *query,
                                         struct delivery **ret_array, size_t *ret_count)
{
    struct fake_conn *conn = arg;
    lock(conn);
    fake_read_deliveries(&conn->state->committed, query, ret_array, ret_count);
    unlock(conn);
    return STORE_OK;
}

static enum store_status fake_replay_by_key(void *arg, const char *key, struct replay **ret_replay)
{
    struct fake_conn *conn = arg;
    lock(conn);
    *ret_replay = fake_read_replay(&conn->state->committed, key);
    unlock(conn);
    return *ret_replay ? STORE_OK : STORE_NONE;
}

static enum store_status fake_replay_behind(void *arg, char key[static REPLAY_DIGEST_BYTES],
                                            struct replay **ret_replay)
{
    struct fake_conn *conn = arg;
    lock(conn);
    assert(conn->state->transaction_of == conn);
    *ret_replay = fake_read_replay_behind(&conn->working, key);
    unlock(conn);
    return *ret_replay ? STORE_OK : STORE_NONE;
}

static enum store_status fake_seal_key(void *arg, char ret_id[static SEAL_KEY_ID_BYTES])
{
    struct fake_conn *conn = arg;
    lock(conn);
    memcpy(ret_id, conn->state->committed.seal_key, SEAL_KEY_ID_BYTES);
    unlock(conn);
    return STORE_OK;
}

static enum store_status fake_audit(void *arg, const struct audit_query *query, struct audit_page *ret_page)
{
    struct fake_conn *conn = arg;
    lock(conn);
    fake_read_audit(&conn->state->committed, query, ret_page);
    unlock(conn);
    return STORE_OK;
}

static enum store_status fake_operations(void *arg, const struct operation_query *query,
                                         struct operation_page *ret_page)
{
    struct fake_conn *conn = arg;
    lock(conn);
    fake_read_operations(&conn->state->committed, query, ret_page);
    unlock(conn);
    return STORE_OK;
}

/* ---- leases ---- */

/* Called with the lock. Returns the lease with that name, or an unused element. */
static struct store_lease *lease_slot(struct fake_state *state, const char *name)
{
    size_t i = 0;
    while (i < FAKE_LEASES - 1 && *state->leases[i].name && strcmp(state->leases[i].name, name) != 0)
        i++;
    return &state->leases[i];
}

static enum store_status fake_lease_take(void *arg, const char *name, const char *holder, wall_us now,
                                         int64_t ttl_us, struct store_lease *ret_lease, char **ret_error)
{
    (void)ret_error;
    struct fake_conn *conn = arg;
    lock(conn);
    struct store_lease *lease = lease_slot(conn->state, name);
    bool ours = store_lease_claim(lease, name, holder, now, ttl_us);
    *ret_lease = *lease;
    unlock(conn);
    return ours ? STORE_OK : STORE_CONFLICT;
}

static enum store_status fake_lease_release(void *arg, const char *name, const char *holder)
{
    struct fake_conn *conn = arg;
    lock(conn);
    struct store_lease *lease = lease_slot(conn->state, name);
    bool held = *holder && !strcmp(lease->name, name) && !strcmp(lease->holder, holder);
    if (held) {
        lease->holder[0] = '\0';
        lease->until = 0;
    }
    unlock(conn);
    return held ? STORE_OK : STORE_NONE;
}

const struct store_backend store_fake = {
    .name = "fake",
    .shared_by_replicas = true,
    .open = fake_open,
    .close = fake_close,
    .begin = fake_begin,
    .apply = fake_apply,
    .mark = fake_mark,
    .last_marked = fake_last_marked,
    .commit = fake_commit,
    .rollback = fake_rollback,
    .identity = fake_identity,
    .load = fake_load,
    .events = fake_events,
    .event_by_id = fake_event_by_id,
    .deliveries = fake_deliveries,
    .replay_by_key = fake_replay_by_key,
    .replay_behind = fake_replay_behind,
    .seal_key = fake_seal_key,
    .audit = fake_audit,
    .operations = fake_operations,
    .lease_take = fake_lease_take,
    .lease_release = fake_lease_release,
};
