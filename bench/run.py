#!/usr/bin/python3
"""Compares one cluster read of shootd with a bare libmicrohttpd server that sends the same bytes: CPU time per
request, in alternating rounds of the same run. A ratio, not a timing; run it on a quiet machine. The load has one
core, the server another: else it is chance whether they disturb each other."""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/api"))
import harness  # noqa: E402

ROUNDS, SECONDS, CONNECTIONS = 5, 4, 32
CORES = (sorted(os.sched_getaffinity(0)) * 2)[:2]


def cpu_seconds(pid):
    fields = (pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]).split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pin(pid, core):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), {core})


def load(url, token, pid):
    before = cpu_seconds(pid)
    run = subprocess.run(["taskset", "-c", str(CORES[0]), "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency",
                          "-H", f"Authorization: Bearer {token}", url], capture_output=True, text=True, check=True)
    used = cpu_seconds(pid) - before
    requests = int(re.search(r"(\d+) requests in", run.stdout).group(1))
    if "Non-2xx" in run.stdout:
        raise SystemExit(run.stdout)
    p99 = re.search(r"99%\s+(\S+)", run.stdout).group(1)
    return used / requests * 1e6, requests / SECONDS, p99


def main():
    if not shutil.which("wrk"):
        raise SystemExit("bench needs wrk: apt-get install wrk")
    with tempfile.TemporaryDirectory() as directory:
        sim = harness.Sim(directory)
        shootd = harness.Shootd(pathlib.Path(directory) / "s", sim.url, polling="{active: 15s, idle: 2m, discovery: 5m}")
        shootd.config.write_text(shootd.config.read_text().replace("log_level: debug", "log_level: warning"))
        bare = None
        try:
            sim.post("shoots", count=1, prefix="bench", state="ready")
            shootd.start()
            harness.wait_until(lambda: shootd.cluster("bench-0000").status_code == 200, what="discovery")
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
                      f"{statistics.median(r[1] for r in rows):8.0f} requests/s, p99 {rows[-1][2]}")
            ratio = statistics.median(a[0] / b[0] for a, b in zip(ours, theirs))
            print(f"ratio of CPU per request: {ratio:.2f} (goal: at most 1.15)")
        finally:
            if bare:
                bare.terminate()
                bare.wait(10)
            shootd.stop()
            sim.stop()


main()
