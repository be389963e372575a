/*
 * Quotas of requests: each token has its own; credentials that are wrong count against the client's address,
 * and leave those that are right alone, whatever else comes from there (it may be a proxy).
 */
#include <sodium.h>
#include <string.h>

#include "api/api_private.h"
#include "api/checks.h"

/* Digests are evenly spread as they are. */
static uint64_t key_of_token(const struct api_token *token)
{
    uint64_t key;
    memcpy(&key, token->digest, sizeof(key));
    return key ? key : 1;
}

static uint64_t key_of_network(const struct request *r)
{
    uint64_t network = client_network(r);
    uint64_t key;
    (void)crypto_shorthash((unsigned char *)&key, (const unsigned char *)&network, sizeof(network),
                           r->api->print_key);
    return key ? key : 1;
}

/* Clients that were refused together do not return together (HT-43). */
static int with_jitter(const struct request *r, int seconds)
{
    uint32_t random;
    const struct env *env = r->api->options.env;
    env->random(env, &random, sizeof(random));
    return seconds + (int)(random % (2 + (unsigned)seconds / 4));
}

static struct problem *refuse(struct request *r, const char *detail)
{
    struct problem *p = problem_new(PROBLEM_QUOTA_EXCEEDED, "%s", detail);
    p->extra = json_object();
    json_set_take(p->extra, "violated-policies", json_pack("[s]", r->quota.quota->name));
    p->retry_after_s = with_jitter(r, r->quota.seconds);
    return p;
}

struct problem *check_quota(struct request *r)
{
    if (!r->token)
        return NULL;
    r->quota = quota_take(&r->api->requests, key_of_token(r->token), r->started);
    return r->quota.is_refused ? refuse(r, "The token has made more requests within a minute than it may.")
                               : NULL;
}

bool throttle_fresh(struct request *r)
{
    return quota_take(&r->api->fresh_reads, key_of_token(r->token), r->started).is_refused;
}

struct problem *refuse_credentials(struct request *r, enum problem_code code, const char *detail)
{
    r->quota = quota_take(&r->api->auth_failures, key_of_network(r), r->started);
    return r->quota.is_refused
               ? refuse(r, "Too many requests with wrong or missing credentials came from this address.")
               : problem_new(code, "%s", detail);
}
