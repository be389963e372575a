/*
 * Accepts JWTs of the configured issuers as bearer tokens. The loop thread reads the issuers' keys and
 * publishes them as an immutable snapshot. HTTP threads check tokens with the snapshot, without a lock. When
 * an issuer cannot be reached, tokens with a known key are therefore still accepted.
 */
#ifndef OIDC_OIDC_H
#define OIDC_OIDC_H

#include "base/buffer.h"
#include "config/config.h"
#include "loop/transport.h"
#include "oidc/verify.h"

struct oidc;

/* Begins to read the keys of the issuers of `config`. The arguments must stay valid as long as the result.
 * `directory` is the descriptor of the state directory; -1: no keys are stored. Called before the loop runs,
 * or on its thread. */
struct oidc *oidc_new(struct loop *loop, struct transport *transport, struct worker *worker, int directory,
                      const struct config *config);
/* Called when neither the loop nor an HTTP thread runs, before the worker, the transport and the loop are
 * freed. NULL is allowed. */
void oidc_free(struct oidc *o);
/*
 * Uses the issuers of a new configuration, before that configuration becomes the current configuration. The
 * old configuration stays valid until no thread reads it (config/current.h). An issuer that is in both
 * configurations keeps its keys. Loop thread.
 */
void oidc_configure(struct oidc *o, const struct config *config);

/* The owner of a token, and the rights that a rule gives it. */
struct oidc_identity {
    char *issuer;
    char *subject;
    bool has_rule; /* false: role and projects are not set */
    enum role role;
    char **projects;
    wall_us expires_at;  /* the time in the token; the token is accepted OIDC_LEEWAY_S longer */
    uint64_t generation; /* the generation of the issuer's configuration */
};

/*
 * Checks a token, and counts and logs the result. An unknown key or a wrong signature causes a new read of
 * the issuer's keys. *ret_awaits_keys: the result is OIDC_KEYS_MISSING only because the first read of the
 * keys has not ended; such a result is neither counted nor logged, because the caller repeats the check. For
 * OIDC_OK and OIDC_NO_RULE the caller frees the content of *ret; for other results it is empty. Any thread
 * between config_current_enter and config_current_leave.
 */
enum oidc_end oidc_check(struct oidc *o, const char *token, size_t len, struct oidc_identity *ret,
                         bool *ret_awaits_keys);
void oidc_identity_done(struct oidc_identity *identity);
/* Returns a number that changes with the issuer's configuration; 0 when the issuer is not configured. An
 * identity of an older generation is no longer valid. Any thread, also outside config_current_enter. */
uint64_t oidc_generation(struct oidc *o, const char *issuer);
/* Appends metric families. Any thread. */
void oidc_metrics(struct oidc *o, struct buffer *out);

#endif
