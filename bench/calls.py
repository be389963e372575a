#!/usr/bin/python3
"""Calls to Cleura in an hour, counted at the simulator, for 1 to 10,000 clusters with 1 and with 1,000 clients that watch them. The
counts are compared with the fewest possible calls, and with clients that poll Cleura themselves. The clocks of shootd and the simulator
run faster: an hour takes three minutes."""

import contextlib
import os
import pathlib
import tempfile
import time

from load import BUILD, Beside, Client, listen
from open_loop import Generator
from report import goal, section, table
from scale import Fleet
import harness

SPEED, SETTLED_S, HOUR_S = 20, 400, 3600
SIZES, CLIENTS = (1, 100, 10000), (1, 1000)
IDLE_S, CATALOG_S, CLIENT_S = 120, 3600, 15
LISTS, CATALOGS = "list_shoots", "cloud_profiles"
FEWEST = HOUR_S // IDLE_S + HOUR_S // CATALOG_S


class Watched:
    """A daemon with a number of clusters, and clients that watch them."""

    def __init__(self, directory, clusters, clients):
        self.clusters, self.clients = clusters, clients
        self.f = Fleet(directory, clusters, polling="{}", speed=SPEED, limits="{connections_per_address: 0}")
        self.watchers = self.listeners = None

    def start(self):
        d = self.f.d
        self.began = time.monotonic()
        d.process = harness.Process([BUILD / "shootd", "--config", d.config], d.log_path,
                                    env=os.environ | {"LD_PRELOAD": str(BUILD / "bench/fast_clock.so"), "FAST_CLOCK": str(SPEED)})
        d.wait_ready()
        self.f.wait_for_all()

    def watch(self):
        """Each client has an event stream, and reads a cluster as often as it would read it from Cleura."""
        d, path = self.f.d, self.f.path(0)
        client = Client(d)
        tag = client.ask(path).header("ETag")
        client.close()
        self.listeners = Beside(listen, d, self.clients)
        self.watchers = Generator(d, self.clients / CLIENT_S * SPEED, path, seconds=self.left(SETTLED_S + HOUR_S), connections=self.clients,
                                  more=["-n", "-H", f"If-None-Match: {tag}"])

    def left(self, until):
        """Seconds until the daemon's clock shows this time since its start."""
        return max(0, self.began + until / SPEED - time.monotonic())

    def calls(self, at):
        time.sleep(self.left(at))
        return {name: told["requests"] for name, told in self.f.sim.counters()["by_operation"].items()}

    def finish(self, before, after):
        self.listeners.stop()
        bad = [call for call in self.f.sim.requests() if not 200 <= call["status"] < 300]
        assert not bad, bad
        reads = self.watchers.told()
        assert reads["answered"] > reads["sent"] * 0.99, reads  # shootd's clock runs fast, so it may close a few connections as idle
        calls = {name: count - before.get(name, 0) for name, count in after.items()}
        count, alone = sum(calls.values()), self.clients * HOUR_S // CLIENT_S
        others = count - calls.get(LISTS, 0) - calls.get(CATALOGS, 0)
        return [f"{self.clusters:,}", f"{self.clients:,}", calls.get(LISTS, 0), calls.get(CATALOGS, 0), others, count, FEWEST, count / FEWEST,
                f"{alone:,}", f"{alone / count:,.0f}"]

    def stop(self):
        if self.watchers:
            self.watchers.process.terminate()
        self.f.stop()


def measure(directory):
    all_of_them = []
    with contextlib.ExitStack() as stack:
        for clusters in SIZES:
            for clients in CLIENTS:
                place = pathlib.Path(directory) / f"{clusters}-{clients}"
                place.mkdir()
                all_of_them.append(Watched(place, clusters, clients))
                stack.callback(all_of_them[-1].stop)
        for w in all_of_them:
            w.start()
            w.watch()
        before = [w.calls(SETTLED_S) for w in all_of_them]
        after = [w.calls(SETTLED_S + HOUR_S) for w in all_of_them]
        return [w.finish(*calls) for w, *calls in zip(all_of_them, before, after)]


def main():
    with tempfile.TemporaryDirectory() as directory:
        rows = measure(directory)
    goal("calls to Cleura in an hour, 10,000 clusters and 1,000 clients: ratio to the fewest possible", rows[-1][7], 1.05)
    section("Calls to Cleura in an hour",
            "All clusters are in one project and do not change; `polling` has its defaults. The simulator counts the calls. Each client has an event stream and "
            f"reads one cluster every {CLIENT_S} s (`If-None-Match`). The clocks of shootd and the simulator go {SPEED} times as fast "
            f"(`bench/fast_clock.c`); the hour begins {SETTLED_S} s after the start, when the interval between lists has grown from 15 s to {IDLE_S} s.",
            f"The fewest possible calls are computed as follows. The data of a project without changes is at most {IDLE_S} s old (`polling.idle`), and one list "
            f"has all clusters of a project, whatever their number. One hour thus needs {HOUR_S // IDLE_S} lists. The catalog, which has the expiry of the versions, is read "
            "once an hour. A login is needed once a day, when a token expires; this hour has none. The number of lists grows with the number of projects.",
            f"Without shootd, each client would make at least one call every {CLIENT_S} s. The table assumes exactly one, which lists all clusters.")
    table(["clusters", "clients", "lists", "catalogs", "other calls", "calls", "the fewest possible", "ratio to the fewest", "calls of clients without "
            "shootd", "ratio to shootd's calls"], rows)


main()
