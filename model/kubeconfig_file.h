/*
 * The content of a kubeconfig: the parts of its current context. Pure; any thread. The text and all parts are
 * secrets, except the server and its certificate authority.
 */
#ifndef MODEL_KUBECONFIG_FILE_H
#define MODEL_KUBECONFIG_FILE_H

#include "base/attrs.h"

/* The parts as strings, unchanged from the file (data members are base64); NULL: the part is absent. */
struct kubeconfig_parts {
    char *context;
    char *server;
    char *authority_data;
    char *certificate_data;
    char *key_data;
    char *token;
};

/* NULL when the text is no YAML mapping. The caller frees the result. */
struct kubeconfig_parts *kubeconfig_parse(const char *text);
/* Overwrites the secrets and frees the parts. NULL is allowed. */
void kubeconfig_parts_free(struct kubeconfig_parts *p);
DEFINE_CLEANUP(kubeconfig_parts_cleanup, struct kubeconfig_parts *, kubeconfig_parts_free)
#define CLEANUP_KUBECONFIG CLEANUP(kubeconfig_parts_cleanup)

/* Decodes a data member to its PEM text; NULL when it is not base64. The text is a secret; the caller frees
 * it. */
char *kubeconfig_pem(const char *data);

#endif
