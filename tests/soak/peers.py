"""A receiver of webhooks that fails sometimes, and faults of Cleura."""

import collections
import contextlib
import random
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from traffic import Part

SLOW_S = 0.7
TROUBLED = 0.07  # the part of the events that fail at the first attempt to a subscriber
# The last two pause the webhook for some seconds, so they are rare.
TROUBLES = {500: 4, 503: 4, "slow": 4, "reset": 4, 429: 1, 502: 1}


class Receiver:
    """All subscribers on one port, separated by the path. Some of the events fail at the first attempt."""

    def __init__(self, seed):
        self.seed, self.lock = seed, threading.Lock()
        self.got = collections.defaultdict(list)  # (subscriber, event): the answer to each attempt
        self.outcomes = collections.Counter()     # the outcomes that shootd should count
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                what = outer.decide(self.path[1:], self.headers["webhook-id"])
                if what == "reset":
                    outer.reset(self.connection)
                    return
                with contextlib.suppress(OSError):
                    self.send_response(204 if what == "slow" else what)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *args):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 256

            def handle_error(self, *args):
                pass  # the connection was reset

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def decide(self, to, event):
        chance = random.Random(f"{self.seed} {to} {event}")
        with self.lock:
            first = not self.got[to, event]
            what = chance.choices([*TROUBLES], TROUBLES.values())[0] if first and chance.random() < TROUBLED else 204
            self.got[to, event].append(what)
            self.outcomes[outcome(what)] += 1
        if what == "slow":
            time.sleep(SLOW_S)
        return what

    @staticmethod
    def reset(connection):
        """An RST in place of an answer."""
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def outcome(what):
    """The label of shootd_webhook_attempts_total."""
    return {204: "delivered", "slow": "delivered", "reset": "connection_lost", 429: "throttled"}.get(what, "http_5xx")


class CleuraLog:
    """The simulator's log of requests, read before its ring is full: the number of each status."""

    def __init__(self, sim):
        self.sim, self.since = sim, 0
        self.statuses = collections.Counter()  # (operation, status)
        self.unseen = collections.Counter()    # operation: requests whose client left before the answer

    def read(self):
        page = self.sim.http.get("/_sim/requests", params={"since": self.since}).json()
        for one in page["items"]:
            self.statuses[one["operation"], one["status"]] += 1
            self.unseen[one["operation"]] += one.get("client_left", False)
        self.since = page["next"]


# Faults that affect every call for a while. `count` 0: until they are cleared.
FAULTS = {
    "429": {"kind": "status", "status": 429, "headers": {"Retry-After": "1"}},
    "503": {"kind": "status", "status": 503},
    "500 behind the effect": {"kind": "status", "status": 500, "effect": True},
    "reset": {"kind": "drop"},
    "reset behind the effect": {"kind": "drop", "effect": True},
    "slow": {"kind": "delay", "delay_ms": 300},
    "slow bodies": {"kind": "slow_body", "delay_ms": 10},
}


class Weather(Part):
    """Faults of Cleura, one kind after the other, with pauses without faults."""

    pause = 3.0

    def begin(self):
        self.kinds = []
        self.log = CleuraLog(self.world.sim)

    def round(self):
        self.log.read()
        self.kinds = self.kinds or self.rng.sample([*FAULTS, "outage", "tokens ended"], len(FAULTS) + 2)
        kind = self.kinds.pop()
        sim, lasts = self.world.sim, 1 + self.rng.random()
        self.ledger.note("fault of Cleura: " + kind)
        if kind == "tokens ended":
            sim.post("tokens/expire")
            return
        if kind == "outage":
            sim.post("down", down=True)
        else:
            sim.fault("*", count=0, **FAULTS[kind])
        self.world.over.wait(lasts)
        sim.clear_faults()
        sim.post("down", down=False)
