/* Kubeconfigs as the answers of commands. The worker of the request. */
#ifndef API_KUBECONFIG_H
#define API_KUBECONFIG_H

struct command;
struct request;

/* Asks the deciding side for one, as the parameters say; r->finish makes the answer. */
void kubeconfig_request(struct request *r);
/*
 * The file in the command's answer, as a secret that the caller frees; NULL when there is none. The expiry
 * (NULL: not known) is freed by the caller too; ret_expires_at may be NULL.
 */
char *kubeconfig_take_file(const struct command *cmd, char **ret_expires_at);

#endif
