/* The scan of JSON text (base/json_scan.c): the scan accepts every text that the parser accepts, and finds
 * the same items. The tolerant parser reads every text that the scan accepts. The writer (base/json_write.c)
 * writes the same text as jansson. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

static const struct json_limits any = {SIZE_MAX, SIZE_MAX, SIZE_MAX};

static void check_items(const char *text, size_t len, const json_t *doc)
{
    struct json_items items;
    const char *bytes;
    size_t count, at = 0;
    enum json_scan_end end;
    FUZZ_CHECK(json_items_begin(&items, text, len) == json_is_array(doc));
    if (!json_is_array(doc))
        return;
    for (; json_items_next(&items, &bytes, &count); at++) {
        json_t *item CLEANUP_JSON = json_parse_foreign(bytes, count, &any, &end);
        FUZZ_CHECK(item && json_equal(item, json_array_get(doc, at)));
    }
    FUZZ_CHECK(at == json_array_size(doc));
}

static void check_members(const char *text, size_t len, const json_t *doc)
{
    struct json_items members;
    struct json_member m;
    size_t count = 0;
    enum json_scan_end end;
    FUZZ_CHECK(json_members_begin(&members, text, len) == json_is_object(doc));
    if (!json_is_object(doc))
        return;
    for (; json_members_next(&members, &m); count++) {
        json_t *value CLEANUP_JSON = json_parse_foreign(m.text, m.len, &any, &end);
        FUZZ_CHECK(value != NULL && m.name[-1] == '"' && m.name[m.name_len] == '"');
    }
    FUZZ_CHECK(count >= json_object_size(doc)); /* the parser keeps one of two members of the same name */
}

static void check_written(const json_t *doc)
{
    enum { FLAGS = JSON_COMPACT | JSON_ENCODE_ANY };
    char *ours CLEANUP_FREE = json_text(doc), *sorted CLEANUP_FREE = json_canonical(doc);
    char *theirs CLEANUP_FREE = json_dumps(doc, FLAGS);
    char *theirs_sorted CLEANUP_FREE = json_dumps(doc, FLAGS | JSON_SORT_KEYS);
    FUZZ_CHECK(!strcmp(ours, theirs) && !strcmp(sorted, theirs_sorted));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const struct json_limits few = {4096, 100, 20};
    char *text CLEANUP_FREE = fuzz_text(bytes, len);
    enum json_scan_end end = json_scan(text, len, &any);
    struct json_fault fault;
    json_t *strict CLEANUP_JSON = json_parse_strict(text, len, &fault);
    json_t *lenient CLEANUP_JSON = json_parse_lenient(text, len, &fault);
    FUZZ_CHECK(json_scan_text(end) != NULL);
    if (strict) {
        FUZZ_CHECK(lenient != NULL);
        fuzz_check_stored(strict);
    }
    if (lenient) {
        FUZZ_CHECK(end == JSON_SCAN_OK);
        check_items(text, len, lenient);
        check_members(text, len, lenient);
        check_written(lenient);
    }
    enum json_scan_end tolerant_end;
    json_t *tolerant CLEANUP_JSON = json_parse_tolerant(text, len, &any, &tolerant_end);
    FUZZ_CHECK(tolerant_end == end && (tolerant != NULL) == (end == JSON_SCAN_OK));
    if (lenient)
        FUZZ_CHECK(json_equal(tolerant, lenient));
    if (json_scan(text, len, &few) == JSON_SCAN_OK)
        FUZZ_CHECK(end == JSON_SCAN_OK);
    return 0;
}
