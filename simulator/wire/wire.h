/*
 * Shoots between the wire and the internal spec (see shoot.h), for both generations. v1 bodies are first put
 * into v2 shape, so that both generations are judged by the same rules; keys in error lists are therefore v2
 * ones.
 */
#ifndef SIMULATOR_WIRE_WIRE_H
#define SIMULATOR_WIRE_WIRE_H

#include "simulator/cloud/lifecycle.h"

#include <jansson.h>
#include <stdint.h>

struct sim;
struct shoot;

/* v2 bodies. Each returns a new value, or NULL after adding to errors. */
json_t *decode_create(struct sim *sim, const char *region, const json_t *body, json_t *errors);
json_t *decode_patch(struct sim *sim, const struct shoot *shoot, const json_t *body, json_t *errors,
                     enum run_kind *ret_kind);
json_t *decode_worker(struct sim *sim, const char *region, const json_t *body, const char *prefix,
                      json_t *errors);
json_t *decode_worker_change(struct sim *sim, const struct shoot *shoot, const json_t *worker,
                             const json_t *body, json_t *errors, enum run_kind *ret_kind);

/* v1 bodies (already unwrapped) to v2 ones; new values. */
json_t *decode_v1_create(const json_t *shoot);
json_t *decode_v1_patch(const json_t *shoot);
json_t *decode_v1_worker(const json_t *worker);

/* As the two generations show them. New values; they share parts with the state, so write them out before the
 * lock is given up. */
json_t *render_v2(const struct sim *sim, const struct shoot *shoot);
json_t *render_v1(const struct sim *sim, const struct shoot *shoot);
/* The other shape, of the v1 create answer: wrapped and flat. */
json_t *render_v1_created(const struct sim *sim, const struct shoot *shoot);
/* Host names, with scheme. */
void render_api_url(const struct shoot *shoot, const char *kind, char *out, size_t size);

#endif
