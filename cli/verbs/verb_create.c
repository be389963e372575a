/* The command `create`: a cluster from flags, from a file, or from the defaults of its project. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/input.h"
#include "cli/plan.h"
#include "cli/verbs/verb_change.h"
#include "cli/verbs/verbs.h"

/* The keys of --pool, and the members that they set. */
static const struct {
    const char *word, *member;
    bool is_number;
} pool_words[] = {
    {"type", "machine_type", false},
    {"min", "minimum", true},
    {"max", "maximum", true},
    {"surge", "max_surge", true},
    {"volume", "volume_size_gib", true},
};

static bool set_pool_word(json_t *pool, const char *word, const char *value)
{
    for (size_t i = 0; i < ARRAY_LEN(pool_words); i++) {
        if (strcmp(word, pool_words[i].word) != 0)
            continue;
        size_t digits = strspn(value, "0123456789");
        if (pool_words[i].is_number && (!digits || digits > 9 || value[digits]))
            return false;
        if (pool_words[i].is_number)
            json_set_int(pool, pool_words[i].member, strtoll(value, NULL, 10));
        else
            json_set_str(pool, pool_words[i].member, value);
        return *value != '\0';
    }
    return false;
}

/* Parses "NAME,type=b.2c4gb,min=1,max=3". After a fault, reports it and returns NULL. */
static json_t *pool_of(const char *text)
{
    json_t *pool CLEANUP_JSON = json_object();
    char *copy CLEANUP_FREE = mem_strdup(text), *rest = copy;
    const char *name = strsep(&rest, ",");
    bool good = *name && !strchr(name, '=');
    json_set_str(pool, "name", name);
    for (char *piece; good && (piece = strsep(&rest, ","));) {
        char *equals = strchr(piece, '=');
        if (equals)
            *equals = '\0';
        good = equals && set_pool_word(pool, piece, equals + 1);
    }
    if (good)
        return TAKE_PTR(pool);
    (void)cli_fail(
        END_USAGE,
        "--pool '%s': is not NAME,type=TYPE,min=N,max=N,surge=N,volume=GIB (all but NAME may be left out)",
        text);
    return NULL;
}

static json_t *member_object(json_t *object, const char *name)
{
    if (!json_obj(object, name))
        (void)json_object_set_new(object, name, json_object());
    return json_obj(object, name);
}

static bool add_labels(const struct cli *cli, json_t *body)
{
    const char *text;
    for (size_t n = 0; (text = parsed_nth(cli->parsed, "label", n)); n++) {
        const char *equals = strchr(text, '=');
        if (!equals || equals == text) {
            (void)cli_fail(END_USAGE, "--label '%s': is not NAME=VALUE", text);
            return false;
        }
        char *name CLEANUP_FREE = mem_strndup(text, (size_t)(equals - text));
        json_set_str(member_object(body, "labels"), name, equals + 1);
    }
    return true;
}

static bool add_flags(const struct cli *cli, json_t *body)
{
    const char *version = parsed_text(cli->parsed, "kubernetes-version"), *pool;
    if (version)
        json_set_str(member_object(body, "spec"), "kubernetes_version", version);
    for (size_t n = 0; (pool = parsed_nth(cli->parsed, "pool", n)); n++) {
        json_t *one = pool_of(pool);
        if (!one)
            return false;
        if (n == 0)
            (void)json_object_set_new(member_object(body, "spec"), "node_pools", json_array());
        json_append_take(json_arr(json_obj(body, "spec"), "node_pools"), one);
    }
    if (parsed_text(cli->parsed, "description"))
        json_set_str(body, "description", parsed_text(cli->parsed, "description"));
    if (parsed_on(cli->parsed, "protect"))
        json_set_bool(body, "deletion_protection", true);
    return add_labels(cli, body);
}

/* Uses the project that the document names, in place of the project of the environment or of the context.
 * When --project names another project, reports this fault and returns false. */
static bool take_project(struct cli *cli, const char *path, const char *named)
{
    int code = END_OK;
    if (!document_project(cli, path, named, &code))
        return false;
    mem_set_str(&cli->settings.project.value, named);
    mem_set_str(&cli->settings.project.source, path);
    return true;
}

/* Returns the body from the file of -f. The name of the cluster may be on the command line instead. After a
 * fault, reports it and returns NULL. */
static json_t *body_of_file(struct cli *cli, const char *path, const char *name)
{
    struct input_documents documents;
    const char *project = NULL;
    json_t *body = NULL;
    int code = documents_read(path, &documents);
    if (code == END_OK && documents.count > 1) {
        (void)cli_fail(END_USAGE, "%s: has %zu documents: 'shootctl apply -f' takes several", path,
                       documents.count);
    } else if (code == END_OK) {
        json_t *value = documents.items[0].value;
        const char *own = json_str(value, "name");
        if (name && own && strcmp(own, name) != 0)
            (void)cli_fail(END_USAGE, "%s: is named '%s', the command line says '%s'", path, own, name);
        else if (name)
            json_set_str(value, "name", name);
        if (!name || mem_same_str(json_str(value, "name"), name))
            body = document_body(&documents.items[0], &project);
    }
    if (body && project && !take_project(cli, path, project)) {
        json_decref(body);
        body = NULL;
    }
    documents_done(&documents);
    return body;
}

static json_t *body_of(struct cli *cli)
{
    const char *path = parsed_text(cli->parsed, "file"), *name = cli->parsed->arguments[0];
    json_t *body CLEANUP_JSON = path ? body_of_file(cli, path, name) : json_object();
    if (!path && !name)
        (void)cli_fail(END_USAGE, "'create' needs a NAME, or -f FILE that has one");
    if (!body || (!path && !name))
        return NULL;
    if (name)
        json_set_str(body, "name", name);
    return add_flags(cli, body) ? TAKE_PTR(body) : NULL;
}

int verb_create(struct cli *cli)
{
    int code = cli_connect(cli);
    json_t *body CLEANUP_JSON = code == END_OK ? body_of(cli) : NULL;
    if (code != END_OK || !body)
        return code != END_OK ? code : END_USAGE;
    const char *project = cli_project(cli, &code);
    if (!project)
        return code;
    char *text CLEANUP_FREE = json_text(body), key[KEY_BYTES];
    struct api_target target CLEANUP_TARGET;
    const struct cli_request request = {.body = text, .idempotency_key = change_key(key)};
    api_target_init(&target, API_CREATE, project, NULL, NULL);
    if (parsed_on(cli->parsed, "dry-run"))
        return plan_show(cli, &target, &request, json_str(body, "name"));
    struct changes changes = {.project = project};
    code = change_send(cli, &changes, json_str(body, "name"), &target, &request, "created");
    return changes_finish(cli, &changes, code);
}
