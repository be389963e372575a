/* Documents of users: YAML or JSON from files, directories and standard input. One thread; blocking. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "base/json.h"

/* A document and its position, for messages. */
struct document {
    char *source;
    json_t *value; /* an object */
};

struct documents {
    struct document *items;
    size_t count;
};

/*
 * Reads a file, all *.yaml, *.yml and *.json of a directory in the order of their names, or standard input
 * ("-"). END_OK, or an exit code after reporting the fault and its position. The caller frees `ret` with
 * documents_done in any case.
 */
int documents_read(const char *path, struct documents *ret);
void documents_done(struct documents *documents);

/*
 * The body of a PUT or POST made from a document: name, labels, description, deletion_protection and spec.
 * Members that only the server sets, as `get -o yaml` prints them, are left out. NULL after reporting a
 * fault; the caller owns the body. *ret_project is the project that the document names, lent from the
 * document, or NULL.
 */
json_t *document_body(const struct document *document, const char **ret_project);

struct cli;
/*
 * The project of a document: `named` when the document names one, else the project in force. Lent. NULL with
 * the exit code after reporting the reason: --project names another project, or no project is known.
 */
const char *document_project(struct cli *cli, const char *source, const char *named, int *ret_code);

#endif
