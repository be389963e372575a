#!/usr/bin/python3
"""The cost of a cached read: CPU time per answer of shootd with its default configuration. It is compared with a bare libmicrohttpd
server that sends the same bytes and header fields, and with nginx and Varnish as caches in front of shootd. All alternate in one run."""

import pathlib
import statistics
import subprocess
import tempfile

from load import CORES, ROOT, Client, cpu_seconds, h2load, need_tools, pin, quiet, shipped, wrk
from report import goal, section, table
import harness

ROUNDS, SECONDS, CONNECTIONS = 5, 2, 32
OWN_OF_ONE_ANSWER = {"date", "content-length", "connection", "transfer-encoding"}  # libmicrohttpd adds them

NGINX = """daemon off;
worker_processes 1;
user root;
pid {0}/pid;
error_log {0}/error.log;
events {{}}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {0}/body; fastcgi_temp_path {0}/fastcgi; uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi; proxy_temp_path {0}/proxy;
  proxy_cache_path {0}/cache keys_zone=cache:10m;
  server {{
    listen 127.0.0.1:{1};
    location / {{
      proxy_pass http://127.0.0.1:{2};
      proxy_cache cache;
      proxy_cache_key $uri$is_args$args$http_accept_encoding;
      proxy_cache_valid 200 1h;
      proxy_ignore_headers Cache-Control Expires Vary;
    }}
  }}
}}
"""

VARNISH = """vcl 4.1;
backend shootd {{ .host = "127.0.0.1"; .port = "{}"; }}
sub vcl_recv {{ return (hash); }}
sub vcl_backend_response {{ set beresp.ttl = 1h; return (deliver); }}
"""


class Server:
    def __init__(self, name, process, port, token):
        self.name, self.process, self.port, self.token = name, process, port, token
        self.url = f"http://127.0.0.1:{port}"
        pin(process.pid, CORES[1])

    def load(self, path, fields):
        """CPU microseconds per answer, answers per second, 99th percentile in milliseconds."""
        if "If-None-Match" in fields:
            fields = fields | {"If-None-Match": self.tag(path)}
        more = [word for name, value in fields.items() for word in ("-H", f"{name}: {value}")]
        before = cpu_seconds(self.process.pid)
        if "If-None-Match" in fields:
            answers, p99 = h2load(self.url + path, self.token, CONNECTIONS, SECONDS, *more), ""
        else:
            answers, p99 = wrk(self.url + path, self.token, CONNECTIONS, SECONDS, *more)
        return (cpu_seconds(self.process.pid) - before) / answers * 1e6, answers / SECONDS, p99

    def tag(self, path):
        """The ETag that this server shows now; a cache shows an older one."""
        answer = subprocess.run(["curl", "-sD-", "-o", "/dev/null", "-H", f"Authorization: Bearer {self.token}", self.url + path],
                                capture_output=True, text=True, check=True).stdout
        return next((line.split(": ", 1)[1] for line in answer.splitlines() if line.lower().startswith("etag: ")), '"none"')

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


class Bare(Server):
    """A bare server for each kind of answer: it sends shootd's answer to any request."""

    def __init__(self, directory, d, path, fields):
        client = Client(d)
        answer = client.ask(path, *(f"{name}: {value}" for name, value in fields.items()))
        client.close()
        head = [line for line in answer.head.decode().split("\r\n")[1:] if line.split(":")[0].lower() not in OWN_OF_ONE_ANSWER]
        body, lines = directory / "bare.body", directory / "bare.fields"
        body.write_bytes(answer.body)
        lines.write_text("".join(line + "\n" for line in head))
        self.bytes, port = len(answer.body), harness.free_port()
        super().__init__("bare libmicrohttpd", subprocess.Popen([ROOT / "build/bench/bare_mhd", str(port), body, lines, str(answer.status)]),
                         port, "x")
        answers(self.url)


def answers(url):
    harness.wait_until(lambda: subprocess.run(["curl", "-s", "-o", "/dev/null", url], check=False).returncode == 0, what=url)


def start_nginx(directory, d):
    port = harness.free_port()
    (directory / "nginx").mkdir()
    (directory / "nginx.conf").write_text(NGINX.format(directory / "nginx", port, d.port))
    process = subprocess.Popen(["nginx", "-c", directory / "nginx.conf"], stderr=subprocess.DEVNULL)
    answers(f"http://127.0.0.1:{port}")
    return Server("nginx `proxy_cache`", process, port, d.token())


def start_varnish(directory, d):
    port = harness.free_port()
    (directory / "cache.vcl").write_text(VARNISH.format(d.port))
    process = subprocess.Popen(["varnishd", "-F", "-j", "none", "-n", directory / "varnish", "-a", f"127.0.0.1:{port}", "-s", "malloc,64m",
                                "-f", directory / "cache.vcl"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    answers(f"http://127.0.0.1:{port}")
    return Server("Varnish", process, port, d.token())


def compare(what, servers, path, fields, goals):
    """Rows of the table: medians, and the ratio of shootd's CPU time to that of each server in the same round."""
    rounds = {server: [] for server in servers}
    for _ in range(ROUNDS):
        for server in servers:
            rounds[server].append(server.load(path, fields))
    ours = servers[0]
    for server in servers:
        cpu, rate, p99 = (statistics.median(r[i] for r in rounds[server]) if rounds[server][0][i] != "" else "" for i in range(3))
        ratio = statistics.median(a[0] / b[0] for a, b in zip(rounds[ours], rounds[server]))
        yield [what, server.name, cpu, rate, p99, "" if server is ours else ratio, goals.get(server.name, "")]


KINDS = (
    ("one cluster, status 200", "cluster", {}, {"bare libmicrohttpd": 1.15, "nginx `proxy_cache`": 0.7}),
    ("one cluster, status 304", "cluster", {"If-None-Match": ""}, {}),
    ("one cluster, gzip", "cluster", {"Accept-Encoding": "gzip"}, {}),
    ("first page of 50", "/v1/clusters?limit=50", {}, {}),
)


def measure(directory, d, logging, proxies):
    path = d.clusters_path("bench-0000")
    ours, all_lines = Server("shootd", d.process, d.port, d.token()), Server("shootd, `access_log: all`", logging.process, logging.port, logging.token())
    for kind, at, fields, goals in KINDS:
        at = path if at == "cluster" else at
        asked = {name: value or ours.tag(at) for name, value in fields.items()}
        bare = Bare(directory, d, at, asked)
        try:
            what = f"{kind}, {bare.bytes:,} bytes" if bare.bytes else kind
            yield from compare(what, [ours, bare, *proxies, *([all_lines] if not fields else [])], at, fields, goals)
        finally:
            bare.stop()


def main():
    need_tools()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        sim = harness.Sim(directory)
        more = {"extra": "limits: {requests_per_minute: 1000000000}\n"}
        d, logging = (harness.Shootd(directory / n, sim.url, **more) for n in ("shipped", "logging"))
        shipped(d)
        shipped(logging, access_log="all")
        proxies = []
        try:
            sim.post("shoots", count=1000, prefix="bench", state="ready")
            for one in (d, logging):
                one.start()
                harness.wait_until(lambda: len(one.http.get("/v1/clusters?limit=1000").json()["items"]) == 1000, timeout=60, what="discovery")
                quiet(one.process.pid)
            proxies = [start_nginx(directory, d)]
            proxies.append(start_varnish(directory, d))
            rows = list(measure(directory, d, logging, proxies))
        finally:
            for proxy in proxies:
                proxy.stop()
            for one in (d, logging):
                one.stop()
            sim.stop()
    for what, server, _, _, _, ratio, most in rows:
        if most:
            goal(f"CPU of a read of {what}: ratio to {server}", ratio, most)
    section("The cost of a cached read",
            f"Each of {CONNECTIONS} connections sends its next request as soon as it has an answer. The servers are measured in turn, in {ROUNDS} rounds of "
            f"{SECONDS} s. The figures are medians; the ratio is shootd's CPU time divided by that of the other server in the same round. The load (wrk; h2load for 304) "
            "has one core, and the server has the other. The bare server sends the same bytes and header fields to every request; nginx and Varnish cache "
            "shootd's answer for an hour. The CPU time is that of the process, with the kernel's work for its sockets. shootd has 1,000 clusters.")
    table(["answer", "server", "CPU per answer, µs", "answers a second", "p99, ms", "shootd's CPU time divided by that of this server", "goal"], rows)


if __name__ == "__main__":
    main()
