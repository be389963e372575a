/* Answers of Cleura, by both drivers. The decoded data can be stored and read back with an equal result. The
 * first line names the driver and the call, such as "v1 list"; the body follows. "any odd": the input is
 * a value that replaces each member of complete answers, see odd_members.c. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "fuzz/odd_members.h"
#include "model/project_state.h"
#include "upstream/wire/driver_private.h"
#include "view/render.h"

/* Decodes, stores and loads the shoot, and compares. Takes over the shoot. */
static void check_shoot(struct shoot *s)
{
    struct cluster *c = cluster_new();
    memcpy(c->id, "cl_1", sizeof("cl_1"));
    c->project = mem_strdup("p");
    c->name = mem_strdup(s->name);
    c->shoot = s;
    json_t *stored CLEANUP_JSON = cluster_to_json(c);
    fuzz_check_stored(stored);
    struct cluster *back = cluster_from_json(stored);
    FUZZ_CHECK(back != NULL);
    json_t *again CLEANUP_JSON = cluster_to_json(back);
    FUZZ_CHECK(json_equal(stored, again));
    struct trouble trouble;
    json_decref(issues_prepare(back, NULL, &(struct issue_world){0}, &trouble));
    char *text CLEANUP_FREE = render_cluster(back, NULL, &trouble);
    json_t *shown CLEANUP_JSON = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_CHECK(shown != NULL);
    fuzz_check_stored(shown);
    cluster_free(back);
    cluster_free(c);
}

static void check_catalog(const json_t *catalog)
{
    struct project_state state = {.name = (char[]){"p"}, .catalog = json_deep_copy(catalog), .catalog_at = 1};
    json_t *stored CLEANUP_JSON = project_state_to_json(&state);
    json_decref(state.catalog);
    fuzz_check_stored(stored);
    struct project_state *back = project_state_from_json(stored);
    FUZZ_CHECK(back != NULL);
    json_t *again CLEANUP_JSON = project_state_to_json(back);
    FUZZ_CHECK(json_equal(stored, again));
    project_state_free(back);
}

static void check_list(const struct upstream_driver *driver, const char *body, size_t len)
{
    struct json_items rows;
    struct list_part part;
    const char *why = NULL;
    if (list_begin(&rows, body, len, &why) != READ_OK) {
        FUZZ_CHECK(why != NULL);
        return;
    }
    while (list_next(driver, FUZZ_NOW, &rows, NULL, &part)) {
        for (size_t i = 0; i < part.refused_count; i++)
            FUZZ_CHECK(part.refused[i].why != NULL);
        for (size_t i = 0; i < part.shoot_count; i++) {
            FUZZ_CHECK(shoot_name_is_possible(part.shoots[i]->name));
            check_shoot(TAKE_PTR(part.shoots[i]));
        }
        list_part_done(&part);
    }
}

static void check_login(const char *body, size_t len)
{
    struct login_answer login = {0};
    decode_login(body, len, &login);
    FUZZ_CHECK((login.result == LOGIN_RESULT_TOKEN) <= (login.token != NULL));
    login_answer_done(&login);
}

static void check_refusal(const char *body, size_t len)
{
    char *message CLEANUP_FREE = error_message(body, len);
    if (!message)
        return;
    json_t *text CLEANUP_JSON = json_string(message);
    FUZZ_CHECK(text != NULL);
}

static void check_document(const struct upstream_driver *driver, enum upstream_op op, const char *body,
                           size_t len)
{
    const struct answer_about about = {
        .op = op, .region = (char[]){"Sto2"}, .item = (char[]){"1.34.3"}, .now = FUZZ_NOW};
    struct upstream_result result = {0};
    const char *why = NULL;
    enum read_end end = answer_read(driver, &about, body, len, &result, &why);
    FUZZ_CHECK(end == READ_OK || why != NULL);
    if (end == READ_OK && result.shoot)
        check_shoot(TAKE_PTR(result.shoot));
    if (end == READ_OK && result.catalog)
        check_catalog(result.catalog);
    upstream_result_done(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *line CLEANUP_FREE = fuzz_line(&bytes, &len);
    char *body CLEANUP_FREE = fuzz_text(bytes, len);
    char *rest = line;
    const struct upstream_driver *driver = !strcmp(fuzz_word(&rest), "v1") ? &driver_v1 : &driver_v2;
    const char *asked = fuzz_word(&rest);
    if (!strcmp(asked, "odd"))
        check_odd_members(body, len);
    if (!strcmp(asked, "list"))
        check_list(driver, body, len);
    if (!strcmp(asked, "login"))
        check_login(body, len);
    if (!strcmp(asked, "refusal"))
        check_refusal(body, len);
    for (int op = 0; op < UPSTREAM_OP_MAX_; op++)
        if (op != UPSTREAM_LIST && call_endpoint(driver, (enum upstream_op)op, 0) &&
            !strcmp(asked, upstream_op_name((enum upstream_op)op)))
            check_document(driver, (enum upstream_op)op, body, len);
    return 0;
}
