#include "simulator/cloud/lifecycle.h"

#include "base/attrs.h"
#include "base/list.h"
#include "base/mem.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static unsigned bit_of(enum run_kind kind)
{
    assert((unsigned)kind < RUN_KIND_MAX_);
    return 1U << (unsigned)kind;
}

bool run_does(const struct run *run, enum run_kind kind)
{
    return (run->kinds & bit_of(kind)) != 0;
}

void run_done(struct run *run)
{
    json_decref(run->errors);
    free(run->description);
    run->errors = NULL;
    run->description = NULL;
}

void lifecycle_free_script(struct script *script)
{
    if (!script)
        return;
    json_decref(script->errors);
    free(script->shoot);
    free(script->description);
    free(script);
}

void lifecycle_take_script(struct sim *sim, struct script *script)
{
    struct script **end = &sim->scripts;
    while (*end)
        end = &(*end)->next;
    *end = script;
}

void lifecycle_clear_scripts(struct sim *sim)
{
    while (sim->scripts) {
        struct script *script = sim->scripts;
        sim->scripts = script->next;
        lifecycle_free_script(script);
    }
}

static bool script_matches(const struct script *script, const struct sim_shoot *shoot, const struct run *run)
{
    if (script->shoot && strcmp(script->shoot, shoot->name) != 0)
        return false;
    if (script->kind != RUN_KIND_INVALID)
        return run_does(run, script->kind);
    return script->type == RUN_TYPE_MAX_ || script->type == run->type;
}

static void run_follow(struct run *run, const struct script *script)
{
    run->outcome = script->outcome;
    run->at_progress = script->at_progress;
    run->heal_us = clock_from_seconds(script->heal_seconds);
    run->errors = json_incref(script->errors);
    run->description = mem_strdup(script->description);
}

/* Gives a new run the outcome of the first matching script, and decrements that script's count. */
static void script_apply(struct sim *sim, const struct sim_shoot *shoot, struct run *run)
{
    for (struct script **at = &sim->scripts; *at; at = &(*at)->next) {
        struct script *script = *at;
        if (!script_matches(script, shoot, run))
            continue;
        run_follow(run, script);
        if (script->count > 0 && --script->count == 0) {
            *at = script->next;
            lifecycle_free_script(script);
        }
        return;
    }
}

/*
 * Returns the kind that a run of several kinds shows: the create or the deletion if the run includes one,
 * otherwise the kind that takes longest.
 */
static enum run_kind kinds_leading(const struct sim *sim, unsigned kinds)
{
    enum run_kind leading = RUN_KIND_INVALID;
    for (int kind = 0; kind < RUN_KIND_MAX_; kind++) {
        if ((kinds & bit_of((enum run_kind)kind)) == 0)
            continue;
        if (kind == RUN_CREATE || kind == RUN_DELETE)
            return (enum run_kind)kind;
        if (leading == RUN_KIND_INVALID || sim->settings.durations[kind] > sim->settings.durations[leading])
            leading = (enum run_kind)kind;
    }
    assert(leading != RUN_KIND_INVALID); /* a run has at least one kind */
    return leading;
}

static void queued_accept(struct sim *sim, struct sim_shoot *shoot, unsigned kinds)
{
    int64_t now_us = clock_now_us(&sim->clock);
    bool deletes = (kinds & bit_of(RUN_DELETE)) != 0;
    if (shoot->has_queued && shoot->queued.kind == RUN_DELETE)
        return;
    if (!shoot->has_queued || deletes) {
        run_done(&shoot->queued);
        memset(&shoot->queued, 0, sizeof(shoot->queued));
        shoot->queued.state = RUN_PENDING;
        shoot->queued.accepted_us = now_us;
        shoot->queued.starts_us = now_us + clock_from_seconds(sim->settings.stale_seconds);
        shoot->has_queued = true;
    }
    /* Adds the new kinds to the waiting run. The last of several requests about hibernation is used. */
    if ((kinds & (bit_of(RUN_HIBERNATE) | bit_of(RUN_WAKE))) != 0)
        shoot->queued.kinds &= ~(bit_of(RUN_HIBERNATE) | bit_of(RUN_WAKE));
    shoot->queued.kinds |= kinds;
    shoot->queued.kind = kinds_leading(sim, shoot->queued.kinds);
    if (deletes)
        shoot->deleting = true;
    if (list_is_detached(&shoot->unsettled))
        list_append(&sim->unsettled, &shoot->unsettled);
}

void lifecycle_accept(struct sim *sim, struct sim_shoot *shoot, enum run_kind kind)
{
    queued_accept(sim, shoot, bit_of(kind));
}

void lifecycle_accept_again(struct sim *sim, struct sim_shoot *shoot)
{
    queued_accept(sim, shoot, shoot->run.kinds);
}

/* Replaces the current run by a new one that begins at this time. */
static void run_begin(const struct sim *sim, struct sim_shoot *shoot, const struct run *begins, int64_t at_us)
{
    struct run *run = &shoot->run;
    run_done(run);
    *run = *begins;
    shoot->has_run = true;
    if (run->kind == RUN_DELETE)
        run->type = RUN_TYPE_DELETE;
    else
        run->type = shoot->ever_succeeded ? RUN_TYPE_RECONCILE : RUN_TYPE_CREATE;
    run->state = RUN_PROCESSING;
    run->starts_us = at_us;
    run->changed_us = at_us;
    run->duration_us = clock_from_seconds(sim->settings.durations[run->kind]);
    if (run_does(run, RUN_CA_PREPARE)) {
        shoot->ca_stage = CA_PREPARING;
        shoot->ca_generation++;
    } else if (run_does(run, RUN_CA_COMPLETE)) {
        shoot->ca_stage = CA_COMPLETING;
    }
}

static void queued_begin(struct sim *sim, struct sim_shoot *shoot, int64_t at_us)
{
    assert(shoot->has_queued && !shoot->gone);
    run_begin(sim, shoot, &shoot->queued, at_us);
    memset(&shoot->queued, 0, sizeof(shoot->queued));
    shoot->has_queued = false;
    script_apply(sim, shoot, &shoot->run);
}

static void run_succeed(struct sim *sim, struct sim_shoot *shoot, int64_t at_us)
{
    assert(shoot->has_run && shoot->run.state == RUN_PROCESSING);
    shoot->run.state = RUN_SUCCEEDED;
    shoot->run.changed_us = at_us;
    if (shoot->run.kind != RUN_DELETE)
        shoot->ever_succeeded = true;
    shoot->care_until_us = at_us + clock_from_seconds(sim->settings.care_seconds);
    if (run_does(&shoot->run, shoot->hibernated ? RUN_WAKE : RUN_HIBERNATE)) {
        shoot->hibernated = !shoot->hibernated;
        shoot->flag_turns_us = at_us + clock_from_seconds(sim->settings.hibernated_lag_seconds);
    }
    if (run_does(&shoot->run, RUN_CA_PREPARE))
        shoot->ca_stage = CA_PREPARED;
    else if (run_does(&shoot->run, RUN_CA_COMPLETE))
        shoot->ca_stage = CA_COMPLETED;
}

/* Returns when the current run changes its state by itself; INT64_MAX if it will not change. */
static int64_t run_next_change(const struct run *run)
{
    const struct flow_step *step;
    if (run->state == RUN_ERROR)
        return run->changed_us + run->heal_us;
    if (run->state != RUN_PROCESSING || run->outcome == OUTCOME_HANG)
        return INT64_MAX;
    if (run->outcome == OUTCOME_SUCCESS)
        return run->starts_us + run->duration_us;
    step = flow_reaching(run->kind, run->at_progress);
    return run->starts_us + run->duration_us / 1000 * step->permille;
}

static void run_change(struct sim *sim, struct sim_shoot *shoot, int64_t at_us)
{
    struct run *run = &shoot->run;
    assert(run->state == RUN_ERROR || run->state == RUN_PROCESSING); /* the other states are final */
    if (run->state == RUN_ERROR) {
        run->state = RUN_PROCESSING;
        run->outcome = OUTCOME_SUCCESS;
        run->starts_us = at_us;
        run->changed_us = at_us;
    } else if (run->outcome == OUTCOME_SUCCESS) {
        run_succeed(sim, shoot, at_us);
    } else {
        run->state = run->outcome == OUTCOME_FAILED ? RUN_FAILED : RUN_ERROR;
        run->changed_us = at_us;
    }
}

/* Returns when the queued write begins. A deletion does not wait for the current run. */
static int64_t queued_start(const struct sim_shoot *shoot)
{
    bool waits = shoot->has_run && shoot->run.state == RUN_PROCESSING && shoot->queued.kind != RUN_DELETE;
    if (!shoot->has_queued || waits)
        return INT64_MAX;
    if (shoot->has_run && shoot->run.state != RUN_PROCESSING &&
        shoot->run.changed_us > shoot->queued.starts_us)
        return shoot->run.changed_us;
    return shoot->queued.starts_us;
}

static void advance(struct sim *sim, struct sim_shoot *shoot, int64_t now_us)
{
    while (!shoot->gone) {
        int64_t change_us = shoot->has_run ? run_next_change(&shoot->run) : INT64_MAX;
        int64_t start_us = queued_start(shoot);
        if (shoot->has_run && shoot->run.kind == RUN_DELETE && shoot->run.state == RUN_SUCCEEDED) {
            int64_t linger_us = clock_from_seconds(sim->settings.delete_linger_seconds);
            shoot->gone = shoot->run.changed_us + linger_us <= now_us;
            return;
        }
        if (change_us <= start_us && change_us <= now_us) {
            run_change(sim, shoot, change_us);
        } else if (start_us <= now_us) {
            /* no run has started yet, so there is nothing to remove */
            if (!shoot->has_run && shoot->queued.kind == RUN_DELETE)
                shoot->gone = true;
            else
                queued_begin(sim, shoot, start_us);
        } else {
            return;
        }
    }
}

/* Whether only a request can change the shoot. A shoot that was deleted remains for delete_linger_seconds. */
static bool is_settled(const struct sim_shoot *shoot)
{
    const struct run *run = &shoot->run;
    if (shoot->has_queued)
        return false;
    return run->state == RUN_FAILED || (run->state == RUN_SUCCEEDED && run->kind != RUN_DELETE);
}

void lifecycle_advance_all(struct sim *sim)
{
    int64_t now_us = clock_now_us(&sim->clock);
    LIST_FOR_EACH_SAFE (item, next, &sim->unsettled) {
        struct sim_shoot *shoot = CONTAINER_OF(item, struct sim_shoot, unsettled);
        advance(sim, shoot, now_us);
        if (shoot->gone)
            shoot_remove(&sim->shoots, shoot);
        else if (is_settled(shoot))
            list_remove(item);
    }
}

void lifecycle_impose(struct sim *sim, struct sim_shoot *shoot, enum run_kind kind,
                      const struct script *script)
{
    static const enum run_state states[OUTCOME_MAX_] = {[OUTCOME_SUCCESS] = RUN_PROCESSING,
                                                        [OUTCOME_FAILED] = RUN_FAILED,
                                                        [OUTCOME_ERROR_HEALS] = RUN_ERROR,
                                                        [OUTCOME_HANG] = RUN_PROCESSING};
    int64_t now_us = clock_now_us(&sim->clock);
    struct run begins = {.kind = kind, .kinds = bit_of(kind)};
    struct run *run = &shoot->run;
    assert(!shoot->gone && (!shoot->deleting || kind == RUN_DELETE));
    if (kind == RUN_CREATE)
        shoot->ever_succeeded = false;
    else if (kind == RUN_DELETE)
        shoot->deleting = true;
    run_begin(sim, shoot, &begins, now_us);
    run_follow(run, script);
    run->state = states[run->outcome];
    run->starts_us -= run->duration_us / 1000 * flow_reaching(kind, run->at_progress)->permille;
    if (run->outcome == OUTCOME_SUCCESS)
        run_succeed(sim, shoot, now_us);
    if (!is_settled(shoot) && list_is_detached(&shoot->unsettled))
        list_append(&sim->unsettled, &shoot->unsettled);
}

bool lifecycle_is_running(const struct sim_shoot *shoot)
{
    return shoot->has_run && shoot->run.state == RUN_PROCESSING;
}

bool lifecycle_is_busy(const struct sim_shoot *shoot)
{
    return shoot->has_queued || lifecycle_is_running(shoot);
}

int lifecycle_progress(const struct sim_shoot *shoot, int64_t now_us)
{
    const struct run *run = &shoot->run;
    int progress;
    if (!shoot->has_run)
        return 0;
    if (run->state == RUN_SUCCEEDED)
        return 100;
    if (run->state != RUN_PROCESSING)
        return run->at_progress;
    progress = flow_at(run->kind, now_us - run->starts_us, run->duration_us)->progress;
    return run->outcome != OUTCOME_SUCCESS && progress > run->at_progress ? run->at_progress : progress;
}
