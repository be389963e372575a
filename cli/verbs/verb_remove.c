/* The command `delete`; on a terminal the user must type the name again. */
#include <string.h>

#include "base/mem.h"
#include "cli/verbs/verb_change.h"
#include "cli/verbs/verb_clusters.h"
#include "cli/verbs/verbs.h"

/* Asks for the name, because a user may type `y` out of habit. */
static bool is_meant(const struct cli *cli, const char *project, const char *name)
{
    if (parsed_on(cli->parsed, "yes"))
        return true;
    if (!cli_can_ask(cli)) {
        (void)cli_fail(END_USAGE, "cannot ask whether to delete %s: add --yes", name);
        return false;
    }
    char *question CLEANUP_FREE =
        mem_printf("%s/%s and everything in it will be deleted. Type its name to confirm:  ", project, name);
    char *typed CLEANUP_FREE = terminal_ask(question);
    if (typed && strcmp(typed, name) == 0)
        return true;
    (void)cli_fail(END_REFUSED, "the typed name is not the name of the cluster: nothing was deleted");
    return false;
}

int verb_delete(struct cli *cli)
{
    int code = cli_connect(cli), first = END_OK;
    const char *project = code == END_OK ? cli_project(cli, &code) : NULL;
    struct changes changes = {.project = project};
    if (!project)
        return code;
    for (size_t i = 0; i < cli->parsed->argument_count; i++) {
        const char *name = cli->parsed->arguments[i];
        struct api_target target CLEANUP_TARGET;
        struct seen_cluster seen CLEANUP_SEEN;
        api_target_init(&target, API_DELETE, project, name, NULL);
        code = seen_cluster_read(cli, project, name, false, &seen);
        if (code == END_OK && !is_meant(cli, project, name))
            code = change_refusal(cli);
        if (code == END_OK)
            code = change_send(cli, &changes, name, &target, &(struct cli_request){.etag = seen.etag},
                               "deleted");
        first = first == END_OK ? code : first;
    }
    return changes_finish(cli, &changes, first);
}
