/*
 * Allocates memory. When there is no memory, these functions abort the process. systemd restarts it, and no
 * acknowledged change is lost. Data whose size a peer can choose is stored in struct buffer, which has a
 * limit. All functions: any thread; the caller owns the result and releases it with free().
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/attrs.h"

/* Allocates zeroed memory for `count` items of `size` bytes; aborts when there is no memory. */
void *mem_calloc(size_t count, size_t size);
/* Does the same as realloc, but for an array and with a check for overflow; aborts when there is no
 * memory. */
void *mem_realloc_array(void *old, size_t count, size_t size);
/* Copies the text; NULL for NULL. */
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t len);
void *mem_dup(const void *bytes, size_t len);
/* Frees the string in `target` and stores a copy of the text there. The text may be a part of the old string.
 * NULL is allowed. */
void mem_set_str(char **target, const char *text);
/* True when both texts are equal, or both NULL. */
bool mem_same_str(const char *a, const char *b);
/* Returns a formatted text. */
char *mem_printf(const char *format, ...) ATTR_PRINTF(1, 2);
/* Overwrites a secret and frees it. NULL is allowed. */
void mem_free_secret(char *text);

#define MEM_NEW(type) ((type *)mem_calloc(1, sizeof(type)))

static inline void mem_cleanup_free(void *p)
{
    free(*(void **)p);
}

/* char *CLEANUP_FREE text = ...; */
#define CLEANUP_FREE CLEANUP(mem_cleanup_free)

static inline void mem_cleanup_secret(char **p)
{
    mem_free_secret(*p);
}
#define CLEANUP_SECRET CLEANUP(mem_cleanup_secret)

#endif
