#define SD_JOURNAL_SUPPRESS_LOCATION
#include "daemon/journal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

enum { MAX_FIELDS = 32 };

static char *field(const char *key, const char *value)
{
    char *text = mem_printf("%s=%s", key, value);
    for (char *p = text; *p != '='; p++)
        *p = (char)(isalnum((unsigned char)*p) ? toupper((unsigned char)*p) : '_');
    return text;
}

static void sink(enum log_level level, const char *message, const char *const *keys,
                 const char *const *values, unsigned count)
{
    static const char *const priorities[] = {
        [LOG_LEVEL_ERROR] = "3", [LOG_LEVEL_WARNING] = "4", [LOG_LEVEL_INFO] = "6", [LOG_LEVEL_DEBUG] = "7"};
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

void journal_setup(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat st;
    uintmax_t device, inode;
    if (!stream || sscanf(stream, "%ju:%ju", &device, &inode) != 2 || fstat(STDERR_FILENO, &st) < 0)
        return;
    if (st.st_dev == device && st.st_ino == inode)
        log_set_sink(sink);
}
