#include "cli/cli_settings.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/private_file.h"
#include "base/text.h"
#include "cli/files.h"
#include "cli/glyphs.h"
#include "cli/parse.h"
#include "cli/yaml_in.h"
#include "cli/yaml_out.h"

#define FILE_NAME "config.yaml"
enum { FILE_MAX_BYTES = 1024 * 1024, FAULT_MAX_BYTES = 64 * 1024 };

/* ---- the file ---- */

/* Returns NULL when no variable names a place for the file. */
static char *directory_path(void)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (xdg && xdg[0] == '/')
        return mem_printf("%s/shootctl", xdg);
    return home && home[0] == '/' ? mem_printf("%s/.config/shootctl", home) : NULL;
}

char *contexts_path(void)
{
    char *directory CLEANUP_FREE = directory_path();
    return directory ? mem_printf("%s/" FILE_NAME, directory) : mem_strdup("the file of contexts");
}

static bool fault_says(struct buffer *fault, int error, const char *doing)
{
    char *path CLEANUP_FREE = contexts_path();
    if (error == -EPERM)
        buffer_printf(fault, "%s: others may read it, and it holds tokens: chmod 600 %s", path, path);
    else if (error == -ELOOP)
        buffer_printf(fault, "%s: is a link: links are not followed, because the file holds tokens", path);
    else if (error == -EDESTADDRREQ)
        buffer_printf(fault, "%s has no place: set HOME or XDG_CONFIG_HOME to an absolute path", path);
    else
        buffer_printf(fault, "%s: cannot %s: %s", path, doing, strerror(-error));
    return false;
}

static json_t *empty_file(void)
{
    return json_pack("{s:n,s:[]}", "current", "contexts");
}

/* Returns the only YAML document of the file of contexts; an empty file has no contexts. When the file has
 * more than one document, or is not a mapping whose `contexts` is a list with name and url, writes a message
 * to `fault` and returns NULL. Takes over the reference to `documents`. */
static json_t *checked(json_t *documents, struct buffer *fault)
{
    json_t *file CLEANUP_JSON =
        json_array_size(documents) ? json_incref(json_array_get(documents, 0)) : empty_file();
    json_t *contexts = json_arr(file, "contexts"), *context;
    bool good = json_is_object(file) && json_array_size(documents) <= 1;
    size_t i;
    json_decref(documents);
    json_array_foreach (contexts, i, context)
        good = good && json_str(context, "name") && json_str(context, "url");
    if (good && !contexts)
        good = !json_object_get(file, "contexts") && json_object_set_new(file, "contexts", json_array()) == 0;
    if (good)
        return TAKE_PTR(file);
    char *path CLEANUP_FREE = contexts_path();
    buffer_printf(fault, "%s: is no file of contexts: `contexts` is a list, each with name and url", path);
    return NULL;
}

static json_t *read_at(int directory, struct buffer *fault)
{
    char *bytes CLEANUP_FREE = mem_calloc(1, FILE_MAX_BYTES);
    int n = private_file_read(directory, FILE_NAME, PRIVATE_TO_OWNER, bytes, FILE_MAX_BYTES);
    if (n == -ENOENT)
        return empty_file();
    if (n == FILE_MAX_BYTES)
        n = -EFBIG;
    if (n < 0) {
        (void)fault_says(fault, n, "read");
        return NULL;
    }
    struct yaml_fault wrong = {0};
    json_t *documents = yaml_read(bytes, (size_t)n, &wrong);
    explicit_bzero(bytes, (size_t)n);
    if (documents)
        return checked(documents, fault);
    char *path CLEANUP_FREE = contexts_path();
    buffer_printf(fault, "%s:%zu: %s", path, wrong.line, wrong.text);
    return NULL;
}

json_t *contexts_read(struct buffer *fault)
{
    char *path CLEANUP_FREE = directory_path();
    int directory = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (!path || (directory < 0 && errno == ENOENT))
        return empty_file();
    if (directory < 0) {
        (void)fault_says(fault, -errno, "open its directory");
        return NULL;
    }
    json_t *file = read_at(directory, fault);
    (void)close(directory);
    return file;
}

json_t *contexts_find(const json_t *file, const char *name)
{
    size_t i;
    json_t *context;
    json_array_foreach (json_arr(file, "contexts"), i, context)
        if (mem_same_str(json_str(context, "name"), name))
            return context;
    return NULL;
}

/* Opens the directory, and makes it and its parents if they are missing. Returns a negative errno on
 * failure. */
static int open_directory(void)
{
    char *path CLEANUP_FREE = directory_path();
    int error = path ? files_make_directory(path) : EDESTADDRREQ;
    if (error)
        return -error;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return directory < 0 ? -errno : directory;
}

bool contexts_edit_begin(struct contexts_edit *edit, struct buffer *fault)
{
    *edit = (struct contexts_edit){.directory = open_directory()};
    if (edit->directory < 0)
        return fault_says(fault, edit->directory, "make its directory");
    if (flock(edit->directory, LOCK_EX) < 0)
        return fault_says(fault, -errno, "lock its directory");
    edit->file = read_at(edit->directory, fault);
    return edit->file != NULL;
}

bool contexts_edit_store(const struct contexts_edit *edit, struct buffer *fault)
{
    struct buffer text CLEANUP_BUFFER;
    assert(edit->file && edit->directory >= 0);
    buffer_init(&text, FILE_MAX_BYTES);
    yaml_write(&text, edit->file);
    int r = text.overflow ? -EFBIG : private_file_write(edit->directory, FILE_NAME, text.data, text.len);
    explicit_bzero(text.data, text.len);
    return r == 0 || fault_says(fault, r, "write");
}

bool contexts_edit_try(const struct contexts_edit *edit, struct buffer *fault)
{
    const bool is_there = faccessat(edit->directory, FILE_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    const bool good = contexts_edit_store(edit, fault);
    if (good && !is_there)
        (void)unlinkat(edit->directory, FILE_NAME, 0);
    return good;
}

void contexts_edit_end(struct contexts_edit *edit)
{
    json_decref(edit->file);
    if (edit->directory >= 0)
        (void)close(edit->directory);
    *edit = (struct contexts_edit){.directory = -1};
}

bool contexts_can_change(struct buffer *fault)
{
    struct contexts_edit edit CLEANUP_CONTEXTS_EDIT = {.directory = -1};
    char *path CLEANUP_FREE = directory_path();
    if (!path)
        return fault_says(fault, -EDESTADDRREQ, "write");
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return true;
    return contexts_edit_begin(&edit, fault) && contexts_edit_try(&edit, fault);
}

/* ---- addresses and tokens ---- */

static bool begins(const char *text, const char *with)
{
    return strncasecmp(text, with, strlen(with)) == 0;
}

bool url_is_good(const char *url, struct buffer *fault)
{
    const char *host = begins(url, "http://") ? url + 7 : begins(url, "https://") ? url + 8 : NULL;
    bool good = begins(url, "unix:/") || (host && *host && *host != '/' && !strpbrk(host, "?#@"));
    for (const char *c = url; *c; c++)
        good = good && (unsigned char)*c > ' ' && (unsigned char)*c < 0x7f;
    if (!good)
        buffer_printf(fault, "'%s' is no address of a server: https://HOST, http://HOST:PORT or unix:/PATH",
                      url);
    return good;
}

char *url_trimmed(const char *url)
{
    size_t len = strlen(url);
    while (len && url[len - 1] == '/')
        len--;
    return mem_strndup(url, len);
}

char *url_label(const char *url)
{
    if (begins(url, "unix:"))
        return mem_strdup(url + 5);
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    char *copy = url_trimmed(host);
    for (char *c = copy; *c && *c != '/'; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

bool url_is_loopback(const char *url)
{
    char *host CLEANUP_FREE = url_label(url);
    host[strcspn(host, "/?#")] = '\0';
    char *port = strrchr(host, ':');
    if (port && port[1 + strspn(port + 1, "0123456789")] == '\0')
        *port = '\0';
    struct in_addr in;
    bool is_127 = inet_pton(AF_INET, host, &in) == 1 && ntohl(in.s_addr) >> 24 == IN_LOOPBACKNET;
    return is_127 || strcmp(host, "[::1]") == 0 || strcmp(host, "localhost") == 0;
}

bool url_is_open(const char *url)
{
    return begins(url, "http://") && !url_is_loopback(url);
}

bool token_is_sendable(const char *token)
{
    size_t len = strlen(token);
    for (const char *c = token; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
            return false;
    return len > 0 && len <= 16384;
}

void url_add_escaped(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c);
        if (plain)
            buffer_add(out, text, 1);
        else
            buffer_printf(out, "%%%02X", c);
    }
}

/* ---- together ---- */

static void set(struct setting *setting, const char *value, const char *source)
{
    if (setting->value || !value || !*value)
        return;
    setting->value = mem_strdup(value);
    setting->source = mem_strdup(source);
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Returns the context to use: the context with this name, or the context with the address that a flag or
 * variable names. */
static json_t *choose_context(const json_t *file, const char *name, const char *url)
{
    if (name || !url)
        return contexts_find(file, name ? name : json_str(file, "current"));
    char *wanted CLEANUP_FREE = url_trimmed(url);
    json_t *current = contexts_find(file, json_str(file, "current")), *context;
    if (current && mem_same_str(json_str(current, "url"), wanted))
        return current;
    size_t i;
    json_array_foreach (json_arr(file, "contexts"), i, context)
        if (mem_same_str(json_str(context, "url"), wanted))
            return context;
    return NULL;
}

/* Whether the setting is UTF-8. Flags and the file of contexts are UTF-8 already, but a variable of the
 * environment may contain any bytes. */
static bool is_text(const struct setting *setting, struct buffer *fault)
{
    bool good = !setting->value || glyphs_are_text(setting->value);
    if (!good)
        buffer_printf(fault, "%s: '%s' is no UTF-8", setting->source, setting->value);
    return good;
}

/* Whether SHOOTD_TOKEN may be sent to this address. If SHOOTD_URL is set, the token belongs to that server
 * only. */
static bool is_of_environment(const char *url)
{
    const char *own = variable("SHOOTD_URL");
    if (!own || !url)
        return true;
    char *wanted CLEANUP_FREE = url_trimmed(own), *used CLEANUP_FREE = url_trimmed(url);
    return strcmp(wanted, used) == 0;
}

static void set_from_environment(struct cli_settings *s)
{
    set(&s->url, variable("SHOOTD_URL"), "SHOOTD_URL");
    char *token CLEANUP_SECRET = mem_strdup(variable("SHOOTD_TOKEN"));
    if (token && is_of_environment(s->url.value))
        set(&s->token, text_secret_line(token), "SHOOTD_TOKEN");
    set(&s->project, variable("SHOOTD_PROJECT"), "SHOOTD_PROJECT");
    set(&s->ca_file, variable("SHOOTD_CA_FILE"), "SHOOTD_CA_FILE");
}

static void set_from_context(struct cli_settings *s, const json_t *context)
{
    char *source CLEANUP_FREE = mem_printf("context %s", json_str(context, "name"));
    set(&s->context, json_str(context, "name"), source);
    set(&s->url, json_str(context, "url"), source);
    bool is_own = !s->token.value;
    set(&s->token, json_str(context, "token"), source);
    if (is_own && s->token.value && json_str(json_obj(context, "login"), "refresh_token"))
        s->login = json_deep_copy(json_obj(context, "login"));
    set(&s->project, json_str(context, "project"), source);
    set(&s->ca_file, json_str(context, "ca_file"), source);
}

/* Reads the file of contexts. A run whose server and token are given otherwise does not need it, so a file
 * that cannot be read is then as good as none. */
static json_t *read_if_needed(const struct cli_settings *settings, const char *name, struct buffer *fault)
{
    struct buffer own CLEANUP_BUFFER;
    buffer_init(&own, FAULT_MAX_BYTES);
    json_t *file = contexts_read(&own);
    if (!file && !name && settings->url.value && settings->token.value)
        return empty_file();
    if (!file)
        buffer_add(fault, own.data, own.len);
    return file;
}

bool settings_load(struct cli_settings *settings, const struct parsed *parsed, struct buffer *fault)
{
    *settings = (struct cli_settings){0};
    const char *name = parsed_text(parsed, "context");
    set(&settings->url, parsed_text(parsed, "url"), "--url");
    set(&settings->project, parsed_text(parsed, "project"), "--project");
    set(&settings->ca_file, parsed_text(parsed, "ca-file"), "--ca-file");
    if (!name)
        set_from_environment(settings);
    json_t *file CLEANUP_JSON = read_if_needed(settings, name, fault);
    if (!file)
        return false;
    json_t *context = choose_context(file, name, settings->url.value);
    if (name && !context) {
        buffer_printf(fault, "there is no context '%s'; 'shootctl context list' shows them", name);
        return false;
    }
    char *url CLEANUP_FREE = settings->url.value ? url_trimmed(settings->url.value) : NULL;
    if (context && (!url || mem_same_str(json_str(context, "url"), url)))
        set_from_context(settings, context);
    if (settings->url.value && !url_is_good(settings->url.value, fault))
        return false;
    if (!is_text(&settings->project, fault) || !is_text(&settings->ca_file, fault))
        return false;
    if (settings->token.value && !token_is_sendable(settings->token.value)) {
        buffer_printf(fault, "the value of %s is not a token: a token is one line of visible characters",
                      settings->token.source);
        return false;
    }
    return true;
}

const char *settings_token_context(const struct cli_settings *settings)
{
    const struct setting *token = &settings->token, *context = &settings->context;
    return token->value && mem_same_str(token->source, context->source) ? context->value : NULL;
}

const char *settings_asker(const struct cli_settings *settings)
{
    const char *id = json_str(settings->login, "id");
    return id ? id : settings->token.value ? settings->token.value : "";
}

void settings_done(struct cli_settings *settings)
{
    struct setting *all[] = {&settings->context, &settings->url, &settings->token, &settings->project,
                             &settings->ca_file};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        mem_free_secret(all[i]->value);
        free(all[i]->source);
        *all[i] = (struct setting){0};
    }
    json_decref(settings->login);
    settings->login = NULL;
}
