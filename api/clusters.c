/* Clusters: reads from the view (the hot path), writes as commands. */
#include "api/handlers.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/fresh.h"
#include "api/list.h"
#include "api/problem_reply.h"
#include "api/reads.h"
#include "api/write.h"
#include "base/mem.h"

enum { CLUSTER_KEY_BYTES = 256 };

static bool contains(const char *text, const char *wanted)
{
    return text && strcasestr(text, wanted);
}

static bool matches_text(const struct cluster *c, const char *wanted)
{
    if (!wanted || contains(c->name, wanted) || contains(c->description, wanted) ||
        contains(c->project, wanted))
        return true;
    const char *key;
    json_t *value;
    json_object_foreach (c->labels, key, value)
        if (contains(key, wanted) || contains(json_string_value(value), wanted))
            return true;
    return false;
}

/* "1.33" takes every patch of 1.33 and nothing of 1.3. */
static bool matches_version(const struct cluster *c, const char *wanted)
{
    if (!wanted)
        return true;
    const char *version = c->shoot ? json_str(c->shoot->observed, "kubernetes_version") : NULL;
    size_t len = strlen(wanted);
    return version && !strncmp(version, wanted, len) && (version[len] == '.' || !version[len]);
}

static bool matches_region(struct request *r, const struct cluster *c)
{
    if (!r->params.given[PARAM_REGION])
        return true;
    const struct config_project *p = config_project(r->api->options.config, c->project);
    return p && param_lists(&r->params, PARAM_REGION, p->region);
}

static bool cluster_is_wanted(struct request *r, const struct view_blob *blob)
{
    const struct cluster *c = blob->subject;
    const struct params *p = &r->params;
    return api_token_sees_project(r->token, c->project) && param_lists(p, PARAM_PROJECT, c->project) &&
           param_has_value(p, PARAM_PHASE, (int)c->phase) &&
           param_has_value(p, PARAM_HEALTH, (int)c->health) &&
           (!p->given[PARAM_MANAGED] || p->numbers[PARAM_MANAGED] == c->managed) && matches_region(r, c) &&
           matches_version(c, p->texts[PARAM_VERSION]) && matches_text(c, p->texts[PARAM_Q]);
}

static void serve_clusters(struct request *r)
{
    char *prefix CLEANUP_FREE = r->project ? mem_printf("%s/", r->project) : NULL;
    list_reply(r,
               &(struct list_query){.section = VIEW_CLUSTERS, .prefix = prefix, .wanted = cluster_is_wanted});
}

void handle_clusters(struct request *r)
{
    if (!fresh_wanted(r, serve_clusters))
        serve_clusters(r);
}

/* How old the answer is and where it comes from (HT-24, HT-28). */
static void add_age(struct request *r, const struct view_blob *blob)
{
    if (!blob->observed_at)
        return;
    wall_us age = env_wall(r->api->options.env) - blob->observed_at;
    answer_header(&r->answer, "Age", "%lld", (long long)(age > 0 ? age / US_PER_S : 0));
}

static void serve_cluster(struct request *r)
{
    char key[CLUSTER_KEY_BYTES];
    int n = snprintf(key, sizeof(key), "%s/%s", r->project, r->name);
    struct view_blob *blob = n < CLUSTER_KEY_BYTES ? read_blob(r, VIEW_CLUSTERS, key) : NULL;
    if (!blob) {
        respond_with(r, PROBLEM_CLUSTER_NOT_FOUND, "There is no cluster of this name in the project.");
        return;
    }
    add_age(r, blob);
    if (!r->serve)
        answer_header(&r->answer, "Cache-Status", "shootd; hit");
    reply_blob(r, blob);
}

void handle_cluster(struct request *r)
{
    if (!fresh_wanted(r, serve_cluster))
        serve_cluster(r);
}

void handle_cluster_create(struct request *r)
{
    write_park(r, write_command(r, COMMAND_CLUSTER_CREATE));
}

void handle_cluster_put(struct request *r)
{
    write_park(r, write_command(r, COMMAND_CLUSTER_PUT));
}

void handle_cluster_patch(struct request *r)
{
    write_park(r, write_command(r, COMMAND_CLUSTER_PATCH));
}

/* What changes the spec or ends the cluster has methods of its own. */
static bool is_action(int type)
{
    return type >= 0 && type != OPERATION_CREATE && type != OPERATION_UPDATE && type != OPERATION_DELETE;
}

void handle_cluster_action(struct request *r)
{
    int type = operation_type_from_name(r->item);
    if (!is_action(type)) {
        respond_with(
            r, PROBLEM_NOT_FOUND,
            "There is no action of this name; there are hibernate, wake, reconcile, retry, maintain, "
            "enable-ha, rotate-ca-prepare and rotate-ca-complete.");
        return;
    }
    struct command *cmd = write_command(r, COMMAND_CLUSTER_ACTION);
    cmd->action = (enum operation_type)type;
    write_park(r, cmd);
}

void handle_cluster_delete(struct request *r)
{
    write_park(r, write_command(r, COMMAND_CLUSTER_DELETE));
}
