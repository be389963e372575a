"""The reason why Cleura cannot be reached is visible everywhere: host, class of failure, and since when."""

import contextlib
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

import harness
from harness import wait_until
from test_budgets import LOOP_STALL_S


def away_from(make_shootd, url):
    d = make_shootd(url).start()
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"], what="the reason")
    return d


def assert_told_everywhere(d, host, reason):
    """The project, its account, the event of the failed login and the log have the same text."""
    def told(text):
        return text and f"Cleura ({host}) cannot be reached since 20" in text and text.endswith(reason)
    upstream = wait_until(lambda: (u := d.http.get("/v1/projects/team-a").json()["upstream"])["login_message"] and u,
                          what="the login to fail")
    assert told(upstream["last_error"]), upstream
    assert upstream["login"] == "unreachable" and told(upstream["login_message"]), upstream
    account = d.http.get("/v1/accounts").json()["items"][0]
    assert account["login_state"] == "unreachable" and told(account["login_message"]), account
    event = wait_until(lambda: d.events(type="account.login_failed"), what="the event")[0]
    assert event["data"]["account"] == "main" and told(event["data"]["message"]), event
    line = wait_until(lambda: re.search(rf"^.*Cleura \({re.escape(host)}\) cannot be reached since 20.*$", d.log(), re.M), what="the line")
    assert reason in line[0], line[0]


def test_a_refused_connection_at_the_login(make_shootd):
    port = harness.free_port()
    d = away_from(make_shootd, f"http://127.0.0.1:{port}")
    upstream = d.http.get("/v1/projects/team-a").json()["upstream"]
    assert f"Cleura (127.0.0.1:{port}) cannot be reached since 20" in upstream["last_error"]
    assert upstream["last_error"].endswith("no connection can be made")
    assert upstream["login"] == "unreachable" and upstream["login_message"].startswith("the login failed: Cleura (127.0.0.1")
    account = d.http.get("/v1/accounts").json()["items"][0]
    assert account["login_state"] == "unreachable" and f"127.0.0.1:{port}" in account["login_message"]
    event = wait_until(lambda: d.events(type="account.login_failed"), what="the event")[0]
    assert f"127.0.0.1:{port}" in event["data"]["message"] and "no connection can be made" in event["data"]["message"]
    assert_told_everywhere(d, f"127.0.0.1:{port}", "no connection can be made")
    wait_until(lambda: "breaker open" in d.log(), timeout=40, what="the log")
    assert "no connection can be made" in d.log()
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["breaker"] == "open", what="the breaker as it is")


def test_a_name_that_does_not_resolve(make_shootd):
    d = away_from(make_shootd, "https://no-such-host.invalid")
    error = d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"]
    assert error.startswith("Cleura (no-such-host.invalid) cannot be reached since ") and error.endswith("its name cannot be resolved")
    assert_told_everywhere(d, "no-such-host.invalid", "its name cannot be resolved")


@pytest.fixture
def silent():
    """A port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as s:
        yield s.getsockname()[1]


def test_nobody_answers(make_shootd, silent):
    d = make_shootd(f"http://127.0.0.1:{silent}", account_extra="    call_timeout: 1s\n").start()
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"], what="the reason")
    assert_told_everywhere(d, f"127.0.0.1:{silent}", "it does not answer in time")


class Tls:
    """A TLS server on localhost with its own certificate; it forwards connections to `target`."""

    def __init__(self, directory, target):
        self.certificate = directory / "c.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", directory / "k.pem", "-out", self.certificate,
                        "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, directory / "k.pem")
        self.target = target
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://localhost:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve, args=(self.socket.accept()[0],), daemon=True).start()

    def serve(self, plain):
        with contextlib.suppress(OSError), self.context.wrap_socket(plain, server_side=True) as outside, \
                socket.create_connection(self.target) as inside:
            threading.Thread(target=self.hand_on, args=(inside, outside), daemon=True).start()
            self.hand_on(outside, inside)

    @staticmethod
    def hand_on(come, go):
        with contextlib.suppress(OSError):
            while data := come.recv(65536):
                go.sendall(data)
            go.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()


@pytest.fixture
def tls(sim, tmp_path):
    server = Tls(tmp_path, ("127.0.0.1", int(sim.url.rsplit(":", 1)[1])))
    yield server
    server.close()


def test_a_certificate_that_is_not_accepted(make_shootd, tls):
    d = away_from(make_shootd, tls.url)
    error = d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"]
    assert error.endswith("its certificate is not accepted"), error
    assert_told_everywhere(d, tls.url.removeprefix("https://"), "its certificate is not accepted")
    d.stop()
    held = int(re.search(r"longest_hold_cpu_us=(\d+)", d.log())[1])
    # The bound is not the 20 ms of the promise: another guest of the machine may use part of the CPU time (docs/decisions.md).
    assert held < LOOP_STALL_S * 1e6 or harness.SANITIZED, "the certificates of all authorities are read beside the loop"


def test_cleura_over_tls(make_shootd, tls, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(tls.certificate))
    d = make_shootd(tls.url).start()
    d.create("dev")
    d.wait_phase("dev", "ready")


def test_authorities_that_cannot_be_read(make_shootd, tls, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    d = away_from(make_shootd, tls.url)
    assert d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"].endswith("its certificate is not accepted")
    assert "no CA certificates could be read from /nowhere/ca.pem" in d.log()


class Relay:
    """Forwards bytes between two ports. silence() makes the present connections silent: they stay open and carry nothing."""

    def __init__(self, target):
        self.target, self.sockets, self.opened, self.silent = target, [], 0, set()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                outside, _ = self.socket.accept()
                inside = socket.create_connection(("127.0.0.1", self.target))
                self.opened += 1
                self.sockets += [outside, inside]
                for come, go in ((outside, inside), (inside, outside)):
                    threading.Thread(target=self.hand_on, args=(come, go, self.opened), daemon=True).start()

    def hand_on(self, come, go, number):
        with contextlib.suppress(OSError):
            while data := come.recv(65536):
                if number not in self.silent:
                    go.sendall(data)
            go.shutdown(socket.SHUT_WR)

    def silence(self):
        self.silent = set(range(1, self.opened + 1))

    def close(self):
        for one in (self.socket, *self.sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.fixture
def multiplexed(sim, tmp_path):
    """cleura-sim behind nginx with HTTP/2, behind a relay."""
    if not shutil.which("nginx"):
        pytest.skip("nginx is absent; `make deps-test` installs it")
    port = harness.free_port()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", tmp_path / "k.pem",
                    "-out", tmp_path / "c.pem", "-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                   check=True, capture_output=True)
    temporary = "".join(f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (tmp_path / "nginx.conf").write_text(f"""daemon off; user root; worker_processes 1; pid {tmp_path}/pid; error_log stderr info;
events {{}}
http {{
access_log {tmp_path}/access.log;
{temporary}
server {{
listen 127.0.0.1:{port} ssl http2;
ssl_certificate {tmp_path}/c.pem;
ssl_certificate_key {tmp_path}/k.pem;
location / {{ proxy_pass {sim.url}; }}
}}
}}
""")
    nginx = harness.Process(["nginx", "-p", tmp_path, "-c", tmp_path / "nginx.conf"], tmp_path / "nginx.log")

    def listens():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return True
    try:
        wait_until(listens, what="nginx")
        relay = Relay(port)
        yield relay, tmp_path
        relay.close()
    finally:
        nginx.stop()


def test_a_connection_that_goes_silent_costs_one_call(make_shootd, multiplexed, monkeypatch):
    """The connection is not reported as broken, and new connections work. libcurl would use a broken HTTP/2 connection for every later
    call."""
    relay, directory = multiplexed
    monkeypatch.setenv("SSL_CERT_FILE", str(directory / "c.pem"))
    d = make_shootd(f"https://localhost:{relay.port}", polling="{active: 100ms, idle: 200ms, discovery: 200ms}",
                    account_extra="    call_timeout: 1s\n").start().wait_upstream()

    def last_list():
        return d.http.get("/v1/projects/team-a").json()["upstream"]["last_list_at"]
    assert "HTTP/2.0" in (directory / "access.log").read_text()
    opened, before = relay.opened, last_list()
    relay.silence()
    began = time.monotonic()
    # One list may be in progress; the second one then must have used another connection.
    for _ in range(2):
        seen = last_list()
        wait_until(lambda: last_list() != seen, what="another list")
    took = time.monotonic() - began
    assert relay.opened == opened + 1, "one other connection"
    assert took < 2 * harness.PATIENCE + 2, "the time of one call, and a moment"
    assert before != last_list()


def test_it_is_over_when_cleura_answers(sim, make_shootd):
    d = make_shootd(sim.url).start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    sim.post("down", down=True)
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"], what="the reason")
    sim.post("down", down=False)
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"] is None, timeout=60, what="its end")
