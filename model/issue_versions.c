/* The issues that versions in use show: they expire, or are not offered any more (CL-20). */
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/error_meanings.h"
#include "model/issues_private.h"
#include "model/spec.h"

#define DAY_US (24 * 3600 * US_PER_S)

enum { SOON_DAYS = 30, LATER_DAYS = 90 };

static const struct issue_kind version_expired = {
    "version_expired", ISSUE_CRITICAL, "version", BY_USER, "A version in use has expired", NULL, {0}};
static const struct issue_kind version_expiring = {
    "version_expiring", ISSUE_WARNING, "version", BY_USER, "A version in use expires soon", NULL, {0}};
static const struct issue_kind version_deprecated = {
    "version_deprecated", ISSUE_INFO, "version", BY_USER, "A version in use is deprecated", NULL, {0}};
static const struct issue_kind version_not_offered = {"version_not_offered",
                                                      ISSUE_INFO,
                                                      "version",
                                                      BY_USER,
                                                      "A version in use is no longer offered",
                                                      NULL,
                                                      {0}};

static bool is_kubernetes(const struct version_in_use *v)
{
    return !strcmp(v->component, COMPONENT_KUBERNETES);
}

/* Returns the newest supported version to which the cluster can be upgraded: of the same minor version if
 * possible, otherwise of the next minor version. NULL: there is none. */
static const char *issue_target_of(const struct version_in_use *v, wall_us now)
{
    char line[VERSION_LINE_BYTES];
    const char *target;
    if (!is_kubernetes(v)) {
        target = version_newest(v->offers, NULL, now);
        return target && version_compare(target, v->version) > 0 ? target : NULL;
    }
    version_minor(v->version, line);
    target = version_newest(v->offers, line, now);
    if (target && version_compare(target, v->version) > 0)
        return target;
    version_next_minor(v->version, line);
    return version_newest(v->offers, line, now);
}

static char *version_action(const struct issues *in, const struct version_in_use *v, const char *target)
{
    const bool by_itself = is_kubernetes(v) ? in->facts->updates_kubernetes : in->facts->updates_images;
    const char *adopt = in->managed ? "" : ", after the cluster was adopted";
    if (!target)
        return mem_strdup("The catalog offers no version to upgrade to: contact Cleura.");
    return mem_printf("%s to %s%s%s.",
                      is_kubernetes(v) ? "Upgrade Kubernetes" : "Change the image of the pools", target,
                      adopt, by_itself ? "; or let Cleura do it in the next maintenance window" : "");
}

static struct remedy version_remedy(const struct issues *in, const struct version_in_use *v,
                                    const char *target)
{
    if (!target)
        return (struct remedy){REMEDY_CONTACT, BY_CLEURA};
    if (in->managed && is_kubernetes(v))
        return (struct remedy){REMEDY_UPGRADE, target};
    if (in->managed && in->facts->updates_images) /* the maintenance brings the newest image */
        return (struct remedy){REMEDY_ACTION, operation_type_name(OPERATION_MAINTAIN)};
    return (struct remedy){0};
}

static const struct issue_kind *version_kind(const struct version_in_use *v, wall_us now,
                                             enum issue_severity *ret_severity)
{
    const int64_t days = v->expires_at ? (v->expires_at - now) / DAY_US : INT64_MAX;
    *ret_severity = ISSUE_INFO;
    if (!v->entry)
        return v->offers ? &version_not_offered : NULL;
    if (version_is_expired(v->entry, now)) {
        *ret_severity = ISSUE_CRITICAL;
        return &version_expired;
    }
    if (days < LATER_DAYS) {
        *ret_severity = days < SOON_DAYS ? ISSUE_WARNING : ISSUE_INFO;
        return &version_expiring;
    }
    return strcmp(json_str_or(v->entry, "state", ""), "deprecated") ? NULL : &version_deprecated;
}

/* Time alone makes the issue, and makes it worse. */
static void note_changes(struct issues *in, const struct version_in_use *v)
{
    static const int days_before[] = {LATER_DAYS, SOON_DAYS, 0};
    for (size_t i = 0; v->expires_at && i < ARRAY_LEN(days_before); i++)
        issues_change_at(in, v->expires_at - days_before[i] * DAY_US + 1);
}

void issue_of_version(void *ctx, const struct version_in_use *v)
{
    struct issues *in = ctx;
    enum issue_severity severity;
    const struct issue_kind *kind = version_kind(v, in->now, &severity);
    note_changes(in, v);
    if (!kind)
        return;
    const char *target = issue_target_of(v, in->now);
    char *subject CLEANUP_FREE = mem_printf("%s %s", v->component, v->version);
    char *action CLEANUP_FREE = version_action(in, v, target);
    const bool is_over = v->expires_at && v->expires_at <= in->now;
    issue_add(in, kind, severity,
              &(struct issue_occurrence){
                  .subject = subject,
                  .description = is_over
                                     ? "Cleura may upgrade the cluster by force at any time."
                                     : "After this version expires, Cleura upgrades the cluster by force.",
                  .action = action,
                  .since = is_over ? v->expires_at : 0, /* nothing is broken before */
                  .expires_at = v->expires_at,
                  .target = target,
                  .remedy = version_remedy(in, v, target)});
}
