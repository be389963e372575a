/*
 * One generation of Cleura's API: how to say a call and how to understand its answer. Two const tables, v1
 * and v2; everything else in upstream/ is the same for both. Pure functions.
 */
#ifndef UPSTREAM_GENERATION_PRIVATE_H
#define UPSTREAM_GENERATION_PRIVATE_H

#include "upstream/upstream.h"

/* A request about to be sent. Strings are owned by the draft. */
struct request_draft {
    const char *method;
    char *path; /* after the base URL */
    char *body; /* JSON text or NULL; may be secret */
};

/* The requests of a login (cleura-api.md 3.2, 3.3). */
enum auth_step { AUTH_STEP_PASSWORD, AUTH_STEP_ASK_CODE, AUTH_STEP_CHECK_CODE, AUTH_STEP_MAX_ };

/* Where a step goes, and the object that wraps its members (v1), or NULL. */
struct auth_form {
    const char *path;
    const char *wrapper;
};

/* What a step says beside login and password. Borrowed. */
struct auth_words {
    bool by_sms;              /* PASSWORD: names SMS as the second factor */
    const char *verification; /* ASK_CODE, CHECK_CODE */
    int64_t code;             /* CHECK_CODE */
};

enum login_result {
    LOGIN_RESULT_TOKEN,
    LOGIN_RESULT_OPTIONS,      /* a second factor has to be named; SMS is among the options */
    LOGIN_RESULT_CODE,         /* a code by SMS is wanted; verification is the handle for it */
    LOGIN_RESULT_OTHER_FACTOR, /* a second factor that the API cannot take (WebAuthn) */
    LOGIN_RESULT_GARBLED,
};

/* Secret members; released by login_answer_done. */
struct login_answer {
    enum login_result result;
    char *token;
    char *verification;
    bool sms, webauthn; /* second factors that were named */
};

/* Fills the payload from a 2xx body; false when it cannot be understood. */
typedef bool decode_answer(const struct upstream_call *call, const char *body, size_t len,
                           struct upstream_result *result);

/* One call of a generation: {cloud}, {region}, {project}, {name} and {item} stand for the call's own. */
struct endpoint {
    const char *method; /* NULL: the generation has no such call */
    const char *path;
    json_t *(*encode)(const struct upstream_call *call); /* NULL: no body */
    decode_answer *decode;                               /* NULL: any 2xx, no body needed (16.1 item 3) */
};

struct generation {
    const char *name;
    struct endpoint endpoints[UPSTREAM_OP_MAX_]; /* kubeconfigs have several, see shared.c */
    decode_answer *decode;
    struct auth_form auth[AUTH_STEP_MAX_];
    const char *method_member; /* of AUTH_STEP_PASSWORD */
    bool names_method;         /* a login by hand names SMS at once; else Cleura lists the options first */
    const char *validate_path;
    /* How many endpoints an operation may be tried at. */
    int (*variants)(enum upstream_op op);
};

extern const struct generation generation_v1;
extern const struct generation generation_v2;

/* shared.c */
void build_request(const struct generation *generation, const struct config_account *account,
                   const struct upstream_call *call, struct request_draft *draft);
bool decode_shoots(const json_t *doc, struct shoot *(*decode_one)(const json_t *doc),
                   struct upstream_result *result);
/* By the endpoint table. */
bool decode_by_table(const struct generation *generation, const struct upstream_call *call, const char *body,
                     size_t len, struct upstream_result *result);
decode_answer decode_ssh_key;
json_t *decode_schedules(const json_t *schedules);
struct maintenance_words {
    const char *update, *kubernetes, *machine_image, *window;
};
/* Groups of which our document names nothing are left out, and stay as they are. */
json_t *encode_maintenance(const json_t *maintenance, const struct maintenance_words *words);
int kubeconfig_variants(enum upstream_op op);
bool decode_kubeconfig(const char *body, size_t len, struct upstream_result *result);

/* login_words.c */
void build_auth(const struct generation *generation, const struct config_account *account,
                enum auth_step step, const struct auth_words *words, struct request_draft *draft);
/* Understands the answers to PASSWORD and CHECK_CODE of both generations. */
void decode_login(const char *body, size_t len, struct login_answer *ret);
void login_answer_done(struct login_answer *answer);

/* Percent-encodes one path segment (UP-8). The caller frees it. */
char *url_segment(const char *text);

/* v2 shoot object, v1 {metadata, spec, status} object: NULL when it lacks a name. */
struct shoot *decode_shoot_v2(const json_t *doc);
struct shoot *decode_shoot_v1(const json_t *doc);
/* Request bodies, from our words. */
json_t *encode_create_v2(const struct upstream_call *call);
json_t *encode_create_v1(const struct upstream_call *call);
json_t *encode_patch_v2(const struct upstream_call *call);
json_t *encode_patch_v1(const struct upstream_call *call);
json_t *encode_pool_v2(const struct upstream_call *call);
json_t *encode_pool_v1(const struct upstream_call *call);
/* Sub-resources that only v2 has, in our words; NULL when they cannot be understood. */
decode_answer decode_ca_stage, decode_monitoring, decode_nodes, decode_upgrade_check, decode_own_projects,
    decode_quota, decode_name_taken;
/* Catalogs in our words for one region; NULL when the document is not a cloud profile list. */
json_t *decode_catalog(const json_t *profiles, const char *region, bool v1);

/* Shared pieces: {key: value} from [{key, value}], or from a map of strings or of {key, value} objects. */
json_t *decode_map(const json_t *value);
json_t *encode_pairs(const json_t *map);
json_t *decode_string_array(const json_t *array);
/* A reference, or an empty array. */
json_t *decode_array(json_t *array);
/*
 * Cleura gives arrays in any order (cleura-api.md 6.5); sorted, by name where there is one, equal clusters
 * look equal. Takes `array`; zones keep their order, which means something to Gardener.
 */
json_t *decode_sorted(json_t *array);
/* Gi number of "50Gi"; 0 when it is something else. */
int64_t decode_gib(const char *text);
wall_us decode_time(const char *text);

/* NotAfter of the first client certificate in a kubeconfig; 0 when there is none. */
wall_us kubeconfig_expiry(const char *kubeconfig);
/* Whether the text is a kubeconfig at all. */
bool kubeconfig_is_plausible(const char *text);

/* The one decision table for ended transfers: see classify.c. `token_rejected` is set when a new login may
 * help. */
enum upstream_class classify_answer(bool is_write, const struct http_answer *answer, char **ret_message,
                                    bool *ret_token_rejected);
/* Cleura's error text from {"error": {"message", "errors"}}, capped and stripped; NULL when there is none. */
char *error_message(const char *body, size_t len);

void upstream_result_done(struct upstream_result *result);

#endif
