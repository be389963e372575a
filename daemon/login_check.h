/* `shootd --check-config --login`: proves each account at Cleura. Main thread, without a running daemon. */
#ifndef DAEMON_LOGIN_CHECK_H
#define DAEMON_LOGIN_CHECK_H

#include "config/config.h"

/*
 * Logs in with each account as the daemon does, without an SMS, and reads the clusters of each of its
 * projects. Prints a line for each project, those of faults to stderr. Changes nothing. Returns EXIT_OK;
 * EXIT_CONFIG when Cleura refused a login or a project, else EXIT_DEPENDENCY when Cleura could not be asked.
 */
int login_check(const struct config *config);

#endif
