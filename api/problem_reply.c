#include "api/problem_reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "api/routes.h"
#include "base/mem.h"

/* Challenges of AU-7. */
static void add_challenge(struct request *r, enum problem_code code)
{
    static const char *const challenges[PROBLEM_MAX_] = {
        [PROBLEM_UNAUTHENTICATED] = "Bearer realm=\"shootd\"",
        [PROBLEM_INVALID_TOKEN] = "Bearer realm=\"shootd\", error=\"invalid_token\"",
        [PROBLEM_FORBIDDEN] = "Bearer realm=\"shootd\", error=\"insufficient_scope\"",
    };
    if (!challenges[code])
        return;
    const char *role = code == PROBLEM_FORBIDDEN && r->route ? role_name(r->route->role) : NULL;
    answer_header(&r->answer, "WWW-Authenticate", role ? "%s, scope=\"%s\"" : "%s", challenges[code], role);
}

void respond_problem(struct request *r, struct problem *p)
{
    r->answer.header_count = 0;
    r->problem = p->code;
    json_t *doc CLEANUP_JSON = problem_to_json(p, r->id);
    char *text = json_text(doc);
    answer_text(&r->answer, problem_kind(p->code)->status, TYPE_PROBLEM, text, strlen(text));
    answer_header(&r->answer, "Cache-Control", "no-store");
    if (p->retry_after_s > 0)
        answer_header(&r->answer, "Retry-After", "%d", p->retry_after_s);
    add_challenge(r, p->code);
    problem_free(p);
}

void respond_with(struct request *r, enum problem_code code, const char *detail, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, detail);
    int n = vasprintf(&text, detail, args);
    va_end(args);
    if (n < 0)
        abort();
    struct problem *p = problem_new(code, "%s", text);
    free(text);
    respond_problem(r, p);
}
