/* Documents on standard output: JSON, YAML, names. One thread. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli/shootctl.h"

/* A list of documents for standard output. The documents are collected until output_end, except JSON lines,
 * which are printed at once. */
struct output {
    struct cli *cli;
    enum output_form form;
    struct buffer text;
    size_t count;
};

void output_begin(struct output *output, struct cli *cli);
/* Adds a document, borrowed; with -o name, `name` is printed. Not used for tables. Returns END_OK, or reports
 * the reason and returns an exit code. */
int output_add(struct output *output, const json_t *document, const char *name);
/* Prints the collected documents, an empty list as [], and frees them. */
int output_end(struct output *output);
/* Frees the documents without printing, so that a failure leaves no half list on standard output. */
void output_drop(struct output *output);
/* Ends the output of a command with several parts, of which some may have failed; `code` is its exit code.
 * Prints the collected documents; without any, prints [] only when nothing failed. */
void output_finish(struct output *output, int code);

/* Prints one document in the form of -o, which must not be a table. */
int output_one(struct cli *cli, const json_t *document, const char *name);
/* Returns a value as compact JSON on one line; "null" for a NULL pointer. The caller frees it. */
char *output_text(const json_t *value);
/* Whether -o asks for documents instead of a table. */
bool output_is_document(const struct cli *cli);
/* Whether the form that -o selects is possible with `flag`, which requests output that continues until
 * Ctrl-C. If not, reports the fault and returns false. */
bool output_may_be_endless(const struct cli *cli, const char *flag);

#endif
