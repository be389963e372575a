#!/usr/bin/python3
"""The cost of TLS and JWTs. A cached read of one cluster over TLS 1.3, on open connections and with a handshake per request, is compared
with nginx as a cache with TLS. A JWT that shootd has seen before is compared with a token of shootd."""

import pathlib
import re
import statistics
import subprocess
import tempfile

from load import need_tools, quiet, shipped
from reads import CONNECTIONS, NGINX, ROUNDS, SECONDS, Server, compare
from report import goal, section, table
import harness
import issuers
import test_tls

TLS = "ssl_certificate {0}; ssl_certificate_key {1}; ssl_protocols TLSv1.3;"
LIMITS = "limits: {requests_per_minute: 1000000000}\n"
SAME = "TLS_AES_256_GCM_SHA384"  # every server agrees on this suite with OpenSSL clients such as wrk


class Reader(Server):
    """A server, and how it is read: `close` makes a connection for each request."""

    def __init__(self, name, process, port, token, scheme="https", close=False):
        super().__init__(name, process, port, token)
        self.url, self.close = f"{scheme}://127.0.0.1:{port}", close

    def load(self, path, fields):
        return super().load(path, fields | ({"Connection": "close"} if self.close else {}))


def agreed(port):
    """Version and cipher suite that an OpenSSL client without preferences gets."""
    told = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}"], input="", capture_output=True, text=True, check=False).stdout
    return re.search(r"New, (\S+), Cipher is (\S+)", told).groups()


def start_nginx(directory, behind, certificate, key):
    port = harness.free_port()
    (directory / "nginx").mkdir()
    text = NGINX.format(directory / "nginx", port, behind.port)
    text = text.replace(f"listen 127.0.0.1:{port};", f"listen 127.0.0.1:{port} ssl; {TLS.format(certificate, key)}")
    (directory / "nginx.conf").write_text(text)
    process = subprocess.Popen(["nginx", "-c", directory / "nginx.conf"], stderr=subprocess.DEVNULL)
    harness.wait_until(lambda: subprocess.run(["curl", "-sk", "-o", "/dev/null", f"https://127.0.0.1:{port}"], check=False).returncode == 0,
                       what="nginx")
    return process, port


def measure(plain, secure, nginx, jwt):
    path = plain.clusters_path("bench-0000")
    process, port = nginx
    assert agreed(secure.port) == agreed(port) == ("TLSv1.3", SAME), (agreed(secure.port), agreed(port))

    def of(d, name, scheme, token=None, close=False):
        return Reader(name, d.process, d.port, token or d.token(), scheme, close)

    cache = "nginx `proxy_cache`, TLS"
    yield from compare("one cluster over TLS, open connections", [of(secure, "shootd, TLS", "https"), Reader(cache, process, port, plain.token()),
                                                        of(plain, "shootd, plain HTTP", "http")], path, {}, {cache: 1})
    yield from compare("one cluster over TLS, a connection for each request",
                       [of(secure, "shootd, TLS", "https", close=True), Reader(cache, process, port, plain.token(), close=True),
                        of(plain, "shootd, plain HTTP", "http", close=True)], path, {}, {cache: 1.5})
    yield from compare("one cluster with a JWT", [of(plain, "shootd, a JWT", "http", jwt), of(plain, "shootd, a token of shootd", "http")], path, {},
                       {"shootd, a token of shootd": 1.5})


def main():
    need_tools("wrk", "nginx")
    with tempfile.TemporaryDirectory() as name, issuers.running() as issuer:
        directory = pathlib.Path(name)
        sim = harness.Sim(directory)
        plain = harness.Shootd(directory / "plain", sim.url, extra=LIMITS + issuers.configuration(issuer.url))
        secure = harness.Shootd(directory / "secure", sim.url, extra=LIMITS)
        secure.certificate, secure.key = directory / "fullchain.pem", directory / "privkey.pem"
        authority = test_tls.Authority(directory)
        authority.issue(secure.certificate, secure.key)
        secure.context = test_tls.ssl.create_default_context(cafile=authority.path)
        secure.url = f"https://localhost:{secure.port}"
        shipped(plain)
        shipped(secure, tls=f"{{certificate: {secure.certificate}, key: {secure.key}}}")
        nginx = None
        try:
            sim.post("shoots", count=1000, prefix="bench", state="ready")
            plain.start()
            test_tls.start(secure)
            for d in (plain, secure):
                harness.wait_until(lambda: len(d.http.get("/v1/clusters?limit=1000").json()["items"]) == 1000, timeout=60, what="discovery")
                quiet(d.process.pid)
            nginx = start_nginx(directory, plain, secure.certificate, secure.key)
            rows = list(measure(plain, secure, nginx, issuer.token()))
        finally:
            if nginx:
                nginx[0].terminate()
                nginx[0].wait(10)
            for d in (plain, secure):
                d.stop()
            sim.stop()
    for what, server, _, _, _, ratio, most in rows:
        if most:
            goal(f"CPU of a read of {what}: ratio to {server}", ratio, most)
    section("The cost of TLS and JWTs",
            f"The method is the same as for a cached read without TLS: {CONNECTIONS} connections, {ROUNDS} alternating rounds of {SECONDS} s. The figures are medians; the ratio is "
            f"the CPU time of the first server of each comparison divided by that of the other server. Both servers use TLS 1.3, {SAME} and the same certificate (ECDSA, "
            "P-256), without resumption. shootd uses GnuTLS, because libmicrohttpd does; nginx uses OpenSSL. The JWT (RS256) is cached, so its signature is not checked again.")
    table(["answer", "server", "CPU per answer, µs", "answers a second", "p99, ms", "CPU time of the first server divided by that of this server", "goal"], rows)


main()
