#include "cli/cli_commands.h"

#include <string.h>

#include "cli/verbs/verbs.h"

const char *const output_forms[] = {"table", "wide", "json", "yaml", "name", "jsonl", NULL};
static const char *const progress_words[] = {"auto", "plain", "none", NULL};
static const char *const booleans[] = {"true", "false", NULL};

const struct flag common_flags[] = {
    {"url", 0, FLAG_TEXT, "URL", NULL, "address of the server (https://HOST, http://HOST:PORT, unix:/PATH)"},
    {"context", 0, FLAG_TEXT, "NAME", NULL, "the context to use; takes precedence over the environment"},
    {"project", 'p', FLAG_TEXT, "NAME", NULL, "the project"},
    {"ca-file", 0, FLAG_TEXT, "FILE", NULL, "CA certificates for the server (PEM)"},
    {"utc", 0, FLAG_SWITCH, NULL, NULL, "print times in UTC"},
    {"no-color", 0, FLAG_SWITCH, NULL, NULL, "use no colours"},
    {"no-input", 0, FLAG_SWITCH, NULL, NULL, "never ask a question"},
    {"retries", 0, FLAG_NUMBER, "N", NULL, "repeat a failed request up to N times, if that is safe (3)"},
    {"verbose", 0, FLAG_SWITCH, NULL, NULL, "print a line for each request on standard error"},
    {"help", 'h', FLAG_SWITCH, NULL, NULL, "print this text"},
    {0},
};

#define OUTPUT_FLAG                                                       \
    {                                                                     \
        "output", 'o', FLAG_CHOICE, "FORM", output_forms, "output format" \
    }
#define YES_FLAG                                                           \
    {                                                                      \
        "yes", 'y', FLAG_SWITCH, NULL, NULL, "do not ask for confirmation" \
    }
#define DRY_RUN                                                                  \
    {                                                                            \
        "dry-run", 0, FLAG_SWITCH, NULL, NULL, "show the effect, change nothing" \
    }
#define TIMEOUT                                                           \
    {                                                                     \
        "timeout", 0, FLAG_DURATION, "TIME", NULL,                        \
            "wait at most this long (1h); the operation is not cancelled" \
    }
#define PROGRESS                                                                                     \
    {                                                                                                \
        "progress", 0, FLAG_CHOICE, "HOW", progress_words, "how progress is shown on standard error" \
    }
#define WAITING \
    {"no-wait", 0, FLAG_SWITCH, NULL, NULL, "do not wait for the end of the operation"}, TIMEOUT, PROGRESS

static const struct flag output_flags[] = {OUTPUT_FLAG, {0}};
static const struct flag version_flags[] = {
    OUTPUT_FLAG, {"client", 0, FLAG_SWITCH, NULL, NULL, "only the version of shootctl"}, {0}};
static const struct flag login_flags[] = {
    {"token-file", 0, FLAG_TEXT, "FILE", NULL, "the token is the first line of this file"},
    {"token-stdin", 0, FLAG_SWITCH, NULL, NULL, "the token is the first line of standard input"},
    {"device", 0, FLAG_SWITCH, NULL, NULL,
     "log in by single sign-on: shows an address and a code to enter there"},
    {"issuer", 0, FLAG_TEXT, "URL", NULL, "the issuer of single sign-on, when the server has several"},
    {"issuer-ca-file", 0, FLAG_TEXT, "FILE", NULL, "CA certificates for the issuer (PEM)"},
    {"name", 0, FLAG_TEXT, "NAME", NULL, "name of the context (default: the address)"},
    {0},
};
#define WATCH                                                                                   \
    {                                                                                           \
        "watch", 'w', FLAG_SWITCH, NULL, NULL, "then print a row for each change, until Ctrl-C" \
    }
static const struct flag get_flags[] = {OUTPUT_FLAG, WATCH, {0}};
static const struct flag list_flags[] = {
    OUTPUT_FLAG,
    WATCH,
    {"all-projects", 'A', FLAG_SWITCH, NULL, NULL, "all projects, even when a project is set"},
    {"phase", 0, FLAG_TEXTS, "PHASES", NULL,
     "only clusters in these phases, comma-separated: failed,retrying"},
    {"health", 0, FLAG_TEXTS, "WORDS", NULL,
     "only clusters with this health: healthy, progressing, unhealthy, unknown"},
    {"kubernetes-version", 0, FLAG_TEXTS, "VERSION", NULL,
     "only clusters with this version of Kubernetes; 1.33 matches every patch"},
    {"label", 'l', FLAG_TEXTS, "NAME=VALUE", NULL, "only clusters with this label; may be repeated"},
    {"q", 0, FLAG_TEXT, "TEXT", NULL, "only clusters with this text in name, project, description or labels"},
    {"region", 0, FLAG_TEXTS, "REGIONS", NULL, "only clusters in these regions"},
    {"managed", 0, FLAG_CHOICE, "BOOLEAN", booleans,
     "true: only clusters that shootd created or adopted; false: only the others"},
    {"expiring-before", 0, FLAG_TEXT, "TIME", NULL,
     "only clusters whose version expires before this time: 30d, 2026-12-31"},
    {"sort", 0, FLAG_TEXT, "MEMBERS", NULL, "the order, for example: -updated_at, phase,name"},
    {0},
};
static const struct flag create_flags[] = {
    {"kubernetes-version", 0, FLAG_TEXT, "VERSION", NULL,
     "version of Kubernetes; 1.33 means its newest patch"},
    {"pool", 0, FLAG_TEXTS, "POOL", NULL, "NAME,type=TYPE,min=N,max=N,surge=N,volume=GIB; may be repeated"},
    {"label", 'l', FLAG_TEXTS, "NAME=VALUE", NULL, "a label of the cluster; may be repeated"},
    {"description", 0, FLAG_TEXT, "TEXT", NULL, "a description for people"},
    {"protect", 0, FLAG_SWITCH, NULL, NULL, "protect the cluster: a delete is refused"},
    {"file", 'f', FLAG_TEXT, "FILE", NULL,
     "the cluster as YAML or JSON (- is standard input); flags take precedence"},
    DRY_RUN,
    OUTPUT_FLAG,
    WAITING,
    {0},
};
static const struct flag delete_flags[] = {YES_FLAG, OUTPUT_FLAG, WAITING, {0}};
static const struct flag power_flags[] = {OUTPUT_FLAG, WAITING, {0}};
static const struct flag rotate_flags[] = {
    {"complete", 0, FLAG_SWITCH, NULL, NULL, "the second stage: ends the old certificate authority"},
    OUTPUT_FLAG,
    WAITING,
    {0},
};
static const struct flag upgrade_flags[] = {
    {"to", 0, FLAG_TEXT, "VERSION", NULL,
     "upgrade to this version; without --to the offered versions are shown"},
    DRY_RUN,
    YES_FLAG,
    OUTPUT_FLAG,
    WAITING,
    {0},
};
static const struct flag wait_flags[] = {
    {"for", 0, FLAG_TEXT, "WHAT", NULL, "operation (the default), deleted, phase=ready or another phase"},
    {"allow-absent", 0, FLAG_SWITCH, NULL, NULL, "also wait for a cluster that does not exist yet"},
    OUTPUT_FLAG,
    TIMEOUT,
    PROGRESS,
    {0},
};
static const struct flag events_flags[] = {
    {"follow", 'f', FLAG_SWITCH, NULL, NULL, "continue with new events, until Ctrl-C"},
    {"last", 'n', FLAG_NUMBER, "N", NULL, "begin with the last N events (20), at most 100000"},
    {"since", 0, FLAG_TEXT, "TIME", NULL,
     "only events from this time on: a time, a date, or how long ago it is (24h)"},
    {"type", 0, FLAG_TEXT, "TYPES", NULL,
     "only events of these types, comma-separated: cluster.ready,operation.*"},
    {"all-projects", 'A', FLAG_SWITCH, NULL, NULL, "all projects, even when a project is set"},
    OUTPUT_FLAG,
    {0},
};
static const struct flag kubeconfig_flags[] = {
    {"merge", 0, FLAG_SWITCH, NULL, NULL, "merge into your kubeconfig (the default)"},
    {"stdout", 0, FLAG_SWITCH, NULL, NULL, "print a kubeconfig, with secrets unless --exec is given"},
    {"exec", 0, FLAG_SWITCH, NULL, NULL,
     "no secrets: kubectl gets its credential from 'shootctl credential' (implied by --merge)"},
    {"kubeconfig", 0, FLAG_TEXT, "FILE", NULL, "the file to merge into (KUBECONFIG, else ~/.kube/config)"},
    {"use", 0, FLAG_SWITCH, NULL, NULL, "make the context of the cluster the current one"},
    {"ttl", 0, FLAG_DURATION, "TIME", NULL, "lifetime of the secrets printed with --stdout: 10m to 24h (1h)"},
    {0},
};
static const struct flag no_flags[] = {{0}};
static const struct flag apply_flags[] = {
    {"file", 'f', FLAG_TEXT, "PATH", NULL,
     "a file, a directory, or - for standard input; YAML or JSON, several documents"},
    YES_FLAG,
    OUTPUT_FLAG,
    {0},
};
static const struct flag diff_flags[] = {
    {"file", 'f', FLAG_TEXT, "PATH", NULL,
     "a file, a directory, or - for standard input; YAML or JSON, several documents"},
    OUTPUT_FLAG,
    {0},
};

#define EXAMPLES(...)     \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

const struct cli_command command_table[] = {
    {"login", "URL", 1, 1, false, login_flags,
     "Stores a server and its token as a context, and makes this context the current one.",
     "The server checks the token first. When no flag names a source of the token, it is read from the "
     "terminal, without an echo. With --device a person logs in at the server's issuer, on any machine. A "
     "token of an issuer is renewed before it expires, if the issuer allows that.",
     EXAMPLES("shootctl login https://shootd.example.com",
              "shootctl login https://shootd.example.com --device",
              "shootctl login http://127.0.0.1:8080 --token-file token --project team-a"),
     verb_login},
    {"context", "[list | use NAME | show | remove NAME]", 0, 2, false, output_flags,
     "Lists the contexts, chooses one, or shows the current settings and their sources.",
     "Flags take precedence over SHOOTD_URL, SHOOTD_TOKEN, SHOOTD_PROJECT and SHOOTD_CA_FILE; these "
     "variables take precedence over the context. A stored token is sent to the address of its context only.",
     EXAMPLES("shootctl context", "shootctl context use shootd.example.com", "shootctl context show"),
     verb_context},
    {"status", "", 0, 0, false, output_flags,
     "Shows whether the server answers, the identity of the token, and the state of projects and clusters.",
     "", EXAMPLES("shootctl status"), verb_status},
    {"list", "", 0, 0, false, list_flags,
     "Lists the clusters of the project that is set, or of all projects.",
     "--watch adds a row when a cluster changes, but not for each percent of an operation. A deleted cluster "
     "has the phase 'deleted'.",
     EXAMPLES("shootctl list", "shootctl list --phase failed,degraded -o wide", "shootctl list -A -o name",
              "shootctl list --watch"),
     verb_list},
    {"get", "NAME...", 1, 1000, false, get_flags, "Shows clusters as rows, or as complete documents.",
     "With -o json and yaml one NAME is printed as an object, several names as a list.",
     EXAMPLES("shootctl get dev", "shootctl get dev -o yaml", "shootctl get dev --watch"), verb_get},
    {"describe", "NAME", 1, 1, false, output_flags,
     "Shows one cluster on a screen: state, pools, issues with their solutions, its operation, its last "
     "events.",
     "", EXAMPLES("shootctl describe dev"), verb_describe},
    {"catalog", "", 0, 0, false, output_flags,
     "Shows the versions, machine types, images and zones of a project, and its defaults.", "",
     EXAMPLES("shootctl catalog", "shootctl catalog -o name   # versions of Kubernetes only"), verb_catalog},
    {"create", "[NAME]", 0, 1, false, create_flags, "Creates a cluster and waits until it is ready.",
     "Values that are not given are the defaults of the project. When an answer is lost, the same request is "
     "sent again; only one cluster is created.",
     EXAMPLES("shootctl create dev",
              "shootctl create dev --kubernetes-version 1.33 --pool work,type=b.2c4gb,min=1,max=3",
              "shootctl create -f dev.yaml --no-wait"),
     verb_create},
    {"apply", "", 0, 0, false, apply_flags,
     "Creates or changes clusters to match documents: created, configured or unchanged.",
     "All documents are read before the first is sent. A document also replaces labels, description and "
     "protection. On a terminal the command asks before it replaces nodes, removes a pool or ends the "
     "protection; elsewhere --yes is needed.",
     EXAMPLES("shootctl apply -f clusters/",
              "shootctl get dev -o yaml | sed s/1.33/1.34/ | shootctl apply -f - --yes"),
     verb_apply},
    {"diff", "", 0, 0, false, diff_flags, "Shows what apply would do. Exit code 0: no change, 10: changes.",
     "", EXAMPLES("shootctl diff -f clusters/"), verb_diff},
    {"upgrade", "NAME", 1, 1, false, upgrade_flags,
     "Shows the versions to which a cluster can be upgraded, or upgrades it to one.", "",
     EXAMPLES("shootctl upgrade dev", "shootctl upgrade dev --to 1.34"), verb_upgrade},
    {"hibernate", "NAME...", 1, 100, false, power_flags, "Hibernates clusters: their nodes are removed.", "",
     EXAMPLES("shootctl hibernate dev"), verb_hibernate},
    {"wake", "NAME...", 1, 100, false, power_flags, "Wakes clusters.", "", EXAMPLES("shootctl wake dev"),
     verb_wake},
    {"retry", "NAME...", 1, 100, false, power_flags, "Tries the last change again that Cleura has given up.",
     "", EXAMPLES("shootctl retry dev"), verb_action},
    {"reconcile", "NAME...", 1, 100, false, power_flags,
     "Lets Gardener bring clusters into their wanted state now.", "", EXAMPLES("shootctl reconcile dev"),
     verb_action},
    {"maintain", "NAME...", 1, 100, false, power_flags,
     "Carries out the maintenance of clusters now, instead of in their window.", "",
     EXAMPLES("shootctl maintain dev"), verb_action},
    {"enable-ha", "NAME...", 1, 100, false, power_flags,
     "Makes the control planes of clusters highly available. This cannot be taken back.", "",
     EXAMPLES("shootctl enable-ha dev"), verb_action},
    {"rotate-ca", "NAME...", 1, 100, false, rotate_flags,
     "Rotates the certificate authority of clusters, in two stages.",
     "The first stage makes the new authority; both are valid then. Hand out new kubeconfigs, and end the "
     "old "
     "authority with --complete.",
     EXAMPLES("shootctl rotate-ca dev", "shootctl rotate-ca dev --complete"), verb_rotate_ca},
    {"cancel", "OPERATION...", 1, 100, false, no_flags, "Ends operations: no further step is sent to Cleura.",
     "What Cleura has begun goes on.", EXAMPLES("shootctl cancel op_01k5c8s0zj8q4t6w2x9y0a1b2c"),
     verb_cancel},
    {"delete", "NAME...", 1, 100, false, delete_flags, "Deletes clusters, with everything in them.",
     "On a terminal you must type the name once more; elsewhere --yes is needed.",
     EXAMPLES("shootctl delete dev", "shootctl delete dev --yes --no-wait"), verb_delete},
    {"wait", "NAME...", 1, 100, false, wait_flags,
     "Waits until an operation has ended, a phase is reached or a cluster is deleted.",
     "NAME is a cluster, or the id of an operation. A wait goes on while the server restarts. Without an "
     "open operation the wait ends at once. phase=ready is reached when Gardener has "
     "reconciled the cluster; its conditions may still settle. When the cluster fails, the exit code is 8. "
     "`deleted` is also reached when the cluster does not exist.",
     EXAMPLES("shootctl wait dev", "shootctl wait dev --for=phase=ready --timeout 20m",
              "shootctl wait dev --for=phase=ready --allow-absent", "shootctl wait dev --for=deleted"),
     verb_wait},
    {"kubeconfig", "NAME", 1, 1, false, kubeconfig_flags,
     "Puts a cluster into your kubeconfig, or prints one.",
     "The merged entry holds no secret and does not expire: kubectl calls 'shootctl credential'. Everything "
     "else in the file stays, including your own members of the entry; only comments are lost. The old file "
     "is stored as FILE.before-shootctl. The current context changes only if there is none, or with --use. "
     "The command prints the name of the context.",
     EXAMPLES("shootctl kubeconfig dev --use", "shootctl kubeconfig dev --stdout > dev.kubeconfig"),
     verb_kubeconfig},
    {"kubectl", "NAME -- ARGUMENTS", 1, 1, true, no_flags,
     "Runs kubectl with a cluster, and returns the exit code of kubectl.", "",
     EXAMPLES("shootctl kubectl dev -- get nodes"), verb_kubectl},
    {"credential", "NAME", 1, 1, false, no_flags, "Prints an ExecCredential; kubectl calls this command.",
     "The credential is cached in $XDG_RUNTIME_DIR/shootctl. When many kubectl run at once, only one "
     "request is sent. While the server cannot be reached, the last credential is used until it expires.",
     EXAMPLES("shootctl credential dev"), verb_credential},
    {"events", "[NAME]", 0, 1, false, events_flags,
     "Shows the last events of a cluster, a project or all projects; with -f also new events.",
     "After an interruption the stream continues at the same place: no event is missed or shown twice.",
     EXAMPLES("shootctl events dev", "shootctl events -f --type 'cluster.*'",
              "shootctl events -A -f -o jsonl | jq .type"),
     verb_events},
    {"completion", "SHELL", 1, 1, false, no_flags, "Prints the completion for bash, zsh or fish.",
     "The packages install the completion already. It asks the server for names, for at most a tenth of a "
     "second.",
     EXAMPLES("source <(shootctl completion bash)", "shootctl completion fish | source"), verb_completion},
    {"__complete", "-- WORDS", 0, 0, true, no_flags, "", "", EXAMPLES("shootctl __complete -- get ''"),
     verb_complete},
    {"version", "", 0, 0, false, version_flags, "Shows the versions of shootctl and of the server.", "",
     EXAMPLES("shootctl version"), verb_version},
    {"help", "[COMMAND]", 0, 1, false, output_flags, "Shows the commands, or the help of one.", "",
     EXAMPLES("shootctl help create"), verb_help},
    {0},
};

bool command_is_hidden(const struct cli_command *command)
{
    return !*command->summary;
}

const struct cli_command *command_find(const char *name)
{
    for (const struct cli_command *c = command_table; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static const struct flag *find_in(const struct flag *flags, const char *name, size_t len, char letter)
{
    for (; flags->name; flags++) {
        bool by_name = len && strlen(flags->name) == len && strncmp(flags->name, name, len) == 0;
        if (by_name || (letter && flags->letter == letter))
            return flags;
    }
    return NULL;
}

const struct flag *flag_find(const struct cli_command *command, const char *name, size_t len, char letter)
{
    const struct flag *flag = find_in(common_flags, name, len, letter);
    return flag || !command ? flag : find_in(command->flags, name, len, letter);
}
