/* The abilities of both drivers, for unit tests of specs. */
#ifndef TESTS_SUPPORT_ABILITIES_H
#define TESTS_SUPPORT_ABILITIES_H

#include "upstream/upstream.h"

static inline const struct upstream_abilities *abilities_of(enum api_generation api)
{
    const struct config_account account = {.api = api};
    return upstream_abilities_of(&account);
}

#endif
