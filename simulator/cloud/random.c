#include "simulator/cloud/random.h"

#include <stdio.h>
#include <string.h>

void random_init(struct random_source *source, uint64_t seed)
{
    source->state = seed;
}

/* The method is splitmix64: every 64-bit seed is valid, including zero. */
uint64_t random_next(struct random_source *source)
{
    uint64_t z;
    source->state += UINT64_C(0x9e3779b97f4a7c15);
    z = source->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void random_text(struct random_source *source, const char *alphabet, char *out, size_t size)
{
    size_t letters = strlen(alphabet);
    for (size_t i = 0; i + 1 < size; i++)
        out[i] = alphabet[random_next(source) % letters];
    out[size - 1] = '\0';
}

void random_uuid(struct random_source *source, char out[UUID_TEXT_SIZE])
{
    uint64_t a = random_next(source);
    uint64_t b = random_next(source);
    (void)snprintf(out, UUID_TEXT_SIZE, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
                   (unsigned)(a >> 16) & 0xffffU, (unsigned)a & 0xfffU,
                   ((unsigned)(b >> 48) & 0x3fffU) | 0x8000U,
                   (unsigned long long)(b & UINT64_C(0xffffffffffff)));
}

uint64_t random_hash(uint64_t start, const char *text)
{
    uint64_t hash = start ^ UINT64_C(0xcbf29ce484222325);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        hash ^= *at;
        hash *= UINT64_C(0x100000001b3);
    }
    return hash;
}

void random_spell(uint64_t hash, const char *alphabet, char *out, size_t size)
{
    struct random_source source;
    random_init(&source, hash);
    random_text(&source, alphabet, out, size);
}
