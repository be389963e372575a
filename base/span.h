/*
 * Spans (OB-13): what was done for a trace, when, and under which other span. The code that did it records
 * it; it waits as text in OTLP's JSON form, in one bounded queue, for tracing/exporter.c. A span that does
 * not fit is dropped and counted: nobody waits for a trace. Any thread.
 */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/trace.h"

enum {
    SPANS_MAX = 4096, /* that wait */
    SPANS_BYTES = 8 * 1024 * 1024,
    SPAN_TEXT_BYTES = 1024, /* longer texts of others are cut */
    SPAN_NOTES_MAX = 128,
};

enum span_kind { SPAN_INTERNAL = 1, SPAN_SERVER, SPAN_CLIENT }; /* as OTLP numbers them */

/* A text, or a number; NULL as text or name: left out. */
struct span_attribute {
    const char *name;
    const char *text;
    int64_t number;
    bool is_number;
};
#define SPAN_STR(key, value)           \
    {                                  \
        .name = (key), .text = (value) \
    }
#define SPAN_STATUS(status) /* of HTTP; 0: there is none */                                          \
    {                                                                                                \
        .name = (status) ? "http.response.status_code" : NULL, .number = (status), .is_number = true \
    }
#define SPAN_INT(key, value)                                \
    {                                                       \
        .name = (key), .number = (value), .is_number = true \
    }

/* The members of struct span for an array of them. */
#define SPAN_ATTRIBUTES(array) .attributes = (array), .attribute_count = ARRAY_LEN(array)

/* An event during the span: an event of OpenTelemetry. */
struct span_note {
    wall_us at;
    const char *text;
};

/* All of it is borrowed. */
struct span {
    const struct trace *trace; /* its span is the parent */
    const char *id;            /* of this one */
    const char *name;
    enum span_kind kind;
    wall_us begun, ended;
    const char *error; /* what went wrong; NULL: nothing */
    const struct span_attribute *attributes;
    size_t attribute_count;
    const struct span_note *notes;
    size_t note_count;
    unsigned notes_dropped; /* for want of room */
};

/* Attributes in OTLP's JSON form, a new array. */
json_t *span_attributes(const struct span_attribute *attributes, size_t count);

/* How many traces of a million are recorded. Nothing is, until this is called. Before threads start. */
void span_set_ratio(int millionths);
/* Decides whether the trace of a request is recorded: by its sampled flag when a trusted peer sent it, as the
 * last argument says (OB-14); else by chance. As long as nothing is recorded the flag stays what it is. */
void span_decide(const struct env *env, struct trace *t, bool is_known);
bool span_is_recorded(const struct trace *t);
/* Records a span of a trace that is recorded; else nothing happens. */
void span_record(const struct span *s);

/* Moves the oldest ones to the end of `to`, with a comma between two: at most `most`, and as many as fit into
 * it. How many; 0: none wait. */
unsigned spans_take(struct buffer *to, unsigned most);
/* Appends what was recorded and dropped. */
void span_metrics(struct buffer *out);

#endif
