/*
 * The target of a request. The path is split into segments without allocation. The query is read by a table
 * of names and kinds; an operation accepts some of these names. All faults are reported at once (HT-4),
 * including unknown names (HT-38). Pure, except for libmicrohttpd's data.
 */
#ifndef HTTP_MESSAGE_TARGET_H
#define HTTP_MESSAGE_TARGET_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/json.h"

/* ---- the path ---- */

enum { PATH_MAX_SEGMENTS = 8 };

struct path_segments {
    const char *items[PATH_MAX_SEGMENTS]; /* the decoded segments */
    unsigned count; /* the number of segments; 1 for "/", with an empty item; 0: there are too many */
};

/* Returns the path of a target in origin-form, or in absolute-form without its authority; NULL for any other
 * form. The result points into `target`. */
const char *path_of_target(const char *target);
/* Splits a path, in place. Returns the fault of the path; NULL when it is valid. */
const char *path_split(char *path, struct path_segments *ret);
/* Decodes %xx in place; false for bad escapes, NUL and bytes that are not UTF-8. */
bool percent_decode(char *text);

/* ---- the query ---- */

enum query_kind {
    QUERY_TEXT,
    QUERY_NUMBER,  /* a number; a value out of range is a fault */
    QUERY_CLAMPED, /* a number; a value above the maximum becomes the maximum */
    QUERY_BOOL,    /* true or false; an empty value means true */
    QUERY_ENUM,    /* one or more names, separated by commas or given several times; see `single` */
    QUERY_FLAG,    /* a flag that is set by any value */
    QUERY_TIME,    /* a time (query_time) */
    QUERY_PAST,    /* a time in the past (query_past) */
};

/* For enums, `max` is the number of values; for texts the limit of bytes, 0: 512. */
struct query_rule {
    const char *name;
    enum query_kind kind;
    int64_t min, max, fallback;
    int (*from_name)(const char *name);
    const char *(*to_name)(int value);
    /* For texts: returns NULL or the fault, which the caller frees; may also return the valid values. */
    char *(*check)(const char *text, json_t **ret_valid);
    bool repeats; /* for texts: the parameter may be given several times */
    bool single;  /* for enums: only one name is accepted, because several names have no meaning together */
};

enum { QUERY_MAX_RULES = 48 };

/* The given values, by the index of their rule. */
struct query_values {
    char *texts[QUERY_MAX_RULES]; /* the decoded texts; NULL: the parameter is absent; the texts of a repeated
                                   * parameter are joined by commas */
    int64_t numbers[QUERY_MAX_RULES]; /* the values of numbers, booleans and times (wall_us); for enums a set
                                       * of bits */
    bool given[QUERY_MAX_RULES];
    bool has_texts; /* one of `texts` may be set */
};

struct problem;

/*
 * Refuses queries that might fill the connection's memory, in which libmicrohttpd stores a record of each
 * parameter. When that memory is full, the library continues with a request that it has already answered, and
 * reports nothing. Called before the query is parsed. Returns the problem, which the caller owns, or NULL.
 */
struct problem *query_refuse_target(const char *target);
/*
 * Decodes and checks a query against the rules whose bits are in `known`; *ret must be zero. Returns NULL, or
 * a problem that the caller owns.
 */
struct problem *query_read(struct MHD_Connection *mhd, const struct query_rule *rules, unsigned rule_count,
                           uint64_t known, wall_us now, struct query_values *ret);
void query_done(struct query_values *values);
/* Reads a time: RFC 3339, a date (its beginning in UTC), or days from now ("30d"). */
bool query_time(const char *text, wall_us now, wall_us *ret);
/* Reads a time in the past: RFC 3339, a date, or how long ago it was ("90s", "15m", "24h", "7d"). */
bool query_past(const char *text, wall_us now, wall_us *ret);

#endif
