/* Documents of users: YAML or JSON from files, directories and standard input. One thread; blocking. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "base/json.h"

/* A document, and its position for messages. */
struct document {
    char *source;
    json_t *value; /* the document, an object */
};

struct input_documents {
    struct document *items;
    size_t count;
};

/*
 * Reads a file, all *.yaml, *.yml and *.json files of a directory in the order of their names, or standard
 * input ("-"). Returns END_OK, or reports the fault and its position and returns an exit code. The caller
 * always frees `ret` with documents_done.
 */
int documents_read(const char *path, struct input_documents *ret);
void documents_done(struct input_documents *documents);

/*
 * Makes the body of a PUT or POST from a document: name, labels, description, deletion_protection and spec.
 * Members that only the server sets, which `get -o yaml` prints, are left out. After a fault, reports it and
 * returns NULL. The caller owns the body. *ret_project is the project that the document names, borrowed from
 * the document, or NULL.
 */
json_t *document_body(const struct document *document, const char **ret_project);

struct cli;
/*
 * Returns the project of a document, borrowed: `named` if the document names one, otherwise the current
 * project. When --project names another project, or no project is known, reports this fault, sets the exit
 * code, and returns NULL.
 */
const char *document_project(struct cli *cli, const char *source, const char *named, int *ret_code);

#endif
