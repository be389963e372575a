#include "model/kubeconfig_file.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"
#include "base/yaml_node.h"

static const char *text_of(yaml_document_t *doc, const yaml_node_t *map, const char *key)
{
    return node_text(node_member(doc, map, key));
}

/* Returns the entry with this name in one of the lists; when none has the name, the first entry. */
static yaml_node_t *entry(yaml_document_t *doc, const char *list, const char *name)
{
    yaml_node_t *items = node_member(doc, yaml_document_get_root_node(doc), list);
    if (!items || items->type != YAML_SEQUENCE_NODE)
        return NULL;
    yaml_node_item_t *start = items->data.sequence.items.start, *end = items->data.sequence.items.top;
    for (yaml_node_item_t *i = start; i < end; i++) {
        yaml_node_t *item = yaml_document_get_node(doc, *i);
        const char *its_name = text_of(doc, item, "name");
        if (name && its_name && !strcmp(name, its_name))
            return item;
    }
    return start < end ? yaml_document_get_node(doc, *start) : NULL;
}

static struct kubeconfig_parts *take_parts(yaml_document_t *doc)
{
    yaml_node_t *root = yaml_document_get_root_node(doc);
    if (!root || root->type != YAML_MAPPING_NODE)
        return NULL;
    const char *current = text_of(doc, root, "current-context");
    yaml_node_t *context = node_member(doc, entry(doc, "contexts", current), "context");
    yaml_node_t *cluster =
        node_member(doc, entry(doc, "clusters", text_of(doc, context, "cluster")), "cluster");
    yaml_node_t *user = node_member(doc, entry(doc, "users", text_of(doc, context, "user")), "user");
    struct kubeconfig_parts *p = MEM_NEW(struct kubeconfig_parts);
    p->context = mem_strdup(current);
    p->server = mem_strdup(text_of(doc, cluster, "server"));
    p->authority_data = mem_strdup(text_of(doc, cluster, "certificate-authority-data"));
    p->certificate_data = mem_strdup(text_of(doc, user, "client-certificate-data"));
    p->key_data = mem_strdup(text_of(doc, user, "client-key-data"));
    p->token = mem_strdup(text_of(doc, user, "token"));
    return p;
}

struct kubeconfig_parts *kubeconfig_parse(const char *text)
{
    yaml_parser_t parser;
    yaml_document_t doc;
    struct kubeconfig_parts *parts = NULL;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (yaml_parser_load(&parser, &doc)) {
        parts = take_parts(&doc);
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    return parts;
}

void kubeconfig_parts_free(struct kubeconfig_parts *p)
{
    if (!p)
        return;
    free(p->context);
    free(p->server);
    free(p->authority_data);
    free(p->certificate_data);
    mem_free_secret(p->key_data);
    mem_free_secret(p->token);
    free(p);
}

char *kubeconfig_pem(const char *data)
{
    size_t size = strlen(data), len = 0;
    char *pem = mem_calloc(size + 1, 1);
    if (sodium_base642bin((unsigned char *)pem, size, data, size, "\r\n ", &len, NULL,
                          sodium_base64_VARIANT_ORIGINAL) == 0)
        return pem;
    mem_free_secret(pem);
    return NULL;
}
