/* Documents on standard output: JSON, YAML, names. One thread. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "cli/shootctl.h"

/* A list of documents on its way out: collected until output_end, or, as lines, printed at once. */
struct output {
    struct cli *cli;
    enum output_form form;
    struct buffer text;
    size_t count;
};

void output_begin(struct output *output, struct cli *cli);
/* One of the list, lent; `name` is what -o name prints. Not for tables. END_OK, or an exit code after saying
 * why. */
int output_add(struct output *output, const json_t *document, const char *name);
/* Prints what was collected, an empty list as []; frees. */
int output_end(struct output *output);
/* Frees without printing: after a failure nothing stands half on standard output. */
void output_drop(struct output *output);

/* One document by itself, in the form of -o, which is no table. */
int output_one(struct cli *cli, const json_t *document, const char *name);
/* A value within a line: compact JSON, "null" without a value. The caller frees it. */
char *output_text(const json_t *value);
/* Whether -o asks for documents, not for a table. */
bool output_is_document(const struct cli *cli);
/* Whether -o has a form for what goes on until Ctrl-C, as `flag` asks for: false after saying that it has
 * none. */
bool output_may_be_endless(const struct cli *cli, const char *flag);

#endif
