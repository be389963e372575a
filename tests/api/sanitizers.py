"""The black-box test files that the sanitizer builds repeat."""

IN_A_BROWSER = "a browser beside the routes that test_contract.py and test_dashboard_http.py ask for"
# The address sanitizer repeats all files except these. They test documents, tools and foreign programs; other files run the same code of
# the daemon.
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
    "test_operators_day.py": "a page",
    "test_outcomes.py": "the runner of the tests",
    "test_prometheus.py": "rules and a dashboard for foreign programs",
    "test_proxy.py": "the walk of test_contract.py, through a validating proxy",
    "test_typescript.py": "a generated client",
    "test_webhook_docs.py": "examples of the pages",
    "test_webhook_peers.py": "verifiers of others",
    "test_words.py": "sources",
}

# The thread sanitizer repeats only the files in which several threads work together; the units cover the rest of the code.
THREADS_MEET = {
    "test_accept.py": "the acceptor and the workers of the HTTP pool",
    "test_audit.py": "the export is read by the reader while the writer stores",
    "test_backup.py": "a copy beside the writer",
    "test_bad_days.py": "troubles of the store reach the loop while clients wait",
    "test_budgets.py": "the worker that parses, and the loop",
    "test_contract.py": "each route once, with all that its handler reads",
    "test_crash.py": "starts over what a killed writer left",
    "test_freeze.py": "rules of the loop that the HTTP threads show",
    "test_fresh.py": "many clients wait for one read",
    "test_gentle.py": "a thousand clients and the lanes",
    "test_idempotency.py": "parked requests and a kill",
    "test_lagging.py": "streams that fall behind",
    "test_lists.py": "pages of the view while clusters come and go",
    "test_login.py": "the login that all lanes wait for",
    "test_metrics.py": "counters of all threads",
    "test_oidc.py": "keys that the loop replaces and HTTP threads verify with",
    "test_operations.py": "waits, and operations that the reader fetches",
    "test_protocol.py": "connections that end in the middle of an answer",
    "test_quota.py": "rate limits that the HTTP threads share",
    "test_reload.py": "a configuration that is replaced under its readers",
    "test_revoked.py": "revocations between the head of a request, its body and its answer",
    "test_seal_key.py": "secrets that are sealed again under their readers",
    "test_soak.py": "all of it at once",
    "test_stop.py": "each thread ends while others work",
    "test_store.py": "the writer fails under the loop",
    "test_streams.py": "the thread that wakes streams",
    "test_tls.py": "handshakes, and certificates that are replaced",
    "test_tokens.py": "tokens that are revoked under their readers",
    "test_tracing.py": "spans of all threads reach the exporter",
    "test_wait.py": "requests that are parked and woken",
    "test_verifier.py": "requests that wait for the thread that verifies JWTs",
    "test_webhook_crash.py": "deliveries beside the writer, and kills",
    "test_webhooks.py": "subscriptions that change under their deliveries",
}


def left_out(build, names):
    """The files among these names that this build does not run."""
    if build == "tsan":
        return sorted(set(names) - set(THREADS_MEET))
    return sorted(set(names) & set(NOT_REPEATED)) if build == "asan" else []
