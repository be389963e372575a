/* Hibernation schedules and the maintenance window (GA-11, GA-12). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/spec_check_private.h"

/*
 * Cron expressions that both Gardener and Cleura accept. Gardener reads them with the standard five-field
 * parser of robfig/cron (GA-12), to which Sunday is 0 and not 7. Cleura accepts a text that its pattern
 * P-CRON matches (CL-10).
 */
static const struct cron_field {
    const char *name;
    int low, high;
} cron_fields[] = {
    {"minute", 0, 59}, {"hour", 0, 23}, {"day of month", 1, 31}, {"month", 1, 12}, {"weekday", 0, 6},
};

/*
 * The descriptors of Cleura's list that Gardener's parser accepts. @reboot is unknown to Gardener. @every is
 * not in this list although Gardener accepts it, because such an interval begins when Gardener's controller
 * starts, and has no time of day.
 */
static const char *const shortcuts[] = {"@annually", "@yearly", "@monthly", "@weekly", "@daily", "@hourly"};

static char *cron_shortcut_fault(const char *text)
{
    if (word_index(shortcuts, ARRAY_LEN(shortcuts), text) >= 0)
        return NULL;
    return mem_strdup("only the shortcuts @annually, @yearly, @monthly, @weekly, @daily and @hourly name a "
                      "time here; use five fields, for example '0 20 * * 1-5'");
}

/* Reads a number of at most four digits at *text and moves *text behind the number; -1 when there is none. */
static int cron_take_number(const char **text)
{
    size_t len = strspn(*text, "0123456789");
    if (len < 1 || len > 4)
        return -1;
    int number = (int)strtol(*text, NULL, 10);
    *text += len;
    return number;
}

/* Checks one item of a list: `*`, a number or a range, then an optional step. */
static char *cron_item_fault(const struct cron_field *field, const char *item)
{
    const char *rest = item;
    int low = field->low, high = field->high;
    if (*rest == '*') {
        rest++;
    } else {
        low = high = cron_take_number(&rest);
        if (low >= 0 && *rest == '-') {
            rest++;
            high = cron_take_number(&rest);
        }
    }
    int step = 1;
    if (low >= 0 && high >= 0 && *rest == '/') {
        rest++;
        step = cron_take_number(&rest);
    }
    if (low < 0 || high < 0 || step < 0 || *rest)
        return mem_printf("%s '%s' is not a number, a range such as 1-5, or either with a step", field->name,
                          item);
    if (low < field->low || high > field->high)
        return mem_printf("%s '%s' is not within %d to %d", field->name, item, field->low, field->high);
    if (low > high)
        return mem_printf("%s '%s' ends before it begins", field->name, item);
    return step ? NULL : mem_printf("%s '%s' has a step of 0", field->name, item);
}

static char *cron_field_fault(const struct cron_field *field, const char *text)
{
    for (const char *c = text; *c; c++)
        if (isalpha((unsigned char)*c))
            return mem_printf("%s '%s': names are not taken, use numbers (weekday 0 is Sunday)", field->name,
                              text);
    for (const char *item = text;; item++) {
        size_t len = strcspn(item, ",");
        char *one CLEANUP_FREE = mem_strndup(item, len);
        char *fault = cron_item_fault(field, one);
        item += len;
        if (fault || !*item)
            return fault;
    }
}

char *cron_fault(const char *text)
{
    if (*text == '@')
        return cron_shortcut_fault(text);
    const char *rest = text;
    for (size_t i = 0; i < ARRAY_LEN(cron_fields); i++) {
        size_t len = strcspn(rest, " ");
        bool last = i + 1 == ARRAY_LEN(cron_fields);
        if (!len || (rest[len] == '\0') != last)
            return mem_strdup("must have five fields with one blank between them: minute, hour, day of "
                              "month, month, weekday");
        char *one CLEANUP_FREE = mem_strndup(rest, len);
        char *fault = cron_field_fault(&cron_fields[i], one);
        if (fault)
            return fault;
        rest += len + !last;
    }
    return pattern_matches(PATTERN_CRON, text)
               ? NULL
               : mem_strdup("Cleura does not take this mix of ranges and steps; name the "
                            "values, for example 0,3,6,9");
}

static void check_cron(struct spec_check *k, const char *pointer, const json_t *value,
                       const json_t *there ATTR_UNUSED)
{
    char *fault CLEANUP_FREE = cron_fault(json_string_value(value));
    if (fault)
        FAULT(k, pointer, "wrong_form", NULL, "%s", fault);
}

static bool same_text(const json_t *left, const json_t *right, const char *name)
{
    return !strcmp(json_str_or(left, name, ""), json_str_or(right, name, ""));
}

/* Either start or end may be absent: Gardener allows such a schedule, so an existing cluster may have such a
 * schedule. */
const json_t *spec_schedule_there(const json_t *schedules, const json_t *wanted)
{
    const json_t *found = NULL;
    size_t i;
    json_t *schedule;
    json_array_foreach (schedules, i, schedule)
        if (same_text(schedule, wanted, "start") && same_text(schedule, wanted, "end") &&
            (!found || same_text(schedule, wanted, "location")))
            found = schedule;
    return found;
}

static void check_location(struct spec_check *k, const char *pointer, const json_t *value,
                           const json_t *there ATTR_UNUSED)
{
    if (strcmp(json_string_value(value), "UTC") != 0)
        FAULT(k, pointer, "unknown_value", json_pack("[s]", "UTC"),
              "cannot be set: Cleura takes the times of schedules in UTC only, so '%s' may stand where the "
              "schedule has it, and nowhere else",
              json_string_value(value));
}

/*
 * Checks that no schedule loses its time zone. Cleura replaces the whole list and stores no time zones, so a
 * schedule that stays would run in UTC afterwards. A caller that wants this must set the schedule's location
 * to UTC.
 */
static void check_zones_stay(struct spec_check *k, const char *pointer, const json_t *wanted,
                             const json_t *there)
{
    json_t *left CLEANUP_JSON = json_pack("{sO}", "hibernation_schedules", wanted);
    json_t *right CLEANUP_JSON = json_pack("{sO?}", "hibernation_schedules", there);
    json_t *differences CLEANUP_JSON = json_array();
    size_t i;
    json_t *schedule;
    if (!spec_differences(left, right, SPEC_UNKNOWN_DIFFERS, differences))
        return; /* nothing is to be sent */
    json_array_foreach (wanted, i, schedule) {
        const json_t *kept = spec_schedule_there(there, schedule);
        if (!kept || spec_zone_is_utc(kept) || !strcmp(json_str_or(schedule, "location", ""), "UTC"))
            continue;
        char *here CLEANUP_FREE = mem_printf("%s/%zu/location", pointer, i);
        FAULT(
            k, here, "time_zone_lost", json_pack("[s]", "UTC"),
            "is '%s', which Cleura cannot keep when the schedules change: all of them will run in UTC. Give "
            "its start and end in UTC, or \"location\": \"UTC\" to let it run at these times in UTC",
            json_str(kept, "location"));
    }
}

static void check_seen_once(struct spec_check *k, const char *pointer, const json_t *schedule, json_t *seen)
{
    static const char *const ends[] = {"start", "end"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const char *text = json_str(schedule, ends[i]);
        if (!text || spec_set_add(seen, text))
            continue;
        char *here CLEANUP_FREE = json_pointer_to(pointer, ends[i]);
        FAULT(k, here, "duplicate", NULL,
              "'%s' may stand only once among all starts and ends of the schedules", text);
    }
}

void spec_check_schedules(struct spec_check *k, const char *pointer, const json_t *value, const json_t *there)
{
    static const struct spec_member members[] = {
        {"start", MEMBER_STRING, 1, 100, NULL, check_cron},
        {"end", MEMBER_STRING, 1, 100, NULL, check_cron},
        {"location", MEMBER_STRING, 1, 64, NULL, check_location},
    };
    json_t *seen CLEANUP_JSON = json_object();
    size_t i;
    json_t *schedule;
    json_array_foreach (value, i, schedule) {
        char *here CLEANUP_FREE = spec_pointer_at(pointer, i);
        if (!json_is_object(schedule)) {
            FAULT(k, here, "wrong_type", NULL, "must be an object");
            continue;
        }
        const json_t *kept = spec_schedule_there(there, schedule);
        spec_check_object(k, members, ARRAY_LEN(members), here, schedule, kept);
        if (!kept && (!json_str(schedule, "start") || !json_str(schedule, "end")))
            FAULT(k, here, "missing_member", NULL, "needs start and end");
        check_seen_once(k, here, schedule, seen);
    }
    check_zones_stay(k, pointer, value, there);
}

/* ---- maintenance ---- */

enum { DAY_S = 86400, WINDOW_MIN_S = 30 * 60, WINDOW_MAX_S = 6 * 3600, TIME_MAX = 64, SIGN_AT = 6 };

static int two_digits(const char *text)
{
    return (text[0] - '0') * 10 + (text[1] - '0');
}

/* Converts HHMMSS+HHMM to seconds of a UTC day; the result may be in the day before or after. False for
 * another form. */
static bool parse_window_time(const char *text, int *ret_utc_s)
{
    if (!pattern_matches(PATTERN_WINDOW_TIME, text))
        return false;
    int offset_s = two_digits(text + SIGN_AT + 1) * 3600;
    *ret_utc_s = two_digits(text) * 3600 + two_digits(text + 2) * 60 + two_digits(text + 4) -
                 (text[SIGN_AT] == '-' ? -offset_s : offset_s);
    return true;
}

/* Cleura's pattern for times (P-TIME, CL-10) allows no minus sign; Gardener allows it. */
static void check_window_time(struct spec_check *k, const char *pointer, const json_t *value,
                              const json_t *there ATTR_UNUSED)
{
    int utc_s;
    if (!parse_window_time(json_string_value(value), &utc_s))
        FAULT(k, pointer, "wrong_form", NULL,
              "must be HHMMSS+HHMM, not '%s': two o'clock in UTC is 020000+0000, the offset is of whole "
              "hours up to 14",
              json_string_value(value));
    else if (json_string_value(value)[SIGN_AT] == '-')
        FAULT(k, pointer, "wrong_form", NULL,
              "must not have a negative offset, which Cleura does not take: write the time in UTC, +0000");
}

static void check_window_length(struct spec_check *k, const char *pointer, const char *begin, const char *end)
{
    int begin_s, end_s;
    if (!parse_window_time(begin, &begin_s) || !parse_window_time(end, &end_s))
        return;
    int length_s = ((end_s - begin_s) % DAY_S + DAY_S) % DAY_S;
    if (length_s >= WINDOW_MIN_S && length_s <= WINDOW_MAX_S)
        return;
    char *here CLEANUP_FREE = json_pointer_to(pointer, "end");
    FAULT(k, here, "out_of_range", NULL,
          "must be 30 minutes to 6 hours after begin (perhaps over midnight), not %d minutes", length_s / 60);
}

void spec_check_maintenance(struct spec_check *k, const char *pointer, const json_t *value,
                            const json_t *there)
{
    static const struct spec_member members[] = {
        {"begin", MEMBER_STRING, 0, TIME_MAX, NULL, check_window_time},
        {"end", MEMBER_STRING, 0, TIME_MAX, NULL, check_window_time},
        {"auto_update_kubernetes", MEMBER_BOOL, 0, 0, NULL, NULL},
        {"auto_update_machine_image", MEMBER_BOOL, 0, 0, NULL, NULL},
    };
    const char *begin = json_str(value, "begin"), *end = json_str(value, "end");
    spec_check_object(k, members, ARRAY_LEN(members), pointer, value, there);
    if (!begin != !end)
        FAULT(k, pointer, "missing_member", NULL, "needs both begin and end, or neither");
    else if (begin)
        check_window_length(k, pointer, begin, end);
}
