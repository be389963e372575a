/* A failed request in words for people, and its exit code. One thread. */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include "cli/http.h"
#include "cli/shootctl.h"

/* The code, END_OK for success; says nothing. */
enum exit_code problem_code(const struct http_answer *answer);
/* Says what failed: of a problem its title and detail, the faults of members with what would be valid, the
 * advice and the request id; else why there is no answer. */
void problem_say(const struct cli *cli, const struct http_answer *answer);
/* Writes a problem, or the error of an operation, in lines of its own. */
void problem_print(const struct terminal *to, const json_t *problem, const char *request_id);

#endif
