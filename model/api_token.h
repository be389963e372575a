/* API tokens, and the projects that a token may see. These are stored structs, see model/cluster.h. */
#ifndef MODEL_API_TOKEN_H
#define MODEL_API_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/ids.h"
#include "base/json.h"
#include "model/names.h"

struct api_token {
    char id[40];
    char *name;
    enum role role;
    char **projects;    /* NULL-terminated; {"*"} means all projects */
    uint8_t digest[32]; /* SHA-256 of the token (AU-3) */
    char last4[5];
    char *description; /* or NULL */
    char *created_by;
    wall_us created_at;
    wall_us expires_at; /* 0: never */
    wall_us revoked_at; /* 0: not revoked */
    wall_us rotated_at; /* 0: never */
    /* The secret from before the last rotation. It stays valid until old_ends_at (AU-5). */
    uint8_t old_digest[32];
    wall_us old_ends_at;     /* 0: there is no old secret */
    _Atomic wall_us used_at; /* the time of the last use, to the minute; 0: never. HTTP workers set it in the
                              * copies of the view */
    int announced_days;      /* the last token.expiring event was emitted this many days before the expiry; 0:
                              * none was emitted yet */
    bool is_old;             /* set in copies in the view: the caller has used the old secret */
    /* The owner of a JWT or a client certificate (api/caller.h); NULL for a token of shootd. Never stored. */
    char *issuer;
    char *subject;
    bool is_certificate;
    uint64_t found_by_generation;
};

/* Makes a token and its secret. The caller overwrites the secret after use. The new token has no expiry
 * (expires_at is 0). */
struct api_token *api_token_new(const struct env *env, const char *name, enum role role, char **projects,
                                const char *created_by, char secret[static TOKEN_BYTES]);
/* Makes a new secret for the token; the caller overwrites it after use. */
void api_token_set_secret(struct api_token *t, const struct env *env, char secret[static TOKEN_BYTES]);
void api_token_free(struct api_token *t);
struct api_token *api_token_copy(const struct api_token *t);
json_t *api_token_to_json(const struct api_token *t);
struct api_token *api_token_from_json(const json_t *doc);
/* Returns the value of last_used_at for a use at `now`: the beginning of the minute. */
wall_us token_minute(wall_us now);
/* Whether the token is neither expired nor revoked. */
bool api_token_is_live(const struct api_token *t, wall_us now);
bool api_token_sees_project(const struct api_token *t, const char *project);
/* The name of all projects together, including future ones. No project has this name. */
#define PROJECT_ALL "*"
/* Whether a NULL-terminated list contains a project, or "*". When `project` is "*", the list must contain
 * "*". */
bool projects_include(char *const *list, const char *project);
/* Whether a caller with the projects `mine` may see all projects in `theirs`; "*" means all projects. Both
 * are NULL-terminated lists. */
bool projects_cover(char *const *mine, char *const *theirs);

#endif
