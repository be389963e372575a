#include "daemon/reload.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"

_Static_assert((int)WAKE_SIGNAL == SIGUSR1, "the signal that main.c waits for");

/* How long a reload waits for the file, for example on a share that hangs. */
static const mono_us READ_LIMIT_US = 10 * US_PER_S;

enum reading_state { READING, READ, ABANDONED };

/* The reading of a configuration, on a thread of its own. The one that comes second, the end of the thread or
 * the main thread that does not wait any more, frees it. */
struct config_reading {
    const char *path;
    pthread_t main;
    atomic_int state; /* enum reading_state */
    /* ---- for the main thread from READ on ---- */
    struct config *config; /* NULL: it has faults */
    char *lines;           /* the faults and notes */
};

/* One reload. The main thread makes and frees it; the loop thread applies and reports it. */
struct reload_job {
    struct loop_task task;
    struct reloader *reloader;
    struct config_reading *reading; /* NULL: no thread reads */
    mono_us began_at;
    bool is_read;          /* the loop thread has the job */
    struct config *config; /* NULL: the configuration has faults or no changes, or is already in use */
    struct config_changes changes;
    char *faults;
    uint64_t covers;
};

/* ---- the reading thread ---- */

static void reading_free(struct config_reading *reading)
{
    config_free(reading->config);
    free(reading->lines);
    free(reading);
}

static void *read_configuration(void *arg)
{
    struct config_reading *reading = arg;
    const pthread_t main_thread = reading->main;
    size_t size = 0;
    FILE *report = open_memstream(&reading->lines, &size);
    if (!report)
        abort();
    thread_in_background("reload");
    reading->config = config_load(reading->path, CONFIG_TO_SERVE, report);
    (void)fclose(report);
    if (atomic_exchange(&reading->state, READ) == ABANDONED)
        reading_free(reading);
    else
        (void)pthread_kill(main_thread, WAKE_SIGNAL);
    return NULL;
}

/* Returns NULL when there is no thread for it. */
static struct config_reading *reading_start(const struct reloader *r)
{
    pthread_t thread;
    struct config_reading *reading = MEM_NEW(struct config_reading);
    reading->path = r->path;
    reading->main = r->main;
    atomic_init(&reading->state, READING);
    if (pthread_create(&thread, NULL, read_configuration, reading) != 0) {
        free(reading);
        return NULL;
    }
    (void)pthread_detach(thread);
    return reading;
}

static void reading_abandon(struct config_reading *reading)
{
    if (atomic_exchange(&reading->state, ABANDONED) == READ)
        reading_free(reading);
}

/* ---- the loop thread ---- */

static void job_over(struct reload_job *job)
{
    struct reloader *r = job->reloader;
    r->report(r->ctx, job->covers, &job->changes, job->faults);
    atomic_store(&r->job_is_over, true);
    (void)pthread_kill(r->main, WAKE_SIGNAL);
}

static void on_applied(void *ctx)
{
    struct reload_job *job = ctx;
    struct reloader *r = job->reloader;
    const struct config *config = TAKE_PTR(job->config);
    config_current_replace(r->current, config);
    r->in_force(r->ctx, config);
    job_over(job);
}

static void run_job(struct loop_task *task)
{
    struct reload_job *job = CONTAINER_OF(task, struct reload_job, task);
    struct reloader *r = job->reloader;
    loop_doing(r->loop, "reload");
    if (job->config)
        r->apply(r->ctx, job->config, on_applied, job);
    else
        job_over(job);
}

static void drop_job(struct loop_task *task ATTR_UNUSED)
{
    /* reloader_done frees the job */
}

uint64_t reloader_ask(void *reloader)
{
    struct reloader *r = reloader;
    const uint64_t number = atomic_fetch_add(&r->asked, 1) + 1;
    (void)pthread_kill(r->main, SIGHUP);
    return number;
}

/* ---- the main thread ---- */

static void job_free(struct reload_job *job)
{
    if (job->reading)
        reading_abandon(job->reading);
    config_free(job->config);
    config_changes_done(&job->changes);
    free(job->faults);
    free(job);
}

/* The report of a fault contains its line without the path of the file, because the client may be on another
 * machine. */
static char *without_path(const char *path, char *lines)
{
    char *out CLEANUP_FREE = mem_strdup("");
    char *rest = lines;
    const size_t len = path ? strlen(path) : 0;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        const bool named = len && !strncmp(line, path, len) && line[len] == ':';
        const char *text = named ? line + len + 1 : line;
        const bool numbered = named && *text >= '0' && *text <= '9';
        char *longer = mem_printf("%s%s%s%s", out, *out && *text ? "\n" : "", numbered ? "line " : "",
                                  text + strspn(text, " "));
        free(out);
        out = longer;
    }
    return TAKE_PTR(out);
}

/* Takes what was read. The loop thread replaces the current configuration only in this reload, so this thread
 * may look at it without config_current_enter. */
static void take_reading(struct reload_job *job)
{
    const struct reloader *r = job->reloader;
    struct config_reading *reading = TAKE_PTR(job->reading);
    job->config = TAKE_PTR(reading->config);
    if (!job->config)
        job->faults = without_path(r->path, reading->lines);
    reading_free(reading);
    if (!job->config)
        return;
    config_compare(config_current_get(r->current), job->config, &job->changes);
    if (!json_array_size(job->changes.applied)) {
        config_free(job->config);
        job->config = NULL;
    }
}

/* Hands the job to the loop when the configuration was read, or could not be read in time. */
static void poll_reading(struct reload_job *job)
{
    const bool is_late = env_mono(env_real()) - job->began_at > READ_LIMIT_US;
    if (job->reading && atomic_load(&job->reading->state) == READ) {
        take_reading(job);
    } else if (!job->reading || is_late) {
        if (job->reading)
            reading_abandon(TAKE_PTR(job->reading));
        job->faults =
            mem_printf("the configuration could not be read within %d s", (int)(READ_LIMIT_US / US_PER_S));
    } else {
        return;
    }
    job->is_read = true;
    loop_post(job->reloader->loop, &job->task);
}

void reloader_init(struct reloader *r)
{
    assert(r->current && r->loop && r->apply && r->in_force && r->report);
    r->main = pthread_self();
    r->job = NULL;
    r->again = false;
    atomic_init(&r->asked, 0);
    atomic_init(&r->job_is_over, false);
}

void reloader_begin(struct reloader *r)
{
    if (r->job) {
        r->again = true;
        return;
    }
    (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=reading the configuration again",
                     (long long)env_mono(env_real()));
    struct reload_job *job = MEM_NEW(struct reload_job);
    *job = (struct reload_job){.task = {.run = run_job, .drop = drop_job},
                               .reloader = r,
                               .began_at = env_mono(env_real()),
                               .covers = atomic_load(&r->asked)};
    job->reading = reading_start(r);
    r->job = job;
}

void reloader_poll(struct reloader *r)
{
    if (r->job && !r->job->is_read)
        poll_reading(r->job);
    if (!r->job || !atomic_exchange(&r->job_is_over, false))
        return;
    const bool failed = r->job->faults != NULL;
    job_free(TAKE_PTR(r->job));
    (void)sd_notify(0, failed ? "READY=1\nSTATUS=serving; the configuration was not reloaded: it has faults"
                              : "READY=1\nSTATUS=serving");
    if (r->again) {
        r->again = false;
        reloader_begin(r);
    }
}

void reloader_done(struct reloader *r)
{
    if (r->job)
        job_free(TAKE_PTR(r->job));
}
