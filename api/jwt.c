#include "api/jwt.h"

#include <assert.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/caller.h"
#include "api/request.h"
#include "base/mem.h"
#include "http/suspend.h"
#include "view/view.h"

enum { VERIFY_S = 10, KEYS_WAIT_S = VERIFY_S / 2, CROWDED_RETRY_S = 3, KEYS_RETRY_S = 5 };

/* The verification of one JWT. It belongs to the request, then to the verifier, then to the suspension, then
 * to the request again. */
struct jwt_verification {
    struct verifier_job job;
    struct api *api;
    struct suspension *suspension; /* a reference, until the result is passed to the request */
    mono_us waits_until;           /* how long it waits for the first read of the issuer's keys */
    enum jwt_end end;              /* the result */
    struct view_blob *caller;      /* the caller; NULL: not valid */
    uint8_t digest[TOKEN_DIGEST_BYTES];
    char *token;
};

static void verification_free(struct jwt_verification *v)
{
    view_blob_unref(v->caller);
    mem_free_secret(v->token);
    free(v);
}

static void discard(void *result)
{
    verification_free(result);
}

/* Passes the result to the request. When the request has already ended, the result is discarded. */
static void pass_result(struct jwt_verification *v)
{
    assert(v->suspension); /* the result is passed once */
    suspension_resume(TAKE_PTR(v->suspension), v);
}

/* Runs on the verifier's thread. */
static bool verify(struct verifier_job *job)
{
    struct jwt_verification *v = CONTAINER_OF(job, struct jwt_verification, job);
    struct config_current *config = v->api->options.config;
    config_current_enter(config);
    v->end = jwt_caller_check(v->api, v->token, v->digest, &v->caller);
    config_current_leave(config);
    if (v->end == JWT_KEYS_AWAITED && env_mono(v->api->options.env) < v->waits_until)
        return false;
    pass_result(v);
    return true;
}

static void drop(struct verifier_job *job)
{
    pass_result(CONTAINER_OF(job, struct jwt_verification, job));
}

/* Returns a random time, so that clients that were refused together do not return together (HT-43). */
static int retry_after(const struct request *r, int most_s)
{
    return 1 + (int)env_random_below(r->api->options.env, (uint64_t)most_s);
}

static struct problem *refuse_crowded(const struct request *r)
{
    return problem_passing(
        PROBLEM_TOO_MANY_REQUESTS, retry_after(r, CROWDED_RETRY_S),
        "Too many JWTs wait to be verified, in all or from this address; this JWT was not "
        "verified. An address that has sent many wrong credentials may let few JWTs wait.");
}

static struct problem *refuse_without_keys(const struct request *r)
{
    return problem_passing(PROBLEM_ISSUER_UNAVAILABLE, retry_after(r, KEYS_RETRY_S),
                           "The keys of the issuer could not be read, so this JWT was not verified.");
}

static struct problem *stopping(void)
{
    return problem_passing(PROBLEM_SHUTTING_DOWN, 5, "The server is being stopped.");
}

/* Returns how many wrong credentials the address may still send. */
static int64_t wrong_left(struct request *r, uint64_t client)
{
    return rate_limit_left(&r->api->auth_failures, client, env_mono(r->api->options.env));
}

/* Takes over `v`. */
static struct problem *suspend(struct request *r, struct jwt_verification *v)
{
    struct verifier *verifier = &r->api->verifier;
    const mono_us now = env_mono(r->api->options.env);
    const struct suspension_terms terms = {
        .due = now + VERIFY_S * US_PER_S,
        .discard = discard,
    };
    assert(!v->caller && !v->suspension && !r->awaits_jwt);
    struct problem *p = NULL;
    v->end = JWT_NOT_CHECKED;
    v->waits_until = now + KEYS_WAIT_S * US_PER_S;
    v->job.place = verifier_take_place(verifier, v->job.client, wrong_left(r, v->job.client));
    if (v->job.place == VERIFIER_NO_PLACE) {
        p = refuse_crowded(r);
    } else if (!(v->suspension = http_suspend(&r->http, &terms))) {
        verifier_leave_place(verifier, v->job.client, v->job.place);
        p = stopping();
    }
    if (p) {
        verification_free(v);
        return p;
    }
    /* The request is suspended before the job is submitted, see http/suspend.h. */
    r->awaits_jwt = true;
    verifier_submit(verifier, &v->job);
    return NULL;
}

struct problem *jwt_verify(struct request *r, const char *token,
                           const uint8_t digest[static TOKEN_DIGEST_BYTES], uint64_t client)
{
    struct jwt_verification *v = MEM_NEW(struct jwt_verification);
    v->job = (struct verifier_job){.work = verify, .drop = drop, .client = client};
    v->api = r->api;
    v->token = mem_strdup(token);
    memcpy(v->digest, digest, sizeof(v->digest));
    return suspend(r, v);
}

struct problem *jwt_verified(struct request *r, struct jwt_verification *v, struct view_blob **ret_caller)
{
    assert(r->awaits_jwt && (!v || !v->suspension));
    r->awaits_jwt = false;
    *ret_caller = NULL;
    if (!v)
        return atomic_load(&r->api->stopping) ? stopping() : refuse_crowded(r);
    struct view_blob *caller = TAKE_PTR(v->caller);
    if (caller && !caller_holds(r->api, caller->subject)) {
        /* The JWT has expired, or the configuration of its issuer has changed. The verifier checks the JWT
         * again. */
        view_blob_unref(caller);
        return suspend(r, v);
    }
    *ret_caller = caller;
    const enum jwt_end end = v->end;
    verification_free(v);
    if (end == JWT_KEYS_MISSING || end == JWT_KEYS_AWAITED)
        return refuse_without_keys(r);
    return end == JWT_NOT_CHECKED ? stopping() : NULL;
}
