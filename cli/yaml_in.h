/*
 * Reads YAML of users into JSON. JSON is YAML, so the same function reads a JSON file. Bytes, values, depth
 * and the copies that aliases make are bounded; a duplicate key is refused. Pure; one thread.
 *
 * Plain scalars become null, true, false and whole numbers as in YAML 1.2. A number with a fraction stays
 * text: our documents have no fractions, and `kubernetes_version: 1.30` must not become 1.3.
 */
#ifndef CLI_YAML_IN_H
#define CLI_YAML_IN_H

#include <stddef.h>

#include "base/json.h"

enum {
    YAML_MAX_BYTES = 8 * 1024 * 1024,
    YAML_MAX_VALUES = 200000,
    YAML_MAX_DEPTH = 60,
    YAML_MAX_KEY_BYTES = 400, /* with escapes, a key of this length is within the limit of YAML */
};

struct yaml_fault {
    char text[200];
    size_t line; /* from 1; 0: none */
};

/* An array of the documents that are not empty. NULL on a fault. The caller owns the result. */
json_t *yaml_read(const char *bytes, size_t len, struct yaml_fault *ret_fault);

#endif
