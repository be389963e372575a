#include "model/former_names.h"

#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"

static const struct {
    const char *name, *prefix;
} kinds[] = {
    [FORMER_PARAMETER] = {"parameter", ""},
    [FORMER_SORT_KEY] = {"sort key", ""},
    [FORMER_MEMBER] = {"member", ""},
    [FORMER_FLAG] = {"flag", "--"},
};

static const struct {
    enum former_kind kind;
    const char *former, *today;
} rows[] = {
    {FORMER_PARAMETER, "version", "kubernetes_version"},
    {FORMER_SORT_KEY, "version", "kubernetes_version"},
    {FORMER_FLAG, "version", "kubernetes-version"},
    {FORMER_MEMBER, "version", "revision"},
};

static bool has_word(const json_t *words, const char *wanted)
{
    size_t i;
    json_t *word;
    json_array_foreach (words, i, word)
        if (json_is_string(word) && !strcmp(json_string_value(word), wanted))
            return true;
    return false;
}

const char *former_name(enum former_kind kind, const char *typed, const json_t *valid)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].kind == kind && !strcmp(rows[i].former, typed) && has_word(valid, rows[i].today))
            return rows[i].today;
    return NULL;
}

char *former_name_fault(enum former_kind kind, const char *typed, const json_t *valid)
{
    const char *today = former_name(kind, typed, valid);
    const char *prefix = kinds[kind].prefix;
    return today ? mem_printf("the %s %s%s is called %s%s", kinds[kind].name, prefix, typed, prefix, today)
                 : NULL;
}
