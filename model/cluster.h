/*
 * A cluster. Its struct and the structs of operations, events, webhooks, API tokens, accounts and projects
 * are stored. Stored structs are plain structs without logic. Each instance has one owner and is passed to
 * another thread as a whole. A JSON member is never changed after it was set; it is replaced. x_copy shares
 * nothing with its source, not even JSON, because several threads must not use jansson's reference counts.
 *
 * x_to_json and x_from_json convert a struct to and from its stored form. The stored form is complete, and
 * contains no secrets in clear text. Later versions only add members to it.
 */
#ifndef MODEL_CLUSTER_H
#define MODEL_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/json.h"
#include "base/json_doc.h"
#include "model/names.h"
#include "model/shoot.h"

/* The size of "project/name" with its NUL. Names at Cleura are far shorter. */
enum { CLUSTER_KEY_BYTES = 256 };

struct cluster {
    char id[40];
    char *project;
    char *name;
    bool managed;
    json_t *labels;    /* object of strings, never NULL */
    char *description; /* or NULL */
    bool deletion_protection;
    struct json_doc *spec; /* the spec as the caller sent it; NULL while the cluster is not managed */
    struct shoot *shoot;   /* the last observation; NULL before the first observation */
    wall_us observed_at;   /* 0: never */
    mono_us heard_at; /* the same time on the monotonic clock, from which the age of the data is computed; not
                       * stored */
    bool stale;

    enum phase phase;
    enum health health;
    wall_us trouble_since; /* when the present trouble began (cluster_note_trouble); 0: there is none */
    bool settling;
    char *message;

    /* The guard (model/decide.h): after Cleura accepted a write, an outdated Succeeded does not count (GA-6).
     */
    wall_us guard_since;   /* 0: no guard */
    wall_us guard_seen_at; /* the last_update_time that Cleura showed when the write was accepted */
    wall_us guard_until;   /* when the guard ends at the latest; without this limit the guard would never end
                            * after a write that starts no run */
    json_t *drift;         /* an array of {path, wanted, found} while the cluster is managed and no operation
                            * is open; or NULL */
    json_t *expiry_announced; /* {"kubernetes 1.33.6": days}: the last warning that was emitted for each
                               * version; or NULL */
    wall_us expires_at;       /* when the first version in use expires; 0: not known. Derived from shoot and
                               * catalog, so it is not stored */
    bool slept; /* of the phases hibernated, ready and degraded, the cluster was last in hibernated */
    bool wants_hibernated; /* whether the cluster is to be hibernated; it separates the phases hibernating,
                            * waking and updating */

    char operation_id[40]; /* the open operation, "" when there is none */
    int64_t version;       /* grows with every stored change; it is used in the ETag and as the order of
                            * events */
    int64_t generation;    /* grows with every change by a caller; If-Match compares this number */
    wall_us created_at;
    wall_us updated_at;
    char *api_server_url; /* the URL of the API server, read from a kubeconfig, because Cleura's API v2 does
                           * not report it; or NULL */
    wall_us absent_since; /* when the shoot was first missing at Cleura, although no deletion was seen; 0:
                           * Cleura shows the shoot */
    wall_us departed_at;  /* when the record ended (it is kept, because the uid may appear again); 0: it has
                           * not ended */
    char *retrying_announced; /* the error codes in the last cluster.retrying event of this run
                               * (model/shoot.h); or NULL */
    bool upstream_exists;     /* an answer or a later read has shown that the shoot was made */
    bool deleted;             /* the row will be removed; its events stay */
};

struct cluster *cluster_new(void);
void cluster_free(struct cluster *c);
struct cluster *cluster_copy(const struct cluster *c);
/* Sets the time of observation to now: Cleura has just reported the cluster. */
void cluster_observed_now(struct cluster *c, const struct env *env);
/* Called when the cluster is added to memory: computes the age of its observation from observed_at and the
 * current wall clock. Also called when there was no observation. */
void cluster_observed_before(struct cluster *c, const struct env *env);
/*
 * Sets trouble_since; called after each change of phase and health. Trouble begins when the cluster is
 * failed, degraded, retrying or unhealthy. It ends when the cluster is ready and no longer settling, or
 * hibernated. Between the two the phase says little: Gardener reconciles every cluster each hour (GA-6), and
 * a retry may fail again.
 */
void cluster_note_trouble(struct cluster *c, wall_us now);
/* Frees the parsed trees of all documents. Values that were read from these trees are then invalid. */
void cluster_rest(struct cluster *c);
DEFINE_CLEANUP(cluster_freep, struct cluster *, cluster_free)
#define CLEANUP_CLUSTER CLEANUP(cluster_freep)
json_t *cluster_to_json(const struct cluster *c);
/* Returns NULL when the document is not a stored cluster. */
struct cluster *cluster_from_json(const json_t *doc);

/*
 * Does the same as cluster_from_json, but faster. `text` must be the exact output of
 * json_text(cluster_to_json(...)). The JSON documents of the cluster, such as the spec, are copied as text
 * and not parsed. For text of an earlier version the result is NULL, too; cluster_from_json can read it.
 */
struct cluster *cluster_from_text(const char *text, size_t len);

#endif
