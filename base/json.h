/*
 * Small helpers over jansson: strict parsing of foreign bytes, tolerant reading of foreign members, canonical
 * output. Pure functions; a json_t may be read by several threads once nobody changes it (jansson's rule).
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
 * A look over JSON text before anything is built of it: is it JSON, and how much of it? jansson makes some
 * hundred bytes of each `[]`, so that a text far below a limit of bytes can fill the memory. Linear, without
 * allocation. The bytes in strings are for the parser to judge. See json_scan.c.
 */
struct json_limits {
    size_t bytes;   /* of the text */
    size_t values;  /* in all, containers included, member names not */
    size_t members; /* of one object or array */
};

enum json_scan_end {
    JSON_SCAN_OK,
    JSON_SCAN_MALFORMED,
    JSON_SCAN_TOO_MANY_BYTES,
    JSON_SCAN_TOO_MANY_VALUES,
    JSON_SCAN_TOO_MANY_MEMBERS,
    JSON_SCAN_TOO_DEEP, /* below JSON_MAX_DEPTH levels */
    JSON_SCAN_END_MAX_,
};
/* For people: static text. */
const char *json_scan_text(enum json_scan_end end);

/* One value of any kind, with nothing but blanks around it. */
enum json_scan_end json_scan(const char *bytes, size_t len, const struct json_limits *limits);

/* Goes over the items of an array. The text must have passed json_scan. */
struct json_items {
    const char *at, *end;
};
/* False when the text is no array. */
bool json_items_begin(struct json_items *items, const char *bytes, size_t len);
/* The text of the next item; false after the last one. */
bool json_items_next(struct json_items *items, const char **ret_bytes, size_t *ret_len);

/* Goes over the members of an object in the same way. */
struct json_member {
    const char *name; /* as it is written, without its quotes */
    size_t name_len;
    const char *text; /* of the value */
    size_t len;
};
bool json_members_begin(struct json_items *members, const char *bytes, size_t len);
bool json_members_next(struct json_items *members, struct json_member *ret_member);

struct json_fault {
    char text[160]; /* what is wrong, without the offending bytes */
    int line;
    int column;
};

/*
 * Parses untrusted bytes: objects and arrays only, duplicate names rejected, depth limited.
 * Numbers without a fraction are integers however they are written, as JSON Schema has it: 3.0 becomes 3.
 * NULL on a fault, described in `ret_fault` when that is not NULL. The caller owns the result.
 */
json_t *json_parse_strict(const char *bytes, size_t len, struct json_fault *ret_fault);
/* As above, but any value and duplicates are accepted: for answers of Cleura, which we only read. */
json_t *json_parse_lenient(const char *bytes, size_t len, struct json_fault *ret_fault);

/*
 * As lenient, but looks before anything is built (json_scan): NULL with *ret_end what was too much or
 * wrong; MALFORMED also for text that the parser does not take (no UTF-8, NUL, numbers beyond 64 bits).
 */
json_t *json_parse_foreign(const char *bytes, size_t len, const struct json_limits *limits,
                           enum json_scan_end *ret_end);

/*
 * The same, but one odd value does not make the whole text bad: RFC 8259 lets numbers be of any size, and
 * texts hold lone surrogates. A value that the parser does not take stands in the tree as a number beyond
 * every range, which no reader of a member takes for anything; a member with such a name is left out.
 */
json_t *json_parse_tolerant(const char *bytes, size_t len, const struct json_limits *limits,
                            enum json_scan_end *ret_end);

/* Compact text, members in insertion order; the caller frees it. */
char *json_text(const json_t *value);
/* The same with sorted members: for digests and comparisons. */
char *json_canonical(const json_t *value);

/* Readers that never fail: NULL, the default, when a member is absent, null or of another type. */
const char *json_str(const json_t *object, const char *key);
const char *json_str_or(const json_t *object, const char *key, const char *fallback);
json_t *json_obj(const json_t *object, const char *key);
json_t *json_arr(const json_t *object, const char *key);
bool json_bool(const json_t *object, const char *key, bool fallback);
/* Integers; a real with an integral value and a decimal string count too (v1 sends numbers as strings). */
int64_t json_int(const json_t *object, const char *key, int64_t fallback);

/* Overwrites every string in a document that nobody else refers to: before a secret one is freed. */
void json_wipe(json_t *value);

/* The JSON pointer of a member below the one at `base` ("#" is the whole), escaped (RFC 6901, 3); the caller
 * frees it. */
char *json_pointer_to(const char *base, const char *name);

/* Sets object[key] to a string, or to null when `text` is NULL. */
void json_set_str(json_t *object, const char *key, const char *text);
void json_set_int(json_t *object, const char *key, int64_t value);
void json_set_bool(json_t *object, const char *key, bool value);
/* Takes the reference of `value`; a NULL value becomes null. */
void json_set_take(json_t *object, const char *key, json_t *value);

/*
 * Writes an object as text, member by member, where a tree would only be made to be written. The outermost
 * json_out_begin has no name. NULL becomes null.
 */
struct buffer;
void json_out_begin(struct buffer *out, const char *name);
void json_out_end(struct buffer *out);
void json_out_str(struct buffer *out, const char *name, const char *text);
void json_out_int(struct buffer *out, const char *name, int64_t value);
void json_out_bool(struct buffer *out, const char *name, bool value);
/* `json` is the text of a value. */
void json_out_text(struct buffer *out, const char *name, const char *json);
/* Takes the reference of `value`. */
void json_out_take(struct buffer *out, const char *name, json_t *value);

#endif
