/*
 * The device flow (RFC 8628). The user opens a page on any device and types a code there; then this program
 * receives a token. One thread; blocking.
 */
#ifndef CLI_DEVICE_H
#define CLI_DEVICE_H

#include "cli/issuer.h"

/* The next step after an answer of the token endpoint. */
enum device_step {
    DEVICE_AGAIN,   /* the token endpoint is asked again after a pause */
    DEVICE_DONE,    /* the answer has a token */
    DEVICE_DENIED,  /* the user refused */
    DEVICE_EXPIRED, /* the code has expired */
    DEVICE_FAILED,  /* any other error, which is final */
};

struct device_poll {
    int64_t interval_ms; /* the pause between two requests; each slow_down makes it longer for the rest of the
                          * flow */
    int64_t ends_ms;     /* when the code expires, on the clock of `now_ms` */
    unsigned failures;   /* the number of consecutive failed requests */
};

/* Decides the next step. Pure. *ret_pause_ms is the time to wait before the next request. */
enum device_step device_judge(struct device_poll *poll, const struct cli_answer *answer, int64_t now_ms,
                              int64_t *ret_pause_ms);

/* Shows the address and the code, and waits for the token. Returns END_OK, or reports the reason and returns
 * an exit code. */
int device_login(const struct cli_issuer *issuer, struct issued *ret);

#endif
