/* glibc's assert() calls __assert_fail. This file defines that function, and the linker uses it in place of
 * glibc's. */
#include "base/assertion.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"

enum { ABOUT_BYTES = 160 };

static _Thread_local char about[ABOUT_BYTES];

void assertion_about(const char *kind, const char *name)
{
    if (name)
        (void)snprintf(about, sizeof(about), "%s %s", kind, name);
    else
        about[0] = '\0';
}

/* Writes the message without allocation and without locks. Used when a second assertion fails while the first
 * one is being logged. */
static void write_bare(void)
{
    static const char text[] = "an assertion failed while another one was logged\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)ignored;
}

_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
    static _Thread_local bool is_logging;
    if (is_logging) {
        write_bare();
        abort();
    }
    is_logging = true;
    char place[ABOUT_BYTES];
    (void)snprintf(place, sizeof(place), "%s:%u", file, line);
    log_error("assertion failed, the process is aborted", "expression", expression, "place", place,
              "function", function, "about", about[0] ? about : NULL);
    log_writer_flush(US_PER_S);
    abort();
}
