/* Lists of clusters: filters over the view; pages in its order, or sorted otherwise. */
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/cluster_page.h"
#include "api/fresh.h"
#include "api/handlers.h"
#include "base/mem.h"
#include "model/label_filter.h"

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

static bool matches_expiry(const struct params *p, const struct cluster *c)
{
    return !p->given[PARAM_EXPIRING_BEFORE] ||
           (c->expires_at && c->expires_at < p->numbers[PARAM_EXPIRING_BEFORE]);
}

static bool cluster_is_wanted(struct request *r, const struct view_blob *blob)
{
    const struct cluster *c = blob->subject;
    const struct params *p = &r->params;
    return api_token_sees_project(r->token, c->project) && param_lists(p, PARAM_PROJECT, c->project) &&
           param_has_value(p, PARAM_PHASE, (int)c->phase) &&
           param_has_value(p, PARAM_HEALTH, (int)c->health) &&
           (!p->given[PARAM_MANAGED] || p->numbers[PARAM_MANAGED] == c->managed) && matches_region(r, c) &&
           matches_version(c, p->texts[PARAM_VERSION]) && matches_expiry(p, c) &&
           (!p->texts[PARAM_LABEL] || label_filter_holds(p->texts[PARAM_LABEL], c->labels)) &&
           matches_text(c, p->texts[PARAM_Q]);
}

static void serve_clusters(struct request *r)
{
    char *prefix CLEANUP_FREE = r->project ? mem_printf("%s/", r->project) : NULL;
    const struct list_query query = {.section = VIEW_CLUSTERS,
                                     .prefix = prefix,
                                     .brief = (r->params.numbers[PARAM_FIELDS] >> FIELDS_SUMMARY) & 1,
                                     .tells_age = true,
                                     .wanted = cluster_is_wanted};
    if (r->params.given[PARAM_SORT])
        cluster_page_reply(r, &query);
    else
        list_reply(r, &query);
}

void handle_clusters(struct request *r)
{
    if (!fresh_wanted(r, serve_clusters))
        serve_clusters(r);
}
