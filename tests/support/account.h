/* The Cleura account of unit tests: one generation 2 login on a fake transport. */
#ifndef TESTS_SUPPORT_ACCOUNT_H
#define TESTS_SUPPORT_ACCOUNT_H

#include "config/config.h"

void test_account_init(struct config_account *account);
void test_account_done(struct config_account *account);

#endif
