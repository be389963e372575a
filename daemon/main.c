/* Command line, signals, watchdog. Everything else is in daemon.c. */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "daemon/admin_token.h"
#include "daemon/daemon.h"
#include "daemon/daemon_private.h"
#include "http/connection/connection.h"
#include "storage/storage.h"

static const char usage[] =
    "usage: shootd [--config FILE] [--check-config]\n"
    "  --config FILE     configuration (YAML); without it CLEURA_LOGIN, CLEURA_PASSWORD, CLEURA_CLOUD,\n"
    "                    CLEURA_URL, CLEURA_REGION and CLEURA_PROJECT_ID say what to serve, SHOOTD_LISTEN "
    "where\n"
    "  --check-config    check the configuration, print every fault, exit 0 or 78\n"
    "  --sample-config   print the annotated sample configuration\n"
    "  --version         print version, revision and which stores it opens\n"
    "  --help            print this\n"
    "shootd check-store [--config FILE | DATABASE]\n"
    "                    print what the store, or a backup of one, holds and which rows cannot be read; exit "
    "0,\n"
    "                    1 when something is wrong with it, 69 when it cannot be opened\n"
    "shootd admin-token [--config FILE]\n"
    "                    make an API token, role admin, all projects, 90 days, and print it; for who may "
    "write "
    "the\n"
    "                    state directory, whether shootd runs or not\n";

struct arguments {
    const char *config;
    bool check;
    bool sample;
    bool version;
    bool help;
    bool check_store;
    bool admin_token;
    const char *database; /* to check; NULL: that of the configuration */
};

static bool parse(int argc, char **argv, struct arguments *args)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},  {"check-config", no_argument, NULL, 'k'},
        {"sample-config", no_argument, NULL, 's'}, {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    for (int c = getopt_long(argc, argv, "c:h", options, NULL); c != -1;
         c = getopt_long(argc, argv, "c:h", options, NULL)) {
        switch (c) {
        case 'c':
            args->config = optarg;
            break;
        case 'k':
            args->check = true;
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
        default:
            return false;
        }
    }
    if (optind < argc && !strcmp(argv[optind], "check-store")) {
        args->check_store = true;
        optind++;
        if (optind < argc && !args->config)
            args->database = argv[optind++];
    }
    if (optind < argc && !strcmp(argv[optind], "admin-token")) {
        args->admin_token = true;
        optind++;
    }
    if (optind == argc)
        return true;
    (void)fprintf(stderr, "shootd: unexpected argument '%s'\n", argv[optind]);
    return false;
}

static void block_signals(sigset_t *set)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file size limit is a full disk: writes fail, nothing ends */
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, set, NULL);
}

/* Waits for an order to stop; feeds the watchdog only while the loop makes progress (SD-4). */
static void wait_for_stop(struct daemon *d, const sigset_t *signals)
{
    uint64_t watchdog_us = 0;
    bool watched = sd_watchdog_enabled(1, &watchdog_us) > 0;
    const mono_us interval = watched ? (mono_us)watchdog_us / 3 : 10 * US_PER_S;
    const mono_us tick = interval < US_PER_S ? interval : US_PER_S;
    const struct timespec timeout = {.tv_sec = tick / US_PER_S, .tv_nsec = tick % US_PER_S * 1000};
    mono_us due = 0;
    for (;;) {
        int signal_number = sigtimedwait(signals, NULL, &timeout);
        if (signal_number == SIGTERM || signal_number == SIGINT) {
            log_info("stopping", "signal", signal_number == SIGTERM ? "SIGTERM" : "SIGINT");
            return;
        }
        if (signal_number == SIGHUP)
            log_info("SIGHUP ignored: a changed configuration needs a restart");
        daemon_look(d);
        if (env_mono(env_real()) < due)
            continue;
        due = env_mono(env_real()) + interval;
        if (!daemon_is_alive(d))
            log_error("the loop makes no progress");
        else if (watched)
            (void)sd_notify(0, "WATCHDOG=1");
    }
}

/* A second order while stopping ends the process at once. */
static void *force_exit(void *arg)
{
    const sigset_t *signals = arg;
    int signal_number;
    do
        (void)sigwait(signals, &signal_number);
    while (signal_number == SIGHUP);
    _exit(EXIT_RUNTIME);
}

/* Each connection is a descriptor: as many as the system lets us have, the soft limit is for programs of old.
 */
static void raise_descriptor_limit(const struct config *config)
{
    enum { OTHERS = 128 + LINGERING_CLOSES_MAX };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < (rlim_t)config->limits.connections + OTHERS)
        log_warning("fewer descriptors ({descriptors}) than {connections} connections (limits.connections) "
                    "may need",
                    "descriptors", LOG_INT(limit.rlim_max), "connections",
                    LOG_INT(config->limits.connections));
}

static int serve(const struct config *config, const sigset_t *signals)
{
    static sigset_t forced;
    enum exit_code exit_code;
    raise_descriptor_limit(config);
    struct daemon *d = daemon_start(config, &exit_code);
    pthread_t thread;
    if (!d)
        return (int)exit_code;
    (void)sd_notify(0, "READY=1\nSTATUS=serving");
    wait_for_stop(d, signals);
    (void)sd_notify(0, "STOPPING=1\nSTATUS=finishing requests");
    forced = *signals;
    if (pthread_create(&thread, NULL, force_exit, &forced) == 0)
        (void)pthread_detach(thread);
    daemon_stop(d);
    log_info("stopped");
    return EXIT_OK;
}

static int check_store(const char *path)
{
    char *error CLEANUP_FREE = NULL;
    bool sound = false;
    if (sqlite_inspect(path, stdout, &sound, &error) == STORE_OK)
        return sound ? EXIT_OK : EXIT_RUNTIME;
    (void)fprintf(stderr, "shootd: the store cannot be opened: %s\n", error ? error : "unknown reason");
    return EXIT_DEPENDENCY;
}

int main(int argc, char **argv)
{
    struct arguments args = {0};
    sigset_t signals;
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
    /* No core dumps with secrets (AU-22); under systemd the unit says so, and this call may be filtered. */
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    /* Nor do other processes of the same user look into this one's memory. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    /*
     * The loop, the readers and the writer give memory back in other threads than took it: with an arena for
     * each, what is free in one is lost to the others (docs/performance.md has figures).
     */
    (void)mallopt(M_ARENA_MAX, 1);
    journal_setup();
    if (args.database)
        return check_store(args.database);
    const bool serves = !args.check && !args.check_store && !args.admin_token;
    struct config *config = config_load(args.config, !serves, stderr);
    if (!config)
        return EXIT_CONFIG;
    if (args.check) {
        (void)printf("configuration is valid\n");
        config_free(config);
        return EXIT_OK;
    }
    if (args.check_store) {
        char *path CLEANUP_FREE = mem_printf("%s/shootd.db", config->state_dir);
        int told = check_store(path);
        config_free(config);
        return told;
    }
    if (args.admin_token) {
        int told = admin_token_make(config);
        config_free(config);
        return told;
    }
    log_set_level(config->log_level);
    block_signals(&signals);
    int exit_code = serve(config, &signals);
    config_free(config);
    return exit_code;
}
