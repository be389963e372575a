#include "model/remedy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* The member of the object that holds the word. */
static const char *const members[REMEDY_KIND_MAX_] = {
    [REMEDY_ACTION] = "action",   [REMEDY_CANCEL] = "operation", [REMEDY_PATCH] = "patch",
    [REMEDY_UPGRADE] = "upgrade", [REMEDY_WAIT] = "wait",        [REMEDY_CONTACT] = "contact"};

bool remedy_can_be_done(const struct remedy *remedy)
{
    return remedy->kind >= REMEDY_ACTION && remedy->kind <= REMEDY_UPGRADE;
}

json_t *remedy_to_json(const struct remedy *remedy)
{
    if (remedy->kind == REMEDY_NONE)
        return NULL;
    assert(remedy->kind < REMEDY_KIND_MAX_ && remedy->word);
    json_t *doc = json_object();
    if (remedy->kind == REMEDY_CANCEL)
        json_set_str(doc, "action", "cancel");
    if (remedy->kind == REMEDY_PATCH)
        json_set_take(doc, members[remedy->kind], json_loads(remedy->word, 0, NULL));
    else
        json_set_str(doc, members[remedy->kind], remedy->word);
    return doc;
}

static json_t *request(const char *method, char *path, json_t *body)
{
    json_t *doc = json_object();
    json_set_str(doc, "method", method);
    json_set_str(doc, "path", path);
    json_set_take(doc, "body", body ? body : json_null());
    free(path);
    return doc;
}

/* How each remedy is done: by a request, and by a command of shootctl. */
struct deed {
    json_t *request;
    char *command;
};

static struct deed deed_of_patch(json_t *body, const char *project, const char *cluster, char *command)
{
    return (struct deed){request("PATCH", mem_printf("/v1/projects/%s/clusters/%s", project, cluster), body),
                         command};
}

static struct deed deed_of_action(const char *action, const char *operation, const char *project,
                                  const char *cluster)
{
    static const char complete[] = "rotate-ca-complete", prepare[] = "rotate-ca-prepare";
    if (operation)
        return (struct deed){request("POST", mem_printf("/v1/operations/%s/cancel", operation), NULL),
                             mem_printf("shootctl cancel %s", operation)};
    const char *verb = !strcmp(action, prepare) ? "rotate-ca" : action;
    char *path = mem_printf("/v1/projects/%s/clusters/%s", project, cluster);
    char *command = !strcmp(action, complete)
                        ? mem_printf("shootctl rotate-ca %s -p %s --complete", cluster, project)
                        : mem_printf("shootctl %s %s -p %s", verb, cluster, project);
    if (!strcmp(action, "delete"))
        return (struct deed){request("DELETE", path, NULL), command};
    json_t *doc = request("POST", mem_printf("%s/actions/%s", path, action), NULL);
    free(path);
    return (struct deed){doc, command};
}

static struct deed deed_of(const json_t *remedy, const char *project, const char *cluster)
{
    const char *action = json_str(remedy, "action"), *version = json_str(remedy, "upgrade");
    json_t *patch = json_obj(remedy, "patch");
    if (patch)
        return deed_of_patch(
            json_incref(patch), project, cluster,
            mem_printf("shootctl get %s -p %s -o yaml | shootctl apply -f -", cluster, project));
    if (version)
        return deed_of_patch(json_pack("{s:{s:s}}", "spec", "kubernetes_version", version), project, cluster,
                             mem_printf("shootctl upgrade %s -p %s --to %s", cluster, project, version));
    return action ? deed_of_action(action, json_str(remedy, "operation"), project, cluster)
                  : (struct deed){0};
}

void remedy_add_deed(json_t *remedy, const char *project, const char *cluster)
{
    const struct deed deed = deed_of(remedy, project, cluster);
    if (!deed.request)
        return;
    json_set_take(remedy, "request", deed.request);
    json_set_str(remedy, "command", deed.command);
    free(deed.command);
}
