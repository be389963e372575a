#include "simulator/cloud/options.h"

#include "simulator/cloud/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_LISTEN = 256,
    OPTION_SPEED,
    OPTION_SEED,
    OPTION_LOGIN,
    OPTION_PASSWORD,
    OPTION_TOKEN_TTL,
    OPTION_LATENCY,
    OPTION_STALE,
    OPTION_REGION,
    OPTION_PROJECT,
    OPTION_TWO_FACTOR,
    OPTION_ALLOW_REMOTE,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, OPTION_LISTEN},
    {"speed", required_argument, NULL, OPTION_SPEED},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"login", required_argument, NULL, OPTION_LOGIN},
    {"password", required_argument, NULL, OPTION_PASSWORD},
    {"token-ttl", required_argument, NULL, OPTION_TOKEN_TTL},
    {"latency", required_argument, NULL, OPTION_LATENCY},
    {"stale", required_argument, NULL, OPTION_STALE},
    {"region", required_argument, NULL, OPTION_REGION},
    {"project", required_argument, NULL, OPTION_PROJECT},
    {"two-factor", no_argument, NULL, OPTION_TWO_FACTOR},
    {"allow-remote", no_argument, NULL, OPTION_ALLOW_REMOTE},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

void options_print_help(void)
{
    (void)fputs(
        "usage: cleura-sim [--listen ADDRESS:PORT] [options]\n"
        "  --listen A:P       IPv4 address and port, port 0 picks a free one (default 127.0.0.1:9090)\n"
        "  --speed N          simulated seconds per second, fractions allowed (default 1)\n"
        "  --seed N           make generated names and ids repeatable\n"
        "  --login L          account name (default demo)\n"
        "  --password P       its password (default demo)\n"
        "  --token-ttl N      lifetime of a token in simulated seconds (default 86400)\n"
        "  --latency MS       real milliseconds added to every answer (default 0)\n"
        "  --stale N          simulated seconds until an accepted write is picked up (default 5)\n"
        "  --region TAG       an OpenStack region; may be repeated (default Sto2)\n"
        "  --project ID       a project, 32 hex digits; may be repeated\n"
        "                     (default 00112233445566778899aabbccddeeff)\n"
        "  --two-factor       the account needs a code by SMS, always 123456\n"
        "  --allow-remote     permit listening on an address that is not loopback\n",
        stdout);
}

static int options_complain(const char *what, const char *value)
{
    (void)fprintf(stderr, "cleura-sim: %s: %s\n", what, value);
    return EXIT_BAD_USAGE;
}

static int parse_number(const char *text, double least, double most, double *ret_number)
{
    char *end;
    double number;
    errno = 0;
    number = strtod(text, &end);
    if (errno != 0 || end == text || *end || !(number >= least) || !(number <= most))
        return -EINVAL;
    *ret_number = number;
    return 0;
}

static int parse_listen(const char *text, struct sockaddr_in *ret_address)
{
    char host[64];
    const char *colon = strrchr(text, ':');
    double port;
    if (!colon || (size_t)(colon - text) >= sizeof(host))
        return -EINVAL;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    memset(ret_address, 0, sizeof(*ret_address));
    ret_address->sin_family = AF_INET;
    if (!strcmp(host, "localhost"))
        ret_address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else if (inet_pton(AF_INET, host, &ret_address->sin_addr) != 1)
        return -EINVAL;
    if (strspn(colon + 1, "0123456789") != strlen(colon + 1) || parse_number(colon + 1, 0, 65535, &port) < 0)
        return -EINVAL;
    ret_address->sin_port = htons((uint16_t)port);
    return 0;
}

static int options_append(const char **list, size_t *count, const char *value)
{
    if (*count == OPTIONS_TAGS_MAX || !*value)
        return -EINVAL;
    list[(*count)++] = value;
    return 0;
}

static bool is_project_id(const char *text)
{
    return strlen(text) == 32 && strspn(text, "0123456789abcdefABCDEF") == 32;
}

static int options_apply(struct options *options, int which, const char *value)
{
    double number = 0;
    char *end;
    int r = 0;
    switch (which) {
    case OPTION_LISTEN:
        return parse_listen(value, &options->listen);
    case OPTION_SPEED:
        return parse_number(value, 0, 1e9, &options->speed);
    case OPTION_SEED:
        errno = 0;
        options->seed = strtoull(value, &end, 0);
        return errno != 0 || end == value || *end || *value == '-' ? -EINVAL : 0;
    case OPTION_LOGIN:
        options->login = value;
        return 0;
    case OPTION_PASSWORD:
        options->password = value;
        return 0;
    case OPTION_TOKEN_TTL:
        return parse_number(value, 0, 1e9, &options->token_ttl_seconds);
    case OPTION_LATENCY:
        r = parse_number(value, 0, 600000, &number);
        options->latency_ms = (unsigned)number;
        return r;
    case OPTION_STALE:
        return parse_number(value, 0, 1e9, &options->stale_seconds);
    case OPTION_REGION:
        return options_append(options->regions, &options->region_count, value);
    case OPTION_PROJECT:
        return is_project_id(value) ? options_append(options->projects, &options->project_count, value)
                                    : -EINVAL;
    case OPTION_TWO_FACTOR:
        options->two_factor = true;
        return 0;
    case OPTION_ALLOW_REMOTE:
        options->allow_remote = true;
        return 0;
    case OPTION_HELP:
        options->help = true;
        return 0;
    }
    return -EINVAL;
}

static void set_defaults(struct options *options)
{
    memset(options, 0, sizeof(*options));
    (void)parse_listen("127.0.0.1:9090", &options->listen);
    options->login = "demo";
    options->password = "demo";
    options->speed = 1;
    options->token_ttl_seconds = 86400;
    options->stale_seconds = 5;
    options->seed = (uint64_t)clock_monotonic_us();
}

int options_parse(struct options *options, int argc, char **argv)
{
    int which;
    set_defaults(options);
    opterr = 1;
    while ((which = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (which == '?')
            return EXIT_BAD_USAGE;
        if (options_apply(options, which, optarg) < 0)
            return options_complain("not a usable value", optarg ? optarg : "");
    }
    if (optind < argc)
        return options_complain("unexpected argument", argv[optind]);
    if (!options->allow_remote && (ntohl(options->listen.sin_addr.s_addr) >> 24) != 127)
        return options_complain("not a loopback address (see --allow-remote)", "--listen");
    if (options->region_count == 0)
        (void)options_append(options->regions, &options->region_count, "Sto2");
    if (options->project_count == 0)
        (void)options_append(options->projects, &options->project_count, "00112233445566778899aabbccddeeff");
    return 0;
}
