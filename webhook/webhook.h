/*
 * Webhooks: Standard Webhooks 1.0 deliveries from the store's outbox (WH-1 to WH-22). In the model a webhook
 * is a struct subscription. All functions are for the loop thread, unless their comment names another
 * thread. Callers pass webhooks and committed deliveries to the engine. The engine sends deliveries on a
 * separate transport, so a slow receiver never delays calls to Cleura, and stores the result of every
 * attempt. A delivery whose final result is not stored is sent again after a restart, with the same id and
 * the same bytes. Therefore each delivery is sent at least once.
 */
#ifndef WEBHOOK_WEBHOOK_H
#define WEBHOOK_WEBHOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/list.h"
#include "base/seal.h"
#include "config/config.h"
#include "loop/loop.h"
#include "loop/transport.h"
#include "model/problem.h"
#include "model/webhook.h"
#include "storage/storage.h"

struct webhook_engine;

/* The engine's transport must be made with this number of connections (max_connections). */
enum { WEBHOOK_CONNECTIONS = 144 };

/*
 * Tells that a webhook has failed for good. The engine sends nothing to this webhook until its owner has
 * decided: webhook_engine_set with a webhook that is disabled or has another target_version, or
 * webhook_engine_remove.
 */
struct webhook_report {
    struct list link;   /* for the owner */
    int64_t version;    /* the version of the webhook that has failed */
    const char *reason; /* static text */
    /* The failed delivery. The owner stores it together with its decision: if the process is killed before,
     * the next process sends the delivery again, and reports again. */
    struct delivery delivery;
};

struct webhook_options {
    struct loop *loop;
    struct transport *transport; /* the transport, whose address policy must be webhook_address_allowed */
    struct storage *storage;
    const struct config *config;
    const struct seal_key *key;
    /* Called when the engine has given a webhook up; takes over the report (free). Must not call the engine
     * before it returns. */
    void (*given_up)(void *ctx, struct webhook_report *report);
    /* Called when what is shown of a stored webhook has changed. Must not call the engine. */
    void (*shown)(void *ctx, const struct subscription *s);
    void *ctx;
};

struct webhook_engine *webhook_engine_new(const struct webhook_options *options);
/* Sets a new configuration, which applies from the next attempt. The old configuration may be freed after
 * this call. */
void webhook_engine_configure(struct webhook_engine *e, const struct config *config);
/* Cancels running attempts, which are not counted, and frees the engine. NULL is allowed. */
void webhook_engine_free(struct webhook_engine *e);

/*
 * Adds or changes a webhook; the engine copies it, and shows it. Its states come in the order of their
 * versions. What the attempts tell about the receiver is taken from `s` only for a webhook that the engine
 * does not know; afterwards the engine keeps it, also from one state to the next. When the
 * webhook is disabled, its pending deliveries fail ("disabled"), and a running attempt is not counted.
 */
void webhook_engine_set(struct webhook_engine *e, const struct subscription *s);
/* Removes a webhook: its running and waiting deliveries are dropped. */
void webhook_engine_remove(struct webhook_engine *e, const char *id);
/*
 * Adds a committed, pending delivery. `body` is the exact text that is sent; it is copied. NULL: the engine
 * reads it from the store. The call is ignored when the delivery is final or already known, or when its
 * webhook does not exist.
 *
 * When the body of an answer exceeds 16 KiB, its status decides; without a status the attempt fails as
 * "answer_too_large".
 */
void webhook_engine_enqueue(struct webhook_engine *e, const struct delivery *d, const char *body);
/* Shows at once all that has changed. */
void webhook_engine_show(struct webhook_engine *e);
/* Returns what the attempts tell about the receiver of a webhook; zeros when the engine has no such
 * webhook. */
struct webhook_standing webhook_engine_standing(struct webhook_engine *e, const char *id);
/* Returns the number of pending deliveries of a webhook, those in progress included; 0 when the engine has no
 * such webhook. */
size_t webhook_engine_pending(struct webhook_engine *e, const char *id);
/*
 * Sets waits_for and next_attempt_at of a delivery that was read from the store or has just been made. The
 * stored time is the one that was planned after the last attempt; the delivery may wait longer, behind other
 * deliveries of a failing receiver, or because the receiver requested a pause. A pending delivery that the
 * engine does not know comes to it soon, or its end is being stored.
 */
void webhook_engine_look_up(struct webhook_engine *e, struct delivery *d);
/* Makes a waiting delivery due now, and ends the pause that the receiver requested. A delivery that is being
 * sent is not changed. Returns false when the engine has no such waiting delivery. */
bool webhook_engine_expedite(struct webhook_engine *e, const char *delivery_id);

/*
 * The address policy (WH-19, WH-20) for struct transport_options; ctx is the struct config. The policy allows
 * public addresses, and addresses in a network (CIDR) of webhooks.allow. A `host` that webhooks.allow names
 * may also have private, shared and loopback addresses, but never link-local (metadata services), multicast,
 * unspecified or reserved addresses. Any thread.
 */
bool webhook_address_allowed(void *ctx, const char *host, const struct sockaddr *address);
/*
 * Checks the URL of a webhook (WH-18): scheme, userinfo, fragment, port, length, literal addresses. Any port
 * is allowed for a host that webhooks.allow names, or for a literal address that webhooks.allow contains.
 * Adds every fault, at "#/url", to *faults. Any thread.
 */
void webhook_check_url(const struct config *config, const char *url, struct problem **faults);
/* Whether an entry of webhooks.allow is a network, an address or a host name. Any thread. */
bool webhook_allow_entry_is_valid(const char *entry);
/* Whether both URLs have the same scheme, host and port. Returns false when one of them is not a URL. Any
 * thread. */
bool webhook_same_origin(const char *url, const char *other);

/* Returns the context with which a webhook's secrets are sealed. The caller frees it. */
char *webhook_seal_context(const char *webhook_id);
/*
 * Makes a new sealed key for the webhook. *ret_secret is the "whsec_..." (24 random bytes, WH-4) that is
 * shown once; the caller frees it with mem_free_secret. *ret_secret is NULL for v1a, whose secret is never
 * shown, because receivers need only ret_key->public_key. For an unknown scheme no key is made, and the
 * result is false.
 */
bool webhook_key_new(const struct env *env, const struct seal_key *key, const char *webhook_id,
                     enum signature_scheme scheme, struct signing_key *ret_key, char **ret_secret);
/* Makes a key from the owner's secret: "whsec_" and 24 to 64 bytes in base64 (v1). Returns false when the
 * text is not such a secret. */
bool webhook_key_given(const struct env *env, const struct seal_key *key, const char *webhook_id,
                       const char *secret, struct signing_key *ret_key);
/* Whether the seal key opens everything needed to send: the webhook's current key and its header fields. */
bool webhook_secrets_open(const struct subscription *s, const struct seal_key *key);
/* Seals all values again. Older keys that cannot be opened are removed. When webhook_secrets_open is false,
 * changes nothing and returns false. */
bool webhook_seal_again(struct subscription *s, const struct seal_change *change);
/*
 * Returns the signature of id.timestamp.body (WH-3): "v1,..." for a "whsec_..." (WH-4), "v1a,..." for a
 * "whsk_..." (WH-5). Returns NULL when the secret has neither of these two forms, or is NULL. The caller
 * frees it.
 */
char *webhook_sign(const char *secret, const char *id, int64_t timestamp_s, const char *body,
                   size_t body_len);
/*
 * Returns the value of `webhook-signature` at `now`: one signature for each valid key, newest first (WH-6).
 * Keys that cannot be opened are left out. NULL when no key can be opened. The caller frees it.
 */
char *webhook_sign_all(const struct subscription *s, const struct seal_key *key, const char *id, wall_us now,
                       const char *body, size_t body_len);

/*
 * Checks a header field that the owner adds to deliveries. The name is a token of 1..64 bytes. The name must
 * not be that of a field of the connection, of the message or of the signature. The value has 1..1024
 * printable bytes. Adds every fault, at `pointer`; the faults contain neither the name nor the value. Any
 * thread.
 */
void webhook_check_header(const char *name, const char *value, const char *pointer, struct problem **faults);
/* Seals the field for a webhook. When webhook_check_header finds a fault, nothing is made and the result is
 * false. */
bool webhook_header_seal(const struct env *env, const struct seal_key *key, const char *webhook_id,
                         const char *name, const char *value, struct webhook_header *ret);
/* Returns the context with which the field is sealed. The caller frees it. */
char *webhook_header_context(const char *webhook_id, const char *name);
/* Opens the value; NULL when it cannot be opened. The caller frees it with mem_free_secret. */
char *webhook_header_open(const struct seal_key *key, const char *webhook_id,
                          const struct webhook_header *header);

/* Appends the metric families shootd_webhook_*. Ages are computed for the time `now`. Any thread. */
void webhook_metrics(struct buffer *out, wall_us now);

#endif
