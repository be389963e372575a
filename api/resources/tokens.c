/*
 * API tokens, for admins. The view keeps them by digest, which no answer may show, a cursor neither; so the
 * list is ordered by id here. There are few tokens.
 */
#include "api/resources/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "api/commands.h"
#include "api/api_private.h"
#include "api/list.h"
#include "base/mem.h"
#include "view/render.h"

static int by_id(const void *a, const void *b)
{
    const struct api_token *const *x = a;
    const struct api_token *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Inside the view's read section. The caller frees the array. */
static const struct api_token **sorted_tokens(const struct view_snapshot *s, size_t *ret_count)
{
    size_t count = s->sections[VIEW_TOKENS].count;
    const struct api_token **tokens = mem_calloc(count + 1, sizeof(*tokens));
    struct view_cursor place = view_seek(s, VIEW_TOKENS, "");
    for (size_t i = 0; i < count; i++)
        tokens[i] = view_next(&place)->blob->subject;
    qsort(tokens, count, sizeof(*tokens), by_id);
    *ret_count = count;
    return tokens;
}

static void add_token(struct buffer *out, const struct api_token *token)
{
    json_t *doc CLEANUP_JSON = render_api_token(token);
    char *text CLEANUP_FREE = json_text(doc);
    list_add(out, text, strlen(text));
}

struct problem *handle_tokens(struct request *r)
{
    struct cursor_place after, next = {.number_count = 0};
    struct problem *p = list_place(r, &after);
    if (p)
        return p;
    struct buffer out CLEANUP_BUFFER;
    list_open(&out);
    int64_t left = param_number(&r->params, PARAM_LIMIT);
    bool more = false;
    size_t count;
    const struct view_snapshot *s = view_enter(r->api->options.view);
    const struct api_token **tokens = sorted_tokens(s, &count);
    for (size_t i = 0; i < count && !more; i++) {
        if (strcmp(tokens[i]->id, after.key) <= 0 || !projects_cover(r->token->projects, tokens[i]->projects))
            continue;
        more = left-- == 0;
        if (more)
            break;
        add_token(&out, tokens[i]);
        (void)cursor_place_set(&next, tokens[i]->id);
    }
    view_leave(r->api->options.view);
    free(tokens);
    return list_close(r, &out, more ? &next : NULL);
}

struct problem *handle_token_create(struct request *r)
{
    return request_park(r, request_command(r, COMMAND_TOKEN_CREATE));
}

struct problem *handle_token_delete(struct request *r)
{
    struct command *cmd = request_command(r, COMMAND_TOKEN_DELETE);
    cmd->token.disables_webhooks =
        r->params.given[PARAM_WEBHOOKS] && r->params.numbers[PARAM_WEBHOOKS] == 1 << WEBHOOKS_DISABLE;
    return request_park(r, cmd);
}
