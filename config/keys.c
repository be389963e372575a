#include "config/config_private.h"

#include <stddef.h>

#include "base/attrs.h"

#define API_WORD(member, word) [member] = #word,
static const char *const generations[] = {CLEURA_APIS(API_WORD) NULL};
static const char *const levels[] = {"error", "warning", "info", "debug", NULL};
static const char *const log_formats[] = {[LOG_FORMAT_AUTO] = "auto",
                                          [LOG_FORMAT_JOURNAL] = "journal",
                                          [LOG_FORMAT_TEXT] = "text",
                                          [LOG_FORMAT_JSON] = "json",
                                          NULL};
static const char *const access_logs[] = {
    [ACCESS_LOG_WRITES] = "writes", [ACCESS_LOG_ALL] = "all", [ACCESS_LOG_OFF] = "off", NULL};

static const char *const roles[] = {[ROLE_VIEWER] = "viewer",
                                    [ROLE_KUBECONFIG] = "kubeconfig",
                                    [ROLE_OPERATOR] = "operator",
                                    [ROLE_ADMIN] = "admin",
                                    NULL};

#define MS               ((int64_t)1000)
#define S                ((int64_t)1000000)
#define AT(type, member) offsetof(struct type, member)

static const struct key account_keys[] = {
    {"name", KEY_STRING, AT(config_account, name), .example = "main", .required = true,
     .help = "Name by which projects refer to this login."},
    {"cloud", KEY_STRING, AT(config_account, cloud), .preset = "public",
     .help = "public, compliant, or the name of a private cloud (which needs url)."},
    {"url", KEY_STRING, AT(config_account, url), .example = "https://rest.cleura.cloud",
     .help = "Base URL. It is known for public and compliant. Plain http:// is accepted for loopback "
             "addresses only."},
    {"api", KEY_WORD, AT(config_account, api), .preset = "v2", .words = generations,
     .help = "Generation of Cleura's API: v1 or v2."},
    {"login", KEY_STRING, AT(config_account, login), .example = "LOGIN_AT_CLEURA", .required = true,
     .placeholder = true,
     .help = "User name at Cleura. A user with a second factor needs a login by hand again and again."},
    {"password_file", KEY_STRING, AT(config_account, password_file),
     .example = "/run/credentials/shootd.service/cleura-main",
     .help = "File that holds the password, readable by its owner only."},
    {"password_env", KEY_STRING, AT(config_account, password_env),
     .help = "Environment variable that holds the password, instead of password_file."},
    {"token_file", KEY_STRING, AT(config_account, token_file),
     .help = "File with a token of Cleura that a person puts there, readable by its owner only. It is read "
             "again when Cleura rejects a token."},
    {"max_in_flight", KEY_INTEGER, AT(config_account, max_in_flight), .preset = "1", .low = 1, .high = 16,
     .help = "Number of calls of this account in flight at the same time."},
    {"min_spacing", KEY_DURATION, AT(config_account, min_spacing_us), .preset = "100ms", .high = 60 * S,
     .help = "Shortest time between the starts of two calls."},
    {"call_timeout", KEY_DURATION, AT(config_account, call_timeout_us), .preset = "60s", .low = 1 * S,
     .high = 600 * S, .help = "Longest time for one call."},
    {"http_proxy", KEY_STRING, AT(config_account, http_proxy),
     .help = "Forward proxy for calls to Cleura, http://host:port, or none. Without this key https_proxy and "
             "no_proxy of the environment decide. Loopback addresses never have a proxy."},
};
const struct key_group config_account_group = {account_keys, ARRAY_LEN(account_keys),
                                               sizeof(struct config_account), CONFIG_MAX_ENTRIES};

/* Members of a project's `defaults`. Only their types are checked here; values are checked against the
 * catalog when they are used. */
static const struct key default_keys[] = {
    {"kubernetes_version", KEY_STRING, .help = "Version, or a minor such as 1.33."},
    {"machine_type", KEY_STRING, .example = "b.2c4gb", .help = "Machine type of node pools."},
    {"minimum", KEY_INTEGER, .example = "1", .high = 1000, .help = "Smallest number of nodes of a pool."},
    {"maximum", KEY_INTEGER, .example = "3", .high = 1000, .help = "Largest number of nodes of a pool."},
    {"max_surge", KEY_INTEGER, .low = 1, .high = 1000,
     .help = "Additional nodes while the nodes of a pool are replaced."},
    {"volume_size_gib", KEY_INTEGER, .example = "50", .low = 1, .high = 65536,
     .help = "Size of the root volume of a node."},
    {"zones", KEY_STRING_LIST, .help = "Zones of a pool."},
    {"floating_pool", KEY_STRING, .help = "Floating pool."},
    {"load_balancer_provider", KEY_STRING, .help = "Load balancer provider."},
};
static const struct key_group default_group = {default_keys, ARRAY_LEN(default_keys), 0, 0};

static const struct key project_keys[] = {
    {"name", KEY_STRING, AT(config_project, name), .example = "team-a", .required = true,
     .help = "Name in the paths of the API."},
    {"account", KEY_REFERENCE, .example = "main", .required = true, .help = "Name of one of the accounts."},
    {"region", KEY_STRING, AT(config_project, region), .example = "Sto2", .required = true,
     .help = "Region tag exactly as Cleura writes it (Sto2, not sto2)."},
    {"project_id", KEY_STRING, AT(config_project, project_id), .example = "PROJECT_ID_AT_CLEURA",
     .required = true, .placeholder = true, .help = "OpenStack project id, 32 hex digits."},
    {"defaults", KEY_DEFAULTS, AT(config_project, defaults), .example = "", .group = &default_group,
     .help = "Values that a create uses for members that the caller leaves out."},
};
const struct key_group config_project_group = {project_keys, ARRAY_LEN(project_keys),
                                               sizeof(struct config_project), CONFIG_MAX_ENTRIES};

static const struct key polling_keys[] = {
    {"active", KEY_DURATION, AT(config, polling.active_us), .preset = "15s", .low = 50 * MS, .high = 3600 * S,
     .help = "Time between two reads while a cluster changes."},
    {"idle", KEY_DURATION, AT(config, polling.idle_us), .preset = "2m", .low = 50 * MS, .high = 86400 * S,
     .help = "Longest time between two reads of a project without changes. Soon after a change the project "
             "is read more often."},
    {"discovery", KEY_DURATION, AT(config, polling.discovery_us), .preset = "5m", .low = 50 * MS,
     .high = 86400 * S,
     .help = "Longest time between two lists of a project, which find clusters that were made elsewhere."},
    {"absent_for", KEY_DURATION, AT(config, polling.absent_for_us), .preset = "5m", .high = 86400 * S,
     .help = "Time after which a cluster that Cleura does not show counts as deleted; after a deletion it "
             "counts at once."},
    {"fresh_floor", KEY_DURATION, AT(config, polling.fresh_floor_us), .preset = "5s", .high = 3600 * S,
     .help = "A read with Cache-Control: no-cache is answered from the last read of Cleura when that is "
             "younger than this."},
};
static const struct key_group polling_group = {polling_keys, ARRAY_LEN(polling_keys), 0, 0};

static const struct key webhook_keys[] = {
    {"allow", KEY_STRING_LIST, AT(config, webhooks.allow), .example = "[10.0.0.0/8, hooks.internal]",
     .help = "Private networks (CIDR) that webhooks may reach, and hosts that may have private addresses."},
    {"allow_http", KEY_BOOL, AT(config, webhooks.allow_http), .preset = "false",
     .help = "Whether webhook URLs may be plain http."},
    {"ports", KEY_INTEGER_LIST, AT(config, webhooks.ports), .example = "[8443]", .low = 1, .high = 65535,
     .help = "Ports that webhook URLs may have besides 443 (and 80 with allow_http)."},
};
static const struct key_group webhook_group = {webhook_keys, ARRAY_LEN(webhook_keys), 0, 0};

static const struct key event_keys[] = {
    {"keep", KEY_DURATION, AT(config, events.keep_us), .preset = "30d", .low = 3600 * S,
     .high = 3650 * 86400 * S,
     .help = "Time for which events are kept. Events that pending deliveries need are kept longer."},
    {"keep_count", KEY_INTEGER, AT(config, events.keep_count), .preset = "1000000", .low = 10,
     .high = 1000000000, .help = "Largest number of events that are kept, the newest ones."},
};
static const struct key_group event_group = {event_keys, ARRAY_LEN(event_keys), 0, 0};

static const struct key operation_keys[] = {
    {"keep", KEY_DURATION, AT(config, operations_keep_us), .preset = "30d", .low = 3600 * S,
     .high = 3650 * 86400 * S, .help = "Time for which operations are kept after their end."},
};
static const struct key_group operation_group = {operation_keys, ARRAY_LEN(operation_keys), 0, 0};

static const struct key audit_keys[] = {
    {"keep", KEY_DURATION, AT(config, audit_keep_us), .preset = "90d", .low = 3600 * S,
     .high = 3650 * 86400 * S,
     .help = "Time for which entries are kept: at most a million, the newest ones."},
};
static const struct key_group audit_group = {audit_keys, ARRAY_LEN(audit_keys), 0, 0};

static const struct key backup_keys[] = {
    {"directory", KEY_STRING, AT(config, backups.directory), .example = "/var/lib/shootd/backups",
     .help = "Directory for backups of the store. shootd creates it when its parent exists. Without this key "
             "no backups are made."},
    {"every", KEY_DURATION, AT(config, backups.every_us), .preset = "24h", .high = 3650 * 86400 * S,
     .help = "Time between two automatic backups; 0s: only POST /v1/backups makes a backup."},
    {"keep", KEY_INTEGER, AT(config, backups.keep), .preset = "7", .low = 1, .high = 10000,
     .help = "Number of backups that are kept. Older ones are removed after a new one has passed its check."},
};
static const struct key_group backup_group = {backup_keys, ARRAY_LEN(backup_keys), 0, 0};

static const struct key rule_keys[] = {
    {"claim", KEY_STRING, AT(config_rule, claim), .example = "groups", .required = true,
     .help = "Name of a claim, or a JSON pointer such as /realm_access/roles."},
    {"contains", KEY_STRING, AT(config_rule, contains), .example = "platform-admins", .required = true,
     .help = "The rule fits when the claim equals this text, or is a list that contains it. The claim scope "
             "may be words separated by blanks."},
    {"role", KEY_WORD, AT(config_rule, role), .example = "operator", .words = roles, .required = true,
     .help = "Role of callers whom the rule fits: viewer, kubeconfig, operator or admin."},
    {"projects", KEY_STRING_LIST, AT(config_rule, projects), .example = "[team-a]", .required = true,
     .help = "Names of the projects, or [\"*\"] for all."},
};
static const struct key_group rule_group = {rule_keys, ARRAY_LEN(rule_keys), sizeof(struct config_rule),
                                            CONFIG_MAX_RULES};

static const struct key issuer_keys[] = {
    {"issuer", KEY_STRING, AT(config_issuer, issuer), .example = "https://login.example.com/realms/it",
     .required = true,
     .help = "Address of the issuer, exactly as in the claim iss of its tokens. Its keys are found through "
             "/.well-known/openid-configuration below this address. Plain http:// is accepted for loopback "
             "addresses only."},
    {"audience", KEY_STRING, AT(config_issuer, audience), .example = "shootd", .required = true,
     .help = "Value in the claim aud of tokens for this API."},
    {"algorithms", KEY_STRING_LIST, AT(config_issuer, algorithms), .example = "[RS256, ES256]",
     .required = true, .help = "Accepted signature algorithms: RS256, PS256, ES256, EdDSA."},
    {"at_jwt_only", KEY_BOOL, AT(config_issuer, at_jwt_only), .preset = "false",
     .help = "Whether tokens must have the type at+jwt, which issuers that follow RFC 9068 give to access "
             "tokens."},
    {"max_lifetime", KEY_DURATION, AT(config_issuer, max_lifetime_us), .preset = "24h", .low = 60 * S,
     .high = 30 * 86400 * S, .help = "Tokens with a longer lifetime are refused."},
    {"client_id", KEY_STRING, AT(config_issuer, client_id), .example = "shootctl",
     .help = "Client id with which command-line tools and web pages ask the issuer for tokens. GET /v1/auth "
             "shows it to everybody."},
    {"scopes", KEY_STRING_LIST, AT(config_issuer, scopes), .example = "[openid, groups]",
     .help =
         "Scopes that these programs request, at most 20. With a client_id and without this key: [openid]."},
    {"http_proxy", KEY_STRING, AT(config_issuer, http_proxy),
     .help =
         "Forward proxy for calls to the issuer, http://host:port, or none. Without this key https_proxy and "
         "no_proxy of the environment decide. Loopback addresses never have a proxy."},
    {"rules", KEY_ITEMS, AT(config_issuer, rules), .example = "", .group = &rule_group, .required = true,
     .help = "Rules that give callers with a JWT their rights, at most 100. The first rule that fits "
             "decides; without a fitting rule the caller gets 403."},
};
const struct key_group config_issuer_group = {issuer_keys, ARRAY_LEN(issuer_keys),
                                              sizeof(struct config_issuer), CONFIG_MAX_ISSUERS};

static const struct key oidc_keys[] = {
    {"issuers", KEY_ITEMS, AT(config, oidc.issuers), .example = "", .group = &config_issuer_group,
     .help = "Issuers whose JWTs are accepted as bearer tokens, at most 16."},
};
static const struct key_group oidc_group = {oidc_keys, ARRAY_LEN(oidc_keys), 0, 0};

#define ITEMS_OF(type, member, number)                                                    \
    _Static_assert(offsetof(struct type, number) ==                                       \
                       offsetof(struct type, member) + offsetof(struct key_items, count), \
                   "struct key_items describes it")
ITEMS_OF(config, accounts, account_count);
ITEMS_OF(config, projects, project_count);
ITEMS_OF(config, oidc.issuers, oidc.issuer_count);
ITEMS_OF(config, tls.clients, tls.client_count);
ITEMS_OF(config_issuer, rules, rule_count);

static const struct key tracing_keys[] = {
    {"endpoint", KEY_STRING, AT(config, tracing.endpoint),
     .help = "Base address of a receiver of OTLP over HTTP, such as http://127.0.0.1:4318; /v1/traces is "
             "appended. "
             "Without it no traces are recorded."},
    {"ratio", KEY_RATIO, AT(config, tracing.ratio), .preset = "1", .high = 1000000,
     .help = "Share of the traces beginning in shootd that is recorded, from 0 to 1, such as 0.05. For "
             "requests with a traceparent through trusted_proxies, its sampled flag decides."},
};
static const struct key_group tracing_group = {tracing_keys, ARRAY_LEN(tracing_keys), 0, 0};

static const struct key cors_keys[] = {
    {"origins", KEY_STRING_LIST, AT(config, cors.origins), .example = "[https://console.example.com]",
     .help =
         "Web origins whose pages may read answers. Each origin is complete and exact; * is not allowed."},
};
static const struct key_group cors_group = {cors_keys, ARRAY_LEN(cors_keys), 0, 0};

static const struct key limit_keys[] = {
    {"http_threads", KEY_INTEGER, AT(config, limits.http_threads), .preset = "2", .low = 1, .high = 64,
     .help = "Threads that serve HTTP, at most one per processor."},
    {"connections", KEY_INTEGER, AT(config, limits.connections), .preset = "8192", .low = 16, .high = 100000,
     .help = "Number of client connections at the same time."},
    {"connections_per_address", KEY_INTEGER, AT(config, limits.connections_per_address), .preset = "1024",
     .high = 100000,
     .help = "Number of client connections of one address (IPv6: of one /64) at the same time. "
             "A further one takes the place of the one that was idle longest. "
             "trusted_proxies and Unix sockets are not counted. 0: no limit."},
    {"drain", KEY_DURATION, AT(config, limits.drain_us), .preset = "25s", .low = 1 * S, .high = 300 * S,
     .help = "Longest time for requests to end when the daemon stops."},
    {"queue_length", KEY_INTEGER, AT(config, limits.queue_length), .preset = "256", .low = 8, .high = 100000,
     .help = "Calls that may wait per account."},
    {"requests_per_minute", KEY_INTEGER, AT(config, limits.requests_per_minute), .preset = "60000",
     .high = 1000000000, .help = "Requests that a token may make in a minute; 0: no limit."},
    {"fresh_reads_per_minute", KEY_INTEGER, AT(config, limits.fresh_reads_per_minute), .preset = "120",
     .high = 1000000000,
     .help =
         "Reads of Cleura that a token may request in a minute with Cache-Control: no-cache; 0: no limit."},
    {"auth_failures_per_minute", KEY_INTEGER, AT(config, limits.auth_failures_per_minute), .preset = "600",
     .high = 1000000000,
     .help = "Requests of an address in a minute that get 401 for wrong or missing credentials, further ones "
             "get 429; 0: no limit."},
    {"streams", KEY_INTEGER, AT(config, limits.streams), .preset = "4096", .low = 1, .high = 100000,
     .help = "Number of event streams at the same time. Each also counts as one of connections."},
    {"streams_per_token", KEY_INTEGER, AT(config, limits.streams_per_token), .preset = "1024", .low = 1,
     .high = 100000, .help = "Number of event streams of one token at the same time."},
    {"stream_lifetime", KEY_DURATION, AT(config, limits.stream_lifetime_us), .preset = "15m", .low = 1 * S,
     .high = 86400 * S,
     .help = "Time after which a stream ends, a tenth more or less. Its client then begins the next one."},
    {"heartbeat", KEY_DURATION, AT(config, limits.heartbeat_us), .preset = "15s", .low = 500 * MS,
     .high = 300 * S, .help = "Time between two heartbeats of a stream without events."},
};
static const struct key_group limit_group = {limit_keys, ARRAY_LEN(limit_keys), 0, 0};

static const struct key client_keys[] = {
    {"name", KEY_STRING, AT(config_client, name), .example = "uri:spiffe://example.com/ci", .required = true,
     .help = "An alternative name of the certificate: dns: and a host name, or uri: and a URI."},
    {"role", KEY_WORD, AT(config_client, role), .example = "viewer", .words = roles, .required = true,
     .help = "Role of the client: viewer, kubeconfig, operator or admin."},
    {"projects", KEY_STRING_LIST, AT(config_client, projects), .example = "[team-a]", .required = true,
     .help = "Names of the projects, or [\"*\"] for all."},
};
const struct key_group config_client_group = {client_keys, ARRAY_LEN(client_keys),
                                              sizeof(struct config_client), CONFIG_MAX_CLIENTS};

static const struct key tls_keys[] = {
    {"certificate", KEY_STRING, AT(config, tls.certificate),
     .help = "PEM file with the server's certificate and the intermediate certificates. It is read again "
             "when it changes. Without it shootd speaks plain HTTP."},
    {"key", KEY_STRING, AT(config, tls.key),
     .help = "PEM file with the key of the certificate. It must not be world-readable."},
    {"client_ca", KEY_STRING, AT(config, tls.client_ca),
     .help = "PEM file with the authorities whose client certificates are accepted in place of a token. "
             "Without it no client certificate is accepted."},
    {"clients", KEY_ITEMS, AT(config, tls.clients), .example = "", .group = &config_client_group,
     .help = "Rights of clients with a certificate, at most 1000 entries. The first entry with a name of the "
             "certificate decides; without such an entry the client gets 403."},
};
static const struct key_group tls_group = {tls_keys, ARRAY_LEN(tls_keys), 0, 0};

static const struct key root_keys[] = {
    {"listen", KEY_STRING, AT(config, listen), .preset = "127.0.0.1:8080",
     .help = "Address and port, or unix:/path. A socket passed by systemd takes precedence."},
    {"tls", KEY_GROUP, .example = "", .group = &tls_group, .help = "HTTPS, with TLS 1.2 or later."},
    {"public_url", KEY_STRING, AT(config, public_url),
     .help = "Address at which clients reach the API, for example behind a TLS proxy. Kubeconfigs with "
             "format=exec send the token to this address. Without it shootd returns such kubeconfigs only "
             "when it listens on loopback."},
    {"dashboard", KEY_BOOL, AT(config, dashboard), .preset = "true",
     .help = "Whether shootd serves the web page at /. The page asks for a token, and shows only data that "
             "this token may see."},
    {"trusted_proxies", KEY_STRING_LIST, AT(config, trusted_proxies), .example = "[127.0.0.1, unix]",
     .help = "Networks of proxies whose X-Forwarded-For is trusted for the client's address. unix means "
             "proxies that connect through a Unix socket."},
    {"state_dir", KEY_STRING, AT(config, state_dir), .preset = "/var/lib/shootd",
     .help = "Directory of shootd.db, seal.key and admin-token."},
    {"log_level", KEY_WORD, AT(config, log_level), .preset = "info", .words = levels,
     .help = "Least severe level that is written: error, warning, info or debug."},
    {"log_format", KEY_WORD, AT(config, log_format), .preset = "auto", .words = log_formats,
     .help = "Form of the log. journal: entries with fields; text, json: lines on stderr; auto: the journal "
             "when systemd has connected stderr to it, else text."},
    {"access_log", KEY_WORD, AT(config, access_log), .preset = "writes", .words = access_logs,
     .help = "Requests that get a line at level info. writes: writes, errors (from 403 on) and requests that "
             "take a second or more; all: every request; off: none."},
    {"accounts", KEY_ITEMS, AT(config, accounts), .example = "", .group = &config_account_group,
     .required = true, .help = "Logins at Cleura, at most 1000."},
    {"projects", KEY_ITEMS, AT(config, projects), .example = "", .group = &config_project_group,
     .required = true, .help = "Names for (account, region, OpenStack project), at most 1000."},
    {"polling", KEY_GROUP, .example = "", .group = &polling_group, .help = "How often Cleura is read."},
    {"webhooks", KEY_GROUP, .example = "", .group = &webhook_group, .help = "Destinations of webhooks."},
    {"events", KEY_GROUP, .example = "", .group = &event_group, .help = "The event log."},
    {"operations", KEY_GROUP, .example = "", .group = &operation_group, .help = "Accepted writes."},
    {"audit", KEY_GROUP, .example = "", .group = &audit_group, .help = "The audit log."},
    {"backups", KEY_GROUP, .example = "", .group = &backup_group, .help = "Copies of the store."},
    {"oidc", KEY_GROUP, .example = "", .group = &oidc_group, .help = "Single sign-on."},
    {"tracing", KEY_GROUP, .example = "", .group = &tracing_group, .help = "Traces of writes."},
    {"cors", KEY_GROUP, .example = "", .group = &cors_group, .help = "Web pages of other origins."},
    {"limits", KEY_GROUP, .example = "", .group = &limit_group,
     .help = "Limits of sizes, numbers and times."},
};
const struct key_group config_root = {root_keys, ARRAY_LEN(root_keys), 0, 0};

/* ---- the annotated sample, written from the table: `shootd --sample-config` ---- */

static bool is_list(const struct key *k)
{
    return k->type == KEY_STRING_LIST || k->type == KEY_INTEGER_LIST;
}

static void write_help(FILE *out, const struct key *k, int indent, bool asleep)
{
    (void)fprintf(out, "%*s# %s", indent, "", k->help);
    if (k->preset)
        (void)fprintf(out, " Default: %s.", k->preset);
    else if ((is_list(k) || asleep) && k->example && *k->example)
        (void)fprintf(out, " Example: %s.", k->example);
    (void)fputc('\n', out);
}

/* Most lists are lists of allowed values. The sample leaves them empty, so an unchanged sample allows
 * nothing. */
static const char *sample_value(const struct key *k)
{
    return k->preset ? k->preset : is_list(k) && k->example ? "[]" : k->example;
}

/* The items of an optional list also allow something. The sample therefore contains no item, and shows one as
 * a comment. */
static void write_asleep(FILE *out, const struct key_group *g, int indent)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct key *k = &g->keys[i];
        const int dash = i == 0 ? 2 : 0;
        write_help(out, k, indent, true);
        (void)fprintf(out, "%*s# %s%s: %s\n", indent - dash, "", dash ? "- " : "", k->name,
                      k->group ? "[]" : "...");
        if (k->group)
            write_asleep(out, k->group, indent + 4);
    }
}

static void write_group(FILE *out, const struct key_group *g, int indent, bool first_dashed)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct key *k = &g->keys[i];
        const char *value = sample_value(k);
        int dash = first_dashed && i == 0 ? 2 : 0;
        write_help(out, k, indent, false);
        if (k->type == KEY_ITEMS && !k->required) {
            (void)fprintf(out, "%*s%s: []\n", indent, "", k->name);
            write_asleep(out, k->group, indent + 4);
        } else if (k->group) {
            (void)fprintf(out, "%*s%s:\n", indent, "", k->name);
            write_group(out, k->group, indent + (k->type == KEY_ITEMS ? 4 : 2), k->type == KEY_ITEMS);
        } else {
            (void)fprintf(out, "%*s%s%s%s: %s\n", indent - dash, "", dash ? "- " : "", value ? "" : "# ",
                          k->name,
                          value        ? value
                          : is_list(k) ? "[]"
                                       : "...");
        }
        if (indent == 0)
            (void)fputc('\n', out);
    }
}

void config_write_sample(FILE *out)
{
    (void)fputs("# shootd: every key, with its default where it has one. Durations: 250ms 15s 5m 2h 30d.\n"
                "# Check a file with: shootd --config FILE --check-config\n\n",
                out);
    write_group(out, &config_root, 0, false);
}
