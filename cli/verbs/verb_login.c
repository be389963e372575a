/* The command `login` stores a server and its token as a context. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/device.h"
#include "cli/files.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/renew.h"
#include "cli/verbs/verb_server_issuer.h"
#include "cli/verbs/verbs.h"

enum { TOKEN_MAX_BYTES = 64 * 1024, MESSAGE_BYTES = 64 * 1024 };

/* ---- a token that the user gives ---- */

/* Reads the token from a file; with NULL, reads it from standard input. After a failure reports the reason
 * and returns NULL. */
static char *token_from_file(const char *path)
{
    struct buffer bytes;
    buffer_init(&bytes, TOKEN_MAX_BYTES);
    int error = path ? files_read(path, &bytes) : files_read_all(stdin, &bytes);
    char *token = error ? NULL : mem_strdup(bytes.data ? text_secret_line(bytes.data) : "");
    if (bytes.data)
        explicit_bzero(bytes.data, bytes.len);
    buffer_done(&bytes);
    if (error)
        (void)cli_fail(END_USAGE, "%s: the token cannot be read: %s", path ? path : "standard input",
                       strerror(error));
    return token;
}

/* Asks for the token at the terminal. After a failure reports the reason and returns NULL. If the server has
 * an issuer, an empty token means a login at the issuer. */
static char *token_from_prompt(const char *url, const struct cli_issuer *issuer)
{
    bool too_long = false;
    char *offer CLEANUP_FREE =
        issuer->url ? mem_printf(" (nothing: log in at %s)", issuer->url) : mem_strdup("");
    char *question CLEANUP_FREE = mem_printf("Token for %s%s: ", url, offer);
    char *token = terminal_ask_secret(question, &too_long);
    if (too_long)
        (void)cli_fail(END_USAGE,
                       "a terminal may cut a line of %d bytes or more: --token-file FILE or --token-stdin",
                       (int)TERMINAL_LINE_MAX);
    else if (!token)
        (void)cli_fail(END_USAGE, "no token was given");
    return token;
}

static bool is_token(const char *token)
{
    if (token_is_sendable(token))
        return true;
    (void)cli_fail(END_USAGE, "%s",
                   *token ? "that is not a token: a token is one line of visible characters"
                          : "no token was given");
    return false;
}

/* ---- login ---- */

struct login {
    struct cli *cli;
    const char *name, *url, *project, *ca_file;
    const char *id;           /* the id of the token, as the server reports it */
    struct cli_issuer issuer; /* `issuer.url` is NULL when no issuer issued the token */
    struct issued issued;     /* the tokens, which are secrets */
};

/* Gets a token by single sign-on. */
static int log_in_at_issuer(struct login *login)
{
    struct cli *cli = login->cli;
    const char *ca_file = parsed_text(cli->parsed, "issuer-ca-file");
    int code = END_OK;
    if (!login->issuer.url)
        code = issuer_of_server(cli, parsed_text(cli->parsed, "issuer"), false, &login->issuer);
    if (code == END_OK && ca_file && !(login->issuer.ca_file = realpath(ca_file, NULL)))
        code = cli_fail(END_USAGE, "--issuer-ca-file %s: %m", ca_file);
    if (code == END_OK)
        code = issuer_discover(&login->issuer);
    return code == END_OK ? device_login(&login->issuer, &login->issued) : code;
}

/* Lets the user at the terminal enter a token or choose the issuer. */
static int ask_for_token(struct login *login)
{
    (void)issuer_of_server(login->cli, parsed_text(login->cli->parsed, "issuer"), true, &login->issuer);
    login->issued.token = token_from_prompt(login->url, &login->issuer);
    if (!login->issued.token)
        return END_USAGE;
    if (login->issuer.url && !*login->issued.token) {
        issued_done(&login->issued);
        return log_in_at_issuer(login);
    }
    issuer_done(&login->issuer);
    return is_token(login->issued.token) ? END_OK : END_USAGE;
}

/* Gets a token from a file, standard input, an issuer or the terminal. */
static int get_token(struct login *login)
{
    const struct parsed *parsed = login->cli->parsed;
    const char *path = parsed_text(parsed, "token-file");
    if (path || parsed_on(parsed, "token-stdin")) {
        login->issued.token = token_from_file(path);
        return login->issued.token && is_token(login->issued.token) ? END_OK : END_USAGE;
    }
    if (parsed_on(parsed, "device"))
        return log_in_at_issuer(login);
    if (cli_can_ask(login->cli))
        return ask_for_token(login);
    return cli_fail(END_USAGE, "cannot ask for the token: use --token-file FILE, --token-stdin or --device");
}

static void put_login(json_t *file, const struct login *login)
{
    assert(login->name && login->url && login->issued.token);
    json_t *context = contexts_find(file, login->name);
    json_t *kept = login->issuer.url ? renew_kept(&login->issuer, &login->issued) : NULL;
    if (!context) {
        context = json_object();
        json_set_str(context, "name", login->name);
        json_append_take(json_arr(file, "contexts"), context);
    }
    json_set_str(context, "url", login->url);
    json_set_str(context, "token", login->issued.token);
    (void)json_object_del(context, "login"); /* the login data in the context belongs to its old token */
    if (kept) {
        json_set_str(kept, "id", login->id);
        (void)json_object_set_new(context, "login", kept);
    }
    if (login->project)
        json_set_str(context, "project", login->project);
    if (login->ca_file)
        json_set_str(context, "ca_file", login->ca_file);
    json_set_str(file, "current", login->name);
}

static bool store_login(const struct login *login, struct buffer *fault)
{
    struct contexts_edit edit CLEANUP_CONTEXTS_EDIT;
    if (!contexts_edit_begin(&edit, fault))
        return false;
    put_login(edit.file, login);
    return contexts_edit_store(&edit, fault);
}

static void say_login(const struct login *login, const json_t *whoami)
{
    char *projects CLEANUP_FREE = output_text(json_arr(whoami, "projects"));
    char *path CLEANUP_FREE = contexts_path();
    cli_note("logged in to %s as %s (role %s, projects %s)", login->url, json_str_or(whoami, "name", "-"),
             json_str_or(whoami, "role", "-"), projects);
    if (login->issued.refresh_token)
        cli_note("the token is renewed at %s while that issuer allows it", login->issuer.url);
    else if (json_str(whoami, "expires_at"))
        cli_note("the token is valid until %s", json_str(whoami, "expires_at"));
    cli_note("context %s is the current one; stored in %s", login->name, path);
}

/* Tries the token at the server and then stores it. */
static int try_and_store(struct login *login)
{
    struct cli *cli = login->cli;
    struct api_target target CLEANUP_TARGET;
    struct buffer fault CLEANUP_BUFFER;
    json_t *whoami CLEANUP_JSON = NULL;
    buffer_init(&fault, MESSAGE_BYTES);
    assert(login->issued.token && !cli->settings.token.value);
    cli->settings.token = (struct setting){mem_strdup(login->issued.token), mem_strdup("the login")};
    api_target_init(&target, API_WHOAMI, NULL, NULL, NULL);
    int code = api_get(cli, &target, &whoami);
    if (code == END_OK && !json_str(whoami, "role"))
        code = cli_fail(END_UNREACHABLE, "%s: the server is not shootd", login->url);
    login->id = json_str(whoami, "id");
    if (code == END_OK && !store_login(login, &fault))
        code = cli_fail(END_REFUSED, "%s", fault.data);
    if (code == END_OK)
        say_login(login, whoami);
    return code;
}

/* Makes a path absolute, because later commands run in other directories. */
static char *absolute(const char *path)
{
    return path ? realpath(path, NULL) : NULL;
}

int verb_login(struct cli *cli)
{
    struct buffer fault CLEANUP_BUFFER;
    buffer_init(&fault, MESSAGE_BYTES);
    char *url CLEANUP_FREE = url_trimmed(cli->parsed->arguments[0]);
    if (!url_is_good(url, &fault))
        return cli_fail(END_USAGE, "%s", fault.data);
    if (url_is_open(url))
        cli_note("shootctl: %s is plain http: the token can be read on its way", url);
    const char *ca_file = parsed_text(cli->parsed, "ca-file"), *name = parsed_text(cli->parsed, "name");
    char *ca_path CLEANUP_FREE = absolute(ca_file), *label CLEANUP_FREE = url_label(url);
    if (ca_file && !ca_path)
        return cli_fail(END_USAGE, "--ca-file %s: %s", ca_file, strerror(errno));
    cli->settings.url = (struct setting){mem_strdup(url), mem_strdup("the command line")};
    cli->settings.ca_file = (struct setting){mem_strdup(ca_path), mem_strdup("the command line")};
    cli->http = cli_open(cli);
    if (!cli->http)
        return END_REFUSED;
    if (!contexts_can_change(&fault)) /* nobody logs in for nothing */
        return cli_fail(END_REFUSED, "%s", fault.data);
    struct login login = {.cli = cli,
                          .name = name ? name : label,
                          .url = url,
                          .project = parsed_text(cli->parsed, "project"),
                          .ca_file = ca_path};
    int code = get_token(&login);
    if (code == END_OK)
        code = try_and_store(&login);
    issuer_done(&login.issuer);
    issued_done(&login.issued);
    return code;
}
