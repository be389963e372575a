#include "http/message/conditional.h"

#include <sodium.h>
#include <string.h>

#include "http/message/headers.h"

enum { ETAG_BYTES = 256 };

void etag_of_bytes(const void *bytes, size_t len, char etag[static ETAG_DIGEST_BYTES])
{
    unsigned char digest[16];
    char *end = etag + 1 + 2 * sizeof(digest);
    (void)crypto_generichash(digest, sizeof(digest), bytes, len, NULL, 0);
    (void)sodium_bin2hex(etag + 1, ETAG_DIGEST_BYTES - 1, digest, sizeof(digest));
    etag[0] = *end = '"';
    end[1] = '\0';
}

bool etag_list_is_any(const char *list)
{
    const char *item;
    size_t len;
    const char *cursor = list;
    if (*list == '"')
        return false;
    return header_next_item(&cursor, &item, &len) && len == 1 && *item == '*' &&
           !header_next_item(&cursor, &item, &len);
}

bool etag_list_holds(const char *list, const char *etag)
{
    size_t wanted = strlen(etag);
    const char *item;
    size_t len;
    if (*etag && !strcmp(list, etag)) /* a client that polls usually sends only one entity tag */
        return true;
    while (header_next_item(&list, &item, &len)) {
        if (len > 2 && item[0] == 'W' && item[1] == '/') {
            item += 2;
            len -= 2;
        }
        if (len == wanted && !memcmp(item, etag, len))
            return true;
    }
    return false;
}

bool etag_of_coded(const char *etag, char *coded, size_t size)
{
    static const char suffix[] = "-gz\"";
    const size_t len = strlen(etag);
    if (!len || len - 1 + sizeof(suffix) > size)
        return false;
    memcpy(coded, etag, len - 1);
    memcpy(coded + len - 1, suffix, sizeof(suffix));
    return true;
}

bool etag_list_matches(const char *list, const char *etag)
{
    char coded[ETAG_BYTES];
    return etag_list_is_any(list) || etag_list_holds(list, etag) ||
           (etag_of_coded(etag, coded, sizeof(coded)) && etag_list_holds(list, coded));
}

enum condition condition_of_read(const char *if_match, const char *if_none_match, const char *etag)
{
    if (if_match && !etag_list_matches(if_match, etag))
        return CONDITION_FAILED;
    if (if_none_match && etag_list_matches(if_none_match, etag))
        return CONDITION_NOT_MODIFIED;
    return CONDITION_PASS;
}

enum condition condition_of_write(const char *if_match, const char *if_none_match, const char *etag)
{
    enum condition c = condition_of_read(if_match, if_none_match, etag);
    return c == CONDITION_NOT_MODIFIED ? CONDITION_FAILED : c;
}
