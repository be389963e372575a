/*
 * Reads a stored cluster from its text. Most of the text consists of documents, which stay text in memory and
 * are copied without parsing. Only the rest, a tenth, is parsed into a tree.
 */
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "model/cluster.h"

struct cluster_documents {
    struct json_doc *spec, *observed, *conditions, *constraints, *last_errors;
};

struct cut {
    const char *name;
    struct json_doc **place;
};

static void documents_done(struct cluster_documents *d)
{
    json_doc_free(d->spec);
    json_doc_free(d->observed);
    json_doc_free(d->conditions);
    json_doc_free(d->constraints);
    json_doc_free(d->last_errors);
}
#define CLEANUP_DOCUMENTS CLEANUP(documents_done)

static bool member_is(const struct json_member *m, const char *name)
{
    return m->name_len == strlen(name) && !memcmp(m->name, name, m->name_len);
}

static bool is_cut(const struct json_member *m, const struct cut *cuts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!member_is(m, cuts[i].name))
            continue;
        json_doc_free(*cuts[i].place);
        *cuts[i].place = json_doc_of_text(m->text, m->len);
        return true;
    }
    return false;
}

static void add_name(struct buffer *rest, const struct json_member *m)
{
    const char *before = rest->data[rest->len - 1] == '{' ? "\"" : ",\"";
    buffer_add_str(rest, before);
    buffer_add(rest, m->name, m->name_len);
    buffer_add(rest, "\":", 2);
}

/* Appends the shoot without its documents. */
static void cut_shoot(const struct json_member *shoot, struct cluster_documents *d, struct buffer *rest)
{
    const struct cut cuts[] = {{"observed", &d->observed},
                               {"conditions", &d->conditions},
                               {"constraints", &d->constraints},
                               {"last_errors", &d->last_errors}};
    struct json_items members;
    struct json_member m;
    if (!json_members_begin(&members, shoot->text, shoot->len)) {
        /* the shoot is JSON null: it has no documents to cut */
        buffer_add(rest, shoot->text, shoot->len);
        return;
    }
    buffer_add_str(rest, "{");
    while (json_members_next(&members, &m)) {
        if (is_cut(&m, cuts, ARRAY_LEN(cuts)))
            continue;
        add_name(rest, &m);
        buffer_add(rest, m.text, m.len);
    }
    buffer_add_str(rest, "}");
}

static void cut_cluster(const char *text, size_t len, struct cluster_documents *d, struct buffer *rest)
{
    const struct cut spec = {"spec", &d->spec};
    struct json_items members;
    struct json_member m;
    buffer_add_str(rest, "{");
    for (bool more = json_members_begin(&members, text, len); more && json_members_next(&members, &m);) {
        if (is_cut(&m, &spec, 1))
            continue;
        add_name(rest, &m);
        if (member_is(&m, "shoot"))
            cut_shoot(&m, d, rest);
        else
            buffer_add(rest, m.text, m.len);
    }
    buffer_add_str(rest, "}");
}

struct cluster *cluster_from_text(const char *text, size_t len)
{
    struct cluster_documents d CLEANUP_DOCUMENTS = {0};
    struct buffer rest CLEANUP_BUFFER;
    buffer_init(&rest, SIZE_MAX);
    cut_cluster(text, len, &d, &rest);
    json_t *doc CLEANUP_JSON = json_loadb(rest.data, rest.len, 0, NULL);
    const json_t *shoot = json_obj(doc, "shoot");
    struct cluster *c = doc && (!shoot || json_obj(shoot, "brief")) ? cluster_from_json(doc) : NULL;
    if (!c)
        return NULL;
    c->spec = TAKE_PTR(d.spec);
    if (c->shoot) {
        c->shoot->observed = TAKE_PTR(d.observed);
        c->shoot->conditions = TAKE_PTR(d.conditions);
        c->shoot->constraints = TAKE_PTR(d.constraints);
        c->shoot->last_errors = TAKE_PTR(d.last_errors);
    }
    return c;
}
