#!/usr/bin/python3
"""Compares one cluster read of shootd with a bare libmicrohttpd server that sends the same bytes: CPU time per
request, in alternating rounds of the same run. A ratio, not a timing; run it on a quiet machine. The load has one
core, the server another: else it is chance whether they disturb each other."""

import pathlib
import statistics
import subprocess
import tempfile

from load import CORES, ROOT, cpu_seconds, need_wrk, pin, wrk
import harness

ROUNDS, SECONDS, CONNECTIONS = 5, 4, 32


def load(url, token, pid):
    before = cpu_seconds(pid)
    requests, p99 = wrk(url, token, CONNECTIONS, SECONDS)
    return (cpu_seconds(pid) - before) / requests * 1e6, requests / SECONDS, p99


def main():
    need_wrk()
    with tempfile.TemporaryDirectory() as directory:
        sim = harness.Sim(directory)
        shootd = harness.Shootd(pathlib.Path(directory) / "s", sim.url, polling="{active: 15s, idle: 2m, discovery: 5m}",
                                extra="limits: {requests_per_minute: 1000000000}\n")
        shootd.config.write_text(shootd.config.read_text().replace("log_level: debug", "log_level: warning"))
        bare = None
        try:
            sim.post("shoots", count=1000, prefix="bench", state="ready")
            shootd.start()
            harness.wait_until(lambda: len(shootd.http.get("/v1/clusters?limit=1000").json()["items"]) == 1000, timeout=60, what="discovery")
            body = pathlib.Path(directory) / "body"
            body.write_bytes(shootd.cluster("bench-0000").content)
            port = harness.free_port()
            bare = subprocess.Popen([ROOT / "build/bench/bare_mhd", str(port), body])
            url = shootd.url + shootd.clusters_path("bench-0000")
            pin(shootd.process.pid, CORES[1])
            pin(bare.pid, CORES[1])
            ours, theirs = [], []
            print(f"{body.stat().st_size} bytes, {CONNECTIONS} connections, {ROUNDS} rounds of {SECONDS} s")
            for _ in range(ROUNDS):
                ours.append(load(url, shootd.token(), shootd.process.pid))
                theirs.append(load(f"http://127.0.0.1:{port}/", "x", bare.pid))
            for name, rows in (("shootd", ours), ("bare libmicrohttpd", theirs)):
                print(f"{name:20} {statistics.median(r[0] for r in rows):6.2f} us CPU per request, "
                      f"{statistics.median(r[1] for r in rows):8.0f} requests/s, p99 {rows[-1][2]:.2f} ms")
            ratio = statistics.median(a[0] / b[0] for a, b in zip(ours, theirs))
            print(f"ratio of CPU per request: {ratio:.2f} (goal: at most 1.15)")
            page = shootd.url + "/v1/clusters?limit=1000"
            cpu, rate, p99 = load(page, shootd.token(), shootd.process.pid)
            print(f"a page of 1000 clusters {cpu / 1000:6.2f} ms CPU, {rate:8.0f} requests/s, p99 {p99:.2f} ms")
        finally:
            if bare:
                bare.terminate()
                bare.wait(10)
            shootd.stop()
            sim.stop()


main()
