#include "tracing/exporter.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/span.h"
#include "base/timefmt.h"

enum {
    CONNECT_TIMEOUT_S = 5,
    TOTAL_TIMEOUT_S = 10,
    ANSWER_MAX_BYTES = 16 * 1024,
    TOO_MANY_REQUESTS = 429,
    BAD_GATEWAY = 502,
    SERVICE_UNAVAILABLE = 503,
    GATEWAY_TIMEOUT = 504,
};

struct span_exporter {
    struct loop *loop;
    struct transport *transport;
    const struct env *env;
    char *url;
    char *head; /* the beginning of a body, before its spans */
    struct loop_timer timer;
    struct http_call *call;
    struct buffer body; /* the body of the batch in flight, or of the batch that will be sent again */
    unsigned count;     /* the number of spans in the batch; 0: there is no batch */
    unsigned tries;     /* how often this batch failed */
    bool is_failing;    /* the last try failed */
};

enum export_outcome { EXPORT_TAKEN, EXPORT_REFUSED, EXPORT_GIVEN_UP, EXPORT_OUTCOME_MAX_ };
static const char *const outcomes[] = {"taken", "refused", "given_up"};
static _Atomic uint64_t exported[EXPORT_OUTCOME_MAX_];

/* Makes the beginning of each body: the attributes of this process (OB-13). */
static char *make_head(const struct span_exporter_options *options)
{
    const struct span_attribute us[] = {
        SPAN_STR("service.name", "shootd"),
        SPAN_STR("service.version", options->version),
        SPAN_STR("service.instance.id", options->instance),
    };
    json_t *attributes CLEANUP_JSON = span_attributes(us, ARRAY_LEN(us));
    char *who CLEANUP_FREE = json_text(attributes);
    return mem_printf(
        "{\"resourceSpans\":[{\"resource\":{\"attributes\":%s},\"scopeSpans\":[{\"scope\":{\"name\":"
        "\"shootd\",\"version\":\"%s\"},\"spans\":[",
        who, options->version);
}

/* Counts the spans of the batch, of which `others` had another outcome, and forgets the batch. */
static void batch_ended(struct span_exporter *x, enum export_outcome outcome, unsigned others)
{
    assert(others <= x->count);
    atomic_fetch_add(&exported[outcome], x->count - others);
    buffer_done(&x->body);
    x->count = x->tries = 0;
}

/* Returns how many spans the receiver has refused although it accepted the batch (partialSuccess), and its
 * reason, which the caller frees. OTLP forbids to send them again. */
static unsigned refused_spans(const struct span_exporter *x, const struct http_answer *answer,
                              char **ret_reason)
{
    static const struct json_limits limits = {ANSWER_MAX_BYTES, 1000, 1000};
    enum json_scan_end end;
    json_t *doc CLEANUP_JSON = answer->coding || !answer->body_len
                                   ? NULL
                                   : json_parse_foreign(answer->body, answer->body_len, &limits, &end);
    const json_t *partial = json_obj(doc, "partialSuccess");
    const int64_t refused = json_int(partial, "rejectedSpans", 0);
    if (refused <= 0)
        return 0;
    *ret_reason = mem_strdup(json_str_or(partial, "errorMessage", "the receiver gives no reason"));
    return refused < x->count ? (unsigned)refused : x->count;
}

static bool may_be_sent_again(const struct http_answer *answer)
{
    static const int statuses[] = {TOO_MANY_REQUESTS, BAD_GATEWAY, SERVICE_UNAVAILABLE, GATEWAY_TIMEOUT};
    bool again = answer->outcome != HTTP_ANSWERED && answer->outcome != HTTP_TOO_LARGE;
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        again = again || answer->status == statuses[i];
    return again;
}

/* Returns the pause that the receiver requests, but at most EXPORT_RETRY_MAX_S. */
static int64_t pause_us(const struct span_exporter *x, const struct http_answer *answer)
{
    const int64_t most = EXPORT_RETRY_MAX_S * US_PER_S;
    const int64_t asked =
        answer->retry_after
            ? time_parse_retry_after(answer->retry_after, env_wall(x->env), EXPORT_RETRY_MAX_S) * US_PER_S
            : 0;
    int64_t own = (int64_t)EXPORT_EVERY_S * US_PER_S << (x->tries < 6 ? x->tries : 6);
    own = env_jitter(x->env, own < most ? own : most, 20);
    return asked > own ? asked : own;
}

/* `reason`: why spans were not accepted; NULL: all were. */
static void log_change(struct span_exporter *x, int status, const char *reason)
{
    if (reason && !x->is_failing)
        log_warning("trace receiver does not accept spans", "status", status ? LOG_INT(status) : NULL,
                    "reason", reason);
    else if (!reason && x->is_failing)
        log_info("trace receiver accepts spans again");
    x->is_failing = reason != NULL;
}

static void on_taken(struct span_exporter *x, const struct http_answer *answer)
{
    char *reason CLEANUP_FREE = NULL;
    const unsigned refused = refused_spans(x, answer, &reason);
    log_change(x, answer->status, reason);
    atomic_fetch_add(&exported[EXPORT_REFUSED], refused);
    batch_ended(x, EXPORT_TAKEN, refused);
}

static void on_answer(void *ctx, const struct http_answer *answer)
{
    struct span_exporter *x = ctx;
    const bool went_well = answer->status >= 200 && answer->status < 300;
    int64_t wait = 0; /* the next batch follows at once, because more spans may wait */
    x->call = NULL;
    if (!went_well)
        log_change(x, answer->status, answer->error ? answer->error : "the receiver refuses them");
    if (went_well) {
        on_taken(x, answer);
    } else if (!may_be_sent_again(answer)) {
        batch_ended(x, EXPORT_REFUSED, 0);
    } else {
        wait = pause_us(x, answer);
        if (++x->tries == EXPORT_TRIES)
            batch_ended(x, EXPORT_GIVEN_UP, 0);
    }
    loop_timer_set(x->loop, &x->timer, env_mono(x->env) + wait);
}

static void make_batch(struct span_exporter *x)
{
    static const char tail[] = "]}]}]}";
    buffer_init(&x->body, EXPORT_BYTES);
    buffer_add_str(&x->body, x->head);
    x->count = spans_take(&x->body, EXPORT_SPANS);
    x->body.max += sizeof(tail);
    buffer_add_str(&x->body, tail);
    if (!x->count)
        buffer_done(&x->body);
}

static void on_timer(struct loop_timer *timer)
{
    struct span_exporter *x = CONTAINER_OF(timer, struct span_exporter, timer);
    const struct http_header headers[] = {{"Content-Type", "application/json"}, {NULL, NULL}};
    assert(!x->call);
    if (!x->count)
        make_batch(x);
    if (!x->count) {
        loop_timer_set(x->loop, &x->timer, env_mono(x->env) + EXPORT_EVERY_S * US_PER_S);
        return;
    }
    const struct http_request request = {.method = "POST",
                                         .url = x->url,
                                         .headers = headers,
                                         .body = x->body.data,
                                         .body_len = x->body.len,
                                         .connect_timeout_us = CONNECT_TIMEOUT_S * US_PER_S,
                                         .timeout_us = TOTAL_TIMEOUT_S * US_PER_S,
                                         .max_body = ANSWER_MAX_BYTES};
    x->call = x->transport->start(x->transport, &request, on_answer, x);
}

struct span_exporter *span_exporter_new(const struct span_exporter_options *options)
{
    struct span_exporter *x = MEM_NEW(struct span_exporter);
    x->loop = options->loop;
    x->transport = options->transport;
    x->env = loop_env(options->loop);
    x->url = mem_printf("%s/v1/traces", options->endpoint);
    x->head = make_head(options);
    x->timer = (struct loop_timer){.fire = on_timer, .name = "export of spans"};
    loop_timer_set(x->loop, &x->timer, env_mono(x->env) + EXPORT_EVERY_S * US_PER_S);
    return x;
}

void span_exporter_free(struct span_exporter *x)
{
    if (!x)
        return;
    loop_timer_clear(x->loop, &x->timer);
    if (x->call)
        x->transport->cancel(x->transport, x->call);
    buffer_done(&x->body);
    free(x->head);
    free(x->url);
    free(x);
}

void span_exporter_metrics(struct buffer *out)
{
    metric_family(out, "shootd_spans_exported_total");
    for (size_t i = 0; i < EXPORT_OUTCOME_MAX_; i++)
        metric_of(out, "shootd_spans_exported_total", "outcome", outcomes[i],
                  (double)atomic_load(&exported[i]));
}
