"""Requests that are refused before their body is read: the client gets the answer, even if it reads it late."""

import pathlib
import time

import pytest

from harness import PATIENCE, wait_until
from raw import Raw, request


@pytest.fixture
def d(shootd):
    return shootd


def connected(d):
    """The number of sockets of the daemon that a client connected and the daemon has not closed."""
    entries = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return len([e for e in entries if e[1].endswith(f":{d.port:04X}") and e[3] != "0A" and e[9] != "0"])


BODY = 3 * 512 * 1024  # larger than the limit of a body and the buffers of sockets


def send_all_then_read(raw, token):
    raw.send(request("POST", "/v1/tokens", "Content-Type: application/json", f"Content-Length: {BODY}", token=token))
    time.sleep(0.2)  # the answer arrives, and the client does not read it
    for _ in range(0, BODY, 65536):
        raw.send(b" " * 65536)
    code = raw.read().code
    assert raw.is_closed()
    return code


@pytest.mark.parametrize("known, code", [(False, "unauthenticated"), (True, "body_too_large")])
def test_a_client_that_sends_a_refused_body_first_gets_the_answer(d, known, code):
    """A plain close would reset the connection and discard the answer (RFC 9112, 9.6)."""
    before = connected(d)
    with Raw(d.port) as raw:
        assert send_all_then_read(raw, d.token() if known else "") == code
        assert connected(d) >= 1
    wait_until(lambda: connected(d) <= before, what="the connection to be gone")


def test_the_same_through_a_unix_socket(sim, make_shootd, tmp_path):
    path = tmp_path / "s"
    d = make_shootd(sim.url).start_on(path)
    with Raw(path=path) as raw:
        assert send_all_then_read(raw, d.token()) == "body_too_large"


def test_a_stop_lets_refused_bodies_end(sim, make_shootd):
    """503 while the daemon drains; the client sends its body before it reads."""
    d = make_shootd(sim.url, extra="limits: {drain: 60s}\n").start()
    idle, other = Raw(d.port), Raw(d.port)
    assert other.send(request("GET", "/livez")).read().status == 200
    assert idle.send(request("GET", "/livez")).read().status == 200
    held = Raw(d.port).send(request("POST", "/v1/tokens", "Content-Type: application/json", "Content-Length: 9", "Expect: 100-continue", token=d.token()))
    assert held.socket.recv(100).startswith(b"HTTP/1.1 100 ")
    d.process.popen.terminate()
    wait_until(lambda: other.send(request("GET", "/readyz")).read().headers.count(("connection", "close")), what="the stop to begin")
    idle.send(request("POST", "/v1/tokens", "Content-Type: application/json", "Content-Length: 60000", token=d.token()))
    held.send(b'{"a":1}  ')  # this was the last request that the drain waited for
    time.sleep(0.1)
    idle.send(b" " * 60000)
    assert idle.read().code == "shutting_down"
    assert d.process.popen.wait(40) == 0


def test_a_client_that_never_stops_sending_is_disconnected(d):
    with Raw(d.port) as raw:
        raw.send(request("POST", "/v1/tokens", "Content-Type: application/json", "Content-Length: 1000000000", token=d.token()))
        assert raw.read().code == "body_too_large"
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            end = time.monotonic() + 10 * PATIENCE
            while time.monotonic() < end:
                raw.send(b" " * 1000)
                time.sleep(0.05)
