"""The black-box test files that the sanitizer builds repeat: each run repeats those of REPEATED, and a run with FULL=1 all in which a
sanitizer can find something. The units run under both sanitizers each time."""

import os

IN_A_BROWSER = "a browser beside the routes that test_contract.py and test_dashboard_http.py ask for"
# Never repeated, also not with FULL=1. They test documents, tools and foreign programs; other files run the same code of the daemon.
NOT_REPEATED = {
    "test_browser.py": "a browser beside the streams that test_streams.py reads",
    "test_contrib.py": "scripts",
    "test_dashboard.py": IN_A_BROWSER,
    "test_dashboard_access.py": IN_A_BROWSER,
    "test_dashboard_cluster.py": IN_A_BROWSER,
    "test_dashboard_fleet.py": IN_A_BROWSER,
    "test_dashboard_hostile.py": IN_A_BROWSER,
    "test_dashboard_layout.py": "the places of parts of pages",
    "test_dashboard_lists.py": IN_A_BROWSER,
    "test_dashboard_live.py": "a browser beside the routes that test_contract.py, test_streams.py and test_dashboard_http.py ask for",
    "test_dashboard_pictures.py": "the look of pages",
    "test_dashboard_sign_on.py": "a browser beside the routes that test_contract.py, test_dashboard_http.py and test_oidc.py ask for",
    "test_dashboard_sources.py": "sources",
    "test_docs.py": "examples of the pages",
    "test_hot_path.py": "counts instructions of the release build",
    "test_iac.py": "requests that test_lifecycle.py and test_contract.py make",
    "test_layout.py": "sources",
    "test_names.py": "sources",
    "test_operators_day.py": "a page",
    "test_outcomes.py": "the runner of the tests",
    "test_prometheus.py": "rules and a dashboard for foreign programs",
    "test_proxy.py": "the walk of test_contract.py, through a validating proxy",
    "test_typescript.py": "a generated client",
    "test_webhook_docs.py": "examples of the pages",
    "test_webhook_peers.py": "verifiers of others",
    "test_words.py": "sources",
}

FOREIGN, THREADS, BOTH, FULL_ONLY = {"asan"}, {"tsan"}, {"asan", "tsan"}, set()
# Files in which foreign bytes are read (the address sanitizer) or several threads work together (the thread sanitizer), and what they add to
# the units. Those of FULL_ONLY are repeated by the thread sanitizer with FULL=1, where the files of every run do nearly the same.
REPEATED = {
    "test_accept.py": (BOTH, "the acceptor and the workers of the HTTP pool"),
    "test_audit.py": (FULL_ONLY, "the export is read by the reader while the writer stores"),
    "test_backup.py": (THREADS, "a copy beside the writer"),
    "test_bad_days.py": (FULL_ONLY, "troubles of the store reach the loop while clients wait"),
    "test_budgets.py": (FOREIGN, "answers of Cleura that are too large, too deep or compressed too well"),
    "test_contract.py": (BOTH, "each route once, with all that its handler reads"),
    "test_crash.py": (FOREIGN, "starts over what a killed writer left"),
    "test_credential.py": (FOREIGN, "certificates and keys of Cleura"),
    "test_discovery.py": (FOREIGN, "documents of issuers"),
    "test_forward_proxy.py": (FOREIGN, "answers of a proxy"),
    "test_freeze.py": (FULL_ONLY, "rules of the loop that the HTTP threads show"),
    "test_fresh.py": (FULL_ONLY, "many clients wait for one read"),
    "test_fuzz.py": (FOREIGN, "whole requests with errors"),
    "test_gentle.py": (THREADS, "a thousand clients and the lanes"),
    "test_http.py": (FOREIGN, "requests that are not HTTP, or nearly"),
    "test_idempotency.py": (FULL_ONLY, "parked requests and a kill"),
    "test_lagging.py": (FULL_ONLY, "streams that fall behind"),
    "test_linger.py": (BOTH, "connections that are closed while their client sends"),
    "test_lists.py": (THREADS, "pages of the view while clusters come and go"),
    "test_login.py": (FULL_ONLY, "the login that all lanes wait for"),
    "test_metrics.py": (FULL_ONLY, "counters of all threads"),
    "test_odd_answers.py": (FOREIGN, "answers of Cleura that are not what it describes"),
    "test_oidc.py": (BOTH, "JWTs and keys of issuers, which the loop replaces and another thread verifies with"),
    "test_operations.py": (FULL_ONLY, "waits, and operations that the reader fetches"),
    "test_protocol.py": (FOREIGN, "connections that end in the middle of an answer"),
    "test_quota.py": (FULL_ONLY, "rate limits that the HTTP threads share"),
    "test_reload.py": (THREADS, "a configuration that is replaced under its readers"),
    "test_revoked.py": (THREADS, "revocations between the head of a request, its body and its answer"),
    "test_seal_key.py": (THREADS, "secrets that are sealed again under their readers"),
    "test_shootctl_login.py": (FOREIGN, "kubeconfig files and answers of issuers, read by shootctl"),
    "test_smuggling.py": (FOREIGN, "requests that two readers understand differently"),
    "test_soak.py": (BOTH, "all of it at once; each leaked byte is reported"),
    "test_ssrf.py": (FOREIGN, "addresses and answers of receivers"),
    "test_start.py": (FOREIGN, "configurations with errors"),
    "test_stop.py": (BOTH, "each thread ends while others work, and frees what it has"),
    "test_store.py": (THREADS, "the writer fails under the loop"),
    "test_streams.py": (THREADS, "the thread that wakes streams"),
    "test_tls.py": (BOTH, "handshakes, and certificates that are replaced"),
    "test_tokens.py": (FULL_ONLY, "tokens that are revoked under their readers"),
    "test_tracing.py": (THREADS, "spans of all threads reach the exporter"),
    "test_unread_log.py": (THREADS, "lines of all threads, and a log that nobody reads"),
    "test_unreadable_config.py": (FOREIGN, "files that are not a configuration"),
    "test_verifier.py": (BOTH, "requests that wait for the thread that verifies JWTs"),
    "test_wait.py": (THREADS, "requests that are parked and woken"),
    "test_webhook_crash.py": (THREADS, "deliveries beside the writer, and kills"),
    "test_webhook_outcomes.py": (FOREIGN, "answers of receivers"),
    "test_webhooks.py": (FULL_ONLY, "subscriptions that change under their deliveries"),
}


def runs(build, name, full):
    """Whether the sanitizer of this build repeats the file."""
    if not full:
        return build in REPEATED.get(name, (FULL_ONLY,))[0]
    return name not in NOT_REPEATED if build == "asan" else name in REPEATED


def left_out(build, names):
    """The files among these names that this build does not run."""
    full = bool(os.environ.get("FULL"))
    return [] if build not in BOTH else sorted(n for n in names if not runs(build, n, full))
