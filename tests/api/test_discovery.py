"""Clusters that other users make, and clusters that other users delete."""

from harness import after_polls, wait_until


def test_a_vanished_cluster_ends_as_deleted(sim, shootd):
    shootd.create("dev")
    shootd.wait_phase("dev", "ready")
    sim.http.delete("/_sim/shoots/dev")
    shootd.wait_gone("dev", timeout=30)
    last = shootd.events(cluster="dev")[-1]
    assert last["type"] == "cluster.deleted" and last["data"]["message"] == "Vanished at Cleura"
    assert sim.counters()["deletes"] == {}


def test_one_wrong_404_destroys_nothing(sim, shootd):
    with sim.lasting("create"):
        shootd.create("dev")
        shootd.wait_phase("dev", "creating")
        sim.fault("list_shoots", "status", status=200, body="[]", count=1)
        sim.fault("get_shoot", "status", status=404, count=1)
    ready = shootd.wait_phase("dev", "ready")
    assert ready["managed"] is True
    assert "cluster.deleted" not in [e["type"] for e in shootd.events(cluster="dev")]


def test_an_unmanaged_cluster_is_not_deleted_before_it_is_adopted(sim, shootd):
    sim.post("shoots", count=1, prefix="found", state="ready")
    shootd.wait_phase("found-0000", "ready")
    refused = shootd.http.delete(shootd.clusters_path("found-0000"))
    assert refused.status_code == 409 and refused.json()["code"] == "not_managed"
    assert shootd.http.put(shootd.clusters_path("found-0000"), json={}).status_code == 200
    assert shootd.http.delete(shootd.clusters_path("found-0000")).status_code == 202
    shootd.wait_gone("found-0000")
    assert sim.counters()["deletes"] == {"found-0000": 1}


def test_a_taken_name_is_told_at_once_and_ours_is_found(sim, make_shootd):
    """Another user made it after the last list; the name check causes a read before the answer."""
    d = make_shootd(sim.url, polling="{active: 200ms, idle: 1h, discovery: 1h}").start()
    d.create("warm")
    d.wait_phase("warm", "ready")
    after_polls(sim, d, "warm")
    sim.post("shoots", count=2, prefix="new", state="ready")
    refused = d.http.post(d.clusters_path(), json={"name": "new-0000"})
    assert refused.status_code == 409 and refused.json()["code"] == "cluster_exists"
    adopted = d.http.put(d.clusters_path("new-0001"), json={})
    assert adopted.status_code == 200 and adopted.json()["managed"] is True


def test_a_cluster_made_anew_by_others_is_not_ours(sim, shootd):
    shootd.create("dev")
    first = shootd.wait_phase("dev", "ready")
    shootd.http.get(shootd.clusters_path("dev") + "/kubeconfig")
    sim.post("clock", advance_seconds=7200)  # the simulator ended the run of a ready shoot an hour ago
    sim.http.put("/_sim/state", json={"bootstrapped": [], "shoots": [{"name": "dev", "state": "ready", "spec": {}}]})
    wait_until(lambda: (c := shootd.cluster("dev")).status_code == 200 and c.json()["id"] != first["id"],
               what="the other one")
    other = shootd.cluster("dev").json()
    assert other["managed"] is False and other["spec"] is None
    assert shootd.http.get(shootd.clusters_path("dev") + "/kubeconfig").json()["cached"] is False
    assert [e["type"] for e in shootd.events(cluster="dev")][-2:] == ["cluster.deleted", "cluster.discovered"]
    assert shootd.http.delete(shootd.clusters_path("dev")).json()["code"] == "not_managed"


def test_delete_accepted_while_a_create_is_refused_touches_no_stranger(sim, make_shootd):
    """The delete was planned while the create was in flight; then the create learns that the name is taken."""
    d = make_shootd(sim.url, polling="{active: 200ms, idle: 1h, discovery: 1h}").start()
    d.create("warm")
    d.wait_phase("warm", "ready")
    after_polls(sim, d, "warm")
    sim.post("shoots", count=1, prefix="theirs", state="ready")
    sim.fault("create_shoot", "delay", delay_ms=600000, count=0)
    sim.fault("name_taken", "status", status=500)
    created = d.create("theirs-0000")["operation"]["id"]
    deleted = d.http.delete(d.clusters_path("theirs-0000"))
    assert deleted.status_code == 202
    sim.clear_faults()
    assert d.wait_operation(created)["status"] in ("failed", "cancelled")
    assert d.wait_operation(deleted.json()["operation"]["id"])["status"] == "succeeded"
    assert sim.counters()["deletes"] == {}, "a stranger's cluster must never be deleted"


def test_a_refusal_after_a_lost_answer_is_reported(sim, shootd):
    sim.fault("create_shoot", "status", status=502, count=1)
    sim.fault("create_shoot", "status", status=400, count=1,
              body='{"error":{"code":400,"message":"machine type is sold out"}}')
    op = shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    assert op["status"] == "failed" and "sold out" in op["error"]["detail"]
    assert sim.counters()["by_operation"]["create_shoot"]["requests"] == 2
