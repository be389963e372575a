/*
 * A cluster. Its struct and those of operations, events, webhooks, API tokens, accounts and projects are
 * stored. Stored structs are plain structs without logic. Each instance has one owner and is passed to
 * another thread as a whole. A JSON member is never changed after it was set; it is replaced. x_copy shares
 * nothing with its source, not even JSON, because several threads must not use jansson's reference counts.
 *
 * x_to_json and x_from_json convert a struct to and from its stored form. The form is complete, only gains
 * members over versions, and contains no secrets in clear.
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

/* Size of "project/name" with its NUL; Cleura's names are far shorter. */
enum { CLUSTER_KEY_BYTES = 256 };

struct cluster {
    char id[40];
    char *project;
    char *name;
    bool managed;
    json_t *labels;    /* object of strings, never NULL */
    char *description; /* or NULL */
    bool deletion_protection;
    struct json_doc *spec; /* as the caller sent it; NULL while unmanaged */
    struct shoot *shoot;   /* last observation; NULL before the first one */
    wall_us observed_at;   /* 0: never */
    mono_us heard_at;      /* the same moment on the monotonic clock, which gives the age. Not stored */
    bool stale;

    enum phase phase;
    enum health health;
    bool settling;
    char *message;

    /* The guard against an outdated Succeeded (GA-6): set when Cleura accepted a write. */
    wall_us guard_since;   /* 0: no guard */
    wall_us guard_seen_at; /* last_update_time that was visible when the write was accepted */
    wall_us guard_until;   /* end of the guard, since a write that changes nothing starts no run */
    json_t *drift;         /* array of {path, wanted, found} while managed and no operation runs; or NULL */
    json_t *expiry_announced; /* {"kubernetes 1.33.6": days}: the last warning given for a version; or NULL */
    wall_us expires_at;       /* when the first version in use expires, 0: none known; derived from shoot and
                                 catalog, so not stored */
    bool slept;               /* the cluster was last reported as hibernated, not as ready or degraded */
    bool wants_hibernated;    /* the state last requested, to distinguish hibernating from updating */

    char operation_id[40]; /* the open operation, "" when there is none */
    int64_t version;       /* grows with every stored change: ETag and event order */
    int64_t generation;    /* grows with every change by a caller: the value that If-Match protects */
    wall_us created_at;
    wall_us updated_at;
    char *api_server_url; /* from a kubeconfig, when Cleura's API does not report it (v2); or NULL */
    wall_us absent_since; /* time from which Cleura has not shown the shoot, although nobody deleted it; 0: it
                             is shown */
    wall_us departed_at;  /* when the record ended; it is kept in case the uid returns; 0: not ended */
    char *
        retrying_announced; /* the error codes that the last cluster.retrying of this run reported; or NULL */
    bool upstream_exists;   /* an answer or a read-back proved that the shoot was made */
    bool deleted;           /* the row is to be removed; its events stay */
};

struct cluster *cluster_new(void);
void cluster_free(struct cluster *c);
struct cluster *cluster_copy(const struct cluster *c);
/* Sets the time of observation to now: Cleura has just reported the cluster. */
void cluster_observed_now(struct cluster *c, const struct env *env);
/* Sets the age of an observation from before the start, made at observed_at, by the current wall clock. Also
 * called when there was no observation. */
void cluster_observed_before(struct cluster *c, const struct env *env);
/* Frees the parsed trees of all documents. Values that were read from these trees are then invalid. */
void cluster_rest(struct cluster *c);
DEFINE_CLEANUP(cluster_freep, struct cluster *, cluster_free)
#define CLEANUP_CLUSTER CLEANUP(cluster_freep)
json_t *cluster_to_json(const struct cluster *c);
/* NULL when the document is not a stored cluster. */
struct cluster *cluster_from_json(const json_t *doc);

/*
 * As cluster_from_json, but faster. `text` must be the exact output of json_text(cluster_to_json(...)). The
 * documents are copied as text and not parsed. Returns NULL also for text of an earlier version, which
 * cluster_from_json reads.
 */
struct cluster *cluster_from_text(const char *text, size_t len);

#endif
