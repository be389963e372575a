/* Tables on terminals of any width, and without a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/table.h"

static const struct column columns[] = {{"NAME", false}, {"PHASE", false}, {"MESSAGE", true}, {NULL, false}};

/* Returns the table in the form for a terminal of this width; 0: there is no terminal. The caller frees
 * it. */
static char *printed(unsigned width)
{
    char *text = NULL, number[16];
    size_t len = 0;
    struct table *table CLEANUP_TABLE = table_new(columns);
    struct terminal to = {.file = open_memstream(&text, &len), .is_terminal = width > 0};
    (void)snprintf(number, sizeof(number), "%u", width);
    (void)setenv("COLUMNS", number, 1);
    table_add(table, "dev", STYLE_PLAIN);
    table_add(table, "ready", STYLE_GOOD);
    table_add(table, "a message that is rather long, with \u6f22\u5b57 and \033[2J in it", STYLE_PLAIN);
    table_add(table, "a-long-name", STYLE_PLAIN);
    table_add(table, NULL, STYLE_BAD);
    table_add(table, "", STYLE_PLAIN);
    table_print(table, &to);
    (void)fclose(to.file);
    return text;
}

static void nothing_is_cut_without_a_terminal(void **state)
{
    char *text CLEANUP_FREE = printed(0);
    assert_string_equal(
        text, "NAME         PHASE  MESSAGE\n"
              "dev          ready  a message that is rather long, with \u6f22\u5b57 and \\x1b[2J in it\n"
              "a-long-name  -      -\n");
}

static void it_fits_every_terminal(void **state)
{
    for (unsigned width = 1; width <= 120; width++) {
        char *text CLEANUP_FREE = printed(width), *rest = text, *line;
        for (unsigned i = 0; (line = strsep(&rest, "\n")) && *line; i++)
            if (glyphs_width(line) > width)
                fail_msg("%u: '%s'", width, line);
    }
    char *narrow CLEANUP_FREE = printed(20);
    assert_non_null(strstr(narrow, "a-long-name  -"));
    assert_null(strstr(narrow, "MESS"));
    char *middle CLEANUP_FREE = printed(40);
    assert_non_null(strstr(middle, "a message that is r…"));
}

/* A column never becomes narrower, so that later rows are aligned with earlier rows. */
static void later_rows_keep_the_widths(void **state)
{
    char *text = NULL;
    size_t len = 0;
    struct table *table CLEANUP_TABLE = table_new(columns);
    struct terminal to = {.file = open_memstream(&text, &len)};
    table_widen(table, 1, 8);
    for (unsigned i = 0; i < 2; i++) {
        table_add(table, i ? "b" : "long-name", STYLE_PLAIN);
        table_add(table, "ready", STYLE_PLAIN);
        table_add(table, "m", STYLE_PLAIN);
        (void)(i ? table_print_rows(table, &to) : table_print(table, &to));
        table_forget_rows(table);
    }
    (void)fclose(to.file);
    assert_string_equal(text, "NAME       PHASE     MESSAGE\n"
                              "long-name  ready     m\n"
                              "b          ready     m\n");
    free(text);
}

/* A column loses its padding before any column is cut. */
static void padding_is_given_back(void **state)
{
    char *text = NULL;
    size_t len = 0;
    struct table *table CLEANUP_TABLE = table_new(columns);
    struct terminal to = {.file = open_memstream(&text, &len), .is_terminal = true};
    (void)setenv("COLUMNS", "24", 1);
    table_widen(table, 1, 20);
    table_add(table, "dev", STYLE_PLAIN);
    table_add(table, "ready", STYLE_PLAIN);
    table_add(table, "message", STYLE_PLAIN);
    table_print(table, &to);
    (void)fclose(to.file);
    assert_string_equal(text, "NAME  PHASE      MESSAGE\n"
                              "dev   ready      message\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_rows_keep_the_widths),
        cmocka_unit_test(padding_is_given_back),
        cmocka_unit_test(nothing_is_cut_without_a_terminal),
        cmocka_unit_test(it_fits_every_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
