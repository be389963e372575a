/*
 * Versions that run out: an event when one that a cluster uses has 30, 14, 7 and 1 days left, and when it is
 * over, each once per cluster and version, also over restarts. Cleura upgrades by force after that
 * (cleura-api.md 10.7). Loop thread.
 */
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/spec.h"
#include "reconcile/world_private.h"

#define DAY_US (24 * 3600 * US_PER_S)

/* The warning that is due, by the days that are left; -1: none yet. 0: it is over. */
static int due_warning(int64_t left_us)
{
    static const int days[] = {0, 1, 7, 14, 30};
    for (size_t i = 0; i < ARRAY_LEN(days); i++)
        if (left_us <= days[i] * DAY_US)
            return days[i];
    return -1;
}

static const json_t *entry_of(const json_t *versions, const char *version)
{
    size_t i;
    json_t *entry;
    json_array_foreach (versions, i, entry)
        if (version && !strcmp(json_str_or(entry, "version", ""), version))
            return entry;
    return NULL;
}

/* One version in use. `told` gets what was or is told of it. The save is made when the first event is. */
static void look_at(struct entity *e, const char *what, const json_t *entry, json_t *told, struct save **save)
{
    const char *version = json_str(entry, "version");
    const char *expires = json_str(entry, "expires_at");
    wall_us at, now = env_wall(e->r->env);
    if (!expires || !time_parse_rfc3339(expires, &at))
        return;
    char *key CLEANUP_FREE = mem_printf("%s %s", what, version);
    int due = due_warning(at - now);
    int64_t before = json_int(e->cluster->expiry_told, key, INT64_MAX);
    if (due >= 0 && due < before) {
        const struct expiring x = {.what = what,
                                   .version = version,
                                   .expires_at = expires,
                                   .days_left = at > now ? (at - now) / DAY_US : 0};
        if (!*save)
            *save = save_new(e->r, NULL, NULL);
        emit_expiring(*save, e, &x);
        json_set_int(told, key, due);
    } else if (before != INT64_MAX) {
        json_set_int(told, key, before);
    }
}

static void look_at_images(struct entity *e, const json_t *catalog, json_t *told, struct save **save)
{
    json_t *seen CLEANUP_JSON = json_object();
    size_t i, j;
    json_t *pool, *known;
    json_array_foreach (json_arr(e->cluster->shoot->observed, "node_pools"), i, pool) {
        const char *name = json_str_or(json_obj(pool, "image"), "name", "");
        const char *version = json_str_or(json_obj(pool, "image"), "version", "");
        char *key CLEANUP_FREE = mem_printf("%s %s", name, version);
        if (json_object_get(seen, key))
            continue;
        json_set_bool(seen, key, true);
        json_array_foreach (json_arr(catalog, "machine_images"), j, known)
            if (!strcmp(json_str_or(known, "name", ""), name))
                look_at(e, name, entry_of(json_arr(known, "versions"), version), told, save);
    }
}

static void look_at_cluster(struct entity *e, const json_t *catalog)
{
    struct cluster *c = e->cluster;
    struct save *save = NULL;
    if (!c->shoot || c->deleted || e->committing)
        return;
    json_t *told CLEANUP_JSON = json_object();
    look_at(e, "kubernetes",
            entry_of(json_arr(catalog, "kubernetes_versions"),
                     json_str(c->shoot->observed, "kubernetes_version")),
            told, &save);
    look_at_images(e, catalog, told, &save);
    if (!save)
        return;
    json_decref(c->expiry_told);
    c->expiry_told = json_incref(told);
    save_entity(save, e);
    save_submit(save, false);
}

void expiry_look(struct project *p)
{
    struct entity *e, *next;
    if (!p->state->catalog)
        return;
    HASH_ITER (hh, p->r->entities, e, next)
        if (e->project == p)
            look_at_cluster(e, p->state->catalog);
}
