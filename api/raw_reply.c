#include "api/raw_reply.h"

#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

#include "base/ids.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

void raw_reply(const struct env *env, int fd, const char *client, const struct problem *problem)
{
    char id[ID_BYTES];
    const struct problem_kind *kind = problem_kind(problem->code);
    json_t *doc CLEANUP_JSON = problem_to_json(problem, id_new(env, ID_REQUEST, id));
    char *content CLEANUP_FREE = json_text(doc);
    char *retry CLEANUP_FREE =
        problem->retry_after_s ? mem_printf("Retry-After: %d\r\n", problem->retry_after_s) : mem_strdup("");
    char *message CLEANUP_FREE = mem_printf(
        "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
        "Content-Length: %zu\r\nConnection: close\r\nCache-Control: no-store\r\n%s"
        "X-Request-Id: %s\r\n\r\n%s",
        kind->status, MHD_get_reason_phrase_for((unsigned)kind->status), strlen(content), retry, id, content);
    (void)send(fd, message, strlen(message), MSG_DONTWAIT | MSG_NOSIGNAL);
    log_info("request refused unread", "request_id", id, "client", client, "status", LOG_INT(kind->status),
             "code", kind->code, "reason", problem->detail);
}
