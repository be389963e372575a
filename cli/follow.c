#include "cli/follow.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/mem.h"
#include "cli/api.h"
#include "cli/problem.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/when.h"
#include "model/names.h"

enum {
    WAIT_S = 2,
    ROUND_MS = 1000,
    LEAST_ROUND_MS = 500,
    WAIT_TIMEOUT_MS = 20000,
    LEAST_TIMEOUT_MS = 250,
    LONG_LOOK_MS = (WAIT_S + 1) * 1000,
    FIRST_OUTAGE_MS = 500,
    LONGEST_OUTAGE_MS = 5000
};

struct following {
    struct cli *cli;
    struct followed *list;
    size_t count;
    mono_us deadline;
    mono_us away_since; /* when the server became unreachable; 0: it can be reached */
    unsigned failures;  /* the number of consecutive failed requests */
    int64_t pause_ms;   /* the pause that the server requested in its last refusal */
    size_t first; /* the index of the wait with which a round begins; after a failure the next round begins
                   * with another wait */
};

void followed_done(struct followed *one)
{
    free(one->cluster);
    free(one->operation);
    free(one->cluster_id);
    json_decref(one->last);
    *one = (struct followed){0};
}

static void ends(struct followed *one, int code)
{
    assert(!one->ended);
    one->ended = true;
    one->code = code;
}

static int percent_of(const json_t *document)
{
    int64_t percent = json_int(document, "progress", -1);
    return percent >= 0 && percent <= 100 ? (int)percent : -1;
}

/* ---- output ---- */

static void show_operation(struct following *f, size_t i, const json_t *operation, enum progress_state state)
{
    const char *type = json_str_or(operation, "type", "operation");
    char *label CLEANUP_FREE = mem_printf("%s %s", f->list[i].cluster, type);
    const char *status = json_str_or(operation, "status", "running");
    const char *message = state == PROGRESS_GOES_ON ? json_str_or(operation, "message", status) : status;
    progress_set(f->cli, i, label, percent_of(operation), message, json_str(operation, "created_at"), state);
}

static void show_cluster(struct following *f, size_t i, const json_t *cluster, enum progress_state state)
{
    const json_t *status = json_obj(cluster, "status"), *operation = json_obj(cluster, "operation");
    bool open = operation && !json_str(operation, "finished_at");
    char *label CLEANUP_FREE =
        mem_printf("%s %s", f->list[i].cluster, json_str_or(status, "phase", "unknown"));
    const char *message = json_str(open ? operation : status, "message");
    progress_set(f->cli, i, label, percent_of(open ? operation : status), message,
                 json_str(operation, "created_at"), state);
}

/* ---- one read of the server ---- */

static void look_at_operation(struct following *f, size_t i, const json_t *operation)
{
    struct followed *one = &f->list[i];
    int status = operation_status_from_name(json_str(operation, "status"));
    bool final = status >= 0 && operation_status_is_final((enum operation_status)status);
    bool succeeded = status == OPERATION_SUCCEEDED;
    show_operation(f, i, operation,
                   !final      ? PROGRESS_GOES_ON
                   : succeeded ? PROGRESS_SUCCEEDED
                               : PROGRESS_FAILED);
    if (final)
        ends(one, succeeded ? END_OK : END_OPERATION_FAILED);
}

/* Called when the cluster exists now: waits for its operation. When the cluster has no operation, the wait
 * ends. */
static void adopt_operation(struct following *f, size_t i, const json_t *cluster)
{
    struct followed *one = &f->list[i];
    one->operation = mem_strdup(json_str(json_obj(cluster, "operation"), "id"));
    if (one->operation) {
        show_operation(f, i, json_obj(cluster, "operation"), PROGRESS_GOES_ON);
        return;
    }
    json_decref(one->last);
    one->last = NULL;
    ends(one, END_OK);
}

static bool is_another(const struct followed *one, const json_t *cluster)
{
    return one->cluster_id && !mem_same_str(one->cluster_id, json_str(cluster, "id"));
}

static void look_at_cluster(struct following *f, size_t i, const json_t *cluster)
{
    struct followed *one = &f->list[i];
    assert(one->goal == GOAL_DELETED || (one->goal == GOAL_PHASE && one->phase));
    const char *phase = json_str_or(json_obj(cluster, "status"), "phase", "unknown");
    const json_t *operation = json_obj(cluster, "operation");
    bool open = operation && !json_str(operation, "finished_at");
    if (is_another(one, cluster)) {
        if (one->goal != GOAL_DELETED)
            progress_note(f->cli,
                          "shootctl: %s: the cluster was deleted, and a new cluster has the same name",
                          one->cluster);
        ends(one, one->goal == GOAL_DELETED ? END_OK : END_NOT_FOUND);
        return;
    }
    if (!one->cluster_id)
        one->cluster_id = mem_strdup(json_str(cluster, "id"));
    bool reached = one->goal == GOAL_PHASE && strcmp(phase, one->phase) == 0;
    bool failed = !reached && !open && phase_from_name(phase) == PHASE_FAILED;
    show_cluster(f, i, cluster, reached ? PROGRESS_SUCCEEDED : failed ? PROGRESS_FAILED : PROGRESS_GOES_ON);
    if (reached || failed)
        ends(one, reached ? END_OK : END_OPERATION_FAILED);
}

static void target_of(const struct following *f, size_t i, bool alone, struct api_target *ret)
{
    const struct followed *one = &f->list[i];
    assert(one->operation || (one->project && one->cluster));
    if (!one->operation) {
        api_target_init(ret, API_CLUSTER, one->project, one->cluster, NULL);
        return;
    }
    char seconds[24];
    (void)snprintf(seconds, sizeof(seconds), "%d", WAIT_S);
    api_target_init(ret, API_OPERATION, one->operation, NULL, NULL);
    api_query(ret, "wait", alone ? seconds : NULL);
}

static void note_outage(struct following *f, const struct cli_answer *answer)
{
    const char *said = answer->json ? json_str_or(answer->json, "title", "refused") : answer->error;
    if (!f->away_since) {
        f->away_since = env_mono(env_real());
        char *pause CLEANUP_FREE = when_lasting(problem_pause_ms(answer) / 1000);
        progress_note(f->cli, "shootctl: %s; waiting goes on%s%s", said,
                      problem_pause_ms(answer) ? ", the server asks for a pause of " : "",
                      problem_pause_ms(answer) ? pause : "");
    }
    f->failures++;
    f->pause_ms = problem_pause_ms(answer);
}

static void note_return(struct following *f)
{
    if (f->away_since)
        progress_note(f->cli, "shootctl: the server answers again");
    f->away_since = 0;
    f->failures = 0;
    f->pause_ms = 0;
}

/* Handles an answer which says that the cluster or the operation does not exist. Ends the wait, except for a
 * cluster that need not exist yet. */
static void look_at_absence(struct following *f, size_t i, const struct cli_answer *answer)
{
    struct followed *one = &f->list[i];
    bool no_cluster = problem_is_absent_cluster(answer);
    if (one->goal == GOAL_DELETED && no_cluster) {
        char *label CLEANUP_FREE = mem_printf("%s delete", one->cluster);
        progress_set(f->cli, i, label, -1, "gone", NULL, PROGRESS_SUCCEEDED);
        ends(one, END_OK);
        return;
    }
    if (one->may_be_absent && !one->operation && !one->cluster_id && no_cluster) {
        progress_set(f->cli, i, one->cluster, -1, "does not exist yet", NULL, PROGRESS_GOES_ON);
        return;
    }
    progress_note(f->cli, "shootctl: %s: %s", one->cluster,
                  json_str_or(answer->json, "detail", "it is gone"));
    ends(one, END_NOT_FOUND);
}

/* Returns the time until the end of the wait, at least 0. */
static int64_t left_ms(const struct following *f)
{
    int64_t left = (f->deadline - env_mono(env_real())) / US_PER_MS;
    return left > 0 ? left : 0;
}

/* Returns the timeout of one request. A server that does not answer must not make the wait longer. */
static int64_t patience_ms(const struct following *f)
{
    int64_t left = left_ms(f);
    return left > WAIT_TIMEOUT_MS ? WAIT_TIMEOUT_MS : left > LEAST_TIMEOUT_MS ? left : LEAST_TIMEOUT_MS;
}

/* Requests the state of one cluster or operation. Returns false after an error that ends all waits; *ret_code
 * is then set. */
static bool look(struct following *f, size_t i, bool alone, int *ret_code)
{
    struct followed *one = &f->list[i];
    struct api_target target CLEANUP_TARGET;
    struct cli_answer answer CLEANUP_ANSWER = {0};
    const struct cli_request request = {.once = true, .timeout_ms = patience_ms(f)};
    target_of(f, i, alone, &target);
    api_call_raw(f->cli, &target, &request, &answer);
    if (answer.end == HTTP_STOPPED)
        return true;
    if (problem_may_pass(&answer)) {
        note_outage(f, &answer);
        return true;
    }
    note_return(f);
    if (answer.end == HTTP_ANSWERED && answer.status == 200) {
        json_decref(one->last);
        one->last = json_incref(answer.json);
        if (one->operation)
            look_at_operation(f, i, answer.json);
        else if (one->goal == GOAL_OPERATION)
            adopt_operation(f, i, answer.json);
        else
            look_at_cluster(f, i, answer.json);
        return true;
    }
    if (answer.end == HTTP_ANSWERED && answer.status == 404) {
        look_at_absence(f, i, &answer);
        return true;
    }
    *ret_code = (int)problem_code(&answer);
    progress_end(f->cli);
    if (*ret_code == END_OK)
        *ret_code = cli_fail(END_UNREACHABLE, "%s: the server is not shootd: HTTP %ld in answer to a GET",
                             f->cli->settings.url.value, answer.status);
    else
        problem_say(f->cli, &answer);
    return false;
}

/* ---- rounds ---- */

static size_t open_count(const struct following *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        count += !f->list[i].ended;
    return count;
}

/* Quotes a word for the shell where necessary. The caller frees it. */
static char *shell_word(const char *text)
{
    static const char harmless[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,=[]-";
    struct buffer word CLEANUP_BUFFER;
    buffer_init(&word, 1024 * 1024);
    if (*text && !text[strspn(text, harmless)])
        return mem_strdup(text);
    buffer_add_str(&word, "'");
    for (; *text; text++)
        if (*text == '\'')
            buffer_add_str(&word, "'\\''");
        else
            buffer_add(&word, text, 1);
    buffer_add_str(&word, "'");
    return buffer_take(&word, NULL);
}

/* Returns the flags of this command line that select the server, each after a blank. The caller frees the
 * text. */
static char *server_flags(const struct cli *cli)
{
    static const char *const names[] = {"context", "url", "ca-file"};
    struct buffer flags CLEANUP_BUFFER;
    buffer_init(&flags, 1024 * 1024);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = parsed_text(cli->parsed, names[i]);
        char *word CLEANUP_FREE = value ? shell_word(value) : NULL;
        if (word)
            buffer_printf(&flags, " --%s %s", names[i], word);
    }
    return buffer_take(&flags, NULL);
}

static const char *goal_text(const struct followed *one)
{
    return one->goal == GOAL_OPERATION ? "operation" : one->goal == GOAL_DELETED ? "deleted" : "phase";
}

/* Prints the commands that continue the waits. */
static void say_how_to_come_back(struct following *f)
{
    char *flags CLEANUP_FREE = server_flags(f->cli);
    for (size_t i = 0; i < f->count; i++) {
        const struct followed *one = &f->list[i];
        if (one->ended)
            continue;
        char *project CLEANUP_FREE = shell_word(one->project),
                      *cluster CLEANUP_FREE = shell_word(one->cluster);
        char *operation CLEANUP_FREE = one->operation ? shell_word(one->operation) : NULL;
        if (operation)
            cli_note("  shootctl wait %s%s   # %s goes on at the server", operation, flags, one->cluster);
        else
            cli_note("  shootctl wait %s --project %s%s --for=%s%s%s%s", cluster, project, flags,
                     goal_text(one), one->phase ? "=" : "", one->phase ? one->phase : "",
                     one->may_be_absent ? " --allow-absent" : "");
    }
}

static void leave_if_interrupted(struct following *f)
{
    if (!progress_tick(f->cli))
        return;
    progress_end(f->cli);
    cli_note("shootctl: no longer waiting; nothing was cancelled. To wait again:");
    say_how_to_come_back(f);
    signals_die(SIGINT);
}

static int64_t pause_of(const struct following *f, bool alone, mono_us began)
{
    if (f->failures) {
        int64_t ms = (int64_t)FIRST_OUTAGE_MS << (f->failures < 5 ? f->failures - 1 : 4);
        ms = ms < LONGEST_OUTAGE_MS ? ms : LONGEST_OUTAGE_MS;
        return ms > f->pause_ms ? ms : f->pause_ms;
    }
    int64_t took = (env_mono(env_real()) - began) / US_PER_MS;
    int64_t wanted = alone && f->list[0].goal == GOAL_OPERATION ? LEAST_ROUND_MS : ROUND_MS;
    return took < wanted ? wanted - took : 0;
}

static int time_is_over(struct following *f)
{
    progress_end(f->cli);
    if (f->away_since)
        cli_note("shootctl: the server could not be reached");
    (void)cli_fail(END_TIMED_OUT,
                   "the wait reached its limit (--timeout); nothing was cancelled. To wait again:");
    say_how_to_come_back(f);
    return END_TIMED_OUT;
}

/* Prints the command that shows more about the cluster. After a wait for the id of an operation, the
 * operation names the cluster. */
static void say_where_more_is(const struct cli *cli, const struct followed *one, const json_t *operation)
{
    const char *cluster = json_str_or(operation, "cluster", one->cluster);
    const char *project = json_str_or(operation, "project", one->project);
    if (!*project)
        return;
    char *flags CLEANUP_FREE = server_flags(cli);
    char *name CLEANUP_FREE = shell_word(cluster), *of CLEANUP_FREE = shell_word(project);
    cli_note("  'shootctl describe %s --project %s%s' says more", name, of, flags);
}

static void say_failures(const struct following *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct followed *one = &f->list[i];
        if (one->code != END_OPERATION_FAILED)
            continue;
        const json_t *operation = one->goal == GOAL_OPERATION ? one->last : json_obj(one->last, "operation");
        const json_t *error = json_obj(operation, "error");
        if (error)
            problem_print(&f->cli->err, error, NULL);
        else
            (void)cli_fail(END_OPERATION_FAILED, "%s: %s", one->cluster,
                           json_str_or(json_obj(one->last, "status"), "message", "it failed"));
        say_where_more_is(f->cli, one, operation);
    }
}

/* Makes one round of requests. Returns false after an error that ends all waits; *ret_code is then set. The
 * round ends early when the time is over, and when the server cannot be reached, because the next request
 * would fail, too. */
static bool look_at_all(struct following *f, bool alone, int *ret_code)
{
    size_t first = f->first;
    f->first = 0;
    for (size_t n = 0; n < f->count; n++) {
        size_t i = (first + n) % f->count;
        if (f->list[i].ended)
            continue;
        if (!look(f, i, alone, ret_code))
            return false;
        leave_if_interrupted(f);
        if (f->failures)
            f->first = (i + 1) % f->count;
        if (f->failures || !left_ms(f))
            break;
    }
    return true;
}

int follow_all(struct cli *cli, struct followed *list, size_t count, int64_t timeout_ms)
{
    struct following f = {.cli = cli, .list = list, .count = count};
    int code = END_OK;
    f.deadline = env_mono(env_real()) + timeout_ms * US_PER_MS; /* this cannot overflow, because durations
                                                                 * have a limit */
    progress_begin(cli, count);
    for (unsigned round = 0; open_count(&f); round++) {
        mono_us began = env_mono(env_real());
        if (round > 0 && !left_ms(&f))
            return time_is_over(&f);
        /* When there is only one wait, the server may hold the request for WAIT_S. The first request is not
         * held, so that a state is shown at once. The last one is not held, because the wait must end in
         * time. */
        bool alone = count == 1 && round > 0 && left_ms(&f) > LONG_LOOK_MS;
        if (!look_at_all(&f, alone, &code))
            return code;
        if (!open_count(&f))
            break;
        int64_t left = left_ms(&f), pause = pause_of(&f, alone, began);
        if (!left)
            return time_is_over(&f);
        (void)http_pause(cli->http, pause < left ? pause : left);
        leave_if_interrupted(&f);
    }
    progress_end(cli);
    say_failures(&f);
    for (size_t i = 0; i < count && code == END_OK; i++)
        code = list[i].code;
    return code;
}
