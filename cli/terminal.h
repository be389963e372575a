/*
 * The streams to which shootctl writes: whether they are terminals, their width and colours. Also asks the
 * user. One thread.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/attrs.h"

struct terminal {
    FILE *file;
    bool is_terminal;
    bool moves;  /* the cursor can be moved: the stream is a terminal, and TERM is not dumb */
    bool colour; /* colours are used on this stream */
};

enum style { STYLE_PLAIN, STYLE_GOOD, STYLE_BUSY, STYLE_BAD, STYLE_DIM, STYLE_BOLD, STYLE_MAX_ };

/* `no_colour` is the flag --no-color, which takes precedence over every variable of the environment. */
void terminal_init(struct terminal *t, FILE *file, bool no_colour);
/* Return the present number of columns and rows. If the kernel does not know these numbers, they are the
 * values of COLUMNS and LINES; if these are not set, they are 80 and 24. */
unsigned terminal_width(const struct terminal *t);
unsigned terminal_height(const struct terminal *t);
/* Return the escape sequences before and after text of a style, as static text; empty without colour. */
const char *terminal_begin(const struct terminal *t, enum style style);
const char *terminal_end(const struct terminal *t, enum style style);

/* Whether the user can be asked: standard input is a terminal. */
bool terminal_can_ask(void);
/*
 * Asks on standard error, with foreign text in the question escaped. Returns one line of standard input
 * without its newline, at most 64 KiB; NULL at the end of input. When a signal ends or stops the program
 * during the question, the terminal is restored before that. The caller frees the line.
 */
char *terminal_ask(const char *question);
/*
 * Does the same as terminal_ask, without an echo. A line of the greatest possible length may have been cut by
 * the terminal: then the result is NULL and *ret_too_long is set. The caller frees the line with
 * mem_free_secret.
 */
enum { TERMINAL_LINE_MAX = 4095 };
char *terminal_ask_secret(const char *question, bool *ret_too_long);

#endif
