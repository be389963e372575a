"""Every kind of fault, their order and counts, and recorded requests."""

import time

import httpx
import pytest

import web


def listing(sim):
    return sim.request("GET", sim.SHOOTS)


def test_drop_with_and_without_effect(sim):
    sim.bootstrap()
    for name, effect in (("lost", False), ("done", True)):
        sim.fault("create_shoot", "drop", effect=effect)
        with pytest.raises(httpx.TransportError):
            sim.create(name)
        assert (sim.call("GET", "", name=name).status_code == 200) is effect
    assert sim.counters()["creates"] == {"done": 1}
    assert sim.counters()["by_operation"]["create_shoot"] == {"requests": 2, "effects": 1}
    statuses = [item["status"] for item in sim.control("GET", "/requests")["items"] if item["status"] == 0]
    assert len(statuses) == 2


def test_status_with_body_and_headers(sim):
    sim.fault("list_shoots", "status", status=429, headers={"Retry-After": "7"})
    sim.fault("list_shoots", "status", status=502, body="<html>bad gateway</html>", content_type="text/html")
    answer = listing(sim)
    assert answer.status_code == 429 and answer.headers["retry-after"] == "7"
    assert answer.json()["error"]["code"] == 429
    answer = listing(sim)
    assert answer.status_code == 502 and answer.headers["content-type"] == "text/html"
    assert answer.text == "<html>bad gateway</html>"
    assert listing(sim).status_code == 200


def test_count_skip_shoot_and_removal(sim):
    sim.ready("one")
    sim.create("two")
    sim.fault("get_shoot", "status", status=503, skip=1, count=2, shoot="one")
    assert [sim.call("GET", "", name="one").status_code for _ in range(4)] == [200, 503, 503, 200]
    assert sim.call("GET", "", name="two").status_code == 200
    assert sim.control("GET", "/faults")["items"][0]["hits"] == 2
    every = sim.fault("*", "status", status=500, count=0)
    assert [listing(sim).status_code for _ in range(3)] == [500] * 3
    sim.control("DELETE", f"/faults/{every}")
    assert listing(sim).status_code == 200
    sim.fault("*", "status", count=0)
    sim.control("DELETE", "/faults")
    assert sim.control("GET", "/faults")["items"] == []
    assert sim.http.delete("/_sim/faults/99").status_code == 404
    assert sim.http.post("/_sim/faults", json={"operation": "x", "kind": "drop"}).status_code == 400
    assert sim.http.post("/_sim/faults", json={"operation": "*", "kind": "x"}).status_code == 400


@pytest.mark.parametrize("kind,status,words", [("forbidden_ip", 403, "Forbidden IP"),
                                               ("no_privilege", 403, "No access:"),
                                               ("unauthorized", 401, "Invalid token")])
def test_refusals(sim, kind, status, words):
    sim.fault("list_shoots", kind)
    answer = listing(sim)
    assert answer.status_code == status and words in answer.json()["error"]["message"]


def test_garbage_keeps_a_good_status(sim):
    sim.bootstrap()
    sim.fault("create_shoot", "garbage", effect=True)
    answer = sim.create()
    assert answer.status_code == 202
    with pytest.raises(ValueError):
        answer.json()
    assert sim.call("GET", "").status_code == 200


def test_truncate_promises_more_than_it_sends(sim):
    sim.fault("cloud_profiles", "truncate")
    with pytest.raises(httpx.RemoteProtocolError):
        sim.request("GET", f"{sim.G}/cloud-profiles")


def test_oversize(sim):
    sim.fault("list_shoots", "oversize")
    size = 0
    with sim.http.stream("GET", sim.SHOOTS, headers=sim.auth) as answer:
        for piece in answer.iter_raw():
            size += len(piece)
    assert size == 70 * 1024 * 1024 + 2


def test_delay_and_slow_body(sim):
    sim.fault("list_shoots", "delay", delay_ms=300)
    begun = time.monotonic()
    assert listing(sim).status_code == 200
    assert time.monotonic() - begun >= 0.3
    sim.fault("cloud_profiles", "slow_body", delay_ms=20)
    begun = time.monotonic()
    assert sim.request("GET", f"{sim.G}/cloud-profiles").json()[0]["name"] == "cleuracloud"
    assert time.monotonic() - begun >= 0.3


def test_hang_ends_when_the_client_leaves(sim):
    sim.fault("list_shoots", "hang")
    with pytest.raises(httpx.ReadTimeout):
        web.get(sim.url + sim.SHOOTS, headers=sim.auth, timeout=httpx.Timeout(30, read=0.3))
    sim.wait(lambda: sim.control("GET", "/requests")["items"][-1]["status"] == 0)


def test_hang_does_not_hold_up_the_end(start):
    import threading

    sim = start()
    sim.login()
    sim.fault("list_shoots", "hang")
    thread = threading.Thread(target=lambda: pytest.raises(
        httpx.TransportError, web.get, sim.url + sim.SHOOTS, headers=sim.auth, timeout=30))
    thread.start()
    sim.wait(lambda: sim.counters()["by_operation"]["list_shoots"]["requests"] == 1)
    sim.process.terminate()
    thread.join(10)
    assert not thread.is_alive()


def test_wrong_types(sim):
    sim.ready()
    sim.fault("get_shoot", "wrong_types")
    shoot = sim.get()
    assert shoot["last_operation"]["progress"] == "100"
    assert shoot["shoot_provider"]["workers"]["0"]["minimum"] == "1"


def test_unknown_enum(sim):
    sim.ready()
    real = sim.get()
    sim.fault("get_shoot", "unknown_enum")
    shoot = sim.get()
    assert shoot["last_operation"]["state"] not in ("Succeeded", "Processing")
    assert shoot["last_operation"]["type"] != real["last_operation"]["type"]
    assert shoot["status"]["conditions"][0]["type"] != real["status"]["conditions"][0]["type"]
    assert shoot["name"] == real["name"] and shoot["networking"] == real["networking"]


def test_reorder(sim):
    sim.ready()
    real = sim.get()
    sim.fault("get_shoot", "reorder")
    assert sim.get()["status"]["conditions"] == real["status"]["conditions"][::-1]


def test_omit_optional(sim):
    sim.ready()
    sim.fault("get_shoot", "omit_optional")
    shoot = sim.get()
    assert not {"last_operation", "status", "uid", "control_plane", "hibernation"} & set(shoot)
    assert set(shoot["shoot_provider"]["workers"][0]) == {"name", "machine", "minimum", "maximum", "max_surge",
                                                         "volume", "zones"}
    assert shoot["shoot_provider"]["infrastructure_config"]["networks"] == {"workers": "10.250.0.0/16"}


def test_replay_comes_before_everything(sim):
    sim.control("POST", "/replay", {"answers": [
        {"operation": "list_shoots", "status": 200, "headers": {"X-Recorded": "1"}, "body": [{"name": "old"}]},
        {"operation": "get_shoot", "status": 404, "body": {"error": {"code": 404, "message": "gone"}}},
        {"operation": "list_shoots", "status": 503, "body": "text"}]})
    sim.auth = {}
    answer = listing(sim)
    assert answer.json() == [{"name": "old"}] and answer.headers["x-recorded"] == "1"
    answer = listing(sim)
    assert answer.status_code == 503 and answer.text == "text"
    assert listing(sim).status_code == 403
    assert sim.call("GET", "").json()["error"]["message"] == "gone"
    assert sim.http.post("/_sim/replay", json={"answers": [{"operation": "nope", "status": 200}]}).status_code == 400


def test_settings_are_checked(sim):
    shown = sim.settings(durations={"create": 10}, latency_ms=0)
    assert shown["durations"]["create"] == 10 and shown["stale_seconds"] == 5
    for wrong in ({"unknown": 1}, {"durations": {"unknown": 1}}, {"action_status": 500}, {"stale_seconds": "5"}):
        assert sim.http.post("/_sim/settings", json=wrong).status_code == 400
    sim.bootstrap()
    sim.create()
    sim.advance(20)
    assert sim.operation() == ("Create", "Succeeded", 100)


def test_invalid_utf8(sim):
    sim.ready()
    sim.fault("get_shoot", "invalid_utf8")
    answer = sim.call("GET", "")
    assert answer.status_code == 200
    with pytest.raises(UnicodeDecodeError):
        answer.content.decode()
    sim.get()


def test_two_nodes_take_turns_in_answering_lists(sim):
    sim.ready()
    sim.control("POST", "/settings", {"list_cache_seconds": 300})
    assert [len(listing(sim).json()) for _ in range(2)] == [1, 1]
    sim.control("POST", "/shoots", {"count": 1, "prefix": "late"})
    assert [len(listing(sim).json()) for _ in range(4)] == [2, 1, 2, 1], "one of them has not heard of it"
    sim.control("POST", "/clock", {"advance_seconds": 299})
    assert [len(listing(sim).json()) for _ in range(2)] == [2, 1]
    sim.control("POST", "/clock", {"advance_seconds": 1})
    assert [len(listing(sim).json()) for _ in range(2)] == [2, 2]


@pytest.mark.parametrize("wrong", [{"body": {"error": {"code": 400}}}, {"body": 1}, {"body": []}, {"body": None}, {"shoot": 1},
                                   {"count": "2"}, {"skip": 1.5}, {"effect": "yes"}, {"status": "429"}, {"delay_ms": "5"},
                                   {"delay_ms": -1}, {"delay_ms": 600001}, {"headers": {"Retry-After": 7}}, {"headers": "x"},
                                   {"content_type": 1}, {"body_text": "x"}, {"status": 2**32 + 429}])
def test_a_fault_with_a_member_of_a_wrong_type_is_refused(sim, wrong):
    answer = sim.http.post("/_sim/faults", json={"operation": "list_shoots", "kind": "status", **wrong})
    assert answer.status_code == 400, answer.text
    assert next(iter(wrong)) in [error["key"] for error in answer.json()["error"]["errors"]]
    assert sim.control("GET", "/faults")["items"] == [] and listing(sim).status_code == 200


@pytest.mark.parametrize("path,wrong", [
    ("lifecycle", {"count": "2"}), ("lifecycle", {"at_progress": "88"}), ("lifecycle", {"codes": "ERR_INFRA_QUOTA_EXCEEDED"}),
    ("lifecycle", {"description": 1}), ("lifecycle", {"heal_after_seconds": "60"}), ("lifecycle", {"heal_seconds": 60}),
    ("lifecycle", {"shoot": 1}), ("shoots", {"count": "5"}), ("shoots", {"state": 1}), ("shoots", {"region": 1}),
    ("shoots", {"names": ["a"]})])
def test_an_order_with_a_wrong_member_is_refused(sim, path, wrong):
    answer = sim.http.post(f"/_sim/{path}", json={**({"outcome": "failed"} if path == "lifecycle" else {}), **wrong})
    assert answer.status_code == 400
    assert [error["key"] for error in answer.json()["error"]["errors"]] == [*wrong]
    assert sim.control("GET", "/state")["shoots"] == []
