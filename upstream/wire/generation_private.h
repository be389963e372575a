/*
 * One generation of Cleura's API: how to say a call and how to understand its answer. Two const tables, v1
 * and v2; everything else in upstream/ is the same for both. Pure functions: what an answer says is read on
 * the worker, the rest happens on the loop.
 */
#ifndef UPSTREAM_WIRE_GENERATION_PRIVATE_H
#define UPSTREAM_WIRE_GENERATION_PRIVATE_H

#include "base/json.h"
#include "upstream/upstream.h"

/* A request about to be sent. Strings are owned by the draft. */
struct request_draft {
    const char *method;
    char *path; /* after the base URL */
    char *body; /* JSON text or NULL; may be secret */
};

/* The requests of a login (CL-5, CL-6). */
enum auth_step { AUTH_STEP_PASSWORD, AUTH_STEP_ASK_CODE, AUTH_STEP_CHECK_CODE, AUTH_STEP_MAX_ };

/* Where a step goes, and the object that wraps its members (v1), or NULL. */
struct auth_form {
    const char *path;
    const char *wrapper;
};

/* The content of a step beside login and password. Borrowed. */
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

/* The data of a call that the reading of its answer needs: copies. */
struct answer_about {
    enum upstream_op op;
    char *region;
    char *item;
    wall_us now; /* when it came: times far after it are not believed */
};

/*
 * One document, or one row of a list, while it is decoded. Each member is read by itself: what cannot be
 * read is unknown, and noted; the rest counts.
 */
struct decoding {
    wall_us now;
    const char *fault; /* static text: why the row is refused; NULL: nothing is wrong with it */
    unsigned unread;   /* members that cannot be read */
    struct {
        const json_t *in; /* the object or array, while the document lives */
        const char *key;  /* NULL: the element `index` */
        size_t index;
    } places[UNREAD_TOLD]; /* of the first of them */
};

/* Fills the payload from a 2xx document; false when it cannot be understood. */
typedef bool decode_answer(struct decoding *d, const struct answer_about *about, json_t *doc,
                           struct upstream_result *result);

typedef struct shoot *decode_shoot(struct decoding *d, const json_t *doc);

/* One call of a generation: {cloud}, {region}, {project}, {name} and {item} stand for the call's own. */
struct endpoint {
    const char *method; /* NULL: the generation has no such call */
    const char *path;
    json_t *(*encode)(const struct upstream_call *call); /* NULL: no body */
    decode_answer *decode;                               /* NULL: see answer_read */
};

struct generation {
    const char *name;
    struct endpoint endpoints[UPSTREAM_OP_MAX_]; /* kubeconfigs have several, see shared.c */
    decode_shoot *decode_shoot;
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
void request_draft_done(struct request_draft *draft);

/* shoot_shared.c */
/* Start and end, all that Cleura takes: the time zone can only be read. */
json_t *encode_schedules(const json_t *schedules);
/* NULL when some of it cannot be read. */
json_t *decode_schedules(struct decoding *d, const json_t *hibernation);
/* Names of the members that the generations spell differently. */
struct shoot_words {
    const char *max_surge, *operation, *operation_at, *hibernated, *last_errors, *task_id, *condition_since,
        *condition_updated;
};
/* The words of one generation for `maintenance`: in auto-updates and window they differ, too. */
struct maintenance_words {
    const char *update, *kubernetes, *machine_image, *window;
};
/* NULL when there is no list of them that can be read. */
json_t *decode_pools(struct decoding *d, const json_t *provider, const struct shoot_words *words);
json_t *decode_maintenance(struct decoding *d, const json_t *maintenance,
                           const struct maintenance_words *words);
/* Fills the run and the health of the shoot; `status` and the object with the last operation may be NULL. */
void decode_status(struct decoding *d, struct shoot *s, const json_t *status, const json_t *run_in,
                   const struct shoot_words *words);
/* A shoot of the name that `in` has; NULL when Gardener cannot have it, or its uid cannot be read: it may be
 * another one. */
struct shoot *decode_new(struct decoding *d, const json_t *in);

/* shared.c */
/* Groups of which our document names nothing are left out, and stay as they are. */
json_t *encode_maintenance(const json_t *maintenance, const struct maintenance_words *words);
int kubeconfig_variants(enum upstream_op op);

/* answer.c: reading a 2xx body, within what may be in it. */
enum read_end {
    READ_OK,
    READ_GARBLED,
    READ_TOO_MUCH, /* more bytes, values or rows than an answer of this kind may have */
    READ_NOT,      /* it was not looked at: too many others wait to be read */
    READ_END_MAX_,
};
/* Bytes that an answer of this kind may have at most, as it comes and unpacked. */
size_t answer_max_bytes(enum upstream_op op);
/*
 * Fills the payload, lists apart. *ret_why: static text for the log, unless OK. Endpoints without a decoder:
 * any body is good (16.1 item 3).
 */
enum read_end answer_read(const struct generation *generation, const struct answer_about *about,
                          const char *body, size_t len, struct upstream_result *result, const char **ret_why);
/* A small document that is no payload: of a login, of a refusal. NULL when it is none. */
json_t *answer_read_small(const char *body, size_t len);
enum { ANSWER_SMALL_BYTES = 64 * 1024 };

enum { LIST_PART_ROWS = 16, LIST_PART_KNOWN = 128, ROW_NAME_BYTES = 64 };

/* Some rows of a list, decoded one after the other: memory for one at a time. */
struct list_part {
    struct shoot *shoots[LIST_PART_ROWS];
    struct unread unread[LIST_PART_ROWS]; /* of each of them */
    size_t shoot_count;
    struct refused_row {
        char name[ROW_NAME_BYTES]; /* as Cleura says it, cut; "" when there is none */
        bool is_cut;
        const char *why; /* static text */
    } refused[LIST_PART_ROWS];
    size_t refused_count;
    const struct known_row *known[LIST_PART_KNOWN]; /* not decoded; as long as what was known */
    size_t known_count;
};
void list_part_done(struct list_part *part);

/* Goes over a list. Looks at all of it first: a list that is no JSON, or too much, has no part. */
enum read_end list_begin(struct json_items *rows, const char *body, size_t len, const char **ret_why);
/* False when there are no more. `known` may be NULL. */
bool list_next(const struct generation *generation, wall_us now, struct json_items *rows,
               const struct known_rows *known, struct list_part *ret_part);

/* known_rows.c */
void row_digest(const char *text, size_t len, uint8_t ret_digest[static ROW_DIGEST_BYTES]);
/* NULL when it is not known. `known` may be NULL. */
const struct known_row *known_rows_find(const struct known_rows *known, const uint8_t *digest);

/* kubeconfig.c */
/* False when it cannot be understood. */
bool decode_kubeconfig(wall_us now, const char *body, size_t len, struct upstream_result *result);

/* login_words.c */
void build_auth(const struct generation *generation, const struct config_account *account,
                enum auth_step step, const struct auth_words *words, struct request_draft *draft);
/* Understands the answers to PASSWORD and CHECK_CODE of both generations. */
void decode_login(const char *body, size_t len, struct login_answer *ret);
void login_answer_done(struct login_answer *answer);

/* Percent-encodes one path segment (UP-8). The caller frees it. */
char *url_segment(const char *text);

/* v2 shoot object, v1 {metadata, spec, status} object: NULL with the fault when it is refused. */
decode_shoot decode_shoot_v2, decode_shoot_v1;
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
json_t *decode_catalog(struct decoding *d, const json_t *profiles, const char *region, bool v1);

/*
 * decode.c: single members. Absent and null are the same: NULL, null or the given default. A member that is
 * there and cannot be read is noted, and unknown: NULL, null or 0; a member of an object that cannot be read
 * is unknown, too, without a note. Values are the caller's, texts and containers lent.
 */
void decode_refuse(struct decoding *d, const char *why);
/* That this member cannot be read, which its caller found. */
void decode_note(struct decoding *d, const json_t *object, const char *key);
/* The paths of what was noted, as JSON pointers into the document. */
void decode_report_unread(const struct decoding *d, const json_t *doc, struct unread *ret);
/* One that cannot be read comes as what it is: readers of its own members find these unknown. */
json_t *decode_member(struct decoding *d, const json_t *object, const char *key, json_type type);
/* False when it cannot be read; NULL when it is absent. */
bool decode_array(struct decoding *d, const json_t *object, const char *key, const json_t **ret_array);
/* The object at this place, as decode_member has it. */
const json_t *decode_element(struct decoding *d, const json_t *array, size_t i);
/* Whether there is such an object. */
json_t *decode_presence(struct decoding *d, const json_t *object, const char *key);
const char *decode_text(struct decoding *d, const json_t *object, const char *key);
/* A name or word of at most 255 bytes. */
const char *decode_word(struct decoding *d, const json_t *object, const char *key);
json_t *decode_bool(struct decoding *d, const json_t *object, const char *key, bool absent);
/* A whole number, 0 to `max`. */
json_t *decode_number(struct decoding *d, const json_t *object, const char *key, int64_t max);
enum { NUMBER_MAX = 1000000 };
/* Any number that a double holds exactly enough. */
json_t *decode_quantity(struct decoding *d, const json_t *object, const char *key);
/* Gi number of "50Gi". */
json_t *decode_gib(struct decoding *d, const json_t *object, const char *key);
/* RFC 3339, from 2015 to a year from now. */
wall_us decode_time(struct decoding *d, const json_t *object, const char *key);
/* `value`, or NULL (and `value` freed) when something was noted since then. */
json_t *decode_whole(const struct decoding *d, unsigned unread_before, json_t *value);
/* A text for people: at most 1 KiB, ends between two characters, holds no controls (base/text.h). The
 * caller owns it; NULL stays NULL. */
char *prose_copy(const char *text);
void decode_prose(json_t *ours, const char *key, const char *text);
/* {key: value} from [{key, value}], or from a map of strings or of {key, value} objects. NULL when some of it
 * cannot be read; so is the next. */
json_t *decode_map(struct decoding *d, const json_t *object, const char *member);
json_t *decode_words(struct decoding *d, const json_t *object, const char *key);
/* An unknown value is not sent, and stays as it is (CL-17): a member under their name; a map as [{key,
 * value}]; the size of a pool's volumes in their words, NULL when it is not known. The caller frees it. */
void encode_known(json_t *theirs, const char *their_name, const json_t *ours, const char *name);
void encode_pairs(json_t *theirs, const json_t *ours, const char *name);
char *encode_size(const json_t *pool);
/*
 * Cleura gives arrays in any order (CL-13); sorted, by name where there is one, equal clusters
 * look equal. Takes `array`, NULL stays NULL; zones keep their order, which means something to Gardener.
 */
json_t *decode_sorted(json_t *array);

/* NotAfter of the first client certificate in a kubeconfig; 0 when there is none. */
wall_us kubeconfig_expiry(const char *kubeconfig);
/* Whether the text is a kubeconfig at all. */
bool kubeconfig_is_plausible(const char *text);

/* The one decision table for ended transfers: see classify.c. `token_rejected` is set when a new login may
 * help. */
enum upstream_class classify_answer(bool is_write, const struct http_answer *answer, char **ret_message,
                                    bool *ret_token_rejected);
/* A 2xx whose body was not understood. */
enum upstream_class classify_unread(bool is_write, enum read_end end);
/* Cleura's error text from {"error": {"message", "errors"}}, capped and stripped; NULL when there is none. */
char *error_message(const char *body, size_t len);

void upstream_result_done(struct upstream_result *result);

#endif
