/*
 * Opaque cursors (HT-35, HT-36): version, digest of the filters, last key; authenticated with a key made at
 * start, so that a cursor ends with its process. A cursor never grants access. Pure; any thread.
 */
#ifndef API_CURSOR_H
#define API_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

enum { CURSOR_KEY_BYTES = 32, CURSOR_MAX_KEY = 200, CURSOR_TEXT_BYTES = 400 };

/* Writes the cursor that continues after `key` with the filters of `r`; false when the key is too long. */
bool cursor_make(const struct request *r, const char *key, char text[static CURSOR_TEXT_BYTES]);
/* Reads the cursor of `r` into `key` ("" when none was given); false when it is forged or of other filters.
 */
bool cursor_read(const struct request *r, char key[static CURSOR_MAX_KEY + 1]);

#endif
