#include "config/current.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/epoch.h"
#include "base/mem.h"

struct config_current {
    _Atomic(const struct config *) config;
    struct epoch *epoch;
};

struct config_current *config_current_new(const struct config *first)
{
    struct config_current *current = MEM_NEW(struct config_current);
    assert(first);
    atomic_init(&current->config, first);
    current->epoch = epoch_new();
    return current;
}

void config_current_free(struct config_current *current)
{
    if (!current)
        return;
    epoch_free(current->epoch);
    free(current);
}

void config_current_enter(struct config_current *current)
{
    epoch_enter(current->epoch);
}

void config_current_leave(struct config_current *current)
{
    epoch_leave(current->epoch);
}

const struct config *config_current_get(const struct config_current *current)
{
    return atomic_load_explicit(&current->config, memory_order_acquire);
}

static void release(void *object)
{
    config_free(object);
}

void config_current_replace(struct config_current *current, const struct config *next)
{
    const struct config *before = atomic_exchange(&current->config, next);
    assert(next && next != before);
    epoch_retire(current->epoch, (void *)(uintptr_t)before, release);
}
