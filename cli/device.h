/*
 * The device flow (RFC 8628): a person opens a page anywhere, types a code there, and this program gets a
 * token. One thread; blocking.
 */
#ifndef CLI_DEVICE_H
#define CLI_DEVICE_H

#include "cli/issuer.h"

/* The step after an answer of the token endpoint. */
enum device_step {
    DEVICE_AGAIN,   /* ask again after a pause */
    DEVICE_DONE,    /* it has a token */
    DEVICE_DENIED,  /* the person said no */
    DEVICE_EXPIRED, /* the time of the code is over */
    DEVICE_FAILED,  /* anything else, for good */
};

struct device_poll {
    int64_t interval_ms; /* between two questions; slow_down makes it longer for good */
    int64_t ends_ms;     /* the code is good until then, on the clock of `now_ms` */
    unsigned failures;   /* answers that were none, one after the other */
};

/* Pure. *ret_pause_ms is how long to wait before the next question. */
enum device_step device_judge(struct device_poll *poll, const struct http_answer *answer, int64_t now_ms,
                              int64_t *ret_pause_ms);

/* Shows address and code, and waits for the token. END_OK, or an exit code after saying why there is none. */
int device_login(const struct issuer *issuer, struct issued *ret);

#endif
