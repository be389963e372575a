/* The stored form of structs that are parts of other structs, and small codecs used inside model/. */
#ifndef MODEL_JSON_VALUES_PRIVATE_H
#define MODEL_JSON_VALUES_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "model/shoot.h"

json_t *shoot_to_json(const struct shoot *s);
struct shoot *shoot_from_json(const json_t *doc);

/* Sets a member to sealed bytes as base64 text; NULL becomes null. */
void json_set_bytes(json_t *object, const char *key, const uint8_t *bytes, size_t len);
/* Reads a member that json_set_bytes has set; NULL when it is absent or malformed. The caller frees it. */
uint8_t *json_bytes(const json_t *object, const char *key, size_t *ret_len);
/* Copies a string member into a fixed array, cut to fit; "" when absent. */
void json_copy_str(const json_t *object, const char *key, char *target, size_t size);

#endif
