"""Accepting connections: the limit on open ones, and running out of descriptors."""

import os
import pathlib
import resource
import time

import pytest

from harness import wait_until
from raw import Raw, request

LIMIT = 16


def served(raw):
    return raw.send(request("GET", "/livez")).read().status == 200


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def small(sim, make_shootd):
    d = make_shootd(sim.url, extra=f"limits: {{connections: {LIMIT}}}\n").start()
    d.http.close()  # its connections count too
    return d


def test_connections_beyond_the_limit_wait_for_their_turn(small):
    raws = [Raw(small.port) for _ in range(LIMIT)]
    assert all(served(r) for r in raws)
    waiting = [Raw(small.port).send(request("GET", "/livez")) for _ in range(3)]
    wait_until(lambda: "no more connections are accepted" in small.log(), what="the limit to be met")
    time.sleep(0.3)
    for raw in waiting:
        raw.socket.settimeout(0)
        with pytest.raises(BlockingIOError):
            raw.socket.recv(1)
        raw.socket.settimeout(20)
    assert all(served(r) for r in raws), "those that are open go on"
    for closing, raw in zip(raws, waiting):
        closing.socket.close()
        assert raw.read().status == 200
    told = [line for line in small.log().splitlines() if "no more connections are accepted" in line]
    assert len(told) == 1 and "limits.connections" in told[0], "once a minute"
    for raw in raws + waiting:
        raw.socket.close()


def test_without_descriptors_it_waits_and_goes_on(shootd):
    pid = shootd.process.pid
    with Raw(shootd.port) as keep:
        assert served(keep)
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, hard))
        with Raw(shootd.port).send(request("GET", "/livez")) as raw:
            wait_until(lambda: "cannot accept connections" in shootd.log(), what="descriptors to be missed")
            before = cpu_seconds(pid)
            time.sleep(1)
            assert cpu_seconds(pid) - before < 0.5, "it does not spin"
            assert served(keep)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
            assert raw.read().status == 200
    assert shootd.log().count("cannot accept connections") == 1
