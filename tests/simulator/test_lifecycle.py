"""Shoots over simulated time, generation 2."""

import pytest

from conftest import PROJECT, create_body, v1_create_body, worker_body


def conditions(shoot):
    return {item["type"]: item["status"] for item in shoot["status"]["conditions"]}


def test_create_from_nothing_to_ready(sim):
    answer = sim.create()
    assert answer.status_code == 400 and "bootstrapped" in answer.text
    sim.bootstrap()
    sim.bootstrap()
    answer = sim.create()
    assert answer.status_code == 202
    assert answer.json()["last_operation"] is None and answer.json()["status"] is None
    assert sim.operation() is None
    sim.advance(6)
    assert sim.operation() == ("Create", "Processing", 0)
    seen, statuses = [], set()
    for _ in range(40):
        shoot = sim.get()
        seen.append(shoot["last_operation"]["progress"])
        statuses |= set(conditions(shoot).values())
        if shoot["last_operation"]["state"] == "Succeeded":
            break
        sim.advance(20)
    assert seen == sorted(seen) and seen[-1] == 100 and {11, 20, 29, 41, 78, 88} <= set(seen)
    assert {"Unknown", "Progressing", "False", "True"} <= statuses
    networks = shoot["shoot_provider"]["infrastructure_config"]["networks"]
    assert networks["id"] and networks["router"]["id"] and networks["workers"] == "10.250.0.0/16"
    assert set(conditions(shoot).values()) == {"Progressing"}
    sim.advance(31)
    assert set(conditions(sim.get()).values()) == {"True"}
    assert sim.get()["last_operation"]["type"] == "Create"


def test_old_success_stays_visible_after_a_write(sim):
    sim.ready()
    before = sim.get()["last_operation"]
    assert sim.call("PATCH", "", {"allowed_cidrs": ["192.0.2.0/24"]}).status_code == 202
    assert sim.get()["last_operation"] == before and sim.get()["allowed_cidrs"] == ["192.0.2.0/24"]
    sim.advance(5)
    assert sim.operation()[:2] == ("Reconcile", "Processing")
    sim.advance(20)
    assert sim.operation() == ("Reconcile", "Succeeded", 100)
    sim.settings(stale_seconds=0)
    sim.call("PATCH", "", {"allowed_cidrs": []})
    assert sim.operation()[:2] == ("Reconcile", "Processing")


def test_delete_ends_with_404(sim):
    sim.ready()
    assert sim.call("DELETE", "").status_code == 202
    assert sim.operation() == ("Create", "Succeeded", 100)
    sim.advance(6)
    assert sim.operation()[:2] == ("Delete", "Processing")
    assert sim.call("PATCH", "/hibernate").status_code == 409
    assert sim.call("DELETE", "").status_code == 202
    sim.advance(300)
    assert sim.operation() == ("Delete", "Succeeded", 100)
    sim.advance(6)
    assert sim.call("GET", "").status_code == 404 and sim.call("DELETE", "").status_code == 404
    assert sim.request("GET", sim.SHOOTS).json() == []


def test_delete_while_creating_and_before_anything_started(sim):
    sim.bootstrap()
    sim.create("early")
    sim.call("DELETE", "", name="early")
    sim.advance(6)
    assert sim.call("GET", "", name="early").status_code == 404
    sim.create("busy")
    sim.advance(100)
    assert sim.call("DELETE", "", name="busy").status_code == 202
    sim.advance(6)
    assert sim.operation("busy")[:2] == ("Delete", "Processing")


def test_the_hibernated_flag_may_be_late(sim):
    sim.ready()
    sim.control("POST", "/settings", {"hibernated_lag_seconds": 60})
    for action, seconds, flag in (("/hibernate", 110, True), ("/wakeup", 170, False)):
        sim.call("PATCH", action)
        sim.advance(seconds)
        late = sim.get()["status"]["is_hibernated"]
        assert sim.operation()[1] == "Succeeded" and late is not flag
        sim.advance(60)
        assert sim.get()["status"]["is_hibernated"] is flag


def test_hibernate_and_wake(sim):
    sim.ready()
    assert sim.call("PATCH", "/hibernate").status_code == 202
    sim.advance(50)
    assert not sim.get()["status"]["is_hibernated"]
    sim.advance(50)
    shoot = sim.get()
    assert shoot["status"]["is_hibernated"] and sim.operation() == ("Reconcile", "Succeeded", 100)
    assert {(item["status"], item["reason"]) for item in shoot["status"]["conditions"]} == {
        ("True", "ConditionNotChecked")}
    assert {item["reason"] for item in shoot["status"]["constraints"]} == {"ConstraintNotChecked"}
    assert sim.call("GET", "/monitoring/workers/wg1/nodes").json() == {"node_names": []}
    sim.call("PATCH", "/wakeup")
    sim.advance(100)
    assert sim.get()["status"]["is_hibernated"] and sim.operation()[1] == "Processing"
    sim.advance(60)
    assert not sim.get()["status"]["is_hibernated"] and sim.operation()[1] == "Succeeded"


def test_idle_actions_have_no_effect(sim):
    sim.ready()
    assert sim.call("PATCH", "/wakeup").status_code == 202 and sim.call("PATCH", "/retry").status_code == 202
    effects = sim.counters()["by_operation"]
    assert effects["wake"]["effects"] == 0 and effects["retry"]["effects"] == 0
    sim.settings(action_status=204)
    answer = sim.call("PATCH", "/reconcile")
    assert answer.status_code == 204 and answer.content == b""
    sim.advance(6)
    assert sim.operation()[:2] == ("Reconcile", "Processing")


def test_busy_shoot_refuses_changes(sim):
    sim.ready()
    sim.call("PUT", "/workers/wg1", {"minimum": 2})
    sim.advance(5)
    for method, path, body in (("PATCH", "", {"allowed_cidrs": []}), ("POST", "/workers", worker_body("wg2")),
                               ("PUT", "/workers/wg1", {"maximum": 9}), ("DELETE", "/workers/wg1", None)):
        assert sim.call(method, path, body).status_code == 409, (method, path)
    assert sim.call("PATCH", "/reconcile").status_code == 202
    sim.advance(16)
    assert sim.operation()[:2] == ("Reconcile", "Processing")
    sim.advance(30)
    assert sim.operation() == ("Reconcile", "Succeeded", 100)


def test_worker_groups(sim):
    sim.ready()
    labels = [{"key": "a", "value": "b"}]
    answer = sim.call("POST", "/workers", worker_body("wg2", labels=labels, taints=[
        {"key": "dedicated", "value": "db", "effect": "NoSchedule"}]))
    assert answer.status_code == 202 and len(answer.json()["shoot_provider"]["workers"]) == 2
    sim.advance(200)
    assert sim.call("POST", "/workers", worker_body("wg2")).status_code == 409
    sim.call("PUT", "/workers/wg2", {"minimum": 2, "taints": []})
    sim.advance(16)
    group = sim.get()["shoot_provider"]["workers"][1]
    assert sim.operation()[1] == "Succeeded"
    assert group["minimum"] == 2 and group["taints"] == [] and group["labels"] == labels
    old = sim.call("GET", "/monitoring/workers/wg2/nodes").json()["node_names"]
    sim.call("PUT", "/workers/wg2", {"machine": {"type": "b.4c8gb"}})
    sim.advance(60)
    assert sim.operation()[1] == "Processing"
    sim.advance(200)
    new = sim.call("GET", "/monitoring/workers/wg2/nodes").json()["node_names"]
    assert len(old) == len(new) == 2 and not set(old) & set(new)
    assert sim.call("DELETE", "/workers/wg2").status_code == 202
    sim.advance(100)
    assert sim.call("DELETE", "/workers/wg1").status_code == 400
    assert sim.call("PUT", "/workers/none", {}).status_code == 404
    unnamed = worker_body()
    del unnamed["name"]
    assert len(sim.call("POST", "/workers", unnamed).json()["shoot_provider"]["workers"][1]["name"]) == 6


def test_edit_versions_ha_and_maintenance(sim):
    sim.ready(hibernation_schedules=[{"start": "0 20 * * 1-5", "end": "0 8 * * 1-5"}])
    for version in ("1.32.11", "1.35.0", "9.9.9", "x"):
        answer = sim.call("PATCH", "", {"kubernetes": version})
        assert answer.status_code == 400 and answer.json()["error"]["errors"][0]["key"] == "kubernetes", version
    answer = sim.call("PATCH", "", {"kubernetes": "1.34.3", "enable_ha_control_plane": True,
                                    "hibernation_schedules": [],
                                    "maintenance": {"auto_update": {"kubernetes_version": False}}})
    shoot = answer.json()
    assert shoot["kubernetes"]["version"] == "1.34.3"
    assert shoot["control_plane"]["high_availability"]["failure_tolerance"]["type"] == "node"
    assert shoot["hibernation"] == {"schedules": []}
    assert shoot["maintenance"]["auto_update"] == {"kubernetes_version": False, "machine_image_version": True}
    sim.advance(500)
    assert sim.operation() == ("Reconcile", "Succeeded", 100)
    assert sim.call("PATCH", "", {"enable_ha_control_plane": True}).status_code == 409
    assert sim.call("PATCH", "/ha-control-plane/enable").status_code == 409
    cilium = {"networking": {"cilium_provider_config": {"hubble_enabled": True}}}
    assert sim.call("PATCH", "", cilium).status_code == 409


def test_ca_rotation(sim):
    sim.ready()

    def stage():
        return sim.call("GET", "/ca/rotation-stage").json()["stage"]

    assert stage() == "NotInitiated"
    assert sim.call("PATCH", "/ca/rotate", {"stage": "Complete"}).status_code == 400
    assert sim.call("PATCH", "/ca/rotate", {"stage": "prepare"}).status_code == 400
    for send, accepted, running, done in (("Prepare", "Prepare", "Preparing", "Prepared"),
                                          ("Complete", "Complete", "Completing", "Completed")):
        assert sim.call("PATCH", "/ca/rotate", {"stage": send}).status_code == 202
        assert stage() == accepted
        sim.advance(10)
        assert stage() == running
        sim.advance(480)
        assert stage() == done


@pytest.mark.parametrize("outcome,state", [("failed", "Failed"), ("error_heals", "Error"), ("hang", "Processing")])
def test_scripted_outcomes(sim, outcome, state):
    sim.control("POST", "/lifecycle", {"shoot": "example", "operation": "create", "outcome": outcome,
                                       "at_progress": 88, "codes": ["ERR_INFRA_QUOTA_EXCEEDED"],
                                       "description": "Quota exceeded for cores", "heal_after_seconds": 60})
    sim.bootstrap()
    sim.create()
    sim.create("other")
    sim.advance(690)
    assert sim.operation() == ("Create", state, 88)
    errors = sim.get()["status"]["last_errors"]
    if outcome == "hang":
        sim.advance(80000)
        assert sim.operation() == ("Create", state, 88)
        assert sim.call("DELETE", "").status_code == 202
        sim.advance(6)
        assert sim.operation()[:2] == ("Delete", "Processing")
        return
    assert errors[0]["codes"] == ["ERR_INFRA_QUOTA_EXCEEDED"]
    assert errors[0]["description"] == sim.get()["last_operation"]["description"] == "Quota exceeded for cores"
    if outcome == "failed":
        sim.advance(3600)
        assert sim.operation()[1] == "Failed"
        assert sim.call("PATCH", "/retry").status_code == 202
        sim.advance(10)
    else:
        sim.advance(60)
    assert sim.operation()[:2] == ("Create", "Processing") and sim.operation()[2] < 88
    assert sim.get()["status"]["last_errors"] == []
    sim.advance(720)
    assert sim.operation() == ("Create", "Succeeded", 100)
    assert sim.operation("other") == ("Create", "Succeeded", 100)


def test_names_are_unique_in_the_cloud(start):
    sim = start("--speed", "0", "--project", PROJECT, "--project", "f" * 32)
    sim.login()
    sim.settings(auto_bootstrap=True)
    sim.create("taken")
    assert sim.create("taken").status_code == 409
    elsewhere = f"{sim.G}/shoots/Sto2/{'f' * 32}"
    assert sim.request("POST", elsewhere, create_body("taken")).status_code == 409
    assert sim.request("GET", f"{elsewhere}/taken").status_code == 404
    assert sim.request("GET", f"{sim.G}/shoots/taken/is-name-taken").json() == {"is_taken": True}
    assert sim.request("GET", f"{sim.G}/shoots/free/is-name-taken").json() == {"is_taken": False}


@pytest.mark.parametrize("key,change", [
    ("name", {"name": "a" * 16}), ("name", {"name": "UPPER"}), ("name", {"name": "a_b"}), ("name", {"name": "a--b"}),
    ("kubernetes_version", {"kubernetes_version": "1.20.1"}), ("kubernetes_version", {"kubernetes_version": "1.31.14"}),
    ("allowed_cidrs[0]", {"allowed_cidrs": ["10.0.0.0"]}),
    ("hibernation_schedules[0].end", {"hibernation_schedules": [{"start": "0 1 * * *"}]}),
    ("maintenance.time_window.begin", {"maintenance": {"time_window": {"begin": "1", "end": "030000+0000"}}}),
    ("networking.type", {"networking": {"type": "flannel"}}), ("shoot_provider", {"shoot_provider": None})])
def test_create_is_validated(sim, key, change):
    sim.bootstrap()
    answer = sim.request("POST", sim.SHOOTS, {**create_body(), **change})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == 400 and key in [item["key"] for item in error["errors"]]


@pytest.mark.parametrize("change", [{"machine": {"type": "b.1c2gb"}}, {"machine": {"type": "nope"}},
                                    {"machine": {"type": "b.2c4gb", "image_version": "1.0.0"}}, {"maximum": 0},
                                    {"minimum": "1"}, {"zones": ["mars"]}, {"volume_size": "50"}, {"max_surge": 0},
                                    {"taints": [{"key": "k", "value": "v", "effect": "no_schedule"}]},
                                    {"name": "far-too-long-name"}, {"labels": [{"key": "k"}]}])
def test_workers_are_validated(sim, change):
    sim.bootstrap()
    body = create_body()
    body["shoot_provider"]["workers"] = [worker_body(**change)]
    answer = sim.request("POST", sim.SHOOTS, body)
    assert answer.status_code == 400 and answer.json()["error"]["errors"]


@pytest.mark.parametrize("machine", [{}, {"type": None}, {"image_version": "1877.9.0"}])
def test_a_worker_without_a_machine_type_gets_one(sim, machine):
    sim.bootstrap()
    body = create_body()
    body["shoot_provider"]["workers"] = [worker_body(machine=machine)]
    answer = sim.request("POST", sim.SHOOTS, body)
    assert answer.status_code == 202, answer.text
    assert answer.json()["shoot_provider"]["workers"][0]["machine"]["type"] == "b.2c4gb"
    sim.advance(800)
    answer = sim.call("POST", "/workers", worker_body("wg2", machine=machine))
    assert answer.status_code == 202 and answer.json()["shoot_provider"]["workers"][1]["machine"]["type"] == "b.2c4gb"
    sim.advance(800)
    assert sim.call("PUT", "/workers/wg2", {"machine": machine, "maximum": 8}).status_code == 202
    old = v1_create_body("other")
    del old["shoot"]["provider"]["workers"][0]["machine"]["type"]
    created = sim.request("POST", sim.V1, old).json()["shoot"]
    assert created["provider"]["workers"][0]["machine"]["type"] == "b.2c4gb"


def test_wrong_regions_and_projects(sim):
    answer = sim.request("POST", f"{sim.G}/sto2/{PROJECT}/bootstrap")
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "OpenStack region sto2 was not found"
    assert sim.request("POST", f"{sim.G}/Sto2/{'0' * 32}/bootstrap").status_code == 500
    assert sim.request("GET", f"{sim.G}/Sto2/{PROJECT}/bootstrap").status_code == 404
    assert sim.request("GET", f"{sim.G}/shoots/sto2/{PROJECT}").status_code == 404


def test_seeded_shoots_and_state(sim):
    sim.control("POST", "/shoots", {"count": 300, "prefix": "idle"})
    sim.control("POST", "/shoots", {"count": 1, "prefix": "asleep", "state": "hibernated"})
    listed = sim.request("GET", sim.SHOOTS).json()
    assert len(listed) == 301 and listed[0]["name"] == "idle-0000"
    assert listed[-1]["status"]["is_hibernated"]
    sim.control("DELETE", "/shoots/idle-0000")
    assert sim.call("GET", "", name="idle-0000").status_code == 404
    sim.control("PUT", "/state", {"bootstrapped": [f"Sto2/{PROJECT}"], "shoots": [
        {"name": "kept", "state": "ready"}, {"name": "broken", "state": "failed"},
        {"name": "made", "state": "creating"}]})
    state = sim.control("GET", "/state")
    assert [(item["name"], item["state"]) for item in state["shoots"]] == [
        ("kept", "ready"), ("broken", "failed"), ("made", "creating")]
    again = sim.control("PUT", "/state", state)
    assert again["shoots"][0]["spec"] == state["shoots"][0]["spec"]
    assert again["shoots"][0]["uid"] == state["shoots"][0]["uid"]
    for wrong in ({"workers": [{}]}, {"workers": 1}, {"maintenance": {}}, {"kubernetes_version": 1}):
        answer = sim.http.put("/_sim/state", json={"shoots": [{"name": "bad", "spec": wrong}]})
        assert answer.status_code == 400, wrong
    answer = sim.http.put("/_sim/state", json={"shoots": [{"name": "twice"}, {"name": "made", "state": "creating"}, {"name": "twice"}]})
    assert answer.status_code == 400 and "occurs twice" in answer.text, "names are unique in the whole cloud"
    assert len(sim.control("GET", "/state")["shoots"]) == 3
    sim.advance(7200)
    assert [item["state"] for item in sim.control("GET", "/state")["shoots"]] == ["ready", "failed", "ready"], "those of a refused state never run"
