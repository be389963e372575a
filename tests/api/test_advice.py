"""The advice of the API after a failure works."""

import pytest

from harness import wait_until


@pytest.fixture
def refused(sim, shootd):
    """A cluster whose create Cleura refused: shootd has a record of it, Cleura has nothing."""
    sim.fault("create_shoot", "status", status=422, body='{"error":{"code":422,"message":"quota of floating IPs exceeded"}}')
    operation = shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    assert operation["status"] == "failed", operation
    shootd.wait_phase("dev", "failed")
    return shootd


def issues(d):
    return d.http.get(d.clusters_path("dev") + "/issues").json()["items"]


def test_issues_of_all_clusters(refused):
    d = refused
    d.wait_operation(d.create("other")["operation"]["id"])
    of_one = issues(d)
    assert [i["code"] for i in of_one] == ["create_refused"], "one fault is one issue"
    rows = [{"project": "team-a", "cluster": "dev", **i} for i in of_one]
    assert d.http.get("/v1/issues").json() == {"items": rows, "next_cursor": None}
    found, cursor = [], None
    for _ in rows:
        page = d.http.get("/v1/issues", params={"limit": 1, **({"cursor": cursor} if cursor else {})}).json()
        found, cursor = found + page["items"], page["next_cursor"]
    assert found == rows and cursor is None
    for name in ("severity", "source"):
        for value in {i[name] for i in of_one}:
            assert d.http.get("/v1/issues", params={name: value}).json()["items"] == [i for i in rows if i[name] == value]


def test_a_refused_create_is_not_retried_but_made_anew(refused):
    d = refused
    told = {i["code"]: i["action"] for i in issues(d)}
    assert "create_refused" in told and "cluster_failed" not in told
    assert not [a for a in told.values() if "actions/" in a], told
    answer = d.http.post(d.clusters_path("dev") + "/actions/retry")
    assert answer.status_code == 409 and "create it again with PUT or POST" in answer.json()["detail"]
    assert "Retry-After" not in answer.headers, "waiting does not help"


@pytest.mark.parametrize("way", ["PUT", "POST", "DELETE"])
def test_each_way_out_works(refused, way):
    d = refused
    if way == "DELETE":
        assert d.http.delete(d.clusters_path("dev")).status_code in (202, 204)
        wait_until(lambda: d.cluster("dev").status_code == 404, what="the record to go")
        return
    again = d.http.put(d.clusters_path("dev"), json={}) if way == "PUT" else d.http.post(d.clusters_path(), json={"name": "dev"})
    assert again.status_code == 202, again.text
    assert d.wait_operation(again.json()["operation"]["id"])["status"] == "succeeded"
    assert "create_refused" not in {i["code"] for i in issues(d)}


def fault_of(answer, pointer):
    assert answer.status_code == 422, answer.text
    return next(e for e in answer.json()["errors"] if e["pointer"] == pointer)


def test_a_version_whose_patches_are_all_unsupported_is_named_exactly(sim, shootd):
    shootd.wait_upstream()
    fault = fault_of(shootd.http.put(shootd.clusters_path("dev"), json={"spec": {"kubernetes_version": "1.35"}}), "#/spec/kubernetes_version")
    assert "1.35.0" in fault["valid"] and "'1.35.0'" in fault["detail"] and "newest supported patch" in fault["detail"], fault
    exact = shootd.http.put(shootd.clusters_path("dev"), params={"dry_run": "true"}, json={"spec": {"kubernetes_version": "1.35.0"}})
    assert exact.status_code == 200, "what is advised works"


@pytest.mark.parametrize("body, code, words", [({"role": "boss"}, "unknown_value", "must be viewer, kubeconfig, operator or admin"),
                                               ({"role": 7}, "unknown_value", "must be viewer, kubeconfig, operator or admin"),
                                               ({}, "missing_member", "is required: viewer, kubeconfig, operator or admin")])
def test_a_role_that_is_none_is_told_from_one_that_is_missing(shootd, body, code, words):
    fault = fault_of(shootd.http.post("/v1/tokens", json={"name": "ci", "projects": ["*"], **body}), "#/role")
    assert (fault["code"], fault["detail"]) == (code, words) and fault["valid"] == ["viewer", "kubeconfig", "operator", "admin"]
