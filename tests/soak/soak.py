#!/usr/bin/python3
"""Mixed load with faults for some minutes: what shootd holds has to stay flat, and what it counts has to be what its clients, the
receiver of its webhooks and the simulator have seen. `make soak MINUTES=60`; tests/api/test_soak.py runs a minute of it."""

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

SPEED = 120  # a day of it is 120 days of the simulator: shootd believes no time that is more than a year away
DURATIONS = {"create": 120, "delete": 60, "hibernate": 30, "wake": 40, "reconcile": 20, "scale": 10, "roll": 60, "worker_create": 40,
             "worker_delete": 30, "patch": 10, "upgrade": 80}
FOUND = 50  # clusters that were made elsewhere
LONGEST_WARM_UP_S = 900
HOOKS = {"all": [], "clusters": ["cluster.*"], "ends": ["operation.succeeded", "operation.failed"], "ready": ["cluster.ready", "cluster.deleted"]}

# What may be. The caches of SQLite fill with the file (8 MiB for each of its connections), the memory of ended operations until there
# are 1,000 of them: that is not flat in the first minutes, and is over before an hour's measurement begins.
RSS_MIB_GROWN = 16
RSS_KIB_PER_HOUR = 6 * 1024
DESCRIPTORS_GROWN = 3
JUDGED_BY_SLOPE_S = 1800


class World:
    """What all parts of the load share."""

    def __init__(self, directory, seed):
        self.seed, self.ledger = seed, Ledger()
        self.over, self.settled = threading.Event(), threading.Event()
        self.made = {}  # clusters that a writer has made and not deleted
        self.sim = harness.Sim(directory, speed=SPEED)
        self.sim.post("settings", durations=DURATIONS)
        self.sim.post("shoots", count=FOUND, prefix="hall", state="ready")
        # A stream whose client has left is noticed at its next signs of life.
        self.d = harness.Shootd(pathlib.Path(directory) / "shootd", self.sim.url, extra="limits: {heartbeat: 1s}\n")
        config = self.d.config  # level and access log as they ship
        config.write_text(config.read_text().replace("log_level: debug\naccess_log: all\n", ""))
        self.receiver = peers.Receiver(seed)
        self.stay = []

    def start(self):
        self.d.start().wait_upstream()
        wait_until(lambda: len(self.d.http.get("/v1/clusters?limit=1000").json()["items"]) == FOUND, timeout=60, what="discovery")
        wait_until(lambda: not balance.unrest(self.d), timeout=60, what="rest")
        self.stay = [c["name"] for c in balance.pages(self.d, "/v1/clusters")]
        self.found = self.stay
        self.d.http.close()
        self.d.http = self.ledger.client(self.d)  # from here on each answer is counted
        self.requests_before = balance.metrics(self.d)
        self.hooks = [self.subscribe(name, types, i) for i, (name, types) in enumerate(HOOKS.items())]
        self.before = balance.metrics(self.d)
        self.look()
        self.begin = self.newest
        self.idle = samples.look(self.d)

    def subscribe(self, name, types, i):
        body = {"url": f"{self.receiver.url}/{name}", "event_types": types, "max_in_flight": 1 + i, "signature": ("v1", "v1a")[i % 2]}
        answer = self.d.http.post("/v1/webhooks", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def look(self):
        """How far the event log is."""
        self.newest = self.d.http.get("/v1/events", params={"limit": 1}).json()["newest_sequence"]

    def stop(self):
        """The faults of its end."""
        faults = []
        try:
            self.d.stop()
        except AssertionError as error:
            faults = [f"the daemon did not end well: {error}"]
        self.sim.stop()
        self.receiver.stop()
        text = self.d.log()
        return faults + [f"the log has {word!r}: {text[text.index(word):][:2000]}" for word in
                         ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer", "runtime error:") if word in text]


def parts_of(world):
    followers = [traffic.Follower(world, i) for i in range(2)]
    others = [traffic.Reader(world, 0), traffic.Reader(world, 1), *(traffic.Writer(world, i) for i in range(4)), traffic.Keeper(world),
              traffic.Admin(world), traffic.Stalled(world)]
    return followers, others, peers.Weather(world)


def wait_alive(world, seconds):
    """The load goes on; ends at once when the daemon does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if world.d.process.popen.poll() is not None:
            raise AssertionError(f"the daemon ended with {world.d.process.popen.poll()}:\n" + world.d.log()[-4000:])
        world.look()
        time.sleep(0.5)


def come_to_rest(world, followers, others):
    """The load ends, then what it has begun."""
    world.over.set()
    for part in others:
        part.join(300)
    said = balance.in_time(lambda: balance.unrest(world.d), 120)
    world.look()
    world.settled.set()
    for part in followers:
        part.join(300)
    hung = [f"{part.name} hangs" for part in [*others, *followers] if part.is_alive()]
    return hung + [f"not at rest: {one}" for one in said]


def judge_use(world, taken, faults):
    """Flat, and back to the idle number. In a short run the line through how many clients are there just now says nothing, the end does.
    Sanitizers keep freed memory for a while: there it is the leaks at the end that count."""
    fits = {member: samples.fit(taken, member) for member in ("rss_kib", "descriptors", "threads")}
    rss, descriptors = fits["rss_kib"], fits["descriptors"]
    is_long = taken[-1].at - taken[0].at >= JUDGED_BY_SLOPE_S
    if not SANITIZED and rss.grown > RSS_MIB_GROWN * 1024:
        faults.append(f"RSS grew by {rss.grown / 1024:.1f} MiB")
    if not SANITIZED and is_long and rss.per_hour > RSS_KIB_PER_HOUR:
        faults.append(f"RSS grows by {rss.per_hour:.0f} KiB an hour")
    if is_long and descriptors.grown > DESCRIPTORS_GROWN:
        faults.append(f"descriptors grew by {descriptors.grown:.1f}")
    if {s.threads for s in taken} != {world.idle.threads}:
        faults.append(f"{world.idle.threads} threads at the start, later {sorted({s.threads for s in taken})}")
    back = balance.in_time(lambda: [f"{now.descriptors} descriptors when all is over, {world.idle.descriptors} before"
                                    for now in [samples.look(world.d)] if now.descriptors > world.idle.descriptors], 60)
    faults += back
    return fits


def judge_counters(world, followers, weather):
    d, ledger = world.d, world.ledger
    events = d.events()
    faults = list(ledger.faults)
    faults += balance.in_time(lambda: balance.upstream(d, weather.log), 30)
    faults += balance.in_time(lambda: balance.attempts(d, world.receiver), 30)
    faults += balance.in_time(lambda: balance.streams(d, ledger, followers), 30)
    faults += balance.event_log(d, events, world.before) + balance.counters(d, world.before)
    faults += balance.operations(d, world.sim, ledger, events) + balance.audit(d, ledger)
    for follower in followers:
        faults += balance.followed(follower, world.begin, events)
    for hook in world.hooks:
        faults += balance.deliveries(d, hook, world.receiver, world.begin, events)
    faults += balance.in_time(lambda: balance.requests(d, world.requests_before, ledger), 30)
    return faults, events


def tell(world, seconds, fits, events, weather, faults):
    """The section of the report."""
    ledger, d = world.ledger, world.d
    rows = balance.pages(d, "/v1/operations")
    now = balance.metrics(d)
    report.section(f"Soak: {seconds / 60:.3g} minutes of mixed load with faults",
                   "Sampled once a second behind the warm-up; the slope is the median of the slopes of all pairs of samples.")
    report.table(("what", "first", "last", "least", "most", "slope per hour"),
                 [(name, *(float(v) / scale for v in fits[member][:4]), fits[member].per_hour / scale) for name, member, scale in
                  (("RSS, KiB", "rss_kib", 1), ("descriptors", "descriptors", 1), ("threads", "threads", 1))])
    ended = {s: sum(o["status"] == s for o in rows if o["id"] in ledger.operations) for s in traffic.ENDED}
    report.table(("what went on", "times"), [
        ("requests answered", sum(ledger.answers.values())), ("requests that the client left", sum(ledger.left.values())),
        *((f"answered {code}", sum(n for (_, _, c), n in ledger.answers.items() if c == code)) for code in sorted({c for _, _, c in ledger.answers})),
        *((f"operations that ended as {s}", n) for s, n in ended.items()), ("clusters created", len(ledger.creates)),
        ("events", len(events)), ("attempts of webhooks", sum(world.receiver.outcomes.values())),
        ("of these delivered", world.receiver.outcomes["delivered"]), ("calls of Cleura", sum(weather.log.statuses.values())),
        ("breaker opened", balance.total(now, "shootd_upstream_breaker_opened_total")), *sorted(ledger.did.items())])
    print("\n".join(faults) or "What went in and what was counted balance.", flush=True)


def run(directory, seconds, seed):
    """The faults."""
    world = World(directory, seed)
    faults = []
    try:
        world.start()
        followers, others, weather = parts_of(world)
        warm_up = min(LONGEST_WARM_UP_S, seconds / 4)
        try:
            wait_alive(world, warm_up)
            sampler = samples.Sampler(world.d, 1 if seconds > 120 else 0.5)
            wait_alive(world, seconds - warm_up)
            sampler.stop()
        finally:
            said = come_to_rest(world, followers, [*others, weather])
        found, events = judge_counters(world, followers, weather)
        faults += said + found
        fits = judge_use(world, sampler.samples, faults)
        tell(world, seconds, fits, events, weather, faults)
    finally:
        faults += world.stop()
    return faults


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 5
    seed = int(os.environ.get("SOAK_SEED", time.time()))
    for name, value in (("ASAN_OPTIONS", "detect_leaks=1:exitcode=99"), ("TSAN_OPTIONS", f"exitcode=98:suppressions={ROOT}/tests/tsan.suppressions")):
        os.environ.setdefault(name, value)
    print("SOAK_SEED", seed, flush=True)
    with tempfile.TemporaryDirectory() as directory:
        faults = run(directory, minutes * 60, seed)
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
