#include "model/json_values_private.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

void json_set_bytes(json_t *object, const char *key, const uint8_t *bytes, size_t len)
{
    if (!bytes) {
        json_set_str(object, key, NULL);
        return;
    }
    size_t size = sodium_base64_ENCODED_LEN(len, sodium_base64_VARIANT_ORIGINAL);
    char *text CLEANUP_FREE = mem_calloc(size, 1);
    json_set_str(object, key, sodium_bin2base64(text, size, bytes, len, sodium_base64_VARIANT_ORIGINAL));
}

uint8_t *json_bytes(const json_t *object, const char *key, size_t *ret_len)
{
    const char *text = json_str(object, key);
    if (!text)
        return NULL;
    size_t size = strlen(text);
    uint8_t *bytes = mem_calloc(size + 1, 1);
    if (sodium_base642bin(bytes, size + 1, text, size, NULL, ret_len, NULL, sodium_base64_VARIANT_ORIGINAL) !=
        0) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

void json_copy_str(const json_t *object, const char *key, char *target, size_t size)
{
    const char *text = json_str_or(object, key, "");
    assert(size > 1);
    size_t len = utf8_cut(text, size - 1); /* the text is cut between two characters, because a broken
                                              character could not be stored again */
    memcpy(target, text, len);
    target[len] = '\0';
}
