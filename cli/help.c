#include "cli/help.h"

#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "cli/exits.h"

static const struct {
    int code;
    const char *text;
} exits[] = {
#define EXIT_ROW(name, code, text) {code, text},
    EXIT_TABLE(EXIT_ROW)
#undef EXIT_ROW
};

/* Returns the flag in the form "-o, --output FORM". */
static char *flag_words(const struct flag *flag)
{
    char letter[] = {'-', flag->letter, ',', ' ', '\0'};
    return mem_printf("%s--%s%s%s", flag->letter ? letter : "    ", flag->name, flag->value ? " " : "",
                      flag->value ? flag->value : "");
}

static void print_flags(FILE *to, const char *title, const struct flag *flags)
{
    size_t widest = 0;
    if (!flags->name)
        return;
    for (const struct flag *flag = flags; flag->name; flag++) {
        char *words CLEANUP_FREE = flag_words(flag);
        widest = strlen(words) > widest ? strlen(words) : widest;
    }
    (void)fprintf(to, "\n%s:\n", title);
    for (const struct flag *flag = flags; flag->name; flag++) {
        char *words CLEANUP_FREE = flag_words(flag);
        (void)fprintf(to, "  %-*s  %s", (int)widest, words, flag->help);
        for (size_t i = 0; flag->words && flag->words[i]; i++)
            (void)fprintf(to, "%s%s", i ? ", " : ": ", flag->words[i]);
        (void)fputc('\n', to);
    }
}

static void print_command(FILE *to, const struct cli_command *command)
{
    (void)fprintf(to, "Examples:\n");
    for (const char *const *example = command->examples; *example; example++)
        (void)fprintf(to, "  %s\n", *example);
    (void)fprintf(to, "\nUsage: shootctl %s%s%s [flags]\n\n%s\n", command->name,
                  *command->arguments ? " " : "", command->arguments, command->summary);
    if (*command->about)
        (void)fprintf(to, "%s\n", command->about);
    print_flags(to, "Flags", command->flags);
    print_flags(to, "Flags of every command", common_flags);
}

void help_print(FILE *to, const struct cli_command *command)
{
    if (command) {
        print_command(to, command);
        return;
    }
    (void)fprintf(to, "Examples:\n"
                      "  shootctl login https://shootd.example.com   # asks for the token, and stores it\n"
                      "  shootctl create dev                         # creates a cluster with defaults, and "
                      "waits until it is ready\n"
                      "  shootctl list\n"
                      "  shootctl describe dev\n"
                      "  shootctl delete dev\n"
                      "\nUsage: shootctl COMMAND [arguments] [flags]\n"
                      "       shootctl --version\n\nCommands:\n");
    for (const struct cli_command *c = command_table; c->name; c++)
        if (!command_is_hidden(c))
            (void)fprintf(to, "  %-12s %s\n", c->name, c->summary);
    print_flags(to, "Flags of every command", common_flags);
    (void)fprintf(to, "\nExit codes:\n");
    for (size_t i = 0; i < ARRAY_LEN(exits); i++)
        (void)fprintf(to, "  %-3d %s\n", exits[i].code, exits[i].text);
    (void)fprintf(to, "\nEnvironment: SHOOTD_URL, SHOOTD_TOKEN, SHOOTD_PROJECT, SHOOTD_CA_FILE take "
                      "precedence over the file of\n"
                      "contexts, and flags over both; NO_COLOR switches colours off.\n"
                      "'shootctl help COMMAND' shows the flags and examples of a command.\n");
}

void help_usage(FILE *to, const struct cli_command *command)
{
    if (command)
        (void)fprintf(to, "usage: shootctl %s%s%s [flags]; 'shootctl help %s' has examples\n", command->name,
                      *command->arguments ? " " : "", command->arguments, command->name);
    else
        (void)fprintf(to,
                      "usage: shootctl COMMAND [arguments] [flags]; 'shootctl help' lists the commands\n");
}

static json_t *flags_table(const struct flag *flags)
{
    json_t *all = json_array();
    for (; flags->name; flags++) {
        char letter[] = {flags->letter, '\0'};
        json_t *words = flags->words ? json_array() : NULL;
        for (size_t i = 0; flags->words && flags->words[i]; i++)
            json_append_take(words, json_string(flags->words[i]));
        json_t *flag = json_pack("{s:s,s:s?,s:s?,s:s,s:o?}", "name", flags->name, "letter",
                                 flags->letter ? letter : NULL, "value", flags->value, "help", flags->help,
                                 "words", words);
        json_append_take(all, flag);
    }
    return all;
}

json_t *help_table(void)
{
    json_t *commands = json_array(), *codes = json_array();
    for (const struct cli_command *c = command_table; c->name; c++) {
        if (command_is_hidden(c))
            continue;
        json_t *examples = json_array();
        for (const char *const *example = c->examples; *example; example++)
            json_append_take(examples, json_string(*example));
        json_append_take(commands, json_pack("{s:s,s:s,s:s,s:s,s:o,s:o}", "name", c->name, "arguments",
                                             c->arguments, "summary", c->summary, "about", c->about,
                                             "examples", examples, "flags", flags_table(c->flags)));
    }
    for (size_t i = 0; i < ARRAY_LEN(exits); i++)
        json_append_take(codes, json_pack("{s:i,s:s}", "code", exits[i].code, "text", exits[i].text));
    return json_pack("{s:o,s:o,s:o}", "commands", commands, "flags", flags_table(common_flags), "exit_codes",
                     codes);
}
