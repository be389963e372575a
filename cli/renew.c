#include "cli/renew.h"

#include <assert.h>
#include <string.h>

#include "base/env.h"
#include "base/mem.h"
#include "base/timefmt.h"

enum { MARGIN_S = 60, AGAIN_S = 30, MESSAGE_BYTES = 64 * 1024, LONGEST_S = 10 * 365 * 86400 };

/* Sets `expires_at` to `expires_in_s` seconds from now. A negative `expires_in_s` means that the time is not
 * known. */
static void set_end(json_t *login, int64_t expires_in_s)
{
    char text[TIME_TEXT_BYTES];
    int64_t seconds = expires_in_s < LONGEST_S ? expires_in_s : LONGEST_S;
    json_set_str(login, "expires_at",
                 expires_in_s < 0 ? NULL
                                  : time_rfc3339(env_wall(env_real()) + seconds * US_PER_S, false, text));
}

json_t *renew_kept(const struct cli_issuer *issuer, const struct issued *issued)
{
    assert(issued->token && issuer->token_endpoint);
    if (!issued->refresh_token)
        return NULL;
    json_t *login = json_object();
    json_set_str(login, "issuer", issuer->url);
    json_set_str(login, "client_id", issuer->client_id);
    json_set_str(login, "token_endpoint", issuer->token_endpoint);
    if (issuer->ca_file)
        json_set_str(login, "ca_file", issuer->ca_file);
    json_set_str(login, "refresh_token", issued->refresh_token);
    set_end(login, issued->expires_in_s);
    return login;
}

/* Whether the token expires soon. When its expiry is not known, the token is not renewed; the server reports
 * later that the token has expired. */
static bool is_due(const json_t *login)
{
    wall_us end;
    const char *text = json_str(login, "expires_at");
    return text && time_parse_rfc3339(text, &end) && env_wall(env_real()) >= end - MARGIN_S * US_PER_S;
}

/* Makes the token of the context the token that this run sends. */
static void adopt(struct cli_settings *settings, const json_t *context)
{
    assert(json_str(context, "token"));
    mem_free_secret(settings->token.value);
    settings->token.value = mem_strdup(json_str(context, "token"));
    json_decref(settings->login);
    settings->login = json_deep_copy(json_obj(context, "login"));
}

static bool fetch(const json_t *login, struct issued *ret, struct buffer *fault)
{
    struct cli_answer answer CLEANUP_ANSWER = {0};
    const char *endpoint = json_str_or(login, "token_endpoint", "");
    const struct form_field fields[] = {{"grant_type", "refresh_token"},
                                        {"refresh_token", json_str(login, "refresh_token")},
                                        {"client_id", json_str(login, "client_id")}};
    *ret = (struct issued){0};
    if (!issuer_url_is_good(endpoint)) {
        buffer_add_str(fault, "the context names no token endpoint");
        return false;
    }
    issuer_post(endpoint, json_str(login, "ca_file"), fields, ARRAY_LEN(fields), &answer);
    if (answer.end == HTTP_ANSWERED && answer.status == 200 && issued_read(answer.json, ret))
        return true;
    char *reason CLEANUP_FREE = issuer_reason(&answer);
    buffer_add_str(fault, reason);
    return false;
}

/* Renews the token while the lock is held, unless another shootctl has renewed it already: a refresh token
 * can be used only once. For the same reason the file is written before, with its old content: an issuer
 * revokes the login of somebody who uses a refresh token again, because the next one could not be stored. */
static bool renew(const struct contexts_edit *edit, struct cli_settings *settings, struct buffer *fault)
{
    struct issued issued CLEANUP_ISSUED = {0};
    json_t *context = contexts_find(edit->file, settings->context.value), *login = json_obj(context, "login");
    if (!login || !json_str(context, "token")) {
        buffer_add_str(fault, "the context no longer has a login");
        return false;
    }
    if (!is_due(login)) {
        adopt(settings, context);
        return false; /* there is nothing to write */
    }
    if (!contexts_edit_try(edit, fault) || !fetch(login, &issued, fault))
        return false;
    json_set_str(context, "token", issued.token);
    if (issued.refresh_token)
        json_set_str(login, "refresh_token", issued.refresh_token);
    set_end(login, issued.expires_in_s);
    adopt(settings, context);
    return true;
}

const char *renew_token(struct cli *cli)
{
    struct cli_settings *s = &cli->settings;
    struct buffer fault CLEANUP_BUFFER = {0};
    if (!s->login || !is_due(s->login) || env_mono(env_real()) < s->renew_after)
        return s->token.value;
    buffer_init(&fault, MESSAGE_BYTES);
    struct contexts_edit edit CLEANUP_CONTEXTS_EDIT;
    if (contexts_edit_begin(&edit, &fault) && renew(&edit, s, &fault))
        (void)contexts_edit_store(&edit, &fault);
    if (fault.len) {
        cli_note("shootctl: the token could not be renewed at %s: %s", json_str_or(s->login, "issuer", "?"),
                 fault.data);
        cli_note("  'shootctl login %s --device' logs in again", s->url.value);
        s->renew_after = env_mono(env_real()) + AGAIN_S * US_PER_S;
    }
    return s->token.value;
}
