/* Secrets and signatures: the vectors of Standard Webhooks 1.0, what counts as a secret, and sealing
 * contexts. */
#include "tests/support/check.h"

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
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *signature CLEANUP_FREE =
            webhook_sign(rows[i].secret, rows[i].id, rows[i].at_s, rows[i].body, strlen(rows[i].body));
        assert_string_equal(signature, rows[i].signature);
    }
}

static void wh3_every_signed_part_counts(void **state)
{
    static const char secret[] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    (void)state;
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
    /* prefix, alphabet, padding, 23 bytes, 65 bytes */
    static const char *const bad[] = {
        "",
        "whsec_",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2La_-Sw",
        "whsec_dGVzdC1zZWNyZXQta2V5LTI0LWJ5dGVzIQ",
        "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_null(webhook_sign(bad[i], "evt_1", 1, "{}", 2));
    assert_null(webhook_sign(NULL, "evt_1", 1, "{}", 2));
}

static void wh4_new_secrets_are_well_formed_and_differ(void **state)
{
    struct virtual_world world;
    (void)state;
    virtual_init(&world, 7);
    char *one CLEANUP_SECRET = webhook_secret_new(&world.env);
    char *two CLEANUP_SECRET = webhook_secret_new(&world.env);
    assert_int_equal(strlen(one), strlen("whsec_") + 32);
    assert_string_not_equal(one, two);
    char *signature CLEANUP_FREE = webhook_sign(one, "evt_1", 1, "{}", 2);
    assert_non_null(signature);
}

static void a_sealed_secret_belongs_to_its_subscription(void **state)
{
    struct seal_key key = {{1, 2, 3}};
    size_t len = 0;
    (void)state;
    char *mine CLEANUP_FREE = webhook_seal_context("wh_1");
    char *other CLEANUP_FREE = webhook_seal_context("wh_2");
    uint8_t *sealed CLEANUP_FREE = seal(&key, env_real(), mine, "whsec_x", &len);
    char *opened CLEANUP_SECRET = seal_open(&key, mine, sealed, len);
    assert_string_equal(opened, "whsec_x");
    assert_null(seal_open(&key, other, sealed, len));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wh4_signs_the_published_vectors),
        cmocka_unit_test(wh3_every_signed_part_counts),
        cmocka_unit_test(wh4_refuses_what_is_not_a_secret),
        cmocka_unit_test(wh4_new_secrets_are_well_formed_and_differ),
        cmocka_unit_test(a_sealed_secret_belongs_to_its_subscription),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
