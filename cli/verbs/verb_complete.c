/*
 * The command `__complete` lists the words that may end a command line; the scripts of the shells call this
 * command. The command prints lines "word<TAB>about", and then ":BITS", which tells the script whether file
 * names are also possible. After a failure it prints no words and reports nothing.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/ids.h"
#include "base/mem.h"
#include "base/private_file.h"
#include "cli/api.h"
#include "cli/problem.h"
#include "cli/runtime.h"
#include "cli/verbs/verb_completion.h"
#include "cli/verbs/verbs.h"
#include "cli/words.h"
#include "model/names.h"

/* The number for "no file names" in the completion scripts of cobra. With this number, completion plug-ins of
 * kubectl can read the same lines. */
enum { BIT_NO_FILES = 4 };
/* A request for names takes DEADLINE_MS at most; names older than FRESH_S are requested again. */
enum { DEADLINE_MS = 100, FRESH_S = 10, OLDEST_S = 86400, CACHE_BYTES = 256 * 1024, MESSAGE_BYTES = 4096 };

/* The command line so far. */
struct typed {
    struct cli *cli;
    const struct cli_command *command; /* NULL: the line does not have a command yet */
    const char *arguments[2];          /* the first arguments */
    size_t argument_count;
    const struct flag *flag; /* the flag whose value is the word to complete; NULL: the word is not a value */
    bool ended;              /* a `--` was read */
    bool lost;               /* there is no such command or flag, so nothing is offered */
    const char *word;        /* the word to complete; after `--flag=` only the value */
    char *before;            /* the part of the typed word before `word`, or "" */
    int bits;
};

/* Offers a word only if no shell needs quotes for it; names come from the server. */
static void offer(const struct typed *typed, const char *word, const char *about)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,=-";
    if (!word || !*word || word[strspn(word, harmless)] ||
        strncmp(word, typed->word, strlen(typed->word)) != 0)
        return;
    (void)printf("%s%s", typed->before, word);
    if (about && *about)
        (void)printf("\t%s", about);
    (void)printf("\n");
}

static void offer_words(const struct typed *typed, const char *const *words)
{
    for (; *words; words++)
        offer(typed, *words, NULL);
}

/* ---- cached names ---- */

static json_t *cache_read(int directory, const char *name)
{
    static const struct json_limits limits = {CACHE_BYTES, 20000, 20000};
    enum json_scan_end end;
    char *bytes CLEANUP_FREE = mem_calloc(1, CACHE_BYTES);
    int n = private_file_read(directory, name, PRIVATE_TO_OWNER, bytes, CACHE_BYTES);
    return n > 0 && n < CACHE_BYTES ? json_parse_foreign(bytes, (size_t)n, &limits, &end) : NULL;
}

/* Requests the names of the list. NULL when the connection cannot be opened, the request is refused, or no
 * answer arrives in time. */
static json_t *fetch(struct cli *cli, const struct api_target *target)
{
    struct buffer fault CLEANUP_BUFFER;
    struct cli_answer answer CLEANUP_ANSWER = {0};
    const struct cli_http_options options = {.url = cli->settings.url.value,
                                             .ca_file = cli->settings.ca_file.value};
    /* completion does not renew tokens, and repeats no request */
    const struct cli_request request = {.method = "GET",
                                        .path = target->path.data,
                                        .token = cli->settings.token.value,
                                        .timeout_ms = DEADLINE_MS};
    json_t *names = NULL, *one;
    size_t i;
    buffer_init(&fault, MESSAGE_BYTES);
    cli->http = http_new(&options, &fault);
    if (!cli->http)
        return NULL;
    http_call(cli->http, &request, &answer);
    if (problem_code(&answer) == END_OK && json_arr(answer.json, "items"))
        names = json_array();
    json_array_foreach (names ? json_arr(answer.json, "items") : NULL, i, one)
        if (json_str(one, "name"))
            json_append_take(names, json_string(json_str(one, "name")));
    return names;
}

/* Returns the names from the server, or the cached names when they are fresh or the server does not answer.
 * The caller owns the list. */
static json_t *names_of(struct cli *cli, const struct api_target *target)
{
    struct buffer fault CLEANUP_BUFFER;
    char hex[TOKEN_HEX_BYTES];
    char *key CLEANUP_SECRET =
        mem_printf("%s\n%s\n%s", cli->settings.url.value, target->path.data, settings_asker(&cli->settings));
    token_digest_hex(key, hex);
    buffer_init(&fault, MESSAGE_BYTES);
    char *file CLEANUP_FREE = mem_printf("names-%s", hex);
    int directory = runtime_open(&fault);
    json_t *kept CLEANUP_JSON = directory < 0 ? NULL : cache_read(directory, file);
    int64_t now = env_wall(env_real()) / US_PER_S, at = json_int(kept, "at", 0);
    int64_t age = at > 0 && at <= now ? now - at : OLDEST_S;
    json_t *names = age < FRESH_S ? json_incref(json_arr(kept, "names")) : fetch(cli, target);
    bool is_new = names && names != json_arr(kept, "names");
    if (is_new && directory >= 0) {
        json_t *document CLEANUP_JSON = json_pack("{s:I,s:O}", "at", (json_int_t)now, "names", names);
        char *text CLEANUP_FREE = json_text(document);
        (void)private_file_write(directory, file, text, strlen(text));
    }
    if (!names && age < OLDEST_S)
        names = json_incref(json_arr(kept, "names"));
    if (directory >= 0)
        (void)close(directory);
    return names;
}

static void offer_names(struct typed *typed, enum api_call call, const char *project)
{
    struct api_target target CLEANUP_TARGET;
    json_t *name;
    size_t i;
    api_target_init(&target, call, project, NULL, NULL);
    api_query(&target, "limit", "1000");
    api_query(&target, "fields", call == API_PROJECTS ? NULL : "summary");
    json_t *names CLEANUP_JSON = names_of(typed->cli, &target);
    json_array_foreach (names, i, name)
        offer(typed, json_string_value(name), NULL);
}

/* Loads the settings for the typed line, with its flags. False when no server is configured. */
static bool load(struct typed *typed)
{
    struct buffer fault CLEANUP_BUFFER;
    buffer_init(&fault, MESSAGE_BYTES);
    return settings_load(&typed->cli->settings, typed->cli->parsed, &fault) && typed->cli->settings.url.value;
}

/* ---- words for a position ---- */

static void offer_clusters(struct typed *typed)
{
    if (!load(typed))
        return;
    const char *project = typed->cli->settings.project.value;
    offer_names(typed, project ? API_CLUSTERS : API_ALL_CLUSTERS, project);
}

static void offer_projects(struct typed *typed)
{
    if (load(typed))
        offer_names(typed, API_PROJECTS, NULL);
}

static void offer_contexts(struct typed *typed)
{
    struct buffer fault CLEANUP_BUFFER;
    size_t i;
    json_t *context;
    buffer_init(&fault, MESSAGE_BYTES);
    json_t *file CLEANUP_JSON = contexts_read(&fault);
    json_array_foreach (json_arr(file, "contexts"), i, context)
        offer(typed, json_str(context, "name"), json_str(context, "url"));
}

static void offer_commands(struct typed *typed)
{
    for (const struct cli_command *c = command_table; c->name; c++)
        if (!command_is_hidden(c))
            offer(typed, c->name, c->summary);
}

/* Completes the last item of a list with commas. */
static void offer_phases(struct typed *typed)
{
    const char *comma = strrchr(typed->word, ',');
    char *before =
        mem_printf("%s%.*s", typed->before, comma ? (int)(comma + 1 - typed->word) : 0, typed->word);
    free(typed->before);
    typed->before = before;
    typed->word = comma ? comma + 1 : typed->word;
    for (int phase = 0; phase < PHASE_MAX_; phase++)
        offer(typed, phase_name((enum phase)phase), NULL);
}

static void offer_goals(struct typed *typed)
{
    static const char *const words[] = {"operation", "deleted", NULL};
    offer_words(typed, words);
    for (int phase = 0; phase < PHASE_MAX_; phase++) {
        char *goal CLEANUP_FREE = mem_printf("phase=%s", phase_name((enum phase)phase));
        offer(typed, goal, NULL);
    }
}

static void offer_shells(struct typed *typed)
{
    offer_words(typed, completion_shells);
}

static void offer_context_words(struct typed *typed)
{
    static const char *const words[] = {"list", "use", "show", "remove", NULL};
    if (typed->argument_count == 0)
        offer_words(typed, words);
    else if (typed->argument_count == 1 &&
             (strcmp(typed->arguments[0], "use") == 0 || strcmp(typed->arguments[0], "remove") == 0))
        offer_contexts(typed);
}

static void offer_health(struct typed *typed)
{
    static const char *const words[] = {"healthy", "progressing", "unhealthy", "unknown", NULL};
    offer_words(typed, words);
}

/* The functions that complete values of flags. The values of a FLAG_CHOICE are in the table of commands. */
static const struct {
    const char *flag;
    void (*offer)(struct typed *typed);
} values[] = {
    {"project", offer_projects}, {"context", offer_contexts}, {"phase", offer_phases},
    {"health", offer_health},    {"for", offer_goals},
};

/* The functions that complete arguments. A function is found by the argument's name in the usage line. */
static const struct {
    const char *arguments;
    void (*offer)(struct typed *typed);
} places[] = {
    {"NAME", offer_clusters}, {"[NAME]", offer_clusters},     {"[COMMAND]", offer_commands},
    {"SHELL", offer_shells},  {"[list", offer_context_words},
};

static void offer_values(struct typed *typed)
{
    const char *called = typed->flag->value;
    if (typed->flag->kind == FLAG_CHOICE)
        offer_words(typed, typed->flag->words);
    if (called && (strcmp(called, "FILE") == 0 || strcmp(called, "PATH") == 0))
        typed->bits &= ~BIT_NO_FILES;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (strcmp(values[i].flag, typed->flag->name) == 0)
            values[i].offer(typed);
}

static void offer_flags(const struct typed *typed)
{
    const struct flag *const lists[] = {typed->command ? typed->command->flags : NULL, common_flags};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (const struct flag *flag = lists[i]; flag && flag->name; flag++) {
            char *word CLEANUP_FREE = mem_printf("--%s", flag->name);
            offer(typed, word, flag->help);
        }
}

static void offer_arguments(struct typed *typed)
{
    const struct cli_command *command = typed->command;
    if (!command) {
        offer_commands(typed);
        return;
    }
    bool is_new = command->run == verb_create; /* the name of a new cluster cannot be offered */
    size_t most = command->takes_rest ? 1 : command->most;
    for (size_t i = 0; i < ARRAY_LEN(places) && !is_new && typed->argument_count < most; i++)
        if (strncmp(command->arguments, places[i].arguments, strlen(places[i].arguments)) == 0) {
            places[i].offer(typed);
            return;
        }
}

/* ---- the line ---- */

/* Whether the word is a flag whose value is the next word. */
static bool takes_next(const struct typed *typed, const char *word)
{
    const struct flag *flag = parse_flag(typed->command, word);
    return flag && flag->kind != FLAG_SWITCH && !strchr(word, '=') && (word[1] == '-' || !word[2]);
}

static void read_words(struct typed *typed, const char *const *words, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        const char *word = words[i];
        typed->flag = NULL;
        if (typed->ended) {
            typed->argument_count++;
        } else if (strcmp(word, "--") == 0) {
            typed->ended = true;
        } else if (word[0] == '-' && word[1]) {
            if (takes_next(typed, word) && i + 2 < count)
                i++;
            else if (takes_next(typed, word))
                typed->flag = parse_flag(typed->command, word);
        } else if (!typed->command) {
            typed->command = command_find(word);
            typed->lost = typed->lost || !typed->command;
        } else {
            if (typed->argument_count < ARRAY_LEN(typed->arguments))
                typed->arguments[typed->argument_count] = word;
            typed->argument_count++;
        }
    }
    typed->word = words[count - 1];
}

/* Completes the value of --flag=value; `before` retains the part up to the equals sign. */
static void split_word(struct typed *typed)
{
    const char *equals = strchr(typed->word, '=');
    if (typed->ended || typed->flag || typed->word[0] != '-' || typed->word[1] != '-' || !equals)
        return;
    typed->flag = parse_flag(typed->command, typed->word);
    typed->lost = !typed->flag;
    free(typed->before);
    typed->before = mem_strndup(typed->word, (size_t)(equals + 1 - typed->word));
    typed->word = equals + 1;
}

/* Parses the line without the word to complete, for its flags that choose server and project. Faults are
 * ignored. The caller ends `ret` with parsed_done and frees the array. */
static const char **parse_typed(const char *const *words, size_t count, struct parsed *ret)
{
    struct buffer fault CLEANUP_BUFFER;
    const char **argv = mem_calloc(count + 1, sizeof(*argv));
    argv[0] = "shootctl";
    memcpy(argv + 1, words, (count - 1) * sizeof(*argv));
    buffer_init(&fault, MESSAGE_BYTES);
    (void)parse_line((int)count, (char *const *)(uintptr_t)argv, ret, &fault);
    return argv;
}

static void complete(struct typed *typed, const char *const *words, size_t count)
{
    const struct parsed *own = typed->cli->parsed;
    struct parsed line;
    /* NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): freed at the end of its scope */
    const char **argv CLEANUP_FREE = parse_typed(words, count, &line);
    read_words(typed, words, count);
    split_word(typed);
    typed->cli->parsed = &line;
    if (typed->flag)
        offer_values(typed);
    else if (!typed->ended && !typed->lost && typed->word[0] == '-')
        offer_flags(typed);
    else if (!typed->ended && !typed->lost)
        offer_arguments(typed);
    typed->cli->parsed = own;
    parsed_done(&line);
}

int verb_complete(struct cli *cli)
{
    const struct parsed *own = cli->parsed;
    struct typed typed = {.cli = cli, .bits = BIT_NO_FILES, .before = mem_strdup("")};
    if (own->argument_count > own->rest)
        complete(&typed, own->arguments + own->rest, own->argument_count - own->rest);
    (void)printf(":%d\n", typed.bits);
    free(typed.before);
    return END_OK;
}
