/* The command line of shootctl: exact names, values, flags anywhere, suggestions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "cli/parse.h"

enum { MOST_WORDS = 12 };

/* Parses a line whose words are separated by blanks. When the line has a fault, returns false and sets
 * `fault`. */
static bool parsed_from(const char *line, struct parsed *ret, struct buffer *fault)
{
    static char copy[400];
    char *words[MOST_WORDS] = {(char *)(uintptr_t) "shootctl"}, *rest = copy, *word;
    int count = 1;
    (void)snprintf(copy, sizeof(copy), "%s", line);
    while ((word = strsep(&rest, " ")))
        words[count++] = word;
    buffer_init(fault, 4096);
    return parse_line(count, words, ret, fault);
}

static void assert_refused(const char *line, const char *says)
{
    struct parsed parsed;
    struct buffer fault CLEANUP_BUFFER;
    assert_false(parsed_from(line, &parsed, &fault));
    if (!strstr(fault.data, says))
        fail_msg("'%s': said '%s', not '%s'", line, fault.data, says);
    parsed_done(&parsed);
}

static void a_single_value_is_given_once(void **state)
{
    assert_refused("diff -f a -f b", "--file is given twice");
    assert_refused("-p a get dev --project=b", "--project is given twice");
    assert_refused("list -o json -ojson", "--output is given twice");
    assert_refused("wait dev --timeout 1s --timeout 2s", "--timeout is given twice");
    struct parsed parsed;
    struct buffer fault CLEANUP_BUFFER;
    assert_true(parsed_from("list -l a=1 -l b=2 --phase ready --phase failed --utc --utc", &parsed, &fault));
    assert_string_equal(parsed_nth(&parsed, "label", 1), "b=2");
    assert_string_equal(parsed_nth(&parsed, "phase", 1), "failed");
    parsed_done(&parsed);
}

static void flags_stand_anywhere(void **state)
{
    static const char *const lines[] = {
        "get dev -o json --project team-a", "get -o json dev --project=team-a",
        "-o json --project team-a get dev", "--project=team-a -ojson get dev",
        "get -o=json -p team-a dev",        "-p team-a get --output=json -- dev",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct parsed parsed;
        struct buffer fault CLEANUP_BUFFER;
        if (!parsed_from(lines[i], &parsed, &fault))
            fail_msg("'%s': %s", lines[i], fault.data);
        assert_string_equal(parsed.command->name, "get");
        assert_string_equal(parsed_text(&parsed, "output"), "json");
        assert_string_equal(parsed_text(&parsed, "project"), "team-a");
        assert_int_equal(parsed.argument_count, 1);
        assert_string_equal(parsed.arguments[0], "dev");
        parsed_done(&parsed);
    }
}

static void no_name_is_abbreviated(void **state)
{
    assert_refused("get dev --proj team-a", "unknown flag --proj of 'get'; did you mean --project?");
    assert_refused("get dev --outptu json", "did you mean --output?");
    assert_refused("list --version 1.33", "the flag --version is called --kubernetes-version");
    assert_refused("create dev --version=1.33", "the flag --version is called --kubernetes-version");
    assert_refused("get dev --version 1.33", "unknown flag --version of 'get'");
    assert_refused("gte dev", "unknown command 'gte'; did you mean 'get'?");
    assert_refused("desc dev", "did you mean 'describe'?");
    assert_refused("frobnicate", "unknown command 'frobnicate'");
    assert_refused("get dev -z", "unknown flag -z");
}

static void values_are_checked(void **state)
{
    assert_refused("get dev -o xml", "--output: 'xml' is not one of table, wide, json");
    assert_refused("get dev -o", "--output needs a value");
    assert_refused("get dev --utc=yes", "--utc takes no value");
    assert_refused("wait dev --timeout 5", "--timeout: '5' is not a duration");
    assert_refused("wait dev --timeout 999999999d", "is not a duration");
    assert_refused("wait dev --project \xff", "is no UTF-8");
    assert_refused("wait d\xc3", "is no UTF-8");
    assert_refused("get dev --retries many", "--retries: 'many' is not a number");
    assert_refused("get dev --project=", "--project: '' is not a value: it is empty");
    assert_refused("get", "'get' needs NAME...");
    assert_refused("describe a b", "'describe' does not take 'b'");
}

static void a_value_may_look_like_a_flag_or_command(void **state)
{
    struct parsed parsed;
    struct buffer fault CLEANUP_BUFFER;
    assert_true(parsed_from("create --description --x list --label a=b --label c=d", &parsed, &fault));
    assert_string_equal(parsed.command->name, "create");
    assert_string_equal(parsed_text(&parsed, "description"), "--x");
    assert_string_equal(parsed.arguments[0], "list");
    assert_string_equal(parsed_nth(&parsed, "label", 0), "a=b");
    assert_string_equal(parsed_nth(&parsed, "label", 1), "c=d");
    assert_null(parsed_nth(&parsed, "label", 2));
    parsed_done(&parsed);
}

static void help_wins_wherever_it_stands(void **state)
{
    static const char *const lines[] = {"--help", "get --help", "-h get", "get dev --unknown -h",
                                        "nothing --help"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct parsed parsed;
        struct buffer fault CLEANUP_BUFFER;
        assert_true(parsed_from(lines[i], &parsed, &fault));
        assert_true(parsed.help);
        parsed_done(&parsed);
    }
    struct parsed parsed;
    struct buffer fault CLEANUP_BUFFER;
    assert_true(parsed_from("get dev -- --help", &parsed, &fault)); /* after -- the word --help is a name */
    assert_false(parsed.help);
    assert_string_equal(parsed.arguments[1], "--help");
    assert_int_equal(parsed.rest, 1);
    parsed_done(&parsed);
}

static void durations(void **state)
{
    assert_int_equal(duration_ms("250ms"), 250);
    assert_int_equal(duration_ms("90s"), 90000);
    assert_int_equal(duration_ms("15m"), 900000);
    assert_int_equal(duration_ms("2h"), 7200000);
    assert_int_equal(duration_ms("1d"), 86400000);
    assert_int_equal(duration_ms(""), -1);
    assert_int_equal(duration_ms("5"), -1);
    assert_int_equal(duration_ms("1h30m"), -1);
    assert_int_equal(duration_ms("99999999999s"), -1);
    assert_int_equal(duration_ms("3650d"), 3650 * INT64_C(86400000));
    assert_int_equal(duration_ms("3651d"), -1);
    assert_int_equal(duration_ms("999999999d"), -1);
}

/* The parser reads flags before the command without knowing the command, so flags of the same name must be
 * alike: all of them, or none, have a value. */
static void flags_of_the_same_name_are_alike(void **state)
{
    for (const struct cli_command *a = command_table; a->name; a++) {
        assert_true(a->least <= a->most && a->examples[0] && a->run &&
                    (*a->summary || !strcmp(a->name, "__complete")));
        for (const struct flag *flag = a->flags; flag->name; flag++) {
            assert_null(flag_find(NULL, flag->name, strlen(flag->name), 0));
            assert_null(flag->letter ? flag_find(NULL, "", 0, flag->letter) : NULL);
            assert_true((flag->kind == FLAG_SWITCH) == (flag->value == NULL));
            assert_true((flag->kind == FLAG_CHOICE) == (flag->words != NULL));
            for (const struct cli_command *b = command_table; b->name; b++) {
                const struct flag *other = flag_find(b, flag->name, strlen(flag->name), 0);
                assert_true(!other || (other->kind == FLAG_SWITCH) == (flag->kind == FLAG_SWITCH));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_value_is_given_once),
        cmocka_unit_test(flags_stand_anywhere),
        cmocka_unit_test(no_name_is_abbreviated),
        cmocka_unit_test(values_are_checked),
        cmocka_unit_test(a_value_may_look_like_a_flag_or_command),
        cmocka_unit_test(help_wins_wherever_it_stands),
        cmocka_unit_test(durations),
        cmocka_unit_test(flags_of_the_same_name_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
