"""Calls to Cleura and to issuers through a forward proxy (`http_proxy` of an account or issuer, https_proxy of the environment). The proxy
of the test leads every name to a server of the test, so names that do not exist are reached only through it."""

import base64
import os
import re
import socket
import ssl
import subprocess
import threading

import pytest
from cryptography import x509

import issuers
from harness import BUILD, free_port, wait_until
from test_tls import Authority

CLEURA, LOGIN = "rest.cleura.test", "login.test"


class Proxy:
    """Accepts CONNECT, is the server with the test's certificate, and passes bytes to the port that `ports` has for the host."""

    def __init__(self, directory, ports):
        self.ports, self.heads, self.answer = ports, [], b"HTTP/1.1 200 Connected\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n"
        self.authority = Authority(directory)
        certificate, key = directory / "proxy.pem", directory / "proxy.key"
        self.authority.issue(certificate, key, [x509.DNSName(name) for name in ports])
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                byte = connection.recv(1)
                if not byte:
                    return
                head += byte
            self.heads.append(head.decode())
            connection.sendall(self.answer)
            if b" 200 " not in self.answer:
                return
            host = re.match(rb"CONNECT ([^:]+):443 ", head)[1].decode()
            inside = self.context.wrap_socket(connection, server_side=True)
            server = socket.create_connection(("127.0.0.1", self.ports[host]))
            threading.Thread(target=self._copy, args=(server, inside), daemon=True).start()
            self._copy(inside, server)
        except OSError:
            pass
        finally:
            connection.close()

    @staticmethod
    def _copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def hosts(self):
        return {head.split()[1] for head in self.heads}


@pytest.fixture
def issuer():
    issuer = issuers.Issuer().start()
    issuer.url = f"https://{LOGIN}"
    issuer.discovery = {"issuer": issuer.url, "jwks_uri": issuer.url + "/jwks"}
    yield issuer
    issuer.stop()


@pytest.fixture
def proxy(tmp_path, sim, issuer):
    proxy = Proxy(tmp_path, {CLEURA: int(sim.url.rsplit(":", 1)[1]), LOGIN: issuer.port})
    yield proxy
    proxy.listener.close()


@pytest.fixture
def start(proxy, make_shootd):
    def started(extra="", account_extra="", environment=None):
        d = make_shootd(f"https://{CLEURA}", extra=extra, account_extra=account_extra)
        d.environment = {"SSL_CERT_FILE": str(proxy.authority.path), **(environment or {})}
        return d.start()
    return started


def test_the_keys_of_account_and_issuer(start, proxy, issuer):
    """A create, and a login with a JWT. No credential of the calls is in what the proxy can read."""
    d = start(issuers.configuration(issuer.url, http_proxy=proxy.url), f"    http_proxy: {proxy.url}\n", {"https_proxy": "http://127.0.0.1:1"})
    d.create("dev")
    d.wait_phase("dev", "ready")
    wait_until(lambda: d.http.get("/v1/whoami", headers={"Authorization": f"Bearer {issuer.token()}"}).status_code == 200, what="the issuer's keys")
    assert proxy.hosts() == {f"{CLEURA}:443", f"{LOGIN}:443"}
    assert not re.search(r"(?i)x-auth|authorization|demo", "".join(proxy.heads))
    for what in ("account=main", f"issuer=(\"|)https://{LOGIN}"):
        assert re.search(rf"calls use a proxy .*{what}.*proxy=\(?{proxy.url}\)?.* source=configuration", d.log()), what


def test_the_environment(start, proxy, issuer):
    """With credentials, which no log shows; a reload to `none` takes the proxy away from the account."""
    address = proxy.url.removeprefix("http://")
    d = start(issuers.configuration(issuer.url), "    http_proxy: none\n", {"https_proxy": f"http://robot:s3cr3t-word@{address}"})
    wait_until(lambda: f"{LOGIN}:443" in proxy.hosts(), what="the issuer's keys")
    assert proxy.hosts() == {f"{LOGIN}:443"} and "calls use no proxy" in d.log()
    assert d.reload(d.config.read_text().replace("    http_proxy: none\n", ""))["changed"] == ["accounts.main"]
    wait_until(lambda: f"{CLEURA}:443" in proxy.hosts(), what="Cleura to be asked through the proxy")
    basic = base64.b64encode(b"robot:s3cr3t-word").decode()
    assert all(f"Proxy-Authorization: Basic {basic}\r\n" in head for head in proxy.heads)
    assert "source=environment" in d.log() and "s3cr3t" not in d.log() and basic not in d.log()


def test_hosts_of_no_proxy_and_loopback_have_none(proxy, make_shootd, sim, issuer):
    d = make_shootd(sim.url, extra=issuers.configuration(issuer.url), account_extra=f"    http_proxy: {proxy.url}\n")
    d.environment = {"https_proxy": proxy.url, "http_proxy": proxy.url, "no_proxy": ".test"}
    d.start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    assert d.log().count("calls use no proxy") == 2 and proxy.heads == []


@pytest.mark.parametrize("answer", [b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", b""])
def test_a_proxy_that_refuses_is_no_answer_of_cleura(start, proxy, answer):
    """Nothing reached Cleura, so no change is uncertain. The problem names the proxy."""
    proxy.answer = answer
    d = start(account_extra=f"    http_proxy: {proxy.url}\n")
    words = f"Cleura ({CLEURA}) cannot be reached since "
    error = wait_until(lambda: (e := d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"]) and words in e and e, what="the outage")
    assert error.endswith("the proxy cannot be reached, or makes no connection to it") and proxy.heads


@pytest.mark.parametrize("value", ["proxy.test:3128", "socks5://proxy.test:3128", "http://u:s3cr3t@proxy.test:3128", "http://proxy.test", "http://proxy.test:99999"])
def test_faults_of_the_key(make_shootd, sim, value):
    d = make_shootd(sim.url, account_extra=f"    http_proxy: {value}\n")
    done = subprocess.run([BUILD / "shootd", "--config", d.config, "--check-config"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 78 and "http_proxy: must be http://host:port without credentials, or none" in done.stderr and "s3cr3t" not in done.stderr


def test_a_proxy_of_the_environment_that_cannot_be_used(make_shootd):
    """The start fails with the advice, and not each call later. Who names a proxy, or none, is not concerned."""
    env = {"PATH": os.environ["PATH"], "https_proxy": f"socks5://u:s3cr3t@127.0.0.1:{free_port()}"}
    d = make_shootd(f"https://{CLEURA}")
    done = subprocess.run([BUILD / "shootd", "--config", d.config], capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 78 and "http_proxy: https_proxy or all_proxy of the environment is not http://host:port" in done.stderr
    assert "s3cr3t" not in done.stderr
    d = make_shootd(f"https://{CLEURA}", account_extra="    http_proxy: none\n")
    assert subprocess.run([BUILD / "shootd", "--config", d.config, "--check-config"], timeout=60, env=env).returncode == 0
