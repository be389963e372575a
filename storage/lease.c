/* Owns the rule of leases, for all backends: who may take one, and when the fence grows. Pure, any thread. */
#include "storage/storage_private.h"

#include <stdio.h>
#include <string.h>

bool store_lease_claim(struct store_lease *lease, const char *name, const char *holder, wall_us now,
                       int64_t ttl_us)
{
    bool renewed = *lease->holder && !strcmp(lease->holder, holder);
    if (!renewed && *lease->holder && lease->until > now)
        return false;
    if (!renewed)
        lease->fence++;
    (void)snprintf(lease->name, sizeof(lease->name), "%s", name);
    (void)snprintf(lease->holder, sizeof(lease->holder), "%s", holder);
    lease->until = now + ttl_us;
    return true;
}
