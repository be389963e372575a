"""Accepting connections: the limit of open connections, and too few descriptors."""

import os
import pathlib
import re
import resource
import time

import httpx
import pytest

import web
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
    d.http.close()  # its connections count, too
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


PER_ADDRESS = 4
FEW = f"limits: {{connections_per_address: {PER_ADDRESS}}}\n"


def another_address(d):
    """127.0.0.2 counts as another client than 127.0.0.1."""
    return web.Client(base_url=d.url, transport=httpx.HTTPTransport(local_address="127.0.0.2"))


def test_an_idle_connection_makes_room_for_another_one_of_its_address(sim, make_shootd):
    """Some clients leave an idle connection behind for each request. The one that was idle longest is closed. With one thread,
    a connection is idle before the next one gets its answer."""
    d = make_shootd(sim.url, extra=f"limits: {{connections_per_address: {PER_ADDRESS}, http_threads: 1}}\n").start()
    d.http.close()
    with another_address(d) as other:
        assert other.get("/livez").status_code == 200
        raws = []
        for n in range(5 * PER_ADDRESS):
            raws.append(Raw(d.port))
            assert served(raws[-1]), n
            if len(raws) > PER_ADDRESS:
                assert raws.pop(0).is_closed(), n
        assert served(raws[0])  # now raws[1] is the one that was idle longest
        with Raw(d.port) as more:
            assert served(more) and raws[1].is_closed()
            assert all(served(raw) for raw in (raws[0], *raws[2:], more))
        assert other.get("/livez").status_code == 200, "the connection of another address stays"
        assert "shootd_http_connections_refused_total 0\n" in other.get("/metrics").text
    for raw in raws:
        raw.socket.close()


def test_an_address_has_so_many_connections_and_no_more(sim, make_shootd):
    d = make_shootd(sim.url, extra=FEW).start()
    d.http.close()
    token, raws = d.token(), []

    def fill():
        """Each connection has a stream, so none of them is idle. Connections of the start may not be closed yet."""
        while len(raws) < PER_ADDRESS:
            raw = Raw(d.port).send(request("GET", "/v1/events", "Accept: text/event-stream", token=token))
            if not raw.socket.recv(1000).startswith(b"HTTP/1.1 200 "):
                raw.socket.close()
                return False
            raws.append(raw)
        return True
    wait_until(fill, what="as many as it may have")
    with another_address(d) as other:
        def count():
            return int(re.search(r"^shootd_http_connections_refused_total (\d+)$", other.get("/metrics").text, re.M)[1])
        before = count()
        for n in range(1, 4):
            with Raw(d.port) as more:
                answer = more.read()
                assert (answer.status, answer.code, answer["Connection"]) == (429, "too_many_requests", "close")
                assert "limits.connections_per_address" in answer.json()["detail"] and int(answer["Retry-After"]) >= 1
                assert answer.json()["request_id"] == answer["X-Request-Id"] and more.is_closed()
            assert count() == before + n
        raws.pop().socket.close()
        wait_until(fill, what="the place of the closed one")
        assert other.get("/livez").status_code == 200
    for raw in raws:
        raw.socket.close()


def test_proxies_unix_sockets_and_zero_have_no_limit_of_an_address(sim, make_shootd, tmp_path):
    for name, extra in (("trusted", FEW + "trusted_proxies: [127.0.0.1]\n"), ("any", "limits: {connections_per_address: 0}\n")):
        d = make_shootd(sim.url, name=name, extra=extra).start()
        raws = [Raw(d.port) for _ in range(3 * PER_ADDRESS)]
        assert all(served(r) for r in raws), name
        for raw in raws:
            raw.socket.close()
    d = make_shootd(sim.url, name="unix", extra=FEW).start_on(tmp_path / "s")
    raws = [Raw(path=tmp_path / "s") for _ in range(3 * PER_ADDRESS)]
    assert all(served(r) for r in raws)
    for raw in raws:
        raw.socket.close()
