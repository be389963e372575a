#include "cli/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/glyphs.h"

/* Only the 16 colours of ANSI, so that the theme of the terminal decides. */
static const char *const sequences[STYLE_MAX_] = {
    [STYLE_PLAIN] = "",       [STYLE_GOOD] = "\033[32m", [STYLE_BUSY] = "\033[33m",
    [STYLE_BAD] = "\033[31m", [STYLE_DIM] = "\033[2m",   [STYLE_BOLD] = "\033[1m",
};

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* FORCE_COLOR and CLICOLOR_FORCE count unless they are 0. */
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

static volatile sig_atomic_t ask_interrupted;

static void on_signal(int number)
{
    ask_interrupted = number;
}

/* The line, or NULL at the end of the input and after a signal. */
static char *read_line(void)
{
    char line[65536];
    size_t len = 0;
    while (len < sizeof(line) - 1) {
        ssize_t n = read(STDIN_FILENO, line + len, 1);
        if (n < 0 && errno == EINTR && !ask_interrupted)
            continue;
        if (n <= 0 && !len)
            return NULL;
        if (n <= 0 || line[len] == '\n')
            break;
        len++;
    }
    char *copy = ask_interrupted ? NULL : mem_strndup(line, len);
    explicit_bzero(line, sizeof(line));
    return copy;
}

char *terminal_ask(const char *question, bool secret)
{
    struct sigaction action = {.sa_handler = on_signal}, before;
    struct termios echoed, hidden;
    char *shown CLEANUP_FREE = glyphs_shown(question);
    secret = secret && tcgetattr(STDIN_FILENO, &echoed) == 0;
    if (secret) {
        hidden = echoed;
        hidden.c_lflag &= ~(tcflag_t)ECHO;
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    }
    (void)fprintf(stderr, "%s", shown); /* nobody answers before the echo is off */
    (void)fflush(stderr);
    ask_interrupted = 0;
    (void)sigaction(SIGINT, &action, &before);
    char *line = read_line();
    (void)sigaction(SIGINT, &before, NULL);
    if (secret) {
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &echoed);
        (void)fprintf(stderr, "\n");
    }
    if (ask_interrupted) { /* the shell sees what it was */
        (void)signal(SIGINT, SIG_DFL);
        (void)raise(SIGINT);
    }
    return line;
}
