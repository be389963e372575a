/*
 * The user's kubeconfig: finds the file and adds an entry without loss of other content. One thread;
 * blocking.
 */
#ifndef CLI_KUBEFILE_H
#define CLI_KUBEFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

struct buffer;

/* Whether the entry becomes the current context. */
enum kube_current { KUBE_CURRENT_IF_EMPTY, KUBE_CURRENT_ALWAYS, KUBE_CURRENT_NEVER };

/* A cluster, a user and a context with the same name. */
struct kube_entry {
    const char *name;
    const json_t *cluster; /* members of the value of `cluster` */
    const json_t *user;    /* members of the value of `user` */
    enum kube_current current;
};

/* Appends a whole kubeconfig with this entry only. */
void kubefile_write(const struct kube_entry *entry, struct buffer *out);

/*
 * Appends `text`, which is a kubeconfig or empty, together with the entry. If entries with this name exist,
 * shootctl's members in them are replaced, and the user's members stay (namespace, proxy-url, extensions).
 * Otherwise the entry is added at the end. Everything else stays, including unknown members and the style of
 * each scalar, but comments are lost. After a failure returns false with a message.
 */
bool kubefile_merged(const char *text, size_t len, const struct kube_entry *entry, struct buffer *out,
                     struct buffer *fault);

/* The files that an entry changes. */
struct kube_target {
    /* The file that --kubeconfig names. Without this flag, the file of KUBECONFIG that has an entry with this
     * name, otherwise its first file that exists, otherwise its last file. Without KUBECONFIG,
     * ~/.kube/config. */
    char *path;
    /* The file in which the current context is set, by kubectl's rule: the first file that sets a current
     * context, otherwise the first file that exists. */
    char *current;
    bool sets_none; /* no file sets a current context; false also when a file could not be read */
    bool hidden;    /* another file of KUBECONFIG has an entry with this name, too */
};
/* Finds the files. `path` is the value of the flag, or NULL. The caller frees `ret` with kube_target_done. */
void kubefile_target(const char *path, const char *name, struct kube_target *ret);
void kube_target_done(struct kube_target *target);
#define CLEANUP_KUBE_TARGET CLEANUP(kube_target_done)

/*
 * Merges the entry into its file, and sets the current context in `current`. During each change the function
 * holds the lock that kubectl uses, too. The function follows symbolic links, stores the old file as
 * FILE.before-shootctl, keeps mode (0600 for a new file), owner and group, and changes regular files only
 * (base/replace_file.h). After a
 * failure returns false with a message.
 */
bool kubefile_merge(const struct kube_target *target, const struct kube_entry *entry, struct buffer *fault);

/* Returns the cluster of the current context in a kubeconfig that the server sent; NULL when the kubeconfig
 * has no such cluster. The caller owns it. */
json_t *kubefile_cluster(const char *text, size_t len);

#endif
