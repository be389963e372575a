/*
 * Writes JSON as YAML for people: block style, two blanks per level. A text that a reader of YAML 1.1 or 1.2
 * could take for a number, boolean, null or date is quoted. Characters that could control a terminal are
 * escaped. Pure; one thread.
 */
#ifndef CLI_YAML_OUT_H
#define CLI_YAML_OUT_H

#include "base/json.h"

struct buffer;

/* Appends one document without `---`, ended by a newline. */
void yaml_write(struct buffer *out, const json_t *value);

#endif
