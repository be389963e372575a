"""The start of listening, and the stop: drain, signals, socket activation, notifications of systemd."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import httpx
import pytest

import harness
import web
from harness import BUILD, wait_until
from raw import Raw, request


@pytest.fixture
def slow_sim(make_sim):
    return make_sim(speed=1)


def with_drain(make_shootd, sim, limit):
    return make_shootd(sim.url, extra=f"limits: {{drain: {limit}}}\n")


def hold(d):
    """A request with an endless body, which the drain waits for."""
    raw = Raw(d.port, timeout=60)
    raw.send(request("POST", "/v1/tokens", f"Authorization: Bearer {d.token()}", "Content-Type: application/json",
                     "Content-Length: 100") + b'{"name":')
    wait_until(lambda: re.search(r"^shootd_http_requests_in_flight 2$", d.http.get("/metrics").text, re.M),
               what="the request to be under way")
    return raw


def test_waiting_requests_are_answered(slow_sim, make_shootd):
    d = make_shootd(slow_sim.url).start()
    op = d.create("dev")["operation"]["id"]
    answers = []

    def wait():
        answers.append(web.get(f"{d.url}/v1/operations/{op}?wait=50", timeout=90,
                                 headers={"Authorization": "Bearer " + d.token()}))
    threads = [threading.Thread(target=wait) for _ in range(20)]
    for t in threads:
        t.start()
    wait_until(lambda: re.search(r"^shootd_http_parked 20$", d.http.get("/metrics").text, re.M), what="clients to wait")
    began = time.monotonic()
    d.process.popen.terminate()
    for t in threads:
        t.join(60)
    assert len(answers) == 20 and {a.status_code for a in answers} <= {200, 503}
    for a in answers:
        assert a.headers["Connection"] == "close"
        if a.status_code == 503:
            assert a.json()["code"] == "shutting_down" and int(a.headers["Retry-After"]) >= 1
    assert d.process.popen.wait(30) == 0
    assert time.monotonic() - began < 20, "not only at the drain limit"
    assert "stopped" in d.log() and "aborted at the drain limit" not in d.log()
    # Accepted operations continue.
    d.start()
    wait_until(lambda: d.operation(op)["status"] == "running", what="the operation to go on")


def test_while_draining(slow_sim, make_shootd):
    """Not ready but alive: it refuses new work and new connections, and closes connections one by one."""
    d = with_drain(make_shootd, slow_sim, "60s").start()
    idle = [Raw(d.port) for _ in range(8)]
    for raw in idle:  # accepted connections that stay open
        assert raw.send(request("GET", "/livez")).read().status == 200
    held = hold(d)
    d.process.popen.terminate()
    spare = [idle[0], *idle[5:]]

    def has_begun():
        """A request may come before the stop: then the answer is 200 and closes its connection."""
        ready = spare[-1].send(request("GET", "/readyz")).read()
        closes = [field.lower() for field in ready.all("Connection")] == ["close"]
        if closes:
            spare.pop()
        return ready.status == 503 and closes
    wait_until(has_begun, what="the stop to begin")
    token = d.token()
    for raw, head, status in (
            (idle[1], request("GET", "/livez"), 200),
            (idle[2], request("GET", "/v1/clusters", token=token), 200),
            (idle[3], request("POST", "/v1/projects/team-a/clusters", "Content-Type: application/json", token=token,
                              body='{"name":"late"}'), 503),
            (idle[4], request("DELETE", "/v1/projects/team-a/clusters/x", token=token), 503)):
        answer = raw.send(head).read()
        assert answer is not None and answer.status == status, (head, answer)
        assert answer["Connection"].lower() == "close"
        assert raw.is_closed()
    late = Raw(d.port).send(request("GET", "/livez"))
    held.socket.close()
    assert late.read() is None, "nobody serves what comes after the stop was ordered"
    assert d.process.popen.wait(40) == 0
    with pytest.raises(ConnectionRefusedError):
        Raw(d.port)
    assert not [r for r in slow_sim.requests() if r["operation"] == "create_shoot"]


def test_drain_limit_cuts_what_does_not_end(slow_sim, make_shootd):
    d = with_drain(make_shootd, slow_sim, "1s").start()
    held = hold(d)
    began = time.monotonic()
    d.process.popen.terminate()
    assert d.process.popen.wait(30) == 0
    assert 0.9 < time.monotonic() - began < 20
    assert "requests aborted: the time of limits.drain is over" in d.log()
    held.socket.close()


@pytest.mark.parametrize("first, second", [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM)])
def test_second_signal_ends_at_once(slow_sim, make_shootd, first, second):
    d = with_drain(make_shootd, slow_sim, "60s").start()
    held = hold(d)
    d.process.popen.send_signal(first)
    wait_until(lambda: "stopping" in d.log(), what="the stop to begin")
    time.sleep(0.2)
    assert d.process.popen.poll() is None
    began = time.monotonic()
    d.process.popen.send_signal(second)
    assert d.process.popen.wait(30) == 1
    assert time.monotonic() - began < 30, "not the minute of the drain"
    held.socket.close()
    d.start()  # the store is not damaged


def test_stop_right_after_the_start(sim, make_shootd):
    for i in range(5):
        d = make_shootd(sim.url, name=f"s{i}").start(wait=False)
        time.sleep(0.02 * i)
        d.process.popen.terminate()
        code = d.process.popen.wait(20)
        assert code in (0, -signal.SIGTERM), d.log()  # before the program handles signals, the default action ends it


# ---- listening ---------------------------------------------------------------------------------------------------

# LISTEN_PID must be the pid of the daemon, which is known only after the fork.
LAUNCHER = """import os, sys
for target in range(3, 3 + int(sys.argv[2])):
    if int(sys.argv[1]) != target:
        os.dup2(int(sys.argv[1]), target)
    os.set_inheritable(target, True)
os.environ.update(LISTEN_FDS=sys.argv[2], LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[3], sys.argv[3:])
"""


class Activated(harness.Process):
    """The daemon with a listening socket as descriptor 3, as systemd starts it."""

    def __init__(self, d, listener, count=1):
        self.log_path = d.log_path
        self.log = open(d.log_path, "ab")
        argv = [sys.executable, "-c", LAUNCHER, str(listener.fileno()), str(count), str(BUILD / "shootd"), "--config",
                str(d.config)]
        self.popen = subprocess.Popen(argv, stdout=self.log, stderr=self.log, pass_fds=(listener.fileno(),))


@pytest.fixture
def listener():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(64)
        yield s


def test_socket_activation_loses_no_connection(sim, make_shootd, listener):
    d = make_shootd(sim.url)
    own_port, d.port = d.port, listener.getsockname()[1]
    d.url = f"http://127.0.0.1:{d.port}"
    early = Raw(d.port, timeout=60).send(request("GET", "/livez", "Connection: close"))  # before the daemon runs
    d.process = Activated(d, listener)
    assert early.read().status == 200
    d.wait_ready()
    with pytest.raises(ConnectionRefusedError):
        Raw(own_port)  # the socket from systemd wins over `listen`
    for _ in range(3):
        d.stop()
        between = Raw(d.port, timeout=60).send(request("GET", "/v1/clusters", "Connection: close", token=d.token()))
        d.process = Activated(d, listener)
        answer = between.read()
        assert answer is not None and answer.status == 200, "the next process serves it"
        d.wait_ready()


def test_socket_activation_loses_no_connection_made_during_the_stop(sim, make_shootd, listener):
    d = make_shootd(sim.url)
    d.port = listener.getsockname()[1]
    d.url = f"http://127.0.0.1:{d.port}"
    for _ in range(10):
        d.process = Activated(d, listener)
        d.wait_ready()
        raws = []
        d.process.popen.terminate()
        while d.process.popen.poll() is None and len(raws) < 40:
            raws.append(Raw(d.port, timeout=60).send(request("GET", "/livez", "Connection: close")))
        assert d.process.popen.wait(20) == 0
        d.process = Activated(d, listener)
        answers = [r.read() for r in raws]
        d.wait_ready()
        assert [a and a.status for a in answers] == [200] * len(raws)
        d.stop()


def test_two_passed_sockets_are_refused(sim, make_shootd, listener):
    d = make_shootd(sim.url)
    d.process = Activated(d, listener, count=2)
    assert d.process.popen.wait(20) == 69
    assert "exactly one listening" in d.log()


def test_a_foreign_listen_pid_is_ignored(sim, make_shootd):
    d = make_shootd(sim.url)
    d.environment = {"LISTEN_FDS": "1", "LISTEN_PID": "1"}
    d.start()
    assert d.http.get("/livez").status_code == 200


def test_unix_socket(sim, make_shootd):
    d = make_shootd(sim.url)
    path = d.directory / "s"
    d.config.write_text(re.sub(r"^listen: .*$", f"listen: unix:{path}", d.config.read_text(), flags=re.M))

    def answers():
        try:
            return path.exists() and Raw(path=path).send(request("GET", "/readyz")).read().status == 200
        except OSError:
            return False
    for ending in ("kill", "stop", "stop"):
        d.start(wait=False)
        wait_until(answers, what="the socket to answer")
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        with web.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://shootd") as http:
            got = http.get("/v1/clusters", headers={"Authorization": "Bearer " + d.token()})
            assert got.status_code == 200
        second = subprocess.run([BUILD / "shootd", "--config", d.config], capture_output=True, timeout=30)
        assert second.returncode == 69 and answers(), "a second instance takes nothing away"
        if ending == "kill":
            d.kill()
            assert path.exists(), "left over, and no obstacle"
        else:
            d.stop()
            assert not path.exists()


@pytest.mark.parametrize("kind", ["file", "empty", "directory", "fifo", "link"])
def test_what_is_no_socket_stays(sim, make_shootd, kind):
    d = make_shootd(sim.url)
    path = d.directory / "s"
    other = d.directory / "other"
    make = {"file": lambda: path.write_text("precious"), "empty": path.touch, "directory": path.mkdir, "fifo": lambda: os.mkfifo(path),
            "link": lambda: (other.write_text("precious"), path.symlink_to(other))}
    make[kind]()
    before = path.lstat()
    d.config.write_text(re.sub(r"^listen: .*$", f"listen: unix:{path}", d.config.read_text(), flags=re.M))
    run = subprocess.run([BUILD / "shootd", "--config", d.config], capture_output=True, text=True, timeout=30, check=False)
    assert run.returncode == 69 and f"cannot listen on unix:{path}: File exists" in run.stderr, run.stderr
    after = path.lstat()
    assert (before.st_ino, before.st_mode, before.st_size) == (after.st_ino, after.st_mode, after.st_size)
    assert kind not in ("file", "link") or path.read_text() == "precious"


def test_the_end_removes_only_the_own_socket(sim, make_shootd):
    d = make_shootd(sim.url)
    path = d.directory / "s"
    d.start_on(path)
    path.unlink()
    path.write_text("precious")
    d.stop()
    assert path.read_text() == "precious"


@pytest.mark.parametrize("closed", ["0", "1", "2", "012"])
def test_closed_streams_are_no_files_of_the_store(sim, make_shootd, closed):
    d = make_shootd(sim.url)
    redirections = " ".join(f"{fd}>&-" for fd in closed)
    d.process = harness.Process(["/bin/sh", "-c", f'exec "$0" --config "$1" {redirections}', BUILD / "shootd", d.config], d.log_path)
    d.wait_ready()
    for fd in closed:
        assert os.readlink(f"/proc/{d.process.pid}/fd/{fd}") == "/dev/null"
    d.process.stop()
    files = [p for p in d.state.iterdir() if p.is_file() and b"shootd is ready" in p.read_bytes()]
    assert not files, files


# ---- systemd -----------------------------------------------------------------------------------------------------

def test_notifications(sim, make_shootd, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(tmp_path / "notify"))
        notify.settimeout(20 * harness.PATIENCE)
        d = make_shootd(sim.url)
        d.process = harness.Process([BUILD / "shootd", "--config", d.config], d.log_path,
                                    env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify"),
                                         "WATCHDOG_USEC": "6000000"})

        def read():
            return dict(line.split("=", 1) for line in notify.recv(4096).decode().splitlines())
        first = read()
        assert first["READY"] == "1" and first["STATUS"]
        assert web.get(d.url + "/readyz").status_code == 200, "ready means ready"
        began = time.monotonic()
        for _ in range(3):
            assert read() == {"WATCHDOG": "1"}
        assert time.monotonic() - began < 3 * 3, "more often than half the interval (SD-4)"
        d.process.popen.terminate()
        said = read()
        while said == {"WATCHDOG": "1"}:
            said = read()
        assert said["STOPPING"] == "1"
        assert d.process.popen.wait(20) == 0


def test_no_watchdog_without_being_asked(sim, make_shootd, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(tmp_path / "notify"))
        d = make_shootd(sim.url)
        d.process = harness.Process([BUILD / "shootd", "--config", d.config], d.log_path,
                                    env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")})
        notify.settimeout(20 * harness.PATIENCE)
        assert notify.recv(4096).startswith(b"READY=1")
        notify.settimeout(0.5)
        with pytest.raises(socket.timeout):
            notify.recv(4096)
