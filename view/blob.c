/*
 * Resources in the view. The body of a cluster contains the time of its observation, the only member that
 * every poll changes. When only this time changes, the body is not rendered again: a reader inserts the new
 * time.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/view.h"

struct view_blob *view_blob_new(const char *etag, char *body, wall_us observed_at, void *subject,
                                void (*subject_free)(void *))
{
    struct view_blob *b = MEM_NEW(struct view_blob);
    atomic_init(&b->refs, 1);
    atomic_init(&b->coded, NULL);
    atomic_init(&b->again, NULL);
    atomic_init(&b->seen_at, observed_at);
    atomic_init(&b->heard_at, 0);
    strncpy(b->etag, etag, sizeof(b->etag) - 1);
    b->body = body;
    b->body_len = body ? strlen(body) : 0;
    b->observed_at = observed_at;
    if (observed_at)
        b->observed_len = (uint32_t)strlen(time_rfc3339(observed_at, true, b->observed_text));
    b->subject = subject;
    b->subject_free = subject_free;
    return b;
}

static bool has_time_at(const struct view_blob *b, const char *text, size_t at)
{
    return !b->observed_at || !strncmp(text + at, b->observed_text, b->observed_len);
}

void view_blob_set_brief(struct view_blob *b, char *brief, size_t observed_in_body, size_t observed_in_brief)
{
    assert(!b->brief && !b->key); /* must be called before the blob is in the view */
    assert(has_time_at(b, b->body, observed_in_body) && has_time_at(b, brief, observed_in_brief));
    b->brief = brief;
    b->brief_len = strlen(brief);
    assert(b->body_len <= UINT32_MAX && b->brief_len <= UINT32_MAX);
    b->observed_in_body = (uint32_t)observed_in_body;
    b->observed_in_brief = (uint32_t)observed_in_brief;
}

void view_blob_set_heard(struct view_blob *b, mono_us heard_at)
{
    assert(!b->key);
    atomic_store(&b->heard_at, heard_at);
}

struct view_blob *view_blob_ref(struct view_blob *b)
{
    atomic_fetch_add(&b->refs, 1);
    return b;
}

void view_blob_unref(struct view_blob *b)
{
    if (!b)
        return;
    uint32_t before = atomic_fetch_sub(&b->refs, 1);
    assert(before > 0);
    if (before != 1)
        return;
    if (b->subject_free)
        b->subject_free((void *)(uintptr_t)b->subject);
    view_blob_unref(atomic_load(&b->again));
    free(atomic_load(&b->coded));
    free(b->key);
    free(b->body);
    free(b->brief);
    free(b);
}

wall_us view_blob_seen_at(const struct view_blob *b)
{
    return atomic_load(&b->seen_at);
}

wall_us view_blob_write(const struct view_blob *b, bool brief, struct time_text *last, struct buffer *out)
{
    const char *text = brief ? b->brief : b->body;
    const size_t len = brief ? b->brief_len : b->body_len;
    const wall_us at = view_blob_seen_at(b);
    if (at == b->observed_at) {
        buffer_add(out, text, len);
        return at;
    }
    const size_t before = brief ? b->observed_in_brief : b->observed_in_body;
    const size_t behind = before + b->observed_len;
    buffer_add(out, text, before);
    buffer_add_str(out, time_text(last, at));
    buffer_add(out, text + behind, len - behind);
    return at;
}

static struct view_blob *form_seen_at(const struct view_blob *b, wall_us at)
{
    const mono_us heard_at = atomic_load(&b->heard_at);
    char now[TIME_TEXT_BYTES];
    const char *behind = b->body + b->observed_in_body + b->observed_len;
    char *body =
        mem_printf("%.*s%s%s", (int)b->observed_in_body, b->body, time_rfc3339(at, true, now), behind);
    struct view_blob *form = view_blob_new(b->etag, body, at, NULL, NULL);
    view_blob_set_heard(form, heard_at);
    return form;
}

/* While this function runs, the loop thread may set a newer time, and another reader may store a form with
 * an older time. The caller then gets a form that is not stored, so that no thread has to wait. */
struct view_blob *view_blob_as_seen(struct view_blob *b)
{
    const wall_us at = view_blob_seen_at(b);
    if (at == b->observed_at)
        return view_blob_ref(b);
    struct view_blob *kept = atomic_load(&b->again);
    if (kept && kept->observed_at == at)
        return view_blob_ref(kept);
    struct view_blob *form = form_seen_at(b, at);
    if (!kept && atomic_compare_exchange_strong(&b->again, &kept, form))
        return view_blob_ref(form);
    return form;
}
