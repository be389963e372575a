/*
 * W3C Trace Context (HT-51): the id of a trace, its flags and the span under which the next ones hang travel
 * with a command, stay with the operation that it makes, and go out with every call for it. base/span.h
 * records the spans. Pure.
 */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

enum {
    TRACE_ID_BYTES = 33,   /* 32 hex digits */
    TRACE_SPAN_BYTES = 17, /* 16 hex digits */
    TRACE_TEXT_BYTES = 53, /* "<id>-<flags>", and "-<span>" when there is one */
    TRACEPARENT_BYTES = 56,
};

struct trace {
    char id[TRACE_ID_BYTES];     /* "": no trace */
    char span[TRACE_SPAN_BYTES]; /* the parent of the spans that come; "": none */
    uint8_t flags;               /* of enum trace_flag; others are never kept */
};

enum trace_flag { TRACE_SAMPLED = 1, TRACE_RANDOM = 2 };

/* Reads a traceparent field; false for an invalid one, *ret is then not touched. */
bool trace_parse(const char *field, struct trace *ret);
/* Begins a trace: a random id, not sampled, no span. */
void trace_begin(const struct env *env, struct trace *ret);
/* An id for a span. */
void trace_new_span(const struct env *env, char span[static TRACE_SPAN_BYTES]);
/* The span of a part of something that has an id: the same each time, so that others can hang under it before
 * it has ended, and after a restart. */
void trace_span_of(const char *id, unsigned part, char span[static TRACE_SPAN_BYTES]);
/* The field for one outgoing call, whose span is `span`. */
void trace_parent(const struct trace *t, const char *span, char field[static TRACEPARENT_BYTES]);

/* The stored form; NULL when there is no trace. */
const char *trace_to_text(const struct trace *t, char text[static TRACE_TEXT_BYTES]);
/* The reverse; no trace for NULL and what is malformed. */
void trace_from_text(const char *text, struct trace *ret);

#endif
