/* model/spec*: each rule of the body check, the changes that an existing cluster does not allow, and the
 * changes that replace nodes. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/spec.h"
#include "model/spec_check_private.h"
#include "model/spec_limits.h"
#include "tests/support/abilities.h"

/* Parses JSON in which ' stands for ". */
static json_t *parse(const char *text)
{
    char *copy CLEANUP_FREE = mem_strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct json_fault fault;
    json_t *doc = json_parse_strict(copy, strlen(copy), &fault);
    if (!doc)
        fail_msg("%s: %s", fault.text, copy);
    return doc;
}

static const char catalog_text[] =
    "{'kubernetes_versions':[{'version':'1.32.11','state':'supported'},"
    "{'version':'1.33.6','state':'deprecated','expires_at':'2026-02-16T00:00:00Z'},"
    "{'version':'1.33.7','state':'supported'},{'version':'1.34.3','state':'supported'},"
    "{'version':'1.34.2','state':'expired'},{'version':'1.35.0','state':'preview'},"
    "{'version':'1.36.0','state':'unavailable'},{'version':'1.38.1','state':'supported'}],"
    "'machine_images':[{'name':'gardenlinux','versions':["
    "{'version':'1877.9.0','state':'supported','architectures':['amd64']},"
    "{'version':'1877.10.0','state':'supported','architectures':['amd64','arm64']},"
    "{'version':'1800.0.0','state':'expired'}]},"
    "{'name':'flatcar','versions':[{'version':'4000.1.0','state':'supported'}]}],"
    "'machine_types':[{'name':'b.2c4gb','cpus':2,'memory_mib':4096,'architecture':'amd64','usable':true},"
    "{'name':'a.2c4gb','cpus':2,'memory_mib':4096,'architecture':'arm64','usable':true},"
    "{'name':'old','cpus':2,'memory_mib':4096,'architecture':'amd64','usable':false}],"
    "'zones':['az1','az2','az3'],'floating_pools':['ext-net'],'load_balancer_providers':['amphora'],"
    "'volume_minimum_gib':10}";

enum { NOW_S = 1767225600 }; /* 2026-01-01 */

/* Returns all faults as "code pointer, code pointer", in their order; "" when there is none. */
static char *fault_list(const struct problem *problem)
{
    char *list = mem_strdup("");
    size_t i;
    json_t *fault;
    json_array_foreach (problem ? problem->faults : NULL, i, fault) {
        char *longer =
            mem_printf("%s%s%s %s", list, i ? ", " : "", json_str(fault, "code"), json_str(fault, "pointer"));
        free(list);
        list = longer;
        assert_true(strlen(json_str_or(fault, "detail", "")) > 5);
    }
    return list;
}

struct row {
    const char *spec;   /* the spec, or one of its members */
    const char *faults; /* in the form of fault_list */
};

struct setting {
    const char *form; /* the body, with $ for the text of a row */
    const char *defaults, *observed;
    bool v1;
};

static struct problem *check_body(const char *body, const struct setting *setting)
{
    json_t *catalog CLEANUP_JSON = parse(catalog_text);
    json_t *defaults CLEANUP_JSON = setting->defaults ? parse(setting->defaults) : NULL;
    json_t *observed CLEANUP_JSON = setting->observed ? parse(setting->observed) : NULL;
    json_t *doc CLEANUP_JSON = parse(body);
    struct problem *faults = NULL;
    const struct spec_context context = {.catalog = catalog,
                                         .defaults = defaults,
                                         .observed = observed,
                                         .abilities = abilities_of(setting->v1 ? API_V1 : API_V2),
                                         .now = NOW_S * US_PER_S};
    spec_check_body(doc, SPEC_CREATE, &context, &faults);
    return faults;
}

/* Replaces the '$' in `form` by `text`. */
static char *fill(const char *form, const char *text)
{
    const char *hole = strchr(form, '$');
    return hole ? mem_printf("%.*s%s%s", (int)(hole - form), form, text, hole + 1) : mem_strdup(form);
}

static void check_rows(const struct row *rows, size_t count, const struct setting *setting)
{
    for (size_t i = 0; i < count; i++) {
        char *body CLEANUP_FREE = fill(setting->form, rows[i].spec);
        struct problem *problem CLEANUP_PROBLEM = check_body(body, setting);
        char *found CLEANUP_FREE = fault_list(problem);
        if (strcmp(found, rows[i].faults) != 0)
            fail_msg("row %zu: %s\n  wanted: %s\n  found:  %s", i, body, rows[i].faults, found);
        assert_true(!problem || problem->code == PROBLEM_VALIDATION_FAILED);
    }
}

#define CHECK_ROWS(rows, ...) check_rows(rows, ARRAY_LEN(rows), &(const struct setting){__VA_ARGS__})
#define SPEC_FORM             "{'name':'dev','spec':$}"
#define POOL_FORM             "{'name':'dev','spec':{'node_pools':[$]}}"
#define POOL                  "#/spec/node_pools/0"

/* ---- versions and other values of the catalog ---- */

static void versions_are_offered(void **state)
{
    static const char fault[] = "unknown_version #/spec/kubernetes_version";
    const struct row rows[] = {
        {"'1.33'", ""},
        {"'1.33.7'", ""},
        {"'1.33.6'", ""},
        {"'1.35.0'", ""},
        {"null", ""},
        {"'1.35'", fault},
        {"'1.34.2'", fault},
        {"'1.36.0'", fault},
        {"'1.3'", fault},
        {"'1.99'", fault},
        {"'1.33.'", "wrong_form #/spec/kubernetes_version"},
        {"'latest'", "wrong_form #/spec/kubernetes_version"},
        {"''", "wrong_length #/spec/kubernetes_version"},
        {"1.33", "wrong_type #/spec/kubernetes_version"},
    };
    CHECK_ROWS(rows, .form = "{'name':'dev','spec':{'kubernetes_version':$}}");
}

static void values_of_the_catalog(void **state)
{
    static const struct row rows[] = {
        {"{'machine_type':'b.2c4gb'}", ""},
        {"{'machine_type':'old'}", "unknown_value " POOL "/machine_type"},
        {"{'machine_type':'huge'}", "unknown_value " POOL "/machine_type"},
        {"{'image':{}}", ""},
        {"{'image':{'name':'flatcar'}}", ""},
        {"{'image':{'name':'flatcar','version':'4000.1.0'}}", ""},
        {"{'image':{'name':'windows'}}", "unknown_value " POOL "/image"},
        {"{'image':{'version':'1800.0.0'}}", "unknown_version " POOL "/image"},
        {"{'image':{'name':'flatcar','version':'1877.9.0'}}", "unknown_version " POOL "/image"},
        {"{'image':{'version':'new'}}", "wrong_form " POOL "/image/version, unknown_version " POOL "/image"},
        {"{'machine_type':'a.2c4gb','image':{'version':'1877.10.0'}}", ""},
        {"{'machine_type':'a.2c4gb','image':{'name':'flatcar','version':'4000.1.0'}}", ""},
        {"{'machine_type':'a.2c4gb','image':{'version':'1877.9.0'}}", "wrong_architecture " POOL "/image"},
        {"{'zones':['az3','az1'],'maximum':2}", ""},
        {"{'zones':[]}", "too_few " POOL "/zones"},
        {"{'zones':['az1','mars']}", "unknown_value " POOL "/zones/1"},
        {"{'zones':['az1','az1']}", "duplicate " POOL "/zones/1"},
        {"{'zones':[1]}", "wrong_type " POOL "/zones/0"},
        {"{'volume_size_gib':10}", ""},
        {"{'volume_size_gib':9}", "out_of_range " POOL "/volume_size_gib"},
        {"{'volume_size_gib':70000}", "out_of_range " POOL "/volume_size_gib"},
        {"{'colour':'blue'}", "unknown_member " POOL "/colour"},
    };
    CHECK_ROWS(rows, .form = POOL_FORM);
    static const struct row from_defaults[] = {
        {"{'image':{'version':'1877.9.0'}}", "wrong_architecture " POOL "/image"},
        {"{'image':{'version':'1877.9.0'},'machine_type':'b.2c4gb'}", ""},
    };
    CHECK_ROWS(from_defaults, .form = POOL_FORM, .defaults = "{'machine_type':'a.2c4gb'}");
}

/* When the catalog's architecture cannot be read, no image is refused, and no image is offered as newer. */
static void an_unread_architecture_refuses_no_image(void **state)
{
    json_t *catalog CLEANUP_JSON = parse(
        "{'machine_types':[{'name':'t','architecture':null},{'name':'u'}],'machine_images':[{'name':'i',"
        "'versions':[{'version':'2','architectures':['arm64']}]}]}");
    static const struct {
        const char *pool;
        size_t offers;
    } rows[] = {
        {"{'machine_type':'t','image':{'name':'i','version':'1'}}", 1},
        {"{'machine_type':'u','image':{'name':'i','version':'1'}}", 0},
        {"{'machine_type':'t','image':{'name':'i','version':null}}", 0},
    };
    const struct spec_context context = {.catalog = catalog, .abilities = abilities_of(API_V2)};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *pool CLEANUP_JSON = parse(rows[i].pool);
        json_t *offers CLEANUP_JSON = spec_image_offers(pool, &context);
        assert_int_equal(json_array_size(offers), rows[i].offers);
    }
}

static void valid_values_are_reported(void **state)
{
    static const struct {
        const char *text, *valid;
    } rows[] = {
        {"{'kubernetes_version':'1.99'}", "['1.32.11','1.33.6','1.33.7','1.34.3','1.35.0','1.38.1']"},
        {"{'node_pools':[{'machine_type':'x'}]}", "['b.2c4gb','a.2c4gb']"},
        {"{'node_pools':[{'image':{'name':'x'}}]}", "['gardenlinux','flatcar']"},
        {"{'node_pools':[{'image':{'version':'1'}}]}", "['1877.9.0','1877.10.0']"},
        {"{'node_pools':[{'machine_type':'a.2c4gb','image':{'version':'1877.9.0'}}]}", "['1877.10.0']"},
        {"{'node_pools':[{'zones':['x']}]}", "['az1','az2','az3']"},
        {"{'node_pools':[{'taints':[{'key':'a','effect':'x'}]}]}",
         "['NoSchedule','PreferNoSchedule','NoExecute']"},
        {"{'networking':{'type':'x'}}", "['calico','cilium']"},
        {"{'networking':{'floating_pool':'x'}}", "['ext-net']"},
        {"{'networking':{'load_balancer_provider':'x'}}", "['amphora']"},
        {"{'networking':{'type':'cilium','cilium':{'tunnel':'x'}}}", "['vxlan','geneve','disabled']"},
        {"{'networking':{'type':'cilium','cilium':{'encryption_mode':'x'}}}", "['wireguard']"},
        {"{'networking':{'nodes_cidr':'10.250.3.0/16'}}", "['10.250.0.0/16']"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *body CLEANUP_FREE = fill(SPEC_FORM, rows[i].text);
        struct problem *problem CLEANUP_PROBLEM = check_body(body, &(const struct setting){0});
        json_t *valid CLEANUP_JSON = parse(rows[i].valid);
        assert_non_null(problem);
        if (!json_equal(valid, json_arr(json_array_get(problem->faults, 0), "valid")))
            fail_msg("row %zu: %s", i, rows[i].text);
    }
}

/* ---- pools ---- */

static void sizes_of_pools(void **state)
{
    static const struct row rows[] = {
        {"{}", ""},
        {"{'minimum':0,'maximum':1}", ""},
        {"{'minimum':7}", ""},
        {"{'minimum':3,'maximum':2}", "out_of_range " POOL "/maximum"},
        {"{'minimum':-1}", "out_of_range " POOL "/minimum"},
        {"{'minimum':1001,'maximum':1000}", "out_of_range " POOL "/minimum, out_of_range " POOL "/maximum"},
        {"{'minimum':'1'}", "wrong_type " POOL "/minimum"},
        {"{'max_surge':0}", "out_of_range " POOL "/max_surge"},
        {"{'max_surge':1}", ""},
        {"{'minimum':0,'maximum':0}", "out_of_range #/spec/node_pools"},
        {"{'name':'a','minimum':0,'maximum':0},{'name':'b'}", ""},
        {"{'minimum':1,'maximum':1,'zones':['az1','az2']}", "out_of_range " POOL "/maximum"},
        {"{'minimum':0,'maximum':2,'zones':['az1','az2']}", ""},
        {"{'zones':['az1','az2','az3']}", ""},
        {"{'name':'a','minimum':0,'maximum':0,'zones':['az1','az2']},{'name':'b'}", ""},
        {"5", "wrong_type " POOL ", out_of_range #/spec/node_pools"},
    };
    CHECK_ROWS(rows, .form = POOL_FORM);
    static const struct row with_defaults[] = {
        {"{}", ""},
        {"{'minimum':3}", "out_of_range " POOL "/maximum"},
        {"{'maximum':1}", "out_of_range " POOL "/maximum"},
        {"{'maximum':1,'zones':['az1']}", ""},
    };
    CHECK_ROWS(with_defaults, .form = POOL_FORM,
               .defaults = "{'minimum':1,'maximum':2,'zones':['az1','az2']}");
    static const struct row no_nodes[] = {
        {"{}", "out_of_range #/spec/node_pools"},
        {"{'maximum':1}", ""},
    };
    CHECK_ROWS(no_nodes, .form = POOL_FORM, .defaults = "{'minimum':0,'maximum':0}");
}

static void names_of_pools(void **state)
{
    static const struct row rows[] = {
        {"{'name':'a'},{'name':'b'},{'name':'c'}", ""},
        {"{'name':'a'},{'name':'b'},{'name':'a'}", "duplicate #/spec/node_pools/2"},
        {"{'name':'a'},{}", "missing_member #/spec/node_pools/1"},
        {"{},{}", "missing_member " POOL ", missing_member #/spec/node_pools/1"},
        {"{'name':'exactly15letter'}", ""},
        {"{'name':'exactly16letters'}", "wrong_length " POOL "/name"},
        {"{'name':'Up'}", "wrong_form " POOL "/name"},
        {"{'name':'a_b'}", "wrong_form " POOL "/name"},
        {"{'name':'a-'}", "wrong_form " POOL "/name"},
        {"", "too_few #/spec/node_pools"},
    };
    CHECK_ROWS(rows, .form = POOL_FORM);
}

/* ---- labels, annotations, taints ---- */

static void labels(void **state)
{
#define TEN     "abcdefghij"
#define SIXTY   TEN TEN TEN TEN TEN TEN
#define DNS_250 SIXTY "." SIXTY "." SIXTY "." SIXTY ".abcdef"
    static const struct row rows[] = {
        {"{'a':'b','example.com/role':'x','A_b.c-9':''}", ""},
        {"{'" SIXTY "abc':'" SIXTY "abc'}", ""},
        {"{'" SIXTY "abcd':''}", "wrong_form #/labels/" SIXTY "abcd"},
        {"{'a':'" SIXTY "abcd'}", "wrong_form #/labels/a"},
        {"{'" DNS_250 "abc/" SIXTY "abc':''}", ""},
        {"{'" DNS_250 "abcd/x':''}", "wrong_form #/labels/" DNS_250 "abcd~1x"},
        {"{'':'x'}", "wrong_form #/labels/"},
        {"{'/a':'x'}", "wrong_form #/labels/~1a"},
        {"{'a/':'x'}", "wrong_form #/labels/a~1"},
        {"{'a/b/c':'x'}", "wrong_form #/labels/a~1b~1c"},
        {"{'a..b/c':'x'}", "wrong_form #/labels/a..b~1c"},
        {"{'a.-b/c':'x'}", "wrong_form #/labels/a.-b~1c"},
        {"{'Example.com/c':'x'}", "wrong_form #/labels/Example.com~1c"},
        {"{'-a':'x'}", "wrong_form #/labels/-a"},
        {"{'a~b':'x'}", "wrong_form #/labels/a~0b"},
        {"{'a':'-b'}", "wrong_form #/labels/a"},
        {"{'a':'b c'}", "wrong_form #/labels/a"},
        {"{'a':'å'}", "wrong_form #/labels/a"},
        {"{'a':true}", "wrong_type #/labels/a"},
        {"{'a b':1}", "wrong_form #/labels/a b, wrong_type #/labels/a b"},
    };
    CHECK_ROWS(rows, .form = "{'name':'dev','labels':$}");
    static const struct row of_pool[] = {
        {"{'labels':{'a':'b'}}", ""},
        {"{'labels':{'a b':'b'}}", "wrong_form " POOL "/labels/a b"},
        {"{'labels':['a']}", "wrong_type " POOL "/labels"},
        {"{'annotations':{'a':'any text, of any length'}}", ""},
        {"{'annotations':{'a b':'x'}}", "wrong_form " POOL "/annotations/a b"},
        {"{'annotations':{'a':1}}", "wrong_type " POOL "/annotations/a"},
    };
    CHECK_ROWS(of_pool, .form = POOL_FORM);
}

static void annotations_have_a_limit_together(void **state)
{
    enum { LIMIT = 256 * 1024 };
    for (size_t over = 0; over < 2; over++) {
        char *value CLEANUP_FREE = mem_calloc(LIMIT + 1, 1);
        memset(value, 'x', LIMIT - 2 - 2 + over); /* two keys of one letter, and one value of two letters */
        char *text CLEANUP_FREE = mem_printf("{'annotations':{'a':'%s','b':'xx'}}", value);
        struct row row = {text, over ? "too_large " POOL "/annotations" : ""};
        check_rows(&row, 1, &(const struct setting){.form = POOL_FORM});
    }
}

static void taints(void **state)
{
#define TAINT POOL "/taints/0"
    static const struct row rows[] = {
        {"{'key':'a','effect':'NoSchedule'}", ""},
        {"{'key':'a','value':'b','effect':'NoExecute'}", ""},
        {"{'key':'a','value':null,'effect':'PreferNoSchedule'}", ""},
        {"{'key':'a','effect':'NoSchedule'},{'key':'a','effect':'NoExecute'}", ""},
        {"{'key':'a','effect':'NoSchedule'},{'key':'a','value':'b','effect':'NoSchedule'}",
         "duplicate " POOL "/taints/1"},
        {"{'key':'a','effect':'Never'}", "unknown_value " TAINT "/effect"},
        {"{'key':'a b','effect':'NoSchedule'}", "wrong_form " TAINT "/key"},
        {"{'key':'a','value':'b c','effect':'NoSchedule'}", "wrong_form " TAINT "/value"},
        {"{'key':'a','value':true,'effect':'NoSchedule'}", "wrong_type " TAINT "/value"},
        {"{'key':'a'}", "missing_member " TAINT},
        {"{'effect':'NoSchedule'}", "missing_member " TAINT},
        {"{'key':'a','effect':'NoSchedule','x':1}", "unknown_member " TAINT "/x"},
        {"{'key':'node.gardener.cloud/critical-components-not-ready','effect':'NoSchedule'}",
         "reserved " TAINT "/key"},
        {"'a=b:NoSchedule'", "wrong_type " TAINT},
    };
    CHECK_ROWS(rows, .form = "{'name':'dev','spec':{'node_pools':[{'taints':[$]}]}}");
}

/* ---- networks ---- */

static void networks(void **state)
{
#define NODES "#/spec/networking/nodes_cidr"
#define ID    "0b2f8e3c-5a1d-4c7e-9f60-123456789abc"
    static const struct row rows[] = {
        {"{}", ""},
        {"{'nodes_cidr':'10.250.0.0/16'}", ""},
        {"{'nodes_cidr':'100.128.0.0/11'}", ""},
        {"{'nodes_cidr':'10.250.0.1/16'}", "wrong_form " NODES},
        {"{'nodes_cidr':'10.250.0.0'}", "wrong_form " NODES},
        {"{'nodes_cidr':'10.250.0.0/33'}", "wrong_form " NODES},
        {"{'nodes_cidr':'10.250.0.0/+8'}", "wrong_form " NODES},
        {"{'nodes_cidr':'10.250.0/16'}", "wrong_form " NODES},
        {"{'nodes_cidr':'fd00::/64'}", "wrong_form " NODES},
        {"{'nodes_cidr':'100.96.0.0/16'}", "overlap " NODES},
        {"{'nodes_cidr':'100.64.0.0/16'}", "overlap " NODES},
        {"{'nodes_cidr':'100.64.0.0/10'}", "overlap " NODES ", overlap " NODES},
        {"{'nodes_cidr':'100.72.0.0/16'}", ""},
        {"{'nodes_cidr':'240.0.0.0/16'}", "overlap " NODES},
        {"{'nodes_cidr':'241.1.0.0/16'}", "overlap " NODES},
        {"{'nodes_cidr':'242.2.0.0/16'}", "overlap " NODES},
        {"{'nodes_cidr':'243.3.0.0/16'}", "overlap " NODES},
        {"{'nodes_cidr':'244.255.0.0/16'}", "overlap " NODES},
        {"{'type':'calico'}", ""},
        {"{'type':'flannel'}", "unknown_value #/spec/networking/type"},
        {"{'floating_pool':'x'}", "unknown_value #/spec/networking/floating_pool"},
        {"{'load_balancer_provider':'x'}", "unknown_value #/spec/networking/load_balancer_provider"},
        {"{'network_id':'" ID "'}", ""},
        {"{'router_id':'" ID "'}", ""},
        {"{'network_id':'" ID "x'}", "wrong_length #/spec/networking/network_id"},
        {"{'router_id':'0b2f8e3c-5a1d-4c7e-9f60-12345678!abc'}", "wrong_form #/spec/networking/router_id"},
        {"{'pods':'10.0.0.0/8'}", "unknown_member #/spec/networking/pods"},
    };
    CHECK_ROWS(rows, .form = "{'name':'dev','spec':{'networking':$}}");
}

static void cilium(void **state)
{
#define CILIUM "#/spec/networking/cilium"
    static const struct row rows[] = {
        {"'type':'cilium','cilium':{}", ""},
        {"'type':'calico','cilium':null", ""},
        {"'type':'cilium','cilium':{'debug':false,'encryption_enabled':true,'encryption_mode':'wireguard',"
         "'encryption_node_to_node_enabled':true,'encryption_strict_mode_enabled':null,'hubble_enabled':true,"
         "'policy_audit_mode':false,'tunnel':'geneve'}",
         ""},
        {"'type':'cilium','cilium':{'tunnel':'gre'}", "unknown_value " CILIUM "/tunnel"},
        {"'type':'cilium','cilium':{'encryption_mode':'ipsec'}", "unknown_value " CILIUM "/encryption_mode"},
        {"'type':'cilium','cilium':{'hubble_enabled':'yes'}", "wrong_type " CILIUM "/hubble_enabled"},
        {"'type':'cilium','cilium':{'x':1}", "unknown_member " CILIUM "/x"},
        {"'type':'calico','cilium':{}", "conflict " CILIUM},
        {"'cilium':{'debug':true}", "conflict " CILIUM},
    };
    CHECK_ROWS(rows, .form = "{'name':'dev','spec':{'networking':{$}}}");
    static const struct row there[] = {{"'cilium':{'debug':true}", ""}};
    CHECK_ROWS(there, .form = "{'name':'dev','spec':{'networking':{$}}}",
               .observed = "{'networking':{'type':'cilium'}}");
}

static void allow_lists(void **state)
{
    static const struct row rows[] = {
        {"", ""},
        {"'0.0.0.0/0'", ""},
        {"'10.0.0.0/8','141.255.187.164/32'", ""},
        {"'10.0.0.0/8','10.0.0.0/8'", "duplicate #/spec/allowed_cidrs/1"},
        {"'10.0.0.1/8'", "wrong_form #/spec/allowed_cidrs/0"},
        {"'10.0.0.0'", "wrong_form #/spec/allowed_cidrs/0"},
        {"'10.0.0.0/08'", "wrong_form #/spec/allowed_cidrs/0"},
        {"10", "wrong_type #/spec/allowed_cidrs/0"},
    };
    CHECK_ROWS(rows, .form = "{'name':'dev','spec':{'allowed_cidrs':[$]}}");
}

static void networks_overlap(void **state)
{
    static const struct {
        const char *left, *right;
        bool overlap;
    } rows[] = {
        {"10.0.0.0/8", "10.250.0.0/16", true},     {"10.0.0.0/16", "10.1.0.0/16", false},
        {"0.0.0.0/0", "244.0.0.0/8", true},        {"100.96.0.0/11", "100.64.0.0/13", false},
        {"100.112.0.0/13", "100.96.0.0/11", true}, {"1.2.3.4/32", "1.2.3.5/32", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ipv4_net left, right;
        bool canonical;
        assert_true(ipv4_net_parse(rows[i].left, &left, &canonical) && canonical);
        assert_true(ipv4_net_parse(rows[i].right, &right, &canonical) && canonical);
        if (ipv4_net_overlaps(&left, &right) != rows[i].overlap ||
            ipv4_net_overlaps(&right, &left) != rows[i].overlap)
            fail_msg("%s %s", rows[i].left, rows[i].right);
    }
}

/* ---- times ---- */

static void cron_strings(void **state)
{
    static const char *const good[] = {
        "0 20 * * 1-5", "*/5 * * * *",     "0 8,10,12 * * *", "59 23 31 12 6",
        "0 0 1 1 0",    "0-30/10 8 * * *", "30 6 * * 1,3,5",  "0 20 * * 1-4,6",
        "@daily",       "@yearly",         "@annually",       "@monthly",
        "@weekly",      "@hourly",         "5/15 * * * *",    "0 8-18/2 * * *",
    };
    static const struct {
        const char *text, *about;
    } bad[] = {
        {"", "five fields"},
        {"0 20 * *", "five fields"},
        {"0 20 * * 1 2026", "five fields"},
        {"0  20 * * 1", "five fields"},
        {" 0 20 * * 1", "five fields"},
        {"0 20 * * 1 ", "five fields"},
        {"60 20 * * *", "minute '60' is not within 0 to 59"},
        {"0 24 * * *", "hour '24' is not within 0 to 23"},
        {"0 0 0 * *", "day of month '0' is not within 1 to 31"},
        {"0 0 32 * *", "day of month"},
        {"0 0 1 13 *", "month '13' is not within 1 to 12"},
        {"0 18 * * 7", "weekday '7' is not within 0 to 6"},
        {"0 18 * * 1-7", "weekday '1-7' is not within 0 to 6"},
        {"0 0 * * MON-FRI", "weekday 'MON-FRI': names"},
        {"0 0 * JAN *", "month 'JAN': names"},
        {"0 0 * * 5-1", "ends before"},
        {"*/0 * * * *", "step of 0"},
        {"1,,2 * * * *", "minute ''"},
        {"1, * * * *", "minute ''"},
        {"1- * * * *", "minute '1-'"},
        {"1/ * * * *", "minute '1/'"},
        {"*-5 * * * *", "minute '*-5'"},
        {"? * * * *", "minute '?'"},
        {"-1 * * * *", "minute '-1'"},
        {"99999 * * * *", "minute '99999'"},
        {"0 0-9/3 * * *", "Cleura does not take"},
        {"@reboot", "shortcuts"},
        {"@every 1h", "shortcuts"},
        {"@midnight", "shortcuts"},
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        char *fault CLEANUP_FREE = cron_fault(good[i]);
        if (fault)
            fail_msg("'%s': %s", good[i], fault);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char *fault CLEANUP_FREE = cron_fault(bad[i].text);
        if (!fault || !strstr(fault, bad[i].about))
            fail_msg("'%s': %s", bad[i].text, fault ? fault : "accepted");
    }
}

static void schedules(void **state)
{
#define SCHEDULES "#/spec/hibernation_schedules/"
    static const struct row rows[] = {
        {"", ""},
        {"{'start':'0 20 * * 1-5','end':'0 6 * * 1-5'}", ""},
        {"{'start':'0 20 * * 5','end':'0 6 * * 1'},{'start':'0 21 * * 1','end':'0 7 * * 2'}", ""},
        {"{'start':'0 20 * * 1'}", "missing_member " SCHEDULES "0"},
        {"{'start':'0 25 * * 1','end':'0 6 * * FRI'}",
         "wrong_form " SCHEDULES "0/start, wrong_form " SCHEDULES "0/end"},
        {"{'start':'@reboot','end':'@daily'}", "wrong_form " SCHEDULES "0/start"},
        {"{'start':'0 6 * * 1','end':'0 6 * * 1'}", "duplicate " SCHEDULES "0/end"},
        {"{'start':'0 20 * * 1','end':'0 6 * * 2'},{'start':'0 6 * * 2','end':'0 7 * * 3'}",
         "duplicate " SCHEDULES "1/start"},
        {"{'start':'0 20 * * 1','end':'0 6 * * 2','location':'Europe/Berlin'}",
         "unknown_value " SCHEDULES "0/location"},
        {"{'start':'0 20 * * 1','end':'0 6 * * 2','location':'UTC'}", ""},
        {"{'start':5,'end':'0 6 * * 1'}", "wrong_type " SCHEDULES "0/start, missing_member " SCHEDULES "0"},
        {"5", "wrong_type " SCHEDULES "0"},
    };
    CHECK_ROWS(rows, .form = "{'name':'dev','spec':{'hibernation_schedules':[$]}}");
}

static void maintenance_windows(void **state)
{
#define WINDOW "#/spec/maintenance"
    static const struct row rows[] = {
        {"'auto_update_kubernetes':false", ""},
        {"'begin':'020000+0000','end':'030000+0000'", ""},
        {"'begin':'020000+0000','end':'023000+0000'", ""},
        {"'begin':'020000+0000','end':'022959+0000'", "out_of_range " WINDOW "/end"},
        {"'begin':'020000+0000','end':'080000+0000'", ""},
        {"'begin':'020000+0000','end':'080001+0000'", "out_of_range " WINDOW "/end"},
        {"'begin':'020000+0000','end':'020000+0000'", "out_of_range " WINDOW "/end"},
        {"'begin':'030000+0000','end':'020000+0000'", "out_of_range " WINDOW "/end"},
        {"'begin':'233000+0000','end':'003000+0000'", ""},
        {"'begin':'010000+0200','end':'000000+0000'", ""},
        {"'begin':'000000+0100','end':'000000+0000'", ""},
        {"'begin':'000000+0000','end':'000000+0100'", "out_of_range " WINDOW "/end"},
        {"'begin':'140000+1400','end':'010000+0000'", ""},
        {"'begin':'020000-0500','end':'030000-0500'",
         "wrong_form " WINDOW "/begin, wrong_form " WINDOW "/end"},
        {"'begin':'240000+0000','end':'010000+0000'", "wrong_form " WINDOW "/begin"},
        {"'begin':'020000+0030','end':'030000+0000'", "wrong_form " WINDOW "/begin"},
        {"'begin':'020000+1500','end':'030000+0000'", "wrong_form " WINDOW "/begin"},
        {"'begin':'02:00:00+00','end':'030000+0000'", "wrong_form " WINDOW "/begin"},
        {"'begin':'0200','end':'030000+0000'", "wrong_form " WINDOW "/begin"},
        {"'begin':'02:00','end':'030000+0000'", "wrong_form " WINDOW "/begin"},
        {"'begin':'','end':'030000+0000'", "wrong_form " WINDOW "/begin"},
        {"'begin':'020000+0000'", "missing_member " WINDOW},
        {"'end':'020000+0000'", "missing_member " WINDOW},
        {"'auto_update_kubernetes':1", "wrong_type " WINDOW "/auto_update_kubernetes"},
    };
    CHECK_ROWS(rows, .form = "{'name':'dev','spec':{'maintenance':{$}}}");
}

/* ---- whole bodies ---- */

static void v1_accounts_have_fewer_members(void **state)
{
    static const struct row rows[] = {
        {"{'networking':{'nodes_cidr':'10.250.0.0/16','floating_pool':'ext-net','type':null}}", ""},
        {"{'networking':{'type':'calico'}}", "not_in_v1 #/spec/networking/type"},
        {"{'networking':{'load_balancer_provider':'amphora'}}",
         "not_in_v1 #/spec/networking/load_balancer_provider"},
        {"{'networking':{'type':'cilium','cilium':{}}}",
         "not_in_v1 #/spec/networking/type, not_in_v1 #/spec/networking/cilium"},
        {"{'allowed_cidrs':[]}", ""},
        {"{'allowed_cidrs':['10.0.0.0/8']}", "not_in_v1 #/spec/allowed_cidrs"},
        {"{'node_pools':[{'name':'sixsix'}]}", ""},
        {"{'node_pools':[{'name':'seven77'}]}", "wrong_length " POOL "/name"},
    };
    CHECK_ROWS(rows, .form = SPEC_FORM, .v1 = true);
    static const struct row there[] = {{"{'node_pools':[{'name':'seven77'}]}", ""}};
    CHECK_ROWS(there, .form = SPEC_FORM, .v1 = true, .observed = "{'node_pools':[{'name':'seven77'}]}");
}

static void all_faults_come_at_once(void **state)
{
    static const struct row row = {
        "{'kubernetes_version':'9.9','node_pools':[{'name':'a','machine_type':'x','zones':['x']},"
        "{'name':'a','taints':[{'key':'k','effect':'x'}]}],'networking':{'nodes_cidr':'x.x.x.x/x'},"
        "'high_availability':1,'hibernation_schedules':[{'start':'@reboot','end':'@daily'}],"
        "'maintenance':{'begin':'020000+0000','end':'020000+0000'},'allowed_cidrs':['x'],'x':1}",
        "unknown_version #/spec/kubernetes_version, unknown_value " POOL "/machine_type, unknown_value " POOL
        "/zones/0, unknown_value #/spec/node_pools/1/taints/0/effect, duplicate #/spec/node_pools/1, "
        "wrong_form #/spec/networking/nodes_cidr, wrong_type #/spec/high_availability, "
        "wrong_form #/spec/hibernation_schedules/0/start, out_of_range #/spec/maintenance/end, "
        "wrong_form #/spec/allowed_cidrs/0, unknown_member #/spec/x"};
    check_rows(&row, 1, &(const struct setting){.form = SPEC_FORM});
}

static void an_unknown_member_is_told_where_it_belongs(void **state)
{
    (void)state;
    static const char none[] = "is not a member that exists here";
    static const struct {
        const char *body, *hint;
    } rows[] = {
        {"{'kubernetes_version':'1.33'}", ": 'kubernetes_version' belongs into 'spec'"},
        {"{'nodePools':[]}", ": 'node_pools' belongs into 'spec'"},
        {"{'allowed_cidrs':null}", ": 'allowed_cidrs' belongs into 'spec'"},
        {"{'deletionProtection':true}", "; did you mean 'deletion_protection'?"},
        {"{'lables':{}}", "; did you mean 'labels'?"},
        {"{'colour':1}", ""},
        {"{'x\\u0007y':1}", ""},
        {"{'spec':{'nodePools':[]}}", "; did you mean 'node_pools'?"},
        {"{'spec':{'labels':{}}}", ""},
        {"{'spec':{'node_pools':[{'machineType':'b.2c4gb'}]}}", "; did you mean 'machine_type'?"},
        {"{'spec':{'node_pools':[{'volumeSize':9}]}}", "; did you mean 'volume_size_gib'?"},
        {"{'spec':{'maintenance':{'autoUpdateKubernetes':true}}}",
         "; did you mean 'auto_update_kubernetes'?"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *doc CLEANUP_JSON = parse(rows[i].body);
        json_object_set_new(doc, "name", json_string("dev"));
        struct problem *faults CLEANUP_PROBLEM = NULL;
        spec_check_body(doc, SPEC_CREATE, &(const struct spec_context){.abilities = abilities_of(API_V2)},
                        &faults);
        const json_t *fault = json_array_get(faults->faults, 0);
        char *wanted CLEANUP_FREE = mem_printf("%s%s", none, rows[i].hint);
        assert_string_equal(json_str(fault, "code"), "unknown_member");
        assert_string_equal(json_str(fault, "detail"), wanted);
    }
}

static void an_unknown_value_is_told_the_near_one(void **state)
{
    (void)state;
    static const struct {
        const char *pool, *detail;
    } rows[] = {
        {"{'machine_type':'b.2c4bg'}", "'b.2c4bg' is not a usable machine type; did you mean 'b.2c4gb'?"},
        {"{'machine_type':'huge'}", "'huge' is not a usable machine type"},
        {"{'zones':['AZ1']}", "'AZ1' is not a zone of the region; did you mean 'az1'?"},
        {"{'image':{'name':'gardnlinux'}}",
         "'gardnlinux' is not a machine image; did you mean 'gardenlinux'?"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *body CLEANUP_FREE = fill(POOL_FORM, rows[i].pool);
        struct problem *problem CLEANUP_PROBLEM = check_body(body, &(const struct setting){.v1 = false});
        assert_string_equal(json_str(json_array_get(problem->faults, 0), "detail"), rows[i].detail);
    }
}

static void a_put_may_repeat_its_own_name(void **state)
{
    static const struct {
        const char *path, *body, *faults;
    } rows[] = {{"dev", "{'name':'dev'}", ""},
                {"dev", "{'name':null}", ""},
                {"dev", "{'name':'other'}", "immutable #/name"},
                {NULL, "{'name':'dev'}", "unknown_member #/name"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *doc CLEANUP_JSON = parse(rows[i].body);
        struct problem *faults CLEANUP_PROBLEM = NULL;
        spec_check_body(doc, SPEC_PUT,
                        &(const struct spec_context){.name = rows[i].path, .abilities = abilities_of(API_V2)},
                        &faults);
        char *listed CLEANUP_FREE = fault_list(faults);
        assert_string_equal(listed, rows[i].faults);
    }
}

static void without_a_catalog_its_checks_are_left_out(void **state)
{
    json_t *doc CLEANUP_JSON =
        parse("{'name':'a','spec':{'kubernetes_version':'9.9','node_pools':[{'machine_type':'x','zones':['x']"
              ",'image':{'name':'x','version':'1'},'volume_size_gib':1}],'networking':{'floating_pool':'x',"
              "'load_balancer_provider':'x'}}}");
    struct problem *faults = NULL;
    spec_check_body(doc, SPEC_CREATE, &(const struct spec_context){.abilities = abilities_of(API_V2)},
                    &faults);
    assert_null(faults);
}

/* ---- existing clusters ---- */

static const char observed_text[] =
    "{'kubernetes_version':'1.34.2','node_pools':[{'name':'a','machine_type':'old',"
    "'image':{'name':'gardenlinux','version':'1800.0.0'},'minimum':1,'maximum':1,'max_surge':0,"
    "'volume_size_gib':5,'zones':['gone','az1'],'labels':{'a b':'c d'},'annotations':{'a b':'x'},"
    "'taints':[{'key':'a b','value':'x','effect':'Odd'}]},"
    "{'name':'b','machine_type':'b.2c4gb','image':{'name':'gone','version':'1.0'},'minimum':0,'maximum':3,"
    "'zones':['az1']}],"
    "'networking':{'type':'calico','nodes_cidr':'100.64.0.0/16','floating_pool':'old-net',"
    "'load_balancer_provider':'octavia','network_id':null,'router_id':'" ID "'},"
    "'high_availability':true,'hibernation_schedules':[{'start':'0 0-9/3 * * *','end':null}],"
    "'maintenance':{'begin':'020000-0500','end':'030000-0500'},'allowed_cidrs':['10.1.2.3']}";

static void existing_values_may_stay(void **state)
{
    static const struct row rows[] = {
        {"{'kubernetes_version':'1.34.2'}", ""},
        {"{'kubernetes_version':'1.34'}", ""},
        {"{'kubernetes_version':'1.36.0'}", "unknown_version #/spec/kubernetes_version"},
        {"{'node_pools':[{'name':'a','machine_type':'old','image':{'name':'gardenlinux',"
         "'version':'1800.0.0'},'minimum':1,'maximum':1,'max_surge':0,'volume_size_gib':5,"
         "'zones':['gone','az1'],'labels':{'a b':'c d'},'annotations':{'a b':'x'},"
         "'taints':[{'key':'a b','value':'x','effect':'Odd'}]}]}",
         ""},
        {"{'node_pools':[{'name':'a','image':{'version':'1800.0.0'}}]}", ""},
        {"{'node_pools':[{'name':'a','maximum':2,'zones':['gone','az1','az2']}]}",
         "out_of_range " POOL "/maximum"},
        {"{'node_pools':[{'name':'a','minimum':2}]}", "out_of_range " POOL "/maximum"},
        {"{'node_pools':[{'name':'b'},{'name':'a','labels':{'a b':'e f'}}]}",
         "wrong_form #/spec/node_pools/1/labels/a b, wrong_form #/spec/node_pools/1/labels/a b"},
        /* existing values of another pool */
        {"{'node_pools':[{'name':'b','machine_type':'old','zones':['gone'],'volume_size_gib':5}]}",
         "unknown_value " POOL "/machine_type, unknown_value " POOL "/zones/0, out_of_range " POOL
         "/volume_size_gib"},
        {"{'node_pools':[{'name':'c','image':{'name':'gardenlinux','version':'1800.0.0'}}]}",
         "unknown_version " POOL "/image"},
        /* an image that the catalog no longer contains */
        {"{'node_pools':[{'name':'b','image':{'name':'gone'}}]}", ""},
        {"{'node_pools':[{'name':'b','image':{'version':'2.0'}}]}", "unknown_value " POOL "/image"},
        {"{'node_pools':[{'name':'b','image':{'name':'flatcar','version':'4000.1.0'}}]}", ""},
        /* the cluster has two pools, and the row names none of them */
        {"{'node_pools':[{'minimum':1}]}", "missing_member " POOL},
        {"{'networking':{'nodes_cidr':'100.64.0.0/16','floating_pool':'old-net',"
         "'load_balancer_provider':'octavia'}}",
         ""},
        {"{'networking':{'floating_pool':'x'}}", "unknown_value #/spec/networking/floating_pool"},
        {"{'hibernation_schedules':[{'start':'0 0-9/3 * * *','end':null}]}", ""},
        {"{'hibernation_schedules':[{'start':'0 0-9/4 * * *','end':'@daily'}]}",
         "wrong_form #/spec/hibernation_schedules/0/start"},
        {"{'maintenance':{'begin':'020000-0500','end':'030000-0500'}}", ""},
        {"{'maintenance':{'begin':'020000-0600','end':'030000-0500'}}",
         "wrong_form #/spec/maintenance/begin, out_of_range #/spec/maintenance/end"},
        {"{'allowed_cidrs':['10.1.2.3','10.0.0.0/8']}", ""},
        {"{'allowed_cidrs':['10.1.2.4']}", "wrong_form #/spec/allowed_cidrs/0"},
    };
    CHECK_ROWS(rows, .form = SPEC_FORM, .observed = observed_text);
    static const struct row single[] = {
        {"{'node_pools':[{'machine_type':'old'}]}", ""},
        {"{'node_pools':[{'name':'other','machine_type':'old'}]}", "unknown_value " POOL "/machine_type"},
    };
    CHECK_ROWS(single, .form = SPEC_FORM, .observed = "{'node_pools':[{'name':'a','machine_type':'old'}]}");
}

static struct problem *check_change(const char *spec_text, const char *observed)
{
    json_t *catalog CLEANUP_JSON = parse(catalog_text);
    json_t *spec CLEANUP_JSON = parse(spec_text);
    json_t *there CLEANUP_JSON = parse(observed);
    struct problem *faults = NULL;
    const struct spec_context context = {
        .catalog = catalog, .observed = there, .abilities = abilities_of(API_V2), .now = NOW_S * US_PER_S};
    spec_check_change(spec, there, &context, &faults);
    return faults;
}

static void changes_that_cannot_be(void **state)
{
#define NETWORKING "#/spec/networking/"
    static const struct {
        const char *spec, *faults;
        enum problem_code code;
    } rows[] = {
        {"{}", "", 0},
        {"{'networking':{'type':'calico','nodes_cidr':'100.64.0.0/16','floating_pool':'old-net'}}", "", 0},
        {"{'networking':{'network_id':'" ID "'}}", "", 0},
        {"{'networking':{'router_id':'0B2F8E3C-5A1D-4C7E-9F60-123456789ABC'}}", "", 0},
        {"{'networking':{'type':null}}", "", 0},
        {"{'networking':{'type':'cilium'}}", "immutable " NETWORKING "type", PROBLEM_IMMUTABLE_FIELD},
        {"{'networking':{'nodes_cidr':'10.0.0.0/16'}}", "immutable " NETWORKING "nodes_cidr",
         PROBLEM_IMMUTABLE_FIELD},
        {"{'networking':{'floating_pool':'Old-Net'}}", "immutable " NETWORKING "floating_pool",
         PROBLEM_IMMUTABLE_FIELD},
        {"{'networking':{'router_id':'1b2f8e3c-5a1d-4c7e-9f60-123456789abc','load_balancer_provider':"
         "'amphora'}}",
         "immutable " NETWORKING "load_balancer_provider, immutable " NETWORKING "router_id",
         PROBLEM_IMMUTABLE_FIELD},
        {"{'networking':{'cilium':{}}}", "conflict " NETWORKING "cilium", PROBLEM_VALIDATION_FAILED},
        {"{'networking':{'type':'cilium','cilium':{}}}",
         "immutable " NETWORKING "type, conflict " NETWORKING "cilium", PROBLEM_VALIDATION_FAILED},
        {"{'kubernetes_version':'1.34.2'}", "", 0},
        {"{'kubernetes_version':'1.34'}", "", 0},
        {"{'kubernetes_version':'1'}", "", 0},
        {"{'kubernetes_version':'1.34.3'}", "", 0},
        {"{'kubernetes_version':'1.35'}", "", 0},
        {"{'kubernetes_version':'1.35.0'}", "", 0},
        {"{'kubernetes_version':'1.34.1'}", "downgrade #/spec/kubernetes_version", PROBLEM_VALIDATION_FAILED},
        {"{'kubernetes_version':'1.33'}", "downgrade #/spec/kubernetes_version", PROBLEM_VALIDATION_FAILED},
        {"{'kubernetes_version':'1.9.9'}", "downgrade #/spec/kubernetes_version", PROBLEM_VALIDATION_FAILED},
        {"{'kubernetes_version':'1.36'}", "skipped_minor #/spec/kubernetes_version",
         PROBLEM_VALIDATION_FAILED},
        {"{'kubernetes_version':'1.38.1'}", "skipped_minor #/spec/kubernetes_version",
         PROBLEM_VALIDATION_FAILED},
        {"{'kubernetes_version':'2.0'}", "skipped_minor #/spec/kubernetes_version",
         PROBLEM_VALIDATION_FAILED},
        {"{'high_availability':true}", "", 0},
        {"{'high_availability':null}", "", 0},
        {"{'high_availability':false}", "one_way #/spec/high_availability", PROBLEM_VALIDATION_FAILED},
        {"{'node_pools':[{'name':'a','zones':['gone','az1']}]}", "", 0},
        {"{'node_pools':[{'name':'a','zones':['gone','az1','az2']},{'name':'new','zones':['az3']}]}", "", 0},
        {"{'node_pools':[{'name':'a','image':{'name':'flatcar','version':'1'},'machine_type':'x'}]}", "", 0},
        {"{'node_pools':[{'name':'a','zones':['az1','gone']}]}", "", 0},
        {"{'node_pools':[{'name':'b'},{'name':'a','zones':['gone']}]}", "immutable #/spec/node_pools/1/zones",
         PROBLEM_IMMUTABLE_FIELD},
        {"{'node_pools':[{'name':'a','zones':['az2','gone']}]}", "immutable " POOL "/zones",
         PROBLEM_IMMUTABLE_FIELD},
        {"{'node_pools':[{'name':'a','zones':['az1']}],'kubernetes_version':'1.33'}",
         "downgrade #/spec/kubernetes_version, immutable " POOL "/zones", PROBLEM_VALIDATION_FAILED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct problem *problem CLEANUP_PROBLEM = check_change(rows[i].spec, observed_text);
        char *found CLEANUP_FREE = fault_list(problem);
        if (strcmp(found, rows[i].faults) != 0 || (problem && problem->code != rows[i].code))
            fail_msg("row %zu: %s\n  found: %s", i, rows[i].spec, found);
    }
}

static void nothing_is_held_against_what_is_not_reported(void **state)
{
    static const char spec[] = "{'kubernetes_version':'1.33','high_availability':false,'node_pools':[{"
                               "'zones':['az1']}],'networking':{'type':'cilium','cilium':{},'network_id':"
                               "'" ID "','nodes_cidr':'10.0.0.0/16'}}";
    static const char *const observed[] = {"{}", "{'networking':null,'node_pools':[]}",
                                           "{'networking':{'type':null,'network_id':null},'node_pools':[{'"
                                           "name':'a'}],'high_availability':null}"};
    for (size_t i = 0; i < ARRAY_LEN(observed); i++) {
        struct problem *problem CLEANUP_PROBLEM = check_change(spec, observed[i]);
        assert_null(problem);
    }
}

/* Cleura changes type and image together. */
static void a_type_changes_beside_an_image_that_is_known(void **state)
{
    static const struct {
        const char *pool, *there, *faults;
    } rows[] = {
        {"'machine_type':'new'", "'machine_type':'old','image':{'name':null,'version':null}",
         "conflict " POOL "/machine_type"},
        {"'machine_type':'new'", "'machine_type':null,'image':null", "conflict " POOL "/machine_type"},
        {"'machine_type':'new'", "'machine_type':'old','image':{'name':'gardenlinux','version':null}", ""},
        {"'machine_type':'new','image':{'name':'gardenlinux'}", "'machine_type':'old','image':null", ""},
        {"'machine_type':'old'", "'machine_type':'old','image':null", ""},
        {"'maximum':4", "'machine_type':'old','image':null", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *spec CLEANUP_FREE = mem_printf("{'node_pools':[{'name':'a',%s}]}", rows[i].pool);
        char *there CLEANUP_FREE = mem_printf("{'node_pools':[{'name':'a',%s}]}", rows[i].there);
        struct problem *problem CLEANUP_PROBLEM = check_change(spec, there);
        char *found CLEANUP_FREE = fault_list(problem);
        if (strcmp(found, rows[i].faults) != 0)
            fail_msg("row %zu: %s", i, found);
    }
}

static void the_way_out_of_a_skipped_minor(void **state)
{
    static const struct {
        const char *observed, *wanted, *valid;
    } rows[] = {
        {"1.32.11", "1.34", "['1.33.7']"},
        {"1.33.7", "1.38.1", "['1.34.3']"},
        {"1.34.3", "1.38", "['1.35.0']"}, /* the only newer version is a preview */
        {"1.35.0", "1.38", NULL},         /* 1.36.0 is not available yet */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *spec CLEANUP_FREE = mem_printf("{'kubernetes_version':'%s'}", rows[i].wanted);
        char *observed CLEANUP_FREE = mem_printf("{'kubernetes_version':'%s'}", rows[i].observed);
        struct problem *problem CLEANUP_PROBLEM = check_change(spec, observed);
        assert_non_null(problem);
        const json_t *found = json_arr(json_array_get(problem->faults, 0), "valid");
        json_t *valid CLEANUP_JSON = rows[i].valid ? parse(rows[i].valid) : NULL;
        if (valid ? !json_equal(valid, found) : found != NULL)
            fail_msg("row %zu", i);
    }
}

/* A fault is added to an existing problem, which keeps its own faults. */
static void faults_of_both_checks_add_up(void **state)
{
    json_t *spec CLEANUP_JSON = parse("{'networking':{'type':'cilium'}}");
    json_t *observed CLEANUP_JSON = parse(observed_text);
    const struct spec_context context = {.observed = observed, .abilities = abilities_of(API_V2)};
    struct problem *problem CLEANUP_PROBLEM = NULL;
    problem_add_fault(&problem, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, "#/x", "wrong_type", NULL,
                      "is odd");
    spec_check_change(spec, observed, &context, &problem);
    assert_int_equal(problem->code, PROBLEM_VALIDATION_FAILED);
    assert_int_equal(json_array_size(problem->faults), 2);
}

static void fields_that_roll_nodes(void **state)
{
    static const struct {
        const char *wanted, *version; /* the new version; the old one is 1.33.7 */
        const char *about;            /* a part of the reason, or NULL */
    } rows[] = {
        {"{}", "1.33.7", NULL},
        {"{}", NULL, NULL},
        {NULL, "1.33.7", NULL},
        {"{}", "1.33", NULL},
        {"{}", "1", NULL},
        {"{}", "1.33.9", NULL},
        {"{}", "1.34", "Kubernetes"},
        {NULL, "1.34.3", "Kubernetes"},
        {"{'machine_type':'b.4c8gb'}", "1.34.3", "Kubernetes"},
        {"{'machine_type':'b.4c8gb'}", "1.33", "machine type"},
        {"{'machine_type':'b.2c4gb'}", "1.33", NULL},
        {"{'machine_type':null}", "1.33", NULL},
        {"{'image':{'name':'flatcar'}}", NULL, "image"},
        {"{'image':{'name':'gardenlinux'}}", NULL, NULL},
        {"{'image':{'version':'1877.10.0'}}", NULL, "version of the machine image"},
        {"{'image':{'name':'gardenlinux','version':'1877.9.0'}}", NULL, NULL},
        {"{'volume_size_gib':60}", NULL, "volume"},
        {"{'volume_size_gib':50}", NULL, NULL},
        {"{'minimum':2,'maximum':9,'max_surge':3,'labels':{'a':'b'},'annotations':{'a':'b'},"
         "'taints':[{'key':'a','effect':'NoSchedule'}],'zones':['az1','az2']}",
         "1.33.9", NULL},
    };
    json_t *observed CLEANUP_JSON =
        parse("{'name':'a','machine_type':'b.2c4gb','image':{'name':'gardenlinux','version':'1877.9.0'},"
              "'minimum':1,'maximum':3,'max_surge':1,'volume_size_gib':50,'zones':['az1'],'labels':{}}");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *wanted CLEANUP_JSON = rows[i].wanted ? parse(rows[i].wanted) : NULL;
        const char *reason;
        bool rolls = spec_change_rolls_nodes(wanted, observed, rows[i].version, "1.33.7", &reason);
        if (rolls != (rows[i].about != NULL) || rolls != (reason != NULL) ||
            (rolls && !strstr(reason, rows[i].about)))
            fail_msg("row %zu: %s", i, reason ? reason : "no roll");
    }
    const char *reason;
    assert_false(spec_change_rolls_nodes(observed, NULL, "1.34", "1.33.7", &reason)); /* a new pool */
    assert_null(reason);
    assert_false(spec_change_rolls_nodes(NULL, observed, "1.34", NULL, &reason));
}

/* ---- large inputs ---- */

static json_t *many_networks(size_t count, bool backwards)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        size_t n = backwards ? count - 1 - i : i;
        char *text = mem_printf("10.%zu.%zu.0/24", n >> 8 & 255, n & 255);
        json_append_take(array, json_string(text));
        free(text);
    }
    return array;
}

/* Returns the CPU time of this thread in seconds. */
static double cpu_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A store may contain specs that were accepted before there were limits. */
static void sets_are_compared_in_near_linear_time(void **state)
{
    json_t *spec CLEANUP_JSON = json_object(), *observed CLEANUP_JSON = json_object();
    json_t *differences CLEANUP_JSON = json_array();
    json_set_take(spec, "allowed_cidrs", many_networks(60000, false));
    json_set_take(observed, "allowed_cidrs", many_networks(60000, true));
    double begin = cpu_s();
    assert_int_equal(spec_differences(spec, observed, SPEC_UNKNOWN_DIFFERS, differences), 0);
    assert_true(cpu_s() - begin < 2.0); /* this took 62 s when each item was compared with all others */
    (void)json_array_set_new(json_arr(observed, "allowed_cidrs"), 7, json_string("192.0.2.0/24"));
    assert_int_equal(spec_differences(spec, observed, SPEC_UNKNOWN_DIFFERS, differences), 1);
}

static void items_that_leave_members_out_match_in_any_order(void **state)
{
    static const struct {
        const char *wanted, *found;
        size_t differences;
    } rows[] = {
        {"[{'key':'a','effect':'X'},{'key':'b','effect':'X','value':'v'}]",
         "[{'key':'b','effect':'X','value':'v'},{'key':'a','effect':'X','value':'w'}]", 0},
        {"[{'key':'a','value':'','effect':'X'}]", "[{'key':'a','effect':'X'}]", 0},
        {"[{'key':'a','value':null,'effect':'X'}]", "[{'key':'a','value':'v','effect':'X'}]", 1},
        {"[{'key':'a','effect':'X'},{'key':'a','effect':'Y'}]",
         "[{'key':'a','effect':'Y'},{'key':'a','effect':'X'}]", 0},
        {"[{'key':'a','effect':'X'}]", "[{'key':'a','effect':'Y'}]", 1},
        {"[]", "[]", 0},
        {"[{}]", "[{'key':'a'}]", 0},
        {"['x']", "[5]", 1},
        {"[{'start':'a','location':'UTC'}]", "[{'start':'a'}]", 0},
        {"[{'start':'a','location':'UTC'}]", "[{'start':'a','location':'Etc/UTC'}]", 0},
        {"[{'start':'a','location':'UTC'}]", "[{'start':'a','location':'Europe/Rome'}]", 1},
        {"[{'start':'a','location':null}]", "[{'start':'a','location':'Europe/Rome'}]", 0},
        {"[{'start':'a','location':'Europe/Rome'}]", "[{'start':'a'}]", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *spec CLEANUP_JSON = json_object(), *observed CLEANUP_JSON = json_object();
        json_t *differences CLEANUP_JSON = json_array();
        json_set_take(spec, "hibernation_schedules", parse(rows[i].wanted));
        json_set_take(observed, "hibernation_schedules", parse(rows[i].found));
        if (spec_differences(spec, observed, SPEC_UNKNOWN_DIFFERS, differences) != rows[i].differences)
            fail_msg("%s and %s", rows[i].wanted, rows[i].found);
    }
}

static void values_above_a_limit_may_stay_and_shrink(void **state)
{
    static const struct {
        size_t stored, wanted;
        bool refused;
    } rows[] = {{0, 500, false}, {0, 501, true}, {600, 600, false}, {600, 550, false}, {600, 601, true}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct problem *faults = NULL;
        json_t *known CLEANUP_JSON =
            json_pack("{s:{s:o}}", "spec", "allowed_cidrs", many_networks(rows[i].stored, 0));
        json_t *body CLEANUP_JSON =
            json_pack("{s:{s:o}}", "spec", "allowed_cidrs", many_networks(rows[i].wanted, 0));
        spec_check_limits(body, SPEC_PART_BODY, known, &faults);
        assert_int_equal(faults != NULL, rows[i].refused);
        problem_free(faults);
    }
}

static void numbers_of_a_catalog_cannot_be_too_large_D8(void **state)
{
    json_t *catalog CLEANUP_JSON =
        parse("{'machine_types':[{'name':'vast','cpus':100000000000000,'memory_mib':null},"
              "{'name':'small','cpus':2,'memory_mib':4096},{'name':'wide','cpus':2,'memory_mib':921600000},"
              "{'name':'large','cpus':8,'memory_mib':4096}]}");
    const struct spec_context context = {.catalog = catalog, .abilities = abilities_of(API_V2)};
    json_t *pool CLEANUP_JSON = spec_resolve_pool(NULL, &context);
    assert_string_equal(json_str(pool, "machine_type"), "small");
    json_set_str(pool, "machine_type", "vast");
    json_set_int(pool, "maximum", 1000);
    json_t *pools CLEANUP_JSON = json_array();
    (void)json_array_append(pools, pool);
    json_t *quota CLEANUP_JSON = spec_quota(pools, &context);
    /* The number of cores is unknown. This is also true for a type that the catalog does not contain. */
    assert_true(json_is_null(json_object_get(quota, "cores")));
    assert_int_equal(json_int(quota, "nodes", 0), 1001);
}

static void lines_of_versions_cannot_be_too_large_D8(void **state)
{
    static const char *const rows[][2] = {{"1.33.7", "1.34"},
                                          {"1.33", "1.34"},
                                          {"1", "1.0"},
                                          {"1.9223372036854775807", "1.9223372036854775807"},
                                          {"1.99999999999999999999", "1.9223372036854775807"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[VERSION_LINE_BYTES];
        version_next_minor(rows[i][0], line);
        assert_string_equal(line, rows[i][1]);
    }
}

static void surge_below_the_number_of_zones_is_warned_of(void **state)
{
    static const struct {
        const char *spec, *observed, *pools, *pointer;
    } rows[] = {
        {"{'node_pools':[{}]}", NULL, "[{'zones':['a','b'],'max_surge':1,'maximum':3}]",
         "#/spec/node_pools/0/max_surge"},
        {"{}", NULL, "[{'zones':['a','b'],'max_surge':1,'maximum':3}]", "#/spec/node_pools"},
        {"{}", "{}", "[{'zones':['a','b'],'max_surge':1,'maximum':3}]", NULL},
        {"{'node_pools':[{}]}", NULL, "[{'zones':['a','b'],'max_surge':2,'maximum':3}]", NULL},
        {"{'node_pools':[{}]}", NULL, "[{'zones':['a'],'max_surge':1,'maximum':3}]", NULL},
        {"{'node_pools':[{}]}", NULL, "[{'zones':['a','b'],'max_surge':1,'maximum':0}]", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *spec CLEANUP_JSON = parse(rows[i].spec), *pools CLEANUP_JSON = parse(rows[i].pools);
        json_t *observed CLEANUP_JSON = rows[i].observed ? parse(rows[i].observed) : NULL;
        json_t *warnings CLEANUP_JSON = json_array();
        spec_warnings(spec, observed, pools, warnings);
        assert_int_equal(json_array_size(warnings), rows[i].pointer ? 1 : 0);
        if (rows[i].pointer)
            assert_string_equal(json_str(json_array_get(warnings, 0), "pointer"), rows[i].pointer);
    }
}

/* `codes`: the codes of the warnings, as "code code". `words`: a part of the message of a single warning. */
static void expect_quota(const char *use_text, const char *limits_text, const char *codes, const char *words)
{
    json_t *use CLEANUP_JSON = parse(use_text),
                *limits CLEANUP_JSON = limits_text ? parse(limits_text) : NULL;
    json_t *warnings CLEANUP_JSON = json_array();
    char *got CLEANUP_FREE = mem_strdup("");
    size_t i;
    json_t *warning;
    spec_warn_of_quota(warnings, use, limits, NULL, NULL);
    json_array_foreach (warnings, i, warning) {
        char *longer = mem_printf("%s%s%s", got, i ? " " : "", json_str(warning, "code"));
        free(got);
        got = longer;
        assert_string_equal(json_str(warning, "pointer"), "#/spec/node_pools");
    }
    if (strcmp(got, codes) != 0)
        fail_msg("'%s' for %s of %s, not '%s'", got, use_text, limits_text ? limits_text : "no limits",
                 codes);
    const char *detail = json_str_or(json_array_get(warnings, 0), "detail", "");
    if (words && !strstr(detail, words))
        fail_msg("no '%s' in: %s", words, detail);
}

static void use_above_the_quota_gives_a_warning(void **state)
{
#define USE    "{'nodes':10,'cores':20,'memory_mib':40960,'volume_gib':500}"
#define UNTOLD "{'nodes':10,'cores':null,'memory_mib':null,'volume_gib':500}"
    static const struct {
        const char *use, *limits, *codes, *words;
    } rows[] = {
        {USE, "{'instances':10,'cores':20,'memory_mib':40960,'volume_gib':500}", "", NULL},
        {USE, "{'instances':9,'cores':20,'memory_mib':40960,'volume_gib':500}", "quota_exceeded",
         "machines: 10 of 9 if all pools"},
        {USE, "{'instances':10,'cores':19,'memory_mib':40960,'volume_gib':500}", "quota_exceeded",
         "cores: 20 of 19 if all pools"},
        {USE, "{'instances':10,'cores':20,'memory_mib':40959,'volume_gib':500}", "quota_exceeded",
         "memory: 40960 of 40959 MiB if all pools"},
        {USE, "{'instances':10,'cores':20,'memory_mib':40960,'volume_gib':499}", "quota_exceeded",
         "volumes: 500 of 499 GiB if all pools"},
        {USE, "{'instances':10,'cores':20,'memory_mib':20480,'volume_gib':500}", "quota_exceeded",
         "memory: 40 of 20 GiB if all pools of the project grow to their maximum"},
        {USE, "{'instances':0,'cores':0,'memory_mib':0,'volume_gib':0}",
         "quota_exceeded quota_exceeded quota_exceeded quota_exceeded", NULL},
        {USE, "{'instances':-1,'cores':-1,'memory_mib':-1,'volume_gib':-1}", "", NULL},
        {USE, "{}", "", NULL},
        {USE, NULL, "quota_unknown", "Cleura did not show the quota"},
        {UNTOLD, "{'instances':10,'cores':1,'memory_mib':1,'volume_gib':500}", "quota_unknown",
         "cores and memory were not compared"},
        {UNTOLD, "{'instances':9,'cores':1,'memory_mib':1,'volume_gib':500}", "quota_exceeded quota_unknown",
         "machines: 10 of 9"},
        {UNTOLD, NULL, "quota_unknown", "Cleura did not show the quota"},
    };
#undef USE
#undef UNTOLD
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_quota(rows[i].use, rows[i].limits, rows[i].codes, rows[i].words);
}

/* ---- offers: newer versions that a dry run accepts, in random catalogs ---- */

static uint64_t dice; /* state of the random numbers; the same in each run */

static unsigned roll(unsigned sides)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(dice >> 33) % sides;
}

#define ROLL_OF(texts) (texts)[roll(ARRAY_LEN(texts))]

static json_t *roll_entry(const char *version)
{
    static const char *const states[] = {"supported", "supported",   "deprecated", "preview",
                                         "expired",   "unavailable", "odd",        NULL};
    static const char *const ends[] = {NULL, NULL, "2025-12-31T00:00:00Z", "2026-02-01T00:00:00Z", "soon"};
    static const char *const architectures[] = {NULL, NULL, "['amd64']", "['arm64']", "['amd64','arm64']",
                                                "[]"};
    const char *of = ROLL_OF(architectures);
    json_t *entry = json_object();
    json_set_str(entry, "version", version);
    json_set_str(entry, "state", ROLL_OF(states));
    json_set_str(entry, "expires_at", ROLL_OF(ends));
    if (of)
        json_set_take(entry, "architectures", parse(of));
    return entry;
}

/* Returns random entries of versions such as "1.33.2", in any order, each once. Some are malformed. */
static json_t *roll_versions(unsigned first_minor)
{
    static const char *const ends[] = {"",      "",   "",   "",
                                       "-rc.1", ".x", "+1", ".00000000000000000000000000000000"};
    json_t *seen CLEANUP_JSON = json_object();
    json_t *list = json_array();
    for (unsigned i = roll(14); i > 0; i--) {
        char *version CLEANUP_FREE = mem_printf("1.%u.%u%s", first_minor + roll(4), roll(4), ROLL_OF(ends));
        if (spec_set_add(seen, version))
            json_append_take(list, roll_entry(version));
    }
    return list;
}

static json_t *roll_catalog(void)
{
    static const char types[] = "[{'name':'b.2c4gb','cpus':2,'memory_mib':4096,'architecture':'amd64'},"
                                "{'name':'a.2c4gb','cpus':2,'memory_mib':4096,'architecture':'arm64'},"
                                "{'name':'plain','cpus':2,'memory_mib':4096}]";
    json_t *catalog = json_object();
    json_set_take(catalog, "kubernetes_versions", roll_versions(31));
    json_set_take(catalog, "machine_images",
                  json_pack("[{s:s, s:o}, {s:s, s:o}]", "name", "gardenlinux", "versions", roll_versions(1),
                            "name", "flatcar", "versions", roll_versions(1)));
    json_set_take(catalog, "machine_types", parse(types));
    return catalog;
}

static json_t *roll_observed(void)
{
    static const char *const images[] = {"gardenlinux", "gardenlinux", "flatcar", "gone"};
    static const char *const types[] = {"b.2c4gb", "a.2c4gb", "plain", "gone"};
    json_t *pools = json_array();
    for (unsigned i = 0; i < 2; i++) {
        char *version CLEANUP_FREE = mem_printf("1.%u.%u", roll(6), roll(4));
        json_append_take(pools, json_pack("{s:s, s:s, s:{s:s, s:s}, s:i, s:i}", "name", i ? "b" : "a",
                                          "machine_type", ROLL_OF(types), "image", "name", ROLL_OF(images),
                                          "version", version, "minimum", 1, "maximum", 2));
    }
    char *version CLEANUP_FREE = mem_printf("1.%u.%u", 30 + roll(6), roll(4));
    return json_pack("{s:s, s:o}", "kubernetes_version", version, "node_pools", pools);
}

/* Returns whether a dry run of a PUT would accept the spec. Takes over the spec. */
static bool is_accepted(json_t *spec, const struct spec_context *context)
{
    json_t *body CLEANUP_JSON = json_pack("{s:o}", "spec", spec);
    struct problem *faults CLEANUP_PROBLEM = NULL;
    spec_check_body(body, SPEC_PUT, context, &faults);
    if (!faults)
        spec_check_change(json_obj(body, "spec"), context->observed, context, &faults);
    return !faults;
}

static void offers_are(const json_t *offers, const json_t *entry, bool expected)
{
    size_t i;
    json_t *offer;
    bool found = false;
    json_array_foreach (offers, i, offer)
        found |= offer == entry;
    if (found == expected)
        return;
    char *text CLEANUP_FREE = json_text(entry);
    fail_msg("%s: %s", found ? "offered, and refused when it is asked for" : "not offered, and accepted",
             text);
}

static void offers_are_what_a_dry_run_accepts(void **state)
{
    size_t offered = 0;
    dice = 29;
    for (int run = 0; run < 3000; run++) {
        json_t *catalog CLEANUP_JSON = roll_catalog();
        json_t *observed CLEANUP_JSON = roll_observed();
        const struct spec_context context = {.catalog = catalog,
                                             .observed = observed,
                                             .now = NOW_S * US_PER_S,
                                             .abilities = abilities_of(roll(2) ? API_V1 : API_V2)};
        const char *present = json_str(observed, "kubernetes_version");
        json_t *offers CLEANUP_JSON = spec_version_offers(present, &context);
        size_t i, k;
        json_t *entry, *pool;
        json_array_foreach (json_arr(catalog, "kubernetes_versions"), i, entry) {
            const char *version = json_str(entry, "version");
            offers_are(offers, entry,
                       version_compare(version, present) > 0 &&
                           is_accepted(json_pack("{s:s}", "kubernetes_version", version), &context));
        }
        offered += json_array_size(offers);
        json_array_foreach (json_arr(observed, "node_pools"), k, pool) {
            const json_t *image = json_obj(pool, "image");
            const json_t *known =
                spec_find_named(json_arr(catalog, "machine_images"), json_str(image, "name"));
            json_t *newer CLEANUP_JSON = spec_image_offers(pool, &context);
            json_array_foreach (json_arr(known, "versions"), i, entry) {
                const char *version = json_str(entry, "version");
                offers_are(newer, entry,
                           version_compare(version, json_str(image, "version")) > 0 &&
                               is_accepted(json_pack("{s:[{s:s, s:{s:s}}]}", "node_pools", "name",
                                                     json_str(pool, "name"), "image", "version", version),
                                           &context));
            }
            offered += json_array_size(newer);
        }
    }
    assert_true(offered > 3000); /* the catalogs contain newer versions */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_are_what_a_dry_run_accepts),
        cmocka_unit_test(surge_below_the_number_of_zones_is_warned_of),
        cmocka_unit_test(use_above_the_quota_gives_a_warning),
        cmocka_unit_test(versions_are_offered),
        cmocka_unit_test(values_of_the_catalog),
        cmocka_unit_test(an_unread_architecture_refuses_no_image),
        cmocka_unit_test(valid_values_are_reported),
        cmocka_unit_test(sizes_of_pools),
        cmocka_unit_test(names_of_pools),
        cmocka_unit_test(labels),
        cmocka_unit_test(annotations_have_a_limit_together),
        cmocka_unit_test(taints),
        cmocka_unit_test(networks),
        cmocka_unit_test(cilium),
        cmocka_unit_test(allow_lists),
        cmocka_unit_test(networks_overlap),
        cmocka_unit_test(cron_strings),
        cmocka_unit_test(schedules),
        cmocka_unit_test(maintenance_windows),
        cmocka_unit_test(v1_accounts_have_fewer_members),
        cmocka_unit_test(all_faults_come_at_once),
        cmocka_unit_test(an_unknown_member_is_told_where_it_belongs),
        cmocka_unit_test(an_unknown_value_is_told_the_near_one),
        cmocka_unit_test(a_put_may_repeat_its_own_name),
        cmocka_unit_test(without_a_catalog_its_checks_are_left_out),
        cmocka_unit_test(existing_values_may_stay),
        cmocka_unit_test(changes_that_cannot_be),
        cmocka_unit_test(nothing_is_held_against_what_is_not_reported),
        cmocka_unit_test(a_type_changes_beside_an_image_that_is_known),
        cmocka_unit_test(the_way_out_of_a_skipped_minor),
        cmocka_unit_test(faults_of_both_checks_add_up),
        cmocka_unit_test(fields_that_roll_nodes),
        cmocka_unit_test(sets_are_compared_in_near_linear_time),
        cmocka_unit_test(items_that_leave_members_out_match_in_any_order),
        cmocka_unit_test(values_above_a_limit_may_stay_and_shrink),
        cmocka_unit_test(numbers_of_a_catalog_cannot_be_too_large_D8),
        cmocka_unit_test(lines_of_versions_cannot_be_too_large_D8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
