/*
 * Random sequences of users' requests, faults of Cleura and kills, on a virtual clock. In the end each
 * cluster has the last accepted state. Every accepted operation has ended with its true result. Cleura was
 * changed once for each accepted change. PROPERTY_SEED=n runs one seed and prints each event.
 */
#include "tests/support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "tests/support/cleura_model.h"
#include "tests/support/shown.h"
#include "view/cluster_facts.h"

#if defined(__SANITIZE_THREAD__) /* one thread does nearly all of it */
enum { SEEDS = 8, SEEDS_IN_FULL = 60 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SEEDS = 30, SEEDS_IN_FULL = 60 };
#else
enum { SEEDS = 100, SEEDS_IN_FULL = 300 };
#endif

enum {
    STEPS = 25,
    NAMES = 3,     /* clusters that users change */
    STRANGERS = 3, /* clusters that users do not change */
    OPERATIONS_MAX = 128,
    QUIET_LIMIT_S = 6 * 3600,
    SETTLED_S = 900, /* everything is read again within this time */
    TURNS_FOR_ANSWER = 400,
};

static const char *const versions[] = {"1.32.11", "1.33.7", "1.34.3"};

/* The state of a cluster according to the answers of the daemon. */
struct tracked {
    const char *name;
    bool wanted;
    json_t *spec;
    int asleep; /* -1: unknown */
    /* A command without an answer: the daemon may have accepted it. */
    struct command *unsure;
};

struct property {
    struct running d;
    struct cleura_model cleura;
    uint64_t seed;
    unsigned kills, commands, accepted, repeated;
    bool uses_keys; /* some commands come with an Idempotency-Key, and are repeated */
    struct tracked tracked[NAMES];
    char accepted_ids[OPERATIONS_MAX][40];
    unsigned accepted_count;
};

/* ---- users ---- */

static json_t *draw_pool(struct property *p, unsigned name)
{
    return json_pack("{s:o, s:i, s:i}", "name", json_sprintf("w%u", name), "minimum", 1, "maximum",
                     1 + (int)cleura_draw(&p->cleura, 4));
}

/* Draws a version, mostly one that the cluster can be upgraded to. */
static const char *draw_version(struct property *p, const struct tracked *t)
{
    const struct shoot_model *s = cleura_find(&p->cleura, t->name, strlen(t->name));
    size_t i = cleura_draw(&p->cleura, ARRAY_LEN(versions));
    if (s->there && cleura_chance(&p->cleura, 80))
        for (i = 0; strcmp(versions[i], s->version) != 0; i++)
            ;
    if (s->there && i + 1 < ARRAY_LEN(versions) && cleura_chance(&p->cleura, 40))
        i++;
    return versions[i];
}

static json_t *draw_spec(struct property *p, const struct tracked *t)
{
    json_t *spec = json_object();
    if (cleura_chance(&p->cleura, 50))
        json_set_str(spec, "kubernetes_version", draw_version(p, t));
    if (cleura_chance(&p->cleura, 85)) {
        json_t *pools = json_array();
        unsigned which = 1 + (unsigned)cleura_draw(&p->cleura, 7);
        for (unsigned i = 0; i < 3; i++)
            if (which & (1U << i))
                json_append_take(pools, draw_pool(p, i));
        json_set_take(spec, "node_pools", pools);
    }
    return spec;
}

static struct command *draw_command(struct property *p, const struct tracked *t)
{
    unsigned kind = (unsigned)cleura_draw(&p->cleura, 100);
    if (!t->wanted && kind < 90)
        return running_command(&p->d, COMMAND_CLUSTER_CREATE, "p00", t->name,
                               json_pack("{s:s, s:o}", "name", t->name, "spec", draw_spec(p, t)));
    if (kind < 50)
        return running_command(&p->d, COMMAND_CLUSTER_PUT, "p00", t->name,
                               json_pack("{s:o}", "spec", draw_spec(p, t)));
    if (kind < 65)
        return running_command(&p->d, COMMAND_CLUSTER_PATCH, "p00", t->name,
                               json_pack("{s:{s:s}}", "spec", "kubernetes_version", draw_version(p, t)));
    if (kind < 88) {
        struct command *cmd = running_command(&p->d, COMMAND_CLUSTER_ACTION, "p00", t->name, NULL);
        cmd->write.action = kind < 77 ? OPERATION_HIBERNATE : OPERATION_WAKE;
        return cmd;
    }
    return running_command(&p->d, COMMAND_CLUSTER_DELETE, "p00", t->name, NULL);
}

static void set_spec(struct tracked *t, json_t *spec)
{
    json_t *copy = json_deep_copy(spec);
    json_decref(t->spec);
    t->spec = copy;
}

static const char *command_name(const struct command *cmd)
{
    static const char *const names[COMMAND_TYPE_MAX_] = {[COMMAND_CLUSTER_CREATE] = "create",
                                                         [COMMAND_CLUSTER_PUT] = "put",
                                                         [COMMAND_CLUSTER_PATCH] = "patch",
                                                         [COMMAND_CLUSTER_DELETE] = "delete"};
    if (cmd->type == COMMAND_CLUSTER_ACTION)
        return operation_type_name(cmd->write.action);
    return names[cmd->type];
}

/* Stores the state that the answer promises. */
static void learn(struct property *p, struct tracked *t, const struct command *cmd)
{
    if (cmd->reply.problem) {
        cleura_trace(&p->cleura, "  %s %s: refused: %s", command_name(cmd), t->name,
                     cmd->reply.problem->detail);
        return;
    }
    json_t *doc CLEANUP_JSON = json_parse_lenient(cmd->reply.text, strlen(cmd->reply.text), NULL);
    cleura_trace(&p->cleura, "  %s %s: %d %s", command_name(cmd), t->name, cmd->reply.status,
                 cmd->reply.location ? cmd->reply.location : "");
    if (cmd->reply.status == 202) {
        assert_in_range(p->accepted_count, 0, OPERATIONS_MAX - 1);
        (void)snprintf(p->accepted_ids[p->accepted_count++], 40, "%s", strrchr(cmd->reply.location, '/') + 1);
    }
    p->accepted++;
    if (cmd->type == COMMAND_CLUSTER_DELETE) {
        t->wanted = false;
        return;
    }
    if (cmd->type == COMMAND_CLUSTER_ACTION) {
        t->asleep = cmd->write.action == OPERATION_HIBERNATE;
        return;
    }
    if (!t->wanted)
        t->asleep = 0;
    t->wanted = true;
    set_spec(t, json_obj(doc, "spec"));
}

/* ---- kills ---- */

static struct cluster *cluster_named(const struct view_snapshot *s, const char *name)
{
    char key[32];
    (void)snprintf(key, sizeof(key), "p00/%s", name);
    struct view_blob *blob = view_find(s, VIEW_CLUSTERS, key);
    return blob ? shown_cluster(blob) : NULL;
}

static bool is_being_deleted(const struct view_snapshot *s, const char *name)
{
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct operation *op = e->blob->subject;
        if (op->type == OPERATION_DELETE && !strcmp(op->cluster, name) &&
            !operation_status_is_final(op->status))
            return true;
    }
    return false;
}

/* The store shows whether a command without an answer was accepted. */
static void settle_unsure(struct property *p, struct tracked *t, const struct view_snapshot *s)
{
    struct cluster *c CLEANUP_CLUSTER = cluster_named(s, t->name);
    const struct command *cmd = t->unsure;
    bool has_new = c && c->managed && (!t->wanted || !json_equal(json_doc_tree(c->spec), t->spec));
    if (cmd->type == COMMAND_CLUSTER_DELETE) {
        t->wanted = t->wanted && c && !is_being_deleted(s, t->name);
    } else if (cmd->type == COMMAND_CLUSTER_ACTION) {
        t->asleep = -1;
    } else if (has_new && !is_being_deleted(s, t->name)) {
        json_t *asked = json_obj(cmd->body, "spec");
        if (cmd->type != COMMAND_CLUSTER_PATCH && !json_equal(asked, json_doc_tree(c->spec)))
            cleura_violate(&p->cleura, "%s has a spec that nobody asked for after a kill", t->name);
        if (!t->wanted)
            t->asleep = 0;
        t->wanted = true;
        set_spec(t, json_doc_tree(c->spec));
    }
}

static void check_durable(struct property *p)
{
    const struct view_snapshot *s = view_enter(p->d.view);
    for (size_t i = 0; i < NAMES; i++) {
        struct tracked *t = &p->tracked[i];
        if (t->unsure)
            settle_unsure(p, t, s);
        command_free(t->unsure);
        t->unsure = NULL;
        struct cluster *c CLEANUP_CLUSTER = cluster_named(s, t->name);
        if (t->wanted && (!c || !json_equal(json_doc_tree(c->spec), t->spec)))
            cleura_violate(&p->cleura, "what was accepted for %s is lost after a kill", t->name);
    }
    for (unsigned i = 0; i < p->accepted_count; i++)
        if (!view_find(s, VIEW_OPERATIONS, p->accepted_ids[i]))
            cleura_violate(&p->cleura, "operation %s is lost after a kill", p->accepted_ids[i]);
    view_leave(p->d.view);
}

static void kill_and_start(struct property *p)
{
    bool lose = cleura_chance(&p->cleura, 50);
    p->kills++;
    for (uint64_t turns = cleura_draw(&p->cleura, cleura_chance(&p->cleura, 50) ? 4 : 16); turns > 0; turns--)
        running_turn(&p->d);
    cleura_trace(&p->cleura, "  kill%s", lose ? ", the last turn is lost" : "");
    if (running_kill(&p->d, lose) && p->cleura.written)
        p->cleura.written->lost = p->cleura.written->unseen = true;
    if (cleura_chance(&p->cleura, 30))
        p->d.world.now += (mono_us)cleura_draw(&p->cleura, 600) * US_PER_S;
    running_start(&p->d);
}

/* ---- one sequence ---- */

static void await_answer(struct property *p, const struct command *cmd)
{
    for (int i = 0; i < TURNS_FOR_ANSWER && !running_answered(cmd); i++)
        running_turn(&p->d);
    if (!running_answered(cmd))
        cleura_violate(&p->cleura, "no answer to %s %s", command_name(cmd), cmd->name);
}

/* A POST may get a key. A key that is used for one request is not valid for another request. */
static void draw_key(struct property *p, struct command *cmd)
{
    bool is_post = cmd->type == COMMAND_CLUSTER_CREATE || cmd->type == COMMAND_CLUSTER_ACTION;
    if (!p->uses_keys || !is_post || !cleura_chance(&p->cleura, 50))
        return;
    (void)snprintf(cmd->idempotency.key, sizeof(cmd->idempotency.key), "%064u", p->commands);
    (void)snprintf(cmd->idempotency.fingerprint, sizeof(cmd->idempotency.fingerprint), "print-%u",
                   p->commands);
}

/* A caller repeats an accepted request with its key. The caller gets the same answer, and the retry has no
 * other effect. */
static void repeat(struct property *p, const struct command *first)
{
    struct command *again =
        running_command(&p->d, first->type, first->project, first->name, json_deep_copy(first->body));
    again->write.action = first->write.action;
    again->idempotency = first->idempotency;
    p->repeated++;
    running_post(&p->d, again);
    if (cleura_chance(&p->cleura, 20)) {
        kill_and_start(p);
        check_durable(p);
    } else {
        await_answer(p, again);
    }
    if (running_answered(again) && (!again->reply.replayed || again->reply.status != first->reply.status ||
                                    strcmp(again->reply.operation_id, first->reply.operation_id) != 0))
        cleura_violate(&p->cleura, "%s %s: another answer to the same key", command_name(first), first->name);
    command_free(again);
}

static void post(struct property *p)
{
    struct tracked *t = &p->tracked[cleura_draw(&p->cleura, NAMES)];
    struct command *cmd = draw_command(p, t);
    cleura_trace(&p->cleura, "  %s %s ...", command_name(cmd), t->name);
    p->commands++;
    draw_key(p, cmd);
    running_post(&p->d, cmd);
    if (cleura_chance(&p->cleura, 12) && !running_answered(cmd)) {
        kill_and_start(p);
        if (running_answered(cmd)) {
            learn(p, t, cmd);
            command_free(cmd);
        } else {
            t->unsure = cmd;
        }
        check_durable(p);
        return;
    }
    await_answer(p, cmd);
    learn(p, t, cmd);
    if (*cmd->idempotency.key && cmd->reply.status == 202 && cleura_chance(&p->cleura, 30))
        repeat(p, cmd);
    command_free(cmd);
}

static void let_time_pass(struct property *p)
{
    static const int64_t longest_ms[] = {300, 3000, 30000, 200000, 900000};
    int64_t ms = (int64_t)cleura_draw(&p->cleura,
                                      (uint64_t)longest_ms[cleura_draw(&p->cleura, ARRAY_LEN(longest_ms))]);
    running_run(&p->d, ms * US_PER_MS);
}

static void one_step(struct property *p)
{
    unsigned kind = (unsigned)cleura_draw(&p->cleura, 100);
    if (kind < 48) {
        post(p);
    } else if (kind < 70) {
        let_time_pass(p);
    } else if (kind < 90) {
        cleura_inject(&p->cleura);
    } else {
        kill_and_start(p);
        check_durable(p);
    }
}

static void run_until_quiet(struct property *p)
{
    cleura_run_until_quiet(&p->cleura, QUIET_LIMIT_S * US_PER_S);
    running_run(&p->d, SETTLED_S * US_PER_S);
}

/* ---- the end ---- */

static bool pools_agree(const json_t *wanted, const json_t *workers)
{
    size_t i, j;
    json_t *pool, *worker;
    if (json_array_size(wanted) != json_array_size(workers))
        return false;
    json_array_foreach (wanted, i, pool) {
        bool found = false;
        json_array_foreach (workers, j, worker)
            found |= json_equal(json_object_get(pool, "name"), json_object_get(worker, "name")) &&
                     json_equal(json_object_get(pool, "maximum"), json_object_get(worker, "maximum"));
        if (!found)
            return false;
    }
    return true;
}

static void check_cluster(struct property *p, const struct tracked *t, const struct view_snapshot *s)
{
    struct cluster *c CLEANUP_CLUSTER = cluster_named(s, t->name);
    const struct shoot_model *m = cleura_find(&p->cleura, t->name, strlen(t->name));
    if (!t->wanted) {
        if (c || m->there)
            cleura_violate(&p->cleura, "%s was deleted and is there: shown %d, at Cleura %d", t->name,
                           c != NULL, m->there);
        return;
    }
    if (!c || !m->there || !c->shoot) {
        cleura_violate(&p->cleura, "%s was accepted and is not there: shown %d, at Cleura %d", t->name,
                       c != NULL, m->there);
        return;
    }
    const char *version = json_str(t->spec, "kubernetes_version");
    const json_t *pools = json_arr(t->spec, "node_pools");
    if (!json_equal(json_doc_tree(c->spec), t->spec))
        cleura_violate(&p->cleura, "%s has another spec than the last accepted one", t->name);
    if (version && strcmp(version, m->version) != 0)
        cleura_violate(&p->cleura, "%s: version %s at Cleura, %s accepted", t->name, m->version, version);
    if (pools && !pools_agree(pools, m->workers)) {
        char *wanted CLEANUP_FREE = json_text(pools), *there CLEANUP_FREE = json_text(m->workers);
        cleura_violate(&p->cleura, "%s: pools at Cleura %.200s, accepted %.200s", t->name, there, wanted);
    }
    if (t->asleep >= 0 && m->asleep != t->asleep)
        cleura_violate(&p->cleura, "%s: asleep %d at Cleura, %d accepted", t->name, m->asleep, t->asleep);
    if (strcmp(json_str_or(shoot_observed(c->shoot), "kubernetes_version", ""), m->version) != 0 ||
        !pools_agree(m->workers, json_arr(shoot_observed(c->shoot), "node_pools")) ||
        c->shoot->hibernated != m->asleep)
        cleura_violate(&p->cleura, "%s: what is shown is not what Cleura has", t->name);
    if (json_array_size(c->drift) || c->stale || c->phase != (m->asleep ? PHASE_HIBERNATED : PHASE_READY))
        cleura_violate(&p->cleura, "%s: phase %s, drift %zu, stale %d", t->name, phase_name(c->phase),
                       json_array_size(c->drift), c->stale);
}

static void check_operation(struct property *p, const struct operation *op)
{
    const char *code = json_str_or(op->error, "code", "");
    if (op->status == OPERATION_SUCCEEDED ||
        (op->status == OPERATION_CANCELLED && !strcmp(code, "superseded")))
        return;
    cleura_violate(&p->cleura, "operation %s (%s of %s) ended as %s: %s %s", op->id,
                   operation_type_name(op->type), op->cluster, operation_status_name(op->status), code,
                   op->message);
}

/* Counts the steps of this kind that were sent. At least `ret_done` of them had an effect, at most all of
 * them. */
static void count_steps(const struct view_snapshot *s, const struct effect *e, unsigned *ret_done,
                        unsigned *ret_sent)
{
    *ret_done = *ret_sent = 0;
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    for (const struct view_entry *shown = view_next(&place); shown; shown = view_next(&place)) {
        const struct operation *op = shown->blob->subject;
        for (unsigned n = 0; n < op->step_count; n++) {
            const struct operation_step *step = &op->steps[n];
            if (strcmp(op->cluster, e->cluster) != 0 || strcmp(step_type_name(step->type), e->step) != 0 ||
                strcmp(step->target, e->target) != 0 || !step->attempts)
                continue;
            ++*ret_sent;
            *ret_done += step->status == STEP_DONE;
        }
    }
}

static void check_effects(struct property *p, const struct view_snapshot *s, const struct effect *kind)
{
    unsigned done, sent, seen = 0;
    for (unsigned i = 0; i < p->cleura.effect_count; i++)
        seen += !strcmp(p->cleura.effects[i].cluster, kind->cluster) &&
                !strcmp(p->cleura.effects[i].step, kind->step) &&
                !strcmp(p->cleura.effects[i].target, kind->target);
    count_steps(s, kind, &done, &sent);
    bool is_delete = !strcmp(kind->step, "delete_shoot"); /* a deletion that finds no shoot is also done */
    if (seen > sent || (seen < done && !is_delete))
        cleura_violate(&p->cleura, "%s %s %s: %u effects, %u steps done, %u sent", kind->cluster, kind->step,
                       kind->target, seen, done, sent);
}

static void check_end(struct property *p)
{
    const struct view_snapshot *s = view_enter(p->d.view);
    for (size_t i = 0; i < NAMES; i++)
        check_cluster(p, &p->tracked[i], s);
    for (unsigned i = 0; i < p->accepted_count; i++)
        if (!view_find(s, VIEW_OPERATIONS, p->accepted_ids[i]))
            cleura_violate(&p->cleura, "operation %s is lost", p->accepted_ids[i]);
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct operation *op = e->blob->subject;
        check_operation(p, op);
        for (unsigned n = 0; n < op->step_count; n++) {
            struct effect kind = {.life = 0};
            (void)snprintf(kind.cluster, sizeof(kind.cluster), "%s", op->cluster);
            (void)snprintf(kind.step, sizeof(kind.step), "%s", step_type_name(op->steps[n].type));
            memcpy(kind.target, op->steps[n].target, sizeof(kind.target));
            if (strncmp(kind.step, "wait_", 5) != 0 && strcmp(kind.step, "bootstrap") != 0)
                check_effects(p, s, &kind);
        }
    }
    for (unsigned i = 0; i < p->cleura.effect_count; i++)
        check_effects(p, s, &p->cleura.effects[i]);
    view_leave(p->d.view);
}

/* Seeds that once failed keep their old sequences, which had no keys. */
static const uint64_t once_failed[] = {223, 1638, 2844};

static bool has_keys(uint64_t seed)
{
    for (size_t i = 0; i < ARRAY_LEN(once_failed); i++)
        if (once_failed[i] == seed)
            return false;
    return true;
}

static void init(struct property *p, uint64_t seed, bool verbose)
{
    static const char *const names[] = {"a", "b", "c"};
    const struct polling polling = {15 * US_PER_S, 120 * US_PER_S, 300 * US_PER_S};
    *p = (struct property){.seed = seed, .uses_keys = has_keys(seed)};
    p->cleura = (struct cleura_model){.d = &p->d, .verbose = verbose, .shoot_count = NAMES + STRANGERS};
    running_init(&p->d, seed, 1, &polling);
    p->d.respond = cleura_respond;
    p->d.ctx = &p->cleura;
    for (unsigned i = 0; i < NAMES + STRANGERS; i++) {
        struct shoot_model *s = &p->cleura.shoots[i];
        if (i < NAMES) {
            (void)snprintf(s->name, sizeof(s->name), "%s", names[i]);
            p->tracked[i] = (struct tracked){.name = names[i], .asleep = -1};
            continue;
        }
        *s = (struct shoot_model){
            .there = true, .last_type = "Create", .last_state = "Succeeded", .last_at = 1};
        (void)snprintf(s->name, sizeof(s->name), "s%u", i);
        (void)snprintf(s->version, sizeof(s->version), "1.33.7");
        s->workers = json_array();
    }
}

static void done(struct property *p)
{
    (void)running_kill(&p->d, false);
    running_done(&p->d);
    for (size_t i = 0; i < NAMES; i++) {
        json_decref(p->tracked[i].spec);
        command_free(p->tracked[i].unsure);
    }
    cleura_done(&p->cleura);
}

static bool run_seed(uint64_t seed, bool verbose)
{
    struct property *p = MEM_NEW(struct property);
    init(p, seed, verbose);
    running_start(&p->d);
    for (int i = 0; i < STEPS && !p->cleura.violation[0]; i++)
        one_step(p);
    if (!p->cleura.violation[0])
        run_until_quiet(p);
    if (!p->cleura.violation[0])
        check_end(p);
    bool ok = !p->cleura.violation[0];
    if (!ok)
        print_error("PROPERTY_SEED=%" PRIu64 ": %s\n", seed, p->cleura.violation);
    if (verbose)
        print_message("seed %" PRIu64
                      ": %u commands, %u accepted, %u kills, %u calls, %u writes, %u effects, %u "
                      "conflicts, %u repeated\n",
                      seed, p->commands, p->accepted, p->kills, p->cleura.calls, p->cleura.writes,
                      p->cleura.effect_count, p->cleura.lost_conflicts, p->repeated);
    done(p);
    free(p);
    return ok;
}

static void accepted_values_are_the_spec(void **state)
{
    random_test_run(&(struct random_test){"PROPERTY", run_seed, SEEDS, SEEDS_IN_FULL, once_failed,
                                          ARRAY_LEN(once_failed)});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_values_are_the_spec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
