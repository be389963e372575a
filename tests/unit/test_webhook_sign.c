/*
 * Secrets, signatures and extra headers: the vectors of Standard Webhooks 1.0, valid secrets, rotation, and
 * seal contexts.
 */
#include "tests/support/check.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/support/virtual.h"
#include "webhook/webhook.h"

static void wh4_signs_the_published_vectors(void **state)
{
    static const struct {
        const char *secret;
        const char *id;
        int64_t at_s;
        const char *body;
        const char *signature;
    } rows[] = {
        {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
         "{\"test\": 2432232314}", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
        {"whsec_dGVzdC1zZWNyZXQta2V5LTI0LWJ5dGVzIQ==", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", 1700000000,
         "{\"type\":\"ping\"}", "v1,h0MMKNDHsj6C/cbkz7JW3s/WKDbZuSDKkZVJd7F6pwY="},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *signature CLEANUP_FREE =
            webhook_sign(rows[i].secret, rows[i].id, rows[i].at_s, rows[i].body, strlen(rows[i].body));
        assert_string_equal(signature, rows[i].signature);
    }
}

/* The vector of svix-server (test_asymmetric_key_signing in its worker.rs). */
static void wh5_signs_the_published_vector_of_ed25519(void **state)
{
    static const char secret[] =
        "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
    static const char body[] = "{\"test\": 2432232314}";
    char *signature CLEANUP_FREE =
        webhook_sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body, strlen(body));
    assert_string_equal(signature,
                        "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo"
                        "3mNl8EM+m7TBAg==");
}

static void wh3_every_signed_part_counts(void **state)
{
    static const char secret[] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    char *base CLEANUP_FREE = webhook_sign(secret, "evt_1", 1, "{}", 2);
    char *other_id CLEANUP_FREE = webhook_sign(secret, "evt_2", 1, "{}", 2);
    char *other_time CLEANUP_FREE = webhook_sign(secret, "evt_1", 2, "{}", 2);
    char *other_body CLEANUP_FREE = webhook_sign(secret, "evt_1", 1, "{ }", 3);
    char *empty_body CLEANUP_FREE = webhook_sign(secret, "evt_1", 1, "", 0);
    assert_string_not_equal(base, other_id);
    assert_string_not_equal(base, other_time);
    assert_string_not_equal(base, other_body);
    assert_int_equal(strlen(empty_body), strlen("v1,") + 44);
}

static void wh4_refuses_what_is_not_a_secret(void **state)
{
    /* faults of prefix, alphabet, padding; 23 bytes, 65 bytes */
    static const char *const bad[] = {
        "",
        "whsec_",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2La_-Sw",
        "whsec_dGVzdC1zZWNyZXQta2V5LTI0LWJ5dGVzIQ",
        "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        /* a public key, a seed alone, a pair without its last byte */
        "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
        "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc=",
        "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6K",
        "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_null(webhook_sign(bad[i], "evt_1", 1, "{}", 2));
    assert_null(webhook_sign(NULL, "evt_1", 1, "{}", 2));
}

static void a_sealed_secret_belongs_to_its_subscription(void **state)
{
    struct seal_key key = {{1, 2, 3}};
    size_t len = 0;
    char *mine CLEANUP_FREE = webhook_seal_context("wh_1");
    char *other CLEANUP_FREE = webhook_seal_context("wh_2");
    uint8_t *sealed CLEANUP_FREE = seal(&key, env_real(), mine, "whsec_x", &len);
    char *opened CLEANUP_SECRET = seal_open(&key, mine, sealed, len);
    assert_string_equal(opened, "whsec_x");
    assert_null(seal_open(&key, other, sealed, len));
}

/* ---- keys of a subscription ---- */

static const struct seal_key seal_of_house = {{1, 2, 3}};

static void wh5_a_new_pair_shows_only_its_public_half(void **state)
{
    struct virtual_world world;
    struct signing_key key;
    char *shown = NULL;
    virtual_init(&world, 7);
    assert_true(webhook_key_new(&world.env, &seal_of_house, "wh_1", SIGNATURE_V1A, &key, &shown));
    assert_null(shown);
    assert_int_equal(key.created_at, env_wall(&world.env));
    assert_int_equal(key.expires_at, 0);

    char *context CLEANUP_FREE = webhook_seal_context("wh_1");
    char *secret CLEANUP_SECRET = seal_open(&seal_of_house, context, key.sealed, key.sealed_len);
    char *signature CLEANUP_FREE = webhook_sign(secret, "evt_1", 7, "{}", 2);
    uint8_t public[crypto_sign_PUBLICKEYBYTES], bytes[crypto_sign_BYTES];
    size_t len = 0;
    assert_memory_equal(key.public_key, "whpk_", 5);
    assert_int_equal(sodium_base642bin(public, sizeof(public), key.public_key + 5, strlen(key.public_key + 5),
                                       NULL, &len, NULL, sodium_base64_VARIANT_ORIGINAL),
                     0);
    assert_int_equal(len, sizeof(public));
    assert_memory_equal(signature, "v1a,", 4);
    assert_int_equal(sodium_base642bin(bytes, sizeof(bytes), signature + 4, strlen(signature + 4), NULL, &len,
                                       NULL, sodium_base64_VARIANT_ORIGINAL),
                     0);
    assert_int_equal(crypto_sign_verify_detached(bytes, (const uint8_t *)"evt_1.7.{}", 10, public), 0);
    assert_int_not_equal(crypto_sign_verify_detached(bytes, (const uint8_t *)"evt_1.8.{}", 10, public), 0);
    signing_key_done(&key);
}

static void wh4_new_secrets_are_shown_kept_sealed_and_differ(void **state)
{
    struct virtual_world world;
    struct signing_key key, other;
    char *shown CLEANUP_SECRET = NULL;
    char *another CLEANUP_SECRET = NULL;
    virtual_init(&world, 7);
    assert_true(webhook_key_new(&world.env, &seal_of_house, "wh_1", SIGNATURE_V1, &key, &shown));
    assert_true(webhook_key_new(&world.env, &seal_of_house, "wh_1", SIGNATURE_V1, &other, &another));
    assert_null(key.public_key);
    assert_int_equal(strlen(shown), strlen("whsec_") + 32);
    assert_string_not_equal(shown, another);
    char *signature CLEANUP_FREE = webhook_sign(shown, "evt_1", 1, "{}", 2);
    assert_non_null(signature);
    char *context CLEANUP_FREE = webhook_seal_context("wh_1");
    char *opened CLEANUP_SECRET = seal_open(&seal_of_house, context, key.sealed, key.sealed_len);
    assert_string_equal(opened, shown);
    signing_key_done(&key);
    signing_key_done(&other);
    assert_false(webhook_key_new(&world.env, &seal_of_house, "wh_1", SIGNATURE_SCHEME_MAX_, &key, &shown));
}

static void wh4_a_given_secret_has_24_to_64_bytes(void **state)
{
    static const struct {
        const char *secret;
        bool good;
    } rows[] = {
        {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true},
        {"whsec_"
         "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
         true},
        {"whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", false},
        {"whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==",
         false},
        {"secret", false},
        {NULL, false},
    };
    struct virtual_world world;
    virtual_init(&world, 7);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct signing_key key = {0};
        assert_int_equal(webhook_key_given(&world.env, &seal_of_house, "wh_1", rows[i].secret, &key),
                         rows[i].good);
        assert_int_equal(key.sealed_len > 0, rows[i].good);
        signing_key_done(&key);
    }
}

/* The keys of `s` must make these signatures of an event at `now`. `wanted` are secrets, newest first. */
static void expect_signatures(const struct subscription *s, wall_us now, const char *const *wanted)
{
    char *all CLEANUP_FREE = webhook_sign_all(s, &seal_of_house, "evt_1", now, "{}", 2);
    const char *rest = all;
    for (size_t i = 0; wanted[i]; i++) {
        char *one CLEANUP_FREE = webhook_sign(wanted[i], "evt_1", now / US_PER_S, "{}", 2);
        assert_non_null(rest);
        assert_memory_equal(rest, one, strlen(one));
        rest += strlen(one);
        assert_int_equal(*rest, wanted[i + 1] ? ' ' : '\0');
        rest += wanted[i + 1] != NULL;
    }
    assert_int_equal(all != NULL, wanted[0] != NULL);
}

static void wh6_every_living_key_signs_newest_first(void **state)
{
    enum { GRACE_S = 24 * 3600 };
    static const char
        old[] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        new[] = "whsec_dGVzdC1zZWNyZXQta2V5LTI0LWJ5dGVzIQ==",
        pair[] = "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMic"
                 "MFs6Kvg==";
    struct virtual_world world;
    struct subscription *s = MEM_NEW(struct subscription);
    struct signing_key key;
    virtual_init(&world, 7);
    memcpy(s->id, "wh_1", 5);
    wall_us now = env_wall(&world.env);
    assert_true(webhook_key_given(&world.env, &seal_of_house, s->id, old, &s->keys[0]));
    s->key_count = 1;
    expect_signatures(s, now, (const char *const[]){old, NULL});

    assert_true(webhook_key_given(&world.env, &seal_of_house, s->id, new, &key));
    subscription_rotate(s, &key, now, GRACE_S * US_PER_S);
    expect_signatures(s, now, (const char *const[]){new, old, NULL});
    expect_signatures(s, now + GRACE_S * US_PER_S - 1, (const char *const[]){new, old, NULL});
    expect_signatures(s, now + GRACE_S * US_PER_S, (const char *const[]){new, NULL});

    char *context CLEANUP_FREE = webhook_seal_context(s->id);
    key = (struct signing_key){.scheme = SIGNATURE_V1A, .created_at = now};
    key.sealed = seal(&seal_of_house, &world.env, context, pair, &key.sealed_len);
    subscription_rotate(s, &key, now, GRACE_S * US_PER_S);
    expect_signatures(s, now, (const char *const[]){pair, new, old, NULL});

    s->keys[0].sealed[0] ^= 1; /* a key that cannot be opened does not affect the others */
    expect_signatures(s, now, (const char *const[]){new, old, NULL});
    expect_signatures(s, now + GRACE_S * US_PER_S, (const char *const[]){NULL});
    subscription_free(s);
}

/* ---- extra headers ---- */

static void permitted_headers(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        const char *code; /* NULL: none */
    } rows[] = {
        {"Authorization", "Bearer abc def", NULL},
        {"X-Team", "a", NULL},
        {"x-webhook-id", "a", NULL},
        {"Contents", "a", NULL},
        {"", "a", "invalid_header_name"},
        {"X Team", "a", "invalid_header_name"},
        {"X-Team:", "a", "invalid_header_name"},
        {"X-Team\r\nX", "a", "invalid_header_name"},
        {":path", "a", "invalid_header_name"},
        {"X-T\xc3\xa4", "a", "invalid_header_name"},
        {"Connection", "a", "reserved_header"},
        {"Keep-Alive", "a", "reserved_header"},
        {"Proxy-Authorization", "a", "reserved_header"},
        {"TE", "a", "reserved_header"},
        {"Trailer", "a", "reserved_header"},
        {"transfer-encoding", "a", "reserved_header"},
        {"Upgrade", "a", "reserved_header"},
        {"hOST", "a", "reserved_header"},
        {"Content-Type", "a", "reserved_header"},
        {"Content-Length", "a", "reserved_header"},
        {"Expect", "a", "reserved_header"},
        {"User-Agent", "a", "reserved_header"},
        {"Webhook-Id", "a", "reserved_header"},
        {"webhook-signature", "a", "reserved_header"},
        {"Cookie", "a", "reserved_header"},
        {"Accept-Encoding", "a", "reserved_header"},
        {"X-Team", "", "invalid_header_value"},
        {"X-Team", " a", "invalid_header_value"},
        {"X-Team", "a ", "invalid_header_value"},
        {"X-Team", "a\r\nHost: b", "invalid_header_value"},
        {"X-Team", "a\tb", "invalid_header_value"},
        {"X-Team", "\x7f", "invalid_header_value"},
        {"X-Team", "\xc3\xa4", "invalid_header_value"},
    };
    struct virtual_world world;
    virtual_init(&world, 7);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct problem *faults CLEANUP_PROBLEM = NULL;
        struct webhook_header header = {0};
        webhook_check_header(rows[i].name, rows[i].value, "#/headers/0", &faults);
        const json_t *first = faults ? json_array_get(faults->faults, 0) : NULL;
        if (rows[i].code)
            assert_string_equal(json_string_value(json_object_get(first, "code")), rows[i].code);
        else
            assert_null(first);
        assert_int_equal(
            webhook_header_seal(&world.env, &seal_of_house, "wh_1", rows[i].name, rows[i].value, &header),
            !rows[i].code);
        webhook_header_done(&header);
    }
}

static void headers_have_their_length(void **state)
{
    char name[66], value[1026];
    memset(name, 'n', sizeof(name));
    memset(value, 'v', sizeof(value));
    name[64] = value[1024] = '\0';
    struct problem *faults CLEANUP_PROBLEM = NULL;
    webhook_check_header(name, value, "#", &faults);
    assert_null(faults);
    name[64] = 'n', name[65] = '\0';
    webhook_check_header(name, value, "#", &faults);
    name[64] = '\0', value[1024] = 'v', value[1025] = '\0';
    webhook_check_header(name, value, "#", &faults);
    assert_int_equal(json_array_size(faults->faults), 2);
}

static void a_sealed_header_belongs_to_its_name_and_subscription(void **state)
{
    struct virtual_world world;
    struct webhook_header header;
    virtual_init(&world, 7);
    assert_true(webhook_header_seal(&world.env, &seal_of_house, "wh_1", "X-Key", "hidden", &header));
    char *value CLEANUP_SECRET = webhook_header_open(&seal_of_house, "wh_1", &header);
    assert_string_equal(value, "hidden");
    assert_null(webhook_header_open(&seal_of_house, "wh_2", &header));
    memcpy(header.name, "x-kEY", 5); /* the case of a name does not matter */
    char *again CLEANUP_SECRET = webhook_header_open(&seal_of_house, "wh_1", &header);
    assert_string_equal(again, "hidden");
    memcpy(header.name, "X-Oth", 5);
    assert_null(webhook_header_open(&seal_of_house, "wh_1", &header));
    webhook_header_done(&header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wh4_signs_the_published_vectors),
        cmocka_unit_test(wh5_signs_the_published_vector_of_ed25519),
        cmocka_unit_test(wh3_every_signed_part_counts),
        cmocka_unit_test(wh4_refuses_what_is_not_a_secret),
        cmocka_unit_test(a_sealed_secret_belongs_to_its_subscription),
        cmocka_unit_test(wh5_a_new_pair_shows_only_its_public_half),
        cmocka_unit_test(wh4_new_secrets_are_shown_kept_sealed_and_differ),
        cmocka_unit_test(wh4_a_given_secret_has_24_to_64_bytes),
        cmocka_unit_test(wh6_every_living_key_signs_newest_first),
        cmocka_unit_test(permitted_headers),
        cmocka_unit_test(headers_have_their_length),
        cmocka_unit_test(a_sealed_header_belongs_to_its_name_and_subscription),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
