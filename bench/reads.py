#!/usr/bin/python3
"""What a cached read costs: CPU time per request of shootd as it ships (level info, a log file) against a bare libmicrohttpd server
with the same bytes and header fields, and against nginx as a cache in front of shootd, in alternating rounds of one run. Ratios, not
timings; run it on a quiet machine. The load has one core, the server another: else it is chance whether they disturb each other."""

import pathlib
import statistics
import subprocess
import tempfile

from load import CORES, ROOT, cpu_seconds, h2load, need_tools, pin, shipped, wrk
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


class Server:
    def __init__(self, name, process, url, token):
        self.name, self.process, self.url, self.token = name, process, url, token
        self.rounds = []
        pin(process.pid, CORES[1])

    def load(self, path, headers):
        before = cpu_seconds(self.process.pid)
        more = [word for header in headers for word in ("-H", header)]
        if any(header.startswith("If-None-Match") for header in headers):
            requests, p99 = h2load(self.url + path, self.token, CONNECTIONS, SECONDS, *more), float("nan")
        else:
            requests, p99 = wrk(self.url + path, self.token, CONNECTIONS, SECONDS, *more)
        self.rounds.append(((cpu_seconds(self.process.pid) - before) / requests * 1e6, requests / SECONDS, p99))


def start_bare(directory, name, answer):
    port = harness.free_port()
    body, fields = directory / f"{name}.body", directory / f"{name}.fields"
    body.write_bytes(answer.content)
    fields.write_text("".join(f"{k}: {v}\n" for k, v in answer.headers.items() if k not in OWN_OF_ONE_ANSWER))
    return Server("bare libmicrohttpd", subprocess.Popen([ROOT / "build/bench/bare_mhd", str(port), body, fields]), f"http://127.0.0.1:{port}", "x")


def start_nginx(directory, d):
    port = harness.free_port()
    (directory / "nginx").mkdir()
    (directory / "nginx.conf").write_text(NGINX.format(directory / "nginx", port, d.port))
    process = subprocess.Popen(["nginx", "-c", directory / "nginx.conf"], stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    harness.wait_until(lambda: subprocess.run(["curl", "-s", "-o", "/dev/null", url], check=False).returncode == 0, what="nginx")
    return Server("nginx proxy_cache", process, url, d.token())


def compare(what, servers, path, headers=()):
    for server in servers:
        server.rounds = []
    for _ in range(ROUNDS):
        for server in servers:
            server.load(path, headers)
    ours = servers[0]
    print(f"\n{what}: {CONNECTIONS} connections, {ROUNDS} rounds of {SECONDS} s")
    for server in servers:
        cpu, rate, p99 = (statistics.median(r[i] for r in server.rounds) for i in range(3))
        ratio = statistics.median(a[0] / b[0] for a, b in zip(ours.rounds, server.rounds))
        print(f"  {server.name:28} {cpu:8.2f} us CPU per request, {rate:8.0f} requests/s, p99 {p99:6.2f} ms" +
              ("" if server is ours else f"; shootd is {ratio:.2f} of it"))


def main():
    need_tools()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        sim = harness.Sim(directory)
        more = {"extra": "limits: {requests_per_minute: 1000000000}\n"}
        d, logging = (harness.Shootd(directory / n, sim.url, **more) for n in ("shipped", "logging"))
        shipped(d)
        shipped(logging, access_log="all")
        peers = []
        try:
            sim.post("shoots", count=1000, prefix="bench", state="ready")
            for one in (d, logging):
                one.start()
                harness.wait_until(lambda: len(one.http.get("/v1/clusters?limit=1000").json()["items"]) == 1000, timeout=60, what="discovery")
            path = d.clusters_path("bench-0000")
            answer, page = d.cluster("bench-0000"), d.http.get("/v1/clusters?limit=50")
            ours = Server("shootd", d.process, d.url, d.token())
            all_lines = Server("shootd, access_log: all", logging.process, logging.url, logging.token())
            peers = [start_bare(directory, "cluster", answer), start_bare(directory, "page", page)]
            cluster, first_page, nginx = peers = [*peers, start_nginx(directory, d)]
            compare(f"one cluster, {len(answer.content)} bytes", [ours, cluster, nginx, all_lines], path)
            compare("the same, 304", [ours, nginx], path, [f"If-None-Match: {answer.headers['etag']}"])
            compare("the same, gzip", [ours, nginx], path, ["Accept-Encoding: gzip"])
            compare(f"first page of 50, {len(page.content)} bytes", [ours, first_page, nginx], "/v1/clusters?limit=50")
            compare("a page of 1000", [ours], "/v1/clusters?limit=1000")
        finally:
            for peer in peers:
                peer.process.terminate()
                peer.process.wait(10)
            for one in (d, logging):
                one.stop()
            sim.stop()


main()
