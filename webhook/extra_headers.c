/*
 * Header fields that an owner adds to deliveries: the allowed fields, and the storage of their values. Values
 * may be credentials: they are sealed when stored, and are never a part of a fault, a log line or an answer.
 * Pure functions, any thread.
 */
#include "webhook/webhook.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/text.h"
#include "base/mem.h"

enum { NAME_MAX_BYTES = 64, VALUE_MAX_BYTES = 1024 };

/*
 * Reserved fields: the fields of the connection, the message and the signature (RFC 9110 7.6.1, WH-2), and
 * fields that would make libcurl decompress data without a limit. A "*" at the end stands for any further
 * characters.
 */
static const char *const reserved[] = {
    "accept-encoding", "connection", "content-*",         "cookie*",    "expect", "forwarded", "host",
    "http2-settings",  "keep-alive", "proxy-*",           "set-cookie", "te",     "trailer",   "upgrade",
    "user-agent",      "via",        "transfer-encoding", "webhook-*",
};

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
        size_t len = strlen(reserved[i]);
        bool prefix = reserved[i][len - 1] == '*';
        if (prefix ? !strncasecmp(name, reserved[i], len - 1) : !strcasecmp(name, reserved[i]))
            return true;
    }
    return false;
}

/* Whether the value is printable ASCII, with spaces only between other characters. libcurl sends such a value
 * unchanged (UP-7). */
static bool is_field_value(const char *value)
{
    size_t len = strlen(value);
    for (const char *c = value; *c; c++)
        if (*c < ' ' || *c > '~')
            return false;
    return len && value[0] != ' ' && value[len - 1] != ' ';
}

static void fault(struct problem **faults, const char *pointer, const char *code, const char *detail)
{
    problem_add_fault(faults, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, pointer, code, NULL, "%s", detail);
}

void webhook_check_header(const char *name, const char *value, const char *pointer, struct problem **faults)
{
    if (strlen(name) > NAME_MAX_BYTES || strlen(value) > VALUE_MAX_BYTES)
        fault(faults, pointer, "too_long",
              "must have a name of at most 64 bytes and a value of at most 1024");
    if (!http_is_token(name, strlen(name)))
        fault(faults, pointer, "invalid_header_name",
              "must have a name of letters, digits and !#$%&'*+-.^_`|~ only");
    else if (is_reserved(name))
        fault(faults, pointer, "reserved_header",
              "is a field that shootd or the connection sets; Authorization and X-... are fine");
    if (!is_field_value(value))
        fault(faults, pointer, "invalid_header_value",
              "must have a value of printable ASCII characters that neither begins nor ends with a space");
}

char *webhook_header_context(const char *webhook_id, const char *name)
{
    char *context = mem_printf("webhook|%s|header|%s", webhook_id, name);
    for (char *c = context + strlen(context) - strlen(name); *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return context;
}

bool webhook_header_seal(const struct env *env, const struct seal_key *key, const char *webhook_id,
                         const char *name, const char *value, struct webhook_header *ret)
{
    struct problem *faults CLEANUP_PROBLEM = NULL;
    webhook_check_header(name, value, "#", &faults);
    if (faults)
        return false;
    char *context CLEANUP_FREE = webhook_header_context(webhook_id, name);
    *ret = (struct webhook_header){.name = mem_strdup(name)};
    ret->sealed = seal(key, env, context, value, &ret->sealed_len);
    return true;
}

char *webhook_header_open(const struct seal_key *key, const char *webhook_id,
                          const struct webhook_header *header)
{
    char *context CLEANUP_FREE = webhook_header_context(webhook_id, header->name);
    return seal_open(key, context, header->sealed, header->sealed_len);
}
