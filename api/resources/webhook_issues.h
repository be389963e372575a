/* The issues of webhooks: the ways of alarm do not fail in silence. */
#ifndef API_RESOURCES_WEBHOOK_ISSUES_H
#define API_RESOURCES_WEBHOOK_ISSUES_H

#include <jansson.h>

struct request;
struct view_snapshot;

/*
 * Returns an issue (model/issues.h) for each webhook that fails, that the token may see (role operator, all
 * projects of the webhook), and that sends events of a project of the parameter `project`. `subject` is the
 * id of the webhook. The caller owns the array. Called between view_enter and view_leave.
 */
json_t *webhook_issues(const struct request *r, const struct view_snapshot *s);

#endif
