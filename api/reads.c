#include "api/reads.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/fresh.h"
#include "api/routes.h"
#include "base/etag.h"
#include "base/log.h"
#include "base/mem.h"
#include "http/message/content.h"
#include "model/string_list.h"

#define PRIVATE "private, no-cache"

/* returns a reference to the blob, or to a form of it */
typedef struct view_blob *take_fn(struct view_blob *blob);

static struct view_blob *take_out(struct request *r, enum view_section section, const char *key,
                                  take_fn *take)
{
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_blob *blob = view_find(s, section, key);
    if (blob)
        blob = take(blob);
    view_leave(r->api->options.view);
    return blob;
}

struct view_blob *read_blob(struct request *r, enum view_section section, const char *key)
{
    return take_out(r, section, key, view_blob_ref);
}

static struct problem *take_cluster(struct request *r, take_fn *take, struct view_blob **ret)
{
    char key[VIEW_CLUSTER_KEY_BYTES];
    assert(r->project && r->name);
    *ret = view_cluster_key(key, r->project, r->name) ? take_out(r, VIEW_CLUSTERS, key, take) : NULL;
    return *ret ? NULL : problem_no_cluster(r->project, r->name);
}

struct problem *read_cluster(struct request *r, struct view_blob **ret)
{
    return take_cluster(r, view_blob_ref, ret);
}

struct problem *read_cluster_body(struct request *r, struct view_blob **ret)
{
    return take_cluster(r, view_blob_as_seen, ret);
}

static void release_blob(void *blob)
{
    view_blob_unref(blob);
}

struct problem *answer_with_blob(struct request *r, struct view_blob *blob)
{
    answer_shared(&r->http.answer, MHD_HTTP_OK, TYPE_JSON, blob->body, blob->body_len, &blob->coded, blob,
                  release_blob);
    answer_field(&r->http.answer, "ETag", blob->etag);
    answer_field(&r->http.answer, "Cache-Control", PRIVATE);
    return blob->etag[0] ? http_apply_conditions(&r->http, blob->etag) : NULL;
}

static struct problem *answer_with_tag(struct request *r, char *text, size_t len, const char *etag,
                                       const char *cache_control)
{
    answer_text(&r->http.answer, MHD_HTTP_OK, TYPE_JSON, text, len);
    answer_field(&r->http.answer, "Cache-Control", cache_control);
    answer_field(&r->http.answer, "ETag", etag);
    return http_apply_conditions(&r->http, etag);
}

static struct problem *answer_with_made(struct request *r, char *text, size_t len, const char *cache_control)
{
    char etag[ETAG_BYTES];
    etag_of_bytes(text, len, etag);
    return answer_with_tag(r, text, len, etag, cache_control);
}

struct problem *answer_with_tagged_text(struct request *r, char *text, size_t len, const char *etag)
{
    return answer_with_tag(r, text, len, etag, PRIVATE);
}

struct problem *answer_with_text(struct request *r, char *text, size_t len)
{
    return answer_with_made(r, text, len, PRIVATE);
}

struct problem *answer_with_document(struct request *r, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    return answer_with_text(r, text, strlen(text));
}

struct problem *answer_with_public_document(struct request *r, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    return answer_with_made(r, text, strlen(text), "no-cache");
}

/* ---- collections ---- */

enum { MAX_PAGE_BYTES = 256 * 1024 * 1024 };

void list_open(struct list_body *page)
{
    *page = (struct list_body){.is_tagged = true, .total = LIST_NO_TOTAL};
    buffer_init(&page->text, MAX_PAGE_BYTES);
    buffer_init(&page->tags, MAX_PAGE_BYTES);
    buffer_add_str(&page->text, "{\"items\":[");
}

void list_done(struct list_body *page)
{
    buffer_done(&page->text);
    buffer_done(&page->tags);
}

static void begin_item(struct list_body *page)
{
    assert(page->text.len > 0);
    if (page->text.data[page->text.len - 1] != '[')
        buffer_add(&page->text, ",", 1);
}

static void add_item(struct list_body *page, const char *item, size_t len)
{
    begin_item(page);
    buffer_add(&page->text, item, len);
}

void list_add(struct list_body *page, const char *item, size_t len)
{
    page->is_tagged = false;
    add_item(page, item, len);
}

void list_add_tagged(struct list_body *page, const char *items, const char *tags)
{
    if (!*items)
        return;
    add_item(page, items, strlen(items));
    buffer_add_str(&page->tags, tags);
}

void list_add_blob(struct list_body *page, const struct view_blob *blob, bool brief)
{
    begin_item(page);
    const wall_us seen_at = view_blob_write(blob, brief, &page->seen, &page->text);
    page->is_tagged &= blob->etag[0] != '\0';
    buffer_add_str(&page->tags, blob->etag);
    const mono_us heard_at = atomic_load(&blob->heard_at);
    if (seen_at && (!page->oldest || heard_at < page->oldest_heard)) {
        page->oldest = seen_at;
        page->oldest_heard = heard_at;
    }
}

void list_set_age(struct request *r, const struct list_body *page)
{
    fresh_set_age(r, page->oldest, page->oldest_heard, NULL);
    fresh_set_source(r);
}

struct problem *list_close(struct request *r, struct list_body *page, const struct cursor_place *next)
{
    char cursor[CURSOR_TEXT_BYTES], etag[ETAG_BYTES];
    size_t len;
    buffer_add(&page->text, "]", 1);
    if (page->total != LIST_NO_TOTAL) {
        buffer_printf(&page->text, ",\"total\":%" PRId64, page->total);
        buffer_printf(&page->tags, "%" PRId64 " ", page->total);
    }
    if (next) {
        cursor_make(r, next, cursor);
        buffer_printf(&page->text, ",\"next_cursor\":\"%s\"}", cursor);
        buffer_add_str(&page->tags, cursor);
    } else {
        buffer_add_str(&page->text, ",\"next_cursor\":null}");
    }
    if (page->text.overflow) {
        log_error("page of a list exceeds the size limit of an answer", "request_id", r->http.id);
        return problem_new(PROBLEM_INTERNAL_ERROR, "The page is too large; ask with a smaller limit.");
    }
    const struct buffer *tagged =
        page->is_tagged && page->tags.len && !page->tags.overflow ? &page->tags : &page->text;
    etag_of_bytes(tagged->data, tagged->len, etag);
    char *text = buffer_take(&page->text, &len);
    return answer_with_tag(r, text, len, etag, PRIVATE);
}

struct problem *list_place(struct request *r, struct cursor_place *ret_place)
{
    struct problem *p = NULL;
    switch (cursor_read(r, ret_place)) {
    case CURSOR_GOOD:
        break;
    case CURSOR_EXPIRED:
        problem_add_fault(&p, PROBLEM_CURSOR_EXPIRED, FAULT_AT_QUERY, "cursor", "expired", NULL,
                          "is more than 3 days old; begin again without it");
        break;
    case CURSOR_BAD:
        problem_add_fault(&p, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "cursor", "invalid_cursor", NULL,
                          "is not a next_cursor of this list with these filters; begin again without it");
        break;
    }
    return p;
}

bool list_has_prefix(const char *key, const char *prefix)
{
    return !prefix || !strncmp(key, prefix, strlen(prefix));
}

int64_t list_limit(const struct request *r)
{
    const bool of_clusters = r->route->params & PARAM_BIT(PARAM_CLUSTER_LIMIT);
    return param_number(&r->params, of_clusters ? PARAM_CLUSTER_LIMIT : PARAM_LIMIT);
}

/* ---- parameters of lists from the store ---- */

char **list_words(const struct request *r, enum param_id id)
{
    if (!r->params.given[id])
        return NULL;
    char *copy CLEANUP_FREE = mem_strdup(r->params.texts[id]);
    char *rest = copy;
    char **list = NULL;
    size_t count = 0;
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        list = mem_realloc_array(list, count + 2, sizeof(char *));
        list[count++] = mem_strdup(word);
        list[count] = NULL;
    }
    return list;
}

char **list_projects(const struct request *r)
{
    char *none[] = {NULL};
    char **wanted = list_words(r, PARAM_PROJECT);
    char **list = wanted ? wanted : string_list_copy(r->token->projects ? r->token->projects : none);
    size_t kept = 0;
    for (size_t i = 0; list[i]; i++) {
        if (!wanted && !strcmp(list[i], "*")) {
            string_list_free(list);
            return NULL;
        }
        if (api_token_sees_project(r->token, list[i]))
            list[kept++] = list[i];
        else
            free(list[i]);
    }
    list[kept] = NULL;
    return list;
}

struct problem *list_answer_array(struct request *r, const char *array, const char *next)
{
    struct list_body page CLEANUP_LIST_BODY;
    struct cursor_place last = {.number_count = 0};
    size_t len = strlen(array);
    list_open(&page);
    if (len > 2) /* copied without the brackets of the array */
        list_add(&page, array + 1, len - 2);
    bool more = next && *next && cursor_place_set(&last, next);
    return list_close(r, &page, more ? &last : NULL);
}

struct problem *list_page_begin(struct list_page *page, struct request *r)
{
    *page = (struct list_page){.r = r, .left = list_limit(r)};
    struct problem *p = list_place(r, &page->after);
    if (!p)
        list_open(&page->body);
    return p;
}

bool list_page_is_full(struct list_page *page)
{
    assert(page->left >= 0 && !page->more);
    page->more = page->left == 0;
    return page->more;
}

void list_page_add(struct list_page *page, const char *key, json_t *item)
{
    assert(page->left > 0);
    char *text CLEANUP_FREE = json_text(item);
    json_decref(item);
    list_add(&page->body, text, strlen(text));
    (void)cursor_place_set(&page->last, key);
    page->left--;
}

struct problem *list_page_end(struct list_page *page)
{
    struct problem *p = list_close(page->r, &page->body, page->more ? &page->last : NULL);
    list_done(&page->body);
    return p;
}

/* ---- pages of a section of the view ---- */

/* Returns the place where the page begins. */
static struct view_cursor first_place(const struct view_snapshot *s, const struct list_query *q,
                                      const char *after)
{
    if (q->newest_first)
        return *after ? view_seek(s, q->section, after) : view_end(s, q->section);
    struct view_cursor place = view_seek(s, q->section,
                                         *after      ? after
                                         : q->prefix ? q->prefix
                                                     : ""),
                       behind = place;
    const struct view_entry *first = view_next(&behind);
    return first && *after && !strcmp(first->key, after) ? behind : place;
}

struct problem *list_view_begin(struct list_view *list, struct request *r, const struct list_query *query)
{
    *list = (struct list_view){.r = r, .query = *query, .left = list_limit(r)};
    struct problem *p = list_place(r, &list->after);
    if (p)
        return p;
    list_open(&list->body);
    list->snapshot = view_enter(r->api->options.view);
    list->place = first_place(list->snapshot, query, list->after.key);
    return NULL;
}

const struct view_entry *list_view_next(struct list_view *list)
{
    const struct list_query *q = &list->query;
    while (!list->more) {
        const struct view_entry *e = (q->newest_first ? view_previous : view_next)(&list->place);
        if (!e || (q->may_go_on && strcmp(e->key, list->snapshot->left_out) <= 0)) {
            list->goes_on = q->may_go_on && *list->snapshot->left_out;
            break;
        }
        if (list_has_prefix(e->key, q->prefix))
            return e;
        if (!q->newest_first)
            break;
    }
    return NULL;
}

void list_view_add(struct list_view *list, const struct view_entry *entry)
{
    assert(list->left >= 0 && !list->more);
    list->more = list->left == 0;
    if (list->more)
        return;
    if (!list->query.newest_first)
        view_fetch_text_ahead(&list->place, list->query.brief);
    list_add_blob(&list->body, entry->blob, list->query.brief);
    list->last = entry->key;
    list->left--;
}

void list_view_discard(struct list_view *list)
{
    view_leave(list->r->api->options.view);
    list_done(&list->body);
}

struct problem *list_view_end(struct list_view *list)
{
    struct cursor_place next = {.number_count = 0};
    assert(!list->goes_on);
    const bool more = list->more && list->last && cursor_place_set(&next, list->last);
    view_leave(list->r->api->options.view);
    if (list->query.states_age)
        list_set_age(list->r, &list->body);
    struct problem *p = list_close(list->r, &list->body, more ? &next : NULL);
    list_done(&list->body);
    return p;
}
