/*
 * Checks whether a JWT is acceptable (AU-12, AU-13). The check is a pure function of bytes, keys and a time.
 * The result is the claims or a reason. Any thread. The check of a signature takes about 50 microseconds.
 */
#ifndef OIDC_VERIFY_H
#define OIDC_VERIFY_H

#include "base/env.h"
#include "base/json.h"
#include "config/config.h"
#include "oidc/keys.h"

enum {
    OIDC_TOKEN_BYTES = 8 * 1024, /* the limit of the length of a token */
    OIDC_SUBJECT_MAX = 255, /* the limit of the length of a subject; its characters are printable ASCII */
    OIDC_LEEWAY_S = 60,     /* the allowed difference between the clock of the issuer and the clock of
                             * shootd */
};

/* The results of the check. Their names are also label values of a metric, and words in the log. */
enum oidc_end {
    OIDC_OK,
    OIDC_MALFORMED,    /* not a JWS in compact form, or too large */
    OIDC_TYPE,         /* the type is wrong, or there are critical extensions */
    OIDC_ISSUER,       /* the issuer is not configured */
    OIDC_ALGORITHM,    /* the algorithm is not allowed */
    OIDC_KEYS_MISSING, /* the keys of the issuer were not read yet, or were read too long ago */
    OIDC_KEY_UNKNOWN,  /* no key of the issuer fits the key id and the algorithm of the token */
    OIDC_SIGNATURE,    /* the token was not signed by any key that fits */
    OIDC_AUDIENCE,     /* the token is for a different audience */
    OIDC_EXPIRED,
    OIDC_NOT_YET,  /* the token was issued in the future, or is not valid yet */
    OIDC_LIFETIME, /* the token is valid for longer than allowed */
    OIDC_CLAIMS,   /* a required claim is absent, or has a wrong form */
    OIDC_ID_TOKEN, /* the token is an ID token, which gives no access */
    OIDC_NO_RULE,  /* the token is valid, but no rule gives it rights (oidc/rules.h) */
    OIDC_END_MAX_,
};
const char *oidc_end_name(enum oidc_end end);

struct oidc_trust {
    const struct config_issuer *issuer;
    const struct oidc_keys *keys; /* NULL: there are none */
};

struct oidc_claims {
    size_t trust; /* the index of the issuer in `trusts`; set for OIDC_OK and for the results that follow
                   * OIDC_ISSUER in the enum */
    json_t *all;
    const char *subject; /* points into `all` */
    wall_us expires_at;  /* the time in the token, without leeway */
};

/* Whether a token has the size and the three parts of a JWT. If not, oidc_verify refuses it at once. Pure. */
bool oidc_has_form(const char *token, size_t len);

/* Checks a token. For OIDC_OK the caller frees ret->all; for other results it is not set. */
enum oidc_end oidc_verify(const char *token, size_t len, const struct oidc_trust *trusts, size_t count,
                          wall_us now, struct oidc_claims *ret);

#endif
