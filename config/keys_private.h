/* The table of keys: everything that exists in the configuration, in the order of the sample. Read only. */
#ifndef CONFIG_KEYS_PRIVATE_H
#define CONFIG_KEYS_PRIVATE_H

#include "config/config.h"

enum key_type {
    KEY_STRING,       /* char * */
    KEY_INTEGER,      /* int */
    KEY_BOOL,         /* bool */
    KEY_DURATION,     /* int64_t microseconds, written 250ms 15s 5m 2h 30d */
    KEY_WORD,         /* int index into words */
    KEY_STRING_LIST,  /* char **, NULL-terminated */
    KEY_INTEGER_LIST, /* int *, 0-terminated */
    KEY_GROUP,        /* a mapping of `group` */
    KEY_ITEMS,        /* a sequence of mappings of `group` */
    KEY_DEFAULTS,     /* json_t *: the project's defaults, members in `group` */
};

struct key_group;

struct key {
    const char *name;
    enum key_type type;
    size_t offset;       /* in the struct that the group describes */
    const char *preset;  /* default, as one would write it; NULL: none */
    const char *example; /* for the sample, where there is no default; NULL: the key is left out */
    int64_t low, high;   /* integers; durations in microseconds */
    const char *const *words;
    const struct key_group *group;
    bool required;
    const char *help;
};

struct key_group {
    const struct key *keys;
    size_t count;
};

extern const struct key_group config_root;
extern const struct key_group config_account_group;
extern const struct key_group config_project_group;

#endif
