/* Makes X.509 certificates for kubeconfigs. Only this file uses libcrypto. All returned texts are base64 of
 * PEM, as in kubeconfigs; the caller frees them. Times are seconds since 1970. */
#ifndef SIMULATOR_CLOUD_CERTIFICATE_H
#define SIMULATOR_CLOUD_CERTIFICATE_H

#include <stdint.h>

struct kubeconfig_authority; /* one key pair signs for all shoots; each shoot and each rotation has its own CA
                              */

struct kubeconfig_authority *kubeconfig_authority_new(void);
void kubeconfig_authority_free(struct kubeconfig_authority *authority);

struct client_credentials {
    char *certificate;
    char *key;
};

/* Returns a self-signed CA certificate. When `previous` is not NULL, the previous certificate follows the new
 * one. */
char *certificate_ca_base64(struct kubeconfig_authority *authority, const char *name, const char *previous,
                            int64_t from, int64_t until);
struct client_credentials certificate_client(struct kubeconfig_authority *authority, const char *issuer,
                                             const char *user, int64_t from, int64_t until);

#endif
