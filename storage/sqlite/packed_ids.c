/*
 * Two SQL functions: id_packed(prefix, id) returns the 16 bytes of an id, id_unpacked(prefix, value) returns
 * its text. A value in another form is returned unchanged, so no value is lost in either direction. Runs on
 * the thread of the connection.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/ids.h"

static const char *text_of(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text ? text : "";
}

static void pack(sqlite3_context *ctx, int count ATTR_UNUSED, sqlite3_value **values)
{
    uint8_t packed[ID_PACKED_BYTES];
    if (sqlite3_value_type(values[1]) == SQLITE_TEXT &&
        id_pack(text_of(values[0]), text_of(values[1]), packed))
        sqlite3_result_blob(ctx, packed, sizeof(packed), SQLITE_TRANSIENT);
    else
        sqlite3_result_value(ctx, values[1]);
}

static void unpack(sqlite3_context *ctx, int count ATTR_UNUSED, sqlite3_value **values)
{
    char id[ID_BYTES];
    if (sqlite3_value_type(values[1]) == SQLITE_BLOB && sqlite3_value_bytes(values[1]) == ID_PACKED_BYTES)
        sqlite3_result_text(ctx, id_unpack(text_of(values[0]), sqlite3_value_blob(values[1]), id), -1,
                            SQLITE_TRANSIENT);
    else
        sqlite3_result_value(ctx, values[1]);
}

int packed_ids_register(sqlite3 *db)
{
    static const struct {
        const char *name;
        void (*call)(sqlite3_context *ctx, int count, sqlite3_value **values);
    } functions[] = {{"id_packed", pack}, {"id_unpacked", unpack}};
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && rc == SQLITE_OK; i++)
        rc = sqlite3_create_function_v2(db, functions[i].name, 2,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                        functions[i].call, NULL, NULL, NULL);
    return rc;
}
