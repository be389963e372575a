#!/usr/bin/python3
"""The time from a change at Cleura to its webhook and its event in a stream. Another client puts clusters to sleep at moments
independent of the polls. The poll interval is short, so that many changes fit into half a minute."""

import datetime
import json
import pathlib
import random
import socket
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from load import SomebodyElse, shipped
from report import goal, percentile, section, table
import harness

CLUSTERS, INTERVAL_MS, BEYOND_MS = 40, 1000, 50
EVENT = "cluster.hibernated"


class Hook:
    """A receiver that records when each cluster's event arrived."""

    def __init__(self):
        told = self.told = {}

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                now = time.time()
                told.setdefault(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["data"]["cluster"], now)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Stream:
    """A client of the event stream that records the same, and the events."""

    def __init__(self, d):
        self.told, self.events = {}, {}
        self.socket = socket.create_connection(("127.0.0.1", d.port))
        self.socket.sendall((f"GET /v1/events?type={EVENT} HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n"
                             f"Authorization: Bearer {d.token()}\r\n\r\n").encode())
        assert self.socket.recv(12) == b"HTTP/1.1 200"
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        rest = b""
        while piece := self.socket.recv(65536):
            now = time.time()
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line.startswith(b"data: {"):
                    event = json.loads(line[6:])
                    self.told.setdefault(event["data"]["cluster"], now)
                    self.events[event["data"]["cluster"]] = event

    def stop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.socket.close()


def seconds(timestamp):
    return datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


def change_all(sim, d, hook, stream):
    """The time at which each cluster was changed."""
    somebody, changed, chance = SomebodyElse(sim), {}, random.Random(1)
    for i in range(CLUSTERS):
        name = f"c-{i:04d}"
        changed[name] = time.time()
        somebody.act(harness.PROJECT_ID, name, "hibernate")
        time.sleep(chance.uniform(0.2, 1.0) * INTERVAL_MS / 1000)
    somebody.close()
    harness.wait_until(lambda: len(hook.told) == len(stream.told) == CLUSTERS, what="all to be told")
    return changed


def measure(directory):
    sim = harness.Sim(directory)
    # The simulator applies changes at once; else the figures would include the simulated hibernation.
    sim.post("settings", stale_seconds=0, care_seconds=0, durations={"hibernate": 1})
    sim.post("shoots", count=CLUSTERS, prefix="c", state="ready")
    d = harness.Shootd(directory / "d", sim.url)
    shipped(d, polling=f"{{active: {INTERVAL_MS}ms, idle: {INTERVAL_MS}ms, discovery: {INTERVAL_MS}ms}}")
    hook, stream = Hook(), None
    try:
        d.start()
        harness.wait_until(lambda: d.http.get("/v1/summary").json()["by_phase"]["ready"] == CLUSTERS, what="discovery")
        assert d.http.post("/v1/webhooks", json={"url": hook.url, "event_types": [EVENT]}).status_code == 201
        stream = Stream(d)
        time.sleep(2 * INTERVAL_MS / 1000)
        changed = change_all(sim, d, hook, stream)
    finally:
        if stream:
            stream.stop()
        hook.stop()
        d.stop()
        sim.stop()
    happened = {name: seconds(event["timestamp"]) for name, event in stream.events.items()}
    return [(what, [told[name] - since[name] for name in since]) for what, since, told in (
        ("from the change to the webhook", changed, hook.told), ("from the change to the stream", changed, stream.told),
        ("from the event, when shootd noticed the change, to the webhook", happened, hook.told),
        ("from the event to the stream", happened, stream.told))]


def main():
    with tempfile.TemporaryDirectory() as name:
        measured = measure(pathlib.Path(name))
    most = f"{INTERVAL_MS + BEYOND_MS:,}"
    for what, values in measured[:2]:
        goal(f"{what}, p99, ms", percentile(values, 0.99) * 1e3, most)
    section("From a change at Cleura to a webhook and a stream",
            f"{CLUSTERS} clusters of one project are changed, one after the other, at moments that do not depend on the polls. `polling` has {INTERVAL_MS} ms for `active`, "
            "`idle` and `discovery` (defaults: 15 s, 2 min and 5 min); all other keys have their defaults. The goal is the interval plus "
            f"{BEYOND_MS} ms; with so few changes p99 is the slowest change.")
    table(["milliseconds", "p50", "p99", "goal for p99"],
          [[what, percentile(values, 0.5) * 1e3, percentile(values, 0.99) * 1e3, most if "change to" in what else ""] for what, values in measured])


main()
