#include "cli/input.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/files.h"
#include "cli/shootctl.h"
#include "cli/words.h"
#include "cli/yaml_in.h"
#include "model/former_names.h"
#include "model/spec_hint.h"

static void add(struct input_documents *documents, const char *path, size_t number, size_t of, json_t *value)
{
    assert(number < of && json_is_object(value));
    documents->items = mem_realloc_array(documents->items, documents->count + 1, sizeof(*documents->items));
    char *source = of > 1 ? mem_printf("%s (document %zu)", path, number + 1) : mem_strdup(path);
    documents->items[documents->count++] = (struct document){source, json_incref(value)};
}

static int add_file(const char *path, FILE *file, struct input_documents *documents)
{
    struct buffer bytes CLEANUP_BUFFER;
    struct yaml_fault fault = {0};
    buffer_init(&bytes, YAML_MAX_BYTES);
    int error = files_read_all(file, &bytes);
    if (error)
        return cli_fail(END_USAGE, "%s: %s", path, error == EFBIG ? "has more than 8 MiB" : strerror(error));
    json_t *all CLEANUP_JSON = yaml_read(bytes.data ? bytes.data : "", bytes.len, &fault);
    if (!all)
        return cli_fail(END_USAGE, "%s:%zu: %s", path, fault.line, fault.text);
    for (size_t i = 0; i < json_array_size(all); i++) {
        if (!json_is_object(json_array_get(all, i)))
            return cli_fail(END_USAGE, "%s: document %zu is no mapping: a cluster has name and spec", path,
                            i + 1);
        add(documents, path, i, json_array_size(all), json_array_get(all, i));
    }
    return END_OK;
}

static int add_path(const char *path, struct input_documents *documents)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return cli_fail(END_USAGE, "%s: %s", path, strerror(errno));
    int code = add_file(path, file, documents);
    (void)fclose(file);
    return code;
}

static int is_document_name(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && dot &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static int add_directory(const char *path, struct input_documents *documents)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_document_name, alphasort), code = END_OK;
    if (count < 0)
        return cli_fail(END_USAGE, "%s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *file CLEANUP_FREE = mem_printf("%s/%s", path, entries[i]->d_name);
        if (code == END_OK)
            code = add_path(file, documents);
        free(entries[i]);
    }
    free(entries);
    return code;
}

int documents_read(const char *path, struct input_documents *ret)
{
    struct stat st;
    int code;
    *ret = (struct input_documents){0};
    if (strcmp(path, "-") == 0)
        code = add_file("standard input", stdin, ret);
    else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        code = add_directory(path, ret);
    else
        code = add_path(path, ret);
    if (code == END_OK && !ret->count)
        code = cli_fail(END_USAGE, "%s: there is no document in it", path);
    return code;
}

void documents_done(struct input_documents *documents)
{
    for (size_t i = 0; i < documents->count; i++) {
        free(documents->items[i].source);
        json_decref(documents->items[i].value);
    }
    free(documents->items);
    *documents = (struct input_documents){0};
}

/* The members of a cluster that a caller may send, and the members that only the server sets. */
static const char *const sent[] = {"name", "labels", "description", "deletion_protection", "spec", NULL};
static const char *const answered[] = {
    "id",         "project", "managed", "drifted", "kubernetes_version", "node_pool_count", "expires_at",
    "observed",   "drift",   "status",  "issue",   "operation",          "revision",        "created_at",
    "updated_at", NULL};

/* Whether the member is absent or a text. YAML reads 123 as a number and true as a truth value, unless they
 * are in quotes. */
static bool is_text(const struct document *document, const char *member)
{
    const json_t *value = json_object_get(document->value, member);
    if (!value || json_is_null(value) || json_is_string(value))
        return true;
    char *text CLEANUP_FREE = json_text(value);
    if (json_is_object(value) || json_is_array(value))
        (void)cli_fail(END_USAGE, "%s: %s is no text", document->source, member);
    else
        (void)cli_fail(END_USAGE, "%s: %s: %s is no text: write it in quotes, \"%s\"", document->source,
                       member, text, text);
    return false;
}

static void fail_unknown_member(const struct document *document, const char *name)
{
    json_t *known CLEANUP_JSON = json_array();
    for (size_t i = 0; answered[i]; i++)
        json_append_take(known, json_string(answered[i]));
    char *renamed CLEANUP_FREE = former_name_fault(FORMER_MEMBER, name, known);
    if (renamed) {
        (void)cli_fail(END_USAGE, "%s: %s", document->source, renamed);
        return;
    }
    char *hint CLEANUP_FREE = spec_member_hint(name);
    (void)cli_fail(
        END_USAGE,
        "%s: unknown member '%s'%s; a cluster has name, labels, description, deletion_protection, spec",
        document->source, name, hint);
}

json_t *document_body(const struct document *document, const char **ret_project)
{
    json_t *body CLEANUP_JSON = json_object();
    const char *name;
    json_t *value;
    *ret_project = json_str(document->value, "project");
    json_object_foreach (document->value, name, value) {
        if (is_word_of(sent, name)) {
            (void)json_object_set(body, name, value);
        } else if (!is_word_of(answered, name)) {
            fail_unknown_member(document, name);
            return NULL;
        }
    }
    if (!is_text(document, "name") || !is_text(document, "project"))
        return NULL;
    if (!json_str(body, "name")) {
        (void)cli_fail(END_USAGE, "%s: has no name", document->source);
        return NULL;
    }
    return TAKE_PTR(body);
}

const char *document_project(struct cli *cli, const char *source, const char *named, int *ret_code)
{
    const char *flag = parsed_text(cli->parsed, "project");
    *ret_code = END_OK;
    if (!named)
        return cli_project(cli, ret_code);
    if (!flag || strcmp(named, flag) == 0)
        return named;
    *ret_code = cli_fail(END_USAGE, "%s: names project '%s', --project says '%s'", source, named, flag);
    return NULL;
}
