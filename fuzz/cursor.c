/* Cursors: damaged and forged cursors are refused, and cursors that shootd made are read back unchanged. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "api/cursor.h"
#include "base/mem.h"

static const uint8_t secret[CURSOR_SECRET_BYTES] = "a secret of thirty-two bytes....";
static const uint8_t digest[CURSOR_DIGEST_BYTES] = "digest of a list";

/* Makes a position in a list from the input, which contains the count of numbers, the numbers and the key. */
static bool make_place(const uint8_t *bytes, size_t len, struct cursor_place *place)
{
    *place = (struct cursor_place){.number_count = len ? bytes[0] % (CURSOR_MAX_NUMBERS + 1) : 0};
    size_t numbers = place->number_count * sizeof(int64_t);
    if (!len || len - 1 < numbers)
        return false;
    memcpy(place->numbers, bytes + 1, numbers);
    char *key CLEANUP_FREE = fuzz_text(bytes + 1 + numbers, len - 1 - numbers);
    return cursor_place_set(place, key);
}

static void check_own(const uint8_t *bytes, size_t len)
{
    char text[CURSOR_TEXT_BYTES];
    struct cursor_place place, back;
    if (!make_place(bytes, len, &place))
        return;
    cursor_encode(secret, digest, FUZZ_NOW, &place, text);
    FUZZ_CHECK(cursor_decode(secret, digest, FUZZ_NOW, text, &back) == CURSOR_GOOD);
    FUZZ_CHECK(back.number_count == place.number_count && !strcmp(back.key, place.key));
    FUZZ_CHECK(!memcmp(back.numbers, place.numbers, place.number_count * sizeof(int64_t)));
    FUZZ_CHECK(cursor_decode(secret, digest, FUZZ_NOW + INT64_C(73) * 3600 * US_PER_S, text, &back) ==
               CURSOR_EXPIRED);
    char *at = &text[bytes[0] % strlen(text)];
    *at = *at == 'A' ? 'B' : 'A';
    struct cursor_place damaged;
    enum cursor_status status = cursor_decode(secret, digest, FUZZ_NOW, text, &damaged);
    FUZZ_CHECK(status != CURSOR_EXPIRED);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text CLEANUP_FREE = fuzz_text(bytes, len);
    struct cursor_place place;
    FUZZ_CHECK(cursor_decode(secret, digest, FUZZ_NOW, text, &place) != CURSOR_GOOD);
    check_own(bytes, len);
    return 0;
}
