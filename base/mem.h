/*
 * Memory. Running out of memory ends the process in one place (systemd restarts it; nothing that was
 * acknowledged is lost, promise 1). Whatever a peer can size goes through struct buffer, which is bounded.
 * All functions: any thread; the caller owns what is returned and releases it with free().
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/attrs.h"

/* Zeroed memory for `count` items of `size` bytes; aborts when there is none. */
void *mem_calloc(size_t count, size_t size);
/* As realloc for an array, overflow-checked; aborts when there is none. */
void *mem_realloc_array(void *old, size_t count, size_t size);
/* Copies; NULL stays NULL. */
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t len);
void *mem_dup(const void *bytes, size_t len);
/* Puts a copy in place of what `target` holds, which is freed; the text may be a part of it. NULL is allowed.
 */
void mem_set_str(char **target, const char *text);
/* Equal, or both NULL. */
bool mem_same_str(const char *a, const char *b);
/* Formatted copy. */
char *mem_printf(const char *format, ...) ATTR_PRINTF(1, 2);
/* Frees after overwriting the string: for secrets. NULL is allowed. */
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
