/*
 * Decides the class of an ended transfer; no other file does that (UP-13, CL-2, CL-3). A write that may have
 * had an effect is UNCERTAIN, and its caller reads the shoot.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "upstream/wire/driver_private.h"

static const char *const class_names[] = {
    [UPSTREAM_OK] = "ok",
    [UPSTREAM_ABSENT] = "absent",
    [UPSTREAM_CONFLICT] = "conflict",
    [UPSTREAM_REFUSED] = "refused",
    [UPSTREAM_FORBIDDEN] = "forbidden",
    [UPSTREAM_LOGIN_FAILED] = "login_failed",
    [UPSTREAM_THROTTLED] = "throttled",
    [UPSTREAM_UNREACHABLE] = "unreachable",
    [UPSTREAM_UNCERTAIN] = "uncertain",
    [UPSTREAM_GARBLED] = "garbled",
    [UPSTREAM_OVERSIZED] = "oversized",
    [UPSTREAM_EXPIRED] = "expired",
    [UPSTREAM_OVERLOADED] = "overloaded",
};

const char *upstream_class_name(enum upstream_class class)
{
    assert(class < UPSTREAM_CLASS_MAX_ && class_names[class]);
    return class_names[class];
}

char *error_message(const char *body, size_t len)
{
    enum { MESSAGE_MAX = 512, OWN_WORDS_MAX = 300 };
    json_t *doc CLEANUP_JSON = answer_read_small(body, len);
    const json_t *error = json_obj(doc, "error");
    const char *message = json_str(error, "message");
    if (!message)
        return NULL;
    struct buffer text CLEANUP_BUFFER;
    buffer_init(&text, MESSAGE_MAX);
    buffer_add(&text, message, utf8_cut(message, OWN_WORDS_MAX));
    size_t i;
    json_t *fault;
    json_array_foreach (json_arr(error, "errors"), i, fault)
        buffer_printf(&text, "%s %s: %s", i ? ";" : " -", json_str_or(fault, "key", "?"),
                      json_str_or(fault, "value", "?"));
    size_t written = 0;
    char *result = buffer_take(&text, &written);
    (void)printable_write(result, written + 1, result, written);
    log_mask_secrets(result);
    return result;
}

enum { READ, WRITE };

/* Classes by status; the first row with a matching range applies. */
static const struct {
    int from, to;
    enum upstream_class class[2];
} status_rows[] = {
    {200, 299, {UPSTREAM_OK, UPSTREAM_OK}},
    {300, 399, {UPSTREAM_GARBLED, UPSTREAM_UNCERTAIN}},
    {400, 400, {UPSTREAM_REFUSED, UPSTREAM_REFUSED}},
    {401, 401, {UPSTREAM_FORBIDDEN, UPSTREAM_FORBIDDEN}},
    {403, 403, {UPSTREAM_FORBIDDEN, UPSTREAM_FORBIDDEN}},
    {404, 404, {UPSTREAM_ABSENT, UPSTREAM_ABSENT}},
    {405, 405, {UPSTREAM_ABSENT, UPSTREAM_REFUSED}},
    {408, 408, {UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN}},
    {409, 409, {UPSTREAM_CONFLICT, UPSTREAM_CONFLICT}},
    {425, 425, {UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN}},
    {429, 429, {UPSTREAM_THROTTLED, UPSTREAM_THROTTLED}},
    {400, 499, {UPSTREAM_REFUSED, UPSTREAM_REFUSED}},
    {500, 599, {UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN}},
};

static const enum upstream_class outcome_rows[HTTP_OUTCOME_MAX_][2] = {
    [HTTP_NOT_SENT] = {UPSTREAM_UNREACHABLE, UPSTREAM_UNREACHABLE},
    [HTTP_TIMEOUT] = {UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN},
    [HTTP_BROKEN] = {UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN},
    [HTTP_TOO_LARGE] = {UPSTREAM_OVERSIZED, UPSTREAM_UNCERTAIN},
    [HTTP_CANCELLED] = {UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN},
};

static const enum upstream_class unread_rows[READ_END_MAX_][2] = {
    [READ_OK] = {UPSTREAM_OK, UPSTREAM_OK},
    [READ_GARBLED] = {UPSTREAM_GARBLED, UPSTREAM_UNCERTAIN},
    [READ_TOO_MUCH] = {UPSTREAM_OVERSIZED, UPSTREAM_UNCERTAIN},
    [READ_NOT] = {UPSTREAM_OVERSIZED, UPSTREAM_UNCERTAIN},
};

enum upstream_class classify_unread(bool is_write, enum read_end end)
{
    assert(end < READ_END_MAX_);
    return unread_rows[end][is_write ? WRITE : READ];
}

enum upstream_class classify_answer(bool is_write, const struct http_answer *answer, char **ret_message,
                                    bool *ret_token_rejected)
{
    int kind = is_write ? WRITE : READ;
    *ret_token_rejected = false;
    if (answer->outcome != HTTP_ANSWERED) {
        assert(answer->outcome < HTTP_OUTCOME_MAX_ && outcome_rows[answer->outcome][kind] != UPSTREAM_OK);
        *ret_message = mem_strdup(answer->error);
        return outcome_rows[answer->outcome][kind];
    }
    enum upstream_class class = kind == WRITE ? UPSTREAM_UNCERTAIN : UPSTREAM_GARBLED;
    for (size_t i = 0; i < ARRAY_LEN(status_rows); i++) {
        if (answer->status >= status_rows[i].from && answer->status <= status_rows[i].to) {
            class = status_rows[i].class[kind];
            break;
        }
    }
    if (class == UPSTREAM_OK)
        return class;
    char *message = error_message(answer->body, answer->body_len);
    if (class == UPSTREAM_FORBIDDEN) {
        /* CL-3: the message distinguishes an invalid token, a missing privilege and a refused address. */
        if (!message || strcasestr(message, "token"))
            *ret_token_rejected = true;
        bool by_address = message && (strcasestr(message, "forbidden ip") ||
                                      strcasestr(message, "ip address") || strstr(message, " IP"));
        /* A 403 without a message of Cleura comes from a device between shootd and Cleura. It may refuse all
         * requests for some time. */
        bool unexplained = !message && answer->status == 403;
        if (unexplained || (by_address && !*ret_token_rejected))
            class = UPSTREAM_THROTTLED;
    }
    *ret_message = message ? message : mem_printf("status %d", answer->status);
    return class;
}

void upstream_result_done(struct upstream_result *result)
{
    free(result->message);
    shoot_free(result->shoot);
    json_decref(result->catalog);
    json_wipe(result->document);
    json_decref(result->document);
    mem_free_secret(result->text);
    mem_free_secret(result->kubeconfig);
    free(result->server);
    *result = (struct upstream_result){0};
}

static const enum problem_code problem_codes[] = {
    [UPSTREAM_OK] = PROBLEM_INTERNAL_ERROR,
    [UPSTREAM_ABSENT] = PROBLEM_CLUSTER_NOT_FOUND,
    [UPSTREAM_CONFLICT] = PROBLEM_UPSTREAM_REFUSED,
    [UPSTREAM_REFUSED] = PROBLEM_UPSTREAM_REFUSED,
    [UPSTREAM_FORBIDDEN] = PROBLEM_UPSTREAM_FORBIDDEN,
    [UPSTREAM_LOGIN_FAILED] = PROBLEM_UPSTREAM_LOGIN_FAILED,
    [UPSTREAM_THROTTLED] = PROBLEM_UPSTREAM_UNAVAILABLE,
    [UPSTREAM_UNREACHABLE] = PROBLEM_UPSTREAM_UNAVAILABLE,
    [UPSTREAM_UNCERTAIN] = PROBLEM_UPSTREAM_UNAVAILABLE,
    [UPSTREAM_GARBLED] = PROBLEM_UPSTREAM_ERROR,
    [UPSTREAM_OVERSIZED] = PROBLEM_UPSTREAM_ERROR,
    [UPSTREAM_EXPIRED] = PROBLEM_UPSTREAM_TIMEOUT,
    [UPSTREAM_OVERLOADED] = PROBLEM_OVERLOADED,
};

struct problem *upstream_problem(const struct upstream_result *result)
{
    assert(result->class < ARRAY_LEN(problem_codes));
    struct problem *p =
        problem_new(problem_codes[result->class], "Cleura: %s%s%s", upstream_class_name(result->class),
                    result->message ? ": " : "", result->message ? result->message : "");
    const struct problem_kind *kind = problem_kind(p->code);
    if (kind->status == 503)
        p->retry_after_s = result->retry_after_s ? result->retry_after_s : 10;
    return p;
}
