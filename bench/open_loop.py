#!/usr/bin/python3
"""Reads of one cluster at a fixed rate, timed from the moment when they were due, while shootd is busy: creates, polls of 10,000
clusters, 2,000 event streams, an outage of Cleura, a log line for each request, and 100 clients that count, sort and search."""

import contextlib
import json
import os
import pathlib
import select
import statistics
import subprocess
import tempfile
import time

from load import BUILD, CORES, Beside, Client, SomebodyElse, listen, metric, need_tools, quiet, shipped, wrk
from report import goal, section, table
from scale import BY_HAND, FRESH, Fleet
import harness

CLUSTERS, ROUNDS, SECONDS, CONNECTIONS, MOST = 10000, 9, 3, 64, 2
CREATES, STREAMS, READERS = 1000, 2000, 100
LISTS = ("/v1/summary", "/v1/clusters?limit=50&sort=kubernetes_version", "/v1/clusters?limit=50&q=c-07")
LIMITS = f"{{requests_per_minute: 1000000000, connections_per_address: 0, streams_per_token: {STREAMS}}}"
LOOK = ("/v1/clusters?limit=1", FRESH, "Prefer: wait=50")  # a poll of all clusters, if shootd allows one


class Generator:
    """build/bench/open_loop."""

    def __init__(self, d, rate, *paths, seconds=SECONDS, connections=CONNECTIONS, more=()):
        self.process = subprocess.Popen([BUILD / "bench/open_loop", "-p", str(d.port), "-t", d.state / "admin-token", "-r", str(rate), "-c",
                                         str(connections), "-s", str(seconds), *more, *paths], stdout=subprocess.PIPE, text=True)

    def told(self):
        return json.loads(self.process.communicate(timeout=600)[0])

    def result(self):
        told = self.told()
        if told["refused"] or told["answered"] != told["sent"]:
            raise SystemExit(f"not all reads were answered: {told}")
        return told


# ---- load beside the reads ----

def poll_on(pipe, d):
    """Polls all clusters each second, or when the last poll ends."""
    client, due, looks = Client(d), time.monotonic(), []
    pipe.send(None)
    while not pipe.poll(max(0, due - time.monotonic())):
        due = max(due + 1, time.monotonic())
        answer = client.ask(*LOOK)
        assert answer.status == 200, answer.head
        looks.append(b"fwd=request; stored" in answer.head)
    client.close()
    pipe.send(looks)


def create(client, d, name):
    body = f'{{"name":"{name}"}}'
    client.socket.sendall(f"POST {d.clusters_path(project='p0')} HTTP/1.1\r\n{client.fields}Content-Type: application/json\r\n"
                          f"Content-Length: {len(body)}\r\n\r\n{body}".encode())


def create_on(pipe, d):
    """Creates at a fixed rate, each on its own connection: an answer may take seconds, because shootd asks Cleura for the name. Sends
    the time of each answer, in seconds after the first create was due."""
    clients, epoll, took, sent = [Client(d) for _ in range(CREATES)], select.epoll(), [], 0
    by_fd = {client.socket.fileno(): client for client in clients}
    pipe.send(None)
    began = time.monotonic()
    while len(took) < CREATES:
        while sent < CREATES and began + sent * SECONDS / CREATES <= time.monotonic():
            create(clients[sent], d, f"n-{sent:04d}")
            epoll.register(clients[sent].socket, select.EPOLLIN)
            sent += 1
        for fd, _ in epoll.poll(0.001):
            answer = by_fd[fd].read(began)
            assert answer.status == 202, answer.body
            took.append(answer.last)
            epoll.unregister(fd)
    pipe.poll(None)
    pipe.send(took)


def tell_on(pipe, d, prefix):
    """Creates a cluster each second; every stream gets its events."""
    client, count = Client(d), 0
    pipe.send(None)
    while not pipe.poll(1):
        create(client, d, f"{prefix}-{count:04d}")
        answer = client.read(time.monotonic())
        assert answer.status == 202, answer.body
        count += 1
    client.close()
    pipe.send(count)


class Scene:
    """10,000 clusters at Cleura and two daemons that know them: one with the default configuration, one that logs each request. Server
    and load have a core each."""

    def __init__(self, directory):
        self.fleet = Fleet(directory, CLUSTERS, limits=LIMITS)
        self.sim, self.d, self.rounds, self.lines_dropped = self.fleet.sim, self.fleet.d, 0, 0
        self.logging = harness.Shootd(pathlib.Path(directory) / "logging", self.sim.url, projects=[("p0", "Sto2", self.fleet.ids[0])])
        shipped(self.logging, polling=BY_HAND, limits=LIMITS, access_log="all")

    def start(self, *daemons):
        for d in daemons:
            os.sched_setaffinity(0, {CORES[1]})  # before the start: the daemon counts its processors at the start
            d.start()
            os.sched_setaffinity(0, {CORES[0]})
            harness.wait_until(lambda: d.http.get("/v1/summary").json()["total"] == CLUSTERS, timeout=120, what="discovery")
            client = Client(d)
            client.ask(*LOOK)  # the first poll after the discovery does more than later ones
            client.close()
            quiet(d.process.pid)
        somebody = SomebodyElse(self.sim)
        shown = somebody.list_text(self.fleet.ids[0])
        somebody.close()
        self.lists = (shown, shown.replace('"maximum":3', '"maximum":4'))
        return self

    def stop(self):
        self.logging.stop()
        self.fleet.stop()

    @contextlib.contextmanager
    def nothing(self):
        yield self.d

    @contextlib.contextmanager
    def all_lines(self):
        before = metric(self.logging, "shootd_access_log_dropped_total")
        yield self.logging
        self.lines_dropped += metric(self.logging, "shootd_access_log_dropped_total") - before

    @contextlib.contextmanager
    def polls(self, changed=False):
        """The simulator replays stored lists: making each one would take half a second of its core, which the load needs."""
        for i in range(SECONDS + 2):
            answer = {"operation": "list_shoots", "status": 200, "headers": {}, "body": self.lists[changed and i % 2]}
            self.sim.http.post("/_sim/replay", json={"answers": [answer]}).raise_for_status()
        beside = Beside(poll_on, self.d)
        yield self.d
        looks = beside.stop()
        self.sim.http.delete("/_sim/replay")
        assert looks and all(looks), looks

    def changes(self):
        return self.polls(changed=True)

    @contextlib.contextmanager
    def streams(self):
        self.rounds += 1
        crowd, events = Beside(listen, self.d, STREAMS), Beside(tell_on, self.d, f"e{self.rounds}")
        yield self.d
        made = events.stop()
        came = crowd.stop()
        assert came >= (made - 1) * STREAMS, (made, came)
        self.forget_streams()

    def forget_streams(self):
        """Waits until shootd closes streams of clients that are gone; it notices them when it sends an event."""
        client = Client(self.d)
        for i in range(100):
            if not metric(self.d, "shootd_sse_streams"):
                break
            create(client, self.d, f"f{self.rounds}-{i:04d}")
            client.read(time.monotonic())
            time.sleep(0.2)
        client.close()

    @contextlib.contextmanager
    def readers(self):
        others = Generator(self.d, READERS, *LISTS, seconds=SECONDS + 1, connections=READERS, more=["-n"])
        time.sleep(0.5)
        yield self.d
        others.result()

    @contextlib.contextmanager
    def outage(self):
        self.sim.post("down", down=True)
        beside = Beside(poll_on, self.d)
        yield self.d
        looks = beside.stop()
        assert looks and not any(looks), looks
        self.sim.post("down", down=False)
        client = Client(self.d)
        harness.wait_until(lambda: b"fwd=request; stored" in client.ask(*LOOK).head, interval=1, timeout=60, what="Cleura to be asked again")
        client.close()

    @contextlib.contextmanager
    def creates(self):
        beside = Beside(create_on, self.d)
        yield self.d
        beside.stop()


IDLE, CHANGES, BURST = "idle", "polls that find every cluster changed", f"{CREATES:,} creates"
SITUATIONS = (
    (IDLE, Scene.nothing),
    ("`access_log: all`", Scene.all_lines),
    (f"a poll of {CLUSTERS:,} clusters each second", Scene.polls),
    (CHANGES, Scene.changes),
    (f"{STREAMS:,} event streams, events each second", Scene.streams),
    (f"{READERS} clients that count, sort and search", Scene.readers),
    ("an outage of Cleura, with a fresh read each second", Scene.outage),
)


def measure(scene, situation, rate):
    quiet(scene.d.process.pid)
    with situation(scene) as d:
        return Generator(d, rate, d.clusters_path(scene.fleet.name(0), "p0")).result()


def saturation(scene):
    """Answers per second to clients that send the next request at once."""
    answers, _ = wrk(scene.d.url + scene.fleet.path(0), scene.d.token(), CONNECTIONS, 2)
    return answers / 2


def steady(rounds):
    """Returns the rate, the results of each situation beside those of idle in the same round, and the share of dropped log lines."""
    with tempfile.TemporaryDirectory() as directory:
        scene = Scene(directory)
        try:
            scene.start(scene.d, scene.logging)
            rate = round(saturation(scene) / 2)
            for _ in range(ROUNDS):
                calm = None
                for what, situation in SITUATIONS:
                    result = measure(scene, situation, rate)
                    calm = calm or result
                    rounds.setdefault(what, []).append((result, calm))
        finally:
            scene.stop()
    return rate, scene.lines_dropped / (rate * SECONDS * ROUNDS)


def burst(rounds, rate):
    """Creates continue for minutes, so each round has a new daemon."""
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as directory:
            scene = Scene(directory)
            try:
                scene.start(scene.d)
                calm = measure(scene, Scene.nothing, rate)
                rounds.setdefault(BURST, []).append((measure(scene, Scene.creates, rate), calm))
            finally:
                scene.stop()


def row(what, rounds, rate):
    def median(key):
        return statistics.median(result[key] for result, _ in rounds)
    ratio = statistics.median(result["p99"] / calm["p99"] for result, calm in rounds)
    left_out = sum(result["left_out"] for result, _ in rounds) / sum(result["answered"] for result, _ in rounds)
    figures = [what, f"{rate:,}", *(median(key) for key in ("p50", "p99", "p999")), f"{left_out:.0%}"]
    if what == IDLE:
        return [*figures, "", ""]
    if what == CHANGES:
        return [*figures, ratio, ""]
    goal(f"reads at half of the highest rate, with {what}: p99 divided by the p99 without other work", ratio, MOST)
    return [*figures, ratio, MOST]


def main():
    need_tools("wrk")
    os.sched_setaffinity(0, {CORES[0]})
    rounds = {}
    rate, dropped = steady(rounds)
    burst(rounds, rate)
    section("Reads at a fixed rate beside other work",
            f"One of {CLUSTERS:,} clusters is read {rate:,} times a second, half of the rate that wrk reaches with {CONNECTIONS} connections. A read is "
            f"sent at its planned moment, also when earlier reads are not answered yet, and its time counts from that moment. There are {ROUNDS} rounds. "
            f"A round measures `{IDLE}` (no other work) and then the kinds of other work, {SECONDS} s each; the creates have {ROUNDS} rounds of their own, each with "
            f"`{IDLE}`. The figures are medians; each ratio compares with `{IDLE}` in the same round. shootd has one "
            "core for all of its threads. The program that sends the reads (the load) has priority on the other core (nice -20); the simulator and the "
            "other clients use the rest of that core. Thus the simulator and the other clients take no time from shootd, except for the work that shootd "
            "itself does for them. The kernel's work for the other programs may still stop the load, which is no fault of shootd. When the load is 0.1 ms "
            "late, the reads in flight, and the reads until it has caught up, are left out. The first 0.2 s of each round are left out, too.",
            "Polls happen only when the benchmark asks for them, so that rounds with other kinds of work have no polls. Each poll begins a second after the "
            "start of the previous poll, but not before the previous poll has ended. The simulator replays recorded lists. The events come from one create "
            f"each second. {CREATES:,} creates are due at equal intervals in {SECONDS} s. The {READERS} clients have one connection each, and together send {READERS} "
            "requests a second, in turn " + ", ".join(f"`{path}`" for path in LISTS) + ".")
    table(["other work", "reads a second", "p50, µs", "p99, µs", "p99.9, µs", "left out", "p99 divided by p99 of idle", "goal"],
          [row(what, those, rate) for what, those in rounds.items()])
    print(f"\n`access_log: all` dropped {dropped:.1%} of its lines, because the reads leave too little of the core for them.\n"
          if dropped else "\n`access_log: all` dropped no line.\n")


if __name__ == "__main__":
    main()
