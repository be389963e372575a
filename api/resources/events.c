/*
 * Events: pages of the stored log, read by the decider, or a stream; and the tickets that a browser sends for
 * a stream in place of a token.
 */
#include "api/resources/handlers.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/reads.h"
#include "api/request.h"
#include "api/routes.h"
#include "api/tickets.h"
#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "base/near_word.h"
#include "base/timefmt.h"
#include "config/values.h"
#include "model/string_list.h"

static void list_push(char ***list, size_t *count, const char *text)
{
    *list = mem_realloc_array(*list, *count + 2, sizeof(char *));
    (*list)[(*count)++] = mem_strdup(text);
    (*list)[*count] = NULL;
}

/* Adds every event type that matches a word; the word is a type, or a family such as "cluster.*". */
static bool add_types(char ***types, size_t *count, const char *word)
{
    size_t len = strlen(word);
    bool family = len && word[len - 1] == '*';
    size_t before = *count;
    for (int i = EVENT_NONE + 1; i < EVENT_TYPE_MAX_; i++) {
        const char *name = event_type_name((enum event_type)i);
        if (family ? !strncmp(name, word, len - 1) : !strcmp(name, word))
            list_push(types, count, name);
    }
    return *count > before;
}

static void read_types(struct request *r, struct command_events *events, struct problem **faults)
{
    if (!r->params.given[PARAM_TYPE])
        return;
    char *copy CLEANUP_FREE = mem_strdup(r->params.texts[PARAM_TYPE]);
    char *rest = copy;
    size_t count = 0;
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        if (add_types(&events->types, &count, word))
            continue;
        json_t *all = json_array();
        for (int i = EVENT_NONE + 1; i < EVENT_TYPE_MAX_; i++)
            json_append_take(all, json_string(event_type_name((enum event_type)i)));
        char *refusal CLEANUP_FREE = word_refusal(word, "an event type or a family such as cluster.*", all);
        problem_add_fault(faults, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "type", "unknown_value", all,
                          "%s", refusal);
    }
}

/* Sets the requested projects that the caller may see. An empty list selects no event; NULL selects all
 * events. */
static void read_projects(struct request *r, struct command_events *events)
{
    if (r->project) {
        events->projects = string_list_copy((char *[]){(char *)(uintptr_t)r->project, NULL});
        return;
    }
    if (api_token_sees_project(r->token, "*") && !r->params.given[PARAM_PROJECT])
        return;
    const struct config *config = api_config(r->api);
    size_t count = 0;
    events->projects = mem_calloc(1, sizeof(char *));
    for (size_t i = 0; i < config->project_count; i++) {
        const char *name = config->projects[i].name;
        if (api_token_sees_project(r->token, name) && param_lists(&r->params, PARAM_PROJECT, name))
            list_push(&events->projects, &count, name);
    }
}

/* Sets the place where the page begins: the place of the cursor, or `after`. */
static struct problem *read_begin(struct request *r, struct command_events *ret)
{
    const bool newest_first = param_asks_for(&r->params, PARAM_ORDER, ORDER_DESC);
    struct cursor_place place;
    struct problem *p = NULL;
    if (r->params.given[PARAM_CURSOR] && r->params.given[PARAM_AFTER]) {
        problem_add_fault(&p, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "after", "conflict", NULL,
                          "sets the beginning, as cursor does; give only one of them");
        return p;
    }
    if (newest_first && r->params.given[PARAM_AFTER]) {
        problem_add_fault(&p, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "after", "conflict", NULL,
                          "sets the beginning of an ascending list; order=desc begins with the newest event");
        return p;
    }
    p = list_place(r, &place);
    if (p)
        return p;
    const int64_t at = strtoll(place.key, NULL, 10);
    *ret = (struct command_events){.after =
                                       newest_first || *place.key ? 0 : param_number(&r->params, PARAM_AFTER),
                                   .newest_first = newest_first,
                                   .since = r->params.numbers[PARAM_SINCE],
                                   .until = r->params.numbers[PARAM_UNTIL],
                                   .limit = (int)param_number(&r->params, PARAM_LIMIT)};
    *(newest_first ? &ret->before : &ret->after) += at;
    return NULL;
}

/* Each result has the number of the last event. The answer also gets a cursor, because every list has one
 * (HT-36). */
static struct problem *finish_events_page(struct request *r, struct command *cmd)
{
    const struct command_events *page = &cmd->events;
    struct cursor_place next = {.number_count = 0};
    char cursor[CURSOR_TEXT_BYTES], number[24];
    assert(cmd->reply.text);
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, SIZE_MAX);
    buffer_printf(&out, "{\"items\":%s,\"next_cursor\":", cmd->reply.text);
    (void)snprintf(number, sizeof(number), "%" PRId64, page->next);
    if (page->next && cursor_place_set(&next, number)) {
        cursor_make(r, &next, cursor);
        buffer_printf(&out, "\"%s\"", cursor);
    } else {
        buffer_add_str(&out, "null");
    }
    buffer_printf(&out,
                  ",\"last_sequence\":%" PRId64 ",\"oldest_sequence\":%" PRId64
                  ",\"newest_sequence\":%" PRId64 ",\"base_sequence\":%" PRId64 "}",
                  page->last, page->oldest, page->newest, page->base);
    answer_field(&r->http.answer, "Vary", "Accept");
    size_t len;
    char *text = buffer_take(&out, &len);
    return answer_with_text(r, text, len);
}

/* Adds faults for parameters that are valid only for pages, and for a ticket given beside the Authorization
 * field. */
static void check_form(struct request *r, struct problem **faults)
{
    static const struct {
        enum param_id id;
        const char *fault;
    } pages_only[] = {
        {PARAM_LIMIT, "is not possible for a stream, which does not end"},
        {PARAM_CURSOR, "applies to pages only; a stream begins after the position in after or Last-Event-ID"},
        {PARAM_SINCE, "applies to pages only; a stream begins after the position in after or Last-Event-ID"},
        {PARAM_UNTIL, "is not possible for a stream, which does not end"},
        {PARAM_ORDER, "is not possible for a stream, which does not end"},
        {PARAM_ACTOR, "applies to pages only; the filters of a stream are type, project and cluster"},
        {PARAM_TARGET, "applies to pages only; the filters of a stream are type, project and cluster"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pages_only); i++)
        if (r->params.given[pages_only[i].id])
            problem_add_fault(faults, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, param_name(pages_only[i].id),
                              "not_for_streams", NULL, "%s", pages_only[i].fault);
    if (r->params.given[PARAM_TICKET] && r->http.headers.values[HEADER_AUTHORIZATION])
        problem_add_fault(faults, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "ticket", "conflict", NULL,
                          "identifies the caller, as Authorization does; give only one of them");
}

/*
 * Returns the position after the event with this id. An id that is no number is of another server, and gets a
 * position that is in no log, so that the stream begins with a reset: a browser gives up its EventSource for
 * good after a 400.
 */
static int64_t position_of(const char *id)
{
    int64_t position;
    return value_integer(id, 0, INT64_MAX, &position) ? position : INT64_MAX;
}

/*
 * Returns where a stream begins: after the client's last event, after the event `after`, or now (AO-22).
 * Libraries that replace EventSource send the id of the last event in `lastEventId`, and also send the
 * `after` of their first request.
 */
static int64_t read_position(struct request *r, struct problem **faults)
{
    const char *ids[] = {r->http.headers.values[HEADER_LAST_EVENT_ID], r->params.texts[PARAM_LAST_EVENT_ID]};
    if (r->http.headers.counts[HEADER_LAST_EVENT_ID] > 1)
        problem_add_fault(faults, PROBLEM_INVALID_PARAMETER, FAULT_AT_HEADER, "Last-Event-ID", "malformed",
                          NULL, "has to be one field, the id of the last event");
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        if (ids[i] && *ids[i])
            return position_of(ids[i]);
    return r->params.given[PARAM_AFTER] ? r->params.numbers[PARAM_AFTER] : feed_newest(r->api->options.feed);
}

static struct problem *stream_events(struct request *r, const char *cluster)
{
    struct command_events asked = {.cluster = NULL};
    assert(!r->http.stream);
    struct problem *faults = NULL;
    check_form(r, &faults);
    read_types(r, &asked, &faults);
    int64_t position = read_position(r, &faults);
    if (!faults) {
        read_projects(r, &asked);
        asked.cluster = mem_strdup(cluster);
        faults = streams_open(r, &asked, position);
    }
    string_list_free(asked.types);
    string_list_free(asked.projects);
    free(asked.cluster);
    return faults;
}

static void check_page(struct request *r, struct problem **faults)
{
    static const struct {
        enum param_id id;
        const char *fault;
    } streams_only[] = {
        {PARAM_TICKET, "is for streams only; a page needs a token"},
        {PARAM_LAST_EVENT_ID, "is for streams only; a page uses after"},
    };
    for (size_t i = 0; i < ARRAY_LEN(streams_only); i++)
        if (r->params.given[streams_only[i].id])
            problem_add_fault(faults, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY,
                              param_name(streams_only[i].id), "only_for_streams", NULL, "%s",
                              streams_only[i].fault);
}

static struct problem *page_events(struct request *r, const char *cluster)
{
    struct command_events begin;
    struct problem *faults = read_begin(r, &begin);
    if (faults)
        return faults;
    struct command *cmd = request_command(r, COMMAND_EVENTS);
    struct command_events *events = &cmd->events;
    *events = begin;
    events->cluster = mem_strdup(cluster);
    events->actors = list_words(r, PARAM_ACTOR);
    events->targets = list_words(r, PARAM_TARGET);
    read_types(r, events, &faults);
    check_page(r, &faults);
    if (faults) {
        command_free(cmd);
        return faults;
    }
    read_projects(r, events);
    r->finish = finish_events_page;
    return request_park(r, cmd);
}

static struct problem *read_events(struct request *r, const char *cluster)
{
    return route_prefers_stream(r) ? stream_events(r, cluster) : page_events(r, cluster);
}

struct problem *handle_events(struct request *r)
{
    return read_events(r, r->params.texts[PARAM_CLUSTER]);
}

struct problem *handle_cluster_events(struct request *r)
{
    return read_events(r, r->name);
}

/* ---- tickets (api/auth.h) ---- */

enum { RETRY_AFTER_S = 10 };

struct problem *handle_stream_ticket_create(struct request *r)
{
    char ticket[TICKET_BYTES];
    const struct env *env = r->api->options.env;
    if (!tickets_issue(&r->api->tickets, env, r->token->digest, r->token->issuer ? r->token_blob : NULL,
                       ticket)) {
        struct problem *p =
            problem_new(PROBLEM_TOO_MANY_REQUESTS,
                        "Too many tickets are unused; each expires after %d seconds.", TICKET_LIFETIME_S);
        p->retry_after_s = RETRY_AFTER_S;
        return p;
    }
    char time[TIME_TEXT_BYTES];
    (void)time_rfc3339(env_wall(env) + TICKET_LIFETIME_S * US_PER_S, false, time);
    char *text = mem_printf("{\"ticket\":\"%s\",\"expires_at\":\"%s\"}", ticket, time);
    sodium_memzero(ticket, sizeof(ticket));
    answer_text(&r->http.answer, MHD_HTTP_CREATED, TYPE_JSON, text, strlen(text));
    r->http.answer.secret = true;
    answer_field(&r->http.answer, "Cache-Control", "no-store");
    return NULL;
}
