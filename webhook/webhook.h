/*
 * Webhooks: Standard Webhooks 1.0 deliveries from the store's outbox (WH-1 to WH-22). The model keeps a
 * webhook as a struct subscription. Everything here lives on the loop thread. The engine learns of webhooks
 * and of committed deliveries, sends them on a transport of its own (a dead receiver never slows Cleura
 * calls), and stores the result of every attempt. A delivery that it has not stored as final is sent again
 * after a restart: at least once, same id, same bytes.
 */
#ifndef WEBHOOK_WEBHOOK_H
#define WEBHOOK_WEBHOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/seal.h"
#include "config/config.h"
#include "loop/loop.h"
#include "loop/transport.h"
#include "model/cluster.h"
#include "model/problem.h"
#include "model/webhook.h"
#include "storage/storage.h"

struct webhook_engine;

/* The number of connections that the engine's transport has to be made with (max_connections). */
enum { WEBHOOK_CONNECTIONS = 144 };

struct webhook_options {
    struct loop *loop;
    struct transport *transport; /* made with webhook_address_allowed as its address policy */
    struct storage *storage;
    const struct config *config;
    const struct seal_key *key;
    /*
     * A webhook changed by itself (disabled after 410): the owner keeps and shows it. Takes the copy.
     * Must not come back to the engine before it returns.
     */
    void (*subscription_changed)(void *ctx, struct subscription *s);
    void *ctx;
};

struct webhook_engine *webhook_engine_new(const struct webhook_options *options);
/* A new configuration counts from the next attempt on; the one before may be freed then. */
void webhook_engine_configure(struct webhook_engine *e, const struct config *config);
/* Cancels running attempts; they count as not made. NULL is allowed. */
void webhook_engine_free(struct webhook_engine *e);

/*
 * A webhook exists or changed; the engine copies it. One with a lower version than the engine's is
 * ignored. Disabled: its pending deliveries fail ("disabled"), a running attempt counts as not made.
 */
void webhook_engine_set(struct webhook_engine *e, const struct subscription *s);
/* It is gone: running and waiting deliveries are dropped. */
void webhook_engine_remove(struct webhook_engine *e, const char *id);
/*
 * A committed, pending delivery. `body` is the event's exact text, copied; NULL: read it from the store.
 * Ignored when it is final, known already, or of a webhook that does not exist.
 *
 * An answer whose body passes 16 KiB fails as "answer_too_large" unless the transport reports its status.
 */
void webhook_engine_enqueue(struct webhook_engine *e, const struct delivery *d, const char *body);
/*
 * Somebody wants a waiting delivery sent now: it is due, and that the receiver asked to be left alone is
 * forgotten. One that is under way stays as it is. False: it does not wait here.
 */
bool webhook_engine_expedite(struct webhook_engine *e, const char *delivery_id);

/*
 * Address policy (WH-19, WH-20) for struct transport_options; ctx is the struct config. Public addresses are
 * fine, and those in a network (CIDR) of webhooks.allow. A `host` that webhooks.allow names may also have
 * private, shared and loopback addresses; never link-local (the metadata services), multicast, unspecified
 * and reserved ones. Any thread.
 */
bool webhook_address_allowed(void *ctx, const char *host, const struct sockaddr *address);
/*
 * Checks the URL of a webhook (WH-18): scheme, userinfo, fragment, port, length, literal addresses. Any port
 * is fine for a host that webhooks.allow names or, when it is a literal address, contains. Adds every fault,
 * at
 * "#/url", to *faults. Any thread.
 */
void webhook_check_url(const struct config *config, const char *url, struct problem **faults);
/* Whether an entry of webhooks.allow is a network, an address or a host name. Any thread. */
bool webhook_allow_entry_is_valid(const char *entry);
/* Whether both have the same scheme, host and port. False when one of them is no URL. Any thread. */
bool webhook_same_origin(const char *url, const char *other);

/* The context under which a webhook's secrets are sealed. The caller frees it. */
char *webhook_seal_context(const char *webhook_id);
/*
 * A new key of the webhook, sealed. *ret_secret: the "whsec_..." (24 random bytes, WH-4) to be shown
 * once (the caller frees it with mem_free_secret); NULL for v1a, whose secret never leaves:
 * ret_key->public_key is what receivers need. False, and nothing made: there is no such scheme.
 */
bool webhook_key_new(const struct env *env, const struct seal_key *key, const char *webhook_id,
                     enum signature_scheme scheme, struct signing_key *ret_key, char **ret_secret);
/* A key from a secret of the owner's: "whsec_" and 24 to 64 bytes in base64 (v1). False: it is not one. */
bool webhook_key_given(const struct env *env, const struct seal_key *key, const char *webhook_id,
                       const char *secret, struct signing_key *ret_key);
/*
 * Whether the key opens what is needed to send: the current key of the webhook and its header fields.
 */
bool webhook_secrets_open(const struct subscription *s, const struct seal_key *key);
/*
 * Seals all of it again; keys of before that do not open are dropped. False: webhook_secrets_open is not
 * true, and some of it may be changed.
 */
bool webhook_seal_again(struct subscription *s, const struct seal_change *change);
/*
 * The signature over id.timestamp.body (WH-3): "v1,..." by a "whsec_..." (WH-4), "v1a,..." by a "whsk_..."
 * (WH-5). NULL when the secret is neither, or NULL. The caller frees it.
 */
char *webhook_sign(const char *secret, const char *id, int64_t timestamp_s, const char *body,
                   size_t body_len);
/*
 * The `webhook-signature` value at `now`: one signature by each key that lives, newest first (WH-6). Keys
 * that cannot be opened are passed over; NULL when no other is there. The caller frees it.
 */
char *webhook_sign_all(const struct subscription *s, const struct seal_key *key, const char *id, wall_us now,
                       const char *body, size_t body_len);

/*
 * Checks a header field that the owner wants with each delivery: name (1..64 bytes of a token, none that
 * belongs to the connection, the message or the signature) and value (1..1024 bytes, printable). Adds every
 * fault, at `pointer`; neither name nor value is repeated in it. Any thread.
 */
void webhook_check_header(const char *name, const char *value, const char *pointer, struct problem **faults);
/* Seals the field for a webhook. False, and nothing made, when webhook_check_header finds fault. */
bool webhook_header_seal(const struct env *env, const struct seal_key *key, const char *webhook_id,
                         const char *name, const char *value, struct webhook_header *ret);
/* The context under which it is sealed. The caller frees it. */
char *webhook_header_context(const char *webhook_id, const char *name);
/* The value in clear; NULL when it cannot be opened. The caller frees it with mem_free_secret. */
char *webhook_header_open(const struct seal_key *key, const char *webhook_id,
                          const struct webhook_header *header);

/* Appends the metric families shootd_webhook_*, ages as of `now`. Any thread. */
void webhook_metrics(struct buffer *out, wall_us now);

#endif
