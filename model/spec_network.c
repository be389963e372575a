/* Networks and the allow list (GA-10; CL-11). */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/spec_check_private.h"

enum { IPV4_BITS = 32 };

static uint32_t ipv4_net_mask(unsigned bits)
{
    return bits ? UINT32_MAX << (IPV4_BITS - bits) : 0;
}

/* Cleura's pattern allows no sign, blank or leading zero. */
static bool ipv4_parse_bits(const char *text, unsigned *ret_bits)
{
    size_t len = strlen(text);
    if (len < 1 || len > 2 || strspn(text, "0123456789") != len || (len == 2 && text[0] == '0'))
        return false;
    *ret_bits = (unsigned)strtoul(text, NULL, 10);
    return *ret_bits <= IPV4_BITS;
}

bool ipv4_net_parse(const char *text, struct ipv4_net *ret_net, bool *ret_canonical)
{
    char address[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : sizeof(address);
    struct in_addr in;
    unsigned bits;
    if (len >= sizeof(address))
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    if (inet_pton(AF_INET, address, &in) != 1 || !ipv4_parse_bits(slash + 1, &bits))
        return false;
    uint32_t given = ntohl(in.s_addr);
    *ret_net = (struct ipv4_net){.base = given & ipv4_net_mask(bits), .bits = bits};
    *ret_canonical = ret_net->base == given;
    return true;
}

bool ipv4_net_overlaps(const struct ipv4_net *left, const struct ipv4_net *right)
{
    uint32_t common = ipv4_net_mask(left->bits < right->bits ? left->bits : right->bits);
    return !((left->base ^ right->base) & common);
}

char *ipv4_net_text(const struct ipv4_net *net)
{
    return mem_printf("%u.%u.%u.%u/%u", net->base >> 24, net->base >> 16 & 255, net->base >> 8 & 255,
                      net->base & 255, net->bits);
}

/* Checks a network. False when a fault was added. */
static bool check_network(struct spec_check *k, const char *pointer, const json_t *value,
                          struct ipv4_net *ret_net)
{
    bool canonical;
    if (!ipv4_net_parse(json_string_value(value), ret_net, &canonical)) {
        FAULT(k, pointer, "wrong_form", NULL,
              "must be an IPv4 network with its prefix length, such as 10.250.0.0/16");
        return false;
    }
    if (canonical)
        return true;
    char *text CLEANUP_FREE = ipv4_net_text(ret_net);
    FAULT(k, pointer, "wrong_form", json_pack("[s]", text), "must not have host bits: write %s", text);
    return false;
}

/* Checks the network of the nodes. This network must not overlap the networks of pods and services, which at
 * Cleura are always Gardener's defaults. */
static void check_nodes_cidr(struct spec_check *k, const char *pointer, const json_t *value,
                             const json_t *there ATTR_UNUSED)
{
    static const struct {
        struct ipv4_net net;
        const char *use;
    } taken[] = {
        {{0x64600000, 11}, "the pods' network"},
        {{0x64400000, 13}, "the services' network"},
        {{0xf0000000, 8}, "reserved by Gardener for API servers"},
        {{0xf1000000, 8}, "reserved by Gardener for its seeds' pods"},
        {{0xf2000000, 8}, "reserved by Gardener for nodes"},
        {{0xf3000000, 8}, "reserved by Gardener for services"},
        {{0xf4000000, 8}, "reserved by Gardener for pods"},
    };
    struct ipv4_net net;
    if (!check_network(k, pointer, value, &net))
        return;
    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        if (!ipv4_net_overlaps(&net, &taken[i].net))
            continue;
        char *text CLEANUP_FREE = ipv4_net_text(&taken[i].net);
        FAULT(k, pointer, "overlap", NULL, "must not overlap %s, %s", text, taken[i].use);
    }
}

/* Returns the strings of a list as a set. */
static json_t *set_of(const json_t *array)
{
    json_t *set = json_object();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item)
        if (json_is_string(item))
            (void)spec_set_add(set, json_string_value(item));
    return set;
}

/* Adds a fault for a member that the account's API does not have. */
static void refuse_unsettable(struct spec_check *k, const char *pointer)
{
    const char *api = k->context->abilities->api;
    char *code CLEANUP_FREE = mem_printf("not_in_%s", api);
    FAULT(k, pointer, code, NULL, "cannot be set through a %s account", api);
}

void spec_check_allowed_cidrs(struct spec_check *k, const char *pointer, const json_t *value,
                              const json_t *there)
{
    json_t *seen CLEANUP_JSON = json_object();
    json_t *kept CLEANUP_JSON = set_of(there);
    struct ipv4_net net;
    size_t i;
    json_t *item;
    json_array_foreach (value, i, item) {
        char *here CLEANUP_FREE = spec_pointer_at(pointer, i);
        const char *text = json_string_value(item);
        if (!text)
            FAULT(k, here, "wrong_type", NULL, "must be a string");
        else if (!spec_set_add(seen, text))
            FAULT(k, here, "duplicate", NULL, "is named twice");
        else if (!json_object_get(kept, text))
            (void)check_network(k, here, item, &net);
    }
    if (!k->context->abilities->sets_allowed_cidrs && json_array_size(value))
        refuse_unsettable(k, pointer);
}

static void check_network_type(struct spec_check *k, const char *pointer, const json_t *value,
                               const json_t *there ATTR_UNUSED)
{
    json_t *types CLEANUP_JSON = json_pack("[ss]", "calico", "cilium");
    spec_check_listed(k, pointer, value, types, "a network type");
}

static void check_encryption_mode(struct spec_check *k, const char *pointer, const json_t *value,
                                  const json_t *there ATTR_UNUSED)
{
    json_t *modes CLEANUP_JSON = json_pack("[s]", "wireguard");
    spec_check_listed(k, pointer, value, modes, "an encryption mode");
}

static void check_tunnel(struct spec_check *k, const char *pointer, const json_t *value,
                         const json_t *there ATTR_UNUSED)
{
    json_t *tunnels CLEANUP_JSON = json_pack("[sss]", "vxlan", "geneve", "disabled");
    spec_check_listed(k, pointer, value, tunnels, "a tunnel");
}

static void check_cilium(struct spec_check *k, const char *pointer, const json_t *value, const json_t *there)
{
    static const struct spec_member members[] = {
        {"debug", MEMBER_BOOL, 0, 0, NULL, NULL},
        {"encryption_enabled", MEMBER_BOOL, 0, 0, NULL, NULL},
        {"encryption_mode", MEMBER_STRING, 1, 32, NULL, check_encryption_mode},
        {"encryption_node_to_node_enabled", MEMBER_BOOL, 0, 0, NULL, NULL},
        {"encryption_strict_mode_enabled", MEMBER_BOOL, 0, 0, NULL, NULL},
        {"hubble_enabled", MEMBER_BOOL, 0, 0, NULL, NULL},
        {"policy_audit_mode", MEMBER_BOOL, 0, 0, NULL, NULL},
        {"tunnel", MEMBER_STRING, 1, 32, NULL, check_tunnel},
    };
    spec_check_object(k, members, ARRAY_LEN(members), pointer, value, there);
}

static void check_settable(struct spec_check *k, const char *pointer, const json_t *value,
                           const json_t *there)
{
    const struct upstream_abilities *abilities = k->context->abilities;
    const struct {
        const char *name;
        bool is_settable;
    } members[] = {{"type", abilities->sets_network_type},
                   {"load_balancer_provider", abilities->sets_load_balancer},
                   {"cilium", abilities->sets_cilium}};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const json_t *given = json_object_get(value, members[i].name);
        if (members[i].is_settable || !given || json_is_null(given) ||
            json_equal(given, json_object_get(there, members[i].name)))
            continue;
        char *here CLEANUP_FREE = json_pointer_to(pointer, members[i].name);
        refuse_unsettable(k, here);
    }
}

/*
 * network_id and router_id are independent: neither Cleura's contract nor the OpenStack extension requires
 * both.
 */
void spec_check_networking(struct spec_check *k, const char *pointer, const json_t *value,
                           const json_t *there)
{
    static const struct spec_member members[] = {
        {"type", MEMBER_STRING, 1, 16, NULL, check_network_type},
        {"nodes_cidr", MEMBER_STRING, 9, 18, NULL, check_nodes_cidr},
        {"floating_pool", MEMBER_STRING, 1, 255, NULL, spec_check_floating_pool},
        {"network_id", MEMBER_STRING, 36, 36, PATTERN_UUID, NULL},
        {"router_id", MEMBER_STRING, 36, 36, PATTERN_UUID, NULL},
        {"load_balancer_provider", MEMBER_STRING, 1, 63, NULL, spec_check_load_balancer},
        {"cilium", MEMBER_OBJECT, 0, 0, NULL, check_cilium},
    };
    spec_check_object(k, members, ARRAY_LEN(members), pointer, value, there);
    const char *type = json_str_or(value, "type", json_str_or(there, "type", ""));
    if (json_obj(value, "cilium") && strcmp(type, "cilium") != 0) {
        char *here CLEANUP_FREE = json_pointer_to(pointer, "cilium");
        FAULT(k, here, "conflict", NULL, "needs networking.type cilium");
    }
    check_settable(k, pointer, value, there);
}
