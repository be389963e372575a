/*
 * The server, the token and the project of a run. Flags take precedence over the environment, and the
 * environment takes precedence over the file of contexts. The file is $XDG_CONFIG_HOME/shootctl/config.yaml,
 * mode 0600, because it contains tokens. One thread; blocking.
 */
#ifndef CLI_CLI_SETTINGS_H
#define CLI_CLI_SETTINGS_H

#include <stdbool.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/json.h"

struct parsed;
struct buffer;

/* A value, and a text that names the source of the value. */
struct setting {
    char *value; /* the value; NULL: it is not set */
    char *source;
};

struct cli_settings {
    struct setting context; /* the name of the context in use */
    struct setting url;
    struct setting token; /* the token, a secret */
    struct setting project;
    struct setting ca_file;
    json_t *login;       /* the data with which the token of the context is renewed (cli/renew.h); NULL: the
                          * token cannot be renewed */
    mono_us renew_after; /* after a failed renewal: the earliest time of the next attempt */
};

/*
 * Reads the file of contexts: {"current": name, "contexts": [{"name", "url", "token", "project", "ca_file",
 * "login"}]}. Unknown members are included. Without a file the result has no contexts. When other users may
 * read the file, when it is not YAML, or when it does not have this form, writes a message to `fault` and
 * returns NULL. The caller owns the result.
 */
json_t *contexts_read(struct buffer *fault);
/* Returns the path of the file for messages; the caller frees it. */
char *contexts_path(void);
/* Returns the context with this name, borrowed; NULL when there is no such context. */
json_t *contexts_find(const json_t *file, const char *name);

/*
 * A change of the file of contexts. The file is locked during the change, so that the change of one login is
 * not lost when another login changes the file at the same time. The caller calls begin, changes `file`, and
 * calls store and end. After a failure, begin, try and store return false with a message. The function end
 * frees everything and unlocks the file; the caller must always call it.
 */
struct contexts_edit {
    int directory;
    json_t *file; /* the content; NULL after begin has failed */
};
bool contexts_edit_begin(struct contexts_edit *edit, struct buffer *fault);
bool contexts_edit_store(const struct contexts_edit *edit, struct buffer *fault);
/* Whether the file can be written: writes its old content. Called before a step that cannot be undone and
 * whose result must be stored. */
bool contexts_edit_try(const struct contexts_edit *edit, struct buffer *fault);
/* Does the same in an edit of its own. When there is no directory yet, none is made, and the result is true.
 */
bool contexts_can_change(struct buffer *fault);
void contexts_edit_end(struct contexts_edit *edit);
#define CLEANUP_CONTEXTS_EDIT CLEANUP(contexts_edit_end)

/*
 * Combines flags, environment and file. A token of the file is sent only to the address of its context. If
 * SHOOTD_URL is set, a token of the environment is sent only to this address. After a failure returns false
 * with a message. The caller always frees `settings` with settings_done.
 */
bool settings_load(struct cli_settings *settings, const struct parsed *parsed, struct buffer *fault);
void settings_done(struct cli_settings *settings);
/* Returns the name of the context whose token is used, borrowed. NULL: there is no token, or it does not come
 * from a context. */
const char *settings_token_context(const struct cli_settings *settings);
/* Returns the identity that is a part of the names of cached files, borrowed. The identity is the token or,
 * for tokens that are renewed every few minutes, the person who logged in. The text is a secret. */
const char *settings_asker(const struct cli_settings *settings);

/* Whether the address is http://host, https://host or unix:/path; if not, `fault` has a message. */
bool url_is_good(const char *url, struct buffer *fault);
/* Appends text, escaped for a path, a query or a form. */
void url_add_escaped(struct buffer *out, const char *text);
/* Returns a copy of the address without slashes at the end; the caller frees the copy. */
char *url_trimmed(const char *url);
/* Returns a short name for a server, made from its address: the host in lower case, port and path; or the
 * path of a socket. The caller frees it. */
char *url_label(const char *url);
/* Whether the host of an http or https address is this machine: localhost, [::1] or an address of
 * 127.0.0.0/8. */
bool url_is_loopback(const char *url);
/* Whether a token would be sent to another machine without encryption. */
bool url_is_open(const char *url);
/* Whether the token is one line of visible ASCII, so that it can be sent in a header. */
bool token_is_sendable(const char *token);

#endif
