/* API tokens as text: shape, checksum, digest (AU-1 to AU-3). */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/ids.h"

static void made_tokens_are_wellformed(void **state)
{
    char token[TOKEN_BYTES];
    char other[TOKEN_BYTES];
    for (int i = 0; i < 200; i++) {
        token_make(env_real(), token);
        assert_int_equal(strlen(token), TOKEN_LEN);
        assert_true(token_is_wellformed(token));
    }
    token_make(env_real(), other);
    assert_string_not_equal(token, other);
}

static void every_changed_character_is_noticed(void **state)
{
    char token[TOKEN_BYTES];
    token_make(env_real(), token);
    for (size_t i = 0; i < TOKEN_LEN; i++) {
        char old = token[i];
        token[i] = old == 'a' ? 'b' : 'a';
        assert_false(token_is_wellformed(token));
        token[i] = old;
    }
    assert_true(token_is_wellformed(token));
}

static void known_token(void **state)
{
    static const char token[] = "shd_0123456789ABCDEFGHIJabcdefghijkl1ZpOpl";
    char hex[TOKEN_HEX_BYTES];
    assert_true(token_is_wellformed(token));
    token_digest_hex(token, hex);
    assert_string_equal(hex, "366653d2825272a72fea6f058a9026beba40a8734adac5e56a08f78cc604f81b");
}

static void other_shapes_are_refused(void **state)
{
    assert_false(token_is_wellformed(""));
    assert_false(token_is_wellformed("shd_"));
    assert_false(token_is_wellformed("exk_0123456789ABCDEFGHIJabcdefghijkl0uTlZh"));
    assert_false(token_is_wellformed("shd_0123456789ABCDEFGHIJabcdefghijkl1ZpOplx"));
}

/* A token with the right checksum and one character outside of base62. */
static void other_characters_are_refused(void **state)
{
    for (unsigned c = 1; c < 256; c++) {
        char token[TOKEN_BYTES] = "shd_0123456789ABCDEFGHIJabcdefghijk";
        const bool is_in_base62 = c < 128 && isalnum((int)c);
        token[35] = (char)c;
        unsigned long crc = crc32(0L, (const unsigned char *)token, 36);
        for (size_t i = TOKEN_LEN - 1; i >= 36; i--, crc /= 62)
            token[i] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[crc % 62];
        assert_int_equal(token_is_wellformed(token), is_in_base62);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_tokens_are_wellformed),
        cmocka_unit_test(every_changed_character_is_noticed),
        cmocka_unit_test(known_token),
        cmocka_unit_test(other_shapes_are_refused),
        cmocka_unit_test(other_characters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
