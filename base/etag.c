#include "base/etag.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static const char coded_end[] = "-gz\"";

void etag_digest(const struct etag_part *parts, size_t count, char *hex, size_t size)
{
    crypto_generichash_state h;
    unsigned char digest[crypto_generichash_BYTES_MIN];
    (void)crypto_generichash_init(&h, NULL, 0, sizeof(digest));
    for (size_t i = 0; i < count; i++)
        (void)crypto_generichash_update(&h, parts[i].bytes, parts[i].len);
    (void)crypto_generichash_final(&h, digest, sizeof(digest));
    assert(size / 2 <= sizeof(digest));
    (void)sodium_bin2hex(hex, size, digest, size / 2);
}

void etag_of_bytes(const void *bytes, size_t len, char etag[static ETAG_BYTES])
{
    char hex[ETAG_LONG_BYTES];
    etag_digest(&(struct etag_part){bytes, len}, 1, hex, sizeof(hex));
    (void)snprintf(etag, ETAG_BYTES, "\"%s\"", hex);
}

bool etag_of_coded(const char *etag, char *coded, size_t size)
{
    const size_t len = strlen(etag);
    if (!len || len - 1 + sizeof(coded_end) > size)
        return false;
    memcpy(coded, etag, len - 1);
    memcpy(coded + len - 1, coded_end, sizeof(coded_end));
    return true;
}

/* ---- lists ---- */

/* Finds the next entity tag of the list, without `W/`. */
static bool next_tag(const char **cursor, const char **ret_tag, size_t *ret_len)
{
    if (!text_next_item(cursor, ret_tag, ret_len))
        return false;
    if (*ret_len > 2 && !strncmp(*ret_tag, "W/", 2)) {
        *ret_tag += 2;
        *ret_len -= 2;
    }
    return true;
}

static bool list_is_any(const char *list)
{
    const char *item;
    size_t len;
    if (*list == '"')
        return false;
    return text_next_item(&list, &item, &len) && len == 1 && *item == '*' &&
           !text_next_item(&list, &item, &len);
}

bool etag_list_holds(const char *list, const char *etag)
{
    const size_t wanted = strlen(etag);
    const char *tag;
    size_t len;
    if (wanted && !strcmp(list, etag)) /* a client that polls usually sends only one entity tag */
        return true;
    while (next_tag(&list, &tag, &len))
        if (len == wanted && !memcmp(tag, etag, len))
            return true;
    return false;
}

/* Whether the list names the current state, see struct etag_current. */
static bool names(const char *list, const char *current)
{
    const size_t known = strlen(current);
    const bool is_whole = known > 1 && current[known - 1] == '"';
    const char *tag;
    size_t len;
    if (is_whole && !strcmp(list, current)) /* as above */
        return true;
    const size_t shared = is_whole ? known - 1 : known;
    while (shared && next_tag(&list, &tag, &len)) {
        if (len <= shared || memcmp(tag, current, shared) != 0)
            continue;
        const char *end = tag + shared;
        const size_t left = len - shared;
        if ((left == 1 && *end == '"') || (!is_whole && *end == '-') ||
            (left == strlen(coded_end) && !memcmp(end, coded_end, left)))
            return true;
    }
    return false;
}

/* ---- preconditions ---- */

struct preconditions preconditions_read(const char *if_match, const char *if_none_match)
{
    return (struct preconditions){
        .match = {.text = if_match, .is_any = if_match && list_is_any(if_match)},
        .none_match = {.text = if_none_match, .is_any = if_none_match && list_is_any(if_none_match)},
    };
}

struct preconditions *preconditions_copy(const struct preconditions *p)
{
    if (!p->match.text && !p->none_match.text)
        return NULL;
    const size_t match = p->match.text ? strlen(p->match.text) + 1 : 0;
    const size_t none_match = p->none_match.text ? strlen(p->none_match.text) + 1 : 0;
    struct preconditions *copy = mem_calloc(1, sizeof(*copy) + match + none_match);
    char *texts = (char *)(copy + 1);
    *copy = *p;
    if (match)
        copy->match.text = memcpy(texts, p->match.text, match);
    if (none_match)
        copy->none_match.text = memcpy(texts + match, p->none_match.text, none_match);
    return copy;
}

/* Whether the list names what is current. */
static bool list_names(const struct etag_list *list, const struct etag_current *current)
{
    return list->is_any ? current->exists : names(list->text, current->tag);
}

static bool is_compared(const struct etag_list *list, const struct etag_current *current)
{
    return list->text && !(list->is_any && current->any_holds);
}

enum precondition preconditions_check(const struct preconditions *p, const struct etag_current *current)
{
    if (!p)
        return PRECONDITION_HOLDS;
    const struct etag_list *match = &p->match, *none_match = &p->none_match;
    if (is_compared(match, current) && !list_names(match, current))
        return match->is_any || !*current->tag ? PRECONDITION_ABSENT : PRECONDITION_OTHER;
    if (is_compared(none_match, current) && list_names(none_match, current))
        return none_match->is_any ? PRECONDITION_EXISTS : PRECONDITION_CURRENT;
    return PRECONDITION_HOLDS;
}
