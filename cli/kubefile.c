#include "cli/kubefile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <yaml.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/replace_file.h"
#include "base/yaml_node.h"
#include "cli/files.h"
#include "cli/yaml_in.h"
#include "cli/yaml_out.h"

enum { FILE_MAX_BYTES = 8 * 1024 * 1024, LOCK_TRIES = 100, LOCK_PAUSE_MS = 100 };

/* ---- the document ---- */

static const char *text_of(yaml_document_t *doc, int id)
{
    return node_text(yaml_document_get_node(doc, id));
}

static yaml_node_pair_t *pair_of(yaml_document_t *doc, int map, const char *key)
{
    return node_pair(doc, yaml_document_get_node(doc, map), key);
}

static int add_text(yaml_document_t *doc, const char *text, yaml_scalar_style_t style)
{
    unsigned char *bytes = (unsigned char *)(uintptr_t)text; /* libyaml copies the text */
    int id = yaml_document_add_scalar(doc, NULL, bytes, (int)strlen(text), style);
    if (!id)
        abort();
    return id;
}

static int add_value(yaml_document_t *doc, const json_t *value)
{
    size_t i;
    const char *key;
    json_t *item;
    if (json_is_string(value))
        return add_text(doc, json_string_value(value), YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    if (json_is_boolean(value))
        return add_text(doc, json_is_true(value) ? "true" : "false", YAML_PLAIN_SCALAR_STYLE);
    if (json_is_array(value)) {
        int id = yaml_document_add_sequence(doc, NULL, YAML_BLOCK_SEQUENCE_STYLE);
        json_array_foreach (value, i, item)
            (void)yaml_document_append_sequence_item(doc, id, add_value(doc, item));
        return id;
    }
    int id = yaml_document_add_mapping(doc, NULL, YAML_BLOCK_MAPPING_STYLE);
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        int name = add_text(doc, key, YAML_PLAIN_SCALAR_STYLE);
        (void)yaml_document_append_mapping_pair(doc, id, name, add_value(doc, item));
    }
    return id;
}

static void set_member(yaml_document_t *doc, int map, const char *key, int value)
{
    yaml_node_pair_t *pair = pair_of(doc, map, key);
    if (pair)
        pair->value = value;
    else
        (void)yaml_document_append_mapping_pair(doc, map, add_text(doc, key, YAML_PLAIN_SCALAR_STYLE), value);
}

/* Returns the item of the list that has this name, or NULL. */
static yaml_node_item_t *item_named(yaml_document_t *doc, int list, const char *name)
{
    yaml_node_t *node = yaml_document_get_node(doc, list);
    assert(node && node->type == YAML_SEQUENCE_NODE);
    for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top; i++) {
        yaml_node_pair_t *pair = pair_of(doc, *i, "name");
        if (pair && mem_same_str(text_of(doc, pair->value), name))
            return i;
    }
    return NULL;
}

static bool is_empty_node(yaml_document_t *doc, int id)
{
    const char *text = text_of(doc, id);
    return text && (!*text || strcmp(text, "null") == 0 || strcmp(text, "~") == 0);
}

/* Returns a copy of a scalar; other nodes are returned unchanged. Without the copy, a node that is used twice
 * would be written with an anchor. */
static int copy_of_text(yaml_document_t *doc, int id)
{
    const yaml_node_t *node = yaml_document_get_node(doc, id);
    if (!node || node->type != YAML_SCALAR_NODE)
        return id;
    int copy = yaml_document_add_scalar(doc, node->tag, node->data.scalar.value,
                                        (int)node->data.scalar.length, node->data.scalar.style);
    if (!copy)
        abort();
    return copy;
}

/* Returns a copy of a mapping, which may be changed. (Aliases in the file share the original.) Returns 0 when
 * the node is not a mapping. */
static int copy_of_mapping(yaml_document_t *doc, int map)
{
    yaml_node_t *node = yaml_document_get_node(doc, map);
    if (!node || node->type != YAML_MAPPING_NODE)
        return 0;
    size_t count = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    int copy = yaml_document_add_mapping(doc, NULL, YAML_BLOCK_MAPPING_STYLE);
    if (!copy)
        abort();
    for (size_t i = 0; i < count; i++) {
        yaml_node_pair_t pair = yaml_document_get_node(doc, map)->data.mapping.pairs.start[i];
        int key = copy_of_text(doc, pair.key), value = copy_of_text(doc, pair.value);
        (void)yaml_document_append_mapping_pair(doc, copy, key, value);
    }
    return copy;
}

/* Sets shootctl's members in the mapping `member` of an item. The user's members do not change. */
static void update_item(yaml_document_t *doc, int item, const char *member, const json_t *value)
{
    yaml_node_pair_t *pair = pair_of(doc, item, member);
    int map = pair ? copy_of_mapping(doc, pair->value) : 0;
    const char *key;
    json_t *one;
    if (!map)
        map = yaml_document_add_mapping(doc, NULL, YAML_BLOCK_MAPPING_STYLE);
    json_object_foreach ((json_t *)(uintptr_t)value, key, one) {
        int id = add_value(doc, one);
        set_member(doc, map, key, id);
    }
    set_member(doc, item, member, map);
}

/* Puts {name, member: value} into a list of the root. Returns false when this member of the root is not a
 * list. */
static bool put_entry(yaml_document_t *doc, const char *list_name, const char *name, const char *member,
                      const json_t *value)
{
    int list = 0;
    yaml_node_pair_t *pair = pair_of(doc, 1, list_name);
    if (pair && !is_empty_node(doc, pair->value))
        list = pair->value;
    if (!list) {
        list = yaml_document_add_sequence(doc, NULL, YAML_BLOCK_SEQUENCE_STYLE);
        set_member(doc, 1, list_name, list);
    }
    yaml_node_t *node = yaml_document_get_node(doc, list);
    if (!node || node->type != YAML_SEQUENCE_NODE)
        return false;
    node->data.sequence.style = YAML_BLOCK_SEQUENCE_STYLE;
    yaml_node_item_t *place = item_named(doc, list, name);
    if (place) {
        update_item(doc, *place, member, value);
        return true;
    }
    json_t *object CLEANUP_JSON = json_object();
    json_set_str(object, "name", name);
    (void)json_object_set(object, member, (json_t *)(uintptr_t)value);
    int item = add_value(doc, object);
    (void)yaml_document_append_sequence_item(doc, list, item);
    return true;
}

static void set_if_missing(yaml_document_t *doc, const char *key, const char *text)
{
    if (!pair_of(doc, 1, key))
        set_member(doc, 1, key, add_text(doc, text, YAML_PLAIN_SCALAR_STYLE));
}

static void put_current(yaml_document_t *doc, const struct kube_entry *entry)
{
    yaml_node_pair_t *current = pair_of(doc, 1, "current-context");
    bool empty = !current || is_empty_node(doc, current->value);
    if (entry->current == KUBE_CURRENT_ALWAYS || (entry->current == KUBE_CURRENT_IF_EMPTY && empty))
        set_member(doc, 1, "current-context", add_text(doc, entry->name, YAML_DOUBLE_QUOTED_SCALAR_STYLE));
}

static bool put_all(yaml_document_t *doc, const struct kube_entry *entry)
{
    json_t *context CLEANUP_JSON = json_pack("{s:s,s:s}", "cluster", entry->name, "user", entry->name);
    set_if_missing(doc, "apiVersion", "v1");
    set_if_missing(doc, "kind", "Config");
    yaml_node_t *root = yaml_document_get_node(doc, 1);
    assert(root && root->type == YAML_MAPPING_NODE); /* checked by load */
    root->data.mapping.style = YAML_BLOCK_MAPPING_STYLE;
    bool good = put_entry(doc, "clusters", entry->name, "cluster", entry->cluster) &&
                put_entry(doc, "users", entry->name, "user", entry->user) &&
                put_entry(doc, "contexts", entry->name, "context", context);
    put_current(doc, entry);
    return good;
}

static int on_output(void *ctx, unsigned char *bytes, size_t len)
{
    struct buffer *out = ctx;
    buffer_add(out, bytes, len);
    return !out->overflow;
}

/* Writes the document as text and frees it. */
static bool emit(yaml_document_t *doc, struct buffer *out)
{
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter))
        abort();
    yaml_emitter_set_output(&emitter, on_output, out);
    yaml_emitter_set_width(&emitter, -1);
    yaml_emitter_set_unicode(&emitter, 1);
    doc->start_implicit = doc->end_implicit = 1;
    bool good =
        yaml_emitter_open(&emitter) && yaml_emitter_dump(&emitter, doc) && yaml_emitter_close(&emitter);
    yaml_emitter_delete(&emitter);
    return good && !out->overflow;
}

/* Loads a text with at most one document; an empty text becomes a new mapping. Returns false and writes the
 * reason to `fault` when the text cannot be loaded. */
static bool load(const char *text, size_t len, yaml_document_t *doc, struct buffer *fault)
{
    yaml_parser_t parser;
    yaml_document_t second;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    bool good = yaml_parser_load(&parser, doc);
    if (!good) {
        buffer_printf(fault, "line %zu: %s", parser.problem_mark.line + 1,
                      parser.problem ? parser.problem : "no YAML");
        yaml_parser_delete(&parser);
        return false;
    }
    yaml_node_t *root = yaml_document_get_root_node(doc);
    bool empty = !root || is_empty_node(doc, 1), is_map = root && root->type == YAML_MAPPING_NODE;
    bool more = root && (!yaml_parser_load(&parser, &second) || yaml_document_get_root_node(&second));
    if (root)
        yaml_document_delete(&second);
    good = !more && (empty || is_map);
    if (!good)
        buffer_add_str(fault, "is no kubeconfig: it is not one mapping");
    if (!good || empty)
        yaml_document_delete(doc);
    if (good && empty) {
        if (!yaml_document_initialize(doc, NULL, NULL, NULL, 1, 1))
            abort();
        (void)yaml_document_add_mapping(doc, NULL, YAML_BLOCK_MAPPING_STYLE);
    }
    yaml_parser_delete(&parser);
    return good;
}

/* Appends the text with the entry added. Without `puts_entry` only the current context changes. */
static bool change(const char *text, size_t len, const struct kube_entry *entry, bool puts_entry,
                   struct buffer *out, struct buffer *fault)
{
    yaml_document_t doc;
    if (!load(text, len, &doc, fault))
        return false;
    if (!puts_entry) {
        put_current(&doc, entry);
    } else if (!put_all(&doc, entry)) {
        yaml_document_delete(&doc);
        buffer_add_str(fault, "is no kubeconfig: clusters, users and contexts are lists");
        return false;
    }
    bool good = emit(&doc, out);
    if (!good)
        buffer_add_str(fault, "cannot be written as YAML");
    return good;
}

bool kubefile_merged(const char *text, size_t len, const struct kube_entry *entry, struct buffer *out,
                     struct buffer *fault)
{
    return change(text, len, entry, true, out, fault);
}

void kubefile_write(const struct kube_entry *entry, struct buffer *out)
{
    struct buffer fault CLEANUP_BUFFER;
    buffer_init(&fault, 4096);
    (void)kubefile_merged("", 0, entry, out, &fault);
}

/* ---- reading ---- */

static const json_t *named(const json_t *file, const char *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach (json_arr(file, list), i, item)
        if (name && mem_same_str(json_str(item, "name"), name))
            return item;
    return NULL;
}

json_t *kubefile_cluster(const char *text, size_t len)
{
    struct yaml_fault fault;
    json_t *all CLEANUP_JSON = yaml_read(text, len, &fault);
    const json_t *file = json_array_get(all, 0);
    const json_t *context = json_obj(named(file, "contexts", json_str(file, "current-context")), "context");
    const json_t *cluster = json_obj(named(file, "clusters", json_str(context, "cluster")), "cluster");
    return json_str(cluster, "server") ? json_deep_copy(cluster) : NULL;
}

/* Returns the content of the file; NULL when it is absent, empty or cannot be read. The caller owns it.
 * *ret_is_known: the file was read, or is absent. */
static json_t *content_of(const char *path, bool *ret_is_known)
{
    struct buffer bytes CLEANUP_BUFFER;
    struct yaml_fault fault;
    buffer_init(&bytes, FILE_MAX_BYTES);
    const int error = files_read_regular(path, &bytes);
    *ret_is_known = !error || error == ENOENT;
    if (error || !bytes.len)
        return NULL;
    json_t *all CLEANUP_JSON = yaml_read(bytes.data, bytes.len, &fault);
    *ret_is_known = all != NULL;
    return json_incref(json_array_get(all, 0));
}

static bool has_entry(const json_t *file, const char *name)
{
    return named(file, "contexts", name) || named(file, "clusters", name) || named(file, "users", name);
}

/* The files of KUBECONFIG that decide into which file an entry is written. */
struct found {
    char *with_entry, *with_current, *first_there, *last;
    bool hidden;
    bool may_set_current; /* a file could not be read, and may set a current context */
};

static void look_at_file(struct found *found, const char *path, const char *name)
{
    struct stat st;
    bool is_known;
    json_t *file CLEANUP_JSON = content_of(path, &is_known);
    bool is_there = stat(path, &st) == 0 && S_ISREG(st.st_mode),
         is_current = *json_str_or(file, "current-context", "") != '\0';
    found->may_set_current = found->may_set_current || (is_there && !is_known);
    mem_set_str(&found->last, path);
    if (is_there && !found->first_there)
        mem_set_str(&found->first_there, path);
    if (is_current && !found->with_current)
        mem_set_str(&found->with_current, path);
    if (!has_entry(file, name))
        return;
    found->hidden = found->with_entry != NULL;
    if (!found->with_entry)
        mem_set_str(&found->with_entry, path);
}

static const char *first_of(const char *a, const char *b, const char *c)
{
    return a ? a : b ? b : c;
}

void kubefile_target(const char *path, const char *name, struct kube_target *ret)
{
    const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
    char *copy CLEANUP_FREE = mem_strdup(path || !list ? "" : list), *rest = copy, *one;
    char *usual CLEANUP_FREE = mem_printf("%s/.kube/config", home ? home : "");
    struct found found = {0};
    while ((one = strsep(&rest, ":")))
        if (*one)
            look_at_file(&found, one, name);
    if (!found.last)
        look_at_file(&found, path ? path : usual, name);
    *ret = (struct kube_target){.sets_none = !found.with_current && !found.may_set_current,
                                .hidden = found.hidden};
    ret->path = mem_strdup(first_of(found.with_entry, found.first_there, found.last));
    ret->current = mem_strdup(first_of(found.with_current, found.first_there, found.last));
    assert(ret->path && ret->current);
    free(found.with_entry);
    free(found.with_current);
    free(found.first_there);
    free(found.last);
}

void kube_target_done(struct kube_target *target)
{
    free(target->path);
    free(target->current);
    *target = (struct kube_target){0};
}

/* ---- writing ---- */

static bool says(struct buffer *fault, const char *path, const char *doing, int error)
{
    buffer_printf(fault, "%s: cannot %s: %s", path, doing, strerror(error));
    return false;
}

/* Locks the file with the lock that kubectl also uses. When another process has the lock, kubectl fails at
 * once; shootctl tries for ten seconds. */
static bool take_lock(const char *lock, struct buffer *fault)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
    for (int i = 0; i < LOCK_TRIES; i++) {
        int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0) {
            (void)close(fd);
            return true;
        }
        if (errno != EEXIST)
            return says(fault, lock, "lock", errno);
        (void)nanosleep(&pause, NULL);
    }
    buffer_printf(fault, "%s: kubectl or another shootctl works on the file; when none does, remove this one",
                  lock);
    return false;
}

/* Replaces the file; `path` is absolute or relative, and no link. */
static bool write_new(const char *path, const struct buffer *text, mode_t mode, struct buffer *fault)
{
    char *copy CLEANUP_FREE = mem_strdup(path);
    char *slash = strrchr(copy, '/');
    const char *name = slash ? slash + 1 : copy;
    char *draft CLEANUP_FREE = mem_printf("%s.new-shootctl", name);
    char *parent CLEANUP_FREE = slash ? mem_strndup(path, (size_t)(slash + 1 - copy)) : mem_strdup(".");
    int directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return says(fault, parent, "open", errno);
    const int r = replace_file(directory, name, draft, mode, text->data, text->len);
    (void)close(directory);
    return r == 0 || says(fault, path, "write", -r);
}

static bool keep_old(const char *path, const struct buffer *old, mode_t mode, struct buffer *fault)
{
    char *backup CLEANUP_FREE = mem_printf("%s.before-shootctl", path);
    return write_new(backup, old, mode, fault);
}

static bool change_locked(const char *path, const struct kube_entry *entry, bool puts_entry,
                          struct buffer *fault)
{
    struct buffer old CLEANUP_BUFFER, new CLEANUP_BUFFER, wrong CLEANUP_BUFFER;
    struct stat st;
    buffer_init(&old, FILE_MAX_BYTES);
    buffer_init(&new, FILE_MAX_BYTES + 1024 * 1024);
    buffer_init(&wrong, 4096);
    bool is_there = stat(path, &st) == 0;
    if (is_there && !S_ISREG(st.st_mode)) {
        buffer_printf(fault, "%s: is no regular file, so it is not changed", path);
        return false;
    }
    mode_t mode = is_there ? st.st_mode & 0777 : 0600;
    int error = is_there ? files_read_regular(path, &old) : 0;
    if (error)
        return says(fault, path, "read", error);
    if (!change(old.data ? old.data : "", old.len, entry, puts_entry, &new, &wrong)) {
        buffer_printf(fault, "%s: %s", path, wrong.data);
        return false;
    }
    return (!old.len || keep_old(path, &old, mode, fault)) && write_new(path, &new, mode, fault);
}

static void make_directory_of(const char *path)
{
    char *copy CLEANUP_FREE = mem_strdup(path);
    char *slash = strrchr(copy, '/');
    if (!slash || slash == copy)
        return;
    *slash = '\0';
    (void)files_make_directory(copy); /* a failure is reported when the file is opened */
}

static bool change_file(const char *path, const struct kube_entry *entry, bool puts_entry,
                        struct buffer *fault)
{
    struct stat st;
    make_directory_of(path);
    char *real CLEANUP_FREE = realpath(path, NULL);
    if (!real && lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return says(fault, path, "follow the link", errno);
    const char *target = real ? real : path;
    char *lock CLEANUP_FREE = mem_printf("%s.lock", path);
    if (!take_lock(lock, fault))
        return false;
    bool good = change_locked(target, entry, puts_entry, fault);
    (void)unlink(lock);
    return good;
}

bool kubefile_merge(const struct kube_target *target, const struct kube_entry *entry, struct buffer *fault)
{
    assert(target->path && target->current);
    bool together = strcmp(target->path, target->current) == 0;
    bool stays = entry->current == KUBE_CURRENT_IF_EMPTY && !target->sets_none;
    struct kube_entry first = *entry;
    if (stays || !together)
        first.current = KUBE_CURRENT_NEVER;
    return change_file(target->path, &first, true, fault) &&
           (stays || together || change_file(target->current, entry, false, fault));
}
