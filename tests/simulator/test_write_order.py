"""A write that comes before the pick-up of the previous one: it is merged, or refused when the setting says so."""

import pytest

from conftest import create_body, worker_body

CIDRS = ["192.0.2.0/24"]


def wait_as_the_provider_does(sim):
    """The loop of the official Terraform provider: GET every 15 s until the last operation succeeded."""
    for _ in range(240):
        last = sim.get()["last_operation"]
        if last and last["state"] == "Succeeded":
            return
        sim.advance(15)
    raise AssertionError("never Succeeded")


def two_groups(sim):
    body = create_body()
    body["shoot_provider"]["workers"].append(worker_body("wg2"))
    sim.ready(shoot_provider=body["shoot_provider"])


@pytest.mark.parametrize("stale,pause", [(5, 0), (5, 1), (5, 3), (0, 0), (600, 30)])
def test_the_order_of_the_official_provider(sim, stale, pause):
    """A patch, then update, delete and create for the groups, with the wait after each: no answer is 409, and all changes are made."""
    two_groups(sim)
    sim.settings(stale_seconds=stale)
    wait_as_the_provider_does(sim)
    for method, path, body in (("PATCH", "", {"kubernetes": "1.34.3", "allowed_cidrs": CIDRS}),
                               ("PUT", "/workers/wg1", {"maximum": 7}), ("DELETE", "/workers/wg2", None),
                               ("POST", "/workers", worker_body("wg3"))):
        answer = sim.call(method, path, body)
        assert answer.status_code == 202, (method, path, answer.text)
        sim.advance(pause)
        wait_as_the_provider_does(sim)
    sim.advance(stale + 1000)
    shoot = sim.get()
    assert sim.operation() == ("Reconcile", "Succeeded", 100)
    assert shoot["kubernetes"]["version"] == "1.34.3" and shoot["allowed_cidrs"] == CIDRS
    assert [(w["name"], w["maximum"]) for w in shoot["shoot_provider"]["workers"]] == [("wg1", 7), ("wg3", 3)]
    effects = sim.counters()["by_operation"]
    assert [effects[o]["effects"] for o in ("edit_shoot", "update_worker", "delete_worker", "create_worker")] == [1] * 4


def test_writes_before_the_pick_up_are_one_run_that_does_both(sim):
    sim.ready()
    for path, body in (("/ca/rotate", {"stage": "Prepare"}), ("", {"allowed_cidrs": CIDRS}), ("/hibernate", None)):
        assert sim.call("PATCH", path, body).status_code == 202
    assert sim.operation() == ("Create", "Succeeded", 100)
    sim.advance(5)
    assert sim.operation()[:2] == ("Reconcile", "Processing")
    assert sim.call("PATCH", "", {"allowed_cidrs": []}).status_code == 409, "busy once it was picked up"
    sim.advance(470)
    assert sim.operation()[:2] == ("Reconcile", "Processing"), "as long as the longest of them"
    sim.advance(10)
    assert sim.operation() == ("Reconcile", "Succeeded", 100)
    assert sim.get()["status"]["is_hibernated"] and sim.get()["allowed_cidrs"] == CIDRS
    assert sim.call("GET", "/ca/rotation-stage").json() == {"stage": "Prepared"}


def test_the_last_word_on_hibernation_counts(sim):
    sim.ready()
    for path in ("/hibernate", "/wakeup"):
        assert sim.call("PATCH", path).status_code == 202
    assert sim.request("GET", f"{sim.V1}/example").json()["spec"]["hibernation"]["enabled"] is False
    sim.advance(300)
    assert sim.operation()[1] == "Succeeded" and sim.get()["status"]["is_hibernated"] is False
    sim.call("PATCH", "/wakeup")
    sim.call("PATCH", "/hibernate")
    sim.advance(300)
    assert sim.get()["status"]["is_hibernated"] is True


def test_a_change_of_a_shoot_that_is_not_begun_joins_its_create(sim):
    sim.bootstrap()
    sim.create()
    assert sim.call("PUT", "/workers/wg1", {"maximum": 9}).status_code == 202
    sim.advance(5)
    assert sim.operation() == ("Create", "Processing", 0)
    sim.advance(720)
    assert sim.operation() == ("Create", "Succeeded", 100)
    assert sim.get()["shoot_provider"]["workers"][0]["maximum"] == 9


def test_retry_does_all_that_had_failed(sim):
    sim.ready()
    sim.control("POST", "/lifecycle", {"operation": "hibernate", "outcome": "failed", "at_progress": 60})
    sim.call("PATCH", "/hibernate")
    sim.call("PATCH", "", {"kubernetes": "1.34.3"})
    sim.advance(600)
    assert sim.operation()[1] == "Failed" and not sim.get()["status"]["is_hibernated"]
    assert sim.call("PATCH", "/retry").status_code == 202
    sim.advance(600)
    assert sim.operation()[1] == "Succeeded" and sim.get()["status"]["is_hibernated"]


def test_a_deletion_goes_before_what_waits(sim):
    sim.ready()
    sim.call("PATCH", "", {"allowed_cidrs": CIDRS})
    assert sim.call("DELETE", "").status_code == 202
    assert sim.call("PATCH", "", {"allowed_cidrs": []}).status_code == 409
    sim.advance(6)
    assert sim.operation()[:2] == ("Delete", "Processing")


def test_the_refusal_is_a_setting(sim):
    sim.ready()
    assert sim.settings()["refuse_before_pickup"] is False
    sim.settings(refuse_before_pickup=True)
    assert sim.call("PATCH", "", {"allowed_cidrs": CIDRS}).status_code == 202
    assert sim.operation() == ("Create", "Succeeded", 100)
    for method, path, body in (("PATCH", "", {"allowed_cidrs": []}), ("POST", "/workers", worker_body("wg2")),
                               ("PUT", "/workers/wg1", {"maximum": 9}), ("PATCH", "/hibernate", None)):
        assert sim.call(method, path, body).status_code == 409, (method, path)
    assert sim.get()["allowed_cidrs"] == CIDRS
    sim.advance(30)
    assert sim.call("PUT", "/workers/wg1", {"maximum": 9}).status_code == 202


def test_the_delay_of_the_pick_up_is_an_option(start):
    sim = start("--speed", "0", "--stale", "60")
    sim.login()
    assert sim.settings()["stale_seconds"] == 60
    sim.bootstrap()
    sim.create()
    sim.advance(59)
    assert sim.operation() is None
    sim.advance(1)
    assert sim.operation() == ("Create", "Processing", 0)
