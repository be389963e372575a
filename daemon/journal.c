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
#include <sys/un.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/log.h"

enum { ENTRY_BYTES = 256 * 1024 };

static const char *const priorities[] = {
    [LOG_LEVEL_ERROR] = "3", [LOG_LEVEL_WARNING] = "4", [LOG_LEVEL_INFO] = "6", [LOG_LEVEL_DEBUG] = "7"};

static char name_character(char c)
{
    return (char)(isalnum((unsigned char)c) ? toupper((unsigned char)c) : '_');
}

/* ---- entries in the journal's native protocol: one datagram per entry, with a line KEY=value per field.
 * libsystemd would send each entry by a system call of its own. Values contain no line end, because log_write
 * has escaped them. ---- */

static struct sockaddr_un journal_address = {.sun_family = AF_UNIX,
                                             .sun_path = "/run/systemd/journal/socket"};
static int journal_fd = -1; /* opened by journal_setup, never closed */
static bool is_journal;     /* journal_setup has selected the journal */

static unsigned send_entries(struct iovec *entries, unsigned count)
{
    struct mmsghdr messages[LOG_AT_ONCE];
    unsigned lost = 0;
    assert(count <= LOG_AT_ONCE);
    memset(messages, 0, sizeof(messages));
    for (unsigned i = 0; i < count; i++)
        messages[i].msg_hdr = (struct msghdr){.msg_name = &journal_address,
                                              .msg_namelen = sizeof(journal_address),
                                              .msg_iov = &entries[i],
                                              .msg_iovlen = 1};
    for (unsigned sent = 0; sent < count;) {
        const int n = sendmmsg(journal_fd, messages + sent, count - sent, MSG_NOSIGNAL);
        const bool is_refused = n <= 0 && errno != EINTR;
        lost += is_refused;
        sent += n > 0 ? (unsigned)n : is_refused;
    }
    return lost;
}

static void add_field(struct buffer *entry, const char *key, const char *value)
{
    for (; *key; key++)
        buffer_add(entry, &(char){name_character(*key)}, 1);
    buffer_add(entry, "=", 1);
    buffer_add_str(entry, value);
    buffer_add(entry, "\n", 1);
}

static void sink(enum log_level level, const char *message, const char *const *keys,
                 const char *const *values, unsigned count)
{
    struct buffer entry CLEANUP_BUFFER;
    buffer_init(&entry, ENTRY_BYTES);
    add_field(&entry, "MESSAGE", message);
    add_field(&entry, "PRIORITY", priorities[level]);
    add_field(&entry, "SYSLOG_IDENTIFIER", "shootd");
    for (unsigned i = 0; i < count; i++)
        add_field(&entry, keys[i], values[i]);
    log_hand_over(send_entries, entry.data, entry.len);
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
    log_set_sink(NULL);
    is_journal = wanted;
    if (!wanted)
        return true;
    if (format == LOG_FORMAT_JOURNAL && access(journal_address.sun_path, W_OK) < 0) {
        log_error("journal cannot be written (log_format)", "path", journal_address.sun_path, "reason",
                  strerror(errno));
        return false;
    }
    if (journal_fd < 0)
        journal_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    log_set_sink(sink);
    return true;
}

void journal_start_writer(void)
{
    struct stat st;
    if (is_journal || fstat(STDERR_FILENO, &st) < 0 || !S_ISREG(st.st_mode))
        log_writer_start();
}
