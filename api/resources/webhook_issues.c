#include "api/resources/webhook_issues.h"

#include "api/api_private.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/issues.h"
#include "model/webhook.h"

enum { NAME_MOST_BYTES = 200 };

static bool is_of_wanted_project(const struct request *r, const struct subscription *s)
{
    bool found = subscription_is_of_all_projects(s);
    for (size_t i = 0; !found && s->projects[i]; i++)
        found = param_lists(&r->params, PARAM_PROJECT, s->projects[i]);
    return found;
}

static json_t *issue_of(const struct subscription *s)
{
    const struct webhook_standing *standing = &s->standing;
    char *name CLEANUP_FREE = utf8_cut_copy(s->description ? s->description : s->url, NAME_MOST_BYTES);
    char *answer CLEANUP_FREE =
        standing->last_status ? mem_printf("the last answer was %d", standing->last_status)
                              : mem_printf("the last attempt failed (%s)",
                                           attempt_result_name((enum attempt_result)standing->last_result));
    char *description CLEANUP_FREE = mem_printf("%s: %u event%s; %s.", name, standing->pending,
                                                standing->pending == 1 ? " waits" : "s wait", answer);
    return issue_of_place(
        WEBHOOK_FAILS,
        &(struct issue_place){.name = s->id, .description = description, .since = standing->failing_since});
}

json_t *webhook_issues(const struct request *r, const struct view_snapshot *s)
{
    json_t *issues = json_array();
    struct view_cursor place = view_seek(s, VIEW_WEBHOOKS, "");
    if (r->token->role < ROLE_OPERATOR)
        return issues;
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct subscription *webhook = e->subject;
        if (subscription_state(webhook) == WEBHOOK_FAILING &&
            subscription_is_visible(webhook, r->token->projects) && is_of_wanted_project(r, webhook))
            json_append_take(issues, issue_of(webhook));
    }
    return issues;
}
