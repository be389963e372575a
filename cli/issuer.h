/*
 * An issuer of single sign-on: its endpoints and the tokens that it issues. Its answers are not trusted, and
 * their size is limited. One thread; blocking.
 */
#ifndef CLI_ISSUER_H
#define CLI_ISSUER_H

#include "cli/shootctl.h"

struct cli_issuer {
    char *url, *client_id, *scope;          /* the values that GET /v1/auth lists; the scopes are separated by
                                             * blanks */
    char *device_endpoint, *token_endpoint; /* its endpoints; NULL before issuer_discover, or when the issuer
                                             * has no such endpoint */
    char *ca_file;                          /* NULL: the certificate authorities of the system */
};
void issuer_done(struct cli_issuer *issuer);
#define CLEANUP_ISSUER CLEANUP(issuer_done)

/* Reads the discovery document of the issuer. Returns END_OK when both endpoints are set; otherwise reports
 * the fault and returns an exit code. */
int issuer_discover(struct cli_issuer *issuer);

/* A member of a form. */
struct form_field {
    const char *name, *value; /* a member with a NULL value is left out */
};
/* Posts a form to an endpoint of the issuer, once. The caller frees `ret` with http_answer_done in any
 * case. */
void issuer_post(const char *endpoint, const char *ca_file, const struct form_field *fields, size_t count,
                 struct cli_answer *ret);
/* Whether the address is https, or plain http to this machine. With any other address, other people could
 * read a secret on the network. */
bool issuer_url_is_good(const char *url);

/* The tokens that an issuer issued. */
struct issued {
    char *token, *refresh_token; /* secrets; the second may be NULL */
    int64_t expires_in_s;        /* the lifetime; -1: the issuer named no lifetime */
};
/* Reads the answer of an issuer. False when it has no token that can be sent in a header. */
bool issued_read(const json_t *answer, struct issued *ret);
void issued_done(struct issued *issued);
#define CLEANUP_ISSUED CLEANUP(issued_done)
/* Returns the reason why an issuer has issued no token. The caller frees it. */
char *issuer_reason(const struct cli_answer *answer);

#endif
