#!/usr/bin/python3
"""A burst of creates from many connections, and reads of one cluster at a fixed rate beside it: the rate of accepted creates against the
syncs of the disk, and the delay of the reads. A separate process sends the reads, with priority over other programs if that is allowed."""

import contextlib
import multiprocessing
import os
import pathlib
import select
import tempfile
import time

from load import Client, metric, shipped
from report import Stopwatch, percentile, section, table
import harness

CREATES, CONNECTIONS, MOST_SECONDS = 1000, 32, 15
READS_PER_SECOND, CALM_SECONDS = 200, 3
SYNC_SECONDS, SYNC_BYTES = 1, 4096
ACCOUNT = "  - name: main\n"


def syncs_per_second(directory):
    """Syncs per second of a growing file, one after the other."""
    path, count, watch = directory / "sync", 0, Stopwatch()
    with open(path, "wb", buffering=0) as file:
        while watch.seconds() < SYNC_SECONDS:
            file.write(b"x" * SYNC_BYTES)
            os.fdatasync(file.fileno())
            count += 1
    path.unlink()
    return count / watch.seconds()


def read_on(d, path, pipe):
    """Reads until it must end; returns when each read was due and how long after that it was answered."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    client, reads, due = Client(d), [], time.monotonic()
    while not pipe.poll():
        due += 1 / READS_PER_SECOND
        time.sleep(max(0, due - time.monotonic()))
        assert client.ask(path).status == 200
        reads.append((due, time.monotonic() - due))
    client.close()
    pipe.send(reads)


class Reader:
    def __init__(self, d, path):
        self.pipe, end = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=read_on, args=(d, path, end))
        self.process.start()

    def stop(self):
        self.pipe.send(None)
        reads = self.pipe.recv()
        self.process.join(10)
        return reads


class Burst:
    """Each connection sends its next create after the answer to the last one."""

    def __init__(self, d):
        self.d, self.clients, self.epoll = d, {}, select.epoll()
        self.sent, self.times = 0, []

    def send(self, client):
        self.sent += 1
        body = f'{{"name":"c-{self.sent:04d}"}}'
        began = time.monotonic()
        client.socket.sendall(f"POST {self.d.clusters_path()} HTTP/1.1\r\n{client.fields}Content-Type: application/json\r\n"
                              f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        self.clients[client.socket.fileno()] = (client, began)

    def run(self):
        """Returns the duration in seconds."""
        clients, watch = [Client(self.d) for _ in range(CONNECTIONS)], Stopwatch()
        for client in clients:
            self.epoll.register(client.socket, select.EPOLLIN)
            self.send(client)
        while len(self.times) < self.sent:
            for fd, _ in self.epoll.poll():
                client, began = self.clients[fd]
                answer = client.read(began)
                assert answer.status == 202, answer.body
                self.times.append(answer.last)
                if self.sent < CREATES and watch.seconds() < MOST_SECONDS:
                    self.send(client)
        seconds = watch.seconds()
        for client in clients:
            client.close()
        self.epoll.close()
        return seconds


class Counted:
    """Counts commits and change sets of the store during a `with` block."""

    NAMES = ("shootd_store_commits_total", "shootd_store_change_sets_total", "shootd_store_commit_seconds_total")

    def __init__(self, d):
        self.d = d

    def __enter__(self):
        self.before = [metric(self.d, name) for name in self.NAMES]
        return self

    def __exit__(self, *exception):
        self.commits, self.sets, self.seconds = (metric(self.d, name) - b for name, b in zip(self.NAMES, self.before))


def measure(what, directory, api="v2", spacing=None):
    directory.mkdir()
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "d", sim.url, api=api)
    shipped(d)
    if spacing:
        d.config.write_text(d.config.read_text().replace(ACCOUNT, f"{ACCOUNT}    min_spacing: {spacing}\n"))
    try:
        sim.post("shoots", count=100, prefix="old", state="ready")
        d.start().wait_upstream()
        harness.wait_until(lambda: d.cluster("old-0099").status_code == 200, what="discovery")
        syncs = syncs_per_second(d.state)
        reader = Reader(d, d.clusters_path("old-0000"))
        time.sleep(CALM_SECONDS)
        began, burst = time.monotonic(), Burst(d)
        try:
            with Counted(d) as store:
                seconds = burst.run()
        finally:
            reads = reader.stop()
    finally:
        d.stop()
        sim.stop()
    before, during = ([took for due, took in reads if (due < began) == calm and due < began + seconds] for calm in (True, False))
    return [what, len(burst.times), len(burst.times) / seconds, percentile(burst.times, 0.5) * 1e3, percentile(burst.times, 0.99) * 1e3,
            store.commits / seconds, store.sets / store.commits, store.seconds / store.commits * 1e3, syncs,
            percentile(before, 0.99) * 1e3, percentile(during, 0.99) * 1e3]


def main():
    section(f"A burst of {CREATES:,} creates",
            f"{CONNECTIONS} connections send one create at a time each, until {CREATES:,} are accepted or {MOST_SECONDS} s have passed. In this time, "
            f"and for {CALM_SECONDS} s before, one connection reads one cluster {READS_PER_SECOND} times a second; the time of each read counts from its "
            f"planned moment. `syncs in a second` is the rate of the same disk when each {SYNC_BYTES} bytes are synced (`fdatasync`) before the next write. With Cleura's "
            "API v2 shootd checks the name of a create by a separate call, for up to 2.5 s; v1 has no such call.")
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        rows = [measure("default", directory / "shipped"), measure("`min_spacing: 1ms`", directory / "spaced", spacing="1ms"),
                measure("`api: v1`", directory / "v1", api="v1")]
    table(["configuration", "accepted", "accepted in a second", "p50, ms", "p99, ms", "commits in a second", "change sets in a commit", "a commit, ms",
           "syncs in a second", "p99 of reads before the creates, ms", "p99 of reads during the creates, ms"], rows)


main()
