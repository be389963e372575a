/* Appends an event and its deliveries to the change set of the change that they report (WH-17). Loop
 * thread. */
#ifndef RECONCILE_WORLD_EVENTS_H
#define RECONCILE_WORLD_EVENTS_H

#include "reconcile/world/project.h"
#include "reconcile/world/save.h"

/* message may be NULL. */
void emit_cluster(struct save *save, enum event_type type, const struct entity *e, enum phase previous,
                  const char *message);
/* Emits that the cluster, which was found at Cleura, is managed from now on; `by` is the caller. */
void emit_adopted(struct save *save, const struct entity *e, const char *by);
void emit_operation(struct save *save, enum event_type type, const struct entity *e,
                    const struct operation *op);
struct expiring {
    const char *what; /* "kubernetes", or the name of a machine image */
    const char *version;
    const char *expires_at; /* a time of RFC 3339 */
    int64_t days_left;
};
void emit_expiring(struct save *save, const struct entity *e, const struct expiring *x);
void emit_account(struct save *save, enum event_type type, const struct account *a, const char *message);
void emit_token_expiring(struct save *save, const struct api_token *t, int64_t days_left);
/* Emits the event that the freeze `freeze` of the project began or ended; a project of NULL means all
 * projects. */
void emit_freeze(struct save *save, enum event_type type, const char *project, const json_t *freeze);
/* Makes a delivery that is due at once; the caller owns it. */
struct delivery *delivery_new(struct reconcile *r, const char *subscription_id, const char *event_id,
                              const char *event_type, wall_us at);
void emit_webhook(struct save *save, enum event_type type, const struct subscription *s, const char *message);
/* Makes an event for this webhook only, whatever event types it subscribes to. The save owns the delivery. */
const struct delivery *emit_webhook_test(struct save *save, const struct subscription *s,
                                         const char *message);

#endif
