/*
 * The versions that a cluster uses (Kubernetes and the machine images of its pools) and their expiry dates in
 * the project's catalog. After the expiry Cleura forces an upgrade (CL-20). Pure; any thread. The functions
 * only read documents, and do not change their reference counts.
 */
#ifndef MODEL_EXPIRY_H
#define MODEL_EXPIRY_H

#include "model/shoot.h"

/* Everything is borrowed from the shoot and the catalog. */
struct version_in_use {
    const char *component; /* "kubernetes", or the name of a machine image */
    const char *version;
    const json_t *offers; /* all versions of the component that the catalog lists; NULL: none */
    const json_t *entry;  /* the entry of the version in use; NULL: the catalog does not list it (any more) */
    wall_us expires_at;   /* 0: the catalog has no date */
};

#define COMPONENT_KUBERNETES "kubernetes"

/* Calls `visit` once for each version in use, Kubernetes first. `shoot` and `catalog` may be NULL. */
void versions_in_use(const struct shoot *shoot, const json_t *catalog,
                     void (*visit)(void *ctx, const struct version_in_use *v), void *ctx);
/* Returns when the first of these versions expires; this time may be in the past. 0: no date is known. */
wall_us versions_expire_at(const struct shoot *shoot, const json_t *catalog);

#endif
