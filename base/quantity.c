#include "base/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"

/* No machine has an exbibyte, and sums of many such numbers do not overflow. */
#define MIB_MAX (INT64_C(1) << 40)

int64_t quantity_mib(const char *text)
{
    static const struct {
        const char *name;
        int64_t mib;
    } units[] = {{"Mi", 1}, {"Gi", 1024}, {"Ti", 1024 * 1024}};
    char *end;
    if (!text || *text < '0' || *text > '9')
        return -1;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (!strcmp(end, units[i].name))
            return errno || number > MIB_MAX / units[i].mib ? -1 : number * units[i].mib;
    return -1;
}
