/* The fake's rows: sorted insertion, look-up, snapshots. Runs under the mutex of fake.c. */
#include "storage/fake/fake_private.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>
#include <uthash.h>

static void row_unref(struct fake_row *row)
{
    if (--row->refs)
        return;
    free(row->key);
    free(row->unique);
    free(row->doc);
    event_free(row->event);
    free(row->delivery);
    audit_entry_free(row->audit);
    free(row);
}

void fake_tables_copy(struct fake_tables *to, const struct fake_tables *from)
{
    to->sequence = from->sequence;
    to->marked = from->marked;
    to->audit_sequence = from->audit_sequence;
    memcpy(to->seal_key, from->seal_key, sizeof(to->seal_key));
    for (int t = 0; t < FAKE_TABLE_MAX_; t++) {
        const struct fake_rows *rows = &from->table[t];
        to->table[t].rows = mem_dup(rows->rows, rows->count * sizeof(*rows->rows));
        to->table[t].count = rows->count;
        to->table[t].capacity = rows->count;
        for (size_t i = 0; i < rows->count; i++)
            rows->rows[i]->refs++;
    }
}

void fake_tables_done(struct fake_tables *t)
{
    for (int i = 0; i < FAKE_TABLE_MAX_; i++) {
        for (size_t n = 0; n < t->table[i].count; n++)
            row_unref(t->table[i].rows[n]);
        free(t->table[i].rows);
    }
    *t = (struct fake_tables){0};
}

/* Returns the index of the key, or the index at which the key would be inserted. */
static size_t fake_place(const struct fake_rows *rows, const char *key)
{
    size_t low = 0;
    size_t high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(rows->rows[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct fake_rows *rows, size_t at, const char *key)
{
    return at < rows->count && !strcmp(rows->rows[at]->key, key);
}

struct fake_row *fake_find(const struct fake_rows *rows, const char *key)
{
    size_t at = fake_place(rows, key);
    return is_at(rows, at, key) ? rows->rows[at] : NULL;
}

static bool unique_is_taken(const struct fake_rows *rows, const struct fake_row *row)
{
    for (size_t i = 0; row->unique && i < rows->count; i++) {
        const struct fake_row *other = rows->rows[i];
        if (other->unique_hash == row->unique_hash && other->unique && !strcmp(other->unique, row->unique) &&
            strcmp(other->key, row->key) != 0)
            return true;
    }
    return false;
}

bool fake_put(struct fake_rows *rows, struct fake_row *row)
{
    assert(row->key && !row->refs);
    row->refs = 1;
    if (row->unique)
        HASH_VALUE(row->unique, strlen(row->unique), row->unique_hash);
    if (unique_is_taken(rows, row)) {
        row_unref(row);
        return false;
    }
    size_t at = fake_place(rows, row->key);
    if (is_at(rows, at, row->key)) {
        row_unref(rows->rows[at]);
        rows->rows[at] = row;
        return true;
    }
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity ? rows->capacity * 2 : 8;
        rows->rows = mem_realloc_array(rows->rows, rows->capacity, sizeof(struct fake_row *));
    }
    memmove(&rows->rows[at + 1], &rows->rows[at], (rows->count - at) * sizeof(struct fake_row *));
    rows->rows[at] = row;
    rows->count++;
    return true;
}

static bool has_key(const struct fake_row *row, const void *key)
{
    return !strcmp(row->key, key);
}

void fake_remove(struct fake_rows *rows, const char *key)
{
    (void)fake_filter(rows, has_key, key, 1);
}

size_t fake_filter(struct fake_rows *rows, bool (*drop)(const struct fake_row *row, const void *arg),
                   const void *arg, size_t most)
{
    size_t kept = 0, dropped = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (dropped < most && drop(rows->rows[i], arg)) {
            row_unref(rows->rows[i]);
            dropped++;
        } else {
            rows->rows[kept++] = rows->rows[i];
        }
    }
    rows->count = kept;
    return dropped;
}
