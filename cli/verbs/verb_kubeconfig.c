/* The command `kubeconfig` writes into the user's file or to standard output. The command `kubectl` runs
 * kubectl with a temporary kubeconfig. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/api.h"
#include "cli/glyphs.h"
#include "cli/kubefile.h"
#include "cli/runtime.h"
#include "cli/signals.h"
#include "cli/verbs/verbs.h"

/* kubectl accepts v1beta1 with interactiveMode from version 1.20 on. An older kubectl may write the file
 * again without damage. */
#define EXEC_VERSION "client.authentication.k8s.io/v1beta1"
#define INSTALL_HINT "shootctl is in the package shootd"

enum { MESSAGE_BYTES = 64 * 1024, FILE_BYTES = 1024 * 1024 };

/* Returns the common name of cluster, user and context. Two servers, two contexts of one server and two
 * projects have different names. */
static char *entry_name(const struct cli *cli, const char *project, const char *cluster)
{
    const struct cli_settings *s = &cli->settings;
    const char *context = settings_token_context(s);
    char *label CLEANUP_FREE = url_label(s->url.value);
    return mem_printf("%s--%s@%s", project, cluster, context ? context : label);
}

static void add_words(json_t *array, const char *flag, const char *value)
{
    json_append_take(array, json_string(flag));
    json_append_take(array, json_string(value));
}

/*
 * Makes the user whose credential comes from `shootctl credential`. The arguments contain everything that the
 * command needs, except XDG_CONFIG_HOME, which is in `env` if it is set, and a token that does not come from
 * a context. The arguments contain the address in addition to the context: if the context later names another
 * server, the token of that server is not sent to this address.
 */
/* Returns the command by which kubectl finds shootctl: its name, or its path when it was called by a path
 * that PATH does not have. */
static char *own_command(void)
{
    static const char name[] = "shootctl";
    const char *list = getenv("PATH");
    char *copy CLEANUP_FREE = mem_strdup(list ? list : ""), *rest = copy, *directory;
    while ((directory = strsep(&rest, ":"))) {
        struct stat st;
        char *path CLEANUP_FREE = mem_printf("%s/%s", *directory ? directory : ".", name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
            return mem_strdup(name);
    }
    char *path = realpath("/proc/self/exe", NULL);
    return path ? path : mem_strdup(name);
}

static json_t *exec_user(const struct cli *cli, const char *project, const char *cluster)
{
    const struct cli_settings *s = &cli->settings;
    const char *xdg = getenv("XDG_CONFIG_HOME"), *context = settings_token_context(s);
    json_t *args = json_pack("[s,s]", "credential", cluster), *env = json_array();
    add_words(args, "--project", project);
    if (context)
        add_words(args, "--context", context);
    char *url CLEANUP_FREE = url_trimmed(s->url.value);
    add_words(args, "--url", url);
    bool is_known = context && mem_same_str(s->ca_file.source, s->context.source);
    char *ca_path CLEANUP_FREE = s->ca_file.value && !is_known ? realpath(s->ca_file.value, NULL) : NULL;
    if (ca_path)
        add_words(args, "--ca-file", ca_path);
    if (xdg && xdg[0] == '/')
        json_append_take(env, json_pack("{s:s,s:s}", "name", "XDG_CONFIG_HOME", "value", xdg));
    char *command CLEANUP_FREE = own_command();
    json_t *exec = json_pack("{s:s,s:s,s:o,s:o,s:s,s:s,s:b}", "apiVersion", EXEC_VERSION, "command", command,
                             "args", args, "env", env, "interactiveMode", "Never", "installHint",
                             INSTALL_HINT, "provideClusterInfo", 0);
    return json_pack("{s:o}", "exec", exec);
}

/* Reads the kubeconfig with its secrets. *ret_cluster is the cluster in it; the caller owns it. */
static int get_whole(struct cli *cli, const char *project, const char *cluster, const char *ttl,
                     struct cli_answer *ret, json_t **ret_cluster)
{
    struct api_target target CLEANUP_TARGET;
    const struct cli_request request = {.accept = "application/yaml", .any_text = true};
    char seconds[24];
    (void)snprintf(seconds, sizeof(seconds), "%lld", (long long)(ttl ? duration_ms(ttl) / 1000 : 0));
    api_target_init(&target, API_KUBECONFIG, project, cluster, NULL);
    api_query(&target, "format", "yaml");
    api_query(&target, "ttl_seconds", ttl ? seconds : NULL);
    int code = api_call(cli, &target, &request, ret);
    *ret_cluster =
        code == END_OK ? kubefile_cluster(ret->body.data ? ret->body.data : "", ret->body.len) : NULL;
    if (code == END_OK && !*ret_cluster)
        code = cli_fail(END_UNREACHABLE, "%s: the server is not shootd: the answer is not a kubeconfig",
                        cli->settings.url.value);
    return code;
}

/* Makes the parts of an entry without secrets; the caller owns both. */
static int exec_entry(struct cli *cli, const char *project, const char *name, json_t **ret_cluster,
                      json_t **ret_user)
{
    struct cli_answer whole CLEANUP_ANSWER = {0};
    int code = get_whole(cli, project, name, NULL, &whole, ret_cluster);
    *ret_user = code == END_OK ? exec_user(cli, project, name) : NULL;
    return code;
}

static int merge(const struct cli *cli, const struct kube_entry *entry)
{
    struct buffer fault CLEANUP_BUFFER;
    struct kube_target target CLEANUP_KUBE_TARGET;
    buffer_init(&fault, MESSAGE_BYTES);
    kubefile_target(parsed_text(cli->parsed, "kubeconfig"), entry->name, &target);
    if (!kubefile_merge(&target, entry, &fault))
        return cli_fail(END_REFUSED, "%s", fault.data);
    char *shown CLEANUP_FREE = glyphs_shown(entry->name);
    (void)fprintf(cli->out.file, "%s\n", shown);
    cli_note("context %s is in %s; 'kubectl config use-context %s' selects it", entry->name, target.path,
             entry->name);
    if (target.hidden)
        cli_note("shootctl: another file of KUBECONFIG also has this context: kubectl uses the first of "
                 "these files");
    if (!settings_token_context(&cli->settings))
        cli_note(
            "shootctl: kubectl needs SHOOTD_TOKEN in its environment, unless you use 'shootctl login %s'",
            cli->settings.url.value);
    return END_OK;
}

int verb_kubeconfig(struct cli *cli)
{
    bool to_stdout = parsed_on(cli->parsed, "stdout"), merges = parsed_on(cli->parsed, "merge");
    const char *name = cli->parsed->arguments[0];
    if (to_stdout && merges)
        return cli_fail(
            END_USAGE, "--stdout prints the kubeconfig, --merge puts it into the file: use only one of them");
    int code = cli_connect(cli);
    const char *project = code == END_OK ? cli_project(cli, &code) : NULL;
    if (!project)
        return code;
    json_t *cluster CLEANUP_JSON = NULL, *user CLEANUP_JSON = NULL;
    if (to_stdout && !parsed_on(cli->parsed, "exec")) {
        struct cli_answer whole CLEANUP_ANSWER = {0};
        code = get_whole(cli, project, name, parsed_text(cli->parsed, "ttl"), &whole, &cluster);
        if (code == END_OK)
            (void)fwrite(whole.body.data, 1, whole.body.len, cli->out.file);
        return code;
    }
    char *entry CLEANUP_FREE = entry_name(cli, project, name);
    code = exec_entry(cli, project, name, &cluster, &user);
    const struct kube_entry all = {
        entry, cluster, user, parsed_on(cli->parsed, "use") ? KUBE_CURRENT_ALWAYS : KUBE_CURRENT_IF_EMPTY};
    if (code != END_OK || !to_stdout)
        return code != END_OK ? code : merge(cli, &all);
    struct buffer text CLEANUP_BUFFER;
    buffer_init(&text, FILE_BYTES);
    kubefile_write(&all, &text);
    (void)fputs(text.data, cli->out.file);
    return END_OK;
}

/* ---- kubectl ---- */

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
static volatile sig_atomic_t kubectl_pid;

/* Passes a signal on to kubectl. Signals of the keyboard reach kubectl directly. */
static void pass_on(int number, siginfo_t *info, void *context ATTR_UNUSED)
{
    if (info->si_code <= 0 && kubectl_pid > 0)
        (void)kill(kubectl_pid, number);
}

static void become_kubectl(const char *kubeconfig, char *const *argv)
{
    (void)setenv("KUBECONFIG", kubeconfig, 1);
    (void)execvp(argv[0], argv);
    (void)fprintf(stderr, "shootctl: kubectl cannot be run: %s\n", strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Runs kubectl. Returns its status in the form of waitpid; when kubectl cannot run, reports the reason and
 * returns -1. Signals are blocked until kubectl runs, and are then passed on. */
static int run_kubectl(const char *kubeconfig, char *const *argv)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO}, before;
    sigset_t set, mask;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        (void)sigaddset(&set, passed_on[i]);
    (void)sigprocmask(SIG_BLOCK, &set, &mask);
    pid_t pid = fork();
    if (pid == 0) {
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
        become_kubectl(kubeconfig, argv);
    }
    kubectl_pid = pid;
    for (size_t i = 0; i < ARRAY_LEN(passed_on) && pid > 0; i++) {
        (void)sigaction(passed_on[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            (void)sigaction(passed_on[i], &action, NULL);
    }
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    int status = pid < 0 ? -1 : 0;
    if (pid < 0)
        (void)cli_fail(END_REFUSED, "kubectl cannot be run: %m");
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    kubectl_pid = 0;
    return status;
}

/* Returns the arguments of kubectl, with its name first; the caller frees the array. */
static char **kubectl_line(const char *const *arguments)
{
    static char name[] = "kubectl";
    size_t count = 0;
    while (arguments[count])
        count++;
    char **argv = mem_calloc(count + 2, sizeof(*argv));
    argv[0] = name;
    for (size_t i = 0; i < count; i++)
        argv[i + 1] = (char *)(uintptr_t)arguments[i];
    return argv;
}

int verb_kubectl(struct cli *cli)
{
    struct buffer fault CLEANUP_BUFFER, text CLEANUP_BUFFER;
    const char *name = cli->parsed->arguments[0];
    buffer_init(&fault, MESSAGE_BYTES);
    buffer_init(&text, FILE_BYTES);
    int code = cli_connect(cli);
    const char *project = code == END_OK ? cli_project(cli, &code) : NULL;
    if (!project)
        return code;
    json_t *cluster CLEANUP_JSON = NULL, *user CLEANUP_JSON = NULL;
    char *entry CLEANUP_FREE = entry_name(cli, project, name);
    code = exec_entry(cli, project, name, &cluster, &user);
    if (code != END_OK)
        return code;
    const struct kube_entry all = {entry, cluster, user, KUBE_CURRENT_ALWAYS};
    kubefile_write(&all, &text);
    char *path CLEANUP_FREE = runtime_temporary("kubeconfig", text.data, text.len, &fault);
    if (!path)
        return cli_fail(END_REFUSED, "%s", fault.data);
    char **argv CLEANUP_FREE = kubectl_line(cli->parsed->arguments + cli->parsed->rest);
    int status = run_kubectl(path, argv);
    (void)unlink(path);
    if (status < 0)
        return END_REFUSED;
    if (WIFSIGNALED(status))
        signals_die(WTERMSIG(status)); /* shootctl ends by the same signal, which the shell then sees */
    return WEXITSTATUS(status);
}
