/*
 * Renders the model's structs as API clients see them: these functions make JSON text. Functions with a
 * buffer append to it, and separate an object from the object before it with a comma, so that they can write
 * the items of an array. The functions are pure, so any thread that owns the struct may call them; usually
 * this is the loop thread. The caller owns the result.
 */
#ifndef VIEW_RENDER_H
#define VIEW_RENDER_H

#include "base/buffer.h"
#include "model/api_token.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/issues.h"
#include "model/operation.h"
#include "model/webhook.h"
#include "view/view.h"

/* Returns the whole cluster; `op` is its open or last operation, or NULL. */
char *render_cluster(const struct cluster *c, const struct operation *op, const struct trouble *trouble);
/* Returns the short form, for tables of clusters: each of its members is also in the whole cluster, at the
 * same place and with the same value. */
char *render_cluster_brief(const struct cluster *c, const struct operation *op,
                           const struct trouble *trouble);
/* Renders an operation with its messages, which are left out of the operation inside a cluster. */
void render_operation(struct buffer *out, const struct operation *op);
/* Renders a webhook without its secret. */
char *render_subscription(const struct subscription *s);
void render_subscription_etag(const struct subscription *s, char etag[static ETAG_BYTES]);
/* The beginning of the ETag that If-Match compares. */
void render_subscription_version(const struct subscription *s, char version[static ETAG_BYTES]);
/* With `with_snippet`, the result includes the beginning of the receiver's answer. */
void render_delivery(struct buffer *out, const struct delivery *d, bool with_snippet);
/* Returns a tree, because the version of a token is made of a part of its members, and a page of tokens is
 * made of trees (list_page_add). */
json_t *render_api_token(const struct api_token *t);
char *render_api_token_text(const struct api_token *t);
/* The quoted ETag of a token: "<id>-<digest>-<digest of the text>". If-Match compares only the id and the
 * first digest. This digest leaves out the last use and the end of the old secret, because both change
 * without a caller's write. `text`: the body of the answer. */
void render_api_token_etag(const struct api_token *t, const char *text, char etag[static ETAG_BYTES]);
/* The beginning of the ETag that If-Match compares. */
void render_api_token_version(const struct api_token *t, char version[static ETAG_BYTES]);
/* {"id", "type", "timestamp", "data": ...}: the exact bytes that a webhook sends. */
char *render_event_body(const char *id, enum event_type type, wall_us at, const json_t *data);
/* Appends an item of GET /v1/events: the body with its number. */
void render_event_item(struct buffer *out, const struct event *e);
/* Writes an event in the form of a block of a text/event-stream, with the empty line at its end (AO-19). */
void render_event_stream(struct buffer *out, const struct event *e);

/*
 * These functions make blobs for the view. The ETag of a blob is made of id and version. The subject is
 * struct cluster_facts for a cluster, a copy without its body for an operation, and a copy for any other
 * resource.
 */
struct view_blob *render_cluster_blob(const struct cluster *c, const struct operation *op,
                                      const struct issue_world *world);
struct view_blob *render_operation_blob(const struct operation *op);
struct view_blob *render_subscription_blob(const struct subscription *s);
struct view_blob *render_api_token_blob(const struct api_token *t);
/* Takes over `text`, the rendered catalog; the subject is a copy of `catalog`. */
struct view_blob *render_catalog_blob(const char *etag, char *text, const json_t *catalog,
                                      wall_us fetched_at);

/*
 * The quoted ETag of a cluster: "<id>-<generation>-<digest of everything else that is shown>". The digest
 * does not include observed_at, because every read of Cleura changes it, and the ETag stands for the state,
 * not for its age. If-None-Match compares the whole ETag. If-Match compares only id and generation, because
 * it only has to detect a change by another caller. Therefore a poll or new progress between a client's read
 * and its write causes no 412.
 */
void render_cluster_etag(const struct cluster *c, const struct operation *op, const struct trouble *trouble,
                         char etag[static ETAG_BYTES]);
void render_operation_etag(const struct operation *op, char etag[static ETAG_BYTES]);
/* The beginning of the ETag that If-Match compares. */
void render_cluster_version(const struct cluster *c, char version[static ETAG_BYTES]);

#endif
