/*
 * The configuration is read again, by SIGHUP or POST /v1/reload: the main thread reads and checks it, the
 * loop thread puts it into force (reconcile/reload.h), all of it or nothing.
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
    const char *path; /* of the file; NULL: the environment says what to serve */
    struct loop *loop;
    struct config_current *current;
    /* Puts it into force; `done` runs on the loop thread when the one before is of no more use. */
    void (*apply)(void *ctx, const struct config *config, void (*done)(void *ctx), void *done_ctx);
    /* Answers those who asked; the loop thread. */
    void (*report)(void *ctx, uint64_t covers, const struct config_changes *changes, const char *faults);
    void *ctx;
    /* the reloader's own */
    pthread_t main;
    _Atomic uint64_t asked;
    struct reload_job *job; /* main thread; NULL: none is under way */
    atomic_bool job_is_over;
    bool again; /* SIGHUP came meanwhile */
};

/* The signal by which the loop thread wakes the main thread when a reload has ended. */
enum { RELOAD_OVER_SIGNAL = 10 /* SIGUSR1 */ };

/* Main thread. Everything else in *r is set. */
void reloader_init(struct reloader *r);
/* SIGHUP came: begins, or notes that another is wanted. systemd hears of it (SD-2). */
void reloader_begin(struct reloader *r);
/* Frees one that has ended, and begins the one that was wanted meanwhile. After each signal. */
void reloader_poll(struct reloader *r);
/* The loop has ended: what was under way is given up. */
void reloader_done(struct reloader *r);
/* Somebody asks by POST; loop thread. A number, greater than all before. */
uint64_t reloader_ask(void *reloader);

#endif
