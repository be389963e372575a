/* Selects the rule of an issuer by the claims of a token. */
#include "tests/support/check.h"

#include <string.h>

#include "base/json.h"
#include "oidc/rules.h"

static char claim_groups[] = "groups", claim_roles[] = "/realm_access/roles", claim_scope[] = "scope",
            claim_scp[] = "scp", claim_odd[] = "/a~1b/c~0d", claim_name[] = "https://example.com/team",
            any[] = "admins", other[] = "ops";

static struct config_rule rules[] = {
    {claim_groups, any, ROLE_ADMIN, NULL},   {claim_roles, any, ROLE_OPERATOR, NULL},
    {claim_scope, other, ROLE_VIEWER, NULL}, {claim_odd, any, ROLE_KUBECONFIG, NULL},
    {claim_name, other, ROLE_VIEWER, NULL},  {claim_scp, other, ROLE_VIEWER, NULL},
};
static const struct config_issuer issuer = {.rules = rules, .rule_count = ARRAY_LEN(rules)};

/* Returns the index of the rule; -1: no rule fits. */
static int rule_for(const char *text)
{
    json_t *claims CLEANUP_JSON = json_parse_strict(text, strlen(text), NULL);
    assert_non_null(claims);
    const struct config_rule *rule = oidc_rule_for(&issuer, claims);
    return rule ? (int)(rule - rules) : -1;
}

static void rules_that_fit(void **state)
{
    assert_int_equal(rule_for("{\"groups\":[\"x\",\"admins\"]}"), 0);
    assert_int_equal(rule_for("{\"groups\":\"admins\"}"), 0);
    assert_int_equal(rule_for("{\"realm_access\":{\"roles\":[\"admins\"]}}"), 1);
    assert_int_equal(rule_for("{\"scope\":\"openid ops email\"}"), 2);
    assert_int_equal(rule_for("{\"scope\":[\"ops\"]}"), 2);
    assert_int_equal(rule_for("{\"scp\":\"access_as_user ops\"}"), 5);
    assert_int_equal(rule_for("{\"scp\":[\"access_as_user\",\"ops\"]}"), 5);
    assert_int_equal(rule_for("{\"scp\":\"opsx xops\"}"), -1);
    assert_int_equal(rule_for("{\"a/b\":{\"c~d\":\"admins\"}}"), 3);
    assert_int_equal(rule_for("{\"https://example.com/team\":\"ops\"}"), 4);
}

static void the_first_one_counts(void **state)
{
    assert_int_equal(rule_for("{\"scope\":\"ops\",\"groups\":[\"admins\"]}"), 0);
}

static void rules_that_do_not_fit(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"groups\":[]}",
        "{\"groups\":\"admins ops\"}", /* only `scope` is split: a name may contain blanks */
        "{\"groups\":[\"admins ops\"]}",
        "{\"groups\":[\"Admins\"]}",
        "{\"groups\":[\"admin\"]}",
        "{\"groups\":[\"admins2\"]}",
        "{\"groups\":[[\"admins\"]]}",
        "{\"groups\":{\"admins\":true}}",
        "{\"groups\":[{\"name\":\"admins\"}]}",
        "{\"groups\":null}",
        "{\"scope\":\"opsx xops\"}",
        "{\"scope\":\"\"}",
        "{\"realm_access\":\"admins\"}",
        "{\"realm_access\":[\"admins\"]}",
        "{\"/realm_access/roles\":[\"admins\"]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_int_equal(rule_for(texts[i]), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_that_fit),
        cmocka_unit_test(the_first_one_counts),
        cmocka_unit_test(rules_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
