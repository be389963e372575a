/* Log lines in the journal. journalctl shows only the field MESSAGE. */
#include "tests/support/check.h"

#include <pthread.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/mem.h"

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

/* A socket that replaces the socket of the journal. */
struct journal_socket {
    int fd;
    struct sockaddr_un real;
    char directory[32];
};

static void open_socket(struct journal_socket *j, int type)
{
    (void)snprintf(j->directory, sizeof(j->directory), "/tmp/shootd-journal-XXXXXX");
    assert_non_null(mkdtemp(j->directory));
    j->real = journal_address;
    (void)snprintf(journal_address.sun_path, sizeof(journal_address.sun_path), "%s/socket", j->directory);
    j->fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(j->fd, (const struct sockaddr *)&journal_address, sizeof(journal_address)), 0);
}

static void close_socket(struct journal_socket *j)
{
    (void)close(j->fd);
    (void)unlink(journal_address.sun_path);
    (void)rmdir(j->directory);
    journal_address = j->real;
}

static struct journal_socket journal;

/* Reads the entries that came, and keeps the fields of the last one. */
static void receive(void)
{
    char text[8192];
    for (ssize_t len; (len = recv(journal.fd, text, sizeof(text) - 1, MSG_DONTWAIT)) > 0; lines++) {
        text[len] = '\0';
        assert_int_equal(text[len - 1], '\n');
        forget();
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n")) && rest;) {
            assert_in_range(seen_count, 0, SEEN_MAX - 1);
            seen[seen_count++] = mem_strdup(line);
        }
    }
}

/* There is exactly one field of this name, with this value. */
static void expect_field(const char *name, const char *value)
{
    const size_t len = strlen(name);
    int found = 0;
    receive();
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
    open_socket(&journal, SOCK_DGRAM);
    set_journal_stream(0);
    assert_true(journal_setup(LOG_FORMAT_AUTO));
    lines = 0;
    return 0;
}

static int to_stderr(void **state)
{
    log_set_sink(NULL);
    log_set_level(LOG_LEVEL_INFO);
    (void)unsetenv("JOURNAL_STREAM");
    forget();
    close_socket(&journal);
    return 0;
}

static void the_message_is_the_whole_sentence(void **state)
{
    log_warning("what {account} says is not used", "account", "main", "project", "team-a", "status",
                LOG_INT(502), "reason", "it is no JSON");
    receive();
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
    receive();
    assert_int_equal(lines, 4);
}

/* The journal accepts capital letters, digits and underscores in names, and any value. A line stays one
 * line. */
static void names_are_such_as_the_journal_takes(void **state)
{
    log_info("one", "probe-in.s", "5", "text", "a\nMESSAGE=b");
    expect_field("PROBE_IN_S", "5");
    expect_field("MESSAGE", "one");
    for (int i = 0; i < seen_count; i++)
        assert_null(strchr(seen[i], '\n'));
}

static void another_stderr_keeps_its_lines(void **state)
{
    log_set_sink(NULL);
    set_journal_stream(1);
    assert_true(journal_setup(LOG_FORMAT_AUTO));
    log_info("to stderr");
    assert_int_equal(setenv("JOURNAL_STREAM", "none", 1), 0);
    assert_true(journal_setup(LOG_FORMAT_AUTO));
    log_info("to stderr");
    (void)unsetenv("JOURNAL_STREAM");
    assert_true(journal_setup(LOG_FORMAT_AUTO));
    log_info("to stderr");
    receive();
    assert_int_equal(lines, 0);
}

static void a_form_that_was_asked_for_is_the_one(void **state)
{
    set_journal_stream(1); /* stderr is not connected to the journal */
    assert_true(journal_setup(LOG_FORMAT_JOURNAL));
    log_info("to the journal");
    receive();
    assert_int_equal(lines, 1);
    set_journal_stream(0);
    assert_true(journal_setup(LOG_FORMAT_TEXT));
    log_info("to stderr");
    assert_true(journal_setup(LOG_FORMAT_JSON));
    log_info("to stderr");
    receive();
    assert_int_equal(lines, 1);

    struct sockaddr_un real = journal_address;
    (void)snprintf(journal_address.sun_path, sizeof(journal_address.sun_path), "/nonexistent/socket");
    assert_false(journal_setup(LOG_FORMAT_JOURNAL));
    journal_address = real;
    receive();
    assert_int_equal(lines, 1);
}

/* In the journal's protocol each entry is one datagram, also when several entries are sent together. */
static void held_lines_are_entries_of_their_own(void **state)
{
    log_hold(false);
    log_info("one", "probe-in.s", "5", "text", "a\nMESSAGE=b");
    log_warning("two", "account", "main");
    char text[512];
    assert_int_equal(recv(journal.fd, text, sizeof(text), MSG_DONTWAIT), -1);
    log_release();
    ssize_t len = recv(journal.fd, text, sizeof(text) - 1, MSG_DONTWAIT);
    assert_in_range(len, 1, sizeof(text) - 1);
    text[len] = '\0';
    assert_string_equal(text, "MESSAGE=one\nPRIORITY=6\nSYSLOG_IDENTIFIER=shootd\nPROBE_IN_S=5\n"
                              "TEXT=a MESSAGE=b\n");
    len = recv(journal.fd, text, sizeof(text) - 1, MSG_DONTWAIT);
    assert_in_range(len, 1, sizeof(text) - 1);
    text[len] = '\0';
    assert_string_equal(text, "MESSAGE=two (account main)\nPRIORITY=4\nSYSLOG_IDENTIFIER=shootd\n"
                              "ACCOUNT=main\n");
    const uint64_t before = log_writer_dropped();
    (void)shutdown(journal.fd, SHUT_RD); /* no process receives the entries: they are lost */
    log_hold(false);
    log_info("three");
    log_release();
    log_info("four");
    assert_int_equal(log_writer_dropped() - before, 2);
}

enum { MANY = LOG_AT_ONCE + 5 };

static void *read_many(void *arg)
{
    char text[256], expected[32];
    size_t count = 0;
    for (; count < MANY; count++) {
        ssize_t len = recv(journal.fd, text, sizeof(text) - 1, 0);
        if (len <= 0)
            break;
        text[len] = '\0';
        (void)snprintf(expected, sizeof(expected), "\nN=%zu\n", count);
        if (!strstr(text, expected))
            break;
    }
    return (void *)(uintptr_t)count;
}

static void expect_many(void)
{
    void *count = NULL;
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_many, NULL), 0);
    assert_int_equal(pthread_join(reader, &count), 0);
    assert_int_equal((uintptr_t)count, MANY);
}

/* There are more entries than one system call sends, and the socket's queue is even shorter. Nobody reads
 * them at first. */
static void the_writer_waits_for_the_journal_and_nobody_else_does(void **state)
{
    const uint64_t before = log_writer_dropped();
    journal_start_writer();
    log_hold(false);
    for (int i = 0; i < MANY; i++)
        log_info("line", "n", LOG_INT(i));
    log_release();
    expect_many();
    for (int i = 0; i < MANY; i++)
        log_info("line", "n", LOG_INT(i));
    expect_many();
    log_writer_stop(30 * US_PER_S);
    assert_int_equal(log_writer_dropped(), before);
}

/* The journal is stopped: its socket is full. Lines beyond the queue are dropped and counted, and the log
 * says so when the journal runs again. */
static void a_stopped_journal_stops_nobody(void **state)
{
    enum { SOME = 100 };
    char long_text[1024], text[4096];
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    const uint64_t before = log_writer_dropped();
    uint64_t wrote = 0, read_lines = 0, told = 0;
    journal_start_writer();
    for (; log_writer_dropped() < before + SOME; wrote++)
        log_info("line", "text", long_text);
    const uint64_t lost = log_writer_dropped() - before;
    while (read_lines + lost < wrote || !told) {
        const ssize_t len = recv(journal.fd, text, sizeof(text) - 1, 0);
        assert_in_range(len, 1, sizeof(text) - 1);
        text[len] = '\0';
        const char *count = strstr(text, "\nCOUNT=");
        told += count ? strtoull(count + 7, NULL, 10) : 0;
        read_lines += !count;
    }
    log_writer_stop(30 * US_PER_S);
    assert_int_equal(read_lines + lost, wrote);
    assert_int_equal(told, lost);
}

#define JOURNAL_TEST(fn) cmocka_unit_test_setup_teardown(fn, to_the_journal, to_stderr)

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNAL_TEST(a_form_that_was_asked_for_is_the_one),
        JOURNAL_TEST(the_message_is_the_whole_sentence),
        JOURNAL_TEST(each_level_has_its_priority),
        JOURNAL_TEST(names_are_such_as_the_journal_takes),
        JOURNAL_TEST(another_stderr_keeps_its_lines),
        JOURNAL_TEST(held_lines_are_entries_of_their_own),
        JOURNAL_TEST(the_writer_waits_for_the_journal_and_nobody_else_does),
        JOURNAL_TEST(a_stopped_journal_stops_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
