#include "daemon/admin_token.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/private_file.h"
#include "daemon/daemon.h"
#include "daemon/daemon_private.h"
#include "model/api_token.h"
#include "model/command.h"

/* The command writes REQUEST_FILE. The daemon renames this file to TAKEN_FILE, and writes ANSWER_FILE. */
#define REQUEST_FILE "admin-token.request"
#define TAKEN_FILE   "admin-token.taken"
#define ANSWER_FILE  "admin-token.answer"

enum {
    DAYS = 90, /* until the token expires (AU-4) */
    FILE_MAX_BYTES = 4096,
    PATIENCE_MS = 10000,
    STEP_MS = 50
};

static bool is_there(int directory, const char *name)
{
    struct stat st;
    return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Returns NULL when the file is absent or not usable. *ret_fault then gives the reason; it is a static text
 * or a text of strerror. */
static json_t *read_document(int directory, const char *name, const char **ret_fault)
{
    char text[FILE_MAX_BYTES];
    int len = private_file_read(directory, name, PRIVATE_TO_OWNER, text, sizeof(text));
    json_t *doc = len > 0 ? json_parse_strict(text, (size_t)len, NULL) : NULL;
    *ret_fault = doc ? NULL : len < 0 ? strerror(-len) : "no JSON";
    return doc;
}

/* Returns 0 or a negative errno. */
static int write_document(int directory, const char *name, const json_t *doc)
{
    char *text CLEANUP_FREE = json_text(doc);
    assert(strlen(text) < FILE_MAX_BYTES);
    return private_file_write(directory, name, text, strlen(text));
}

/* ---- the command ---- */

static struct api_token *make_token(char secret[static TOKEN_BYTES])
{
    const struct env *env = env_real();
    char *everything[] = {(char[]){"*"}, NULL};
    char *maker CLEANUP_FREE = mem_printf("shootd admin-token (user %u)", (unsigned)getuid());
    struct api_token *t = api_token_new(env, "admin", ROLE_ADMIN, everything, maker, secret);
    t->expires_at = t->created_at + DAYS * 24 * 3600 * US_PER_S;
    return t;
}

/* Returns NULL when there is no answer. An answer without an id means that the daemon could not read the
 * request file. This command wrote that file, because no other command waits now. */
static json_t *read_answer(int directory, const char *id)
{
    const char *fault;
    json_t *doc = read_document(directory, ANSWER_FILE, &fault);
    if (doc && !strcmp(json_str_or(doc, "id", id), id)) {
        (void)unlinkat(directory, ANSWER_FILE, 0);
        return doc;
    }
    json_decref(doc);
    return NULL;
}

/* Returns NULL when there was no answer in time. */
static json_t *wait_for_answer(int directory, const char *id)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000};
    json_t *answer = read_answer(directory, id);
    for (int ms = 0; ms < PATIENCE_MS && !answer; ms += STEP_MS) {
        (void)nanosleep(&step, NULL);
        answer = read_answer(directory, id);
    }
    return answer;
}

static enum exit_code fail(const char *what, int error)
{
    (void)fprintf(stderr, "shootd: %s: %s\n", what, strerror(error));
    return EXIT_DEPENDENCY;
}

/* Prints the secret only when the token may still become valid. */
static enum exit_code acknowledge(int directory, const struct api_token *t, const char *secret)
{
    json_t *answer CLEANUP_JSON = wait_for_answer(directory, t->id);
    if (answer && !json_bool(answer, "taken", false)) {
        (void)fprintf(stderr, "shootd: the token was refused by the running shootd: %s\n",
                      json_str_or(answer, "reason", "see its log"));
        return EXIT_DEPENDENCY;
    }
    const char *when = "is valid from now on";
    if (!answer && is_there(directory, REQUEST_FILE))
        when = "will be valid when shootd runs with this state directory, which is not so now";
    else if (!answer)
        when = "will be valid when shootd has stored it, which has failed so far: see its log";
    (void)printf("%s\n", secret);
    (void)fprintf(stderr, "shootd: token %s, role admin, all projects, for %d days, %s\n", t->id, DAYS, when);
    return EXIT_OK;
}

int admin_token_make(const struct config *config)
{
    char secret[TOKEN_BYTES];
    int directory = open(config->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return fail(config->state_dir, errno);
    if (!state_dir_become_owner(directory)) {
        const int error = errno;
        (void)close(directory);
        return fail(config->state_dir, error);
    }
    if (flock(directory, LOCK_EX | LOCK_NB) < 0 || is_there(directory, REQUEST_FILE)) {
        (void)fprintf(
            stderr,
            "shootd: an earlier token waits: shootd stores it when it runs with this state directory. "
            "Remove %s/" REQUEST_FILE " to make another token\n",
            config->state_dir);
        (void)close(directory);
        return EXIT_DEPENDENCY;
    }
    struct api_token *t = make_token(secret);
    json_t *doc CLEANUP_JSON = api_token_to_json(t);
    (void)unlinkat(directory, ANSWER_FILE, 0); /* this answer belongs to an earlier command */
    int failed = write_document(directory, REQUEST_FILE, doc);
    enum exit_code code = failed ? fail("the token cannot be written to the state directory", -failed)
                                 : acknowledge(directory, t, secret);
    explicit_bzero(secret, sizeof(secret));
    api_token_free(t);
    (void)close(directory);
    return code;
}

/* ---- the daemon ---- */

enum { NOTHING_ASKED, WAITING, DONE, AGAIN };

/* Loop thread. */
static void on_answered(struct command *cmd)
{
    struct admin_token_box *box = cmd->ctx;
    const struct problem *p = cmd->reply.problem;
    bool later = p && problem_kind(p->code)->status >= 500;
    if (p)
        log_warning("token of 'shootd admin-token' was not stored", "reason", p->detail);
    (void)snprintf(box->refusal, sizeof(box->refusal), "%s", p ? p->detail : "");
    atomic_store(&box->asked, later ? AGAIN : DONE);
    command_free(cmd);
}

/* Reports to the command that the token is stored, or the reason why it was refused (`refusal`). The command
 * may have ended. `id` is the id of the token; NULL when it could not be read. */
static void finish(int state_dir, const char *id, const char *refusal)
{
    json_t *doc CLEANUP_JSON = json_object();
    json_set_str(doc, "id", id);
    json_set_bool(doc, "taken", !refusal);
    json_set_str(doc, "reason", refusal);
    int r = write_document(state_dir, ANSWER_FILE, doc);
    if (r)
        log_warning("answer to shootd admin-token cannot be written", "file", ANSWER_FILE, "reason",
                    strerror(-r));
    (void)unlinkat(state_dir, TAKEN_FILE, 0);
}

/*
 * Renames the file to a name that only the daemon uses, and reads it. After a kill the next start reads the
 * file again. The file is removed later, and another command may write a new file in the meantime. Returns
 * NULL when there is no file, or when it is not usable.
 */
static json_t *take(int state_dir)
{
    const char *fault;
    if (!is_there(state_dir, TAKEN_FILE) && renameat(state_dir, REQUEST_FILE, state_dir, TAKEN_FILE) < 0)
        return NULL;
    json_t *doc = read_document(state_dir, TAKEN_FILE, &fault);
    if (doc)
        return doc;
    log_warning("request file of 'shootd admin-token' refused", "file", REQUEST_FILE, "reason", fault);
    finish(state_dir, NULL, fault);
    return NULL;
}

void admin_token_poll(struct admin_token_box *box)
{
    int asked = atomic_load(&box->asked);
    assert(box->state_dir >= 0 && box->post);
    if (asked == WAITING)
        return;
    if (asked == DONE)
        finish(box->state_dir, *box->id ? box->id : NULL, *box->refusal ? box->refusal : NULL);
    atomic_store(&box->asked, NOTHING_ASKED);
    json_t *doc = take(box->state_dir);
    if (!doc)
        return;
    (void)snprintf(box->id, sizeof(box->id), "%s", json_str_or(doc, "id", ""));
    struct command *cmd = command_new(COMMAND_TOKEN_HAND_IN);
    cmd->action_name = "createToken";
    cmd->body = doc;
    cmd->give_back = on_answered;
    cmd->ctx = box;
    atomic_store(&box->asked, WAITING);
    box->post(box->post_ctx, cmd);
}
