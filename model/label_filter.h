/*
 * Filters by label: requirements "key" (there is such a label) and "key=value", comma-separated, which all
 * have to hold. Pure; any thread.
 */
#ifndef MODEL_LABEL_FILTER_H
#define MODEL_LABEL_FILTER_H

#include <stdbool.h>

#include "base/json.h"

enum { LABEL_FILTER_MAX_BYTES = 2000 };

/* The fault of the filter and the right form, static text; NULL when it is a filter. */
const char *label_filter_fault(const char *filter);
/* Whether the object of strings fulfils a filter without fault. */
bool label_filter_holds(const char *filter, const json_t *labels);

#endif
