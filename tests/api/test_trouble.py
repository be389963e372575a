"""What is wrong with a cluster is said in the answer, in the list, in the event and in the log; Gardener's own sentence stays beside it."""

import json
import re

import pytest

from harness import PROJECT_ID, wait_until
from scenario import BY_THE_TEST, LOGIN

RECONCILED = "Shoot cluster has been successfully reconciled."


def show(sim, name, *conditions):
    """The next reads show the shoot with these conditions."""
    token = sim.http.post("/auth/v2/tokens", json=LOGIN["v2"], headers=BY_THE_TEST).json()["token"]
    shoots = sim.http.get(f"/gardener/v2/public/shoots/Sto2/{PROJECT_ID}",
                          headers={"X-AUTH-LOGIN": "demo", "X-AUTH-TOKEN": token, **BY_THE_TEST}).json()
    mine = next(s for s in shoots if s["name"] == name)
    for condition in conditions:
        next(c for c in mine["status"]["conditions"] if c["type"] == condition["type"]).update(condition)
    for operation, body in (("list_shoots", shoots), ("get_shoot", mine)):
        sim.post("replay", answers=[{"operation": operation, "status": 200, "body": json.dumps(body)}] * 300)


def warnings(d, message):
    return re.findall(rf"^\S+ warning +{message}.*$", d.log(), re.M)


def test_a_degraded_cluster_says_what_is_wrong(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    wait_until(lambda: not shootd.cluster("dev").json()["status"]["settling"], what="the conditions")
    assert shootd.cluster("dev").json()["status"]["message"] == RECONCILED
    show(sim, "dev", {"type": "APIServerAvailable", "status": "False", "message": "dial tcp 10.0.0.1:443: connection refused"})
    shootd.wait_phase("dev", "degraded")
    wrong = "The API server does not answer: dial tcp 10.0.0.1:443: connection refused"
    status = shootd.cluster("dev").json()["status"]
    assert status["message"] == wrong and status["last_operation"]["description"] == RECONCILED
    short, = shootd.http.get("/v1/clusters", params={"fields": "summary"}).json()["items"]
    assert short["status"]["message"] == wrong
    event, = [e for e in shootd.events() if e["type"] == "cluster.degraded"]
    assert event["data"]["message"] == wrong
    worst = shootd.http.get(shootd.clusters_path("dev") + "/issues").json()["items"][0]
    for issue in (shootd.cluster("dev").json()["issue"], short["issue"], event["data"]["issue"]):
        assert issue == {key: worst[key] for key in ("code", "severity", "title", "since")}
    assert (worst["code"], worst["severity"]) == ("api_server_unavailable", "critical")
    line, = warnings(shootd, "cluster degraded")
    assert "project=team-a" in line and "cluster=dev" in line and "connection refused" in line


def test_the_worst_condition_is_the_one_that_is_said(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    wait_until(lambda: not shootd.cluster("dev").json()["status"]["settling"], what="the conditions")
    show(sim, "dev", {"type": "ObservabilityComponentsHealthy", "status": "False", "message": "no data"},
         {"type": "ControlPlaneHealthy", "status": "False", "message": "etcd has no leader"})
    shootd.wait_phase("dev", "degraded")
    assert shootd.cluster("dev").json()["status"]["message"] == "The control plane is not healthy: etcd has no leader"


def test_a_failed_operation_is_a_warning(sim, shootd):
    sim.fault("create_shoot", "status", status=403, count=0)
    op = shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    assert op["status"] == "failed"
    line, = warnings(shootd, "operation ended")
    assert f"operation={op['id']}" in line and "cluster=dev" in line and f"code={op['error']['code']}" in line
    assert warnings(shootd, "cluster failed"), shootd.log()


def issues(d, name):
    return d.http.get(d.clusters_path(name) + "/issues").json()["items"]


def settled(d, name, **body):
    """A cluster that works."""
    op = d.wait_operation(d.create(name, **body)["operation"]["id"])
    assert op["status"] == "succeeded", op
    wait_until(lambda: d.cluster(name).json()["status"]["health"] == "healthy", what="a healthy cluster")


def change(d, name, **spec):
    answer = d.http.patch(d.clusters_path(name), json={"spec": spec})
    assert answer.status_code == 202, answer.text
    return answer.json()["operation"]["id"]


def test_a_change_that_failed_and_a_cluster_that_works_are_two_facts(sim, shootd):
    settled(shootd, "shop")
    settled(shootd, "edge")
    sim.post("lifecycle", shoot="shop", operation="reconcile", outcome="failed", codes=["ERR_INFRA_QUOTA_EXCEEDED"], description="no more cores")
    shootd.wait_operation(change(shootd, "shop", maintenance={"begin": "030000+0000", "end": "040000+0000"}))
    shop = shootd.wait_phase("shop", "failed")
    assert {c["status"] for c in shop["status"]["conditions"]} == {"True"}
    assert (shop["status"]["health"], shop["status"]["summary"]) == ("healthy", "The last change failed; the cluster works.")
    assert (shop["issue"]["code"], shop["issue"]["severity"], shop["status"]["message"]) == ("cluster_failed", "warning", "no more cores")
    show(sim, "edge", {"type": "APIServerAvailable", "status": "False", "message": "connection refused"})
    edge = wait_until(lambda: (c := shootd.cluster("edge").json())["issue"] and c, what="the issue")
    assert (edge["status"]["health"], edge["issue"]["severity"]) == ("unhealthy", "critical")
    assert edge["status"]["summary"] == "The last change succeeded; a part of the cluster does not work."
    settled_by_name = [c["name"] for c in shootd.http.get("/v1/clusters").json()["items"]]
    worst_first = [c["name"] for c in shootd.http.get("/v1/clusters", params={"sort": "trouble"}).json()["items"]]
    assert (settled_by_name, worst_first) == (["edge", "shop"], ["edge", "shop"])
    rows = shootd.http.get("/v1/issues").json()["items"]
    assert [(row["cluster"], row["severity"]) for row in rows] == [("edge", "critical"), ("shop", "warning")]


def test_a_failed_change_says_the_worse_condition(sim, shootd):
    """The worst issue makes the message, whatever the last operation says."""
    settled(shootd, "dev")
    sim.post("lifecycle", shoot="dev", operation="reconcile", outcome="failed", codes=["ERR_INFRA_QUOTA_EXCEEDED"], description="no more cores")
    shootd.wait_operation(change(shootd, "dev", maintenance={"begin": "030000+0000", "end": "040000+0000"}))
    shootd.wait_phase("dev", "failed")
    show(sim, "dev", {"type": "ControlPlaneHealthy", "status": "False", "message": "etcd has no leader"})
    dev = wait_until(lambda: (c := shootd.cluster("dev").json())["status"]["health"] == "unhealthy" and c, what="the condition")
    assert dev["status"]["message"] == "The control plane is not healthy: etcd has no leader" and dev["status"]["phase"] == "failed"
    assert [(i["code"], i["severity"]) for i in issues(shootd, "dev")] == [("control_plane_unhealthy", "critical"), ("cluster_failed", "critical")] \
        or [(i["code"], i["severity"]) for i in issues(shootd, "dev")] == [("cluster_failed", "critical"), ("control_plane_unhealthy", "critical")]
    failed = next(i for i in issues(shootd, "dev") if i["code"] == "cluster_failed")
    assert failed["description"] == "no more cores" and failed["operation_id"], "one fault is one issue, and names its operation"


# ---- each remedy, done as it is stated, changes the state ----


def fails(sim, d):
    sim.post("lifecycle", shoot="dev", operation="reconcile", outcome="failed", codes=["ERR_INFRA_QUOTA_EXCEEDED"], description="no more cores")
    d.wait_operation(change(d, "dev", maintenance={"begin": "030000+0000", "end": "040000+0000"}))
    d.wait_phase("dev", "failed")
    sim.http.delete("/_sim/lifecycle")


def drifts(sim, d):
    d.wait_operation(change(d, "dev", node_pools=[{"name": "default", "machine_type": "b.2c4gb", "minimum": 2, "maximum": 4}]))
    state = sim.http.get("/_sim/state").json()
    state["shoots"][0]["spec"]["workers"][0]["maximum"] = 3
    assert sim.http.put("/_sim/state", json=state).status_code < 300


def has_an_old_version(sim, d):
    pass  # the cluster is created with it


def a_certificate_expires(sim, d):
    shoots = constraint_of(sim, "CACertificateValiditiesAcceptable")
    sim.post("replay", answers=[{"operation": "list_shoots", "status": 200, "body": json.dumps(shoots)}] * 3 + [{"operation": "get_shoot", "status": 200, "body": json.dumps(shoots[0])}] * 3)


def constraint_of(sim, kind):
    token = sim.http.post("/auth/v2/tokens", json=LOGIN["v2"], headers=BY_THE_TEST).json()["token"]
    shoots = sim.http.get(f"/gardener/v2/public/shoots/Sto2/{PROJECT_ID}", headers={"X-AUTH-LOGIN": "demo", "X-AUTH-TOKEN": token, **BY_THE_TEST}).json()
    shoots[0]["status"].setdefault("constraints", []).append({"type": kind, "status": "False", "reason": "Soon", "message": "in 90 days", "last_transition_time": "2026-03-01T00:00:00Z", "last_update_time": "2026-03-01T00:00:00Z"})
    return shoots


def an_operation_fails(sim, d):
    """Cleura refuses the action once."""
    sim.fault("hibernate_shoot", "status", status=409, count=0)
    op = d.wait_operation(d.http.post(d.clusters_path("dev") + "/actions/hibernate").json()["operation"]["id"], timeout=120)
    assert op["status"] == "failed", op
    sim.clear_faults()


REMEDIES = [
    ("cluster_failed", {"action": "retry"}, fails, lambda c: c["status"]["phase"] == "ready"),
    ("version_expiring", {"upgrade": "1.33.7"}, has_an_old_version, lambda c: c["observed"]["kubernetes_version"] == "1.33.7"),
    ("drift", {"patch": {"spec": {}}}, drifts, lambda c: c["observed"]["node_pools"][0]["maximum"] == 4 and not c["drift"]),
]


@pytest.mark.parametrize("code, remedy, happens, is_mended", REMEDIES, ids=[row[0] for row in REMEDIES])
def test_a_remedy_does_what_it_says(sim, shootd, code, remedy, happens, is_mended):
    settled(shootd, "dev", spec={"kubernetes_version": "1.33.6"} if code.startswith("version") else {})
    happens(sim, shootd)
    issue = wait_until(lambda: next((i for i in issues(shootd, "dev") if i["code"] == code), None), what=code)
    deed = issue["remedy"].pop("request")
    assert issue["remedy"].pop("command").startswith("shootctl ") and issue["remedy"] == remedy
    assert not any(word in issue["action"] for word in ("POST", "PUT", "PATCH", "DELETE", "GET", "/v1/")), issue["action"]
    answer = shootd.http.request(deed["method"], deed["path"], json=deed["body"]) if deed["body"] else shootd.http.request(deed["method"], deed["path"])
    assert answer.status_code == 202, answer.text
    shootd.wait_operation(answer.json()["operation"]["id"])
    mended = wait_until(lambda: is_mended(c := shootd.cluster("dev").json()) and c, what=f"the end of {code}")
    assert code not in [i["code"] for i in issues(shootd, "dev")], mended
