#include "simulator/cloud/operations.h"

#include <stddef.h>
#include <string.h>

static const char *const names[OPERATION_MAX_] = {
#define X(upper, lower) [OPERATION_##upper] = #lower,
    OPERATIONS(X)
#undef X
};

const char *operation_name(enum operation operation)
{
    if (operation == OPERATION_ANY)
        return "*";
    return operation >= 0 && operation < OPERATION_MAX_ ? names[operation] : "invalid";
}

enum operation operation_find(const char *name)
{
    if (name == NULL)
        return OPERATION_INVALID;
    if (strcmp(name, "*") == 0)
        return OPERATION_ANY;
    for (int i = 0; i < OPERATION_MAX_; i++)
        if (strcmp(names[i], name) == 0)
            return (enum operation)i;
    return OPERATION_INVALID;
}
