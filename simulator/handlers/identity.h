/* Domains and projects of the one account. */
#ifndef SIMULATOR_HANDLERS_IDENTITY_H
#define SIMULATOR_HANDLERS_IDENTITY_H

#include <jansson.h>

#define DOMAIN_ID_SIZE  33
#define ACCOUNT_USER_ID 42

struct sim;

/* The tag of the region that the domain belongs to, or NULL. */
const char *identity_region_of(const struct sim *sim, const char *domain);
/* All projects, v2 spelling, as of this domain; a new value. */
json_t *identity_projects(const struct sim *sim, const char *domain);

#endif
