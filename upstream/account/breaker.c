#include "upstream/account/breaker.h"

#include <assert.h>

#include "base/attrs.h"

enum {
    FAILURES_IN_A_ROW = 5,
    WINDOW_RESULTS = 20,
    PROBES_TO_CLOSE = 3,
    OPEN_FIRST_S = 5,
    OPEN_LONGEST_S = 60,
    JITTER_PART = 5,
};

static const char *const names[] = {
    [BREAKER_CLOSED] = "closed",
    [BREAKER_OPEN] = "open",
    [BREAKER_HALF_OPEN] = "half_open",
};

const char *breaker_state_name(enum breaker_state state)
{
    assert((size_t)state < ARRAY_LEN(names));
    return names[state];
}

enum breaker_state breaker_state(const struct breaker *b, mono_us now)
{
    return b->state == BREAKER_OPEN && now >= b->until ? BREAKER_HALF_OPEN : b->state;
}

bool breaker_admits(const struct breaker *b, mono_us now)
{
    return b->state == BREAKER_CLOSED || (now >= b->until && !b->probing);
}

void breaker_started(struct breaker *b)
{
    if (b->state == BREAKER_CLOSED)
        return;
    assert(!b->probing);
    b->state = BREAKER_HALF_OPEN;
    b->probing = true;
}

static void count(struct breaker *b, mono_us now, bool failed)
{
    int64_t second = now / US_PER_S;
    size_t i = (size_t)(second % BREAKER_WINDOW_S);
    if (b->window[i].second != second) {
        b->window[i].second = second;
        b->window[i].results = b->window[i].failures = 0;
    }
    b->window[i].results++;
    b->window[i].failures += failed;
}

static bool window_is_bad(const struct breaker *b, mono_us now)
{
    unsigned results = 0, failures = 0;
    for (size_t i = 0; i < ARRAY_LEN(b->window); i++) {
        if (now / US_PER_S - b->window[i].second >= BREAKER_WINDOW_S)
            continue;
        results += b->window[i].results;
        failures += b->window[i].failures;
    }
    return results >= WINDOW_RESULTS && failures * 2 >= results;
}

static void stay_away(struct breaker *b, const struct env *env, mono_us now)
{
    b->state = BREAKER_OPEN;
    b->probing = false;
    b->successes = 0;
    b->until = now + b->pause_us + (int64_t)env_random_below(env, (uint64_t)(b->pause_us / JITTER_PART));
}

static void open_longer(struct breaker *b, const struct env *env, mono_us now)
{
    b->pause_us = b->pause_us ? b->pause_us * 2 : OPEN_FIRST_S * US_PER_S;
    if (b->pause_us > OPEN_LONGEST_S * US_PER_S)
        b->pause_us = OPEN_LONGEST_S * US_PER_S;
    stay_away(b, env, now);
}

void breaker_success(struct breaker *b, mono_us now)
{
    if (b->state == BREAKER_CLOSED) {
        b->failures = 0;
        count(b, now, false);
    } else if (b->probing) {
        b->probing = false;
        b->pause_us = 0;
        if (++b->successes >= PROBES_TO_CLOSE)
            *b = (struct breaker){.state = BREAKER_CLOSED};
    }
}

void breaker_failure(struct breaker *b, const struct env *env, mono_us now)
{
    if (b->state == BREAKER_CLOSED) {
        count(b, now, true);
        if (++b->failures >= FAILURES_IN_A_ROW || window_is_bad(b, now))
            open_longer(b, env, now);
    } else if (b->probing) {
        open_longer(b, env, now);
    }
}

void breaker_abandoned(struct breaker *b, const struct env *env, mono_us now)
{
    if (!b->probing)
        return;
    if (!b->pause_us)
        b->pause_us = OPEN_FIRST_S * US_PER_S;
    stay_away(b, env, now);
}

void breaker_hold(struct breaker *b, mono_us until)
{
    if (b->state == BREAKER_OPEN && until > b->until)
        b->until = until;
}
