#include "api/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/prefer.h"
#include "api/request.h"
#include "base/mem.h"

/* Seconds that the end of the operation is waited for; the parameter counts before the preference. */
static int64_t wait_seconds(struct request *r)
{
    bool by_parameter = r->params.given[PARAM_WAIT];
    int64_t wait = by_parameter ? param_number(&r->params, PARAM_WAIT) : prefer_read(r).wait_s;
    int64_t most = r->api->limits.wait_max_s;
    if (wait <= 0 || !request_may_wait(r))
        return 0;
    return wait < most ? wait : most;
}

struct command *write_command(struct request *r, enum command_type type)
{
    struct command *cmd = request_command(r, type);
    int64_t wait = wait_seconds(r);
    cmd->dry_run = r->params.numbers[PARAM_DRY_RUN] != 0;
    cmd->waits = wait > 0;
    cmd->wait_until = wait ? r->started + wait * US_PER_S : 0;
    return cmd;
}

static void append(struct buffer *out, const char *text)
{
    if (out->len)
        (void)buffer_add_str(out, ", ");
    (void)buffer_add_str(out, text);
}

static void tell_applied(struct request *r, const struct preferences *p, const struct command *cmd)
{
    enum { LONGEST = 128 };
    struct buffer applied CLEANUP_BUFFER;
    buffer_init(&applied, LONGEST);
    if (p->respond_async && cmd->status == MHD_HTTP_ACCEPTED)
        append(&applied, "respond-async");
    bool waited = cmd->waits || p->wait_s == 0; /* over the cap of waiters nobody waits */
    if (p->wait_s >= 0 && waited && !r->params.given[PARAM_WAIT]) {
        char text[32];
        int64_t most = r->api->limits.wait_max_s;
        (void)snprintf(text, sizeof(text), "wait=%lld", (long long)(p->wait_s < most ? p->wait_s : most));
        append(&applied, text);
    }
    if (p->minimal)
        append(&applied, "return=minimal");
    if (p->representation)
        append(&applied, "return=representation");
    if (applied.len)
        answer_header(&r->answer, "Preference-Applied", "%.*s", (int)applied.len, applied.data);
}

static struct problem *finish(struct request *r, struct command *cmd)
{
    struct preferences p = prefer_read(r);
    if (cmd->dry_run)
        return NULL;
    tell_applied(r, &p, cmd);
    if (p.minimal) {
        free(TAKE_PTR(cmd->answer));
        if (cmd->status == MHD_HTTP_OK)
            cmd->status = MHD_HTTP_NO_CONTENT;
    }
    return NULL; /* the rest is answered in the common way */
}

struct problem *write_park(struct request *r, struct command *cmd)
{
    r->finish = finish;
    return request_park(r, cmd);
}
