/* NULL-terminated lists of strings. */
#ifndef MODEL_STRING_LIST_H
#define MODEL_STRING_LIST_H

#include "base/json.h"

/* Copies the list. The caller owns the copy; the copy of NULL is NULL. */
char **string_list_copy(char *const *list);
/* NULL is allowed. */
void string_list_free(char **list);
/* Makes an array of strings; NULL becomes an empty array. */
json_t *string_list_to_json(char *const *list);
/* Makes a list of the strings of an array; never NULL. The caller owns it. */
char **string_list_from_json(const json_t *array);

#endif
