/* The checks of a configuration that the table of keys cannot express. The checks run before threads
 * start. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/cidr.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/yaml_node.h"
#include "config/config_private.h"
#include "config/proxy.h"
#include "config/secret_file.h"
#include "config/values.h"
#include "model/names.h"
#include "model/string_list.h"

enum { PASSWORD_MAX = 1024, URL_MAX = 2048 };

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    bool ok = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return ok;
}

static const yaml_node_t *find_node(struct loader *l, const yaml_node_t *map, const char *key)
{
    return l->doc ? node_member(l->doc, map, key) : NULL;
}

/* Returns the node of one of the item's keys, or of the item when the key is absent. */
static const yaml_node_t *key_or_item(struct loader *l, const yaml_node_t *item, const char *key)
{
    const yaml_node_t *at = find_node(l, item, key);
    return at ? at : item;
}

static const yaml_node_t *item_node(struct loader *l, const char *list, size_t i)
{
    if (!l->doc)
        return NULL;
    const yaml_node_t *n = find_node(l, yaml_document_get_root_node(l->doc), list);
    return n && n->type == YAML_SEQUENCE_NODE && i < config_item_count(n) ? config_item(l, n, i) : NULL;
}

static void check_name(struct loader *l, const yaml_node_t *node, const char *name)
{
    if (name && !matches("^[a-z0-9][a-z0-9-]{0,61}$", name))
        config_fault(l, node, "name", "'%s' must have 1 to 62 characters a-z, 0-9 and '-'", name);
}

/* Returns the fault of the host and port of a URL; NULL when they are valid, or when `url` has another
 * form. */
static const char *url_fault(const char *url)
{
    const char *host = strstr(url, "://");
    return host ? authority_fault(host + 3, strcspn(host + 3, "/"), false, 1) : NULL;
}

static void check_url(struct loader *l, const yaml_node_t *node, struct config_account *a)
{
    static const char *const known[][2] = {{"public", "https://rest.cleura.cloud"},
                                           {"compliant", "https://rest.compliant.cleura.cloud"}};
    for (size_t i = 0; !a->url && a->cloud && i < ARRAY_LEN(known); i++)
        if (!strcmp(known[i][0], a->cloud))
            a->url = mem_strdup(known[i][1]);
    if (!a->url) {
        config_fault(l, node, "url",
                     "is required for cloud '%s' (only public and compliant have a known one)",
                     a->cloud ? a->cloud : "");
        return;
    }
    size_t len = strlen(a->url);
    while (len && a->url[len - 1] == '/')
        a->url[--len] = '\0';
    const yaml_node_t *at = find_node(l, node, "url");
    if (len > URL_MAX)
        config_fault(l, at ? at : node, "url", "has %zu bytes, the most is %d", len, URL_MAX);
    else if (!matches("^https://[]A-Za-z0-9.:[_-]+(/[A-Za-z0-9._/-]*)?$", a->url) &&
             !matches("^http://(127(\\.[0-9]{1,3}){3}|\\[::1\\]|localhost)(:[0-9]{1,5})?(/|$)", a->url))
        config_fault(l, at ? at : node, "url",
                     "'%s' must be https://host[:port], or http:// to a loopback address", a->url);
    else if (url_fault(a->url))
        config_fault(l, at ? at : node, "url", "'%s' %s", a->url, url_fault(a->url));
}

/* `url` is the URL of the account or issuer that is at `node`. */
static void check_proxy(struct loader *l, const yaml_node_t *node, const char *setting, const char *url)
{
    const yaml_node_t *at = find_node(l, node, "http_proxy");
    if (setting && strcmp(setting, CONFIG_NO_PROXY) != 0 &&
        (!matches("^http://[]A-Za-z0-9.:[_-]+:[0-9]{1,5}/?$", setting) || url_fault(setting))) {
        config_fault(l, at, "http_proxy", "must be http://host:port without credentials, or %s",
                     CONFIG_NO_PROXY);
        return;
    }
    /* Only the environment of the daemon itself counts. */
    char *proxy CLEANUP_SECRET = url && l->purpose == CONFIG_TO_SERVE ? proxy_for(setting, url) : NULL;
    if (proxy && proxy_fault(proxy))
        config_fault(l, at ? at : node, "http_proxy",
                     "https_proxy or all_proxy of the environment %s: name a proxy here, or %s",
                     proxy_fault(proxy), CONFIG_NO_PROXY);
}

static bool is_credential(const char *path)
{
    return matches("^/run/(user/[0-9]+/)?credentials/[^/]+/[^/]+$", path);
}

/* A check with logins needs the secrets, also outside the unit: the directory that the caller names in
 * CREDENTIALS_DIRECTORY then stands for the unit's. */
static void find_credential(const struct loader *l, char **path)
{
    const char *directory = getenv("CREDENTIALS_DIRECTORY");
    if (l->purpose != CONFIG_TO_LOG_IN || !directory || !*path || !is_credential(*path))
        return;
    size_t len = strlen(directory);
    while (len && directory[len - 1] == '/') /* as in is_credential of secret_file.c */
        len--;
    char *there = mem_printf("%.*s%s", (int)len, directory, strrchr(*path, '/'));
    free(*path);
    *path = there;
}

/*
 * systemd makes a credential (LoadCredential=) only while the unit runs, and only for the unit. A check
 * outside the unit therefore does not report a missing credential as a fault.
 */
static bool passes_unread(struct loader *l, const yaml_node_t *at, const char *key, const char *path)
{
    if (l->purpose == CONFIG_TO_SERVE || l->purpose == CONFIG_TO_LOG_IN || getenv("CREDENTIALS_DIRECTORY") ||
        !is_credential(path))
        return false;
    if (l->purpose == CONFIG_TO_CHECK)
        config_note(l, at, key, "not read: %s exists only inside the unit (LoadCredential=)", path);
    return true;
}

static void load_password(struct loader *l, const yaml_node_t *node, struct config_account *a)
{
    char *error CLEANUP_FREE = NULL;
    if (a->password)
        return;
    if (a->password_file && a->password_env) {
        config_fault(l, node, "password_file", "give either password_file or password_env, not both");
    } else if (a->password_file) {
        const yaml_node_t *at = find_node(l, node, "password_file");
        if (passes_unread(l, at ? at : node, "password_file", a->password_file))
            return;
        (void)secret_file_read(a->password_file, PASSWORD_MAX, &a->password, &error);
        if (error)
            config_fault(l, at ? at : node, "password_file", "%s", error);
    } else if (a->password_env) {
        char *value CLEANUP_SECRET = mem_strdup(getenv(a->password_env));
        const char *line = value ? text_secret_line(value) : "";
        a->password = *line ? mem_strdup(line) : NULL;
        if (!a->password)
            config_fault(l, find_node(l, node, "password_env"), "password_env", "the environment has no %s",
                         a->password_env);
    } else if (!a->token_file) {
        config_fault(l, node, "password_file", "is required (or password_env, or token_file)");
    }
}

/* The file may be missing or empty, because a token may be supplied later. */
static void check_token_file(struct loader *l, const yaml_node_t *node, const struct config_account *a)
{
    char *token CLEANUP_SECRET = NULL;
    char *error CLEANUP_FREE = NULL;
    if (!a->token_file || passes_unread(l, find_node(l, node, "token_file"), "token_file", a->token_file))
        return;
    if (secret_file_read(a->token_file, TOKEN_MAX, &token, &error) == SECRET_REFUSED)
        config_fault(l, find_node(l, node, "token_file"), "token_file", "%s", error);
}

static void check_accounts(struct loader *l)
{
    struct config *c = l->config;
    for (size_t i = 0; i < c->account_count; i++) {
        struct config_account *a = &c->accounts[i];
        const yaml_node_t *node = item_node(l, "accounts", i);
        check_name(l, node, a->name);
        for (size_t j = 0; j < i; j++)
            if (a->name && c->accounts[j].name && !strcmp(a->name, c->accounts[j].name))
                config_fault(l, node, "name", "account '%s' is given twice", a->name);
        if (a->cloud && !matches("^[A-Za-z0-9][A-Za-z0-9-]{0,61}$", a->cloud))
            config_fault(l, node, "cloud", "'%s' must be 1 to 62 letters, digits and '-'", a->cloud);
        find_credential(l, &a->password_file);
        find_credential(l, &a->token_file);
        check_url(l, node, a);
        check_proxy(l, node, a->http_proxy, a->url);
        load_password(l, node, a);
        check_token_file(l, node, a);
    }
}

/* Whether a person checks the configuration, and reads the notes. */
static bool is_asked(const struct loader *l)
{
    return l->purpose == CONFIG_TO_CHECK || l->purpose == CONFIG_TO_LOG_IN;
}

/* The name that means all projects in PUT /v1/freeze. */
#define ALL_PROJECTS "all"

static void check_projects(struct loader *l)
{
    struct config *c = l->config;
    for (size_t i = 0; i < c->project_count; i++) {
        struct config_project *p = &c->projects[i];
        const yaml_node_t *node = item_node(l, "projects", i);
        const yaml_node_t *account_node = find_node(l, node, "account");
        const char *account = account_node ? node_text(account_node) : NULL;
        check_name(l, node, p->name);
        if (p->name && !strcmp(p->name, ALL_PROJECTS))
            config_fault(l, node, "name",
                         "'%s' means all projects and cannot be the name of one: choose another name",
                         ALL_PROJECTS);
        for (size_t j = 0; j < i; j++)
            if (p->name && c->projects[j].name && !strcmp(p->name, c->projects[j].name))
                config_fault(l, node, "name", "project '%s' is given twice", p->name);
        for (size_t j = 0; j < c->account_count && account; j++)
            if (c->accounts[j].name && !strcmp(account, c->accounts[j].name))
                p->account = &c->accounts[j];
        for (size_t j = 0; j < i; j++) {
            const struct config_project *other = &c->projects[j];
            if (p->account && p->account == other->account && p->region && other->region && p->project_id &&
                other->project_id && !strcmp(p->region, other->region) &&
                !strcmp(p->project_id, other->project_id))
                config_fault(l, node, "project_id", "is served as project '%s' already", other->name);
        }
        if (account && !p->account)
            config_fault(l, account_node, "account", "there is no account '%s'", account);
        if (p->project_id && !matches("^[0-9a-fA-F]{32}$", p->project_id))
            config_fault(l, node, "project_id", "'%s' must be 32 hex digits without dashes", p->project_id);
        if (p->region && !matches("^[A-Za-z0-9_-]{1,64}$", p->region))
            config_fault(l, node, "region", "'%s' is not a region tag such as Sto2", p->region);
        else if (p->region && is_asked(l) && matches("^[a-z]", p->region))
            config_note(l, key_or_item(l, node, "region"), "region",
                        "case counts: Cleura writes its regions like Sto2, not like '%s'", p->region);
    }
}

/* Returns the node of a key at the top level or in a group; NULL when the file does not contain the key. */
static const yaml_node_t *node_at(struct loader *l, const char *group, const char *key)
{
    const yaml_node_t *at = l->doc ? yaml_document_get_root_node(l->doc) : NULL;
    at = at && group ? find_node(l, at, group) : at;
    return at ? find_node(l, at, key) : NULL;
}

static void check_listen(struct loader *l)
{
    const char *listen = l->config->listen;
    if (!strncmp(listen, "unix:/", 6) && listen[6])
        return;
    const char *why = authority_fault(listen, strlen(listen), true, 0);
    if (why)
        config_fault(l, node_at(l, NULL, "listen"), "listen",
                     "'%s' must be ADDRESS:PORT, [IPv6]:PORT or unix:/path: it %s", listen, why);
}

static void check_tls(struct loader *l)
{
    const struct config *c = l->config;
    if (!c->tls.certificate != !c->tls.key)
        config_fault(l, node_at(l, "tls", c->tls.certificate ? "certificate" : "key"),
                     c->tls.certificate ? "tls.key" : "tls.certificate",
                     "is required: the certificate and its key go together");
    if (c->tls.client_ca && !c->tls.certificate)
        config_fault(l, node_at(l, "tls", "client_ca"), "tls.client_ca", "needs tls.certificate");
    if (c->tls.client_count && !c->tls.client_ca)
        config_fault(l, node_at(l, "tls", "clients"), "tls.clients", "needs tls.client_ca");
}

/* Checks a URL to which paths are appended. */
static void check_base_url(struct loader *l, const yaml_node_t *node, const char *key, char *url)
{
    if (!url)
        return;
    size_t len = strlen(url);
    while (len && url[len - 1] == '/')
        url[--len] = '\0';
    if (!matches("^https?://[]A-Za-z0-9.:[-]+(/[A-Za-z0-9._~/-]*)?$", url))
        config_fault(l, node, key, "'%s' must be http(s)://host[:port][/path]", url);
    else if (url_fault(url))
        config_fault(l, node, key, "'%s' %s", url, url_fault(url));
}

static void check_origins(struct loader *l)
{
    const yaml_node_t *node = node_at(l, "cors", "origins");
    for (char *const *origin = l->config->cors.origins; origin && *origin; origin++)
        if (origin_fault(*origin))
            config_fault(l, node, "origins", "'%s' %s; an origin is like https://console.example.com",
                         *origin, origin_fault(*origin));
}

static void check_networks(struct loader *l)
{
    const yaml_node_t *proxies = node_at(l, NULL, "trusted_proxies");
    const yaml_node_t *allow = node_at(l, "webhooks", "allow");
    struct cidr cidr;
    for (char *const *one = l->config->trusted_proxies; one && *one; one++)
        if (strcmp(*one, CONFIG_LOCAL_PROXY) != 0 && !cidr_parse(*one, &cidr))
            config_fault(l, proxies, "trusted_proxies",
                         "'%s' must be a network such as 10.0.0.0/8, an address, or %s", *one,
                         CONFIG_LOCAL_PROXY);
    for (char *const *one = l->config->webhooks.allow; one && *one; one++)
        if (!host_name_is_valid(*one) && !cidr_parse(*one, &cidr))
            config_fault(l, allow, "allow",
                         "'%s' is neither a network such as 10.0.0.0/8, nor an address, nor a host name",
                         *one);
}

static void check_polling(struct loader *l)
{
    const struct config *c = l->config;
    if (c->polling.active_us <= c->polling.idle_us)
        return;
    const yaml_node_t *active = node_at(l, "polling", "active"), *idle = node_at(l, "polling", "idle");
    config_fault(l, active ? active : idle, "active", "must not be longer than idle, which is %s",
                 idle && node_text(idle) ? node_text(idle) : "2m by default");
}

static void check_backups(struct loader *l)
{
    enum { FEWEST_S = 60 };
    const char *directory = l->config->backups.directory;
    const int64_t every = l->config->backups.every_us;
    if (directory && *directory != '/')
        config_fault(l, node_at(l, "backups", "directory"), "directory", "'%s' must be an absolute path",
                     directory);
    if (every && every < FEWEST_S * US_PER_S)
        config_fault(l, node_at(l, "backups", "every"), "every", "must be 0s or at least %ds", FEWEST_S);
}

/* Finds defaults with which every create in the project would be refused. All other checks of the defaults
 * need the catalog. */
static void check_defaults(struct loader *l, const yaml_node_t *project, const json_t *defaults)
{
    const yaml_node_t *node = find_node(l, project, "defaults");
    const char *version = json_str(defaults, "kubernetes_version");
    int64_t minimum = json_int(defaults, "minimum", 1), maximum = json_int(defaults, "maximum", minimum);
    if (version && !pattern_matches(PATTERN_VERSION, version))
        config_fault(l, find_node(l, node, "kubernetes_version"), "kubernetes_version",
                     "'%s' must be a version such as 1.33.7, or a minor such as 1.33", version);
    if (minimum > maximum) {
        const yaml_node_t *at = find_node(l, node, "minimum");
        config_fault(l, at ? at : find_node(l, node, "maximum"), "minimum", "%lld is above maximum, %lld",
                     (long long)minimum, (long long)maximum);
    }
}

/* ---- issuers ---- */

enum { ISSUER_MAX = 255, RULE_PROJECTS_MAX = 200, SCOPES_MAX = 20 };

static void check_issuer_url(struct loader *l, const yaml_node_t *node, const char *url)
{
    if (strlen(url) > ISSUER_MAX)
        config_fault(l, node, "issuer", "has %zu bytes, the most is %d", strlen(url), ISSUER_MAX);
    else if (!matches("^https://[]A-Za-z0-9.:[_-]+(/[A-Za-z0-9._~/-]*)?$", url) &&
             !matches(
                 "^http://(127(\\.[0-9]{1,3}){3}|\\[::1\\]|localhost)(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$",
                 url))
        config_fault(l, node, "issuer",
                     "'%s' must be https://host[:port][/path], or http:// to a loopback address", url);
    else if (url_fault(url))
        config_fault(l, node, "issuer", "'%s' %s", url, url_fault(url));
}

static void check_algorithms(struct loader *l, const yaml_node_t *node, char *const *names)
{
    bool any = names && *names;
    for (; any && *names; names++)
        if (!matches("^(RS256|PS256|ES256|EdDSA)$", *names))
            config_fault(l, node, "algorithms", "'%s' is not one of: RS256, PS256, ES256, EdDSA", *names);
    if (!any)
        config_fault(l, node, "algorithms", "must name at least one of: RS256, PS256, ES256, EdDSA");
}

static bool is_named_before(char *const *names, char *const *end)
{
    for (; names < end; names++)
        if (!strcmp(*names, *end))
            return true;
    return false;
}

/* Checks the values of GET /v1/auth against RFC 6749 (appendix A). */
static void check_authorization(struct loader *l, const yaml_node_t *node, struct config_issuer *issuer)
{
    static char openid[] = "openid";
    const yaml_node_t *at = key_or_item(l, node, "scopes");
    const bool says_scopes = at != node;
    size_t count = 0;
    if (issuer->client_id && !matches("^[!-~]{1,255}$", issuer->client_id))
        config_fault(l, key_or_item(l, node, "client_id"), "client_id",
                     "must be 1 to 255 ASCII characters without blanks");
    for (char *const *scope = issuer->scopes; scope && *scope; scope++, count++)
        if (!matches("^[]!#-[^-~]{1,100}$", *scope))
            config_fault(l, at, "scopes",
                         "'%s' must have 1 to 100 ASCII characters, without blanks, '\"' and '\\'", *scope);
        else if (is_named_before(issuer->scopes, scope))
            config_fault(l, at, "scopes", "'%s' is given twice", *scope);
    if (count > SCOPES_MAX)
        config_fault(l, at, "scopes", "has %zu entries, the most are %d", count, SCOPES_MAX);
    if (says_scopes && !count)
        config_fault(l, at, "scopes", "must name at least one scope such as openid");
    if (says_scopes && !issuer->client_id)
        config_fault(l, at, "scopes", "needs client_id");
    if (issuer->client_id && !says_scopes)
        issuer->scopes = string_list_copy((char *[]){openid, NULL});
}

/* Checks the projects of a rule or of a client. */
static void check_rule(struct loader *l, const yaml_node_t *node, char *const *projects)
{
    const yaml_node_t *at = key_or_item(l, node, "projects");
    if (!projects || !*projects)
        config_fault(l, at, "projects", "must name at least one project, or \"*\"");
    size_t count = 0;
    for (char *const *name = projects; name && *name; name++, count++)
        if (strcmp(*name, "*") != 0 && !config_project(l->config, *name))
            config_fault(l, at, "projects", "there is no project '%s'", *name);
    if (count > RULE_PROJECTS_MAX)
        config_fault(l, at, "projects", "has %zu entries, the most are %d", count, RULE_PROJECTS_MAX);
}

static void check_issuers(struct loader *l)
{
    const struct config *c = l->config;
    const yaml_node_t *list = node_at(l, "oidc", "issuers");
    for (size_t i = 0; i < c->oidc.issuer_count; i++) {
        struct config_issuer *issuer = &c->oidc.issuers[i];
        const yaml_node_t *node = config_item(l, list, i), *rules = find_node(l, node, "rules");
        if (issuer->issuer)
            check_issuer_url(l, key_or_item(l, node, "issuer"), issuer->issuer);
        if (find_node(l, node, "algorithms"))
            check_algorithms(l, key_or_item(l, node, "algorithms"), issuer->algorithms);
        check_authorization(l, node, issuer);
        check_proxy(l, node, issuer->http_proxy, issuer->issuer);
        for (size_t j = 0; j < i; j++)
            if (mem_same_str(issuer->issuer, c->oidc.issuers[j].issuer))
                config_fault(l, node, "issuer", "'%s' is given twice", issuer->issuer);
        for (size_t j = 0; j < issuer->rule_count; j++)
            check_rule(l, config_item(l, rules, j), issuer->rules[j].projects);
    }
}

static void check_clients(struct loader *l)
{
    const struct config *c = l->config;
    const yaml_node_t *list = node_at(l, "tls", "clients");
    for (size_t i = 0; i < c->tls.client_count; i++) {
        const yaml_node_t *node = config_item(l, list, i);
        const char *name = c->tls.clients[i].name;
        if (name && !matches("^(dns:[A-Za-z0-9._*-]{1,253}|uri:[a-z][a-z0-9+.-]{0,20}:[!-~]{1,220})$", name))
            config_fault(l, key_or_item(l, node, "name"), "name", "'%s' must be dns:NAME or uri:URI", name);
        check_rule(l, node, c->tls.clients[i].projects);
    }
}

void config_check(struct loader *l)
{
    check_accounts(l);
    check_projects(l);
    for (size_t i = 0; i < l->config->project_count; i++)
        check_defaults(l, item_node(l, "projects", i), l->config->projects[i].defaults);
    check_listen(l);
    check_tls(l);
    check_base_url(l, node_at(l, NULL, "public_url"), "public_url", l->config->public_url);
    check_base_url(l, node_at(l, "tracing", "endpoint"), "tracing.endpoint", l->config->tracing.endpoint);
    check_origins(l);
    check_networks(l);
    check_polling(l);
    check_backups(l);
    check_issuers(l);
    check_clients(l);
}
