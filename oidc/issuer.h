/*
 * One issuer: the URL of its keys (OpenID Connect Discovery), and the keys (AU-15). The keys are read again
 * when they expire. The issuer states how long they are valid; shootd counts less than 5 minutes as 5
 * minutes, and more than 12 hours as 12 hours. The keys are also read when a token has an unknown key or a
 * wrong signature (the issuer may have replaced the key under its id), at most once a minute. When a read
 * fails, the issuer is called again after pauses that become longer. The keys are used until 24 hours after
 * they were read, so a failed read leaves at least 12 hours for further reads. There is one call at a time.
 * Answers are parsed on the worker. Loop thread.
 */
#ifndef OIDC_ISSUER_H
#define OIDC_ISSUER_H

#include "config/config.h"
#include "loop/transport.h"
#include "oidc/keys.h"

enum {
    ISSUER_FRESH_MIN_S = 5 * 60,
    ISSUER_FRESH_MAX_S = 12 * 3600,
    ISSUER_FRESH_USUAL_S = 3600, /* used when the issuer states no time */
    ISSUER_KEPT_S = 24 * 3600,   /* how long keys are used after they were read */
    ISSUER_ASKED_FOR_S = 60,     /* the pause between two reads because of tokens */
    ISSUER_RETRY_MAX_S = 5 * 60,
    ISSUER_DISCOVERY_BYTES = 64 * 1024,
};

struct issuer;

struct issuer_options {
    struct loop *loop;
    struct transport *transport;
    struct worker *worker;
    int directory; /* descriptor of the directory that keeps the keys for the next start (oidc/kept_keys.h);
                    * -1: there is none */
    /* When this option is set, issuer_new itself reads the stored keys, from a small file. The read
     * blocks, so the option is set only before the loop runs. Without the option, the worker reads the
     * stored keys. */
    bool reads_at_once;
    /* Called when the result of issuer_keys or issuer_awaits_keys has changed. */
    void (*changed)(void *ctx);
    void *ctx;
};

/* Begins to read the issuer's keys, and uses the stored keys meanwhile. Does not call `changed` before it
 * returns. `config` and the members of options must stay valid as long as the issuer. */
struct issuer *issuer_new(const struct issuer_options *options, const struct config_issuer *config);
void issuer_free(struct issuer *issuer);
const struct config_issuer *issuer_config(const struct issuer *issuer);
/* Changes the configuration of the issuer. `config` must have the same issuer. */
void issuer_rebind(struct issuer *issuer, const struct config_issuer *config);
/* Called when a token names an unknown key, or was not signed by the known key. */
void issuer_wants_key(struct issuer *issuer);
/* Returns the keys; NULL when there are none. */
struct oidc_keys *issuer_keys(const struct issuer *issuer);
/* Whether there are no keys yet, because the first read has not ended. */
bool issuer_awaits_keys(const struct issuer *issuer);
/* Returns when the keys were read. */
mono_us issuer_read_at(const struct issuer *issuer);

/* ---- counters of all issuers; any thread ---- */

enum issuer_outcome { ISSUER_READ, ISSUER_NOT_READ, ISSUER_OUTCOME_MAX_ };
uint64_t issuer_reads(enum issuer_outcome outcome);

/* ---- pure functions, also for tests ---- */

/* Returns how long an answer with this Cache-Control (or NULL) is fresh. */
int64_t issuer_fresh_us(const char *cache_control);
/* Whether the keys of an issuer may be at this URL. The URL must begin with https, or have the same origin as
 * an issuer whose URL begins with http (the configuration allows http only for loopback addresses). */
bool issuer_may_name(const char *issuer, const char *url);

#endif
