"""The clients of the soak: readers, followers of the event stream, writers, and an admin with tokens, webhooks and kubeconfigs. Each
part is a thread with its own connection and its own random generator."""

import itertools
import random
import socket
import threading
import time
import traceback

import httpx

import streams
from harness import SANITIZED, wait_until
from raw import Raw, request

CLUSTERS = "/v1/projects/team-a/clusters"
ENDED = ("succeeded", "failed", "cancelled")
AWAY = (502, 503, 504)  # Cleura does not answer at this moment


class Part(threading.Thread):
    """Repeats its round until the run ends. An exception is a fault of the run."""

    pause = 0.1  # seconds between two rounds, on average

    def __init__(self, world, number=0):
        super().__init__(daemon=True, name=f"{type(self).__name__} {number}")
        self.world, self.ledger, self.number = world, world.ledger, number
        self.rng = random.Random(f"{world.seed} {self.name}")
        self.start()

    def run(self):
        try:
            with self.ledger.client(self.world.d) as self.http:
                self.begin()
                while not self.world.over.wait(self.rng.random() * 2 * self.pause):
                    self.round()
                self.end()
        except Exception:  # any exception is reported
            self.ledger.fault(f"{self.name}: {traceback.format_exc()}")

    def begin(self):
        pass

    def round(self):
        raise NotImplementedError

    def end(self):
        pass

    def ask(self, method, path, *good, **more):
        """The answer to a request. Any status outside `good`, and a missing answer, is a fault of the run."""
        answer = self.http.request(method, path, **more)
        while SANITIZED and method == "GET" and answer.status_code == 503 and answer.json()["code"] == "outcome_unknown":
            answer = self.http.request(method, path, **more)  # an answer may be slow beside a sanitizer and other tests
        if answer.status_code not in good:
            self.ledger.fault(f"{self.name}: {method} {answer.request.url} answered {answer.status_code} {answer.text[:500]}")
        return answer

    def some_cluster(self):
        return self.rng.choice([*self.world.stay, *self.world.made.copy()])


class Reader(Part):
    """Reads as dashboards and scripts do."""

    pause = 0.06

    def begin(self):
        self.tags = {}
        self.reads = [(8, self.cluster), (3, self.pages), (2, self.found), (2, self.summary), (2, self.operations), (2, self.events),
                      (1, self.parts), (1, self.fresh)]

    def round(self):
        weights, reads = zip(*self.reads)
        self.rng.choices(reads, weights)[0]()

    def remembered(self, path, **params):
        """Reads half of the time with If-None-Match, and half of the time with gzip."""
        coding = self.rng.choice(("gzip", "identity"))
        key = (path, tuple(params.items()), coding)
        tag = self.tags.get(key) if self.rng.random() < 0.5 else None
        answer = self.ask("GET", path, 200, 304, 404, params=params,
                          headers={"Accept-Encoding": coding, **({"If-None-Match": tag} if tag else {})})
        if answer.status_code == 304 and not tag:
            self.ledger.fault(f"{self.name}: {path} answered 304, and nobody gave a tag")
        if len(self.tags) > 500:
            self.tags.clear()
        self.tags[key] = answer.headers.get("ETag")
        return answer

    def cluster(self):
        name = self.some_cluster()
        answer = self.remembered(f"{CLUSTERS}/{name}")
        if answer.status_code == 200 and answer.json()["name"] != name:
            self.ledger.fault(f"{self.name}: asked for {name}, got {answer.json()['name']}")

    def pages(self):
        """Clusters that exist during the whole run are on exactly one page."""
        seen, cursor = [], None
        while True:
            more = {"cursor": cursor} if cursor else {}
            page = self.ask("GET", CLUSTERS, 200, params={"limit": 20, "fields": "summary", **more}).json()
            seen += [c["name"] for c in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        there = [name for name in seen if name in self.world.stay]
        if sorted(there) != sorted(self.world.stay):
            self.ledger.fault(f"{self.name}: pages showed {sorted(there)}")

    def found(self):
        query = self.rng.choice(({"q": "hall"}, {"q": "7"}, {"sort": "kubernetes_version"}, {"sort": "phase,-updated_at"}, {"phase": "ready"},
                                 {"managed": "true"}, {"label": "soak=yes"}, {"expiring_before": "30d"}))
        self.remembered(self.rng.choice(("/v1/clusters", CLUSTERS)), limit=30, **query)

    def summary(self):
        self.remembered(self.rng.choice(("/v1/summary", "/v1/projects", "/v1/projects/team-a", "/v1/whoami", "/v1/accounts")))

    def operations(self):
        self.remembered(self.rng.choice(("/v1/operations", f"{CLUSTERS}/{self.some_cluster()}/operations")), limit=20)
        known = list(self.ledger.operations)
        if known:
            self.ask("GET", f"/v1/operations/{self.rng.choice(known)}", 200)

    def events(self):
        self.remembered("/v1/events", limit=50, after=self.rng.choice((0, max(0, self.world.newest - 100))))
        self.remembered(f"{CLUSTERS}/{self.some_cluster()}/events", limit=20)

    def parts(self):
        self.remembered(f"{CLUSTERS}/{self.some_cluster()}/{self.rng.choice(('issues', 'node-pools'))}")
        self.remembered("/v1/audit", limit=20)

    def fresh(self):
        path = self.rng.choice((CLUSTERS, f"{CLUSTERS}/{self.some_cluster()}"))
        self.ask("GET", path, 200, 404, params={"limit": 5} if path == CLUSTERS else {},
                 headers={"Cache-Control": "no-cache", "Prefer": "wait=2"})


class Follower(Part):
    """Follows all events over many streams, each starting after the last event."""

    pause = 0.3

    def begin(self):
        self.last, self.ids = self.world.begin, []

    def follow(self, until):
        """Follows a stream until until(stream) returns; then returns the events."""
        with streams.Stream(self.world.d, last=self.last) as s:
            if s.answer is None or s.status != 200:
                self.ledger.fault(f"{self.name}: the stream was not opened: {s.answer}")
            self.ledger.count("GET", "/v1/events", s.status)
            self.ledger.note("event streams")
            until(s)
        s.thread.join(30)
        self.ids += s.ids
        self.last = int(s.parser.last_id or self.last)
        self.ledger.note("events read from streams", len(s.ids))

    def round(self):
        self.follow(lambda s: self.world.over.wait(0.5 + 3 * self.rng.random()))

    def end(self):
        """Follows until all events have arrived. Some events come after the last write."""
        self.world.settled.wait()
        self.follow(lambda s: wait_until(lambda: max(self.last, *s.ids, 0) >= self.world.newest or s.closed, timeout=30, what="the last event"))


class Stalled(Part):
    """Requests the whole log and does not read it."""

    pause = 1.5

    def round(self):
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(60)
            s.connect(("127.0.0.1", self.world.d.port))
            s.sendall(request("GET", "/v1/events?after=0", "Accept: text/event-stream", token=self.world.d.token()))
            head = s.recv(12)
            if head != b"HTTP/1.1 200":
                self.ledger.fault(f"{self.name}: the stream was not opened: {head}")
            self.ledger.count("GET", "/v1/events", 200)
            self.ledger.note("event streams")
            self.world.over.wait(1 + 3 * self.rng.random())


class Writer(Part):
    """The life of a cluster, repeated; each cluster has a new name."""

    pause = 0.5

    def begin(self):
        self.names = (f"s{self.number}-{i}" for i in itertools.count())

    def round(self):
        name = next(self.names)
        operation = self.create(name)
        if not operation:
            return
        self.world.made[name] = operation
        if self.rng.random() < 0.15:
            self.give_up(name, operation)
        else:
            self.wait_for(operation)
            changes = [self.describe, self.widen, self.add_pool, self.sleep_and_wake, self.reconcile, self.upgrade]
            for change in self.rng.sample(changes, 3):
                if self.world.over.is_set():
                    return
                change(name)
        if not self.world.over.is_set():
            self.delete(name)

    def create(self, name):
        """The id of the operation; None when it was not accepted."""
        body = {"name": name, "labels": {"soak": "yes"}, "spec": {"kubernetes_version": "1.33"}}
        kind = self.rng.random()
        if kind < 0.2:
            answer = self.ask("PUT", f"{CLUSTERS}/{name}", 202, 503, json={k: v for k, v in body.items() if k != "name"})
        elif kind < 0.6:
            answer = self.ask("POST", CLUSTERS, 202, 503, json=body)
        else:
            answer = self.create_twice(body)
        if answer.status_code != 202:
            return None
        operation = answer.json()["operation"]["id"]
        with self.ledger.lock:
            self.ledger.creates[name] = operation
        return operation

    def create_twice(self, body):
        """Creates with a key, after a dry run; the repetition must have the same answer."""
        self.ask("POST", CLUSTERS, 200, json=body, params={"dry_run": "true"})
        key = {"Idempotency-Key": f"{self.world.seed}-of-{body['name']}-0123456789"}
        first, second = (self.ask("POST", CLUSTERS, 202, 503, json=body, headers=key) for _ in range(2))
        replayed = second.headers.get("Idempotency-Replayed") == "true"
        if first.status_code == 202 and not (replayed and second.content == first.content):
            self.ledger.fault(f"{self.name}: a repeated create of {body['name']} answered {second.status_code} {second.text[:300]}")
        return second

    def wait_for(self, operation):
        """Waits for the end; sometimes the client disconnects and asks again."""
        while not self.world.over.is_set():
            if self.rng.random() < 0.2:
                self.leave(f"/v1/operations/{operation}")
            answer = self.ask("GET", f"/v1/operations/{operation}", 200, params={"wait": 5})
            if answer.status_code != 200 or answer.json()["status"] in ENDED:
                return

    def leave(self, path):
        with Raw(self.world.d.port) as raw:
            raw.send(request("GET", path + "?wait=20", token=self.world.d.token()))
            time.sleep(0.2 * self.rng.random())
        self.ledger.leave("GET", path)

    def change(self, method, path, *good, **more):
        """A write that may wait for its operation, conflict with another, fail, or find that the cluster no longer exists."""
        wait = self.rng.choice((None, 5))
        answer = self.ask(method, path, 200, 201, 202, 204, 404, 409, *AWAY, *good, params={"wait": wait} if wait else {}, **more)
        if answer.status_code == 202:
            self.wait_for(answer.json()["operation"]["id"])
        return answer

    def give_up(self, name, operation):
        if self.rng.random() < 0.5:
            self.ask("POST", f"/v1/operations/{operation}/cancel", 200, 202, 409)
            self.ledger.note("cancellations")

    def describe(self, name):
        """Changes metadata only, which sends nothing to Cleura; conditional."""
        answer = self.ask("GET", f"{CLUSTERS}/{name}", 200, 404)
        if answer.status_code == 200:
            self.change("PATCH", f"{CLUSTERS}/{name}", 412, json={"description": f"at {time.time()}"}, headers={"If-Match": answer.headers["ETag"]})

    def widen(self, name):
        body = {"spec": {"node_pools": [{"name": "default", "maximum": self.rng.randint(2, 6)}]}}
        self.ask("PATCH", f"{CLUSTERS}/{name}", 200, 404, 409, json=body, params={"dry_run": "true"})
        self.change("PATCH", f"{CLUSTERS}/{name}", json=body)

    def add_pool(self, name):
        pools = f"{CLUSTERS}/{name}/node-pools"
        self.change("POST", pools, json={"name": "gpu", "machine_type": "b.4c8gb", "maximum": 2})
        self.change("PATCH", pools + "/gpu", json={"maximum": 4})
        self.change("DELETE", pools + "/gpu", 422)

    def sleep_and_wake(self, name):
        for action in ("hibernate", "wake"):
            self.change("POST", f"{CLUSTERS}/{name}/actions/{action}")

    def reconcile(self, name):
        self.change("POST", f"{CLUSTERS}/{name}/actions/reconcile")

    def upgrade(self, name):
        self.change("PUT", f"{CLUSTERS}/{name}", 422, json={"labels": {"soak": "yes"}, "spec": {"kubernetes_version": "1.34"}})

    def delete(self, name):
        if self.rng.random() < 0.3:
            self.ask("DELETE", f"{CLUSTERS}/{name}", 200, 404, 409, params={"dry_run": "true"})
        for _ in range(2):  # a repetition gets the same operation, or learns that the cluster is gone
            self.change("DELETE", f"{CLUSTERS}/{name}")
        self.world.made.pop(name, None)


class Keeper(Writer):
    """Adopts clusters that were found at Cleura, and changes them during the whole run."""

    def begin(self):
        self.own = [name for i, name in enumerate(self.world.stay) if i % 2 == self.number % 2][:10]

    def round(self):
        name = self.rng.choice(self.own)
        self.change("PUT", f"{CLUSTERS}/{name}", json={"labels": {"soak": "yes"}, "spec": {}})
        self.rng.choice((self.describe, self.sleep_and_wake, self.reconcile))(name)


class Admin(Part):
    """Makes and deletes tokens with kubeconfigs, and webhooks, and reads data that only Cleura has."""

    pause = 0.7

    def round(self):
        self.rng.choice((self.token, self.webhook, self.lookup))()

    def token(self):
        made = self.ask("POST", "/v1/tokens", 201, json={"name": "soak", "role": "operator", "projects": ["team-a"]}).json()
        self.ledger.note("tokens")
        with self.ledger.client(self.world.d, made["token"]) as own:
            path = f"{CLUSTERS}/{self.rng.choice(self.world.stay)}/kubeconfig"
            answers = [own.get(path), own.get(path)]
            if {a.status_code for a in answers} - {200, 409, *AWAY}:
                self.ledger.fault(f"{self.name}: {path} answered {[(a.status_code, a.text[:300]) for a in answers]}")
            self.ask("DELETE", f"/v1/tokens/{made['id']}", 204)
            if own.get("/v1/whoami").status_code != 401:
                self.ledger.fault(f"{self.name}: a revoked token is good")

    def webhook(self):
        """Subscribes to an event that never happens here, so it gets only its test, once, which ends before the webhook is deleted."""
        path = "/v1/webhooks"
        hook = self.ask("POST", path, 201, json={"url": f"{self.world.receiver.url}/short", "event_types": ["version.expiring"]}).json()
        path += "/" + hook["id"]
        self.ledger.note("webhooks")
        self.ask("PATCH", path, 200, json={"description": "soak", "max_in_flight": 3})
        self.ask("POST", path + "/rotate-secret", 200, json={"grace_seconds": 60})
        test = self.ask("POST", path + "/test", 202).json()["id"]
        wait_until(lambda: self.ask("GET", f"{path}/deliveries/{test}", 200).json()["status"] != "pending", interval=0.1, what="the test of a webhook")
        self.ask("DELETE", path, 204)

    def lookup(self):
        cluster = f"{CLUSTERS}/{self.rng.choice(self.world.stay)}"
        path = self.rng.choice((cluster + "/nodes", cluster + "/upgrades", cluster + "/monitoring", cluster + "/credential",
                                "/v1/projects/team-a/quota", "/v1/projects/team-a/catalog"))
        self.ask("GET", path, 200, 404, 409, *AWAY)
