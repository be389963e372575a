#include "api/cluster_metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/metric.h"
#include "view/cluster_counts.h"

enum { NAME_BYTES = 64 }; /* names of the configuration have at most 62 characters */

struct project_row {
    char name[NAME_BYTES];
    uint32_t by_phase[PHASE_MAX_];
    uint32_t issues[ISSUE_SEVERITY_MAX_];
    uint32_t failed_operations;
    wall_us first_end; /* 0: not known */
};

/* A copy of what the scrape needs, because a reader should leave the view soon. */
struct project_rows {
    size_t count;
    struct project_row *rows; /* sorted by name, as the section is */
};

static void add_projects(struct project_rows *all, const struct view_snapshot *s)
{
    struct view_cursor place = view_seek(s, VIEW_PROJECTS, "");
    all->rows = mem_calloc(s->sections[VIEW_PROJECTS].count + 1, sizeof(*all->rows));
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        struct project_row *row = &all->rows[all->count++];
        (void)snprintf(row->name, sizeof(row->name), "%s", e->key);
    }
}

static int compare_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct project_row *)row)->name);
}

static void add_group(const struct project_rows *all, const struct cluster_group *group)
{
    struct project_row *row =
        bsearch(group->project, all->rows, all->count, sizeof(all->rows[0]), compare_name);
    if (!row)
        return;
    for (int i = 0; i < PHASE_MAX_; i++)
        row->by_phase[i] += group->by_phase[i];
    for (int severity = 0; severity < ISSUE_SEVERITY_MAX_; severity++)
        row->issues[severity] += group->issues[severity];
    row->failed_operations += group->failed_operations;
    if (group->expires_at && (!row->first_end || group->expires_at < row->first_end))
        row->first_end = group->expires_at;
}

static struct project_rows project_rows_of(const struct view_snapshot *s)
{
    const struct view_section_entries *clusters = &s->sections[VIEW_CLUSTERS];
    struct project_rows all = {0};
    add_projects(&all, s);
    for (size_t i = 0; i < clusters->chunk_count; i++)
        for (size_t j = 0; j < clusters->chunks[i]->counts->count; j++)
            add_group(&all, &clusters->chunks[i]->counts->groups[j]);
    return all;
}

static void write_issues(struct buffer *out, const struct project_rows *all)
{
    static const char name[] = "shootd_issues";
    char labels[METRIC_LABELS_BYTES];
    metric_family(out, name);
    for (size_t i = 0; i < all->count; i++)
        for (int severity = 0; severity < ISSUE_SEVERITY_MAX_; severity++) {
            (void)snprintf(labels, sizeof(labels), "project=\"%s\",severity=\"%s\"", all->rows[i].name,
                           issue_severity_name(severity));
            metric_sample(out, name, labels, all->rows[i].issues[severity]);
        }
}

static void write_phases(struct buffer *out, const struct project_rows *all)
{
    static const char name[] = "shootd_clusters";
    char labels[METRIC_LABELS_BYTES];
    metric_family(out, name);
    for (size_t i = 0; i < all->count; i++)
        for (int phase = 0; phase < PHASE_MAX_; phase++) {
            (void)snprintf(labels, sizeof(labels), "project=\"%s\",phase=\"%s\"", all->rows[i].name,
                           phase_name((enum phase)phase));
            metric_sample(out, name, labels, all->rows[i].by_phase[phase]);
        }
}

void cluster_metrics_write(struct view *view, struct buffer *out)
{
    static const char failed[] = "shootd_clusters_operation_failed",
                      ends[] = "shootd_clusters_version_end_timestamp_seconds";
    const struct project_rows all = project_rows_of(view_enter(view));
    view_leave(view);
    write_phases(out, &all);
    write_issues(out, &all);
    metric_family(out, failed);
    for (size_t i = 0; i < all.count; i++)
        metric_of(out, failed, "project", all.rows[i].name, all.rows[i].failed_operations);
    metric_family(out, ends);
    for (size_t i = 0; i < all.count; i++)
        metric_of(out, ends, "project", all.rows[i].name, (double)(all.rows[i].first_end / US_PER_S));
    free(all.rows);
}
