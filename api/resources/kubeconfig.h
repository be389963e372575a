/*
 * Kubeconfigs as the answers of commands, and kubeconfigs without secrets: the user of those is a command
 * that asks shootd for a credential when kubectl needs one (client-go credential plugins, v1beta1 or v1). The
 * worker of the request.
 */
#ifndef API_RESOURCES_KUBECONFIG_H
#define API_RESOURCES_KUBECONFIG_H

#include <stdbool.h>

struct command;
struct problem;
struct request;

/* Asks the deciding side for a kubeconfig, as the parameters say; r->finish makes the answer. */
struct problem *kubeconfig_request(struct request *r);
/*
 * The file in the command's answer, as a secret that the caller frees; NULL when there is none. The expiry
 * (NULL: not known) is freed by the caller too; ret_expires_at may be NULL.
 */
char *kubeconfig_take_file(const struct command *cmd, char **ret_expires_at);

/* credential.c */

/*
 * Answers with a kubeconfig without secrets for the cluster of `kubeconfig`, which is borrowed. False when
 * that one lacks what is needed.
 */
bool credential_answer_exec(struct request *r, const char *kubeconfig);
/*
 * Checks the parameters of format=exec, and that the address of this server is known: `public_url`, or, when
 * it listens on loopback, what the client calls it.
 */
struct problem *credential_check_params(struct request *r);

#endif
