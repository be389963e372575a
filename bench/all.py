#!/usr/bin/python3
"""Runs all benchmarks in turn and prints one report; docs/benchmarks.md is such a report. The machine must be quiet: other programs
would change the figures."""

import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from load import CORES, ROOT, need_tools
from report import section, table

BENCHMARKS = ("hot_path", "reads", "tls", "refusals", "open_loop", "lists", "command_line", "scale", "store", "audit", "writes", "latency", "calls", "streams", "deliveries")


def first_line(*argv):
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    lines = (run.stdout + run.stderr).splitlines()
    return lines[0] if lines else "not found"


def package(name):
    run = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True, check=False)
    return f"{name} {run.stdout}" if run.returncode == 0 else f"no {name}"


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", info)
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) // 2**20
    return f"{model[1] if model else platform.machine()}, {len(set(CORES))} cores used, {memory} GiB, Linux {platform.release()}"


def run(name, goals):
    """The output of one benchmark; its goals are written to the file."""
    print(f"{datetime.datetime.now():%H:%M:%S} {name}", file=sys.stderr, flush=True)
    return subprocess.run([sys.executable, ROOT / "bench" / f"{name}.py"], env=os.environ | {"BENCH_GOALS": goals}, stdout=subprocess.PIPE,
                          text=True, check=True).stdout


def main():
    need_tools()
    began = datetime.datetime.now(datetime.timezone.utc)
    with tempfile.NamedTemporaryFile("r") as goals:
        sections = [run(name, goals.name) for name in sys.argv[1:] or BENCHMARKS]
        reached = [json.loads(line) for line in goals]
    print("# Benchmarks\n")
    print(f"This page is the output of one run of `make bench` at {first_line('git', '-C', str(ROOT), 'describe', '--always', '--dirty')}, {began:%Y-%m-%d %H:%M} UTC.\n")
    print(f"Machine: {machine()}. Versions: {first_line('gcc', '--version')}; " +
          ", ".join(package(name) for name in ("libmicrohttpd12", "libsqlite3-0", "libjansson4", "libgnutls30", "nginx-light", "varnish", "wrk",
                                               "nghttp2-client")) + ".\n")
    print("shootd has its default configuration (level `info` to a file, `access_log: writes`) unless a row names another configuration. Only the address of Cleura "
            "and the quota of requests per token are set. Each part is a separate program, for example `/usr/bin/python3 bench/reads.py`. They ran in this "
            "order: " + ", ".join(f"`{name}`" for name in sys.argv[1:] or BENCHMARKS) + ".", flush=True)
    section("Goals and results")
    table(["what", "now", "goal"], reached)
    print("".join(sections).rstrip())


main()
