/* The functions of the commands in the table. Each returns an exit code. */
#ifndef CLI_VERBS_VERBS_H
#define CLI_VERBS_VERBS_H

struct cli;

int verb_help(struct cli *cli);
int verb_version(struct cli *cli);
int verb_login(struct cli *cli);
int verb_context(struct cli *cli);
int verb_status(struct cli *cli);
int verb_list(struct cli *cli);
int verb_get(struct cli *cli);
int verb_describe(struct cli *cli);
int verb_catalog(struct cli *cli);
int verb_create(struct cli *cli);
int verb_delete(struct cli *cli);
int verb_hibernate(struct cli *cli);
int verb_wake(struct cli *cli);
int verb_action(struct cli *cli);
int verb_rotate_ca(struct cli *cli);
int verb_cancel(struct cli *cli);
int verb_upgrade(struct cli *cli);
int verb_events(struct cli *cli);
int verb_kubeconfig(struct cli *cli);
int verb_kubectl(struct cli *cli);
int verb_credential(struct cli *cli);
int verb_wait(struct cli *cli);
int verb_apply(struct cli *cli);
int verb_diff(struct cli *cli);
int verb_completion(struct cli *cli);
int verb_complete(struct cli *cli);

#endif
