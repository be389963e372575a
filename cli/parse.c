#include "cli/parse.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "base/near_word.h"
#include "cli/glyphs.h"
#include "cli/words.h"
#include "model/former_names.h"

/* ---- suggestions for a mistyped name ---- */

static size_t names_of_flags(const struct flag *flags, const char **names, size_t count, size_t max)
{
    for (; flags->name && count < max; flags++)
        names[count++] = flags->name;
    return count;
}

static const char *nearest_flag(const struct cli_command *command, const char *typed)
{
    const char *names[100];
    size_t count = names_of_flags(common_flags, names, 0, ARRAY_LEN(names));
    if (command)
        count = names_of_flags(command->flags, names, count, ARRAY_LEN(names));
    return nearest_word(typed, names, count);
}

static char *renamed_flag(const struct cli_command *command, const char *typed)
{
    json_t *names CLEANUP_JSON = json_array();
    for (const struct flag *flag = command ? command->flags : NULL; flag && flag->name; flag++)
        json_append_take(names, json_string(flag->name));
    return former_name_fault(FORMER_FLAG, typed, names);
}

void parse_unknown_command(const char *typed, struct buffer *fault)
{
    const char *names[100];
    size_t count = 0;
    for (const struct cli_command *c = command_table; c->name && count < ARRAY_LEN(names); c++)
        if (!command_is_hidden(c))
            names[count++] = c->name;
    const char *near = nearest_word(typed, names, count);
    buffer_printf(fault, "unknown command '%s'", typed);
    if (near)
        buffer_printf(fault, "; did you mean '%s'?", near);
}

/* ---- values ---- */

#define DURATION_MAX_MS (INT64_C(3650) * 86400000)

int64_t duration_ms(const char *text)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 9)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (strcmp(text + digits, units[i].unit) != 0)
            continue;
        int64_t ms = strtoll(text, NULL, 10) * units[i].ms; /* a number of days with nine digits does not
                                                             * overflow */
        return ms <= DURATION_MAX_MS ? ms : -1;
    }
    return -1;
}

static bool is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits && digits <= 6 && !text[digits] && strtol(text, NULL, 10) <= FLAG_NUMBER_MAX;
}

/* Whether the flag accepts the value; if not, `fault` has a message. */
static bool value_is_good(const struct flag *flag, const char *value, struct buffer *fault)
{
    bool good = *value != '\0';
    assert((flag->kind == FLAG_CHOICE) == (flag->words != NULL));
    if (!glyphs_are_text(value)) {
        buffer_printf(fault, "--%s: '%s' is no UTF-8", flag->name, value);
        return false;
    }
    switch (flag->kind) {
    case FLAG_SWITCH:
    case FLAG_TEXT:
    case FLAG_TEXTS:
        break;
    case FLAG_NUMBER:
        good = is_number(value);
        break;
    case FLAG_DURATION:
        good = duration_ms(value) >= 0;
        break;
    case FLAG_CHOICE:
        good = is_word_of(flag->words, value);
        break;
    }
    if (good)
        return true;
    buffer_printf(fault, "--%s: '%s' is not ", flag->name, value);
    if (flag->kind == FLAG_CHOICE) {
        buffer_add_str(fault, "one of");
        for (size_t i = 0; flag->words[i]; i++)
            buffer_printf(fault, "%s %s", i ? "," : "", flag->words[i]);
    } else {
        buffer_add_str(fault, flag->kind == FLAG_NUMBER     ? "a number up to 100000"
                              : flag->kind == FLAG_DURATION ? "a duration such as 90s, 15m or 2h"
                                                            : "a value: it is empty");
    }
    return false;
}

/* ---- the line ---- */

struct cli_line {
    int argc;
    char *const *argv;
    struct parsed *parsed;
    struct buffer *fault;
};

static bool is_flag(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

static bool is_help(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

/* Returns the flag that a word names: a flag of this command or, when `command` is NULL, a flag of any
 * command. *ret_value is the value in the same word, or NULL. */
static const struct flag *flag_of(const struct cli_command *command, const char *word, const char **ret_value)
{
    *ret_value = NULL;
    if (word[1] == '-') {
        size_t len = strcspn(word + 2, "=");
        *ret_value = word[2 + len] ? word + 3 + len : NULL;
        return flag_find(command, word + 2, len, 0);
    }
    if (word[2])
        *ret_value = word[2] == '=' ? word + 3 : word + 2;
    return flag_find(command, "", 0, word[1]);
}

const struct flag *parse_flag(const struct cli_command *command, const char *word)
{
    const char *value = NULL;
    return flag_of(command, word, &value);
}

/* Whether the next word is the value of flag i, while the command is not known yet. Flags with the same name
 * are equal in all commands, but a letter may name different flags. The next word is not a value when it is a
 * command for which the letter is a switch. */
static bool takes_next(const struct cli_line *line, int i)
{
    const char *value = NULL;
    bool takes = false;
    const struct flag *common = flag_of(NULL, line->argv[i], &value);
    if (common)
        return common->kind != FLAG_SWITCH && !value;
    for (const struct cli_command *c = command_table; c->name; c++) {
        const struct flag *flag = flag_of(c, line->argv[i], &value);
        if (!flag || value)
            continue;
        if (i + 1 < line->argc && strcmp(line->argv[i + 1], c->name) == 0 && flag->kind == FLAG_SWITCH)
            return false;
        takes = takes || flag->kind != FLAG_SWITCH;
    }
    return takes;
}

/* Returns the index of the word that names the command; argc when no word does. */
static int find_command(const struct cli_line *line)
{
    for (int i = 1; i < line->argc; i++) {
        if (strcmp(line->argv[i], "--") == 0)
            return i + 1 < line->argc ? i + 1 : line->argc;
        if (!is_flag(line->argv[i]))
            return i;
        if (takes_next(line, i))
            i++;
    }
    return line->argc;
}

static bool unknown_flag(const struct cli_line *line, const char *word)
{
    char *name CLEANUP_FREE = mem_strndup(word, strcspn(word, "="));
    const struct cli_command *command = line->parsed->command;
    char *renamed CLEANUP_FREE = name[1] == '-' ? renamed_flag(command, name + 2) : NULL;
    if (renamed) {
        buffer_add_str(line->fault, renamed);
        return false;
    }
    const char *near = name[1] == '-' ? nearest_flag(command, name + 2) : NULL;
    buffer_printf(line->fault, "unknown flag %s", name[1] == '-' ? name : word);
    if (command)
        buffer_printf(line->fault, " of '%s'", command->name);
    if (near)
        buffer_printf(line->fault, "; did you mean --%s?", near);
    return false;
}

static bool is_given(const struct parsed *parsed, const struct flag *flag)
{
    for (size_t i = 0; i < parsed->given_count; i++)
        if (strcmp(parsed->given[i].flag->name, flag->name) == 0)
            return true;
    return false;
}

/* Reads the flag at word i and its value, which may be the next word. Returns the index of the last word that
 * was read; -1 after a fault. */
static int take_flag(const struct cli_line *line, int i)
{
    struct parsed *parsed = line->parsed;
    const char *word = line->argv[i], *value = NULL;
    const struct flag *flag = flag_of(parsed->command, word, &value);
    if (!flag) {
        (void)unknown_flag(line, word);
        return -1;
    }
    if (flag->kind == FLAG_SWITCH && value) {
        buffer_printf(line->fault, "--%s takes no value", flag->name);
        return -1;
    }
    if (flag->kind != FLAG_SWITCH && !value) {
        if (i + 1 >= line->argc) {
            buffer_printf(line->fault, "--%s needs a value: %s", flag->name, flag->value);
            return -1;
        }
        value = line->argv[++i];
    }
    if (value && !value_is_good(flag, value, line->fault))
        return -1;
    if (value && flag->kind != FLAG_TEXTS && is_given(parsed, flag)) {
        buffer_printf(line->fault, "--%s is given twice", flag->name);
        return -1;
    }
    assert(parsed->given_count < (size_t)line->argc); /* each word gives at most one flag */
    parsed->given[parsed->given_count++] = (struct given_flag){flag, value};
    return i;
}

static bool count_is_good(const struct cli_line *line)
{
    const struct parsed *parsed = line->parsed;
    const struct cli_command *command = parsed->command;
    size_t count = command->takes_rest ? parsed->rest : parsed->argument_count;
    if (count < command->least)
        buffer_printf(line->fault, "'%s' needs %s", command->name, command->arguments);
    else if (count > command->most)
        buffer_printf(line->fault, "'%s' does not take '%s'", command->name,
                      parsed->arguments[command->most]);
    return !line->fault->len;
}

static bool read_words(const struct cli_line *line, int at_command)
{
    struct parsed *parsed = line->parsed;
    bool ended = false;
    parsed->rest = SIZE_MAX;
    for (int i = 1; i < line->argc; i++) {
        const char *word = line->argv[i];
        if (!ended && strcmp(word, "--") == 0) {
            ended = true;
            if (i > at_command)
                parsed->rest = parsed->argument_count;
        } else if (!ended && is_flag(word)) {
            i = take_flag(line, i);
            if (i < 0)
                return false;
        } else if (i != at_command) {
            bool is_foreign = parsed->rest != SIZE_MAX && parsed->command && parsed->command->takes_rest;
            if (!is_foreign && !glyphs_are_text(word)) {
                buffer_printf(line->fault, "'%s' is no UTF-8", word);
                return false;
            }
            assert(parsed->argument_count < (size_t)line->argc);
            parsed->arguments[parsed->argument_count++] = word;
        }
    }
    if (parsed->rest == SIZE_MAX)
        parsed->rest = parsed->argument_count;
    return !parsed->command || count_is_good(line);
}

static bool asks_for_help(const struct cli_line *line)
{
    for (int i = 1; i < line->argc && strcmp(line->argv[i], "--") != 0; i++)
        if (is_help(line->argv[i]))
            return true;
    return false;
}

/* Most programs print their version for this flag. shootctl then asks no server. */
static bool asks_for_version(int argc, char *const *argv)
{
    return argc == 2 && strcmp(argv[1], "--version") == 0;
}

bool parse_line(int argc, char *const *argv, struct parsed *ret, struct buffer *fault)
{
    static char program[] = "shootctl", command[] = "version", client[] = "--client";
    static char *const version_line[] = {program, command, client, NULL};
    if (asks_for_version(argc, argv))
        return parse_line(ARRAY_LEN(version_line) - 1, version_line, ret, fault);
    struct cli_line line = {argc, argv, ret, fault};
    *ret = (struct parsed){.arguments = mem_calloc((size_t)argc + 1, sizeof(char *)),
                           .given = mem_calloc((size_t)argc + 1, sizeof(struct given_flag))};
    int at = find_command(&line);
    if (at < argc)
        ret->command = command_find(argv[at]);
    if (asks_for_help(&line)) {
        ret->help = true;
        return true;
    }
    if (at < argc && !ret->command) {
        parse_unknown_command(argv[at], fault);
        return false;
    }
    return read_words(&line, at);
}

void parsed_done(struct parsed *parsed)
{
    free(parsed->arguments);
    free(parsed->given);
    *parsed = (struct parsed){0};
}

static bool is_kind(const struct parsed *parsed, const char *name, enum flag_kind kind)
{
    const struct flag *flag = flag_find(parsed->command, name, strlen(name), 0);
    return flag && flag->kind == kind;
}

const char *parsed_nth(const struct parsed *parsed, const char *name, size_t nth)
{
    assert(flag_find(parsed->command, name, strlen(name), 0));
    for (size_t i = 0; i < parsed->given_count; i++)
        if (strcmp(parsed->given[i].flag->name, name) == 0 && nth-- == 0)
            return parsed->given[i].value ? parsed->given[i].value : "";
    return NULL;
}

const char *parsed_text(const struct parsed *parsed, const char *name)
{
    return parsed_nth(parsed, name, 0);
}

bool parsed_on(const struct parsed *parsed, const char *name)
{
    assert(is_kind(parsed, name, FLAG_SWITCH));
    return parsed_nth(parsed, name, 0) != NULL;
}

int64_t parsed_duration_ms(const struct parsed *parsed, const char *name, int64_t fallback)
{
    assert(is_kind(parsed, name, FLAG_DURATION));
    const char *text = parsed_text(parsed, name);
    return text ? duration_ms(text) : fallback;
}

int64_t parsed_number(const struct parsed *parsed, const char *name, int64_t fallback)
{
    assert(is_kind(parsed, name, FLAG_NUMBER));
    const char *text = parsed_text(parsed, name);
    return text ? strtoll(text, NULL, 10) : fallback;
}
