#include "base/span.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/text.h"

enum { MILLION = 1000000 };

static bool is_on;
static int ratio;

struct span_text {
    char *text;
    size_t len;
};

/* The lock is held only while pointers are moved. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct span_text texts[SPANS_MAX]; /* a ring buffer */
    unsigned first, count;
    size_t bytes;
} queue;
static _Atomic uint64_t recorded, dropped;

void span_set_ratio(int millionths)
{
    assert(millionths >= 0 && millionths <= MILLION);
    is_on = true;
    ratio = millionths;
}

void span_decide(const struct env *env, struct trace *t, bool is_known)
{
    if (!is_on || is_known)
        return;
    t->flags &= (uint8_t)~TRACE_SAMPLED;
    if (env_random_below(env, MILLION) < (uint64_t)ratio)
        t->flags |= TRACE_SAMPLED;
}

bool span_is_recorded(const struct trace *t)
{
    return is_on && t->id[0] && t->flags & TRACE_SAMPLED;
}

/* ---- OTLP's JSON form: 64-bit numbers are strings, ids are hex ---- */

static void set_number(json_t *object, const char *key, int64_t number)
{
    char text[24];
    json_set_str(object, key, log_format_int(number, text));
}

static void set_time(json_t *object, const char *key, wall_us at)
{
    set_number(object, key, at * 1000);
}

static void set_text(json_t *object, const char *key, const char *text)
{
    char *cut CLEANUP_FREE = mem_strdup(text);
    (void)printable_write(cut, strlen(cut) + 1, text, strlen(text));
    log_mask_secrets(cut);
    cut[utf8_cut(cut, SPAN_TEXT_BYTES)] = '\0';
    json_set_str(object, key, cut);
}

static void add_attribute(json_t *list, const struct span_attribute *a)
{
    if (!a->name || (!a->is_number && !a->text))
        return;
    json_t *attribute = json_object(), *value = json_object();
    json_set_str(attribute, "key", a->name);
    if (a->is_number)
        set_number(value, "intValue", a->number);
    else
        set_text(value, "stringValue", a->text);
    json_set_take(attribute, "value", value);
    json_append_take(list, attribute);
}

json_t *span_attributes(const struct span_attribute *attributes, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        add_attribute(list, &attributes[i]);
    return list;
}

static json_t *notes_of(const struct span *s)
{
    json_t *events = json_array();
    for (size_t i = 0; i < s->note_count && i < SPAN_NOTES_MAX; i++) {
        json_t *event = json_object();
        set_time(event, "timeUnixNano", s->notes[i].at);
        set_text(event, "name", s->notes[i].text);
        json_append_take(events, event);
    }
    return events;
}

static char *text_of(const struct span *s)
{
    enum { STATUS_ERROR = 2 };
    json_t *doc CLEANUP_JSON = json_object();
    json_set_str(doc, "traceId", s->trace->id);
    json_set_str(doc, "spanId", s->id);
    if (s->trace->span[0])
        json_set_str(doc, "parentSpanId", s->trace->span);
    json_set_str(doc, "name", s->name);
    json_set_int(doc, "kind", (int)s->kind);
    set_time(doc, "startTimeUnixNano", s->begun);
    set_time(doc, "endTimeUnixNano", s->ended > s->begun ? s->ended : s->begun);
    json_set_take(doc, "attributes", span_attributes(s->attributes, s->attribute_count));
    if (s->note_count)
        json_set_take(doc, "events", notes_of(s));
    if (s->notes_dropped)
        json_set_int(doc, "droppedEventsCount", s->notes_dropped);
    if (s->error) {
        json_t *status = json_object();
        json_set_int(status, "code", STATUS_ERROR);
        set_text(status, "message", s->error);
        json_set_take(doc, "status", status);
    }
    return json_text(doc);
}

/* ---- the queue ---- */

void span_record(const struct span *s)
{
    if (!span_is_recorded(s->trace))
        return;
    char *text = text_of(s);
    const size_t len = strlen(text);
    mutex_lock(&lock);
    const bool fits = queue.count < SPANS_MAX && queue.bytes + len <= SPANS_BYTES;
    if (fits) {
        queue.texts[(queue.first + queue.count++) % SPANS_MAX] = (struct span_text){text, len};
        queue.bytes += len;
    }
    mutex_unlock(&lock);
    atomic_fetch_add(fits ? &recorded : &dropped, 1);
    if (!fits)
        free(text);
}

/* When the oldest span of the queue has at most this many bytes, removes and returns it. */
static bool take_one(size_t most_bytes, struct span_text *ret)
{
    mutex_lock(&lock);
    const bool taken = queue.count && queue.texts[queue.first].len <= most_bytes;
    if (taken) {
        *ret = queue.texts[queue.first];
        queue.first = (queue.first + 1) % SPANS_MAX;
        queue.count--;
        queue.bytes -= ret->len;
    }
    mutex_unlock(&lock);
    return taken;
}

unsigned spans_take(struct buffer *to, unsigned most)
{
    unsigned count = 0;
    struct span_text one;
    while (count < most && to->len < to->max && take_one(to->max - to->len - 1, &one)) {
        buffer_add(to, ",", count > 0);
        buffer_add(to, one.text, one.len);
        free(one.text);
        count++;
    }
    assert(!to->overflow);
    return count;
}

void span_metrics(struct buffer *out)
{
    metric_one(out, "shootd_spans_recorded_total", (double)atomic_load(&recorded));
    metric_one(out, "shootd_spans_dropped_total", (double)atomic_load(&dropped));
}
