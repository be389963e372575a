/*
 * Reads the configuration again, after SIGHUP or POST /v1/reload. A thread of its own reads and checks it,
 * the main thread compares it, and the loop thread applies all changes or none (reconcile/reload.h). A file
 * that cannot be read in ten seconds is a fault.
 */
#ifndef DAEMON_RELOAD_H
#define DAEMON_RELOAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "config/changes.h"
#include "config/current.h"
#include "loop/loop.h"

struct reload_job;

struct reloader {
    const char *path; /* path of the file; NULL: the environment contains the configuration */
    struct loop *loop;
    struct config_current *current;
    /* Applies the configuration; `done` runs on the loop thread when the previous configuration is not used
     * any more. */
    void (*apply)(void *ctx, const struct config *config, void (*done)(void *ctx), void *done_ctx);
    /* Called when the configuration has become the current one. Loop thread. */
    void (*in_force)(void *ctx, const struct config *config);
    /* Answers the requests for a reload. Loop thread. */
    void (*report)(void *ctx, uint64_t covers, const struct config_changes *changes, const char *faults);
    void *ctx;
    /* ---- used only by reload.c ---- */
    pthread_t main;
    _Atomic uint64_t asked;
    struct reload_job *job; /* only the main thread uses it; NULL: no reload is running */
    atomic_bool job_is_over;
    bool again; /* SIGHUP arrived while a reload was running */
};

/* Other threads wake the main thread with this signal: the one that reads a configuration, the loop thread
 * when a reload has ended, and the thread of main.c that takes signals when shootd has to stop. */
enum { WAKE_SIGNAL = 10 /* SIGUSR1 */ };

/* Prepares the reloader. The caller sets all other members of *r first. Main thread. */
void reloader_init(struct reloader *r);
/* Called after SIGHUP: begins a reload. While one is running, notes that another one is requested. Notifies
 * systemd (SD-2). */
void reloader_begin(struct reloader *r);
/* Continues a reload whose file was read, frees an ended one, and begins one that was requested meanwhile.
 * Called after each signal, and each second. */
void reloader_poll(struct reloader *r);
/* Called when the loop has ended: discards a running reload, and does not wait for its file. */
void reloader_done(struct reloader *r);
/* Requests a reload for a POST. Returns a number that is greater than all earlier ones. Loop thread. */
uint64_t reloader_ask(void *reloader);

#endif
