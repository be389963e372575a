#include "model/string_list.h"

#include <stdlib.h>

#include "base/mem.h"

char **string_list_copy(char *const *list)
{
    if (!list)
        return NULL;
    size_t n = 0;
    while (list[n])
        n++;
    char **copy = mem_calloc(n + 1, sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i] = mem_strdup(list[i]);
    return copy;
}

void string_list_free(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

json_t *string_list_to_json(char *const *list)
{
    json_t *array = json_array();
    for (size_t i = 0; list && list[i]; i++)
        json_append_take(array, json_string(list[i]));
    return array;
}

char **string_list_from_json(const json_t *array)
{
    size_t n = json_array_size(array);
    char **list = mem_calloc(n + 1, sizeof(*list));
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (text)
            list[used++] = mem_strdup(text);
    }
    return list;
}
