/*
 * A span (OB-13) is a piece of work in a trace, with its times and its parent span. The code that did the
 * work records the span. The span waits as text in OTLP's JSON form, in one bounded queue, for
 * tracing/exporter.c. A span that does not fit is dropped and counted, so no thread waits for the queue. Any
 * thread.
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
    SPANS_MAX = 4096, /* spans that wait in the queue */
    SPANS_BYTES = 8 * 1024 * 1024,
    SPAN_TEXT_BYTES = 1024, /* the limit of each text in a span; longer texts are cut */
    SPAN_NOTES_MAX = 128,
};

enum span_kind { SPAN_INTERNAL = 1, SPAN_SERVER, SPAN_CLIENT }; /* the numbers are those of OTLP */

/* An attribute: a text or a number. An attribute whose name or text is NULL is omitted. */
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
#define SPAN_STATUS(status) /* The attribute of an HTTP status; for status 0 it is omitted. */       \
    {                                                                                                \
        .name = (status) ? "http.response.status_code" : NULL, .number = (status), .is_number = true \
    }
#define SPAN_INT(key, value)                                \
    {                                                       \
        .name = (key), .number = (value), .is_number = true \
    }

/* Sets the members of struct span to an array of attributes. */
#define SPAN_ATTRIBUTES(array) .attributes = (array), .attribute_count = ARRAY_LEN(array)

/* An event during the span, in the sense of OpenTelemetry. */
struct span_note {
    wall_us at;
    const char *text;
};

/* The caller owns all members. */
struct span {
    const struct trace *trace; /* the span in `trace` is the parent */
    const char *id;            /* id of this span */
    const char *name;
    enum span_kind kind;
    wall_us begun, ended;
    const char *error; /* a text about the error; NULL: there is none */
    const struct span_attribute *attributes;
    size_t attribute_count;
    const struct span_note *notes;
    size_t note_count;
    unsigned notes_dropped; /* the number of notes that did not fit */
};

/* Returns the attributes in OTLP's JSON form, as a new array. */
json_t *span_attributes(const struct span_attribute *attributes, size_t count);

/* Sets how many traces of a million are recorded. Before this call no trace is recorded. Called before
 * threads start. */
void span_set_ratio(int millionths);
/* Decides whether the trace of a request is recorded. When a trusted peer sent the trace (`is_known`), its
 * sampled flag decides (OB-14); otherwise the decision is random. While recording is off, the flag is not
 * changed. */
void span_decide(const struct env *env, struct trace *t, bool is_known);
bool span_is_recorded(const struct trace *t);
/* Records a span when its trace is recorded; otherwise does nothing. */
void span_record(const struct span *s);

/* Moves the oldest spans to the end of `to`, separated by commas. It moves at most `most` spans, and only as
 * many as fit. Returns their number; 0: no span waits. */
unsigned spans_take(struct buffer *to, unsigned most);
/* Appends the counts of recorded and dropped spans. */
void span_metrics(struct buffer *out);

#endif
