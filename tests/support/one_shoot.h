/*
 * A simulated Cleura with one shoot, "dev", and a daemon that manages it as cluster "dev" of project "p00".
 * For tests of the calls and their times, on a virtual clock.
 */
#ifndef TESTS_SUPPORT_ONE_SHOOT_H
#define TESTS_SUPPORT_ONE_SHOOT_H

#include "tests/support/running.h"

#define MINUTE (60 * US_PER_S)

/* The one shoot "dev" at Cleura, and the requests for it. */
struct one_shoot {
    const char *uid; /* of the shoot "dev"; NULL: no shoot, "": Cleura's answer has no uid */
    const char *state;
    const char *type;
    bool away;
    unsigned calls;  /* number of calls about shoots */
    unsigned reads;  /* of "dev" alone */
    unsigned writes; /* PUT, PATCH, POST, DELETE of "dev" */
    char last_write[300];
    const int *refusals; /* statuses that refuse the next writes; ends with 0; or NULL */
    bool writes_have_no_uid;
    bool ineffective; /* writes are answered with 202 without effect */
    bool hibernated;
    const char *raw;                       /* JSON of "dev", instead of the other members; or NULL */
    const char *workers;                   /* JSON of its node pools, separated by commas; or NULL */
    const char *stage;                     /* stage of its CA rotation; NULL: never requested */
    const char *stage_then;                /* stage after the next write; or NULL */
    const struct canned_answer *next_list; /* answer for the next list; or NULL */
    bool has_second_project;               /* an empty project "p01" */
};

/* Starts with the managed cluster "dev", adopted unchanged, and no writes. `cleura` is borrowed. */
struct running *one_shoot_start(struct one_shoot *cleura);
void one_shoot_end(struct running *d);
/* A command for "dev"; the caller frees it, after its answer or a kill. */
struct command *one_shoot_post(struct running *d, enum command_type type);

#endif
