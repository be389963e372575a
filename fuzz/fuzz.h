/*
 * The declarations that the fuzz targets share. Each target is a file with LLVMFuzzerTestOneInput. `make
 * fuzz` links the target with libFuzzer. The programs of tests/unit/fuzz_replay.h give the target another
 * name and feed it the files of fuzz/corpus and fuzz/found. A target ends the process when a promise is
 * broken.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* The targets, and their folders in fuzz/corpus and fuzz/found. */
#define FUZZ_TARGETS(X) \
    X(answer)           \
    X(config)           \
    X(cursor)           \
    X(json)             \
    X(jwks)             \
    X(jwt)              \
    X(kubeconfig)       \
    X(label)            \
    X(pem)              \
    X(query)            \
    X(request)          \
    X(row)              \
    X(spec)             \
    X(webhook)

/* Targets of the command line, in a separate program. */
#define FUZZ_CLI_TARGETS(X) \
    X(cli_answer)           \
    X(cli_kubefile)         \
    X(cli_sse)              \
    X(cli_yaml)

#define FUZZ_CHECK(condition)                                                                    \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                             \
        }                                                                                        \
    } while (0)

/* 2026-09-21, in microseconds: targets use no clock, so an input always has the same effect. */
#define FUZZ_NOW INT64_C(1790000000000000)

/* Copies the bytes and adds a NUL; the caller frees the copy. */
char *fuzz_text(const uint8_t *bytes, size_t len);
/*
 * Removes the first line, whose words choose the check for the remaining input. Returns a copy, which the
 * caller frees.
 */
char *fuzz_line(const uint8_t **bytes, size_t *len);
/* Returns the next word of a line from fuzz_line; "" after the last one. */
const char *fuzz_word(char **line);
/* Ends the process when the document cannot be stored and read back unchanged. */
void fuzz_check_stored(const json_t *doc);
/* Switches logging off. */
void fuzz_be_silent(void);

#endif
