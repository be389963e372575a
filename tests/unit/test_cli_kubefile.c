/* An entry is added to a kubeconfig, and all other content stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "cli/kubefile.h"
#include "cli/yaml_in.h"

static json_t *cluster, *user;

static int set_up(void **state)
{
    cluster = json_pack("{s:s,s:s}", "server", "https://new", "certificate-authority-data", "Q0E=");
    user = json_pack("{s:{s:s,s:[s,s],s:b}}", "exec", "command", "shootctl", "args", "credential", "1.30",
                     "provideClusterInfo", 0);
    return 0;
}

static int tear_down(void **state)
{
    json_decref(cluster);
    json_decref(user);
    return 0;
}

static bool merge(const char *text, bool use, struct buffer *out, struct buffer *fault)
{
    const struct kube_entry entry = {"team-a--dev@h", cluster, user,
                                     use ? KUBE_CURRENT_ALWAYS : KUBE_CURRENT_IF_EMPTY};
    buffer_init(out, 1024 * 1024);
    buffer_init(fault, 4096);
    return kubefile_merged(text, strlen(text), &entry, out, fault);
}

static json_t *read_back(const struct buffer *out)
{
    struct yaml_fault fault = {0};
    json_t *all CLEANUP_JSON = yaml_read(out->data, out->len, &fault);
    if (json_array_size(all) != 1)
        fail_msg("%s\n%s", fault.text, out->data);
    return json_incref(json_array_get(all, 0));
}

static void a_new_file_is_whole(void **state)
{
    static const char *const nothing[] = {"", "# a comment\n", "{}", "---\n"};
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
        struct buffer out CLEANUP_BUFFER, fault CLEANUP_BUFFER;
        if (!merge(nothing[i], false, &out, &fault))
            fail_msg("'%s': %s", nothing[i], fault.data);
        json_t *file CLEANUP_JSON = read_back(&out);
        assert_string_equal(json_str(file, "current-context"), "team-a--dev@h");
        assert_string_equal(json_str(file, "kind"), "Config");
        json_t *context = json_obj(json_array_get(json_arr(file, "contexts"), 0), "context");
        assert_string_equal(json_str(context, "user"), "team-a--dev@h");
        json_t *exec = json_obj(json_obj(json_array_get(json_arr(file, "users"), 0), "user"), "exec");
        assert_string_equal(json_string_value(json_array_get(json_arr(exec, "args"), 1)), "1.30");
        assert_non_null(strstr(out.data, "provideClusterInfo: false"));
    }
}

static const char mine[] = "apiVersion: v1\n"
                           "kind: Config\n"
                           "current-context: other\n"
                           "preferences: {colors: true}\n"
                           "extensions:\n"
                           "- name: x\n"
                           "  extension: {version: \"1.30\", folded: 1.5, deep: [[1], {a: ~}]}\n"
                           "clusters:\n"
                           "- cluster: &c {server: 'https://old', tls-server-name: \"no\"}\n"
                           "  name: other\n"
                           "- name: team-a--dev@h\n"
                           "  cluster: {server: https://stale}\n"
                           "- {name: copy, cluster: *c}\n"
                           "users:\n"
                           "- name: other\n"
                           "  user: {username: \"123\", password: 'p: #x'}\n"
                           "contexts: []\n";

static void everything_else_stays(void **state)
{
    struct buffer out CLEANUP_BUFFER, fault CLEANUP_BUFFER;
    struct yaml_fault none;
    json_t *all CLEANUP_JSON = yaml_read(mine, strlen(mine), &none);
    json_t *before = json_array_get(all, 0);
    assert_true(merge(mine, false, &out, &fault));
    json_t *after CLEANUP_JSON = read_back(&out);
    static const char *const same[] = {"preferences", "extensions", "current-context", "apiVersion"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        assert_true(json_equal(json_object_get(before, same[i]), json_object_get(after, same[i])));
    json_t *clusters = json_arr(after, "clusters");
    assert_int_equal(json_array_size(clusters), 3);
    assert_true(json_equal(json_array_get(clusters, 0), json_array_get(json_arr(before, "clusters"), 0)));
    assert_true(json_equal(json_array_get(clusters, 2), json_array_get(json_arr(before, "clusters"), 2)));
    assert_string_equal(json_str(json_obj(json_array_get(clusters, 1), "cluster"), "server"), "https://new");
    assert_int_equal(json_array_size(json_arr(after, "users")), 2);
    assert_non_null(strstr(out.data, "\"1.30\""));
    assert_non_null(strstr(out.data, "folded: 1.5"));
    assert_non_null(strstr(out.data, "\"123\""));
    assert_non_null(strstr(out.data, "\"no\""));

    struct buffer twice CLEANUP_BUFFER, wrong CLEANUP_BUFFER;
    assert_true(merge(out.data, true, &twice, &wrong));
    json_t *again CLEANUP_JSON = read_back(&twice);
    assert_string_equal(json_str(again, "current-context"), "team-a--dev@h");
    assert_int_equal(json_array_size(json_arr(again, "users")), 2);
}

static const char own_members[] =
    "contexts:\n"
    "- {name: team-a--dev@h, context: {cluster: old, user: old, namespace: web, extensions: [{name: x}]}}\n"
    "clusters:\n"
    "- name: team-a--dev@h\n"
    "  cluster: &c {server: https://stale, proxy-url: 'socks5://p', tls-server-name: \"no\"}\n"
    "- {name: copy, cluster: *c}\n"
    "users:\n"
    "- {name: team-a--dev@h, user: {exec: {command: old}, as: admin}, mine: 1.50}\n"
    "current-context: ''\n";

static json_t *first_of(const json_t *file, const char *list)
{
    return json_array_get(json_arr(file, list), 0);
}

static void members_of_the_user_stay_in_our_entry(void **state)
{
    struct buffer out CLEANUP_BUFFER, fault CLEANUP_BUFFER;
    assert_true(merge(own_members, false, &out, &fault));
    json_t *file CLEANUP_JSON = read_back(&out);
    const json_t *context = json_obj(first_of(file, "contexts"), "context");
    const json_t *its = json_obj(first_of(file, "clusters"), "cluster");
    const json_t *copy = json_obj(json_array_get(json_arr(file, "clusters"), 1), "cluster");
    const json_t *own = json_obj(first_of(file, "users"), "user");
    assert_string_equal(json_str(context, "namespace"), "web");
    assert_string_equal(json_str(context, "cluster"), "team-a--dev@h");
    assert_string_equal(json_str(context, "user"), "team-a--dev@h");
    assert_int_equal(json_array_size(json_arr(context, "extensions")), 1);
    assert_string_equal(json_str(its, "server"), "https://new");
    assert_string_equal(json_str(its, "certificate-authority-data"), "Q0E=");
    assert_string_equal(json_str(its, "proxy-url"), "socks5://p");
    assert_string_equal(json_str(its, "tls-server-name"), "no");
    assert_string_equal(json_str(copy, "server"),
                        "https://stale"); /* an alias of the changed mapping retains the old value */
    assert_null(json_str(copy, "certificate-authority-data"));
    assert_string_equal(json_str(json_obj(own, "exec"), "command"), "shootctl");
    assert_string_equal(json_str(own, "as"), "admin");
    assert_non_null(strstr(out.data, "mine: 1.50"));
    assert_string_equal(json_str(file, "current-context"), "team-a--dev@h");
    assert_int_equal(json_array_size(json_arr(file, "users")), 1);
}

static void other_documents_than_a_kubeconfig_are_refused(void **state)
{
    static const char *const rows[] = {
        "- a\n", "a: [\n", "clusters: {a: 1}\n", "a: 1\n---\nb: 2\n", "a: 1\n---\nb: [\n", "text"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buffer out CLEANUP_BUFFER, fault CLEANUP_BUFFER;
        assert_false(merge(rows[i], false, &out, &fault));
        assert_true(fault.len > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_is_whole),
        cmocka_unit_test(everything_else_stays),
        cmocka_unit_test(members_of_the_user_stay_in_our_entry),
        cmocka_unit_test(other_documents_than_a_kubeconfig_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
