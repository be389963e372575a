/* Streams of events. However the bytes are cut, the events are the same. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/buffer.h"
#include "cli/sse.h"

enum { SEEN_MAX = 64 * 1024 * 1024 };

static bool collect(void *ctx, const char *type, const char *data)
{
    FUZZ_CHECK(*data);
    buffer_printf(ctx, "[%s|%s]", type, data);
    return !((struct buffer *)ctx)->overflow;
}

/* Writes the events of a stream that arrives in pieces of `step` bytes. */
static bool take(const uint8_t *bytes, size_t len, size_t step, struct buffer *seen)
{
    struct sse sse;
    bool goes_on = true;
    buffer_init(seen, SEEN_MAX);
    sse_init(&sse);
    for (size_t at = 0; at < len && goes_on; at += step)
        goes_on = sse_take(&sse, (const char *)bytes + at, len - at < step ? len - at : step, collect, seen);
    FUZZ_CHECK(strspn(sse.id, "0123456789") == strlen(sse.id) && sse.retry_ms >= -1);
    buffer_printf(seen, "%s %ld", sse.id, sse.retry_ms);
    sse_done(&sse);
    return goes_on;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct buffer whole CLEANUP_BUFFER, cut CLEANUP_BUFFER;
    bool a = take(bytes, len, len ? len : 1, &whole), b = take(bytes, len, 1, &cut);
    FUZZ_CHECK(a == b && strcmp(whole.data, cut.data) == 0);
    return 0;
}
