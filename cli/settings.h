/*
 * Where shootctl talks to and as whom: flags win over the environment, that over the file of contexts.
 * The file is $XDG_CONFIG_HOME/shootctl/config.yaml, mode 0600; it holds tokens. One thread; blocking.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdbool.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/json.h"

struct parsed;
struct buffer;

/* A value and where it is from, for people. */
struct setting {
    char *value; /* NULL: not set */
    char *source;
};

struct settings {
    struct setting context; /* the name of the one that is used */
    struct setting url;
    struct setting token; /* secret */
    struct setting project;
    struct setting ca_file;
    json_t *login;       /* how the token of the context is renewed (cli/renew.h); NULL: it is not */
    mono_us renew_after; /* not before, after a renewal that failed */
};

/*
 * The file as it is: {"current": name, "contexts": [{"name", "url", "token", "project", "ca_file",
 * "login"}]}, members that we do not know included; an empty one when there is no file. NULL with a message
 * in `fault`: others may read it, it is no YAML, it has another shape. The caller owns the result.
 */
json_t *contexts_read(struct buffer *fault);
/* The path of the file, for messages; the caller frees it. */
char *contexts_path(void);
/* The context of this name, lent; NULL when there is none. */
json_t *contexts_find(const json_t *file, const char *name);

/*
 * Reads the file, lets `change` alter it and puts it in the place of the old one, all under a lock, so that
 * two logins at once lose nothing. False with a message; `change` may return false with one of its own.
 */
bool contexts_change(bool (*change)(json_t *file, void *ctx, struct buffer *fault), void *ctx,
                     struct buffer *fault);

/*
 * Joins flags, environment and file. A token of the file is for the address of its context only, and one of
 * the environment for SHOOTD_URL where that is set: with another address it is not used. False with a
 * message. Freed with settings_done either way.
 */
bool settings_load(struct settings *settings, const struct parsed *parsed, struct buffer *fault);
void settings_done(struct settings *settings);
/* The one who asks, as a part of the names of what is kept: a token, or the person behind tokens that are
 * renewed every few minutes. Secret; lent. */
const char *settings_asker(const struct settings *settings);

/* Whether it is http://host, https://host or unix:/path; else a message. */
bool url_is_good(const char *url, struct buffer *fault);
/* A copy without slashes at its end; the caller frees it. */
char *url_trimmed(const char *url);
/* The address in short, as the name of a server: host, port and path, the host in lower case; the path of a
 * socket. The caller frees it. */
char *url_label(const char *url);
/* Whether a token would be sent in clear to another machine. */
bool url_is_open(const char *url);
/* A token is one line of visible ASCII. */
bool token_is_sendable(const char *token);

#endif
