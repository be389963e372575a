#include "api/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct kept_response {
    struct MHD_Response *response;
    const char *body; /* alive as long as the response: no other body has its address */
    unsigned count;
    struct answer_header fields[FIELDS_MAX];
};

static bool has_names(const struct kept_response *kept, const struct fields *fields)
{
    if (kept->count != fields->count)
        return false;
    for (unsigned i = 0; i < fields->count; i++)
        if (strcmp(kept->fields[i].name, fields->items[i].name) != 0)
            return false;
    return true;
}

static bool values_fit(const struct fields *fields)
{
    for (unsigned i = 0; i < fields->count; i++)
        if (strlen(fields->items[i].value) >= ANSWER_HEADER_BYTES)
            return false;
    return true;
}

static void set_value(struct answer_header *field, const char *value)
{
    memcpy(field->value, value, strlen(value) + 1);
}

struct MHD_Response *kept_take(struct kept_response *kept, const char *body, const struct fields *fields)
{
    if (!kept || kept->body != body || !has_names(kept, fields) || !values_fit(fields))
        return NULL;
    for (unsigned i = 0; i < fields->count; i++) {
        struct answer_header *field = &kept->fields[i];
        const char *value = fields->items[i].value;
        if (!strcmp(field->value, value))
            continue;
        (void)MHD_del_response_header(kept->response, field->name, field->value);
        (void)MHD_add_response_header(kept->response, field->name, value);
        set_value(field, value);
    }
    return kept->response;
}

bool kept_put(struct kept_response **place, struct MHD_Response *response, const char *body,
              const struct fields *fields)
{
    if (!values_fit(fields))
        return false;
    struct kept_response *kept = *place;
    if (kept)
        MHD_destroy_response(kept->response);
    else
        kept = *place = MEM_NEW(struct kept_response);
    kept->response = response;
    kept->body = body;
    kept->count = fields->count;
    for (unsigned i = 0; i < fields->count; i++) {
        kept->fields[i].name = fields->items[i].name;
        set_value(&kept->fields[i], fields->items[i].value);
    }
    return true;
}

void kept_free(struct kept_response *kept)
{
    if (!kept)
        return;
    MHD_destroy_response(kept->response);
    free(kept);
}
