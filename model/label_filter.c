#include "model/label_filter.h"

#include <string.h>

#include "base/mem.h"
#include "model/spec.h"

struct requirement {
    const char *key;
    size_t key_len;
    const char *value; /* the value; NULL: any value matches */
    size_t value_len;
};

/* Reads the requirement at *cursor and moves the cursor to the next requirement; the cursor is NULL after the
 * last requirement. */
static void take_requirement(const char **cursor, struct requirement *ret)
{
    size_t len = strcspn(*cursor, ",");
    const char *equals = memchr(*cursor, '=', len);
    *ret = (struct requirement){.key = *cursor, .key_len = len};
    if (equals) {
        ret->key_len = (size_t)(equals - *cursor);
        ret->value = equals + 1;
        ret->value_len = len - ret->key_len - 1;
    }
    *cursor = (*cursor)[len] ? *cursor + len + 1 : NULL;
}

const char *label_filter_fault(const char *filter)
{
    if (strlen(filter) > LABEL_FILTER_MAX_BYTES)
        return "has more than 2000 bytes";
    while (filter) {
        struct requirement q;
        take_requirement(&filter, &q);
        char *key CLEANUP_FREE = mem_strndup(q.key, q.key_len);
        if (spec_label_key_fault(key) || (q.value && !spec_label_value_is_valid(q.value, q.value_len)))
            return "has to be key or key=value, or several of them with commas between, which all have to "
                   "hold; keys and values are those of Kubernetes labels";
    }
    return NULL;
}

bool label_filter_holds(const char *filter, const json_t *labels)
{
    while (filter) {
        struct requirement q;
        take_requirement(&filter, &q);
        const json_t *found = json_object_getn(labels, q.key, q.key_len);
        if (!found || (q.value && (json_string_length(found) != q.value_len ||
                                   memcmp(json_string_value(found), q.value, q.value_len) != 0)))
            return false;
    }
    return true;
}
