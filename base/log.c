#include "base/log.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/timefmt.h"

enum { LOG_MAX_PAIRS = 24, LOG_MAX_VALUE = 2048 };

static const char *const level_names[] = {"error", "warning", "info", "debug"};

static void sink_stderr(enum log_level level, const char *message, const char *const *keys,
                        const char *const *values, unsigned count);

static atomic_int max_level = LOG_LEVEL_INFO;
static _Atomic uint64_t counts[LOG_LEVEL_MAX_];
static log_sink current_sink = sink_stderr;

void log_set_level(enum log_level level)
{
    atomic_store(&max_level, (int)level);
}

int log_level_from_name(const char *name)
{
    for (int i = 0; i < LOG_LEVEL_MAX_; i++)
        if (!strcmp(name, level_names[i]))
            return i;
    return -1;
}

bool log_is_written(enum log_level level)
{
    return (int)level <= atomic_load(&max_level);
}

uint64_t log_count(enum log_level level)
{
    return atomic_load(&counts[level]);
}

void log_set_sink(log_sink sink)
{
    current_sink = sink ? sink : sink_stderr;
}

const char *log_format_int(int64_t number, char text[static 24])
{
    (void)snprintf(text, 24, "%" PRId64, number);
    return text;
}

/* Shapes of secrets: what follows the prefix, up to the first character outside the class, is masked. */
void log_mask_secrets(char *text)
{
    static const char *const prefixes[] = {"shd_", "whsec_", "whsk_", "Bearer ", "X-AUTH-TOKEN: "};
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        size_t prefix_len = strlen(prefixes[i]);
        for (char *hit = strcasestr(text, prefixes[i]); hit; hit = strcasestr(hit + prefix_len, prefixes[i]))
            for (char *p = hit + prefix_len; isalnum((unsigned char)*p) || (*p && strchr("+/=_.-~", *p)); p++)
                *p = '*';
    }
}

static char *clean_value(const char *value)
{
    char *copy = mem_strndup(value, strnlen(value, LOG_MAX_VALUE));
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    log_mask_secrets(copy);
    return copy;
}

static void sink_stderr(enum log_level level, const char *message, const char *const *keys,
                        const char *const *values, unsigned count)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char when[TIME_TEXT_BYTES];
    const struct env *env = env_real();
    struct buffer line CLEANUP_BUFFER;
    buffer_init(&line, 65536);
    (void)buffer_printf(&line, "%s %-7s %s", time_rfc3339(env_wall(env), true, when), level_names[level],
                        message);
    for (unsigned i = 0; i < count; i++) {
        bool quote = !*values[i] || strpbrk(values[i], " \"=\\");
        (void)buffer_printf(&line, quote ? " %s=\"" : " %s=", keys[i]);
        for (const char *p = values[i]; *p; p++) {
            if (*p == '"' || *p == '\\')
                (void)buffer_add(&line, "\\", 1);
            (void)buffer_add(&line, p, 1);
        }
        if (quote)
            (void)buffer_add(&line, "\"", 1);
    }
    (void)buffer_add(&line, "\n", 1);
    (void)pthread_mutex_lock(&lock);
    (void)fwrite(line.data, 1, line.len, stderr);
    (void)pthread_mutex_unlock(&lock);
}

void log_write(enum log_level level, const char *message, ...)
{
    atomic_fetch_add(&counts[level], 1);
    if ((int)level > atomic_load(&max_level))
        return;
    const char *keys[LOG_MAX_PAIRS];
    char *values[LOG_MAX_PAIRS];
    unsigned count = 0;
    va_list args;
    va_start(args, message);
    for (const char *key = va_arg(args, const char *); key; key = va_arg(args, const char *)) {
        const char *value = va_arg(args, const char *);
        if (!value || count == LOG_MAX_PAIRS)
            continue;
        keys[count] = key;
        values[count++] = clean_value(value);
    }
    va_end(args);
    current_sink(level, message, keys, (const char *const *)values, count);
    for (unsigned i = 0; i < count; i++)
        free(values[i]);
}
