/* Query parameters of a route that accepts every parameter of the API. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "api/routes.h"
#include "base/mem.h"
#include "fuzz/http_input.h"
#include "http/http_private.h"
#include "model/label_filter.h"

static void check_params(const struct query_values *p)
{
    for (int id = 0; id < PARAM_MAX_; id++) {
        FUZZ_CHECK(p->given[id] == (p->texts[id] != NULL));
        json_t *text CLEANUP_JSON = p->texts[id] ? json_string(p->texts[id]) : NULL;
        FUZZ_CHECK(!p->texts[id] || text); /* the text is valid UTF-8 */
        (void)param_lists(p, (enum param_id)id, "x");
    }
    int64_t limit = param_number(p, PARAM_LIMIT), wait = param_number(p, PARAM_WAIT);
    FUZZ_CHECK(limit > 0 && limit <= 1000 && wait >= 0 && wait <= 55);
    FUZZ_CHECK(!p->given[PARAM_LABEL] || !label_filter_fault(p->texts[PARAM_LABEL]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text CLEANUP_FREE = fuzz_text(bytes, len);
    struct request *r = MEM_NEW(struct request);
    struct http_input input;
    http_input_query(text, &input);
    r->api = http_input_server()->options.ctx;
    r->http.mhd = input.mhd;
    static const struct route all = {.params = UINT32_MAX};
    r->route = &all;
    struct problem *problem CLEANUP_PROBLEM = params_read(r);
    if (!problem)
        check_params(&r->params);
    else
        FUZZ_CHECK(problem_kind(problem->code)->status == 400);
    query_done(&r->params);
    free(r);
    return 0;
}
