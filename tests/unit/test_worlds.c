/*
 * Random worlds on a virtual clock: users change clusters and node pools at any moment, other people make and
 * delete clusters with the same names, answers are lost, and the daemon is killed, stopped, reloaded and
 * restored from old backups. The oracle knows what users have asked for. Every call that changes or destroys
 * something at Cleura must have been asked for, for this shoot, after the last restore. In the end no
 * operation is open, and what is shown is what Cleura has. WORLD_SEED=n runs one seed and prints each event.
 */
#include "tests/support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/reload.h"
#include "tests/support/cleura_model.h"
#include "tests/support/shown.h"

#if defined(__SANITIZE_THREAD__) /* one thread does nearly all of it */
enum { SEEDS = 3, SEEDS_IN_FULL = 40 };
#else
enum { SEEDS = 10, SEEDS_IN_FULL = 200 };
#endif

enum {
    STEPS = 60,
    NAMES = 3,
    LIVES_MAX = 64,
    WISHES_MAX = 128,
    BACKUPS_MAX = 4,
    TURNS_FOR_ANSWER = 400,
    LOOK_WINDOW_S = 31, /* Cleura's calls name no uid: within this time after the read before a call, somebody
                         * else may replace the shoot, and the call reaches the new one */
    QUIET_LIMIT_S = 12 * 3600,
    SETTLED_S = 1800,
};

static const char *const names[NAMES] = {"a", "b", "c"};
static const char *const versions[] = {"1.32.11", "1.33.7", "1.34.3"};

/* A request of a user that was not refused. */
struct wish {
    unsigned name, at;
    enum command_type type;
    enum operation_type action;
    json_t *pools;    /* the pools that the spec of the request names; or NULL */
    char removed[16]; /* the pool that the request removes; or "" */
};

struct worlds {
    struct running d;
    struct cleura_model cleura;
    uint64_t seed;
    unsigned now;         /* counts events: the time of the oracle */
    unsigned restored_at; /* the last restore; 0: none */
    struct wish wishes[WISHES_MAX];
    unsigned wish_count;
    /* When the users' claim on this shoot began: its create, or its adoption; 0: it is not theirs. */
    unsigned claimed[NAMES][LIVES_MAX];
    unsigned last_name;
    unsigned checked; /* effects so far */
    unsigned restores, kills, strangers, commands;
};

#define violate(...) cleura_violate(&w->cleura, __VA_ARGS__)

static bool chance(struct worlds *w, unsigned percent)
{
    return cleura_chance(&w->cleura, percent);
}

static unsigned draw(struct worlds *w, unsigned below)
{
    return (unsigned)cleura_draw(&w->cleura, below);
}

/* ---- the oracle ---- */

static bool is_change(const struct wish *wish)
{
    return wish->type == COMMAND_CLUSTER_CREATE || wish->type == COMMAND_CLUSTER_PUT ||
           wish->type == COMMAND_NODE_POOL;
}

static bool names_pool(const json_t *pools, const char *name)
{
    size_t i;
    json_t *pool;
    json_array_foreach (pools, i, pool)
        if (!strcmp(json_str_or(pool, "name", ""), name))
            return true;
    return false;
}

/* Whether the wish allows the step. */
static bool allows(const struct worlds *w, const struct wish *wish, const char *step, const char *target)
{
    if (!strcmp(step, "create_shoot"))
        return wish->type == COMMAND_CLUSTER_CREATE || wish->type == COMMAND_CLUSTER_PUT;
    if (!strcmp(step, "delete_shoot"))
        return wish->type == COMMAND_CLUSTER_DELETE;
    if (!strcmp(step, "hibernate") || !strcmp(step, "wake"))
        return wish->type == COMMAND_CLUSTER_ACTION &&
               (wish->action == OPERATION_HIBERNATE) == !strcmp(step, "hibernate");
    /* A change after a restore also takes back what the restored spec does not have. */
    if (!strcmp(step, "delete_pool"))
        return is_change(wish) && (w->restored_at || !strcmp(wish->removed, target) ||
                                   (wish->pools && !names_pool(wish->pools, target)));
    return is_change(wish);
}

/* Returns the newest wish that allows the effect; NULL: nobody has asked for it. */
static const struct wish *wish_for(const struct worlds *w, unsigned name, const char *step,
                                   const char *target, unsigned since)
{
    const struct wish *newest = NULL;
    for (unsigned i = 0; i < w->wish_count; i++) {
        const struct wish *wish = &w->wishes[i];
        if (wish->name == name && wish->at >= since && wish->at > w->restored_at &&
            allows(w, wish, step, target))
            newest = wish;
    }
    return newest;
}

static unsigned name_index(const char *name)
{
    unsigned i = 0;
    while (i < NAMES && strcmp(names[i], name) != 0)
        i++;
    assert_in_range(i, 0, NAMES - 1);
    return i;
}

static void check_effect(struct worlds *w, const struct effect *effect)
{
    const unsigned name = name_index(effect->cluster);
    unsigned *claimed = &w->claimed[name][effect->life];
    assert_in_range(effect->life, 1, LIVES_MAX - 1);
    const bool is_create = !strcmp(effect->step, "create_shoot");
    if (effect->is_strange && !*claimed && effect->age_us < LOOK_WINDOW_S * US_PER_S)
        return;
    const struct wish *wish = wish_for(w, name, effect->step, effect->target, *claimed);
    if (!is_create && !*claimed)
        violate("%s of %s: life %u belongs to somebody else", effect->step, effect->cluster, effect->life);
    if (!wish)
        violate("%s %s of %s, life %u: nobody asked for it", effect->step, effect->target, effect->cluster,
                effect->life);
    if (is_create)
        *claimed = wish ? wish->at : 1;
}

static void check_effects(struct worlds *w)
{
    for (; w->checked < w->cleura.effect_count; w->checked++)
        check_effect(w, &w->cleura.effects[w->checked]);
}

/* ---- what is shown ---- */

static struct cluster *shown(struct worlds *w, unsigned name)
{
    char key[32];
    (void)snprintf(key, sizeof(key), "p00/%s", names[name]);
    struct view_blob *blob = view_find(view_enter(w->d.view), VIEW_CLUSTERS, key);
    struct cluster *c = blob ? shown_cluster(blob) : NULL;
    view_leave(w->d.view);
    return c;
}

/* Returns the life of the shoot whose state was observed; 0: none. */
static unsigned life_of(const struct worlds *w, unsigned name, const json_t *observed)
{
    char uid[UUID_STR_LEN];
    const char *there = json_str_or(observed, "uid", "");
    for (unsigned life = 1; life <= w->cleura.shoots[name].life; life++) {
        cleura_uid(&w->cleura, &w->cleura.shoots[name], life, uid);
        if (!strcmp(uid, there))
            return life;
    }
    return 0;
}

/* ---- users ---- */

static json_t *draw_pools(struct worlds *w)
{
    json_t *pools = json_array();
    const unsigned which = 1 + draw(w, 7);
    for (unsigned i = 0; i < 3; i++)
        if (which & (1U << i))
            json_append_take(pools, json_pack("{s:o, s:i, s:i}", "name", json_sprintf("w%u", i), "minimum", 1,
                                              "maximum", 1 + (int)draw(w, 4)));
    return pools;
}

static json_t *draw_spec(struct worlds *w)
{
    json_t *spec = json_object();
    if (chance(w, 30))
        json_set_str(spec, "kubernetes_version", versions[draw(w, ARRAY_LEN(versions))]);
    if (chance(w, 40))
        json_set_take(spec, "node_pools", draw_pools(w));
    return spec;
}

static struct command *draw_pool_write(struct worlds *w, unsigned name)
{
    static const char *const pools[] = {"default", "w0", "w1", "w2"};
    static const enum pool_write hows[] = {POOL_ADD, POOL_ADD, POOL_REPLACE, POOL_MERGE, POOL_REMOVE};
    const char *pool = pools[draw(w, ARRAY_LEN(pools))];
    const enum pool_write how = hows[draw(w, ARRAY_LEN(hows))];
    json_t *body = how == POOL_REMOVE ? NULL : json_pack("{s:i}", "maximum", 1 + (int)draw(w, 4));
    if (how == POOL_ADD)
        json_set_str(body, "name", pool);
    struct command *cmd = running_command(&w->d, COMMAND_NODE_POOL, "p00", names[name], body);
    cmd->write.pool = how;
    cmd->write.pool_name = how == POOL_ADD ? NULL : mem_strdup(pool);
    return cmd;
}

static struct command *draw_command(struct worlds *w, unsigned name)
{
    const unsigned kind = draw(w, 100);
    if (kind < 25)
        return running_command(&w->d, COMMAND_CLUSTER_CREATE, "p00", names[name],
                               json_pack("{s:s, s:o}", "name", names[name], "spec", draw_spec(w)));
    if (kind < 35)
        return running_command(&w->d, COMMAND_CLUSTER_PUT, "p00", names[name],
                               json_pack("{s:o}", "spec", draw_spec(w)));
    if (kind < 65)
        return draw_pool_write(w, name);
    if (kind < 78) {
        struct command *cmd = running_command(&w->d, COMMAND_CLUSTER_ACTION, "p00", names[name], NULL);
        cmd->write.action = kind < 72 ? OPERATION_HIBERNATE : OPERATION_WAKE;
        return cmd;
    }
    return running_command(&w->d, COMMAND_CLUSTER_DELETE, "p00", names[name], NULL);
}

static void add_wish(struct worlds *w, unsigned name, const struct command *cmd)
{
    assert_in_range(w->wish_count, 0, WISHES_MAX - 1);
    struct wish *wish = &w->wishes[w->wish_count++];
    *wish = (struct wish){.name = name, .at = ++w->now, .type = cmd->type, .action = cmd->write.action};
    wish->pools = json_deep_copy(json_arr(json_obj(cmd->body, "spec"), "node_pools"));
    if (cmd->type == COMMAND_NODE_POOL && cmd->write.pool == POOL_REMOVE)
        (void)snprintf(wish->removed, sizeof(wish->removed), "%s", cmd->write.pool_name);
}

static void drop_wish(struct worlds *w)
{
    json_decref(w->wishes[--w->wish_count].pools);
}

/* ---- the daemon ---- */

static void start(struct worlds *w)
{
    running_start(&w->d);
}

static void kill_daemon(struct worlds *w)
{
    const bool lose = chance(w, 50), stops = chance(w, 30);
    w->kills++;
    for (unsigned turns = draw(w, 8); turns > 0; turns--)
        running_turn(&w->d);
    cleura_trace(&w->cleura, "  %s", stops ? "stop" : "kill");
    if (stops) {
        reconcile_stop(w->d.reconcile);
        running_turn(&w->d);
    }
    (void)running_kill(&w->d, lose && !stops);
    if (chance(w, 30))
        w->d.world.now += (mono_us)draw(w, 600) * US_PER_S;
}

/* Draws the path of a backup. */
static char *draw_backup(struct worlds *w)
{
    return mem_printf("%s/backup-%u", w->d.store.folder, draw(w, BACKUPS_MAX));
}

static void restore(struct worlds *w)
{
    struct store_copy described;
    char *backup CLEANUP_FREE = draw_backup(w),
                 *kept CLEANUP_FREE = mem_printf("%s/before-%u", w->d.store.folder, w->restores);
    if (access(backup, F_OK) != 0)
        return;
    kill_daemon(w);
    check_effects(w);
    assert_int_equal(sqlite_restore(backup, w->d.store.location, kept, &described, NULL), STORE_OK);
    w->restored_at = ++w->now;
    w->restores++;
    cleura_trace(&w->cleura, "  restore");
    start(w);
}

static void back_up(struct worlds *w)
{
    struct store_copy described;
    char *backup CLEANUP_FREE = draw_backup(w);
    cleura_trace(&w->cleura, "  backup");
    (void)unlink(backup);
    assert_int_equal(storage_backup(w->d.storage, backup, &described, NULL), STORE_OK);
}

static void on_in_force(void *ctx)
{
    *(bool *)ctx = true;
}

static void reload(struct worlds *w)
{
    bool done = false;
    cleura_trace(&w->cleura, "  reload");
    reconcile_configure(w->d.reconcile, &w->d.config, on_in_force, &done);
    loop_end_turn(w->d.loop);
    for (int i = 0; i < TURNS_FOR_ANSWER && !done; i++)
        running_turn(&w->d);
    if (!done)
        violate("no end of a reload");
}

/* ---- steps ---- */

/* A PUT of a cluster that is not managed adopts the shoot that the answer names. Without an answer, it is the
 * shoot that is managed now. */
static void note_adoption(struct worlds *w, unsigned name, const struct command *cmd)
{
    json_t *doc CLEANUP_JSON =
        cmd->reply.text ? json_parse_lenient(cmd->reply.text, strlen(cmd->reply.text), NULL) : NULL;
    struct cluster *c CLEANUP_CLUSTER = running_answered(cmd) ? NULL : shown(w, name);
    const unsigned life = doc               ? life_of(w, name, json_obj(doc, "observed"))
                          : c && c->managed ? life_of(w, name, shoot_observed(c->shoot))
                                            : 0;
    if (cmd->type == COMMAND_CLUSTER_PUT && life && !w->claimed[name][life])
        w->claimed[name][life] = w->now;
}

static void post(struct worlds *w)
{
    const unsigned name = chance(w, 50) ? w->last_name : draw(w, NAMES);
    w->last_name = name;
    struct command *cmd = draw_command(w, name);
    w->commands++;
    add_wish(w, name, cmd);
    cleura_trace(&w->cleura, "  command %d (action %d, pool %d %s) of %s", cmd->type, cmd->write.action,
                 cmd->write.pool, cmd->write.pool_name ? cmd->write.pool_name : "", names[name]);
    running_post(&w->d, cmd);
    const bool killed = chance(w, 10);
    if (killed) {
        kill_daemon(w);
        start(w);
    }
    for (int i = 0; i < TURNS_FOR_ANSWER && !killed && !running_answered(cmd); i++)
        running_turn(&w->d);
    if (!killed && !running_answered(cmd))
        violate("no answer to a command for %s", names[name]);
    const bool refused = running_answered(cmd) && cmd->reply.problem;
    if (refused)
        drop_wish(w);
    else
        note_adoption(w, name, cmd);
    if (running_answered(cmd))
        cleura_trace(&w->cleura, "    %s", refused ? cmd->reply.problem->detail : "accepted");
    command_free(cmd);
}

/* Somebody else deletes the cluster, or makes one with a free name, or one after the other. */
static void stranger_acts(struct worlds *w)
{
    struct shoot_model *s = &w->cleura.shoots[draw(w, NAMES)];
    w->strangers++;
    cleura_follow(&w->cleura, s);
    const bool replaces = s->there && chance(w, 50);
    cleura_trace(&w->cleura, "  somebody else %s %s", s->there ? replaces ? "replaces" : "deletes" : "makes",
                 s->name);
    const bool was_there = s->there;
    if (was_there)
        cleura_gone(s);
    if (!was_there || replaces)
        cleura_add_strange(&w->cleura, s, versions[draw(w, ARRAY_LEN(versions))]);
}

static void let_time_pass(struct worlds *w)
{
    static const unsigned longest_ms[] = {300, 3000, 30000, 200000, 900000};
    running_run(&w->d, (int64_t)draw(w, longest_ms[draw(w, ARRAY_LEN(longest_ms))]) * US_PER_MS);
}

static void kill_and_start(struct worlds *w)
{
    kill_daemon(w);
    start(w);
}

static void inject(struct worlds *w)
{
    cleura_inject(&w->cleura);
}

static void one_step(struct worlds *w)
{
    static const struct {
        unsigned percent;
        void (*act)(struct worlds *w);
    } acts[] = {{40, post},   {22, let_time_pass}, {12, inject}, {9, stranger_acts},
                {5, back_up}, {4, restore},        {3, reload},  {5, kill_and_start}};
    unsigned kind = draw(w, 100), i = 0;
    while (kind >= acts[i].percent)
        kind -= acts[i++].percent;
    acts[i].act(w);
    check_effects(w);
}

/* ---- the end ---- */

static void run_until_quiet(struct worlds *w)
{
    cleura_run_until_quiet(&w->cleura, QUIET_LIMIT_S * US_PER_S);
    running_run(&w->d, SETTLED_S * US_PER_S);
    check_effects(w);
}

static void check_end(struct worlds *w)
{
    for (unsigned i = 0; i < NAMES; i++) {
        const struct shoot_model *s = &w->cleura.shoots[i];
        struct cluster *c CLEANUP_CLUSTER = shown(w, i);
        const unsigned life = c ? life_of(w, i, shoot_observed(c->shoot)) : 0;
        if (s->there && life != s->life)
            violate("%s: Cleura has life %u, shown is %u (%s)", names[i], s->life, life,
                    c ? phase_name(c->phase) : "none");
        if (!s->there && c && c->phase != PHASE_FAILED)
            violate("%s is not at Cleura, and shown as %s", names[i], phase_name(c->phase));
        if (s->there && c && c->managed && !w->claimed[i][s->life])
            violate("%s is shown as managed, and belongs to somebody else", names[i]);
        if (s->there && c && c->phase == PHASE_DELETING)
            violate("%s is shown as deleting for ever", names[i]);
    }
}

static bool run_seed(uint64_t seed, bool verbose)
{
    const struct polling polling = {15 * US_PER_S, 120 * US_PER_S, 300 * US_PER_S};
    struct worlds *w = MEM_NEW(struct worlds);
    w->cleura =
        (struct cleura_model){.d = &w->d, .verbose = verbose, .is_shared = true, .shoot_count = NAMES};
    running_init(&w->d, seed, 1, &polling);
    w->d.respond = cleura_respond;
    w->d.ctx = &w->cleura;
    for (unsigned i = 0; i < NAMES; i++)
        (void)snprintf(w->cleura.shoots[i].name, sizeof(w->cleura.shoots[i].name), "%s", names[i]);
    w->cleura.hides_uid = seed % 2 == 0;
    w->cleura.stranger_percent = seed % 3 == 0 ? 25 : 0;
    start(w);
    for (int i = 0; i < STEPS && !w->cleura.violation[0]; i++)
        one_step(w);
    if (!w->cleura.violation[0])
        run_until_quiet(w);
    if (!w->cleura.violation[0])
        check_end(w);
    const bool ok = !w->cleura.violation[0];
    if (!ok)
        print_error("WORLD_SEED=%" PRIu64 ": %s\n", seed, w->cleura.violation);
    if (verbose)
        print_message("seed %" PRIu64
                      ": %u commands, %u not refused, %u effects, %u kills, %u restores, %u strangers\n",
                      seed, w->commands, w->wish_count, w->cleura.effect_count, w->kills, w->restores,
                      w->strangers);
    (void)running_kill(&w->d, false);
    running_done(&w->d);
    while (w->wish_count)
        drop_wish(w);
    cleura_done(&w->cleura);
    free(w);
    return ok;
}

/* These find the four faults that were planted to try the oracle: a deletion without end, an operation of a
 * backup, a stranger under a new name, a pool that was forgotten before the first read. */
static const uint64_t telling[] = {6, 15, 40, 49};

static void nothing_happens_that_nobody_asked_for(void **state)
{
    random_test_run(
        &(struct random_test){"WORLD", run_seed, SEEDS, SEEDS_IN_FULL, telling, ARRAY_LEN(telling)});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_happens_that_nobody_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
