"""Key `access_log`: the requests that get a log line, and that a slow reader of the log delays no request (OB-12)."""

import json
import os
import re
import subprocess
import threading
import time

import pytest

from harness import BUILD, wait_until
from raw import Raw, request

LINES = re.compile(r"^\S+ info +(\S+ \S+) answered (\d+) in \d+ us(.*?) request_id=(\S+) ", re.M)


def configured(make_shootd, url, mode, level="info"):
    d = make_shootd(url)
    text = d.config.read_text().replace("log_level: debug\n", f"log_level: {level}\n")
    d.config.write_text(text.replace("access_log: all\n", f"access_log: {mode}\n" if mode else ""))
    return d.start()


def lines(d):
    """The lines of all requests that ended before this call. A request that is always logged marks the end."""
    id = f"last-line-{time.monotonic_ns()}"
    assert d.http.delete("/v1/tokens/none", headers={"X-Request-Id": id}).status_code == 404
    wait_until(lambda: id in d.log(), what="the last line")
    return [(what, int(status)) for what, status, _, given in LINES.findall(d.log()) if given != id]


def asked(d, sim):
    """One request of each kind; waits for the end of a create."""
    clusters = d.clusters_path()
    assert d.http.get(clusters).status_code == 200
    assert d.http.get(clusters + "?limit=none").status_code == 400
    assert d.http.get("/v1/whoami", headers={"Authorization": "Bearer x"}).status_code == 401
    assert d.http.get(clusters + "/none").status_code == 404
    assert d.http.post(clusters, json={"name": "Not-a-name"}).status_code == 422
    operation = d.create("logged")["operation"]
    began = time.monotonic()
    assert d.http.get(f"/v1/operations/{operation['id']}", params={"wait": 60}).json()["status"] == "succeeded"
    assert time.monotonic() - began > 1, "it waited, which is not slow"
    sim.fault("get_shoot", "delay", delay_ms=1500, count=0)
    assert d.http.get(clusters + "/logged", headers={"Cache-Control": "no-cache"}).status_code == 200
    sim.clear_faults()


@pytest.mark.parametrize("mode", [None, "writes"])
def test_writes_errors_and_what_is_slow(sim, make_shootd, mode):
    d = configured(make_shootd, sim.url, mode)
    d.wait_upstream()
    sim.post("settings", durations={"create": 1500})
    asked(d, sim)
    clusters = "/v1/projects/{project}/clusters"
    assert lines(d) == [(f"GET {clusters}/{{cluster}}", 404), (f"POST {clusters}", 422), (f"POST {clusters}", 202),
                        (f"GET {clusters}/{{cluster}}", 200)]
    assert re.search(r"answered 200 in [1-9]\d{6,} us", d.log()), "the slow one"
    accepted = re.search(r"POST \S+ answered 202 .*", d.log())[0]
    assert re.match(r"POST \S+ answered 202 in \d+ us \(project team-a, token tok_\w+\) request_id=\S+ trace_id=[0-9a-f]{32} method=POST", accepted)
    assert re.search(r"answered 404 in \d+ us \(project team-a, cluster none, token tok_\w+\): cluster_not_found ", d.log())


def test_all_and_off(sim, make_shootd):
    d = configured(make_shootd, sim.url, "all")
    d.wait_upstream()
    asked(d, sim)
    statuses = [status for _, status in lines(d)]
    assert {200, 202, 400, 401, 404, 422} <= set(statuses)
    assert "/readyz" not in d.log() and "/metrics" not in d.log(), "probes are at level debug"
    d.stop()
    before = d.log()
    d.config.write_text(d.config.read_text().replace("access_log: all", "access_log: off"))
    d.start()
    assert d.http.delete("/v1/tokens/none").status_code == 404
    d.stop()
    assert " answered " not in d.log().removeprefix(before)


def test_the_level_hides_them(sim, make_shootd):
    d = configured(make_shootd, sim.url, "all", level="warning")
    assert d.http.delete("/v1/tokens/none").status_code == 404
    d.stop()
    assert " answered " not in d.log()


def test_the_last_lines_are_written_at_the_end(sim, make_shootd):
    d = configured(make_shootd, sim.url, "all")
    for i in range(150):
        assert d.http.get("/v1/whoami", headers={"X-Request-Id": f"request-{i}"}).status_code == 200
    d.stop()
    assert re.findall(r"request_id=(request-\d+) ", d.log()) == [f"request-{i}" for i in range(150)]


def test_a_log_that_nobody_reads_blocks_no_request(sim, make_shootd, tmp_path):
    """stderr is a full pipe: lines are dropped and counted, and appear again once the pipe is read."""
    d = make_shootd(sim.url)
    d.config.write_text(d.config.read_text().replace("log_level: debug", "log_level: info"))
    d.log_path = tmp_path / "pipe"
    os.mkfifo(d.log_path)
    reader = os.open(d.log_path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        d.start()
        requests, dropped, took, token = 0, 0, [], d.token()
        while not dropped and requests < 20000:
            with Raw(d.port) as one:  # an HTTP library takes ten times as long as shootd
                for _ in range(500):
                    began = time.monotonic()
                    assert one.send(request("GET", "/v1/whoami", f"X-Request-Id: request-{requests}", token=token)).read().status == 200
                    took.append(time.monotonic() - began)
                    requests += 1
                # on the same connection: the lines of all requests before were written or dropped
                metrics = one.send(request("GET", "/metrics", token=token)).read().body.decode()
            dropped = int(re.search(r"^shootd_access_log_dropped_total (\d+)", metrics, re.M)[1])
        assert dropped > 0 and max(took) < 5, (dropped, max(took))
        os.set_blocking(reader, True)
        text, ended = [], threading.Thread(target=d.stop, daemon=True)
        ended.start()
        while chunk := os.read(reader, 1 << 20):
            text.append(chunk.decode())
            if "stopped" in "".join(text[-2:]):
                break
        ended.join(60)
        assert not ended.is_alive()
        written = re.findall(r"request_id=request-(\d+) ", "".join(text))
        assert len(written) + dropped == requests, "each line is written or counted"
        assert [int(n) for n in written] == sorted({int(n) for n in written})
    finally:
        os.close(reader)


def test_lines_can_be_json(sim, make_shootd):
    d = make_shootd(sim.url)
    d.config.write_text(d.config.read_text() + "log_format: json\n")
    d.start().wait_upstream()
    d.wait_operation(d.create("logged")["operation"]["id"])
    d.stop()
    written = [json.loads(line) for line in d.log().splitlines()]
    assert all(value.__class__ is str for line in written for value in line.values())
    assert all(list(line)[:3] == ["time", "level", "message"] for line in written)
    created = next(line for line in written if line["message"].startswith("POST /v1/projects/{project}/clusters answered 202"))
    assert created["project"] == "team-a" and created["level"] == "info" and int(created["duration_us"]) > 0


def test_a_journal_that_is_not_there_is_reported(sim, make_shootd):
    if os.path.exists("/run/systemd/journal/socket"):
        pytest.skip("this machine has a journal")
    d = make_shootd(sim.url)
    d.config.write_text(d.config.read_text() + "log_format: journal\n")
    run = subprocess.run([BUILD / "shootd", "--config", d.config], capture_output=True, text=True, timeout=30, check=False)
    assert run.returncode == 78
    assert "journal cannot be written (log_format)" in run.stderr
