#include "model/account_state.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/json_values_private.h"

void account_state_free(struct account_state *a)
{
    if (!a)
        return;
    free(a->name);
    free(a->sealed_token);
    free(a->token_source);
    free(a->credentials_mark);
    free(a);
}

json_t *account_state_to_json(const struct account_state *a)
{
    assert(a->name); /* otherwise account_state_from_json could not read the document */
    json_t *doc = json_object();
    json_set_str(doc, "name", a->name);
    json_set_bytes(doc, "sealed_token", a->sealed_token, a->sealed_token_len);
    json_set_int(doc, "token_at", a->token_at);
    json_set_str(doc, "token_source", a->token_source);
    json_set_int(doc, "login_failures", a->login_failures);
    json_set_int(doc, "next_login_at", a->next_login_at);
    json_set_str(doc, "credentials_mark", a->credentials_mark);
    json_set_bool(doc, "two_factor", a->two_factor);
    json_set_bool(doc, "failed_told", a->failure_announced);
    return doc;
}

struct account_state *account_state_from_json(const json_t *doc)
{
    if (!json_str(doc, "name"))
        return NULL;
    struct account_state *a = MEM_NEW(struct account_state);
    a->name = mem_strdup(json_str(doc, "name"));
    a->sealed_token = json_bytes(doc, "sealed_token", &a->sealed_token_len);
    a->token_at = json_int(doc, "token_at", 0);
    a->token_source = mem_strdup(json_str(doc, "token_source"));
    a->login_failures = (int)json_int(doc, "login_failures", 0);
    a->next_login_at = json_int(doc, "next_login_at", 0);
    a->credentials_mark = mem_strdup(json_str(doc, "credentials_mark"));
    a->two_factor = json_bool(doc, "two_factor", false);
    /* A row without this member was written by an older version. That version emitted the event when it
     * counted the refusal. */
    a->failure_announced = json_bool(doc, "failed_told", a->login_failures > 0);
    return a;
}
