"""Show 3 of webhooks: kill -9 at random moments under load with 20 subscriptions. No event is lost, bytes and ids stay the same, the
delivery log is true."""

import collections
import json
import os
import random
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

import harness
from harness import PATIENCE, ROOT, SANITIZED, size, wait_until

SUBSCRIPTIONS = 20
ROUNDS = 4 if SANITIZED else size(4, 10)
FOUND = 5 if SANITIZED else size(5, 12)  # clusters that appear at Cleura in each round
FAMILIES = ([], ["cluster.*"], ["operation.*"], ["cluster.ready", "cluster.discovered", "operation.failed"])
# An answer so long before a kill is stored. A request received so long after a kill was sent after it.
NOTED_S = 5.0 * PATIENCE  # even on a busy machine the store has the receiver's answer by then

Received = collections.namedtuple("Received", "at to id headers body status")  # status 0: the connection was cut


class Receivers:
    """All subscribers on one port. Each fails the first attempt of a tenth of the events, with an error or without an answer."""

    def __init__(self, seed):
        self.received = collections.defaultdict(list)  # by subscription and event
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {k.lower(): v for k, v in self.headers.items()}
                one = outer.note(int(self.path[1:]), headers, body, seed)
                if one.status:
                    self.send_response(one.status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *args):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 256

            def handle_error(self, *args):
                pass  # the daemon was killed during the request

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def note(self, to, headers, body, seed):
        id = headers["webhook-id"]
        chance = random.Random(f"{seed} {to} {id}")
        time.sleep(chance.random() * 0.02)
        with self.lock:
            earlier = self.received[to, id]
            status = 204 if earlier or chance.random() > 0.1 else chance.choice((500, 0))
            one = Received(time.time(), to, id, headers, body, status)
            earlier.append(one)
        return one

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def subscribe(d, url, i):
    body = {"url": f"{url}/{i}", "event_types": FAMILIES[i % 4], "max_in_flight": 1 + i % 3, "signature": "v1a" if i % 5 == 4 else "v1"}
    hook = d.http.post("/v1/webhooks", json=body).json()
    keys = [hook["secret"] or hook["keys"][0]["public_key"]]
    if i % 5 == 3:  # always in a rotation
        keys.append(d.http.post(f"/v1/webhooks/{hook['id']}/rotate-secret").json()["secret"])
    return hook["id"], keys


def load(sim, d, rng, round):
    """Changes many clusters; the daemon may be killed meanwhile."""
    sim.post("shoots", count=FOUND, prefix=f"f{round}x", state="ready")
    for i in range(3):
        try:
            d.http.post(d.clusters_path(), json={"name": f"c{round}-{i}"})
            if round:
                d.http.delete(d.clusters_path(f"c{rng.randrange(round)}-{i}"))
        except httpx.HTTPError:
            pass


def kill_and_start(d, rng, kills):
    d.kill()
    kills.append(time.time())
    if rng.random() < 0.3:  # also during a start
        d.start(wait=False)
        time.sleep(rng.random() * 0.3 * PATIENCE)
        d.kill()
        kills.append(time.time())
    d.start()


def wants(i, event):
    return not FAMILIES[i % 4] or any(re.fullmatch(t.replace(".", r"\.").replace("*", ".*"), event["type"]) for t in FAMILIES[i % 4])


def log_of(d, hook):
    rows, cursor = [], None
    while True:
        page = d.http.get(f"/v1/webhooks/{hook}/deliveries", params={"limit": 1000, **({"cursor": cursor} if cursor else {})}).json()
        rows += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return rows


def settled(d):
    """True when nothing is open: no operation, no delivery, no new event."""
    before = d.http.get("/v1/events", params={"limit": 1}).json()["newest_sequence"]
    pending = int(re.search(r"^shootd_webhook_pending (\d+)", d.http.get("/metrics").text, re.M)[1])
    busy = d.http.get("/v1/operations", params={"status": "pending,running", "limit": 1}).json()["items"]
    if pending or busy:
        return False
    time.sleep(0.5)
    return d.http.get("/v1/events", params={"limit": 1}).json()["newest_sequence"] == before


def killed_between(kills, from_, to):
    return any(from_ <= at <= to for at in kills)


def sent_at(received):
    """The time at which the daemon sent it, in whole seconds. The receiver may have run much later, even after a kill."""
    return int(received.headers["webhook-timestamp"])


def surely_noted_failures(came, kills):
    return [r for r in came if r.status != 204 and not killed_between(kills, sent_at(r), r.at + NOTED_S)]


def check_what_came(events, received, keys):
    """Each received event is in the log, with the same bytes and a signature of every valid key."""
    scope = {"__name__": "page"}
    exec(re.search(r"^```python\n(.*?)^```", (ROOT / "docs/webhooks.md").read_text(), re.S | re.M)[1], scope)
    bodies = collections.defaultdict(set)
    for r in received:
        bodies[r.id].add(r.body)
        for key in keys[r.to]:
            assert scope["is_genuine"]([key], r.headers, r.body), r
        assert wants(r.to, events[r.id]), r
    assert all(len(b) == 1 for b in bodies.values()), "one event, one body, for all and on every attempt"
    for id, (body,) in bodies.items():
        assert json.loads(body) == {k: v for k, v in events[id].items() if k != "sequence"}


def check_log_of_one(i, rows, wanted, received, kills):
    """Compares the delivery log with the requests that the receiver got."""
    assert collections.Counter(r["event_id"] for r in rows) == collections.Counter(wanted), "one delivery of each event"
    for row in rows:
        came = received[i, row["event_id"]]
        good = [r for r in came if r.status == 204]
        assert row["status"] == "delivered" and good, (row, came)
        assert (row["response_status"], row["error"], row["next_attempt_at"]) == (204, None, None), row
        assert len(surely_noted_failures(came, kills)) + 1 <= row["attempt"] <= len(came), (row, came, kills)
        for earlier, later in zip(good, good[1:]):
            assert killed_between(kills, sent_at(earlier), later.at), ("repeated without need", row, came, kills)


def test_wh16_wh17_kill_under_load_with_20_subscriptions(sim, make_shootd):
    seed = int(os.environ.get("CRASH_SEED", str(size(20261125, random.SystemRandom().randrange(10**6)))))
    print("CRASH_SEED", seed)
    rng = random.Random(seed)
    sim.post("settings", durations={"create": 300, "delete": 200})
    receivers = Receivers(seed)
    kills = []
    d = make_shootd(sim.url).start()
    hooks, keys = zip(*(subscribe(d, receivers.url, i) for i in range(SUBSCRIPTIONS)))
    begin = d.http.get("/v1/events").json()["newest_sequence"]
    for round in range(ROUNDS):
        load(sim, d, rng, round)
        time.sleep(rng.random() * 1.2 * PATIENCE)
        kill_and_start(d, rng, kills)
    time.sleep(1)  # separates requests sent before the last kill from later ones
    load(sim, d, rng, ROUNDS)  # every failure of this round must be logged

    names = {f"f{ROUNDS}x-{i:04}" for i in range(FOUND)}
    wait_until(lambda: {e["data"].get("cluster") for e in d.events(type="cluster.discovered")} >= names, what="the last discovery")
    wait_until(lambda: settled(d), timeout=45, interval=0.2, what="the last delivery")
    receivers.stop()
    log = d.events()
    assert [e["sequence"] for e in log] == list(range(1, len(log) + 1)), "dense"
    events = {e["id"]: e for e in log}
    received = receivers.received
    everything = [r for several in received.values() for r in several]
    print(f"{len(kills)} kills, {len(events)} events, {len(everything)} receptions, {len(received)} different")

    assert surely_noted_failures(everything, kills), "else nothing is known of the number of attempts"
    check_what_came(events, everything, keys)
    early = {e["id"] for e in log if e["sequence"] <= begin}
    for i in range(SUBSCRIPTIONS):
        wanted = [e["id"] for e in log if e["sequence"] > begin and wants(i, e)]
        assert len(wanted) >= ROUNDS
        missing = [id for id in wanted if (i, id) not in received]
        assert not missing, f"never reached subscription {i}: {missing}"
        check_log_of_one(i, [r for r in log_of(d, hooks[i]) if r["event_id"] not in early], wanted, received, kills)
