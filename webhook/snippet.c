/* How an answer's body begins, for the delivery log (WH-22). Pure functions, any thread. */
#include "webhook/engine_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

enum {
    SECRET_SHORTEST = 8, /* a shorter value is no secret, and would blot out words */
};

static void mask_value(char *text, size_t len, const char *value)
{
    size_t value_len = strlen(value);
    if (value_len < SECRET_SHORTEST)
        return;
    char *end = text + len;
    for (char *at = memmem(text, len, value, value_len); at;
         at = memmem(at, (size_t)(end - at), value, value_len)) {
        memset(at, '*', value_len);
        at += value_len;
    }
}

void snippet_write(char to[static DELIVERY_SNIPPET_BYTES], const char *body, size_t body_len,
                   const struct subscription *s, const struct seal_key *key)
{
    /* Secrets are looked for in all of it: one may begin before the cut and end behind it. */
    char *copy CLEANUP_FREE = mem_strndup(body, body_len);
    for (unsigned i = 0; body_len && i < s->header_count; i++) {
        char *value CLEANUP_SECRET = webhook_header_open(key, s->id, &s->headers[i]);
        if (value)
            mask_value(copy, body_len, value);
    }
    (void)printable_write(to, DELIVERY_SNIPPET_BYTES, copy, body_len);
    log_mask_secrets(to);
}
