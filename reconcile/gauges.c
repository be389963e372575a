#include "reconcile/gauges.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/lock.h"
#include "base/mem.h"
#include "reconcile/world/project.h"
#include "upstream/upstream.h"

enum { NAME_BYTES = 64 }; /* names of the configuration have at most 62 characters */

struct account_row {
    char name[NAME_BYTES];
    const char *breaker;
    unsigned lane_depth;
    mono_us heard_at;
};

struct project_row {
    char name[NAME_BYTES];
    mono_us oldest; /* NOT_OBSERVED: no cluster was observed */
};

struct published {
    atomic_uint users; /* number of scrapes that read the set, and one more while the set is current */
    size_t account_count, project_count;
    struct account_row *accounts;
    struct project_row *projects;
};

/* Protects the pointer for the short time in which a scrape reads it and is counted as a user. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct published *current;

static void let_go(struct published *p)
{
    if (!p || atomic_fetch_sub(&p->users, 1) > 1)
        return;
    free(p->accounts);
    free(p->projects);
    free(p);
}

static void replace(struct published *by)
{
    mutex_lock(&lock);
    struct published *before = current;
    current = by;
    mutex_unlock(&lock);
    let_go(before);
}

static void copy_name(char place[static NAME_BYTES], const char *name)
{
    (void)snprintf(place, NAME_BYTES, "%s", name);
}

void gauges_publish(const struct reconcile *r)
{
    struct published *new = MEM_NEW(struct published);
    atomic_init(&new->users, 1);
    new->accounts = mem_calloc(HASH_COUNT(r->accounts) + 1, sizeof(*new->accounts));
    new->projects = mem_calloc(HASH_COUNT(r->projects) + 1, sizeof(*new->projects));
    for (const struct account *a = r->accounts; a; a = a->hh.next) {
        struct upstream_account_status status;
        struct account_row *row = &new->accounts[new->account_count++];
        upstream_account_status(a->lane, &status);
        copy_name(row->name, a->name);
        row->breaker = status.breaker;
        row->lane_depth = status.queue_depth + status.in_flight;
        row->heard_at = status.last_contact_at ? status.heard_at : r->started_at;
    }
    for (const struct project *p = r->projects; p; p = p->hh.next) {
        struct project_row *row = &new->projects[new->project_count++];
        copy_name(row->name, p->name);
        row->oldest = p->oldest_observation;
    }
    replace(new);
}

void gauges_withdraw(void)
{
    replace(NULL);
}

/* ---- the scrape ---- */

static double age_s(mono_us at, mono_us now)
{
    return now > at ? (double)(now - at) / (double)US_PER_S : 0; /* the age for NOT_OBSERVED is 0 */
}

static void write_breakers(struct buffer *out, const struct published *p)
{
    static const char name[] = "shootd_upstream_breaker_state";
    static const char *const states[] = {"closed", "open", "half_open"};
    char labels[METRIC_LABELS_BYTES];
    metric_family(out, name);
    for (size_t i = 0; i < p->account_count; i++)
        for (size_t s = 0; s < ARRAY_LEN(states); s++) {
            (void)snprintf(labels, sizeof(labels), "account=\"%s\",state=\"%s\"", p->accounts[i].name,
                           states[s]);
            metric_sample(out, name, labels, !strcmp(p->accounts[i].breaker, states[s]));
        }
}

static void write_all(struct buffer *out, const struct published *p, mono_us now)
{
    static const char depth[] = "shootd_upstream_lane_depth",
                      contact[] = "shootd_upstream_last_contact_age_seconds",
                      oldest[] = "shootd_project_oldest_observation_age_seconds";
    write_breakers(out, p);
    metric_family(out, depth);
    for (size_t i = 0; i < p->account_count; i++)
        metric_of(out, depth, "account", p->accounts[i].name, p->accounts[i].lane_depth);
    metric_family(out, contact);
    for (size_t i = 0; i < p->account_count; i++)
        metric_of(out, contact, "account", p->accounts[i].name, age_s(p->accounts[i].heard_at, now));
    metric_family(out, oldest);
    for (size_t i = 0; i < p->project_count; i++)
        metric_of(out, oldest, "project", p->projects[i].name, age_s(p->projects[i].oldest, now));
}

void gauges_write(struct buffer *out, mono_us now)
{
    static const struct published none;
    mutex_lock(&lock);
    struct published *p = current;
    if (p)
        atomic_fetch_add(&p->users, 1);
    mutex_unlock(&lock);
    write_all(out, p ? p : &none, now);
    let_go(p);
}
