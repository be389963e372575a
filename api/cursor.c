#include "api/cursor.h"

#include <sodium.h>
#include <string.h>

#include "api/api_private.h"
#include "api/request.h"
#include "api/routes.h"

enum { CURSOR_VERSION = 1, FILTER_BYTES = 16, MAC_BYTES = 16, HEAD_BYTES = 1 + FILTER_BYTES };
enum { CURSOR_MAX_BYTES = HEAD_BYTES + CURSOR_MAX_KEY + MAC_BYTES };

/* What the page is of: the operation, the path and every filter, but not how many rows are wanted. */
static void digest_filters(const struct request *r, unsigned char digest[static FILTER_BYTES])
{
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, FILTER_BYTES);
    const char *operation = r->route->operation;
    (void)crypto_generichash_update(&state, (const unsigned char *)operation, strlen(operation) + 1);
    for (unsigned i = 0; i < r->segment_count; i++)
        (void)crypto_generichash_update(&state, (const unsigned char *)r->segments[i],
                                        strlen(r->segments[i]) + 1);
    for (unsigned char id = 0; id < PARAM_MAX_; id++) {
        const char *text = r->params.texts[id];
        if (!text || id == PARAM_LIMIT || id == PARAM_CURSOR)
            continue;
        (void)crypto_generichash_update(&state, &id, 1);
        (void)crypto_generichash_update(&state, (const unsigned char *)text, strlen(text) + 1);
    }
    (void)crypto_generichash_final(&state, digest, FILTER_BYTES);
}

static void authenticate(const struct request *r, const unsigned char *bytes, size_t len,
                         unsigned char mac[static crypto_auth_hmacsha256_BYTES])
{
    (void)crypto_auth_hmacsha256(mac, bytes, len, r->api->cursor_key);
}

bool cursor_make(const struct request *r, const char *key, char text[static CURSOR_TEXT_BYTES])
{
    unsigned char bytes[CURSOR_MAX_BYTES];
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    size_t key_len = strlen(key);
    if (key_len > CURSOR_MAX_KEY)
        return false;
    bytes[0] = CURSOR_VERSION;
    digest_filters(r, bytes + 1);
    memcpy(bytes + HEAD_BYTES, key, key_len);
    authenticate(r, bytes, HEAD_BYTES + key_len, mac);
    memcpy(bytes + HEAD_BYTES + key_len, mac, MAC_BYTES);
    (void)sodium_bin2base64(text, CURSOR_TEXT_BYTES, bytes, HEAD_BYTES + key_len + MAC_BYTES,
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return true;
}

bool cursor_read(const struct request *r, char key[static CURSOR_MAX_KEY + 1])
{
    unsigned char bytes[CURSOR_MAX_BYTES];
    unsigned char digest[FILTER_BYTES];
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    const char *text = r->params.texts[PARAM_CURSOR];
    size_t len;
    key[0] = '\0';
    if (!text)
        return true;
    if (sodium_base642bin(bytes, sizeof(bytes), text, strlen(text), NULL, &len, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        len < HEAD_BYTES + MAC_BYTES || bytes[0] != CURSOR_VERSION)
        return false;
    size_t key_len = len - HEAD_BYTES - MAC_BYTES;
    authenticate(r, bytes, len - MAC_BYTES, mac);
    digest_filters(r, digest);
    if (sodium_memcmp(mac, bytes + len - MAC_BYTES, MAC_BYTES) != 0 ||
        sodium_memcmp(digest, bytes + 1, FILTER_BYTES) != 0)
        return false;
    memcpy(key, bytes + HEAD_BYTES, key_len);
    key[key_len] = '\0';
    return true;
}
