/* The description of a copy of a store, in answers and in the file beside the copy. */
#include "storage/storage.h"

#include "base/json.h"
#include "base/timefmt.h"

const char *const store_count_names[STORE_COUNTS] = {"clusters",   "operations", "events", "webhooks",
                                                     "deliveries", "tokens",     "audit"};

json_t *store_copy_document(const struct store_copy *copy, const char *name, wall_us made_at)
{
    char at[TIME_TEXT_BYTES];
    json_t *doc = json_object(), *rows = json_object();
    for (size_t i = 0; i < STORE_COUNTS; i++)
        json_set_int(rows, store_count_names[i], copy->rows[i]);
    json_set_str(doc, "name", name);
    json_set_int(doc, "bytes", copy->bytes);
    json_set_str(doc, "store_id", copy->id);
    json_set_int(doc, "schema", copy->schema);
    json_set_int(doc, "last_sequence", copy->event_sequence);
    json_set_take(doc, "rows", rows);
    json_set_str(doc, "created_at", time_rfc3339(made_at, true, at));
    return doc;
}
