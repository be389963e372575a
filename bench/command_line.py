#!/usr/bin/python3
"""The time of `shootctl list` with 100 clusters from start to end, compared with curl for the same bytes. The two alternate, so that
other load of the machine affects both."""

import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from load import BUILD
from report import goal, section, table
from scale import BY_HAND, Fleet

CLUSTERS, WARM_UP, ROUNDS, LIMIT = 100, 3, 60, 1.3
PATH = "/v1/clusters?limit=1000&fields=summary"  # of `list -A`


def took(argv, env):
    began = time.monotonic()
    done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, check=True)
    return time.monotonic() - began, len(done.stdout)


def measure(d, directory):
    env = {"PATH": os.environ["PATH"], "HOME": str(directory), "SHOOTD_URL": d.url, "SHOOTD_TOKEN": d.token()}
    curl = ["curl", "-q", "-sS", "--compressed", "--oauth2-bearer", d.token(), d.url + PATH]
    forms = {"`shootctl list -A`": ["list", "-A"], "`shootctl list -A -o name`": ["list", "-A", "-o", "name"]}
    lines = {"curl": curl, **{what: [BUILD / "shootctl", *arguments] for what, arguments in forms.items()}}
    seen = {what: [] for what in lines}
    for _ in range(WARM_UP + ROUNDS):
        for what, argv in lines.items():
            seen[what].append(took(argv, env))
    seen = {what: runs[WARM_UP:] for what, runs in seen.items()}
    medians = {what: statistics.median(seconds for seconds, _ in runs) * 1e3 for what, runs in seen.items()}
    for what in forms:
        goal(f"{what} of {CLUSTERS} clusters: ratio to curl for the same bytes", medians[what] / medians["curl"], LIMIT)
    return [[what, seen[what][0][1], medians[what], medians[what] / medians["curl"], LIMIT if what in forms else ""] for what in lines]


def main():
    with tempfile.TemporaryDirectory() as name:
        f = Fleet(pathlib.Path(name), CLUSTERS, polling=BY_HAND)
        try:
            f.d.start()
            f.wait_for_all()
            rows = measure(f.d, name)
        finally:
            f.stop()
    section("The command line", f"The time is measured from the start to the end of the program, with {CLUSTERS} clusters. Each figure is the median of {ROUNDS} "
            "runs, one after the other.")
    table(["command", "bytes printed", "ms", "ratio to curl", "goal"], rows)


if __name__ == "__main__":
    main()
