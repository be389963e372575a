/*
 * A model of Cleura on the virtual clock: shoots with their runs, faults, and a record of every effect. Tests
 * with random sequences compare what the daemon says with what happened here. Loop thread.
 */
#ifndef TESTS_SUPPORT_CLEURA_MODEL_H
#define TESTS_SUPPORT_CLEURA_MODEL_H

#include "base/attrs.h"
#include "tests/support/running.h"

enum { CLEURA_SHOOTS_MAX = 8, EFFECTS_MAX = 512 };

struct shoot_model {
    char name[16];
    bool there;
    unsigned life;   /* number of shoots with this name so far */
    bool is_strange; /* somebody else made the present one */
    mono_us made_at; /* when somebody else made it */
    char version[16];
    json_t *workers; /* as in Cleura's answer */
    bool wants_sleep, asleep;
    /* A write is accepted, its run begins later (`begins`) and ends later. Until its run begins, the last run
     * is shown. */
    bool pending;
    const char *type;
    mono_us begins, ends;
    const char *last_type, *last_state;
    mono_us last_at; /* 0: no operation is shown */
    bool lost;       /* an answer about the shoot was lost: a 409 for the next write is no fault */
    bool unseen; /* the shoot was not read after the lost answer, so no other write may follow, except a first
                  * deletion */
    bool deletion_lost;
};

struct effect {
    char cluster[16];
    unsigned life; /* of the shoot */
    bool is_strange;
    int64_t age_us; /* of a shoot that somebody else made */
    char step[32];  /* the type of step that causes the effect */
    char target[40];
};

enum fault {
    FAULT_NONE,
    FAULT_TIMEOUT,
    FAULT_BROKEN,
    FAULT_5XX,
    FAULT_THROTTLED,
    FAULT_FORBIDDEN_IP,
    FAULT_GARBAGE,
    FAULT_NOT_SENT,
    FAULT_TOKEN,
    FAULT_MAX_,
};

struct cleura_model {
    struct running *d; /* gives time and randomness */
    bool verbose;      /* prints each request */
    bool is_shared;    /* others make and delete shoots with the same names, so a 409 may be their doing */
    unsigned
        stranger_percent; /* how often somebody else makes a shoot right after a read that did not find it */
    bool hides_uid;       /* the answer to a create has no uid */
    struct shoot_model shoots[CLEURA_SHOOTS_MAX];
    size_t shoot_count;
    struct effect effects[EFFECTS_MAX];
    unsigned effect_count;
    enum fault fault;
    unsigned faults_left;
    bool fault_has_effect, fault_of_writes;
    mono_us token_rejected_at;
    struct shoot_model *written; /* the shoot that the last request changed; NULL: no change, or no shoot */
    unsigned calls, writes, lost_conflicts;
    char *answer;
    char violation[512]; /* the first one; "": none */
};

/* Answers a request; `ctx` is the model. The function of struct running. */
struct canned_answer cleura_respond(void *ctx, const struct seen_request *request);
/* Adds a shoot that somebody else has made, without a create of shootd. The name is set, and is free. */
void cleura_add_strange(struct cleura_model *m, struct shoot_model *s, const char *version);
/* Lets the next requests fail in a random way. */
void cleura_inject(struct cleura_model *m);
/* Advances the shoot to the present. */
void cleura_follow(struct cleura_model *m, struct shoot_model *s);
/* Returns the shoot with this name, which may be absent (`there`); NULL: the model has no such name. */
struct shoot_model *cleura_find(struct cleura_model *m, const char *name, size_t len);
/* Removes the shoot at once. */
void cleura_gone(struct shoot_model *s);
/* Writes the uid of a life of a shoot. */
void cleura_uid(const struct cleura_model *m, const struct shoot_model *s, unsigned life,
                char uid[static UUID_STR_LEN]);
/* Lets Cleura and the daemon work without faults until no run and no operation is open; a violation after
 * `limit_us`. */
void cleura_run_until_quiet(struct cleura_model *m, int64_t limit_us);
void cleura_done(struct cleura_model *m);

/* A test of random sequences. The variable <name>_SEED selects one seed, whose events are printed;
 * <name>_SEEDS=n selects the first n seeds. */
struct random_test {
    const char *name;
    bool (*run)(uint64_t seed, bool verbose); /* returns whether nothing was violated */
    uint64_t seeds, seeds_in_full;            /* the first seeds that are run, also with FULL=1 */
    const uint64_t *more;                     /* further seeds that are always run */
    size_t more_count;
};
/* Runs the seeds without log lines. The test fails when one of them fails. */
void random_test_run(const struct random_test *test);

/* Keeps the first violation. */
void cleura_violate(struct cleura_model *m, const char *format, ...) ATTR_PRINTF(2, 3);
void cleura_trace(const struct cleura_model *m, const char *format, ...) ATTR_PRINTF(2, 3);
uint64_t cleura_draw(struct cleura_model *m, uint64_t below);
bool cleura_chance(struct cleura_model *m, unsigned percent);

#endif
