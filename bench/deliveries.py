#!/usr/bin/python3
"""Deliveries beside reads: many subscriptions to the events of newly found clusters, a receiver that does nothing, and
reads of one cluster at a fixed rate. Rounds with and without the subscriptions alternate, all else (the clusters, their
events, the polls) is the same in both. The load, the receiver and the simulator have one core, shootd the other: its
reads and its deliveries share one. What is measured is signing, a connection for each delivery, and the log of it
stored and printed; not TLS, and not a disk that is slow to sync."""

import pathlib
import re
import statistics
import subprocess
import tempfile
import threading
import time

from load import CORES, ROOT, cpu_seconds, need_tools, pin, wrk
import harness

ROUNDS, SECONDS, SUBSCRIPTIONS, EVENTS_PER_SECOND = 5, 5, 110, 10
CONNECTIONS, PAUSE_MS = 16, 8
DELIVERED = 'shootd_webhook_attempts_total{outcome="delivered"}'


class Bench:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.sim = harness.Sim(directory)
        self.shootd = harness.Shootd(self.directory / "s", self.sim.url,
                                     polling="{active: 15s, idle: 2m, discovery: 200ms}",
                                     extra="limits: {requests_per_minute: 1000000000}\n")
        config = self.shootd.config
        config.write_text(config.read_text().replace("log_level: debug", "log_level: info"))
        self.batches = 0
        self.receiver = None

    def start(self):
        self.sim.post("shoots", count=1, prefix="bench", state="ready")
        self.shootd.start()
        harness.wait_until(lambda: self.shootd.cluster("bench-0000").status_code == 200, what="discovery")
        body = self.directory / "body"
        body.write_text("ok")
        self.port = harness.free_port()
        self.receiver = subprocess.Popen([ROOT / "build/bench/bare_mhd", str(self.port), body])
        self.pace = self.directory / "pace.lua"
        self.pace.write_text(f"function delay() return {PAUSE_MS} end\n")
        pin(self.shootd.process.pid, CORES[1])
        pin(self.receiver.pid, CORES[0])
        pin(self.sim.process.pid, CORES[0])

    def stop(self):
        if self.receiver:
            self.receiver.terminate()
            self.receiver.wait(10)
        self.shootd.stop()
        self.sim.stop()

    def metric(self, name):
        return float(re.search(f"^{re.escape(name)} (\\S+)$", self.shootd.http.get("/metrics").text, re.M)[1])

    def subscribe(self):
        made = [self.shootd.http.post("/v1/webhooks", json={"url": f"http://127.0.0.1:{self.port}/{i}"})
                for i in range(SUBSCRIPTIONS)]
        return [answer.json()["id"] for answer in made]

    def happen(self, until):
        """New clusters, a tenth of a second's worth at a time."""
        due = time.monotonic()
        while due < until:
            self.sim.post("shoots", count=EVENTS_PER_SECOND // 10, prefix=f"n{self.batches:04d}".translate(LETTERS),
                          state="ready")
            self.batches += 1
            due += 0.1
            time.sleep(max(0, due - time.monotonic()))

    def round(self):
        """CPU seconds, deliveries a second, reads a second, p99 of reads in milliseconds."""
        before, used = self.metric(DELIVERED), cpu_seconds(self.shootd.process.pid)
        events = threading.Thread(target=self.happen, args=(time.monotonic() + SECONDS,))
        events.start()
        requests, p99 = wrk(self.shootd.url + self.shootd.clusters_path("bench-0000"), self.shootd.token(), CONNECTIONS,
                            SECONDS, "-s", str(self.pace))
        used = cpu_seconds(self.shootd.process.pid) - used
        delivered = self.metric(DELIVERED) - before
        events.join()
        return used, delivered / SECONDS, requests / SECONDS, p99


LETTERS = str.maketrans("0123456789", "abcdefghij")


def main():
    need_tools("wrk")
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(directory)
        try:
            bench.start()
            rows = {"without": [], "with": []}
            for _ in range(ROUNDS):
                rows["without"].append(bench.round())
                ids = bench.subscribe()
                rows["with"].append(bench.round())
                for id in ids:
                    bench.shootd.http.delete(f"/v1/webhooks/{id}")
            print(f"{SUBSCRIPTIONS} subscriptions, {EVENTS_PER_SECOND} events/s, {ROUNDS} rounds of {SECONDS} s")
            for name, of in rows.items():
                print(f"{name + ' deliveries':20} {statistics.median(r[1] for r in of):6.0f} deliveries/s, "
                      f"{statistics.median(r[2] for r in of):6.0f} reads/s, p99 {statistics.median(r[3] for r in of):.2f} ms, "
                      f"{statistics.median(r[0] for r in of) / SECONDS * 100:.0f} % of a core")
            p99 = {name: statistics.median(r[3] for r in of) for name, of in rows.items()}
            print(f"ratio of p99 of reads, with to without: {p99['with'] / p99['without']:.2f}")
            print(f"deliveries a second: {statistics.median(r[1] for r in rows['with']):.0f} (goal: at least 1000)")
        finally:
            bench.stop()


main()
