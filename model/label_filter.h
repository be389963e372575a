/*
 * Filters by label: comma-separated requirements "key" (the label exists) and "key=value". All requirements
 * must hold. Pure; any thread.
 */
#ifndef MODEL_LABEL_FILTER_H
#define MODEL_LABEL_FILTER_H

#include <stdbool.h>

#include "base/json.h"

enum { LABEL_FILTER_MAX_BYTES = 2000 };

/* Describes the fault of the filter and the right form, static text; NULL when the filter is valid. */
const char *label_filter_fault(const char *filter);
/* Whether the labels, an object of strings, match a valid filter. */
bool label_filter_holds(const char *filter, const json_t *labels);

#endif
