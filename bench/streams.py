#!/usr/bin/python3
"""Thousands of event streams of one token: the time until an event reaches the last of them, and the memory of a stream. One process
with epoll is all clients, on the same cores as the server; some clients stall."""

import datetime
import pathlib
import resource
import select
import tempfile
import time

from load import open_stream, shipped
from report import percentile, section, table
import harness

STREAMS, STALLED, EVENTS = 2000, 50, 40
DISCOVERED = "?type=cluster.discovered"


def memory(pid):
    """Private resident memory in bytes, from `status`: the kernel closes smaps even to the same user."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("RssAnon:")) * 1024


def seconds(timestamp):
    return datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


class Crowd:
    """Reads all streams and records when each received each event."""

    def __init__(self, d, count):
        self.epoll, self.rest, self.got = select.epoll(), {}, {}
        self.sockets = [open_stream(d, DISCOVERED) for _ in range(count)]
        for s in self.sockets:
            s.setblocking(False)
            self.epoll.register(s, select.EPOLLIN)
            self.rest[s.fileno()] = (s, b"")
        self.run(lambda: self.greeted == count)

    greeted = 0

    def run(self, done, seconds=30):
        end = time.monotonic() + seconds
        while not done():
            for fd, _ in self.epoll.poll(0.05):
                s, rest = self.rest[fd]
                rest += s.recv(65536)
                now = time.monotonic()
                self.greeted += rest.count(b"retry:")
                while b"\n\n" in rest:
                    block, rest = rest.split(b"\n\n", 1)
                    if b'"cluster":"' in block:
                        name = block.split(b'"cluster":"', 1)[1].split(b'"', 1)[0].decode()
                        self.got.setdefault(name, []).append(now)
                self.rest[fd] = (s, rest)
            if time.monotonic() > end:
                raise SystemExit(f"not all events came: {({n: len(t) for n, t in self.got.items()})}")


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory() as directory:
        sim = harness.Sim(directory)
        d = harness.Shootd(pathlib.Path(directory) / "s", sim.url,
                           extra=f"limits: {{streams_per_token: {STREAMS + STALLED}, connections_per_address: 0}}\n")
        shipped(d, polling="{active: 50ms, idle: 100ms, discovery: 100ms}")
        d.start()
        try:
            before = memory(d.process.pid)
            crowd = Crowd(d, STREAMS)
            stalled = [open_stream(d, DISCOVERED + "&after=0") for _ in range(STALLED)]
            time.sleep(1)
            after = memory(d.process.pid)
            spans, since = [], []
            for i in range(EVENTS):
                name = f"b{i}-0000"
                sim.post("shoots", count=1, prefix=f"b{i}", state="ready")
                crowd.run(lambda: len(crowd.got.get(name, ())) == STREAMS)
                times = sorted(crowd.got[name])
                event = d.http.get("/v1/events", params={"cluster": name}).json()["items"][0]
                happened = time.monotonic() - (time.time() - seconds(event["timestamp"]))
                spans += [t - times[0] for t in times]
                since += [t - happened for t in times]
            loaded = memory(d.process.pid)
            for s in stalled + crowd.sockets:
                s.close()
        finally:
            d.stop()
            sim.stop()
    section(f"{STREAMS:,} event streams of one token", f"{STREAMS:,} clients read their streams and {STALLED} clients do not; {EVENTS} events are sent. All clients are in one "
            "program. shootd has its default configuration, except for shorter intervals between polls.")
    table(["milliseconds", "p50", "p99", "largest"], [[what, *(percentile(values, share) * 1e3 for share in (0.5, 0.99, 1))] for what, values in
                                                   (("from the event to a client", since), ("from the arrival at the first client to the arrival at another client", spans))])
    table(["memory of a stream, KiB", ""], [["idle", (after - before) / (STREAMS + STALLED) / 1024],
                                            [f"after {EVENTS} events", (loaded - before) / (STREAMS + STALLED) / 1024]])


main()
