/* Log lines as the journal gets them: what a person reads with journalctl is MESSAGE alone. */
#include "tests/support/check.h"

#include "base/attrs.h"

#include "daemon/journal.c"

enum { SEEN_MAX = 40 };

static char *seen[SEEN_MAX]; /* the fields of the last line */
static int seen_count, lines;

static void forget(void)
{
    for (int i = 0; i < seen_count; i++)
        free(seen[i]);
    seen_count = 0;
}

/* Instead of the one of libsystemd. */
int sd_journal_sendv(const struct iovec *iov, int n)
{
    forget();
    assert_in_range(n, 1, SEEN_MAX);
    for (int i = 0; i < n; i++)
        seen[seen_count++] = mem_strndup(iov[i].iov_base, iov[i].iov_len);
    lines++;
    return 0;
}

/* Exactly one field of this name, with this value. */
static void expect_field(const char *name, const char *value)
{
    const size_t len = strlen(name);
    int found = 0;
    for (int i = 0; i < seen_count; i++) {
        if (strncmp(seen[i], name, len) != 0 || seen[i][len] != '=')
            continue;
        assert_string_equal(seen[i] + len + 1, value);
        found++;
    }
    if (found != 1)
        fail_msg("%d fields %s", found, name);
}

static void set_journal_stream(uintmax_t offset)
{
    struct stat st;
    assert_int_equal(fstat(STDERR_FILENO, &st), 0);
    char *text CLEANUP_FREE = mem_printf("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino + offset);
    assert_int_equal(setenv("JOURNAL_STREAM", text, 1), 0);
}

static int to_the_journal(void **state)
{
    (void)state;
    set_journal_stream(0);
    journal_setup();
    lines = 0;
    return 0;
}

static int to_stderr(void **state)
{
    (void)state;
    log_set_sink(NULL);
    log_set_level(LOG_LEVEL_INFO);
    (void)unsetenv("JOURNAL_STREAM");
    forget();
    return 0;
}

static void the_message_is_the_whole_sentence(void **state)
{
    (void)state;
    log_warning("what {account} says is not used", "account", "main", "project", "team-a", "status",
                LOG_INT(502), "reason", "it is no JSON");
    assert_int_equal(lines, 1);
    expect_field("MESSAGE", "what main says is not used (project team-a, status 502): it is no JSON");
    expect_field("PRIORITY", "4");
    expect_field("SYSLOG_IDENTIFIER", "shootd");
    expect_field("ACCOUNT", "main");
    expect_field("PROJECT", "team-a");
    expect_field("STATUS", "502");
    expect_field("REASON", "it is no JSON");
    assert_int_equal(seen_count, 7);
}

static void each_level_has_its_priority(void **state)
{
    (void)state;
    log_set_level(LOG_LEVEL_DEBUG);
    log_error("one");
    expect_field("PRIORITY", "3");
    log_warning("one");
    expect_field("PRIORITY", "4");
    log_info("one");
    expect_field("PRIORITY", "6");
    log_debug("one");
    expect_field("PRIORITY", "7");
    expect_field("MESSAGE", "one");
    assert_int_equal(lines, 4);
}

/* The journal takes capital letters, digits and underscores as names, and any value; a line stays one line.
 */
static void names_are_such_as_the_journal_takes(void **state)
{
    (void)state;
    log_info("one", "probe-in.s", "5", "text", "a\nMESSAGE=b");
    expect_field("PROBE_IN_S", "5");
    expect_field("MESSAGE", "one");
    for (int i = 0; i < seen_count; i++)
        assert_null(strchr(seen[i], '\n'));
}

static void another_stderr_keeps_its_lines(void **state)
{
    (void)state;
    log_set_sink(NULL);
    lines = 0;
    set_journal_stream(1);
    journal_setup();
    log_info("to stderr");
    assert_int_equal(setenv("JOURNAL_STREAM", "none", 1), 0);
    journal_setup();
    log_info("to stderr");
    (void)unsetenv("JOURNAL_STREAM");
    journal_setup();
    log_info("to stderr");
    assert_int_equal(lines, 0);
}

#define JOURNAL_TEST(fn) cmocka_unit_test_setup_teardown(fn, to_the_journal, to_stderr)

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNAL_TEST(the_message_is_the_whole_sentence),
        JOURNAL_TEST(each_level_has_its_priority),
        JOURNAL_TEST(names_are_such_as_the_journal_takes),
        JOURNAL_TEST(another_stderr_keeps_its_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
