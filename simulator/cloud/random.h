/* Makes pseudo-random identifiers. With the same --seed, every run makes the same identifiers. They are not
 * suited for real secrets. */
#ifndef SIMULATOR_CLOUD_RANDOM_H
#define SIMULATOR_CLOUD_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#define UUID_TEXT_SIZE 37

struct random_source {
    uint64_t state;
};

void random_init(struct random_source *source, uint64_t seed);
uint64_t random_next(struct random_source *source);
/* Fills `out` with size-1 letters of the alphabet and a NUL. */
void random_text(struct random_source *source, const char *alphabet, char *out, size_t size);
void random_uuid(struct random_source *source, char out[UUID_TEXT_SIZE]);
/* Returns a stable hash (FNV-1a), for names that must be the same in every answer. */
uint64_t random_hash(uint64_t start, const char *text);
/* Writes a hash with the letters of an alphabet; size includes the NUL. */
void random_spell(uint64_t hash, const char *alphabet, char *out, size_t size);

#endif
