/*
 * The server's certificate and key (libmicrohttpd uses GnuTLS; MH-19). Certificate and key are files, which
 * are read again when they change. Open connections continue with the old certificate, and new connections
 * get the new one. TLS 1.2 or later is needed.
 *
 * libmicrohttpd passes no argument to the function that chooses a certificate, so only one server in a
 * process can use TLS.
 */
#ifndef HTTP_CONNECTION_TLS_H
#define HTTP_CONNECTION_TLS_H

#include <gnutls/abstract.h>

#include "base/env.h"

enum {
    TLS_FILE_MAX = 256 * 1024,
    TLS_CHAIN_MAX = 16,
    TLS_NAMES_MAX = 16 * 1024, /* the limit of bytes of the authorities' names in client_ca, in DER */
};

#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct tls;

struct tls_files {
    const char *certificate; /* PEM: the server's certificate, then the certificates up to its authority */
    const char *key;         /* PEM; the file must not be readable by everyone */
    const char *client_ca;   /* PEM; NULL: no client certificates are accepted */
};

/* Reads the files. Their names are copied. Returns NULL on failure; *ret_error is then the reason, which the
 * caller frees. */
struct tls *tls_open(const struct env *env, const struct tls_files *files, char **ret_error);
/* Called after the server has stopped. NULL is allowed. */
void tls_free(struct tls *tls);

enum tls_refresh_result {
    TLS_SAME,  /* the files did not change, or are being changed */
    TLS_TAKEN, /* new connections use the new content */
    TLS_FAULTY /* the new content is not usable, and the old content stays; returned once for each change,
                * with the reason in *ret_error */
};
/* Reads the files again if they changed. Blocking; one thread, about every second. */
enum tls_refresh_result tls_refresh(struct tls *tls, char **ret_error);

/* When the current certificate expires. Any thread. */
wall_us tls_ends_at(struct tls *tls);

/* A client, as described by its certificate. */
struct tls_client {
    char **names;    /* the alternative names, "dns:..." and "uri:...", NULL-terminated; NULL: there is no
                      * valid certificate */
    char *authority; /* the distinguished name of the certificate's issuer */
    wall_us ends_at;
    uint64_t generation; /* the generation of the authorities with which the certificate was verified */
};

/* Returns the generation of the client authorities. It changes when their file changes; client certificates
 * are then verified again. Any thread. */
uint64_t tls_clients_generation(struct tls *tls);

/* Finds the client of a session after its handshake; the caller frees *ret with tls_client_done. Runs on the
 * worker's thread. */
void tls_client(struct tls *tls, gnutls_session_t session, struct tls_client *ret);
void tls_client_done(struct tls_client *client);
/* Returns the client authorities that were read at the start. libmicrohttpd sends their names. NULL: client
 * certificates are not used. */
const char *tls_client_authorities(const struct tls *tls);

/* For libmicrohttpd: chooses the certificate of the server in tls_serve. */
int tls_choose(gnutls_session_t session, const struct gnutls_cert_retr_st *info, gnutls_pcert_st **ret_certs,
               unsigned int *ret_count, gnutls_ocsp_data_st **ret_ocsp, unsigned int *ret_ocsp_count,
               gnutls_privkey_t *ret_key, unsigned int *ret_flags);
/* Sets the server that uses TLS; NULL: the server has stopped. */
void tls_serve(struct tls *tls);

#endif
