/*
 * A simulated Cleura with one shoot, "dev", and a daemon that manages it as cluster "dev" of project "p00".
 * Used by tests of the calls and their times, on a virtual clock.
 */
#ifndef TESTS_SUPPORT_ONE_SHOOT_H
#define TESTS_SUPPORT_ONE_SHOOT_H

#include "tests/support/running.h"

#define MINUTE (60 * US_PER_S)

/* The one shoot "dev" at Cleura, and the requests for it. */
struct one_shoot {
    const char *uid; /* the uid of the shoot "dev"; NULL: there is no shoot; "": Cleura's answer has no uid */
    const char *state;
    const char *type;
    bool away;
    unsigned calls;        /* the number of calls about shoots */
    unsigned reads;        /* the number of calls that read "dev" alone */
    int64_t read_takes_us; /* the time until the answer to a read of "dev" alone; 0: 10 ms */
    unsigned writes;       /* the number of PUT, PATCH, POST and DELETE calls for "dev" */
    char last_write[300];
    const int *refusals; /* the statuses with which the next writes are refused, one for each write, ended by
                          * 0; NULL: none */
    bool writes_have_no_uid;
    bool ineffective; /* writes are answered with 202 and have no effect */
    bool hibernated;
    const char *raw;                       /* the JSON of "dev"; NULL: made from the other members */
    const char *workers;                   /* the JSON of its node pools, separated by commas; or NULL */
    const char *stage;                     /* the stage of its CA rotation; NULL: there was none */
    const char *stage_then;                /* the stage after the next write; or NULL */
    const struct canned_answer *next_list; /* the answer to the next request for the list; or NULL */
    bool has_second_project;               /* there is also an empty project "p01" */
};

/* Starts the daemon. The cluster "dev" was adopted unchanged, so the daemon manages it and has sent no
 * writes. `cleura` is borrowed. */
struct running *one_shoot_start(struct one_shoot *cleura);
void one_shoot_end(struct running *d);
/* Makes and posts a command for "dev". The caller frees the command after its answer or a kill. */
struct command *one_shoot_post(struct running *d, enum command_type type);
/* Does the same with a change to another version of Kubernetes. */
struct command *one_shoot_post_version(struct running *d);

#endif
