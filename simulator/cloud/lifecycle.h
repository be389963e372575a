/* Runs: what the backend does with a shoot over time. Nothing ticks; a shoot is brought up to the
 * simulated clock whenever a request looks at it.
 *
 *   accepted -> (stale_seconds, others may join) -> Processing -> Succeeded
 *                                      |  \----> Failed        (retry, a change or delete start a new run)
 *                                      \-------> Error -> Processing again
 *   Delete/Succeeded -> (delete_linger_seconds) -> gone
 */
#ifndef SIMULATOR_CLOUD_LIFECYCLE_H
#define SIMULATOR_CLOUD_LIFECYCLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct shoot;
struct sim;

enum run_kind {
    RUN_CREATE,
    RUN_DELETE,
    RUN_HIBERNATE,
    RUN_WAKE,
    RUN_RECONCILE,
    RUN_SCALE,
    RUN_ROLL,
    RUN_WORKER_CREATE,
    RUN_WORKER_DELETE,
    RUN_PATCH,
    RUN_UPGRADE,
    RUN_HA,
    RUN_CA_PREPARE,
    RUN_CA_COMPLETE,
    RUN_MAINTENANCE,
    RUN_KIND_MAX_,
    RUN_KIND_INVALID = -1
};

enum run_type { RUN_TYPE_CREATE, RUN_TYPE_RECONCILE, RUN_TYPE_DELETE, RUN_TYPE_MAX_ };

enum run_state { RUN_PENDING, RUN_PROCESSING, RUN_SUCCEEDED, RUN_ERROR, RUN_FAILED, RUN_STATE_MAX_ };

enum run_outcome { OUTCOME_SUCCESS, OUTCOME_FAILED, OUTCOME_ERROR_HEALS, OUTCOME_HANG, OUTCOME_MAX_ };

struct run {
    enum run_kind kind; /* what it looks like: progress, texts, duration */
    unsigned kinds;     /* a bit for each kind of write that it carries out; `kind` is one of them */
    enum run_type type;
    enum run_state state;
    enum run_outcome outcome;
    int at_progress; /* where a scripted outcome strikes */
    int64_t accepted_us;
    int64_t starts_us;
    int64_t duration_us;
    int64_t changed_us; /* when the present state was entered */
    int64_t heal_us;
    json_t *codes;
    char *description;
};

/* An outcome that /_sim/lifecycle asked for: applies to the next runs that begin. */
struct script {
    struct script *next;
    char *shoot;        /* NULL: any */
    enum run_kind kind; /* RUN_KIND_INVALID: any that matches type */
    enum run_type type; /* RUN_TYPE_MAX_: any */
    enum run_outcome outcome;
    int at_progress;
    double heal_seconds;
    json_t *codes;
    char *description;
    int64_t count;
};

/* One line of a flow: from this share of the time on, this progress and text are shown. */
struct flow_step {
    int permille;
    int progress;
    const char *text;
};

const char *run_kind_name(enum run_kind kind);
enum run_kind run_kind_find(const char *name);
double run_kind_seconds(enum run_kind kind);
const char *run_type_name(enum run_type type);
const char *run_state_name(enum run_state state);

/* The step in force at `elapsed` of `duration`, and the one where a progress is first reached. */
const struct flow_step *flow_at(enum run_kind kind, int64_t elapsed_us, int64_t duration_us);
const struct flow_step *flow_reaching(enum run_kind kind, int progress);

/* Registers an accepted write; it is picked up stale_seconds later. A write that comes before that joins the
 * one that waits: one run does both. */
void lifecycle_accept(struct sim *sim, struct shoot *shoot, enum run_kind kind);
/* The same for all that the last run was about. */
void lifecycle_accept_again(struct sim *sim, struct shoot *shoot);
bool run_does(const struct run *run, enum run_kind kind);
void lifecycle_advance(struct sim *sim, struct shoot *shoot);
/* All shoots; drops those that are gone. */
void lifecycle_advance_all(struct sim *sim);
/* True from the acceptance of a write until its run has ended one way or the other. */
bool lifecycle_is_busy(const struct shoot *shoot);
/* True from the pick-up. */
bool lifecycle_is_running(const struct shoot *shoot);
/* Progress of the run in force, 0 before the first. */
int lifecycle_progress(const struct shoot *shoot, int64_t now_us);

/* Takes the script over. */
void lifecycle_take_script(struct sim *sim, struct script *script);
void lifecycle_clear_scripts(struct sim *sim);
void lifecycle_free_script(struct script *script);
void run_done(struct run *run);

/* The objects of the answers, v2 spelling; NULL while nothing was picked up yet. */
json_t *status_last_operation(const struct shoot *shoot, int64_t now_us);
json_t *status_object(const struct shoot *shoot, int64_t now_us, bool hibernation_blocked);

#endif
