/* Addresses of servers: whether a token that is sent there leaves the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attrs.h"
#include "cli/cli_settings.h"

static void loopback_is_what_never_leaves_the_machine(void **state)
{
    static const char *const own[] = {
        "http://localhost",      "http://LOCALHOST:8080", "http://localhost/base",  "http://127.0.0.1",
        "http://127.0.0.1:8080", "HTTP://127.0.0.1:8080", "http://127.255.3.4:1/x", "http://[::1]",
        "http://[::1]:8080/",    "http://127.0.0.1?a=b",
    };
    static const char *const foreign[] = {
        "http://127.evil.example",
        "http://127.0.0.1.evil.example:80",
        "http://localhost.evil.example",
        "http://[::1].evil.example",
        "http://localhost:x@evil.example",
        "http://127.0.0.1@evil.example",
        "http://127.0.0.1:8@evil.test",
        "http://[::1",
        "http://128.0.0.1",
        "http://127.1",
        "http://evil.example/localhost",
        "http://",
        "http://:8080",
    };
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (!url_is_loopback(own[i]) || url_is_open(own[i]))
            fail_msg("%s is loopback", own[i]);
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
        if (url_is_loopback(foreign[i]) || !url_is_open(foreign[i]))
            fail_msg("%s is not loopback", foreign[i]);
    assert_true(url_is_loopback("https://localhost:8443"));
    assert_false(url_is_open("https://shootd.example.com"));
    assert_false(url_is_open("unix:/run/shootd/socket"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_is_what_never_leaves_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
