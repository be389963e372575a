/* Reports a failed request to people, and finds its exit code. One thread. */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include "cli/http.h"
#include "cli/shootctl.h"

/* Returns the exit code for an answer; END_OK for a success. Does not report the problem. */
enum exit_code problem_code(const struct cli_answer *answer);
/* Whether the same request may succeed later, because the server restarts or is busy, or the network or a
 * proxy fails. */
bool problem_may_pass(const struct cli_answer *answer);
/* Whether the answer means that the cluster does not exist. (A project that does not exist is another
 * problem.) */
bool problem_is_absent_cluster(const struct cli_answer *answer);
/* Returns the pause in milliseconds that the server requests (Retry-After); 0 when the server requests no
 * pause. */
int64_t problem_pause_ms(const struct cli_answer *answer);
/* Reports a failed request. A problem shows its title and detail, the faulty members with their valid
 * values, the advice and the request id. Without an answer the reason is shown. */
void problem_say(const struct cli *cli, const struct cli_answer *answer);
/* Prints a problem, or the error of an operation, on separate lines. */
void problem_print(const struct terminal *to, const json_t *problem, const char *request_id);

#endif
