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
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "tests/support/running.h"
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
    EFFECTS_MAX = 512,
    OPERATIONS_MAX = 128,
    QUIET_LIMIT_S = 6 * 3600,
    SETTLED_S = 900, /* everything is read again within this time */
    TURNS_FOR_ANSWER = 400,
    TOKEN_APART_S = 120, /* a token that is rejected right after the login has other effects */
};

static const char *const versions[] = {"1.32.11", "1.33.7", "1.34.3"};

#define SHOOTS "/shoots/Sto2/id00"

/* ---- Cleura ---- */

struct shoot_model {
    char name[16];
    bool there;
    unsigned life; /* number of shoots with this name so far */
    char version[16];
    json_t *workers; /* as in Cleura's answer */
    bool wants_sleep, asleep;
    /* A write is accepted, its run begins later (`begins`) and ends later. Until its run begins, the last run
     * is shown. */
    bool pending;
    const char *type;
    mono_us begins, ends;
    const char *last_type, *last_state;
    mono_us last_at; /* 0: no operation is shown */
    bool lost;       /* an answer about the shoot was lost: a 409 for the next write is no fault */
    bool unseen; /* the shoot was not read after the lost answer, so no other write may follow, except a first
                  * deletion */
    bool deletion_lost;
};

struct effect {
    char cluster[16];
    char step[32]; /* the type of step that causes the effect */
    char target[40];
};

enum fault {
    FAULT_NONE,
    FAULT_TIMEOUT,
    FAULT_BROKEN,
    FAULT_5XX,
    FAULT_THROTTLED,
    FAULT_FORBIDDEN_IP,
    FAULT_GARBAGE,
    FAULT_NOT_SENT,
    FAULT_TOKEN,
    FAULT_MAX_,
};
static const char *const fault_names[] = {"none",         "timeout", "broken",   "5xx",  "throttled",
                                          "forbidden ip", "garbage", "not sent", "token"};

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
    uint64_t seed;
    bool verbose;
    struct shoot_model shoots[NAMES + STRANGERS];
    struct effect effects[EFFECTS_MAX];
    unsigned effect_count;
    enum fault fault;
    unsigned faults_left;
    bool fault_has_effect, fault_of_writes;
    mono_us token_rejected_at;
    struct shoot_model *written; /* the shoot that the last request changed; NULL: no change, or no shoot */
    unsigned calls, writes, lost_conflicts, kills, commands, accepted, repeated;
    bool uses_keys; /* some commands come with an Idempotency-Key, and are repeated */
    struct tracked tracked[NAMES];
    char accepted_ids[OPERATIONS_MAX][40];
    unsigned accepted_count;
    char *answer;
    char violation[512];
};

static void violate(struct property *p, const char *format, ...) ATTR_PRINTF(2, 3);
static void violate(struct property *p, const char *format, ...)
{
    va_list args;
    if (p->violation[0])
        return;
    va_start(args, format);
    (void)vsnprintf(p->violation, sizeof(p->violation), format, args);
    va_end(args);
}

static void trace(const struct property *p, const char *format, ...) ATTR_PRINTF(2, 3);
static void trace(const struct property *p, const char *format, ...)
{
    va_list args;
    if (!p->verbose)
        return;
    (void)fprintf(stderr, "%9.3f  ", (double)(p->d.world.now - 1000 * US_PER_S) / 1e6);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fprintf(stderr, "\n");
}

static uint64_t draw(struct property *p, uint64_t below)
{
    return env_random_below(&p->d.world.env, below);
}

static bool chance(struct property *p, unsigned percent)
{
    return draw(p, 100) < percent;
}

static void shoot_gone(struct shoot_model *s)
{
    json_decref(s->workers);
    s->workers = NULL;
    s->there = s->pending = false;
}

static void show_run(struct shoot_model *s, const char *state, mono_us at)
{
    s->last_type = s->type;
    s->last_state = state;
    s->last_at = at;
}

/* Advances the model to the present. */
static void shoot_follow(struct property *p, struct shoot_model *s)
{
    mono_us now = p->d.world.now;
    if (!s->there || !s->pending || now < s->begins)
        return;
    show_run(s, "Processing", s->begins);
    if (now < s->ends)
        return;
    s->pending = false;
    if (!strcmp(s->type, "Delete")) {
        shoot_gone(s);
        return;
    }
    s->asleep = s->wants_sleep;
    show_run(s, "Succeeded", s->ends);
}

static void begin_run(struct property *p, struct shoot_model *s, const char *type)
{
    s->type = type;
    s->pending = true;
    s->begins = p->d.world.now + (mono_us)draw(p, 60) * US_PER_S;
    s->ends = s->begins + (mono_us)(30 + draw(p, 270)) * US_PER_S;
}

static struct shoot_model *shoot_find(struct property *p, const char *name, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(p->shoots); i++)
        if (strlen(p->shoots[i].name) == len && !strncmp(p->shoots[i].name, name, len))
            return &p->shoots[i];
    return NULL;
}

static void add_effect(struct property *p, const struct shoot_model *s, const char *step, const char *target)
{
    assert_in_range(p->effect_count, 0, EFFECTS_MAX - 1);
    struct effect *e = &p->effects[p->effect_count++];
    (void)snprintf(e->cluster, sizeof(e->cluster), "%s", s->name);
    (void)snprintf(e->step, sizeof(e->step), "%s", step);
    (void)snprintf(e->target, sizeof(e->target), "%s", target);
    trace(p, "        effect: %s %s %s", s->name, step, target);
}

static json_t *render_worker(const json_t *body)
{
    const json_t *machine = json_obj(body, "machine");
    json_t *worker = json_pack("{s:s, s:{s:s, s:{s:s, s:s}}, s:{s:s}}", "name", json_str_or(body, "name", ""),
                               "machine", "type", json_str_or(machine, "type", ""), "image", "name",
                               "gardenlinux", "version", json_str_or(machine, "image_version", "1877.9.0"),
                               "volume", "size", json_str_or(body, "volume_size", "50Gi"));
    static const char *const same[] = {"minimum", "maximum",     "max_surge", "zones",
                                       "labels",  "annotations", "taints"};
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        json_set_take(worker, same[i], json_incref(json_object_get(body, same[i])));
    return worker;
}

static json_t *render_shoot(const struct property *p, const struct shoot_model *s)
{
    char time[TIME_TEXT_BYTES], uid[UUID_STR_LEN];
    (void)snprintf(uid, sizeof(uid), "00000000-0000-4000-8000-%06u%06u", (unsigned)(s - p->shoots), s->life);
    json_t *doc = json_pack(
        "{s:s, s:s, s:{s:s}, s:{s:s, s:s}, s:{s:O}, s:{s:{s:b, s:b}, s:{s:s, s:s}}, s:{s:b, s:[{s:s, s:s}]}}",
        "name", s->name, "uid", uid, "kubernetes", "version", s->version, "networking", "type", "calico",
        "nodes", "10.250.0.0/16", "shoot_provider", "workers", s->workers, "maintenance", "auto_update",
        "kubernetes_version", 1, "machine_image_version", 1, "time_window", "begin", "020000+0000", "end",
        "030000+0000", "status", "is_hibernated", s->asleep, "conditions", "type", "APIServerAvailable",
        "status", "True");
    assert_non_null(doc);
    if (s->last_at)
        json_set_take(doc, "last_operation",
                      json_pack("{s:s, s:s, s:i, s:s, s:s}", "type", s->last_type, "state", s->last_state,
                                "progress", !strcmp(s->last_state, "Succeeded") ? 100 : 40, "description",
                                s->last_state, "last_update_time",
                                time_rfc3339(p->d.world.wall_offset + s->last_at, false, time)));
    return doc;
}

static struct canned_answer answer_text(struct property *p, int status, char *text)
{
    free(p->answer);
    p->answer = text;
    return (struct canned_answer){HTTP_ANSWERED, status, text, NULL,
                                  (50 + (int64_t)draw(p, 400)) * US_PER_MS};
}

static struct canned_answer answer_json(struct property *p, int status, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    return answer_text(p, status, text);
}

static struct canned_answer answer_error(struct property *p, int status, const char *message)
{
    return answer_json(p, status, json_pack("{s{siss}}", "error", "code", status, "message", message));
}

static const char catalog[] =
    "[{\"name\":\"cleuracloud\",\"kubernetes\":{\"versions\":[{\"version\":\"1.32.11\"},{\"version\":"
    "\"1.33.7\"},{\"version\":\"1.34.3\"}]},\"machine_types\":[{\"name\":\"b.2c4gb\",\"cpu\":\"2\","
    "\"memory\":\"4Gi\"}],\"machine_images\":[{\"name\":\"gardenlinux\",\"versions\":[{\"version\":"
    "\"1877.9.0\"}]}],\"regions\":[{\"name\":\"Sto2\",\"zones\":[{\"name\":\"nova\"}]}]}]";

/* A request in the form for the model. */
struct asked {
    const char *method;
    const json_t *body;
    struct shoot_model *shoot; /* NULL: the list, or an unknown shoot */
    const char *rest;          /* the part of the path behind the shoot */
};

static struct canned_answer create_shoot(struct property *p, const json_t *body)
{
    const char *name = json_str_or(body, "name", "");
    struct shoot_model *s = shoot_find(p, name, strlen(name));
    assert_non_null(s);
    if (s->unseen)
        violate(p, "a create of %s without a look after a lost answer", name);
    if (s->there && !s->lost)
        violate(p, "a create of %s, which is there", name);
    if (s->there)
        return answer_error(p, 409, "A shoot with this name exists already");
    s->there = true;
    s->life++;
    s->lost = s->wants_sleep = s->asleep = false;
    s->last_at = 0;
    (void)snprintf(s->version, sizeof(s->version), "%s", json_str_or(body, "kubernetes_version", ""));
    s->workers = json_array();
    size_t i;
    json_t *worker;
    json_array_foreach (json_arr(json_obj(body, "shoot_provider"), "workers"), i, worker)
        (void)json_array_append_new(s->workers, render_worker(worker));
    begin_run(p, s, "Create");
    add_effect(p, s, "create_shoot", "");
    return answer_json(p, 201, render_shoot(p, s));
}

static struct canned_answer delete_shoot(struct property *p, struct shoot_model *s)
{
    if (!s->pending || strcmp(s->type, "Delete") != 0) {
        begin_run(p, s, "Delete");
        add_effect(p, s, "delete_shoot", "");
    }
    return answer_text(p, 202, mem_strdup(""));
}

static size_t worker_index(const struct shoot_model *s, const char *name)
{
    size_t i;
    json_t *worker;
    json_array_foreach (s->workers, i, worker)
        if (!strcmp(json_str_or(worker, "name", ""), name))
            return i;
    return SIZE_MAX;
}

static struct canned_answer change_worker(struct property *p, const struct asked *a)
{
    struct shoot_model *s = a->shoot;
    const char *name = strlen(a->rest) > 9 ? a->rest + 9 : json_str_or(a->body, "name", "");
    size_t i = worker_index(s, name);
    if (!strcmp(a->method, "POST")) {
        if (i != SIZE_MAX)
            return answer_error(p, 409, "A worker group with this name exists already");
        (void)json_array_append_new(s->workers, render_worker(a->body));
        add_effect(p, s, "create_pool", name);
    } else if (i == SIZE_MAX) {
        return answer_error(p, 404, "Worker group not found");
    } else if (!strcmp(a->method, "DELETE")) {
        if (json_array_size(s->workers) == 1)
            return answer_error(p, 400, "The last worker group cannot be deleted");
        (void)json_array_remove(s->workers, i);
        add_effect(p, s, "delete_pool", name);
    } else {
        json_t *worker = render_worker(a->body);
        bool same = json_equal(worker, json_array_get(s->workers, i));
        (void)json_array_set_new(s->workers, i, worker);
        if (same)
            return answer_json(p, 202, render_shoot(p, s));
        add_effect(p, s, "update_pool", name);
    }
    begin_run(p, s, "Reconcile");
    return answer_json(p, 202, render_shoot(p, s));
}

static struct canned_answer set_sleep(struct property *p, struct shoot_model *s, bool sleep)
{
    if (s->wants_sleep != sleep) {
        s->wants_sleep = sleep;
        begin_run(p, s, "Reconcile");
        add_effect(p, s, sleep ? "hibernate" : "wake", "");
    }
    return answer_text(p, 202, mem_strdup(""));
}

static struct canned_answer patch_shoot(struct property *p, const struct asked *a)
{
    const char *version = json_str(a->body, "kubernetes");
    if (version && strcmp(version, a->shoot->version) != 0) {
        (void)snprintf(a->shoot->version, sizeof(a->shoot->version), "%s", version);
        begin_run(p, a->shoot, "Reconcile");
        add_effect(p, a->shoot, "patch_cluster", "");
    }
    return answer_json(p, 202, render_shoot(p, a->shoot));
}

static struct canned_answer write_shoot(struct property *p, const struct asked *a)
{
    struct shoot_model *s = a->shoot;
    p->writes++;
    bool deletes = !*a->rest && !strcmp(a->method, "DELETE");
    if (s->unseen && (!deletes || s->deletion_lost))
        violate(p, "%s %s%s without a look after a lost answer", a->method, s->name, a->rest);
    if (deletes)
        return delete_shoot(p, s);
    if (s->pending) {
        if (!s->lost)
            violate(p, "%s %s%s while Cleura is busy with it", a->method, s->name, a->rest);
        p->lost_conflicts++;
        return answer_error(p, 409, "Another operation is in progress on the shoot");
    }
    if (!strncmp(a->rest, "/workers", 8))
        return change_worker(p, a);
    if (!strcmp(a->rest, "/hibernate") || !strcmp(a->rest, "/wakeup"))
        return set_sleep(p, s, a->rest[1] == 'h');
    return patch_shoot(p, a);
}

static struct canned_answer list_shoots(struct property *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(p->shoots); i++)
        if (p->shoots[i].there)
            (void)json_array_append_new(list, render_shoot(p, &p->shoots[i]));
    return answer_json(p, 200, list);
}

/* Returns the shoot of a request. *ret_rest is the path behind the name, "" for the list. */
static struct shoot_model *target_of(struct property *p, const char *url, const json_t *body,
                                     const char **ret_rest)
{
    const char *name = strstr(url, SHOOTS) + strlen(SHOOTS);
    const char *created = json_str(body, "name");
    *ret_rest = "";
    if (*name != '/')
        return created ? shoot_find(p, created, strlen(created)) : NULL;
    size_t len = strcspn(++name, "/");
    *ret_rest = name + len;
    return shoot_find(p, name, len);
}

/* Applies the request, and returns the answer without faults. */
static struct canned_answer take(struct property *p, const struct seen_request *request,
                                 const struct asked *a)
{
    if (strstr(request->url, "/auth/"))
        return answer_text(p, 201, mem_strdup("{\"result\":\"login_ok\",\"token\":\"t1\"}"));
    if (strstr(request->url, "/cloud-profiles"))
        return answer_text(p, 200, mem_strdup(catalog));
    if (!strstr(request->url, SHOOTS)) /* bootstrap */
        return answer_text(p, 200, mem_strdup("{}"));
    bool is_read = !strcmp(request->method, "GET");
    if (!strcmp(strrchr(request->url, '/'), "/id00"))
        return is_read ? list_shoots(p) : create_shoot(p, a->body);
    if (!a->shoot || !a->shoot->there)
        return answer_error(p, 404, "Shoot not found");
    return is_read ? answer_json(p, 200, render_shoot(p, a->shoot)) : write_shoot(p, a);
}

static struct canned_answer apply_fault(struct property *p, enum fault fault,
                                        const struct seen_request *request)
{
    static const int codes[] = {500, 502, 503};
    int64_t ms = US_PER_MS;
    switch (fault) {
    case FAULT_TIMEOUT:
        return (struct canned_answer){HTTP_TIMEOUT, 0, NULL, NULL, request->timeout_us};
    case FAULT_BROKEN:
        return (struct canned_answer){HTTP_BROKEN, 0, NULL, NULL, 100 * ms};
    case FAULT_5XX:
        return (struct canned_answer){HTTP_ANSWERED, codes[draw(p, 3)], "oops", NULL, 100 * ms};
    case FAULT_THROTTLED:
        return (struct canned_answer){HTTP_ANSWERED, 429, "{}", "20", 10 * ms};
    case FAULT_FORBIDDEN_IP:
        return answer_error(p, 403, "Forbidden IP address");
    case FAULT_TOKEN:
        return answer_error(p, 401, "Invalid token");
    case FAULT_GARBAGE:
        return (struct canned_answer){HTTP_ANSWERED, 200, "<html>{", NULL, 100 * ms};
    case FAULT_NONE:
    case FAULT_NOT_SENT:
    case FAULT_MAX_:
        break;
    }
    return (struct canned_answer){HTTP_NOT_SENT, 0, NULL, NULL, ms};
}

/* Whether the client cannot know the result of a write. */
static bool loses_answer(enum fault fault)
{
    return fault == FAULT_TIMEOUT || fault == FAULT_BROKEN || fault == FAULT_5XX || fault == FAULT_GARBAGE;
}

static enum fault take_fault(struct property *p, const struct seen_request *request, bool is_read)
{
    enum fault fault = p->faults_left ? p->fault : FAULT_NONE;
    mono_us now = p->d.world.now;
    if (p->fault_of_writes && (is_read || strstr(request->url, "/auth/")))
        return FAULT_NONE;
    if (fault == FAULT_TOKEN &&
        (strstr(request->url, "/auth/") || now - p->token_rejected_at < TOKEN_APART_S * US_PER_S))
        return FAULT_NONE;
    if (fault == FAULT_TOKEN)
        p->token_rejected_at = now;
    if (fault != FAULT_NONE)
        p->faults_left--;
    return fault;
}

static void note_loss(struct property *p, const struct asked *a, enum fault fault, bool is_read, int status)
{
    struct shoot_model *s = a->shoot;
    for (size_t i = 0; is_read && fault == FAULT_NONE && i < ARRAY_LEN(p->shoots); i++)
        if (!s || s == &p->shoots[i])
            p->shoots[i].unseen = false;
    p->written = is_read ? NULL : s;
    if (is_read || !s)
        return;
    if (loses_answer(fault)) {
        s->lost = s->unseen = true;
        s->deletion_lost = !*a->rest && !strcmp(a->method, "DELETE");
    } else if (fault == FAULT_NONE) {
        s->lost = s->lost && status == 409;
    }
}

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    struct property *p = ctx;
    bool is_read = !strcmp(request->method, "GET");
    enum fault fault = take_fault(p, request, is_read);
    struct asked a = {.method = request->method, .rest = ""};
    json_t *body CLEANUP_JSON = json_parse_lenient(request->body, strlen(request->body), NULL);
    a.body = body;
    if (strstr(request->url, SHOOTS))
        a.shoot = target_of(p, request->url, body, &a.rest);
    p->calls++;
    for (size_t i = 0; i < ARRAY_LEN(p->shoots); i++)
        shoot_follow(p, &p->shoots[i]);
    bool acts = fault == FAULT_NONE || fault == FAULT_GARBAGE || (loses_answer(fault) && p->fault_has_effect);
    trace(p, "    %s %s%s%s", request->method, strrchr(request->url, ':') + 2,
          fault == FAULT_NONE ? "" : "  !! ", fault == FAULT_NONE ? "" : fault_names[fault]);
    struct canned_answer answer = {HTTP_ANSWERED, 500, NULL, NULL, 0};
    if (acts)
        answer = take(p, request, &a);
    if (acts && !is_read)
        trace(p, "        %d", answer.status);
    bool is_shoots = strstr(request->url, SHOOTS) != NULL;
    note_loss(p, &a, is_read && !is_shoots ? FAULT_5XX : fault, is_read, answer.status);
    return fault == FAULT_NONE ? answer : apply_fault(p, fault, request);
}

/* ---- users ---- */

static json_t *draw_pool(struct property *p, unsigned name)
{
    return json_pack("{s:o, s:i, s:i}", "name", json_sprintf("w%u", name), "minimum", 1, "maximum",
                     1 + (int)draw(p, 4));
}

/* Draws a version, mostly one that the cluster can be upgraded to. */
static const char *draw_version(struct property *p, const struct tracked *t)
{
    const struct shoot_model *s = shoot_find(p, t->name, strlen(t->name));
    size_t i = draw(p, ARRAY_LEN(versions));
    if (s->there && chance(p, 80))
        for (i = 0; strcmp(versions[i], s->version) != 0; i++)
            ;
    if (s->there && i + 1 < ARRAY_LEN(versions) && chance(p, 40))
        i++;
    return versions[i];
}

static json_t *draw_spec(struct property *p, const struct tracked *t)
{
    json_t *spec = json_object();
    if (chance(p, 50))
        json_set_str(spec, "kubernetes_version", draw_version(p, t));
    if (chance(p, 85)) {
        json_t *pools = json_array();
        unsigned which = 1 + (unsigned)draw(p, 7);
        for (unsigned i = 0; i < 3; i++)
            if (which & (1U << i))
                (void)json_array_append_new(pools, draw_pool(p, i));
        json_set_take(spec, "node_pools", pools);
    }
    return spec;
}

static struct command *draw_command(struct property *p, const struct tracked *t)
{
    unsigned kind = (unsigned)draw(p, 100);
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
        trace(p, "  %s %s: refused: %s", command_name(cmd), t->name, cmd->reply.problem->detail);
        return;
    }
    json_t *doc CLEANUP_JSON = json_parse_lenient(cmd->reply.text, strlen(cmd->reply.text), NULL);
    trace(p, "  %s %s: %d %s", command_name(cmd), t->name, cmd->reply.status,
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
            violate(p, "%s has a spec that nobody asked for after a kill", t->name);
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
            violate(p, "what was accepted for %s is lost after a kill", t->name);
    }
    for (unsigned i = 0; i < p->accepted_count; i++)
        if (!view_find(s, VIEW_OPERATIONS, p->accepted_ids[i]))
            violate(p, "operation %s is lost after a kill", p->accepted_ids[i]);
    view_leave(p->d.view);
}

static void kill_and_start(struct property *p)
{
    bool lose = chance(p, 50);
    p->kills++;
    for (uint64_t turns = draw(p, chance(p, 50) ? 4 : 16); turns > 0; turns--)
        running_turn(&p->d);
    trace(p, "  kill%s", lose ? ", the last turn is lost" : "");
    if (running_kill(&p->d, lose) && p->written)
        p->written->lost = p->written->unseen = true;
    if (chance(p, 30))
        p->d.world.now += (mono_us)draw(p, 600) * US_PER_S;
    running_start(&p->d);
}

/* ---- one sequence ---- */

static void await_answer(struct property *p, const struct command *cmd)
{
    for (int i = 0; i < TURNS_FOR_ANSWER && !running_answered(cmd); i++)
        running_turn(&p->d);
    if (!running_answered(cmd))
        violate(p, "no answer to %s %s", command_name(cmd), cmd->name);
}

/* A POST may get a key. A key that is used for one request is not valid for another request. */
static void draw_key(struct property *p, struct command *cmd)
{
    bool is_post = cmd->type == COMMAND_CLUSTER_CREATE || cmd->type == COMMAND_CLUSTER_ACTION;
    if (!p->uses_keys || !is_post || !chance(p, 50))
        return;
    (void)snprintf(cmd->idempotency.key, sizeof(cmd->idempotency.key), "key-%u", p->commands);
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
    if (chance(p, 20)) {
        kill_and_start(p);
        check_durable(p);
    } else {
        await_answer(p, again);
    }
    if (running_answered(again) && (!again->reply.replayed || again->reply.status != first->reply.status ||
                                    strcmp(again->reply.operation_id, first->reply.operation_id) != 0))
        violate(p, "%s %s: another answer to the same key", command_name(first), first->name);
    command_free(again);
}

static void post(struct property *p)
{
    struct tracked *t = &p->tracked[draw(p, NAMES)];
    struct command *cmd = draw_command(p, t);
    trace(p, "  %s %s ...", command_name(cmd), t->name);
    p->commands++;
    draw_key(p, cmd);
    running_post(&p->d, cmd);
    if (chance(p, 12) && !running_answered(cmd)) {
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
    if (*cmd->idempotency.key && cmd->reply.status == 202 && chance(p, 30))
        repeat(p, cmd);
    command_free(cmd);
}

static void let_time_pass(struct property *p)
{
    static const int64_t longest_ms[] = {300, 3000, 30000, 200000, 900000};
    int64_t ms = (int64_t)draw(p, (uint64_t)longest_ms[draw(p, ARRAY_LEN(longest_ms))]);
    running_run(&p->d, ms * US_PER_MS);
}

static void inject(struct property *p)
{
    p->fault = (enum fault)(1 + draw(p, FAULT_MAX_ - 1));
    p->faults_left = p->fault == FAULT_TOKEN ? 1 : 1 + (unsigned)draw(p, 4);
    p->fault_has_effect = chance(p, 60);
    p->fault_of_writes = chance(p, 60);
    trace(p, "  fault: %s, %u times%s", fault_names[p->fault], p->faults_left,
          p->fault_has_effect ? ", with effect" : "");
}

static void one_step(struct property *p)
{
    unsigned kind = (unsigned)draw(p, 100);
    if (kind < 48) {
        post(p);
    } else if (kind < 70) {
        let_time_pass(p);
    } else if (kind < 90) {
        inject(p);
    } else {
        kill_and_start(p);
        check_durable(p);
    }
}

static bool is_quiet(struct property *p)
{
    bool quiet = true;
    for (size_t i = 0; i < ARRAY_LEN(p->shoots); i++) {
        shoot_follow(p, &p->shoots[i]);
        quiet = quiet && !p->shoots[i].pending;
    }
    const struct view_snapshot *s = view_enter(p->d.view);
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct operation *op = e->blob->subject;
        quiet = quiet && operation_status_is_final(op->status);
    }
    view_leave(p->d.view);
    return quiet;
}

static void run_until_quiet(struct property *p)
{
    mono_us end = p->d.world.now + QUIET_LIMIT_S * US_PER_S;
    p->faults_left = 0;
    trace(p, "  no more faults");
    while (!is_quiet(p) && p->d.world.now < end)
        running_run(&p->d, 30 * US_PER_S);
    if (p->d.world.now >= end)
        violate(p, "it never became quiet");
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
    const struct shoot_model *m = shoot_find(p, t->name, strlen(t->name));
    if (!t->wanted) {
        if (c || m->there)
            violate(p, "%s was deleted and is there: shown %d, at Cleura %d", t->name, c != NULL, m->there);
        return;
    }
    if (!c || !m->there || !c->shoot) {
        violate(p, "%s was accepted and is not there: shown %d, at Cleura %d", t->name, c != NULL, m->there);
        return;
    }
    const char *version = json_str(t->spec, "kubernetes_version");
    const json_t *pools = json_arr(t->spec, "node_pools");
    if (!json_equal(json_doc_tree(c->spec), t->spec))
        violate(p, "%s has another spec than the last accepted one", t->name);
    if (version && strcmp(version, m->version) != 0)
        violate(p, "%s: version %s at Cleura, %s accepted", t->name, m->version, version);
    if (pools && !pools_agree(pools, m->workers)) {
        char *wanted CLEANUP_FREE = json_text(pools), *there CLEANUP_FREE = json_text(m->workers);
        violate(p, "%s: pools at Cleura %.200s, accepted %.200s", t->name, there, wanted);
    }
    if (t->asleep >= 0 && m->asleep != t->asleep)
        violate(p, "%s: asleep %d at Cleura, %d accepted", t->name, m->asleep, t->asleep);
    if (strcmp(json_str_or(shoot_observed(c->shoot), "kubernetes_version", ""), m->version) != 0 ||
        !pools_agree(m->workers, json_arr(shoot_observed(c->shoot), "node_pools")) ||
        c->shoot->hibernated != m->asleep)
        violate(p, "%s: what is shown is not what Cleura has", t->name);
    if (json_array_size(c->drift) || c->stale || c->phase != (m->asleep ? PHASE_HIBERNATED : PHASE_READY))
        violate(p, "%s: phase %s, drift %zu, stale %d", t->name, phase_name(c->phase),
                json_array_size(c->drift), c->stale);
}

static void check_operation(struct property *p, const struct operation *op)
{
    const char *code = json_str_or(op->error, "code", "");
    if (op->status == OPERATION_SUCCEEDED ||
        (op->status == OPERATION_CANCELLED && !strcmp(code, "superseded")))
        return;
    violate(p, "operation %s (%s of %s) ended as %s: %s %s", op->id, operation_type_name(op->type),
            op->cluster, operation_status_name(op->status), code, op->message);
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
    for (unsigned i = 0; i < p->effect_count; i++)
        seen += !strcmp(p->effects[i].cluster, kind->cluster) && !strcmp(p->effects[i].step, kind->step) &&
                !strcmp(p->effects[i].target, kind->target);
    count_steps(s, kind, &done, &sent);
    bool is_delete = !strcmp(kind->step, "delete_shoot"); /* a deletion that finds no shoot is also done */
    if (seen > sent || (seen < done && !is_delete))
        violate(p, "%s %s %s: %u effects, %u steps done, %u sent", kind->cluster, kind->step, kind->target,
                seen, done, sent);
}

static void check_end(struct property *p)
{
    const struct view_snapshot *s = view_enter(p->d.view);
    for (size_t i = 0; i < NAMES; i++)
        check_cluster(p, &p->tracked[i], s);
    for (unsigned i = 0; i < p->accepted_count; i++)
        if (!view_find(s, VIEW_OPERATIONS, p->accepted_ids[i]))
            violate(p, "operation %s is lost", p->accepted_ids[i]);
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct operation *op = e->blob->subject;
        check_operation(p, op);
        for (unsigned n = 0; n < op->step_count; n++) {
            struct effect kind = {{0}, {0}, {0}};
            (void)snprintf(kind.cluster, sizeof(kind.cluster), "%s", op->cluster);
            (void)snprintf(kind.step, sizeof(kind.step), "%s", step_type_name(op->steps[n].type));
            memcpy(kind.target, op->steps[n].target, sizeof(kind.target));
            if (strncmp(kind.step, "wait_", 5) != 0 && strcmp(kind.step, "bootstrap") != 0)
                check_effects(p, s, &kind);
        }
    }
    for (unsigned i = 0; i < p->effect_count; i++)
        check_effects(p, s, &p->effects[i]);
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
    *p = (struct property){.seed = seed, .verbose = verbose, .uses_keys = has_keys(seed)};
    running_init(&p->d, seed, 1, &polling);
    p->d.respond = respond;
    p->d.ctx = p;
    for (size_t i = 0; i < ARRAY_LEN(p->shoots); i++) {
        struct shoot_model *s = &p->shoots[i];
        bool stranger = i >= NAMES;
        (void)snprintf(s->name, sizeof(s->name), "%s%zu", stranger ? "s" : "", i);
        if (!stranger) {
            (void)snprintf(s->name, sizeof(s->name), "%s", names[i]);
            p->tracked[i] = (struct tracked){.name = names[i], .asleep = -1};
            continue;
        }
        *s = (struct shoot_model){
            .there = true, .last_type = "Create", .last_state = "Succeeded", .last_at = 1};
        (void)snprintf(s->name, sizeof(s->name), "s%zu", i);
        (void)snprintf(s->version, sizeof(s->version), "1.33.7");
        s->workers = json_array();
    }
}

static void done(struct property *p)
{
    (void)running_kill(&p->d, false);
    running_done(&p->d);
    for (size_t i = 0; i < ARRAY_LEN(p->shoots); i++)
        json_decref(p->shoots[i].workers);
    for (size_t i = 0; i < NAMES; i++) {
        json_decref(p->tracked[i].spec);
        command_free(p->tracked[i].unsure);
    }
    free(p->answer);
}

static bool run_seed(uint64_t seed, bool verbose)
{
    struct property *p = MEM_NEW(struct property);
    init(p, seed, verbose);
    running_start(&p->d);
    for (int i = 0; i < STEPS && !p->violation[0]; i++)
        one_step(p);
    if (!p->violation[0])
        run_until_quiet(p);
    if (!p->violation[0])
        check_end(p);
    bool ok = !p->violation[0];
    if (!ok)
        print_error("PROPERTY_SEED=%" PRIu64 ": %s\n", seed, p->violation);
    if (verbose)
        print_message("seed %" PRIu64
                      ": %u commands, %u accepted, %u kills, %u calls, %u writes, %u effects, %u "
                      "conflicts, %u repeated\n",
                      seed, p->commands, p->accepted, p->kills, p->calls, p->writes, p->effect_count,
                      p->lost_conflicts, p->repeated);
    done(p);
    free(p);
    return ok;
}

static void accepted_values_are_the_spec(void **state)
{
    const char *one = getenv("PROPERTY_SEED"), *many = getenv("PROPERTY_SEEDS");
    unsigned failed = 0;
    (void)state;
    if (one) {
        assert_true(run_seed(strtoull(one, NULL, 10), true));
        return;
    }
    uint64_t last = many ? strtoull(many, NULL, 10) : getenv("FULL") ? SEEDS_IN_FULL : SEEDS;
    for (uint64_t seed = 1; seed <= last; seed++)
        failed += !run_seed(seed, false);
    for (size_t i = 0; i < ARRAY_LEN(once_failed); i++)
        failed += !run_seed(once_failed[i], false);
    assert_int_equal(failed, 0);
}

static void silent(enum log_level level, const char *message, const char *const *keys,
                   const char *const *values, unsigned count)
{
    (void)level;
    (void)message;
    (void)keys;
    (void)values;
    (void)count;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_values_are_the_spec),
    };
    log_set_sink(silent);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
