/*
 * Declarations that the files of this folder share: the table of keys, which the sample, the loader and the
 * checks use, and the state of the loader. Used by one thread at a time.
 */
#ifndef CONFIG_CONFIG_PRIVATE_H
#define CONFIG_CONFIG_PRIVATE_H

#include <yaml.h>

#include "base/attrs.h"
#include "base/yaml_node.h"
#include "config/config.h"

/* ---- keys.c: all keys of the configuration, in the order of the sample; read only ---- */

enum key_type {
    KEY_STRING,       /* char * */
    KEY_INTEGER,      /* int */
    KEY_BOOL,         /* bool */
    KEY_DURATION,     /* int64_t microseconds; written as 250ms, 15s, 5m, 2h, 30d */
    KEY_RATIO,        /* int, millionths; written as 1, 0.05 */
    KEY_WORD,         /* int, an index of `words` */
    KEY_STRING_LIST,  /* char **, the last one is NULL */
    KEY_INTEGER_LIST, /* int *, the last one is 0 */
    KEY_GROUP,        /* a mapping with the keys of `group` */
    KEY_ITEMS,        /* struct key_items: a sequence of mappings with the keys of `group` */
    KEY_REFERENCE,    /* the name of an entry of another section, which check.c looks up; nothing is stored */
    KEY_DEFAULTS,     /* json_t *: the defaults of the project; `group` has their members */
};

struct key_group;

struct key {
    const char *name;
    enum key_type type;
    size_t offset;       /* the offset in the struct that the group describes */
    const char *preset;  /* the default, as a file contains it; NULL: there is none */
    const char *example; /* the value in the sample when there is no default; NULL: the sample omits the
                          * key */
    int64_t low, high;   /* the range of an integer, and of a duration in microseconds */
    const char *const *words;
    const struct key_group *group;
    bool required;
    bool placeholder; /* only the operator knows the value: a file with the example has a fault */
    const char *help;
};

struct key_group {
    const struct key *keys;
    size_t count;
    /* For items: the size of one item, and the limit of the number of items. */
    size_t size;
    size_t most;
};

/* A member of a struct that contains items: a pointer, followed by the number of items. */
struct key_items {
    char *first;
    size_t count;
};

extern const struct key_group config_root;
extern const struct key_group config_account_group;
extern const struct key_group config_project_group;
extern const struct key_group config_issuer_group;
extern const struct key_group config_client_group;

/* ---- file.c ---- */

/* Reads the whole file, which must be a regular one of at most 4 MiB. Returns its bytes (the caller frees
 * them); NULL and *ret_error (not to be freed) on a failure. */
char *config_file_read(const char *path, size_t *ret_len, const char **ret_error);
/* Returns what of the YAML is too much for the loader, and its line; NULL when nothing is. */
const char *config_file_excess(const char *text, size_t len, size_t *ret_line);

/* ---- load.c, remarks.c, check.c ---- */

struct config_remark {
    size_t line; /* the first line is 1; 0: the remark has no line */
    char *text;
};

struct loader {
    const char *file;
    enum config_purpose purpose;
    yaml_document_t *doc;
    struct config *config;
    unsigned faults;
    struct config_remark *remarks; /* faults and notes, which are reported in the order of lines */
    size_t remark_count;
};

/* Adds a fault of a value. `node` gives the line of the value, or is NULL. */
void config_fault(struct loader *l, const yaml_node_t *node, const char *key, const char *format, ...)
    ATTR_PRINTF(4, 5);
/* Adds a note: information that is not a fault. */
void config_note(struct loader *l, const yaml_node_t *node, const char *key, const char *format, ...)
    ATTR_PRINTF(4, 5);
/* Adds a fault of the file itself. */
void config_file_fault(struct loader *l, size_t line, const char *text);
/* Writes all remarks and frees them. */
void config_report(struct loader *l, FILE *out);

/* Returns the number of items of a sequence. */
size_t config_item_count(const yaml_node_t *node);
const yaml_node_t *config_item(struct loader *l, const yaml_node_t *node, size_t i);

/* Makes the checks that the table of keys cannot express: unique names, URLs, files, keys that contradict
 * each other. Also reads the secrets. */
void config_check(struct loader *l);

#endif
