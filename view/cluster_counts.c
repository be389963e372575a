#include "view/cluster_counts.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "view/cluster_facts.h"

static bool is_of(const struct cluster_group *group, const struct cluster_facts *c)
{
    return group->expires_at == c->expires_at && !strcmp(group->project, c->project) &&
           !strcmp(group->version_line, c->version_line);
}

/* Neighbouring clusters are usually similar, so the search begins with the group that was made last. */
static struct cluster_group *group_of(struct cluster_counts *counts, const struct cluster_facts *c)
{
    for (size_t i = counts->count; i; i--)
        if (is_of(&counts->groups[i - 1], c))
            return &counts->groups[i - 1];
    struct cluster_group *group = &counts->groups[counts->count++];
    *group = (struct cluster_group){
        .project = c->project, .version_line = c->version_line, .expires_at = c->expires_at};
    return group;
}

struct cluster_counts *cluster_counts_new(const struct view_entry *entries, size_t count)
{
    assert(count > 0 && count <= VIEW_CHUNK_MOST);
    struct cluster_counts *counts = mem_calloc(1, sizeof(*counts) + count * sizeof(counts->groups[0]));
    for (size_t i = 0; i < count; i++) {
        const struct cluster_facts *c = cluster_facts_of(entries[i].blob);
        assert(c->phase < PHASE_MAX_ && c->health < HEALTH_MAX_);
        struct cluster_group *group = group_of(counts, c);
        group->total++;
        group->by_phase[c->phase]++;
        group->by_health[c->health]++;
        group->managed += c->managed;
        group->stale += c->stale;
        group->settling += c->settling;
        group->drifted += c->is_drifted;
        group->failed_operations += c->operation_failed;
        for (int severity = 0; severity < ISSUE_SEVERITY_MAX_; severity++)
            group->issues[severity] += c->trouble.counts[severity];
    }
    return mem_realloc_array(counts, sizeof(*counts) + counts->count * sizeof(counts->groups[0]), 1);
}
