/*
 * A corpus of mutated API tokens. Each is checked like the token of a request (AU-2, AU-3, AU-8). No mutated
 * token authenticates; the original tokens do.
 */
#include "tests/support/check.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "api/api_private.h"
#include "api/auth.h"
#include "api/request.h"
#include "api/routes.h"
#include "base/mem.h"
#include "view/render.h"

enum { TOKENS = 64, MUTATIONS = 100000, TEXT_BYTES = 128, FIELD_BYTES = TEXT_BYTES + 16 };
#define NOW_US (INT64_C(1790000000) * US_PER_S)

static uint64_t seed = UINT64_C(0x7013e5c0de);
static struct env env;
static struct api api;
static struct connection kept; /* stores the credentials of its last request */
static char tokens[TOKENS][TOKEN_BYTES];

static size_t draw(size_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed % below);
}

static wall_us fixed_wall(const struct env *e)
{
    return NOW_US;
}

static void add_token(char token[static TOKEN_BYTES], int number)
{
    char name[] = "ci", everything[] = "*", *projects[] = {everything, NULL}, hex[TOKEN_HEX_BYTES];
    struct api_token t = {.name = name, .role = ROLE_ADMIN, .projects = projects, .created_at = 1};
    token_make(env_real(), token);
    token_digest(token, t.digest);
    token_hex(t.digest, hex);
    t.used_at = token_minute(NOW_US); /* its use was just reported */
    (void)snprintf(t.id, sizeof(t.id), ID_TOKEN "%d", number);
    view_set(api.options.view, VIEW_TOKENS, hex, render_api_token_blob(&t));
}

static int setup(void **state)
{
    if (sodium_init() < 0)
        return -1;
    print_message("seed %#llx\n", (unsigned long long)seed);
    env = *env_real();
    env.now_wall = fixed_wall;
    api.options.env = &env;
    api.options.view = view_new();
    rate_limit_init(&api.auth_failures, "auth_failures", 0);
    for (int i = 0; i < TOKENS; i++)
        add_token(tokens[i], i);
    view_publish(api.options.view);
    return 0;
}

static int teardown(void **state)
{
    view_free(api.options.view);
    rate_limit_done(&api.auth_failures);
    return 0;
}

/* Whether a request with this field passes the check; on the kept connection, or on a separate one. */
static bool is_let_in(const char *field, bool by_kept)
{
    static const struct route route = {.operation = "getWhoami", .role = ROLE_VIEWER};
    struct request r = {.api = &api, .route = &route};
    r.http.peer = by_kept ? &kept : NULL;
    r.http.headers.values[HEADER_AUTHORIZATION] = field;
    struct problem *refused CLEANUP_PROBLEM = check_token(&r);
    assert_true(!refused == !!r.token);
    if (refused)
        assert_int_equal(refused->code,
                         strncasecmp(field, "Bearer ", 7) ? PROBLEM_UNAUTHENTICATED : PROBLEM_INVALID_TOKEN);
    else
        view_blob_unref(r.token_blob);
    return !refused;
}

static bool passes(const char *token, bool by_kept)
{
    char field[FIELD_BYTES];
    (void)snprintf(field, sizeof(field), "Bearer %.*s", TEXT_BYTES, token);
    return is_let_in(field, by_kept);
}

/* ---- mutations ---- */

static char other_character(void)
{
    static const char characters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "_-.=+/ \t\"\\%\x01\x7f\x80\xff";
    return characters[draw(sizeof(characters) - 1)];
}

static void flip(char *text, size_t len)
{
    char *at = text + draw(len);
    const char flipped = (char)(*at ^ (1 << draw(8)));
    *at = flipped ? flipped : '0';
}

static void overwrite(char *text, size_t len)
{
    text[draw(len)] = other_character();
}

static void swap(char *text, size_t len)
{
    char *a = text + draw(len), *b = text + draw(len), held = *a;
    *a = *b;
    *b = held;
}

static void insert(char *text, size_t len)
{
    const size_t at = draw(len + 1);
    memmove(text + at + 1, text + at, len - at + 1);
    text[at] = other_character();
}

static void delete (char *text, size_t len)
{
    const size_t at = draw(len);
    memmove(text + at, text + at + 1, len - at);
}

static void change_case(char *text, size_t len)
{
    char *at = text + draw(len);
    if ((*at | ' ') >= 'a' && (*at | ' ') <= 'z')
        *at ^= ' ';
}

static void cut(char *text, size_t len)
{
    text[draw(len)] = '\0';
}

static void change_prefix(char *text, size_t len)
{
    static const char *const prefixes[] = {"SHD_", "Shd_", "exk_", "shd-", "ghp_", "____", "shd\x01"};
    if (len >= sizeof(TOKEN_PREFIX) - 1)
        memcpy(text, prefixes[draw(ARRAY_LEN(prefixes))], sizeof(TOKEN_PREFIX) - 1);
}

/* Joins the beginning of one token and the end of another. */
static void join(char *text, size_t len)
{
    const size_t at = draw(len);
    if (len == TOKEN_LEN)
        memcpy(text + at, tokens[draw(TOKENS)] + at, TOKEN_LEN - at);
}

/* Adds the right checksum for the text before it. */
static void put_checksum(char *text)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    enum { CHECKSUM_LEN = 6, CHECKED_LEN = TOKEN_LEN - CHECKSUM_LEN, BASE = sizeof(digits) - 1 };
    if (strlen(text) < CHECKED_LEN)
        return;
    unsigned long crc = crc32(0L, (const unsigned char *)text, CHECKED_LEN);
    text[TOKEN_LEN] = '\0';
    for (int i = TOKEN_LEN - 1; i >= CHECKED_LEN; i--) {
        text[i] = digits[crc % BASE];
        crc /= BASE;
    }
}

static void mutate(char *text)
{
    static void (*const ways[])(char *text, size_t len) = {
        flip, overwrite, swap, insert, delete, change_case, cut, change_prefix, join,
    };
    for (size_t times = draw(3) + 1; times && *text; times--)
        ways[draw(ARRAY_LEN(ways))](text, strlen(text));
}

/* Whether the text is a stored token. Blanks before a token are not part of it. */
static bool is_stored(const char *text)
{
    text += strspn(text, " ");
    for (int i = 0; i < TOKENS; i++)
        if (!strcmp(text, tokens[i]))
            return true;
    return false;
}

static uint64_t refused(enum auth_failure why)
{
    return atomic_load(&api.refused_credentials[why]);
}

static void stored_tokens_pass(void **state)
{
    char spaced[TEXT_BYTES], checked[TEXT_BYTES];
    for (int i = 0; i < TOKENS; i++) {
        (void)snprintf(spaced, sizeof(spaced), "  %.*s", TOKEN_LEN, tokens[i]);
        (void)snprintf(checked, sizeof(checked), "%.*s", TOKEN_LEN, tokens[i]);
        put_checksum(checked);
        assert_string_equal(checked, tokens[i]);
        assert_true(passes(tokens[i], false) && passes(tokens[i], true) && passes(tokens[i], true));
        assert_true(passes(spaced, false));
        assert_false(is_let_in(tokens[i], false));
    }
}

static void mutated_tokens_never_pass(void **state)
{
    const uint64_t malformed = refused(AUTH_MALFORMED), unknown = refused(AUTH_UNKNOWN);
    unsigned asked = 0, checksums = 0;
    while (asked < MUTATIONS) {
        const char *of = tokens[draw(TOKENS)];
        const bool has_checksum = asked % 2, by_kept = draw(2);
        char text[TEXT_BYTES];
        (void)snprintf(text, sizeof(text), "%.*s", TOKEN_LEN, of);
        mutate(text);
        if (has_checksum)
            put_checksum(text);
        if (is_stored(text))
            continue;
        if (by_kept)
            assert_true(passes(of, true)); /* the connection stores the valid token */
        if (passes(text, by_kept))
            fail_msg("passes: %s (of %s)", text, of);
        checksums += token_is_wellformed(text);
        asked++;
    }
    for (int i = 0; i < TOKENS; i++)
        assert_true(passes(tokens[i], false));
    /* Many mutated tokens are well-formed and reach the look-up. */
    assert_true(checksums > MUTATIONS / 5);
    assert_int_equal(refused(AUTH_UNKNOWN) - unknown, checksums);
    assert_int_equal(refused(AUTH_MALFORMED) - malformed, MUTATIONS - checksums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_tokens_pass),
        cmocka_unit_test(mutated_tokens_never_pass),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
