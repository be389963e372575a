#!/usr/bin/python3
"""This build beside another one in the same run, for example the build before a change of the structure: bench/before.py DIRECTORY, where
DIRECTORY has the other `shootd`. Prints the costs of cached reads, and those that grow with the number of clusters, each with its ratio."""

import argparse
import contextlib
import pathlib
import statistics
import tempfile

from load import BUILD, need_tools, quiet, shipped
from reads import KINDS, Server, compare
from report import section, table
import harness
import scale

CLUSTERS, TURNS, READ = 10000, 3, 1000
NAMES = ("this build", "the other build")


@contextlib.contextmanager
def started_from(build):
    """Daemons are started from this directory meanwhile."""
    harness.BUILD = scale.BUILD = build
    try:
        yield
    finally:
        harness.BUILD = scale.BUILD = BUILD


def reads(builds):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        sim = harness.Sim(directory)
        daemons = [harness.Shootd(directory / str(i), sim.url, extra="limits: {requests_per_minute: 1000000000}\n") for i in range(len(builds))]
        try:
            sim.post("shoots", count=READ, prefix="bench", state="ready")
            for d, build in zip(daemons, builds):
                shipped(d)
                with started_from(build):
                    d.start()
                harness.wait_until(lambda d=d: d.http.get("/v1/summary").json()["total"] == READ, timeout=60, what="discovery")
                quiet(d.process.pid)
            servers = [Server(name, d.process, d.port, d.token()) for name, d in zip(NAMES, daemons)]
            for kind, at, fields, _ in KINDS:
                at = daemons[0].clusters_path("bench-0000") if at == "cluster" else at
                asked = {name: value or servers[0].tag(at) for name, value in fields.items()}
                yield from (row[:-1] for row in compare(kind, servers, at, asked, {}))
        finally:
            for d in daemons:
                d.stop()
            sim.stop()


def grown(builds):
    """The figures of bench/scale.py for one number of clusters, medians of several turns."""
    found = [[] for _ in builds]
    for _ in range(TURNS):
        for figures, build in zip(found, builds):
            with started_from(build):
                figures.append(scale.measure(CLUSTERS))
    for what in found[0][0]:
        ours, other = (statistics.median(one[what] for one in figures) for figures in found)
        yield [what, ours, other, ours / other if other else ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path, help="the directory with the other shootd")
    other = parser.parse_args().directory.resolve()
    need_tools("wrk", "h2load")
    if not (other / "shootd").is_file():
        raise SystemExit(f"{other} has no shootd")
    builds = (BUILD, other)
    section("Cached reads", f"As in `bench/reads.py`, {READ:,} clusters; the ratio is the CPU time of this build divided by the other's in the same round.")
    table(["answer", "build", "CPU per answer, µs", "answers a second", "p99, ms", "ratio of this build's CPU time to this"], list(reads(builds)))
    section(f"With {CLUSTERS:,} clusters", f"As in `bench/scale.py`; medians of {TURNS} turns.")
    table(["what", *NAMES, "ratio"], list(grown(builds)))


if __name__ == "__main__":
    main()
