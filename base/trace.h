/*
 * W3C Trace Context as far as we take part in it (HT-51): the id of a trace and its flags travel with a
 * command, stay with the operation that it makes, and go out with every call for it. We record no spans.
 * Pure.
 */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"

enum {
    TRACE_ID_BYTES = 33,   /* 32 hex digits */
    TRACE_TEXT_BYTES = 36, /* "<id>-<flags>" */
    TRACEPARENT_BYTES = 56,
};

struct trace {
    char id[TRACE_ID_BYTES]; /* "": no trace */
    uint8_t flags;           /* sampled 0x01, random 0x02; others are never kept */
};

/* Reads a traceparent field; false for an invalid one, *ret is then not touched. */
bool trace_parse(const char *field, struct trace *ret);
/* Begins a trace: a random id, not sampled. */
void trace_begin(const struct env *env, struct trace *ret);
/* The field for one outgoing call, with a parent id of its own. */
void trace_parent(const struct env *env, const struct trace *t, char field[static TRACEPARENT_BYTES]);

/* The stored form; NULL when there is no trace. */
const char *trace_to_text(const struct trace *t, char text[static TRACE_TEXT_BYTES]);
/* The reverse; no trace for NULL and what is malformed. */
void trace_from_text(const char *text, struct trace *ret);

#endif
