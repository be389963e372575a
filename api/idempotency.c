#include "api/idempotency.h"

#include <sodium.h>
#include <string.h>

#include "api/checks.h"
#include "api/request.h"
#include "api/routes.h"

enum { KEY_MIN = 16, KEY_MAX = 128 };

/* With its NUL: parts cannot run into each other. */
static void add(crypto_hash_sha256_state *state, const char *text)
{
    (void)crypto_hash_sha256_update(state, (const unsigned char *)text, strlen(text) + 1);
}

static void finish(crypto_hash_sha256_state *state, char hex[static REPLAY_DIGEST_BYTES])
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256_final(state, digest);
    (void)sodium_bin2hex(hex, REPLAY_DIGEST_BYTES, digest, sizeof(digest));
}

/* A string in quotes as the draft has it, or the bare token that is widely sent (HT-46). */
static bool read_key(const char *field, const char **ret_key, size_t *ret_len)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-";
    bool quoted = *field == '"';
    const char *key = field + quoted;
    size_t len = strspn(key, allowed);
    *ret_key = key;
    *ret_len = len;
    return len >= KEY_MIN && len <= KEY_MAX && !strcmp(key + len, quoted ? "\"" : "");
}

struct problem *check_idempotency_key(struct request *r)
{
    const char *field = r->headers.values[HEADER_IDEMPOTENCY_KEY];
    const char *key;
    size_t len;
    if (!field || r->route->method != METHOD_POST) /* the other methods are idempotent by themselves */
        return NULL;
    if (r->headers.counts[HEADER_IDEMPOTENCY_KEY] > 1 || !read_key(field, &key, &len)) {
        struct problem *p = NULL;
        problem_add_fault(&p, PROBLEM_INVALID_PARAMETER, FAULT_AT_HEADER, "Idempotency-Key", "malformed",
                          NULL, "has to be one key of %d to %d of A-Z a-z 0-9 . _ ~ -, in quotes or without",
                          KEY_MIN, KEY_MAX);
        return p;
    }
    crypto_hash_sha256_state state;
    (void)crypto_hash_sha256_init(&state);
    add(&state, r->token->id); /* nobody meets another's keys */
    add(&state, r->route->operation);
    (void)crypto_hash_sha256_update(&state, (const unsigned char *)key, len);
    finish(&state, r->idempotency.key);
    return NULL;
}

void idempotency_take_fingerprint(struct request *r)
{
    crypto_hash_sha256_state state;
    if (!*r->idempotency.key)
        return;
    const char *type = r->headers.values[HEADER_CONTENT_TYPE];
    (void)crypto_hash_sha256_init(&state);
    for (unsigned i = 0; i < r->segment_count; i++)
        add(&state, r->segments[i]);
    for (int id = 0; id < PARAM_MAX_; id++) {
        if (!r->params.texts[id] || id == PARAM_WAIT) /* how it is answered, not what is asked for */
            continue;
        add(&state, param_name((enum param_id)id));
        add(&state, r->params.texts[id]);
    }
    add(&state, type ? type : "");
    (void)crypto_hash_sha256_update(&state, (const unsigned char *)r->body.data, r->body.len);
    finish(&state, r->idempotency.fingerprint);
}
