/* What the engine needs of the target policy beside webhook.h. Pure, any thread. */
#ifndef WEBHOOK_TARGET_POLICY_H
#define WEBHOOK_TARGET_POLICY_H

#include <stdbool.h>

/* Whether an entry of webhooks.allow is a network, an address or a host name. */
bool webhook_allow_entry_is_valid(const char *entry);

#endif
