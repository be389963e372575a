"""What the API advises after something failed works."""

import pytest

from harness import wait_until


@pytest.fixture
def refused(sim, shootd):
    """A create that Cleura refuses: there is a record of it, and nothing at Cleura."""
    sim.fault("create_shoot", "status", status=422, body='{"error":{"code":422,"message":"quota of floating IPs exceeded"}}')
    operation = shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    assert operation["status"] == "failed", operation
    shootd.wait_phase("dev", "failed")
    return shootd


def issues(d):
    return d.http.get(d.clusters_path("dev") + "/issues").json()["items"]


def test_a_refused_create_is_not_retried_but_made_anew(refused):
    d = refused
    told = {i["code"]: i["action"] for i in issues(d)}
    assert "create_refused" in told and "cluster_failed" not in told
    assert not [a for a in told.values() if "actions/" in a], told
    answer = d.http.post(d.clusters_path("dev") + "/actions/retry")
    assert answer.status_code == 409 and "create it anew with PUT or POST" in answer.json()["detail"]
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
