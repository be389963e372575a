/* What the loader of the configuration and its checks share. Before threads start. */
#ifndef CONFIG_LOADER_PRIVATE_H
#define CONFIG_LOADER_PRIVATE_H

#include <yaml.h>

#include "base/attrs.h"
#include "config/config.h"

struct config_remark {
    size_t line; /* from 1; 0: of no line */
    char *text;
};

struct loader {
    const char *file;
    bool check; /* nothing is to be served: what only the unit has may be missing */
    yaml_document_t *doc;
    struct config *config;
    unsigned faults;
    struct config_remark *remarks; /* faults and notes, told in the order of lines */
    size_t remark_count;
};

/* A fault of a value; node: where it stands, NULL when it stands nowhere. */
void config_fault(struct loader *l, const yaml_node_t *node, const char *key, const char *format, ...)
    ATTR_PRINTF(4, 5);
/* Something to know that is no fault. */
void config_note(struct loader *l, const yaml_node_t *node, const char *key, const char *format, ...)
    ATTR_PRINTF(4, 5);
/* A fault of the file itself, in a line. */
void config_file_fault(struct loader *l, size_t line, const char *text);
/* Writes and forgets them all. */
void config_tell(struct loader *l, FILE *out);

/* The text of a plain value; NULL for lists and mappings. */
const char *config_scalar(const yaml_node_t *node);
/* Of a sequence. */
size_t config_item_count(const yaml_node_t *node);
const yaml_node_t *config_item(struct loader *l, const yaml_node_t *node, size_t i);

/* What no table of keys can say: names that must be unique, URLs, files, what contradicts each other. Reads
 * the secrets. */
void config_check(struct loader *l);

#endif
