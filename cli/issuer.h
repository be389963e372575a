/*
 * An issuer of single sign-on: where its endpoints are, and what it gives out. Its answers are bounded and
 * foreign. One thread; blocking.
 */
#ifndef CLI_ISSUER_H
#define CLI_ISSUER_H

#include "cli/shootctl.h"

struct issuer {
    char *url, *client_id, *scope;          /* as GET /v1/auth has them; scopes with blanks between */
    char *device_endpoint, *token_endpoint; /* NULL before issuer_discover, or when it has none */
    char *ca_file;                          /* NULL: the authorities of the system */
};
void issuer_done(struct issuer *issuer);
#define CLEANUP_ISSUER CLEANUP(issuer_done)

/*
 * Asks the server (GET /v1/auth) for the issuer of this address, or with NULL for the first that names a
 * client. END_OK, or an exit code after saying why there is none; with `quiet` nothing is said and nothing
 * repeated, and the question takes a few seconds at most.
 */
int issuer_of_server(struct cli *cli, const char *wanted, bool quiet, struct issuer *ret);
/* Reads its discovery document. END_OK with both endpoints, or an exit code after saying what is wrong. */
int issuer_discover(struct issuer *issuer);

/* A member of a form. */
struct form_field {
    const char *name, *value; /* a NULL value is left out */
};
/* Posts a form to an endpoint of the issuer, once. `ret` is freed with http_answer_done either way. */
void issuer_post(const char *endpoint, const char *ca_file, const struct form_field *fields, size_t count,
                 struct http_answer *ret);
/* Whether it is https, or plain http to this machine: else a secret would be read on its way. */
bool issuer_url_is_good(const char *url);

/* The tokens that an endpoint gave out. */
struct issued {
    char *token, *refresh_token; /* secret; the second may be NULL */
    int64_t expires_in_s;        /* -1: not said */
};
/* False when the answer has no token that can be sent. */
bool issued_read(const json_t *answer, struct issued *ret);
void issued_done(struct issued *issued);
#define CLEANUP_ISSUED CLEANUP(issued_done)
/* Why an issuer gave nothing: the caller frees it. */
char *issuer_reason(const struct http_answer *answer);

#endif
