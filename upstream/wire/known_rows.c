/* Rows that came in an earlier list: a hash table by digest. The loop thread fills it, the worker reads
 * it. */
#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "upstream/wire/driver_private.h"

struct known_rows {
    size_t count, most;
    size_t slot_count; /* a power of two, at least twice `most` */
    uint32_t *slots;   /* index of a row, counted from 1, or 0 for a free slot; in memory after the rows */
    struct known_row rows[];
};

void row_digest(const char *text, size_t len, uint8_t ret_digest[static ROW_DIGEST_BYTES])
{
    (void)crypto_generichash(ret_digest, ROW_DIGEST_BYTES, (const unsigned char *)text, len, NULL, 0);
}

struct known_rows *known_rows_new(size_t most)
{
    size_t slot_count = 1;
    assert(most < UINT32_MAX / 2);
    while (slot_count < 2 * most + 1)
        slot_count *= 2;
    struct known_rows *known =
        mem_calloc(1, sizeof(*known) + most * sizeof(known->rows[0]) + slot_count * sizeof(known->slots[0]));
    known->most = most;
    known->slot_count = slot_count;
    known->slots = (void *)(known->rows + most);
    return known;
}

/* Returns the slot of the digest, or the free slot where it would be stored. */
static uint32_t *slot_of(const struct known_rows *known, const uint8_t *digest)
{
    size_t i;
    memcpy(&i, digest, sizeof(i)); /* any bytes of a digest are a good hash */
    for (;; i++) {
        uint32_t *slot = &known->slots[i & (known->slot_count - 1)];
        if (!*slot || !memcmp(known->rows[*slot - 1].digest, digest, ROW_DIGEST_BYTES))
            return slot;
    }
}

void known_rows_add(struct known_rows *known, const uint8_t digest[static ROW_DIGEST_BYTES], const char *name)
{
    struct known_row *row = &known->rows[known->count];
    uint32_t *slot = slot_of(known, digest);
    assert(known->count < known->most);
    if (strlen(name) >= sizeof(row->name) || *slot)
        return;
    memcpy(row->digest, digest, sizeof(row->digest));
    memcpy(row->name, name, strlen(name) + 1);
    *slot = (uint32_t)++known->count;
}

const struct known_row *known_rows_find(const struct known_rows *known, const uint8_t *digest)
{
    const uint32_t *slot = known ? slot_of(known, digest) : NULL;
    return slot && *slot ? &known->rows[*slot - 1] : NULL;
}
