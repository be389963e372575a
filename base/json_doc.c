#include "base/json_doc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"

static struct json_doc *doc_of_text(const char *text, size_t len)
{
    struct json_doc *doc = mem_calloc(1, sizeof(*doc) + len + 1);
    doc->len = len;
    memcpy(doc->text, text, len);
    return doc;
}

struct json_doc *json_doc_of_text(const char *text, size_t len)
{
    return len == 4 && !memcmp(text, "null", len) ? NULL : doc_of_text(text, len);
}

struct json_doc *json_doc_new(json_t *value)
{
    if (!value || json_is_null(value)) {
        json_decref(value);
        return NULL;
    }
    char *text CLEANUP_FREE = json_text(value);
    struct json_doc *doc = doc_of_text(text, strlen(text));
    doc->tree = value;
    return doc;
}

void json_doc_free(struct json_doc *doc)
{
    json_doc_rest(doc);
    free(doc);
}

void json_doc_set(struct json_doc **doc, json_t *value)
{
    json_doc_free(*doc);
    *doc = json_doc_new(value);
}

struct json_doc *json_doc_copy(const struct json_doc *doc)
{
    return doc ? doc_of_text(doc->text, doc->len) : NULL;
}

json_t *json_doc_tree(struct json_doc *doc)
{
    if (!doc)
        return NULL;
    if (!doc->tree) {
        doc->tree = json_loadb(doc->text, doc->len, JSON_DECODE_ANY, NULL);
        assert(doc->tree); /* the parse succeeds, because shootd wrote the text */
    }
    return doc->tree;
}

void json_doc_rest(struct json_doc *doc)
{
    if (!doc)
        return;
    json_decref(doc->tree);
    doc->tree = NULL;
}

bool json_doc_equal(struct json_doc *a, struct json_doc *b)
{
    if (a == b)
        return true;
    if (!a || !b)
        return false;
    bool same_text = a->len == b->len && !memcmp(a->text, b->text, a->len);
    return same_text || json_equal(json_doc_tree(a), json_doc_tree(b));
}
