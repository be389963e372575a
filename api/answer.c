#include "api/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/checks.h"
#include "api/conditional.h"
#include "api/request.h"
#include "api/routes.h"
#include "api/stream.h"
#include "base/mem.h"

static void drop_body(struct answer *a)
{
    if (a->secret)
        mem_free_secret(a->text);
    else
        free(a->text);
    view_blob_unref(a->blob);
    stream_unref(a->stream);
    a->stream = NULL;
    a->is_stream = false;
    a->text = NULL;
    a->blob = NULL;
    a->coded_place = NULL;
    a->bytes = NULL;
    a->len = 0;
    a->secret = false;
}

void answer_done(struct answer *a)
{
    drop_body(a);
}

void answer_header(struct answer *a, const char *name, const char *format, ...)
{
    if (a->header_count == ANSWER_MAX_HEADERS)
        return;
    struct answer_header *h = &a->headers[a->header_count];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(h->value, sizeof(h->value), format, args);
    va_end(args);
    if (n <= 0 || (size_t)n >= sizeof(h->value))
        return;
    h->name = name;
    a->header_count++;
}

void answer_field(struct answer *a, const char *name, const char *value)
{
    size_t len = strlen(value);
    if (a->header_count == ANSWER_MAX_HEADERS || !len || len >= ANSWER_HEADER_BYTES)
        return;
    struct answer_header *h = &a->headers[a->header_count++];
    h->name = name;
    memcpy(h->value, value, len + 1);
}

void answer_empty(struct answer *a, int status)
{
    drop_body(a);
    a->status = status;
}

void answer_static(struct answer *a, int status, const char *type, const void *bytes, size_t len)
{
    drop_body(a);
    a->status = status;
    a->bytes = bytes;
    a->len = len;
    answer_field(a, "Content-Type", type);
}

void answer_prepared(struct answer *a, int status, const char *type, const void *bytes, size_t len,
                     _Atomic(struct view_coded *) *coded_place)
{
    answer_static(a, status, type, bytes, len);
    a->coded_place = coded_place;
}

void answer_text(struct answer *a, int status, const char *type, char *text, size_t len)
{
    drop_body(a);
    a->status = status;
    a->text = text;
    a->bytes = text;
    a->len = len;
    answer_field(a, "Content-Type", type);
}

void answer_blob(struct answer *a, int status, struct view_blob *blob)
{
    drop_body(a);
    a->status = status;
    a->blob = blob;
    a->coded_place = &blob->coded;
    a->bytes = blob->body;
    a->len = blob->body_len;
    answer_field(a, "Content-Type", TYPE_JSON);
    answer_field(a, "ETag", blob->etag);
}

void answer_json(struct answer *a, int status, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    answer_text(a, status, TYPE_JSON, text, strlen(text));
}

struct problem *answer_apply_conditions(struct request *r, const char *etag)
{
    switch (condition_of_read(r->headers.values[HEADER_IF_MATCH], r->headers.values[HEADER_IF_NONE_MATCH],
                              etag)) {
    case CONDITION_PASS:
        return NULL;
    case CONDITION_NOT_MODIFIED:
        r->answer.status =
            MHD_HTTP_NOT_MODIFIED; /* the body stays: its length is announced, not sent (MH-7) */
        return NULL;
    case CONDITION_FAILED:
        break;
    }
    return problem_new(PROBLEM_PRECONDITION_FAILED, "The resource has the entity tag %s.", etag);
}

struct problem *check_write_conditions(struct request *r, const char *etag)
{
    if (condition_of_write(r->headers.values[HEADER_IF_MATCH], r->headers.values[HEADER_IF_NONE_MATCH],
                           etag) == CONDITION_PASS)
        return NULL;
    if (*etag)
        return problem_new(PROBLEM_PRECONDITION_FAILED, "The resource has the entity tag %s.", etag);
    return problem_new(PROBLEM_PRECONDITION_FAILED,
                       "POST makes a member of a collection, which exists and has no entity tag; leave the "
                       "precondition out, or use PUT where there is one.");
}

struct problem *check_collection(struct request *r)
{
    return r->route->flags & ROUTE_COLLECTION ? check_write_conditions(r, "") : NULL;
}
