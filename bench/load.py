"""What the benchmarks share: cores, CPU time, and wrk."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/api"))

CORES = (sorted(os.sched_getaffinity(0)) * 2)[:2]


def need_tools(*names):
    for name, package in (("wrk", "wrk"), ("h2load", "nghttp2-client"), ("nginx", "nginx-light")):
        if name in (names or ("wrk", "h2load", "nginx")) and not shutil.which(name):
            raise SystemExit(f"bench needs {name}: apt-get install {package}")


def cpu_seconds(pid):
    """Of a process and its children that live."""
    children = (pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()).split()
    return own_cpu_seconds(pid) + sum(own_cpu_seconds(child) for child in children)


def own_cpu_seconds(pid):
    fields = (pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]).split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pin(pid, core):
    """All threads of a process and of its children."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), {core})
        for child in (task / "children").read_text().split():
            pin(child, core)


def wrk(url, token, connections, seconds, *more):
    """Requests that were answered and the 99th percentile of their time in milliseconds."""
    run = subprocess.run(["taskset", "-c", str(CORES[0]), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency",
                          *more, "-H", f"Authorization: Bearer {token}", url], capture_output=True, text=True, check=True)
    if "Non-2xx" in run.stdout:
        raise SystemExit(run.stdout)
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", run.stdout).groups()
    return (int(re.search(r"(\d+) requests in", run.stdout).group(1)),
            float(value) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit])


def h2load(url, token, connections, seconds, *more):
    """Answers 304 and their rate. wrk waits for the body of a 304 that tells its length, which has none (RFC 9110, 15.4.5)."""
    run = subprocess.run(["taskset", "-c", str(CORES[0]), "h2load", "--h1", "-t1", f"-c{connections}", f"-D{seconds}",
                          *more, "-H", f"Authorization: Bearer {token}", url], capture_output=True, text=True, check=True)
    return int(re.search(r"(\d+) 3xx", run.stdout).group(1))
