/*
 * The server, the token and the project in force. Flags win over the environment, the environment over the
 * file of contexts. The file is $XDG_CONFIG_HOME/shootctl/config.yaml, mode 0600; it holds tokens. One
 * thread; blocking.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdbool.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/json.h"

struct parsed;
struct buffer;

/* A value, and a text that names the source of the value. */
struct setting {
    char *value; /* NULL: not set */
    char *source;
};

struct settings {
    struct setting context; /* the name of the context in use */
    struct setting url;
    struct setting token; /* secret */
    struct setting project;
    struct setting ca_file;
    json_t *login;       /* how to renew the token of the context (cli/renew.h); NULL: it cannot be renewed */
    mono_us renew_after; /* after a renewal that failed: the earliest time of the next */
};

/*
 * Reads the file of contexts: {"current": name, "contexts": [{"name", "url", "token", "project", "ca_file",
 * "login"}]}. Unknown members are included. Without a file the result has no contexts. NULL with a message
 * in `fault` when others may read the file, it is not YAML, or it has another shape. The caller owns the
 * result.
 */
json_t *contexts_read(struct buffer *fault);
/* The path of the file, for messages; the caller frees it. */
char *contexts_path(void);
/* The context of this name, lent; NULL when there is none. */
json_t *contexts_find(const json_t *file, const char *name);

/*
 * A change of the file of contexts, under a lock, so that two logins at once lose nothing: begin, change
 * `file`, store, end. Begin and store: false with a message. End frees all and unlocks; it is called in any
 * case.
 */
struct contexts_edit {
    int directory;
    json_t *file; /* NULL after begin failed */
};
bool contexts_edit_begin(struct contexts_edit *edit, struct buffer *fault);
bool contexts_edit_store(const struct contexts_edit *edit, struct buffer *fault);
void contexts_edit_end(struct contexts_edit *edit);
#define CLEANUP_CONTEXTS_EDIT CLEANUP(contexts_edit_end)

/*
 * Combines flags, environment and file. A token of the file is sent only to the address of its context. A
 * token of the environment is sent only to SHOOTD_URL, if that is set. False with a message. The caller
 * frees `settings` with settings_done in any case.
 */
bool settings_load(struct settings *settings, const struct parsed *parsed, struct buffer *fault);
void settings_done(struct settings *settings);
/* The identity that is a part of the names of cached files: the token, or, for tokens that are renewed every
 * few minutes, the person who logged in. Secret; lent. */
const char *settings_asker(const struct settings *settings);

/* Whether the address is http://host, https://host or unix:/path; if not, `fault` has a message. */
bool url_is_good(const char *url, struct buffer *fault);
/* Appends text, escaped for a path, a query or a form. */
void url_add_escaped(struct buffer *out, const char *text);
/* A copy without slashes at the end; the caller frees it. */
char *url_trimmed(const char *url);
/* A short name for a server, made from its address: host in lower case, port and path; or the path of a
 * socket. The caller frees it. */
char *url_label(const char *url);
/* Whether a token would go unencrypted to another machine. */
bool url_is_open(const char *url);
/* Whether the token is one line of visible ASCII, so that a header can hold it. */
bool token_is_sendable(const char *token);

#endif
