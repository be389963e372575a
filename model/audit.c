#include "model/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/cluster.h"

static const char *const outcome_names[AUDIT_OUTCOME_MAX_] = {
    [AUDIT_SUCCESS] = "success",
    [AUDIT_DENIED] = "denied",
    [AUDIT_ERROR] = "error",
};

const char *audit_outcome_name(int outcome)
{
    return outcome_names[outcome];
}

int audit_outcome_from_name(const char *name)
{
    for (int i = 0; i < AUDIT_OUTCOME_MAX_; i++)
        if (!strcmp(name, outcome_names[i]))
            return i;
    return -1;
}

static void entry_done(struct audit_entry *e)
{
    free(e->token_id);
    free(e->action);
    free(e->project);
    free(e->cluster);
    free(e->body);
}

void audit_entry_free(struct audit_entry *e)
{
    if (!e)
        return;
    entry_done(e);
    free(e);
}

static char **copy(char *const *list)
{
    return list ? string_list_copy(list) : NULL;
}

struct audit_query audit_query_copy(const struct audit_query *q)
{
    return (struct audit_query){
        .before = q->before,
        .limit = q->limit,
        .projects = copy(q->projects),
        .clusters = copy(q->clusters),
        .actions = copy(q->actions),
        .tokens = copy(q->tokens),
        .outcomes = q->outcomes,
        .own = mem_strdup(q->own),
    };
}

void audit_query_done(struct audit_query *q)
{
    string_list_free(q->projects);
    string_list_free(q->clusters);
    string_list_free(q->actions);
    string_list_free(q->tokens);
    free(q->own);
    *q = (struct audit_query){0};
}

void audit_page_free(struct audit_page *page)
{
    if (!page)
        return;
    for (size_t i = 0; i < page->count; i++)
        entry_done(&page->entries[i]);
    free(page->entries);
    free(page);
}
