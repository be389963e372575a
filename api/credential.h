/*
 * Kubeconfigs without secrets: their user is a command that asks shootd for a credential when kubectl needs
 * one (client-go credential plugins, v1beta1 or v1). The worker of the request.
 */
#ifndef API_CREDENTIAL_H
#define API_CREDENTIAL_H

#include <stdbool.h>

struct request;

/*
 * Answers with such a kubeconfig for the cluster of `kubeconfig`, which is borrowed. False when that one
 * lacks what is needed.
 */
bool credential_reply_exec(struct request *r, const char *kubeconfig);
/*
 * Checks the parameters of format=exec, and that the address of this server is known: `public_url`, or, when
 * it listens on loopback, what the client calls it. False when the answer (400) was decided.
 */
bool credential_check_params(struct request *r);

#endif
