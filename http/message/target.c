#include "http/message/target.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/near_word.h"
#include "base/timefmt.h"
#include "model/former_names.h"
#include "model/problem.h"

/* ---- the path ---- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the length of a well-formed UTF-8 sequence (no overlong forms, no surrogates), 0 for any other
 * bytes. */
static size_t utf8_length(const unsigned char *p)
{
    static const struct {
        unsigned char first, last, second_min, second_max;
        size_t len;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (p[0] < forms[i].first || p[0] > forms[i].last)
            continue;
        for (size_t n = 1; n < forms[i].len; n++)
            if (p[n] < (n == 1 ? forms[i].second_min : 0x80) || p[n] > (n == 1 ? forms[i].second_max : 0xbf))
                return 0; /* the NUL at the end of the text leads here, too */
        return forms[i].len;
    }
    return 0;
}

static bool is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        size_t len = *p < 0x80 ? 1 : utf8_length(p);
        if (!len)
            return false;
        p += len;
    }
    return true;
}

bool percent_decode(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (*in != '%') {
            *out++ = *in;
            continue;
        }
        int high = hex_value(in[1]);
        int low = high < 0 ? -1 : hex_value(in[2]);
        if (low < 0 || high * 16 + low == 0)
            return false;
        *out++ = (char)(high * 16 + low);
        in += 2;
    }
    *out = '\0';
    return is_utf8(text);
}

/* Whether the segment is printable ASCII without an escape. Such a segment needs no decoding, and only the
 * check for dots. */
static bool is_plain(const char *segment)
{
    for (const unsigned char *p = (const unsigned char *)segment; *p; p++)
        if (*p < 0x20 || *p >= 0x7f || *p == '%')
            return false;
    return true;
}

static const char *decode_segment(char *segment)
{
    if (is_plain(segment) && *segment != '.')
        return NULL;
    if (!percent_decode(segment))
        return "The path holds a bad percent escape or is not UTF-8.";
    if (strchr(segment, '/'))
        return "The path holds an encoded slash.";
    if (!strcmp(segment, ".") || !strcmp(segment, ".."))
        return "The path holds a dot segment.";
    for (const char *p = segment; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return "The path holds a control character.";
    return NULL;
}

const char *path_split(char *path, struct path_segments *ret)
{
    assert(*path == '/');
    char *rest = path + 1;
    ret->count = 0;
    while (rest) {
        char *segment = strsep(&rest, "/");
        const char *fault = decode_segment(segment);
        if (fault)
            return fault;
        if (ret->count == PATH_MAX_SEGMENTS) {
            ret->count = 0; /* the path has more segments than any route, so it is unknown */
            return NULL;
        }
        ret->items[ret->count++] = segment;
    }
    return NULL;
}

const char *path_of_target(const char *target)
{
    if (*target == '/')
        return target;
    size_t scheme = !strncasecmp(target, "http://", 7) ? 7 : !strncasecmp(target, "https://", 8) ? 8 : 0;
    if (!scheme)
        return NULL;
    const char *path = strchr(target + scheme, '/');
    return path ? path : "/";
}

/* ---- the query ---- */

enum { MAX_TEXT = 512, MAX_DAYS = 36500 };

struct target_reading {
    const struct query_rule *rules;
    unsigned rule_count;
    uint64_t known;
    wall_us now;
    struct query_values *values;
    struct problem *problem;
    unsigned count;
};

/* A date without a time means the beginning of that day. */
static bool parse_time_or_date(const char *text, wall_us *ret)
{
    char *midnight CLEANUP_FREE =
        strlen(text) == strlen("2026-12-31") ? mem_printf("%sT00:00:00Z", text) : NULL;
    return time_parse_rfc3339(midnight ? midnight : text, ret);
}

bool query_past(const char *text, wall_us now, wall_us *ret)
{
    static const char units[] = "smhd";
    static const int64_t seconds[] = {1, 60, 3600, 24 * 3600};
    const size_t digits = strspn(text, "0123456789");
    const char *unit = digits && digits <= 9 && text[digits] ? strchr(units, text[digits]) : NULL;
    if (!unit || text[digits + 1])
        return parse_time_or_date(text, ret);
    const int64_t ago_s = strtol(text, NULL, 10) * seconds[unit - units];
    *ret = now - ago_s * US_PER_S;
    return ago_s <= (int64_t)MAX_DAYS * 24 * 3600;
}

bool query_time(const char *text, wall_us now, wall_us *ret)
{
    size_t digits = strspn(text, "0123456789");
    if (digits && digits <= 5 && !strcmp(text + digits, "d")) {
        long days = strtol(text, NULL, 10);
        *ret = now + days * 24 * 3600 * US_PER_S;
        return days <= MAX_DAYS;
    }
    return parse_time_or_date(text, ret);
}

static void fault(struct target_reading *in, const char *name, const char *code, json_t *valid,
                  const char *detail)
{
    problem_add_fault(&in->problem, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, name, code, valid, "%s",
                      detail);
}

static void read_number(struct target_reading *in, unsigned id, const char *text)
{
    const struct query_rule *rule = &in->rules[id];
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool is_number = *text >= '0' && *text <= '9' && !*end; /* a sign or white space is not accepted */
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

static void read_bool(struct target_reading *in, unsigned id, const char *text)
{
    bool yes = !*text || !strcmp(text, "true");
    if (!yes && strcmp(text, "false") != 0)
        fault(in, in->rules[id].name, "not_boolean", json_pack("[s,s]", "true", "false"),
              "has to be true or false");
    in->values->numbers[id] = yes;
}

static void read_enum(struct target_reading *in, unsigned id, const char *text)
{
    const struct query_rule *rule = &in->rules[id];
    char *copy CLEANUP_FREE = mem_strdup(text);
    char *rest = copy;
    assert(rule->from_name && rule->to_name && rule->max > 0);
    const char *between = rule->single ? "" : ",";
    for (char *word = strsep(&rest, between); word; word = strsep(&rest, between)) {
        int value = rule->from_name(word);
        if (value >= 0) {
            assert(value < rule->max && value < 64);
            in->values->numbers[id] |= INT64_C(1) << value;
            continue;
        }
        if (problem_is_full(in->problem))
            return;
        json_t *valid = json_array();
        for (int i = 0; i < rule->max; i++)
            json_append_take(valid, json_string(rule->to_name(i)));
        char *refusal CLEANUP_FREE = word_refusal(word, "one of the valid values", valid);
        fault(in, rule->name, "unknown_value", valid, refusal);
    }
}

static void read_text(struct target_reading *in, unsigned id, const char *text)
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
    char *wrong CLEANUP_FREE = rule->check ? rule->check(text, &valid) : NULL;
    if (wrong)
        fault(in, rule->name, "wrong_form", valid, wrong);
}

static bool is_repeatable(const struct query_rule *rule)
{
    return rule->repeats || (rule->kind == QUERY_ENUM && !rule->single);
}

/* Reads a parameter that was given before. Many clients send a list in this form. */
static void read_again(struct target_reading *in, unsigned id, const char *text)
{
    struct query_values *p = in->values;
    if (!is_repeatable(&in->rules[id])) {
        fault(in, in->rules[id].name, "duplicate", NULL, "is given more than once");
        return;
    }
    char *joined = mem_printf("%s,%s", p->texts[id], text);
    free(p->texts[id]);
    p->texts[id] = joined;
    if (in->rules[id].kind == QUERY_ENUM)
        read_enum(in, id, text);
    else
        read_text(in, id, joined);
}

static void read_value(struct target_reading *in, unsigned id, char *text)
{
    struct query_values *p = in->values;
    const char *name = in->rules[id].name;
    if (p->given[id]) {
        read_again(in, id, text);
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
        if (!query_time(text, in->now, &p->numbers[id]))
            fault(in, name, "wrong_form", NULL,
                  "has to be a time (2026-12-31T00:00:00Z, + as %2B), a date (2026-12-31), or days from now "
                  "(30d)");
        break;
    case QUERY_PAST:
        if (!query_past(text, in->now, &p->numbers[id]))
            fault(
                in, name, "wrong_form", NULL,
                "has to be a time (2026-12-31T00:00:00Z, + as %2B), a date (2026-12-31), or how long ago it "
                "is (90s, 15m, 24h, 7d)");
        break;
    case QUERY_FLAG:
        break;
    }
}

static int find_rule(const struct target_reading *in, const char *name)
{
    for (unsigned id = 0; id < in->rule_count; id++)
        if (in->known & UINT64_C(1) << id && !strcmp(name, in->rules[id].name))
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

/* Takes over `known`. */
static void fault_unknown_name(struct target_reading *in, const char *name, json_t *known)
{
    char *renamed CLEANUP_FREE = former_name_fault(FORMER_PARAMETER, name, known);
    char *hint CLEANUP_FREE = word_hint(name, known);
    char *unknown CLEANUP_FREE = mem_printf("is not a parameter of this operation%s", hint);
    fault(in, name, renamed ? FORMER_NAME_CODE : "unknown_parameter", known, renamed ? renamed : unknown);
}

static enum MHD_Result read_argument(void *cls, enum MHD_ValueKind kind ATTR_UNUSED, const char *key,
                                     size_t key_len, const char *value, size_t value_len)
{
    struct target_reading *in = cls;
    if (!key_len && !value)
        return MHD_YES; /* an empty part between two ampersands, as in "?&x" */
    if (++in->count > MAX_PARAMETERS) {
        too_many(&in->problem);
        return MHD_NO;
    }
    char *name CLEANUP_FREE = mem_strndup(key, key_len);
    char *text = value ? mem_strndup(value, value_len) : mem_calloc(1, 1);
    int id = -1;
    if (!percent_decode(name) || !percent_decode(text)) {
        fault(in, "query", "bad_escape", NULL, "holds a bad percent escape or is not UTF-8");
    } else if ((id = find_rule(in, name)) < 0) {
        json_t *known = json_array();
        for (unsigned i = 0; i < in->rule_count; i++)
            if (in->known & UINT64_C(1) << i)
                json_append_take(known, json_string(in->rules[i].name));
        fault_unknown_name(in, name, known);
    }
    if (id < 0)
        free(text);
    else
        read_value(in, (unsigned)id, text);
    in->values->has_texts = true;
    return MHD_YES;
}

struct problem *query_read(struct MHD_Connection *mhd, const struct query_rule *rules, unsigned rule_count,
                           uint64_t known, wall_us now, struct query_values *ret)
{
    assert(rule_count <= QUERY_MAX_RULES && (rule_count == QUERY_MAX_RULES || !(known >> rule_count)));
    struct target_reading in = {
        .rules = rules, .rule_count = rule_count, .known = known, .now = now, .values = ret};
    (void)MHD_get_connection_values_n(mhd, MHD_GET_ARGUMENT_KIND, read_argument, &in);
    return in.problem;
}

void query_done(struct query_values *values)
{
    for (unsigned id = 0; values->has_texts && id < QUERY_MAX_RULES; id++)
        free(values->texts[id]);
}
