/* Command line, signals, watchdog. All other parts are in daemon.c. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/version.h"
#include "daemon/admin_token.h"
#include "daemon/backup.h"
#include "daemon/daemon.h"
#include "daemon/daemon_private.h"
#include "daemon/health_check.h"
#include "daemon/key_fit.h"
#include "daemon/login_check.h"
#include "daemon/reload.h"
#include "daemon/rotate_key.h"
#include "http/connection/connection.h"
#include "http/connection/tls.h"
#include "storage/storage.h"

static const char usage[] =
    "usage: shootd [--config FILE] [--check-config [--login] | --health]\n"
    "  --config FILE     configuration (YAML). Without it CLEURA_LOGIN, CLEURA_PASSWORD, CLEURA_CLOUD,\n"
    "                    CLEURA_URL, CLEURA_REGION and CLEURA_PROJECT_ID name the account and the project,\n"
    "                    and SHOOTD_LISTEN names the address\n"
    "  --check-config    check the configuration, print every fault, exit 0 or 78\n"
    "  --login           with --check-config: also log in to Cleura with each account, and read each\n"
    "                    project. Exit 0; 78 when Cleura refuses, 69 when it cannot be asked\n"
    "  --health          check whether the running shootd is ready; exit 0 or 1\n"
    "  --sample-config   print the annotated sample configuration\n"
    "  --version         print version, revision and the schemas of stores that it opens\n"
    "  --help            print this\n"
    "shootd check-store [--config FILE | DATABASE]\n"
    "                    check the store, or a backup. Print its content, its faults and what to do.\n"
    "                    Exit 0; 1 when there are faults, 69 when it cannot be opened, 78 when a newer\n"
    "                    version made it\n"
    "shootd admin-token [--config FILE]\n"
    "                    make an API token (role admin, all projects, 90 days) and print it. The user\n"
    "                    must be allowed to write the state directory. shootd need not run\n"
    "shootd backup [--config FILE] --to PATH [--with-seal-key]\n"
    "                    copy the store to PATH, a new file or a directory, and check the copy. shootd may\n"
    "                    run. With --with-seal-key, also write the seal key beside the copy\n"
    "shootd restore [--config FILE] --from PATH [--without-secrets]\n"
    "                    replace the store by a backup, and keep the old store. shootd must not run. With\n"
    "                    --without-secrets, restore also when no key opens the secrets of the backup\n"
    "shootd rotate-seal-key [--config FILE]\n"
    "                    make a new seal key, and seal all secrets with it. shootd must not run\n";

/* How long the end waits for a reader of the log. */
static const int64_t LOG_PATIENCE_US = 5 * US_PER_S;

/* The command that the process runs. */
enum command_line {
    SERVE,
    CHECK_CONFIG,
    HEALTH,
    CHECK_STORE,
    ADMIN_TOKEN,
    BACKUP,
    RESTORE,
    ROTATE_SEAL_KEY,
};

struct arguments {
    enum command_line command;
    const char *config;
    bool login;
    bool sample;
    bool version;
    bool help;
    bool with_seal_key;
    bool without_secrets;
    const char *to;
    const char *from;
    const char *database; /* the database to check; NULL: the database of the configuration */
};

static bool parse_options(int argc, char **argv, struct arguments *args)
{
    static const struct option options[] = {{"config", required_argument, NULL, 'c'},
                                            {"check-config", no_argument, NULL, 'k'},
                                            {"login", no_argument, NULL, 'l'},
                                            {"health", no_argument, NULL, 'H'},
                                            {"sample-config", no_argument, NULL, 's'},
                                            {"version", no_argument, NULL, 'v'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"to", required_argument, NULL, 't'},
                                            {"from", required_argument, NULL, 'f'},
                                            {"with-seal-key", no_argument, NULL, 'w'},
                                            {"without-secrets", no_argument, NULL, 'o'},
                                            {NULL, 0, NULL, 0}};
    for (int c = getopt_long(argc, argv, "c:h", options, NULL); c != -1;
         c = getopt_long(argc, argv, "c:h", options, NULL)) {
        switch (c) {
        case 'c':
            args->config = optarg;
            break;
        case 'k':
            args->command = CHECK_CONFIG;
            break;
        case 'l':
            args->login = true;
            break;
        case 'H':
            args->command = HEALTH;
            break;
        case 's':
            args->sample = true;
            break;
        case 'v':
            args->version = true;
            break;
        case 'h':
            args->help = true;
            break;
        case 't':
            args->to = optarg;
            break;
        case 'f':
            args->from = optarg;
            break;
        case 'w':
            args->with_seal_key = true;
            break;
        case 'o':
            args->without_secrets = true;
            break;
        default:
            return false;
        }
    }
    return true;
}

static bool fits_command(const struct arguments *args)
{
    if (args->help || args->version || args->sample)
        return true;
    if (args->login && args->command != CHECK_CONFIG) {
        (void)fputs("shootd: --login goes with --check-config\n", stderr);
        return false;
    }
    const bool backs_up = args->command == BACKUP, restores = args->command == RESTORE;
    if (backs_up == !!args->to && restores == !!args->from && (backs_up || !args->with_seal_key) &&
        (restores || !args->without_secrets))
        return true;
    (void)fputs("shootd: backup takes --to and --with-seal-key, restore takes --from and --without-secrets\n",
                stderr);
    return false;
}

static bool parse(int argc, char **argv, struct arguments *args)
{
    static const char *const commands[] = {[CHECK_STORE] = "check-store",
                                           [ADMIN_TOKEN] = "admin-token",
                                           [BACKUP] = "backup",
                                           [RESTORE] = "restore",
                                           [ROTATE_SEAL_KEY] = "rotate-seal-key"};
    if (!parse_options(argc, argv, args))
        return false;
    const int command = optind < argc ? word_index(commands, ARRAY_LEN(commands), argv[optind]) : -1;
    if (command >= 0) {
        args->command = (enum command_line)command;
        optind++;
    }
    if (args->command == CHECK_STORE && optind < argc && !args->config)
        args->database = argv[optind++];
    if (optind == argc)
        return fits_command(args);
    (void)fprintf(stderr, "shootd: unexpected argument '%s'\n", argv[optind]);
    return false;
}

/* Opens closed descriptors of standard streams, so that no socket or file gets their numbers and then the
 * output. Reading from descriptor 0 and writing to 1 and 2 fails as before. */
static void fill_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(EXIT_RUNTIME); /* without /dev/null the log could go into the store */
}

/* ---- signals ---- */

static atomic_bool has_work; /* there is something to finish before the end */
/* The signal that asks to stop; 0: none came. */
static atomic_int stop_signal;
static sigset_t stopping_signals;
static pthread_t main_thread;

/* Takes the signals that ask to stop, whatever the main thread waits for. The first one ends the process at
 * once while the configuration is being read, and the second one always. */
static void *await_stop(void *arg ATTR_UNUSED)
{
    for (;;) {
        int number;
        if (sigwait(&stopping_signals, &number))
            continue;
        if (!atomic_load(&has_work))
            _exit(EXIT_OK);
        if (atomic_exchange(&stop_signal, number))
            _exit(EXIT_RUNTIME);
        (void)pthread_kill(main_thread, WAKE_SIGNAL);
    }
    return NULL;
}

/* Blocks the signals that shootd takes itself, and starts the thread that takes those to stop. `main_signals`
 * are the others. */
static void take_signals(sigset_t *main_signals)
{
    pthread_t thread;
    sigset_t all;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write beyond a file size limit then fails like a write to a full
                                     * disk */
    (void)sigemptyset(&stopping_signals);
    (void)sigaddset(&stopping_signals, SIGTERM);
    (void)sigaddset(&stopping_signals, SIGINT);
    (void)sigemptyset(main_signals);
    (void)sigaddset(main_signals, SIGHUP);
    (void)sigaddset(main_signals, WAKE_SIGNAL);
    (void)sigorset(&all, &stopping_signals, main_signals);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    main_thread = pthread_self();
    if (pthread_create(&thread, NULL, await_stop, NULL) != 0)
        abort();
    (void)pthread_detach(thread);
}

/* Waits for a signal to stop; pings the watchdog only while the event loop makes progress (SD-4). */
static void wait_for_stop(struct daemon *d, const sigset_t *signals)
{
    uint64_t watchdog_us = 0;
    bool watched = sd_watchdog_enabled(1, &watchdog_us) > 0;
    const mono_us interval = watched ? (mono_us)watchdog_us / 3 : 10 * US_PER_S;
    const mono_us tick = interval < US_PER_S ? interval : US_PER_S;
    const struct timespec timeout = {.tv_sec = tick / US_PER_S, .tv_nsec = tick % US_PER_S * 1000};
    mono_us due = 0;
    while (!atomic_load(&stop_signal)) {
        if (sigtimedwait(signals, NULL, &timeout) == SIGHUP)
            daemon_reload(d);
        daemon_poll(d);
        if (env_mono(env_real()) < due)
            continue;
        due = env_mono(env_real()) + interval;
        if (!daemon_is_alive(d))
            log_error("the event loop makes no progress: systemd's watchdog is not notified");
        else if (watched)
            (void)sd_notify(0, "WATCHDOG=1");
    }
    log_info("stopping", "signal", atomic_load(&stop_signal) == SIGTERM ? "SIGTERM" : "SIGINT");
}

/* Each connection needs a descriptor, so the soft limit is raised to the hard limit. The low soft limit
 * exists for programs that use select(). */
static void raise_descriptor_limit(const struct config *config)
{
    enum { OTHERS = 128 + LINGERING_CLOSES_MAX };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < (rlim_t)config->limits.connections + OTHERS)
        log_warning("the limit of {descriptors} file descriptors is too low for {connections} connections "
                    "(limits.connections)",
                    "descriptors", LOG_INT(limit.rlim_max), "connections",
                    LOG_INT(config->limits.connections));
}

static int serve(struct config *config, const char *path, const sigset_t *signals)
{
    enum exit_code exit_code;
    raise_descriptor_limit(config);
    struct daemon *d = daemon_start(config, path, &exit_code);
    if (!d)
        return (int)exit_code;
    (void)sd_notify(0, "READY=1\nSTATUS=serving");
    wait_for_stop(d, signals);
    (void)sd_notify(0, "STOPPING=1\nSTATUS=finishing requests");
    daemon_stop(d);
    log_info("stopped");
    return EXIT_OK;
}

/* Whether the environment allows core files and debuggers. */
static bool is_debugged(void)
{
    const char *value = getenv("SHOOTD_DEBUG");
    return value && !strcmp(value, "1");
}

static void tell_guard(void)
{
    if (is_debugged())
        log_warning("SHOOTD_DEBUG=1 allows core files and debuggers: both may show secrets");
    else
        log_debug("no core files, and no debuggers of the same user: SHOOTD_DEBUG=1 in the environment "
                  "allows both");
}

/* Reads the configuration and serves. Signals are blocked first: a SIGHUP during the start is a reload. */
static int serve_configured(const char *path)
{
    sigset_t signals;
    take_signals(&signals);
    struct config *config = config_load(path, CONFIG_TO_SERVE, stderr);
    if (!config)
        return EXIT_CONFIG;
    atomic_store(&has_work, true);
    log_set_level(config->log_level);
    if (!journal_setup(config->log_format)) {
        config_free(config);
        return EXIT_CONFIG;
    }
    thread_answers(); /* the threads that this thread starts also get this priority, except background
                       * threads */
    journal_start_writer();
    tell_guard();
    const int exit_code = serve(config, path, &signals);
    log_writer_stop(LOG_PATIENCE_US);
    return exit_code;
}

/* Checks the database `path`. `key` is the path of the file with the seal key. */
static int check_store(const char *path, const char *key)
{
    char *error CLEANUP_FREE = NULL;
    bool sound = false;
    const enum store_status status = sqlite_inspect(path, stdout, &sound, &error);
    if (status == STORE_OK) {
        const bool fits = key_fit_check(path, key);
        return sound && fits ? EXIT_OK : EXIT_RUNTIME;
    }
    (void)fprintf(stderr, "shootd: the store cannot be opened: %s\n%s", error ? error : "unknown reason",
                  status == STORE_NEWER
                      ? "to do      install that version, or a newer one\n"
                      : "to do      if it is damaged or lost, restore a backup (shootd restore --config FILE "
                        "--from BACKUP)\n");
    return status == STORE_NEWER ? EXIT_CONFIG : EXIT_DEPENDENCY;
}

static int check_store_of(const struct config *config)
{
    char *path CLEANUP_FREE = mem_printf("%s/shootd.db", config->state_dir);
    char *key CLEANUP_FREE = mem_printf("%s/seal.key", config->state_dir);
    return check_store(path, key);
}

static int check_copy(const char *path)
{
    char *key CLEANUP_FREE = mem_printf("%s.seal.key", path);
    return check_store(path, key);
}

/* Checks the TLS certificate in the same way as the start of the server, and the accounts at Cleura if that
 * is asked for. The rest of the configuration was checked before. */
static int check_config(const struct config *config, bool login)
{
    char *error CLEANUP_FREE = NULL;
    tls_free(certificate_open(config, &error));
    if (error)
        (void)fprintf(stderr, "shootd: tls: %s\n", error);
    const int accounts = login ? login_check(config) : EXIT_OK;
    if (!error && accounts == EXIT_OK)
        (void)printf("configuration is valid\n");
    return error ? EXIT_CONFIG : accounts;
}

static int run(const struct arguments *args, const struct config *config)
{
    switch (args->command) {
    case SERVE:
        assert(!"served elsewhere");
        break;
    case CHECK_CONFIG:
        return check_config(config, args->login);
    case HEALTH:
        return health_check(config);
    case CHECK_STORE:
        return check_store_of(config);
    case ADMIN_TOKEN:
        return admin_token_make(config);
    case BACKUP:
        return backup_write(config, args->to, args->with_seal_key);
    case RESTORE:
        return backup_restore(config, args->from, args->without_secrets);
    case ROTATE_SEAL_KEY:
        return rotate_key(config);
    }
    return EXIT_RUNTIME;
}

/* Core files would contain secrets (AU-22), and other processes of the same user must not read this process's
 * memory. Under systemd the unit does this too, and the calls may be filtered. With SHOOTD_DEBUG=1 a
 * developer gets core files up to the hard limit, and may attach a debugger. */
static void guard_memory(void)
{
    struct rlimit core = {0, 0};
    if (is_debugged())
        (void)(getrlimit(RLIMIT_CORE, &core) == 0);
    core.rlim_cur = core.rlim_max;
    (void)setrlimit(RLIMIT_CORE, &core);
    (void)prctl(PR_SET_DUMPABLE, is_debugged() ? 1 : 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
    struct arguments args = {0};
    fill_closed_streams();
    if (!parse(argc, argv, &args)) {
        (void)fputs(usage, stderr);
        return EXIT_USAGE_;
    }
    if (args.help || args.version || args.sample) {
        if (args.help)
            (void)fputs(usage, stdout);
        if (args.version)
            (void)printf("shootd %s (%s)\nstores of schema 1 to %d; older ones are upgraded at start\n",
                         shootd_version, shootd_revision, sqlite_schema());
        if (args.sample)
            config_write_sample(stdout);
        return EXIT_OK;
    }
    guard_memory();
    /*
     * The loop, the readers and the writer free memory that other threads allocated. With an arena for each
     * thread, one thread could not use the free memory in the arena of another thread (docs/performance.md
     * has figures).
     */
    (void)mallopt(M_ARENA_MAX, 1);
    (void)journal_setup(LOG_FORMAT_AUTO);
    if (args.database)
        return check_copy(args.database);
    if (args.command == SERVE)
        return serve_configured(args.config);
    const enum config_purpose purpose = args.login                     ? CONFIG_TO_LOG_IN
                                        : args.command == CHECK_CONFIG ? CONFIG_TO_CHECK
                                                                       : CONFIG_BESIDE_UNIT;
    struct config *config = config_load(args.config, purpose, stderr);
    if (!config)
        return EXIT_CONFIG;
    int exit_code = run(&args, config);
    config_free(config);
    return exit_code;
}
