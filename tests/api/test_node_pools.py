"""Node pools as a sub-resource of the same spec."""

import pytest

from harness import wait_until


def test_pools_one_by_one(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    pools = shootd.clusters_path("dev") + "/node-pools"
    http = shootd.http

    def done(answer):
        assert answer.status_code == 202, answer.text
        assert shootd.wait_operation(answer.json()["operation"]["id"])["status"] == "succeeded"
        return answer.json()

    assert http.get(pools).json()["items"][0]["spec"] is None, "nothing was asked for it"
    added = done(http.post(pools, json={"name": "gpu", "machine_type": "b.4c8gb", "maximum": 2}))
    assert added["spec"]["node_pools"] == [{"name": "default"}, {"machine_type": "b.4c8gb", "maximum": 2, "name": "gpu"}]
    assert [s["type"] for s in added["operation"]["steps"]] == ["create_pool"]
    assert http.post(pools, json={"name": "gpu"}).json()["code"] == "node_pool_exists"

    done(http.patch(pools + "/default", json={"maximum": 5, "labels": {"a": "b"}}))
    done(http.patch(pools + "/default", json={"labels": None, "minimum": 2}))
    default = http.get(pools + "/default").json()
    assert default["spec"] == {"name": "default", "maximum": 5, "minimum": 2}
    assert default["observed"]["maximum"] == 5 and default["observed"]["labels"] == {"a": "b"}, "not managed any more"
    assert http.put(pools + "/default", json={"maximum": 5}).status_code == 200, "it is so already"

    wrong = http.patch(pools + "/gpu", json={"maximum": -1, "colour": "red"})
    assert wrong.status_code == 422
    assert {e["pointer"] for e in wrong.json()["errors"]} == {"#/maximum", "#/colour"}
    assert http.put(pools + "/gpu", json={"name": "other"}).status_code == 422
    for method in ("GET", "PATCH", "DELETE"):
        assert http.request(method, pools + "/none", **({"json": {}} if method == "PATCH" else {})).json()["code"] == \
            "node_pool_not_found"

    def unchanged():
        tag = http.get(pools).headers["ETag"]
        return tag if http.get(pools, headers={"If-None-Match": tag}).status_code == 304 else None
    tag = wait_until(unchanged, what="two reads with no look at Cleura between them")
    assert http.delete(pools + "/gpu", headers={"If-Match": '"other"'}).status_code == 412
    done(http.delete(pools + "/gpu", headers={"If-Match": tag}))
    assert http.patch(pools + "/default", json={"maximum": 9}, headers={"If-Match": tag}).status_code == 412
    last = http.delete(pools + "/default")
    assert last.status_code == 422 and last.json()["errors"][0]["code"] == "too_few"
    assert [p["name"] for p in http.get(pools).json()["items"]] == ["default"]
    assert not [r for r in sim.requests() if r["status"] == 409]


def test_a_pool_without_a_name_gets_the_one_it_has(sim, make_shootd, generation):
    d = make_shootd(sim.url, api=generation).start()
    d.wait_operation(d.create("dev", spec={"node_pools": [{"maximum": 2}]})["operation"]["id"])
    name = d.cluster("dev").json()["observed"]["node_pools"][0]["name"]
    pool = d.clusters_path("dev") + "/node-pools/" + name
    assert d.http.get(pool).json()["spec"] == {"maximum": 2}
    changed = d.http.patch(pool, json={"maximum": 3})
    assert changed.status_code == 202 and changed.json()["spec"]["node_pools"] == [{"maximum": 3, "name": name}]
    assert d.wait_operation(changed.json()["operation"]["id"])["status"] == "succeeded"


@pytest.fixture
def unread(sim, make_shootd, generation):
    """A daemon that has created `dev` at Cleura and cannot read it yet."""
    d = make_shootd(sim.url, api=generation).start()
    d.wait_upstream()
    for operation in ("list_shoots", "get_shoot"):
        sim.fault(operation, "status", status=502, count=0)
    d.create("dev")
    wait_until(lambda: sim.counters()["creates"] == {"dev": 1}, what="the create")
    assert d.cluster("dev").json()["observed"] is None or generation == "v2", "v2 answers a create with the cluster"
    return d


@pytest.fixture
def unsent(sim, make_shootd, generation):
    """A daemon that has accepted the create of `dev`, and cannot send it yet."""
    d = make_shootd(sim.url, api=generation).start()
    d.wait_upstream()
    for operation in ("bootstrap", "create_shoot", "list_shoots", "get_shoot"):
        sim.fault(operation, "forbidden_ip", count=0)
    d.create("dev")
    return d


@pytest.mark.parametrize("moment", ["unsent", "unread"])
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_pool_is_added_before_the_first_read_and_none_is_removed(sim, generation, request, moment, method):
    d = request.getfixturevalue(moment)
    own = "pool1" if generation == "v1" else "default"
    pools = d.clusters_path("dev") + "/node-pools"
    assert [p["name"] for p in d.http.get(pools).json()["items"]] == [own]
    assert d.http.get(pools + "/" + own).json()["spec"] is None
    assert d.http.get(pools + "/none").status_code == 404
    added = d.http.post(pools, json={"name": "p1"}) if method == "POST" else d.http.put(pools + "/p1", json={})
    assert added.status_code == 202, added.text
    assert [p["name"] for p in added.json()["spec"]["node_pools"]] == [own, "p1"]
    sim.clear_faults()
    assert d.wait_operation(added.json()["operation"]["id"])["status"] == "succeeded"
    assert {p["name"] for p in d.cluster("dev").json()["observed"]["node_pools"]} == {own, "p1"}
    assert not [r for r in sim.requests() if r["method"] == "DELETE"]


@pytest.mark.parametrize("moment", ["unsent", "unread"])
def test_the_own_pool_exists_before_the_first_read(sim, generation, request, moment):
    d = request.getfixturevalue(moment)
    own = "pool1" if generation == "v1" else "default"
    pools = d.clusters_path("dev") + "/node-pools"
    assert d.http.post(pools, json={"name": own}).json()["code"] == "node_pool_exists"
    last = d.http.delete(pools + "/" + own)
    assert last.status_code == 422 and last.json()["errors"][0]["code"] == "too_few"
    assert d.http.delete(pools + "/none").json()["code"] == "node_pool_not_found"
    changed = d.http.patch(pools + "/" + own, json={"maximum": 5})
    assert changed.status_code == 202, changed.text
    assert changed.json()["spec"]["node_pools"] == [{"maximum": 5, "name": own}]
    sim.clear_faults()
    assert d.wait_operation(changed.json()["operation"]["id"])["status"] == "succeeded"
    assert [(p["name"], p["maximum"]) for p in d.cluster("dev").json()["observed"]["node_pools"]] == [(own, 5)]
