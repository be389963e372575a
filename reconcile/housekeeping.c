/* The periodic work of every few seconds and of every hour, and its counters. Loop thread, except for the
 * metrics. */
#include "reconcile/housekeeping.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/metric.h"
#include "reconcile/answers/audit.h"
#include "reconcile/commands/decide.h"
#include "reconcile/gauges.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/observation/observe.h"
#include "reconcile/operations/durations.h"
#include "reconcile/reconcile.h"
#include "reconcile/reload.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/operation_table.h"
#include "reconcile/world/save.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

enum {
    HOUSEKEEPING_S = 5,
    PURGE_EVERY_TICKS = 720,
    PURGE_SLICE = 5000, /* the limit of rows in one slice, which takes some tens of milliseconds */
    EXPIRY_EVERY_TICKS = 60
};

static _Atomic uint64_t gauge_open_operations;
static _Atomic int64_t gauge_quarantined;
static _Atomic uint64_t gauge_set_aside;
static _Atomic uint64_t gauge_frozen;
static _Atomic uint64_t gauge_unreadable;

static void purge_rows(struct reconcile *r);

static void on_purged(struct save *save)
{
    if (change_set_left_over(save->set) && !save->r->stopping)
        purge_rows(save->r);
    else
        event_log_purged(save->r);
}

/* Purges in slices, so other writes of the store can run between two slices. */
static void purge_rows(struct reconcile *r)
{
    wall_us now = settled_clock_now(&r->settled);
    const struct config *config = r->o.config;
    struct save *save = save_new(r, on_purged, NULL);
    /* The delivery log is kept for the same time as the events, because a stored event can be delivered
     * again. */
    const wall_us kept_since = now - config->events.keep_us;
    change_purge(save->set, CHANGE_DELIVERY_PURGE, kept_since, PURGE_SLICE);
    change_purge_events(save->set, kept_since, config->events.keep_count, PURGE_SLICE);
    change_purge(save->set, CHANGE_REPLAY_PURGE, now - REPLAY_KEPT_US, PURGE_SLICE);
    change_purge(save->set, CHANGE_AUDIT_PURGE, now - config->audit_keep_us, PURGE_SLICE);
    change_purge(save->set, CHANGE_OPERATION_PURGE, now - config->operations_keep_us, PURGE_SLICE);
    /* At the next start the settled clock begins with this time. */
    struct project_state *all = project_state_of_all(r);
    all->settled_at = now;
    change_put_project(save->set, project_state_copy(all));
    save_submit(save, false);
}

/* Returns the time limit for old operations. Operations that ended before this time are removed (AO-6). */
static wall_us operations_kept_since(struct reconcile *r)
{
    return settled_clock_now(&r->settled) - r->o.config->operations_keep_us;
}

static void note_oldest(struct project *p, const struct cluster *c)
{
    if (c->observed_at && c->heard_at < p->oldest_until_now)
        p->oldest_until_now = c->heard_at;
}

static unsigned look_over(struct walk *w, struct entity *e)
{
    struct reconcile *r = w->r;
    bool shown = observe_by_age(e);
    shown |= entity_show_progress(e);
    shown |= entity_show_in_time(e);
    if (entity_forget_operation(e, operations_kept_since(r))) {
        entity_show(e);
        shown = true;
    }
    r->open_operations += entity_has_open_operation(e);
    note_oldest(e->project, e->cluster);
    return shown ? WALK_CHANGED : WALK_PASSED_BY;
}

static void on_looked_over(struct walk *w)
{
    struct reconcile *r = w->r;
    atomic_store(&gauge_open_operations, r->open_operations);
    for (struct project *p = r->projects; p; p = p->hh.next)
        p->oldest_observation = p->oldest_until_now;
    gauges_publish(r);
}

static void walk_all_entities(struct reconcile *r)
{
    if (walk_is_under_way(&r->look_over))
        return;
    r->open_operations = 0;
    for (struct project *p = r->projects; p; p = p->hh.next)
        p->oldest_until_now = NOT_OBSERVED;
    r->look_over =
        (struct walk){.name = "look at all clusters", .visit = look_over, .on_end = on_looked_over};
    walk_all(r, &r->look_over);
}

static void purge_all(struct reconcile *r)
{
    bool hourly = r->ticks % PURGE_EVERY_TICKS == 0;
    if (hourly)
        purge_rows(r);
    if (!hourly && !r->purge_again)
        return;
    bool all = operations_forget(r, operations_kept_since(r));
    all &= departed_purge(r);
    r->purge_again = !all;
}

unsigned reconcile_unreadable_webhooks(const struct reconcile *r)
{
    unsigned count = 0;
    for (const struct subscription_entry *entry = r->subscriptions; entry; entry = entry->hh.next)
        count += entry->subscription->unreadable;
    return count;
}

static void on_housekeeping(struct loop_timer *timer)
{
    struct reconcile *r = CONTAINER_OF(timer, struct reconcile, housekeeping);
    audit_tick(r, false);
    purge_all(r);
    uint64_t set_aside = 0, frozen = 0;
    freezes_check(r);
    bool look_at_versions = r->ticks++ % EXPIRY_EVERY_TICKS == 0;
    for (struct project *p = r->projects; p; p = p->hh.next) {
        project_show(p);
        set_aside += p->place.set_aside;
        frozen += project_freeze(p).in_force != NULL;
        if (look_at_versions)
            expiry_check(p);
    }
    atomic_store(&gauge_set_aside, set_aside);
    atomic_store(&gauge_frozen, frozen);
    atomic_store(&gauge_unreadable, reconcile_unreadable_webhooks(r));
    tokens_check(r);
    backups_check(r);
    for (struct account *a = r->accounts; a; a = a->hh.next)
        account_show(a);
    walk_all_entities(r);
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

static const char *call_labels(char labels[static METRIC_LABELS_BYTES], int op, int class)
{
    (void)snprintf(labels, METRIC_LABELS_BYTES, "operation=\"%s\",outcome=\"%s\"",
                   upstream_op_name((enum upstream_op)op), upstream_class_name((enum upstream_class) class));
    return labels;
}

static void call_metrics(struct buffer *out)
{
    static const char calls[] = "shootd_upstream_requests_total",
                      durations[] = "shootd_upstream_request_duration_seconds";
    char labels[METRIC_LABELS_BYTES];
    metric_family(out, calls);
    for (int op = 0; op < UPSTREAM_OP_MAX_; op++)
        for (int class = 0; class < UPSTREAM_CLASS_MAX_; class ++)
            metric_sample(out, calls, call_labels(labels, op, class),
                          (double)upstream_calls_total((enum upstream_op)op, (enum upstream_class) class));
    metric_family(out, durations);
    for (int op = 0; op < UPSTREAM_OP_MAX_; op++)
        for (int class = 0; class < UPSTREAM_CLASS_MAX_; class ++) {
            struct histogram_total total = {.sum_us = 0};
            histogram_sum(&total, upstream_durations((enum upstream_op)op, (enum upstream_class) class));
            /* The histogram of an outcome exists from its first occurrence, because most outcomes never
             * occur. */
            if (class == UPSTREAM_OK || histogram_count(&total))
                histogram_write(out, durations, call_labels(labels, op, class), &upstream_edges, &total);
        }
}

static void upstream_metrics(struct buffer *out)
{
    call_metrics(out);
    metric_family(out, "shootd_upstream_logins_total");
    metric_of(out, "shootd_upstream_logins_total", "result", "ok", (double)upstream_logins_total(true));
    metric_of(out, "shootd_upstream_logins_total", "result", "refused", (double)upstream_logins_total(false));
    metric_one(out, "shootd_upstream_breakers_open", upstream_breakers_open());
    metric_one(out, "shootd_upstream_breaker_opened_total", (double)upstream_breaker_opened_total());
    metric_one(out, "shootd_upstream_retries_delayed_total", (double)upstream_retries_delayed_total());
    metric_one(out, "shootd_upstream_rows_refused_total", (double)upstream_rows_refused_total());
    metric_one(out, "shootd_upstream_members_unread_total", (double)upstream_members_unread_total());
    metric_one(out, "shootd_upstream_rows_unchanged_total", (double)upstream_rows_known_total());
}

void reconcile_remarks(char *text, size_t size)
{
    const struct {
        uint64_t count;
        const char *what;
        const char *where;
    } rows[] = {
        {(uint64_t)atomic_load(&gauge_quarantined), "stored rows put aside", "shootd check-store"},
        {atomic_load(&gauge_set_aside), "projects set aside", "location_change of GET /v1/projects"},
        {atomic_load(&gauge_unreadable), "webhooks whose secrets the seal key does not open",
         "secrets of GET /v1/webhooks"},
    };
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(rows) && len < size; i++)
        if (rows[i].count)
            len += (size_t)snprintf(text + len, size - len, "%s%s: %llu (%s)", len ? "; " : "", rows[i].what,
                                    (unsigned long long)rows[i].count, rows[i].where);
}

void reconcile_metrics(struct buffer *out, mono_us now)
{
    metric_one(out, "shootd_store_rows_put_aside", (double)atomic_load(&gauge_quarantined));
    metric_one(out, "shootd_projects_set_aside", (double)atomic_load(&gauge_set_aside));
    metric_one(out, "shootd_projects_frozen", (double)atomic_load(&gauge_frozen));
    metric_one(out, "shootd_webhooks_unreadable", (double)atomic_load(&gauge_unreadable));
    upstream_metrics(out);
    gauges_write(out, now);
    backups_metrics(out);
    reload_metrics(out);
    metric_one(out, "shootd_operations_open", (double)atomic_load(&gauge_open_operations));
    durations_metrics(out);
}
