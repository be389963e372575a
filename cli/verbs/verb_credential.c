/*
 * The command `credential`, which kubectl runs as a plug-in. Standard output has only the JSON. The answer is
 * cached in a directory of shootctl. Therefore many processes of kubectl that run at the same time cause a
 * single request, and the last credential still works while the server cannot be reached.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "base/ids.h"
#include "base/mem.h"
#include "base/private_file.h"
#include "base/timefmt.h"
#include "cli/api.h"
#include "cli/problem.h"
#include "cli/runtime.h"
#include "cli/verbs/verbs.h"

#define GROUP   "client.authentication.k8s.io/"
#define DEFAULT "client.authentication.k8s.io/v1beta1"

/* MARGIN_S: the printed expiry is this much earlier than the expiry of the certificate. client-go runs the
 * plug-in again only after the printed expiry. Without the margin, a long watch would break. */
enum {
    FRESH_S = 10,
    REFUSED_S = 3,
    /* A server that failed is not asked again for AWAY_S while a cached certificate is valid. */
    AWAY_S = 10,
    AWAY_TIMEOUT_MS = 5000, /* while a cached certificate is valid, there is only one attempt with this
                             * timeout, because kubectl waits */
    LOCK_MS = 15000,
    LOCK_PAUSE_MS = 50,
    MARGIN_S = 300,
    LEAST_LEFT_S = 900,
    CACHE_BYTES = 512 * 1024,
    MESSAGE_BYTES = 64 * 1024
};

/* Returns the version that kubectl requests. After a fault, reports it and returns NULL. The caller frees
 * it. */
static char *wanted_version(void)
{
    static const struct json_limits limits = {1024 * 1024, 10000, 10000};
    const char *text = getenv("KUBERNETES_EXEC_INFO");
    enum json_scan_end end;
    if (!text || !*text)
        return mem_strdup(DEFAULT);
    json_t *info CLEANUP_JSON = json_parse_foreign(text, strlen(text), &limits, &end);
    const char *version = json_str(info, "apiVersion");
    if (version && (strcmp(version, GROUP "v1") == 0 || strcmp(version, GROUP "v1beta1") == 0))
        return mem_strdup(version);
    (void)cli_fail(END_REFUSED, "KUBERNETES_EXEC_INFO asks for %s; known are " GROUP "v1 and v1beta1",
                   version ? version : "no version");
    return NULL;
}

/* ---- the cache ---- */

struct cache {
    int directory; /* the directory of the cache; -1: there is no cache */
    int lock;
    char name[TOKEN_HEX_BYTES + 8];
};

/* Waits while another shootctl asks the server. The purpose of the lock is to save requests, so shootctl
 * continues without the lock after LOCK_MS. */
static void take_lock(int lock)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
    const mono_us end = env_mono(env_real()) + LOCK_MS * US_PER_MS;
    while (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0 && (errno == EWOULDBLOCK || errno == EINTR) &&
           env_mono(env_real()) < end)
        (void)nanosleep(&pause, NULL);
}

/* Opens the cache: one file per server, project, cluster and identity. */
static void cache_open(struct cache *cache, const struct cli *cli, const char *project, const char *cluster)
{
    struct buffer fault CLEANUP_BUFFER;
    char hex[TOKEN_HEX_BYTES];
    char *key CLEANUP_SECRET = mem_printf("%s\n%s\n%s\n%s", cli->settings.url.value, project, cluster,
                                          settings_asker(&cli->settings));
    token_digest_hex(key, hex);
    buffer_init(&fault, MESSAGE_BYTES);
    (void)snprintf(cache->name, sizeof(cache->name), "%s.json", hex);
    cache->directory = runtime_open(&fault);
    cache->lock = -1;
    if (cache->directory < 0) {
        cli_note("shootctl: %s; nothing is cached", fault.data);
        return;
    }
    char *lock CLEANUP_FREE = mem_printf("%s.lock", hex);
    cache->lock = openat(cache->directory, lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    take_lock(cache->lock);
}

static void cache_close(const struct cache *cache)
{
    if (cache->lock >= 0)
        (void)close(cache->lock);
    if (cache->directory >= 0)
        (void)close(cache->directory);
}

/* Reads the cached answer, whatever its age; a broken file counts as no answer. The caller owns it. */
static json_t *cache_read(const struct cache *cache)
{
    static const struct json_limits limits = {CACHE_BYTES, 1000, 100};
    enum json_scan_end end;
    if (cache->directory < 0)
        return NULL;
    char *bytes CLEANUP_FREE = mem_calloc(1, CACHE_BYTES);
    int n = private_file_read(cache->directory, cache->name, PRIVATE_TO_OWNER, bytes, CACHE_BYTES);
    json_t *kept = n > 0 && n < CACHE_BYTES ? json_parse_foreign(bytes, (size_t)n, &limits, &end) : NULL;
    explicit_bzero(bytes, n > 0 ? (size_t)n : 0);
    if (json_is_object(kept))
        return kept;
    json_decref(kept);
    return NULL;
}

static int64_t now_s(void)
{
    return env_wall(env_real()) / US_PER_S;
}

static void cache_put(const struct cache *cache, const json_t *kept)
{
    if (cache->directory < 0)
        return;
    char *text CLEANUP_SECRET = json_text(kept);
    (void)private_file_write(cache->directory, cache->name, text,
                             strlen(text)); /* a failure is ignored, because the next run requests the
                                             * credential again */
}

static void cache_write(const struct cache *cache, const json_t *status, int code)
{
    json_t *kept CLEANUP_JSON = json_object();
    json_set_int(kept, "at", now_s());
    json_set_int(kept, "code", code);
    if (status)
        (void)json_object_set(kept, "status", (json_t *)(uintptr_t)status);
    cache_put(cache, kept);
}

/* Returns the seconds since the time in this member. */
static int64_t age_s(const json_t *kept, const char *member)
{
    int64_t age = now_s() - json_int(kept, member, 0);
    return age < 0 ? INT64_MAX : age;
}

/* Returns the seconds until the certificate expires; 0 when it has expired or its expiry is not known. */
static int64_t left_s(const json_t *status)
{
    const char *text = json_str(status, "expirationTimestamp");
    wall_us end;
    if (!text || !time_parse_rfc3339(text, &end))
        return 0;
    int64_t left = (end - env_wall(env_real())) / US_PER_S;
    return left > 0 ? left : 0;
}

/* Removes other cached answers that have expired, because their cluster or token may no longer exist. */
static void cache_sweep(const struct cache *cache)
{
    int copy = cache->directory < 0 ? -1 : fcntl(cache->directory, F_DUPFD_CLOEXEC, 0);
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    if (!directory && copy >= 0)
        (void)close(copy);
    if (!directory)
        return;
    rewinddir(directory);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        struct cache other = {.directory = cache->directory, .lock = -1};
        size_t len = strlen(entry->d_name);
        if (len < 5 || len >= sizeof(other.name) || strcmp(entry->d_name + len - 5, ".json") != 0)
            continue;
        memcpy(other.name, entry->d_name, len + 1);
        json_t *kept CLEANUP_JSON = cache_read(&other);
        bool ended = kept && !left_s(json_obj(kept, "status")) && age_s(kept, "at") >= REFUSED_S;
        if (ended && strcmp(other.name, cache->name) != 0)
            (void)unlinkat(cache->directory, other.name, 0);
    }
    (void)closedir(directory);
}

/* ---- the answer ---- */

/* Whether the status has both certificate and key. */
static bool is_whole(const json_t *status)
{
    return json_str(status, "clientCertificateData") && json_str(status, "clientKeyData");
}

static int print(const struct cli *cli, const char *version, const json_t *status)
{
    char end[TIME_TEXT_BYTES];
    int64_t left = left_s(status), margin = left > 2 * MARGIN_S ? MARGIN_S : 0;
    json_t *shown = json_pack(
        "{s:s,s:s,s:s}", "expirationTimestamp",
        time_rfc3339(env_wall(env_real()) / US_PER_S * US_PER_S + (left - margin) * US_PER_S, false, end),
        "clientCertificateData", json_str(status, "clientCertificateData"), "clientKeyData",
        json_str(status, "clientKeyData"));
    json_t *credential CLEANUP_JSON =
        json_pack("{s:s,s:s,s:o}", "apiVersion", version, "kind", "ExecCredential", "status", shown);
    char *text CLEANUP_SECRET = json_text(credential);
    (void)fprintf(cli->out.file, "%s\n", text);
    return END_OK;
}

/* Requests a credential. When there is a valid cached certificate, this function makes one short attempt and
 * repeats nothing. */
static int fetch(struct cli *cli, const char *project, const char *cluster, bool has_one,
                 struct cli_answer *answer)
{
    const struct cli_request request = {.once = has_one, .timeout_ms = has_one ? AWAY_TIMEOUT_MS : 0};
    struct api_target target CLEANUP_TARGET;
    char least[24];
    (void)snprintf(least, sizeof(least), "%d", LEAST_LEFT_S);
    api_target_init(&target, API_CREDENTIAL, project, cluster, NULL);
    api_query(&target, "min_remaining_seconds", least);
    api_call_raw(cli, &target, &request, answer);
    int code = (int)problem_code(answer);
    if (code == END_OK && !is_whole(json_obj(answer->json, "status"))) {
        (void)snprintf(answer->error, sizeof(answer->error), "it answered without certificate and key");
        answer->end = HTTP_FOREIGN;
        code = END_UNREACHABLE;
    }
    return code;
}

/* Whether the server has refused to give this token a credential. Any other failure may be temporary. */
static bool is_refusal(const struct cli_answer *answer)
{
    static const long refusals[] = {401, 403, 404, 409};
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (answer->end == HTTP_ANSWERED && answer->status == refusals[i])
            return true;
    return false;
}

/* Prints the cached credential, with a note, because the server gave no new one. */
static int print_kept(const struct cli *cli, const char *version, const json_t *status, const char *why)
{
    cli_note("shootctl: the server cannot be reached (%s); the last credential is valid for %" PRId64
             " s more",
             why, left_s(status));
    return print(cli, version, status);
}

static int answer_from(struct cli *cli, struct cache *cache, const char *project, const char *cluster,
                       const char *version)
{
    json_t *kept CLEANUP_JSON = cache_read(cache);
    const json_t *status = json_obj(kept, "status");
    int64_t kept_code = json_int(kept, "code", END_OK);
    bool has_one = is_whole(status) && left_s(status) > 0;
    if (has_one && age_s(kept, "at") < FRESH_S)
        return print(cli, version, status);
    if (has_one && age_s(kept, "away_at") < AWAY_S)
        return print_kept(cli, version, status, "this was so a moment ago");
    if (!status && kept_code > END_OK && kept_code <= END_DIFFERENT && age_s(kept, "at") < REFUSED_S)
        return cli_fail((enum exit_code)kept_code,
                        "the credential was refused a moment ago: 'shootctl credential %s' shows the reason",
                        cluster);
    struct cli_answer answer CLEANUP_ANSWER = {0};
    int code = fetch(cli, project, cluster, has_one, &answer);
    if (code == END_OK) {
        cache_write(cache, json_obj(answer.json, "status"), END_OK);
        cache_sweep(cache);
        return print(cli, version, json_obj(answer.json, "status"));
    }
    if (!is_refusal(&answer) && has_one && left_s(status) > 0) {
        json_set_int(kept, "away_at", now_s());
        cache_put(cache, kept);
        return print_kept(cli, version, status,
                          answer.json ? json_str_or(answer.json, "title", "refused") : answer.error);
    }
    if (is_refusal(&answer))
        cache_write(cache, NULL, code);
    problem_say(cli, &answer);
    return code;
}

int verb_credential(struct cli *cli)
{
    char *version CLEANUP_FREE = wanted_version();
    if (!version)
        return END_REFUSED;
    int code = cli_connect(cli);
    const char *project = code == END_OK ? cli_project(cli, &code) : NULL,
               *cluster = cli->parsed->arguments[0];
    if (!project)
        return code;
    struct cache cache;
    cache_open(&cache, cli, project, cluster);
    code = answer_from(cli, &cache, project, cluster, version);
    cache_close(&cache);
    return code;
}
