#include "base/ids.h"

#include <string.h>

static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

const char *id_new(const struct env *env, const char *prefix, char id[static ID_BYTES])
{
    enum { TIME_CHARS = 10, RANDOM_CHARS = 16 };
    size_t n = strlen(prefix);
    memcpy(id, prefix, n);
    uint64_t ms = (uint64_t)(env_wall(env) / US_PER_MS);
    for (int i = TIME_CHARS - 1; i >= 0; i--) {
        id[n + (size_t)i] = alphabet[ms & 31];
        ms >>= 5;
    }
    unsigned char random[RANDOM_CHARS];
    env->random(env, random, sizeof(random));
    for (int i = 0; i < RANDOM_CHARS; i++)
        id[n + TIME_CHARS + (size_t)i] = alphabet[random[i] & 31];
    id[n + TIME_CHARS + RANDOM_CHARS] = '\0';
    return id;
}
