#include "tests/support/cleura_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "tests/support/check.h"

enum { TOKEN_APART_S = 120 /* a token that is rejected right after the login has other effects */ };

#define SHOOTS "/shoots/Sto2/id00"

static const char *const fault_names[] = {"none",         "timeout", "broken",   "5xx",  "throttled",
                                          "forbidden ip", "garbage", "not sent", "token"};

void cleura_violate(struct cleura_model *m, const char *format, ...)
{
    va_list args;
    if (m->violation[0])
        return;
    va_start(args, format);
    (void)vsnprintf(m->violation, sizeof(m->violation), format, args);
    va_end(args);
}

void cleura_trace(const struct cleura_model *m, const char *format, ...)
{
    va_list args;
    if (!m->verbose)
        return;
    (void)fprintf(stderr, "%9.3f  ", (double)(m->d->world.now - 1000 * US_PER_S) / 1e6);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fprintf(stderr, "\n");
}

uint64_t cleura_draw(struct cleura_model *m, uint64_t below)
{
    return env_random_below(&m->d->world.env, below);
}

bool cleura_chance(struct cleura_model *m, unsigned percent)
{
    return cleura_draw(m, 100) < percent;
}

void cleura_gone(struct shoot_model *s)
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
void cleura_follow(struct cleura_model *m, struct shoot_model *s)
{
    mono_us now = m->d->world.now;
    if (!s->there || !s->pending || now < s->begins)
        return;
    show_run(s, "Processing", s->begins);
    if (now < s->ends)
        return;
    s->pending = false;
    if (!strcmp(s->type, "Delete")) {
        cleura_gone(s);
        return;
    }
    s->asleep = s->wants_sleep;
    show_run(s, "Succeeded", s->ends);
}

static void begin_run(struct cleura_model *m, struct shoot_model *s, const char *type)
{
    s->type = type;
    s->pending = true;
    s->begins = m->d->world.now + (mono_us)cleura_draw(m, 60) * US_PER_S;
    s->ends = s->begins + (mono_us)(30 + cleura_draw(m, 270)) * US_PER_S;
}

struct shoot_model *cleura_find(struct cleura_model *m, const char *name, size_t len)
{
    for (size_t i = 0; i < m->shoot_count; i++)
        if (strlen(m->shoots[i].name) == len && !strncmp(m->shoots[i].name, name, len))
            return &m->shoots[i];
    return NULL;
}

static void add_effect(struct cleura_model *m, const struct shoot_model *s, const char *step,
                       const char *target)
{
    assert_in_range(m->effect_count, 0, EFFECTS_MAX - 1);
    struct effect *e = &m->effects[m->effect_count++];
    (void)snprintf(e->cluster, sizeof(e->cluster), "%s", s->name);
    e->life = s->life;
    e->is_strange = s->is_strange;
    e->age_us = m->d->world.now - s->made_at;
    (void)snprintf(e->step, sizeof(e->step), "%s", step);
    (void)snprintf(e->target, sizeof(e->target), "%s", target);
    cleura_trace(m, "        effect: %s %s %s", s->name, step, target);
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

void cleura_uid(const struct cleura_model *m, const struct shoot_model *s, unsigned life,
                char uid[static UUID_STR_LEN])
{
    (void)snprintf(uid, UUID_STR_LEN, "00000000-0000-4000-8000-%06u%06u", (unsigned)(s - m->shoots), life);
}

static json_t *render_shoot(const struct cleura_model *m, const struct shoot_model *s)
{
    char time[TIME_TEXT_BYTES], uid[UUID_STR_LEN];
    cleura_uid(m, s, s->life, uid);
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
                                time_rfc3339(m->d->world.wall_offset + s->last_at, false, time)));
    return doc;
}

static struct canned_answer answer_text(struct cleura_model *m, int status, char *text)
{
    free(m->answer);
    m->answer = text;
    return (struct canned_answer){HTTP_ANSWERED, status, text, NULL,
                                  (50 + (int64_t)cleura_draw(m, 400)) * US_PER_MS};
}

static struct canned_answer answer_json(struct cleura_model *m, int status, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    return answer_text(m, status, text);
}

static struct canned_answer answer_error(struct cleura_model *m, int status, const char *message)
{
    return answer_json(m, status, json_pack("{s{siss}}", "error", "code", status, "message", message));
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

static struct canned_answer create_shoot(struct cleura_model *m, const json_t *body)
{
    const char *name = json_str_or(body, "name", "");
    struct shoot_model *s = cleura_find(m, name, strlen(name));
    assert_non_null(s);
    if (s->unseen)
        cleura_violate(m, "a create of %s without a look after a lost answer", name);
    if (s->there && !s->lost && !m->is_shared)
        cleura_violate(m, "a create of %s, which is there", name);
    if (s->there)
        return answer_error(m, 409, "A shoot with this name exists already");
    s->there = true;
    s->is_strange = false;
    s->life++;
    s->lost = s->wants_sleep = s->asleep = false;
    s->last_at = 0;
    (void)snprintf(s->version, sizeof(s->version), "%s", json_str_or(body, "kubernetes_version", ""));
    s->workers = json_array();
    size_t i;
    json_t *worker;
    json_array_foreach (json_arr(json_obj(body, "shoot_provider"), "workers"), i, worker)
        json_append_take(s->workers, render_worker(worker));
    begin_run(m, s, "Create");
    add_effect(m, s, "create_shoot", "");
    if (m->hides_uid)
        return answer_json(m, 201, json_pack("{s:s}", "name", s->name));
    return answer_json(m, 201, render_shoot(m, s));
}

static struct canned_answer delete_shoot(struct cleura_model *m, struct shoot_model *s)
{
    if (!s->pending || strcmp(s->type, "Delete") != 0) {
        begin_run(m, s, "Delete");
        add_effect(m, s, "delete_shoot", "");
    }
    return answer_text(m, 202, mem_strdup(""));
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

static struct canned_answer change_worker(struct cleura_model *m, const struct asked *a)
{
    struct shoot_model *s = a->shoot;
    const char *name = strlen(a->rest) > 9 ? a->rest + 9 : json_str_or(a->body, "name", "");
    size_t i = worker_index(s, name);
    if (!strcmp(a->method, "POST")) {
        if (i != SIZE_MAX)
            return answer_error(m, 409, "A worker group with this name exists already");
        json_append_take(s->workers, render_worker(a->body));
        add_effect(m, s, "create_pool", name);
    } else if (i == SIZE_MAX) {
        return answer_error(m, 404, "Worker group not found");
    } else if (!strcmp(a->method, "DELETE")) {
        if (json_array_size(s->workers) == 1)
            return answer_error(m, 400, "The last worker group cannot be deleted");
        (void)json_array_remove(s->workers, i);
        add_effect(m, s, "delete_pool", name);
    } else {
        json_t *worker = render_worker(a->body);
        bool same = json_equal(worker, json_array_get(s->workers, i));
        (void)json_array_set_new(s->workers, i, worker);
        if (same)
            return answer_json(m, 202, render_shoot(m, s));
        add_effect(m, s, "update_pool", name);
    }
    begin_run(m, s, "Reconcile");
    return answer_json(m, 202, render_shoot(m, s));
}

static struct canned_answer set_sleep(struct cleura_model *m, struct shoot_model *s, bool sleep)
{
    if (s->wants_sleep != sleep) {
        s->wants_sleep = sleep;
        begin_run(m, s, "Reconcile");
        add_effect(m, s, sleep ? "hibernate" : "wake", "");
    }
    return answer_text(m, 202, mem_strdup(""));
}

static struct canned_answer patch_shoot(struct cleura_model *m, const struct asked *a)
{
    const char *version = json_str(a->body, "kubernetes");
    if (version && strcmp(version, a->shoot->version) != 0) {
        (void)snprintf(a->shoot->version, sizeof(a->shoot->version), "%s", version);
        begin_run(m, a->shoot, "Reconcile");
        add_effect(m, a->shoot, "patch_cluster", "");
    }
    return answer_json(m, 202, render_shoot(m, a->shoot));
}

static struct canned_answer write_shoot(struct cleura_model *m, const struct asked *a)
{
    struct shoot_model *s = a->shoot;
    m->writes++;
    bool deletes = !*a->rest && !strcmp(a->method, "DELETE");
    if (s->unseen && (!deletes || s->deletion_lost))
        cleura_violate(m, "%s %s%s without a look after a lost answer", a->method, s->name, a->rest);
    if (deletes)
        return delete_shoot(m, s);
    if (s->pending) {
        if (!s->lost && !m->is_shared)
            cleura_violate(m, "%s %s%s while Cleura is busy with it", a->method, s->name, a->rest);
        m->lost_conflicts++;
        return answer_error(m, 409, "Another operation is in progress on the shoot");
    }
    if (!strncmp(a->rest, "/workers", 8))
        return change_worker(m, a);
    if (!strcmp(a->rest, "/hibernate") || !strcmp(a->rest, "/wakeup"))
        return set_sleep(m, s, a->rest[1] == 'h');
    return patch_shoot(m, a);
}

static struct canned_answer list_shoots(struct cleura_model *m)
{
    json_t *list = json_array();
    for (size_t i = 0; i < m->shoot_count; i++)
        if (m->shoots[i].there)
            json_append_take(list, render_shoot(m, &m->shoots[i]));
    return answer_json(m, 200, list);
}

/* Returns the shoot of a request. *ret_rest is the path behind the name, "" for the list. */
static struct shoot_model *target_of(struct cleura_model *m, const char *url, const json_t *body,
                                     const char **ret_rest)
{
    const char *name = strstr(url, SHOOTS) + strlen(SHOOTS);
    const char *created = json_str(body, "name");
    *ret_rest = "";
    if (*name != '/')
        return created ? cleura_find(m, created, strlen(created)) : NULL;
    size_t len = strcspn(++name, "/");
    *ret_rest = name + len;
    return cleura_find(m, name, len);
}

/* Applies the request, and returns the answer without faults. */
static struct canned_answer take(struct cleura_model *m, const struct seen_request *request,
                                 const struct asked *a)
{
    if (strstr(request->url, "/auth/"))
        return answer_text(m, 201, mem_strdup("{\"result\":\"login_ok\",\"token\":\"t1\"}"));
    if (strstr(request->url, "/cloud-profiles"))
        return answer_text(m, 200, mem_strdup(catalog));
    if (!strstr(request->url, SHOOTS)) /* bootstrap */
        return answer_text(m, 200, mem_strdup("{}"));
    bool is_read = !strcmp(request->method, "GET");
    if (!strcmp(strrchr(request->url, '/'), "/id00"))
        return is_read ? list_shoots(m) : create_shoot(m, a->body);
    if (!a->shoot || !a->shoot->there) {
        if (a->shoot && m->stranger_percent && cleura_chance(m, m->stranger_percent))
            cleura_add_strange(m, a->shoot, "1.33.7");
        return answer_error(m, 404, "Shoot not found");
    }
    return is_read ? answer_json(m, 200, render_shoot(m, a->shoot)) : write_shoot(m, a);
}

static struct canned_answer apply_fault(struct cleura_model *m, enum fault fault,
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
        return (struct canned_answer){HTTP_ANSWERED, codes[cleura_draw(m, 3)], "oops", NULL, 100 * ms};
    case FAULT_THROTTLED:
        return (struct canned_answer){HTTP_ANSWERED, 429, "{}", "20", 10 * ms};
    case FAULT_FORBIDDEN_IP:
        return answer_error(m, 403, "Forbidden IP address");
    case FAULT_TOKEN:
        return answer_error(m, 401, "Invalid token");
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

static enum fault take_fault(struct cleura_model *m, const struct seen_request *request, bool is_read)
{
    enum fault fault = m->faults_left ? m->fault : FAULT_NONE;
    mono_us now = m->d->world.now;
    if (m->fault_of_writes && (is_read || strstr(request->url, "/auth/")))
        return FAULT_NONE;
    if (fault == FAULT_TOKEN &&
        (strstr(request->url, "/auth/") || now - m->token_rejected_at < TOKEN_APART_S * US_PER_S))
        return FAULT_NONE;
    if (fault == FAULT_TOKEN)
        m->token_rejected_at = now;
    if (fault != FAULT_NONE)
        m->faults_left--;
    return fault;
}

static void note_loss(struct cleura_model *m, const struct asked *a, enum fault fault, bool is_read,
                      int status)
{
    struct shoot_model *s = a->shoot;
    for (size_t i = 0; is_read && fault == FAULT_NONE && i < m->shoot_count; i++)
        if (!s || s == &m->shoots[i])
            m->shoots[i].unseen = false;
    m->written = is_read ? NULL : s;
    if (is_read || !s)
        return;
    if (loses_answer(fault)) {
        s->lost = s->unseen = true;
        s->deletion_lost = !*a->rest && !strcmp(a->method, "DELETE");
    } else if (fault == FAULT_NONE) {
        s->lost = s->lost && status == 409;
    }
}

struct canned_answer cleura_respond(void *ctx, const struct seen_request *request)
{
    struct cleura_model *m = ctx;
    bool is_read = !strcmp(request->method, "GET");
    enum fault fault = take_fault(m, request, is_read);
    struct asked a = {.method = request->method, .rest = ""};
    json_t *body CLEANUP_JSON = json_parse_lenient(request->body, strlen(request->body), NULL);
    a.body = body;
    if (strstr(request->url, SHOOTS))
        a.shoot = target_of(m, request->url, body, &a.rest);
    m->calls++;
    for (size_t i = 0; i < m->shoot_count; i++)
        cleura_follow(m, &m->shoots[i]);
    bool acts = fault == FAULT_NONE || fault == FAULT_GARBAGE || (loses_answer(fault) && m->fault_has_effect);
    cleura_trace(m, "    %s %s%s%s", request->method, strrchr(request->url, ':') + 2,
                 fault == FAULT_NONE ? "" : "  !! ", fault == FAULT_NONE ? "" : fault_names[fault]);
    struct canned_answer answer = {HTTP_ANSWERED, 500, NULL, NULL, 0};
    if (acts)
        answer = take(m, request, &a);
    if (acts && !is_read)
        cleura_trace(m, "        %d", answer.status);
    bool is_shoots = strstr(request->url, SHOOTS) != NULL;
    note_loss(m, &a, is_read && !is_shoots ? FAULT_5XX : fault, is_read, answer.status);
    return fault == FAULT_NONE ? answer : apply_fault(m, fault, request);
}
void cleura_add_strange(struct cleura_model *m, struct shoot_model *s, const char *version)
{
    assert_false(s->there);
    s->there = s->is_strange = true;
    s->life++;
    s->pending = s->wants_sleep = s->asleep = false;
    s->last_type = "Create";
    s->last_state = "Succeeded";
    s->last_at = s->made_at = m->d->world.now;
    (void)snprintf(s->version, sizeof(s->version), "%s", version);
    s->workers = json_array();
}

static bool is_quiet(struct cleura_model *m)
{
    bool quiet = true;
    for (size_t i = 0; i < m->shoot_count; i++) {
        cleura_follow(m, &m->shoots[i]);
        quiet = quiet && !m->shoots[i].pending;
    }
    const struct view_snapshot *s = view_enter(m->d->view);
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct operation *op = e->blob->subject;
        quiet = quiet && operation_status_is_final(op->status);
    }
    view_leave(m->d->view);
    return quiet;
}

void cleura_run_until_quiet(struct cleura_model *m, int64_t limit_us)
{
    const mono_us end = m->d->world.now + limit_us;
    m->faults_left = 0;
    cleura_trace(m, "  no more faults");
    while (!is_quiet(m) && m->d->world.now < end)
        running_run(m->d, 30 * US_PER_S);
    if (m->d->world.now >= end)
        cleura_violate(m, "it never became quiet");
}

void random_test_run(const struct random_test *test)
{
    char *one_name CLEANUP_FREE = mem_printf("%s_SEED", test->name);
    char *many_name CLEANUP_FREE = mem_printf("%s_SEEDS", test->name);
    const char *one = getenv(one_name), *many = getenv(many_name);
    unsigned failed = 0;
    running_silence_log();
    if (one) {
        assert_true(test->run(strtoull(one, NULL, 10), true));
        return;
    }
    const uint64_t last = many             ? strtoull(many, NULL, 10)
                          : getenv("FULL") ? test->seeds_in_full
                                           : test->seeds;
    for (uint64_t seed = 1; seed <= last; seed++)
        failed += !test->run(seed, false);
    for (size_t i = 0; i < test->more_count; i++)
        failed += !test->run(test->more[i], false);
    assert_int_equal(failed, 0);
}

void cleura_done(struct cleura_model *m)
{
    for (size_t i = 0; i < m->shoot_count; i++)
        json_decref(m->shoots[i].workers);
    free(m->answer);
}

void cleura_inject(struct cleura_model *m)
{
    m->fault = (enum fault)(1 + cleura_draw(m, FAULT_MAX_ - 1));
    m->faults_left = m->fault == FAULT_TOKEN ? 1 : 1 + (unsigned)cleura_draw(m, 4);
    m->fault_has_effect = cleura_chance(m, 60);
    m->fault_of_writes = cleura_chance(m, 60);
    cleura_trace(m, "  fault: %s, %u times%s", fault_names[m->fault], m->faults_left,
                 m->fault_has_effect ? ", with effect" : "");
}
