#include "model/problem.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/error_meanings.h"

static const struct problem_kind kinds[] = {
#define X(id, code, status, title, responsible, advice) \
    [PROBLEM_##id] = {code, status, title, RESPONSIBLE_##responsible, advice},
    PROBLEM_TABLE(X)
#undef X
};

/* The types that are registered for some of these problems (HT-44); all other types are /problems/{code}. */
static const char *const registered_types[PROBLEM_MAX_] = {
    [PROBLEM_REQUEST_QUOTA_EXCEEDED] = "https://iana.org/assignments/http-problem-types#quota-exceeded",
    [PROBLEM_OVERLOADED] = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
};

static const char *const responsible_names[] = {
    [RESPONSIBLE_USER] = BY_USER, [RESPONSIBLE_OPERATOR] = BY_OPERATOR, [RESPONSIBLE_CLEURA] = BY_CLEURA};

static const char *const place_names[] = {
    [FAULT_AT_BODY] = "pointer", [FAULT_AT_QUERY] = "parameter", [FAULT_AT_HEADER] = "header"};

const struct problem_kind *problem_kind(enum problem_code code)
{
    return &kinds[code];
}

int problem_from_name(const char *code)
{
    for (int i = 0; code && i < PROBLEM_MAX_; i++)
        if (!strcmp(kinds[i].code, code))
            return i;
    return -1;
}

struct problem *problem_new(enum problem_code code, const char *detail, ...)
{
    struct problem *p = MEM_NEW(struct problem);
    va_list args;
    va_start(args, detail);
    if (vasprintf(&p->detail, detail, args) < 0)
        abort();
    va_end(args);
    size_t len = utf8_cut(p->detail, PROBLEM_TEXT_MAX); /* cut, and made printable below, because the text may
                                                         * quote Cleura or the caller */
    (void)printable_write(p->detail, len + 1, p->detail, len);
    p->code = code;
    return p;
}

/* The limit of names in texts. Names of objects are shorter; longer ones are cut. */
enum { NAME_SHOWN_MAX = 64 };

struct problem *problem_no_project(const char *project)
{
    struct problem *p =
        problem_new(PROBLEM_PROJECT_NOT_FOUND, "There is no project '%.*s' that the token may see.",
                    (int)utf8_cut(project, NAME_SHOWN_MAX), project);
    p->is_of_path = true;
    return p;
}

struct problem *problem_no_cluster(const char *project, const char *name)
{
    struct problem *p = problem_new(
        PROBLEM_CLUSTER_NOT_FOUND, "There is no cluster '%.*s' in project '%.*s'.",
        (int)utf8_cut(name, NAME_SHOWN_MAX), name, (int)utf8_cut(project, NAME_SHOWN_MAX), project);
    p->is_of_path = true;
    return p;
}

void problem_add_sentence(struct problem *p, const char *format, ...)
{
    char *sentence CLEANUP_FREE = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&sentence, format, args) < 0)
        abort();
    va_end(args);
    char *before CLEANUP_FREE = p->detail;
    p->detail = mem_printf("%s %s", before, sentence);
    size_t len = utf8_cut(p->detail, PROBLEM_TEXT_MAX);
    (void)printable_write(p->detail, len + 1, p->detail, len);
}

struct problem *problem_passing(enum problem_code code, int retry_after_s, const char *detail)
{
    struct problem *p = problem_new(code, "%s", detail);
    p->retry_after_s = retry_after_s;
    return p;
}

void problem_retry_in(struct problem *p, int64_t us)
{
    const int64_t seconds = us < 0 ? 1 : us / US_PER_S + 1;
    p->retry_after_s = seconds < INT_MAX ? (int)seconds : INT_MAX;
}

struct problem *problem_copy(const struct problem *p)
{
    assert(!p->faults && !p->extra && !p->field);
    return problem_passing(p->code, p->retry_after_s, p->detail);
}

void problem_set_field(struct problem *p, const char *name, const char *value)
{
    free(p->field_value);
    p->field = name;
    p->field_value = mem_strdup(value);
}

void problem_free(struct problem *p)
{
    if (!p)
        return;
    free(p->detail);
    free(p->field_value);
    json_decref(p->faults);
    json_decref(p->extra);
    free(p);
}

bool problem_is_full(const struct problem *p)
{
    return p && json_array_size(p->faults) >= PROBLEM_MAX_FAULTS;
}

void problem_add_fault(struct problem **p, enum problem_code code, enum fault_place place, const char *where,
                       const char *fault_code, json_t *valid, const char *detail, ...)
{
    json_t *taken CLEANUP_JSON = valid;
    char *text CLEANUP_FREE = NULL;
    if (problem_is_full(*p))
        return;
    va_list args;
    va_start(args, detail);
    if (vasprintf(&text, detail, args) < 0)
        abort();
    va_end(args);
    text[utf8_cut(text, PROBLEM_TEXT_MAX)] = '\0';
    (void)printable_write(text, strlen(text) + 1, text, strlen(text));
    char *place_text CLEANUP_FREE = utf8_cut_copy(where, PROBLEM_TEXT_MAX);
    if (!*p)
        *p = problem_new(code, "%s: %s", place_text, text);
    if (!(*p)->faults)
        (*p)->faults = json_array();
    json_t *fault = json_object();
    json_set_str(fault, place_names[place], place_text);
    json_set_str(fault, "code", fault_code);
    json_set_str(fault, "detail", text);
    if (taken)
        json_set_take(fault, "valid", json_deep_copy(taken)); /* the values are copied, because problems move
                                                               * between threads */
    json_append_take((*p)->faults, fault);
}

static void add_details(json_t *object, const struct problem *p)
{
    json_set_str(object, "detail", p->detail);
    json_set_str(object, "responsible", responsible_names[kinds[p->code].responsible]);
    json_set_str(object, "advice", kinds[p->code].advice);
    if (p->faults)
        json_set_take(object, "errors", json_incref(p->faults));
    if (p->extra)
        (void)json_object_update_missing(object, p->extra);
}

static void set_type(json_t *object, enum problem_code code)
{
    char *own CLEANUP_FREE = mem_printf("/problems/%s", kinds[code].code);
    json_set_str(object, "type", registered_types[code] ? registered_types[code] : own);
}

json_t *problem_kind_to_json(enum problem_code code)
{
    const struct problem_kind *kind = &kinds[code];
    json_t *row = json_object();
    set_type(row, code);
    json_set_str(row, "code", kind->code);
    json_set_str(row, "title", kind->title);
    json_set_int(row, "status", kind->status);
    json_set_str(row, "responsible", responsible_names[kind->responsible]);
    json_set_str(row, "advice", kind->advice);
    return row;
}

json_t *problem_to_json(const struct problem *p, const char *request_id)
{
    const struct problem_kind *kind = &kinds[p->code];
    json_t *body = json_object();
    set_type(body, p->code);
    json_set_str(body, "title", kind->title);
    json_set_int(body, "status", kind->status);
    json_set_str(body, "code", kind->code);
    if (request_id)
        json_set_str(body, "request_id", request_id);
    add_details(body, p);
    return body;
}

json_t *problem_to_error_json(const struct problem *p)
{
    json_t *error = json_object();
    json_set_str(error, "code", kinds[p->code].code);
    json_set_str(error, "title", kinds[p->code].title);
    add_details(error, p);
    return error;
}

struct problem *problem_from_error_json(const json_t *error)
{
    static const char *const own[] = {"code", "title", "detail", "responsible", "advice", "errors"};
    int code = problem_from_name(json_str(error, "code"));
    struct problem *p = problem_new(code < 0 ? PROBLEM_INTERNAL_ERROR : (enum problem_code)code, "%s",
                                    json_str_or(error, "detail", "The operation failed."));
    json_t *faults = json_arr(error, "errors");
    p->faults = faults ? json_deep_copy(faults) : NULL;
    p->extra = error ? json_deep_copy(error) : json_object();
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        (void)json_object_del(p->extra, own[i]);
    return p;
}

void problem_update_error_json(json_t *error)
{
    const int code = problem_from_name(json_str(error, "code"));
    if (!json_object_get(error, "fault")) /* which had the values caller, service and upstream */
        return;
    (void)json_object_del(error, "fault");
    json_set_str(error, "responsible",
                 responsible_names[kinds[code < 0 ? PROBLEM_INTERNAL_ERROR : code].responsible]);
}
