/* Admin kubeconfigs with real, short-lived client certificates. One key pair signs for all shoots; each
 * shoot and each rotation has a CA certificate of its own. */
#ifndef SIMULATOR_KUBECONFIG_H
#define SIMULATOR_KUBECONFIG_H

struct kubeconfig_authority;

struct kubeconfig_authority *kubeconfig_authority_new(void);
void kubeconfig_authority_free(struct kubeconfig_authority *authority);

#endif
