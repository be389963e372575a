/*
 * A look over JSON text before anything is built of it: is it JSON, and how much of it? jansson makes some
 * hundred bytes of each `[]`, so that a text far below a limit of bytes can fill the memory. Linear, without
 * allocation. What bytes stand in strings is for the parser to judge. Pure; any thread.
 */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
