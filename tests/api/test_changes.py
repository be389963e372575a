"""Special cases of changes and actions: waiting changes are checked again, deletions fail, other users interfere."""


import web
from harness import PROJECT_ID, wait_until


class Somebody:
    """Another user of the same Cleura account."""

    def __init__(self, sim):
        login = web.post(sim.url + "/auth/v2/tokens", json={"login": "demo", "password": "demo"}).json()
        self.http = web.Client(base_url=sim.url, headers={"X-AUTH-LOGIN": "demo", "X-AUTH-TOKEN": login["token"]})

    def act(self, name, path, **body):
        answer = self.http.request("PATCH", f"/gardener/v2/public/shoots/Sto2/{PROJECT_ID}/{name}/{path}".rstrip("/"),
                                   **({"json": body} if body else {}))
        assert answer.status_code < 300, answer.text


def put(d, name, spec):
    return d.http.put(d.clusters_path(name), json={"spec": spec})


def types(d, name):
    return [e["type"] for e in d.events(cluster=name)]


def test_a_waiting_change_is_judged_again_when_its_turn_comes(sim, shootd):
    """A pool without a name means the only pool; when the change begins, the cluster has two pools."""
    shootd.wait_operation(shootd.create("dev", spec={"node_pools": [{}]})["operation"]["id"])
    sim.post("settings", durations={"upgrade": 600, "worker_create": 600})
    first = put(shootd, "dev", {"kubernetes_version": "1.34", "node_pools": [{"name": "default"}, {"name": "aaa"}]})
    second = put(shootd, "dev", {"node_pools": [{}]})
    assert first.status_code == 202
    assert shootd.wait_operation(first.json()["operation"]["id"])["status"] == "succeeded"
    if second.status_code == 202:
        ended = shootd.wait_operation(second.json()["operation"]["id"])
        assert ended["status"] == "failed" and ended["error"]["code"] == "validation_failed", ended
    else:
        assert second.status_code == 422
    assert not sim.requests("delete_worker"), "nobody named a pool to remove"
    pools = shootd.cluster("dev").json()["observed"]["node_pools"]
    assert [p["name"] for p in pools] == ["aaa", "default"]


def test_a_change_that_the_running_one_prevents_is_refused_at_once(sim, shootd):
    shootd.wait_operation(shootd.create("dev", spec={"kubernetes_version": "1.33"})["operation"]["id"])
    sim.post("settings", durations={"upgrade": 1200})
    running = put(shootd, "dev", {"kubernetes_version": "1.34", "high_availability": True})
    assert running.status_code == 202
    off = put(shootd, "dev", {"kubernetes_version": "1.34", "high_availability": False})
    back = put(shootd, "dev", {"kubernetes_version": "1.33"})
    assert [off.status_code, back.status_code] == [422, 422]
    assert off.json()["errors"][0]["code"] == "one_way" and back.json()["errors"][0]["code"] == "downgrade"
    assert shootd.wait_operation(running.json()["operation"]["id"])["status"] == "succeeded"


def test_a_failed_deletion_takes_a_retry_and_nothing_else(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    sim.post("lifecycle", operation="delete", outcome="failed", at_progress=50, codes=["ERR_CLEANUP_CLUSTER_RESOURCES"])
    op = shootd.http.delete(shootd.clusters_path("dev")).json()["operation"]["id"]
    assert shootd.wait_operation(op)["status"] == "failed"
    assert put(shootd, "dev", {"kubernetes_version": "1.34"}).status_code == 409
    assert shootd.http.post(shootd.clusters_path("dev") + "/actions/hibernate").status_code == 409
    retry = shootd.http.post(shootd.clusters_path("dev") + "/actions/retry")
    assert retry.status_code == 202
    assert shootd.wait_operation(retry.json()["operation"]["id"])["status"] == "succeeded"
    shootd.wait_gone("dev")


def test_a_second_delete_goes_on_from_a_failed_one(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    sim.post("lifecycle", operation="delete", outcome="failed", at_progress=50)
    op = shootd.http.delete(shootd.clusters_path("dev")).json()["operation"]["id"]
    assert shootd.wait_operation(op)["status"] == "failed"
    op = shootd.http.delete(shootd.clusters_path("dev")).json()["operation"]["id"]
    ended = shootd.wait_operation(op)
    assert ended["status"] == "succeeded" and [s["status"] for s in ended["steps"]] == ["done", "done"]
    shootd.wait_gone("dev")


def test_others_put_it_to_sleep_and_wake_it(sim, shootd):
    somebody = Somebody(sim)
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    somebody.act("dev", "hibernate")
    shootd.wait_phase("dev", "hibernated")
    somebody.act("dev", "reconcile")
    wait_until(lambda: sim.counters()["by_operation"]["reconcile"]["effects"] == 1)
    somebody_is_done = lambda: shootd.cluster("dev").json()["status"]["phase"] == "hibernated"  # noqa: E731
    wait_until(somebody_is_done, what="asleep again")
    changed = shootd.http.patch(shootd.clusters_path("dev"), json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}})
    shootd.wait_operation(changed.json()["operation"]["id"])
    shootd.wait_phase("dev", "hibernated")
    told = types(shootd, "dev")
    assert told.count("cluster.hibernated") == 1 and "cluster.woken" not in told and "cluster.updated" in told, told
    wait_until(lambda: not sim.get("state")["shoots"][0].get("busy"))
    somebody.act("dev", "wakeup")
    shootd.wait_phase("dev", "ready")
    assert types(shootd, "dev").count("cluster.woken") == 1


def test_a_lost_answer_to_an_action_is_settled_by_looking(sim, shootd):
    for action, operation in (("reconcile", "reconcile"), ("maintain", "maintenance"), ("hibernate", "hibernate")):
        name = action[:8]
        shootd.wait_operation(shootd.create(name)["operation"]["id"])
        sim.fault(operation, "drop", effect=True)
        op = shootd.http.post(f"{shootd.clusters_path(name)}/actions/{action}").json()["operation"]["id"]
        assert shootd.wait_operation(op)["status"] == "succeeded"
        assert len([r for r in sim.requests(operation) if r.get("shoot", name) == name]) == 1, action


def test_a_malformed_ssh_key_is_one_call(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    sim.fault("ssh_key", "status", status=200, body="no key at all", count=0)
    answer = shootd.http.get(shootd.clusters_path("dev") + "/ssh-key")
    assert answer.status_code == 502 and len(sim.requests("ssh_key")) == 1


def test_a_pool_that_others_removed_first(sim, shootd):
    """The spec is met although Cleura answers 404."""
    shootd.wait_operation(shootd.create("dev", spec={"node_pools": [{"name": "a"}, {"name": "b"}]})["operation"]["id"])
    sim.fault("delete_worker", "status", status=404, effect=True)
    op = put(shootd, "dev", {"node_pools": [{"name": "a"}]}).json()["operation"]["id"]
    assert shootd.wait_operation(op)["status"] == "succeeded"


def test_a_proxy_that_refuses_for_a_while_fails_nothing(sim, shootd):
    shootd.wait_operation(shootd.create("dev", spec={"node_pools": [{"name": "a", "maximum": 2}]})["operation"]["id"])
    sim.fault("update_worker", "status", status=403, body="<html>blocked</html>", count=4)
    op = put(shootd, "dev", {"node_pools": [{"name": "a", "maximum": 3}]}).json()["operation"]["id"]
    assert shootd.wait_operation(op)["status"] == "succeeded"


def test_a_record_that_was_never_made_is_not_patched(sim, shootd):
    sim.fault("create_shoot", "status", status=400, body='{"error":{"code":400,"message":"no"}}')
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    refused = shootd.http.patch(shootd.clusters_path("dev"), json={"spec": {"kubernetes_version": "1.34"}})
    assert refused.status_code == 409 and refused.json()["code"] == "cluster_not_ready"
    again = put(shootd, "dev", {"kubernetes_version": "1.34"})
    assert again.status_code == 202
    assert shootd.wait_operation(again.json()["operation"]["id"])["status"] == "succeeded"


def test_a_404_that_stays_ends_the_change(sim, shootd):
    """shootd reads the cluster, sends the call once more and reads again; then it accepts the 404."""
    shootd.wait_operation(shootd.create("dev", spec={"node_pools": [{"name": "a", "maximum": 2}]})["operation"]["id"])
    sim.fault("update_worker", "status", status=404, count=0)
    op = shootd.wait_operation(put(shootd, "dev", {"node_pools": [{"name": "a", "maximum": 3}]}).json()["operation"]["id"])
    assert op["status"] == "failed" and op["steps"][0]["status"] == "failed"
    assert len(sim.requests("update_worker")) <= 3
    assert "cluster.updated" not in types(shootd, "dev"), "it was not"
    sim.clear_faults()
    again = put(shootd, "dev", {"node_pools": [{"name": "a", "maximum": 3}]})
    assert shootd.wait_operation(again.json()["operation"]["id"])["status"] == "succeeded"
    assert types(shootd, "dev")[-1] == "cluster.updated"


def test_a_change_behind_a_deletion_that_fails(sim, shootd):
    """Another user deletes the cluster while the change waits. The deletion fails, and so does the change; a retry is possible."""
    somebody = Somebody(sim)
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    with sim.lasting("reconcile"):
        sim.post("lifecycle", operation="delete", outcome="failed", at_progress=50)
        somebody.act("dev", "reconcile")
        shootd.wait_phase("dev", "updating")
        changed = shootd.http.patch(shootd.clusters_path("dev"), json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}})
        op = changed.json()["operation"]["id"]
        path = f"/gardener/v2/public/shoots/Sto2/{PROJECT_ID}/dev"
        assert somebody.http.delete(path).status_code < 300
    ended = shootd.wait_operation(op)
    assert ended["status"] == "failed" and ended["steps"][0]["status"] == "skipped", ended
    retry = shootd.http.post(shootd.clusters_path("dev") + "/actions/retry")
    assert retry.status_code == 202
    assert shootd.wait_operation(retry.json()["operation"]["id"])["status"] == "succeeded"
    shootd.wait_gone("dev")
