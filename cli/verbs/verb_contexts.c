/* The command `context`: lists the servers and selects the server to use. */
#include <string.h>

#include "base/mem.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs/verbs.h"

enum { MESSAGE_BYTES = 64 * 1024 };

static json_t *without_token(const json_t *context)
{
    json_t *copy = json_deep_copy(context);
    if (json_object_get(copy, "token"))
        json_set_str(copy, "token", "(set)");
    if (json_str(json_obj(copy, "login"), "refresh_token"))
        json_set_str(json_obj(copy, "login"), "refresh_token", "(set)");
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

static bool use_context(json_t *file, const char *name, struct buffer *fault)
{
    if (!contexts_find(file, name)) {
        buffer_printf(fault, "there is no context '%s'; 'shootctl context list' shows them", name);
        return false;
    }
    json_set_str(file, "current", name);
    return true;
}

static bool remove_context(json_t *file, const char *name, struct buffer *fault)
{
    json_t *contexts = json_arr(file, "contexts");
    for (size_t i = 0; i < json_array_size(contexts); i++) {
        if (!mem_same_str(json_str(json_array_get(contexts, i), "name"), name))
            continue;
        (void)json_array_remove(contexts, i);
        if (mem_same_str(json_str(file, "current"), name))
            json_set_str(file, "current", NULL);
        return true;
    }
    buffer_printf(fault, "there is no context '%s'; 'shootctl context list' shows them", name);
    return false;
}

static void add_setting(struct table *table, const char *name, const struct setting *setting,
                        const char *shown)
{
    table_add(table, name, STYLE_PLAIN);
    table_add(table, setting->value && shown ? shown : setting->value, STYLE_PLAIN);
    table_add(table, setting->source, STYLE_PLAIN);
}

/* Prints each setting with its source. */
static int show_settings(struct cli *cli)
{
    static const struct column columns[] = {
        {"SETTING", false}, {"VALUE", true}, {"FROM", false}, {NULL, false}};
    const struct cli_settings *s = &cli->settings;
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

static int change_contexts(bool (*change)(json_t *file, const char *name, struct buffer *fault),
                           const char *name)
{
    struct buffer fault CLEANUP_BUFFER;
    buffer_init(&fault, MESSAGE_BYTES);
    json_t *file CLEANUP_JSON = contexts_read(&fault);
    bool is_there = file && contexts_find(file, name);
    struct contexts_edit edit CLEANUP_CONTEXTS_EDIT = {.directory = -1};
    if (file && contexts_edit_begin(&edit, &fault) && change(edit.file, name, &fault) &&
        contexts_edit_store(&edit, &fault))
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
