#include "cli/terminal.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/signals.h"

/* Only the 16 colours of ANSI are used, so that the theme of the terminal decides how they look. */
static const char *const sequences[STYLE_MAX_] = {
    [STYLE_PLAIN] = "",       [STYLE_GOOD] = "\033[32m", [STYLE_BUSY] = "\033[33m",
    [STYLE_BAD] = "\033[31m", [STYLE_DIM] = "\033[2m",   [STYLE_BOLD] = "\033[1m",
};

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* Whether FORCE_COLOR or CLICOLOR_FORCE is set to something other than 0. */
static bool is_forced(const char *variable)
{
    return is_set(variable) && strcmp(getenv(variable), "0") != 0;
}

void terminal_init(struct terminal *t, FILE *file, bool no_colour)
{
    const char *term = getenv("TERM");
    *t = (struct terminal){.file = file, .is_terminal = isatty(fileno(file)) == 1};
    t->moves = t->is_terminal && term && *term && strcmp(term, "dumb") != 0;
    if (no_colour || is_set("NO_COLOR"))
        t->colour = false;
    else
        t->colour = t->moves || is_forced("FORCE_COLOR") || is_forced("CLICOLOR_FORCE");
}

static unsigned number_of(const char *variable, unsigned fallback)
{
    const char *text = getenv(variable);
    char *end = NULL;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    return text && *text && !*end && value > 0 && value < 100000 ? (unsigned)value : fallback;
}

unsigned terminal_width(const struct terminal *t)
{
    struct winsize size = {0};
    if (ioctl(fileno(t->file), TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return number_of("COLUMNS", 80);
}

unsigned terminal_height(const struct terminal *t)
{
    struct winsize size = {0};
    if (ioctl(fileno(t->file), TIOCGWINSZ, &size) == 0 && size.ws_row)
        return size.ws_row;
    return number_of("LINES", 24);
}

const char *terminal_begin(const struct terminal *t, enum style style)
{
    assert(style < STYLE_MAX_);
    return t->colour ? sequences[style] : "";
}

const char *terminal_end(const struct terminal *t, enum style style)
{
    return t->colour && style != STYLE_PLAIN ? "\033[0m" : "";
}

bool terminal_can_ask(void)
{
    return isatty(STDIN_FILENO) == 1;
}

/* ---- questions ---- */

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
static volatile sig_atomic_t ask_signal;

static void on_signal(int number)
{
    ask_signal = number;
}

/* The state before a question, which is restored afterwards. */
struct asking {
    bool secret;
    struct termios echoed;
    struct sigaction before[ARRAY_LEN(caught)];
    sigset_t mask; /* the signals that are allowed while the program waits for the line; at other times they
                    * are blocked */
};

static void asking_begin(struct asking *a)
{
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(caught); i++)
        (void)sigaddset(&set, caught[i]);
    (void)sigprocmask(SIG_BLOCK, &set, &a->mask);
    ask_signal = 0;
    for (size_t i = 0; i < ARRAY_LEN(caught); i++) {
        const struct sigaction action = {.sa_handler = on_signal};
        (void)sigaction(caught[i], NULL, &a->before[i]);
        if (a->before[i].sa_handler != SIG_IGN)
            (void)sigaction(caught[i], &action, NULL);
    }
    if (a->secret && tcgetattr(STDIN_FILENO, &a->echoed) == 0) {
        struct termios hidden = a->echoed;
        hidden.c_lflag &= ~(tcflag_t)ECHO;
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    }
}

static void asking_end(const struct asking *a)
{
    if (a->secret) {
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &a->echoed);
        (void)fprintf(stderr, "\n");
    }
    for (size_t i = 0; i < ARRAY_LEN(caught); i++)
        (void)sigaction(caught[i], &a->before[i], NULL);
    (void)sigprocmask(SIG_SETMASK, &a->mask, NULL);
}

/* Reads the line. Returns NULL at the end of the input and after a signal. */
static char *read_line(const struct asking *a)
{
    char line[65536];
    size_t len = 0;
    while (len < sizeof(line) - 1) {
        struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
        int polled = ppoll(&ready, 1, NULL, &a->mask);
        if (ask_signal)
            break;
        if (polled < 0 && errno == EINTR)
            continue;
        ssize_t n = read(STDIN_FILENO, line + len, 1);
        if (n <= 0 && !len)
            return NULL;
        if (n <= 0 || line[len] == '\n')
            break;
        len++;
    }
    char *copy = ask_signal ? NULL : mem_strndup(line, len);
    explicit_bzero(line, sizeof(line));
    return copy;
}

static char *ask(const char *question, bool secret)
{
    char *shown CLEANUP_FREE = glyphs_shown(question);
    for (;;) {
        struct asking asking = {.secret = secret && terminal_can_ask()};
        asking_begin(&asking);
        /* The question is shown after the echo was switched off, so that no secret is visible. */
        (void)fprintf(stderr, "%s", shown);
        (void)fflush(stderr);
        char *line = read_line(&asking);
        asking_end(&asking);
        if (!ask_signal)
            return line;
        if (ask_signal != SIGTSTP)
            signals_die(ask_signal);
        (void)raise(SIGTSTP); /* after Ctrl-Z the program stops here; when the shell continues it, the loop
                               * asks again */
    }
}

char *terminal_ask(const char *question)
{
    return ask(question, false);
}

char *terminal_ask_secret(const char *question, bool *ret_too_long)
{
    char *line = ask(question, true);
    /* A terminal silently discards everything after byte 4095 of a line. */
    *ret_too_long = line && strlen(line) >= TERMINAL_LINE_MAX;
    if (!*ret_too_long)
        return line;
    mem_free_secret(line);
    return NULL;
}
