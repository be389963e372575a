/*
 * Backups of the store into backups.directory, at scheduled times and when an admin requests a backup. The
 * long work (the copy, its check and the removal of old backups) runs on a separate thread (struct worker),
 * everything else on the loop thread. shootd finds the existing backups by the names of the files, also after
 * a restart. Only backups of the own store count for the next time and for backups.keep: other daemons may
 * use the same directory, and backups of a lost store are the last copies of it. Another thread lists all
 * backups, without waiting for a copy.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/private_file.h"
#include "base/timefmt.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/decide.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/world.h"

#define PREFIX             "shootd-"
#define SUFFIX             ".db"
#define DRAFT              SUFFIX ".tmp" /* the name of a backup while it is written and checked */
#define BACKUP_DESCRIPTION ".json"

enum {
    AGAIN_AFTER_S = 3600,
    DRAFT_LEFT_AFTER_S = 3600, /* a draft whose last write is older than this belongs to a process that has
                                * ended */
};

enum backup_end { BACKUP_NOT_DUE, BACKUP_MADE, BACKUP_FAILED, BACKUP_END_MAX_ };

struct backup_job {
    struct worker_job job;
    struct reconcile *r;
    struct command *cmd; /* the admin's command; NULL: scheduled */
    struct storage *storage;
    char *directory;
    int64_t every_us;
    size_t keep;
    wall_us now;
    /* ---- the following members belong to the worker ---- */
    enum backup_end end;
    wall_us newest; /* the time of the newest backup; 0: no backup exists */
    int64_t newest_bytes;
    char name[TIME_TEXT_BYTES + sizeof(PREFIX SUFFIX)];
    struct store_copy copy;
    char *error;
};

static _Atomic uint64_t ended[BACKUP_END_MAX_];
static _Atomic int64_t newest_at, newest_bytes;
static atomic_bool last_failed;

static void job_free(struct backup_job *b)
{
    free(b->directory);
    free(b->error);
    free(b);
}

/* ---- worker thread ---- */

static bool name_is_ours(const char *name, const char *suffix, wall_us *ret_at)
{
    char again[TIME_TEXT_BYTES];
    return !strncmp(name, PREFIX, strlen(PREFIX)) && time_of_name(name + strlen(PREFIX), ret_at) &&
           !strcmp(name + strlen(PREFIX) + strlen(time_for_name(*ret_at, again)), suffix);
}

static int is_backup(const struct dirent *entry)
{
    wall_us at;
    return name_is_ours(entry->d_name, SUFFIX, &at);
}

static int is_draft(const struct dirent *entry)
{
    wall_us at;
    return name_is_ours(entry->d_name, DRAFT, &at);
}

/* Finds the backups, ordered by time. Returns the number of names, or -1. */
static int find_backups(const char *directory, struct dirent ***ret_names)
{
    return scandir(directory, ret_names, is_backup, alphasort);
}

static void free_names(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* Whether the file is a backup of this store. */
static bool is_own(const struct backup_job *b, const char *path)
{
    char id[STORE_ID_BYTES];
    return storage_id_of_copy(b->storage, path, id) == STORE_OK && !strcmp(id, storage_id(b->storage));
}

/* The suffixes of the files that may belong to a backup. */
static const char *const beside[] = {".seal.key", BACKUP_DESCRIPTION};

static void remove_backup(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(beside); i++) {
        char *other CLEANUP_FREE = mem_printf("%s%s", path, beside[i]);
        (void)unlink(other);
    }
    if (unlink(path) < 0)
        log_warning("an old backup cannot be removed", "path", path, "reason", strerror(errno));
}

/* Keeps the backup that was just made, whatever the dates of the others, and the newest others. */
static void remove_old(const struct backup_job *b)
{
    struct dirent **names = NULL;
    size_t kept = 1;
    const int count = find_backups(b->directory, &names);
    for (int i = count - 1; i >= 0; i--) {
        char *path CLEANUP_FREE = mem_printf("%s/%s", b->directory, names[i]->d_name);
        if (strcmp(names[i]->d_name, b->name) != 0 && is_own(b, path) && ++kept > b->keep)
            remove_backup(path);
    }
    free_names(names, count);
}

/* Removes the drafts of killed processes. A young draft stays, because `shootd backup` may be writing it. */
static void remove_drafts(const struct backup_job *b)
{
    struct dirent **names = NULL;
    struct stat st;
    const int count = scandir(b->directory, &names, is_draft, alphasort);
    for (int i = 0; i < count; i++) {
        char *path CLEANUP_FREE = mem_printf("%s/%s", b->directory, names[i]->d_name);
        if (lstat(path, &st) == 0 && st.st_mtime < b->now / US_PER_S - DRAFT_LEFT_AFTER_S && unlink(path) < 0)
            log_warning("the draft of an interrupted backup cannot be removed", "path", path, "reason",
                        strerror(errno));
    }
    free_names(names, count);
}

/* Finds the newest backup of this store that is not dated in the future: such a date is that of a wrong
 * clock, and says nothing about the age. */
static void find_newest(struct backup_job *b)
{
    struct dirent **names = NULL;
    struct stat st;
    wall_us at = 0;
    const int count = find_backups(b->directory, &names);
    for (int i = count - 1; i >= 0 && !b->newest; i--) {
        char *path CLEANUP_FREE = mem_printf("%s/%s", b->directory, names[i]->d_name);
        if (!name_is_ours(names[i]->d_name, SUFFIX, &at) || at > b->now || !is_own(b, path))
            continue;
        b->newest = at;
        b->newest_bytes = stat(path, &st) == 0 ? st.st_size : 0;
    }
    free_names(names, count);
}

static bool is_due(const struct backup_job *b)
{
    return b->cmd || !b->newest || b->now >= b->newest + b->every_us;
}

/* A backup is valid also without its description, so a failure is only logged. */
static void describe(const struct backup_job *b)
{
    json_t *doc CLEANUP_JSON = store_copy_document(&b->copy, b->name, b->now);
    char *text CLEANUP_FREE = json_text(doc),
               *name CLEANUP_FREE = mem_printf("%s" BACKUP_DESCRIPTION, b->name);
    const int directory = open(b->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int r = directory < 0 ? -errno : private_file_write(directory, name, text, strlen(text));
    if (r)
        log_warning("the description of a backup cannot be written", "path", name, "reason", strerror(-r));
    if (directory >= 0)
        (void)close(directory);
}

static void on_work(struct worker_job *job)
{
    struct backup_job *b = CONTAINER_OF(job, struct backup_job, job);
    char text[TIME_TEXT_BYTES];
    (void)mkdir(b->directory, 0700);
    find_newest(b);
    if (!is_due(b))
        return;
    remove_drafts(b); /* done first, because the copy may need the space of the drafts */
    (void)snprintf(b->name, sizeof(b->name), PREFIX "%s" SUFFIX, time_for_name(b->now, text));
    char *path CLEANUP_FREE = mem_printf("%s/%s", b->directory, b->name);
    b->end = BACKUP_FAILED;
    if (storage_backup(b->storage, path, &b->copy, &b->error) != STORE_OK)
        return;
    b->end = BACKUP_MADE;
    b->newest = b->now;
    b->newest_bytes = b->copy.bytes;
    describe(b);
    remove_old(b);
}

/* ---- loop thread ---- */

static void answer(struct backup_job *b)
{
    if (b->end == BACKUP_FAILED) {
        struct problem *p = problem_new(PROBLEM_STORE_UNAVAILABLE, "the backup could not be made: %s",
                                        b->error ? b->error : "unknown reason");
        p->retry_after_s = AGAIN_AFTER_S;
        reply_problem(b->cmd, p);
        return;
    }
    reply_prepare(b->cmd, 201, store_copy_document(&b->copy, b->name, b->now));
    reply_done(b->r, b->cmd);
}

static void log_end(const struct backup_job *b)
{
    atomic_fetch_add(&ended[b->end], 1);
    if (b->newest)
        atomic_store(&newest_at, b->newest);
    if (b->newest_bytes)
        atomic_store(&newest_bytes, b->newest_bytes);
    if (b->end != BACKUP_NOT_DUE)
        atomic_store(&last_failed, b->end == BACKUP_FAILED);
    if (b->end == BACKUP_MADE)
        log_info("backup made", "path", b->name, "bytes", LOG_INT(b->copy.bytes), "last_sequence",
                 LOG_INT(b->copy.event_sequence));
    else if (b->end == BACKUP_FAILED)
        log_error("no backup could be made (backups.directory)", "path", b->directory, "reason", b->error);
}

/* Returns how long the next automatic backup is not due. A newest backup in the future, after the wall clock
 * was set back, delays it no longer than `every`. */
static int64_t rest_us(const struct backup_job *b)
{
    const int64_t left = b->newest + b->every_us - b->now;
    if (b->end == BACKUP_FAILED)
        return AGAIN_AFTER_S * US_PER_S;
    return left < b->every_us ? left : b->every_us;
}

static void on_done(struct worker_job *job)
{
    struct backup_job *b = CONTAINER_OF(job, struct backup_job, job);
    struct reconcile *r = b->r;
    log_end(b);
    if (b->cmd) {
        answer(b);
    } else {
        r->backups.under_way = false;
        r->backups.look_at = env_mono(r->env) + rest_us(b);
    }
    job_free(b);
}

/* Called when the process ends. */
static void on_drop(struct worker_job *job)
{
    struct backup_job *b = CONTAINER_OF(job, struct backup_job, job);
    if (b->cmd)
        command_drop(b->cmd);
    job_free(b);
}

static bool submit(struct reconcile *r, struct command *cmd)
{
    const struct config *config = r->o.config;
    struct backup_job *b = MEM_NEW(struct backup_job);
    *b = (struct backup_job){.job = {.work = on_work, .done = on_done, .drop = on_drop},
                             .r = r,
                             .cmd = cmd,
                             .storage = r->o.storage,
                             .directory = mem_strdup(config->backups.directory),
                             .every_us = config->backups.every_us,
                             .keep = (size_t)config->backups.keep,
                             .now = env_wall(r->env)};
    if (r->o.copyist->submit(r->o.copyist, &b->job))
        return true;
    job_free(b);
    return false;
}

struct problem *command_backup(struct reconcile *r, struct command *cmd)
{
    if (!r->o.config->backups.directory)
        return problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                           "The configuration names no directory for backups (backups.directory).");
    return submit(r, cmd) ? NULL
                          : problem_passing(PROBLEM_STORE_UNAVAILABLE, 60,
                                            "other backups are being made; as many as may wait do");
}

/* ---- the list ---- */

struct list_job {
    struct worker_job job;
    struct reconcile *r;
    struct command *cmd;
    char *directory;
    json_t *items; /* set by the worker */
    int error; /* set by the worker: the error of reading the directory; 0: the directory was read, or does
                * not exist */
};

/* Returns the description of a backup. A backup without a description (made by an earlier version, or just
 * now) is shown with name and size. NULL: the backup was removed after its name was read, because a newer
 * backup was made. */
static json_t *read_description(int directory, const char *name, wall_us made_at)
{
    enum { DESCRIPTION_MAX = 4096 };
    char text[DESCRIPTION_MAX], at[TIME_TEXT_BYTES];
    struct stat st;
    char *file CLEANUP_FREE = mem_printf("%s" BACKUP_DESCRIPTION, name);
    const int len = private_file_read(directory, file, PRIVATE_TO_OWNER, text, sizeof(text));
    json_t *doc = len > 0 ? json_parse_strict(text, (size_t)len, NULL) : NULL;
    if (json_obj(doc, "rows") && json_str(doc, "name") && !strcmp(json_str(doc, "name"), name))
        return doc;
    json_decref(doc);
    if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL;
    static const char *const unknown[] = {"store_id", "schema", "last_sequence", "rows"};
    doc = json_object();
    json_set_str(doc, "name", name);
    json_set_int(doc, "bytes", st.st_size);
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        json_set_take(doc, unknown[i], json_null());
    json_set_str(doc, "created_at", time_rfc3339(made_at, true, at));
    return doc;
}

/* Lists the backups, the newest first. Worker thread. */
static void on_list_work(struct worker_job *job)
{
    enum { MOST = 10000 };
    struct list_job *l = CONTAINER_OF(job, struct list_job, job);
    struct dirent **names = NULL;
    wall_us made_at = 0;
    l->items = json_array();
    const int directory = open(l->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    l->error = directory < 0 && errno != ENOENT ? errno : 0;
    const int count = directory < 0 ? 0 : find_backups(l->directory, &names);
    for (int i = count - 1; i >= 0 && json_array_size(l->items) < MOST; i--) {
        json_t *item = name_is_ours(names[i]->d_name, SUFFIX, &made_at)
                           ? read_description(directory, names[i]->d_name, made_at)
                           : NULL;
        if (item)
            json_append_take(l->items, item);
    }
    free_names(names, count);
    if (directory >= 0)
        (void)close(directory);
}

static void list_free(struct list_job *l)
{
    free(l->directory);
    json_decref(l->items);
    free(l);
}

static void answer_list(struct command *cmd, json_t *items)
{
    json_t *doc = json_object();
    json_set_take(doc, "items", items);
    json_set_str(doc, "next_cursor", NULL);
    reply_json(cmd, 200, doc);
}

static void on_list_done(struct worker_job *job)
{
    struct list_job *l = CONTAINER_OF(job, struct list_job, job);
    struct problem *p = l->error
                            ? problem_new(PROBLEM_STORE_UNAVAILABLE,
                                          "the directory of backups cannot be read: %s", strerror(l->error))
                            : NULL;
    if (p)
        reply_problem(l->cmd, p);
    else
        answer_list(l->cmd, TAKE_PTR(l->items));
    list_free(l);
}

static void on_list_drop(struct worker_job *job)
{
    struct list_job *l = CONTAINER_OF(job, struct list_job, job);
    command_drop(l->cmd);
    list_free(l);
}

struct problem *command_backups(struct reconcile *r, struct command *cmd)
{
    if (!r->o.config->backups.directory) {
        answer_list(cmd, json_array());
        return NULL;
    }
    struct list_job *l = MEM_NEW(struct list_job);
    *l = (struct list_job){.job = {.work = on_list_work, .done = on_list_done, .drop = on_list_drop},
                           .r = r,
                           .cmd = cmd,
                           .directory = mem_strdup(r->o.config->backups.directory)};
    if (r->o.lister->submit(r->o.lister, &l->job))
        return NULL;
    list_free(l);
    return problem_passing(PROBLEM_OVERLOADED, 5, "the backups are being listed for others");
}

void backups_check(struct reconcile *r)
{
    const struct config *config = r->o.config;
    if (!config->backups.directory || !config->backups.every_us || r->backups.under_way ||
        env_mono(r->env) < r->backups.look_at)
        return;
    r->backups.under_way = submit(r, NULL);
}

void backups_metrics(struct buffer *out)
{
    static const char name[] = "shootd_backups_total";
    metric_family(out, name);
    metric_of(out, name, "outcome", "made", (double)atomic_load(&ended[BACKUP_MADE]));
    metric_of(out, name, "outcome", "failed", (double)atomic_load(&ended[BACKUP_FAILED]));
    metric_one(out, "shootd_backup_newest_timestamp_seconds",
               (double)atomic_load(&newest_at) / (double)US_PER_S);
    metric_one(out, "shootd_backup_newest_bytes", (double)atomic_load(&newest_bytes));
    metric_one(out, "shootd_backup_last_success", !atomic_load(&last_failed));
}
