/*
 * Code for both generations: paths (the generations differ in one word), lists (the generations differ in the
 * items), and the three kubeconfig calls of Cleura (CL-15). Pure.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "upstream/wire/generation_private.h"

/* Expands {cloud}, {region}, {project}, {name} and {item}, each percent-encoded. */
static char *expand_path(const char *template, const struct config_account *account,
                         const struct upstream_call *call)
{
    const struct {
        const char *name, *value;
    } parts[] = {{"{cloud}", account->cloud},
                 {"{region}", call->region},
                 {"{project}", call->project_id},
                 {"{name}", call->name},
                 {"{item}", call->item}};
    struct buffer path;
    buffer_init(&path, 4096);
    while (*template) {
        size_t i = 0;
        while (i < ARRAY_LEN(parts) && strncmp(template, parts[i].name, strlen(parts[i].name)) != 0)
            i++;
        if (i == ARRAY_LEN(parts)) {
            (void)buffer_add(&path, template ++, 1);
            continue;
        }
        char *value CLEANUP_FREE = url_segment(parts[i].value ? parts[i].value : "");
        (void)buffer_add_str(&path, value);
        template += strlen(parts[i].name);
    }
    return buffer_take(&path, NULL);
}

static void build_kubeconfig(const struct config_account *account, const struct upstream_call *call,
                             struct request_draft *draft);

void build_request(const struct generation *generation, const struct config_account *account,
                   const struct upstream_call *call, struct request_draft *draft)
{
    if (call->op == UPSTREAM_KUBECONFIG) {
        build_kubeconfig(account, call, draft);
        return;
    }
    const struct endpoint *endpoint = call_endpoint(generation, call->op);
    assert(endpoint->method); /* the caller knows which calls the generation supports */
    *draft = (struct request_draft){.method = endpoint->method,
                                    .path = expand_path(endpoint->path, account, call)};
    if (endpoint->encode) {
        json_t *body CLEANUP_JSON = endpoint->encode(call);
        draft->body = json_text(body);
    }
}

/* ---- kubeconfigs ---- */

static const struct {
    const char *path, *before, *after;
} kubeconfig_calls[] = {
    {"/gardener/v3/{cloud}/shoots/{region}/{project}/{name}/admin-kubeconfig",
     "{\"expiration_seconds\":", "}"}, /* only this call returns the real expiry */
    {"/gardener/v2/{cloud}/shoots/{region}/{project}/{name}/admin-kubeconfig",
     "{\"expiration_seconds\":", "}"},
    {"/gardener/v1/{cloud}/shoot/{region}/{project}/{name}/adminkubeconfig",
     "{\"config\":{\"expirationSeconds\":", "}}"}, /* this form is undocumented, but works */
};

int kubeconfig_variants(enum upstream_op op)
{
    return op == UPSTREAM_KUBECONFIG ? (int)ARRAY_LEN(kubeconfig_calls) : 1;
}

static void build_kubeconfig(const struct config_account *account, const struct upstream_call *call,
                             struct request_draft *draft)
{
    /* For an account with v1, the call of v1 is tried first. */
    size_t first = account->api == API_V1 ? ARRAY_LEN(kubeconfig_calls) - 1 : 0;
    size_t i = (first + (size_t)call->variant) % ARRAY_LEN(kubeconfig_calls);
    *draft = (struct request_draft){.method = "POST",
                                    .path = expand_path(kubeconfig_calls[i].path, account, call)};
    draft->body =
        mem_printf("%s%d%s", kubeconfig_calls[i].before, call->ttl_seconds, kubeconfig_calls[i].after);
}

void request_draft_done(struct request_draft *draft)
{
    free(draft->path);
    mem_free_secret(draft->body);
    *draft = (struct request_draft){0};
}
