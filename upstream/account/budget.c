#include "upstream/account/budget.h"

#include <assert.h>

enum { TOKEN = 10, FULL = 10 * TOKEN, FLOOR_S = 10 };

void budget_init(struct budget *b)
{
    *b = (struct budget){.tenths = FULL};
}

void budget_earn(struct budget *b)
{
    if (b->tenths < FULL)
        b->tenths++;
}

mono_us budget_ready_at(const struct budget *b)
{
    return b->tenths >= TOKEN ? INT64_MIN : b->floor_at;
}

bool budget_covers(const struct budget *b, size_t retries, mono_us now)
{
    return (size_t)(b->tenths / TOKEN) >= retries || (retries == 1 && now >= b->floor_at);
}

void budget_spend(struct budget *b, mono_us now)
{
    assert(budget_ready_at(b) <= now);
    if (b->tenths >= TOKEN)
        b->tenths -= TOKEN;
    b->floor_at = now + FLOOR_S * US_PER_S;
}
