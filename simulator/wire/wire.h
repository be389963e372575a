/*
 * Converts shoots between the API's forms and the internal spec (see sim_shoot.h), for both generations. v1
 * bodies are first converted to v2 form, so the same rules apply to both. Keys in error lists are therefore
 * v2 keys.
 */
#ifndef SIMULATOR_WIRE_WIRE_H
#define SIMULATOR_WIRE_WIRE_H

#include "simulator/cloud/lifecycle.h"

#include <jansson.h>
#include <stdint.h>

struct sim;
struct sim_shoot;

/* Read v2 bodies. Each function returns a new value; on a fault, it adds the fault to `errors` and returns
 * NULL. */
json_t *decode_create(struct sim *sim, const char *region, const json_t *body, json_t *errors);
json_t *decode_patch(struct sim *sim, const struct sim_shoot *shoot, const json_t *body, json_t *errors,
                     enum run_kind *ret_kind);
json_t *decode_worker(struct sim *sim, const char *region, const json_t *body, const char *prefix,
                      json_t *errors);
json_t *decode_worker_change(struct sim *sim, const struct sim_shoot *shoot, const json_t *worker,
                             const json_t *body, json_t *errors, enum run_kind *ret_kind);

/* Convert v1 bodies, without the object around them, to v2 bodies. The functions return new values. */
json_t *decode_v1_create(const json_t *shoot);
json_t *decode_v1_patch(const json_t *shoot);
json_t *decode_v1_worker(const json_t *worker);

/* Return a shoot in the forms of the two generations. The new values share parts with the state, so they must
 * be written while the lock is held. */
json_t *render_v2(const struct sim *sim, const struct sim_shoot *shoot);
json_t *render_v1(const struct sim *sim, const struct sim_shoot *shoot);
/* Returns the answer of v1 to a create. This answer has a different form: a flat object inside a named
 * object. */
json_t *render_v1_created(const struct sim *sim, const struct sim_shoot *shoot);
/* Writes the URL with the name `kind` ("external", for example) in the shoot's list of URLs. */
void render_api_url(const struct sim_shoot *shoot, const char *kind, char *out, size_t size);

#endif
