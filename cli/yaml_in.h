/*
 * Reads YAML of users into JSON. A file with one JSON object is read as JSON. The numbers of
 * bytes, values, levels and copies by aliases are limited, and a duplicate key is refused. Pure; one thread.
 *
 * In YAML, plain scalars become null, true, false and whole numbers as in YAML 1.2. A number with a fraction
 * stays text: documents of the API have no such numbers, and `kubernetes_version: 1.30` must not become 1.3.
 */
#ifndef CLI_YAML_IN_H
#define CLI_YAML_IN_H

#include <stddef.h>

#include "base/json.h"

enum {
    YAML_MAX_BYTES = 8 * 1024 * 1024,
    YAML_MAX_VALUES = 200000,
    YAML_MAX_DEPTH = 60,
    YAML_MAX_KEY_BYTES = 400, /* a key of this length, with escapes, is within the limit of YAML */
};

struct yaml_fault {
    char text[200];
    size_t line; /* the line, counted from 1; 0: the fault has no line */
};

/* Returns an array of the documents that are not empty; NULL after a fault. The caller owns it. */
json_t *yaml_read(const char *bytes, size_t len, struct yaml_fault *ret_fault);

#endif
