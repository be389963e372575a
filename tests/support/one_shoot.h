/*
 * A simulated Cleura with one shoot, "dev", and a daemon that manages it as cluster "dev" of project "p00":
 * for tests about what is sent when, on a virtual clock.
 */
#ifndef TESTS_SUPPORT_ONE_SHOOT_H
#define TESTS_SUPPORT_ONE_SHOOT_H

#include "tests/support/running.h"

#define MINUTE (60 * US_PER_S)

/* The one shoot that Cleura shows, "dev", and the requests that it got. */
struct one_shoot {
    const char *uid; /* of the shoot "dev"; NULL: there is none, "": Cleura's answer has none */
    const char *state;
    const char *type;
    bool away;
    unsigned calls;  /* about shoots */
    unsigned reads;  /* of "dev" alone */
    unsigned writes; /* PUT, PATCH, POST, DELETE of "dev" */
    char last_write[300];
    const int
        *refusals; /* statuses that the next writes are answered with, without effect; ends with 0; or NULL */
    bool writes_have_no_uid;
    bool ineffective; /* writes are answered with 202 and do nothing */
    bool hibernated;
    const char *raw;                       /* JSON of "dev", in place of what the rest says; or NULL */
    const char *workers;                   /* JSON of its node pools, separated by commas; or NULL */
    const char *stage;                     /* of the rotation of its authority; NULL: nobody asks */
    const char *stage_then;                /* the same from the next write on; or NULL */
    const struct canned_answer *next_list; /* what the next list is answered with; or NULL */
    bool has_second_project;               /* "p01", in which is nothing */
};

/* With a managed cluster "dev", adopted as it is, and nothing written. `cleura` is borrowed. */
struct running *one_shoot_start(struct one_shoot *cleura);
void one_shoot_end(struct running *d);
/* About "dev"; the caller frees it, after its answer or a kill. */
struct command *one_shoot_post(struct running *d, enum command_type type);

#endif
