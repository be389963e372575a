"""PUT /v1/freeze: writes are refused for a time, everything else continues."""

import re
import subprocess
from datetime import datetime, timedelta, timezone

import pytest

import harness
import web
from harness import PROJECT_ID, wait_until

OTHER = "ffeeddccbbaa99887766554433221100"
MERGE = {"Content-Type": "application/merge-patch+json"}


def later(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat(timespec="seconds")


@pytest.fixture
def d(make_sim, make_shootd):
    sim = make_sim(project=[PROJECT_ID, OTHER])
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Sto2", OTHER)]).start().wait_upstream()
    d.create("dev")
    d.wait_phase("dev", "ready")
    return d


def freeze(d, scope="team-a", reason="Year end", client=None, **more):
    answer = (client or d.http).put("/v1/freeze", json={"scope": scope, "reason": reason, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def lift(d, scope="team-a"):
    assert d.http.delete("/v1/freeze", params={"scope": scope}).status_code == 204


def metric(d):
    return next(line for line in d.http.get("/metrics").text.splitlines() if line.startswith("shootd_projects_frozen "))


def bearer(d, role, projects):
    made = d.http.post("/v1/tokens", json={"name": role, "role": role, "projects": projects})
    assert made.status_code == 201, made.text
    return web.Client(base_url=d.url, headers={"Authorization": "Bearer " + made.json()["token"]})


def writes(d):
    dev = d.clusters_path("dev")
    return [("POST", d.clusters_path(), {"name": "new"}, {}), ("PUT", dev, {"spec": {"kubernetes_version": "1.34"}}, {}),
            ("PATCH", dev, {"labels": {"a": "b"}}, MERGE), ("DELETE", dev, None, {}), ("POST", dev + "/node-pools", {"name": "more"}, {}),
            ("PUT", dev + "/node-pools/default", {"minimum": 2}, {}), ("PATCH", dev + "/node-pools/default", {"minimum": 2}, MERGE),
            ("DELETE", dev + "/node-pools/default", None, {}), ("POST", dev + "/actions/hibernate", None, {})]


def test_a_refused_change_is_counted_with_its_status(d):
    def puts():
        page = d.http.get("/metrics").text
        return {code: int(n) for code, n in re.findall(r'^shootd_http_requests_total\{method="PUT",route="[^"]*/clusters/\{cluster\}",code="(\d+)"\} (\d+)$', page, re.M)}
    freeze(d)
    before = puts()
    assert d.http.put(d.clusters_path("dev"), json={"labels": {"a": "b"}}).status_code == 423
    assert wait_until(lambda: (now := puts()) != before and now, what="the count") == {**before, "423": 1}
    assert before["500"] == 0


@pytest.mark.parametrize("scope", ["team-a", "all"])
def test_every_change_is_refused_with_the_reason(d, scope):
    until = later(3600)
    freeze(d, scope, until=until)
    before = d.cluster("dev").json()
    for method, path, body, headers in writes(d):
        answer = d.http.request(method, path, json=body, headers=headers)
        assert answer.status_code == 423 and answer.json()["code"] == "frozen", (method, path, answer.text)
        assert "Year end" in answer.json()["detail"] and "frozen by admin until 20" in answer.json()["detail"]
        assert 3000 < int(answer.headers["Retry-After"]) <= 3601
    now = d.cluster("dev").json()
    assert {k: now[k] for k in ("spec", "labels", "operation")} == {k: before[k] for k in ("spec", "labels", "operation")}
    assert d.cluster("new").status_code == 404
    elsewhere = d.http.post(d.clusters_path(project="team-b"), json={"name": "other"})
    assert elsewhere.status_code == (202 if scope == "team-a" else 423), elsewhere.text


def test_a_freeze_that_outlives_us(d):
    freeze(d, "all", until="2170-01-01T00:00:00Z")
    answer = d.http.put(d.clusters_path("dev"), json={"labels": {"a": "b"}})
    assert (answer.status_code, answer.headers["Retry-After"]) == (423, str(2**31 - 1))


def test_everything_else_goes_on(d):
    slow = d.create("slow")["operation"]["id"]
    freeze(d)
    assert d.http.get(d.clusters_path("dev") + "/kubeconfig").status_code == 200
    assert d.http.post(d.clusters_path(), json={"name": "new"}, params={"dry_run": "true"}).json()["valid"]
    assert d.http.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["*"]}).status_code == 201
    assert d.wait_operation(slow)["status"] == "succeeded"
    lift(d)
    assert d.wait_operation(d.http.delete(d.clusters_path("slow")).json()["operation"]["id"])["status"] == "succeeded"


def test_a_request_that_was_accepted_before_is_answered_as_before(d):
    key = {"Idempotency-Key": "frozen-0123456789"}
    first = d.http.post(d.clusters_path(), json={"name": "new"}, headers=key)
    freeze(d)
    again = d.http.post(d.clusters_path(), json={"name": "new"}, headers=key)
    assert again.status_code == 202 and again.json()["operation"]["id"] == first.json()["operation"]["id"]


def test_where_it_is_shown(d):
    made = freeze(d, until=None)
    assert made["until"] is None and made["by"] == "admin" and made["scope"] == "team-a"
    assert d.http.get("/v1/freeze").json() == {"items": [made], "next_cursor": None}
    assert d.http.get("/v1/projects/team-a").json()["freeze"] == made and d.http.get("/v1/projects/team-b").json()["freeze"] is None
    assert d.http.get("/v1/summary").json()["frozen_projects"] == 1
    every = freeze(d, "all", "Audit")
    assert d.http.get("/v1/projects/team-a").json()["freeze"] == made and d.http.get("/v1/projects/team-b").json()["freeze"] == every
    assert d.http.get("/v1/freeze").json()["items"] == [every, made]
    assert d.http.get("/v1/summary").json()["frozen_projects"] == 2 and d.http.get("/v1/summary", params={"project": "team-b"}).json()["frozen_projects"] == 1
    wait_until(lambda: metric(d) == "shootd_projects_frozen 2", what="the metric")
    lift(d)
    assert d.http.get("/v1/projects/team-a").json()["freeze"] == every
    lift(d, "all")
    assert d.http.get("/v1/freeze").json()["items"] == [] and d.http.get("/v1/summary").json()["frozen_projects"] == 0
    told = [(e["type"], e["data"]["scope"]) for e in d.events(type="freeze.*")]
    assert told == [("freeze.started", "team-a"), ("freeze.started", "all"), ("freeze.ended", "team-a"), ("freeze.ended", "all")]
    assert {a["action"] for a in d.http.get("/v1/audit", params={"action": "putFreeze,deleteFreeze"}).json()["items"]} == {"putFreeze", "deleteFreeze"}


def test_it_lasts_over_a_restart_and_ends_by_itself(d):
    freeze(d, "all", until=later(12))
    freeze(d, "team-b")
    d.kill()
    d.start()
    assert d.http.delete(d.clusters_path("dev")).status_code == 423
    wait_until(lambda: d.http.delete(d.clusters_path("dev")).status_code == 202, timeout=40, what="the end of the freeze")
    wait_until(lambda: [e["data"]["scope"] for e in d.events(type="freeze.ended")] == ["all"], timeout=40, what="the event")
    assert [f["scope"] for f in d.http.get("/v1/freeze").json()["items"]] == ["team-b"]


def test_a_project_may_have_a_member_of_its_own(d):
    """{"scope": "project", "project": ...} is the same freeze as the name alone."""
    made = d.http.put("/v1/freeze", json={"scope": "project", "project": "team-a", "reason": "x"})
    assert made.status_code == 200 and (made.json()["scope"], made.json()["project"]) == ("team-a", "team-a"), made.text
    assert freeze(d, "all")["project"] is None
    assert [f["project"] for f in d.http.get("/v1/freeze").json()["items"]] == [None, "team-a"]
    assert d.http.delete("/v1/freeze", params={"scope": "project", "project": "team-a"}).status_code == 204
    lift(d, "all")


def test_who_may(d):
    with bearer(d, "operator", ["*"]) as operator, bearer(d, "admin", ["team-b"]) as limited, bearer(d, "viewer", ["team-b"]) as viewer:
        assert operator.put("/v1/freeze", json={"scope": "team-a", "reason": "x"}).status_code == 403
        assert operator.delete("/v1/freeze", params={"scope": "team-a"}).status_code == 403
        for scope in ("all", "team-a", "none", "*"):
            refused = limited.put("/v1/freeze", json={"scope": scope, "reason": "x"})
            assert refused.status_code == 422 and refused.json()["errors"][0]["pointer"] == "#/scope", scope
        freeze(d, "team-a")
        every = freeze(d, "all")
        mine = freeze(d, "team-b", client=limited)
        assert viewer.get("/v1/freeze").json()["items"] == [every, mine]
        for scope in ("all", "team-a"):
            assert limited.delete("/v1/freeze", params={"scope": scope}).status_code == 404
        assert limited.delete("/v1/freeze", params={"scope": "team-b"}).status_code == 204


@pytest.mark.parametrize("body, pointer", [
    ({"scope": "team-a"}, "#/reason"), ({"reason": "x"}, "#/scope"), ({"scope": "team-a", "reason": ""}, "#/reason"),
    ({"scope": "team-a", "reason": "x" * 501}, "#/reason"), ({"scope": "team-a", "reason": "x", "until": "2020-01-01T00:00:00Z"}, "#/until"),
    ({"scope": "team-a", "reason": "x", "until": "soon"}, "#/until"),
    ({"scope": "team-a", "reason": "x", "until": "2170-02-30T00:00:00Z"}, "#/until"), ({"scope": "team-a", "reason": "x", "until": 5}, "#/until"),
    ({"scope": 5, "reason": "x"}, "#/scope"), ({"scope": "project", "reason": "x"}, "#/scope"),
    ({"scope": "project", "project": "none", "reason": "x"}, "#/project"), ({"scope": "project", "project": "all", "reason": "x"}, "#/project"),
    ({"scope": "all", "project": "team-a", "reason": "x"}, "#/project"), ({"scope": "project", "project": 5, "reason": "x"}, "#/project"), ({"scope": "team-a", "reason": "x", "why": 1}, "#/why"),
])
def test_faults(d, body, pointer):
    answer = d.http.put("/v1/freeze", json=body)
    assert answer.status_code == 422 and [e["pointer"] for e in answer.json()["errors"]] == [pointer], answer.text
    assert d.http.get("/v1/freeze").json()["items"] == []


def test_lifting_what_is_not_frozen(d):
    freeze(d)
    assert d.http.delete("/v1/freeze").status_code == 404, "that of all"
    lift(d)
    assert d.http.delete("/v1/freeze", params={"scope": "team-a"}).status_code == 404


def test_no_project_is_named_all(make_sim, make_shootd):
    d = make_shootd(make_sim().url, projects=[("all", "Sto2", PROJECT_ID)])
    run = subprocess.run([harness.BUILD / "shootd", "--config", d.config, "--check-config"], capture_output=True, text=True, timeout=10, check=False)
    assert run.returncode == 78 and "'all' means all projects" in run.stderr
