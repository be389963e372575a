/* Finds parts of a YAML document of libyaml. Pure. */
#ifndef BASE_YAML_NODE_H
#define BASE_YAML_NODE_H

#include <yaml.h>

/* Returns the text of a scalar; NULL for another node, and for NULL. */
const char *node_text(const yaml_node_t *node);
/* Returns the pair with this key; NULL when there is none, or `map` is no mapping. The pair is valid until a
 * node is added to the document. */
yaml_node_pair_t *node_pair(yaml_document_t *doc, const yaml_node_t *map, const char *key);
/* Returns the value of that pair, or NULL. */
yaml_node_t *node_member(yaml_document_t *doc, const yaml_node_t *map, const char *key);

#endif
