/* A failed request in words for people, and its exit code. One thread. */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include "cli/http.h"
#include "cli/shootctl.h"

/* The code, END_OK for success; says nothing. */
enum exit_code problem_code(const struct http_answer *answer);
/* Whether the same request may have an answer later: the server restarts or is busy, a network or a proxy in
 * between fails. */
bool problem_may_pass(const struct http_answer *answer);
/* Whether it says that there is no such cluster, which is not the same as no such project. */
bool problem_is_absent_cluster(const struct http_answer *answer);
/* Milliseconds that the server asks for before the next request (Retry-After); 0 when it does not. */
int64_t problem_pause_ms(const struct http_answer *answer);
/* Says what failed: of a problem its title and detail, the faults of members with what would be valid, the
 * advice and the request id; else why there is no answer. */
void problem_say(const struct cli *cli, const struct http_answer *answer);
/* Writes a problem, or the error of an operation, in lines of its own. */
void problem_print(const struct terminal *to, const json_t *problem, const char *request_id);

#endif
