/* Shoots as the two generations show them. New values; they share parts with the state, so write them
 * out before the lock is given up. */
#ifndef SIMULATOR_WIRE_RENDER_H
#define SIMULATOR_WIRE_RENDER_H

#include <jansson.h>
#include <stdint.h>

struct shoot;
struct sim;

json_t *render_v2(const struct sim *sim, const struct shoot *shoot);
json_t *render_v1(const struct sim *sim, const struct shoot *shoot);
/* The other shape, of the v1 create answer: wrapped and flat. */
json_t *render_v1_created(const struct sim *sim, const struct shoot *shoot);
/* Host names, with scheme. */
void render_api_url(const struct shoot *shoot, const char *kind, char *out, size_t size);

#endif
