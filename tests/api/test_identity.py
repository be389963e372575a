"""A call that changes or destroys goes to the same shoot at the same place, or is not sent."""

import re
import sqlite3

import pytest

from harness import PROJECT_ID, after_polls, wait_until

ELSEWHERE = "ffeeddccbbaa99887766554433221100"


def test_a_delete_spares_what_replaced_the_shoot_between_two_polls(sim, make_shootd):
    d = make_shootd(sim.url, polling="{active: 200ms, idle: 1h, discovery: 1h}").start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    after_polls(sim, d, "dev")
    sim.post("clock", advance_seconds=7200)
    sim.http.put("/_sim/state", json={"bootstrapped": [], "shoots": [{"name": "dev", "state": "ready", "spec": {}}]})
    deleted = d.http.delete(d.clusters_path("dev"))
    assert deleted.status_code == 202
    assert d.wait_operation(deleted.json()["operation"]["id"])["status"] == "succeeded"
    other = wait_until(lambda: (c := d.cluster("dev")).status_code == 200 and not c.json()["managed"] and c.json(), what="the other one")
    assert other["spec"] is None
    assert sim.counters()["deletes"] == {}


def test_an_empty_list_is_no_end(sim, make_shootd):
    d = make_shootd(sim.url, polling="{active: 200ms, idle: 300ms, discovery: 300ms, absent_for: 1h}").start()
    d.create("dev", labels={"team": "web"}, deletion_protection=True)
    before = d.wait_phase("dev", "ready")
    sim.fault("list_shoots", "status", status=200, body="[]", count=0)
    sim.fault("get_shoot", "status", status=404, count=0)
    unknown = d.wait_phase("dev", "unknown")
    since = unknown["status"]["absent_since"]
    assert since and "has not shown the cluster since" in unknown["status"]["message"]
    sim.clear_faults()
    after = d.wait_phase("dev", "ready")
    assert [after[k] for k in ("id", "managed", "labels", "deletion_protection", "spec")] == [
        before[k] for k in ("id", "managed", "labels", "deletion_protection", "spec")]
    assert after["status"]["absent_since"] is None
    events = d.events(cluster="dev")
    types = [e["type"] for e in events]
    assert types[-2:] == ["cluster.unreachable", "cluster.recovered"] and "cluster.deleted" not in types
    told = re.search(r"has not shown the cluster since (20\S+Z);", events[-2]["data"]["message"])
    assert told and since.startswith(told[1].rstrip("Z")), "the event tells since when, as the cluster does"


def test_a_state_that_nobody_knows_is_reported(sim, shootd):
    """Cleura shows the cluster with a state of a future version: shootd does not guess its meaning, and reports it."""
    shootd.create("dev")
    shootd.wait_phase("dev", "ready")
    for operation in ("list_shoots", "get_shoot"):
        sim.fault(operation, "unknown_enum", count=0)
    unknown = shootd.wait_phase("dev", "unknown")
    assert unknown["status"]["absent_since"] is None
    events = shootd.events(cluster="dev")
    assert events[-1]["type"] == "cluster.unreachable" and events[-1]["data"]["phase"] == "unknown", events[-1]
    sim.clear_faults()
    shootd.wait_phase("dev", "ready")
    assert [e["type"] for e in shootd.events(cluster="dev")][-2:] == ["cluster.unreachable", "cluster.recovered"]


def test_what_was_gone_comes_back_whole_with_the_same_uid(sim, shootd):
    shootd.create("dev", labels={"team": "web"}, deletion_protection=True)
    before = shootd.wait_phase("dev", "ready")
    sim.fault("list_shoots", "status", status=200, body="[]", count=0)
    sim.fault("get_shoot", "status", status=404, count=0)
    shootd.wait_gone("dev")
    shootd.kill()
    shootd.start()
    assert shootd.cluster("dev").status_code == 404
    sim.clear_faults()
    after = shootd.wait_phase("dev", "ready")
    assert [after[k] for k in ("id", "managed", "labels", "deletion_protection", "spec")] == [
        before[k] for k in ("id", "managed", "labels", "deletion_protection", "spec")]
    assert [e["type"] for e in shootd.events(cluster="dev")][-2:] == ["cluster.deleted", "cluster.discovered"]


def test_another_project_id_sets_clusters_aside_until_an_admin_speaks(sim, make_shootd):
    """A delete is open when a restart changes the project's id, and the new project has a cluster of this name."""
    d = make_shootd(sim.url).start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    sim.fault("get_shoot", "status", status=503, count=0)
    open_delete = d.http.delete(d.clusters_path("dev")).json()["operation"]["id"]
    d.stop()
    sim.clear_faults()
    sim.forget()
    d.config.write_text(d.config.read_text().replace(PROJECT_ID, ELSEWHERE))
    d.start()
    project = d.http.get("/v1/projects/team-a").json()
    assert project["project_id"] == ELSEWHERE
    assert project["location_change"]["from"]["project_id"] == PROJECT_ID
    assert project["location_change"]["clusters"] == 1 and project["location_change"]["open_operations"] == 1
    kept = d.cluster("dev").json()
    assert kept["status"]["stale"] is True and "Set aside" in kept["status"]["message"]
    for answer in (d.http.delete(d.clusters_path("dev")), d.http.put(d.clusters_path("dev"), json={}),
                   d.http.post(d.clusters_path(), json={"name": "new"}), d.http.get(d.clusters_path("dev") + "/kubeconfig"),
                   d.http.get(d.clusters_path("dev") + "/nodes"), d.http.post(f"/v1/operations/{open_delete}/cancel")):
        assert answer.status_code == 409 and answer.json()["code"] == "project_set_aside", answer.text
    assert d.http.get(d.clusters_path("dev"), headers={"Cache-Control": "no-cache"}).json()["status"]["stale"] is True
    assert not [r for r in sim.requests() if ELSEWHERE in r["path"] or PROJECT_ID in r["path"]]
    assert re.search("project.*set aside", d.log(), re.S)

    faulty = d.http.post("/v1/projects/team-a/confirm-location", json={"clusters": "perhaps"})
    assert faulty.status_code == 422 and faulty.json()["errors"][0]["valid"] == ["keep", "forget"]
    done = d.http.post("/v1/projects/team-a/confirm-location", json={"clusters": "forget"})
    assert done.status_code == 200 and done.json()["location_change"] is None
    assert d.cluster("dev").status_code == 404
    assert d.operation(open_delete)["status"] == "failed"
    assert sim.counters()["deletes"] == {}
    again = d.http.post("/v1/projects/team-a/confirm-location", json={"clusters": "forget"})
    assert again.status_code == 409 and again.json()["code"] == "action_not_possible"


@pytest.mark.parametrize("answer", ["keep", "forget"])
def test_a_lost_project_row_is_no_proof_that_it_is_the_same_place(sim, make_shootd, answer):
    d = make_shootd(sim.url).start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    d.stop()
    with sqlite3.connect(d.state / "shootd.db") as db:
        db.execute("UPDATE projects SET doc = '{'")
    sim.forget()
    for _ in range(2):
        d.start()
        assert d.http.get("/v1/projects/team-a").json()["location_change"] == {"from": None, "clusters": 1, "open_operations": 0}
        refused = d.http.delete(d.clusters_path("dev"))
        assert refused.status_code == 409 and refused.json()["code"] == "project_set_aside", refused.text
        d.stop()
    assert not [r for r in sim.requests() if PROJECT_ID in r["path"]]
    d.start()
    assert d.http.post("/v1/projects/team-a/confirm-location", json={"clusters": answer}).json()["location_change"] is None
    wait_until(lambda: d.cluster("dev").status_code == 200 and not d.cluster("dev").json()["status"]["stale"], what="a look")
    assert d.cluster("dev").json()["managed"] is True, "also when it was forgotten: its uid brings the record back"


def test_the_same_place_again_goes_on(sim, make_shootd):
    d = make_shootd(sim.url).start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    sim.fault("get_shoot", "status", status=503, count=0)
    open_delete = d.http.delete(d.clusters_path("dev")).json()["operation"]["id"]
    d.stop()
    sim.clear_faults()
    d.config.write_text(d.config.read_text().replace(PROJECT_ID, ELSEWHERE))
    d.start()
    d.stop()
    d.config.write_text(d.config.read_text().replace(ELSEWHERE, PROJECT_ID))
    d.start()
    assert d.wait_operation(open_delete)["status"] == "succeeded"
    assert sim.counters()["deletes"] == {"dev": 1}


@pytest.mark.parametrize("knows_uid", [True, False])
def test_what_replaced_a_new_cluster_before_its_first_read_is_not_ours(sim, make_shootd, generation, knows_uid):
    """Cleura answers the create. Before the first read the shoot is gone, and somebody else has made one with its name."""
    d = make_shootd(sim.url, api=generation).start()
    d.wait_upstream()
    for operation in ("list_shoots", "get_shoot"):
        sim.fault(operation, "status", status=502, count=0)
    if not knows_uid:
        body = '{"shoot": {"name": "dev"}}' if generation == "v1" else '{"name": "dev"}'
        sim.fault("create_shoot", "status", status=200, body=body, effect=True)
    op = d.create("dev")["operation"]["id"]
    wait_until(lambda: [s for s in d.operation(op)["steps"] if s["type"] == "create_shoot"][0]["status"] == "done", what="the create")
    state = sim.http.get("/_sim/state").json()
    # with the uid of the answer, even the same spec does not make the stranger's cluster ours
    spec = {s["name"]: s["spec"] for s in state["shoots"]}["dev"] if knows_uid else {"kubernetes_version": "1.32.11"}
    sim.http.delete("/_sim/shoots/dev")
    assert sim.http.put("/_sim/state", json={"bootstrapped": state["bootstrapped"], "shoots": [
        {"name": "dev", "state": "ready", "uid": "12345678-1234-4234-8234-123456789012", "spec": spec}]}).status_code < 300
    deleted = d.http.delete(d.clusters_path("dev"))
    assert deleted.status_code == 202
    sim.clear_faults()
    d.wait_operation(deleted.json()["operation"]["id"])
    other = wait_until(lambda: (c := d.cluster("dev")).status_code == 200 and not c.json()["managed"] and c.json(), what="the other one")
    assert other["spec"] is None and other["observed"]["uid"].startswith("12345678")
    assert sim.counters()["deletes"] == {}


def test_a_delete_that_came_before_the_answer_to_its_create_knows_the_uid(sim, make_shootd):
    """v1 names the uid only in that answer. Before the first read somebody else has made the same cluster anew."""
    d = make_shootd(sim.url, api="v1").start()
    d.wait_upstream()
    for operation in ("list_shoots", "get_shoot"):
        sim.fault(operation, "status", status=502, count=0)
    sim.fault("create_shoot", "delay", delay_ms=3000)
    created = d.create("dev")["operation"]["id"]
    wait_until(lambda: d.operation(created)["steps"][-2]["status"] == "sending", what="the create to be on its way")
    deleted = d.http.delete(d.clusters_path("dev"))
    assert deleted.status_code == 202
    assert d.operation(created)["status"] == "running", "its answer is still missing"
    wait_until(lambda: d.operation(created)["status"] == "cancelled", what="the answer, after which the delete begins")
    state = sim.http.get("/_sim/state").json()
    spec = {s["name"]: s["spec"] for s in state["shoots"]}["dev"]
    sim.http.delete("/_sim/shoots/dev")
    assert sim.http.put("/_sim/state", json={"bootstrapped": state["bootstrapped"], "shoots": [
        {"name": "dev", "state": "ready", "uid": "12345678-1234-4234-8234-123456789012", "spec": spec}]}).status_code < 300
    sim.clear_faults()
    d.wait_operation(deleted.json()["operation"]["id"])
    wait_until(lambda: (c := d.cluster("dev")).status_code == 200 and not c.json()["managed"], what="the other one")
    assert sim.counters()["deletes"] == {}
