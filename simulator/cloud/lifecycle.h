/* Runs: the work of the backend on a shoot over time. There is no timer: each request first advances the
 * shoots that may have changed to the simulated clock.
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

struct sim_shoot;
struct sim;

#define RUN_TASK_ID \
    "Waiting until worker pools have been reconciled" /* the task_id of an error without one */

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
    enum run_kind kind; /* the kind whose progress, texts and duration the run shows */
    unsigned kinds;     /* a bit for each kind of write in the run, including `kind` */
    enum run_type type;
    enum run_state state;
    enum run_outcome outcome;
    int at_progress; /* the progress at which a scripted outcome occurs */
    int64_t accepted_us;
    int64_t starts_us;
    int64_t duration_us;
    int64_t changed_us; /* when the current state began */
    int64_t heal_us;
    json_t *errors; /* the last_errors of a run that fails or hangs, without their times */
    char *description;
};

/* An outcome that a test requested with /_sim/lifecycle. The outcome applies to the next runs that begin. */
struct script {
    struct script *next;
    char *shoot;        /* NULL: any shoot */
    enum run_kind kind; /* RUN_KIND_INVALID: any kind that matches `type` */
    enum run_type type; /* RUN_TYPE_MAX_: any type */
    enum run_outcome outcome;
    int at_progress;
    double heal_seconds;
    json_t *errors;
    char *description;
    int64_t count;
};

/* An entry of a flow: from `permille` of the duration on, the run shows this progress and text. */
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

/* flow_at returns the entry that is shown after `elapsed_us`; flow_reaching returns the first entry with at
 * least this progress. */
const struct flow_step *flow_at(enum run_kind kind, int64_t elapsed_us, int64_t duration_us);
const struct flow_step *flow_reaching(enum run_kind kind, int progress);

/* Registers an accepted write. The write starts stale_seconds later. An earlier waiting write and this one
 * become one run. */
void lifecycle_accept(struct sim *sim, struct sim_shoot *shoot, enum run_kind kind);
/* Registers a write with all kinds of the last run, in the same way as lifecycle_accept. */
void lifecycle_accept_again(struct sim *sim, struct sim_shoot *shoot);
/* Gives the shoot a run that has come to the outcome of the script at this moment, without a request. A write
 * that waits begins after this run. */
void lifecycle_impose(struct sim *sim, struct sim_shoot *shoot, enum run_kind kind,
                      const struct script *script);
bool run_does(const struct run *run, enum run_kind kind);
/* Advances all unsettled shoots; removes those that no longer exist. */
void lifecycle_advance_all(struct sim *sim);
/* True while a write waits for its run, or a run is in progress. */
bool lifecycle_is_busy(const struct sim_shoot *shoot);
/* True while the current run is in progress. */
bool lifecycle_is_running(const struct sim_shoot *shoot);
/* Returns the progress of the current run; 0 before the first run. */
int lifecycle_progress(const struct sim_shoot *shoot, int64_t now_us);

/* Takes over the script. */
void lifecycle_take_script(struct sim *sim, struct script *script);
void lifecycle_clear_scripts(struct sim *sim);
void lifecycle_free_script(struct script *script);
void run_done(struct run *run);

/* Return objects of answers, with the names of v2; NULL before the first run has started. */
json_t *status_last_operation(const struct sim_shoot *shoot, int64_t now_us);
json_t *status_object(const struct sim_shoot *shoot, int64_t now_us, bool hibernation_blocked);
/* Returns when the run last changed the conditions and constraints. */
int64_t status_changed_us(const struct sim_shoot *shoot, int64_t now_us);

#endif
