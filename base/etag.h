/* Entity tags, and the preconditions that name them (HT-16 to HT-21). Pure; any thread. */
#ifndef BASE_ETAG_H
#define BASE_ETAG_H

#include <stdbool.h>
#include <stddef.h>

enum {
    ETAG_BYTES = 64,
    ETAG_SHORT_BYTES = 17, /* a digest beside an id and a version */
    ETAG_LONG_BYTES = 33,  /* a digest alone */
};

/* ---- making them; all are strong ---- */

struct etag_part {
    const void *bytes;
    size_t len;
};
/* Hashes the parts, one after the other, as hex digits. size: ETAG_SHORT_BYTES or ETAG_LONG_BYTES. */
void etag_digest(const struct etag_part *parts, size_t count, char *hex, size_t size);
/* Makes the entity tag, in quotes, of bytes that have no version. */
void etag_of_bytes(const void *bytes, size_t len, char etag[static ETAG_BYTES]);
/* Makes the entity tag of the gzip form: "x" becomes "x-gz". False when the result does not fit. */
bool etag_of_coded(const char *etag, char *coded, size_t size);

/* ---- preconditions ---- */

/* If-Match or If-None-Match as it was sent. */
struct etag_list {
    bool is_any;      /* exactly "*" */
    const char *text; /* NULL: the field is absent */
};

struct preconditions {
    struct etag_list match, none_match;
};

/* Reads the values of the two fields, NULL for an absent field. The result refers to the values. */
struct preconditions preconditions_read(const char *if_match, const char *if_none_match);
/* Returns a copy with its own texts, in one block for free(); NULL when both fields are absent. */
struct preconditions *preconditions_copy(const struct preconditions *p);

/* What preconditions are compared with. */
struct etag_current {
    bool exists;    /* whether that to which "*" refers exists */
    bool any_holds; /* "*" refers to nothing, and always holds */
    /*
     * "" matches no list. A whole entity tag matches itself and the entity tag of its gzip form. A beginning
     * without the closing quote is a version: all entity tags of this version match.
     */
    const char *tag;
};

enum precondition {
    PRECONDITION_HOLDS,
    PRECONDITION_OTHER,   /* If-Match names only other entity tags */
    PRECONDITION_ABSENT,  /* If-Match, and there is nothing that it could name */
    PRECONDITION_EXISTS,  /* If-None-Match: * and it exists */
    PRECONDITION_CURRENT, /* If-None-Match names the current entity tag */
};

/* p: NULL when the request has no preconditions. */
enum precondition preconditions_check(const struct preconditions *p, const struct etag_current *current);

/*
 * Whether the list contains exactly this entity tag; "*" does not match here. A proxy that compresses an
 * answer (nginx's gzip) adds `W/` to the entity tag. Therefore `W/` is ignored, even in If-Match.
 */
bool etag_list_holds(const char *list, const char *etag);

#endif
