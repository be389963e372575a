"""Options, start, stop, the clock and the log."""

import socket
import subprocess
import time

import httpx
import pytest

import web
from conftest import PROJECT, binary


@pytest.mark.parametrize("options", [["--speed", "fast"], ["--listen", "nowhere"], ["--listen", "0.0.0.0:0"],
                                     ["--project", "123"], ["--no-such-option"], ["--seed", "-1"], ["stray"],
                                     ["--listen", "127.0.0.1:70000"], ["--token-ttl", "-5"]])
def test_bad_options_end_with_64_and_a_message(options):
    ended = subprocess.run([str(binary()), *options], capture_output=True, text=True, timeout=20)
    assert ended.returncode == 64
    assert ended.stderr


def test_help_and_remote_address(start):
    assert "--two-factor" in subprocess.run([str(binary()), "--help"], capture_output=True, text=True).stdout
    assert start("--allow-remote").control("GET", "/healthz") == {"ok": True}


def test_port_in_use_fails(start):
    port = start().url.rsplit(":", 1)[1]
    ended = subprocess.run([str(binary()), "--listen", f"127.0.0.1:{port}"], capture_output=True, timeout=20)
    assert ended.returncode == 1


def test_clock_moves_and_changes_speed(start):
    sim = start("--speed", "0")
    before = sim.control("GET", "/clock")
    assert before["speed"] == 0
    after = sim.control("POST", "/clock", {"advance_seconds": 86400, "speed": 2.5})
    assert after["speed"] == 2.5
    assert before["now"][:10] != after["now"][:10]
    assert sim.http.post("/_sim/clock", json={"speed": "x"}).status_code == 400
    assert sim.http.post("/_sim/clock", json={}).status_code == 400


def test_same_seed_gives_the_same_ids(start):
    uids = []
    for _ in range(2):
        sim = start("--speed", "0")
        sim.control("POST", "/shoots", {"count": 1})
        uids.append(sim.control("GET", "/state")["shoots"][0]["uid"])
    assert uids[0] == uids[1]


def test_keep_alive_and_pipelined_use_of_one_connection(sim):
    host, port = sim.url[7:].split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        for _ in range(3):
            connection.sendall(b"GET /_sim/healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b'{"ok":true}' in connection.recv(4096)


def test_log_lists_requests_without_secrets(sim):
    sim.bootstrap()
    sim.create("logged")
    log = sim.control("GET", "/requests")
    assert [item["operation"] for item in log["items"]] == ["create_token", "bootstrap", "create_shoot"]
    last = log["items"][-1]
    assert last["shoot"] == "logged" and last["status"] == 202 and last["in_flight"] == 1
    assert last["method"] == "POST" and last["duration_us"] >= 0 and last["at_us"] > log["items"][0]["at_us"]
    assert sim.auth["X-AUTH-TOKEN"] not in str(log)
    assert sim.control("GET", f"/requests?since={log['next']}")["items"] == []
    sim.control("DELETE", "/requests")
    assert sim.control("GET", "/requests")["items"] == []
    assert sim.counters()["requests"] == 0


def test_counters_tell_requests_from_effects(sim):
    sim.bootstrap()
    sim.create("one")
    sim.create("one")
    sim.request("DELETE", f"{sim.SHOOTS}/one")
    sim.request("DELETE", f"{sim.SHOOTS}/one")
    counters = sim.counters()
    assert counters["by_operation"]["create_shoot"] == {"requests": 2, "effects": 1}
    assert counters["by_operation"]["delete_shoot"] == {"requests": 2, "effects": 1}
    assert counters["creates"] == {"one": 1} and counters["deletes"] == {"one": 1}
    assert counters["logins"] == 1 and counters["max_in_flight"] == 1


def test_requests_under_way_are_counted(sim):
    import threading

    sim.settings(latency_ms=3000)
    threads = [threading.Thread(target=lambda: web.get(sim.url + "/nothing", timeout=30)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sim.counters()["max_in_flight"] == 3


def test_a_client_that_left_before_its_answer_is_reported(sim):
    def other():
        return [item.get("client_left", False) for item in sim.control("GET", "/requests")["items"] if item["operation"] == "other"]

    sim.settings(latency_ms=400)
    with pytest.raises(httpx.ReadTimeout):
        web.get(sim.url + "/nothing", timeout=httpx.Timeout(30, read=0.1))
    until = time.monotonic() + 20
    while not other() and time.monotonic() < until:
        time.sleep(0.01)
    sim.settings(latency_ms=0)
    web.get(sim.url + "/nothing")
    assert other() == [True, False]


def test_unknown_paths_and_bad_bodies(sim):
    for path in ("/", "/nothing", f"{sim.SHOOTS}/a/b/c/d", f"/gardener/v9/public/shoots/Sto2/{PROJECT}"):
        assert sim.request("GET", path).json()["error"]["code"] == 404
    answer = sim.http.post(sim.SHOOTS, content=b"{not json", headers=sim.auth)
    assert answer.status_code == 400
    answer = sim.http.post(sim.SHOOTS, content=b" " * 2_000_000, headers=sim.auth)
    assert answer.status_code == 413
    assert sim.request("GET", f"{sim.SHOOTS}/bad%2Fname").status_code == 400


def test_down_drops_everything_but_control(sim):
    sim.control("POST", "/down", {"down": True})
    with pytest.raises(httpx.TransportError):
        sim.request("GET", sim.SHOOTS)
    assert sim.control("GET", "/requests")["items"][-1]["status"] == 0
    sim.control("POST", "/down", {"down": False})
    assert sim.request("GET", sim.SHOOTS).status_code == 200
