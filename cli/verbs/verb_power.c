/* The commands that are one action of the API on each named cluster: hibernate, wake, retry, ...; and the
 * command `cancel`, which ends an operation. */
#include "cli/verbs/verb_change.h"
#include "cli/verbs/verbs.h"

static int act(struct cli *cli, const char *action, const char *done)
{
    int code = cli_connect(cli), first = END_OK;
    const char *project = code == END_OK ? cli_project(cli, &code) : NULL;
    struct changes changes = {.project = project};
    if (!project)
        return code;
    for (size_t i = 0; i < cli->parsed->argument_count; i++) {
        struct api_target target CLEANUP_TARGET;
        char key[KEY_BYTES];
        const struct cli_request request = {.idempotency_key = change_key(key)};
        api_target_init(&target, API_ACTION, project, cli->parsed->arguments[i], action);
        code = change_send(cli, &changes, cli->parsed->arguments[i], &target, &request, done);
        first = first == END_OK ? code : first;
    }
    return changes_finish(cli, &changes, first);
}

int verb_hibernate(struct cli *cli)
{
    return act(cli, "hibernate", "already hibernated");
}

int verb_wake(struct cli *cli)
{
    return act(cli, "wake", "already awake");
}

/* The command has the name of the action. */
int verb_action(struct cli *cli)
{
    return act(cli, cli->parsed->command->name, "nothing to do");
}

int verb_rotate_ca(struct cli *cli)
{
    const bool is_second = parsed_on(cli->parsed, "complete");
    return act(cli, is_second ? "rotate-ca-complete" : "rotate-ca-prepare", "nothing to do");
}

int verb_cancel(struct cli *cli)
{
    int code = cli_connect(cli), first = END_OK;
    for (size_t i = 0; code == END_OK && i < cli->parsed->argument_count; i++) {
        struct api_target target CLEANUP_TARGET;
        struct cli_answer answer CLEANUP_ANSWER = {0};
        const char *id = cli->parsed->arguments[i];
        api_target_init(&target, API_CANCEL, id, NULL, NULL);
        const int ended = api_call(cli, &target, NULL, &answer);
        if (ended == END_OK)
            cli_note("%s: %s", id, json_str_or(answer.json, "status", "is cancelled at its next step"));
        first = first == END_OK ? ended : first;
    }
    return code == END_OK ? first : code;
}
