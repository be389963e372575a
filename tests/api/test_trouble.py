"""What is wrong with a cluster is said in the answer, in the list, in the event and in the log; Gardener's own sentence stays beside it."""

import json
import re

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
