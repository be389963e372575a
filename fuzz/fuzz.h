/*
 * The declarations that the fuzz targets share. Each target is a file with LLVMFuzzerTestOneInput: `make
 * fuzz` links it with libFuzzer, and tests/unit/fuzz_replay.h, where each has a name of its own, feeds it the
 * files of fuzz/corpus and fuzz/found. A target ends the process when a promise is broken.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Each target, and its folders in fuzz/corpus and fuzz/found. */
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

/* Those of the command line, in a program of their own. */
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

/* 2026-09-21, in microseconds: targets have no clock, so that inputs do the same for ever. */
#define FUZZ_NOW INT64_C(1790000000000000)

/* A copy with a NUL behind it; the caller frees it. */
char *fuzz_text(const uint8_t *bytes, size_t len);
/*
 * Takes the first line off: inputs begin with the words that choose what is done with the rest. A copy, the
 * caller frees it.
 */
char *fuzz_line(const uint8_t **bytes, size_t *len);
/* The next word of a line that fuzz_line gave; "" after the last one. */
const char *fuzz_word(char **line);
/* Ends the process when the document cannot be stored and read back as it is. */
void fuzz_check_stored(const json_t *doc);
/* Keeps logs out of the way. */
void fuzz_be_silent(void);

#endif
