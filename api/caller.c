#include "api/caller.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "base/ids.h"
#include "base/lock.h"
#include "base/mem.h"
#include "model/command.h"
#include "model/string_list.h"
#include "oidc/oidc.h"
#include "view/view.h"

enum { WAYS = 4, SETS = JWT_KEPT_MAX / WAYS, NAME_MAX_BYTES = 100, ID_DIGITS = 32 };

struct jwt_entry {
    uint8_t digest[TOKEN_DIGEST_BYTES];
    struct view_blob *caller; /* NULL: the entry is free */
    mono_us until;
};

void jwt_cache_init(struct jwt_cache *cache)
{
    cache->entries = mem_calloc(JWT_KEPT_MAX, sizeof(*cache->entries));
    for (size_t i = 0; i < JWT_CACHE_LOCKS; i++)
        mutex_init(&cache->locks[i]);
}

void jwt_cache_done(struct jwt_cache *cache)
{
    for (size_t i = 0; i < JWT_KEPT_MAX; i++)
        view_blob_unref(cache->entries[i].caller);
    free(cache->entries);
    for (size_t i = 0; i < JWT_CACHE_LOCKS; i++)
        mutex_done(&cache->locks[i]);
}

bool jwt_is_one(const char *token)
{
    return strchr(token, '.') != NULL;
}

/* ---- the caller ---- */

static void free_caller(void *token)
{
    api_token_free(token);
}

/* The id depends only on issuer and subject, so it stays the same for all their JWTs. */
static void set_id(struct api_token *token, const char *kind)
{
    char *text CLEANUP_FREE = mem_printf("%s\n%s\n%s", kind, token->issuer, token->subject);
    char hex[TOKEN_HEX_BYTES];
    token_digest(text, token->digest);
    token_hex(token->digest, hex);
    (void)snprintf(token->id, sizeof(token->id), "%s_%.*s", kind, ID_DIGITS, hex);
}

/* Takes over the content of the identity. */
static struct view_blob *make_caller(struct oidc_identity *identity)
{
    struct api_token *token = MEM_NEW(struct api_token);
    char name[NAME_MAX_BYTES + 1];
    assert(identity->issuer && identity->subject && identity->generation);
    (void)snprintf(name, sizeof(name), "oidc:%s", identity->subject);
    token->name = mem_strdup(name);
    token->issuer = TAKE_PTR(identity->issuer);
    token->subject = TAKE_PTR(identity->subject);
    token->role = identity->role;
    token->projects = TAKE_PTR(identity->projects);
    token->expires_at = identity->expires_at;
    token->found_by_generation = identity->generation;
    set_id(token, "oidc");
    return view_blob_new("", mem_strdup(""), 0, token, free_caller);
}

/* Returns the current generation of the issuer, or of the rules for certificates and their authorities. A
 * generation number only grows, and a caller stores the generation in which it was accepted. */
static uint64_t generation_in_force(const struct api *api, bool is_certificate, const char *issuer)
{
    if (!is_certificate)
        return oidc_generation(api->options.oidc, issuer);
    return atomic_load(&api->clients_generation) + tls_clients_generation(api->options.tls);
}

static bool holds(const struct api *api, bool is_certificate, const char *issuer, wall_us expires_at,
                  uint64_t found_by)
{
    const int64_t leeway = is_certificate ? 0 : OIDC_LEEWAY_S * US_PER_S;
    return expires_at + leeway > env_wall(api->options.env) &&
           found_by == generation_in_force(api, is_certificate, issuer);
}

bool caller_holds(const struct api *api, const struct api_token *caller)
{
    assert(caller->issuer);
    return holds(api, caller->is_certificate, caller->issuer, caller->expires_at,
                 caller->found_by_generation);
}

/* Loop thread. */
static bool command_caller_holds(const struct command_caller *caller)
{
    assert(caller->holds_ctx && caller->issuer);
    return holds(caller->holds_ctx, caller->is_certificate, caller->issuer, caller->expires_at,
                 caller->found_by_generation);
}

void caller_of_token(const struct api *api, const struct api_token *token, struct command_caller *ret)
{
    assert(*token->id && token->name && !ret->token_name); /* the command has no other caller */
    memcpy(ret->token_id, token->id, sizeof(ret->token_id));
    memcpy(ret->digest, token->digest, sizeof(ret->digest));
    ret->token_name = mem_strdup(token->name);
    ret->role = token->role;
    ret->projects = string_list_copy(token->projects);
    if (!token->issuer)
        return;
    ret->issuer = mem_strdup(token->issuer);
    ret->subject = mem_strdup(token->subject);
    ret->expires_at = token->expires_at;
    ret->holds = command_caller_holds;
    ret->holds_ctx = api;
    ret->is_certificate = token->is_certificate;
    ret->found_by_generation = token->found_by_generation;
}

/* ---- the cache; its places are chosen by bits of the digests, which are evenly distributed ---- */

static size_t set_of(const uint8_t digest[static TOKEN_DIGEST_BYTES])
{
    uint64_t number;
    memcpy(&number, digest, sizeof(number));
    return number % SETS;
}

static bool is_good(const struct api *api, const struct jwt_entry *entry, mono_us now)
{
    return entry->caller && entry->until > now && caller_holds(api, entry->caller->subject);
}

static struct view_blob *find_kept(struct api *api, const uint8_t digest[static TOKEN_DIGEST_BYTES],
                                   mono_us now)
{
    const size_t set = set_of(digest);
    struct jwt_entry *ways = &api->jwts.entries[set * WAYS];
    pthread_mutex_t *lock = &api->jwts.locks[set % JWT_CACHE_LOCKS];
    struct view_blob *found = NULL;
    mutex_lock(lock);
    for (size_t i = 0; i < WAYS && !found; i++)
        if (is_good(api, &ways[i], now) && !sodium_memcmp(ways[i].digest, digest, TOKEN_DIGEST_BYTES))
            found = view_blob_ref(ways[i].caller);
    mutex_unlock(lock);
    return found;
}

/* Stores the caller in a free entry, or in place of the entry that expires first. */
static void keep(struct api *api, const uint8_t digest[static TOKEN_DIGEST_BYTES], struct view_blob *caller,
                 mono_us until)
{
    const size_t set = set_of(digest);
    assert(set < SETS && caller->subject);
    struct jwt_entry *ways = &api->jwts.entries[set * WAYS], *place = ways;
    pthread_mutex_t *lock = &api->jwts.locks[set % JWT_CACHE_LOCKS];
    mutex_lock(lock);
    for (size_t i = 1; i < WAYS; i++)
        if (ways[i].until < place->until)
            place = &ways[i];
    struct view_blob *before = place->caller;
    *place = (struct jwt_entry){.caller = view_blob_ref(caller), .until = until};
    memcpy(place->digest, digest, TOKEN_DIGEST_BYTES);
    mutex_unlock(lock);
    view_blob_unref(before);
}

struct view_blob *jwt_caller_kept(struct api *api, const uint8_t digest[static TOKEN_DIGEST_BYTES])
{
    return find_kept(api, digest, env_mono(api->options.env));
}

enum jwt_end jwt_caller_check(struct api *api, const char *token,
                              const uint8_t digest[static TOKEN_DIGEST_BYTES], struct view_blob **ret_caller)
{
    const struct env *env = api->options.env;
    const mono_us now = env_mono(env);
    struct oidc_identity identity;
    bool awaits_keys;
    *ret_caller = find_kept(api, digest, now);
    if (*ret_caller) /* meanwhile another request with the same token has stored the caller */
        return JWT_VALID;
    enum oidc_end end = oidc_check(api->options.oidc, token, strlen(token), &identity, &awaits_keys);
    if (end == OIDC_KEYS_MISSING)
        return awaits_keys ? JWT_KEYS_AWAITED : JWT_KEYS_MISSING;
    if (end != OIDC_OK && end != OIDC_NO_RULE)
        return JWT_NOT_VALID;
    int64_t left = identity.expires_at - env_wall(env);
    left = left < JWT_KEPT_S * US_PER_S ? left : JWT_KEPT_S * US_PER_S;
    *ret_caller = make_caller(&identity);
    if (left > 0)
        keep(api, digest, *ret_caller, now + left);
    return JWT_VALID;
}

/* ---- client certificates ---- */

static bool has_name(const struct tls_client *client, const char *name)
{
    for (char *const *one = client->names; *one; one++)
        if (!strcmp(*one, name))
            return true;
    return false;
}

/* Returns the first rule that has one of the certificate's names; NULL: no rule has one. */
static const struct config_client *client_rule(const struct config *config, const struct tls_client *client)
{
    for (size_t i = 0; i < config->tls.client_count; i++)
        if (has_name(client, config->tls.clients[i].name))
            return &config->tls.clients[i];
    return NULL;
}

struct view_blob *certificate_caller(const struct api *api, const struct tls_client *client)
{
    /* The rule and its generation come from the same configuration, which may be replaced meanwhile. */
    const struct config *config = api_config(api);
    const struct config_client *rule = client_rule(config, client);
    struct api_token *token = MEM_NEW(struct api_token);
    token->subject = mem_strdup(rule ? rule->name : client->names[0]);
    token->issuer = mem_strdup(client->authority);
    token->name = mem_printf("tls:%.*s", NAME_MAX_BYTES - 4, token->subject);
    token->role = rule ? rule->role : ROLE_VIEWER;
    token->projects = rule ? string_list_copy(rule->projects) : mem_calloc(1, sizeof(char *));
    token->expires_at = client->ends_at;
    token->is_certificate = true;
    token->found_by_generation = config->tls.clients_generation + client->generation;
    set_id(token, "cert");
    return view_blob_new("", mem_strdup(""), 0, token, free_caller);
}
