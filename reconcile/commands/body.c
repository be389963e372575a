#include "reconcile/commands/body.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near_word.h"
#include "base/text.h"
#include "model/former_names.h"
#include "reconcile/answers/reply.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

enum {
    LIST_MAX = 200,
    HINTS_MAX = 4 /* faults that name a similar word */
};

void body_check_members(const json_t *body, const char *const *known, size_t count, struct problem **faults)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)body, name, value) {
        if (word_index(known, count, name) >= 0)
            continue;
        json_t *valid = json_array();
        for (size_t i = 0; i < count; i++)
            json_append_take(valid, json_string(known[i]));
        char *here CLEANUP_FREE = json_pointer_to("#", name);
        char *renamed CLEANUP_FREE = former_name_fault(FORMER_MEMBER, name, valid);
        char *hint CLEANUP_FREE = word_hint(name, valid);
        if (renamed)
            BODY_FAULT(faults, here, FORMER_NAME_CODE, valid, "%s", renamed);
        else
            BODY_FAULT(faults, here, "unknown_member", valid, "is not a member that exists here%s", hint);
    }
}

/* Returns false when the member is absent, or when it is wrong and a fault was added. */
static bool body_is_list(const json_t *body, const char *member, struct problem **faults)
{
    const json_t *list = json_object_get(body, member);
    bool fits = json_array_size(list) <= LIST_MAX;
    if (!list || json_is_null(list) || (json_is_array(list) && fits))
        return json_is_array(list);
    char *pointer CLEANUP_FREE = mem_printf("#/%s", member);
    if (!fits) {
        BODY_FAULT(faults, pointer, "too_many", NULL, "must have at most %d items", LIST_MAX);
        return false;
    }
    BODY_FAULT(faults, pointer, "wrong_type", NULL, "must be an array of strings");
    return false;
}

static void fault_at_item(const char *member, size_t i, const json_t *item, json_t *valid,
                          struct problem **faults)
{
    char *here CLEANUP_FREE = mem_printf("#/%s/%zu", member, i);
    /* The loop compares a word with a thousand names only a few times. */
    const bool is_early = !*faults || json_array_size((*faults)->faults) < HINTS_MAX;
    char *refusal CLEANUP_FREE =
        word_refusal(json_is_string(item) ? json_string_value(item) : "?", "known", is_early ? valid : NULL);
    BODY_FAULT(faults, here, "unknown_value", valid, "%s", refusal);
}

static json_t *known_projects(struct reconcile *r, const struct command *cmd)
{
    json_t *names = json_array();
    for (struct project *p = r->projects; p; p = p->hh.next)
        if (projects_include(cmd->caller.projects, p->name))
            json_append_take(names, json_string(p->name));
    if (projects_include(cmd->caller.projects, "*"))
        json_append_take(names, json_string("*"));
    return names;
}

void body_check_projects(struct reconcile *r, const struct command *cmd, const char *member,
                         struct problem **faults)
{
    size_t i;
    json_t *item;
    if (!body_is_list(cmd->body, member, faults))
        return;
    json_array_foreach (json_arr(cmd->body, member), i, item) {
        if (problem_is_full(*faults))
            return;
        const char *name = json_string_value(item);
        bool exists = name && (!strcmp(name, "*") || project_find(r, name));
        if (!exists || !projects_include(cmd->caller.projects, name))
            fault_at_item(member, i, item, known_projects(r, cmd), faults);
    }
}

static bool event_pattern_is_valid(const char *pattern)
{
    size_t len = strlen(pattern);
    if (!strcmp(pattern, "*"))
        return true;
    if (len < 3 || strcmp(pattern + len - 2, ".*") != 0)
        return event_type_from_name(pattern) >= 0;
    for (int i = EVENT_NONE + 1; i < EVENT_TYPE_MAX_; i++)
        if (!strncmp(event_type_name((enum event_type)i), pattern, len - 1))
            return true;
    return false;
}

static json_t *all_event_types(void)
{
    json_t *names = json_array();
    for (int i = EVENT_NONE + 1; i < EVENT_TYPE_MAX_; i++)
        json_append_take(names, json_string(event_type_name((enum event_type)i)));
    return names;
}

void body_check_event_types(const json_t *body, const char *member, struct problem **faults)
{
    size_t i;
    json_t *item;
    if (!body_is_list(body, member, faults))
        return;
    json_array_foreach (json_arr(body, member), i, item)
        if (!problem_is_full(*faults) &&
            (!json_is_string(item) || !event_pattern_is_valid(json_string_value(item))))
            fault_at_item(member, i, item, all_event_types(), faults);
}

void body_check_text(const json_t *body, const char *member, size_t max, struct problem **faults)
{
    const json_t *value = json_object_get(body, member);
    char *pointer CLEANUP_FREE = mem_printf("#/%s", member);
    if (!value || json_is_null(value))
        return;
    if (!json_is_string(value))
        BODY_FAULT(faults, pointer, "wrong_type", NULL, "must be a string");
    else if (json_string_length(value) > max)
        BODY_FAULT(faults, pointer, "wrong_length", NULL, "must have at most %zu bytes", max);
}

void body_check_number(const json_t *body, const char *member, int64_t min, int64_t max, bool nullable,
                       struct problem **faults)
{
    const json_t *value = json_object_get(body, member);
    char *pointer CLEANUP_FREE = mem_printf("#/%s", member);
    if (!value || (nullable && json_is_null(value)))
        return;
    if (!json_is_integer(value))
        BODY_FAULT(faults, pointer, "wrong_type", NULL, "must be a whole number");
    else if (json_integer_value(value) < min || json_integer_value(value) > max)
        BODY_FAULT(faults, pointer, "out_of_range", NULL, "must be %lld to %lld", (long long)min,
                   (long long)max);
}

void body_prepare_secret(struct command *cmd, int status, char *object, const char *member, char *secret)
{
    assert(!secret || !strpbrk(secret, "\"\\")); /* secrets are letters, digits and signs of base64 */
    const char *quote = secret ? "\"" : "", *value = secret ? secret : "null";
    const size_t len = strlen(object) - 1; /* without the closing brace */
    const size_t size = len + strlen(member) + strlen(value) + sizeof(",\"\":\"\"}");
    char *text = mem_calloc(1, size); /* at once, because a text that grows leaves copies */
    memcpy(text, object, len);
    (void)snprintf(text + len, size - len, ",\"%s\":%s%s%s}", member, quote, value, quote);
    free(object);
    cmd->reply.is_secret = true;
    reply_prepare_text(cmd, status, text);
    mem_free_secret(secret);
}
