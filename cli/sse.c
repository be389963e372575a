#include "cli/sse.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1024 * 1024 };

void sse_init(struct sse *sse)
{
    *sse = (struct sse){.retry_ms = -1};
    buffer_init(&sse->line, LINE_MAX_BYTES);
    buffer_init(&sse->data, LINE_MAX_BYTES);
}

void sse_done(struct sse *sse)
{
    buffer_done(&sse->line);
    buffer_done(&sse->data);
    sse->type[0] = sse->next_id[0] = '\0';
}

static void take_field(struct sse *sse, const char *name, const char *value)
{
    if (strcmp(name, "data") == 0) {
        if (sse->data.len)
            buffer_add_str(&sse->data, "\n");
        buffer_add_str(&sse->data, value);
        sse->too_long |= sse->data.overflow;
    } else if (strcmp(name, "event") == 0) {
        (void)snprintf(sse->type, sizeof(sse->type), "%s", value);
    } else if (strcmp(name, "id") == 0 && strspn(value, "0123456789") == strlen(value)) {
        (void)snprintf(sse->next_id, sizeof(sse->next_id), "%s", value);
    } else if (strcmp(name, "retry") == 0 && *value && strlen(value) < 9 &&
               strspn(value, "0123456789") == strlen(value)) {
        sse->retry_ms = strtol(value, NULL, 10);
    }
}

/* Parses one line without its end. A comment line shows that the stream is alive, and has no other effect. */
static void take_line(struct sse *sse, char *line)
{
    char *colon = strchr(line, ':');
    if (colon == line)
        return;
    char *value = colon ? colon + 1 : line + strlen(line);
    if (colon)
        *colon = '\0';
    take_field(sse, line, value + (colon && *value == ' '));
}

static bool end_block(struct sse *sse, bool (*on_event)(void *ctx, const char *type, const char *data),
                      void *ctx)
{
    bool goes_on = !sse->data.len || on_event(ctx, sse->type, sse->data.data);
    buffer_done(&sse->data);
    sse->type[0] = '\0';
    if (sse->next_id[0])
        memcpy(sse->id, sse->next_id, sizeof(sse->id));
    return goes_on;
}

bool sse_take(struct sse *sse, const char *bytes, size_t len,
              bool (*on_event)(void *ctx, const char *type, const char *data), void *ctx)
{
    assert(on_event && sse->retry_ms >= -1);
    while (len && !sse->too_long) {
        const char *newline = memchr(bytes, '\n', len);
        size_t piece = newline ? (size_t)(newline - bytes) : len;
        buffer_add(&sse->line, bytes, piece);
        sse->too_long = sse->line.overflow;
        bytes += piece + (newline != NULL);
        len -= piece + (newline != NULL);
        if (!newline || sse->too_long)
            continue;
        if (sse->line.len && sse->line.data[sse->line.len - 1] == '\r')
            sse->line.data[--sse->line.len] = '\0';
        bool blank = sse->line.len == 0;
        if (!blank)
            take_line(sse, sse->line.data);
        buffer_done(&sse->line);
        if (blank && !end_block(sse, on_event, ctx))
            return false;
    }
    return !sse->too_long;
}
