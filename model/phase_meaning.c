#include "model/phase_meaning.h"

#include <assert.h>
#include <stddef.h>

#include "base/attrs.h"

#define ANY MEANING_ANY_HEALTH

static const struct phase_meaning meanings[] = {
    {PHASE_PENDING, ANY, "Accepted; the work at Cleura has not begun.", MEANING_FINE},
    {PHASE_CREATING, ANY, "The cluster is being created.", MEANING_FINE},
    {PHASE_READY, HEALTH_HEALTHY, "The cluster works.", MEANING_FINE},
    {PHASE_READY, HEALTH_PROGRESSING, "The cluster works; its conditions settle after the last change.",
     MEANING_FINE},
    {PHASE_READY, ANY, "The last change succeeded; whether the cluster works is not known.", MEANING_FINE},
    {PHASE_DEGRADED, HEALTH_UNHEALTHY, "The last change succeeded; a part of the cluster does not work.",
     MEANING_BY_CONDITIONS},
    {PHASE_DEGRADED, ANY, "The last change succeeded; whether every part of the cluster works is not known.",
     MEANING_BY_CONDITIONS},
    {PHASE_UPDATING, HEALTH_HEALTHY, "A change is under way; the cluster works.", MEANING_FINE},
    {PHASE_UPDATING, HEALTH_PROGRESSING, "A change is under way; the conditions settle.", MEANING_FINE},
    {PHASE_UPDATING, HEALTH_UNHEALTHY, "A change is under way; a part of the cluster does not work.",
     MEANING_BY_CONDITIONS},
    {PHASE_UPDATING, ANY, "A change is under way; whether the cluster works is not known.", MEANING_FINE},
    {PHASE_HIBERNATING, ANY, "The cluster is being put to sleep.", MEANING_FINE},
    {PHASE_HIBERNATED, ANY, "The cluster sleeps.", MEANING_FINE},
    {PHASE_WAKING, ANY, "The cluster is being woken.", MEANING_FINE},
    {PHASE_RETRYING, HEALTH_HEALTHY, "The last change failed and is tried again; the cluster works.",
     ISSUE_WARNING},
    {PHASE_RETRYING, HEALTH_UNHEALTHY,
     "The last change failed and is tried again; a part of the cluster does not work.", ISSUE_WARNING},
    {PHASE_RETRYING, ANY,
     "The last change failed and is tried again; whether the cluster works is not known.", ISSUE_WARNING},
    {PHASE_FAILED, HEALTH_HEALTHY, "The last change failed; the cluster works.", ISSUE_WARNING},
    {PHASE_FAILED, HEALTH_PROGRESSING, "The last change failed; the conditions settle.", ISSUE_WARNING},
    {PHASE_FAILED, HEALTH_UNHEALTHY, "The last change failed; a part of the cluster does not work.",
     ISSUE_CRITICAL},
    {PHASE_FAILED, ANY, "The last change failed; whether the cluster works is not known.", ISSUE_CRITICAL},
    {PHASE_DELETING, ANY, "The cluster is being deleted.", MEANING_FINE},
    {PHASE_UNKNOWN, ANY, "Cleura does not show the state of the cluster.", ISSUE_WARNING},
};

const struct phase_meaning *phase_meaning(enum phase phase, enum health health)
{
    const struct phase_meaning *row = meanings;
    assert(phase < PHASE_MAX_ && health < HEALTH_MAX_);
    while (row->phase != phase || (row->health != ANY && row->health != (int)health)) {
        row++;
        assert(row < meanings + ARRAY_LEN(meanings)); /* the last row of each phase is for any health */
    }
    return row;
}

const struct phase_meaning *phase_meanings(size_t *ret_count)
{
    *ret_count = ARRAY_LEN(meanings);
    return meanings;
}

bool phase_has_conditions(enum phase phase)
{
    static const bool has[PHASE_MAX_] = {
        [PHASE_READY] = true,    [PHASE_DEGRADED] = true, [PHASE_UPDATING] = true,
        [PHASE_RETRYING] = true, [PHASE_FAILED] = true,   [PHASE_UNKNOWN] = true,
    };
    assert(phase < PHASE_MAX_);
    return has[phase];
}
