#!/usr/bin/python3
"""Lists, searches and counts over 10,000 clusters, and a page of ended operations: the time of an answer, and the CPU time of shootd for
it. One connection sends one request at a time. shootd has its default configuration, except that polls happen on request."""

import pathlib
import statistics
import tempfile

from load import Client, cpu_clock, shipped
from report import goal, section, table
from scale import BY_HAND, Fleet
from store import Rows, copied, live
import harness

CLUSTERS, OPERATIONS, ROUNDS = 10000, 13900, 50

LISTS = (  # name, path, header fields, goal in milliseconds
    ("`/v1/summary`", "/v1/summary", (), 2),
    ("first page of 50", "/v1/clusters?limit=50", (), ""),
    ("`sort=kubernetes_version`, first 50", "/v1/clusters?limit=50&sort=kubernetes_version", (), 2),
    ("`sort=-updated_at`, first 50", "/v1/clusters?limit=50&sort=-updated_at", (), ""),
    ("`q=c-07`, 50 of 1,000", "/v1/clusters?limit=50&q=c-07", (), 2),
    ("`q=nothing`", "/v1/clusters?limit=50&q=nothing", (), 2),
    ("`kubernetes_version=`, first 50", "/v1/clusters?limit=50&kubernetes_version={version}", (), ""),
    ("`expiring_before` in a year", "/v1/clusters?limit=50&expiring_before=2027-11-22T00:00:00Z", (), ""),
    ("page of 1000", "/v1/clusters?limit=1000", (), ""),
    ("page of 1000, gzip", "/v1/clusters?limit=1000", ("Accept-Encoding: gzip",), ""),
)


def timed(d, what, path, fields, goal):
    client = Client(d)
    client.ask(path, *fields)
    before = cpu_clock(d.process.pid)
    answers = [client.ask(path, *fields) for _ in range(ROUNDS)]
    spent = (cpu_clock(d.process.pid) - before) / ROUNDS
    client.close()
    assert all(answer.status == 200 for answer in answers), answers[0].head
    return [what, len(answers[0].body), statistics.median(a.first for a in answers) * 1e3, statistics.median(a.last for a in answers) * 1e3,
            spent * 1e3, goal]


def clusters(directory):
    f = Fleet(directory, CLUSTERS, polling=BY_HAND)
    try:
        f.d.start()
        f.wait_for_all()
        version = f.d.http.get(f.path(0)).json()["observed"]["kubernetes_version"]
        return [timed(f.d, what, path.format(version=version), *more) for what, path, *more in LISTS]
    finally:
        f.stop()


def operations(directory):
    """Adds copies of rows that shootd wrote, older than those in memory: the page comes from the store."""
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "d", sim.url)
    shipped(d, polling="{active: 200ms, idle: 1s}")
    try:
        live(d)
        rows = Rows(d)
        rows.add("operations", copied(rows.all("operations", "id"), 0, OPERATIONS, OPERATIONS))
        rows.close()
        d.start()
        page = d.http.get("/v1/operations?limit=1000").json()
        assert len(page["items"]) == 1000
        path = f"/v1/operations?limit=1000&cursor={page['next_cursor']}"
        return [timed(d, f"1000 of {OPERATIONS:,} ended operations, the second page", path, (), 30)]
    finally:
        d.stop()
        sim.stop()


def main():
    section(f"Lists over {CLUSTERS:,} clusters", f"Each figure is the median of {ROUNDS} answers on one connection.")
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        for part in ("clusters", "operations"):
            (directory / part).mkdir()
        rows = clusters(directory / "clusters") + operations(directory / "operations")
    for what, _, _, last, _, most in rows:
        if most:
            goal(f"{what}, ms to the last byte", last, most)
    table(["what", "bytes", "first byte, ms", "last byte, ms", "CPU, ms", "goal, ms"], rows)


main()
