/* Sends a request with the current token, and retries the request if a retry is safe and may succeed. One
 * thread. */
#ifndef CLI_REPEAT_H
#define CLI_REPEAT_H

#include "cli/shootctl.h"

/*
 * Sends the request and waits for the answer. A request that is safe to repeat is repeated up to `retries`
 * times, each time with a note on standard error. The caller frees `ret` with http_answer_done in any case.
 */
void repeat_call(struct cli *cli, const struct cli_request *request, struct cli_answer *ret);

#endif
