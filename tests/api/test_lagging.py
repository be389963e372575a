"""Lists that show an old state, at the worst moments: shootd loses no cluster because of them."""

import json
import time

from harness import wait_until

POOLS = {"spec": {"node_pools": [{"name": "a"}]}}


def ready(d):
    assert d.http.post(d.clusters_path(), json={"name": "dev", **POOLS}).status_code == 202
    d.wait_phase("dev", "ready")


def shown(sim):
    return [s["shown"] for s in sim.get("state")["shoots"]]


def answers(sim, operation, body, times, status=200):
    sim.post("replay", answers=[{"operation": operation, "status": status, "body": json.dumps(body)}] * times)


def asked(sim, operation):
    return sim.counters()["by_operation"][operation]["requests"]


def lists_that_show(sim, shoots, times=3):
    """Waits until all old lists were read, and one list with the present state."""
    answers(sim, "list_shoots", shoots, times)
    last = asked(sim, "list_shoots") + times + 1
    wait_until(lambda: asked(sim, "list_shoots") >= last, what="the lists")


def deleted(sim, d):
    """Makes and deletes a cluster; returns its row in the lists from before."""
    ready(d)
    old = shown(sim)
    assert d.http.delete(d.clusters_path("dev")).status_code == 202
    d.wait_gone("dev")
    return old


def types_since(d, begin):
    return [e["type"] for e in d.events()][begin:]


def test_a_cluster_made_again_is_not_taken_for_the_one_before(sim, make_shootd):
    d = make_shootd(sim.url).start()
    old = deleted(sim, d)
    sim.post("settings", stale_seconds=7200)  # the new shoot shows no operation yet
    creates = asked(sim, "create_shoot")
    assert d.http.post(d.clusters_path(), json={"name": "dev", **POOLS}).status_code == 202
    wait_until(lambda: asked(sim, "create_shoot") > creates and shown(sim), what="the create")
    begin = len(d.events())
    lists_that_show(sim, old)
    assert not {"cluster.deleted", "cluster.discovered", "operation.failed"} & set(types_since(d, begin))
    there = d.cluster("dev").json()
    assert there["managed"] and there["operation"]["status"] == "running"
    sim.post("settings", stale_seconds=0)


def test_a_refused_create_keeps_its_record(sim, make_shootd):
    d = make_shootd(sim.url).start()
    old = deleted(sim, d)
    answers(sim, "create_shoot", {"error": {"code": 400, "message": "quota"}}, 1, status=400)
    assert d.http.post(d.clusters_path(), json={"name": "dev", **POOLS}).status_code == 202
    d.wait_phase("dev", "failed")
    begin = len(d.events())
    lists_that_show(sim, old)
    assert types_since(d, begin) == []
    there = d.cluster("dev").json()
    assert there["managed"] and there["spec"]["node_pools"][0]["name"] == "a" and there["status"]["phase"] == "failed"


def test_what_was_not_seen_to_be_deleted_comes_back_at_once(sim, make_shootd):
    """A project cannot be read for a moment: lists are empty, and each shoot is not found."""
    d = make_shootd(sim.url).start()
    ready(d)
    sim.fault("list_shoots", "status", status=200, body="[]", count=0)
    sim.fault("get_shoot", "status", status=404, count=0)
    d.wait_gone("dev")
    sim.clear_faults()
    d.wait_phase("dev", "ready")
    assert d.http.put(d.clusters_path("dev"), json=POOLS).status_code in (200, 202), "it can be adopted"
    wait_until(lambda: d.cluster("dev").json()["managed"], what="it to be ours again")


def test_what_is_passed_over_is_not_stale(sim, make_shootd):
    """Cleura answers, although its lists show an old state."""
    d = make_shootd(sim.url).start()
    ready(d)
    old = shown(sim)
    assert d.http.put(d.clusters_path("dev"), json={"spec": {"node_pools": [{"name": "a", "maximum": 7}]}}).status_code == 202
    wait_until(lambda: (c := d.cluster("dev").json())["operation"]["status"] == "succeeded" and not c["status"]["settling"], what="the change")
    seen = []
    answers(sim, "list_shoots", old, 300)
    end = time.monotonic() + 9  # the bound is twice the longest interval and 5 s

    def looked():
        seen.append(d.cluster("dev").json())
        return time.monotonic() > end
    wait_until(looked, interval=0.2, what="the time to be over")
    sim.http.delete("/_sim/replay")
    assert {c["observed"]["node_pools"][0]["maximum"] for c in seen} == {7}
    assert {c["status"]["stale"] for c in seen} == {False}
