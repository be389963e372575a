/*
 * Reads Cleura's answers. Each kind of call has its own limits, and each member is read separately. Runs on
 * the worker, so that the answers do not block the loop. A JSON tree is made only from a text that was
 * scanned without a fault. Pure.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/thread.h"
#include "upstream/wire/driver_private.h"

static const struct json_limits small = {ANSWER_SMALL_BYTES, 1000, 1000};

json_t *answer_read_small(const char *body, size_t len)
{
    enum json_scan_end end;
    return json_parse_tolerant(body, len, &small, &end);
}

static enum read_end end_of(enum json_scan_end end, const char **ret_why)
{
    *ret_why = json_scan_text(end);
    return end == JSON_SCAN_OK ? READ_OK : end == JSON_SCAN_MALFORMED ? READ_GARBLED : READ_TOO_MUCH;
}

static enum read_end garbled_unless(bool understood, const char **ret_why)
{
    *ret_why = "lacks a required member";
    return understood ? READ_OK : READ_GARBLED;
}

static enum read_end read_document(decode_answer *decode, const struct answer_about *about, const char *body,
                                   size_t len, struct upstream_result *result, const char **ret_why)
{
    enum json_scan_end end;
    json_t *doc CLEANUP_JSON = json_parse_tolerant(body, len, call_limits(about->op), &end);
    if (!doc)
        return end_of(end, ret_why);
    struct decoding d = {.now = about->now};
    bool understood = decode(&d, about, doc, result);
    decode_report_unread(&d, doc, &result->unread);
    if (about->op == UPSTREAM_MONITORING)
        json_wipe(doc);
    return garbled_unless(understood, ret_why);
}

enum read_end answer_read(const struct upstream_driver *driver, const struct answer_about *about,
                          const char *body, size_t len, struct upstream_result *result, const char **ret_why)
{
    assert(!result->document && !result->shoot && !result->text && !result->kubeconfig);
    if (len > call_limits(about->op)->bytes)
        return end_of(JSON_SCAN_TOO_MANY_BYTES, ret_why);
    const struct upstream_endpoint *endpoint = call_endpoint(driver, about->op, about->variant);
    if (endpoint->decode_body)
        return garbled_unless(endpoint->decode_body(about->now, body, len, result), ret_why);
    return endpoint->decode ? read_document(endpoint->decode, about, body, len, result, ret_why) : READ_OK;
}

/* ---- lists ---- */

void list_part_done(struct list_part *part)
{
    for (size_t i = 0; i < part->shoot_count; i++)
        shoot_free(part->shoots[i]);
    *part = (struct list_part){0};
}

/* The text has passed the scan. */
static bool is_null(const char *body, size_t len)
{
    return len && body[strspn(body, " \t\r\n")] == 'n';
}

enum read_end list_begin(struct json_items *rows, const char *body, size_t len, const char **ret_why)
{
    enum read_end end = end_of(json_scan(body, len, call_limits(UPSTREAM_LIST)), ret_why);
    if (end == READ_OK && is_null(body, len)) { /* servers in Go write an empty list as null */
        *rows = (struct json_items){.at = body + len, .end = body + len};
        return READ_OK;
    }
    if (end == READ_OK)
        end = garbled_unless(json_items_begin(rows, body, len), ret_why);
    return end;
}

static void decode_row(const struct upstream_driver *driver, wall_us now, const char *text, size_t len,
                       const uint8_t *digest, struct list_part *part)
{
    enum json_scan_end end;
    struct decoding d = {.now = now};
    json_t *doc CLEANUP_JSON = json_parse_tolerant(text, len, call_limits(UPSTREAM_GET), &end);
    struct shoot *shoot = doc ? driver->decode_shoot(&d, doc) : NULL;
    assert(part->shoot_count < LIST_PART_ROWS && part->refused_count < LIST_PART_ROWS);
    if (shoot) {
        memcpy(shoot->row, digest, sizeof(shoot->row));
        decode_report_unread(&d, doc, &part->unread[part->shoot_count]);
        part->shoots[part->shoot_count++] = shoot;
        return;
    }
    struct refused_row *row = &part->refused[part->refused_count++];
    const char *name = driver->row_name(doc);
    memcpy(row->name, name ? name : "", name ? utf8_cut(name, sizeof(row->name) - 1) : 0);
    row->is_cut = name && strlen(name) >= sizeof(row->name);
    row->why = doc ? d.fault : json_scan_text(end);
}

/* Whether no further row fits. Refused rows are counted, too, because each of them is reported. */
static bool part_is_full(const struct list_part *part)
{
    return part->shoot_count + part->refused_count == LIST_PART_ROWS || part->known_count == LIST_PART_KNOWN;
}

bool list_next(const struct upstream_driver *driver, wall_us now, struct json_items *rows,
               const struct known_rows *known, struct list_part *ret_part)
{
    const char *text;
    size_t len;
    bool taken = false;
    *ret_part = (struct list_part){.shoot_count = 0};
    while (!part_is_full(ret_part) && json_items_next(rows, &text, &len)) {
        uint8_t digest[ROW_DIGEST_BYTES];
        row_digest(text, len, digest);
        const struct known_row *row = known_rows_find(known, digest);
        if (row)
            ret_part->known[ret_part->known_count++] = row;
        else
            decode_row(driver, now, text, len, digest, ret_part);
        taken = true;
        thread_step_aside();
    }
    return taken;
}
