/* Filters by label: a valid filter matches the labels that it names, and no others. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "model/label_filter.h"

/*
 * Sets the labels of a filter, those with a value or those without; false when the filter has two values for
 * one label.
 */
static bool set_labels(const char *filter, bool with_value, json_t *labels)
{
    char *copy CLEANUP_FREE = mem_strdup(filter);
    char *rest = copy;
    bool consistent = true;
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ",")) {
        char *value = strchr(item, '=');
        if (with_value != (value != NULL))
            continue;
        if (value)
            *value++ = '\0';
        const char *other = json_str(labels, item);
        consistent = consistent && !(value && other && strcmp(value, other) != 0);
        if (!other)
            json_set_str(labels, item, value ? value : "any");
    }
    return consistent;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *filter CLEANUP_FREE = fuzz_text(bytes, len);
    json_t *none CLEANUP_JSON = json_object();
    json_t *labels CLEANUP_JSON = json_object();
    if (label_filter_fault(filter))
        return 0;
    bool consistent = set_labels(filter, true, labels) && set_labels(filter, false, labels);
    FUZZ_CHECK(!label_filter_holds(filter, none));
    FUZZ_CHECK(label_filter_holds(filter, labels) == consistent);
    return 0;
}
