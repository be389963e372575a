/* Documents of people: YAML or JSON from files, directories and standard input. One thread; blocking. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "base/json.h"

/* A document and where it stands, for messages. */
struct document {
    char *source;
    json_t *value; /* an object */
};

struct documents {
    struct document *items;
    size_t count;
};

/*
 * Reads a file, every *.yaml, *.yml and *.json of a directory in the order of their names, or standard input
 * ("-"). END_OK, or an exit code after saying what is wrong and where. Freed with documents_done either way.
 */
int documents_read(const char *path, struct documents *ret);
void documents_done(struct documents *documents);

/*
 * The body of a PUT or POST that a document means: name, labels, description, deletion_protection and spec.
 * Members that only the server says, as `get -o yaml` prints them, are left out. NULL after saying what is
 * wrong; the caller owns it. *ret_project is the project that it names, lent from the document, or NULL.
 */
json_t *document_body(const struct document *document, const char **ret_project);

struct cli;
/*
 * The project that a document is for: `named`, which it names itself, else the one in force. NULL with the
 * exit code after saying why: --project is another one, or none is known. Lent.
 */
const char *document_project(struct cli *cli, const char *source, const char *named, int *ret_code);

#endif
