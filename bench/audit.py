#!/usr/bin/python3
"""A full audit log: the first page of a time, newest and oldest first, compared with a short log; and its export, which must not cost
memory. The entries are copies of one that shootd wrote, one second apart, made while shootd is stopped."""

import pathlib
import sqlite3
import statistics
import tempfile
import time

from load import Client, quiet, resident, shipped
from report import goal, section, table
import harness

ENTRIES, SHORT, ROUNDS = 990000, 1000, 50  # below a million, where a purge would be measured, too
MIB = 2**20
DAY = 86400


def stamp(seconds_ago):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seconds_ago))


def fill(d, count):
    """Fills the log with `count` entries; the newest is of the present moment."""
    with sqlite3.connect(d.state / "shootd.db") as db:
        db.execute("CREATE TEMP TABLE one AS SELECT * FROM audit ORDER BY sequence DESC LIMIT 1")
        db.execute("DELETE FROM audit")
        db.execute("""WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                   INSERT INTO audit (at, latest, token_id, action, project, cluster, outcome, body)
                   SELECT ?2 - (?1 - i) * 1000000, ?2 - (?1 - i) * 1000000, token_id, action, project, cluster, outcome, body FROM one, n""",
                   (count, int(time.time() * 1e6)))
    db.close()


PAGES = {"the newest": "", "the oldest": "order=asc", "of the last hour, oldest first": "order=asc&since={hour}",
         "until half of it": "until={half}", "of a day in the middle, oldest first": "order=asc&since={half}&until={day_later}"}


def first_pages(d, count):
    """Median milliseconds of each page."""
    client, took = Client(d), {}
    times = {"hour": stamp(3600), "half": stamp(count / 2), "day_later": stamp(max(0, count / 2 - DAY))}
    for name, query in PAGES.items():
        rounds = []
        for _ in range(ROUNDS):
            began = time.monotonic()
            answer = client.ask(f"/v1/audit?limit=50&{query.format(**times)}")
            rounds.append((time.monotonic() - began) * 1e3)
            assert answer.status == 200, answer.body
        took[name] = statistics.median(rounds)
    client.close()
    return took


def export(d):
    """The number of entries, the seconds, and the largest growth of memory meanwhile."""
    quiet(d.process.pid)
    before, most, lines, began = resident(d.process.pid), 0, 0, time.monotonic()
    with d.http.stream("GET", "/v1/audit", params={"format": "jsonl"}) as answer:
        assert answer.status_code == 200
        for i, piece in enumerate(answer.iter_raw(1 << 20)):
            lines += piece.count(b"\n")
            most = max(most, resident(d.process.pid) - before)
    return lines, time.monotonic() - began, most


def main():
    took = {}
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        sim = harness.Sim(directory)
        d = harness.Shootd(directory / "d", sim.url, extra="limits: {requests_per_minute: 1000000000}\n")
        shipped(d)
        d.start()
        d.stop()
        for count in (SHORT, ENTRIES):
            fill(d, count)
            d.start()
            took[count] = first_pages(d, count)
            if count == ENTRIES:
                lines, seconds, grown = export(d)
            d.stop()
        sim.stop()
    assert lines >= ENTRIES
    goal(f"slowest first page of an audit log of {ENTRIES:,} entries, ms", max(took[ENTRIES].values()), 5)
    section("The audit log", f"Medians of {ROUNDS} first pages of 50 entries, over HTTP, in milliseconds. Goal: at most 5.")
    table(["page", f"{SHORT:,} entries", f"{ENTRIES:,} entries"], [[name, took[SHORT][name], took[ENTRIES][name]] for name in PAGES])
    section("Its export", f"All {lines:,} entries as JSON lines: {seconds:.1f} s, and {grown / MIB:.1f} MiB more memory at most.")


if __name__ == "__main__":
    main()
