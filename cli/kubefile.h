/*
 * The user's kubeconfig: which file, and how an entry comes into it without anything else being lost. One
 * thread; blocking.
 */
#ifndef CLI_KUBEFILE_H
#define CLI_KUBEFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

struct buffer;

/* Whether the entry becomes the current context. */
enum kube_current { KUBE_CURRENT_IF_EMPTY, KUBE_CURRENT_ALWAYS, KUBE_CURRENT_NEVER };

/* Cluster, user and context of one name. */
struct kube_entry {
    const char *name;
    const json_t *cluster; /* members of what stands under `cluster` */
    const json_t *user;    /* members of what stands under `user` */
    enum kube_current current;
};

/* A whole kubeconfig of the one entry, as text. */
void kubefile_write(const struct kube_entry *entry, struct buffer *out);

/*
 * Appends `text`, a kubeconfig or nothing, with the entry in it: in entries of its name our members are
 * replaced and those of the user stay (namespace, proxy-url, extensions); else it comes behind the others.
 * Everything else stays, unknown members and the style of each text too; comments are lost. False with a
 * message.
 */
bool kubefile_merged(const char *text, size_t len, const struct kube_entry *entry, struct buffer *out,
                     struct buffer *fault);

/* Where an entry belongs. */
struct kube_target {
    /* The one named by a flag; else of KUBECONFIG the one that has an entry of this name, the first that
     * exists, or the last; else ~/.kube/config. */
    char *path;
    /* Where the current context is set: in the first file that sets one, else in the first that exists, as
     * kubectl does. */
    char *current;
    bool sets_none; /* no file sets a current context */
    bool hidden;    /* another file of KUBECONFIG has an entry of this name, too */
};
/* `path` is that of the flag, or NULL. Freed with kube_target_done. */
void kubefile_target(const char *path, const char *name, struct kube_target *ret);
void kube_target_done(struct kube_target *target);
#define CLEANUP_KUBE_TARGET CLEANUP(kube_target_done)

/*
 * Merges the entry into its file, and makes it the current context in the file that counts for that, each
 * under the lock that kubectl takes too: links are followed, the old file is kept beside it
 * (.before-shootctl), its mode stays (0600 for a new one), and the new one takes its place at once. False
 * with a message.
 */
bool kubefile_merge(const struct kube_target *target, const struct kube_entry *entry, struct buffer *fault);

/* The cluster's part of a kubeconfig of the server, taken from its current context. NULL when it has none.
 * The caller owns it. */
json_t *kubefile_cluster(const char *text, size_t len);

#endif
