/*
 * The streams that shootctl writes to: is it a terminal, how wide is it, has it colours; and
 * questions to people. One thread.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/attrs.h"

struct terminal {
    FILE *file;
    bool is_terminal;
    bool moves;  /* the cursor can be moved: a terminal that is not TERM=dumb */
    bool colour; /* decided for each stream by itself */
};

enum style { STYLE_PLAIN, STYLE_GOOD, STYLE_BUSY, STYLE_BAD, STYLE_DIM, STYLE_BOLD, STYLE_MAX_ };

/* `no_colour` is the flag, which wins over every variable. */
void terminal_init(struct terminal *t, FILE *file, bool no_colour);
/* Columns and rows now; COLUMNS and LINES where the kernel does not know, else 80 and 24. */
unsigned terminal_width(const struct terminal *t);
unsigned terminal_height(const struct terminal *t);
/* The sequences around text of a style; empty without colour. Static text. */
const char *terminal_begin(const struct terminal *t, enum style style);
const char *terminal_end(const struct terminal *t, enum style style);

/* Whether people can be asked: standard input is a terminal. */
bool terminal_can_ask(void);
/*
 * Asks on standard error, foreign text in the question escaped, and reads one line of standard input, at most
 * 64 KiB, without its newline; NULL at its end. A signal that ends or stops the program finds the terminal as
 * it was. The caller frees it.
 */
char *terminal_ask(const char *question);
/*
 * The same without an echo. A line as long as a terminal can have one may be cut: it is NULL, and
 * *ret_too_long is set. The caller frees it with mem_free_secret.
 */
enum { TERMINAL_LINE_MAX = 4095 };
char *terminal_ask_secret(const char *question, bool *ret_too_long);

#endif
