/*
 * Opaque cursors (HT-35, HT-36). A cursor contains a version, the hour of issue, a digest of the filters and
 * the order, and the sort values and the key of the page's last item. Cursors are authenticated with a key
 * that is derived from the seal key, so they stay valid after a restart. They expire after three days. The
 * time of issue is only exact to the hour, so that an unchanged page keeps its bytes and its entity tag. A
 * cursor never grants access. Pure; any thread.
 */
#ifndef API_CURSOR_H
#define API_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"

struct request;

enum {
    CURSOR_SECRET_BYTES = 32,
    CURSOR_DIGEST_BYTES = 16,
    CURSOR_MAX_KEY = 200,
    CURSOR_MAX_NUMBERS = 4,
    CURSOR_TEXT_BYTES = 400,
    CURSOR_LIFE_HOURS = 72,
};

/* The place where a page ends: the key of its last item, and the sort values that the key does not
 * contain. */
struct cursor_place {
    char key[CURSOR_MAX_KEY + 1]; /* "": before the first item */
    int64_t numbers[CURSOR_MAX_NUMBERS];
    unsigned number_count;
};

enum cursor_status { CURSOR_GOOD, CURSOR_BAD, CURSOR_EXPIRED };

/* False when the key is too long. */
bool cursor_place_set(struct cursor_place *place, const char *key);

void cursor_encode(const uint8_t secret[static CURSOR_SECRET_BYTES],
                   const uint8_t digest[static CURSOR_DIGEST_BYTES], wall_us now,
                   const struct cursor_place *place, char text[static CURSOR_TEXT_BYTES]);
/* Returns CURSOR_BAD for a cursor that is forged, damaged, or made for a list with other filters
 * (`digest`). */
enum cursor_status cursor_decode(const uint8_t secret[static CURSOR_SECRET_BYTES],
                                 const uint8_t digest[static CURSOR_DIGEST_BYTES], wall_us now,
                                 const char *text, struct cursor_place *ret_place);

/* Makes the cursor that continues after `place` in the list of `r`. */
void cursor_make(const struct request *r, const struct cursor_place *place,
                 char text[static CURSOR_TEXT_BYTES]);
/* Reads the cursor of `r`. Without a cursor, returns the place before the first item. */
enum cursor_status cursor_read(const struct request *r, struct cursor_place *ret_place);

#endif
