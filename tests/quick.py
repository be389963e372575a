"""The black-box tests that `make quick` runs: those of the folders that differ from main, and changed test files."""

import re
import subprocess

# Folder -> files of tests/ that test the most of it in the least time. The first folder of a path counts. test_layout.py, test_words.py and test_names.py
# read all sources, so they always run.
ALWAYS = ["api/test_layout.py", "api/test_words.py", "api/test_names.py"]
FILES = {
    "base": ["api/test_start.py"],
    "model": ["api/test_whole_spec.py", "api/test_dry_run.py"],
    "config": ["api/test_start.py"],
    "storage": ["api/test_state_dir.py", "api/test_seal_key.py"],
    "view": ["api/test_conditional.py", "api/test_expiry.py"],
    "loop": ["api/test_gentle.py"],
    "upstream": ["api/test_login.py", "api/test_lost_answers.py"],
    "webhook": ["api/test_webhook_outcomes.py", "api/test_ssrf.py"],
    "oidc": ["api/test_oidc.py"],
    "tracing": ["api/test_tracing.py"],
    "http": ["api/test_http.py", "api/test_accept.py"],
    "reconcile": ["api/test_lifecycle.py", "api/test_cancel.py", "api/test_idempotency.py"],
    "api": ["api/test_tokens.py", "api/test_conditional.py", "api/test_freeze.py"],
    "daemon": ["api/test_start.py", "api/test_stop.py"],
    "cli": ["api/test_shootctl.py", "api/test_shootctl_watch.py", "api/test_shootctl_terminal.py", "api/test_shootctl_login.py", "api/test_shootctl_completion.py"],
    "dashboard/src/fleet": ["api/test_dashboard_fleet.py", "api/test_dashboard_sources.py"],
    "dashboard/src/cluster": ["api/test_dashboard_cluster.py", "api/test_dashboard_sources.py"],
    **dict.fromkeys([f"dashboard/src/{page}" for page in ("operations", "events", "webhooks", "accounts", "audit")], ["api/test_dashboard_lists.py", "api/test_dashboard_sources.py"]),
    "dashboard/src/sign_on": ["api/test_dashboard_sign_on.py", "api/test_dashboard_sources.py"],
    "dashboard": ["api/test_dashboard.py", "api/test_dashboard_http.py", "api/test_dashboard_sources.py"],
    "simulator": ["simulator"],
    "fuzz": [],  # the units run the targets with their inputs
    "systemd": ["api/test_systemd.py"],
    "contrib": ["api/test_contrib.py"],
    "docs": ["api/test_rules.py"],
    "openapi.yaml": ["api/test_contract.py"],
}


def changed(root):
    """The paths that differ from main, committed or not."""
    def lines(*command):
        return subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    base = lines("merge-base", "main", "HEAD")[0]
    return lines("diff", "--name-only", base) + lines("ls-files", "--others", "--exclude-standard")


def chosen(paths):
    """The test files below tests/ for these changed paths."""
    names = set(ALWAYS)
    for path in paths:
        own = re.fullmatch(r"tests/((api|simulator)/test_\w+\.py)", path)
        names.update([own[1]] if own else next((files for folder, files in FILES.items() if f"{path}/".startswith(f"{folder}/")), []))
    return {n for n in names if n.startswith("api/") or "simulator" not in names or n == "simulator"}


def suites(root):
    """The files, by suite: each suite has its own conftest."""
    names = sorted(n for n in chosen(changed(root)) if (root / "tests" / n).exists())
    return [[root / "tests" / n for n in names if n.split("/")[0] == suite] for suite in ("simulator", "api")]
