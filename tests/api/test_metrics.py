"""GET /metrics: well-formed, with labels from closed sets, and values that change (section 9)."""

import datetime
import re
import shutil
import subprocess

import pytest

import harness
import web
from contract import DOCUMENT
from harness import ROOT, wait_until
from streams import Stream

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
    d = harness.Shootd(directory / "shootd", sim.url, extra="limits: {heartbeat: 500ms}\n").start()
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture(scope="module")
def used(pair):
    """The metrics before and after some use."""
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
    web.get(d.url + "/v1/whoami")
    wait_until(lambda: total(samples(d.http.get("/metrics").text), "shootd_clusters", phase="ready") == 1
               and total(samples(d.http.get("/metrics").text), "shootd_webhook_attempts_total") >= 1, timeout=30,
               what="the gauge of clusters, and an attempt that ended")
    after = d.http.get("/metrics").text
    return before, after, [hook["id"], token["id"], token["name"], op, "cluster-name", "secret-host",
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


OPENMETRICS = "application/openmetrics-text"


@pytest.fixture(scope="module")
def openmetrics(pair, used):
    answer = pair[1].http.get("/metrics", headers={"Accept": OPENMETRICS})
    assert answer.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    return answer.text


def test_openmetrics_is_read_by_a_strict_parser(pair, used):
    """The parser of Prometheus' own client library reads each family and sample as in the text form."""
    parser = pytest.importorskip("prometheus_client.openmetrics.parser", reason="python3-prometheus-client is absent; `make deps-test` installs it")
    before = samples(pair[1].http.get("/metrics").text)
    openmetrics = pair[1].http.get("/metrics", headers={"Accept": OPENMETRICS}).text
    after = samples(pair[1].http.get("/metrics").text)
    read = list(parser.text_string_to_metric_families(openmetrics))
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", used[1], re.M))
    text = {name: kind for name, kind in types.items() if kind != "counter"} | {name.removesuffix("_total"): kind for name, kind in types.items() if kind == "counter"}
    assert {family.name: family.type for family in read} == text
    assert {family.documentation for family in read} == set(re.findall(r"^# HELP \S+ (.+)$", used[1], re.M))
    found = {(sample.name, frozenset(sample.labels.items())) for family in read for sample in family.samples}
    assert {(name, frozenset(labels)) for name, labels in before} <= found <= {(name, frozenset(labels)) for name, labels in after} and len(found) > 1000
    for broken in (openmetrics.removesuffix("# EOF\n"), openmetrics.replace("# TYPE shootd_store_commits counter", "# TYPE shootd_store_commits_total counter"),
                   openmetrics.replace("# TYPE shootd_sse_streams_ended counter", "# TYPE shootd_sse_streams counter")):
        with pytest.raises(ValueError):
            list(parser.text_string_to_metric_families(broken))


def test_openmetrics_form(openmetrics):
    lines = openmetrics.splitlines()
    assert openmetrics.endswith("\n# EOF\n") and openmetrics.count("# EOF") == 1 and "\r" not in openmetrics and "" not in lines
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", openmetrics, re.M))
    assert len(kinds) == openmetrics.count("\n# TYPE ") + openmetrics.startswith("# TYPE ") and set(kinds.values()) == {"counter", "gauge", "histogram"}
    edges = set(re.findall(r'le="([^"]*)"', openmetrics)) - {"+Inf"}
    assert "1.0" in edges and all(repr(float(edge)) == edge for edge in edges if float(edge) >= 0.001), edges
    family = None
    for line in lines[:-1]:
        if line.startswith("# "):
            family = line.split()[2]
            continue
        name = SAMPLE.fullmatch(line).group(1)
        ends = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(kinds[family], [""])
        assert name in [family + end for end in ends], line


@pytest.mark.parametrize("accept, is_openmetrics", [
    (None, False), ("*/*", False), ("text/plain", False), ("text/plain, application/openmetrics-text", False), ("application/json", False),
    (f"{OPENMETRICS};q=0.4, text/plain;q=0.5", False), ("application/*", True), (f"{OPENMETRICS}; version=1.0.0", True),
    # the Accept field of Prometheus 2.42
    ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", True)])
def test_the_form_is_that_which_is_preferred(pair, accept, is_openmetrics):
    with web.Client(base_url=pair[1].url, headers={"Accept": accept or ""}) as client:
        if accept is None:
            del client.headers["Accept"]
        answer = client.get("/metrics")
    assert answer.status_code == 200 and answer.headers["Content-Type"].startswith(OPENMETRICS if is_openmetrics else "text/plain")
    assert "Accept" in answer.headers["Vary"].split(", ") and answer.text.endswith("# EOF\n") is is_openmetrics


def test_families_are_those_of_the_table(used):
    """/metrics has every family of base/metric_table.h with its labels, and no other."""
    table = re.findall(r'METRIC\((\w+),\s*(\w+),\s*"([^"]*)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', (ROOT / "base/metric_table.h").read_text())
    told = {name: (kind, "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)), set(labels.split())) for name, kind, labels, text in table}
    assert len(told) == len(table) > 70
    assert {name: row[0] for name, row in told.items()} == dict(re.findall(r"^# TYPE (\S+) (\S+)$", used[1], re.M))
    assert {name: row[1] for name, row in told.items()} == dict(re.findall(r"^# HELP (\S+) (.+)$", used[1], re.M))
    assert not [row[1] for row in told.values() if "\\" in row[1] or '"' in row[1]], "an escape is needed"
    for name, labels in samples(used[1]):
        family = name if name in told else re.sub(r"_(bucket|sum|count)$", "", name)
        assert {label for label, _ in labels} - {"le"} == told[family][2], name


def histograms(text):
    """{(name, labels): [(le, cumulative)]} of all histograms in an answer."""
    found = {}
    for (name, labels), value in samples(text).items():
        if name.endswith("_bucket"):
            rest = tuple(label for label in labels if label[0] != "le")
            found.setdefault((name.removesuffix("_bucket"), rest), []).append((dict(labels)["le"], value))
    return found


def test_histograms_add_up(used):
    found = samples(used[1])
    assert len(histograms(used[1])) > 70
    for (name, labels), buckets in histograms(used[1]).items():
        edges = [float(le) for le, _ in buckets]
        counts = [v for _, v in buckets]
        assert edges == sorted(set(edges)) and buckets[-1][0] == "+Inf" and counts == sorted(counts)
        assert counts[-1] == found[(name + "_count", labels)] and (name + "_sum", labels) in found


def test_durations_are_those_of_the_routes(used):
    """One histogram for each operation of the contract, and one for other requests; operations that can wait have one for waits, too."""
    operations = {(path, method.upper()) for path, item in DOCUMENT["paths"].items()
                  for method in item if method in ("get", "put", "post", "patch", "delete")}

    def rows(name):
        found = [dict(labels) for (n, labels) in histograms(used[1]) if n == name]
        return {(labels["route"], labels["method"]) for labels in found}
    assert rows("shootd_http_request_duration_seconds") == operations | {("none", "_OTHER")}
    waits = rows("shootd_http_wait_duration_seconds")
    assert waits < operations and {("/v1/operations/{operation}", "GET"), ("/v1/events", "GET"), ("/v1/clusters", "GET"),
                                   ("/v1/projects/{project}/clusters", "POST")} <= waits


def test_what_was_asked_to_wait_is_apart(pair):
    d = pair[1]

    def counts():
        found = samples(d.http.get("/metrics").text)
        return {(name[len("shootd_http_"):-len("_duration_seconds_count")], *(v for _, v in ls)): v for (name, ls), v in found.items()
                if name.endswith("_duration_seconds_count") and name.startswith("shootd_http_")}
    cluster = "/v1/projects/{project}/clusters/{cluster}"
    before = counts()
    d.http.get("/v1/clusters")
    d.http.get("/v1/clusters", headers={"Cache-Control": "no-cache"})
    d.http.get("/v1/projects/team-a/clusters/none", headers={"Prefer": "wait=5"})
    d.http.head("/v1/projects/team-a/clusters/none")
    d.http.delete("/v1/projects/team-a/clusters/none", params={"wait": 5})
    d.http.delete("/v1/projects/team-a/clusters/none", headers={"Prefer": "wait=5"})
    d.http.delete("/v1/projects/team-a/clusters/none", headers={"Prefer": "wait=0"})
    d.http.get("/v1/whoami", headers={"Prefer": "wait=5"})
    with Stream(d, "/v1/events?after=0"):
        pass
    wait_until(lambda: counts()[("wait", "/v1/events", "GET")] > before[("wait", "/v1/events", "GET")], timeout=10, what="the end of the stream")
    after = counts()
    grown = {key: after[key] - before[key] for key in after if after[key] != before[key] and key[1] != "/metrics"}
    assert grown == {("request", "/v1/clusters", "GET"): 1, ("wait", "/v1/clusters", "GET"): 1, ("request", cluster, "GET"): 2,
                     ("wait", cluster, "DELETE"): 2, ("request", cluster, "DELETE"): 1, ("request", "/v1/whoami", "GET"): 1,
                     ("wait", "/v1/events", "GET"): 1}


def test_labels_are_of_closed_sets(used):
    """OB-6: no ids, addresses or raw paths, and no names except those of configured accounts and projects."""
    before, after, private = used
    found = samples(after)
    values = {value for _, labels in found for _, value in labels}
    named = {label for _, labels in found for label in labels if label[0] in ("account", "project") or label[1] in ("main", "team-a")}
    assert named == {("account", "main"), ("project", "team-a")}
    for word in private:
        assert not [value for value in values if re.search(rf"\b{re.escape(word)}\b", value)], word
    templates = set(re.findall(r'"(/[^"]*)"|"none"', after))
    contract = (ROOT / "openapi.yaml").read_text()
    for template in templates - {""}:
        if template.startswith("/"):
            assert f"\n  {template}:\n" in contract, template
    assert {dict(ls)["method"] for (n, ls), _ in found.items() if n == "shootd_http_requests_total"} <= \
        {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "_OTHER"}
    # Use adds no series, except for counters, which are zero until then.
    new = set(found) - set(samples(before))
    assert {name for name, labels in new if ("outcome", "ok") not in labels} <= \
        {"shootd_http_requests_total", *(f"shootd_upstream_request_duration_seconds_{kind}" for kind in ("bucket", "sum", "count"))}, new


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
    duration = "shootd_upstream_request_duration_seconds"
    grew(duration + "_count", operation="create", outcome="ok")
    assert total(after, duration + "_count", operation="create", outcome="ok") == 1
    grew(duration + "_sum", 0.0001, operation="list", outcome="ok")
    grew("shootd_log_messages_total", level="info")
    grew("process_cpu_seconds_total", 0.0001)
    grew("shootd_webhook_attempts_total", 1)
    operation, step = "shootd_operation_duration_seconds", "shootd_operation_step_duration_seconds"
    assert total(after, operation + "_count") == total(after, operation + "_count", type="create", outcome="succeeded") == 1
    assert total(after, step + "_count", outcome="done") >= 2 and total(after, step + "_count", outcome="failed") == 0
    assert total(after, step + "_count", step="wait_ready", outcome="done") == 1
    assert 0 < total(after, step + "_sum", step="wait_ready") <= total(after, operation + "_sum") < 60
    assert {state: total(after, "shootd_webhooks", state=state) for state in ("enabled", "failing", "disabled")} == {"enabled": 0, "failing": 1, "disabled": 0}
    assert total(after, "shootd_upstream_logins_total") >= 1
    assert total(after, "shootd_store_errors_total") == 0
    assert total(after, "shootd_http_requests_in_flight") == 1, "the scrape itself"
    assert total(after, "shootd_http_parked") == 0
    assert total(after, "shootd_build_info") == 1
    assert total(after, "process_open_fds") > 10 and total(after, "process_threads") >= 6
    assert total(after, "process_resident_memory_bytes") > 1e6
    assert abs(total(after, "process_start_time_seconds") - total(before, "process_start_time_seconds")) < 1


def test_every_project_and_phase_has_a_series(sim, make_shootd):
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", harness.PROJECT_ID), ("team-b", "Sto2", "ffeeddccbbaa99887766554433221100")]).start()
    sim.post("shoots", count=2, prefix="fine", state="ready")
    d.wait_operation(d.create("ends", spec={"kubernetes_version": "1.33.6"})["operation"]["id"])
    sim.fault("create_shoot", "status", status=422, body='{"error":{"code":422,"message":"quota exceeded"}}')
    d.wait_operation(d.create("bad")["operation"]["id"])

    def now():
        return samples(d.http.get("/metrics").text)
    wait_until(lambda: total(now(), "shootd_clusters", project="team-a", phase="ready") == 3, what="the clusters")
    found = now()
    phases = DOCUMENT["components"]["schemas"]["Phase"]["enum"]
    listed = d.http.get("/v1/issues", params={"limit": 1000}).json()["items"]
    assert any(i["severity"] == "critical" for i in listed)
    for severity in ("critical", "warning", "info"):
        count = sum(i["project"] == "team-a" and i["severity"] == severity for i in listed)
        assert found["shootd_issues", (("project", "team-a"), ("severity", severity))] == count
        assert found["shootd_issues", (("project", "team-b"), ("severity", severity))] == 0
    for project, failed in (("team-a", 1), ("team-b", 0)):
        assert {dict(ls)["phase"] for n, ls in found if n == "shootd_clusters" and dict(ls)["project"] == project} == set(phases)
        assert total(found, "shootd_clusters", project=project, phase="failed") == failed
        assert ("shootd_clusters_operation_failed", (("project", project),)) in found and total(found, "shootd_clusters_operation_failed", project=project) == failed
    assert total(found, "shootd_clusters", project="team-a") == 4 and total(found, "shootd_clusters", project="team-b") == 0
    ends = [c["expires_at"] for c in d.http.get("/v1/clusters", params={"fields": "summary"}).json()["items"] if c["expires_at"]]
    assert ends
    first = min((datetime.datetime.fromisoformat(t.replace("Z", "+00:00")).timestamp() for t in ends))
    assert total(found, "shootd_clusters_version_end_timestamp_seconds", project="team-a") == first
    assert total(found, "shootd_clusters_version_end_timestamp_seconds", project="team-b") == 0
    assert d.http.delete(d.clusters_path("bad")).status_code in (202, 204)
    wait_until(lambda: total(now(), "shootd_clusters_operation_failed", project="team-a") == 0, what="the deletion, which follows it up")


def test_a_scrape_costs_cleura_nothing(sim, make_shootd):
    d = make_shootd(sim.url, polling="{active: 1s, idle: 30m, discovery: 30m}").start()
    d.wait_upstream()
    before = sim.counters()["requests"]
    with web.Client(base_url=d.url) as client:
        for _ in range(50):
            assert client.get("/metrics").status_code == 200
    assert sim.counters()["requests"] == before


def test_refused_credentials_are_counted_by_reason(pair):
    """AU-8: the counter shows the reason that the answer hides."""
    d = pair[1]

    def failures():
        found = samples(d.http.get("/metrics").text)
        return {dict(ls)["reason"]: v for (n, ls), v in found.items() if n == "shootd_auth_failures_total"}

    def answer(secret):
        a = web.get(d.url + "/v1/whoami", headers={"Authorization": secret})
        return a.status_code, a.json()["detail"], a.headers["WWW-Authenticate"]

    def make(name):
        return d.http.post("/v1/tokens", json={"name": name, "role": "viewer", "projects": ["*"], "expires_in_days": 1}).json()
    first = failures()
    assert set(first) == {"missing", "malformed", "unknown", "revoked", "expired", "jwt"}, "each is there from the start"
    revoked, rotated, other = make("gone"), make("rotated"), make("other")
    assert d.http.delete(f"/v1/tokens/{revoked['id']}").status_code == 204
    new = d.http.post(f"/v1/tokens/{rotated['id']}/rotate", json={"grace_seconds": 0}).json()["token"]
    assert web.get(d.url + "/v1/whoami", headers={"Authorization": f"Bearer {new}"}).status_code == 200
    # The checksum of another token does not fit. The checksum of a token from another store fits, but the token is unknown.
    malformed = other["token"][:-6] + revoked["token"][-6:]
    told = {answer(f"Bearer {secret}") for secret in (malformed, revoked["token"], rotated["token"])}
    assert len(told) == 1 and told.pop()[0] == 401
    assert "needs 'Authorization: Bearer" in answer("Basic eDp5")[1]
    with web.Client(base_url=d.url, headers={"Authorization": f"Bearer {malformed}"}) as kept:  # on the second use the connection knows it
        assert {kept.get("/v1/whoami").status_code for _ in range(3)} == {401}
    assert web.get(d.url + "/v1/whoami").status_code == 401
    assert web.get(d.url + "/v1/events?ticket=ticket_x", headers={"Accept": "text/event-stream"}).status_code == 401
    grown = {reason: v - first[reason] for reason, v in failures().items()}
    assert grown == {"missing": 1, "malformed": 5, "unknown": 1, "revoked": 2, "expired": 0, "jwt": 0}


def test_errors_are_there_before_the_first_one(pair):
    """A rate over a series that begins at 1 would miss the first error (OB-6)."""
    sim, d = pair
    found = samples(d.http.get("/metrics").text)
    calls = [dict(labels) for (name, labels) in found if name == "shootd_upstream_requests_total"]
    assert len({c["operation"] for c in calls}) == 26 and {c["outcome"] for c in calls} >= {"ok", "unreachable", "uncertain", "throttled"}
    assert len(calls) == len({c["operation"] for c in calls}) * len({c["outcome"] for c in calls})
    codes = [dict(labels) for (name, labels) in found if name == "shootd_http_requests_total"]
    for code in ("200", "500", "503"):
        assert len({(c["route"], c["method"]) for c in codes if c["code"] == code and c["route"] != "none"}) >= 70, code
    ends = [labels for (name, labels) in found if name == "shootd_operation_duration_seconds_count"]
    assert {dict(labels)["outcome"] for labels in ends} == {"succeeded", "failed", "cancelled"} and len(ends) == 3 * 11
    assert {dict(labels)["outcome"] for (name, labels) in found if name == "shootd_operation_step_duration_seconds_count"} == {"done", "failed"}
    assert len(d.http.get("/metrics").content) < 500_000, "what is scraped stays bounded"


def test_how_long_cleura_takes(make_sim, make_shootd):
    d = make_shootd(make_sim(latency=200).url).start().wait_upstream()
    found = samples(d.http.get("/metrics").text)
    name, labels = "shootd_upstream_request_duration_seconds", {"operation": "list", "outcome": "ok"}
    count = total(found, name + "_count", **labels)
    assert count >= 1 and total(found, name + "_bucket", **labels, le="0.1") == 0 and total(found, name + "_sum", **labels) >= 0.2 * count


def test_accounts_and_projects_that_are_configured(make_sim, make_shootd):
    sim = make_sim(project=[harness.PROJECT_ID, "f" * 32])
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", harness.PROJECT_ID), ("team-b", "Sto2", "f" * 32)]).start().wait_upstream()
    breaker, depth, contact, oldest = ("shootd_upstream_breaker_state", "shootd_upstream_lane_depth", "shootd_upstream_last_contact_age_seconds",
                                       "shootd_project_oldest_observation_age_seconds")

    def now():
        return samples(d.http.get("/metrics").text)

    def projects():
        return {dict(labels)["project"] for name, labels in now() if name == oldest}
    d.create("one")
    d.wait_phase("one", "ready")
    wait_until(lambda: total(now(), contact) > 0 and 0 < total(now(), oldest, project="team-a") < 5, timeout=20, what="a look at all clusters")
    found = now()
    assert {dict(labels)["state"]: v for (name, labels), v in found.items() if name == breaker} == {"closed": 1, "open": 0, "half_open": 0}
    assert total(found, depth, account="main") <= 4 and total(found, contact, account="main") < 10
    assert total(found, oldest, project="team-b") == 0, "it has no cluster"
    sim.stop()
    wait_until(lambda: total(now(), breaker, account="main", state="closed") == 0, timeout=40, what="the breaker")
    wait_until(lambda: total(now(), contact, account="main") > 5 and total(now(), oldest, project="team-a") > 5, timeout=20, what="growing ages")
    first, second = total(now(), oldest, project="team-a"), total(now(), oldest, project="team-a")
    assert first < second, "an age is that of the scrape"
    d.config.write_text("".join(line for line in d.config.read_text().splitlines(True) if "team-b" not in line))
    assert projects() == {"team-a", "team-b"} and d.http.post("/v1/reload").status_code == 200
    wait_until(lambda: projects() == {"team-a"}, timeout=20, what="the series of a project that is not configured any more")

def test_how_operations_ended(sim, make_shootd):
    d = make_shootd(sim.url).start().wait_upstream()

    def ended(**labels):
        return total(samples(d.http.get("/metrics").text), "shootd_operation_duration_seconds_count", **labels)
    sim.post("lifecycle", operation="create", outcome="failed")
    op = d.create("bad")["operation"]["id"]
    assert d.http.get(f"/v1/operations/{op}?wait=55").json()["status"] == "failed"
    assert ended(type="create", outcome="failed") == ended() == 1
    failed = total(samples(d.http.get("/metrics").text), "shootd_operation_step_duration_seconds_count", outcome="failed")
    assert failed == 1
