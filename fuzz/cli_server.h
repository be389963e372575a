/* A server of the fuzzer's behind cli/http.h: it answers each request with the next of the given documents.
 */
#ifndef FUZZ_CLI_SERVER_H
#define FUZZ_CLI_SERVER_H

#include <stddef.h>
#include <stdint.h>

/* The answers, one a line: a status, a blank and JSON. Lent until the last request. Behind them every request
 * is answered 401, which ends each verb. */
void cli_server_answers(const uint8_t *bytes, size_t len);

#endif
