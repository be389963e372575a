/*
 * Identifiers: a type prefix and 26 characters of Crockford base32 (time in milliseconds, then 80 random
 * bits), so that they sort by age in every store (DB-16). URL-safe, never containing '.'. Pure but for env;
 * any thread.
 */
#ifndef BASE_IDS_H
#define BASE_IDS_H

#include "base/env.h"

enum { ID_BYTES = 40 };

#define ID_CLUSTER      "cl_"
#define ID_OPERATION    "op_"
#define ID_EVENT        "evt_"
#define ID_SUBSCRIPTION "wh_"
#define ID_DELIVERY     "dlv_"
#define ID_TOKEN        "tok_"
#define ID_REQUEST      "req_"

/* Writes prefix + 26 characters into `id` and returns it. */
const char *id_new(const struct env *env, const char *prefix, char id[static ID_BYTES]);

#endif
