"""What has to hold when the load is over. Each check gives sentences about what does not."""

import collections
import re

from harness import wait_until

SAMPLE = re.compile(r"([a-z_:]+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-z_]+)="([^"]*)"')
# Operations of shootd and what the simulator calls them.
CALLS = {"catalog": "cloud_profiles", "list": "list_shoots", "get": "get_shoot", "create": "create_shoot", "delete": "delete_shoot",
         "kubeconfig": "kubeconfig_v3", "patch": "edit_shoot", "pool_create": "create_worker", "pool_update": "update_worker",
         "pool_delete": "delete_worker", "hibernate": "hibernate", "wake": "wake", "reconcile": "reconcile", "retry": "retry",
         "monitoring": "monitoring", "nodes": "nodes_overview", "upgrade_check": "upgrade_check", "own_projects": "current_projects",
         "quota": "quota", "name_taken": "name_taken", "bootstrap": "bootstrap"}
OUTCOMES = {"ok": range(200, 300), "absent": [404], "conflict": [409], "refused": [400, 422], "throttled": [429]}
WRITES = {"create", "delete", "patch", "pool_create", "pool_update", "pool_delete", "hibernate", "wake", "reconcile", "retry", "bootstrap"}
AT_REST = ("ready", "hibernated", "degraded", "failed")


def metrics(d):
    """By name: by labels, sorted: value."""
    found = collections.defaultdict(dict)
    for line in d.http.get("/metrics").text.splitlines():
        if not line.startswith("#"):
            name, labels, value = SAMPLE.fullmatch(line).groups()
            found[name][tuple(sorted(LABEL.findall(labels or "")))] = float(value)
    return found


def total(found, name, **labels):
    return sum(v for ls, v in found[name].items() if set(labels.items()) <= set(ls))


def by_labels(found, name, *labels):
    return collections.Counter({tuple(dict(ls)[label] for label in labels): int(v) for ls, v in found[name].items()})


def pages(d, path, **params):
    items, cursor = [], None
    while True:
        page = d.http.get(path, params={"limit": 1000, **params, **({"cursor": cursor} if cursor else {})}).json()
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return items


def in_time(check, seconds):
    """What check() still says when the time is over: counters may be a moment behind what they count."""
    said = []

    def quiet():
        said[:] = check()
        return not said
    try:
        wait_until(quiet, timeout=seconds, interval=0.2, what="the counters")
    except AssertionError:
        pass
    return said


# ---- everything comes to rest ------------------------------------------------------------------------------------------

def unrest(d):
    """Why it is not quiet yet."""
    now = metrics(d)
    busy = [f"{c['name']} is {c['phase']}, settling: {c['settling']}" for c in pages(d, "/v1/clusters", fields="summary")
            if c["settling"] or c["phase"] not in AT_REST]
    busy += [f"operation {o['id']} of {o['cluster']} is {o['status']}: {o['message']}" for o in pages(d, "/v1/operations", status="pending,running")]
    busy += [f"{name} is {total(now, name)}" for name in
             ("shootd_webhook_pending", "shootd_webhook_in_flight", "shootd_http_parked", "shootd_operations_open", "shootd_upstream_breakers_open")
             if total(now, name)]
    return busy


# ---- counters ----------------------------------------------------------------------------------------------------------

def requests(d, before, ledger):
    """Each answer that a client has read is counted once, under the same method, route and status; of those that clients left, at most one each."""
    key = "shootd_http_requests_total", "method", "route", "code"
    counted = by_labels(metrics(d), *key) - by_labels(before, *key)
    faults = []
    for method, route, code in {*counted, *((m, r, str(s)) for m, r, s in ledger.answers)}:
        if route == "/metrics":
            continue
        read, said = ledger.answers[method, route, int(code)], counted[method, route, code]
        if not read <= said <= read + ledger.left[method, route]:
            faults.append(f"{method} {route} {code}: clients read {read} answers, shootd counted {said}")
    return faults


def upstream(d, log):
    """Calls by what was answered, as shootd and as the simulator counted them."""
    while log.read():
        pass
    found = metrics(d)
    now, faults = by_labels(found, "shootd_upstream_requests_total", "operation", "outcome"), []
    for ours, theirs in CALLS.items():
        unseen = now[ours, "expired"] + log.unseen[theirs]  # cut off: perhaps answered in the same moment
        for outcome, statuses in OUTCOMES.items():
            sent = sum(log.statuses[theirs, s] for s in statuses)
            if not 0 <= sent - now[ours, outcome] <= unseen:
                faults.append(f"{ours}: shootd counted {now[ours, outcome]} {outcome}, the simulator {sent}")
        lost = sum(n for (op, s), n in log.statuses.items() if op == theirs and (s == 0 or s >= 500))
        if ours in WRITES and now[ours, "uncertain"] != lost:
            faults.append(f"{ours}: shootd counted {now[ours, 'uncertain']} whose effect was unknown, the simulator lost {lost}")
    logins = sum(log.statuses["create_token", s] for s in range(200, 300))
    if logins != total(found, "shootd_upstream_logins_total", result="ok"):
        faults.append(f"the simulator gave {logins} tokens, shootd counted {total(found, 'shootd_upstream_logins_total', result='ok')} logins")
    return faults


def attempts(d, receiver):
    now = by_labels(metrics(d), "shootd_webhook_attempts_total", "outcome")
    return [f"webhooks: shootd counted {now[o,]} attempts that ended as {o}, the receiver {receiver.outcomes[o]}"
            for o in {*receiver.outcomes, *(o for o, in now)} if now[o,] != receiver.outcomes[o]]


def streams(d, ledger, followers):
    now = metrics(d)
    opened = ledger.answers["GET", "/v1/events", 200] and ledger.did["event streams"]
    ended, sent = total(now, "shootd_sse_streams_total"), total(now, "shootd_sse_events_sent_total")
    read = sum(len(f.ids) for f in followers)
    faults = [f"{total(now, 'shootd_sse_streams'):.0f} streams are open"] if total(now, "shootd_sse_streams") else []
    if ended != opened:
        faults.append(f"{opened} streams were opened, {ended:.0f} have ended")
    if sent < read:
        faults.append(f"{read} events were read from streams, {sent:.0f} were sent")
    return faults


def counters(d, before):
    """What has to be as it was, whatever went on."""
    now = metrics(d)
    names = ("shootd_store_errors_total", "shootd_store_rows_put_aside", "shootd_projects_set_aside", "shootd_upstream_rows_refused_total",
             "shootd_http_connections_refused_total", "shootd_store_queue_depth")
    faults = [f"{name} rose from {total(before, name):.0f} to {total(now, name):.0f}" for name in names if total(now, name) > total(before, name)]
    errors = total(now, "shootd_log_messages_total", level="error")
    if errors:
        faults.append(f"{errors:.0f} errors in the log: {re.findall(r'.*level=error.*', d.log())[:5]}")
    endpoints = total(now, "shootd_webhook_endpoints"), total(before, "shootd_webhook_endpoints")
    if endpoints[0] != endpoints[1]:
        faults.append(f"{endpoints[0]:.0f} webhooks, before {endpoints[1]:.0f}")
    return faults


# ---- nothing was lost, nothing was done twice -----------------------------------------------------------------------------

def operations(d, sim, ledger, events):
    """Each one that was told of is found, has ended, and one event tells of its end; each cluster was created once."""
    rows = {o["id"]: o for o in pages(d, "/v1/operations")}
    ends = collections.Counter(e["data"]["operation_id"] for e in events if e["type"] in ("operation.succeeded", "operation.failed"))
    faults, creates = [], sim.counters()["creates"]
    for id, (kind, name) in ledger.operations.items():
        if id not in rows or rows[id]["status"] not in ("succeeded", "failed", "cancelled"):
            faults.append(f"operation {id} ({kind} of {name}) is {rows.get(id, 'lost')}")
        elif ends[id] != 1:
            faults.append(f"{ends[id]} events tell of the end of operation {id} ({kind} of {name})")
    for name, id in ledger.creates.items():
        done = rows.get(id, {}).get("status")
        if creates.get(name, 0) > 1 or (done == "succeeded" and creates.get(name) != 1):
            faults.append(f"{name} was created {creates.get(name, 0)} times, its operation is {done}")
    odd = [o for o in rows.values() if o["status"] == "failed" and o["error"]["code"] == "internal_error"]
    unknown = set(creates) - set(ledger.creates)
    return faults + [f"failed by itself: {o}" for o in odd] + [f"nobody asked for {name}" for name in unknown]


def event_log(d, events, before):
    """Dense, and as many as were counted."""
    faults = []
    if [e["sequence"] for e in events] != list(range(1, len(events) + 1)) or len({e["id"] for e in events}) != len(events):
        faults.append("the numbers of the events are not dense")
    now = metrics(d)
    counted = total(now, "shootd_events_total")
    if counted != total(now, "shootd_events_newest_sequence") or counted != len(events):
        faults.append(f"{counted:.0f} events were counted, {len(events)} are in the log")
    return faults


def followed(follower, begin, events):
    wanted = [e["sequence"] for e in events if e["sequence"] > begin]
    if follower.ids == wanted:
        return []
    missing = sorted(set(wanted) - set(follower.ids))
    return [f"{follower.name} read {len(follower.ids)} events of {len(wanted)}; missing {missing[:10]}, "
            f"twice {[i for i, n in collections.Counter(follower.ids).items() if n > 1][:10]}"]


def wants(types, event):
    """A test goes to the webhook that is tested, and to no other."""
    return event["type"] != "webhook.test" and (not types or any(re.fullmatch(t.replace(".", r"\.").replace("*", ".*"), event["type"]) for t in types))


def deliveries(d, hook, receiver, begin, events):
    """One delivery of each event that matches, delivered, with the attempts that the receiver saw."""
    wanted = {e["id"] for e in events if e["sequence"] > begin and wants(hook["event_types"], e)}
    rows = {r["event_id"]: r for r in pages(d, f"/v1/webhooks/{hook['id']}/deliveries")}
    to, faults = hook["url"].rsplit("/", 1)[1], []
    if set(rows) != wanted:
        faults.append(f"webhook {to}: {len(wanted)} events match, {len(rows)} have a delivery")
    for id in wanted & set(rows):
        row, came = rows[id], receiver.got[to, id]
        good = [c for c in came if c in (204, "slow")]
        if row["status"] != "delivered" or len(good) != 1 or row["attempt"] != len(came):
            faults.append(f"webhook {to}: {row['event_type']} {id} is {row['status']} after {row['attempt']} attempts, the receiver answered {came}")
    return faults[:20]


def audit(d, ledger):
    """Each create that was accepted is told once."""
    told = collections.Counter(e["operation_id"] for e in pages(d, "/v1/audit", action="createCluster,putCluster", outcome="success"))
    return [f"the audit log tells {told[id]} times of the create of {name}" for name, id in ledger.creates.items() if told[id] != 1]
