/*
 * The configuration: one immutable struct, made from one table of keys. The loader, the annotated sample and
 * the checks all use that table. After the start every thread reads the struct, and no thread changes it.
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
#include "model/names.h"

/* The APIs that an account can use, as ROW(member, word). Each has a driver in upstream/wire/, which is named
 * after the word. */
#define CLEURA_APIS(ROW) \
    ROW(API_V1, v1)      \
    ROW(API_V2, v2)
#define CONFIG_API_MEMBER(member, word) member,

enum api_generation { CLEURA_APIS(CONFIG_API_MEMBER) };

struct config_account {
    char *name;
    char *cloud;
    char *url; /* without a final slash */
    enum api_generation api;
    char *login;
    char *password;      /* read from its file or environment variable at load; NULL when there is none */
    char *password_file; /* the path in the configuration, or NULL */
    char *password_env;
    char *token_file; /* file with a Cleura token, or NULL; upstream/ reads it when it needs a token */
    int max_in_flight;
    int64_t min_spacing_us;
    int64_t call_timeout_us;
    char *http_proxy; /* see config/proxy.h; NULL: the environment decides */
};

struct config_project {
    char *name;
    const struct config_account *account;
    char *region;
    char *project_id;
    json_t *defaults; /* an object: machine_type, minimum, maximum, volume_size_gib, max_surge, zones, ... */
};

/* The rights of callers with a token of an issuer: the first rule that matches the claims applies. */
struct config_rule {
    char *claim;    /* the name of the claim; a JSON pointer when it begins with '/' */
    char *contains; /* the claim must be this text, or a list that contains it */
    enum role role;
    char **projects; /* the last one is NULL; {"*"} means all projects */
};

/* An issuer whose JWTs are accepted (AU-12, AU-13). */
struct config_issuer {
    char *issuer; /* `iss`, byte for byte */
    char *audience;
    char **algorithms; /* names of oidc/keys.h; the last one is NULL */
    bool at_jwt_only;  /* `typ` must say that the token is an access token (RFC 9068) */
    int64_t max_lifetime_us;
    char *client_id;  /* the public client id of the programs that request tokens; NULL: not known */
    char **scopes;    /* the scopes for these programs, the last one is NULL; NULL without a client_id */
    char *http_proxy; /* see config/proxy.h; NULL: the environment decides */
    struct config_rule *rules;
    size_t rule_count;
};

/* The rights of a caller with a client certificate of the configured authority. */
struct config_client {
    char *name; /* one of the certificate's alternative names: "dns:..." or "uri:..." */
    enum role role;
    char **projects; /* NULL-terminated; {"*"} means all projects */
};

/* The requests that are logged. WRITES: writes, errors and slow requests. ALL: all requests. OFF: none. */
enum access_log_mode { ACCESS_LOG_WRITES, ACCESS_LOG_ALL, ACCESS_LOG_OFF };

/* AUTO: the journal when stderr is connected to the journal, else text. TEXT and JSON: lines on stderr. */
enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_JOURNAL, LOG_FORMAT_TEXT, LOG_FORMAT_JSON, LOG_FORMAT_MAX_ };

enum {
    CONFIG_MAX_ENTRIES = 1000 /* the limit of accounts, and also the limit of projects */,
    CONFIG_MAX_ISSUERS = 16,
    CONFIG_MAX_RULES = 100,
    CONFIG_MAX_CLIENTS = 1000
};

/* The entry of `trusted_proxies` that trusts every peer on a Unix socket. */
#define CONFIG_LOCAL_PROXY "unix"

struct config {
    char *listen; /* "127.0.0.1:8080" or "unix:/path" */
    char *state_dir;
    char **trusted_proxies; /* networks, addresses, or CONFIG_LOCAL_PROXY; the last one is NULL */
    struct {
        char *certificate, *key; /* the paths of the files; NULL: plain HTTP */
        char *client_ca;         /* the path of the file; NULL: clients need no certificate */
        struct config_client *clients;
        size_t client_count;
        uint64_t clients_generation; /* grows by one when a reload changes `clients` */
    } tls;
    bool dashboard;   /* whether the page at / is served */
    char *public_url; /* URL of shootd for clients, without a final slash; or NULL */
    enum log_level log_level;
    enum log_format log_format;
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
    int64_t operations_keep_us; /* how long an operation is kept after its end */
    int64_t audit_keep_us;
    struct {
        char *directory;  /* NULL: no backups */
        int64_t every_us; /* the time between two backups; 0: backups are made only on request */
        int64_t keep;     /* how many backups are kept; older ones are removed */
    } backups;
    struct {
        char **allow; /* private networks (CIDR), or host names that may have private addresses; the last one
                       * is NULL */
        bool allow_http;
        int *ports; /* ports that are allowed in addition to 443 (and 80 with allow_http); the last one is
                     * 0 */
    } webhooks;
    struct {
        int64_t keep_us;
        int keep_count;
    } events;
    struct {
        struct config_issuer *issuers;
        size_t issuer_count;
    } oidc;
    struct {
        char *endpoint; /* URL of a receiver of OTLP/HTTP; NULL: no traces are recorded */
        int ratio;      /* how many of a million traces that begin at shootd are recorded */
    } tracing;
    struct {
        char **origins; /* exact web origins, the last one is NULL; when there is none, only pages of the same
                         * origin may read answers */
    } cors;
    struct {
        int http_threads;
        int connections;
        int connections_per_address;
        int64_t drain_us;
        int queue_length;             /* how many calls may wait per account, in the account's lane
                                       * (upstream/upstream.h) */
        int requests_per_minute;      /* requests per token; 0: no limit */
        int fresh_reads_per_minute;   /* reads of Cleura per token; 0: no limit */
        int auth_failures_per_minute; /* failures per client address; 0: no limit */
        int streams;                  /* the limit of simultaneous streams of server-sent events */
        int streams_per_token;
        int64_t stream_lifetime_us;
        int64_t heartbeat_us;
    } limits;
};

/*
 * Loads `path`; with path NULL, reads the environment (CLEURA_LOGIN, ...). Prints all faults to `errors`, one
 * per line: "file:line: key: fault and valid values". Returns NULL when there was a fault. The caller owns
 * the result. Credentials of systemd exist only inside the unit. CONFIG_TO_SERVE and
 * CONFIG_TO_LOG_IN read them. The other purposes do not read them, and CONFIG_TO_CHECK reports that as a
 * note.
 */
enum config_purpose { CONFIG_TO_SERVE, CONFIG_TO_CHECK, CONFIG_TO_LOG_IN, CONFIG_BESIDE_UNIT };
struct config *config_load(const char *path, enum config_purpose purpose, FILE *errors);
void config_free(struct config *c);

/* Writes the annotated sample configuration: every key with its default and description. */
void config_write_sample(FILE *out);

const struct config_project *config_project(const struct config *c, const char *name);

#endif
