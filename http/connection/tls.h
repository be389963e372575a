/*
 * The server's certificate and key (GnuTLS, by libmicrohttpd; MH-19). They are files, which are read again
 * when they changed: connections that are open go on, new ones get the new certificate. TLS 1.2 and later.
 *
 * libmicrohttpd hands no argument to the function that chooses a certificate: one server of a process has
 * TLS.
 */
#ifndef HTTP_CONNECTION_TLS_H
#define HTTP_CONNECTION_TLS_H

#include <gnutls/abstract.h>

#include "base/env.h"

enum {
    TLS_FILE_MAX = 256 * 1024,
    TLS_CHAIN_MAX = 16,
    TLS_NAMES_MAX = 16 * 1024, /* bytes of the names of client_ca's authorities, in DER */
};

#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct tls;

struct tls_files {
    const char *certificate; /* PEM: the server's, then those between it and its authority */
    const char *key;         /* PEM; not readable by everybody */
    const char *client_ca;   /* PEM; NULL: clients are not asked for certificates */
};

/* Reads the files, whose names are copied. NULL: *ret_error (the caller frees it) says what is wrong. */
struct tls *tls_open(const struct env *env, const struct tls_files *files, char **ret_error);
/* After the server has stopped. NULL is allowed. */
void tls_free(struct tls *tls);

enum tls_refresh_result {
    TLS_SAME,  /* the files did not change, or are just being changed */
    TLS_TAKEN, /* what they hold counts for new connections */
    TLS_FAULTY /* it cannot be used, as *ret_error says, once for each change; what was there before stays */
};
/* Reads the files again if they changed. Blocking; one thread, every second or so. */
enum tls_refresh_result tls_refresh(struct tls *tls, char **ret_error);

/* When the certificate in use ends. Any thread. */
wall_us tls_ends_at(struct tls *tls);

/* A client that showed a certificate. */
struct tls_client {
    char **names; /* its alternative names, "dns:..." and "uri:...", NULL-terminated; NULL: there is none that
                     is good */
    char *authority; /* distinguished name of who signed it */
    wall_us ends_at;
    uint64_t generation; /* of the authorities that it was held to */
};

/* Changes when the file of the authorities of clients does: who was trusted is looked at anew. Any thread. */
uint64_t tls_clients_generation(struct tls *tls);

/* The client of a session whose handshake is over; *ret is freed by tls_client_done. Its worker's thread. */
void tls_client(struct tls *tls, gnutls_session_t session, struct tls_client *ret);
void tls_client_done(struct tls_client *client);
/* The authorities of clients as they were at the start, for libmicrohttpd, which names them to clients; NULL:
 * clients are not asked. */
const char *tls_client_authorities(const struct tls *tls);

/* For libmicrohttpd: chooses the certificate of the server that was begun last. */
int tls_choose(gnutls_session_t session, const struct gnutls_cert_retr_st *info, gnutls_pcert_st **ret_certs,
               unsigned int *ret_count, gnutls_ocsp_data_st **ret_ocsp, unsigned int *ret_ocsp_count,
               gnutls_privkey_t *ret_key, unsigned int *ret_flags);
/* The server begins, or NULL: it has stopped. */
void tls_serve(struct tls *tls);

#endif
