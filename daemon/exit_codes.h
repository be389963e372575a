/* What the process tells systemd when it ends (SD-6). docs/operations.md repeats the table. */
#ifndef DAEMON_EXIT_CODES_H
#define DAEMON_EXIT_CODES_H

enum exit_code {
    EXIT_OK = 0,
    EXIT_RUNTIME = 1,     /* something broke while running: a restart may help */
    EXIT_USAGE_ = 64,     /* wrong command line */
    EXIT_DEPENDENCY = 69, /* state directory, port, lock or disk not available: a restart may help */
    EXIT_CONFIG = 78,     /* configuration or database version: a restart does not help */
};

#endif
