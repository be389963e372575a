#include "tests/support/account.h"

#include <stdlib.h>

#include "base/mem.h"

void test_account_init(struct config_account *account)
{
    *account = (struct config_account){.api = API_V2,
                                       .max_in_flight = 1,
                                       .min_spacing_us = 100 * US_PER_MS,
                                       .call_timeout_us = 60 * US_PER_S};
    account->name = mem_strdup("main");
    account->cloud = mem_strdup("public");
    account->url = mem_strdup("http://127.0.0.1:1");
    account->login = mem_strdup("robot");
    account->password = mem_strdup("pass");
}

void test_account_done(struct config_account *account)
{
    free(account->name);
    free(account->cloud);
    free(account->url);
    free(account->login);
    free(account->password);
}
