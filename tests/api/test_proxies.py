"""Behind proxies: the client address of a request, and contrib/nginx.conf with a real nginx."""

import json
import os
import queue
import re
import shutil
import subprocess
import threading
import time

import httpx
import pytest

import harness
import web
from harness import ROOT, wait_until
from raw import Raw, request


def client_of(d, raw, *fields):
    """The client address in the log of one request."""
    id = f"asked-{time.monotonic_ns()}"
    assert raw.send(request("GET", "/v1/whoami", f"X-Request-Id: {id}", *fields, token=d.token())).read().status == 200
    line = wait_until(lambda: re.search(f"request_id={id} .*\n", d.log()), what="the log")[0]
    return re.search(r"client=(\S+)", line)[1]


CHAINS = [
    ([], "127.0.0.1"),
    (["203.0.113.7"], "203.0.113.7"),
    (["2001:db8::7"], "2001:db8::7"),
    (["198.51.100.1, 203.0.113.7"], "203.0.113.7"),  # the second address sent the first one, which is not trusted
    (["198.51.100.1, 203.0.113.7 , 10.1.2.3,10.9.9.9"], "203.0.113.7"),  # followed by two trusted proxies
    (["198.51.100.1", "203.0.113.7", "10.1.2.3"], "203.0.113.7"),  # one field for each address
    (["10.1.2.3"], "10.1.2.3"),
    (["198.51.100.1, unknown"], "127.0.0.1"),
    (["198.51.100.1, unknown, 10.1.2.3"], "10.1.2.3"),
    ([""], "127.0.0.1"),
    ([", ,"], "127.0.0.1"),
    (["1.2.3.4, " + "9" * 100], "127.0.0.1"),
    (["203.0.113.7:4711"], "127.0.0.1"),
    (["::ffff:203.0.113.7"], "203.0.113.7"),
    (["::FFFF:203.0.113.7, ::ffff:10.1.2.3"], "203.0.113.7"),
]


def test_the_client_of_trusted_proxies_is_the_last_one_they_do_not_trust(sim, make_shootd):
    d = make_shootd(sim.url, extra="trusted_proxies: [127.0.0.0/8, 10.0.0.0/8]\n").start()
    with Raw(d.port) as raw:  # one connection carries requests of many clients
        for chain, client in CHAINS:
            assert client_of(d, raw, *(f"X-Forwarded-For: {value}" for value in chain)) == client, chain


def test_others_are_not_believed(sim, make_shootd):
    for name, extra in (("none", ""), ("other", "trusted_proxies: [192.0.2.0/24, '::1', unix]\n")):
        d = make_shootd(sim.url, name=name, extra=extra).start()
        with Raw(d.port) as raw:
            assert client_of(d, raw, "X-Forwarded-For: 203.0.113.7") == "127.0.0.1"


def test_through_a_unix_socket(sim, make_shootd, tmp_path):
    for name, extra, client in (("u", "trusted_proxies: [unix]\n", "203.0.113.7"), ("v", "trusted_proxies: [127.0.0.1]\n", "unix")):
        d = make_shootd(sim.url, name=name, extra=extra)
        path = tmp_path / f"{name}.socket"
        d.start_on(path)
        with Raw(path=path) as raw:
            assert client_of(d, raw, "X-Forwarded-For: 203.0.113.7") == client


@pytest.mark.skipif(not os.path.exists("/proc/net/if_inet6"), reason="there is no IPv6")
def test_ipv4_clients_of_a_socket_for_both_families(sim, make_shootd):
    """Logs, the audit log, limits and trusted_proxies see an IPv4 client as such."""
    d = make_shootd(sim.url, extra="trusted_proxies: [127.0.0.2]\nlimits: {auth_failures_per_minute: 3}\n")
    d.config.write_text(d.config.read_text().replace(f"listen: 127.0.0.1:{d.port}", f"listen: '[::]:{d.port}'"))
    d.start()
    with Raw(d.port) as raw:
        assert client_of(d, raw, "X-Forwarded-For: 203.0.113.7") == "127.0.0.1"
    assert d.http.post("/v1/tokens", json={"name": "x", "role": "viewer", "projects": ["*"]}).status_code == 201
    assert d.http.get("/v1/audit?action=createToken").json()["items"][0]["address"] == "127.0.0.1"
    proxied = web.Client(base_url=d.url, transport=httpx.HTTPTransport(local_address="127.0.0.2"), headers={"Authorization": "Bearer x"})
    assert {proxied.get("/v1/whoami", headers={"X-Forwarded-For": "203.0.113.7"}).status_code for _ in range(8)} == {401, 429}
    assert proxied.get("/v1/whoami", headers={"X-Forwarded-For": "::ffff:203.0.113.7"}).status_code == 429
    assert proxied.get("/v1/whoami", headers={"X-Forwarded-For": "203.0.113.8"}).status_code == 401
    proxied.close()
    assert "::ffff:" not in d.log()


def test_audit_and_quota_go_by_the_client(sim, make_shootd):
    d = make_shootd(sim.url, extra="trusted_proxies: [127.0.0.1]\nlimits: {auth_failures_per_minute: 3}\n").start()
    made = d.http.post("/v1/tokens", json={"name": "x", "role": "viewer", "projects": ["*"]}, headers={"X-Forwarded-For": "203.0.113.7"})
    assert made.status_code == 201
    entry = d.http.get("/v1/audit?action=createToken").json()["items"][0]
    assert entry["address"] == "203.0.113.7"

    def wrong(address):
        return web.get(d.url + "/v1/whoami", headers={"Authorization": "Bearer x", "X-Forwarded-For": address}).status_code
    assert [wrong("203.0.113.7") for _ in range(4)] == [401, 401, 401, 429]
    assert wrong("203.0.113.8") == 401
    # One client has a whole /64.
    assert [wrong(f"2001:db8:1:2:{i}::1") for i in range(4)] == [401, 401, 401, 429]
    assert wrong("2001:db8:1:3::1") == 401


@pytest.mark.parametrize("value, word", [("[10.0.0.0/33]", "10.0.0.0/33"), ("[proxy.internal]", "proxy.internal"), ("['']", "''")])
def test_faults_of_the_configuration(sim, make_shootd, value, word):
    d = make_shootd(sim.url, extra=f"trusted_proxies: {value}\n")
    run = subprocess.run([harness.BUILD / "shootd", "--config", d.config, "--check-config"], capture_output=True, text=True, timeout=30)
    assert run.returncode == 78 and "trusted_proxies: " in run.stderr and word in run.stderr, run.stderr


# ---- nginx ---------------------------------------------------------------------------------------------------------------

NAME = "shootd.example.com"


class Nginx:
    """contrib/nginx.conf with changed ports and files only."""

    def __init__(self, directory, d):
        self.directory, self.port = directory, harness.free_port()
        directory.mkdir()
        self.ca, key = directory / "cert.pem", directory / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={NAME}",
                        "-addext", f"subjectAltName=DNS:{NAME}", "-days", "2", "-out", self.ca, "-keyout", key], check=True, capture_output=True)
        site = (ROOT / "contrib/nginx.conf").read_text()
        for old, new in (("127.0.0.1:8080", f"127.0.0.1:{d.port}"), ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
                         ("/etc/ssl/shootd/fullchain.pem", str(self.ca)), ("/etc/ssl/shootd/privkey.pem", str(key))):
            assert old in site
            site = site.replace(old, new)
        temporary = "".join(f"{kind}_temp_path {directory}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        self.config = directory / "nginx.conf"
        self.config.write_text(f"daemon off;\nuser root;\nworker_processes 1;\npid {directory}/pid;\nerror_log stderr info;\n"
                               f"events {{}}\nhttp {{\naccess_log {directory}/access.log;\n{temporary}{site}}}\n")
        self.process = harness.Process(["nginx", "-p", directory, "-c", self.config], directory / "nginx.log")
        try:
            wait_until(lambda: self.curl("/version").returncode == 0, what="nginx")
        except AssertionError:
            self.stop()
            raise

    def argv(self, path, *more):
        return ["curl", "--silent", "--show-error", "--cacert", self.ca, "--resolve", f"{NAME}:{self.port}:127.0.0.1",
                "--max-time", "60", *more, f"https://{NAME}:{self.port}{path}"]

    def curl(self, path, *more):
        return subprocess.run(self.argv(path, *more), capture_output=True, text=True, timeout=90)

    def stop(self):
        self.process.stop()


@pytest.fixture
def behind(sim, make_shootd, tmp_path):
    if not shutil.which("nginx"):
        pytest.skip("nginx is absent; `make deps-test` installs it")
    d = make_shootd(sim.url, polling="{active: 200ms, idle: 1h, discovery: 1h}",
                    extra="trusted_proxies: [127.0.0.1]\nlimits: {heartbeat: 500ms}\n")
    d.start()
    nginx = Nginx(tmp_path / "nginx", d)
    yield d, nginx
    nginx.stop()


def test_nginx_requests(behind):
    d, nginx = behind
    token = ["-H", f"Authorization: Bearer {d.token()}"]
    status = ["-o", "/dev/null", "-w", "%{http_code} %{http_version}"]
    assert nginx.curl("/v1/whoami", *token, *status).stdout == "200 2"
    assert nginx.curl("/metrics", *status).stdout.startswith("404")

    made = nginx.curl("/v1/projects/team-a/clusters?wait=30", *token, "--json", '{"name":"dev"}')
    assert json.loads(made.stdout)["operation"]["status"] == "succeeded", made.stdout

    def unchanged():  # no poll may come between the two requests
        head = nginx.curl("/v1/projects/team-a/clusters/dev", *token, "--compressed", "-D", "-").stdout
        tag = re.search(r'^etag: (".*-gz")$', head, re.M)[1]
        again = nginx.curl("/v1/projects/team-a/clusters/dev", *token, "--compressed", "-H", f"If-None-Match: {tag}", *status)
        return again.stdout.startswith("304")
    harness.wait_until(unchanged, what="304")

    (nginx.directory / "large").write_bytes(b" " * (1024 * 1024 + 1))
    large = nginx.curl("/v1/tokens", *token, "-H", "Content-Type: application/json", "--data-binary", f"@{nginx.directory}/large")
    assert "body_too_large" in large.stdout, f"told by shootd: {large}"


def test_nginx_shows_the_client(behind):
    d, nginx = behind
    made = nginx.curl("/v1/tokens", "--interface", "127.0.0.9", "-H", f"Authorization: Bearer {d.token()}", "-H", "X-Forwarded-For: 203.0.113.7",
                      "--json", '{"name":"x","role":"viewer","projects":["*"]}')
    assert json.loads(made.stdout)["name"] == "x"
    assert d.http.get("/v1/audit?action=createToken").json()["items"][0]["address"] == "127.0.0.9"


def test_nginx_event_streams(behind):
    """Events and comment lines arrive at once."""
    d, nginx = behind
    stream = subprocess.Popen(nginx.argv("/v1/events?after=0", "-N", "-H", f"Authorization: Bearer {d.token()}", "-H", "Accept: text/event-stream"),
                              stdout=subprocess.PIPE, text=True)
    lines = queue.Queue()
    reader = threading.Thread(target=lambda: [lines.put((time.monotonic(), line)) for line in stream.stdout], daemon=True)
    reader.start()

    def next_line(start):
        end = time.monotonic() + 20 * harness.PATIENCE
        while time.monotonic() < end:
            moment, line = lines.get(timeout=20 * harness.PATIENCE)
            if line.startswith(start):
                return moment, line
        raise AssertionError(f"no line {start!r}")
    try:
        next_line(":")
        asked = time.monotonic()
        d.create("dev")
        moment, _ = next_line("event: cluster.")
        assert moment - asked < 10 * harness.PATIENCE, "nothing is held back"
        next_line(":")
    finally:
        stream.terminate()
        stream.wait(10)
        reader.join(10)
