#include "view/cluster_facts.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/issues.h"
#include "model/spec.h"

static int64_t version_number(const char *version)
{
    enum { PARTS = 3, PART_MAX = 999999 };
    int64_t number = 0;
    for (int i = 0; i < PARTS; i++) {
        char *end;
        unsigned long part = strtoul(version, &end, 10);
        number = number * (PART_MAX + 1) + (int64_t)(part < PART_MAX ? part : PART_MAX);
        version = *end == '.' ? end + 1 : "";
    }
    return number;
}

/* Appends a separator and the text in lower case. UTF-8 never contains this separator, so that a searched
 * text cannot match the end of one text and the beginning of the next. */
static void add_search_line(struct buffer *out, const char *text)
{
    if (!text)
        return;
    buffer_add_str(out, FACTS_SEPARATOR);
    const size_t from = out->len;
    buffer_add_str(out, text);
    for (char *p = out->data + from; *p; p++)
        *p = (char)tolower((unsigned char)*p);
}

static void add_search(struct buffer *out, const struct cluster *c)
{
    const char *key;
    json_t *value;
    add_search_line(out, c->name);
    add_search_line(out, c->project);
    add_search_line(out, c->description);
    json_object_foreach (c->labels, key, value) {
        add_search_line(out, key);
        add_search_line(out, json_string_value(value));
    }
    buffer_add(out, "", 1);
}

static void add_images(struct buffer *out, const struct shoot *s)
{
    for (char **text = s ? s->images : NULL; text && *text; text++) {
        buffer_add_str(out, *text);
        buffer_add_str(out, FACTS_SEPARATOR);
    }
    buffer_add(out, "", 1);
}

/* Appends a text with its NUL; returns where it begins. */
static size_t add_text(struct buffer *out, const char *text)
{
    const size_t at = out->len;
    buffer_add(out, text, strlen(text) + 1);
    return at;
}

/*
 * Whether a document contains `member`, a name with its value as JSON text. The text of the document is
 * searched, because the document may have no tree. No string of the document can contain `member`, because
 * quotes in a string are escaped.
 */
static bool has_member(const struct json_doc *doc, const char *member)
{
    return doc && strstr(doc->text, member);
}

static void set_flags(struct cluster_facts *f, const struct cluster *c)
{
    const struct json_doc *observed = c->shoot ? c->shoot->observed : NULL;
    f->phase = c->phase;
    f->health = c->health;
    f->managed = c->managed;
    f->stale = c->stale;
    f->settling = c->settling;
    f->is_drifted = json_array_size(c->drift) > 0;
    f->upstream_exists = c->upstream_exists;
    f->updates_kubernetes = has_member(observed, "\"auto_update_kubernetes\":true");
    f->updates_images = has_member(observed, "\"auto_update_machine_image\":true");
    f->created_at = c->created_at;
    f->updated_at = c->updated_at;
    f->expires_at = c->expires_at;
}

struct cluster_facts *cluster_facts_new(const struct cluster *c, const json_t *prepared,
                                        const struct trouble *trouble, bool is_unread)
{
    assert(c->project && c->name);
    const struct shoot *s = c->shoot;
    const char *version = s && s->kubernetes_version ? s->kubernetes_version : "";
    char line[VERSION_LINE_BYTES] = "unknown";
    if (*version)
        version_minor(version, line);
    struct buffer texts CLEANUP_BUFFER;
    buffer_init(&texts, SIZE_MAX);
    const size_t project = add_text(&texts, c->project), name = add_text(&texts, c->name);
    const size_t number = add_text(&texts, version), minor = add_text(&texts, line);
    const size_t issues = texts.len;
    if (prepared) {
        json_write(&texts, prepared);
        buffer_add(&texts, "", 1);
    }
    const size_t images = texts.len;
    add_images(&texts, s);
    const size_t search = texts.len;
    add_search(&texts, c);
    struct cluster_facts *f = mem_calloc(1, sizeof(*f) + texts.len);
    memcpy(f->texts, texts.data, texts.len);
    set_flags(f, c);
    f->is_unread = is_unread;
    f->trouble = *trouble;
    f->version_number = version_number(version);
    /* A separate copy, because many threads read it, and these threads must not change the reference counts
     * of the loop's objects. */
    f->labels = json_object_size(c->labels) ? json_deep_copy(c->labels) : NULL;
    f->project = f->texts + project;
    f->name = f->texts + name;
    f->version = f->texts + number;
    f->version_line = f->texts + minor;
    f->search = f->texts + search;
    f->images = f->texts + images;
    f->issues = prepared ? f->texts + issues : NULL;
    return f;
}

void cluster_facts_free(struct cluster_facts *f)
{
    json_decref(f->labels);
    free(f);
}

/* ---- issues ---- */

/* Returns the images in the form of struct shoot, in one block that the caller frees. */
static char **images_of(const struct cluster_facts *f)
{
    const size_t len = strlen(f->images) + 1;
    size_t count = 0;
    for (const char *c = f->images; *c; c++)
        count += *c == FACTS_SEPARATOR[0];
    char **images = mem_calloc(1, (count + 1) * sizeof(*images) + len);
    char *rest = memcpy(images + count + 1, f->images, len);
    for (size_t i = 0; i < count; i++)
        images[i] = strsep(&rest, FACTS_SEPARATOR);
    return images;
}

json_t *cluster_issues(const struct view_blob *blob, const json_t *catalog, wall_us now)
{
    const struct cluster_facts *f = cluster_facts_of(blob);
    char **images CLEANUP_FREE = images_of(f);
    const struct issue_facts facts = {.prepared = f->issues,
                                      .project = f->project,
                                      .name = f->name,
                                      .phase = f->phase,
                                      .managed = f->managed,
                                      .is_unread = f->is_unread,
                                      .updates_kubernetes = f->updates_kubernetes,
                                      .updates_images = f->updates_images,
                                      .kubernetes_version = *f->version ? f->version : NULL,
                                      .images = images,
                                      .observed_at = view_blob_seen_at(blob)};
    return issues_of(&facts, catalog, now);
}
