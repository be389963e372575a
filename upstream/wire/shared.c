/* Makes the request of a call from its endpoint, for all drivers. Pure. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "upstream/wire/driver_private.h"

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
            buffer_add(&path, template ++, 1);
            continue;
        }
        char *value CLEANUP_FREE = url_segment(parts[i].value ? parts[i].value : "");
        buffer_add_str(&path, value);
        template += strlen(parts[i].name);
    }
    return buffer_take(&path, NULL);
}

void build_request(const struct upstream_driver *driver, const struct config_account *account,
                   const struct upstream_call *call, struct request_draft *draft)
{
    const struct upstream_endpoint *endpoint = call_endpoint(driver, call->op, call->variant);
    assert(endpoint); /* the caller knows which calls the account supports */
    *draft = (struct request_draft){.method = endpoint->method,
                                    .path = expand_path(endpoint->path, account, call)};
    if (endpoint->encode) {
        json_t *body CLEANUP_JSON = endpoint->encode(call);
        draft->body = json_text(body);
    }
}

void request_draft_done(struct request_draft *draft)
{
    free(draft->path);
    mem_free_secret(draft->body);
    *draft = (struct request_draft){0};
}
