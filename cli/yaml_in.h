/*
 * Reads YAML of people into JSON. JSON is YAML, so a JSON file is read by the same function. Bounded in
 * bytes, values, depth and what aliases repeat; a key that stands twice is refused. Pure; one thread.
 *
 * Plain words become null, true, false and whole numbers as YAML 1.2 has them. A number with a fraction stays
 * the text that was written: our documents have none, and `kubernetes_version: 1.30` is not 1.3.
 */
#ifndef CLI_YAML_IN_H
#define CLI_YAML_IN_H

#include <stddef.h>

#include "base/json.h"

enum {
    YAML_MAX_BYTES = 8 * 1024 * 1024,
    YAML_MAX_VALUES = 200000,
    YAML_MAX_DEPTH = 60,
    YAML_MAX_KEY_BYTES = 400, /* written with escapes it still is a key that YAML allows */
};

struct yaml_fault {
    char text[200];
    size_t line; /* from 1; 0: none */
};

/*
 * An array of the documents that are not empty. NULL on a fault. The caller owns the result.
 */
json_t *yaml_read(const char *bytes, size_t len, struct yaml_fault *ret_fault);

#endif
