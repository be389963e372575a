"""TLS on the listener: versions, certificates that are replaced while connections are open, and all promises of HTTP over it."""

import datetime
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

import harness
import web
from harness import wait_until
from test_start import run


class Authority:
    """A certificate authority of the test, with files in PEM."""

    def __init__(self, directory, name="test authority"):
        self.directory = directory
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.certificate = self._sign(self.name, self.key.public_key(), [(x509.BasicConstraints(True, None), True)], 3650)
        self.path = directory / f"{name.replace(' ', '-')}.pem"
        self.path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def _sign(self, subject, public_key, extensions, days):
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(public_key)
                   .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=2))
                   .not_valid_after(now + datetime.timedelta(days=days)))
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self.key, hashes.SHA256())

    def issue(self, certificate, key, names=(x509.DNSName("localhost"),), usage=ExtendedKeyUsageOID.SERVER_AUTH, days=30, new_key=None):
        """Writes both files, each atomically, and returns the serial number."""
        private = new_key or ec.generate_private_key(ec.SECP256R1())
        made = self._sign(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "one")]), private.public_key(),
                          [(x509.SubjectAlternativeName(list(names)), False), (x509.ExtendedKeyUsage([usage]), False)], days)
        for path, data in ((certificate, made.public_bytes(serialization.Encoding.PEM)),
                           (key, private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))):
            new = path.with_suffix(".new")
            new.write_bytes(data)
            new.chmod(0o600)
            new.rename(path)
        return made.serial_number


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.fixture
def d(sim, make_shootd, authority):
    d = make_shootd(sim.url)
    d.certificate, d.key = d.directory / "fullchain.pem", d.directory / "privkey.pem"
    d.serial = authority.issue(d.certificate, d.key)
    d.config.write_text(d.config.read_text() + f"tls: {{certificate: {d.certificate}, key: {d.key}}}\n")
    d.context = ssl.create_default_context(cafile=authority.path)
    d.url = f"https://localhost:{d.port}"
    start(d)
    yield d
    if d.http:
        d.http.close()


def start(d):
    d.start(wait=False)

    def ready():
        assert d.process.popen.poll() is None, d.log()[-4000:]
        try:
            return web.get(d.url + "/readyz", verify=d.context, timeout=5).status_code == 200
        except httpx.HTTPError:
            return False
    wait_until(ready, timeout=30, what="shootd to be ready")
    d.http = web.Client(base_url=d.url, timeout=60, verify=d.context, headers={"Authorization": "Bearer " + d.token()})


def connect(d, context=None):
    raw = socket.create_connection(("127.0.0.1", d.port), timeout=20)
    return (context or d.context).wrap_socket(raw, server_hostname="localhost")


def serial(connection):
    return x509.load_der_x509_certificate(connection.getpeercert(binary_form=True)).serial_number


def exchange(connection, text, until=b"\r\n\r\n"):
    connection.sendall(text)
    answer = b""
    while until not in answer:
        piece = connection.recv(65536)
        if not piece:
            break
        answer += piece
    return answer


GET = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_a_life_over_tls(d):
    assert re.search(r"listen=https://127\.0\.0\.1:\d+", d.log())
    made = d.create("dev")
    assert d.wait_operation(made["operation"]["id"])["status"] == "succeeded"
    assert d.http.get("/v1/clusters", headers={"Accept-Encoding": "gzip"}).json()["items"][0]["name"] == "dev"
    tag = d.cluster("dev").headers["ETag"]
    assert d.http.get(d.clusters_path("dev"), headers={"If-None-Match": tag}).status_code == 304
    big = d.http.put(d.clusters_path("dev"), json={"labels": {"x": "y" * 60}, "padding": "z" * 200_000})
    assert big.status_code in (413, 422)
    kubeconfig = d.http.get(d.clusters_path("dev") + "/kubeconfig", params={"format": "exec"})
    assert kubeconfig.status_code == 200 and f"https://localhost:{d.port}/v1/projects" in kubeconfig.text
    with d.http.stream("GET", "/v1/events", headers={"Accept": "text/event-stream"}) as stream:
        lines = stream.iter_lines()
        made = d.http.delete(d.clusters_path("dev")).json()
        assert any(line.startswith("data:") and "operation" in line for line in lines)
    d.wait_operation(made["operation"]["id"])
    ends_at = int(re.search(r"^shootd_tls_certificate_end_timestamp_seconds (\d+)$", d.http.get("/metrics").text, re.M)[1])
    assert 29 < (ends_at - time.time()) / 86400 < 31
    health = run("--config", d.config, "--health")
    assert health.returncode == 0, health.stderr


@pytest.mark.parametrize("version, ok", [("TLSv1", False), ("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)])
def test_versions(d, version, ok):
    context = ssl.create_default_context(cafile=d.directory.parent / "test-authority.pem")
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    if ok:
        with connect(d, context) as connection:
            assert connection.version() == version.replace("_", ".") and b" 200 " in exchange(connection, GET)
    else:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            connect(d, context)


def test_refusals_before_a_request_is_whole_are_told_in_tls(d):
    with connect(d) as connection:
        answer = exchange(connection, b"GET /v1/" + b"x" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", until=b"}")
        assert answer.startswith(b"HTTP/1.1 414 "), answer
    with socket.create_connection(("127.0.0.1", d.port), timeout=20) as plain:  # plain HTTP by mistake
        plain.sendall(GET)
        try:
            answer = plain.recv(4096)
        except ConnectionError:
            answer = b""
        assert b"HTTP" not in answer
    with socket.create_connection(("127.0.0.1", d.port), timeout=20):  # a silent client delays nobody
        assert d.http.get("/livez").status_code == 200


def test_a_new_certificate_is_taken_while_connections_are_open(d, authority):
    with connect(d) as before:
        assert serial(before) == d.serial and b" 200 " in exchange(before, GET)
        with d.http.stream("GET", "/v1/events", headers={"Accept": "text/event-stream"}) as stream:
            assert stream.status_code == 200
            new = authority.issue(d.certificate, d.key, days=60, new_key=rsa.generate_private_key(65537, 2048))

            def taken():
                with connect(d) as connection:
                    return serial(connection) == new and b" 200 " in exchange(connection, GET)
            wait_until(taken, what="the new certificate")
            assert b" 200 " in exchange(before, GET), "it goes on"
            d.http.post("/v1/tokens", json={"name": "x", "role": "viewer", "projects": ["*"]})
            d.create("dev")
            assert any("operation" in line for line in stream.iter_lines())
    assert "new connections get the new certificate" in d.log()


def test_a_faulty_certificate_changes_nothing(d, authority):
    d.key.write_text("-----BEGIN PRIVATE KEY-----\nnothing\n-----END PRIVATE KEY-----\n")
    wait_until(lambda: "the old one stays in use" in d.log(), what="the complaint")
    with connect(d) as connection:
        assert serial(connection) == d.serial
    other = Authority(d.directory, "other")
    other.issue(d.directory / "unused.pem", d.key)  # makes a key that belongs to another certificate
    wait_until(lambda: "is not the key of the certificate" in d.log(), what="the complaint")
    d.key.unlink()
    d.certificate.unlink()
    time.sleep(2.5)
    with connect(d) as connection:
        assert serial(connection) == d.serial and b" 200 " in exchange(connection, GET)
    new = authority.issue(d.certificate, d.key)

    def taken():
        with connect(d) as connection:
            return serial(connection) == new
    wait_until(taken, what="the new certificate")
    assert d.log().count("the old one stays in use") == 2
    d.key.unlink()
    with socket.socket(socket.AF_UNIX) as unreadable:  # a file that open() refuses, like a key that only root may read
        unreadable.bind(str(d.key))
        wait_until(lambda: d.log().count("the old one stays in use") == 3, what="the complaint")


def test_certificates_change_under_load(d, authority):
    """100 times with FULL=1: new connections, an open connection and an event stream are not affected."""
    ends, failures, serials = threading.Event(), [], set()

    def guarded(act):
        def run():
            try:
                act()
            except (OSError, httpx.HTTPError) as e:
                failures.append(f"{act.__name__}: {e!r}")
        return threading.Thread(target=run)

    def new_connections():
        while not ends.is_set():
            with connect(d) as connection:
                serials.add(serial(connection))
                if b" 200 " not in exchange(connection, GET):
                    failures.append("no answer")

    def kept_connection():
        with connect(d) as connection:
            while not ends.is_set():
                if b" 200 " not in exchange(connection, GET):
                    failures.append("no answer on the kept connection")
                    return

    def event_stream():
        with d.http.stream("GET", "/v1/events", headers={"Accept": "text/event-stream"}, timeout=60) as stream:
            if not any("last change" in line for line in stream.iter_lines()):
                failures.append("the stream ended")
    threads = [guarded(act) for act in (new_connections, new_connections, new_connections, kept_connection)]
    follower = guarded(event_stream)
    for thread in (*threads, follower):
        thread.start()
    changes = harness.size(5, 100)
    try:
        for _ in range(changes):
            new = authority.issue(d.certificate, d.key)
            wait_until(lambda: new in serials, what="the new certificate")
    finally:
        ends.set()
        d.http.put("/v1/freeze", json={"scope": "all", "reason": "last change"})  # this event ends the follower
        for thread in (*threads, follower):
            thread.join(30)
    assert not failures and len(serials) > changes and not any(thread.is_alive() for thread in (*threads, follower)), failures


def test_faults_at_the_start(d, authority):
    d.http.close()
    d.http = None
    d.process.stop()
    good = d.config.read_text()
    d.key.chmod(0o644)
    for arguments in ((), ("--check-config",)):
        refused = run("--config", d.config, *arguments)
        assert refused.returncode == 78 and "may be read by everybody" in refused.stderr, refused.stderr
    d.key.chmod(0o640)
    assert run("--config", d.config, "--check-config").returncode == 0
    Authority(d.directory, "other").issue(d.directory / "unused.pem", d.key)
    assert "is not the key of the certificate" in run("--config", d.config).stderr
    d.certificate.write_text("no certificate")
    assert run("--config", d.config).returncode == 78
    d.config.write_text(re.sub(r"tls: .*", f"tls: {{certificate: {d.certificate}}}", good))
    refused = run("--config", d.config, "--check-config")
    assert refused.returncode == 78 and "tls.key: is required" in refused.stderr, refused.stderr


def test_slow_handshakes_end(d):
    """A handshake that does not end is cut after the time of a header section (10 s)."""
    with socket.create_connection(("127.0.0.1", d.port), timeout=30) as slow:
        slow.sendall(b"\x16\x03\x01")
        began = time.monotonic()
        try:
            assert slow.recv(100) == b""
        except ConnectionError:
            pass
        assert 5 < time.monotonic() - began < 25
    os.kill(d.process.pid, signal.SIGHUP)
    assert d.http.get("/livez").status_code == 200


def hello():
    """The first bytes of a client."""
    outgoing = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


def test_handshakes_that_wait_cost_nothing(d):
    """An incomplete hello, and a complete one whose answer is not read: libmicrohttpd would retry without pause (MH-22). A stop does not
    wait for them."""
    whole, opened = hello(), []
    for sent in (whole[:100], whole):
        for _ in range(20):
            opened.append(socket.create_connection(("127.0.0.1", d.port), timeout=30))
            opened[-1].sendall(sent)
    clock = (~d.process.pid << 3) | 2  # the CPU time of the process (clock_getcpuclockid)
    wait_until(lambda: d.http.get("/livez").status_code == 200, what="an answer beside them")
    time.sleep(0.5)
    before = time.clock_gettime(clock)
    time.sleep(1)
    assert time.clock_gettime(clock) - before < 0.2
    opened[0].sendall(whole[100:])
    assert opened[0].recv(5)[:1] == b"\x16", "who goes on gets the server's hello"
    for byte in whole[100:]:
        opened[1].sendall(bytes([byte]))
    assert opened[1].recv(5)[:1] == b"\x16", "however it goes on"
    opened += [connect(d) for _ in range(5)]  # connections that send nothing
    started = time.monotonic()
    d.stop()
    assert time.monotonic() - started < 5, "less than the time that a handshake has"
    for one in opened:
        one.close()


def test_after_its_handshake_a_connection_is_the_librarys(d):
    """libmicrohttpd treats urgent data as an error: it closes the connection at once, also before the first request."""
    context = ssl.create_default_context(cafile=d.directory.parent / "test-authority.pem")
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # in this version the server ends the handshake
    with connect(d, context) as quiet:
        quiet.settimeout(0.2)

        def closed():
            """A slow server may read after the handshake, and such a read passes the urgent byte without effect; then the test sends
            another one."""
            try:
                socket.socket(fileno=os.dup(quiet.fileno())).send(b"!", socket.MSG_OOB)
                return quiet.recv(100) == b""
            except TimeoutError:
                return False
            except (ssl.SSLError, ConnectionError):
                return True
        wait_until(closed, timeout=2, what="the end of the connection")
    assert d.http.get("/livez").status_code == 200


def test_openssl_finds_nothing_old(d):
    shown = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{d.port}", "-servername", "localhost", "-CAfile", d.directory.parent / "test-authority.pem",
                            "-verify_return_error"], input=b"", capture_output=True, timeout=30)
    assert b"Verify return code: 0 (ok)" in shown.stdout and b"TLSv1.3" in shown.stdout


# ---- client certificates ---------------------------------------------------------------------------------------

OTHER = "ffeeddccbbaa99887766554433221100"
CI, OPS = "uri:spiffe://example.com/ci", "dns:ops.example.com"


@pytest.fixture
def mutual(make_sim, make_shootd, authority, tmp_path):
    """A daemon with two projects, and rules for two clients."""
    sim = make_sim(project=[harness.PROJECT_ID, OTHER])
    d = make_shootd(sim.url, name="mutual", projects=[("team-a", "Sto2", harness.PROJECT_ID), ("team-b", "Sto2", OTHER)])
    d.certificate, d.key = d.directory / "fullchain.pem", d.directory / "privkey.pem"
    d.serial = authority.issue(d.certificate, d.key)
    d.clients = Authority(tmp_path, "clients")
    d.config.write_text(d.config.read_text() + f"tls:\n  certificate: {d.certificate}\n  key: {d.key}\n  client_ca: {d.clients.path}\n  clients:\n"
                        f"    - {{name: '{CI}', role: operator, projects: [team-a]}}\n    - {{name: '{OPS}', role: viewer, projects: ['*']}}\n")
    d.context = ssl.create_default_context(cafile=authority.path)
    d.url = f"https://localhost:{d.port}"
    start(d)
    made = []

    def client(*names, authority=d.clients, usage=ExtendedKeyUsageOID.CLIENT_AUTH, days=30, **headers):
        files = tmp_path / f"client-{len(made)}.pem", tmp_path / f"client-{len(made)}.key"
        authority.issue(*files, names=names, usage=usage, days=days)
        context = ssl.create_default_context(cafile=tmp_path / "test-authority.pem")
        context.load_cert_chain(*files)
        made.append(web.Client(base_url=d.url, verify=context, timeout=60, headers=headers))
        return made[-1]
    d.client = client
    yield d
    for one in made:
        one.close()
    d.http.close()
    d.http = None


def uri(text):
    return x509.UniformResourceIdentifier(text.removeprefix("uri:"))


def test_a_client_certificate_has_the_role_of_its_rule(mutual):
    d = mutual
    ci, ops = d.client(uri(CI)), d.client(x509.DNSName("unknown.example.com"), x509.DNSName("ops.example.com"))
    who = ci.get("/v1/whoami").json()
    assert (who["name"], who["role"], who["projects"], who["subject"], who["issuer"]) == ("tls:" + CI, "operator", ["team-a"], CI, "CN=clients")
    assert re.fullmatch("cert_[0-9a-f]{32}", who["id"])
    assert ops.get("/v1/whoami").json()["subject"] == OPS and [p["name"] for p in ops.get("/v1/projects").json()["items"]] == ["team-a", "team-b"]
    made = ci.post("/v1/projects/team-a/clusters", json={"name": "dev"}, headers={"Idempotency-Key": "ci-0123456789abcdef"})
    assert made.status_code == 202, made.text
    assert ci.post("/v1/projects/team-a/clusters", json={"name": "dev"}, headers={"Idempotency-Key": "ci-0123456789abcdef"}).json() == made.json()
    assert ci.get("/v1/projects/team-b/clusters").status_code == 404 and ci.get("/v1/tokens").status_code == 403
    assert ops.post("/v1/projects/team-a/clusters", json={"name": "no"}).status_code == 403
    renewed = d.client(uri(CI)).get("/v1/whoami").json()
    assert renewed["id"] == who["id"], "a renewed certificate is the same client"
    token = ops.get("/v1/whoami", headers={"Authorization": "Bearer " + d.token()}).json()
    assert token["role"] == "admin", "a token goes before the certificate"
    wait_until(lambda: [e for e in d.http.get("/v1/audit", params={"action": "createCluster"}).json()["items"] if e["subject"] == CI and
                        e["issuer"] == "CN=clients" and e["token_id"] == who["id"]], what="the audit entry")
    with ci.stream("GET", "/v1/events", headers={"Accept": "text/event-stream"}) as stream:
        assert stream.status_code == 200
        d.config.write_text(d.config.read_text().replace("role: operator", "role: viewer"))
        assert d.http.post("/v1/reload").json()["changed"] == ["tls.clients"]
        for _ in stream.iter_lines():  # the stream ends because the rules changed
            pass
    assert ci.get("/v1/whoami").json()["role"] == "viewer"


def test_a_certificate_that_is_not_good_is_none(mutual, tmp_path):
    d = mutual
    assert web.get(d.url + "/v1/whoami", verify=d.context).status_code == 401
    stranger = Authority(tmp_path, "stranger")
    for wrong in (dict(authority=stranger), dict(usage=ExtendedKeyUsageOID.SERVER_AUTH), dict(days=-1)):
        client = d.client(uri(CI), **wrong)
        try:
            assert client.get("/v1/whoami").status_code == 401, wrong
        except httpx.TransportError:
            pass  # refused during the handshake
        with_token = d.client(uri(CI), **wrong)
        assert with_token.get("/livez").status_code == 200
    nobody = d.client(x509.DNSName("nobody.example.com"))
    denied = nobody.get("/v1/clusters")
    assert denied.status_code == 403 and "No rule" in denied.json()["detail"]
    unnamed = d.client(x509.RFC822Name("ops@example.com"))
    assert unnamed.get("/v1/whoami").status_code == 401


def test_pages_of_other_sites_need_a_token(mutual):
    """A browser sends its certificate with requests of any page; a write from a page has an Origin."""
    d = mutual
    ci = d.client(uri(CI))
    for origin in ("https://evil.example.com", "null", d.url):
        assert ci.post("/v1/projects/team-a/clusters", json={"name": "dev"}, headers={"Origin": origin}).status_code == 401
    for site, status in (("cross-site", 401), ("same-site", 401), ("anything", 401), ("same-origin", 200), ("none", 200)):
        assert ci.get("/v1/clusters", headers={"Sec-Fetch-Site": site}).status_code == status, site
    assert ci.get("/v1/clusters").status_code == 200


def test_an_authority_that_is_not_trusted_any_more(mutual, tmp_path):
    """The new authority also applies to open connections and streams."""
    d = mutual
    ci = d.client(uri(CI))
    assert ci.get("/v1/clusters").status_code == 200
    with d.client(uri(CI)).stream("GET", "/v1/events", headers={"Accept": "text/event-stream"}) as stream:
        assert stream.status_code == 200
        new = tmp_path / "new"
        new.write_bytes(Authority(tmp_path, "another").path.read_bytes())
        new.rename(d.clients.path)
        for _ in stream.iter_lines():  # the stream ends
            pass
    assert ci.get("/v1/clusters").status_code == 401


def test_other_rules_count_for_requests_under_way(mutual):
    """The header sections of these requests arrived before the change."""
    d = mutual
    ci = d.client(uri(CI))

    def body(before, after):
        d.config.write_text(d.config.read_text().replace(before, after))
        assert d.http.post("/v1/reload").json()["changed"] == ["tls.clients"]
        yield b'{"name": "late"}'
    for before, after, status in (("role: operator", "role: viewer", 403), (CI, CI + "-no-more", 403)):
        late = ci.post("/v1/projects/team-a/clusters", content=body(before, after), headers={"Content-Type": "application/json"})
        assert late.status_code == status, late.text
    assert d.http.get("/v1/projects/team-a/clusters/late").status_code == 404


def test_no_stream_outlives_its_rule(mutual):
    """Also streams that begin while the rules change."""
    d = mutual
    ends, ended, refused = threading.Event(), [], []

    def listen(client):
        while not ends.is_set():
            with client.stream("GET", "/v1/events", headers={"Accept": "text/event-stream"}) as stream:
                if stream.status_code != 200:
                    refused.append(stream.status_code)
                    return
                for _ in stream.iter_lines():
                    pass
                ended.append(True)
    threads = [threading.Thread(target=listen, args=(d.client(uri(CI)),)) for _ in range(10)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: 'shootd_sse_streams 10' in d.http.get("/metrics").text, what="the streams")
        for role in ("viewer", "operator", "viewer", "operator"):
            d.config.write_text(re.sub(r"role: (viewer|operator), projects: \[team-a\]", f"role: {role}, projects: [team-a]", d.config.read_text()))
            d.http.post("/v1/reload")
        d.config.write_text(d.config.read_text().replace(CI, CI + "-no-more"))
        assert d.http.post("/v1/reload").status_code == 200
        for thread in threads:
            thread.join(20)
        assert refused == [403] * 10 and not any(t.is_alive() for t in threads) and ended
    finally:
        ends.set()
