#!/usr/bin/python3
"""Deliveries beside reads: many webhooks to the events of newly found clusters, a receiver that does nothing, and reads of one
cluster at a fixed rate. Rounds with and without the webhooks alternate; clusters, events and polls are the same in both. The load,
the receiver and the simulator share one core; shootd has the other one for its reads and deliveries. The figures include signing, one
connection per delivery, and the delivery log, which is stored and printed. They do not include TLS or a disk with slow syncs."""

import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

from load import CORES, ROOT, cpu_seconds, metric, need_tools, pin, shipped, wrk
from report import section, table
import harness

ROUNDS, SECONDS, SUBSCRIPTIONS, EVENTS_PER_SECOND = 5, 5, 110, 10
CONNECTIONS, PAUSE_MS = 16, 8
DELIVERED = 'shootd_webhook_attempts_total{outcome="delivered"}'


class Bench:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.sim = harness.Sim(directory)
        self.shootd = harness.Shootd(self.directory / "s", self.sim.url, extra="limits: {requests_per_minute: 1000000000}\n")
        shipped(self.shootd, polling="{discovery: 200ms}")
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

    def subscribe(self):
        made = [self.shootd.http.post("/v1/webhooks", json={"url": f"http://127.0.0.1:{self.port}/{i}"})
                for i in range(SUBSCRIPTIONS)]
        return [answer.json()["id"] for answer in made]

    def happen(self, until):
        """Makes clusters, those of a tenth of a second at a time."""
        due = time.monotonic()
        while due < until:
            self.sim.post("shoots", count=EVENTS_PER_SECOND // 10, prefix=f"n{self.batches:04d}".translate(LETTERS),
                          state="ready")
            self.batches += 1
            due += 0.1
            time.sleep(max(0, due - time.monotonic()))

    def round(self):
        """CPU seconds, deliveries a second, reads a second, p99 of reads in milliseconds."""
        before, used = metric(self.shootd, DELIVERED), cpu_seconds(self.shootd.process.pid)
        events = threading.Thread(target=self.happen, args=(time.monotonic() + SECONDS,))
        events.start()
        requests, p99 = wrk(self.shootd.url + self.shootd.clusters_path("bench-0000"), self.shootd.token(), CONNECTIONS,
                            SECONDS, "-s", str(self.pace))
        used = cpu_seconds(self.shootd.process.pid) - used
        delivered = metric(self.shootd, DELIVERED) - before
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
        finally:
            bench.stop()
    section("Deliveries and reads at the same time", f"There are {SUBSCRIPTIONS} webhooks and {EVENTS_PER_SECOND} events a second. Rounds with the "
            f"webhooks and rounds without them alternate. There are {ROUNDS} of each, and each lasts {SECONDS} s. {CONNECTIONS} connections read one cluster, each at most once in "
            f"{PAUSE_MS} ms. shootd has one core, and all other programs share the other core.")
    p99 = {name: statistics.median(r[3] for r in of) for name, of in rows.items()}
    table(["webhooks", "deliveries a second (goal: 1,000)", "reads a second", "p99 of reads, ms", "ratio to p99 without webhooks", "use of one core, %"],
          [[name, *(statistics.median(r[i] for r in of) for i in (1, 2, 3)), p99[name] / p99["without"],
            statistics.median(r[0] for r in of) / SECONDS * 100] for name, of in rows.items()])


main()
