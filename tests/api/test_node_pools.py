"""Node pools as a sub-resource of the same spec."""

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
