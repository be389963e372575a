/*
 * What of Cleura's answers cannot be used: shoots that are not believed, rows of lists and answers about one,
 * and single members that cannot be read. They are counted; each name of a project is told once with each
 * reason, or member, in the life of the process, as long as there are not very many of them. Loop thread.
 */
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
    char key[KEY_BYTES]; /* project id, '\n', name, '\n', reason, as far as they fit */
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

/* Whether nobody was told of it yet. */
static bool is_news(struct upstream_account *a, const char *project_id, const char *name, const char *why)
{
    char key[KEY_BYTES];
    struct refused_name *known;
    (void)snprintf(key, sizeof(key), "%s\n%s\n%s", project_id ? project_id : "", name, why);
    HASH_FIND_STR(a->refused_rows, key, known);
    if (known || HASH_COUNT(a->refused_rows) >= NAMES_MAX)
        return false;
    known = MEM_NEW(struct refused_name);
    memcpy(known->key, key, sizeof(key));
    HASH_ADD_STR(a->refused_rows, key, known);
    return true;
}

void refused_rows_tell(struct upstream_account *a, const char *project_id, const char *name, const char *why)
{
    if (is_news(a, project_id, name, why))
        log_warning("Cleura's answer about a shoot is not believed", "account", a->config->name, "project_id",
                    project_id, "shoot", name, "reason", why);
}

void unread_members_note(struct upstream_account *a, const char *project_id, enum upstream_op op,
                         const char *name, const struct unread *unread)
{
    atomic_fetch_add(&members_unread, unread->count);
    for (size_t i = 0; i < unread->count && i < UNREAD_TOLD; i++)
        if (is_news(a, project_id, name ? name : upstream_op_name(op), unread->paths[i]))
            log_warning("a member of Cleura's answer cannot be read and counts as unknown", "account",
                        a->config->name, "project_id", project_id, "op", upstream_op_name(op), "shoot", name,
                        "member", unread->paths[i]);
}

void refused_rows_note(struct upstream_account *a, const char *project_id, const struct list_part *part)
{
    atomic_fetch_add(&rows_refused, part->refused_count);
    atomic_fetch_add(&rows_known, part->known_count);
    for (size_t i = 0; i < part->refused_count; i++)
        refused_rows_tell(a, project_id, part->refused[i].name, part->refused[i].why);
    for (size_t i = 0; i < part->shoot_count; i++)
        unread_members_note(a, project_id, UPSTREAM_LIST, part->shoots[i]->name, &part->unread[i]);
}

void refused_rows_done(struct upstream_account *a)
{
    struct refused_name *known, *next;
    HASH_ITER (hh, a->refused_rows, known, next) {
        HASH_DEL(a->refused_rows, known);
        free(known);
    }
}
