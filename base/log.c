#include "base/log.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timefmt.h"

enum { LOG_MAX_PAIRS = 24, LOG_MAX_VALUE = 2048, LOG_ROOM = 1024, LOG_MAX_LINE = 65536 };

static const int64_t PATIENCE_US = 5 * US_PER_S;

static const char *const level_names[] = {"error", "warning", "info", "debug"};

static void sink_stderr(enum log_level level, const char *message, const char *const *keys,
                        const char *const *values, unsigned count);

static atomic_int max_level = LOG_LEVEL_INFO;
static _Atomic uint64_t counts[LOG_LEVEL_MAX_];
static log_sink current_sink = sink_stderr;
static enum log_lines lines_form = LOG_LINES_TEXT;
static _Thread_local bool is_held, is_patient;

void log_set_level(enum log_level level)
{
    atomic_store(&max_level, (int)level);
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

void log_set_lines(enum log_lines lines)
{
    lines_form = lines;
}

void log_hold(bool waits)
{
    assert(!is_held);
    is_held = true;
    is_patient = waits;
}

void log_release(void)
{
    assert(is_held);
    is_held = false;
    log_writer_wake();
}

void log_hand_over(log_send send, const void *line, size_t len)
{
    const int64_t patience_us = is_held && is_patient ? PATIENCE_US : 0;
    if (!log_writer_add(send, line, len, is_held, patience_us))
        is_patient = false; /* one wait is enough: the next lines find no room either */
}

const char *log_format_int(int64_t number, char text[static 24])
{
    (void)snprintf(text, 24, "%" PRId64, number);
    return text;
}

/* Returns the length of the prefix when a secret begins here; 0 when none begins. */
static size_t secret_prefix(const char *text)
{
    static const struct {
        const char *text;
        size_t len;
    } prefixes[] = {{"shd_", 4},
                    {"whsec_", 6},
                    {"whsk_", 5},
                    {"Bearer ", 7},
                    {"X-AUTH-TOKEN: ", 14},
                    /* JWTs, which begin with {"alg": or {"typ": or {"kid": */
                    {"eyJhbGciOi", 10},
                    {"eyJ0eXAiOi", 10},
                    {"eyJraWQiOi", 10}};
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if ((*text | 0x20) == (prefixes[i].text[0] | 0x20) &&
            !strncasecmp(text, prefixes[i].text, prefixes[i].len))
            return prefixes[i].len;
    return 0;
}

/* Masks the text after the prefix, up to the first character that cannot be part of a secret. */
void log_mask_secrets(char *text)
{
    while (*text) {
        size_t len = secret_prefix(text);
        text += len ? len : 1;
        for (; len && (isalnum((unsigned char)*text) || (*text && strchr("+/=_.-~", *text))); text++)
            *text = '*';
    }
}

/* The values of one line, masked and escaped. Values that do not fit into `room` are allocated. */
struct cleaned {
    const char *values[LOG_MAX_PAIRS];
    char *allocated[LOG_MAX_PAIRS];
    unsigned count;
    size_t used;
    char room[LOG_ROOM];
};

static void clean_value(struct cleaned *c, const char *value)
{
    size_t len = strnlen(value, LOG_MAX_VALUE);
    bool fits = len < sizeof(c->room) - c->used;
    char *copy = fits ? c->room + c->used : mem_calloc(len + 1, 1);
    len = printable_write(copy, len + 1, value, len);
    log_mask_secrets(copy);
    c->used += fits ? len + 1 : 0;
    c->allocated[c->count] = fits ? NULL : copy;
    c->values[c->count++] = copy;
}

static void add_quoted(struct buffer *line, const char *value)
{
    buffer_add(line, "\"", 1);
    for (size_t plain; *value; value += plain) {
        if (*value == '"' || *value == '\\')
            buffer_add(line, "\\", 1);
        plain = 1 + strcspn(value + 1, "\"\\");
        buffer_add(line, value, plain);
    }
    buffer_add(line, "\"", 1);
}

/* Writes all the bytes. Another process may have made stderr non-blocking: this function waits all the same.
 */
static unsigned send_stderr(struct iovec *lines, unsigned count)
{
    while (count) {
        ssize_t n = writev(STDERR_FILENO, lines, (int)count);
        if (n < 0 && errno == EAGAIN)
            (void)poll(&(struct pollfd){.fd = STDERR_FILENO, .events = POLLOUT}, 1, -1);
        else if (n < 0 && errno != EINTR)
            return count;
        for (; n > 0 && (size_t)n >= lines->iov_len; lines++, count--)
            n -= (ssize_t)lines->iov_len;
        if (n > 0)
            *lines = (struct iovec){(char *)lines->iov_base + n, lines->iov_len - (size_t)n};
    }
    return 0;
}

/* The parts of a line; `when` is the time of writing. */
struct log_line {
    const char *when, *level, *message;
    const char *const *keys, *const *values;
    unsigned count;
};

static void add_text_line(struct buffer *out, const struct log_line *l)
{
    buffer_printf(out, "%s %-7s %s", l->when, l->level, l->message);
    for (unsigned i = 0; i < l->count; i++) {
        buffer_add(out, " ", 1);
        buffer_add_str(out, l->keys[i]);
        buffer_add(out, "=", 1);
        if (!*l->values[i] || strpbrk(l->values[i], " \"=\\"))
            add_quoted(out, l->values[i]);
        else
            buffer_add_str(out, l->values[i]);
    }
}

static void add_json_line(struct buffer *out, const struct log_line *l)
{
    json_out_begin(out, NULL);
    json_out_str(out, "time", l->when);
    json_out_str(out, "level", l->level);
    json_out_str(out, "message", l->message);
    for (unsigned i = 0; i < l->count; i++)
        json_out_str(out, l->keys[i], l->values[i]);
    json_out_end(out);
}

static void sink_stderr(enum log_level level, const char *message, const char *const *keys,
                        const char *const *values, unsigned count)
{
    static void (*const forms[])(struct buffer *, const struct log_line *) = {
        [LOG_LINES_TEXT] = add_text_line, [LOG_LINES_JSON] = add_json_line};
    char when[TIME_TEXT_BYTES];
    (void)time_rfc3339(env_wall(env_real()), true, when);
    struct buffer line CLEANUP_BUFFER;
    buffer_init(&line, 4 * LOG_MAX_LINE); /* the limit is larger than all pairs when each character is
                                           * escaped */
    forms[lines_form](&line, &(struct log_line){when, level_names[level], message, keys, values, count});
    buffer_add(&line, "\n", 1);
    assert(!line.overflow);
    log_hand_over(send_stderr, line.data, line.len);
}

/* ---- sentences ---- */

/* Fields that name the subject of a line, in the order that they have in the sentence. The second list has
 * the fields that give the reason; the first of them that the line has is used. */
static const char *const subjects[] = {"project", "cluster", "shoot",   "account", "operation",
                                       "webhook", "step",    "token",   "path",    "host",
                                       "listen",  "status",  "version", "signal",  "by"};
static const char *const reasons[] = {"reason", "error", "cause", "code", "outcome"};

static const char *value_of(const char *key, size_t key_len, const char *const *keys,
                            const char *const *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strlen(keys[i]) == key_len && !memcmp(keys[i], key, key_len) && *values[i])
            return values[i];
    return NULL;
}

/* Appends the message, in which the values replace the {keys}. */
static void add_message(struct buffer *out, const char *message, const char *const *keys,
                        const char *const *values, unsigned count)
{
    while (*message) {
        size_t plain = strcspn(message, "{");
        buffer_add(out, message, plain);
        message += plain;
        size_t key_len = *message ? strcspn(message + 1, "}") : 0;
        if (!*message || !message[1 + key_len])
            break;
        const char *value = value_of(message + 1, key_len, keys, values, count);
        buffer_add_str(out, value ? value : "-");
        message += key_len + 2;
    }
    buffer_add_str(out, message);
}

static bool is_in_message(const char *message, const char *key)
{
    size_t len = strlen(key);
    for (const char *p = strchr(message, '{'); p; p = strchr(p + 1, '{'))
        if (!strncmp(p + 1, key, len) && p[1 + len] == '}')
            return true;
    return false;
}

/*
 * Appends the sentence that a person reads first: event, subject and reason. No other function makes the
 * sentence. The fields follow it, for machines.
 */
static void add_sentence(struct buffer *out, const char *message, const char *const *keys,
                         const char *const *values, unsigned count)
{
    const char *value = NULL;
    bool open = false;
    add_message(out, message, keys, values, count);
    for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
        value = value_of(subjects[i], strlen(subjects[i]), keys, values, count);
        if (!value || is_in_message(message, subjects[i]))
            continue;
        buffer_printf(out, "%s%s %s", open ? ", " : " (", subjects[i], value);
        open = true;
    }
    buffer_add_str(out, open ? ")" : "");
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        value = value_of(reasons[i], strlen(reasons[i]), keys, values, count);
        if (value && !is_in_message(message, reasons[i])) {
            buffer_printf(out, ": %s", value);
            break;
        }
    }
}

void log_write(enum log_level level, const char *message, ...)
{
    atomic_fetch_add(&counts[level], 1);
    if ((int)level > atomic_load(&max_level))
        return;
    const char *keys[LOG_MAX_PAIRS];
    struct cleaned cleaned;
    cleaned.count = 0;
    cleaned.used = 0;
    va_list args;
    va_start(args, message);
    for (const char *key = va_arg(args, const char *); key; key = va_arg(args, const char *)) {
        const char *value = va_arg(args, const char *);
        if (!value || cleaned.count == LOG_MAX_PAIRS)
            continue;
        keys[cleaned.count] = key;
        clean_value(&cleaned, value);
    }
    va_end(args);
    struct buffer sentence CLEANUP_BUFFER;
    buffer_init(&sentence, 16 * 1024);
    add_sentence(&sentence, message, keys, cleaned.values, cleaned.count);
    current_sink(level, sentence.data ? sentence.data : message, keys, cleaned.values, cleaned.count);
    for (unsigned i = 0; i < cleaned.count; i++)
        free(cleaned.allocated[i]);
}
