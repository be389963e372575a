/* JSON as text, numbers with no more digits than they need. */
#ifndef SIMULATOR_CLOUD_JSON_TEXT_H
#define SIMULATOR_CLOUD_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

#define REAL_TEXT_SIZE 32

/* The fewest digits that read back as the same number (jansson's own way is always 17). */
void real_text(double value, char out[REAL_TEXT_SIZE]);
/* json_dumps with such numbers. NULL if the value cannot be written; to be freed. */
char *json_text(const json_t *value, size_t flags);

#endif
