"""Addresses that webhooks must not reach: a trap on loopback and a proxy in the environment show that nothing is sent.
tests/unit/test_transport.c has its own resolver and tests names whose address changes between two requests."""

import re
import socket
import threading

import pytest

import harness
from harness import wait_until


class Trap:
    """Counts connections to all loopback addresses, IPv4 and IPv6."""

    def __init__(self, port):
        self.connections = 0
        self.stopping = threading.Event()
        self.sockets = [socket.create_server(("127.0.0.1", port))]
        self.sockets.append(socket.create_server(("::1", port), family=socket.AF_INET6))
        self.threads = [threading.Thread(target=self.run, args=(s,)) for s in self.sockets]
        for thread in self.threads:
            thread.start()

    def run(self, server):
        server.settimeout(0.05)
        while not self.stopping.is_set():
            try:
                connection, _ = server.accept()
            except TimeoutError:
                continue
            self.connections += 1
            connection.close()

    def stop(self):
        self.stopping.set()
        for thread, server in zip(self.threads, self.sockets):
            thread.join(10)
            server.close()


@pytest.fixture
def trap():
    t = Trap(harness.free_port())
    yield t
    t.stop()


def configured(d, text):
    old = d.config.read_text()
    d.config.write_text(re.sub(r"webhooks: .*", f"webhooks: {text}", old))
    assert d.config.read_text() != old
    return d.start()


def refusals(d):
    return float(re.search(r'^shootd_webhook_attempts_total{outcome="address_refused"} (\S+)$', d.http.get("/metrics").text, re.M)[1])


REFUSED = [  # host, code
    ("127.0.0.1", "address_not_allowed"), ("127.1", "address_not_allowed"), ("2130706433", "address_not_allowed"),
    ("0x7f000001", "address_not_allowed"), ("0x7f.1", "address_not_allowed"), ("0177.0.0.1", "address_not_allowed"),
    ("017700000001", "address_not_allowed"), ("127%2e0%2e0%2e1", "address_not_allowed"), ("127.0.0.1.", "address_not_allowed"),
    ("0.0.0.0", "address_not_allowed"), ("0", "address_not_allowed"), ("10.0.0.1", "address_not_allowed"),
    ("172.16.0.1", "address_not_allowed"), ("192.168.1.1", "address_not_allowed"), ("100.64.0.1", "address_not_allowed"),
    ("169.254.169.254", "address_not_allowed"), ("169.254.1.1", "address_not_allowed"), ("255.255.255.255", "address_not_allowed"),
    ("224.0.0.1", "address_not_allowed"), ("[::1]", "address_not_allowed"), ("[::]", "address_not_allowed"),
    ("[::ffff:127.0.0.1]", "address_not_allowed"), ("[::ffff:a9fe:a9fe]", "address_not_allowed"),
    ("[64:ff9b::7f00:1]", "address_not_allowed"), ("[fe80::1]", "address_not_allowed"), ("[fd00:ec2::254]", "address_not_allowed"),
    ("[fc00::1]", "address_not_allowed"), ("[ff02::1]", "address_not_allowed"), ("[2002:7f00:1::]", "address_not_allowed"),
    ("\u2460\u2461\u2466.0.0.1", "host_not_ascii"), ("127\u30020\u30020\u30021", "host_not_ascii"),
    ("user@hooks.example.com", "userinfo_not_allowed"), ("hooks.example.com:x@hooks.example.com", "userinfo_not_allowed"),
]


def test_wh18_wh20_urls_that_are_refused_at_once(sim, make_shootd, trap):
    port = trap.sockets[0].getsockname()[1]
    d = configured(make_shootd(sim.url), f"{{allow_http: true, ports: [{port}]}}")
    urls = [(f"http://{host}:{port}/x", code) for host, code in REFUSED]
    urls += [(f"{scheme}://hooks.example.com/", "scheme_not_allowed")
             for scheme in ("ftp", "gopher", "dict", "ldap", "ws", "javascript", "unix")]
    urls += [(f"http://hooks.example.com:{odd}/", "port_not_allowed") for odd in (22, 25, 6379, 8080)]
    urls += [("http://hooks.example.com/#x", "fragment_not_allowed"), ("http://hooks.example.com\r\nHost: x/", "invalid_url"),
             ("file:///etc/passwd", "scheme_not_allowed"), ("http:///", "invalid_url"), ("hooks.example.com", "invalid_url"), ("", "invalid_url")]
    wrong = []
    for url, code in urls:
        answer = d.http.post("/v1/webhooks", json={"url": url})
        codes = [e["code"] for e in answer.json().get("errors", [])]
        if answer.status_code != 422 or code not in codes:
            wrong.append((url, answer.status_code, codes))
    assert not wrong, wrong
    hook = d.http.post("/v1/webhooks", json={"url": "http://hooks.example.com/"}).json()
    for url in (f"http://127.0.0.1:{port}/", "http://169.254.169.254/latest/meta-data/"):
        assert d.http.patch(f"/v1/webhooks/{hook['id']}", json={"url": url}).status_code == 422
    assert trap.connections == 0


def test_wh19_names_of_loopback_are_refused_when_they_are_resolved(sim, make_shootd, trap):
    """The creation of a webhook never depends on DNS; the connection does."""
    port = trap.sockets[0].getsockname()[1]
    d = configured(make_shootd(sim.url), f"{{allow_http: true, ports: [{port}]}}")
    hooks = []
    for host in ("localhost", "LocalHost", "localhost.", "any.localhost"):
        made = d.http.post("/v1/webhooks", json={"url": f"http://{host}:{port}/x", "event_types": ["cluster.discovered"]})
        assert made.status_code == 201, made.text
        hooks.append(made.json()["id"])
    sim.post("shoots", count=1, prefix="found", state="ready")

    def errors():
        found = [d.http.get(f"/v1/webhooks/{id}/deliveries").json()["items"] for id in hooks]
        return [f[0]["error"] for f in found if f and f[0]["attempt"]]
    wait_until(lambda: len(errors()) == len(hooks), what="an attempt for each")
    assert set(errors()) <= {"address_refused", "resolve"} and errors().count("address_refused") >= 2
    assert refusals(d) >= errors().count("address_refused")
    assert trap.connections == 0


def test_wh20_a_network_or_a_host_that_is_allowed(sim, make_shootd, receiver):
    """localhost is allowed by its name; 127.0.0.1 is allowed only as the address of that name."""
    port = receiver.server.server_address[1]
    d = configured(make_shootd(sim.url), "{allow: [localhost], allow_http: true}")
    refused = d.http.post("/v1/webhooks", json={"url": f"http://127.0.0.1:{port}/"})
    assert {e["code"] for e in refused.json()["errors"]} == {"port_not_allowed", "address_not_allowed"}
    made = d.http.post("/v1/webhooks", json={"url": f"http://localhost:{port}/named"})
    assert made.status_code == 201, made.text
    sim.post("shoots", count=1, prefix="found", state="ready")
    wait_until(lambda: receiver.of_type("cluster.discovered"), what="a delivery")
    # The configuration at the time of the attempt decides.
    d.stop()
    configured(d, "{allow_http: true}")
    seen = len(receiver.received)
    sim.post("shoots", count=1, prefix="later", state="ready")
    wait_until(lambda: refusals(d) >= 1, what="the refusal")
    assert len(receiver.received) == seen


def test_wh21_the_environment_names_no_proxy(sim, make_shootd, receiver, trap, monkeypatch):
    proxy = f"http://127.0.0.1:{trap.sockets[0].getsockname()[1]}"
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
    monkeypatch.setenv("NO_PROXY", "")
    d = make_shootd(sim.url)
    d.process = harness.Process([harness.BUILD / "shootd", "--config", d.config], d.log_path)
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name)  # the client of the test must not use a proxy either
    d.wait_ready()
    assert d.http.post("/v1/webhooks", json={"url": receiver.url}).status_code == 201
    d.http.post("/v1/webhooks", json={"url": "https://no-such-host.invalid/", "event_types": ["cluster.discovered"]})
    sim.post("shoots", count=1, prefix="found", state="ready")
    wait_until(lambda: receiver.of_type("cluster.discovered"), what="a delivery")
    wait_until(lambda: re.search(r'shootd_webhook_attempts_total{outcome="resolve"} [1-9]', d.http.get("/metrics").text), what="the other one")
    assert trap.connections == 0
