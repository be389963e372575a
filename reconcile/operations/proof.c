/*
 * The proof that a shoot is shootd's own. Loop thread.
 *
 * Why it is needed: Cleura's calls take names, and names are used again. To delete somebody else's cluster is
 * the worst that shootd could do, so doubt means that nothing is sent.
 */
#include "reconcile/operations/proof.h"

#include <assert.h>
#include <string.h>

#include "reconcile/world/entity.h"

static const struct operation_step *create_step(const struct entity *e)
{
    const struct operation *op = e->op;
    for (unsigned i = 0; op && op->type == OPERATION_CREATE && i < op->step_count; i++)
        if (op->steps[i].type == STEP_CREATE_SHOOT)
            return &op->steps[i];
    return NULL;
}

bool proof_may_have_been_made(const struct entity *e)
{
    const struct operation_step *step = create_step(e);
    return !step || step->uncertain || step->status == STEP_SENDING || step->status == STEP_DONE;
}

/* Whether only the body of the create shows whether this shoot is the cluster's: no uid is known. A deletion
 * keeps that body (plan_delete_after_create). A shoot without a uid is compared only once, because later runs
 * change what is compared; without a uid nothing is deleted. */
static bool lacks_uid(const struct entity *e, const struct shoot *shoot)
{
    const struct operation *op = e->op;
    if (!e->cluster->upstream_exists)
        return true;
    if (shoot_has_uid(e->cluster->shoot) || (e->cluster->shoot && !shoot_has_uid(shoot)))
        return false;
    return op && op->body && (op->type == OPERATION_CREATE || op->type == OPERATION_DELETE);
}

bool proof_is_foreign(const struct entity *e, const struct shoot *shoot)
{
    if (!lacks_uid(e, shoot))
        return false;
    return !e->op || !proof_may_have_been_made(e) || !proof_is_ours(e, shoot);
}

/* Whether the two values are the same. An unreadable value counts as the same, except with `proven`. */
static bool is_same(const json_t *wanted, const json_t *there, bool proven)
{
    return json_is_null(there) ? !proven : json_equal(wanted, there);
}

static bool same_pools(const json_t *wanted, const json_t *there, bool proven)
{
    if (json_array_size(wanted) != json_array_size(there))
        return false;
    size_t i, j;
    json_t *pool, *other;
    json_array_foreach (wanted, i, pool) {
        bool found = false;
        json_array_foreach (there, j, other)
            found |= is_same(json_object_get(pool, "name"), json_object_get(other, "name"), proven) &&
                     is_same(json_object_get(pool, "machine_type"), json_object_get(other, "machine_type"),
                             proven);
        if (!found)
            return false;
    }
    return true;
}

/* Whether the shoot has the uid that Cleura's answer to the create named. */
static bool has_uid_of_create(const struct shoot *shoot, const char *uid)
{
    uuid_t created;
    return uuid_parse(uid, created) == 0 && uuid_compare(created, shoot->uid) == 0;
}

/*
 * The uid of the create's answer decides, when both are known. Otherwise: a foreign shoot with the same name
 * has an older history, or a different version, or different pools. A shoot is certainly shootd's own when
 * its history can be read, and its version or all its pools equal those that were requested. Only such a
 * shoot may be deleted.
 */
enum likeness proof_likeness(const struct entity *e, const struct shoot *shoot)
{
    assert(e->op && shoot);
    const json_t *wanted = e->op->body, *there = shoot_observed(shoot);
    const json_t *version = json_object_get(there, "kubernetes_version"),
                 *wanted_version = json_object_get(wanted, "kubernetes_version");
    const json_t *pools = json_arr(there, "node_pools"), *wanted_pools = json_arr(wanted, "node_pools");
    const char *type = shoot->operation_type, *uid = json_str(wanted, "uid");
    if (uid && shoot_has_uid(shoot))
        return has_uid_of_create(shoot, uid) ? LIKENESS_PROVEN : LIKENESS_NONE;
    const bool has_history = shoot->has_operation && type && strcmp(type, "Create") != 0;
    if (!wanted || has_history || !is_same(wanted_version, version ? version : json_null(), false) ||
        (pools && !same_pools(wanted_pools, pools, false)))
        return LIKENESS_NONE;
    const bool is_fresh = !shoot->has_operation || type;
    const bool is_alike = is_same(wanted_version, version, true) ||
                          (json_array_size(pools) && same_pools(wanted_pools, pools, true));
    return is_fresh && is_alike ? LIKENESS_PROVEN : LIKENESS_UNPROVEN;
}

bool proof_is_ours(const struct entity *e, const struct shoot *shoot)
{
    return proof_likeness(e, shoot) == LIKENESS_PROVEN;
}

bool proof_is_unclear(const struct entity *e, const struct shoot *shoot)
{
    return lacks_uid(e, shoot) && e->op && proof_may_have_been_made(e) &&
           proof_likeness(e, shoot) == LIKENESS_UNPROVEN;
}
