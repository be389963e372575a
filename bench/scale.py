#!/usr/bin/python3
"""Costs that grow with the number of clusters, and costs that do not, for 100 to 50,000 clusters in the same steps. shootd has its
default configuration, except that polls happen on request, outside the measured time. Also the memory of a cluster by part, from massif."""

import collections
import contextlib
import gzip
import pathlib
import re
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from load import BUILD, Client, SomebodyElse, cpu_clock, metric, need_tools, quiet, resident, shipped
from report import Stopwatch, goal, section, table
import harness

SIZES = (100, 1000, 10000, 50000)
OF_A_PROJECT = 10000  # a list of 50,000 would have 125 MB; shootd accepts 64 MiB and 20,000 rows
RESTARTS, POLLS, PAGES, CHANGES, SINGLES = 3, 2, 20, 10, 1000
BY_HAND = "{active: 1h, idle: 1h, discovery: 1h, fresh_floor: 0s}"
FRESH = "Cache-Control: no-cache"
MIB = 2**20

DISCOVERED, PUBLISHED = "CPU of the first discovery, s", "snapshots that the first discovery published"
RESTARTED, POLLED = "RSS after restart and a read of Cleura, MiB", "CPU of a poll of all clusters without changes, ms"
ANSWERED, PAGED = "restart, ms from exec to the first right answer", "page of 1000, ms from first to last byte"
CHANGED, READ = "ms that shootd itself needs for a fresh read of a cluster that has changed at Cleura", "RSS after polls, searches, lists, gzip, MiB"
GOALS = {RESTARTED: 150, READ: 200, ANSWERED: 500, POLLED: 300, PAGED: 30, CHANGED: "does not grow with the number of clusters"}


class Fleet:
    """A simulator with a number of clusters, and shootd before its first start."""

    def __init__(self, directory, count, polling=BY_HAND, speed=720, of_a_project=OF_A_PROJECT, **keys):
        self.count, directory = count, pathlib.Path(directory)
        self.ids = [f"{i:032x}" for i in range(1, -(-count // of_a_project) + 1)]
        self.sim = harness.Sim(directory, speed, project=self.ids)
        self.d = harness.Shootd(directory / "d", self.sim.url, projects=[(f"p{i}", "Sto2", id) for i, id in enumerate(self.ids)])
        shipped(self.d, polling=polling, **keys)
        shoots = [{"name": self.name(i), "project": self.ids[i % len(self.ids)]} for i in range(count)]
        # The answer of this request is the whole state.
        with self.sim.http.stream("PUT", "/_sim/state", json={"bootstrapped": [], "shoots": shoots}, timeout=300) as answer:
            collections.deque(answer.iter_raw(MIB), maxlen=0)
            assert answer.status_code == 200

    def name(self, i):
        return f"c-{i:05d}"

    def path(self, i):
        return self.d.clusters_path(self.name(i), f"p{i % len(self.ids)}")

    def wait_for_all(self):
        harness.wait_until(lambda: self.d.http.get("/v1/summary").json()["total"] == self.count, timeout=120, interval=0.01, what="discovery")

    @property
    def pid(self):
        return self.d.process.pid

    def stop(self):
        self.d.stop()
        self.sim.stop()


def first_answer(d, path, right):
    """Starts shootd. Returns the seconds from exec to the first right answer, and the CPU time until then."""
    request = f"GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nAuthorization: Bearer {d.token()}\r\n\r\n".encode()
    watch = Stopwatch()
    d.process = harness.Process([BUILD / "shootd", "--config", d.config], d.log_path)
    while True:
        with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", d.port)) as s:
            s.sendall(request)
            answer = b"".join(iter(lambda: s.recv(65536), b""))
            if answer.startswith(b"HTTP/1.1 200 ") and right in answer:
                return watch.seconds(), cpu_clock(d.process.pid)
        if watch.seconds() > 120:
            raise SystemExit("no right answer after the start:\n" + d.log()[-2000:])
        time.sleep(0.0005)


def discover(f):
    watch = Stopwatch()
    f.d.start()
    f.wait_for_all()
    seconds = watch.seconds()
    quiet(f.pid)
    return {"first discovery, s until all clusters are known": seconds, DISCOVERED: cpu_clock(f.pid), PUBLISHED: metric(f.d, "shootd_view_snapshots_total"),
            "RSS after the first discovery, MiB": resident(f.pid) / MIB}


def restart(f):
    last = f.count - 1
    rounds = []
    for _ in range(RESTARTS):
        f.d.stop()
        rounds.append(first_answer(f.d, f.path(last), b'"name":"%s"' % f.name(last).encode()))
    f.d.open()
    quiet(f.pid)
    return {ANSWERED: statistics.median(r[0] for r in rounds) * 1e3,
            "CPU of the restart until this answer, ms": statistics.median(r[1] for r in rounds) * 1e3,
            RESTARTED: resident(f.pid) / MIB}


def unchanged_poll(f, client):
    spent = []
    for _ in range(POLLS + 1):  # the first one is not counted: it reads rows for the first time since the start
        before = cpu_clock(f.pid)
        answer = client.ask("/v1/clusters?limit=1", FRESH, "Prefer: wait=50")
        assert b"fwd=request; stored" in answer.head, answer.head
        quiet(f.pid)
        spent.append(cpu_clock(f.pid) - before)
    return {POLLED: statistics.median(spent[1:]) * 1e3}


def page(client):
    answers = [client.ask("/v1/clusters?limit=1000") for _ in range(PAGES)]
    return {"page of 1000, ms to the first byte": statistics.median(a.first for a in answers) * 1e3,
            PAGED: statistics.median(a.last - a.first for a in answers) * 1e3}


def changed(f, client):
    """The time of a fresh read of one changed cluster, without the simulator's time."""
    somebody, spans, spent = SomebodyElse(f.sim), [], []
    for i in range(CHANGES):
        somebody.act(f.ids[i % len(f.ids)], f.name(i), "hibernate")
        time.sleep(0.4)  # 290 simulated seconds; hibernation takes 95
        f.sim.forget()
        before = cpu_clock(f.pid)
        answer = client.ask(f.path(i), FRESH)
        assert answer.status == 200 and b'"phase":"hibernated"' in answer.body, answer.body
        calls = f.sim.requests()
        assert [call["operation"] for call in calls] == ["get_shoot"], calls
        spans.append(answer.last - calls[0]["duration_us"] / 1e6)
        spent.append(cpu_clock(f.pid) - before)
    somebody.close()
    return {CHANGED: statistics.median(spans) * 1e3, "CPU of that read, with its change and snapshot, ms": statistics.median(spent) * 1e3}


def walk(d, query, *headers):
    client, cursor = Client(d), ""
    while cursor is not None:
        answer = client.ask(f"/v1/clusters?limit=1000{query}{cursor}", *headers)
        assert answer.status == 200, answer.body
        body = gzip.decompress(answer.body) if b"ncoding: gzip" in answer.head else answer.body
        more = re.search(rb'"next_cursor":"([^"]+)"', body[-400:])
        cursor = f"&cursor={more[1].decode()}" if more else None
    client.close()


def singles(f, *headers):
    client = Client(f.d)
    for i in range(min(f.count, SINGLES)):
        assert client.ask(f.path(i), *headers).status == 200
    client.close()


def mix_of_reads(f):
    """Reads of all kinds at once, twice: cached forms of answers show in memory."""
    jobs = [lambda: walk(f.d, ""), lambda: walk(f.d, "&sort=kubernetes_version"), lambda: walk(f.d, "&sort=-updated_at,name"), lambda: walk(f.d, "&q=c-0"),
            lambda: walk(f.d, "&fields=summary"), lambda: walk(f.d, "", "Accept-Encoding: gzip"), lambda: singles(f),
            lambda: singles(f, "Accept-Encoding: gzip")]
    for _ in range(2):
        threads = [threading.Thread(target=job) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    quiet(f.pid)
    return {READ: resident(f.pid) / MIB}


def measure(count):
    with tempfile.TemporaryDirectory() as directory:
        f = Fleet(directory, count)
        try:
            figures = discover(f) | restart(f)
            client = Client(f.d)
            figures |= unchanged_poll(f, client) | page(client) | changed(f, client) | mix_of_reads(f)
            client.close()
            return figures
        finally:
            f.stop()


def writes_of_polls():
    """Polls without changes; commits and change sets meanwhile."""
    with tempfile.TemporaryDirectory() as directory:
        f = Fleet(directory, 1000, "{active: 500ms, idle: 500ms, discovery: 500ms}")
        try:
            f.d.start()
            f.wait_for_all()
            time.sleep(1.5)
            names = ("shootd_store_commits_total", "shootd_store_change_sets_total")
            before = [metric(f.d, name) for name in names]
            f.sim.forget()
            time.sleep(4)
            return len(f.sim.requests("list_shoots")), *(metric(f.d, name) - b for name, b in zip(names, before))
        finally:
            f.stop()


# ---- memory by part ----

PARTS = (  # a call chain counts for the first part whose prefix one of its functions has
    ("store's page cache and statements (bounded)", ("sqlite3",)),
    ("recent events for streams (bounded)", ("feed_",)),
    ("body", ("render_", "cluster_seen_again", "observed_again", "view_blob")),
    ("the observed state", ("decode_", "shoot_set")),
    ("record, and its entries in tables and heaps", ("cluster_new", "entity_", "discover", "heap_", "view_", "snapshot")),
)


def leaves(path):
    """The last lines of a massif snapshot: bytes, and the functions on the way to them."""
    stack = []
    for line in pathlib.Path(path).read_text().splitlines():
        found = re.match(r"( *)n(\d+): (\d+) (?:0x\w+: (\S+))?", line)
        if found:
            del stack[len(found[1]):]
            stack.append(found[4] or "")
            if found[2] == "0":
                yield int(found[3]), tuple(stack)


def part_of(functions):
    for part, beginnings in PARTS:
        if any(function.startswith(beginnings) for function in functions):
            return part
    return "other"


def snapshot(f, path):
    quiet(f.pid)
    subprocess.run(["vgdb", f"--pid={f.pid}", "detailed_snapshot", path], check=True, capture_output=True)
    parts = collections.Counter()
    for count, functions in leaves(path):
        parts[part_of(functions)] += count
    return parts


def state_bytes():
    """Bytes of a cluster in memory, by part: the difference of two heap snapshots with a thousand clusters between them."""
    more = 1000
    with tempfile.TemporaryDirectory() as directory:
        f, directory = Fleet(directory, 1000), pathlib.Path(directory)
        try:
            f.d.process = harness.Process(["valgrind", "--tool=massif", "--threshold=0.01", "--depth=20", f"--massif-out-file={directory}/massif",
                                           BUILD / "shootd", "--config", f.d.config], f.d.log_path)
            f.d.wait_ready()
            f.wait_for_all()
            before = snapshot(f, directory / "before")
            f.sim.post("shoots", count=more, prefix="more", state="ready", project=f.ids[0])
            f.count += more
            for _ in range(2):
                client = Client(f.d)
                client.ask("/v1/clusters?limit=1", FRESH, "Prefer: wait=50")
                client.close()
            f.wait_for_all()
            plain = snapshot(f, directory / "plain")
            client = Client(f.d)
            for i in range(more):
                client.ask(f.d.clusters_path(f"more-{i:04d}", "p0"), "Accept-Encoding: gzip")
            client.close()
            zipped = snapshot(f, directory / "zipped")
        finally:
            f.stop()
    rows = [[part, (plain[part] - before[part]) / more] for part in (*(name for name, _ in PARTS), "other")]
    return [*rows, ["gzip form, made for the first client that accepts it", (sum(zipped.values()) - sum(plain.values())) / more]]


def main():
    need_tools("valgrind")
    section("From 100 to 50,000 clusters",
            "This part measures discovery, restart, polls, pages and memory of the same daemon with a growing number of clusters. Polls happen only when the "
            f"benchmark asks for them (`polling: {BY_HAND}`); all other keys have their defaults. 50,000 clusters are in five projects, because shootd does not accept a list of "
            "that size from Cleura. At a restart the store is in the page cache; the figure is the median of "
            f"{RESTARTS}. Pages are read on one connection, without compression; with fewer than 1000 clusters a page has all of them.")
    results = []
    for count in SIZES:
        results.append(measure(count))
    ten_thousand = results[SIZES.index(10000)]
    for what, most in GOALS.items():
        goal(f"10,000 clusters: {what}", ten_thousand[what], most)
    cpu = [r[DISCOVERED] / n * 1e3 for n, r in zip(SIZES, results)]
    goal("first discovery: CPU per cluster with 50,000 clusters, divided by CPU per cluster with 1,000", cpu[-1] / cpu[1], "1 (linear growth)")
    rows = [[what, *(r[what] for r in results), GOALS.get(what, "")] for what in results[0]]
    rows.append(["KiB per cluster by which the RSS of the row above grows, compared with 100 clusters", "",
                 *((r[READ] - results[0][READ]) * 1024 / (n - SIZES[0]) for n, r in zip(SIZES[1:], results[1:])), ""])
    table(["what", *(f"{n:,}" for n in SIZES), "goal at 10,000"], rows)
    polls, commits, sets = writes_of_polls()
    goal("commits of the store for polls that find nothing new", commits, "0")
    section("Polls that find nothing new", f"{polls} polls of 1,000 clusters in 4 s caused {commits:.0f} commits and {sets:.0f} change sets (goal: none).")
    section("Memory of one cluster, by part", "The table shows how many bytes of heap each cluster needs, grouped by the function that "
            "requested them (valgrind's massif). A figure is the difference between 2,000 and 1,000 clusters, divided by 1,000.")
    rows = state_bytes()
    table(["part", "bytes"], [*rows, ["together", sum(row[1] for row in rows)]])


if __name__ == "__main__":
    main()
