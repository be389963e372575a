#include "model/kept.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/json_values_private.h"
#include "model/string_list.h"

static void audit_entry_done(struct audit_entry *e)
{
    free(e->token_id);
    free(e->action);
    free(e->project);
    free(e->cluster);
    free(e->body);
}

void audit_entry_free(struct audit_entry *e)
{
    if (!e)
        return;
    audit_entry_done(e);
    free(e);
}

struct audit_query audit_query_copy(const struct audit_query *q)
{
    return (struct audit_query){
        .place = q->place,
        .oldest_first = q->oldest_first,
        .limit = q->limit,
        .projects = string_list_copy(q->projects),
        .clusters = string_list_copy(q->clusters),
        .actions = string_list_copy(q->actions),
        .tokens = string_list_copy(q->tokens),
        .actors = string_list_copy(q->actors),
        .targets = string_list_copy(q->targets),
        .outcomes = q->outcomes,
        .since = q->since,
        .until = q->until,
        .own = mem_strdup(q->own),
    };
}

void audit_query_done(struct audit_query *q)
{
    string_list_free(q->projects);
    string_list_free(q->clusters);
    string_list_free(q->actions);
    string_list_free(q->tokens);
    string_list_free(q->actors);
    string_list_free(q->targets);
    free(q->own);
    *q = (struct audit_query){0};
}

void audit_page_free(struct audit_page *page)
{
    if (!page)
        return;
    for (size_t i = 0; i < page->count; i++)
        audit_entry_done(&page->entries[i]);
    free(page->entries);
    free(page);
}

void replay_free(struct replay *p)
{
    if (!p)
        return;
    free(p->location);
    free(p->sealed_body);
    free(p);
}

json_t *replay_to_json(const struct replay *p)
{
    json_t *doc = json_object();
    json_set_str(doc, "key", p->key);
    json_set_str(doc, "fingerprint", p->fingerprint);
    json_set_int(doc, "status", p->status);
    json_set_str(doc, "etag", p->etag);
    json_set_str(doc, "location", p->location);
    json_set_int(doc, "retry_after_s", p->retry_after_s);
    json_set_str(doc, "operation_id", p->operation_id);
    json_set_bool(doc, "secret", p->secret);
    json_set_bytes(doc, "sealed_body", p->sealed_body, p->sealed_body_len);
    json_set_int(doc, "created_at", p->created_at);
    return doc;
}

struct replay *replay_from_json(const json_t *doc)
{
    if (!json_str(doc, "key") || !json_str(doc, "fingerprint"))
        return NULL;
    struct replay *p = MEM_NEW(struct replay);
    json_copy_str(doc, "key", p->key, sizeof(p->key));
    json_copy_str(doc, "fingerprint", p->fingerprint, sizeof(p->fingerprint));
    p->status = (int)json_int(doc, "status", 0);
    json_copy_str(doc, "etag", p->etag, sizeof(p->etag));
    p->location = mem_strdup(json_str(doc, "location"));
    p->retry_after_s = (int)json_int(doc, "retry_after_s", 0);
    json_copy_str(doc, "operation_id", p->operation_id, sizeof(p->operation_id));
    p->secret = json_bool(doc, "secret", false);
    p->sealed_body = json_bytes(doc, "sealed_body", &p->sealed_body_len);
    p->created_at = json_int(doc, "created_at", 0);
    return p;
}
