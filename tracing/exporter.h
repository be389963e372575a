/*
 * Sends the spans that wait in base/span.h to a receiver of OTLP over HTTP (JSON form). There is one call at
 * a time, with one batch. When the receiver cannot be reached or requests a pause, the same batch is sent
 * again after pauses that become longer. After EXPORT_TRIES tries it is discarded. The number of waiting
 * spans is limited in base/span.h. Loop thread.
 */
#ifndef TRACING_EXPORTER_H
#define TRACING_EXPORTER_H

#include "base/buffer.h"
#include "loop/loop.h"
#include "loop/transport.h"

enum {
    EXPORT_EVERY_S = 1,
    EXPORT_SPANS = 512,        /* the limit of spans in a batch */
    EXPORT_BYTES = 256 * 1024, /* approximate limit of a batch, which is made in one turn of the loop */
    EXPORT_TRIES = 10,         /* the limit of tries for a batch */
    EXPORT_RETRY_MAX_S = 60,
};

struct span_exporter;

/* The options. Loop and transport are borrowed, and must stay valid as long as the exporter. */
struct span_exporter_options {
    struct loop *loop;
    struct transport *transport;
    const char *endpoint; /* the base URL of the receiver */
    const char *version;  /* the version of shootd */
    const char *instance; /* an id of this start */
};

struct span_exporter *span_exporter_new(const struct span_exporter_options *options);
/* Frees the exporter and discards its batch. NULL is allowed. */
void span_exporter_free(struct span_exporter *x);
/* Appends the counts of spans by result. Any thread. */
void span_exporter_metrics(struct buffer *out);

#endif
