"""GET /metrics: well-formed, from closed sets, and moving (section 9)."""

import re
import shutil
import subprocess

import httpx
import pytest

import harness
from harness import ROOT, wait_until

SAMPLE = re.compile(r'([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def samples(text):
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        key = (name, tuple(LABEL.findall(labels or "")))
        assert key not in found, f"twice: {line}"
        found[key] = float(value)
    return found


def total(found, name, **labels):
    return sum(v for (n, ls), v in found.items() if n == name and set(labels.items()) <= set(ls))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    directory = tmp_path_factory.mktemp("metrics")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start()
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture(scope="module")
def used(pair):
    """The metrics before and after a bit of everything."""
    sim, d = pair
    before = d.http.get("/metrics").text
    hook = d.http.post("/v1/webhooks", json={"url": "https://secret-host.example/x"}).json()
    token = d.http.post("/v1/tokens", json={"name": "token-name", "role": "viewer", "projects": ["team-a"]}).json()
    op = d.create("cluster-name")["operation"]["id"]
    assert d.http.get(f"/v1/operations/{op}?wait=55").json()["status"] == "succeeded"
    d.wait_phase("cluster-name", "ready")
    d.http.get(d.clusters_path("cluster-name") + "/kubeconfig")
    d.http.get("/unknown/path-that-nobody-knows")
    d.http.request("BREW", "/livez")
    d.http.get("/v1/clusters?bad=1")
    httpx.get(d.url + "/v1/whoami")
    wait_until(lambda: total(samples(d.http.get("/metrics").text), "shootd_clusters", phase="ready") == 1
               and total(samples(d.http.get("/metrics").text), "shootd_webhook_attempts_total") >= 1, timeout=30,
               what="the gauge of clusters, and an attempt that ended")
    after = d.http.get("/metrics").text
    return before, after, [hook["id"], token["id"], token["name"], op, "cluster-name", "team-a", "secret-host", "main",
                           "path-that-nobody-knows", harness.PROJECT_ID, "127.0.0.1", "demo", "BREW"]


def test_promtool(used):
    if not shutil.which("promtool"):
        pytest.skip("promtool is absent; `make deps-test` installs it")
    for text in used[:2]:
        run = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, timeout=60)
        assert run.returncode == 0 and not run.stdout.strip() and not run.stderr.strip(), run.stdout + run.stderr


def test_form(pair, used):
    answer = pair[1].http.get("/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    for text in used[:2]:
        assert text.endswith("\n") and "\r" not in text
        family, seen, types = None, set(), {}
        for line in text.splitlines():
            if line.startswith("# HELP "):
                family = line.split()[2]
                assert family not in seen, "all of a family stand together"
                assert line.endswith("."), line
                seen.add(family)
            elif line.startswith("# TYPE "):
                assert line.split()[2] == family
                types[family] = line.split()[3]
            else:
                name = SAMPLE.fullmatch(line).group(1)
                if types[family] == "histogram":
                    name = re.sub(r"_(bucket|sum|count)$", "", name)
                assert name == family and re.match(r"(shootd|process)_", name), line
                assert (types[family] == "counter") is name.endswith("_total"), line


def test_histograms_add_up(used):
    found = samples(used[1])
    name = "shootd_http_request_duration_seconds"
    for route in {dict(ls)["route"] for (n, ls), _ in found.items() if n == name + "_count"}:
        buckets = [(dict(ls)["le"], v) for (n, ls), v in found.items()
                   if n == name + "_bucket" and dict(ls)["route"] == route]
        edges = [float(le) for le, _ in buckets]
        counts = [v for _, v in buckets]
        assert edges == sorted(edges) and buckets[-1][0] == "+Inf" and counts == sorted(counts)
        assert counts[-1] == total(found, name + "_count", route=route)


def test_labels_are_of_closed_sets(used):
    """OB-6: no ids, names, tenants, addresses or raw paths."""
    before, after, private = used
    for word in private:
        assert f'"{word}"' not in after and not re.search(r'="[^"]*\b' + re.escape(word) + r'\b', after), word
    templates = set(re.findall(r'"(/[^"]*)"|"none"', after))
    contract = (ROOT / "openapi.yaml").read_text()
    for template in templates - {""}:
        if template.startswith("/"):
            assert f"\n  {template}:\n" in contract, template
    found = samples(after)
    assert {dict(ls)["method"] for (n, ls), _ in found.items() if n == "shootd_http_requests_total"} <= \
        {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "_OTHER"}
    # Use adds no series but of counters that are zero until then.
    new = {key for key in samples(after) if key not in samples(before)}
    assert {name for name, _ in new} <= {"shootd_http_requests_total"}, new


def test_counters_move(used):
    before, after = samples(used[0]), samples(used[1])

    def grew(name, by=1, **labels):
        difference = total(after, name, **labels) - total(before, name, **labels)
        assert difference >= by, (name, labels, difference)
    requests = "shootd_http_requests_total"
    grew(requests, route="/v1/projects/{project}/clusters", method="POST", code="202")
    grew(requests, route="/v1/operations/{operation}", method="GET", code="200")
    grew(requests, route="/v1/webhooks", method="POST", code="201")
    grew(requests, route="/v1/whoami", method="GET", code="401")
    grew(requests, route="/v1/clusters", method="GET", code="400")
    grew(requests, route="none", method="GET", code="404")
    grew(requests, route="none", method="_OTHER", code="501")
    grew("shootd_http_request_duration_seconds_count", 8)
    grew("shootd_http_request_duration_seconds_sum", 0.001)
    grew("shootd_store_commits_total", 3)
    grew("shootd_store_change_sets_total", 3)
    grew("shootd_upstream_requests_total", operation="create", outcome="ok")
    grew("shootd_upstream_requests_total", operation="list", outcome="ok")
    grew("shootd_log_messages_total", level="info")
    grew("process_cpu_seconds_total", 0.0001)
    grew("shootd_webhook_attempts_total", 1)
    assert total(after, "shootd_webhook_endpoints", state="active") == 1
    assert total(after, "shootd_upstream_logins_total") >= 1
    assert total(after, "shootd_store_errors_total") == 0
    assert total(after, "shootd_http_requests_in_flight") == 1, "the scrape itself"
    assert total(after, "shootd_http_parked") == 0
    assert total(after, "shootd_build_info") == 1
    assert total(after, "process_open_fds") > 10 and total(after, "process_threads") >= 6
    assert total(after, "process_resident_memory_bytes") > 1e6
    assert abs(total(after, "process_start_time_seconds") - total(before, "process_start_time_seconds")) < 1


def test_a_scrape_costs_cleura_nothing(sim, make_shootd):
    d = make_shootd(sim.url, polling="{active: 1s, idle: 30m, discovery: 30m}").start()
    d.wait_upstream()
    before = sim.counters()["requests"]
    with httpx.Client(base_url=d.url) as client:
        for _ in range(500):
            assert client.get("/metrics").status_code == 200
    assert sim.counters()["requests"] == before


def test_the_documents_name_every_metric(used):
    text = (ROOT / "docs/operations.md").read_text()
    names = set(re.findall(r"^# TYPE (shootd_[a-z_]+)", used[1], re.M))
    assert names
    missing = {n for n in names if n not in text}
    assert not missing, missing
