/* The allowed targets of webhooks: the limits of every denied network, allow lists, and each fault of a
 * URL. */
#include "tests/support/check.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/cidr.h"
#include "webhook/webhook.h"

static bool allowed_for(struct config *config, const char *host, const char *text)
{
    struct sockaddr_storage storage = {0};
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)&storage;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)&storage;
    if (strchr(text, ':')) {
        six->sin6_family = AF_INET6;
        assert_int_equal(inet_pton(AF_INET6, text, &six->sin6_addr), 1);
    } else {
        four->sin_family = AF_INET;
        assert_int_equal(inet_pton(AF_INET, text, &four->sin_addr), 1);
    }
    return webhook_address_allowed(config, host, (struct sockaddr *)(void *)&storage);
}

static bool allowed(struct config *config, const char *text)
{
    return allowed_for(config, "hooks.example.org", text);
}

/* The first and the last address of each denied network, and the neighbour addresses that are public. */
static void wh20_knows_the_edges_of_denied_networks(void **state)
{
    static const struct {
        const char *first;
        const char *last;
        const char *below;
        const char *above;
    } rows[] = {
        {"0.0.0.0", "0.255.255.255", NULL, "1.0.0.0"},
        {"10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"},
        {"100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"},
        {"127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"},
        {"169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"},
        {"169.254.169.254", "169.254.169.254", NULL, NULL},
        {"172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"},
        {"192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"},
        {"192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"},
        {"192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"},
        {"192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"},
        {"198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"},
        {"198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"},
        {"203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"},
        {"224.0.0.0", "239.255.255.255", "223.255.255.255", NULL},
        {"240.0.0.0", "255.255.255.255", NULL, NULL},
        {"192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"},
        {"192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"},
        {"192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"},
        {"168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"},
        {"100.100.100.200", "192.0.0.192", NULL, NULL},
        {"fd20:ce::254", "fd00:ec2::254", NULL, NULL},
        {"::ffff:168.63.129.16", "64:ff9b::168.63.129.16", NULL, NULL},
        {"2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:7fff::", "2620:4f:8001::"},
        {"5f00::", "5f00:ffff::1", NULL, NULL},
        {"2001::a00:1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", NULL, NULL}, /* Teredo */
        {"2002:7f00:1::", "2002:a9fe:a9fe::1", NULL, NULL},                  /* 6to4 */
        {"::a00:1", "::ffff:ffff", NULL, NULL},                              /* compatible with IPv4 */
        /* not assigned yet: denied until a row says that it is public */
        {"::2", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, "2000::"},
        {"4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::", NULL},
        {"fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL},
        {"::", "::1", NULL, NULL},
        {"::ffff:0:0.0.0.0", "::ffff:0:255.255.255.255", NULL, NULL},
        {"3ffe::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffd:ffff::", "3fff:1000::"},
        {"::ffff:0.0.0.0", "::ffff:10.1.2.3", NULL, "::ffff:8.8.8.8"},
        {"::ffff:127.0.0.1", "::ffff:169.254.169.254", NULL, "::ffff:1.1.1.1"},
        {"64:ff9b::", "64:ff9b::10.0.0.1", NULL, "64:ff9b::8.8.8.8"},
        {"64:ff9b::127.0.0.1", "64:ff9b::192.168.1.1", NULL, NULL},
        {"64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", NULL, NULL},
        {"100::", "100::ffff:ffff:ffff:ffff", NULL, NULL},
        {"2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::"},
        {"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"},
        {"2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"},
        {"fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL},
        {"fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL},
        {"fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL},
        {"ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL},
    };
    struct config config = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_false(allowed(&config, rows[i].first));
        assert_false(allowed(&config, rows[i].last));
        if (rows[i].below)
            assert_true(allowed(&config, rows[i].below));
        if (rows[i].above)
            assert_true(allowed(&config, rows[i].above));
    }
    const struct sockaddr unix_socket = {.sa_family = AF_UNIX};
    assert_false(webhook_address_allowed(&config, "", &unix_socket));
}

static void wh20_the_allow_list_opens_what_it_contains(void **state)
{
    char *allow[] = {(char[]){"10.1.0.0/16"}, (char[]){"192.168.7.9"}, (char[]){"fd00:1::/32"},
                     (char[]){"hooks.internal"}, NULL};
    struct config config = {.webhooks.allow = allow};
    assert_true(allowed(&config, "10.1.0.0"));
    assert_true(allowed(&config, "10.1.255.255"));
    assert_true(allowed(&config, "::ffff:10.1.2.3"));
    assert_true(allowed(&config, "64:ff9b::10.1.2.3"));
    assert_false(allowed(&config, "10.0.255.255"));
    assert_false(allowed(&config, "10.2.0.0"));
    assert_true(allowed(&config, "192.168.7.9"));
    assert_false(allowed(&config, "192.168.7.8"));
    assert_true(allowed(&config, "fd00:1:ffff::1"));
    assert_false(allowed(&config, "fd00:2::"));
    assert_true(allowed(&config, "8.8.8.8"));
}

/* A host that the operator trusts may have a private address. Addresses that belong to no host stay
 * denied. */
static void wh20_an_allowed_host_may_be_private_but_not_local_to_the_link(void **state)
{
    static const struct {
        const char *address;
        bool open;
    } rows[] = {
        {"10.1.2.3", true},
        {"172.31.0.1", true},
        {"192.168.1.1", true},
        {"100.64.1.1", true},
        {"127.0.0.1", true},
        {"::1", true},
        {"fd00::1", true},
        {"::ffff:10.0.0.1", true},
        {"64:ff9b::a00:1", true},
        {"8.8.8.8", true},
        {"169.254.169.254", false},
        {"169.254.0.1", false},
        {"fe80::1", false},
        {"fd00:ec2::254", false},
        {"224.0.0.1", false},
        {"ff02::1", false},
        {"0.0.0.0", false},
        {"::", false},
        {"255.255.255.255", false},
        {"240.0.0.1", false},
        {"192.0.2.1", false},
        {"2002:a00:1::", false},
        {"::ffff:169.254.169.254", false},
        {"64:ff9b::a9fe:a9fe", false},
        {"::10.0.0.1", false},
    };
    char *hosts[] = {(char[]){"hooks.internal"}, NULL};
    char *all[] = {(char[]){"hooks.internal"}, (char[]){"169.254.0.0/16"}, (char[]){"fe80::/10"}, NULL};
    struct config config = {.webhooks.allow = hosts};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (allowed_for(&config, "Hooks.Internal.", rows[i].address) != rows[i].open)
            fail_msg("%s", rows[i].address);
        if (rows[i].open && strcmp(rows[i].address, "8.8.8.8") != 0)
            assert_false(allowed_for(&config, "other.internal", rows[i].address));
    }
    config.webhooks.allow = all;
    assert_true(allowed_for(&config, "other.internal", "169.254.169.254"));
    assert_true(allowed_for(&config, "other.internal", "fe80::1"));
}

/* An address that serves the secrets of this machine needs an entry for a narrow network. A wide network is
 * not sufficient. */
static void wh20_hosts_of_clouds_are_named(void **state)
{
    static const struct {
        const char *address;
        const char *wide;
        const char *named;
    } rows[] = {
        {"169.254.169.254", "0.0.0.0/0", "169.254.0.0/16"},
        {"169.254.169.254", "168.0.0.0/6", "169.254.169.254"},
        {"168.63.129.16", "168.63.129.0/24", "168.63.129.16/32"},
        {"100.100.100.200", "100.64.0.0/10", "100.100.100.200"},
        {"fd00:ec2::254", "fd00::/8", "fd00:ec2::254"},
        {"fd20:ce::254", "fc00::/7", "fd20:ce::254"},
        {"64:ff9b::a9fe:a9fe", "64:ff9b::/96", "169.254.169.254"},
        {"64:ff9b::a9fe:a9fe", "0.0.0.0/0", "64:ff9b::a9fe:a9fe"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *wide CLEANUP_FREE = mem_strdup(rows[i].wide);
        char *named CLEANUP_FREE = mem_strdup(rows[i].named);
        char *allow[] = {(char[]){"hooks.internal"}, wide, NULL};
        struct config config = {.webhooks.allow = allow};
        if (allowed_for(&config, "hooks.internal", rows[i].address))
            fail_msg("%s is opened by %s", rows[i].address, wide);
        allow[1] = named;
        if (!allowed_for(&config, "other.internal", rows[i].address))
            fail_msg("%s is not opened by %s", rows[i].address, named);
    }
}

static void all_of_ipv6_is_not_ipv4(void **state)
{
    char *allow[] = {(char[]){"::/0"}, NULL};
    struct config config = {.webhooks.allow = allow};
    assert_true(allowed(&config, "fd00::1"));
    assert_false(allowed(&config, "10.0.0.1"));
    assert_false(allowed(&config, "::ffff:10.0.0.1"));
}

static void reads_networks(void **state)
{
    static const char *const good[] = {
        "0.0.0.0/0", "10.0.0.0/8", "10.9.9.9/8", "1.2.3.4", "1.2.3.4/32",
        "::/0",      "fd00::/8",   "::1",        "::1/128", "::ffff:10.0.0.0/104"};
    static const char *const bad[] = {
        "",           "/8",     "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.0/ 8",
        "10.0.0/8",   "::/129", "::/0128",   "fd00::/8/8",  "[::1]",       "host",        "0x7f.0.0.1",
        "10.0.0.0/+8"};
    struct cidr cidr;
    struct ip ip;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(cidr_parse(good[i], &cidr));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(cidr_parse(bad[i], &cidr));
    assert_true(cidr_parse("10.9.9.9/9", &cidr));
    assert_true(ip_parse("10.127.255.255", &ip) && cidr_contains(&cidr, &ip));
    assert_true(ip_parse("10.128.0.0", &ip) && !cidr_contains(&cidr, &ip));
}

static void separates_mistyped_entries_from_names(void **state)
{
    assert_true(webhook_allow_entry_is_valid("10.0.0.0/8"));
    assert_true(webhook_allow_entry_is_valid("hooks.example.org"));
    assert_true(webhook_allow_entry_is_valid("localhost"));
    assert_false(webhook_allow_entry_is_valid(""));
    assert_false(webhook_allow_entry_is_valid("10.0.0.0/33"));
    assert_false(webhook_allow_entry_is_valid("10.0.0"));
    assert_false(webhook_allow_entry_is_valid("https://hooks.example.org"));
}

/* Returns the codes of all faults, joined by spaces. */
static char *faults_of(const struct config *config, const char *url)
{
    struct problem *p CLEANUP_PROBLEM = NULL;
    struct buffer text;
    size_t i;
    json_t *item;
    webhook_check_url(config, url, &p);
    buffer_init(&text, 4096);
    if (p)
        assert_int_equal(p->code, PROBLEM_VALIDATION_FAILED);
    json_array_foreach (p ? p->faults : NULL, i, item) {
        assert_string_equal(json_str(item, "pointer"), "#/url");
        buffer_printf(&text, "%s%s", i ? " " : "", json_str(item, "code"));
    }
    return buffer_take(&text, NULL);
}

static void expect_faults(const struct config *config, const char *url, const char *codes)
{
    char *found CLEANUP_FREE = faults_of(config, url);
    if (strcmp(found, codes) != 0)
        fail_msg("%s: found '%s', not '%s'", url, found, codes);
}

static void wh18_names_every_fault_of_a_url(void **state)
{
    static const struct {
        const char *url;
        const char *codes;
    } rows[] = {
        {"https://hooks.example.org/a?b=c", ""},
        {"https://hooks.example.org:443", ""},
        {"HTTPS://HOOKS.EXAMPLE.ORG/", ""},
        {"https://8.8.8.8/", ""},
        {"https://[2606:4700::1111]/", ""},
        {"http://hooks.example.org/", "scheme_not_allowed"},
        {"ftp://hooks.example.org/", "scheme_not_allowed"},
        {"file:///etc/passwd", "scheme_not_allowed"},
        {"https://user@hooks.example.org/", "userinfo_not_allowed"},
        {"https://user:pw@hooks.example.org/", "userinfo_not_allowed"},
        {"https://hooks.example.org/#", "fragment_not_allowed"},
        {"https://hooks.example.org/#x", "fragment_not_allowed"},
        {"https://hooks.example.org:8443/", "port_not_allowed"},
        {"https://hooks.example.org:80/", "port_not_allowed"},
        {"https://u@127.0.0.1:81/#x",
         "userinfo_not_allowed fragment_not_allowed port_not_allowed address_not_allowed"},
        {"https://10.0.0.1/", "address_not_allowed"},
        {"https://2130706433/", "address_not_allowed"},
        {"https://0x7f000001/", "address_not_allowed"},
        {"https://0x7f.1/", "address_not_allowed"},
        {"https://0177.0.0.1/", "address_not_allowed"},
        {"https://127.1/", "address_not_allowed"},
        {"https://127%2e0%2e0%2e1/", "address_not_allowed"},
        {"https://b\xc3\xbc"
         "cher.example/",
         "host_not_ascii"},
        {"https://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1/", "host_not_ascii"},
        {"https://127\xe3\x80\x82"
         "0.0.1/",
         "host_not_ascii"},
        {"https://xn--bcher-kva.example/", ""},
        {"https://0/", "address_not_allowed"},
        {"https://127.0.0.1./", "address_not_allowed"},
        {"https://0x7f.1./", "address_not_allowed"},
        {"https://017700000001/", "address_not_allowed"},
        {"https://[::]/", "address_not_allowed"},
        {"https://[::ffff:a9fe:a9fe]/", "address_not_allowed"},
        {"https://[fd00:ec2::254]/", "address_not_allowed"},
        {"https://169.254.169.254@hooks.example.org/", "userinfo_not_allowed"},
        {"https://hooks.example.org@169.254.169.254/", "userinfo_not_allowed address_not_allowed"},
        {"gopher://127.0.0.1:6379/_PING", "scheme_not_allowed port_not_allowed address_not_allowed"},
        {"dict://hooks.example.org/", "scheme_not_allowed"},
        {"https://hooks.example.org:22/", "port_not_allowed"},
        {"https://169.254.169.254/latest/meta-data", "address_not_allowed"},
        {"https://[::1]/", "address_not_allowed"},
        {"https://[::ffff:127.0.0.1]/", "address_not_allowed"},
        {"https://[::ffff:7f00:1]/", "address_not_allowed"},
        {"https://[64:ff9b::7f00:1]/", "address_not_allowed"},
        {"https://[fe80::1%25eth0]/", "address_not_allowed"},
        {"", "invalid_url"},
        {"hooks.example.org/a", "invalid_url"},
        {"//hooks.example.org/a", "invalid_url"},
        {"https://", "invalid_url"},
        {"https://hooks.example.org:99999/", "invalid_url"},
        {"https://hooks .example.org/", "invalid_url"},
        {"https://hooks.example.org/\r\nx: y", "invalid_url"},
        {"https://[::1/", "invalid_url"},
    };
    const struct config config = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_faults(&config, rows[i].url, rows[i].codes);
}

static void wh18_limits_the_length(void **state)
{
    const struct config config = {0};
    char url[2050];
    memset(url, 'a', sizeof(url));
    memcpy(url, "https://h.example/", 18);
    url[2048] = '\0';
    expect_faults(&config, url, "");
    url[2048] = 'a';
    url[2049] = '\0';
    expect_faults(&config, url, "too_long");
}

static void the_configuration_opens_ports_schemes_and_networks(void **state)
{
    char *allow[] = {(char[]){"127.0.0.0/8"}, (char[]){"fd00::/8"}, (char[]){"hooks.internal"}, NULL};
    int ports[] = {8443, 0};
    const struct config config = {.webhooks = {.allow = allow, .allow_http = true, .ports = ports}};
    expect_faults(&config, "http://hooks.example.org/", "");
    expect_faults(&config, "https://hooks.example.org:80/", "");
    expect_faults(&config, "https://hooks.example.org:8443/", "");
    expect_faults(&config, "https://hooks.example.org:8444/", "port_not_allowed");
    expect_faults(&config, "http://127.0.0.1:41234/", "");
    expect_faults(&config, "http://0x7f.1:41234/", "");
    expect_faults(&config, "https://[fd00::1]:41234/", "");
    expect_faults(&config, "https://10.0.0.1:41234/", "port_not_allowed address_not_allowed");
    expect_faults(&config, "https://Hooks.Internal.:9/", "");
    expect_faults(&config, "https://other.internal:9/", "port_not_allowed");
    expect_faults(&config, "gopher://hooks.internal/", "scheme_not_allowed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wh20_knows_the_edges_of_denied_networks),
        cmocka_unit_test(wh20_the_allow_list_opens_what_it_contains),
        cmocka_unit_test(wh20_an_allowed_host_may_be_private_but_not_local_to_the_link),
        cmocka_unit_test(wh20_hosts_of_clouds_are_named),
        cmocka_unit_test(all_of_ipv6_is_not_ipv4),
        cmocka_unit_test(reads_networks),
        cmocka_unit_test(separates_mistyped_entries_from_names),
        cmocka_unit_test(wh18_names_every_fault_of_a_url),
        cmocka_unit_test(wh18_limits_the_length),
        cmocka_unit_test(the_configuration_opens_ports_schemes_and_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
