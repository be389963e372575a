#include "api/cursor.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "api/api_private.h"
#include "api/request.h"
#include "api/routes.h"

/* layout: version, count of numbers, hour of issue, digest; then the numbers, the key, the MAC */
enum {
    CURSOR_VERSION = 2,
    AT_COUNT = 1,
    AT_HOUR = 2,
    HOUR_BYTES = 4,
    AT_DIGEST = AT_HOUR + HOUR_BYTES,
    HEAD_BYTES = AT_DIGEST + CURSOR_DIGEST_BYTES,
    NUMBER_BYTES = 8,
    MAC_BYTES = 16,
    CURSOR_MAX_BYTES = HEAD_BYTES + CURSOR_MAX_NUMBERS * NUMBER_BYTES + CURSOR_MAX_KEY + MAC_BYTES,
};

#define HOUR_US (3600 * US_PER_S)

static void put_number(unsigned char *bytes, size_t len, uint64_t number)
{
    while (len--) {
        bytes[len] = (unsigned char)number;
        number >>= 8;
    }
}

static uint64_t get_number(const unsigned char *bytes, size_t len)
{
    uint64_t number = 0;
    for (size_t i = 0; i < len; i++)
        number = number << 8 | bytes[i];
    return number;
}

bool cursor_place_set(struct cursor_place *place, const char *key)
{
    size_t len = strlen(key);
    if (len > CURSOR_MAX_KEY)
        return false;
    memcpy(place->key, key, len + 1);
    return true;
}

static void authenticate(const uint8_t *secret, const unsigned char *bytes, size_t len,
                         unsigned char mac[static MAC_BYTES])
{
    unsigned char whole[crypto_auth_hmacsha256_BYTES];
    (void)crypto_auth_hmacsha256(whole, bytes, len, secret);
    memcpy(mac, whole, MAC_BYTES);
}

void cursor_encode(const uint8_t secret[static CURSOR_SECRET_BYTES],
                   const uint8_t digest[static CURSOR_DIGEST_BYTES], wall_us now,
                   const struct cursor_place *place, char text[static CURSOR_TEXT_BYTES])
{
    unsigned char bytes[CURSOR_MAX_BYTES];
    size_t len = HEAD_BYTES, key_len = strlen(place->key);
    assert(place->number_count <= CURSOR_MAX_NUMBERS && key_len <= CURSOR_MAX_KEY);
    bytes[0] = CURSOR_VERSION;
    bytes[AT_COUNT] = (unsigned char)place->number_count;
    put_number(bytes + AT_HOUR, HOUR_BYTES, (uint64_t)(now / HOUR_US));
    memcpy(bytes + AT_DIGEST, digest, CURSOR_DIGEST_BYTES);
    for (unsigned i = 0; i < place->number_count; i++, len += NUMBER_BYTES)
        put_number(bytes + len, NUMBER_BYTES, (uint64_t)place->numbers[i]);
    memcpy(bytes + len, place->key, key_len);
    len += key_len;
    authenticate(secret, bytes, len, bytes + len);
    (void)sodium_bin2base64(text, CURSOR_TEXT_BYTES, bytes, len + MAC_BYTES,
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

enum cursor_status cursor_decode(const uint8_t secret[static CURSOR_SECRET_BYTES],
                                 const uint8_t digest[static CURSOR_DIGEST_BYTES], wall_us now,
                                 const char *text, struct cursor_place *ret_place)
{
    unsigned char bytes[CURSOR_MAX_BYTES];
    unsigned char mac[MAC_BYTES];
    size_t len;
    if (sodium_base642bin(bytes, sizeof(bytes), text, strlen(text), NULL, &len, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        len < HEAD_BYTES + MAC_BYTES || bytes[0] != CURSOR_VERSION)
        return CURSOR_BAD;
    len -= MAC_BYTES;
    authenticate(secret, bytes, len, mac);
    if (sodium_memcmp(mac, bytes + len, MAC_BYTES) != 0 ||
        sodium_memcmp(digest, bytes + AT_DIGEST, CURSOR_DIGEST_BYTES) != 0)
        return CURSOR_BAD;
    int64_t age = now / HOUR_US - (int64_t)get_number(bytes + AT_HOUR, HOUR_BYTES);
    if (age > CURSOR_LIFE_HOURS)
        return CURSOR_EXPIRED;
    /* The MAC is right, so shootd has made these bytes. The numbers come first, then the key. */
    const unsigned char *rest = bytes + HEAD_BYTES;
    ret_place->number_count = bytes[AT_COUNT];
    assert(ret_place->number_count <= CURSOR_MAX_NUMBERS &&
           HEAD_BYTES + ret_place->number_count * NUMBER_BYTES <= len);
    for (unsigned i = 0; i < ret_place->number_count; i++, rest += NUMBER_BYTES)
        ret_place->numbers[i] = (int64_t)get_number(rest, NUMBER_BYTES);
    size_t key_len = (size_t)(bytes + len - rest);
    assert(key_len <= CURSOR_MAX_KEY);
    memcpy(ret_place->key, rest, key_len);
    ret_place->key[key_len] = '\0';
    return CURSOR_GOOD;
}

static void digest_text(crypto_generichash_state *state, const char *text)
{
    (void)crypto_generichash_update(state, (const unsigned char *)text, strlen(text) + 1);
}

/* The digest of the parameters that select and order the items of the list. Parameters for the start of the
 * page, and for the number and the form of its items, are not included. */
static void digest_list(const struct request *r, uint8_t digest[static CURSOR_DIGEST_BYTES])
{
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, CURSOR_DIGEST_BYTES);
    digest_text(&state, r->route->operation);
    for (unsigned i = 0; i < r->http.segments.count; i++)
        digest_text(&state, r->http.segments.items[i]);
    for (int id = 0; id < PARAM_MAX_; id++) {
        if (!r->params.texts[id] || id == PARAM_LIMIT || id == PARAM_CLUSTER_LIMIT || id == PARAM_CURSOR ||
            id == PARAM_AFTER || id == PARAM_FIELDS)
            continue;
        digest_text(&state, param_name((enum param_id)id));
        digest_text(&state, r->params.texts[id]);
    }
    (void)crypto_generichash_final(&state, digest, CURSOR_DIGEST_BYTES);
}

void cursor_make(const struct request *r, const struct cursor_place *place,
                 char text[static CURSOR_TEXT_BYTES])
{
    uint8_t digest[CURSOR_DIGEST_BYTES];
    digest_list(r, digest);
    cursor_encode(r->api->cursor_secret, digest, env_wall(r->api->options.env), place, text);
}

enum cursor_status cursor_read(const struct request *r, struct cursor_place *ret_place)
{
    uint8_t digest[CURSOR_DIGEST_BYTES];
    const char *text = r->params.texts[PARAM_CURSOR];
    *ret_place = (struct cursor_place){.number_count = 0};
    if (!text)
        return CURSOR_GOOD;
    digest_list(r, digest);
    return cursor_decode(r->api->cursor_secret, digest, env_wall(r->api->options.env), text, ret_place);
}
