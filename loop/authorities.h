/*
 * The certificates of authorities that the peers of TLS connections are checked against. Reading them takes
 * tens of milliseconds, which libcurl would spend on the loop. Any thread.
 */
#ifndef LOOP_AUTHORITIES_H
#define LOOP_AUTHORITIES_H

#include <openssl/types.h>
#include <stdbool.h>

/* What SSL_CERT_FILE names, as everywhere with OpenSSL, else libcurl's own default; may be NULL. Static. */
const char *authorities_default_file(void);
/* Empty, and nobody is trusted, when the file cannot be read or has none. The caller frees it. */
X509_STORE *authorities_read(const char *file, bool *ret_any);

#endif
