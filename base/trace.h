/*
 * W3C Trace Context (HT-51): the id of a trace, its flags, and the span that is the parent of the next spans.
 * A command contains them, the operation that it makes stores them, and every call for the operation sends
 * them. base/span.h records the spans. Pure.
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
    char span[TRACE_SPAN_BYTES]; /* the parent of later spans; "": there is none */
    uint8_t flags;               /* bits of enum trace_flag; other bits are discarded */
};

enum trace_flag { TRACE_SAMPLED = 1, TRACE_RANDOM = 2 };

/* Reads a traceparent field. For an invalid field, returns false and does not change *ret. */
bool trace_parse(const char *field, struct trace *ret);
/* Begins a trace: a random id, not sampled, no span. */
void trace_begin(const struct env *env, struct trace *ret);
/* Makes the id of a new span. */
void trace_new_span(const struct env *env, char span[static TRACE_SPAN_BYTES]);
/* Derives a span id from the id of an object (for example an operation) and the number of one of its parts.
 * The result is always the same, also after a restart. Other spans can therefore refer to the part before it
 * has ended. */
void trace_span_of(const char *id, unsigned part, char span[static TRACE_SPAN_BYTES]);
/* Writes the field for one outgoing call; `span` is the span of that call. */
void trace_parent(const struct trace *t, const char *span, char field[static TRACEPARENT_BYTES]);

/* Returns the stored form; NULL when there is no trace. */
const char *trace_to_text(const struct trace *t, char text[static TRACE_TEXT_BYTES]);
/* Reads the stored form. For NULL and for a malformed text, *ret contains no trace. */
void trace_from_text(const char *text, struct trace *ret);

#endif
