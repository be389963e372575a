/*
 * The driver of an API: how to write its calls and read its answers, and what it can do. There are two, for
 * both generations of Cleura's API (v1.c, v2.c). All other code in upstream/ uses the driver of the account,
 * and is the same for all APIs. The second half of this file has the functions that drivers share. Pure
 * functions: answers are read on the worker, everything else runs on the loop.
 */
#ifndef UPSTREAM_WIRE_DRIVER_PRIVATE_H
#define UPSTREAM_WIRE_DRIVER_PRIVATE_H

#include "base/json.h"
#include "upstream/upstream.h"

/* A request before it is sent. The draft owns its strings. */
struct request_draft {
    const char *method;
    char *path; /* the path, which follows the base URL */
    char *body; /* JSON text or NULL; may be secret */
};

/* The requests of a login (CL-5, CL-6), and the check of a token. */
enum auth_step {
    AUTH_STEP_PASSWORD,
    AUTH_STEP_ASK_CODE,
    AUTH_STEP_CHECK_CODE,
    AUTH_STEP_VALIDATE, /* without a body; the token is in the header */
    AUTH_STEP_MAX_,
};

/* The further values of a step, in addition to login and password. Borrowed. */
struct auth_words {
    bool by_sms;              /* for PASSWORD: selects SMS as the second factor */
    const char *verification; /* for ASK_CODE and CHECK_CODE */
    int64_t code;             /* for CHECK_CODE */
};

enum login_result {
    LOGIN_RESULT_TOKEN,
    LOGIN_RESULT_OPTIONS,      /* a second factor must be selected; SMS is among the options */
    LOGIN_RESULT_CODE,         /* a code from an SMS is required; verification identifies it */
    LOGIN_RESULT_OTHER_FACTOR, /* a second factor that the API does not support (WebAuthn) */
    LOGIN_RESULT_GARBLED,
};

/* The answer to a login. Its members are secrets; login_answer_done releases them. */
struct login_answer {
    enum login_result result;
    char *token;
    char *verification;
    bool sms, webauthn; /* second factors that the answer names */
};

/* Copies of the data of a call that are needed to read its answer. */
struct answer_about {
    enum upstream_op op;
    int variant; /* which endpoint of the driver was called (call_endpoint) */
    char *region;
    char *item;
    wall_us now; /* the time of the answer; times far after it are not accepted */
};

/*
 * A document, or a row of a list, while it is decoded. Each member is read separately. An unreadable member
 * is noted and unknown; all other members are used.
 */
struct decoding {
    wall_us now;
    const char *fault; /* the reason why the row is refused, a static text; NULL: it is not refused */
    unsigned unread;   /* number of unreadable members */
    struct {
        const json_t *in; /* the object or array that contains the member; valid as long as the document */
        const char *key;  /* the name of the member; NULL: the member is the element `index` of the array */
        size_t index;
    } places[UNREAD_TOLD]; /* the first unreadable members */
};

/* Fills the payload from a 2xx document; false when it is not understood. */
typedef bool decode_answer(struct decoding *d, const struct answer_about *about, json_t *doc,
                           struct upstream_result *result);

typedef struct shoot *decode_shoot(struct decoding *d, const json_t *doc);

/* Writes a request of a login. */
typedef void build_auth(const struct config_account *account, enum auth_step step,
                        const struct auth_words *words, struct request_draft *draft);
/* Reads the answers to PASSWORD and CHECK_CODE. */
typedef void decode_auth(const char *body, size_t len, struct login_answer *ret);

/* Fills the payload from a 2xx body that need not be JSON; false when it is not understood. */
typedef bool decode_body(wall_us now, const char *body, size_t len, struct upstream_result *result);

/* Decides the class of a transfer. `token_rejected` is set when a new login may help. */
typedef enum upstream_class classify_transfer(bool is_write, const struct http_answer *answer,
                                              char **ret_message, bool *ret_token_rejected);

/* A call: the request, and the meaning of its answer. {cloud}, {region}, {project}, {name} and {item} in the
 * path are replaced by the call's values. An answer without decoders may have any body (CL-9). */
struct upstream_endpoint {
    const char *method; /* NULL: the API has no such call */
    const char *path;
    json_t *(*encode)(const struct upstream_call *call); /* NULL: no body */
    decode_answer *decode;                               /* for JSON */
    decode_body *decode_body;                            /* for other bodies */
};

enum { KUBECONFIG_ENDPOINTS = 3 };

/* A driver is constant data, and has no state. */
struct upstream_driver {
    struct upstream_abilities abilities;
    build_auth *build_auth;
    decode_auth *decode_auth;
    bool names_method; /* true: a manual login selects SMS in its first request; false: Cleura first lists
                        * the options */
    const struct upstream_endpoint *calls; /* by upstream_op; without LIST's decoder, which is decode_shoot */
    /* The endpoints for kubeconfigs, in the order in which they are tried, because Cleura may lack the first
     * ones (CL-15). NULL after the last one. */
    const struct upstream_endpoint *kubeconfig[KUBECONFIG_ENDPOINTS];
    decode_shoot *decode_shoot;                 /* the row of a list */
    const char *(*row_name)(const json_t *row); /* the name in a row that is not accepted, or NULL */
    classify_transfer *classify;
};

#define DRIVER_DECLARE(api, word) extern const struct upstream_driver driver_##word;
CLEURA_APIS(DRIVER_DECLARE)
#undef DRIVER_DECLARE

/* ---- drivers.c ---- */
const struct upstream_driver *driver_of(const struct config_account *account);

/* ---- calls.c: what does not depend on the API ---- */
/* Returns the limits of the answer to a call: bytes as received, bytes after unpacking, number of JSON
 * values. */
const struct json_limits *call_limits(enum upstream_op op);
/* Returns an endpoint of a call: the first for variant 0, then those that are tried when Cleura lacks it.
 * NULL when there is none. */
const struct upstream_endpoint *call_endpoint(const struct upstream_driver *driver, enum upstream_op op,
                                              int variant);

/* ---- shared.c ---- */
void build_request(const struct upstream_driver *driver, const struct config_account *account,
                   const struct upstream_call *call, struct request_draft *draft);
void request_draft_done(struct request_draft *draft);

/* ---- shoot_shared.c ---- */
/* Writes only start and end of each schedule, because Cleura does not accept a time zone. */
json_t *encode_schedules(const json_t *schedules);
/* Returns NULL when a part cannot be read. */
json_t *decode_schedules(struct decoding *d, const json_t *hibernation);
/* Names of the members that the APIs spell differently. */
struct shoot_words {
    const char *max_surge, *operation, *operation_at, *hibernated, *last_errors, *task_id, *condition_since,
        *condition_updated;
};
/* The names of `maintenance` in one API: of the objects in it, and of their members. */
struct maintenance_words {
    const char *update, *kubernetes, *machine_image, *window;
};
/* Returns NULL when the list is absent or cannot be read. */
json_t *decode_pools(struct decoding *d, const json_t *provider, const struct shoot_words *words);
json_t *decode_maintenance(struct decoding *d, const json_t *maintenance,
                           const struct maintenance_words *words);
/* A group of members that the document does not have is left out, so Cleura does not change it. */
json_t *encode_maintenance(const json_t *maintenance, const struct maintenance_words *words);
/* Fills the state of the last operation and the health of the shoot. `status`, and `run_in` (the object with
 * the last operation), may be NULL. */
void decode_status(struct decoding *d, struct shoot *s, const json_t *status, const json_t *run_in,
                   const struct shoot_words *words);
/* Makes a shoot with the name in `in`. NULL when Gardener does not allow the name, or when the uid cannot be
 * read, because the shoot may then be a different one. */
struct shoot *decode_new(struct decoding *d, const json_t *in);

/* ---- wire_answer.c: reads a 2xx body, within its limits ---- */
enum read_end {
    READ_OK,
    READ_GARBLED,
    READ_TOO_MUCH, /* more bytes, values or rows than allowed for this kind of answer */
    READ_NOT,      /* the answer was not read, because too many others wait */
    READ_END_MAX_,
};
/* Fills the payload, except for lists. If the result is not READ_OK, *ret_why is the reason, a static text
 * for the log. */
enum read_end answer_read(const struct upstream_driver *driver, const struct answer_about *about,
                          const char *body, size_t len, struct upstream_result *result, const char **ret_why);
/* Reads a small document that is no payload: the answer to a login, or a refusal. NULL when it is not
 * valid. */
json_t *answer_read_small(const char *body, size_t len);
enum { ANSWER_SMALL_BYTES = 64 * 1024 };

enum { LIST_PART_ROWS = 16, LIST_PART_KNOWN = 128, ROW_NAME_BYTES = 64 };

/* Some rows of a list, decoded one after the other, so that only one tree exists at a time. */
struct list_part {
    struct shoot *shoots[LIST_PART_ROWS];
    struct unread unread[LIST_PART_ROWS]; /* unread members of each shoot */
    size_t shoot_count;
    struct refused_row {
        char name[ROW_NAME_BYTES]; /* the name as Cleura sent it, cut; "" when it is absent */
        bool is_cut;
        const char *why; /* static text */
    } refused[LIST_PART_ROWS];
    size_t refused_count;
    const struct known_row *known[LIST_PART_KNOWN]; /* rows that were not decoded; valid as long as `known` */
    size_t known_count;
};
void list_part_done(struct list_part *part);

/* Begins to iterate over a list. Scans the whole text first: a list that is not JSON, or exceeds the limits,
 * has no parts. */
enum read_end list_begin(struct json_items *rows, const char *body, size_t len, const char **ret_why);
/* Reads the next part of the list; false after the last part. `known` may be NULL. */
bool list_next(const struct upstream_driver *driver, wall_us now, struct json_items *rows,
               const struct known_rows *known, struct list_part *ret_part);

/* ---- known_rows.c ---- */
void row_digest(const char *text, size_t len, uint8_t ret_digest[static ROW_DIGEST_BYTES]);
/* Returns NULL when the row is not known. `known` may be NULL. */
const struct known_row *known_rows_find(const struct known_rows *known, const uint8_t *digest);

/* ---- wire_kubeconfig.c ---- */
decode_body decode_kubeconfig;
/* The kubeconfig calls of Cleura. Both drivers use all of them, each in its own order. */
extern const struct upstream_endpoint kubeconfig_v3, kubeconfig_v2, kubeconfig_v1;

/* ---- login_words.c ---- */
/* The form of a request of Cleura's logins. */
struct auth_form {
    const char *path;
    const char *wrapper; /* the members are in an inner object with this name; NULL: in the body itself */
    const char *method_member; /* the name of the member that selects the second factor; NULL: none */
};
/* Writes the request in its form; `forms` has one for each step. */
void build_auth_form(const struct auth_form forms[static AUTH_STEP_MAX_],
                     const struct config_account *account, enum auth_step step,
                     const struct auth_words *words, struct request_draft *draft);
decode_auth decode_login;
void login_answer_done(struct login_answer *answer);

/* Percent-encodes one path segment (UP-8). The caller frees it. */
char *url_segment(const char *text);

/* ---- shoot_v2.c, shoot_v1.c: shoots in the forms of both drivers ---- */
/* Decode a v2 shoot object, or a v1 {metadata, spec, status} object. NULL when it is refused; the fault is in
 * *d. */
decode_shoot decode_shoot_v2, decode_shoot_v1;
/* Make request bodies from shootd's format. */
json_t *encode_create_v2(const struct upstream_call *call);
json_t *encode_create_v1(const struct upstream_call *call);
json_t *encode_patch_v2(const struct upstream_call *call);
json_t *encode_patch_v1(const struct upstream_call *call);
json_t *encode_pool_v2(const struct upstream_call *call);
json_t *encode_pool_v1(const struct upstream_call *call);

/* ---- extras.c: answers of sub-resources. Each reads the answers of one kind of call ---- */
decode_answer decode_ca_stage, decode_monitoring, decode_nodes, decode_upgrade_check, decode_own_projects,
    decode_quota, decode_name_taken;
decode_body decode_ssh_key;

/* ---- wire_catalog.c ---- */
/* Decodes a cloud profile into a catalog for one region. `root` is the object that has its members. NULL when
 * it is no cloud profile. */
json_t *decode_catalog(struct decoding *d, const json_t *profile, const json_t *root, const char *region);

/*
 * ---- decode.c: single members. When a member is absent or null, the result is NULL, null or the given
 * default. When a present member cannot be read, it is noted as unread, and the result is NULL, null or 0. A
 * member of an unreadable object has the same result, but is not noted. The caller owns values; texts and
 * containers are borrowed ----
 */
void decode_refuse(struct decoding *d, const char *why);
/* Notes a member that its caller could not read. */
void decode_note(struct decoding *d, const json_t *object, const char *key);
/* Returns the places of the noted members, as JSON pointers into the document. */
void decode_report_unread(const struct decoding *d, const json_t *doc, struct unread *ret);
/* Returns the member. When it has another type, it is also returned, but noted as unread; members that are
 * read from such a value are unknown. */
json_t *decode_member(struct decoding *d, const json_t *object, const char *key, json_type type);
/* Reads an array. False when it cannot be read; *ret_array is NULL when it is absent. */
bool decode_array(struct decoding *d, const json_t *object, const char *key, const json_t **ret_array);
/* Returns the object at this index. A value of another type is also returned, but noted as unread. */
const json_t *decode_element(struct decoding *d, const json_t *array, size_t i);
/* Returns JSON true when the member is an object, false when it is absent, and null when it cannot
 * be read. */
json_t *decode_presence(struct decoding *d, const json_t *object, const char *key);
const char *decode_text(struct decoding *d, const json_t *object, const char *key);
/* Reads a name or word of at most 255 bytes. */
const char *decode_word(struct decoding *d, const json_t *object, const char *key);
json_t *decode_bool(struct decoding *d, const json_t *object, const char *key, bool absent);
/* Reads a whole number from 0 to `max`. */
json_t *decode_number(struct decoding *d, const json_t *object, const char *key, int64_t max);
enum { NUMBER_MAX = 1000000 };
/* Reads any number in the range in which a double is exact. */
json_t *decode_quantity(struct decoding *d, const json_t *object, const char *key);
/* Does the same as decode_quantity, and rounds to a whole number. */
json_t *decode_rounded(struct decoding *d, const json_t *object, const char *key);
/* Reads the MiB of a text such as "4Gi" (base/quantity.h). */
json_t *decode_mib(struct decoding *d, const json_t *object, const char *key);
/* Reads the number of a text such as "50Gi". */
json_t *decode_gib(struct decoding *d, const json_t *object, const char *key);
/* Reads a time of RFC 3339, from 2015 to a year after now. */
wall_us decode_time(struct decoding *d, const json_t *object, const char *key);
/* Returns `value` when d->unread still equals `unread_before`, the count from before `value` was decoded.
 * Otherwise a member could not be read: frees `value` and returns NULL. */
json_t *decode_whole(const struct decoding *d, unsigned unread_before, json_t *value);
/* Copies a text for people: at most 1 KiB, ends between two characters, without controls (base/text.h). The
 * caller owns it; NULL stays NULL. */
char *prose_copy(const char *text);
void decode_prose(json_t *ours, const char *key, const char *text);
/* Makes {key: value} from [{key, value}], or from a map of strings or of {key, value} objects. decode_words
 * reads a list of words. Both return NULL when a part cannot be read. */
json_t *decode_map(struct decoding *d, const json_t *object, const char *member);
json_t *decode_words(struct decoding *d, const json_t *object, const char *key);
/*
 * These functions leave out unknown values, so that Cleura does not change them (CL-17). encode_known copies
 * a member under Cleura's name; encode_pairs writes a map as [{key, value}]; encode_size returns the size of
 * a pool's volumes as text, NULL when unknown. The caller frees that text.
 */
void encode_known(json_t *theirs, const char *their_name, const json_t *ours, const char *name);
void encode_pairs(json_t *theirs, const json_t *ours, const char *name);
char *encode_size(const json_t *pool);
/*
 * Sorts an array, by name if its items have names, because Cleura returns arrays in any order (CL-13). Equal
 * clusters then compare as equal. Takes over `array`; NULL stays NULL. Zones are not sorted: their order
 * matters to Gardener.
 */
json_t *decode_sorted(json_t *array);

/* Returns when the first client certificate in a kubeconfig expires (NotAfter); 0 when there is no
 * certificate. */
wall_us kubeconfig_expiry(const char *kubeconfig);
/* Whether the text is a kubeconfig. */
bool kubeconfig_is_plausible(const char *text);

/* ---- classify.c ---- */
/* The classes of Cleura's answers. */
classify_transfer classify_answer;
/* Returns the class of a 2xx whose body was not understood. */
enum upstream_class classify_unread(bool is_write, enum read_end end);
/* Cleura's error text from {"error": {"message", "errors"}}, shortened and cleaned; NULL when there is
 * none. */
char *error_message(const char *body, size_t len);

void upstream_result_done(struct upstream_result *result);

#endif
