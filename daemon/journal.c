#define SD_JOURNAL_SUPPRESS_LOCATION
#include "daemon/daemon_private.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/log.h"
#include "base/mem.h"

enum { MAX_FIELDS = 32, HELD_ENTRIES = 64, HELD_BYTES = 256 * 1024 };

static const char *const priorities[] = {
    [LOG_LEVEL_ERROR] = "3", [LOG_LEVEL_WARNING] = "4", [LOG_LEVEL_INFO] = "6", [LOG_LEVEL_DEBUG] = "7"};

static char name_character(char c)
{
    return (char)(isalnum((unsigned char)c) ? toupper((unsigned char)c) : '_');
}

/* ---- several entries in one system call. libsystemd sends each entry separately, so the entries here are
 * written in the journal's native protocol: one datagram per entry, with a line KEY=value per field. Values
 * contain no line end, because log_write has escaped them. ---- */

static struct sockaddr_un journal_address = {.sun_family = AF_UNIX,
                                             .sun_path = "/run/systemd/journal/socket"};
static int journal_fd = -1; /* opened by journal_setup, never closed */

static _Thread_local struct {
    struct buffer text;        /* the entries, concatenated */
    size_t ends[HELD_ENTRIES]; /* where each entry ends */
    unsigned count;
} held = {.text.max = HELD_BYTES};

static void flush(void)
{
    struct mmsghdr messages[HELD_ENTRIES];
    struct iovec parts[HELD_ENTRIES];
    memset(messages, 0, sizeof(messages));
    for (unsigned i = 0; i < held.count; i++) {
        const size_t from = i ? held.ends[i - 1] : 0;
        parts[i] = (struct iovec){.iov_base = held.text.data + from, .iov_len = held.ends[i] - from};
        messages[i].msg_hdr = (struct msghdr){.msg_name = &journal_address,
                                              .msg_namelen = sizeof(journal_address),
                                              .msg_iov = &parts[i],
                                              .msg_iovlen = 1};
    }
    for (unsigned sent = 0; sent < held.count;) {
        int n = sendmmsg(journal_fd, messages + sent, held.count - sent, MSG_NOSIGNAL);
        if (n > 0)
            sent += (unsigned)n;
        else if (errno != EINTR)
            sent++; /* the journal did not accept the entry, so it is lost; libsystemd would also lose it */
    }
    held.count = 0;
    buffer_done(&held.text);
}

static void add_line(const char *key, const char *value)
{
    for (; *key; key++)
        (void)buffer_add(&held.text, &(char){name_character(*key)}, 1);
    (void)buffer_add(&held.text, "=", 1);
    (void)buffer_add_str(&held.text, value);
    (void)buffer_add(&held.text, "\n", 1);
}

static void hold(enum log_level level, const char *message, const char *const *keys,
                 const char *const *values, unsigned count)
{
    assert(held.count < HELD_ENTRIES);
    add_line("MESSAGE", message);
    add_line("PRIORITY", priorities[level]);
    add_line("SYSLOG_IDENTIFIER", "shootd");
    for (unsigned i = 0; i < count; i++)
        add_line(keys[i], values[i]);
    held.ends[held.count++] = held.text.len;
    if (held.count == HELD_ENTRIES || held.text.len > HELD_BYTES / 2)
        flush();
}

/* ---- one entry ---- */

static char *field(const char *key, const char *value)
{
    char *text = mem_printf("%s=%s", key, value);
    for (char *p = text; *p != '='; p++)
        *p = name_character(*p);
    return text;
}

static void sink(enum log_level level, const char *message, const char *const *keys,
                 const char *const *values, unsigned count)
{
    if (log_is_held() && journal_fd >= 0) {
        hold(level, message, keys, values, count);
        return;
    }
    char *texts[MAX_FIELDS];
    struct iovec fields[MAX_FIELDS];
    int n = 0;
    texts[n++] = field("MESSAGE", message);
    texts[n++] = field("PRIORITY", priorities[level]);
    texts[n++] = field("SYSLOG_IDENTIFIER", "shootd");
    for (unsigned i = 0; i < count && n < MAX_FIELDS; i++)
        texts[n++] = field(keys[i], values[i]);
    for (int i = 0; i < n; i++)
        fields[i] = (struct iovec){.iov_base = texts[i], .iov_len = strlen(texts[i])};
    (void)sd_journal_sendv(fields, n);
    for (int i = 0; i < n; i++)
        free(texts[i]);
}

static bool stderr_is_the_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat st;
    uintmax_t device, inode;
    return stream && sscanf(stream, "%ju:%ju", &device, &inode) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
           st.st_dev == device && st.st_ino == inode;
}

bool journal_setup(enum log_format format)
{
    const bool wanted =
        format == LOG_FORMAT_JOURNAL || (format == LOG_FORMAT_AUTO && stderr_is_the_journal());
    log_set_lines(format == LOG_FORMAT_JSON ? LOG_LINES_JSON : LOG_LINES_TEXT);
    log_set_sink(NULL, NULL);
    if (!wanted)
        return true;
    if (format == LOG_FORMAT_JOURNAL && access(journal_address.sun_path, W_OK) < 0) {
        log_error("journal cannot be written (log_format)", "path", journal_address.sun_path, "reason",
                  strerror(errno));
        return false;
    }
    if (journal_fd < 0)
        journal_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    log_set_sink(sink, flush);
    return true;
}
