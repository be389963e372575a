"""/metrics: what promtool accepts, without names of tenants, and it moves."""

import re
import subprocess

import httpx


def values(text):
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
            if line and not line.startswith("#")}


def test_promtool_accepts_it(shootd):
    text = httpx.get(shootd.url + "/metrics").text
    run = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    assert text.endswith("\n") and "# EOF" not in text


def test_counters_move_and_name_no_tenant(sim, shootd):
    before = values(httpx.get(shootd.url + "/metrics").text)
    shootd.create("dev")
    shootd.wait_phase("dev", "ready")
    text = httpx.get(shootd.url + "/metrics").text
    after = values(text)
    for name in ('shootd_upstream_requests_total{operation="create",outcome="ok"}', "shootd_store_commits_total",
                 'shootd_http_requests_total{method="POST",route="/v1/projects/{project}/clusters",code="202"}'):
        assert after[name] > before.get(name, 0), name
    assert not re.search(r"team-a|\bdev\b|shd_|op_0|cl_0", text)
