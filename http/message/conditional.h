/* Entity tags and preconditions (HT-16 to HT-19). Pure. */
#ifndef HTTP_MESSAGE_CONDITIONAL_H
#define HTTP_MESSAGE_CONDITIONAL_H

#include <stdbool.h>
#include <stddef.h>

enum { ETAG_DIGEST_BYTES = 40 };

/* Makes the strong entity tag, in quotes, of bytes that have no version (HT-21). */
void etag_of_bytes(const void *bytes, size_t len, char etag[static ETAG_DIGEST_BYTES]);

enum condition { CONDITION_PASS, CONDITION_NOT_MODIFIED, CONDITION_FAILED };

/*
 * Whether a list of entity tags contains `etag`, plain or as the entity tag of its gzip form; "*" contains
 * every entity tag. All entity tags of shootd are strong. A proxy that compresses an answer (nginx's gzip)
 * adds `W/` to the entity tag. Therefore `W/` is ignored, even in If-Match.
 */
bool etag_list_matches(const char *list, const char *etag);
/* Whether the list contains exactly this entity tag; "*" does not match here. */
bool etag_list_holds(const char *list, const char *etag);
/* Makes the entity tag of the gzip form: "x" becomes "x-gz" (HT-21). False when the result does not fit. */
bool etag_of_coded(const char *etag, char *coded, size_t size);
/* Whether the list is exactly "*". */
bool etag_list_is_any(const char *list);
/* Decides the condition of a GET or HEAD of a resource with this entity tag. The caller passes NULL for an
 * absent field. */
enum condition condition_of_read(const char *if_match, const char *if_none_match, const char *etag);
/* Decides the condition of a write of a resource with this entity tag; the result is never
 * CONDITION_NOT_MODIFIED. An `etag` of "" means that the resource exists and has no entity tag. */
enum condition condition_of_write(const char *if_match, const char *if_none_match, const char *etag);

#endif
