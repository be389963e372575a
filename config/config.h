/*
 * The configuration: one immutable struct, made from one table of keys. The loader, the annotated
 * sample and the checks all come from that table. Read by every thread after start, changed by none.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/env.h"
#include "base/json.h"
#include "base/log.h"

enum api_generation { API_V1, API_V2 };

struct config_account {
    char *name;
    char *cloud;
    char *url; /* no trailing slash */
    enum api_generation api;
    char *login;
    char *password;      /* read from its file or environment variable at load; NULL when there is none */
    char *password_file; /* as configured, or NULL */
    char *password_env;
    char *token_file; /* a Cleura token handed over, or NULL; read by upstream/ when a token is needed */
    int max_in_flight;
    int64_t min_spacing_us;
    int64_t call_timeout_us;
};

struct config_project {
    char *name;
    const struct config_account *account;
    char *region;
    char *project_id;
    json_t *defaults; /* object: machine_type, minimum, maximum, volume_size_gib, max_surge, zones, ... */
};

/* Which requests get a line in the log: writes, errors and slow ones; all; none. */
enum access_log_mode { ACCESS_LOG_WRITES, ACCESS_LOG_ALL, ACCESS_LOG_OFF };

enum { CONFIG_MAX_ENTRIES = 1000 }; /* accounts, and projects */

/* Trusts whoever comes through a Unix socket. */
#define CONFIG_LOCAL_PROXY "unix"

struct config {
    char *listen; /* "127.0.0.1:8080" or "unix:/path" */
    char *state_dir;
    char **trusted_proxies; /* networks, addresses, CONFIG_LOCAL_PROXY; NULL-terminated */
    char *public_url;       /* where clients reach us, without a slash at its end; or NULL */
    enum log_level log_level;
    enum access_log_mode access_log;
    struct config_account *accounts;
    size_t account_count;
    struct config_project *projects;
    size_t project_count;
    struct {
        int64_t active_us;
        int64_t idle_us;
        int64_t discovery_us;
        int64_t absent_for_us;
        int64_t fresh_floor_us;
    } polling;
    struct {
        char **allow; /* CIDRs or host names that may be private; NULL-terminated */
        bool allow_http;
        int *ports; /* odd ports that are allowed beside 443 (and 80 with allow_http); 0-terminated */
    } webhooks;
    struct {
        int64_t keep_us;
        int keep_count;
    } events;
    struct {
        char **origins; /* exact web origins; NULL-terminated; none: browsers of other origins read nothing */
    } cors;
    struct {
        int http_threads;
        int connections;
        int connections_per_address;
        int64_t drain_us;
        int queue_length;             /* lane: waiting calls per account */
        int requests_per_minute;      /* of a token; 0: any number */
        int fresh_reads_per_minute;   /* that a token may ask Cleura for; 0: any number */
        int auth_failures_per_minute; /* of a client's address; 0: any number */
        int streams;                  /* server-sent events: at the same time */
        int streams_per_token;
        int64_t stream_lifetime_us;
        int64_t heartbeat_us;
    } limits;
};

/*
 * Loads `path`, or, with path NULL, the environment (CLEURA_LOGIN, ...). Faults are printed to
 * `errors`, one a line, "file:line: key: what is wrong and what is valid", every one of them. NULL when there
 * was any. The caller owns the result. With `check` nothing is to be served: credentials of systemd, which
 * exist only inside the unit, are told as a note and not read.
 */
struct config *config_load(const char *path, bool check, FILE *errors);
void config_free(struct config *c);

/* Writes the annotated sample configuration, every key with its default and its meaning. */
void config_write_sample(FILE *out);

const struct config_project *config_project(const struct config *c, const char *name);

#endif
