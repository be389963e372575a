#!/usr/bin/python3
"""A store after long use: bytes per event, delivery and operation, the time of a start, and the memory of its operations. Its rows are
copies of rows that shootd wrote, with new ids and times. SQLite makes them while shootd is stopped."""

import itertools
import pathlib
import re
import sqlite3
import statistics
import tempfile

from load import Client, quiet, resident, shipped
from report import goal, section, table
from scale import first_answer
import harness

CLUSTERS, WEBHOOKS, RESTARTS = 10, 5, 3
FINISHED, EVENTS, DELIVERED = (0, 13900, 200000), 1000000, 20000  # the newest events also have their deliveries
WAITS = 50
MIB = 2**20
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
TIMES = 10**15  # larger numbers are microseconds since 1970


def live(d):
    """Makes rows to copy: each cluster is created, hibernated and woken, and five webhooks receive the events."""
    receiver = harness.Receiver()
    d.start().wait_upstream()
    for i in range(WEBHOOKS):
        assert d.http.post("/v1/webhooks", json={"url": f"{receiver.url}/{i}"}).status_code == 201
    names = [f"c-{i}" for i in range(CLUSTERS)]
    for id in [d.create(name)["operation"]["id"] for name in names]:
        d.wait_operation(id)
    for action in ("hibernate", "wake"):
        answers = [d.http.post(f"{d.clusters_path(name)}/actions/{action}").json() for name in names]
        for answer in answers:
            d.wait_operation(answer["operation"]["id"])
    harness.wait_until(lambda: "\nshootd_webhook_pending 0\n" in d.http.get("/metrics").text, what="deliveries")
    d.stop()
    receiver.stop()


class Rows:
    """The store of a stopped daemon; its rows can be copied."""

    def __init__(self, d):
        self.db = sqlite3.connect(d.state / "shootd.db", isolation_level=None)
        self.db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;")

    def close(self):
        # Restores the journal mode of the daemon, with all data in the file.
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.close()

    def columns(self, of):
        return [row[1] for row in self.db.execute(f"PRAGMA table_info({of})")]

    def all(self, of, order):
        return [dict(zip(self.columns(of), row)) for row in self.db.execute(f"SELECT * FROM {of} ORDER BY {order}")]

    def size(self):
        (pages,), (free,), (bytes_,) = (self.db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size"))
        return (pages - free) * bytes_

    def add(self, into, rows):
        """Adds rows; returns the growth of the file in bytes."""
        before, columns = self.size(), self.columns(into)
        self.db.execute("BEGIN")
        self.db.executemany(f"INSERT INTO {into} ({','.join(columns)}) VALUES ({','.join('?' * len(columns))})",
                            ([row[column] for column in columns] for row in rows))
        self.db.execute("COMMIT")
        return self.size() - before


def copy(row, i, of_all, ids):
    """A copy with other ids, one millisecond after the copy before it."""
    def other(value):
        if isinstance(value, int):
            return value - (of_all - i) * 1000 if value > TIMES else value
        for old, new in ids if isinstance(value, str) else ():
            value = value.replace(old, new)
        return value
    return {column: other(value) for column, value in row.items()}


def new_id(old, i):
    """An id of the same length, older than all existing ids, in the order of the copies."""
    return f"{old.split('_')[0]}_01m0{i:022d}"


def copied(rows, first, count, of_all):
    for i, row in zip(range(first, first + count), itertools.cycle(rows)):
        yield copy(row, i, of_all, [(row["id"], new_id(row["id"], i))])


def copied_events(rows, count):
    for number, event in enumerate(copied(rows, 0, count, count), rows[-1]["sequence"] + 1):
        yield event | {"sequence": number}


def packed(id):
    """The 16 bytes of an id, as the table of deliveries stores it."""
    number = 0
    for digit in id.split("_")[1]:
        number = number * 32 + DIGITS.index(digit)
    return number.to_bytes(16, "big")


def copied_deliveries(events, deliveries, count, of_all):
    of_event = {e["id"]: [d for d in deliveries if d["event_id"] == packed(e["id"])] for e in events}
    for i, event in zip(range(count), itertools.cycle(events)):
        for nth, row in enumerate(of_event[event["id"]]):
            yield copy(row, i, of_all, []) | {"number": None, "id": packed(new_id("dlv_", i * WEBHOOKS + nth)),
                                              "event_id": packed(new_id("evt_", i))}


def grow_operations(d, samples, have, want):
    """Bytes per added operation. The first call removes the operations that shootd itself made."""
    rows = Rows(d)
    if not have:
        rows.db.execute("DELETE FROM operations")
    grown = rows.add("operations", copied(samples, have, want - have, FINISHED[-1]))
    rows.close()
    return grown / (want - have) if want > have else 0


def grow_events(d):
    """Bytes of an event and of a delivery."""
    rows = Rows(d)
    events, deliveries = rows.all("events", "sequence"), rows.all("deliveries", "id")
    assert len(deliveries) == WEBHOOKS * len(events)
    total = EVENTS - events[-1]["sequence"]
    of_event = rows.add("events", copied_events(events, total)) / total
    of_delivery = rows.add("deliveries", copied_deliveries(events, deliveries, DELIVERED, total)) / DELIVERED / WEBHOOKS
    rows.db.execute("UPDATE meta SET value = ? WHERE key = 'event_sequence'", (EVENTS,))
    rows.close()
    return of_event, of_delivery


def restarted(d):
    """Seconds from exec to the first right answer."""
    path = d.clusters_path("c-0")
    seconds, _ = first_answer(d, path, b'"name":"c-0"')
    d.open()
    return seconds


def walk_operations(d):
    """Reads all operations in pages of 1000, and waits for some ended ones."""
    client, cursor, ids = Client(d), "", []
    while cursor is not None:
        body = client.ask(f"/v1/operations?limit=1000{cursor}").body
        ids += [id.decode() for id in re.findall(rb'"id":"(op_[^"]+)"', body)]
        more = re.search(rb'"next_cursor":"([^"]+)"', body[-400:])
        cursor = f"&cursor={more[1].decode()}" if more else None
    for id in ids[::max(1, len(ids) // WAITS)]:
        assert client.ask(f"/v1/operations/{id}?wait=5").status == 200
    client.close()
    return len(ids)


def operations_in_memory(d, samples):
    """Rows of the table, and bytes of an operation in the store."""
    idle, rows, have, of_one = None, [], 0, 0
    for want in FINISHED:
        of_one = grow_operations(d, samples, have, want)
        have = want
        seconds = restarted(d)
        quiet(d.process.pid)
        started = resident(d.process.pid)
        assert walk_operations(d) == want
        quiet(d.process.pid)
        read = resident(d.process.pid)
        idle = idle or (started, read)
        rows.append([f"{want:,}", seconds * 1e3, started / MIB, (started - idle[0]) / MIB, (read - idle[1]) / MIB])
        d.stop()
    return rows, of_one


def restarts(d):
    """The median of the seconds to the first right answer, and the resident bytes after all work of the start."""
    times = []
    for _ in range(RESTARTS):
        times.append(restarted(d))
        quiet(d.process.pid)
        rss = resident(d.process.pid)
        d.stop()
    return statistics.median(times), rss


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        sim = harness.Sim(directory)
        d = harness.Shootd(directory / "d", sim.url)
        shipped(d, polling="{active: 200ms, idle: 1s}")
        try:
            live(d)
            rows = Rows(d)
            samples = rows.all("operations", "id")
            rows.close()
            assert all(operation["finished_at"] for operation in samples)
            memory, of_operation = operations_in_memory(d, samples)
            of_event, of_delivery = grow_events(d)
            size = (d.state / "shootd.db").stat().st_size
            seconds, rss = restarts(d)
        finally:
            d.stop()
            sim.stop()
    goal(f"restart with {EVENTS:,} events and {FINISHED[-1]:,} finished operations, ms", seconds * 1e3, 500)
    goal(f"bytes of the store for an event with its deliveries to {WEBHOOKS} webhooks", of_event + WEBHOOKS * of_delivery, 1700)
    goal("memory of finished operations, whatever their number, MiB", max(max(row[3], row[4]) for row in memory), 16)
    section("A large store", f"The store has {FINISHED[-1]:,} finished operations of {CLUSTERS} clusters and {EVENTS:,} events; {DELIVERED:,} events have deliveries "
            f"to {WEBHOOKS} webhooks. The rows are copies, with other ids and times, of rows that shootd wrote; the file is in the page cache. shootd has "
            "its default configuration, except for shorter intervals between polls.")
    table(["what", "now", "goal"],
          [[f"restart with a file of {size / MIB:.0f} MiB, ms from exec to the first right answer, median of {RESTARTS}", seconds * 1e3, 500],
           ["RSS after the restart, MiB", rss / MIB, ""],
           ["bytes in the file for an event", of_event, ""],
           ["bytes in the file for a delivery", of_delivery, ""],
           [f"bytes in the file for an event with its deliveries to {WEBHOOKS} webhooks", of_event + WEBHOOKS * of_delivery, 1700],
           ["bytes in the file for a finished operation", of_operation, ""]])
    section("Finished operations in memory", "All operations were read in pages of 1000, and some by requests with `wait`. The goal is at most 16 MiB, for any number of operations.")
    table(["finished operations", "restart, ms", "RSS after the start, MiB", "RSS above that without operations: after the start, MiB",
           "RSS above that without operations: after all operations were read, MiB"], memory)


if __name__ == "__main__":
    main()
