/*
 * What an answer means for a delivery (docs/webhooks.md), and its sanitized name (WH-22): the only thing
 * about a failure that is stored, logged and counted. Pure functions, any thread.
 */
#ifndef WEBHOOK_OUTCOME_H
#define WEBHOOK_OUTCOME_H

#include "loop/transport.h"

/* id, name as stored in `error` and shown as the label `outcome` */
#define ATTEMPT_RESULT_TABLE(X)             \
    X(DELIVERED, "delivered")               \
    X(REDIRECT, "redirect")                 \
    X(GONE, "gone")                         \
    X(THROTTLED, "throttled")               \
    X(CLIENT_ERROR, "http_4xx")             \
    X(SERVER_ERROR, "http_5xx")             \
    X(ODD_STATUS, "http_other")             \
    X(TIMEOUT, "timeout")                   \
    X(RESOLVE, "resolve")                   \
    X(CONNECT, "connect")                   \
    X(TLS, "tls")                           \
    X(CERTIFICATE, "certificate")           \
    X(ADDRESS_REFUSED, "address_refused")   \
    X(NOT_SENT, "not_sent")                 \
    X(CONNECTION_LOST, "connection_lost")   \
    X(ANSWER_TOO_LARGE, "answer_too_large") \
    X(SECRET_UNREADABLE, "secret_unreadable")

enum attempt_result {
#define X(id, name) ATTEMPT_##id,
    ATTEMPT_RESULT_TABLE(X)
#undef X
        ATTEMPT_RESULT_MAX_,
};

const char *attempt_result_name(enum attempt_result result);
enum attempt_result attempt_result_of(const struct http_answer *answer);

#endif
