/*
 * Writes JSON as YAML for people, in block style with two blanks per level. A text is quoted when a reader of
 * YAML 1.1 or 1.2 could read it as a number, boolean, null or date. Characters that could control a terminal
 * are escaped. Pure; one thread.
 */
#ifndef CLI_YAML_OUT_H
#define CLI_YAML_OUT_H

#include "base/json.h"

struct buffer;

/* Appends one document without `---`, ended by a newline. */
void yaml_write(struct buffer *out, const json_t *value);

#endif
