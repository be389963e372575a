/*
 * A JSON value that is kept for long and read seldom: it rests as compact text, a fifth of what its tree
 * takes, and is parsed when somebody reads it. The value never changes. One thread owns it, also for reading:
 * a read builds the tree. All functions take NULL for "no value".
 */
#ifndef BASE_JSON_DOC_H
#define BASE_JSON_DOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

struct json_doc {
    json_t *tree; /* NULL: it rests */
    size_t len;
    char text[]; /* compact, members in insertion order; NUL-terminated */
};

/* Takes the reference; NULL and null make no document. The tree is there until json_doc_rest. */
struct json_doc *json_doc_new(json_t *value);
/* One that rests; `text` is known to be compact JSON, for we wrote it. A null makes no document. */
struct json_doc *json_doc_of_text(const char *text, size_t len);
void json_doc_free(struct json_doc *doc);
/* Frees *doc and puts one of `value` there, as json_doc_new. */
void json_doc_set(struct json_doc **doc, json_t *value);
/* A copy that rests. Shares nothing with its source. */
struct json_doc *json_doc_copy(const struct json_doc *doc);
/* The value, lent until json_doc_rest or json_doc_free; NULL of NULL. Not to be changed. */
json_t *json_doc_tree(struct json_doc *doc);
/* Frees the tree: what json_doc_tree lent is gone. */
void json_doc_rest(struct json_doc *doc);
/* The same value, in whatever order its members are. */
bool json_doc_equal(struct json_doc *a, struct json_doc *b);

#endif
