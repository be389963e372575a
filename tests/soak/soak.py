#!/usr/bin/python3
"""Mixed load with faults for some minutes. The resources of shootd must stay constant, and its counters must agree with the records of
its clients, the receiver of its webhooks and the simulator. `make soak MINUTES=10`; tests/api/test_soak.py runs it for a quarter of a
minute."""

import os
import pathlib
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/soak"), str(ROOT / "tests/api"), str(ROOT / "bench")]
import balance  # noqa: E402
import harness  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
import samples  # noqa: E402
import traffic  # noqa: E402
from harness import SANITIZED, wait_until  # noqa: E402
from ledger import Ledger  # noqa: E402

SPEED = 120  # a day of the run is 120 days in the simulator; shootd rejects times more than a year away
DURATIONS = {"create": 120, "delete": 60, "hibernate": 30, "wake": 40, "reconcile": 20, "scale": 10, "roll": 60, "worker_create": 40,
             "worker_delete": 30, "patch": 10, "upgrade": 80}
FOUND = 50  # clusters that were made elsewhere
HOOKS = {"all": [], "clusters": ["cluster.*"], "ends": ["operation.succeeded", "operation.failed"], "ready": ["cluster.ready", "cluster.deleted"]}

# SQLite's caches grow with the file (4 MiB for each connection), and memory grows until 1,000 ended operations are in it. Therefore the
# first quarter of the run, at most 15 minutes, has no samples. A short run is judged by its total growth, because its slope shows nothing
# yet.
WARM_UP_S = 900
RSS_KIB_PER_HOUR, SLOPE_TELLS_S = 6 * 1024, 1800
RSS_MIB_GROWN, RSS_MIB_AT_ONCE, RSS_MIB_PER_MINUTE = 24, 6, 3


class World:
    """The state that all parts of the load share."""

    def __init__(self, directory, seed):
        self.seed, self.ledger = seed, Ledger()
        self.over, self.settled = threading.Event(), threading.Event()
        self.stay, self.made = [], {}  # clusters that exist during the whole run; clusters that a writer made and did not delete
        self.sim = harness.Sim(directory, speed=SPEED)
        self.sim.post("settings", durations=DURATIONS)
        self.sim.post("shoots", count=FOUND, prefix="hall", state="ready")
        # shootd notices a lost client of a stream at the next heartbeats.
        self.d = harness.Shootd(pathlib.Path(directory) / "shootd", self.sim.url, extra="limits: {heartbeat: 1s}\n")
        config = self.d.config  # default log level and access log
        config.write_text(config.read_text().replace("log_level: debug\naccess_log: all\n", ""))
        self.receiver = peers.Receiver(seed)

    def start(self):
        self.d.start().wait_upstream()
        wait_until(lambda: len(self.d.http.get("/v1/clusters?limit=1000").json()["items"]) == FOUND, timeout=60, what="discovery")
        wait_until(lambda: not balance.unrest(self.d), timeout=60, what="rest")
        self.stay = [c["name"] for c in balance.pages(self.d, "/v1/clusters")]
        self.d.http.close()
        self.d.http = self.ledger.client(self.d)  # counts each answer from here on
        self.before = balance.Metrics(self.d)
        self.hooks = [self.subscribe(name, types, i) for i, (name, types) in enumerate(HOOKS.items())]
        self.look()
        self.begin, self.idle = self.newest, samples.look(self.d)

    def subscribe(self, name, types, i):
        body = {"url": f"{self.receiver.url}/{name}", "event_types": types, "max_in_flight": 1 + i, "signature": ("v1", "v1a")[i % 2]}
        answer = self.d.http.post("/v1/webhooks", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def look(self):
        """The newest number of the event log."""
        self.newest = self.d.http.get("/v1/events", params={"limit": 1}).json()["newest_sequence"]

    def load(self):
        self.weather = peers.Weather(self)
        self.followers = [traffic.Follower(self, i) for i in range(2)]
        self.others = [self.weather, *(traffic.Reader(self, i) for i in range(2)), *(traffic.Writer(self, i) for i in range(4)),
                       traffic.Keeper(self), traffic.Admin(self), traffic.Stalled(self)]

    def go_on(self, seconds):
        """Runs the load for a time; ends at once when the daemon ends."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.d.process.popen.poll() is None, f"the daemon ended with {self.d.process.popen.poll()}:\n{self.d.log()[-4000:]}"
            self.look()
            time.sleep(0.5)

    def come_to_rest(self):
        """Waits for the end of the load, then of its operations, then of the followers of events. Reports those that do not end."""
        self.over.set()
        for part in self.others:
            part.join(300)
        busy = balance.in_time(lambda: balance.unrest(self.d), 120)
        self.look()
        self.settled.set()
        for part in self.followers:
            part.join(300)
        busy += [f"{part.name} hangs" for part in [*self.others, *self.followers] if part.is_alive()]
        busy += balance.in_time(self.more_descriptors)
        self.end = samples.look(self.d)
        return [f"not at rest: {one}" for one in busy]

    def more_descriptors(self):
        now, before = samples.look(self.d).descriptors, self.idle.descriptors
        return [f"{now} descriptors, {before} before the load"] if now > before else []

    def stop(self):
        """The faults at the end of the daemon; sanitizers report there."""
        self.over.set()
        self.settled.set()
        said = []
        try:
            self.d.stop()
        except AssertionError as error:
            said = [f"the daemon did not end well: {error}"]
        self.sim.stop()
        self.receiver.stop()
        return said


def judge_use(world, minutes, taken):
    """Resources must stay constant. Sanitizers retain freed memory for a while: with them only the leak check at the end counts."""
    said, per_hour = [], samples.line(taken, "rss_kib").per_hour
    grown, may_grow = (world.end.rss_kib - world.idle.rss_kib) / 1024, min(RSS_MIB_GROWN, RSS_MIB_AT_ONCE + RSS_MIB_PER_MINUTE * minutes)
    if not SANITIZED and grown > may_grow:
        said.append(f"RSS grew by {grown:.1f} MiB; {may_grow:.1f} are for what fills")
    if not SANITIZED and taken[-1].at - taken[0].at >= SLOPE_TELLS_S and per_hour > RSS_KIB_PER_HOUR:
        said.append(f"RSS grows by {per_hour:.0f} KiB an hour")
    threads = {s.threads for s in taken} - {world.idle.threads}
    return said + ([f"{world.idle.threads} threads at the start, later {sorted(threads)}"] if threads else [])


def tell(world, minutes, taken):
    """The section of the report."""
    ledger, books = world.ledger, balance.Books(world)
    report.section(f"Soak: {minutes:.3g} minutes of mixed load with faults",
                   "Sampled once a second behind the warm-up; the slope is that of the line of the least squares.")
    rows = []
    for name, member in (("RSS, KiB", "rss_kib"), ("descriptors", "descriptors"), ("threads", "threads")):
        line = samples.line(taken, member)
        rows.append((name, *map(float, (getattr(world.idle, member), *line[:4], getattr(world.end, member), line.per_hour))))
    report.table(("what", "before the load", "first", "last", "least", "most", "behind it", "slope per hour"), rows)
    codes = sorted({code for _, _, code in ledger.answers})
    statuses = [o["status"] for id, o in books.operations.items() if id in ledger.operations]
    report.table(("what went on", "times"), [(what, float(times)) for what, times in (
        ("requests answered", sum(ledger.answers.values())),
        *((f"of these with {code}", sum(n for (_, _, c), n in ledger.answers.items() if c == code)) for code in codes),
        ("requests that the client left", sum(ledger.left.values())),
        *((f"operations that ended as {s}", statuses.count(s)) for s in traffic.ENDED), ("clusters created", len(ledger.creates)),
        ("events", len(books.events)), ("attempts of webhooks", sum(world.receiver.outcomes.values())),
        ("of these delivered", world.receiver.outcomes["delivered"]), ("calls of Cleura", sum(world.weather.log.statuses.values())),
        ("breaker opened", books.now.total("shootd_upstream_breaker_opened_total")), *sorted(ledger.did.items()))])


def run(directory, minutes, seed):
    """The faults."""
    world = World(directory, seed)
    try:
        world.start()
        world.load()
        warm_up = min(WARM_UP_S, minutes * 60 / 4)
        world.go_on(warm_up)
        sampler = samples.Sampler(world.d)
        world.go_on(minutes * 60 - warm_up)
        taken = sampler.stop()
        faults = world.come_to_rest() + balance.in_time(lambda: balance.faults(world)) + world.ledger.faults
        faults += judge_use(world, minutes, taken)
        tell(world, minutes, taken)
    finally:
        at_the_end = world.stop()
    return faults + at_the_end


def main():
    minutes, seed = float(sys.argv[1]), int(os.environ.get("SOAK_SEED", time.time()))
    for name, value in (("ASAN_OPTIONS", "detect_leaks=1:exitcode=99"), ("TSAN_OPTIONS", "exitcode=98")):
        os.environ.setdefault(name, value)
    print("SOAK_SEED", seed, file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as directory:
        faults = run(directory, minutes, seed)
    print("\n".join(faults) or "What went in and what was counted balance.")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
