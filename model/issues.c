#include "model/issues.h"

#include <assert.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "model/error_meanings.h"
#include "model/expiry.h"
#include "model/issues_private.h"
#include "model/problem.h"
#include "model/spec.h"

#define DAY_US            (24 * 3600 * US_PER_S)
#define DELETION_STUCK_US (3600 * US_PER_S)

enum {
    SOON_DAYS = 30,
    LATER_DAYS = 90,
    CODES_SHOWN = 30,
    SHOWN_BYTES = 500 /* the limit in bytes of a value in an issue about drift */
};

static const char *const severity_names[ISSUE_SEVERITY_MAX_] = {"critical", "warning", "info"};
static const char *const source_names[ISSUE_SOURCE_MAX_] = {
    "cluster", "operation", "condition", "constraint", "drift", "version", "observation"};

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

void issue_add(struct issues *in, const struct issue_kind *kind, enum issue_severity severity,
               const struct issue_occurrence *o)
{
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
    issue_set_time(doc, "since", o->since);
    issue_set_time(doc, "expires_at", o->expires_at);
    json_set_str(doc, "target_version", o->target);
    json_set_str(doc, "operation_id", o->operation);
    json_set_take(doc, "codes", o->codes ? o->codes : json_array());
    json_append_take(in->found[severity], doc);
}

/* ---- phase, errors, operations ---- */

static const struct issue_kind deletion_failed = {
    "deletion_failed",
    ISSUE_CRITICAL,
    "cluster",
    BY_USER,
    "The deletion failed",
    "Remove the objects inside the cluster that block the deletion "
    "(finalizers, load balancers, volumes), then DELETE it again."};
static const struct issue_kind cluster_failed = {
    "cluster_failed",
    ISSUE_CRITICAL,
    "cluster",
    BY_USER,
    "Cleura reports a failure and does not try again",
    "Correct what the description names, then POST .../actions/retry or change the spec."};
static const struct issue_kind create_refused = {
    "create_refused",
    ISSUE_CRITICAL,
    "cluster",
    BY_USER,
    "The cluster was never created",
    "Correct the error of the failed operation, then create the cluster again: PUT, or POST with the same "
    "name, which replaces this record; DELETE removes it."};
static const struct issue_kind cluster_retrying = {
    "cluster_retrying",
    ISSUE_WARNING,
    "cluster",
    BY_USER,
    "Cleura reports an error and tries again",
    "Wait: Cleura tries again by itself, usually for 12 hours. If the error remains, correct what the "
    "description names."};
static const struct issue_kind upstream_error = {
    "upstream_error", ISSUE_WARNING, "cluster", BY_CLEURA, "Cleura reports an error", NULL};
static const struct issue_kind deletion_stuck = {
    "deletion_stuck",
    ISSUE_WARNING,
    "cluster",
    BY_USER,
    "The deletion does not end",
    "Remove the objects inside the cluster that block the deletion: finalizers, load balancers, volumes. The "
    "deletion then continues."};
static const struct issue_kind operation_failed = {
    "operation_failed", ISSUE_WARNING, "operation", BY_USER, "The last operation failed", NULL};

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
    if (c->phase != PHASE_FAILED)
        return NULL;
    if (!c->shoot && !c->upstream_exists)
        return &create_refused;
    return shoot_is_deletion(c->shoot) ? &deletion_failed : &cluster_failed;
}

/* Whether the last operation of shootd failed with the text that the cluster shows, or has not ended because
 * of it. Another operation may have failed for another reason: that is another issue. */
static bool is_of_operation(const struct issues *in)
{
    const struct operation *op = in->op;
    if (!op || op->status != OPERATION_FAILED)
        return op && !operation_status_is_final(op->status);
    return !in->cluster->shoot || mem_same_str(json_str(op->error, "detail"), in->cluster->message);
}

static void look_at_phase(struct issues *in)
{
    const struct cluster *c = in->cluster;
    const struct operation *op = in->op;
    const struct issue_kind *kind = kind_of_phase(c);
    if (!kind)
        return;
    json_t *codes = codes_of_errors(c->shoot);
    const char *code = code_to_act_on(codes);
    const struct error_meaning *meaning = model_error_meaning(code);
    char *action CLEANUP_FREE = *meaning->code && kind != &deletion_failed
                                    ? model_error_action(meaning, c->phase == PHASE_FAILED)
                                    : NULL;
    const char *responsible = kind == &create_refused && op ? actor_of_error(op->error) : NULL;
    issue_add(in, kind, kind->severity,
              &(struct issue_occurrence){
                  .subject = code,
                  .description = c->message,
                  .action = action,
                  .responsible =
                      *meaning->code ? model_error_actor(meaning, c->phase == PHASE_FAILED) : responsible,
                  .since = c->shoot ? c->shoot->operation_at : 0,
                  .operation = is_of_operation(in) ? op->id : NULL,
                  .codes = json_incref(codes)});
    json_decref(codes);
}

/*
 * An error of Cleura is one issue for each of its codes, with the same description. These issues are made
 * only when they are read. Until then, the error is kept as one entry {severity, since, last_error}.
 */
static void hold_error(struct issues *in, const json_t *last_error)
{
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

static void look_at_deletion(struct issues *in, const json_t *deletion)
{
    const wall_us since = json_int(deletion, "since", 0);
    if (deletion && in->now - since > DELETION_STUCK_US)
        issue_add(in, &deletion_stuck, ISSUE_WARNING,
                  &(struct issue_occurrence){.subject = json_str(deletion, "operation"),
                                             .description = json_str(deletion, "message"),
                                             .since = since,
                                             .operation = json_str(deletion, "operation")});
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
                                         .action = json_str_or(op->error, "advice", "Repeat the operation."),
                                         .responsible = actor_of_error(op->error),
                                         .since = op->finished_at,
                                         .operation = op->id});
}

/* ---- drift and age ---- */

static const struct issue_kind drift = {
    "drift",
    ISSUE_WARNING,
    "drift",
    BY_USER,
    "The cluster differs from its spec",
    "PUT the spec again to correct the cluster, or PUT a spec that equals the present state."};
static const struct issue_kind observation_stale = {
    "observation_stale",
    ISSUE_WARNING,
    "observation",
    BY_OPERATOR,
    "Cleura could not be read recently",
    "GET /v1/projects/{project} shows the reason under upstream; "
    "reading continues by itself when Cleura answers."};

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
    if (in->facts->stale)
        issue_add(
            in, &observation_stale, ISSUE_WARNING,
            &(struct issue_occurrence){.description = "All values are those of the last successful read.",
                                       .since = in->facts->observed_at});
}

/* ---- versions ---- */

static const struct issue_kind version_expired = {
    "version_expired", ISSUE_CRITICAL, "version", BY_USER, "A version in use has expired", NULL};
static const struct issue_kind version_expiring = {
    "version_expiring", ISSUE_WARNING, "version", BY_USER, "A version in use expires soon", NULL};
static const struct issue_kind version_deprecated = {
    "version_deprecated", ISSUE_INFO, "version", BY_USER, "A version in use is deprecated", NULL};
static const struct issue_kind version_not_offered = {
    "version_not_offered", ISSUE_INFO, "version", BY_USER, "A version in use is no longer offered", NULL};

/* Returns the newest supported version to which the cluster can be upgraded: of the same minor version if
 * possible, otherwise of the next minor version. NULL: there is none. */
static const char *issue_target_of(const struct version_in_use *v, wall_us now)
{
    char line[VERSION_LINE_BYTES];
    const char *target;
    if (strcmp(v->component, COMPONENT_KUBERNETES) != 0) {
        target = version_newest(v->offers, NULL, now);
        return target && version_compare(target, v->version) > 0 ? target : NULL;
    }
    version_minor(v->version, line);
    target = version_newest(v->offers, line, now);
    if (target && version_compare(target, v->version) > 0)
        return target;
    version_next_minor(v->version, line);
    return version_newest(v->offers, line, now);
}

static char *version_action(const struct issues *in, const struct version_in_use *v, const char *target)
{
    bool is_kubernetes = !strcmp(v->component, COMPONENT_KUBERNETES);
    bool by_itself = is_kubernetes ? in->facts->updates_kubernetes : in->facts->updates_images;
    const char *adopt = in->facts->managed ? "" : " after adopting the cluster with PUT";
    if (!target)
        return mem_strdup("The catalog offers no version to upgrade to: contact Cleura.");
    return mem_printf("Set %s to %s%s%s.",
                      is_kubernetes ? "spec.kubernetes_version" : "image.version of the pools", target, adopt,
                      by_itself ? "; or let Cleura do it in the next maintenance window" : "");
}

static const struct issue_kind *version_kind(const struct version_in_use *v, wall_us now,
                                             enum issue_severity *ret_severity)
{
    int64_t days = v->expires_at ? (v->expires_at - now) / DAY_US : INT64_MAX;
    *ret_severity = ISSUE_INFO;
    if (!v->entry)
        return v->offers ? &version_not_offered : NULL;
    if (version_is_expired(v->entry, now)) {
        *ret_severity = ISSUE_CRITICAL;
        return &version_expired;
    }
    if (days < LATER_DAYS) {
        *ret_severity = days < SOON_DAYS ? ISSUE_WARNING : ISSUE_INFO;
        return &version_expiring;
    }
    return strcmp(json_str_or(v->entry, "state", ""), "deprecated") ? NULL : &version_deprecated;
}

static void look_at_version(void *ctx, const struct version_in_use *v)
{
    struct issues *in = ctx;
    enum issue_severity severity;
    const struct issue_kind *kind = version_kind(v, in->now, &severity);
    if (!kind)
        return;
    const char *target = issue_target_of(v, in->now);
    char *subject CLEANUP_FREE = mem_printf("%s %s", v->component, v->version);
    char *action CLEANUP_FREE = version_action(in, v, target);
    bool is_over = v->expires_at && v->expires_at <= in->now;
    issue_add(in, kind, severity,
              &(struct issue_occurrence){
                  .subject = subject,
                  .description = is_over
                                     ? "Cleura may upgrade the cluster by force at any time."
                                     : "After this version expires, Cleura upgrades the cluster by force.",
                  .action = action,
                  .since = is_over ? v->expires_at : 0,
                  .expires_at = v->expires_at,
                  .target = target});
}

/* ---- all together ---- */

static struct issues issues_begin(void)
{
    return (struct issues){.found = {json_array(), json_array(), json_array()}};
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
    return c->phase == PHASE_FAILED || c->phase == PHASE_RETRYING || json_array_size(c->drift) > 0 ||
           (op && op->status == OPERATION_FAILED) ||
           (s && ((s->last_errors && s->last_errors->len > strlen("[]")) || has_findings(s->conditions) ||
                  has_findings(s->constraints)));
}

static json_t *lasting_issues(const struct cluster *c, const struct operation *op)
{
    struct issues in = issues_begin();
    in.cluster = c;
    in.op = op;
    look_at_phase(&in);
    hold_errors(&in);
    look_at_operation(&in);
    issues_of_conditions(&in);
    look_at_drift(&in);
    return issues_end(&in);
}

static json_t *open_deletion(const struct cluster *c, const struct operation *op)
{
    if (c->phase != PHASE_DELETING || !op || op->type != OPERATION_DELETE ||
        operation_status_is_final(op->status))
        return NULL;
    json_t *deletion = json_object();
    json_set_str(deletion, "operation", op->id);
    json_set_str(deletion, "message", c->message);
    json_set_int(deletion, "since", op->created_at);
    return deletion;
}

json_t *issues_prepare(const struct cluster *c, const struct operation *op)
{
    json_t *lasting = issues_are_possible(c, op) ? lasting_issues(c, op) : NULL;
    json_t *deletion = open_deletion(c, op);
    json_t *prepared = json_array_size(lasting) || deletion ? json_object() : NULL;
    if (prepared) {
        json_set_take(prepared, "lasting", json_incref(lasting));
        json_set_take(prepared, "deletion", json_incref(deletion));
    }
    json_decref(lasting);
    json_decref(deletion);
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

json_t *issues_of(const struct issue_facts *f, const json_t *catalog, wall_us now)
{
    json_t *prepared CLEANUP_JSON = f->prepared ? json_loads(f->prepared, 0, NULL) : NULL;
    assert(prepared || !f->prepared);
    const struct shoot shoot = {.kubernetes_version = (char *)(uintptr_t)f->kubernetes_version,
                                .images = f->images};
    struct issues in = issues_begin();
    in.facts = f;
    in.now = now;
    take_lasting(&in, json_arr(prepared, "lasting"));
    look_at_deletion(&in, json_obj(prepared, "deletion"));
    if (f->phase != PHASE_DELETING)
        versions_in_use(&shoot, catalog, look_at_version, &in);
    look_at_age(&in);
    return issues_end(&in);
}

/* ---- a quick check ---- */

struct version_search {
    wall_us now;
    bool found;
};

static void note_version(void *ctx, const struct version_in_use *v)
{
    struct version_search *look = ctx;
    enum issue_severity ignored;
    look->found |= version_kind(v, look->now, &ignored) != NULL;
}

bool issues_of_versions(const char *kubernetes, char **images, const json_t *catalog, wall_us now)
{
    struct version_search look = {now, false};
    const struct shoot shoot = {.kubernetes_version = (char *)(uintptr_t)kubernetes, .images = images};
    versions_in_use(&shoot, catalog, note_version, &look);
    return look.found;
}
