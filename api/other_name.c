#include "api/other_name.h"

#include <string.h>

#include "api/api_private.h"
#include "base/near_word.h"
#include "model/problem.h"
#include "view/view.h"

/* How many names are compared: a request that fails must not cost more than one that succeeds. */
enum { NAMES_MAX = 1000 };

struct names {
    const char *of[NAMES_MAX];
    size_t count;
};

/* Returns the first project that has the cluster and that the caller may see; NULL: there is none. */
static const char *project_with(const struct view_snapshot *s, const struct request *r)
{
    char key[VIEW_CLUSTER_KEY_BYTES];
    struct view_cursor place = view_seek(s, VIEW_PROJECTS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place))
        if (strcmp(e->key, r->project) != 0 && api_token_sees_project(r->token, e->key) &&
            view_cluster_key(key, e->key, r->name) && view_find(s, VIEW_CLUSTERS, key))
            return e->key;
    return NULL;
}

static void add_projects(struct names *names, const struct view_snapshot *s, const struct request *r)
{
    struct view_cursor place = view_seek(s, VIEW_PROJECTS, "");
    for (const struct view_entry *e = view_next(&place); e && names->count < NAMES_MAX; e = view_next(&place))
        if (api_token_sees_project(r->token, e->key))
            names->of[names->count++] = e->key;
}

static void add_clusters(struct names *names, const struct view_snapshot *s, const struct request *r)
{
    char prefix[VIEW_CLUSTER_KEY_BYTES];
    if (!view_cluster_key(prefix, r->project, ""))
        return;
    const size_t len = strlen(prefix);
    struct view_cursor place = view_seek(s, VIEW_CLUSTERS, prefix);
    for (const struct view_entry *e = view_next(&place);
         e && names->count < NAMES_MAX && !strncmp(e->key, prefix, len); e = view_next(&place))
        names->of[names->count++] = e->key + len;
}

static void add_sentence(const struct view_snapshot *s, const struct request *r, struct problem *p)
{
    struct names names = {.count = 0};
    const bool is_cluster = p->code == PROBLEM_CLUSTER_NOT_FOUND;
    const char *project = is_cluster ? project_with(s, r) : NULL;
    if (project) {
        problem_add_sentence(p, "It is in project '%s'.", project);
        return;
    }
    (is_cluster ? add_clusters : add_projects)(&names, s, r);
    const char *missing = is_cluster ? r->name : r->project;
    const char *near = nearest_word(missing, names.of, names.count);
    if (near && strcmp(near, missing) != 0) /* equal: it came or went meanwhile */
        problem_add_sentence(p, "Did you mean '%s'?", near);
}

/* Whether the caller may still see what it saw when the request came: the request may have waited. */
static bool rights_are_as_before(const struct view_snapshot *s, const struct request *r)
{
    if (r->token->issuer)
        return caller_holds(r->api, r->token);
    char key[TOKEN_HEX_BYTES];
    token_hex(r->token->digest, key);
    const struct view_blob *blob = view_find(s, VIEW_TOKENS, key);
    const struct api_token *now = blob ? blob->subject : NULL;
    return now && token_is_live(r->api, now) && projects_cover(now->projects, r->token->projects);
}

struct problem *with_other_name(const struct request *r, struct problem *p)
{
    if (!p || !p->is_of_path || !r->token || !r->project ||
        (p->code == PROBLEM_CLUSTER_NOT_FOUND && !r->name))
        return p;
    const struct view_snapshot *s = view_enter(r->api->options.view);
    if (rights_are_as_before(s, r))
        add_sentence(s, r, p);
    view_leave(r->api->options.view);
    return p;
}
