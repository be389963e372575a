/* A fake server in place of cli/http.c: it answers each request with the next of the given answers. */
#ifndef FUZZ_CLI_SERVER_H
#define FUZZ_CLI_SERVER_H

#include <stddef.h>
#include <stdint.h>

/* Sets the answers, one per line: a status, a blank and JSON. The bytes must stay valid until the last
 * request. After the last answer, each request is answered with 401, which ends each verb. */
void cli_server_answers(const uint8_t *bytes, size_t len);

#endif
