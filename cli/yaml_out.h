/*
 * JSON as YAML for people: block style, two blanks a level. Every text that some reader of YAML 1.1 or 1.2
 * takes for a number, boolean, null or date stands in quotes, and what text from outside could do to
 * a terminal is escaped. Pure; one thread.
 */
#ifndef CLI_YAML_OUT_H
#define CLI_YAML_OUT_H

#include "base/json.h"

struct buffer;

/* Appends one document, without `---`, with a newline at its end. */
void yaml_write(struct buffer *out, const json_t *value);

#endif
