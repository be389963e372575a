/*
 * How long the gzip forms are that were made of late: a 304 announces the length of a body that it does not
 * carry (HT-19, MH-7), and for that alone it is not made again. A table of atomics without locks: what was
 * pushed out of it is made once more. Any thread.
 */
#ifndef API_CODED_LENGTHS_H
#define API_CODED_LENGTHS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { CODED_LENGTHS = 512, CODED_LENGTH_BITS = 23 };

/* Zeroed: empty. */
struct coded_lengths {
    _Atomic uint64_t slots[CODED_LENGTHS]; /* upper bits of the key, and the length */
};

/* `key`: a digest of what was coded. 0 when its length is not known. */
size_t coded_lengths_find(const struct coded_lengths *t, uint64_t key);
/* Lengths that do not fit CODED_LENGTH_BITS are not kept. */
void coded_lengths_keep(struct coded_lengths *t, uint64_t key, size_t len);

#endif
