#include "reconcile/world/trouble.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

/* Fewer durations say nothing. */
enum { USUAL_FEWEST = 3 };
/* Some operations take seconds. That one takes minutes is no trouble yet. */
#define USUAL_LEAST_US (300 * US_PER_S)

void usual_note(struct usual *usual, const struct operation *op)
{
    const wall_us began = op->step_count ? op->steps[0].started_at : 0;
    if (op->status != OPERATION_SUCCEEDED || !began || op->finished_at < began)
        return;
    struct usual_sample *s = &usual->of[op->type];
    s->us[s->noted++ % USUAL_KEPT] = op->finished_at - began;
}

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t usual_us(const struct usual *usual, enum operation_type type)
{
    const struct usual_sample *s = &usual->of[type];
    const size_t count = s->noted < USUAL_KEPT ? s->noted : USUAL_KEPT;
    int64_t sorted[USUAL_KEPT];
    if (count < USUAL_FEWEST)
        return 0;
    memcpy(sorted, s->us, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_length);
    return sorted[count / 2] > USUAL_LEAST_US ? sorted[count / 2] : USUAL_LEAST_US;
}

/* While nothing of the project can be read, that is one issue of its account or project (issue_of_place). */
static bool is_unread(const struct entity *e)
{
    const struct project *p = e->project;
    return e->cluster->stale && !project_is_at_rest(p) && p->poll.listed_at && !p->poll.failures;
}

struct issue_world entity_issue_world(const struct entity *e, const struct operation *op)
{
    return (struct issue_world){.catalog = e->project->state->catalog,
                                .now = env_wall(e->r->env),
                                .usual_us = op ? usual_us(&e->r->usual, op->type) : 0,
                                .is_unread = is_unread(e)};
}

struct trouble entity_trouble(const struct entity *e, const struct cluster *c, const struct operation *op)
{
    struct trouble trouble;
    const struct issue_world world = entity_issue_world(e, op);
    json_decref(issues_prepare(c, op, &world, &trouble));
    return trouble;
}
