"""Orders that put a shoot into a state: its conditions and constraints, and runs that have come to an outcome."""

import jsonschema
import pytest

from conftest import CONTRACT, read_contract

DOWN = {"type": "APIServerAvailable", "status": "False", "reason": "HealthzRequestError", "message": "connection refused",
        "codes": ["ERR_INFRA_DEPENDENCIES"]}
NODES = {"type": "EveryNodeReady", "status": "Unknown", "reason": "NodeUnhealthy", "message": "Node a reports nothing.", "codes": []}
CA = {"type": "CACertificateValiditiesAcceptable", "status": "False", "reason": "ExpiringServerCertificates", "message": "in 3 months",
      "codes": []}
BLOCKED = {"type": "HibernationPossible", "status": "False", "reason": "ProblematicWebhooks", "message": "a webhook", "codes": []}
FIVE = ["APIServerAvailable", "ControlPlaneHealthy", "ObservabilityComponentsHealthy", "EveryNodeReady", "SystemComponentsHealthy"]


SHOOT = {"$ref": "#/components/schemas/Gardener_Shoot_Shoot", "components": read_contract()["components"]} if CONTRACT.exists() else {}


def v2(sim, group="conditions"):
    shoot = sim.get()
    jsonschema.Draft7Validator(SHOOT).validate(shoot)
    return {item["type"]: item for item in shoot["status"][group]}


def v1(sim, group="conditions"):
    answer = sim.request("GET", f"{sim.V1}/example")
    return {item["type"]: item for item in answer.json()["status"][group]}


def hold(sim, *conditions, constraints=()):
    return sim.control("POST", "/shoots/example/conditions", {"conditions": [*conditions], "constraints": [*constraints]})


def run(sim, outcome, **more):
    return sim.control("POST", "/shoots/example/run", {"outcome": outcome, **more})["last_operation"]


def now(sim):
    return sim.control("GET", "/clock")["now"]


def without_times(item):
    return {key: value for key, value in item.items() if not key.endswith("Time")}


@pytest.fixture
def ready(sim):
    sim.ready()
    sim.advance(31)
    return sim


@pytest.mark.parametrize("kind", FIVE)
@pytest.mark.parametrize("status", ["True", "False", "Unknown", "Progressing"])
def test_each_condition_takes_each_status_in_both_generations(ready, kind, status):
    wanted = {**DOWN, "type": kind, "status": status}
    before = v2(ready)
    hold(ready, wanted)
    assert v2(ready) == {**before, kind: wanted} and list(v2(ready)) == FIVE, "the others, and the order, stay"
    assert without_times(v1(ready)[kind]) == wanted
    assert [item["status"]["conditions"] for item in ready.request("GET", ready.SHOOTS).json()] == [ready.get()["status"]["conditions"]]
    assert ready.operation() == ("Create", "Succeeded", 100)


def test_a_condition_lasts_over_reconciles_hibernation_and_a_new_state_until_it_is_cleared(ready):
    hold(ready, DOWN, NODES, constraints=[CA])
    def held():
        return (v2(ready)["APIServerAvailable"], v2(ready)["EveryNodeReady"], v2(ready, "constraints")[CA["type"]]) == (DOWN, NODES, CA)
    for action, seconds in (("/reconcile", 20), ("/hibernate", 60), ("/wakeup", 80), ("/maintenance", 50)):
        assert ready.call("PATCH", action).status_code == 202
        for _ in range(3):
            assert held(), action
            ready.advance(seconds)
    assert held() and v2(ready)["ControlPlaneHealthy"]["status"] in ("True", "Progressing"), "what is not set follows the runs"
    ready.control("PUT", "/state", ready.control("GET", "/state"))
    assert held(), "a new state with the same uid"
    hold(ready, {**DOWN, "status": "True"})
    assert v2(ready)["APIServerAvailable"] == {**DOWN, "status": "True"} and v2(ready)["EveryNodeReady"] == NODES
    ready.control("DELETE", "/shoots/example/conditions/EveryNodeReady")
    assert v2(ready)["EveryNodeReady"]["reason"] == "EveryNodeReady"
    assert ready.http.delete("/_sim/shoots/example/conditions/EveryNodeReady").status_code == 404
    ready.control("DELETE", "/shoots/example/conditions")
    assert {item["status"] for item in v2(ready).values()} == {"True"} and CA["type"] not in v2(ready, "constraints")
    assert ready.control("GET", "/shoots/example/conditions") == {"conditions": [], "constraints": []}


def test_a_new_shoot_of_the_same_name_has_no_condition_of_the_old_one(ready):
    hold(ready, DOWN)
    ready.control("DELETE", "/shoots/example")
    ready.create()
    ready.advance(900)
    assert v2(ready)["APIServerAvailable"]["status"] == "True"


def test_the_times_say_when_the_status_and_when_anything_changed(ready):
    settled = v1(ready)["APIServerAvailable"]
    assert settled["lastTransitionTime"] == settled["lastUpdateTime"] < now(ready)
    ready.advance(100)
    first = now(ready)
    answer = hold(ready, DOWN, constraints=[BLOCKED])["conditions"][0]
    assert (answer["last_transition_time"], answer["last_update_time"]) == (first, first)
    ready.advance(100)
    second = now(ready)
    hold(ready, {**DOWN, "message": "timeout"})
    shown = v1(ready)["APIServerAvailable"]
    assert (shown["lastTransitionTime"], shown["lastUpdateTime"]) == (first, second), "only the message changed"
    hold(ready, {**DOWN, "message": "timeout"})
    assert v1(ready)["APIServerAvailable"] == shown
    assert v1(ready)["ControlPlaneHealthy"]["lastTransitionTime"] == settled["lastTransitionTime"]
    assert v1(ready, "constraints")["HibernationPossible"]["lastTransitionTime"] == first
    ready.advance(100)
    ready.control("DELETE", "/shoots/example/conditions")
    shown = v1(ready)["APIServerAvailable"]
    assert shown["status"] == "True" and shown["lastTransitionTime"] == now(ready), "a time never goes back"
    assert not any(key.endswith(("Time", "time")) for key in v2(ready)["APIServerAvailable"]), "the contract of v2 has no times"


def test_a_constraint_that_forbids_hibernation_is_obeyed(ready):
    hold(ready, constraints=[BLOCKED])
    assert v2(ready, "constraints")["HibernationPossible"] == BLOCKED
    for answer in (ready.call("PATCH", "/hibernate"), ready.request("POST", f"{ready.V1}/example/hibernate")):
        assert answer.status_code == 400 and "not possible" in answer.text
    hold(ready, constraints=[{**BLOCKED, "status": "True"}])
    assert ready.call("PATCH", "/hibernate").status_code == 202


@pytest.mark.parametrize("body,keys", [
    ({}, ["conditions"]), ({"conditions": []}, ["conditions"]), ({"conditions": {}}, ["conditions"]), ({"condition": [DOWN]}, ["condition"]),
    ({"conditions": ["x"]}, ["conditions[0]"]), ({"conditions": [{**DOWN, "type": "Ready"}]}, ["conditions[0].type"]),
    ({"conditions": [CA]}, ["conditions[0].type"]), ({"constraints": [DOWN]}, ["constraints[0].type"]),
    ({"conditions": [NODES, {**DOWN, "status": "false"}]}, ["conditions[1].status"]), ({"conditions": [DOWN, DOWN]}, ["conditions[1].type"]),
    ({"conditions": [{**DOWN, "codes": ["ERR_X"]}]}, ["conditions[0].codes[0]"]), ({"conditions": [{**DOWN, "codes": [1]}]}, ["conditions[0].codes[0]"]),
    ({"conditions": [{**DOWN, "codes": "ERR"}]}, ["conditions[0].codes"]), ({"conditions": [{**DOWN, "reason": None}]}, ["conditions[0].reason"]),
    ({"conditions": [{"type": "EveryNodeReady"}]}, [f"conditions[0].{name}" for name in ("status", "reason", "message")]),
    ({"conditions": [{**DOWN, "since": "now"}]}, ["conditions[0].since"])])
def test_a_wrong_condition_is_refused_with_its_place(ready, body, keys):
    answer = ready.http.post("/_sim/shoots/example/conditions", json=body)
    assert answer.status_code == 400 and [item["key"] for item in answer.json()["error"]["errors"]] == keys, answer.text
    assert ready.control("GET", "/shoots/example/conditions") == {"conditions": [], "constraints": []}, "nothing is set in part"


def test_orders_for_an_unknown_shoot_are_404(sim):
    for method, path, body in (("GET", "conditions", None), ("POST", "conditions", {"conditions": [DOWN]}), ("DELETE", "conditions", None),
                               ("DELETE", "conditions/EveryNodeReady", None), ("POST", "run", {"outcome": "failed"})):
        assert sim.http.request(method, f"/_sim/shoots/nope/{path}", json=body).status_code == 404, (method, path)


def test_a_run_fails_on_a_shoot_that_was_ready(ready):
    last = run(ready, "failed", at_progress=88, description="Quota exceeded for cores", codes=["ERR_INFRA_QUOTA_EXCEEDED"])
    assert last == ready.get()["last_operation"] == {"type": "Reconcile", "state": "Failed", "progress": 88,
                                                     "description": "Quota exceeded for cores", "last_update_time": now(ready)}
    assert {item["status"] for item in v2(ready).values()} == {"True"}, "the change failed; the shoot works"
    error = ready.get()["status"]["last_errors"][0]
    assert error["codes"] == ["ERR_INFRA_QUOTA_EXCEEDED"] and error["last_update_time"] == now(ready)
    old = ready.request("GET", f"{ready.V1}/example").json()["status"]
    assert (old["lastOperation"]["state"], old["lastErrors"][0]["lastUpdateTime"]) == ("Failed", now(ready))
    ready.advance(70000)
    assert ready.operation() == ("Reconcile", "Failed", 88)
    assert ready.call("PATCH", "/retry").status_code == 202
    ready.advance(40)
    assert ready.operation() == ("Reconcile", "Succeeded", 100) and ready.get()["status"]["last_errors"] == []


def test_a_run_is_tried_again(ready):
    run(ready, "error_heals", operation="roll", at_progress=58, description="RetryableError", codes=["ERR_RETRYABLE_INFRA_DEPENDENCIES"],
        heal_after_seconds=3600)
    assert ready.operation() == ("Reconcile", "Error", 58)
    ready.advance(3599)
    assert ready.operation() == ("Reconcile", "Error", 58) and len(ready.get()["status"]["last_errors"]) == 1
    ready.advance(1)
    assert ready.operation() == ("Reconcile", "Processing", 0) and ready.get()["status"]["last_errors"] == []
    ready.advance(240)
    assert ready.operation() == ("Reconcile", "Succeeded", 100)


def test_a_run_hangs_with_and_without_errors(ready):
    assert run(ready, "hang", at_progress=57)["last_update_time"] == now(ready)
    assert ready.operation() == ("Reconcile", "Processing", 57) and ready.get()["status"]["last_errors"] == []
    assert ready.call("PUT", "/workers/wg1", {"minimum": 2}).status_code == 409, "it is busy"
    run(ready, "hang", at_progress=57, description="no more cores", errors=[
        {"description": "a", "codes": ["ERR_INFRA_QUOTA_EXCEEDED"], "task_id": "one"}, {"description": "b"}])
    v2(ready)
    shoot = ready.get()
    assert [(item["task_id"] == "one", item["description"], item["codes"]) for item in shoot["status"]["last_errors"]] == [
        (True, "a", ["ERR_INFRA_QUOTA_EXCEEDED"]), (False, "b", [])]
    assert shoot["last_operation"]["state"] == "Processing"
    ready.advance(70000)
    assert ready.operation() == ("Reconcile", "Processing", 57)
    assert run(ready, "success")["state"] == "Succeeded" and ready.get()["status"]["last_errors"] == []


def test_a_create_and_a_delete_can_hang_or_fail(ready):
    assert run(ready, "hang", operation="create", at_progress=43)["type"] == "Create"
    assert ready.operation() == ("Create", "Processing", 43) and v2(ready)["EveryNodeReady"]["status"] == "Progressing"
    run(ready, "failed", operation="delete", at_progress=45, codes=["ERR_CLEANUP_CLUSTER_RESOURCES"])
    assert ready.operation() == ("Delete", "Failed", 45)
    answer = ready.http.post("/_sim/shoots/example/run", json={"outcome": "hang"})
    assert answer.status_code == 400 and answer.json()["error"]["errors"][0]["key"] == "operation"
    run(ready, "success", operation="delete")
    ready.advance(6)
    assert ready.call("GET", "").status_code == 404


def test_a_write_that_waits_begins_after_the_run(ready):
    ready.call("PATCH", "", {"allowed_cidrs": ["192.0.2.0/24"]})
    run(ready, "failed")
    assert ready.operation() == ("Reconcile", "Failed", 50)
    ready.advance(5)
    assert ready.operation()[:2] == ("Reconcile", "Processing")


@pytest.mark.parametrize("wrong,key", [
    ({"outcome": "explodes"}, "outcome"), ({"outcome": None}, "outcome"), ({"operation": "*"}, "operation"), ({"operation": "x"}, "operation"),
    ({"at_progress": 100}, "at_progress"), ({"at_progress": -1}, "at_progress"), ({"heal_after_seconds": -1}, "heal_after_seconds"),
    ({"codes": ["ERR_X"]}, "codes[0]"), ({"errors": [{}]}, "errors[0].description"), ({"errors": [{"description": "a", "code": "b"}]}, "errors[0].code"),
    ({"errors": [{"description": "a", "codes": ["b"]}]}, "errors[0].codes[0]"), ({"errors": [], "codes": []}, "codes"),
    ({"shoot": "example"}, "shoot"), ({"count": 1}, "count")])
def test_a_wrong_run_is_refused_with_the_member(ready, wrong, key):
    answer = ready.http.post("/_sim/shoots/example/run", json={"outcome": "failed", **wrong})
    assert answer.status_code == 400 and key in [item["key"] for item in answer.json()["error"]["errors"]], answer.text
    assert ready.operation() == ("Create", "Succeeded", 100)


@pytest.mark.parametrize("path,wrong,key", [
    ("lifecycle", {"outcome": "explodes"}, "outcome"), ("lifecycle", {}, "outcome"), ("lifecycle", {"outcome": "hang", "operation": "x"}, "operation"),
    ("lifecycle", {"outcome": "hang", "at_progress": 100}, "at_progress"), ("lifecycle", {"outcome": "hang", "count": -1}, "count"),
    ("shoots", {"region": "mars"}, "region"), ("shoots", {"project": "x"}, "project"), ("shoots", {"state": "failed"}, "state"),
    ("shoots", {"prefix": "x" * 11}, "prefix"), ("shoots", {"count": 10001}, "count")])
def test_orders_name_the_member_that_is_wrong(sim, path, wrong, key):
    answer = sim.http.post(f"/_sim/{path}", json=wrong)
    assert answer.status_code == 400 and [item["key"] for item in answer.json()["error"]["errors"]] == [key], answer.text
