#include "base/yaml_node.h"

#include <string.h>

const char *node_text(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

yaml_node_pair_t *node_pair(yaml_document_t *doc, const yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        const char *name = node_text(yaml_document_get_node(doc, p->key));
        if (name && !strcmp(name, key))
            return p;
    }
    return NULL;
}

yaml_node_t *node_member(yaml_document_t *doc, const yaml_node_t *map, const char *key)
{
    const yaml_node_pair_t *pair = node_pair(doc, map, key);
    return pair ? yaml_document_get_node(doc, pair->value) : NULL;
}
