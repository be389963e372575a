/* What is done every few seconds and every hour, and the figures that it counts. Loop thread, but for the
 * metrics. */
#include "reconcile/housekeeping.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "reconcile/answers/audit.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/observation/observe.h"
#include "reconcile/reconcile.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/remembered.h"
#include "reconcile/world/save.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

enum {
    HOUSEKEEPING_S = 5,
    PURGE_EVERY_TICKS = 720,
    PURGE_SLICE = 5000, /* some tens of milliseconds */
    EXPIRY_EVERY_TICKS = 60,
    OPERATION_DAYS = 7,
    AUDIT_DAYS = 90
};

static _Atomic uint64_t gauge_clusters[PHASE_MAX_];
static _Atomic uint64_t gauge_open_operations;
static _Atomic int64_t gauge_quarantined;
static _Atomic uint64_t gauge_set_aside;

static void purge_rows(struct reconcile *r);

static void on_purged(struct save *save)
{
    if (change_set_left_over(save->set) && !save->r->stopping)
        purge_rows(save->r);
    else
        event_log_purged(save->r);
}

/* One slice after the other: whatever else is to be written gets its turn between two. */
static void purge_rows(struct reconcile *r)
{
    wall_us now = env_wall(r->env);
    const wall_us day = 24 * 3600 * US_PER_S;
    struct save *save = save_new(r, on_purged, NULL);
    /* What was delivered is known as long as it can be asked for again. */
    const wall_us kept_since = now - r->o.config->events.keep_us;
    change_purge(save->set, CHANGE_DELIVERY_PURGE, kept_since, PURGE_SLICE);
    change_purge_events(save->set, kept_since, r->o.config->events.keep_count, PURGE_SLICE);
    change_purge(save->set, CHANGE_REPLAY_PURGE, now - REPLAY_KEPT_US, PURGE_SLICE);
    change_purge(save->set, CHANGE_AUDIT_PURGE, now - AUDIT_DAYS * day, PURGE_SLICE);
    change_purge(save->set, CHANGE_OPERATION_PURGE, now - OPERATION_DAYS * day, PURGE_SLICE);
    save_submit(save, false);
}

/* What ended before that is gone (AO-6). */
static wall_us operations_kept_since(const struct reconcile *r)
{
    return env_wall(r->env) - OPERATION_DAYS * 24 * 3600 * US_PER_S;
}

static unsigned look_over(struct walk *w, struct entity *e)
{
    struct reconcile *r = w->r;
    bool shown = observe_by_age(e);
    if (entity_forget_operation(e, operations_kept_since(r))) {
        entity_show(e);
        shown = true;
    }
    assert(e->cluster->phase < PHASE_MAX_);
    r->phases[e->cluster->phase]++;
    r->open_operations += entity_has_open_operation(e);
    return shown ? WALK_CHANGED : WALK_PASSED_BY;
}

static void on_looked_over(struct walk *w)
{
    struct reconcile *r = w->r;
    for (int i = 0; i < PHASE_MAX_; i++)
        atomic_store(&gauge_clusters[i], r->phases[i]);
    atomic_store(&gauge_open_operations, r->open_operations);
}

static void look_over_entities(struct reconcile *r)
{
    if (walk_is_under_way(&r->look_over))
        return;
    memset(r->phases, 0, sizeof(r->phases));
    r->open_operations = 0;
    r->look_over = (struct walk){.name = "look at all clusters", .visit = look_over, .done = on_looked_over};
    walk_all(r, &r->look_over);
}

static void purge_all(struct reconcile *r)
{
    bool hourly = r->ticks % PURGE_EVERY_TICKS == 0;
    if (hourly) {
        purge_rows(r);
        webhooks_drop_expired_keys(r);
    }
    if (!hourly && !r->purge_again)
        return;
    bool all = operations_forget(r, operations_kept_since(r));
    all &= departed_purge(r);
    r->purge_again = !all;
}

static void on_housekeeping(struct loop_timer *timer)
{
    struct reconcile *r = CONTAINER_OF(timer, struct reconcile, housekeeping);
    audit_tick(r, false);
    purge_all(r);
    uint64_t set_aside = 0;
    bool look_at_versions = r->ticks++ % EXPIRY_EVERY_TICKS == 0;
    for (struct project *p = r->projects; p; p = p->hh.next) {
        project_show(p);
        set_aside += p->set_aside;
        if (look_at_versions)
            expiry_look(p);
    }
    atomic_store(&gauge_set_aside, set_aside);
    tokens_look(r);
    for (size_t i = 0; i < r->account_count; i++)
        account_show(&r->accounts[i]);
    look_over_entities(r);
    loop_timer_set(r->o.loop, timer, env_mono(r->env) + HOUSEKEEPING_S * US_PER_S);
}

void housekeeping_start(struct reconcile *r)
{
    r->housekeeping.fire = on_housekeeping;
    r->housekeeping.name = "housekeeping";
    loop_timer_set(r->o.loop, &r->housekeeping, env_mono(r->env));
}

void housekeeping_quarantined(int64_t rows)
{
    atomic_store(&gauge_quarantined, rows);
}

/* ---- metrics ---- */

static void upstream_metrics(struct buffer *out)
{
    (void)buffer_add_str(out,
                         "# HELP shootd_upstream_requests_total Calls to Cleura that ended, by operation and "
                         "outcome.\n# TYPE shootd_upstream_requests_total counter\n");
    for (int op = 0; op < UPSTREAM_OP_MAX_; op++)
        for (int class = 0; class < UPSTREAM_CLASS_MAX_; class ++) {
            uint64_t count = upstream_calls_total((enum upstream_op)op, (enum upstream_class) class);
            if (count || class == UPSTREAM_OK)
                (void)buffer_printf(
                    out, "shootd_upstream_requests_total{operation=\"%s\",outcome=\"%s\"} %llu\n",
                    upstream_op_name((enum upstream_op)op), upstream_class_name((enum upstream_class) class),
                    (unsigned long long)count);
        }
    (void)buffer_printf(out,
                        "# HELP shootd_upstream_logins_total Logins at Cleura.\n"
                        "# TYPE shootd_upstream_logins_total counter\n"
                        "shootd_upstream_logins_total{result=\"ok\"} %llu\n"
                        "shootd_upstream_logins_total{result=\"refused\"} %llu\n",
                        (unsigned long long)upstream_logins_total(true),
                        (unsigned long long)upstream_logins_total(false));
    (void)buffer_printf(out,
                        "# HELP shootd_upstream_breakers_open Accounts whose circuit breaker is not closed.\n"
                        "# TYPE shootd_upstream_breakers_open gauge\n"
                        "shootd_upstream_breakers_open %d\n"
                        "# HELP shootd_upstream_breaker_opened_total Times a circuit breaker opened.\n"
                        "# TYPE shootd_upstream_breaker_opened_total counter\n"
                        "shootd_upstream_breaker_opened_total %llu\n"
                        "# HELP shootd_upstream_retries_delayed_total Retries that waited for their budget.\n"
                        "# TYPE shootd_upstream_retries_delayed_total counter\n"
                        "shootd_upstream_retries_delayed_total %llu\n"
                        "# HELP shootd_upstream_rows_refused_total Shoots in lists of Cleura that were left "
                        "out: they cannot be, or lack what they must have.\n"
                        "# TYPE shootd_upstream_rows_refused_total counter\n"
                        "shootd_upstream_rows_refused_total %llu\n"
                        "# HELP shootd_upstream_rows_unchanged_total Shoots in lists of Cleura that came as "
                        "before, byte for byte, and were not decoded.\n"
                        "# TYPE shootd_upstream_rows_unchanged_total counter\n"
                        "shootd_upstream_rows_unchanged_total %llu\n",
                        upstream_breakers_open(), (unsigned long long)upstream_breaker_opened_total(),
                        (unsigned long long)upstream_retries_delayed_total(),
                        (unsigned long long)upstream_rows_refused_total(),
                        (unsigned long long)upstream_rows_known_total());
}

void reconcile_remarks(char *text, size_t size)
{
    const long long rows = (long long)atomic_load(&gauge_quarantined);
    const unsigned long long projects = (unsigned long long)atomic_load(&gauge_set_aside);
    text[0] = '\0';
    if (rows && projects)
        (void)snprintf(text, size,
                       "stored rows put aside: %lld (shootd check-store); projects set aside: %llu", rows,
                       projects);
    else if (rows)
        (void)snprintf(text, size, "stored rows put aside: %lld (shootd check-store)", rows);
    else if (projects)
        (void)snprintf(text, size, "projects set aside: %llu (location_change of GET /v1/projects)",
                       projects);
}

void reconcile_metrics(struct buffer *out)
{
    (void)buffer_printf(
        out,
        "# HELP shootd_store_rows_put_aside Stored rows that cannot be read (shootd check-store).\n"
        "# TYPE shootd_store_rows_put_aside gauge\nshootd_store_rows_put_aside %lld\n"
        "# HELP shootd_projects_set_aside Projects whose place at Cleura was changed.\n"
        "# TYPE shootd_projects_set_aside gauge\nshootd_projects_set_aside %llu\n",
        (long long)atomic_load(&gauge_quarantined), (unsigned long long)atomic_load(&gauge_set_aside));
    upstream_metrics(out);
    (void)buffer_add_str(out,
                         "# HELP shootd_clusters Clusters known, by phase.\n# TYPE shootd_clusters gauge\n");
    for (int i = 0; i < PHASE_MAX_; i++)
        (void)buffer_printf(out, "shootd_clusters{phase=\"%s\"} %llu\n", phase_name((enum phase)i),
                            (unsigned long long)atomic_load(&gauge_clusters[i]));
    (void)buffer_printf(out,
                        "# HELP shootd_operations_open Operations that have not ended.\n"
                        "# TYPE shootd_operations_open gauge\nshootd_operations_open %llu\n",
                        (unsigned long long)atomic_load(&gauge_open_operations));
}
