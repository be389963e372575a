/* The rights that a good JWT gives: the rules of the configuration over its claims. Pure; any thread. */
#ifndef OIDC_RULES_H
#define OIDC_RULES_H

#include "base/json.h"
#include "config/config.h"

/* The first rule that fits; NULL: none does. */
const struct config_rule *oidc_rule_for(const struct config_issuer *issuer, const json_t *claims);

#endif
