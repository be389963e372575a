/*
 * Asks Cleura whether the name of a new cluster is free: names are unique in the whole cloud. Without an
 * answer the create is decided without the check, because Cleura checks the name again. Commands for one name
 * share the call of the first one, and its time. Loop thread.
 */
#include <stdio.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/lookups/fetch.h"
#include "reconcile/lookups/lookup.h"
#include "reconcile/lookups/need.h"
#include "reconcile/world/waiting.h"

static bool never_kept(struct fetch *f ATTR_UNUSED)
{
    return false;
}

static struct problem *decide_without(struct fetch *f ATTR_UNUSED, struct command *cmd,
                                      const struct problem *problem ATTR_UNUSED)
{
    need_is_met(cmd, NEED_NAME);
    return NULL;
}

static const struct fetch_kind name_checks = {.size = sizeof(struct fetch),
                                              .late = "Cleura did not check the name in time",
                                              .is_kept = never_kept,
                                              .failed = decide_without};

static void on_name_checked(struct upstream_call *call, struct upstream_result *result)
{
    struct fetch *f = CONTAINER_OF(call, struct fetch, call);
    const bool is_answered = result->class == UPSTREAM_OK;
    const bool is_taken = is_answered && json_bool(result->document, "is_taken", false);
    LIST_FOR_EACH_SAFE (it, next, &f->waiters) {
        struct command *cmd = wait_take(CONTAINER_OF(it, struct waiting, link));
        cmd->facts.name_is_taken = is_taken;
        cmd->facts.name_is_free = is_answered && !is_taken;
        need_is_met(cmd, NEED_NAME);
    }
}

bool name_check(struct project *p, struct entity *e ATTR_UNUSED, struct command *cmd)
{
    const char *name = command_new_name(cmd);
    if (!upstream_supports(project_lane(p), UPSTREAM_NAME_TAKEN))
        return false;
    char key[FETCH_KEY_BYTES]; /* unlike the keys of other kinds, it begins with a word */
    (void)snprintf(key, sizeof(key), "name\n%s\n%s", p->name, name);
    struct fetch *f = fetch_find_or_add(p, &name_checks, NULL, key);
    if (!f->shoot)
        f->shoot = mem_strdup(name);
    if (fetch_wait(f, cmd, env_mono(f->r->env) + NEED_PATIENCE_MS * US_PER_MS))
        fetch_call(f, UPSTREAM_NAME_TAKEN, NULL, NEED_PATIENCE_MS * US_PER_MS, on_name_checked);
    return true;
}
