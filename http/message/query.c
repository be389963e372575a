#include "http/message/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "http/message/path.h"
#include "model/problem.h"

enum { MAX_TEXT = 512, MAX_DAYS = 36500 };

struct reading {
    const struct query_rule *rules;
    unsigned rule_count;
    uint32_t known;
    wall_us now;
    struct query_values *values;
    struct problem *problem;
    unsigned count;
};

bool query_time(const char *text, wall_us now, wall_us *ret)
{
    size_t digits = strspn(text, "0123456789");
    if (digits && digits <= 5 && !strcmp(text + digits, "d")) {
        long days = strtol(text, NULL, 10);
        *ret = now + days * 24 * 3600 * US_PER_S;
        return days <= MAX_DAYS;
    }
    char *midnight CLEANUP_FREE =
        strlen(text) == strlen("2026-12-31") ? mem_printf("%sT00:00:00Z", text) : NULL;
    return time_parse_rfc3339(midnight ? midnight : text, ret);
}

static void fault(struct reading *in, const char *name, const char *code, json_t *valid, const char *detail)
{
    problem_add_fault(&in->problem, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, name, code, valid, "%s",
                      detail);
}

static json_t *known_names(const struct reading *in)
{
    json_t *names = json_array();
    for (unsigned id = 0; id < in->rule_count; id++)
        if (in->known & 1U << id)
            (void)json_array_append_new(names, json_string(in->rules[id].name));
    return names;
}

static void read_number(struct reading *in, unsigned id, const char *text)
{
    const struct query_rule *rule = &in->rules[id];
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool is_number = *text >= '0' && *text <= '9' && !*end; /* no sign, no white space */
    if (is_number && rule->kind == QUERY_CLAMPED && (errno || number > rule->max)) {
        errno = 0;
        number = rule->max;
    }
    if (!is_number || errno || number < rule->min || number > rule->max) {
        char detail[96];
        (void)snprintf(detail, sizeof(detail), "has to be a whole number from %lld to %lld",
                       (long long)rule->min, (long long)rule->max);
        fault(in, rule->name, "out_of_range", NULL, detail);
        return;
    }
    in->values->numbers[id] = number;
}

static void read_bool(struct reading *in, unsigned id, const char *text)
{
    bool yes = !*text || !strcmp(text, "true");
    if (!yes && strcmp(text, "false") != 0)
        fault(in, in->rules[id].name, "not_boolean", json_pack("[s,s]", "true", "false"),
              "has to be true or false");
    in->values->numbers[id] = yes;
}

static void read_enum(struct reading *in, unsigned id, const char *text)
{
    const struct query_rule *rule = &in->rules[id];
    char *copy CLEANUP_FREE = mem_strdup(text);
    char *rest = copy;
    const char *between = rule->single ? "" : ",";
    for (char *word = strsep(&rest, between); word; word = strsep(&rest, between)) {
        int value = rule->from_name(word);
        if (value >= 0) {
            in->values->numbers[id] |= INT64_C(1) << value;
            continue;
        }
        json_t *valid = json_array();
        for (int i = 0; i < rule->max; i++)
            (void)json_array_append_new(valid, json_string(rule->to_name(i)));
        fault(in, rule->name, "unknown_value", valid, "is not one of the valid values");
    }
}

static void read_text(struct reading *in, unsigned id, const char *text)
{
    const struct query_rule *rule = &in->rules[id];
    size_t most = rule->max ? (size_t)rule->max : MAX_TEXT;
    json_t *valid = NULL;
    if (!*text || strlen(text) > most) {
        char detail[64];
        (void)snprintf(detail, sizeof(detail), "has to be 1 to %zu bytes long", most);
        fault(in, rule->name, "bad_length", NULL, detail);
        return;
    }
    const char *wrong = rule->check ? rule->check(text, &valid) : NULL;
    if (wrong)
        fault(in, rule->name, "wrong_form", valid, wrong);
}

static void read_time(struct reading *in, unsigned id, const char *text)
{
    if (!query_time(text, in->now, &in->values->numbers[id]))
        fault(
            in, in->rules[id].name, "wrong_form", NULL,
            "has to be a time (2026-12-31T00:00:00Z, + as %2B), a date (2026-12-31), or days from now (30d)");
}

/* Another value of a parameter that may be repeated. */
static void join_value(struct reading *in, unsigned id, const char *more)
{
    struct query_values *p = in->values;
    char *joined = mem_printf("%s,%s", p->texts[id], more);
    free(p->texts[id]);
    p->texts[id] = joined;
    read_text(in, id, joined);
}

static void read_value(struct reading *in, unsigned id, char *text)
{
    struct query_values *p = in->values;
    if (p->given[id]) {
        if (in->rules[id].repeats)
            join_value(in, id, text);
        else
            fault(in, in->rules[id].name, "duplicate", NULL, "is given more than once");
        free(text);
        return;
    }
    p->given[id] = true;
    p->texts[id] = text;
    switch (in->rules[id].kind) {
    case QUERY_TEXT:
        read_text(in, id, text);
        break;
    case QUERY_NUMBER:
    case QUERY_CLAMPED:
        read_number(in, id, text);
        break;
    case QUERY_BOOL:
        read_bool(in, id, text);
        break;
    case QUERY_ENUM:
        read_enum(in, id, text);
        break;
    case QUERY_TIME:
        read_time(in, id, text);
        break;
    case QUERY_FLAG:
        break;
    }
}

static int find_rule(const struct reading *in, const char *name)
{
    for (unsigned id = 0; id < in->rule_count; id++)
        if (in->known & 1U << id && !strcmp(name, in->rules[id].name))
            return (int)id;
    return -1;
}

enum { MAX_PARAMETERS = 50, PARAMETERS_IN_MEMORY = 128 };

static void too_many(struct problem **problem)
{
    problem_add_fault(problem, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "query", "too_many", NULL,
                      "holds more than %d parameters", MAX_PARAMETERS);
}

struct problem *query_refuse_target(const char *target)
{
    struct problem *problem = NULL;
    const char *p = strchr(target, '?');
    int count = 0;
    for (; p && count <= PARAMETERS_IN_MEMORY; p = strchr(p + 1, '&'))
        count++;
    if (count > PARAMETERS_IN_MEMORY)
        too_many(&problem);
    return problem;
}

static enum MHD_Result read_argument(void *cls, enum MHD_ValueKind kind, const char *key, size_t key_len,
                                     const char *value, size_t value_len)
{
    struct reading *in = cls;
    (void)kind;
    if (++in->count > MAX_PARAMETERS) {
        too_many(&in->problem);
        return MHD_NO;
    }
    char *name CLEANUP_FREE = mem_strndup(key, key_len);
    char *text = value ? mem_strndup(value, value_len) : mem_calloc(1, 1);
    int id = -1;
    if (!percent_decode(name) || !percent_decode(text))
        fault(in, "query", "bad_escape", NULL, "holds a bad percent escape or is not UTF-8");
    else if ((id = find_rule(in, name)) < 0)
        fault(in, name, "unknown_parameter", known_names(in), "is not a parameter of this operation");
    if (id < 0)
        free(text);
    else
        read_value(in, (unsigned)id, text);
    in->values->has_texts = true;
    return MHD_YES;
}

struct problem *query_read(struct MHD_Connection *mhd, const struct query_rule *rules, unsigned rule_count,
                           uint32_t known, wall_us now, struct query_values *ret)
{
    struct reading in = {.rules = rules, .rule_count = rule_count, .known = known, .now = now, .values = ret};
    (void)MHD_get_connection_values_n(mhd, MHD_GET_ARGUMENT_KIND, read_argument, &in);
    return in.problem;
}

void query_done(struct query_values *values)
{
    for (unsigned id = 0; values->has_texts && id < QUERY_MAX_RULES; id++)
        free(values->texts[id]);
}
