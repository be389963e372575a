/* `login` and `context`: which servers there are, and the tokens for them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/api.h"
#include "cli/files.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs/verbs.h"

enum { TOKEN_MAX_BYTES = 64 * 1024, MESSAGE_BYTES = 64 * 1024 };

/* ---- the token ---- */

/* The first line without blanks around it. */
static char *first_line(const char *text)
{
    const char *begin = text + strspn(text, " \t");
    size_t len = strcspn(begin, "\r\n");
    while (len && (begin[len - 1] == ' ' || begin[len - 1] == '\t'))
        len--;
    return mem_strndup(begin, len);
}

/* The token in the file that a flag names, or on standard input (NULL); NULL after saying why there is none.
 */
static char *token_from_file(const char *path)
{
    struct buffer bytes;
    buffer_init(&bytes, TOKEN_MAX_BYTES);
    int error = path ? files_read(path, &bytes) : files_read_all(stdin, &bytes);
    char *token = error ? NULL : first_line(bytes.data ? bytes.data : "");
    if (bytes.data)
        explicit_bzero(bytes.data, bytes.len);
    buffer_done(&bytes);
    if (error)
        (void)cli_fail(END_USAGE, "%s: the token cannot be read: %s", path ? path : "standard input",
                       strerror(error));
    return token;
}

/* From the terminal; NULL after saying why there is none. */
static char *token_from_prompt(const char *url)
{
    bool too_long = false;
    char *question CLEANUP_FREE = mem_printf("Token for %s: ", url);
    char *token = terminal_ask_secret(question, &too_long);
    if (too_long)
        (void)cli_fail(END_USAGE,
                       "a terminal may cut a line of %d bytes or more: --token-file FILE or --token-stdin",
                       (int)TERMINAL_LINE_MAX);
    else if (!token)
        (void)cli_fail(END_USAGE, "no token was given");
    return token;
}

/* From a file, standard input or a prompt; NULL with the code. */
static char *get_token(const struct cli *cli, const char *url, int *ret_code)
{
    const char *path = parsed_text(cli->parsed, "token-file");
    char *token = NULL;
    *ret_code = END_USAGE;
    if (path) {
        token = token_from_file(path);
    } else if (parsed_on(cli->parsed, "token-stdin")) {
        token = token_from_file(NULL);
    } else if (cli_can_ask(cli)) {
        token = token_from_prompt(url);
    } else {
        (void)cli_fail(END_USAGE, "nobody can be asked for the token: --token-file FILE or --token-stdin");
        return NULL;
    }
    if (token && token_is_sendable(token))
        return token;
    if (token)
        (void)cli_fail(END_USAGE, "%s",
                       *token ? "that is no token: it is one line of visible characters"
                              : "no token was given");
    mem_free_secret(token);
    return NULL;
}

/* ---- login ---- */

struct login {
    const char *name, *url, *token, *project, *ca_file;
};

static bool store_login(json_t *file, void *ctx, struct buffer *fault)
{
    const struct login *login = ctx;
    json_t *context = contexts_find(file, login->name);
    (void)fault;
    if (!context) {
        context = json_object();
        json_set_str(context, "name", login->name);
        (void)json_array_append_new(json_arr(file, "contexts"), context);
    }
    json_set_str(context, "url", login->url);
    json_set_str(context, "token", login->token);
    if (login->project)
        json_set_str(context, "project", login->project);
    if (login->ca_file)
        json_set_str(context, "ca_file", login->ca_file);
    json_set_str(file, "current", login->name);
    return true;
}

static void say_login(const struct cli *cli, const struct login *login, const json_t *whoami)
{
    char *role CLEANUP_FREE = glyphs_shown(json_str(whoami, "role")),
               *name CLEANUP_FREE = glyphs_shown(json_str(whoami, "name"));
    char *projects CLEANUP_FREE = output_text(json_arr(whoami, "projects"));
    char *shown CLEANUP_FREE = glyphs_shown(projects);
    char *path CLEANUP_FREE = contexts_path();
    (void)cli;
    cli_note("logged in to %s as %s (role %s, projects %s)", login->url, name, role, shown);
    if (json_str(whoami, "expires_at"))
        cli_note("the token is good until %s", json_str(whoami, "expires_at"));
    cli_note("context %s is the current one; stored in %s", login->name, path);
}

/* An absolute path, since the file of contexts is read from everywhere. */
static char *absolute(const char *path)
{
    return path ? realpath(path, NULL) : NULL;
}

int verb_login(struct cli *cli)
{
    struct buffer fault CLEANUP_BUFFER;
    int code = END_OK;
    buffer_init(&fault, MESSAGE_BYTES);
    char *url CLEANUP_FREE = url_trimmed(cli->parsed->arguments[0]);
    if (!url_is_good(url, &fault))
        return cli_fail(END_USAGE, "%s", fault.data);
    if (url_is_open(url))
        cli_note("shootctl: %s is plain http: the token can be read on its way", url);
    const char *ca_file = parsed_text(cli->parsed, "ca-file");
    char *ca_path CLEANUP_FREE = absolute(ca_file);
    if (ca_file && !ca_path)
        return cli_fail(END_USAGE, "--ca-file %s: %s", ca_file, strerror(errno));
    char *label CLEANUP_FREE = url_label(url);
    char *token CLEANUP_SECRET = get_token(cli, url, &code);
    if (!token)
        return code;
    const char *name = parsed_text(cli->parsed, "name");
    const struct login login = {name ? name : label, url, token, parsed_text(cli->parsed, "project"),
                                ca_path};
    cli->settings.url = (struct setting){mem_strdup(url), mem_strdup("the command line")};
    cli->settings.token = (struct setting){mem_strdup(token), mem_strdup("the login")};
    cli->settings.ca_file = (struct setting){mem_strdup(ca_path), mem_strdup("the command line")};
    cli->http = cli_open(cli);
    if (!cli->http)
        return END_REFUSED;
    struct api_target target CLEANUP_TARGET;
    json_t *whoami CLEANUP_JSON = NULL;
    api_target_init(&target, API_WHOAMI, NULL, NULL, NULL);
    code = api_get(cli, &target, &whoami);
    if (code == END_OK && !json_str(whoami, "role"))
        code = cli_fail(END_UNREACHABLE, "%s: what answers is no shootd", url);
    if (code == END_OK && !contexts_change(store_login, (void *)(uintptr_t)&login, &fault))
        code = cli_fail(END_REFUSED, "%s", fault.data);
    if (code == END_OK)
        say_login(cli, &login, whoami);
    return code;
}

/* ---- context ---- */

static json_t *without_token(const json_t *context)
{
    json_t *copy = json_deep_copy(context);
    if (json_object_get(copy, "token"))
        json_set_str(copy, "token", "(set)");
    return copy;
}

static int list_contexts(struct cli *cli, const json_t *file)
{
    static const struct column columns[] = {
        {"CURRENT", false}, {"NAME", false}, {"URL", true}, {"PROJECT", false}, {NULL, false}};
    const char *current = json_str(file, "current");
    struct table *table CLEANUP_TABLE = table_new(columns);
    struct output output;
    bool documents = output_is_document(cli);
    json_t *context;
    size_t i;
    output_begin(&output, cli);
    json_array_foreach (json_arr(file, "contexts"), i, context) {
        const char *name = json_str(context, "name");
        json_t *shown CLEANUP_JSON = without_token(context);
        if (documents) {
            (void)output_add(&output, shown, name);
            continue;
        }
        table_add(table, mem_same_str(name, current) ? "*" : " ", STYLE_GOOD);
        table_add(table, name, STYLE_PLAIN);
        table_add(table, json_str(context, "url"), STYLE_PLAIN);
        table_add(table, json_str(context, "project"), STYLE_PLAIN);
    }
    if (documents)
        return output_end(&output);
    output_drop(&output);
    table_print(table, &cli->out);
    return END_OK;
}

static bool use_context(json_t *file, void *ctx, struct buffer *fault)
{
    const char *name = ctx;
    if (!contexts_find(file, name)) {
        (void)buffer_printf(fault, "there is no context '%s'; 'shootctl context list' shows them", name);
        return false;
    }
    json_set_str(file, "current", name);
    return true;
}

static bool remove_context(json_t *file, void *ctx, struct buffer *fault)
{
    const char *name = ctx;
    json_t *contexts = json_arr(file, "contexts");
    for (size_t i = 0; i < json_array_size(contexts); i++) {
        if (!mem_same_str(json_str(json_array_get(contexts, i), "name"), name))
            continue;
        (void)json_array_remove(contexts, i);
        if (mem_same_str(json_str(file, "current"), name))
            json_set_str(file, "current", NULL);
        return true;
    }
    (void)buffer_printf(fault, "there is no context '%s'; 'shootctl context list' shows them", name);
    return false;
}

static void add_setting(struct table *table, const char *name, const struct setting *setting,
                        const char *shown)
{
    table_add(table, name, STYLE_PLAIN);
    table_add(table, setting->value && shown ? shown : setting->value, STYLE_PLAIN);
    table_add(table, setting->source, STYLE_PLAIN);
}

/* Each value with where it is from. */
static int show_settings(struct cli *cli)
{
    static const struct column columns[] = {
        {"SETTING", false}, {"VALUE", true}, {"FROM", false}, {NULL, false}};
    const struct settings *s = &cli->settings;
    const struct {
        const char *name;
        const struct setting *setting;
        const char *shown;
    } rows[] = {{"context", &s->context, NULL},
                {"url", &s->url, NULL},
                {"token", &s->token, "(set)"},
                {"project", &s->project, NULL},
                {"ca_file", &s->ca_file, NULL}};
    struct table *table CLEANUP_TABLE = table_new(columns);
    json_t *document CLEANUP_JSON = json_object();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct setting *setting = rows[i].setting;
        const char *value = setting->value && rows[i].shown ? rows[i].shown : setting->value;
        add_setting(table, rows[i].name, setting, rows[i].shown);
        json_set_take(document, rows[i].name,
                      json_pack("{s:s?,s:s?}", "value", value, "from", setting->source));
    }
    if (output_is_document(cli))
        return output_one(cli, document, s->context.value);
    table_print(table, &cli->out);
    return END_OK;
}

static int change_contexts(bool (*change)(json_t *file, void *ctx, struct buffer *fault), const char *name)
{
    struct buffer fault CLEANUP_BUFFER;
    buffer_init(&fault, MESSAGE_BYTES);
    json_t *file CLEANUP_JSON = contexts_read(&fault);
    bool is_there = file && contexts_find(file, name);
    if (file && contexts_change(change, (void *)(uintptr_t)name, &fault))
        return END_OK;
    return cli_fail(!file ? END_USAGE : is_there ? END_REFUSED : END_NOT_FOUND, "%s", fault.data);
}

int verb_context(struct cli *cli)
{
    const char *what = cli->parsed->arguments[0] ? cli->parsed->arguments[0] : "list";
    const char *name = cli->parsed->argument_count > 1 ? cli->parsed->arguments[1] : NULL;
    bool names = strcmp(what, "use") == 0 || strcmp(what, "remove") == 0;
    struct buffer fault CLEANUP_BUFFER;
    buffer_init(&fault, MESSAGE_BYTES);
    if (names != (name != NULL) || (!names && strcmp(what, "list") != 0 && strcmp(what, "show") != 0))
        return cli_fail(END_USAGE, "'context' takes: list, use NAME, show, remove NAME");
    if (strcmp(what, "use") == 0)
        return change_contexts(use_context, name);
    if (strcmp(what, "remove") == 0)
        return change_contexts(remove_context, name);
    if (strcmp(what, "show") == 0)
        return settings_load(&cli->settings, cli->parsed, &fault) ? show_settings(cli)
                                                                  : cli_fail(END_USAGE, "%s", fault.data);
    json_t *file CLEANUP_JSON = contexts_read(&fault);
    return file ? list_contexts(cli, file) : cli_fail(END_USAGE, "%s", fault.data);
}
