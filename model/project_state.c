#include "model/project_state.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quantity.h"

void project_state_free(struct project_state *p)
{
    if (!p)
        return;
    free(p->name);
    json_decref(p->location);
    json_decref(p->catalog);
    json_decref(p->freeze);
    free(p);
}

struct project_state *project_state_copy(const struct project_state *p)
{
    struct project_state *copy = MEM_NEW(struct project_state);
    *copy = *p;
    copy->name = mem_strdup(p->name);
    copy->location = json_deep_copy(p->location);
    copy->catalog = json_deep_copy(p->catalog);
    copy->freeze = json_deep_copy(p->freeze);
    return copy;
}

json_t *project_state_to_json(const struct project_state *p)
{
    assert(p->name);
    json_t *doc = json_object();
    json_set_str(doc, "name", p->name);
    json_set_int(doc, "bootstrapped_at", p->bootstrapped_at);
    json_set_take(doc, "location", json_incref(p->location));
    json_set_take(doc, "catalog", json_incref(p->catalog));
    json_set_int(doc, "catalog_at", p->catalog_at);
    json_set_int(doc, "discovered_at", p->discovered_at);
    json_set_int(doc, "settled_at", p->settled_at);
    json_set_take(doc, "freeze", json_incref(p->freeze));
    return doc;
}

/* A catalog that an earlier build stored has the memory of a machine type as a text ("4Gi"). */
static void convert_memory(const json_t *catalog)
{
    size_t i;
    json_t *type;
    json_array_foreach (json_arr(catalog, "machine_types"), i, type) {
        if (!json_object_get(type, "memory"))
            continue;
        const int64_t mib = quantity_mib(json_str(type, "memory"));
        json_set_take(type, "memory_mib", mib < 0 ? NULL : json_integer(mib));
        (void)json_object_del(type, "memory");
    }
}

struct project_state *project_state_from_json(const json_t *doc)
{
    if (!json_str(doc, "name"))
        return NULL;
    struct project_state *p = MEM_NEW(struct project_state);
    p->name = mem_strdup(json_str(doc, "name"));
    p->bootstrapped_at = json_int(doc, "bootstrapped_at", 0);
    p->location = json_incref(json_obj(doc, "location"));
    p->catalog = json_incref(json_obj(doc, "catalog"));
    convert_memory(p->catalog);
    p->catalog_at = json_int(doc, "catalog_at", 0);
    p->discovered_at = json_int(doc, "discovered_at", 0);
    p->settled_at = json_int(doc, "settled_at", 0);
    p->freeze = json_incref(json_obj(doc, "freeze"));
    return p;
}
