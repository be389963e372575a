/*
 * A token that a person made in Cleura's control panel and wrote to a file. Accounts with WebAuthn have no
 * other way to get a token. The file is read only while there is no working token, and each token in it is
 * tried once. Loop thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "config/secret_file.h"
#include "upstream/account/account_private.h"

enum { LOOK_EVERY_S = 1 };

static void note_error(struct upstream_account *a, const char *reason, const char *detail)
{
    /* Logs each kind of error once, because the file is read for every call that waits. */
    if (a->session.file_error != reason)
        log_warning("token_file cannot be used", "account", a->config->name, "error", detail);
    a->session.file_error = reason;
}

static char *read_token(struct upstream_account *a)
{
    char *token = NULL;
    char *error CLEANUP_FREE = NULL;
    /* Reads a small local file. The read blocks the loop, but it happens only while there is no token. */
    enum secret_status status = secret_file_read(a->config->token_file, TOKEN_MAX, &token, &error);
    if (status == SECRET_MISSING) {
        note_error(a, "token_file is missing or empty", error);
    } else if (status == SECRET_REFUSED) {
        note_error(a, "token_file cannot be used; the log has the reason", error);
    }
    /* The token becomes the value of a header field, so it must be visible ASCII. */
    for (const char *c = token; c && *c; c++) {
        if (*c >= 0x21 && *c <= 0x7e)
            continue;
        note_error(a, "token_file has characters that are not allowed in a token", NULL);
        mem_free_secret(token);
        return NULL;
    }
    return token;
}

char *token_file_take(struct upstream_account *a)
{
    mono_us now = env_mono(a->env);
    if (!a->config->token_file || now < a->session.next_file_check)
        return NULL;
    a->session.next_file_check = now + LOOK_EVERY_S * US_PER_S;
    char *token = read_token(a);
    if (!token)
        return NULL;
    char mark[CREDENTIAL_MARK_BYTES];
    credential_mark(a, token, mark);
    a->session.file_error = NULL;
    if (!strcmp(mark, a->session.file_mark) || !strcmp(mark, a->session.rejected_mark)) {
        mem_free_secret(token);
        return NULL;
    }
    memcpy(a->session.file_mark, mark, sizeof(mark));
    log_info("token taken from token_file", "account", a->config->name);
    return token;
}
