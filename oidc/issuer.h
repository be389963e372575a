/*
 * One issuer: where its keys are (OpenID Connect Discovery), and the keys (AU-15). They are read again when
 * the issuer says that they are old, from 5 minutes to 24 hours on, and when somebody shows a token by a key
 * that is not among them; at most once a minute for that. Nothing new: the last good ones stay for 24 hours,
 * while the issuer is asked again after a growing time. One call at a time. Answers are parsed on the worker.
 * Loop thread.
 */
#ifndef OIDC_ISSUER_H
#define OIDC_ISSUER_H

#include "config/config.h"
#include "loop/transport.h"
#include "oidc/keys.h"

enum {
    ISSUER_FRESH_MIN_S = 5 * 60,
    ISSUER_FRESH_MAX_S = 24 * 3600,
    ISSUER_FRESH_USUAL_S = 3600, /* it does not say how long */
    ISSUER_KEPT_S = 24 * 3600,   /* since the last good answer */
    ISSUER_ASKED_FOR_S = 60,     /* between two reads for keys that are not known */
    ISSUER_RETRY_MAX_S = 5 * 60,
    ISSUER_DISCOVERY_BYTES = 64 * 1024,
};

struct issuer;

struct issuer_options {
    struct loop *loop;
    struct transport *transport;
    struct worker *worker;
    int directory; /* descriptor of where keys are kept for the next start (oidc/kept_keys.h); -1: nowhere */
    /* issuer_keys gives others now. */
    void (*changed)(void *ctx);
    void *ctx;
};

/* Begins to read its keys, and takes those that were kept meanwhile. `config` and what is in options must
 * outlive it. */
struct issuer *issuer_new(const struct issuer_options *options, const struct config_issuer *config);
void issuer_free(struct issuer *issuer);
const struct config_issuer *issuer_config(const struct issuer *issuer);
/* The same issuer in another configuration. */
void issuer_rebind(struct issuer *issuer, const struct config_issuer *config);
/* Somebody shows a token by a key that is not among those that there are. */
void issuer_wants_key(struct issuer *issuer);
/* NULL: there are none. */
struct oidc_keys *issuer_keys(const struct issuer *issuer);
/* When they were read. */
mono_us issuer_read_at(const struct issuer *issuer);

/* ---- numbers of all issuers; any thread ---- */

enum issuer_outcome { ISSUER_READ, ISSUER_NOT_READ, ISSUER_OUTCOME_MAX_ };
uint64_t issuer_reads(enum issuer_outcome outcome);

/* ---- pure, for tests, too ---- */

/* How long an answer with this Cache-Control, or NULL, counts as new. */
int64_t issuer_fresh_us(const char *cache_control);
/* Whether an issuer may have its keys there: https, or at the place of an issuer on loopback. */
bool issuer_may_name(const char *issuer, const char *url);

#endif
