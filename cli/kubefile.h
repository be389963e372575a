/*
 * The user's kubeconfig: which file, and how an entry comes into it without anything else being lost (CL-37
 * to CL-43). One thread; blocking.
 */
#ifndef CLI_KUBEFILE_H
#define CLI_KUBEFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

struct buffer;

/* Cluster, user and context of one name. */
struct kube_entry {
    const char *name;
    const json_t *cluster; /* what stands under `cluster` */
    const json_t *user;    /* what stands under `user` */
    bool use;              /* make it the current context; an empty one is set anyway */
};

/* A whole kubeconfig of the one entry, as text. */
void kubefile_write(const struct kube_entry *entry, struct buffer *out);

/*
 * Appends `text`, a kubeconfig or nothing, with the entry in it: in place of entries of its name, else behind
 * the others. Everything else stays, unknown members and the style of each text too; comments are lost. False
 * with a message.
 */
bool kubefile_merged(const char *text, size_t len, const struct kube_entry *entry, struct buffer *out,
                     struct buffer *fault);

/*
 * The file that the entry belongs into: `path` when it is not NULL; else of KUBECONFIG the one that has an
 * entry of this name, the first that exists, or the last; else ~/.kube/config. The caller frees it.
 * *ret_hidden is set when an earlier file of the list has an entry of this name, too.
 */
char *kubefile_target(const char *path, const char *name, bool *ret_hidden);

/*
 * Merges the entry into the file, under the lock that kubectl takes too: links are followed, the old file is
 * kept beside it
 * (.before-shootctl), its mode stays (0600 for a new one), and the new one takes its place at once. False
 * with a message.
 */
bool kubefile_merge(const char *path, const struct kube_entry *entry, struct buffer *fault);

/* The cluster's part of a kubeconfig of the server, taken from its current context. NULL when it has none.
 * The caller owns it. */
json_t *kubefile_cluster(const char *text, size_t len);

#endif
