#include "api/coded_lengths.h"

#define LENGTH_MASK ((UINT64_C(1) << CODED_LENGTH_BITS) - 1)

/* The lower bits, which the slot has no room for, choose it. */
static size_t place_of(uint64_t key)
{
    return key % CODED_LENGTHS;
}

size_t coded_lengths_find(const struct coded_lengths *t, uint64_t key)
{
    uint64_t slot = atomic_load(&t->slots[place_of(key)]);
    return (slot & ~LENGTH_MASK) == (key & ~LENGTH_MASK) ? (size_t)(slot & LENGTH_MASK) : 0;
}

void coded_lengths_keep(struct coded_lengths *t, uint64_t key, size_t len)
{
    if (len <= LENGTH_MASK)
        atomic_store(&t->slots[place_of(key)], (key & ~LENGTH_MASK) | len);
}
