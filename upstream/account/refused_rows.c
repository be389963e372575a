/*
 * The unusable parts of Cleura's answers: shoots that are not accepted (rows of lists and answers about one
 * shoot), and single members that cannot be read. All are counted. As long as the process runs, each reason
 * is logged once for each name in a project, and each member once for all shoots, up to a limit of names.
 * Loop thread.
 */
#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/log.h"
#include "base/mem.h"
#include "upstream/account/account_private.h"

enum { NAMES_MAX = 256, KEY_BYTES = 256 + ROW_NAME_BYTES };

struct refused_name {
    UT_hash_handle hh;
    char key[KEY_BYTES];
};

static _Atomic uint64_t rows_refused, rows_known, members_unread;

uint64_t upstream_rows_refused_total(void)
{
    return atomic_load(&rows_refused);
}

uint64_t upstream_rows_known_total(void)
{
    return atomic_load(&rows_known);
}

uint64_t upstream_members_unread_total(void)
{
    return atomic_load(&members_unread);
}

/* Whether the key was not logged before; if so, adds it to the logged keys. When the limit of names is
 * reached, returns false. */
static bool is_news(struct refused_name **known_names, const char key[static KEY_BYTES])
{
    struct refused_name *known;
    HASH_FIND_STR(*known_names, key, known);
    if (known || HASH_COUNT(*known_names) >= NAMES_MAX)
        return false;
    known = MEM_NEW(struct refused_name);
    memcpy(known->key, key, KEY_BYTES);
    HASH_ADD_STR(*known_names, key, known);
    return true;
}

static bool row_is_news(struct upstream_account *a, const char *project_id, const char *name, const char *why)
{
    char key[KEY_BYTES];
    (void)snprintf(key, sizeof(key), "%s\n%s\n%s", project_id ? project_id : "", name, why);
    return is_news(&a->refused_rows, key);
}

/* Whether this member was not logged before. Indices of arrays become "*", so that the same member of many
 * shoots or pools is logged once. `of`: the kind of answer, "" for shoots. */
static bool member_is_news(struct upstream_account *a, const char *of, const char *path)
{
    char key[KEY_BYTES] = "";
    size_t at = (size_t)snprintf(key, sizeof(key), "%s\n", of);
    for (const char *c = path; *c && at + 2 < sizeof(key);) {
        const char *after = c + 1;
        while (*c == '/' && isdigit((unsigned char)*after))
            after++;
        const bool is_index = after > c + 1 && (*after == '/' || !*after);
        key[at++] = *c;
        if (is_index)
            key[at++] = '*';
        c = is_index ? after : c + 1;
    }
    return is_news(&a->unread_members, key);
}

void refused_rows_log(struct upstream_account *a, const char *project_id, const char *name, const char *why)
{
    if (row_is_news(a, project_id, name, why))
        log_warning("Cleura's answer about a shoot is not accepted", "account", a->config->name, "project_id",
                    project_id, "shoot", name, "reason", why);
}

void unread_members_note(struct upstream_account *a, const char *project_id, enum upstream_op op,
                         const char *name, const struct unread *unread)
{
    atomic_fetch_add(&members_unread, unread->count);
    for (size_t i = 0; i < unread->count && i < UNREAD_TOLD; i++)
        if (member_is_news(a, name ? "" : upstream_op_name(op), unread->paths[i]))
            log_warning("unreadable member in Cleura's answer is treated as unknown", "account",
                        a->config->name, "project_id", project_id, "op", upstream_op_name(op), "shoot", name,
                        "member", unread->paths[i]);
}

void refused_rows_note(struct upstream_account *a, const char *project_id, const struct list_part *part)
{
    atomic_fetch_add(&rows_refused, part->refused_count);
    atomic_fetch_add(&rows_known, part->known_count);
    for (size_t i = 0; i < part->refused_count; i++)
        refused_rows_log(a, project_id, part->refused[i].name, part->refused[i].why);
    for (size_t i = 0; i < part->shoot_count; i++)
        unread_members_note(a, project_id, UPSTREAM_LIST, part->shoots[i]->name, &part->unread[i]);
}

static void forget(struct refused_name **known_names)
{
    struct refused_name *known, *next;
    HASH_ITER (hh, *known_names, known, next) {
        HASH_DEL(*known_names, known);
        free(known);
    }
}

void refused_rows_done(struct upstream_account *a)
{
    forget(&a->refused_rows);
    forget(&a->unread_members);
}
