/* Rows of a list that came before. Runs on the worker. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "upstream/wire/generation_private.h"

void row_digest(const char *text, size_t len, uint8_t ret_digest[static ROW_DIGEST_BYTES])
{
    (void)crypto_generichash(ret_digest, ROW_DIGEST_BYTES, (const unsigned char *)text, len, NULL, 0);
}

/* The digest is the first member. */
static int by_digest(const void *left, const void *right)
{
    return memcmp(left, right, ROW_DIGEST_BYTES);
}

const struct known_row *known_rows_find(struct known_rows *known, const uint8_t *digest)
{
    if (!known || !known->count)
        return NULL;
    if (!known->is_sorted)
        qsort(known->rows, known->count, sizeof(known->rows[0]), by_digest);
    known->is_sorted = true;
    return bsearch(digest, known->rows, known->count, sizeof(known->rows[0]), by_digest);
}
