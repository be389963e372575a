/*
 * Small functions for jansson: strict parsing of bytes from a peer, readers that tolerate wrong members,
 * canonical output. Pure functions. Several threads may read a json_t when no thread changes it any more
 * (jansson's rule).
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"

enum { JSON_MAX_DEPTH = 64 };

/* json_t *doc CLEANUP_JSON = ...; */
#define CLEANUP_JSON CLEANUP(json_decrefp)

/*
 * Checks a text before the parser allocates memory: whether it is JSON, and how many values it has. jansson
 * allocates some hundred bytes for each `[]`, so a text that is much shorter than its limit could fill the
 * memory. The check takes linear time and allocates nothing. It does not check the bytes inside strings; the
 * parser does. See json_scan.c.
 */
struct json_limits {
    size_t bytes;   /* limit of the length of the text */
    size_t values;  /* limit of values in the whole text; containers count, member names do not */
    size_t members; /* limit of members in one object or array */
};

enum json_scan_end {
    JSON_SCAN_OK,
    JSON_SCAN_MALFORMED,
    JSON_SCAN_TOO_MANY_BYTES,
    JSON_SCAN_TOO_MANY_VALUES,
    JSON_SCAN_TOO_MANY_MEMBERS,
    JSON_SCAN_TOO_DEEP, /* the text has more than JSON_MAX_DEPTH nested levels */
    JSON_SCAN_END_MAX_,
};
/* Returns a static text for messages to people. */
const char *json_scan_text(enum json_scan_end end);

/* Checks a text that is one value of any kind. Before and after the value only white space is allowed. */
enum json_scan_end json_scan(const char *bytes, size_t len, const struct json_limits *limits);

/* Iterates over the items of an array. The text must have passed json_scan. */
struct json_items {
    const char *at, *end;
};
/* Begins with the first item; false when the text is not an array. */
bool json_items_begin(struct json_items *items, const char *bytes, size_t len);
/* Gets the text of the next item; false after the last item. */
bool json_items_next(struct json_items *items, const char **ret_bytes, size_t *ret_len);

/* Iterates over the members of an object in the same way. */
struct json_member {
    const char *name; /* as written in the text, without its quotes */
    size_t name_len;
    const char *text; /* the text of the value */
    size_t len;
};
bool json_members_begin(struct json_items *members, const char *bytes, size_t len);
bool json_members_next(struct json_items *members, struct json_member *ret_member);

struct json_fault {
    char text[160]; /* describes the fault, without the offending bytes */
    int line;
    int column;
};

/*
 * Parses untrusted bytes: accepts objects and arrays only, rejects duplicate names, limits the depth. Every
 * number without a fraction becomes an integer, as in JSON Schema: 3.0 becomes 3. On a fault returns NULL,
 * and describes the fault in `ret_fault` unless `ret_fault` is NULL. The caller owns the result.
 */
json_t *json_parse_strict(const char *bytes, size_t len, struct json_fault *ret_fault);
/* Does the same as json_parse_strict, but accepts any value and duplicate names. Used for answers of Cleura,
 * which shootd only reads. */
json_t *json_parse_lenient(const char *bytes, size_t len, struct json_fault *ret_fault);

/*
 * Does the same as json_parse_lenient, but first checks the text with json_scan, and skips a byte order mark
 * at its beginning. On a fault returns NULL,
 * with the reason in *ret_end. The reason is MALFORMED also for a text that the parser does not accept (not
 * UTF-8, NUL, numbers with more than 64 bits).
 */
json_t *json_parse_foreign(const char *bytes, size_t len, const struct json_limits *limits,
                           enum json_scan_end *ret_end);

/*
 * Does the same as json_parse_foreign, but accepts a text in which the parser does not accept some of the
 * values. RFC 8259 allows numbers of any size, and strings can contain lone surrogates. Each such value
 * becomes a number outside every range. The functions that read members do not accept such a number. A member
 * whose name the parser does not accept is omitted.
 */
json_t *json_parse_tolerant(const char *bytes, size_t len, const struct json_limits *limits,
                            enum json_scan_end *ret_end);

/* Returns compact text, with the members in insertion order. The caller frees it. */
char *json_text(const json_t *value);
struct buffer;
/* Appends the text that json_text returns. */
void json_write(struct buffer *out, const json_t *value);
/* Does the same as json_text, but sorts the members: for digests and comparisons. */
char *json_canonical(const json_t *value);

/* These readers never fail. They return NULL or the default when a member is absent, null or of another
 * type. */
const char *json_str(const json_t *object, const char *key);
const char *json_str_or(const json_t *object, const char *key, const char *fallback);
json_t *json_obj(const json_t *object, const char *key);
json_t *json_arr(const json_t *object, const char *key);
bool json_bool(const json_t *object, const char *key, bool fallback);
/* Reads an integer, a real with an integral value, or a decimal string (generation 1 of Cleura's API sends
 * some numbers as strings). */
int64_t json_int(const json_t *object, const char *key, int64_t fallback);

/* Overwrites every string in a document. The caller has the only reference. Used for a secret document before
 * it is freed. */
void json_wipe(json_t *value);

/* Returns the escaped JSON pointer (RFC 6901, 3) of a member below the pointer `base` ("#" is the whole
 * document). The caller frees it. */
char *json_pointer_to(const char *base, const char *name);

/* Sets object[key] to a string, or to null when `text` is NULL. */
void json_set_str(json_t *object, const char *key, const char *text);
void json_set_int(json_t *object, const char *key, int64_t value);
void json_set_bool(json_t *object, const char *key, bool value);
/* Appends to the array, and takes over the reference of `value`; NULL appends nothing. */
void json_append_take(json_t *array, json_t *value);
/* Takes over the reference of `value`; a NULL value becomes null. */
void json_set_take(json_t *object, const char *key, json_t *value);

/*
 * Writes an object as text, member by member. With these functions, an object that is only written needs no
 * tree. The outermost object and the items of an array have no name; a comma is written before an object
 * that follows another object. NULL becomes null.
 */
void json_out_begin(struct buffer *out, const char *name);
void json_out_end(struct buffer *out);
/* An array of objects. */
void json_out_array_begin(struct buffer *out, const char *name);
void json_out_array_end(struct buffer *out);
void json_out_str(struct buffer *out, const char *name, const char *text);
void json_out_int(struct buffer *out, const char *name, int64_t value);
void json_out_bool(struct buffer *out, const char *name, bool value);
/* `json` is the JSON text of the value. */
void json_out_text(struct buffer *out, const char *name, const char *json);
void json_out_value(struct buffer *out, const char *name, const json_t *value);
/* Takes over the reference of `value`. */
void json_out_take(struct buffer *out, const char *name, json_t *value);

#endif
