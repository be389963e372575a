/* Finds the rights of a valid JWT: applies the rules of the configuration to its claims. Pure; any thread. */
#ifndef OIDC_RULES_H
#define OIDC_RULES_H

#include "base/json.h"
#include "config/config.h"

/* Returns the first rule that matches; NULL when no rule matches. */
const struct config_rule *oidc_rule_for(const struct config_issuer *issuer, const json_t *claims);

#endif
