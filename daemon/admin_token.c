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
#include "model/cluster.h"
#include "model/command.h"

#define TOKEN_FILE "admin-token.request"

enum { DAYS = 90 /* AU-4 */, FILE_MAX_BYTES = 4096, PATIENCE_MS = 10000, STEP_MS = 50 };

/* ---- the command ---- */

static bool is_left(int directory)
{
    struct stat st;
    return fstatat(directory, TOKEN_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct api_token *make_token(char secret[static TOKEN_BYTES])
{
    const struct env *env = env_real();
    char *everything[] = {(char[]){"*"}, NULL};
    char *maker CLEANUP_FREE = mem_printf("shootd admin-token (user %u)", (unsigned)getuid());
    struct api_token *t = api_token_new(env, "admin", ROLE_ADMIN, everything, maker, secret);
    t->expires_at = t->created_at + DAYS * 24 * 3600 * US_PER_S;
    return t;
}

/* 0 or a negative errno. */
static int leave(int directory, const struct api_token *t)
{
    json_t *doc CLEANUP_JSON = api_token_to_json(t);
    char *text CLEANUP_FREE = json_text(doc);
    assert(strlen(text) < FILE_MAX_BYTES);
    return private_file_write(directory, TOKEN_FILE, text, strlen(text));
}

static bool was_taken(int directory)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000};
    for (int ms = 0; ms < PATIENCE_MS && is_left(directory); ms += STEP_MS)
        (void)nanosleep(&step, NULL);
    return !is_left(directory);
}

static int fail(const char *what, int error)
{
    (void)fprintf(stderr, "shootd: %s: %s\n", what, strerror(error));
    return EXIT_DEPENDENCY;
}

int admin_token_make(const struct config *config)
{
    char secret[TOKEN_BYTES];
    int directory = open(config->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || !state_dir_become_owner(directory))
        return fail(config->state_dir, errno);
    if (flock(directory, LOCK_EX | LOCK_NB) < 0 || is_left(directory)) {
        (void)fprintf(
            stderr,
            "shootd: a token waits already: shootd takes it when it runs with this state directory; "
            "remove %s/" TOKEN_FILE " to make another\n",
            config->state_dir);
        (void)close(directory);
        return EXIT_DEPENDENCY;
    }
    struct api_token *t = make_token(secret);
    int failed = leave(directory, t);
    if (!failed) {
        bool taken = was_taken(directory);
        (void)printf("%s\n", secret);
        (void)fprintf(
            stderr, "shootd: token %s, role admin, all projects, for %d days, %s\n", t->id, DAYS,
            taken ? "is good from now on"
                  : "will be good when shootd runs; it does not now, or not with this state directory");
    }
    explicit_bzero(secret, sizeof(secret));
    api_token_free(t);
    (void)close(directory);
    return failed ? fail("the token cannot be left in the state directory", -failed) : EXIT_OK;
}

/* ---- the daemon's side ---- */

enum { NOTHING_ASKED, WAITING, DONE, AGAIN };

/* Loop thread. */
static void on_answered(struct command *cmd)
{
    struct admin_token_box *box = cmd->ctx;
    const struct problem *p = cmd->reply.problem;
    bool later = p && problem_kind(p->code)->status >= 500;
    if (p)
        log_warning("the token of shootd admin-token was not stored", "reason", p->detail);
    atomic_store(&box->asked, later ? AGAIN : DONE);
    command_free(cmd);
}

/* NULL: nothing that can be used was there; it is removed. */
static json_t *read_token(int state_dir)
{
    char text[FILE_MAX_BYTES];
    int len = private_file_read(state_dir, TOKEN_FILE, PRIVATE_TO_OWNER, text, sizeof(text));
    json_t *doc = len > 0 ? json_parse_strict(text, (size_t)len, NULL) : NULL;
    if (doc)
        return doc;
    log_warning("the file of shootd admin-token is refused", "file", TOKEN_FILE, "reason",
                len < 0 ? strerror(-len) : "no JSON");
    (void)unlinkat(state_dir, TOKEN_FILE, 0);
    return NULL;
}

void admin_token_look(struct admin_token_box *box)
{
    int asked = atomic_load(&box->asked);
    assert(box->state_dir >= 0 && box->post);
    if (asked == DONE)
        (void)unlinkat(box->state_dir, TOKEN_FILE, 0);
    if (asked == WAITING)
        return;
    atomic_store(&box->asked, NOTHING_ASKED);
    json_t *doc = is_left(box->state_dir) ? read_token(box->state_dir) : NULL;
    if (!doc)
        return;
    struct command *cmd = command_new(COMMAND_TOKEN_HAND_IN);
    cmd->action_name = "createToken";
    cmd->body = doc;
    cmd->give_back = on_answered;
    cmd->ctx = box;
    atomic_store(&box->asked, WAITING);
    box->post(box->post_ctx, cmd);
}
