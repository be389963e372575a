/* The names that the API had before: a request with one of them is told the name of today. One row for each
 * renamed parameter, sort key, member or flag. Pure; any thread. */
#ifndef MODEL_FORMER_NAMES_H
#define MODEL_FORMER_NAMES_H

#include "base/json.h"

enum former_kind { FORMER_PARAMETER, FORMER_SORT_KEY, FORMER_MEMBER, FORMER_FLAG };

/* The code of a fault with such a text. */
#define FORMER_NAME_CODE "renamed"

/* Returns the name of today when `typed` is a former name and `valid`, an array, has its name of today; NULL
 * otherwise. */
const char *former_name(enum former_kind kind, const char *typed, const json_t *valid);
/* Returns "the parameter version is called kubernetes_version", or NULL as above. The caller frees it. */
char *former_name_fault(enum former_kind kind, const char *typed, const json_t *valid);

#endif
