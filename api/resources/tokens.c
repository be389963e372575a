/*
 * API tokens, for admins. In the view they are ordered by digest. Answers and cursors must not show digests,
 * so this list is ordered by id, which is cheap because there are few tokens.
 */
#include "api/resources/handlers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/reads.h"
#include "base/mem.h"
#include "view/render.h"

static int by_id(const void *a, const void *b)
{
    const struct api_token *const *x = a;
    const struct api_token *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Called between view_enter and view_leave. The caller frees the array. */
static const struct api_token **sorted_tokens(const struct view_snapshot *s, size_t *ret_count)
{
    size_t count = s->sections[VIEW_TOKENS].count;
    const struct api_token **tokens = mem_calloc(count + 1, sizeof(*tokens));
    struct view_cursor place = view_seek(s, VIEW_TOKENS, "");
    for (size_t i = 0; i < count; i++) {
        const struct view_entry *e = view_next(&place);
        assert(e && e->blob->subject);
        tokens[i] = e->blob->subject;
    }
    qsort(tokens, count, sizeof(*tokens), by_id);
    *ret_count = count;
    return tokens;
}

struct problem *handle_tokens(struct request *r)
{
    struct list_page page;
    struct problem *p = list_page_begin(&page, r);
    if (p)
        return p;
    size_t count;
    const struct view_snapshot *s = view_enter(r->api->options.view);
    const struct api_token **tokens = sorted_tokens(s, &count);
    for (size_t i = 0; i < count; i++) {
        const struct api_token *token = tokens[i];
        if (token->is_old || strcmp(token->id, page.after.key) <= 0 ||
            !projects_cover(r->token->projects, token->projects))
            continue;
        if (list_page_is_full(&page))
            break;
        list_page_add(&page, token->id, render_api_token(token));
    }
    view_leave(r->api->options.view);
    free(tokens);
    return list_page_end(&page);
}

struct problem *handle_token(struct request *r)
{
    size_t count;
    char etag[ETAG_BYTES];
    char *found = NULL;
    const struct view_snapshot *s = view_enter(r->api->options.view);
    const struct api_token **tokens = sorted_tokens(s, &count);
    for (size_t i = 0; i < count && !found; i++)
        if (!tokens[i]->is_old && !strcmp(tokens[i]->id, r->item) &&
            projects_cover(r->token->projects, tokens[i]->projects)) {
            json_t *doc CLEANUP_JSON = render_api_token(tokens[i]);
            found = json_text(doc);
            render_api_token_etag(tokens[i], found, etag);
        }
    view_leave(r->api->options.view);
    free(tokens);
    if (!found)
        return problem_new(PROBLEM_NOT_FOUND, "no token %s", r->item);
    return answer_with_tagged_text(r, found, strlen(found), etag);
}

struct problem *handle_token_delete(struct request *r)
{
    struct command *cmd = request_command(r, COMMAND_TOKEN_DELETE);
    cmd->token.disables_webhooks =
        r->params.given[PARAM_WEBHOOKS] && r->params.numbers[PARAM_WEBHOOKS] == 1 << WEBHOOKS_DISABLE;
    return request_park(r, cmd);
}
