/* The commands `hibernate` and `wake`. */
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
