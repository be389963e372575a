#include "config/config_private.h"

#include <stddef.h>

#include "base/attrs.h"

static const char *const generations[] = {[API_V1] = "v1", [API_V2] = "v2", NULL};
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
    {"name", KEY_STRING, AT(config_account, name), NULL, "main", 0, 0, NULL, NULL, true,
     "How projects refer to this login."},
    {"cloud", KEY_STRING, AT(config_account, cloud), "public", NULL, 0, 0, NULL, NULL, false,
     "public, compliant, or the name of a private cloud (which needs url)."},
    {"url", KEY_STRING, AT(config_account, url), NULL, "https://rest.cleura.cloud", 0, 0, NULL, NULL, false,
     "Base URL; known for public and compliant. Plain http:// only for loopback addresses."},
    {"api", KEY_WORD, AT(config_account, api), "v2", NULL, 0, 0, generations, NULL, false,
     "Generation of Cleura's API: v1 or v2."},
    {"login", KEY_STRING, AT(config_account, login), NULL, "robot", 0, 0, NULL, NULL, true,
     "User name at Cleura; without a second factor nobody has to log in by hand."},
    {"password_file", KEY_STRING, AT(config_account, password_file), NULL,
     "/run/credentials/shootd.service/cleura-main", 0, 0, NULL, NULL, false,
     "File that holds the password, readable by its owner only."},
    {"password_env", KEY_STRING, AT(config_account, password_env), NULL, NULL, 0, 0, NULL, NULL, false,
     "Environment variable that holds the password, instead of password_file."},
    {"token_file", KEY_STRING, AT(config_account, token_file), NULL, NULL, 0, 0, NULL, NULL, false,
     "File for a Cleura token handed over, readable by its owner only; read again when Cleura rejects a "
     "token."},
    {"max_in_flight", KEY_INTEGER, AT(config_account, max_in_flight), "1", NULL, 1, 16, NULL, NULL, false,
     "Calls of this account under way at the same time."},
    {"min_spacing", KEY_DURATION, AT(config_account, min_spacing_us), "100ms", NULL, 0, 60 * S, NULL, NULL,
     false, "Shortest time between the starts of two calls."},
    {"call_timeout", KEY_DURATION, AT(config_account, call_timeout_us), "60s", NULL, 1 * S, 600 * S, NULL,
     NULL, false, "Longest time for one call."},
};
const struct key_group config_account_group = {account_keys, ARRAY_LEN(account_keys),
                                               sizeof(struct config_account), CONFIG_MAX_ENTRIES};

/* Members of a project's `defaults`. Only their types are checked here; values are checked against the
 * catalog when they are used. */
static const struct key default_keys[] = {
    {"kubernetes_version", KEY_STRING, 0, NULL, NULL, 0, 0, NULL, NULL, false,
     "Version, or a minor such as 1.33."},
    {"machine_type", KEY_STRING, 0, NULL, "b.2c4gb", 0, 0, NULL, NULL, false, "Machine type of node pools."},
    {"minimum", KEY_INTEGER, 0, NULL, "1", 0, 1000, NULL, NULL, false, "Fewest nodes of a pool."},
    {"maximum", KEY_INTEGER, 0, NULL, "3", 0, 1000, NULL, NULL, false, "Most nodes of a pool."},
    {"max_surge", KEY_INTEGER, 0, NULL, NULL, 1, 1000, NULL, NULL, false, "Extra nodes while rolling."},
    {"volume_size_gib", KEY_INTEGER, 0, NULL, "50", 1, 65536, NULL, NULL, false, "Root volume of a node."},
    {"zones", KEY_STRING_LIST, 0, NULL, NULL, 0, 0, NULL, NULL, false, "Zones of a pool."},
    {"floating_pool", KEY_STRING, 0, NULL, NULL, 0, 0, NULL, NULL, false, "Floating pool."},
    {"load_balancer_provider", KEY_STRING, 0, NULL, NULL, 0, 0, NULL, NULL, false, "Load balancer provider."},
};
static const struct key_group default_group = {default_keys, ARRAY_LEN(default_keys), 0, 0};

static const struct key project_keys[] = {
    {"name", KEY_STRING, AT(config_project, name), NULL, "team-a", 0, 0, NULL, NULL, true,
     "Name in the paths of the API."},
    {"account", KEY_STRING, 0, NULL, "main", 0, 0, NULL, NULL, true, "One of accounts."},
    {"region", KEY_STRING, AT(config_project, region), NULL, "Sto2", 0, 0, NULL, NULL, true,
     "Region tag exactly as Cleura writes it (Sto2, not sto2)."},
    {"project_id", KEY_STRING, AT(config_project, project_id), NULL, "00112233445566778899aabbccddeeff", 0, 0,
     NULL, NULL, true, "OpenStack project id, 32 hex digits."},
    {"defaults", KEY_DEFAULTS, AT(config_project, defaults), NULL, "", 0, 0, NULL, &default_group, false,
     "What a create uses where the caller says nothing."},
};
const struct key_group config_project_group = {project_keys, ARRAY_LEN(project_keys),
                                               sizeof(struct config_project), CONFIG_MAX_ENTRIES};

static const struct key polling_keys[] = {
    {"active", KEY_DURATION, AT(config, polling.active_us), "15s", NULL, 50 * MS, 3600 * S, NULL, NULL, false,
     "Between two reads while something happens to a cluster."},
    {"idle", KEY_DURATION, AT(config, polling.idle_us), "2m", NULL, 50 * MS, 86400 * S, NULL, NULL, false,
     "The longest time between two reads of a settled project; right after a change it is read more often."},
    {"discovery", KEY_DURATION, AT(config, polling.discovery_us), "5m", NULL, 50 * MS, 86400 * S, NULL, NULL,
     false, "At least this often a project is listed to find clusters made elsewhere."},
    {"absent_for", KEY_DURATION, AT(config, polling.absent_for_us), "5m", NULL, 0, 86400 * S, NULL, NULL,
     false,
     "A cluster that Cleura does not show counts as gone after this time, unless a deletion was seen."},
    {"fresh_floor", KEY_DURATION, AT(config, polling.fresh_floor_us), "5s", NULL, 0, 3600 * S, NULL, NULL,
     false, "A read with Cache-Control: no-cache is answered by one of Cleura that is younger than this."},
};
static const struct key_group polling_group = {polling_keys, ARRAY_LEN(polling_keys), 0, 0};

static const struct key webhook_keys[] = {
    {"allow", KEY_STRING_LIST, AT(config, webhooks.allow), NULL, "[10.0.0.0/8, hooks.internal]", 0, 0, NULL,
     NULL, false,
     "Private networks (CIDR) that webhooks may reach, and hosts that may have private addresses."},
    {"allow_http", KEY_BOOL, AT(config, webhooks.allow_http), "false", NULL, 0, 0, NULL, NULL, false,
     "Whether webhook URLs may be plain http."},
    {"ports", KEY_INTEGER_LIST, AT(config, webhooks.ports), NULL, "[8443]", 1, 65535, NULL, NULL, false,
     "Ports that webhook URLs may name beside 443 (and 80 with allow_http)."},
};
static const struct key_group webhook_group = {webhook_keys, ARRAY_LEN(webhook_keys), 0, 0};

static const struct key event_keys[] = {
    {"keep", KEY_DURATION, AT(config, events.keep_us), "30d", NULL, 3600 * S, 3650 * 86400 * S, NULL, NULL,
     false, "How long events are kept; those that deliveries still need stay longer."},
    {"keep_count", KEY_INTEGER, AT(config, events.keep_count), "1000000", NULL, 10, 1000000000, NULL, NULL,
     false, "How many are kept at most, the newest."},
};
static const struct key_group event_group = {event_keys, ARRAY_LEN(event_keys), 0, 0};

static const struct key operation_keys[] = {
    {"keep", KEY_DURATION, AT(config, operations_keep_us), "30d", NULL, 3600 * S, 3650 * 86400 * S, NULL,
     NULL, false, "How long operations are kept after their end."},
};
static const struct key_group operation_group = {operation_keys, ARRAY_LEN(operation_keys), 0, 0};

static const struct key audit_keys[] = {
    {"keep", KEY_DURATION, AT(config, audit_keep_us), "90d", NULL, 3600 * S, 3650 * 86400 * S, NULL, NULL,
     false, "How long its entries are kept; a million at most, the newest."},
};
static const struct key_group audit_group = {audit_keys, ARRAY_LEN(audit_keys), 0, 0};

static const struct key backup_keys[] = {
    {"directory", KEY_STRING, AT(config, backups.directory), NULL, "/var/lib/shootd/backups", 0, 0, NULL,
     NULL, false,
     "Where backups of the store are made; it is made when its parent is there. Without it there are none."},
    {"every", KEY_DURATION, AT(config, backups.every_us), "24h", NULL, 0, 3650 * 86400 * S, NULL, NULL, false,
     "How often one is made by itself; 0s: only when POST /v1/backups asks for it."},
    {"keep", KEY_INTEGER, AT(config, backups.keep), "7", NULL, 1, 10000, NULL, NULL, false,
     "How many stay; older ones are removed after a new one was checked."},
};
static const struct key_group backup_group = {backup_keys, ARRAY_LEN(backup_keys), 0, 0};

static const struct key rule_keys[] = {
    {"claim", KEY_STRING, AT(config_rule, claim), NULL, "groups", 0, 0, NULL, NULL, true,
     "Name of a claim, or a JSON pointer such as /realm_access/roles."},
    {"contains", KEY_STRING, AT(config_rule, contains), NULL, "platform-admins", 0, 0, NULL, NULL, true,
     "The rule fits when the claim is this text, or a list with it; scope may be words between blanks."},
    {"role", KEY_WORD, AT(config_rule, role), NULL, "operator", 0, 0, roles, NULL, true,
     "What whom it fits may do. viewer, kubeconfig, operator or admin."},
    {"projects", KEY_STRING_LIST, AT(config_rule, projects), NULL, "[team-a]", 0, 0, NULL, NULL, true,
     "Where. Names of projects, or [\"*\"] for all."},
};
static const struct key_group rule_group = {rule_keys, ARRAY_LEN(rule_keys), sizeof(struct config_rule),
                                            CONFIG_MAX_RULES};

static const struct key issuer_keys[] = {
    {"issuer", KEY_STRING, AT(config_issuer, issuer), NULL, "https://login.example.com/realms/it", 0, 0, NULL,
     NULL, true,
     "Exactly as its tokens have it in iss. Its keys are found by /.well-known/openid-configuration below "
     "it; "
     "plain http:// only for loopback addresses."},
    {"audience", KEY_STRING, AT(config_issuer, audience), NULL, "shootd", 0, 0, NULL, NULL, true,
     "What the tokens for us have in aud."},
    {"algorithms", KEY_STRING_LIST, AT(config_issuer, algorithms), NULL, "[RS256, ES256]", 0, 0, NULL, NULL,
     true, "Signatures that are taken. RS256, PS256, ES256 and EdDSA are possible."},
    {"at_jwt_only", KEY_BOOL, AT(config_issuer, at_jwt_only), "false", NULL, 0, 0, NULL, NULL, false,
     "Whether tokens must have the type at+jwt, which issuers that follow RFC 9068 give to access tokens."},
    {"max_lifetime", KEY_DURATION, AT(config_issuer, max_lifetime_us), "24h", NULL, 60 * S, 30 * 86400 * S,
     NULL, NULL, false, "Tokens that are good for longer are refused."},
    {"client_id", KEY_STRING, AT(config_issuer, client_id), NULL, "shootctl", 0, 0, NULL, NULL, false,
     "The client of the issuer as which command lines and pages ask for tokens; GET /v1/auth shows it to "
     "everybody."},
    {"scopes", KEY_STRING_LIST, AT(config_issuer, scopes), NULL, "[openid, groups]", 0, 0, NULL, NULL, false,
     "Scopes that they ask for, at most 20; [openid] when there is a client_id and nothing is said here."},
    {"rules", KEY_ITEMS, AT(config_issuer, rules), NULL, "", 0, 0, NULL, &rule_group, true,
     "What who shows a token may do, at most 100. The first one that fits says it; whom none fits may do "
     "nothing."},
};
const struct key_group config_issuer_group = {issuer_keys, ARRAY_LEN(issuer_keys),
                                              sizeof(struct config_issuer), CONFIG_MAX_ISSUERS};

static const struct key oidc_keys[] = {
    {"issuers", KEY_ITEMS, AT(config, oidc.issuers), NULL, "", 0, 0, NULL, &config_issuer_group, false,
     "Whose JWTs are taken as bearer tokens, at most 16."},
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
    {"endpoint", KEY_STRING, AT(config, tracing.endpoint), NULL, NULL, 0, 0, NULL, NULL, false,
     "Base address of a receiver of OTLP over HTTP, such as http://127.0.0.1:4318; /v1/traces is appended. "
     "Without it no traces are recorded."},
    {"ratio", KEY_RATIO, AT(config, tracing.ratio), "1", NULL, 0, 1000000, NULL, NULL, false,
     "Which part of the traces that begin here is recorded, from 0 to 1, such as 0.05. For requests through "
     "trusted_proxies their traceparent says it."},
};
static const struct key_group tracing_group = {tracing_keys, ARRAY_LEN(tracing_keys), 0, 0};

static const struct key cors_keys[] = {
    {"origins", KEY_STRING_LIST, AT(config, cors.origins), NULL, "[https://console.example.com]", 0, 0, NULL,
     NULL, false, "Browser frontends that may read answers, each exactly. No *."},
};
static const struct key_group cors_group = {cors_keys, ARRAY_LEN(cors_keys), 0, 0};

static const struct key limit_keys[] = {
    {"http_threads", KEY_INTEGER, AT(config, limits.http_threads), "2", NULL, 1, 64, NULL, NULL, false,
     "Threads that serve HTTP; never more than there are processors."},
    {"connections", KEY_INTEGER, AT(config, limits.connections), "8192", NULL, 16, 100000, NULL, NULL, false,
     "Client connections at the same time."},
    {"connections_per_address", KEY_INTEGER, AT(config, limits.connections_per_address), "1024", NULL, 0,
     100000, NULL, NULL, false,
     "Of these, those of one client's address (of IPv6: of one /64), but for trusted_proxies and Unix "
     "sockets; 0: any number."},
    {"drain", KEY_DURATION, AT(config, limits.drain_us), "25s", NULL, 1 * S, 300 * S, NULL, NULL, false,
     "Longest time for requests to end when the daemon stops."},
    {"queue_length", KEY_INTEGER, AT(config, limits.queue_length), "256", NULL, 8, 100000, NULL, NULL, false,
     "Calls that may wait per account."},
    {"requests_per_minute", KEY_INTEGER, AT(config, limits.requests_per_minute), "60000", NULL, 0, 1000000000,
     NULL, NULL, false, "Requests that a token may make; 0: any number."},
    {"fresh_reads_per_minute", KEY_INTEGER, AT(config, limits.fresh_reads_per_minute), "120", NULL, 0,
     1000000000, NULL, NULL, false,
     "Reads of Cleura that a token may ask for with Cache-Control: no-cache; 0: any number."},
    {"auth_failures_per_minute", KEY_INTEGER, AT(config, limits.auth_failures_per_minute), "600", NULL, 0,
     1000000000, NULL, NULL, false,
     "Requests with wrong or missing credentials that get 401, of a client's address; 0: any number."},
    {"streams", KEY_INTEGER, AT(config, limits.streams), "4096", NULL, 1, 100000, NULL, NULL, false,
     "Event streams at the same time; each is one of connections."},
    {"streams_per_token", KEY_INTEGER, AT(config, limits.streams_per_token), "1024", NULL, 1, 100000, NULL,
     NULL, false, "Of these, those of one token."},
    {"stream_lifetime", KEY_DURATION, AT(config, limits.stream_lifetime_us), "15m", NULL, 1 * S, 86400 * S,
     NULL, NULL, false,
     "After this time, a tenth more or less, a stream ends and its client begins the next."},
    {"heartbeat", KEY_DURATION, AT(config, limits.heartbeat_us), "15s", NULL, 500 * MS, 300 * S, NULL, NULL,
     false, "A stream says this often that it is there when there is nothing else to say."},
};
static const struct key_group limit_group = {limit_keys, ARRAY_LEN(limit_keys), 0, 0};

static const struct key client_keys[] = {
    {"name", KEY_STRING, AT(config_client, name), NULL, "uri:spiffe://example.com/ci", 0, 0, NULL, NULL, true,
     "An alternative name of the certificate: dns: and a host name, or uri: and a URI."},
    {"role", KEY_WORD, AT(config_client, role), NULL, "viewer", 0, 0, roles, NULL, true,
     "viewer, kubeconfig, operator or admin."},
    {"projects", KEY_STRING_LIST, AT(config_client, projects), NULL, "[team-a]", 0, 0, NULL, NULL, true,
     "Where. Names of projects, or [\"*\"] for all."},
};
const struct key_group config_client_group = {client_keys, ARRAY_LEN(client_keys),
                                              sizeof(struct config_client), CONFIG_MAX_CLIENTS};

static const struct key tls_keys[] = {
    {"certificate", KEY_STRING, AT(config, tls.certificate), NULL, NULL, 0, 0, NULL, NULL, false,
     "PEM file of the server's certificate and those between it and its authority. It is read again when it "
     "changes. Without it shootd speaks plain HTTP."},
    {"key", KEY_STRING, AT(config, tls.key), NULL, NULL, 0, 0, NULL, NULL, false,
     "PEM file of its key, not readable by everybody."},
    {"client_ca", KEY_STRING, AT(config, tls.client_ca), NULL, NULL, 0, 0, NULL, NULL, false,
     "PEM file of the authorities whose client certificates are taken in place of a token. Without it none "
     "are."},
    {"clients", KEY_ITEMS, AT(config, tls.clients), NULL, "", 0, 0, NULL, &config_client_group, false,
     "What who shows one may do, at most 1000. The first that names one of its names says it; whom none "
     "names may do nothing."},
};
static const struct key_group tls_group = {tls_keys, ARRAY_LEN(tls_keys), 0, 0};

static const struct key root_keys[] = {
    {"listen", KEY_STRING, AT(config, listen), "127.0.0.1:8080", NULL, 0, 0, NULL, NULL, false,
     "Address and port, or unix:/path; a socket passed by systemd wins."},
    {"tls", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &tls_group, false, "HTTPS, of TLS 1.2 and later."},
    {"public_url", KEY_STRING, AT(config, public_url), NULL, NULL, 0, 0, NULL, NULL, false,
     "Where clients reach the API, behind a TLS proxy for example. Kubeconfigs of format=exec send the token "
     "there; without it they are given only where shootd listens on loopback."},
    {"dashboard", KEY_BOOL, AT(config, dashboard), "true", NULL, 0, 0, NULL, NULL, false,
     "Whether the web page at / is served. It shows only what a token may see, which it asks for."},
    {"trusted_proxies", KEY_STRING_LIST, AT(config, trusted_proxies), NULL, "[127.0.0.1, unix]", 0, 0, NULL,
     NULL, false,
     "Networks of proxies that are believed about the client's address (X-Forwarded-For); unix: those that "
     "come "
     "through a Unix socket."},
    {"state_dir", KEY_STRING, AT(config, state_dir), "/var/lib/shootd", NULL, 0, 0, NULL, NULL, false,
     "Directory of shootd.db, seal.key and admin-token."},
    {"log_level", KEY_WORD, AT(config, log_level), "info", NULL, 0, 0, levels, NULL, false,
     "error, warning, info or debug."},
    {"log_format", KEY_WORD, AT(config, log_format), "auto", NULL, 0, 0, log_formats, NULL, false,
     "How the log is written. journal: entries with fields; text, json: lines on stderr; auto: the journal "
     "when systemd has "
     "connected "
     "stderr to it, else text."},
    {"access_log", KEY_WORD, AT(config, access_log), "writes", NULL, 0, 0, access_logs, NULL, false,
     "Requests that get a line at level info. writes: writes, errors (from 403 on) and what takes a second "
     "or "
     "more; all: every request; off: none."},
    {"accounts", KEY_ITEMS, AT(config, accounts), NULL, "", 0, 0, NULL, &config_account_group, true,
     "Logins at Cleura, at most 1000."},
    {"projects", KEY_ITEMS, AT(config, projects), NULL, "", 0, 0, NULL, &config_project_group, true,
     "Names for (account, region, OpenStack project), at most 1000."},
    {"polling", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &polling_group, false, "How often Cleura is read."},
    {"webhooks", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &webhook_group, false, "Where events may be sent."},
    {"events", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &event_group, false, "The event log."},
    {"operations", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &operation_group, false, "Accepted writes."},
    {"audit", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &audit_group, false, "The audit log."},
    {"backups", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &backup_group, false, "Copies of the store."},
    {"oidc", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &oidc_group, false, "Single sign-on."},
    {"tracing", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &tracing_group, false, "Traces of writes."},
    {"cors", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &cors_group, false, "Browsers."},
    {"limits", KEY_GROUP, 0, NULL, "", 0, 0, NULL, &limit_group, false, "Sizes and times."},
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

/* Optional items also allow something. The sample therefore contains none, and shows one as a comment. */
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
