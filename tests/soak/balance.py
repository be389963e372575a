"""Checks after the end of the load. Each check returns sentences about its failures."""

import collections
import re

from harness import wait_until

SAMPLE = re.compile(r"([a-z_:]+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-z_]+)="([^"]*)"')
# Calls of shootd, and their names in the simulator.
CALLS = {"catalog": "cloud_profiles", "list": "list_shoots", "get": "get_shoot", "create": "create_shoot", "delete": "delete_shoot",
         "kubeconfig": "kubeconfig_v3", "patch": "edit_shoot", "pool_create": "create_worker", "pool_update": "update_worker",
         "pool_delete": "delete_worker", "hibernate": "hibernate", "wake": "wake", "reconcile": "reconcile", "retry": "retry",
         "monitoring": "monitoring", "nodes": "nodes_overview", "upgrade_check": "upgrade_check", "own_projects": "current_projects",
         "quota": "quota", "name_taken": "name_taken", "bootstrap": "bootstrap"}
OUTCOMES = {"ok": range(200, 300), "absent": [404], "conflict": [409], "refused": [400, 422], "throttled": [429]}
WRITES = {"create", "delete", "patch", "pool_create", "pool_update", "pool_delete", "hibernate", "wake", "reconcile", "retry", "bootstrap"}
AT_REST = ("ready", "hibernated", "degraded", "failed")
ENDS = ("operation.succeeded", "operation.failed")
NEVER = ("shootd_store_errors_total", "shootd_store_rows_put_aside", "shootd_projects_set_aside", "shootd_upstream_rows_refused_total",
         "shootd_http_connections_refused_total", "shootd_access_log_dropped_total", "shootd_log_lines_dropped_total")


class Metrics:
    """One scrape: by name, then by sorted labels, the value."""

    def __init__(self, d):
        self.values = {}
        for line in d.http.get("/metrics").text.splitlines():
            if line.startswith("# TYPE "):
                self.values[line.split()[2]] = {}
            elif not line.startswith("#"):
                name, labels, value = SAMPLE.fullmatch(line).groups()
                self.values.setdefault(name, {})[tuple(sorted(LABEL.findall(labels or "")))] = float(value)

    def total(self, name, **labels):
        return sum(v for ls, v in self.values[name].items() if set(labels.items()) <= set(ls))

    def by(self, name, *labels):
        return collections.Counter({tuple(dict(ls)[label] for label in labels): int(v) for ls, v in self.values[name].items()})


def pages(d, path, **params):
    items, cursor = [], None
    while True:
        page = d.http.get(path, params={"limit": 1000, **params, **({"cursor": cursor} if cursor else {})}).json()
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return items


def in_time(check, seconds=10):
    """The sentences that check() still returns after the time limit. Counters may be updated a moment after the event that they count."""
    said = []

    def is_quiet():
        said[:] = check()
        return not said
    try:
        wait_until(is_quiet, timeout=seconds, interval=0.2, what="rest")
    except AssertionError:
        pass
    return said


def unrest(d):
    """Why shootd is not quiet yet."""
    now = Metrics(d)
    busy = [f"{c['name']} is {c['phase']}, settling: {c['settling']}" for c in pages(d, "/v1/clusters", fields="summary")
            if c["settling"] or c["phase"] not in AT_REST]
    busy += [f"operation {o['id']} of {o['cluster']} is {o['status']}: {o['message']}" for o in pages(d, "/v1/operations", status="pending,running")]
    busy += [f"{name} is {now.total(name):.0f}" for name in
             ("shootd_webhook_pending", "shootd_webhook_in_flight", "shootd_http_parked", "shootd_oidc_tokens_waiting", "shootd_operations_open",
              "shootd_upstream_breakers_open", "shootd_store_queue_depth") if now.total(name)]
    return busy


class Books:
    """The state that shootd reports after the end of the load."""

    def __init__(self, world):
        d = world.d
        self.events = d.events()
        self.clusters = pages(d, "/v1/clusters", fields="summary")
        self.operations = {o["id"]: o for o in pages(d, "/v1/operations")}
        self.deliveries = {hook["id"]: {r["event_id"]: r for r in pages(d, f"/v1/webhooks/{hook['id']}/deliveries")} for hook in world.hooks}
        self.audit = pages(d, "/v1/audit", action="createCluster,putCluster", outcome="success")
        world.weather.log.read()
        self.now = Metrics(d)  # last, because the reads above are counted, too


def faults(world):
    """All failures of the checks."""
    books = Books(world)
    return [sentence for check in (requests, upstream, attempts, streams, counters, operations, clusters, event_log, deliveries, audit)
            for sentence in check(books, world)[:20]]


# ---- counters ---------------------------------------------------------------------------------------------------------

def requests(books, world):
    """Each answer that a client read is counted once, under the same method, route and status. Of the answers that clients did not wait
    for, each is counted at most once."""
    key, ledger = ("shootd_http_requests_total", "method", "route", "code"), world.ledger
    counted, said = books.now.by(*key) - world.before.by(*key), []
    for method, route, code in {*counted, *((m, r, str(s)) for m, r, s in ledger.answers)}:
        read, ours = ledger.answers[method, route, int(code)], counted[method, route, code]
        if route != "/metrics" and not read <= ours <= read + ledger.left[method, route]:
            said.append(f"{method} {route} {code}: clients read {read} answers, shootd counted {ours}")
    under_way = books.now.total("shootd_http_requests_in_flight") - 1  # this request
    return said + ([f"{under_way:.0f} requests are under way"] if under_way else [])


def upstream(books, world):
    """Calls to Cleura by outcome: shootd and the simulator counted the same."""
    log, said = world.weather.log, []
    ours = books.now.by("shootd_upstream_requests_total", "operation", "outcome")
    for call, theirs in CALLS.items():
        unseen = ours[call, "expired"] + log.unseen[theirs]  # aborted calls, which may have been answered at the same moment
        for outcome, statuses in OUTCOMES.items():
            sent = sum(log.statuses[theirs, s] for s in statuses)
            if not 0 <= sent - ours[call, outcome] <= unseen:
                said.append(f"{call}: shootd counted {ours[call, outcome]} {outcome}, the simulator {sent}")
        lost = sum(n for (op, s), n in log.statuses.items() if op == theirs and (s == 0 or s >= 500))
        if call in WRITES and ours[call, "uncertain"] != lost:
            said.append(f"{call}: shootd counted {ours[call, 'uncertain']} whose effect was unknown, the simulator lost {lost}")
    given, logins = sum(log.statuses["create_token", s] for s in range(200, 300)), books.now.total("shootd_upstream_logins_total", result="ok")
    return said + ([f"the simulator gave {given} tokens, shootd counted {logins:.0f} logins"] if given != logins else [])


def attempts(books, world):
    ours, theirs = books.now.by("shootd_webhook_attempts_total", "outcome"), world.receiver.outcomes
    return [f"webhooks: shootd counted {ours[o,]} attempts that ended as {o}, the receiver {theirs[o]}"
            for o in {*theirs, *(o for o, in ours)} if ours[o,] != theirs[o]]


def streams(books, world):
    opened, read, now = world.ledger.did["event streams"], sum(len(f.ids) for f in world.followers), books.now
    still, ended, sent = (now.total("shootd_sse_" + name) for name in ("streams", "streams_ended_total", "events_sent_total"))
    said = [f"{opened} streams were opened, {ended:.0f} have ended, {still:.0f} are open"] if still or ended != opened else []
    return said + ([f"{read} events were read from streams, {sent:.0f} were sent"] if sent < read else [])


def counters(books, world):
    """Counters that must not change, whatever the load is."""
    said = [f"{name} rose to {books.now.total(name):.0f}" for name in NEVER if books.now.total(name) > world.before.total(name)]
    if books.now.total("shootd_log_messages_total", level="error"):
        said.append(f"errors in the log: {[line for line in world.d.log().splitlines() if ' error ' in line][:5]}")
    hooks = books.now.total("shootd_webhooks")
    return said + ([f"{hooks:.0f} webhooks of {len(world.hooks)}"] if hooks != len(world.hooks) else [])


# ---- nothing was lost, nothing was done twice -----------------------------------------------------------------------------

def operations(books, world):
    """Each accepted operation is found, has ended, and has one event for its end; each cluster was created once."""
    rows, creates = books.operations, world.sim.counters()["creates"]
    ends = collections.Counter(e["data"]["operation_id"] for e in books.events if e["type"] in ENDS)
    said = []
    for id, (kind, name) in world.ledger.operations.items():
        if id not in rows or rows[id]["status"] not in ("succeeded", "failed", "cancelled"):
            said.append(f"operation {id} ({kind} of {name}) is {rows.get(id, 'lost')}")
        elif ends[id] != 1:
            said.append(f"{ends[id]} events tell of the end of operation {id} ({kind} of {name})")
    for name, id in world.ledger.creates.items():
        done = rows.get(id, {}).get("status")
        if creates.get(name, 0) > 1 or (done == "succeeded" and creates.get(name) != 1):
            said.append(f"{name} was created {creates.get(name, 0)} times, its operation is {done}")
    said += [f"nobody asked for {name}" for name in set(creates) - set(world.ledger.creates)]
    return said + [f"failed by itself: {o}" for o in rows.values() if o["status"] == "failed" and o["error"]["code"] == "internal_error"]


def clusters(books, world):
    """shootd shows the clusters that Cleura has. A create that ended before it was sent leaves its record, which shows the reason."""
    creates = world.sim.counters()["creates"]
    ours = {c["name"] for c in books.clusters if c["phase"] != "failed" or creates.get(c["name"])}
    theirs = {s["name"] for s in world.sim.get("state")["shoots"]}
    return [f"shootd shows {sorted(ours - theirs)} more than Cleura has, and lacks {sorted(theirs - ours)}"] if ours != theirs else []


def event_log(books, world):
    """The log has no gaps and as many events as were counted, and each follower of the streams read all of them once."""
    numbers, now, said = [e["sequence"] for e in books.events], books.now, []
    if numbers != list(range(1, len(numbers) + 1)) or len({e["id"] for e in books.events}) != len(numbers):
        said.append("the numbers of the events are not dense")
    counted, newest = now.total("shootd_events_total"), now.total("shootd_events_newest_sequence")
    if not counted == newest == len(numbers):
        said.append(f"{counted:.0f} events were counted, the newest is {newest:.0f}, {len(numbers)} are in the log")
    wanted = [n for n in numbers if world.begin < n <= world.newest]
    for follower in world.followers:
        times = collections.Counter(follower.ids)
        if [n for n in follower.ids if n <= world.newest] != wanted:
            said.append(f"{follower.name} read {len(follower.ids)} events of {len(wanted)}; missing {[n for n in wanted if not times[n]][:10]}, "
                        f"twice {[n for n in times if times[n] > 1][:10]}")
    return said


def wants(types, event):
    """A test event goes only to the tested webhook."""
    return event["type"] != "webhook.test" and (not types or any(re.fullmatch(t.replace(".", r"\.").replace("*", ".*"), event["type"]) for t in types))


def deliveries(books, world):
    """Each matching event has one delivery, which succeeded, with the attempts that the receiver saw."""
    said = []
    for hook in world.hooks:
        to, rows = hook["url"].rsplit("/", 1)[1], books.deliveries[hook["id"]]
        wanted = {e["id"] for e in books.events if e["sequence"] > world.begin and wants(hook["event_types"], e)}
        if set(rows) != wanted:
            said.append(f"webhook {to}: {len(wanted)} events match, {len(rows)} have a delivery")
        for id in wanted & set(rows):
            row, came = rows[id], world.receiver.got[to, id]
            if row["status"] != "delivered" or sum(c in (204, "slow") for c in came) != 1 or row["attempt"] != len(came):
                said.append(f"webhook {to}: {row['event_type']} {id} is {row['status']} after {row['attempt']} attempts, the receiver answered {came}")
    return said


def audit(books, world):
    """Each accepted create has one entry."""
    told = collections.Counter(e["operation_id"] for e in books.audit)
    return [f"the audit log tells {told[id]} times of the create of {name}" for name, id in world.ledger.creates.items() if told[id] != 1]
