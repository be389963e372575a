/*
 * A JSON value that is stored for long and read seldom. It is stored as compact text: the text has a fifth of
 * the size of the tree. The first read parses the text into the tree. The value never changes. One thread
 * owns it, also for reading, because a read builds the tree. All functions accept NULL for "no value".
 */
#ifndef BASE_JSON_DOC_H
#define BASE_JSON_DOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

struct json_doc {
    json_t *tree; /* NULL: only the text is stored */
    size_t len;
    char text[]; /* compact text with the members in insertion order; NUL-terminated */
};

/* Makes a document and takes over the reference of `value`. Returns NULL when `value` is NULL or null. The
 * tree exists until json_doc_rest. */
struct json_doc *json_doc_new(json_t *value);
/* Makes a document without a tree. `text` is compact JSON that shootd wrote. Returns NULL for the text
 * null. */
struct json_doc *json_doc_of_text(const char *text, size_t len);
void json_doc_free(struct json_doc *doc);
/* Frees *doc and stores the result of json_doc_new(value) there. */
void json_doc_set(struct json_doc **doc, json_t *value);
/* Copies the document without its tree. The copy shares no memory with its source. */
struct json_doc *json_doc_copy(const struct json_doc *doc);
/* Returns the value, which stays valid until json_doc_rest or json_doc_free; NULL for NULL. The caller must
 * not change the value. */
json_t *json_doc_tree(struct json_doc *doc);
/* Frees the tree. Values that json_doc_tree returned are then invalid. */
void json_doc_rest(struct json_doc *doc);
/* True when the values are equal; the order of members does not matter. */
bool json_doc_equal(struct json_doc *a, struct json_doc *b);

#endif
