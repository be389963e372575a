/*
 * Is a JWT one of those that we take (AU-12, AU-13)? Pure: bytes, keys and a time give claims or a reason.
 * Any thread; a signature takes some 50 microseconds.
 */
#ifndef OIDC_VERIFY_H
#define OIDC_VERIFY_H

#include "base/env.h"
#include "base/json.h"
#include "config/config.h"
#include "oidc/keys.h"

enum {
    OIDC_TOKEN_BYTES = 8 * 1024, /* of a token */
    OIDC_SUBJECT_MAX = 255,      /* printable ASCII */
    OIDC_LEEWAY_S = 60,          /* between the issuer's clock and ours */
};

/* The results of the check of a token; labels of a metric, words of the log. */
enum oidc_end {
    OIDC_OK,
    OIDC_MALFORMED,    /* no JWS in its compact form, or too large */
    OIDC_TYPE,         /* of another type, or with extensions that must be known */
    OIDC_ISSUER,       /* of nobody whom we know */
    OIDC_ALGORITHM,    /* not one of those that are allowed */
    OIDC_KEYS_MISSING, /* those of the issuer were not read yet, or too long ago */
    OIDC_KEY_UNKNOWN,  /* the issuer has no such key for the algorithm */
    OIDC_SIGNATURE,    /* signed by another */
    OIDC_AUDIENCE,     /* for another */
    OIDC_EXPIRED,
    OIDC_NOT_YET,  /* issued or valid in the future */
    OIDC_LIFETIME, /* valid for longer than we allow */
    OIDC_CLAIMS,   /* what must be there is not, or has another form */
    OIDC_ID_TOKEN, /* shows a client who logged in; it gives no access */
    OIDC_NO_RULE,  /* good, but nothing says what it may do (oidc/rules.h) */
    OIDC_END_MAX_,
};
const char *oidc_end_name(enum oidc_end end);

struct oidc_trust {
    const struct config_issuer *issuer;
    const struct oidc_keys *keys; /* NULL: there are none */
};

struct oidc_claims {
    size_t trust; /* index of whose it is: for each end after OIDC_ISSUER, and OIDC_OK */
    json_t *all;
    const char *subject; /* in `all` */
    wall_us expires_at;  /* as the token says, without leeway */
};

/* For OIDC_OK the caller frees ret->all; otherwise there is none. */
enum oidc_end oidc_verify(const char *token, size_t len, const struct oidc_trust *trusts, size_t count,
                          wall_us now, struct oidc_claims *ret);

#endif
