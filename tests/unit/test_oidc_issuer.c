/* Keys of issuers: when they are read, how long they are valid, and the answers that an issuer may give
 * (AU-15). */
#include "tests/support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "oidc/issuer.h"
#include "oidc/oidc.h"
#include "tests/support/jwt.h"
#include "tests/support/virtual.h"

#define ISSUER "https://login.example.com/it"
#define HOUR   (3600 * US_PER_S)

struct test {
    struct virtual_world world;
    struct loop *loop;
    struct fake_transport *transport;
    struct worker *worker;
    struct oidc *oidc;
    struct config config;
    /* the issuer's answers */
    bool is_down;
    const char *discovery;
    char *jwks;
    EVP_PKEY *key;    /* the newest key; kid "key-ES256" */
    bool awaits_keys; /* told by the last check */
};

static char issuer_text[] = ISSUER, another_text[] = "https://login.example.org", audience[] = "shootd",
            es256[] = "ES256", claim[] = "groups", wanted[] = "ops", everything[] = "*";
static char *algorithms[] = {es256, NULL}, *projects[] = {everything, NULL};
static struct config_rule rules[] = {{claim, wanted, ROLE_OPERATOR, projects}};
static struct config_issuer issuers[] = {{.issuer = issuer_text,
                                          .audience = audience,
                                          .algorithms = algorithms,
                                          .max_lifetime_us = 240 * HOUR,
                                          .rules = rules,
                                          .rule_count = 1}};

static const char good_discovery[] =
    "{\"issuer\":\"" ISSUER "\",\"jwks_uri\":\"https://keys.example.com/jwks\"}";

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    const struct test *t = ctx;
    struct canned_answer answer = {.outcome = HTTP_ANSWERED, .status = 200, .latency_us = US_PER_MS};
    assert_string_equal(request->method, "GET");
    if (t->is_down)
        return (struct canned_answer){.outcome = HTTP_NOT_SENT, .latency_us = US_PER_MS};
    if (!strcmp(request->url, ISSUER "/.well-known/openid-configuration"))
        answer.body = t->discovery;
    else if (!strcmp(request->url, "https://keys.example.com/jwks"))
        answer.body = t->jwks;
    else
        answer.status = 404;
    return answer;
}

/* The issuer publishes only this key, with the kid `id`. */
static void publish_key(struct test *t, EVP_PKEY *key, const char *id)
{
    json_t *jwk = jwt_public_key(key, OIDC_ES256);
    json_set_str(jwk, "kid", id);
    json_t *set CLEANUP_JSON = json_pack("{s:[o]}", "keys", jwk);
    free(t->jwks);
    t->jwks = json_text(set);
}

static int set_up(void **state)
{
    struct test *t = MEM_NEW(struct test);
    virtual_init(&t->world, 7);
    t->loop = loop_new(&t->world.env);
    t->transport = fake_transport_new(&t->world, t->loop);
    t->transport->respond = respond;
    t->transport->ctx = t;
    t->worker = inline_worker_new(t->loop);
    t->config.oidc.issuers = issuers;
    t->config.oidc.issuer_count = 1;
    t->discovery = good_discovery;
    t->key = jwt_new_key(OIDC_ES256);
    publish_key(t, t->key, "one");
    t->oidc = oidc_new(t->loop, &t->transport->transport, t->worker, -1, &t->config);
    *state = t;
    return 0;
}

/* Ends the part under test, and starts it with a directory for its keys. */
static void start_again(struct test *t, int directory)
{
    oidc_free(t->oidc);
    t->oidc = oidc_new(t->loop, &t->transport->transport, t->worker, directory, &t->config);
}

static int tear_down(void **state)
{
    struct test *t = *state;
    oidc_free(t->oidc);
    t->worker->free(t->worker);
    t->transport->transport.free(&t->transport->transport);
    loop_free(t->loop);
    free(t->jwks);
    EVP_PKEY_free(t->key);
    free(t);
    return 0;
}

/* `header`: the header of the token. */
static enum oidc_end show_with(struct test *t, EVP_PKEY *key, const char *header, const char *groups)
{
    struct oidc_identity identity;
    const long long now = env_wall(&t->world.env) / US_PER_S;
    char *claims CLEANUP_FREE = mem_printf(
        "{\"iss\":\"" ISSUER "\",\"aud\":\"shootd\",\"sub\":\"alice\",\"exp\":%lld,\"groups\":[\"%s\"]}",
        now + 600, groups);
    char *token CLEANUP_FREE = jwt_sign(key, OIDC_ES256, header, claims);
    enum oidc_end end = oidc_check(t->oidc, token, strlen(token), &identity, &t->awaits_keys);
    assert_true(end == OIDC_KEYS_MISSING || !t->awaits_keys);
    if (end == OIDC_OK) {
        assert_string_equal(identity.issuer, ISSUER);
        assert_string_equal(identity.subject, "alice");
        assert_int_equal(identity.role, ROLE_OPERATOR);
        assert_string_equal(identity.projects[0], "*");
        assert_int_equal(identity.expires_at, (now + 600) * US_PER_S);
    }
    oidc_identity_done(&identity);
    return end;
}

static enum oidc_end show(struct test *t, EVP_PKEY *key, const char *id, const char *groups)
{
    char *header CLEANUP_FREE = mem_printf("{\"alg\":\"ES256\",\"kid\":\"%s\"}", id);
    return show_with(t, key, header, groups);
}

static void run(struct test *t, int64_t us)
{
    virtual_run(&t->world, t->loop, us);
}

/* Returns the number of requests to the issuer since this function was last called. A read of the keys takes
 * two requests. */
static unsigned calls(struct test *t)
{
    const unsigned count = t->transport->count;
    t->transport->count = 0;
    return count;
}

/* ---- tests ---- */

static void keys_are_read_at_the_start(void **state)
{
    struct test *t = *state;
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    run(t, US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
    assert_int_equal(show(t, t->key, "one", "others"), OIDC_NO_RULE);
    assert_int_equal(calls(t), 2);
}

static void keys_are_read_again_when_they_are_old(void **state)
{
    struct test *t = *state;
    run(t, US_PER_S);
    assert_int_equal(calls(t), 2);
    run(t, HOUR - 2 * US_PER_S);
    assert_int_equal(calls(t), 0);
    t->transport->cache_control = "public, max-age=7200";
    run(t, 2 * US_PER_S);
    assert_int_equal(calls(t), 2);
    run(t, 2 * HOUR - 3 * US_PER_S);
    assert_int_equal(calls(t), 0);
    run(t, 5 * US_PER_S);
    assert_int_equal(calls(t), 2);
}

static void how_long_answers_are_new(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } rows[] = {{NULL, 3600},
                {"", 3600},
                {"max-age=600", 600},
                {"public, Max-Age=900, must-revalidate", 900},
                {"max-age=1", 300},
                {"max-age=-5", 300},
                {"max-age=43201", 43200},
                {"max-age=99999999999999999999", 43200},
                {"no-store", 300},
                {"no-cache, max-age=9999", 300}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(issuer_fresh_us(rows[i].text), rows[i].seconds * US_PER_S);
}

/* An issuer that rotates its keys is read at once. Callers with unknown keys cannot cause more reads than one
 * a minute. */
static void an_unknown_key_is_looked_for_once_in_a_minute(void **state)
{
    struct test *t = *state;
    EVP_PKEY *next = jwt_new_key(OIDC_ES256);
    run(t, US_PER_S);
    assert_int_equal(calls(t), 2);
    publish_key(t, next, "two");
    assert_int_equal(show(t, next, "two", "ops"), OIDC_KEY_UNKNOWN);
    run(t, US_PER_S);
    assert_int_equal(calls(t), 2);
    assert_int_equal(show(t, next, "two", "ops"), OIDC_OK);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEY_UNKNOWN); /* the issuer withdrew the key */
    for (int i = 0; i < 300; i++) {
        (void)show(t, next, "three", "ops");
        run(t, US_PER_S / 5);
    }
    assert_int_equal(calls(t), 2);
    EVP_PKEY_free(next);
}

/* The issuer replaces the key without a new kid, or its keys have no kid. */
static void a_wrong_signature_looks_for_new_keys_once_in_a_minute(void **state)
{
    struct test *t = *state;
    static const char without_id[] = "{\"alg\":\"ES256\"}";
    EVP_PKEY *next = jwt_new_key(OIDC_ES256);
    run(t, US_PER_S);
    (void)calls(t);
    publish_key(t, next, "one");
    assert_int_equal(show(t, next, "one", "ops"), OIDC_SIGNATURE);
    run(t, US_PER_S);
    assert_int_equal(calls(t), 2);
    assert_int_equal(show(t, next, "one", "ops"), OIDC_OK);
    assert_int_equal(show_with(t, next, without_id, "ops"), OIDC_OK);
    for (int i = 0; i < 290; i++) {
        (void)show(t, t->key, "one", "ops");
        run(t, US_PER_S / 5);
    }
    assert_int_equal(calls(t), 0);
    publish_key(t, t->key, "one");
    assert_int_equal(show_with(t, t->key, without_id, "ops"), OIDC_SIGNATURE);
    run(t, 3 * US_PER_S);
    assert_int_equal(calls(t), 2);
    assert_int_equal(show_with(t, t->key, without_id, "ops"), OIDC_OK);
    EVP_PKEY_free(next);
}

/* Before the end of the first read, nobody can say whether a token is valid. */
static void the_first_read_is_awaited(void **state)
{
    struct test *t = *state;
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    assert_true(t->awaits_keys);
    run(t, US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
    t->is_down = true;
    start_again(t, -1);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    assert_true(t->awaits_keys);
    run(t, US_PER_S / 2);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    assert_false(t->awaits_keys);
}

static void an_issuer_that_is_down_stops_nobody_for_a_day(void **state)
{
    struct test *t = *state;
    run(t, US_PER_S);
    t->is_down = true;
    (void)calls(t);
    run(t, 23 * HOUR);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
    /* A failed read is repeated after at most 5 minutes. */
    const unsigned asked = calls(t);
    assert_true(asked > 22 * 12 && asked < 22 * 60);
    (void)show(t, t->key, "unknown", "ops"); /* causes no additional read */
    run(t, US_PER_S / 2);
    assert_true(calls(t) <= 1);
    run(t, 2 * HOUR);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    t->is_down = false;
    run(t, 6 * 60 * US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
}

/* The issuer allows a day, but one failed read must not refuse all tokens: the keys are read again when half
 * of the day is left. */
static void a_failed_read_leaves_half_a_day(void **state)
{
    struct test *t = *state;
    t->transport->cache_control = "public, max-age=86400";
    run(t, US_PER_S);
    t->is_down = true;
    (void)calls(t);
    run(t, 12 * HOUR);
    assert_true(calls(t) > 0);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
    run(t, 11 * HOUR);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
    /* The keys were read during the first second. */
    run(t, HOUR - 2 * US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
    run(t, 2 * US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    t->is_down = false;
    run(t, 6 * 60 * US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
}

/* Stored keys are as old after a restart as they were before. */
static void a_restart_makes_keys_no_younger(void **state)
{
    struct test *t = *state;
    char directory[] = "/tmp/shootd-issuer-XXXXXX";
    assert_non_null(mkdtemp(directory));
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    start_again(t, fd);
    run(t, US_PER_S);
    t->is_down = true;
    run(t, 20 * HOUR);
    start_again(t, fd);
    run(t, 3 * HOUR);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
    run(t, 2 * HOUR);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    char *remove CLEANUP_FREE = mem_printf("rm -r %s", directory);
    assert_int_equal(system(remove), 0);
    (void)close(fd);
}

static void answers_that_are_not_taken(void **state)
{
    struct test *t = *state;
    static const char *const answers[] = {
        "",
        "[]",
        "{}",
        "{\"issuer\":\"https://login.example.com/it/\",\"jwks_uri\":\"https://keys.example.com/jwks\"}",
        "{\"issuer\":\"https://evil.example\",\"jwks_uri\":\"https://keys.example.com/jwks\"}",
        "{\"issuer\":\"" ISSUER "\"}",
        "{\"issuer\":\"" ISSUER "\",\"jwks_uri\":\"http://keys.example.com/jwks\"}",
        "{\"issuer\":\"" ISSUER "\",\"jwks_uri\":\"file:///etc/passwd\"}",
        "{\"issuer\":\"" ISSUER "\",\"jwks_uri\":\"http://127.0.0.1:22/\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        t->discovery = answers[i];
        run(t, 10 * 60 * US_PER_S);
        assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    }
    t->discovery = good_discovery;
    char *good = t->jwks;
    t->jwks = mem_strdup("{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\",\"kid\":\"one\"}]}");
    run(t, 10 * 60 * US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    free(t->jwks);
    t->jwks = good;
    run(t, 10 * 60 * US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
}

/* Invalid keys do not replace valid ones. */
static void a_byte_order_mark_before_the_discovery_is_skipped(void **state)
{
    struct test *t = *state;
    t->discovery = "\xef\xbb\xbf{\"issuer\":\"" ISSUER "\",\"jwks_uri\":\"https://keys.example.com/jwks\"}";
    run(t, US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
}

static void good_keys_stay_when_the_next_answer_is_bad(void **state)
{
    struct test *t = *state;
    run(t, US_PER_S);
    t->discovery = "{}";
    run(t, 3 * HOUR);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
}

static void places_of_keys(void **state)
{
    assert_true(issuer_may_name(ISSUER, "https://elsewhere.example/keys?x=1"));
    assert_true(issuer_may_name("http://127.0.0.1:9/x", "http://127.0.0.1:9/keys"));
    assert_true(issuer_may_name("http://127.0.0.1:9", "http://127.0.0.1:9/keys"));
    assert_false(issuer_may_name("http://127.0.0.1:9", "http://127.0.0.1:99/keys"));
    assert_false(issuer_may_name("http://127.0.0.1:9", "http://127.0.0.1:9@evil.example/keys"));
    assert_false(issuer_may_name("http://127.0.0.1:9", "http://evil.example/keys"));
    assert_false(issuer_may_name(ISSUER, "http://login.example.com/keys"));
    assert_false(issuer_may_name(ISSUER, "https://"));
    assert_false(issuer_may_name(ISSUER, "https://a b"));
    assert_false(issuer_may_name(ISSUER, "https://a\nb"));
    assert_false(issuer_may_name(ISSUER, ""));
}

static void another_configuration(void **state)
{
    struct test *t = *state;
    struct config_rule other_rules[] = {{claim, wanted, ROLE_VIEWER, projects}};
    struct config_issuer other_issuers[] = {issuers[0]}, two_issuers[] = {issuers[0], issuers[0]};
    struct config same = t->config, none = {0}, other = {0}, two = {0};
    const uint64_t first = oidc_generation(t->oidc, ISSUER);
    run(t, US_PER_S);
    (void)calls(t);
    oidc_configure(t->oidc, &same);
    assert_true(first && oidc_generation(t->oidc, ISSUER) == first);
    /* Another issuer is added and removed. That does not affect the callers of this issuer. */
    two_issuers[0].issuer = another_text;
    two.oidc.issuers = two_issuers;
    two.oidc.issuer_count = 2;
    assert_true(oidc_generation(t->oidc, another_text) == 0);
    oidc_configure(t->oidc, &two);
    assert_true(oidc_generation(t->oidc, another_text) > first);
    assert_true(oidc_generation(t->oidc, ISSUER) == first);
    oidc_configure(t->oidc, &same);
    assert_true(oidc_generation(t->oidc, another_text) == 0);
    assert_true(oidc_generation(t->oidc, ISSUER) == first);
    run(t, US_PER_S);
    (void)calls(t);
    other_issuers[0].rules = other_rules;
    other.oidc.issuers = other_issuers;
    other.oidc.issuer_count = 1;
    oidc_configure(t->oidc, &other);
    assert_true(oidc_generation(t->oidc, ISSUER) > first);
    run(t, US_PER_S);
    assert_int_equal(calls(t), 0); /* the keys stay */
    assert_int_equal(show(t, t->key, "one", "others"), OIDC_NO_RULE);
    oidc_configure(t->oidc, &none);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_ISSUER);
    oidc_configure(t->oidc, &t->config);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_KEYS_MISSING);
    oidc_configure(t->oidc, &none); /* during a read of the keys */
    run(t, US_PER_S);
    oidc_configure(t->oidc, &t->config);
    run(t, US_PER_S);
    assert_int_equal(show(t, t->key, "one", "ops"), OIDC_OK);
}

/* Threads ask outside config_current_enter, so the configuration may be freed before the snapshot. */
static void a_generation_does_not_need_the_configuration(void **state)
{
    struct test *t = *state;
    struct config_issuer *old = MEM_NEW(struct config_issuer);
    struct config config = {0};
    *old = issuers[0];
    config.oidc.issuers = old;
    config.oidc.issuer_count = 1;
    oidc_configure(t->oidc, &config);
    const uint64_t generation = oidc_generation(t->oidc, ISSUER);
    free(old);
    assert_true(generation && oidc_generation(t->oidc, ISSUER) == generation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_are_read_at_the_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_are_read_again_when_they_are_old, set_up, tear_down),
        cmocka_unit_test(how_long_answers_are_new),
        cmocka_unit_test_setup_teardown(an_unknown_key_is_looked_for_once_in_a_minute, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wrong_signature_looks_for_new_keys_once_in_a_minute, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_first_read_is_awaited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_issuer_that_is_down_stops_nobody_for_a_day, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_read_leaves_half_a_day, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_restart_makes_keys_no_younger, set_up, tear_down),
        cmocka_unit_test_setup_teardown(answers_that_are_not_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_byte_order_mark_before_the_discovery_is_skipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(good_keys_stay_when_the_next_answer_is_bad, set_up, tear_down),
        cmocka_unit_test(places_of_keys),
        cmocka_unit_test_setup_teardown(another_configuration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_generation_does_not_need_the_configuration, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
