/*
 * Requests with an Idempotency-Key (HT-46 to HT-49). The effect of a POST is stored together with its answer,
 * so a repeated request finds both or neither. The answer to a refused request is not stored, because the
 * request had no effect: a repeated request is processed again. While a request is being processed, its key
 * is reserved in memory; after the commit the stored row replaces the reservation. Loop thread, except for
 * the reader's callback.
 */
#include "reconcile/answers/replay.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/answers/reply.h"
#include "reconcile/answers/store_query.h"
#include "reconcile/world/save.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

struct held_key {
    UT_hash_handle hh;
    char key[REPLAY_DIGEST_BYTES];
    struct reconcile *r;
};

void replay_let_go(struct command *cmd)
{
    struct held_key *held = TAKE_PTR(cmd->key_held);
    if (!held)
        return;
    HASH_DEL(held->r->held_keys, held);
    free(held);
}

void replays_free(struct reconcile *r)
{
    struct held_key *held, *next;
    HASH_ITER (hh, r->held_keys, held, next) {
        HASH_DEL(r->held_keys, held);
        free(held);
    }
}

char *replay_context(const char *key)
{
    return mem_printf("replay|%s", key);
}

void replay_keep(struct save *save, const struct command *cmd)
{
    const struct command_idempotency *idempotency = &cmd->idempotency;
    if (!*idempotency->key)
        return;
    char *context CLEANUP_FREE = replay_context(idempotency->key);
    struct replay *p = MEM_NEW(struct replay);
    memcpy(p->key, idempotency->key, sizeof(p->key));
    memcpy(p->fingerprint, idempotency->fingerprint, sizeof(p->fingerprint));
    assert(cmd->reply.status / 100 == 2 && cmd->key_is_new);
    p->status = cmd->reply.status;
    p->secret = cmd->reply.is_secret;
    memcpy(p->etag, cmd->reply.etag, sizeof(p->etag));
    p->location = mem_strdup(cmd->reply.location);
    p->retry_after_s = cmd->reply.retry_after_s;
    memcpy(p->operation_id, cmd->reply.operation_id, sizeof(p->operation_id));
    p->sealed_body = seal(save->r->o.key, save->r->env, context, cmd->reply.text, &p->sealed_body_len);
    p->created_at = env_wall(save->r->env);
    change_put_replay(save->set, p);
}

/* ---- look-up ---- */

/* Returns false when the stored answer cannot be opened, because the seal key was replaced. */
static bool replay_answer(struct reconcile *r, struct command *cmd, const struct replay *p)
{
    char *context CLEANUP_FREE = replay_context(p->key);
    char *body = seal_open(r->o.key, context, p->sealed_body, p->sealed_body_len);
    if (!body)
        return false;
    cmd->reply.status = p->status;
    cmd->reply.text = body;
    cmd->reply.is_secret = p->secret;
    memcpy(cmd->reply.etag, p->etag, sizeof(cmd->reply.etag));
    cmd->reply.location = mem_strdup(p->location);
    cmd->reply.retry_after_s = p->retry_after_s;
    memcpy(cmd->reply.operation_id, p->operation_id, sizeof(cmd->reply.operation_id));
    cmd->reply.replayed = true;
    reply_prepared(r, cmd);
    return true;
}

static struct problem *on_key_looked_up(struct store_query *s)
{
    struct command *cmd = s->cmd;
    struct reconcile *r = cmd->decided_by;
    const struct replay *p = s->replay;
    bool is_kept = p && settled_clock_now(&r->settled) - p->created_at < REPLAY_KEPT_US;
    if (s->status != STORE_OK && s->status != STORE_NONE)
        return problem_passing(PROBLEM_STORE_UNAVAILABLE, 5,
                               "whether the key was used before cannot be read");
    if (is_kept && strcmp(p->fingerprint, cmd->idempotency.fingerprint) != 0)
        return problem_new(PROBLEM_IDEMPOTENCY_KEY_REUSED,
                           "the key was used for another request within 24 hours");
    if (!is_kept || !replay_answer(r, cmd, p)) {
        cmd->key_is_new = true;
        command_is_ready(cmd);
    }
    return NULL;
}

/* Returns false when another request has reserved the key. */
static bool replay_hold(struct reconcile *r, struct command *cmd)
{
    struct held_key *held;
    assert(!cmd->key_held);
    HASH_FIND_STR(r->held_keys, cmd->idempotency.key, held);
    if (held)
        return false;
    held = MEM_NEW(struct held_key);
    memcpy(held->key, cmd->idempotency.key, sizeof(held->key));
    held->r = r;
    HASH_ADD_STR(r->held_keys, key, held);
    cmd->key_held = held;
    return true;
}

bool replay_is_open(const struct command *cmd)
{
    return *cmd->idempotency.key && !cmd->key_is_new;
}

struct problem *replay_look_up(struct reconcile *r, struct command *cmd)
{
    assert(replay_is_open(cmd) && !command_is(cmd, COMMAND_NOTES));
    if (!replay_hold(r, cmd)) {
        struct problem *p =
            problem_new(PROBLEM_IDEMPOTENCY_KEY_IN_USE, "a request with this key is still being processed");
        p->retry_after_s = 1;
        return p;
    }
    struct store_query *question = store_query_question(cmd, on_key_looked_up);
    storage_query_replay(r->o.storage, cmd->idempotency.key, store_query_replay, question);
    return NULL;
}
