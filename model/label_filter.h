/*
 * Filters by label. A filter has comma-separated requirements "key" (the label exists) and "key=value", all
 * of which must be true. Pure; any thread.
 */
#ifndef MODEL_LABEL_FILTER_H
#define MODEL_LABEL_FILTER_H

#include <stdbool.h>

#include "base/json.h"

enum { LABEL_FILTER_MAX_BYTES = 2000 };

/* Returns a static text with the fault of the filter and the right form; NULL when the filter is valid. */
const char *label_filter_fault(const char *filter);
/* Whether the labels, an object of strings, match a valid filter. */
bool label_filter_holds(const char *filter, const json_t *labels);

#endif
