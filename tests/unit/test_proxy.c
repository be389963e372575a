/* Tests of config/proxy.h: the key `http_proxy` and the environment decide which forward proxy a URL has. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "config/proxy.h"

static const char *const variables[] = {"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY",
                                        "all_proxy",   "ALL_PROXY",   "no_proxy",   "NO_PROXY"};

static int clear_environment(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        (void)unsetenv(variables[i]);
    return 0;
}

static void expect(const char *setting, const char *url, const char *proxy)
{
    char *given CLEANUP_SECRET = proxy_for(setting, url);
    if (proxy)
        assert_string_equal(given, proxy);
    else
        assert_null(given);
}

static void the_key_decides_before_the_environment(void **state)
{
    expect(NULL, "https://rest.cleura.cloud", NULL);
    (void)setenv("http_proxy", "http://plain:1", 1);
    (void)setenv("HTTP_PROXY", "http://plain:1", 1);
    expect(NULL, "https://rest.cleura.cloud", NULL);
    (void)setenv("ALL_PROXY", "http://all:1", 1);
    expect(NULL, "https://rest.cleura.cloud", "http://all:1");
    (void)setenv("HTTPS_PROXY", "user:word@upper:1/", 1);
    expect(NULL, "https://rest.cleura.cloud", "http://user:word@upper:1/");
    (void)setenv("https_proxy", "", 1);
    expect(NULL, "https://rest.cleura.cloud", "http://user:word@upper:1/");
    (void)setenv("https_proxy", "http://lower:1", 1);
    expect(NULL, "https://rest.cleura.cloud", "http://lower:1");
    expect("http://own:2", "https://rest.cleura.cloud", "http://own:2");
    expect("none", "https://rest.cleura.cloud", NULL);
    (void)setenv("no_proxy", "*", 1);
    expect("http://own:2", "https://rest.cleura.cloud", "http://own:2");
    expect(NULL, "https://rest.cleura.cloud", NULL);
}

static void loopback_has_none(void **state)
{
    static const char *const urls[] = {"https://127.0.0.1:1/", "https://127.9.8.7",   "https://[::1]:8/x",
                                       "https://localhost",    "https://LOCALHOST:1", "https://a.localhost/",
                                       "http://127.0.0.1:1",   "https://u@localhost/"};
    (void)setenv("https_proxy", "http://lower:1", 1);
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        expect("http://own:2", urls[i], NULL);
        expect(NULL, urls[i], NULL);
    }
    expect(NULL, "https://notlocalhost/", "http://lower:1");
    expect(NULL, "https://127.0.0.1.example.com/", "http://lower:1");
    expect(NULL, "https://example.com/@localhost", "http://lower:1");
}

static void no_proxy_names_hosts_domains_addresses_and_networks(void **state)
{
    static const struct {
        const char *url;
        bool is_direct;
    } rows[] = {
        {"https://example.com", true},     {"https://a.EXAMPLE.com:8/x", true},
        {"https://notexample.com", false}, {"https://intern.test/", true},
        {"https://a.intern.test/", true},  {"https://test/", false},
        {"https://10.1.2.3/", true},       {"https://11.1.2.3/", false},
        {"https://[fd00::9]:1/", true},    {"https://[fe80::9]:1/", false},
        {"https://192.0.2.7/", true},      {"https://192.0.2.70/", false},
        {"https://example.com.au", false},
    };
    (void)setenv("https_proxy", "http://lower:1", 1);
    (void)setenv("no_proxy", " example.com,.intern.test 10.0.0.0/8,,fd00::/8, 192.0.2.7 .", 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect(NULL, rows[i].url, rows[i].is_direct ? NULL : "http://lower:1");
}

static void faults_are_told_without_the_value(void **state)
{
    static const char *const good[] = {"http://proxy:3128", "HTTP://proxy/", "http://u:p@[fd00::1]:1",
                                       "http://u:p@w@proxy:1"};
    static const char *const bad[] = {"socks5://proxy:1", "https://proxy:1",    "http://",
                                      "http://u:p/w@h:1", "http://proxy:99999", "http://proxy:1/path"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_null(proxy_fault(good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_non_null(proxy_fault(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_key_decides_before_the_environment, clear_environment),
        cmocka_unit_test_setup(loopback_has_none, clear_environment),
        cmocka_unit_test_setup(no_proxy_names_hosts_domains_addresses_and_networks, clear_environment),
        cmocka_unit_test_setup(faults_are_told_without_the_value, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
