/*
 * Sends the spans that wait in base/span.h to a receiver of OTLP over HTTP (JSON form). One call at a time, a
 * batch each; a receiver that is away or asks for patience gets the same batch again, after ever longer
 * times, then it is given up; what waits meanwhile is bounded there. Loop thread.
 */
#ifndef TRACING_EXPORTER_H
#define TRACING_EXPORTER_H

#include "base/buffer.h"
#include "loop/loop.h"
#include "loop/transport.h"

enum {
    EXPORT_EVERY_S = 1,
    EXPORT_SPANS = 512, /* in a batch, */
    EXPORT_BYTES =
        256 * 1024,    /* which has about so many bytes at most: a batch is made in one turn of the loop */
    EXPORT_TRIES = 10, /* of a batch */
    EXPORT_RETRY_MAX_S = 60,
};

struct span_exporter;

/* Loop and transport are borrowed, and must outlive it. */
struct span_exporter_options {
    struct loop *loop;
    struct transport *transport;
    const char *endpoint; /* its base address */
    const char *version;  /* of ours */
    const char *instance; /* distinguishes starts */
};

struct span_exporter *span_exporter_new(const struct span_exporter_options *options);
/* Spans that still wait are lost. NULL is allowed. */
void span_exporter_free(struct span_exporter *x);
/* Appends what became of the spans that were sent. Any thread. */
void span_exporter_metrics(struct buffer *out);

#endif
