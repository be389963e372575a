#include "cli/repeat.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/renew.h"

enum { FIRST_PAUSE_MS = 200, LONGEST_PAUSE_MS = 30000 };

static bool is_safe(const struct cli_request *rq)
{
    return strcmp(rq->method, "POST") != 0 || rq->idempotency_key;
}

/* Whether a retry may succeed. */
static bool may_pass(const struct cli_answer *answer)
{
    switch (answer->end) {
    case HTTP_UNREACHABLE:
    case HTTP_SLOW:
        return true;
    case HTTP_FOREIGN:
        return answer->status == 502 || answer->status == 503 || answer->status == 504;
    case HTTP_MISTAKEN:
    case HTTP_TOO_LARGE:
    case HTTP_STOPPED:
        return false;
    case HTTP_ANSWERED:
        break;
    }
    bool in_use =
        answer->status == 409 && mem_same_str(json_str(answer->json, "code"), "idempotency_key_in_use");
    return answer->status == 429 || answer->status == 502 || answer->status == 503 || answer->status == 504 ||
           in_use;
}

static int64_t pause_ms(const struct cli_answer *answer, unsigned done)
{
    int64_t own = env_jitter(env_real(), (int64_t)FIRST_PAUSE_MS << (done < 8 ? done : 8), 30);
    int64_t wanted = answer->retry_after_s >= 0 ? answer->retry_after_s * 1000 : 0;
    own = own > wanted ? own : wanted;
    return own < LONGEST_PAUSE_MS ? own : LONGEST_PAUSE_MS;
}

static void say_again(const struct cli_answer *answer, int64_t ms, unsigned done, unsigned retries)
{
    assert(answer->json || *answer->error);
    const char *said = answer->json ? json_str_or(answer->json, "title", "refused") : answer->error;
    char *reason CLEANUP_FREE = glyphs_shown(said);
    (void)fprintf(stderr, "shootctl: %s; trying again in %.1f s (%u of %u)\n", reason, (double)ms / 1000,
                  done + 1, retries);
}

void repeat_call(struct cli *cli, const struct cli_request *request, struct cli_answer *ret)
{
    struct cli_request rq = *request;
    unsigned retries = request->once || !is_safe(request) ? 0 : cli->retries;
    for (unsigned done = 0;; done++) {
        rq.token = renew_token(cli);
        http_call(cli->http, &rq, ret);
        ret->repeated = done > 0;
        if (done == retries || !may_pass(ret) || ret->retry_after_s * 1000 > LONGEST_PAUSE_MS)
            return;
        int64_t ms = pause_ms(ret, done);
        say_again(ret, ms, done, retries);
        if (http_pause(cli->http, ms))
            return;
        http_answer_done(ret);
    }
}
