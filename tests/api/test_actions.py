"""Preconditions of actions, and how actions end (tests/scenarios has the lists of capabilities, and the constraint of a hibernation)."""

import pytest

import harness
from harness import wait_until


def act(d, name, action):
    return d.http.post(f"{d.clusters_path(name)}/actions/{action}")


def test_an_action_refused_by_cleura_fails_its_operation(sim, shootd):
    """The constraint appeared after the last read."""
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    sim.fault("hibernate", "status", status=400, body='{"error": {"code": 400, "message": "not now"}}')
    op = shootd.wait_operation(act(shootd, "dev", "hibernate").json()["operation"]["id"])
    assert op["status"] == "failed" and op["error"]["code"] == "upstream_refused" and "not now" in op["message"]
    assert shootd.wait_phase("dev", "ready")


def test_unmanaged_clusters_are_not_acted_on(sim, shootd):
    sim.post("shoots", count=1, prefix="found", state="ready")
    shootd.wait_phase("found-0000", "ready")
    assert act(shootd, "found-0000", "hibernate").json()["code"] == "not_managed"
    assert shootd.http.patch(shootd.clusters_path("found-0000"), json={"spec": {}}).json()["code"] == "not_managed"


def test_completing_a_rotation_forgets_kubeconfigs(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    path = shootd.clusters_path("dev") + "/kubeconfig"
    assert shootd.http.get(path).json()["cached"] is False
    assert shootd.http.get(path).json()["cached"] is True
    early = act(shootd, "dev", "rotate-ca-complete")
    assert early.status_code == 409 and "NotInitiated" in early.json()["detail"]
    shootd.wait_operation(act(shootd, "dev", "rotate-ca-prepare").json()["operation"]["id"])
    assert shootd.http.get(path).json()["cached"] is True, "both authorities are good now"
    assert act(shootd, "dev", "rotate-ca-prepare").status_code == 200, "prepared already"
    shootd.wait_operation(act(shootd, "dev", "rotate-ca-complete").json()["operation"]["id"])
    assert shootd.http.get(path).json()["cached"] is False
    assert sim.counters()["by_operation"]["rotate_ca"]["effects"] == 2


def test_a_rotation_over_a_crash(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    sim.fault("rotate_ca", "drop", effect=True)
    op = act(shootd, "dev", "rotate-ca-prepare").json()["operation"]["id"]
    wait_until(lambda: sim.requests("rotate_ca"), what="the call")
    shootd.kill()
    shootd.start()
    assert shootd.wait_operation(op)["status"] == "succeeded"
    assert len(sim.requests("rotate_ca")) == 1, "it had effect: not repeated"


@pytest.mark.parametrize("action,call,fault,end", [
    ("rotate-ca-prepare", "rotate_ca", ("drop", {"effect": True}), "failed"),  # v1 does not show the stage of a rotation
    pytest.param("reconcile", "reconcile", ("status", {"status": 429, "count": 0}), "failed",  # v1 cannot send it any more
                 marks=pytest.mark.skipif(not harness.FULL, reason="a minute of waiting: FULL=1")),
    ("reconcile", "reconcile", ("drop", {"effect": True}), "succeeded"),  # the first request had effect, and v1 shows that
    ("reconcile", "reconcile", None, "succeeded"),
])
def test_an_action_that_another_generation_does_not_have(sim, shootd, action, call, fault, end):
    """The configuration changes to v1 while the operation is open."""
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    if fault:
        sim.fault(call, fault[0], **fault[1])
    op = act(shootd, "dev", action).json()["operation"]["id"]
    wait_until(lambda: sim.requests(call), what="the call")
    shootd.kill()
    shootd.config.write_text(shootd.config.read_text().replace("api: v2", "api: v1"))
    shootd.start()
    ended = shootd.wait_operation(op)
    assert ended["status"] == end and (end == "succeeded" or ended["error"]["code"] == "not_supported"), ended
    assert shootd.wait_phase("dev", "ready")
    wait_until(lambda: shootd.http.put(shootd.clusters_path("dev"), json={"labels": {"goes": "on"}}).status_code == 200)


def test_sub_resources_are_shared_and_leave_nothing(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    path = shootd.clusters_path("dev")
    sim.forget()
    secrets = [shootd.http.get(path + "/ssh-key").json()["private_key"].splitlines()[1],
               shootd.http.get(path + "/monitoring").json()["plutono"]["password"]]
    for _ in range(20):
        assert shootd.http.get(path + "/ssh-key").status_code == 200
    assert len(sim.requests("ssh_key")) == 1
    answer = shootd.http.get(path + "/monitoring")
    assert answer.headers["Cache-Control"] == "no-store"
    nodes = shootd.http.get(path + "/nodes").json()["items"]
    whole = ("memory_bytes_used", "memory_bytes_allocatable", "pods")
    assert nodes and all(type(node[name]) is int and node[name] > 0 for node in nodes for name in whole), nodes
    shootd.stop()
    stored = b"".join(f.read_bytes() for f in shootd.state.rglob("*") if f.is_file())
    for secret in secrets:
        assert secret.encode() not in stored and secret not in shootd.log()


def test_sub_resources_of_a_young_cluster(sim, shootd):
    sim.post("settings", durations={"create": 72000})
    shootd.create("dev")
    shootd.wait_phase("dev", "creating")
    refused = shootd.http.get(shootd.clusters_path("dev") + "/monitoring")
    assert refused.status_code == 409 and refused.json()["code"] == "cluster_not_ready"
    assert shootd.http.get(shootd.clusters_path("none") + "/nodes").status_code == 404
