"""POST /v1/operations/{id}/cancel (AO-9): no further step begins; a step that Cleura has already continues."""

import pytest

import web
from harness import wait_until


def cancel(d, id, **more):
    return d.http.post(f"/v1/operations/{id}/cancel", **more)


def test_ao9_a_change_that_waits_is_cancelled_at_once(sim, shootd):
    with sim.frozen():
        created = shootd.create("dev")
        path = shootd.clusters_path("dev")
        change = shootd.http.patch(path, json={"spec": {"maintenance": {"auto_update_kubernetes": False}}})
        id = change.json()["operation"]["id"]
        assert id != created["operation"]["id"]
        answer = cancel(shootd, id)
        assert answer.status_code == 200, answer.text
        op = answer.json()
        assert (op["status"], op["error"]["code"], op["cancelled_by"]) == ("cancelled", "operation_cancelled", "admin")
        assert cancel(shootd, id).json() == shootd.operation(id)  # a repeated cancel has the same answer
    assert shootd.wait_operation(created["operation"]["id"])["status"] == "succeeded"
    # The spec stays. The change that was not carried out is drift, and an equal PUT carries it out.
    cluster = wait_until(lambda: (c := shootd.cluster("dev").json())["drift"] and c, what="drift")
    assert cluster["drift"][0]["path"] == "maintenance.auto_update_kubernetes"
    repaired = shootd.http.put(path, json={"spec": cluster["spec"]}, params={"wait": 55})
    assert repaired.status_code == 200 and repaired.json()["drift"] == []


def test_ao9_the_rest_of_an_update_is_cancelled_between_two_steps(make_sim, make_shootd):
    sim = make_sim(speed=720)
    d = make_shootd(sim.url).start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    with sim.frozen():
        change = d.http.patch(d.clusters_path("dev"), json={"spec": {
            "maintenance": {"auto_update_kubernetes": False},
            "node_pools": [{"name": "default", "maximum": 4}, {"name": "more", "minimum": 1, "maximum": 1}]}})
        id = change.json()["operation"]["id"]
        assert len(change.json()["operation"]["steps"]) == 3
        wait_until(lambda: d.operation(id)["steps"][0]["status"] in ("waiting", "done"), what="the first step")
        sim.forget()
        answer = cancel(d, id)
        assert answer.status_code in (200, 202), answer.text
    op = d.wait_operation(id)
    assert op["status"] == "cancelled" and op["cancelled_by"] == "admin"
    assert op["steps"][-1]["status"] == "skipped"
    d.wait_phase("dev", "ready")
    assert [p["name"] for p in d.cluster("dev").json()["observed"]["node_pools"]] == ["default"]
    assert not [q for q in sim.requests() if q["operation"] == "create_worker"]


def test_a_create_that_cleura_never_got_is_cancelled(sim, shootd):
    shootd.wait_upstream()
    sim.fault("*", "status", status=503, count=0)
    id = shootd.create("dev")["operation"]["id"]
    answer = cancel(shootd, id)
    assert answer.status_code in (200, 202), answer.text
    assert shootd.wait_operation(id)["status"] == "cancelled"
    sim.clear_faults()
    assert shootd.cluster("dev").json()["status"]["phase"] == "failed"
    assert sim.get("state")["shoots"] == []
    again = shootd.http.post(shootd.clusters_path(), json={"name": "dev"}, params={"wait": 55})
    assert again.status_code == 201  # the record of the cancelled create does not block the name


def test_ao9_what_was_sent_or_has_ended_is_not_cancelled(shootd):
    id = shootd.create("dev")["operation"]["id"]
    wait_until(lambda: shootd.operation(id)["steps"][-1]["status"] == "waiting", what="the create to be sent")
    answer = cancel(shootd, id)
    assert answer.status_code == 409 and answer.json()["code"] == "operation_not_cancellable"
    assert answer.json()["operation_id"] == id
    shootd.wait_operation(id)
    assert cancel(shootd, id).json()["code"] == "operation_not_cancellable"
    assert cancel(shootd, "op_00000000000000000000000000").json()["code"] == "operation_not_found"


def test_a_cancel_survives_a_crash(make_sim, make_shootd):
    sim = make_sim(speed=720)
    d = make_shootd(sim.url).start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    with sim.frozen():
        change = d.http.patch(d.clusters_path("dev"), json={"spec": {
            "maintenance": {"auto_update_kubernetes": False},
            "node_pools": [{"name": "default", "maximum": 4}]}})
        id = change.json()["operation"]["id"]
        wait_until(lambda: d.operation(id)["steps"][0]["status"] == "waiting", what="the first step")
        assert cancel(d, id).status_code == 202
        d.kill()
        d.start()
    op = d.wait_operation(id)
    assert (op["status"], op["steps"][1]["status"]) == ("cancelled", "skipped")


@pytest.mark.parametrize("role, status", [("viewer", 403), ("operator", 404)])
def test_cancelling_needs_a_role_and_the_project(make_sim, make_shootd, role, status):
    import httpx
    d = make_shootd(make_sim().url, projects=[("team-a", "Sto2", "00112233445566778899aabbccddeeff"),
                                              ("team-b", "Sto2", "ffeeddccbbaa99887766554433221100")]).start()
    id = d.create("dev")["operation"]["id"]
    made = d.http.post("/v1/tokens", json={"name": "x", "role": role, "projects": ["team-b"]}).json()
    with web.Client(base_url=d.url, headers={"Authorization": "Bearer " + made["token"]}) as other:
        assert other.post(f"/v1/operations/{id}/cancel").status_code == status
