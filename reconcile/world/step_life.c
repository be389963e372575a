#include "reconcile/world/step_life.h"

#include <assert.h>

#include "base/attrs.h"
#include "model/moves.h"
#include "reconcile/world/entity.h"

static const struct {
    const char *name;
    bool calls, is_timed;
    unsigned statuses; /* a bit for each stored state in which the step may be; 0: any state, also no step at
                        * all */
} lives[LIFE_MAX_] = {
    [LIFE_RESTING] = {.name = "resting"},
    [LIFE_LOOKING] = {.name = "looking", .calls = true, .statuses = 1U << STEP_PENDING},
    [LIFE_LOOKED] = {.name = "looked"},
    [LIFE_STORING] = {.name = "storing", .statuses = 1U << STEP_SENDING},
    [LIFE_CALLING] = {.name = "calling", .calls = true, .statuses = 1U << STEP_SENDING},
    /* pending: the create of an operation that was restored (steps.c) */
    [LIFE_READING_BACK] = {.name = "reading_back",
                           .calls = true,
                           .statuses = 1U << STEP_SENDING | 1U << STEP_PENDING},
    [LIFE_CONFIRMING] = {.name = "confirming", .calls = true, .statuses = 1U << STEP_WAITING},
    [LIFE_PAUSED] = {.name = "paused", .is_timed = true},
};

static const struct {
    enum step_life from, to;
    const char *on; /* label of the arrow in the README beside the code */
} life_moves[] = {
    {LIFE_RESTING, LIFE_LOOKING, "the shoot must be read before its call"},
    {LIFE_RESTING, LIFE_STORING, "its call may be made"},
    {LIFE_RESTING, LIFE_READING_BACK, "the answer to its call was lost"},
    {LIFE_RESTING, LIFE_CONFIRMING, "its run has ended, and only another read shows the effect"},
    {LIFE_RESTING, LIFE_PAUSED, "it cannot continue yet"},
    {LIFE_LOOKING, LIFE_LOOKED, "the shoot was read"},
    {LIFE_LOOKING, LIFE_RESTING, "there is nothing to delete, the shoot is foreign, or the step is stopped"},
    {LIFE_LOOKING, LIFE_PAUSED, "the read failed, or the shoot is not shown"},
    {LIFE_LOOKED, LIFE_RESTING, "observed, or its operation was replaced"},
    {LIFE_STORING, LIFE_CALLING, "stored"},
    {LIFE_STORING, LIFE_RESTING, "stored, but replaced, cancelled or stopped meanwhile"},
    {LIFE_STORING, LIFE_PAUSED, "not stored"},
    {LIFE_CALLING, LIFE_RESTING, "accepted, refused permanently, or stopped"},
    {LIFE_CALLING, LIFE_PAUSED, "not sent, refused for now, or the answer was lost"},
    {LIFE_READING_BACK, LIFE_RESTING, "the effect is known, its operation failed, or the step is stopped"},
    {LIFE_READING_BACK, LIFE_PAUSED, "the effect is not known yet, or the call had no effect"},
    {LIFE_CONFIRMING, LIFE_RESTING, "the effect is visible or not visible yet, or the step is stopped"},
    {LIFE_CONFIRMING, LIFE_PAUSED, "the read failed, or the call had no effect"},
    {LIFE_PAUSED, LIFE_RESTING, "its time has come, or it must not wait any longer"},
    {LIFE_PAUSED, LIFE_PAUSED, "its call will be sent again"},
};

static bool may_move(enum step_life from, enum step_life to)
{
    for (size_t i = 0; i < ARRAY_LEN(life_moves); i++)
        if (life_moves[i].from == from && life_moves[i].to == to)
            return true;
    return false;
}

static bool holds(const struct entity *e)
{
    const unsigned statuses = lives[e->step.life].statuses;
    const bool has_step = e->op && e->op->step_index < e->op->step_count;
    return upstream_call_is_active(&e->step.call) == lives[e->step.life].calls &&
           loop_timer_is_set(&e->step.retry) == lives[e->step.life].is_timed &&
           (!statuses || (has_step && (statuses & 1U << e->op->steps[e->op->step_index].status)));
}

void life_move(struct entity *e, enum step_life to)
{
    const enum step_life from = e->step.life;
    e->step.life = to;
    if (!may_move(from, to) || !holds(e))
        move_impossible("step in memory", e->key, lives[from].name, lives[to].name);
}

void life_answered(struct entity *e, enum step_life from)
{
    assert(lives[from].calls && !upstream_call_is_active(&e->step.call));
    if (e->step.life == from)
        life_move(e, LIFE_RESTING);
}

void life_pause(struct entity *e, int64_t wait_us)
{
    loop_timer_set(e->r->o.loop, &e->step.retry, env_mono(e->r->env) + wait_us);
    life_move(e, LIFE_PAUSED);
}

void life_end_pause(struct entity *e)
{
    loop_timer_clear(e->r->o.loop, &e->step.retry);
    if (e->step.life == LIFE_PAUSED)
        life_move(e, LIFE_RESTING);
}

void life_stop(struct entity *e)
{
    upstream_cancel(&e->step.call);
    life_end_pause(e);
    if (e->step.life != LIFE_STORING && e->step.life != LIFE_RESTING)
        life_move(e, LIFE_RESTING);
}
