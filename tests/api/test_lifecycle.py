"""Show 1: the whole life of a cluster over REST, in both generations of Cleura's API."""

import json
import subprocess

import pytest

from harness import verify_delivery, wait_until


def test_create_ready_kubeconfig_webhook_delete(sim, make_shootd, generation, receiver, tmp_path):
    d = make_shootd(sim.url, api=generation).start()
    hook = d.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["cluster.ready"]})
    assert hook.status_code == 201, hook.text
    secret = hook.json()["secret"]

    sim.post("settings", durations={"create": 3600})  # 5 seconds, which is time for some polls
    accepted = d.http.post(d.clusters_path(), json={"name": "dev"})
    assert accepted.status_code == 202, accepted.text
    body = accepted.json()
    operation = body["operation"]
    assert accepted.headers["Location"] == f"/v1/operations/{operation['id']}"
    assert int(accepted.headers["Retry-After"]) >= 1
    assert body["managed"] is True and body["spec"] == {} and body["status"]["phase"] == "pending"

    progress = [0]
    while True:
        op = d.operation(operation["id"])
        if op["progress"] != progress[-1]:
            progress.append(op["progress"])
        if op["status"] != "pending" and op["status"] != "running":
            break
    assert op["status"] == "succeeded" and op["error"] is None and op["finished_at"]
    assert len(progress) >= 4 and progress == sorted(progress) and progress[-1] == 100

    ready = d.wait_phase("dev", "ready")
    observed = ready["observed"]
    assert observed["kubernetes_version"] == "1.34.3", "newest supported patch"
    assert [p["machine_type"] for p in observed["node_pools"]] == ["b.2c4gb"]
    assert observed["node_pools"][0]["image"]["version"] == "1877.9.0"
    assert ready["status"]["health"] in ("healthy", "progressing")
    assert ready["status"]["stale"] is False

    yaml = d.http.get(d.clusters_path("dev") + "/kubeconfig", params={"format": "yaml"})
    assert yaml.status_code == 200 and yaml.headers["Cache-Control"] == "no-store"
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.text)
    view = subprocess.run(["kubectl", "config", "view", "--kubeconfig", path, "-o", "json"], capture_output=True,
                          text=True, timeout=60)
    assert view.returncode == 0, view.stderr
    assert json.loads(view.stdout)["current-context"].endswith("--dev-external")

    def delivered():
        return receiver.of_type("cluster.ready")
    wait_until(delivered, what="the webhook")
    assert len(delivered()) == 1
    event = delivered()[0]
    assert event["json"]["data"]["cluster"] == "dev" and event["json"]["data"]["phase"] == "ready"
    assert event["json"]["data"]["operation_id"] == operation["id"]
    genuine, said = verify_delivery(event, [secret])
    assert genuine, said
    forged = dict(event, body=event["body"].replace(b"dev", b"prd"))
    assert not verify_delivery(forged, [secret])[0], "a changed body must not verify"

    gone = d.http.delete(d.clusters_path("dev"))
    assert gone.status_code == 202 and gone.json()["status"]["phase"] == "deleting"
    d.wait_gone("dev")
    assert d.wait_operation(gone.json()["operation"]["id"])["status"] == "succeeded"
    assert d.cluster("dev").json()["code"] == "cluster_not_found"
    assert len(receiver.of_type("cluster.ready")) == 1
    counters = sim.counters()
    assert counters["creates"] == {"dev": 1} and counters["deletes"] == {"dev": 1}
    assert counters["by_operation"]["bootstrap"]["requests"] == 1

    types = [e["type"] for e in d.events(cluster="dev")]
    assert types == ["operation.started", "cluster.created", "cluster.ready", "operation.succeeded",
                     "operation.started", "operation.succeeded", "cluster.deleted"] or sorted(types) == sorted([
                         "operation.started", "cluster.created", "cluster.ready", "operation.succeeded",
                         "operation.started", "operation.succeeded", "cluster.deleted"]), types


def test_bootstrap_once_per_project(sim, make_shootd):
    d = make_shootd(sim.url).start()
    for name in ("one", "two"):
        d.create(name)
    for name in ("one", "two"):
        d.wait_phase(name, "ready")
    d.stop()
    d.start()
    d.create("three")
    d.wait_phase("three", "ready")
    assert sim.counters()["by_operation"]["bootstrap"]["requests"] <= 2
    assert sim.counters()["creates"] == {"one": 1, "two": 1, "three": 1}


def test_spec_is_kept_verbatim_and_defaults_are_observed(shootd):
    spec = {"kubernetes_version": "1.33", "node_pools": [{"name": "work", "machine_type": "b.4c8gb", "minimum": 2,
                                                           "maximum": 4, "labels": {"a": "b"}}]}
    shootd.create("dev", spec=spec, labels={"team": "a"}, description="test")
    ready = shootd.wait_phase("dev", "ready")
    assert ready["spec"] == spec
    assert ready["labels"] == {"team": "a"} and ready["description"] == "test"
    pool = ready["observed"]["node_pools"][0]
    assert ready["observed"]["kubernetes_version"] == "1.33.7"
    assert (pool["minimum"], pool["maximum"], pool["volume_size_gib"], pool["zones"]) == (2, 4, 50, ["nova"])
    assert pool["labels"] == {"a": "b"}


def test_ht7_put_creates_repeats_and_adopts(sim, shootd):
    path = shootd.clusters_path("dev")
    with sim.frozen():
        first = shootd.http.put(path, json={"spec": {}})
        assert first.status_code == 202
        again = shootd.http.put(path, json={"spec": {}})
        assert again.status_code == 202
    assert again.json()["operation"]["id"] == first.json()["operation"]["id"]
    shootd.wait_phase("dev", "ready")
    before = sim.counters()["by_operation"].get("edit_shoot", {"requests": 0})["requests"]
    equal = shootd.http.put(path, json={"spec": {}})
    assert equal.status_code == 200
    assert sim.counters()["by_operation"].get("edit_shoot", {"requests": 0})["requests"] == before
    assert sim.counters()["creates"] == {"dev": 1}

    sim.post("shoots", count=1, prefix="found", state="ready")
    found = shootd.wait_phase("found-0000", "ready")
    assert found["managed"] is False and found["spec"] is None
    version = found["observed"]["kubernetes_version"]
    adopted = shootd.http.put(shootd.clusters_path("found-0000"), json={"spec": {"kubernetes_version": version}})
    assert adopted.status_code == 200, adopted.text
    assert adopted.json()["managed"] is True
    told = {e["type"]: e["data"] for e in shootd.events(cluster="found-0000")}
    assert "cluster.discovered" in told and "cluster.adopted" in told
    assert told["cluster.adopted"]["requested_by"] == "admin" and told["cluster.adopted"]["phase"] == "ready"
    assert [e["type"] for e in shootd.events(actor="admin", type="cluster.adopted")] == ["cluster.adopted"]


def test_ht17_ht20_precondition_headers(shootd):
    path = shootd.clusters_path("dev")
    assert shootd.http.put(path, json={}, headers={"If-Match": "*"}).status_code == 412
    created = shootd.http.put(path, json={}, headers={"If-None-Match": "*"})
    assert created.status_code == 202
    assert shootd.http.put(path, json={}, headers={"If-None-Match": "*"}).status_code == 412
    shootd.wait_phase("dev", "ready")
    etag = shootd.cluster("dev").headers["ETag"]
    # As behind nginx with gzip, which makes every ETag weak.
    described = shootd.http.put(path, json={"description": "mine"}, headers={"If-Match": f"W/{etag}"})
    assert described.status_code == 200, described.text
    for tag in (etag, f"W/{etag}", f'"x", W/{etag}'):
        stale = shootd.http.put(path, json={"description": "theirs"}, headers={"If-Match": tag})
        assert stale.status_code == 412, tag
    assert stale.status_code == 412 and stale.json()["code"] == "precondition_failed"
    assert shootd.cluster("dev").json()["description"] == "mine"


def test_deletion_protection(sim, shootd):
    shootd.create("dev", deletion_protection=True)
    shootd.wait_phase("dev", "ready")
    refused = shootd.http.delete(shootd.clusters_path("dev"))
    assert refused.status_code == 409 and refused.json()["code"] == "deletion_protected"
    assert shootd.http.put(shootd.clusters_path("dev"), json={"deletion_protection": False}).status_code == 200
    with sim.frozen():
        assert shootd.http.delete(shootd.clusters_path("dev")).status_code == 202
        assert shootd.http.delete(shootd.clusters_path("dev")).status_code == 202, "repeatable"
    shootd.wait_gone("dev")


def test_validation_reports_all_faults_with_valid_values(sim, shootd):
    answer = shootd.http.post(shootd.clusters_path(), json={
        "name": "Bad--Name-that-is-long", "colour": "red",
        "spec": {"kubernetes_version": "1.20.1", "node_pools": [
            {"machine_type": "huge", "minimum": 5, "maximum": 2, "taints": [{"key": "a", "effect": "Nope"}]}]}})
    assert answer.status_code == 422
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    problem = answer.json()
    faults = {f["pointer"]: f for f in problem["errors"]}
    assert set(faults) >= {"#/name", "#/colour", "#/spec/kubernetes_version", "#/spec/node_pools/0/machine_type",
                           "#/spec/node_pools/0/maximum", "#/spec/node_pools/0/taints/0/effect"}
    assert "b.2c4gb" in faults["#/spec/node_pools/0/machine_type"]["valid"]
    assert "1.34.3" in faults["#/spec/kubernetes_version"]["valid"]
    assert problem["code"] == "validation_failed" and problem["request_id"] == answer.headers["X-Request-Id"]
    assert "create_shoot" not in sim.counters()["by_operation"] or \
        sim.counters()["by_operation"]["create_shoot"]["requests"] == 0


def test_delete_while_creating_supersedes(sim, shootd):
    with sim.lasting("create"):
        created = shootd.create("dev")
        shootd.wait_phase("dev", "creating")
        deleted = shootd.http.delete(shootd.clusters_path("dev"))
        assert deleted.status_code == 202
    shootd.wait_gone("dev")
    first = shootd.wait_operation(created["operation"]["id"])
    assert first["status"] == "cancelled" and first["error"]["code"] == "superseded"
    assert shootd.wait_operation(deleted.json()["operation"]["id"])["status"] == "succeeded"
    assert sim.counters()["creates"] == {"dev": 1} and sim.counters()["deletes"] == {"dev": 1}


def test_failed_create_shows_the_cause_and_the_action(sim, shootd):
    sim.post("lifecycle", shoot="dev", operation="create", outcome="failed", at_progress=88,
             codes=["ERR_INFRA_QUOTA_EXCEEDED"], description="Quota exceeded for cores")
    op = shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    assert op["status"] == "failed" and op["error"]["code"] == "cluster_failed"
    assert op["error"]["upstream_errors"][0]["code"] == "ERR_INFRA_QUOTA_EXCEEDED"
    failed = shootd.wait_phase("dev", "failed")
    error = failed["status"]["errors"][0]
    assert error["user_error"] is True and error["retryable"] is False and "quota" in error["action"]
    told = [e["data"]["errors"] for e in shootd.events(cluster="dev") if e["type"] == "cluster.failed"]
    assert told and told[0], "the event tells the cause, too"
    assert told[0][0]["code"] == "ERR_INFRA_QUOTA_EXCEEDED" and told[0][0]["user_error"] is True
    assert told[0][0]["retryable"] is False and "quota" in told[0][0]["action"]
    assert shootd.http.delete(shootd.clusters_path("dev")).status_code == 202
    shootd.wait_gone("dev")


def test_trouble_shows_when_it_began(sim, shootd):
    """That time lasts over other changes and a restart, and ends with the trouble."""
    sim.post("lifecycle", shoot="dev", operation="create", outcome="failed", at_progress=88, codes=["ERR_INFRA_QUOTA_EXCEEDED"], description="Quota exceeded")
    accepted = shootd.create("dev")
    assert accepted["status"]["trouble_since"] is None
    shootd.wait_operation(accepted["operation"]["id"])
    failed = shootd.wait_phase("dev", "failed")
    since = failed["status"]["trouble_since"]
    assert failed["created_at"] < since <= failed["updated_at"]
    changed = shootd.http.patch(shootd.clusters_path("dev"), json={"labels": {"team": "web"}})
    assert changed.status_code == 200 and changed.json()["updated_at"] > failed["updated_at"], changed.text
    shootd.stop()
    shootd.start()
    brief = shootd.http.get("/v1/clusters", params={"fields": "summary"}).json()["items"][0]
    assert brief["labels"] == {"team": "web"} and brief["status"]["trouble_since"] == since == shootd.cluster("dev").json()["status"]["trouble_since"]
    assert shootd.http.post(shootd.clusters_path("dev") + "/actions/retry").status_code == 202
    shootd.wait_phase("dev", "ready")
    wait_until(lambda: shootd.cluster("dev").json()["status"]["trouble_since"] is None, what="the end of the trouble")


def retrying(sim, d, code):
    """One run of `dev` that shows the error and then recovers; returns the events of the error."""
    sim.post("lifecycle", shoot="dev", operation="create", outcome="error_heals", at_progress=40, codes=[code],
             description="RetryableError", heal_after_seconds=72000)
    op = d.create("dev")["operation"]
    d.wait_phase("dev", "retrying")
    assert d.operation(op["id"])["status"] == "running"
    sim.post("clock", advance_seconds=72000)
    assert d.wait_operation(op["id"])["status"] == "succeeded"
    d.wait_phase("dev", "ready")
    return [e for e in d.events(cluster="dev") if e["type"] == "cluster.retrying"]


def test_error_state_is_retrying_and_heals(sim, shootd, receiver):
    made = shootd.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["cluster.retrying"]})
    assert made.status_code == 201, made.text
    told = retrying(sim, shootd, "ERR_RETRYABLE_INFRA_DEPENDENCIES")
    assert len(told) == 1, told
    error = told[0]["data"]["errors"][0]
    assert error["code"] == "ERR_RETRYABLE_INFRA_DEPENDENCIES" and error["retryable"] is True and error["action"]
    delivered = wait_until(lambda: receiver.of_type("cluster.retrying"), what="the webhook")
    assert {one["json"]["id"] for one in delivered} == {told[0]["id"]}
    assert delivered[0]["json"]["data"]["errors"] == told[0]["data"]["errors"]


def test_an_exceeded_quota_is_told_while_cleura_tries_again(sim, shootd):
    told = retrying(sim, shootd, "ERR_INFRA_QUOTA_EXCEEDED")
    assert len(told) == 1, told
    error = told[0]["data"]["errors"][0]
    assert error["code"] == "ERR_INFRA_QUOTA_EXCEEDED" and error["user_error"] is True and "quota" in error["action"]


@pytest.mark.parametrize("v3", [True, False])
def test_kubeconfig_cache_expiry_and_fallback(sim, shootd, v3):
    sim.post("settings", v3_kubeconfig=v3)
    early = shootd.create("dev")["operation"]["id"]
    not_yet = shootd.http.get(shootd.clusters_path("dev") + "/kubeconfig")
    assert not_yet.status_code == 409 and not_yet.json()["code"] == "cluster_not_ready"
    assert not_yet.json()["operation_id"] == early, "the operation that the advice names"
    shootd.wait_phase("dev", "ready")
    first = shootd.http.get(shootd.clusters_path("dev") + "/kubeconfig", params={"ttl_seconds": 86400}).json()
    assert first["cached"] is False and first["expires_at"] and "kind: Config" in first["kubeconfig"]
    second = shootd.http.get(shootd.clusters_path("dev") + "/kubeconfig", params={"ttl_seconds": 86400}).json()
    assert second["cached"] is True and second["kubeconfig"] == first["kubeconfig"]
    made = sim.counters()["by_operation"]
    assert made["kubeconfig" if not v3 else "kubeconfig_v3"]["effects"] == 1
    other = shootd.http.post("/v1/tokens", json={"name": "other", "role": "operator", "projects": ["*"]}).json()
    theirs = shootd.http.get(shootd.clusters_path("dev") + "/kubeconfig", params={"ttl_seconds": 86400},
                             headers={"Authorization": "Bearer " + other["token"]}).json()
    assert theirs["cached"] is False, "kept per caller"
