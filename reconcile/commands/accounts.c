/*
 * Accounts: handles the reports of their lanes (the queues of calls, upstream/upstream.h), and logins that a
 * person makes. A report has a state that must be stored, or a login state that becomes an event. A login
 * command waits until Cleura has sent a code, or until the new token is stored. Loop thread.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/body.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

/* ---- showing ---- */

/* Renders an account without its projects, because the visible projects depend on the caller. */
static json_t *render_account(const struct account *a)
{
    struct upstream_account_status status;
    upstream_account_status(a->lane, &status);
    json_t *doc = json_object();
    json_set_str(doc, "name", a->name);
    json_set_str(doc, "cloud", a->config->cloud);
    json_set_str(doc, "url", a->config->url);
    json_set_str(doc, "api", upstream_abilities_of(a->config)->api);
    json_set_str(doc, "login_state", login_state_name(status.login));
    json_set_str(doc, "login_message", status.login_message);
    json_t *two_factor = json_object(), *methods = json_array();
    if (status.sms)
        json_append_take(methods, json_string("sms"));
    if (status.webauthn)
        json_append_take(methods, json_string("webauthn"));
    json_set_take(two_factor, "methods", methods);
    json_set_bool(two_factor, "verification_pending", status.verification_pending);
    json_set_take(doc, "two_factor", two_factor);
    json_set_str(doc, "token_source", status.token_source);
    json_set_take(doc, "token_at", time_or_null(status.token_at));
    json_set_take(doc, "next_login_at", time_or_null(status.next_login_at));
    json_set_take(doc, "last_contact_at", time_or_null(status.last_contact_at));
    json_t *lane = json_object();
    json_set_int(lane, "queue_depth", status.queue_depth);
    json_set_int(lane, "in_flight", status.in_flight);
    json_set_take(doc, "lane", lane);
    return doc;
}

/* Renders an account with all its projects. A caller that may log in to an account may see all projects of
 * the account. */
static json_t *render_whole_account(const struct account *a)
{
    json_t *doc = render_account(a);
    json_t *projects = json_array();
    for (const struct project *p = a->r->projects; p; p = p->hh.next)
        if (!strcmp(p->config->account->name, a->name))
            json_append_take(projects, json_string(p->name));
    json_set_take(doc, "projects", projects);
    return doc;
}

void account_show(struct account *a)
{
    place_show(a->r, VIEW_ACCOUNTS, a->name, &a->shown, render_account(a), false, account_issue(a));
}

/* ---- storing and announcing ---- */

static struct account_state *state_copy(const struct account_state *state)
{
    json_t *doc CLEANUP_JSON = account_state_to_json(state);
    return account_state_from_json(doc);
}

static void save_account(struct save *save, const struct account *a)
{
    change_put_account(save->set, state_copy(a->remembered));
    save_submit(save, false);
}

static void on_remember(void *ctx, const struct account_state *state)
{
    struct account *a = ctx;
    loop_assert_owner(a->r->o.loop);
    assert(!strcmp(state->name, a->name));
    bool announced = a->remembered->failure_announced;
    account_state_free(a->remembered);
    a->remembered = state_copy(state);
    a->remembered->failure_announced = announced;
    save_account(save_new(a->r, NULL, NULL), a);
}

static unsigned take_up_operation(struct walk *w, struct entity *e)
{
    if (e->project->account != CONTAINER_OF(w, struct account, resumption) || !entity_has_open_operation(e))
        return WALK_PASSED_BY;
    life_end_pause(e);
    entity_touch(e);
    return WALK_CHANGED;
}

void account_read_soon(struct account *a)
{
    for (struct project *p = a->r->projects; p; p = p->hh.next) {
        if (p->account != a)
            continue;
        p->poll.discovery_due = env_mono(a->r->env);
        schedule_rearm(p);
        if (!p->state->catalog)
            catalog_fetch(p);
    }
}

/* Continues at once the work that waited for a login. */
static void resume_work(struct account *a)
{
    account_read_soon(a);
    walk_all(a->r, &a->resumption);
}

static void on_login_changed(void *ctx, struct upstream_account *lane ATTR_UNUSED, enum login_state state,
                             const char *message)
{
    struct account *a = ctx;
    bool failed = state == LOGIN_REJECTED || state == LOGIN_TWO_FACTOR || state == LOGIN_NO_PASSWORD ||
                  state == LOGIN_UNREACHABLE;
    if (!a->lane)
        return;
    account_show(a);
    for (struct project *p = a->r->projects; p; p = p->hh.next)
        if (p->account == a)
            project_show(p);
    if (failed == a->remembered->failure_announced || (!failed && state != LOGIN_OK))
        return;
    /* The event and the mark that it was emitted (failure_announced) are stored together, so it is never
     * emitted again after a restart. */
    a->remembered->failure_announced = failed;
    struct save *save = save_new(a->r, NULL, NULL);
    emit_account(save, failed ? EVENT_ACCOUNT_LOGIN_FAILED : EVENT_ACCOUNT_RECOVERED, a,
                 message ? message : "Login works again");
    save_account(save, a);
    if (!failed && !a->r->stopping)
        resume_work(a);
}

/* ---- manual logins ---- */

static const struct {
    enum problem_code problem;
    int retry_after_s; /* the value of Retry-After when the lane gives no time */
} outcomes[LOGIN_OUTCOME_MAX_] = {
    [LOGIN_OUTCOME_OK] = {PROBLEM_INTERNAL_ERROR, 0}, /* these two outcomes are not problems */
    [LOGIN_OUTCOME_CODE_SENT] = {PROBLEM_INTERNAL_ERROR, 0},
    [LOGIN_OUTCOME_BUSY] = {PROBLEM_TOO_MANY_REQUESTS, 2},
    [LOGIN_OUTCOME_GUARDED] = {PROBLEM_TOO_MANY_REQUESTS, 5},
    [LOGIN_OUTCOME_REFUSED] = {PROBLEM_UPSTREAM_LOGIN_FAILED, 5},
    [LOGIN_OUTCOME_NO_SMS] = {PROBLEM_SECOND_FACTOR_UNUSABLE, 0},
    [LOGIN_OUTCOME_NOTHING] = {PROBLEM_UPSTREAM_LOGIN_FAILED, 30},
    [LOGIN_OUTCOME_WRONG_CODE] = {PROBLEM_WRONG_CODE, 5},
    [LOGIN_OUTCOME_NO_CODE] = {PROBLEM_NO_CODE_AWAITED, 0},
    [LOGIN_OUTCOME_UNREACHABLE] = {PROBLEM_UPSTREAM_UNAVAILABLE, 10},
};

static void refuse_logins(struct list *waiters, const struct upstream_login_end *end)
{
    assert(end->outcome < LOGIN_OUTCOME_MAX_ && outcomes[end->outcome].problem != PROBLEM_INTERNAL_ERROR);
    struct problem *p CLEANUP_PROBLEM = problem_new(outcomes[end->outcome].problem, "%s", end->message);
    p->retry_after_s = end->retry_after_s ? end->retry_after_s : outcomes[end->outcome].retry_after_s;
    reply_problem_all(waiters, p);
}

static void reply_login(struct list *waiters, const struct account *a, int status, const char *word)
{
    LIST_FOR_EACH_SAFE (it, next, waiters) {
        json_t *doc = json_object();
        json_set_str(doc, "status", word);
        json_set_take(doc, "expires_in_seconds",
                      status == 202 ? json_integer(UPSTREAM_CODE_GOOD_S) : json_null());
        json_set_take(doc, "account", render_whole_account(a));
        reply_json(wait_take(CONTAINER_OF(it, struct waiting, link)), status, doc);
    }
}

/* Returns the account whose state is in the save. Returns NULL when a reload has removed the account during
 * the save; the reload has also answered all waiting commands. */
static struct account *account_of_save(const struct save *save)
{
    const struct change *change = &save->set->changes[0];
    struct account *a;
    assert(change->kind == CHANGE_ACCOUNT_PUT);
    HASH_FIND_STR(save->r->accounts, change->account->name, a);
    return a;
}

static void on_login_saved(struct save *save)
{
    struct account *a = account_of_save(save);
    if (a)
        reply_login(&a->login_saving, a, 200, "ok");
}

static void on_verify_saved(struct save *save)
{
    struct account *a = account_of_save(save);
    if (!a)
        return;
    LIST_FOR_EACH_SAFE (it, next, &a->verify_saving)
        reply_json(wait_take(CONTAINER_OF(it, struct waiting, link)), 200, render_whole_account(a));
}

/* Stores the new token, then answers the waiting commands. Commands that come during the save wait for
 * another login. */
static void save_login(struct account *a, struct list *waiters, struct list *saving,
                       void (*on_saved)(struct save *save))
{
    LIST_FOR_EACH_SAFE (it, next, waiters) {
        list_remove(it);
        list_append(saving, it);
    }
    save_account(save_new(a->r, on_saved, NULL), a);
}

static void on_login_end(void *ctx, const struct upstream_login_end *end)
{
    struct account *a = ctx;
    account_show(a);
    if (end->outcome == LOGIN_OUTCOME_OK)
        save_login(a, &a->login_waiters, &a->login_saving, on_login_saved);
    else if (end->outcome == LOGIN_OUTCOME_CODE_SENT)
        reply_login(&a->login_waiters, a, 202, "code_sent");
    else
        refuse_logins(&a->login_waiters, end);
}

static void on_verify_end(void *ctx, const struct upstream_login_end *end)
{
    struct account *a = ctx;
    account_show(a);
    if (end->outcome == LOGIN_OUTCOME_OK)
        save_login(a, &a->verify_waiters, &a->verify_saving, on_verify_saved);
    else
        refuse_logins(&a->verify_waiters, end);
}

static struct problem *on_login_late(struct waiting *w ATTR_UNUSED)
{
    return problem_new(PROBLEM_UPSTREAM_TIMEOUT,
                       "Cleura did not answer in time; GET /v1/accounts says whether a code is awaited");
}

/* Finds the account of the command. The HTTP side has checked the permission. */
static struct problem *account_of(struct reconcile *r, const struct command *cmd, struct account **ret)
{
    HASH_FIND_STR(r->accounts, cmd->name, *ret);
    return *ret ? NULL : problem_new(PROBLEM_ACCOUNT_NOT_FOUND, "no account '%s'", cmd->name);
}

struct problem *command_account_login(struct reconcile *r, struct command *cmd)
{
    struct account *a;
    struct problem *refusal = account_of(r, cmd, &a);
    if (refusal)
        return refusal;
    mono_us deadline = cmd->deadline;
    bool first = list_is_empty(&a->login_waiters);
    log_info("manual login requested", "account", a->name, "by", cmd->caller.token_name, "request_id",
             cmd->request_id);
    (void)wait_new(r, cmd, &a->login_waiters, on_login_late);
    if (first) /* otherwise a login is running, and its result answers this command, too */
        upstream_login(a->lane, deadline, on_login_end, a);
    return NULL;
}

enum { CODE_MAX_DIGITS = 10 };

/* Cleura needs an integer, but people paste text, perhaps with leading zeros. Accepts both forms; returns
 * false for any other value. */
static bool read_code(const json_t *value, int64_t *ret_code)
{
    const char *text = json_string_value(value);
    *ret_code = json_is_integer(value) ? json_integer_value(value) : -1;
    if (text) {
        size_t len = strlen(text);
        if (!len || len > CODE_MAX_DIGITS || strspn(text, "0123456789") != len)
            return false;
        *ret_code = strtoll(text, NULL, 10);
    }
    return *ret_code >= 0 && *ret_code <= 9999999999;
}

struct problem *command_account_verify(struct reconcile *r, struct command *cmd)
{
    static const char *const members[] = {"code"};
    int64_t code;
    struct account *a;
    struct problem *faults = account_of(r, cmd, &a);
    if (faults)
        return faults;
    body_check_members(cmd->body, members, ARRAY_LEN(members), &faults);
    if (!read_code(json_object_get(cmd->body, "code"), &code)) /* the text of a fault never contains the
                                                                * code */
        BODY_FAULT(&faults, "#/code", "wrong_form", NULL,
                   "is required: the digits of the SMS, as text or as an integer");
    if (!faults && !list_is_empty(&a->verify_waiters))
        faults = problem_passing(PROBLEM_TOO_MANY_REQUESTS, 2, "another code is being checked");
    if (faults)
        return faults;
    mono_us deadline = cmd->deadline;
    log_info("SMS code entered", "account", a->name, "by", cmd->caller.token_name, "request_id",
             cmd->request_id);
    (void)wait_new(r, cmd, &a->verify_waiters, on_login_late);
    upstream_verify(a->lane, code, deadline, on_verify_end, a);
    return NULL;
}

/* ---- adding and removing ---- */

/* Takes the stored state of the account; NULL: no state is stored. */
static struct account_state *take_remembered(struct reconcile *r, const char *name)
{
    for (size_t i = 0; i < r->absent_account_count; i++) {
        struct account_state *state = r->absent_accounts[i];
        if (strcmp(state->name, name) != 0)
            continue;
        r->absent_accounts[i] = r->absent_accounts[--r->absent_account_count];
        return state;
    }
    return NULL;
}

void account_remember(struct reconcile *r, struct account_state *state)
{
    r->absent_accounts =
        mem_realloc_array(r->absent_accounts, r->absent_account_count + 1, sizeof(*r->absent_accounts));
    r->absent_accounts[r->absent_account_count++] = state;
}

void account_add(struct reconcile *r, const struct config_account *config)
{
    struct account *a = MEM_NEW(struct account);
    struct account_state *remembered = take_remembered(r, config->name);
    a->r = r;
    a->name = mem_strdup(config->name);
    a->config = config;
    list_init(&a->login_waiters);
    list_init(&a->verify_waiters);
    list_init(&a->login_saving);
    list_init(&a->verify_saving);
    a->resumption = (struct walk){.name = "taking up what waited for a login", .visit = take_up_operation};
    const struct upstream_account_events events = {
        .ctx = a, .remember = on_remember, .login_changed = on_login_changed};
    a->lane = upstream_account_new(r->o.loop, r->o.upstream_transport, r->o.worker, config, r->o.key,
                                   remembered, r->o.config->limits.queue_length, &events);
    if (!remembered) {
        remembered = MEM_NEW(struct account_state);
        remembered->name = mem_strdup(config->name);
    }
    a->remembered = remembered;
    HASH_ADD_KEYPTR(hh, r->accounts, a->name, strlen(a->name), a);
    account_show(a);
}

void account_remove(struct account *a)
{
    struct reconcile *r = a->r;
    static const struct upstream_login_end end = {
        .outcome = LOGIN_OUTCOME_UNREACHABLE,
        .message = "the configuration of the account was changed meanwhile"};
    refuse_logins(&a->login_waiters, &end);
    refuse_logins(&a->verify_waiters, &end);
    refuse_logins(&a->login_saving, &end);
    refuse_logins(&a->verify_saving, &end);
    walk_stop(&a->resumption);
    HASH_DEL(r->accounts, a);
    view_set(r->o.view, VIEW_ACCOUNTS, a->name, NULL);
    upstream_account_free(a->lane);
    account_remember(r, a->remembered);
    free(a->shown);
    free(a->name);
    free(a);
}

void accounts_free(struct reconcile *r)
{
    struct account *a, *next;
    HASH_ITER (hh, r->accounts, a, next)
        account_remove(a);
    for (size_t i = 0; i < r->absent_account_count; i++)
        account_state_free(r->absent_accounts[i]);
    free(r->absent_accounts);
}
