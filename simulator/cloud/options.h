/* The command line of cleura-sim. */
#ifndef SIMULATOR_CLOUD_OPTIONS_H
#define SIMULATOR_CLOUD_OPTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_TAGS_MAX 16
#define EXIT_BAD_USAGE   64

struct options {
    struct sockaddr_in listen;
    const char *login;
    const char *password;
    const char *regions[OPTIONS_TAGS_MAX];
    size_t region_count;
    const char *projects[OPTIONS_TAGS_MAX];
    size_t project_count;
    double speed;
    double token_ttl_seconds;
    double stale_seconds;
    unsigned latency_ms;
    uint64_t seed;
    bool two_factor;
    bool allow_remote;
    bool help;
};

/* Reads the arguments. Returns 0; on a fault, prints it to stderr and returns EXIT_BAD_USAGE. The strings
 * point into argv. */
int options_parse(struct options *options, int argc, char **argv);
void options_print_help(void);

#endif
