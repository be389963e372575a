/*
 * Who asks, and may they. The token is a row of the view: shape and checksum first, then one digest and one
 * look-up; nothing here touches the store. Unknown, expired and revoked tokens get one and the same answer
 * (AU-8).
 */
#include "api/checks.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/problem_reply.h"
#include "api/routes.h"
#include "base/token.h"

/* Copies the credentials out of "Bearer <token>"; false for another scheme or another shape. */
static bool bearer_token(const char *field, char token[static TOKEN_BYTES])
{
    static const char scheme[] = "Bearer";
    size_t len = sizeof(scheme) - 1;
    if (strncasecmp(field, scheme, len) != 0 || field[len] != ' ')
        return false;
    field += len + strspn(field + len, " ");
    if (strnlen(field, TOKEN_BYTES) != TOKEN_LEN)
        return false;
    memcpy(token, field, TOKEN_BYTES);
    return token_is_wellformed(token);
}

static bool token_is_live(const struct request *r, const struct api_token *token)
{
    wall_us now = env_wall(r->api->options.env);
    return !token->revoked_at && (!token->expires_at || token->expires_at > now);
}

static bool look_up(struct request *r, const char *token)
{
    uint8_t digest[TOKEN_DIGEST_BYTES];
    char key[TOKEN_HEX_BYTES];
    token_digest(token, digest);
    (void)sodium_bin2hex(key, sizeof(key), digest, sizeof(digest));
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_blob *blob = view_find(s, VIEW_TOKENS, key);
    const struct api_token *found = blob ? blob->subject : NULL;
    bool ok = found && !sodium_memcmp(found->digest, digest, sizeof(digest)) && token_is_live(r, found);
    if (ok) {
        r->token_blob = view_blob_ref(blob);
        r->token = found;
    }
    view_leave(r->api->options.view);
    return ok;
}

bool check_token(struct request *r)
{
    if (r->route->flags & ROUTE_PUBLIC)
        return true;
    const char *field = r->headers.values[HEADER_AUTHORIZATION];
    if (!field) {
        respond_with(r, PROBLEM_UNAUTHENTICATED, "This operation needs a bearer token.");
        return false;
    }
    char token[TOKEN_BYTES];
    bool ok = bearer_token(field, token) && look_up(r, token);
    sodium_memzero(token, sizeof(token));
    if (!ok)
        respond_with(r, PROBLEM_INVALID_TOKEN, "The token is not known, expired or revoked.");
    return ok;
}

bool check_permission(struct request *r)
{
    if (!r->token)
        return true;
    if (r->token->role < r->route->role) {
        respond_with(r, PROBLEM_FORBIDDEN, "This operation needs the role %s; the token has the role %s.",
                     role_name(r->route->role), role_name(r->token->role));
        request_tell(r, request_command(r, COMMAND_AUDIT_DENIED));
        return false;
    }
    if (r->project && (!config_project(r->api->options.config, r->project) ||
                       !api_token_sees_project(r->token, r->project))) {
        respond_with(r, PROBLEM_PROJECT_NOT_FOUND,
                     "There is no project of this name that the token may see.");
        return false;
    }
    return true;
}
