"""Writes that are answered when their operation has ended: ?wait and Prefer (AO-10 to AO-12, AO-16)."""

import time

import pytest

import web


def prefer(text):
    return {"Prefer": text}


def test_a_create_that_is_waited_for_answers_201_with_the_ready_cluster(shootd):
    answer = shootd.http.post(shootd.clusters_path(), json={"name": "dev"}, params={"wait": 55})
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == shootd.clusters_path("dev")
    assert "Retry-After" not in answer.headers
    body = answer.json()
    assert body["operation"]["status"] == "succeeded" and body["status"]["phase"] == "ready"
    assert answer.headers["ETag"] and body["observed"]


def test_every_write_can_be_waited_for(shootd):
    path = shootd.clusters_path("dev")
    assert shootd.http.put(path, json={}, params={"wait": 55}).status_code == 201
    patched = shootd.http.patch(path, json={"spec": {"node_pools": [{"name": "default", "maximum": 4}]}},
                                params={"wait": 55})
    assert patched.status_code == 200, patched.text
    pools = patched.json()["observed"]["node_pools"]
    assert [p["maximum"] for p in pools] == [4]
    assert "Location" not in patched.headers
    pool = shootd.http.post(path + "/node-pools", params={"wait": 55},
                            json={"name": "more", "machine_type": "b.2c4gb", "minimum": 1, "maximum": 1})
    assert pool.status_code == 200 and len(pool.json()["observed"]["node_pools"]) == 2
    slept = shootd.http.post(path + "/actions/hibernate", headers=prefer("wait=55"))
    assert slept.status_code == 200 and slept.json()["status"]["phase"] == "hibernated"
    assert slept.headers["Preference-Applied"] == "wait=55"
    gone = shootd.http.delete(path, params={"wait": 55})
    assert gone.status_code == 204 and not gone.content
    assert shootd.cluster("dev").status_code == 404


def test_ao11_after_the_time_it_is_202_with_the_state_of_then(make_sim, make_shootd):
    d = make_shootd(make_sim(speed=20).url).start().wait_upstream()
    began = time.monotonic()
    answer = d.http.post(d.clusters_path(), json={"name": "dev"}, headers=prefer("respond-async, wait=2"))
    took = time.monotonic() - began
    assert answer.status_code == 202 and 1.9 < took < 30
    assert answer.headers["Preference-Applied"] == "respond-async, wait=2"
    assert answer.headers["Location"] == "/v1/operations/" + answer.json()["operation"]["id"]
    assert answer.headers["Retry-After"]
    assert answer.json()["operation"]["status"] in ("pending", "running")
    # The same write joins the wait; the parameter wins over the preference.
    began = time.monotonic()
    again = d.http.put(d.clusters_path("dev"), json={}, params={"wait": 1}, headers=prefer("wait=50"))
    assert again.status_code == 202 and time.monotonic() - began < 30
    assert "Preference-Applied" not in again.headers


def test_a_failed_operation_is_told_as_its_problem(sim, shootd):
    sim.fault("create_shoot", "status", status=400, body='{"error": {"code": 400, "message": "the flavor is gone"}}')
    answer = shootd.http.post(shootd.clusters_path(), json={"name": "dev"}, params={"wait": 55})
    assert answer.status_code == 422, answer.text
    problem = answer.json()
    assert problem["code"] == "upstream_refused" and "the flavor is gone" in problem["detail"]
    operation = shootd.operation(problem["operation_id"])
    assert operation["status"] == "failed" and operation["error"]["code"] == "upstream_refused"


def test_a_replaced_operation_says_by_which(make_sim, make_shootd):
    sim = make_sim(speed=60)
    d = make_shootd(sim.url).start()
    d.create("dev")
    path = d.clusters_path("dev")
    with web.Client(base_url=d.url, headers=d.http.headers, timeout=90) as other:
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(1) as pool:
            change = pool.submit(other.put, path, json={"spec": {"maintenance": {"auto_update_kubernetes": False}}},
                                 params={"wait": 55})
            while len(d.http.get(path + "/operations").json()["items"]) < 2:
                time.sleep(0.05)
            gone = d.http.delete(path)
            answer = change.result(60)
    assert answer.status_code == 409 and answer.json()["code"] == "superseded"
    assert answer.json()["operation_id"] == gone.json()["operation"]["id"]


@pytest.mark.parametrize("method", ["post", "put"])
def test_return_minimal_leaves_the_body_out(shootd, method):
    path = shootd.clusters_path("dev" if method == "put" else "")
    body = {} if method == "put" else {"name": "dev"}
    answer = getattr(shootd.http, method)(path, json=body, headers=prefer("return=minimal"))
    assert answer.status_code == 202 and not answer.content
    assert answer.headers["Preference-Applied"] == "return=minimal"
    assert answer.headers["Location"].startswith("/v1/operations/op_") and answer.headers["ETag"]
    shootd.wait_phase("dev", "ready")
    equal = shootd.http.put(shootd.clusters_path("dev"), json={}, headers=prefer('return="minimal"'))
    assert equal.status_code == 204 and not equal.content
    whole = shootd.http.put(shootd.clusters_path("dev"), json={}, headers=prefer("return=representation"))
    assert whole.status_code == 200 and whole.json()["name"] == "dev"
    assert whole.headers["Preference-Applied"] == "return=representation"
    # Errors and dry runs are always complete.
    assert shootd.http.post(shootd.clusters_path(), json={"name": "dev"},
                            headers=prefer("return=minimal")).json()["code"] == "cluster_exists"
    assert shootd.http.put(shootd.clusters_path("dev"), json={}, params={"dry_run": "true"},
                           headers=prefer("return=minimal")).json()["valid"] is True


def test_ao10_unknown_and_malformed_preferences_are_passed_over(shootd):
    for text in ("handling=strict", "wait", "wait=", "wait=x, return=none", "wait=-1", ",;,", "return"):
        answer = shootd.http.put(shootd.clusters_path("dev"), json={}, headers=prefer(text))
        assert answer.status_code in (200, 202) and answer.content, text
        assert "Preference-Applied" not in answer.headers, text


def test_a_repeated_keyed_create_waits_too(shootd):
    key = {"Idempotency-Key": "wait-for-it-0123456789"}
    first = shootd.http.post(shootd.clusters_path(), json={"name": "dev"}, headers=key)
    assert first.status_code == 202
    again = shootd.http.post(shootd.clusters_path(), json={"name": "dev"}, headers=key, params={"wait": 55})
    assert again.status_code == 201 and again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["operation"]["status"] == "succeeded"
