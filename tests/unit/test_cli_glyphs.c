/* The width of text, escapes of foreign text, lines of progress. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/progress.h"

static void widths(void **state)
{
    static const struct {
        const char *text;
        size_t width;
    } rows[] = {
        {"", 0},
        {"dev", 3},
        {"\u00e5\u00e4\u00f6", 3},                     /* å ä ö */
        {"a\u030a", 1},                                /* å from two code points */
        {"\u6f22\u5b57", 4},                           /* two wide characters */
        {"\U0001f469\u200d\U0001f4bb", 2},             /* woman, joiner, laptop */
        {"\U0001f1f8\U0001f1ea", 2},                   /* the flag of Sweden */
        {"\u2764\ufe0f", 2},                           /* a heart, shown as an emoji */
        {"\U0001f469\U0001f3fd\u200d\U0001f692 x", 4}, /* an emoji with a skin tone */
        {"\xff\xfe", 2},                               /* not UTF-8 */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (glyphs_width(rows[i].text) != rows[i].width)
            fail_msg("'%s': %zu, not %zu", rows[i].text, glyphs_width(rows[i].text), rows[i].width);
}

static void a_cut_falls_between_clusters(void **state)
{
    assert_int_equal(glyphs_fit("abcdef", 3), 3);
    assert_int_equal(glyphs_fit("\u6f22\u5b57", 3), 3);
    assert_int_equal(glyphs_fit("\U0001f469\u200d\U0001f4bb", 1), 0);
    assert_int_equal(glyphs_fit("a\u030ab", 1), 3);
    assert_int_equal(glyphs_fit("abc", 10), 3);
}

static void bytes_that_are_no_text(void **state)
{
    static const char *const wrong[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"};
    assert_true(glyphs_are_text(""));
    assert_true(glyphs_are_text("dev \u00e5 \U0001f469\u200d\U0001f4bb \033"));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (glyphs_are_text(wrong[i]))
            fail_msg("row %zu", i);
}

static void foreign_text_cannot_move_the_cursor(void **state)
{
    static const char *const rows[][2] = {
        {"plain \u00e5", "plain \u00e5"},
        {"a\nb\tc", "a\\nb\\tc"},
        {"\033[31mred\a", "\\x1b[31mred\\x07"},
        {"\xc2\x9b"
         "31m",
         "\\x9b31m"},
        {"\u202egnp.exe", "\\u202egnp.exe"},
        {"\u2066x\u2069\u2028", "\\u2066x\\u2069\\u2028"},
        {"\x7f\xff", "\\x7f\\xff"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *shown CLEANUP_FREE = glyphs_shown(rows[i][0]);
        assert_string_equal(shown, rows[i][1]);
    }
    char *none CLEANUP_FREE = glyphs_shown(NULL);
    assert_string_equal(none, "-");
}

static void json_stays_json(void **state)
{
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, 4096);
    glyphs_show_json(&out, "{\n \"a\": \"\u202e\xc2\x9b\x7f\u00e5\"\n}");
    assert_string_equal(out.data, "{\n \"a\": \"\\u202e\\u009b\\u007f\u00e5\"\n}");
}

static void a_line_of_progress_fits(void **state)
{
    for (size_t width = 1; width <= 200; width++) {
        char *line CLEANUP_FREE = progress_line(
            "dev create", 43, "Waiting until worker pools have been reconciled \u6f22\u5b57", "12m3s", width);
        assert_true(glyphs_width(line) <= width || width < 7);
        bool bar = strchr(line, '[') != NULL;
        assert_true(!bar || width >= 15);
        assert_true(width < 80 || (bar && strstr(line, " 43%") && strstr(line, "  12m3s")));
    }
    char *unknown CLEANUP_FREE = progress_line("dev", -1, "gone", "", 40);
    assert_string_equal(unknown, "dev  gone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(a_cut_falls_between_clusters),
        cmocka_unit_test(foreign_text_cannot_move_the_cursor),
        cmocka_unit_test(json_stays_json),
        cmocka_unit_test(a_line_of_progress_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
