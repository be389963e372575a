/*
 * Checks whether a JWT is acceptable (AU-12, AU-13). A pure function of bytes, keys and a time; the result is
 * the claims or a reason. Any thread; a signature takes about 50 microseconds.
 */
#ifndef OIDC_VERIFY_H
#define OIDC_VERIFY_H

#include "base/env.h"
#include "base/json.h"
#include "config/config.h"
#include "oidc/keys.h"

enum {
    OIDC_TOKEN_BYTES = 8 * 1024, /* limit for a token */
    OIDC_SUBJECT_MAX = 255,      /* printable ASCII */
    OIDC_LEEWAY_S = 60,          /* allowed difference between the issuer's clock and shootd's */
};

/* The results of the check; labels of a metric, and words in the log. */
enum oidc_end {
    OIDC_OK,
    OIDC_MALFORMED,    /* no JWS in compact form, or too large */
    OIDC_TYPE,         /* wrong type, or critical extensions */
    OIDC_ISSUER,       /* not a configured issuer */
    OIDC_ALGORITHM,    /* not an allowed algorithm */
    OIDC_KEYS_MISSING, /* the issuer's keys were not read yet, or too long ago */
    OIDC_KEY_UNKNOWN,  /* the issuer has no such key for the algorithm */
    OIDC_SIGNATURE,    /* not signed by that key */
    OIDC_AUDIENCE,     /* for a different audience */
    OIDC_EXPIRED,
    OIDC_NOT_YET,  /* issued or valid in the future */
    OIDC_LIFETIME, /* valid for longer than allowed */
    OIDC_CLAIMS,   /* a required claim is absent, or has a wrong form */
    OIDC_ID_TOKEN, /* an ID token, which gives no access */
    OIDC_NO_RULE,  /* valid, but no rule gives it rights (oidc/rules.h) */
    OIDC_END_MAX_,
};
const char *oidc_end_name(enum oidc_end end);

struct oidc_trust {
    const struct config_issuer *issuer;
    const struct oidc_keys *keys; /* NULL: there are none */
};

struct oidc_claims {
    size_t trust; /* index of the issuer: for OIDC_OK and each result after OIDC_ISSUER */
    json_t *all;
    const char *subject; /* points into `all` */
    wall_us expires_at;  /* as in the token, without leeway */
};

/* Whether a token has the size and the three parts of a JWT. If not, oidc_verify refuses it at once. Pure. */
bool oidc_has_form(const char *token, size_t len);

/* For OIDC_OK the caller frees ret->all; for other results it is not set. */
enum oidc_end oidc_verify(const char *token, size_t len, const struct oidc_trust *trusts, size_t count,
                          wall_us now, struct oidc_claims *ret);

#endif
