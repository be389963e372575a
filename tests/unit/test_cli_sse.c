/* Parses streams of events (docs/api.md, "As a stream"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "cli/sse.h"

static const char stream[] = "retry: 2000\nid: 0\n\n: alive\n\nid: 3\nevent: cluster.ready\ndata: "
                             "{\"a\":1}\n\nid: 5\r\n\r\nevent: reset\ndata: x\n"
                             "data: y\n\nid: 9\ndata: cut";

static bool collect(void *ctx, const char *type, const char *data)
{
    struct buffer *seen = ctx;
    buffer_printf(seen, "[%s|%s]", type, data);
    return true;
}

/* The events are the same wherever the bytes are cut. The id of an incomplete block does not count. */
static void any_cut_gives_the_same(void **state)
{
    for (size_t step = 1; step <= sizeof(stream); step++) {
        struct sse sse;
        struct buffer seen CLEANUP_BUFFER;
        buffer_init(&seen, 4096);
        sse_init(&sse);
        for (size_t at = 0; at < sizeof(stream) - 1; at += step) {
            size_t left = sizeof(stream) - 1 - at;
            assert_true(sse_take(&sse, stream + at, left < step ? left : step, collect, &seen));
        }
        assert_string_equal(seen.data, "[cluster.ready|{\"a\":1}][reset|x\ny]");
        assert_string_equal(sse.id, "5");
        assert_int_equal(sse.retry_ms, 2000);
        sse_done(&sse);
    }
}

static void a_line_without_an_end_is_none(void **state)
{
    struct sse sse;
    char piece[4096];
    bool goes_on = true;
    memset(piece, 'x', sizeof(piece));
    sse_init(&sse);
    for (int i = 0; i < 300 && goes_on; i++)
        goes_on = sse_take(&sse, piece, sizeof(piece), collect, NULL);
    assert_false(goes_on);
    assert_true(sse.too_long);
    sse_done(&sse);
}

static bool stop(void *ctx, const char *type, const char *data)
{
    return false;
}

static void the_reader_may_stop(void **state)
{
    struct sse sse;
    sse_init(&sse);
    assert_false(sse_take(&sse, stream, sizeof(stream) - 1, stop, NULL));
    assert_string_equal(sse.id, "3");
    sse_done(&sse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_gives_the_same),
        cmocka_unit_test(a_line_without_an_end_is_none),
        cmocka_unit_test(the_reader_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
