/*
 * What a phase and a health mean together. They are two facts: the phase says what happens to the cluster and
 * whether its last change succeeded, the health says whether it works. A cluster whose last change failed may
 * work, and a cluster whose last change succeeded may not. One table, which docs/api.md repeats. Pure; any
 * thread.
 */
#ifndef MODEL_PHASE_MEANING_H
#define MODEL_PHASE_MEANING_H

#include <stdbool.h>
#include <stddef.h>

#include "model/issues.h"
#include "model/names.h"

/* The severity of a state in which nothing is wrong by itself. Conditions, drift and versions may still be
 * issues of the cluster. */
#define MEANING_FINE (-1)
/* The conditions that are not met have severities of their own. */
#define MEANING_BY_CONDITIONS (-2)

struct phase_meaning {
    enum phase phase;
    int health; /* enum health; MEANING_ANY_HEALTH: each that no row before this one names */
    const char *sentence;
    int severity; /* enum issue_severity, MEANING_FINE, or MEANING_BY_CONDITIONS */
};
#define MEANING_ANY_HEALTH (-1)

/* Returns the row of a phase and a health. */
const struct phase_meaning *phase_meaning(enum phase phase, enum health health);
/* The rows in the order of the table in docs/api.md, for the test that compares both. */
const struct phase_meaning *phase_meanings(size_t *ret_count);

/*
 * Whether the conditions show the health of a cluster in this phase. They do not while the cluster is made,
 * deleted, put to sleep or woken, and for a cluster that sleeps.
 */
bool phase_has_conditions(enum phase phase);

#endif
