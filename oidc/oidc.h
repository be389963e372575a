/*
 * JWTs of the configured issuers as bearer tokens. The loop thread keeps the issuers' keys and publishes them
 * as an immutable snapshot; HTTP threads check tokens with what is there, without a lock. An issuer that is
 * down therefore stops nobody whose token is signed by a known key.
 */
#ifndef OIDC_OIDC_H
#define OIDC_OIDC_H

#include "base/buffer.h"
#include "config/config.h"
#include "loop/transport.h"
#include "oidc/verify.h"

struct oidc;

/* Begins to read the keys of the issuers of `config`. The arguments must outlive it; `directory` is the
 * descriptor of the state directory, -1: no keys are kept. Before the loop runs, or its thread. */
struct oidc *oidc_new(struct loop *loop, struct transport *transport, struct worker *worker, int directory,
                      const struct config *config);
/* When neither the loop nor an HTTP thread runs; before the worker, the transport and the loop are freed.
 * NULL is allowed. */
void oidc_free(struct oidc *o);
/*
 * Loop thread: another configuration, which is about to be in force; the one before stays until nobody looks
 * at it (config/current.h). Issuers that stay keep their keys.
 */
void oidc_configure(struct oidc *o, const struct config *config);

/* The owner of a token, and the rights that a rule gives. */
struct oidc_identity {
    char *issuer;
    char *subject;
    bool has_rule; /* else: role and projects are nothing */
    enum role role;
    char **projects;
    wall_us expires_at;  /* as the token says; it is taken for OIDC_LEEWAY_S longer */
    uint64_t generation; /* of the issuer */
};

/*
 * Any thread that is inside the configuration (config_current_enter): OIDC_OK, or OIDC_NO_RULE, and the
 * caller frees what is in *ret; otherwise the reason, and there is nothing in it. Counts and logs the reason.
 * A token by an unknown key makes the issuer's keys be read again.
 */
enum oidc_end oidc_check(struct oidc *o, const char *token, size_t len, struct oidc_identity *ret);
void oidc_identity_done(struct oidc_identity *identity);
/* Another one when that issuer is configured otherwise, 0 when it is not configured: an identity of another
 * generation holds no more. Any thread. */
uint64_t oidc_generation(struct oidc *o, const char *issuer);
/* Appends metric families. Any thread. */
void oidc_metrics(struct oidc *o, struct buffer *out);

#endif
