/*
 * Answers of a server, printed by each verb. The first line of the input is a command line; each line after
 * it is one answer of the server. The text that is printed never has a control character, whatever the
 * answers hold.
 */
#include "fuzz/fuzz.h"

#include <locale.h>
#include <string.h>

#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "fuzz/cli_server.h"

/* Commands that print data from a server, and touch no file of the user. */
static const char *const allowed[] = {"status",  "list",      "get",  "describe", "catalog",
                                      "upgrade", "hibernate", "wake", "delete",   "events",
                                      "wait",    "version",   NULL};

enum { MOST_WORDS = 20 };

static bool is_allowed(const struct cli_command *command)
{
    for (const char *const *name = allowed; command && *name; name++)
        if (strcmp(command->name, *name) == 0)
            return true;
    return false;
}

/* Checks text that the command printed, its own and the server's. The text must be UTF-8, and no character
 * except newlines may move the cursor. */
static void check_printed(const char *text)
{
    char *copy CLEANUP_FREE = mem_strdup(text), *rest = copy, *line;
    while ((line = strsep(&rest, "\n"))) {
        char *shown CLEANUP_FREE = glyphs_shown(line);
        FUZZ_CHECK(strcmp(line, shown) == 0);
    }
}

static void run(const struct parsed *parsed, bool is_terminal)
{
    char *out = NULL, *err = NULL;
    size_t out_len = 0, err_len = 0;
    FILE *own = stderr;
    struct cli cli = {.parsed = parsed, .utc = true};
    cli.out = (struct terminal){.file = open_memstream(&out, &out_len), .is_terminal = is_terminal};
    cli.err = (struct terminal){.file = open_memstream(&err, &err_len), .is_terminal = is_terminal};
    FUZZ_CHECK(cli.out.file && cli.err.file);
    stderr = cli.err.file; /* messages of the command must not look like reports of the fuzzer */
    int code = parsed->command->run(&cli);
    stderr = own;
    FUZZ_CHECK(code >= END_OK && code <= END_DIFFERENT);
    if (cli.http)
        http_free(cli.http);
    settings_done(&cli.settings);
    (void)fclose(cli.out.file);
    (void)fclose(cli.err.file);
    check_printed(out);
    check_printed(err);
    free(out);
    free(err);
}

static void prepare(void)
{
    (void)setlocale(LC_ALL, "C.UTF-8");
    (void)setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    (void)setenv("SHOOTD_URL", "http://127.0.0.1:9", 1);
    (void)setenv("SHOOTD_TOKEN", "x", 1);
    (void)setenv("SHOOTD_PROJECT", "team-a", 1);
    (void)setenv("COLUMNS", "60", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *words[MOST_WORDS + 2] = {(char *)(uintptr_t) "shootctl"};
    struct parsed parsed;
    struct buffer fault CLEANUP_BUFFER;
    int count = 1;
    prepare();
    buffer_init(&fault, 1024 * 1024);
    char *line CLEANUP_FREE = fuzz_line(&bytes, &len), *rest = line;
    for (const char *word; count < MOST_WORDS && *(word = fuzz_word(&rest));)
        words[count++] = (char *)(uintptr_t)word;
    words[count++] = (char *)(uintptr_t) "--no-input";
    bool good = parse_line(count, words, &parsed, &fault);
    bool follows =
        good && parsed.command && flag_find(parsed.command, "follow", 6, 0) && parsed_on(&parsed, "follow");
    if (good && !parsed.help && !follows && is_allowed(parsed.command)) {
        for (int is_terminal = 0; is_terminal < 2; is_terminal++) {
            cli_server_answers(bytes, len);
            run(&parsed, is_terminal);
        }
    }
    parsed_done(&parsed);
    return 0;
}
