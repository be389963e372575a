#include "model/api_token.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/json_values_private.h"
#include "model/string_list.h"

void api_token_set_secret(struct api_token *t, const struct env *env, char secret[static TOKEN_BYTES])
{
    token_make(env, secret);
    token_digest(secret, t->digest);
    (void)snprintf(t->last4, sizeof(t->last4), "%s", secret + strlen(secret) - 4);
}

struct api_token *api_token_new(const struct env *env, const char *name, enum role role, char **projects,
                                const char *created_by, char secret[static TOKEN_BYTES])
{
    assert(role < ROLE_MAX_ && projects && projects[0]);
    struct api_token *t = MEM_NEW(struct api_token);
    api_token_set_secret(t, env, secret);
    (void)id_new(env, ID_TOKEN, t->id);
    t->name = mem_strdup(name);
    t->role = role;
    t->projects = string_list_copy(projects);
    t->created_by = mem_strdup(created_by);
    t->created_at = env_wall(env);
    return t;
}

void api_token_free(struct api_token *t)
{
    if (!t)
        return;
    free(t->name);
    string_list_free(t->projects);
    free(t->created_by);
    free(t->description);
    free(t->issuer);
    free(t->subject);
    free(t);
}

struct api_token *api_token_copy(const struct api_token *t)
{
    struct api_token *copy = MEM_NEW(struct api_token);
    *copy = *t;
    copy->name = mem_strdup(t->name);
    copy->projects = string_list_copy(t->projects);
    copy->created_by = mem_strdup(t->created_by);
    copy->description = mem_strdup(t->description);
    copy->issuer = mem_strdup(t->issuer);
    copy->subject = mem_strdup(t->subject);
    return copy;
}

json_t *api_token_to_json(const struct api_token *t)
{
    json_t *doc = json_object();
    json_set_str(doc, "id", t->id);
    json_set_str(doc, "name", t->name);
    json_set_str(doc, "role", role_name(t->role));
    json_set_take(doc, "projects", string_list_to_json(t->projects));
    json_set_bytes(doc, "digest", t->digest, sizeof(t->digest));
    json_set_str(doc, "last4", t->last4);
    json_set_str(doc, "created_by", t->created_by);
    json_set_int(doc, "created_at", t->created_at);
    json_set_int(doc, "expires_at", t->expires_at);
    json_set_int(doc, "revoked_at", t->revoked_at);
    json_set_str(doc, "description", t->description);
    json_set_int(doc, "rotated_at", t->rotated_at);
    json_set_int(doc, "used_at", t->used_at);
    json_set_int(doc, "told_days", t->announced_days);
    if (t->old_ends_at)
        json_set_bytes(doc, "old_digest", t->old_digest, sizeof(t->old_digest));
    json_set_int(doc, "old_ends_at", t->old_ends_at);
    return doc;
}

static void read_rotation(struct api_token *t, const json_t *doc)
{
    size_t len = 0;
    uint8_t *digest CLEANUP_FREE = json_bytes(doc, "old_digest", &len);
    t->rotated_at = json_int(doc, "rotated_at", 0);
    if (!digest || len != sizeof(t->old_digest))
        return;
    memcpy(t->old_digest, digest, sizeof(t->old_digest));
    t->old_ends_at = json_int(doc, "old_ends_at", 0);
}

struct api_token *api_token_from_json(const json_t *doc)
{
    size_t digest_len = 0;
    uint8_t *digest CLEANUP_FREE = json_bytes(doc, "digest", &digest_len);
    int role = role_from_name(json_str(doc, "role"));
    struct api_token *t = MEM_NEW(struct api_token);
    if (!json_str(doc, "id") || role < 0 || !digest || digest_len != sizeof(t->digest)) {
        free(t);
        return NULL;
    }
    json_copy_str(doc, "id", t->id, sizeof(t->id));
    t->name = mem_strdup(json_str_or(doc, "name", ""));
    t->role = (enum role)role;
    t->projects = string_list_from_json(json_arr(doc, "projects"));
    memcpy(t->digest, digest, sizeof(t->digest));
    json_copy_str(doc, "last4", t->last4, sizeof(t->last4));
    t->created_by = mem_strdup(json_str(doc, "created_by"));
    t->created_at = json_int(doc, "created_at", 0);
    t->expires_at = json_int(doc, "expires_at", 0);
    t->revoked_at = json_int(doc, "revoked_at", 0);
    mem_set_str(&t->description, json_str(doc, "description"));
    t->used_at = json_int(doc, "used_at", 0);
    t->announced_days = (int)json_int(doc, "told_days", 0);
    read_rotation(t, doc);
    return t;
}

wall_us token_minute(wall_us now)
{
    return now - now % (60 * US_PER_S);
}

bool api_token_is_live(const struct api_token *t, wall_us now)
{
    return !t->revoked_at && (!t->expires_at || t->expires_at > now);
}

bool projects_include(char *const *list, const char *project)
{
    for (size_t i = 0; list && list[i]; i++)
        if (!strcmp(list[i], "*") || !strcmp(list[i], project))
            return true;
    return false;
}

bool api_token_sees_project(const struct api_token *t, const char *project)
{
    return projects_include(t->projects, project);
}

bool projects_cover(char *const *mine, char *const *theirs)
{
    for (size_t i = 0; theirs && theirs[i]; i++)
        if (!projects_include(mine, theirs[i]))
            return false;
    return true;
}
