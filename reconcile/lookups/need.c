#include "reconcile/lookups/need.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/lookups/lookup.h"
#include "reconcile/observation/fresh.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

/* ---- a fresh read: it also finds clusters that were created past shootd ---- */

struct fresh_need {
    struct fresh_reader reader;
    struct command *cmd;
};

static struct command *reader_end(struct fresh_reader *reader)
{
    struct fresh_need *need = CONTAINER_OF(reader, struct fresh_need, reader);
    struct command *cmd = need->cmd;
    free(need);
    return cmd;
}

static void on_read(struct fresh_reader *reader, enum fresh_outcome outcome)
{
    struct command *cmd = reader_end(reader);
    cmd->facts.was_read = outcome == FRESH_READ;
    need_is_met(cmd, NEED_FRESH);
}

/* The loop has ended, so nothing can decide the command any more. */
static void on_dropped(struct fresh_reader *reader)
{
    command_drop(reader_end(reader));
}

static bool read_project(struct project *p, struct entity *e ATTR_UNUSED, struct command *cmd)
{
    struct fresh_need *need = MEM_NEW(struct fresh_need);
    need->cmd = cmd;
    need->reader = (struct fresh_reader){.until = env_mono(p->r->env) + NEED_PATIENCE_MS * US_PER_MS,
                                         .trace = &cmd->trace,
                                         .request_id = cmd->request_id,
                                         .done = on_read,
                                         .dropped = on_dropped};
    fresh_read(p, &need->reader);
    return true;
}

/* ---- all facts ---- */

static bool read_catalog(struct project *p, struct entity *e ATTR_UNUSED, struct command *cmd)
{
    return catalog_wait(p, cmd);
}

bool command_needs(struct project *p, struct entity *e, struct command *cmd, unsigned needs)
{
    static const struct {
        enum command_need need;
        bool (*begin)(struct project *p, struct entity *e, struct command *cmd);
    } facts[] = {{NEED_CATALOG, read_catalog},
                 {NEED_NAME, name_check},
                 {NEED_FRESH, read_project},
                 {NEED_STAGE, lookup_stage},
                 {NEED_QUOTA, lookup_quota}};
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (needs & ~cmd->facts.known & (unsigned)facts[i].need && facts[i].begin(p, e, cmd))
            return true;
    return false;
}
