/* Chooses the driver of an account. No other file does that. Pure. */
#include <assert.h>

#include "base/attrs.h"
#include "upstream/wire/driver_private.h"

const struct upstream_driver *driver_of(const struct config_account *account)
{
#define DRIVER_ROW(api, word) [api] = &driver_##word,
    static const struct upstream_driver *const drivers[] = {CLEURA_APIS(DRIVER_ROW)};
#undef DRIVER_ROW
    assert((size_t)account->api < ARRAY_LEN(drivers));
    return drivers[account->api];
}

const struct upstream_abilities *upstream_abilities_of(const struct config_account *account)
{
    return &driver_of(account)->abilities;
}
