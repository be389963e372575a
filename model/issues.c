#include "model/issues.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "model/error_meanings.h"
#include "model/issues_private.h"
#include "model/phase_meaning.h"
#include "model/problem.h"

/* An operation that has run for this many times its usual time hangs. */
enum { HANGS_AFTER = 2 };
/* How long operations take of which too few have succeeded here. Creates take 10 to 15 minutes. */
#define USUAL_US (1800 * US_PER_S)

enum {
    CODES_SHOWN = 30,
    SHOWN_BYTES = 500 /* the limit in bytes of a value in an issue about drift */
};

/* A PATCH that changes nothing requests the spec again, and so corrects what differs from it. */
#define SPEC_AGAIN "{\"spec\":{}}"

static const char *const severity_names[ISSUE_SEVERITY_MAX_] = {"critical", "warning", "info"};
static const char *const source_names[ISSUE_SOURCE_MAX_] = {
    "cluster", "operation", "condition", "constraint", "drift", "version", "observation", "account", "project", "webhook"};

static int index_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; name && i < count; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

const char *issue_severity_name(int severity)
{
    return severity_names[severity];
}

int issue_severity_from_name(const char *name)
{
    return index_of(name, severity_names, ISSUE_SEVERITY_MAX_);
}

const char *issue_source_name(int source)
{
    return source_names[source];
}

int issue_source_from_name(const char *name)
{
    return index_of(name, source_names, ISSUE_SOURCE_MAX_);
}

static void issue_set_time(json_t *doc, const char *key, wall_us at)
{
    char text[TIME_TEXT_BYTES];
    json_set_str(doc, key, at ? time_rfc3339(at, false, text) : NULL);
}

json_t *issue_new(const struct issue_kind *kind, enum issue_severity severity, const struct issue_occurrence *o)
{
    const struct remedy *remedy = o->remedy.kind == REMEDY_NONE ? &kind->remedy : &o->remedy;
    json_t *doc = json_object();
    assert(severity < ISSUE_SEVERITY_MAX_);
    json_set_str(doc, "code", kind->code);
    json_set_str(doc, "severity", severity_names[severity]);
    json_set_str(doc, "source", kind->source);
    json_set_str(doc, "responsible", o->responsible ? o->responsible : kind->responsible);
    json_set_str(doc, "subject", o->subject);
    json_set_str(doc, "title", kind->title);
    json_set_str(doc, "description", o->description);
    json_set_str(doc, "action", o->action ? o->action : kind->action);
    json_set_take(doc, "remedy", remedy_to_json(remedy));
    issue_set_time(doc, "since", o->since);
    issue_set_time(doc, "expires_at", o->expires_at);
    json_set_str(doc, "target_version", o->target);
    json_set_str(doc, "operation_id", o->operation);
    json_set_take(doc, "codes", o->codes ? json_incref(o->codes) : json_array());
    return doc;
}

/* ---- the sum of all issues ---- */

enum issue_severity trouble_severity(const struct trouble *t)
{
    int severity = ISSUE_CRITICAL;
    while (severity < ISSUE_SEVERITY_MAX_ && !t->counts[severity])
        severity++;
    return (enum issue_severity)severity;
}

bool trouble_is_equal(const struct trouble *a, const struct trouble *b)
{
    bool same = a->until == b->until && mem_same_str(a->code, b->code) && mem_same_str(a->title, b->title);
    for (int i = 0; i < ISSUE_SEVERITY_MAX_; i++)
        same = same && a->counts[i] == b->counts[i] && a->since[i] == b->since[i];
    return same;
}

/* Microseconds since 1970 in a rank: enough for 36,000 years. */
#define RANK_ROOM (INT64_C(1) << 60)

/* An issue of unknown age counts as the newest of its severity. */
int64_t trouble_rank(enum issue_severity severity, wall_us since)
{
    return (int64_t)severity * RANK_ROOM + (since > 0 && since < RANK_ROOM ? since : RANK_ROOM - 1);
}

int trouble_severity_of_rank(int64_t rank)
{
    return (int)(rank / RANK_ROOM);
}

json_t *trouble_to_json(const struct trouble *t)
{
    if (!t->code)
        return NULL;
    json_t *doc = json_object();
    json_set_str(doc, "code", t->code);
    json_set_str(doc, "severity", severity_names[trouble_severity(t)]);
    json_set_str(doc, "title", t->title);
    issue_set_time(doc, "since", t->since[trouble_severity(t)]);
    return doc;
}

/* Times count in seconds, as they are shown. */
static void count(struct trouble *t, const struct issue_kind *kind, enum issue_severity severity, wall_us at)
{
    const wall_us since = at - at % US_PER_S;
    const enum issue_severity worst = trouble_severity(t);
    const bool is_older = since && (!t->since[severity] || since < t->since[severity]);
    if (severity < worst || (severity == worst && is_older)) {
        t->code = kind->code;
        t->title = kind->title;
    }
    if (is_older)
        t->since[severity] = since;
    if (t->counts[severity] < UINT16_MAX)
        t->counts[severity]++;
}

void issues_change_at(struct issues *in, wall_us at)
{
    if (at > in->now && at < in->trouble.until)
        in->trouble.until = at;
}

void issue_add(struct issues *in, const struct issue_kind *kind, enum issue_severity severity,
               const struct issue_occurrence *o)
{
    count(&in->trouble, kind, severity, o->since);
    if (in->found[severity])
        json_append_take(in->found[severity], issue_new(kind, severity, o));
    json_decref(o->codes);
}

/* ---- phase, errors, operations ---- */

static const struct issue_kind deletion_failed = {
    "deletion_failed",
    ISSUE_CRITICAL,
    "cluster",
    BY_USER,
    "The deletion failed",
    "Remove what blocks the deletion inside the cluster (finalizers, load balancers, volumes), then delete the "
    "cluster again.",
    {REMEDY_ACTION, "delete"}};
static const struct issue_kind cluster_failed = {"cluster_failed",
                                                 ISSUE_CRITICAL,
                                                 "cluster",
                                                 BY_USER,
                                                 "The last change failed, and Cleura does not try again",
                                                 "Correct what the description names, then retry.",
                                                 {REMEDY_ACTION, "retry"}};
static const struct issue_kind create_refused = {
    "create_refused",
    ISSUE_CRITICAL,
    "cluster",
    BY_USER,
    "The cluster was never created",
    "Correct the cause, then create the cluster again under the same name. To delete it removes this record.",
    {REMEDY_NONE, NULL}};
static const struct issue_kind cluster_retrying = {
    "cluster_retrying",
    ISSUE_WARNING,
    "cluster",
    BY_USER,
    "The last change failed, and Cleura tries again",
    "Wait: Cleura tries again by itself, usually for 12 hours. If the error remains, correct what the "
    "description names.",
    {REMEDY_WAIT, "Cleura tries again by itself."}};
static const struct issue_kind state_unknown = {
    "state_unknown",
    ISSUE_WARNING,
    "cluster",
    BY_CLEURA,
    "Cleura does not show the state of the cluster",
    "Wait: shootd asks again. Contact Cleura if the cluster does not come back.",
    {REMEDY_WAIT, "shootd asks Cleura again."}};
static const struct issue_kind upstream_error = {"upstream_error",
                                                 ISSUE_WARNING,
                                                 "cluster",
                                                 BY_CLEURA,
                                                 "Cleura reports an error",
                                                 NULL,
                                                 {REMEDY_WAIT, "Cleura goes on by itself."}};
static const struct issue_kind deletion_stuck = {
    "deletion_stuck",
    ISSUE_WARNING,
    "cluster",
    BY_USER,
    "The deletion does not end",
    "Remove what blocks the deletion inside the cluster: finalizers, load balancers, volumes. The deletion then "
    "goes on.",
    {REMEDY_WAIT, "The deletion goes on when nothing blocks it any more."}};
static const struct issue_kind operation_hangs = {
    "operation_hangs",
    ISSUE_WARNING,
    "operation",
    BY_CLEURA,
    "An operation takes more than twice its usual time",
    "Read the operation's message and the cluster's other issues. Cancel the operation to stop its further "
    "steps; contact Cleura if the work at Cleura does not go on.",
    {REMEDY_NONE, NULL}};
static const struct issue_kind operation_failed = {"operation_failed",
                                                   ISSUE_WARNING,
                                                   "operation",
                                                   BY_USER,
                                                   "The last operation failed",
                                                   "Correct the cause, then request the operation again.",
                                                   {REMEDY_NONE, NULL}};

/* The advice of most errors is for the user. */
static const char *actor_of_error(const json_t *error)
{
    switch (problem_from_name(json_str(error, "code"))) {
    case PROBLEM_UPSTREAM_FORBIDDEN:
    case PROBLEM_UPSTREAM_LOGIN_FAILED:
    case PROBLEM_STORE_UNAVAILABLE:
    case PROBLEM_INTERNAL_ERROR:
        return BY_OPERATOR;
    default:
        return BY_USER;
    }
}

void issue_add_codes(json_t *codes, const json_t *more)
{
    size_t i, j;
    json_t *code, *known;
    json_array_foreach (more, i, code) {
        bool is_new = json_is_string(code) && json_array_size(codes) < CODES_SHOWN;
        json_array_foreach (codes, j, known)
            is_new = is_new && !json_equal(known, code);
        if (is_new)
            json_append_take(codes, json_string(json_string_value(code)));
    }
}

static json_t *codes_of_errors(const struct shoot *s)
{
    json_t *codes = json_array();
    size_t i;
    json_t *error;
    if (s)
        json_array_foreach (json_doc_tree(s->last_errors), i, error)
            issue_add_codes(codes, json_arr(error, "codes"));
    return codes;
}

/* Returns the first code about which something is known, else the first code, or NULL. */
static const char *code_to_act_on(const json_t *codes)
{
    size_t i;
    json_t *code;
    json_array_foreach (codes, i, code)
        if (*model_error_meaning(json_string_value(code))->code)
            return json_string_value(code);
    return json_string_value(json_array_get(codes, 0));
}

/* Whether the phase itself is the issue. The errors of Cleura and the failed operation are then parts of the
 * same issue. */
static const struct issue_kind *kind_of_phase(const struct cluster *c)
{
    if (c->phase == PHASE_RETRYING)
        return &cluster_retrying;
    if (c->phase == PHASE_UNKNOWN)
        return &state_unknown;
    if (c->phase != PHASE_FAILED)
        return NULL;
    if (!c->shoot && !c->upstream_exists)
        return &create_refused;
    return shoot_is_deletion(c->shoot) ? &deletion_failed : &cluster_failed;
}

/* What Cleura says about the phase. The message of the cluster may be about a worse condition. */
static const char *said_about_phase(const struct cluster *c)
{
    return c->shoot && c->shoot->description && c->phase != PHASE_UNKNOWN ? c->shoot->description : c->message;
}

/* Whether the last operation of shootd failed with the text that Cleura shows, or has not ended because of
 * it. Another operation may have failed for another reason: that is another issue. */
static bool is_of_operation(const struct issues *in)
{
    const struct operation *op = in->op;
    if (!op || op->status != OPERATION_FAILED)
        return op && !operation_status_is_final(op->status);
    return !in->cluster->shoot || mem_same_str(json_str(op->error, "detail"), said_about_phase(in->cluster));
}

struct remedy issue_remedy(const struct issues *in, struct remedy remedy)
{
    return !in->managed && remedy_can_be_done(&remedy) ? (struct remedy){REMEDY_CONTACT, BY_CLEURA} : remedy;
}

static void look_at_phase(struct issues *in)
{
    const struct cluster *c = in->cluster;
    const struct operation *op = in->op;
    const struct issue_kind *kind = kind_of_phase(c);
    if (!kind)
        return;
    const bool is_over = c->phase == PHASE_FAILED;
    json_t *codes = codes_of_errors(c->shoot);
    const char *code = code_to_act_on(codes);
    const struct error_meaning *meaning = model_error_meaning(code);
    char *action CLEANUP_FREE = *meaning->code && kind != &deletion_failed && kind != &state_unknown
                                    ? model_error_action(meaning, is_over)
                                    : NULL;
    const char *responsible = kind == &create_refused && op ? actor_of_error(op->error) : NULL;
    issue_add(in, kind, (enum issue_severity)phase_meaning(c->phase, c->health)->severity,
              &(struct issue_occurrence){
                  .subject = code,
                  .description = said_about_phase(c),
                  .action = action,
                  .responsible = *meaning->code ? model_error_actor(meaning, is_over) : responsible,
                  .since = c->shoot && c->shoot->operation_at ? c->shoot->operation_at : c->trouble_since,
                  .operation = is_of_operation(in) ? op->id : NULL,
                  .remedy = issue_remedy(in, kind->remedy),
                  .codes = codes});
}

/*
 * An error of Cleura is one issue for each of its codes, with the same description. These issues are made
 * only when they are read. Until then, the error is kept as one entry {severity, since, last_error}.
 */
static void hold_error(struct issues *in, const json_t *last_error)
{
    const size_t codes = json_array_size(json_arr(last_error, "codes"));
    const enum issue_severity severity = ISSUE_WARNING;
    wall_us since = 0;
    if (!time_parse_rfc3339(json_str_or(last_error, "updated_at", ""), &since))
        since = in->cluster->shoot->operation_at;
    json_t *entry = json_object(), *error = json_object();
    json_set_str(error, "description", json_str(last_error, "description"));
    json_set_take(error, "codes", json_deep_copy(json_arr(last_error, "codes")));
    json_set_str(entry, "severity", severity_names[severity]);
    json_set_int(entry, "since", since);
    json_set_take(entry, "last_error", error);
    json_append_take(in->found[severity], entry);
    for (size_t i = 0; i < (codes ? codes : 1); i++)
        count(&in->trouble, &upstream_error, severity, since);
}

static void hold_errors(struct issues *in)
{
    size_t i;
    json_t *last_error;
    if (in->cluster->shoot && !kind_of_phase(in->cluster))
        json_array_foreach (json_doc_tree(in->cluster->shoot->last_errors), i, last_error)
            hold_error(in, last_error);
}

static void look_at_error(struct issues *in, enum issue_severity severity, const json_t *held)
{
    json_t *faults CLEANUP_JSON = json_array();
    size_t i;
    json_t *fault;
    model_append_errors(faults, json_obj(held, "last_error"), false);
    json_array_foreach (faults, i, fault)
        issue_add(in, &upstream_error, severity,
                  &(struct issue_occurrence){.subject = json_str(fault, "code"),
                                             .description = json_str(fault, "description"),
                                             .action = json_str(fault, "action"),
                                             .responsible =
                                                 model_error_meaning(json_str(fault, "code"))->responsible,
                                             .since = json_int(held, "since", 0),
                                             .codes = json_pack("[s]", json_str(fault, "code"))});
}

static void look_at_open(struct issues *in, const json_t *open)
{
    const wall_us hangs_at = json_int(open, "hangs_at", 0);
    const char *id = json_str(open, "operation"), *type = json_str(open, "type");
    if (!open)
        return;
    issues_change_at(in, hangs_at + 1);
    if (in->now <= hangs_at)
        return;
    const bool is_deletion = !strcmp(type, operation_type_name(OPERATION_DELETE));
    char *description CLEANUP_FREE = mem_printf("%s: %s", type, json_str_or(open, "message", "no message"));
    issue_add(in, is_deletion ? &deletion_stuck : &operation_hangs, ISSUE_WARNING,
              &(struct issue_occurrence){.subject = id,
                                         .description = description,
                                         .since = hangs_at,
                                         .operation = id,
                                         .remedy = is_deletion ? deletion_stuck.remedy
                                                               : (struct remedy){REMEDY_CANCEL, id}});
}

/* To request the same again is a remedy when the cause was corrected. */
static struct remedy remedy_of_operation(const struct operation *op)
{
    if (!strcmp(actor_of_error(op->error), BY_OPERATOR))
        return (struct remedy){REMEDY_CONTACT, BY_OPERATOR};
    if (op->type == OPERATION_CREATE || op->type == OPERATION_UPDATE)
        return (struct remedy){REMEDY_PATCH, SPEC_AGAIN};
    return (struct remedy){REMEDY_ACTION, operation_type_name(op->type)};
}

static void look_at_operation(struct issues *in)
{
    const struct operation *op = in->op;
    if (!op || op->status != OPERATION_FAILED || (kind_of_phase(in->cluster) && is_of_operation(in)))
        return;
    char *description CLEANUP_FREE = mem_printf("%s: %s", operation_type_name(op->type),
                                                json_str_or(op->error, "detail", "no reason is known"));
    issue_add(in, &operation_failed, ISSUE_WARNING,
              &(struct issue_occurrence){.subject = op->id,
                                         .description = description,
                                         .responsible = actor_of_error(op->error),
                                         .since = op->finished_at,
                                         .operation = op->id,
                                         .remedy = issue_remedy(in, remedy_of_operation(op))});
}

/* ---- drift and age ---- */

static const struct issue_kind drift = {
    "drift",
    ISSUE_WARNING,
    "drift",
    BY_USER,
    "The cluster differs from its spec",
    "Request the spec again to correct the cluster, or change the spec to the present state.",
    {REMEDY_PATCH, SPEC_AGAIN}};
static const struct issue_kind observation_stale = {
    "observation_stale",
    ISSUE_WARNING,
    "observation",
    BY_OPERATOR,
    "What Cleura says about the cluster cannot be read",
    "Look into shootd's log for the name of the cluster; reading goes on by itself.",
    {REMEDY_CONTACT, BY_OPERATOR}};

static char *text_of_member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    char *text CLEANUP_FREE = value ? json_text(value) : mem_strdup("nothing");
    return utf8_cut_copy(text, SHOWN_BYTES);
}

static void look_at_drift(struct issues *in)
{
    size_t i;
    json_t *difference;
    json_array_foreach (in->cluster->drift, i, difference) {
        char *wanted CLEANUP_FREE = text_of_member(difference, "wanted");
        char *found CLEANUP_FREE = text_of_member(difference, "found");
        char *description CLEANUP_FREE = mem_printf("wanted %s, found %s", wanted, found);
        issue_add(
            in, &drift, ISSUE_WARNING,
            &(struct issue_occurrence){.subject = json_str(difference, "path"), .description = description});
    }
}

static void look_at_age(struct issues *in)
{
    if (in->facts->is_unread)
        issue_add(
            in, &observation_stale, ISSUE_WARNING,
            &(struct issue_occurrence){.description = "All values are those of the last successful read.",
                                       .since = in->facts->observed_at});
}

/* ---- all together ---- */

static struct issues issues_begin(wall_us now, bool managed)
{
    return (struct issues){.now = now,
                           .managed = managed,
                           .trouble = {.until = INT64_MAX},
                           .found = {json_array(), json_array(), json_array()}};
}

struct aged {
    const char *since;
    size_t at;
    json_t *issue;
};

/* The oldest first; those of unknown age last. Equal ones keep their order. */
static int by_age(const void *a, const void *b)
{
    const struct aged *x = a, *y = b;
    const int sign = strcmp(x->since, y->since);
    return sign ? sign : (x->at > y->at) - (x->at < y->at);
}

static json_t *sorted_by_age(json_t *issues)
{
    const size_t count = json_array_size(issues);
    struct aged *rows CLEANUP_FREE = mem_calloc(count + 1, sizeof(*rows));
    json_t *sorted = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *issue = json_array_get(issues, i);
        rows[i] = (struct aged){json_str_or(issue, "since", "~"), i, issue};
    }
    qsort(rows, count, sizeof(*rows), by_age);
    for (size_t i = 0; i < count; i++)
        json_append_take(sorted, json_incref(rows[i].issue));
    json_decref(issues);
    return sorted;
}

static json_t *issues_end(struct issues *in)
{
    for (int severity = ISSUE_WARNING; severity < ISSUE_SEVERITY_MAX_; severity++) {
        (void)json_array_extend(in->found[ISSUE_CRITICAL], in->found[severity]);
        json_decref(in->found[severity]);
    }
    return in->found[ISSUE_CRITICAL];
}

/* Searches the text of the document, because the document may not be parsed. */
static bool has_findings(const struct json_doc *checks)
{
    return checks && (strstr(checks->text, "\"False\"") || strstr(checks->text, "\"Unknown\""));
}

/* Whether a cluster can have lasting issues, without parsing its documents. */
static bool issues_are_possible(const struct cluster *c, const struct operation *op)
{
    const struct shoot *s = c->shoot;
    return kind_of_phase(c) || json_array_size(c->drift) > 0 ||
           (op && op->status == OPERATION_FAILED) ||
           (s && ((s->last_errors && s->last_errors->len > strlen("[]")) || has_findings(s->conditions) ||
                  has_findings(s->constraints)));
}

static void look_at_lasting(struct issues *in)
{
    look_at_phase(in);
    hold_errors(in);
    look_at_operation(in);
    issues_of_conditions(in);
    look_at_drift(in);
}

/* Returns the present step of an open operation as an object, with the time from which it hangs. While Cleura
 * has nothing to do for it, it does not hang: it waits. */
static json_t *open_operation(const struct cluster *c, const struct operation *op, int64_t usual_us)
{
    const wall_us began = op && op->step_count ? op->steps[0].started_at : 0;
    if (!began || operation_status_is_final(op->status))
        return NULL;
    json_t *open = json_object();
    json_set_str(open, "operation", op->id);
    json_set_str(open, "type", operation_type_name(op->type));
    json_set_str(open, "message", op->message ? op->message : c->message);
    json_set_int(open, "hangs_at", began + HANGS_AFTER * (usual_us ? usual_us : USUAL_US));
    return open;
}

/* What is not lasting: the same for a reader, and for the sum when the cluster is shown. */
static void look_at_passing(struct issues *in, const json_t *open, const json_t *catalog)
{
    const struct issue_facts *f = in->facts;
    const struct shoot shoot = {.kubernetes_version = (char *)(uintptr_t)f->kubernetes_version,
                                .images = f->images};
    look_at_open(in, open);
    if (f->phase != PHASE_DELETING)
        versions_in_use(&shoot, catalog, issue_of_version, in);
    look_at_age(in);
}

/* Counts the issues that are not lasting. */
static void count_passing(struct issues *in, const json_t *open, const struct issue_world *world)
{
    const struct cluster *c = in->cluster;
    const struct issue_facts facts = {.phase = c->phase,
                                      .managed = c->managed,
                                      .is_unread = world->is_unread,
                                      .kubernetes_version = c->shoot ? c->shoot->kubernetes_version : NULL,
                                      .images = c->shoot ? c->shoot->images : NULL,
                                      .observed_at = c->observed_at};
    struct issues only = {.facts = &facts, .managed = c->managed, .now = in->now, .trouble = in->trouble};
    look_at_passing(&only, open, world->catalog);
    in->trouble = only.trouble;
}

json_t *issues_prepare(const struct cluster *c, const struct operation *op, const struct issue_world *world,
                       struct trouble *ret)
{
    struct issues in = issues_begin(world->now, c->managed);
    in.cluster = c;
    in.op = op;
    if (issues_are_possible(c, op))
        look_at_lasting(&in);
    json_t *lasting = issues_end(&in), *open = open_operation(c, op, world->usual_us);
    count_passing(&in, open, world);
    *ret = in.trouble;
    json_t *prepared = json_array_size(lasting) || open ? json_object() : NULL;
    if (prepared) {
        json_set_take(prepared, "lasting", json_incref(lasting));
        json_set_take(prepared, "open", json_incref(open));
    }
    json_decref(lasting);
    json_decref(open);
    return prepared;
}

static void take_lasting(struct issues *in, const json_t *lasting)
{
    size_t i;
    json_t *issue;
    json_array_foreach (lasting, i, issue) {
        const int severity = issue_severity_from_name(json_str(issue, "severity"));
        assert(severity >= 0);
        if (json_obj(issue, "last_error"))
            look_at_error(in, (enum issue_severity)severity, issue);
        else
            (void)json_array_append(in->found[severity], issue);
    }
}

static void add_deeds(json_t *issues, const struct issue_facts *f)
{
    size_t i;
    json_t *issue;
    json_array_foreach (issues, i, issue)
        remedy_add_deed(json_obj(issue, "remedy"), f->project, f->name);
}

json_t *issues_of(const struct issue_facts *f, const json_t *catalog, wall_us now)
{
    json_t *prepared CLEANUP_JSON = f->prepared ? json_loads(f->prepared, 0, NULL) : NULL;
    assert(prepared || !f->prepared);
    struct issues in = issues_begin(now, f->managed);
    in.facts = f;
    take_lasting(&in, json_arr(prepared, "lasting"));
    look_at_passing(&in, json_obj(prepared, "open"), catalog);
    for (int severity = 0; severity < ISSUE_SEVERITY_MAX_; severity++)
        in.found[severity] = sorted_by_age(in.found[severity]);
    json_t *issues = issues_end(&in);
    add_deeds(issues, f);
    return issues;
}
