/* Entity tags and preconditions (HT-16 to HT-19). Pure. */
#ifndef API_CONDITIONAL_H
#define API_CONDITIONAL_H

#include <stdbool.h>
#include <stddef.h>

enum { ETAG_DIGEST_BYTES = 40 };

/* The quoted, strong tag of bytes that have no version of their own (HT-21). */
void etag_of_bytes(const void *bytes, size_t len, char etag[static ETAG_DIGEST_BYTES]);

enum condition { CONDITION_PASS, CONDITION_NOT_MODIFIED, CONDITION_FAILED };

/* Whether a list of entity tags names `etag`; "*" names every one. Weak or strong comparison. */
bool etag_list_matches(const char *list, const char *etag, bool weak);
/* The list is exactly "*". */
bool etag_list_is_any(const char *list);
/* What a GET or HEAD of a resource with this tag comes to; NULL for an absent field. */
enum condition condition_of_read(const char *if_match, const char *if_none_match, const char *etag);

#endif
