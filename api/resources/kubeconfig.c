/*
 * Kubeconfigs, in JSON or in the form of the file. The loop thread reads them; they are never stored and
 * never cached. This file also makes kubeconfigs without secrets: in place of credentials they have a
 * command, which requests a credential from shootd when kubectl needs one (client-go credential plugins,
 * v1beta1 or v1). Runs on the worker of the request.
 */
#include "api/resources/handlers.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/request.h"
#include "base/mem.h"
#include "model/kubeconfig_file.h"

/* Debian 12's kubectl (1.20) supports only v1beta1; versions from 1.22 on support both. The ExecCredential
 * must have the version that the kubeconfig names. */
#define CREDENTIAL_API "client.authentication.k8s.io/"
/* curl reads the field with the token from a file, because plugins run without a shell that expands
 * variables. */
#define DEFAULT_HEADER_FILE "/etc/shootd/authorization"
/*
 * kubectl sets no time limit for the command, so the command has its own. shootd answers within 32 s (limits
 * of api.c). `-q` must be the first argument, because a ~/.curlrc could add output that is not a credential,
 * or print the token.
 */
#define CONNECT_TIMEOUT_S "10"
#define MAX_TIME_S        "40"

enum { LONGEST = 64 * 1024 };

static const char *credential_api(const struct request *r)
{
    bool v1 =
        r->params.given[PARAM_API_VERSION] && r->params.numbers[PARAM_API_VERSION] == 1 << API_VERSION_V1;
    return v1 ? CREDENTIAL_API "v1" : CREDENTIAL_API "v1beta1";
}

/*
 * Takes the kubeconfig out of the command's result; the caller frees it like a secret. Returns NULL when the
 * result has no kubeconfig. *ret_expires_at is the expiry, which the caller frees; NULL: it is not known.
 * ret_expires_at may be NULL.
 */
static char *kubeconfig_take_file(const struct command *cmd, char **ret_expires_at)
{
    json_t *doc = cmd->reply.text ? json_loads(cmd->reply.text, 0, NULL) : NULL;
    char *text = mem_strdup(json_str(doc, "kubeconfig"));
    if (ret_expires_at)
        *ret_expires_at = mem_strdup(json_str(doc, "expires_at"));
    json_wipe(doc);
    json_decref(doc);
    return text;
}

/* Requests a kubeconfig from the decider, by the parameters; `finish` makes the answer. */
static struct problem *kubeconfig_request(struct request *r,
                                          struct problem *(*finish)(struct request *r, struct command *cmd))
{
    assert(r->project && r->name);
    struct command *cmd = request_command(r, COMMAND_KUBECONFIG);
    cmd->kubeconfig.ttl_seconds = (int)param_number(&r->params, PARAM_TTL_SECONDS);
    cmd->kubeconfig.min_remaining_seconds = (int)param_number(&r->params, PARAM_MIN_REMAINING_SECONDS);
    r->finish = finish;
    return request_park(r, cmd);
}

/* ---- ExecCredential ---- */

static void set_pem(json_t *status, const char *key, const char *data)
{
    char *pem = data ? kubeconfig_pem(data) : NULL;
    if (pem)
        json_set_str(status, key, pem);
    mem_free_secret(pem);
}

/* Returns NULL when the kubeconfig contains no credential. */
static json_t *make_credential(const char *api, const struct kubeconfig_parts *parts, const char *expires_at)
{
    json_t *status = json_object();
    if (expires_at)
        json_set_str(status, "expirationTimestamp", expires_at);
    if (parts->token)
        json_set_str(status, "token", parts->token);
    set_pem(status, "clientCertificateData", parts->certificate_data);
    set_pem(status, "clientKeyData", parts->key_data);
    bool by_certificate = json_str(status, "clientCertificateData") && json_str(status, "clientKeyData");
    if (!by_certificate && !parts->token) {
        json_wipe(status);
        json_decref(status);
        return NULL;
    }
    json_t *doc = json_object();
    json_set_str(doc, "apiVersion", api);
    json_set_str(doc, "kind", "ExecCredential");
    json_set_take(doc, "status", status);
    return doc;
}

static struct problem *finish_credential(struct request *r, struct command *cmd)
{
    char *expires_at CLEANUP_FREE = NULL;
    char *text = kubeconfig_take_file(cmd, &expires_at);
    struct kubeconfig_parts *parts CLEANUP_KUBECONFIG = text ? kubeconfig_parse(text) : NULL;
    json_t *doc = parts ? make_credential(credential_api(r), parts, expires_at) : NULL;
    mem_free_secret(text);
    if (!doc)
        return problem_new(PROBLEM_UPSTREAM_ERROR,
                           "Cleura's kubeconfig has neither a client certificate nor a token.");
    char *answer = json_text(doc);
    json_wipe(doc);
    json_decref(doc);
    answer_text(&r->http.answer, MHD_HTTP_OK, TYPE_JSON, answer, strlen(answer));
    r->http.answer.secret = true;
    answer_header(&r->http.answer, "Cache-Control", "no-store");
    return NULL;
}

struct problem *handle_credential(struct request *r)
{
    return kubeconfig_request(r, finish_credential);
}

/* ---- the kubeconfig that calls shootd ---- */

/* Whether the server listens on loopback. Only then are all clients on the same machine, so that the Host of
 * a request may be trusted. */
static bool listens_on_loopback(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_storage room;
    } bound = {0};
    socklen_t len = sizeof(bound);
    if (getsockname(fd, &bound.any, &len) < 0)
        return false;
    if (bound.any.sa_family == AF_INET)
        return ntohl(bound.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return bound.any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&bound.in6.sin6_addr);
}

static void add_query_fault(struct problem **faults, const char *name, const char *code, const char *detail)
{
    problem_add_fault(faults, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, name, code, NULL, "%s", detail);
}

/*
 * With this kubeconfig, curl sends the token of shootd to an address: the configured address (`public_url`).
 * The Host of the request is used only on loopback, because an attacker may have given the client a wrong
 * host name.
 */
static void check_address(const struct request *r, struct problem **faults)
{
    if (api_config(r->api)->public_url)
        return;
    if (!listens_on_loopback(r->api->options.listen_fd))
        problem_add_fault(faults, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "format", "not_configured",
                          json_pack("[s, s]", "json", "yaml"),
                          "exec needs the address of this server: the operator has to set `public_url` in "
                          "the configuration of shootd");
    /* In HTTP/1.0 the Host may be absent. When it is present, http/message/headers.c has checked it. */
    else if (!r->http.headers.values[HEADER_HOST])
        problem_add_fault(faults, PROBLEM_INVALID_PARAMETER, FAULT_AT_HEADER, "Host", "missing", NULL,
                          "is needed: the kubeconfig contains the address at which you reach this server");
}

/*
 * Checks the parameters of format=exec, and that the address of this server is known: `public_url`, or on
 * loopback the Host of the request.
 */
static struct problem *check_exec_params(struct request *r)
{
    bool is_exec = r->params.given[PARAM_FORMAT] && r->params.numbers[PARAM_FORMAT] == 1 << FORMAT_EXEC;
    static const enum param_id of_exec[] = {PARAM_HEADER_FILE, PARAM_API_VERSION};
    struct problem *p = NULL;
    for (size_t i = 0; i < ARRAY_LEN(of_exec); i++)
        if (r->params.given[of_exec[i]] && !is_exec)
            add_query_fault(&p, param_name(of_exec[i]), "conflict", "is possible with format=exec only");
    const char *file = r->params.texts[PARAM_HEADER_FILE];
    if (file && is_exec && *file != '/')
        add_query_fault(&p, "header_file", "wrong_form",
                        "has to be an absolute path: nothing expands ~ or variables when kubectl runs curl");
    if (is_exec)
        check_address(r, &p);
    return p;
}

static void add_argument(struct buffer *url, const struct request *r, enum param_id id)
{
    const char *value = r->params.texts[id];
    if (value)
        buffer_printf(url, "%c%s=%s", strchr(url->data, '?') ? '&' : '?', param_name(id), value);
}

/* Returns the URL at which the client reaches shootd, configured or from the request, with the parameters of
 * the credential. */
static char *credential_url(const struct request *r)
{
    const char *base = api_config(r->api)->public_url;
    struct buffer url;
    assert(base || r->http.headers.values[HEADER_HOST]); /* checked by check_address */
    buffer_init(&url, LONGEST);
    buffer_printf(&url, "%s%s/v1/projects/%s/clusters/%s/credential",
                  base                  ? ""
                  : r->api->options.tls ? "https://"
                                        : "http://",
                  base ? base : r->http.headers.values[HEADER_HOST], r->project, r->name);
    add_argument(&url, r, PARAM_TTL_SECONDS);
    add_argument(&url, r, PARAM_MIN_REMAINING_SECONDS);
    add_argument(&url, r, PARAM_API_VERSION);
    return buffer_take(&url, NULL);
}

/* Writes a JSON string, because every JSON string is also a valid YAML scalar. */
static void add_scalar(struct buffer *out, const char *before, const char *text, const char *after)
{
    json_t *value CLEANUP_JSON = json_string(text);
    char *quoted CLEANUP_FREE = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    buffer_printf(out, "%s%s%s", before, quoted ? quoted : "\"\"", after);
}

static void add_user(struct request *r, struct buffer *out, const char *name)
{
    const char *file = r->params.texts[PARAM_HEADER_FILE];
    char *field CLEANUP_FREE = mem_printf("@%s", file ? file : DEFAULT_HEADER_FILE);
    char *url CLEANUP_FREE = credential_url(r);
    const char *const arguments[] = {"-q",
                                     "--silent",
                                     "--show-error",
                                     "--fail",
                                     "--connect-timeout",
                                     CONNECT_TIMEOUT_S,
                                     "--max-time",
                                     MAX_TIME_S,
                                     "--header",
                                     field,
                                     url};
    add_scalar(out, "users:\n- name: ", name, "\n");
    buffer_printf(out, "  user:\n    exec:\n      apiVersion: %s\n      command: curl\n      args:\n",
                  credential_api(r));
    for (size_t i = 0; i < ARRAY_LEN(arguments); i++)
        add_scalar(out, "      - ", arguments[i], "\n");
    add_scalar(out, "      installHint: ",
               "curl is needed, and a file with the line 'Authorization: Bearer <token of shootd>'", "\n");
    buffer_add_str(out, "      interactiveMode: Never\n      provideClusterInfo: false\n");
}

/*
 * Returns the name of cluster, context and user. kubectl merges kubeconfigs by these names. Two servers may
 * have projects and clusters of the same names, so the name contains the server's host, if known.
 */
static char *entry_name(const struct request *r)
{
    const char *base = api_config(r->api)->public_url;
    const char *scheme_end = base ? strstr(base, "://") : NULL;
    if (!scheme_end)
        return mem_printf("%s--%s", r->project, r->name);
    const char *host = scheme_end + strlen("://");
    return mem_printf("%s--%s@%.*s", r->project, r->name, (int)strcspn(host, "/"), host);
}

/*
 * Answers with a kubeconfig without secrets for the cluster of `kubeconfig`, which is borrowed. False when
 * `kubeconfig` lacks a needed part.
 */
static bool answer_exec(struct request *r, const char *kubeconfig)
{
    struct kubeconfig_parts *parts CLEANUP_KUBECONFIG = kubeconfig_parse(kubeconfig);
    if (!parts || !parts->server)
        return false;
    char *name CLEANUP_FREE = entry_name(r);
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, LONGEST);
    buffer_add_str(&out, "apiVersion: v1\nkind: Config\n");
    add_scalar(&out, "current-context: ", name, "\n");
    add_scalar(&out, "clusters:\n- name: ", name, "\n");
    add_scalar(&out, "  cluster:\n    server: ", parts->server, "\n");
    if (parts->authority_data)
        add_scalar(&out, "    certificate-authority-data: ", parts->authority_data, "\n");
    add_scalar(&out, "contexts:\n- name: ", name, "\n");
    add_scalar(&out, "  context:\n    cluster: ", name, "\n");
    add_scalar(&out, "    user: ", name, "\n");
    add_user(r, &out, name);
    size_t len;
    char *text = buffer_take(&out, &len);
    answer_text(&r->http.answer, MHD_HTTP_OK, TYPE_YAML, text, len);
    answer_header(&r->http.answer, "Cache-Control", "no-store");
    return true;
}

/* ---- the kubeconfig itself ---- */

/* The parameter takes precedence over Accept. */
static enum param_format wanted_format(const struct request *r)
{
    int64_t given = r->params.numbers[PARAM_FORMAT]; /* exactly one bit is set */
    if (r->params.given[PARAM_FORMAT])
        return given == 1 << FORMAT_EXEC   ? FORMAT_EXEC
               : given == 1 << FORMAT_YAML ? FORMAT_YAML
                                           : FORMAT_JSON;
    const char *accept = r->http.headers.values[HEADER_ACCEPT];
    bool yaml = accept && accept_quality(accept, TYPE_YAML) > accept_quality(accept, TYPE_JSON);
    return yaml ? FORMAT_YAML : FORMAT_JSON;
}

static struct problem *finish_kubeconfig(struct request *r, struct command *cmd)
{
    enum param_format format = wanted_format(r);
    char *text = format == FORMAT_JSON ? NULL : kubeconfig_take_file(cmd, NULL);
    if (!text)
        return NULL;
    if (format == FORMAT_YAML) {
        answer_text(&r->http.answer, MHD_HTTP_OK, TYPE_YAML, text, strlen(text));
        r->http.answer.secret = true;
        answer_header(&r->http.answer, "Cache-Control", "no-store");
        return NULL;
    }
    bool ok = answer_exec(r, text);
    mem_free_secret(text);
    return ok ? NULL : problem_new(PROBLEM_UPSTREAM_ERROR, "Cleura's kubeconfig names no server.");
}

struct problem *handle_kubeconfig(struct request *r)
{
    struct problem *p = check_exec_params(r);
    if (p)
        return p;
    answer_header(&r->http.answer, "Vary", "Accept");
    return kubeconfig_request(r, finish_kubeconfig);
}
