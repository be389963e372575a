"""Lists of clusters: filters, orders, pages that lose nothing (HT-35 to HT-38), short forms, ETags, counts, issues."""

import threading
from datetime import datetime, timedelta, timezone

import pytest

import contract
import harness
import web
from harness import PROJECT_ID, SANITIZED, size, wait_until

QUIET = "{active: 200ms, idle: 1h, discovery: 500ms}"
OTHER_ID = "ffeeddccbbaa99887766554433221100"


def page(d, cursor=None, **params):
    answer = d.http.get("/v1/clusters", params={**params, **({"cursor": cursor} if cursor else {})})
    assert answer.status_code == 200, answer.text
    return answer.json()


def walk(d, between=lambda i: None, **params):
    """All items, page by page."""
    items, cursor, i = [], None, 0
    while True:
        got = page(d, cursor, **params)
        items += got["items"]
        cursor = got["next_cursor"]
        if cursor is None:
            return items
        between(i)
        i += 1


def names(d, **params):
    return [c["name"] for c in walk(d, **params)]


def count(d):
    return d.http.get("/v1/summary").json()["total"]


# ---- a small set of different clusters --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    directory = tmp_path_factory.mktemp("lists")
    sim = harness.Sim(directory, region=["Sto2", "Fra1"], project=[PROJECT_ID, OTHER_ID])
    sim.post("settings", auto_bootstrap=True)
    sim.http.put("/_sim/state", json={"bootstrapped": [], "shoots": [
        {"name": "old", "spec": {"kubernetes_version": "1.33.6"}},
        {"name": "older", "spec": {"kubernetes_version": "1.32.10"}},
        {"name": "far", "region": "Fra1", "project": OTHER_ID, "spec": {"kubernetes_version": "1.34.2"}},
        {"name": "asleep", "state": "hibernated"}, {"name": "broken", "state": "failed"}]})
    d = harness.Shootd(directory / "shootd", sim.url, polling=QUIET,
                       projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Fra1", OTHER_ID)]).start()
    wait_until(lambda: count(d) == 5, what="discovery")
    for name, labels in (("web", {"team": "web", "stage": "prod"}), ("api", {"team": "web", "stage": ""}), ("db", {"team": "db"})):
        d.wait_operation(d.create(name, labels=labels)["operation"]["id"])
    wait_until(lambda: d.http.get("/v1/summary").json()["settling"] == 0, what="settled")
    wait_until(lambda: all("expires_at" in c and (c["expires_at"] or c["kubernetes_version"] not in ("1.33.6", "1.32.10", "1.34.2"))
                           for c in walk(d, fields="summary")), what="the catalogs")
    yield sim, d
    d.stop()
    sim.stop()


@pytest.mark.parametrize("params, wanted", [
    ({"label": "team=web"}, {"web", "api"}),
    ({"label": "team"}, {"web", "api", "db"}),
    ({"label": "team=web,stage=prod"}, {"web"}),
    ({"label": ["team=web", "stage"]}, {"web", "api"}),
    ({"label": ["team=web", "stage="]}, {"api"}),
    ({"label": "team=we"}, set()),
    ({"label": ["team=web", "team=db"]}, set()),
    ({"label": "team", "q": "D", "phase": "ready,failed"}, {"web", "db"}),
    ({"expiring_before": "30d"}, {"old", "older"}),
    ({"expiring_before": "1d"}, set()),
    ({"expiring_before": "90d"}, {"old", "older", "far"}),
    ({"expiring_before": "90d", "region": "Fra1"}, {"far"}),
    ({"expiring_before": (datetime.now(timezone.utc) + timedelta(days=40)).strftime("%Y-%m-%d")}, {"old", "older"}),
    ({"expiring_before": (datetime.now(timezone.utc) + timedelta(days=70)).isoformat(timespec="seconds")}, {"old", "older", "far"}),
    ({"created_after": "1h", "label": "team"}, {"web", "api", "db"}),
    ({"created_after": "2000-01-01", "phase": "failed"}, {"broken"}),
    ({"created_before": "2000-01-01T00:00:00Z"}, set()),
    ({"created_before": "0s", "phase": "failed"}, {"broken"}),
    ({"age": "0s", "phase": "failed"}, {"broken"}),
    ({"age": "1h"}, set()),
    ({"phase": "failed"}, {"broken"}),
    ({"phase": "hibernated", "sort": "-name"}, {"asleep"}),
])
def test_ht38_filters(small, params, wanted):
    _, d = small
    found = names(d, **params)
    assert set(found) == wanted and len(found) == len(wanted)
    for more in ({}, {"limit": 1}, {"sort": "-name", "limit": 1}):
        assert page(d, **{**params, **more})["total"] == len(wanted), more
    assert names(d, limit=1, sort="name", **{k: v for k, v in params.items() if k != "sort"}) == sorted(wanted)


def number(version):
    return [int(part) for part in (version or "0").split(".")]


PHASES = ["failed", "retrying", "degraded", "unknown", "deleting", "pending", "creating", "updating", "waking", "hibernating",
          "hibernated", "ready"]
REGIONS = {"team-a": "Sto2", "team-b": "Fra1"}
SEVERITIES = ["critical", "warning", "info"]
KEYS = {
    "name": lambda c: c["name"], "project": lambda c: c["project"], "region": lambda c: REGIONS[c["project"]],
    "phase": lambda c: PHASES.index(c["status"]["phase"]),
    "health": lambda c: ["unhealthy", "unknown", "progressing", "healthy"].index(c["status"]["health"]),
    "kubernetes_version": lambda c: number(c["kubernetes_version"]), "created_at": lambda c: c["created_at"],
    "updated_at": lambda c: c["updated_at"], "observed_at": lambda c: c["status"]["observed_at"],
    "expires_at": lambda c: c["expires_at"] or "9999",
    "trouble": lambda c: (SEVERITIES.index(c["issue"]["severity"]), c["issue"]["since"] or "~") if c["issue"] else (len(SEVERITIES), "~"),
}


def between_polls(sim, d, check):
    """Runs check() while reads of Cleura hang. A failure counts only if nothing changed meanwhile."""
    for operation in ("list_shoots", "get_shoot"):
        sim.fault(operation, "delay", delay_ms=600000, count=0)
    try:
        for _ in range(20):
            before = walk(d, fields="summary")
            try:
                return check()
            except AssertionError:
                if walk(d, fields="summary") == before:
                    raise
    finally:
        sim.clear_faults()
    raise AssertionError("it changed all the time")


@pytest.mark.parametrize("sort", [*KEYS, *("-" + k for k in KEYS), "phase,-kubernetes_version", "-region,kubernetes_version,-name", "health,project,-created_at,name"])
def test_ht38_orders(small, sort):
    sim, d = small

    def is_in_order():
        items = walk(d, fields="summary")
        wanted = sorted(items, key=lambda c: (c["project"], c["name"]))
        for key in reversed(sort.split(",")):
            wanted.sort(key=KEYS[key.lstrip("-")], reverse=key.startswith("-"))  # equal items retain their order
        for limit in (1, 3, 8, 1000):
            assert [c["name"] for c in walk(d, sort=sort, limit=limit, fields="summary")] == [c["name"] for c in wanted], limit
    between_polls(sim, d, is_in_order)


def list_parameters():
    """Each list among the query parameters of the contract: operation, name, values."""
    for id, (method, path) in contract.OPERATIONS.items():
        for parameter in map(contract.resolve, contract.described(id).get("parameters", [])):
            if method == "get" and parameter["in"] == "query" and parameter["schema"].get("type") == "array":
                yield id, path, parameter["name"], contract.resolve(parameter["schema"]["items"]).get("enum")


def test_a_list_may_be_given_in_parts(small):
    """Generators of clients send a list as repeated parameters, with commas, or both."""
    _, d = small
    seen = set()
    for id, path, name, values in list_parameters():
        seen.add(name)
        one, other, third = (values * 3)[:3] if values else ("a=b", "c", "d")
        where = path.format(project="team-a", cluster="asleep")
        forms = [d.http.get(f"{where}?{query}") for query in
                 (f"{name}={one},{other},{third}", f"{name}={one}&{name}={other}&{name}={third}", f"{name}={one},{other}&{name}={third}")]
        assert [form.status_code for form in forms] == [200] * 3, (id, name, forms[1].text)
        found = [[[item.get(key) for key in ("id", "sequence", "cluster", "code")] for item in form.json()["items"]] for form in forms]
        assert found[0] == found[1] == found[2], (id, name)
        if values:
            refused = d.http.get(f"{where}?{name}={one}&{name}=odd")
            assert refused.status_code == 400 and refused.json()["errors"][0]["code"] == "unknown_value", (id, name)
    assert seen == {"phase", "health", "label", "status", "type", "severity", "source", "outcome", "state"}
    both = names(d, phase=["hibernated", "failed"])
    assert sorted(both) == ["asleep", "broken"]


def test_unknown_orders_are_refused(small):
    _, d = small
    refused = d.http.get("/v1/clusters", params={"sort": "colour"})
    assert refused.status_code == 400
    fault = refused.json()["errors"][0]
    assert fault["parameter"] == "sort" and set(fault["valid"]) == set(KEYS)
    for sort in ("name,-name", "name,project,region,phase,health", "", "name,"):
        assert d.http.get("/v1/clusters", params={"sort": sort}).status_code == 400, sort


def test_malformed_filters_say_how_they_are_written(small):
    _, d = small
    for params, word in (({"label": "team!=web"}, "key=value"), ({"label": "=web"}, "key=value"), ({"label": "a,,b"}, "key=value"),
                         ({"expiring_before": "soon"}, "30d"), ({"expiring_before": "2026-13-01"}, "30d"),
                         ({"created_before": "2026-02-30"}, "7d"), ({"created_after": "2026-02-30T00:00:00Z"}, "7d")):
        refused = d.http.get("/v1/clusters", params=params)
        assert refused.status_code == 400 and word in refused.json()["errors"][0]["detail"], (params, refused.text)
    assert d.http.get("/v1/operations", params={"label": "a"}).status_code == 400, "it is of clusters only"
    assert d.http.get("/v1/clusters", params={"created_after": "2026-02-28t00:00:00z"}).status_code == 200


SHORT = {tuple(path.split(".")) for path in (
    "id project name managed labels drifted kubernetes_version node_pool_count expires_at status.phase status.health status.trouble_since status.progress "
    "status.message status.summary status.settling status.observed_at status.stale revision created_at updated_at").split()}


def leaves(value, path=()):
    """(path, value) of each member that is no object; labels are one value."""
    for name, inner in value.items():
        if isinstance(inner, dict) and name != "labels":
            yield from leaves(inner, (*path, name))
        else:
            yield (*path, name), inner


def at(value, path):
    for name in path:
        value = value[name]
    return value


def test_short_form_is_the_long_one_in_short(small):
    """What the short form has is at the same place in the long form, with the same value."""
    sim, d = small

    def is_short():
        full, short = walk(d), walk(d, fields="summary")
        assert [c["id"] for c in full] == [c["id"] for c in short]
        for long, brief in zip(full, short):
            places = dict(leaves(brief))
            alone = d.http.get(f"/v1/projects/{brief['project']}/clusters/{brief['name']}").json()
            assert {path for path in places if path[0] not in ("operation", "issue")} == SHORT and "issue" in brief and not any(isinstance(value, list) for value in places.values())
            assert {path: at(long, path) for path in places} == places == {path: at(alone, path) for path in places}
            assert long["kubernetes_version"] == long["observed"]["kubernetes_version"] and long["node_pool_count"] == len(long["observed"]["node_pools"])
            assert long["drifted"] == bool(long["drift"])
        assert any(c["operation"] for c in short) and any(c["operation"] is None for c in short) and any(c["expires_at"] for c in short)
        assert page(d, fields="full") == page(d)
    between_polls(sim, d, is_short)


def test_ht37_pages_tell_the_number_of_all(small):
    """The total is that of the caller's clusters that fit, on each page, whatever the order; a page changes with it."""
    _, d = small
    for params in ({}, {"sort": "name"}, {"q": "e"}, {"q": "e", "sort": "-name"}):
        everything = page(d, **params)
        seen, cursor = [], None
        while cursor or not seen:
            part = page(d, cursor, limit=2, **params)
            seen, cursor = seen + part["items"], part["next_cursor"]
            assert part["total"] == len(everything["items"]) == everything["total"], params
        assert len(seen) == part["total"]
    assert page(d, project="team-b")["total"] == page(d, project="team-b", region="Fra1")["total"] == 1 and page(d, project="team-a,team-b")["total"] == 8
    assert page(d, project="nobody")["total"] == page(d, q="nobody")["total"] == 0
    assert d.http.get("/v1/projects/team-b/clusters").json()["total"] == d.http.get("/v1/projects/team-b/clusters?phase=ready").json()["total"] == 1
    token = d.http.post("/v1/tokens", json={"name": "few", "role": "viewer", "projects": ["team-b"]}).json()["token"]
    with web.Client(base_url=d.url, timeout=30, headers={"Authorization": "Bearer " + token}) as client:
        assert client.get("/v1/clusters").json()["total"] == client.get("/v1/clusters?sort=name").json()["total"] == client.get("/v1/clusters?q=a").json()["total"] == 1


def test_counts(small):
    _, d = small
    items = walk(d, fields="summary")
    counts = d.http.get("/v1/summary").json()
    for key, member in (("by_phase", ("status", "phase")), ("by_health", ("status", "health")), ("by_project", ("project",))):
        for word, number_of in counts[key].items():
            assert number_of == sum(at(c, member) == word for c in items), (key, word)
    assert counts["total"] == len(items) == 8 and counts["managed"] == 3 and counts["unmanaged"] == 5
    assert counts["by_kubernetes_version"] == {m: sum(c["kubernetes_version"].startswith(m + ".") for c in items)
                                    for m in {c["kubernetes_version"].rsplit(".", 1)[0] for c in items}}
    assert counts["expiring_30d"] == 2 and counts["expired"] == 0 and counts["open_operations"] == 0
    assert d.http.get("/v1/summary", params={"project": "team-b"}).json()["by_project"] == {"team-b": 1}
    token = d.http.post("/v1/tokens", json={"name": "b", "role": "viewer", "projects": ["team-b"]}).json()["token"]
    with web.Client(base_url=d.url, timeout=30, headers={"Authorization": "Bearer " + token}) as viewer:
        seen = viewer.get("/v1/summary").json()
        assert seen["total"] == 1 and seen["by_project"] == {"team-b": 1} and seen["by_kubernetes_version"] == {"1.34": 1}
        assert [c["name"] for c in viewer.get("/v1/clusters", params={"sort": "name"}).json()["items"]] == ["far"]
        assert viewer.get("/v1/clusters", params={"project": "team-a"}).json()["items"] == []


def test_pages_have_tags(small):
    _, d = small
    for path in ("/v1/clusters?limit=2", "/v1/clusters?sort=-kubernetes_version&fields=summary", d.clusters_path(), "/v1/projects", "/v1/operations",
                 "/v1/tokens", "/v1/webhooks", "/v1/accounts", "/v1/summary", d.clusters_path("old") + "/issues"):
        def twice():
            first = d.http.get(path)
            again = d.http.get(path, headers={"If-None-Match": first.headers["ETag"]})
            return (first, again) if again.status_code == 304 else None
        first, again = wait_until(twice, what=f"two reads of {path} with no look at Cleura between them")
        assert not again.content and again.headers["ETag"] == first.headers["ETag"], path
        assert again.headers["Cache-Control"] == first.headers["Cache-Control"]
        assert d.http.get(path, headers={"If-Match": '"other"'}).status_code == 412
    tag = d.http.get(d.clusters_path(), params={"label": "team=db"}).headers["ETag"]
    d.http.patch(d.clusters_path("db"), json={"description": "changed"})
    changed = d.http.get(d.clusters_path(), params={"label": "team=db"}, headers={"If-None-Match": tag})
    assert changed.status_code == 200 and changed.json()["items"][0]["description"] == "changed"


def test_ht24_ht28_pages_tell_their_age(small):
    _, d = small
    for path in ("/v1/clusters", "/v1/clusters?sort=-name&limit=3", "/v1/clusters?fields=summary", d.clusters_path()):
        before = datetime.now(timezone.utc)
        answer = d.http.get(path)
        oldest = min(datetime.fromisoformat((c.get("status") or c)["observed_at"]) for c in answer.json()["items"])
        age, slack = (before - oldest).total_seconds(), answer.elapsed.total_seconds() + 2
        assert answer.headers["Cache-Status"] == "shootd; hit" and -2 < int(answer.headers["Age"]) - age < slack, path
        fresh = d.http.get(path, headers={"Cache-Control": "no-cache"})
        assert fresh.headers["Cache-Status"] == "shootd; fwd=request; stored" and int(fresh.headers["Age"]) <= fresh.elapsed.total_seconds() + 1, path
    assert d.http.get("/v1/clusters?q=nobody").headers["Age"] == "0"
    for path in ("/v1/clusters?q=", "/v1/clusters?limit=0"):
        assert not {"age", "cache-status"} & set(d.http.get(path).headers), "not on errors"


def test_ht36_cursors_are_of_one_list(small):
    _, d = small
    cursor = page(d, limit=2, sort="name")["next_cursor"]
    assert page(d, cursor, limit=5, sort="name", fields="summary")["items"], "limit and fields may change"
    for path, params in (("/v1/clusters", {}), ("/v1/clusters", {"sort": "-name"}), ("/v1/clusters", {"sort": "name", "phase": "ready"}),
                         (d.clusters_path(), {"sort": "name"}), ("/v1/operations", {})):
        refused = d.http.get(path, params={"cursor": cursor, **params})
        assert refused.status_code == 400 and refused.json()["errors"][0]["code"] == "invalid_cursor", (path, params)
    for forged in (cursor[:-1] + ("A" if cursor[-1] != "A" else "B"), cursor + "AAAA", "x", cursor.upper()):
        assert d.http.get("/v1/clusters", params={"cursor": forged, "sort": "name"}).status_code == 400


def test_ht36_cursors_live_over_restarts(small):
    _, d = small
    everything = names(d, sort="-kubernetes_version")
    first = page(d, limit=3, sort="-kubernetes_version")
    operations = d.http.get("/v1/operations", params={"limit": 1}).json()
    d.stop()
    d.start()
    rest = page(d, first["next_cursor"], sort="-kubernetes_version")
    assert [c["name"] for c in first["items"] + rest["items"]] == everything and rest["next_cursor"] is None
    assert len(d.http.get("/v1/operations", params={"cursor": operations["next_cursor"]}).json()["items"]) == 2


def test_cursors_end_with_the_seal_key(small):
    _, d = small
    cursor = page(d, limit=3)["next_cursor"]
    d.stop()
    key = d.state / "seal.key"
    kept = key.read_bytes()
    key.write_bytes(bytes(32))
    try:
        d.start()
        assert d.http.get("/v1/clusters", params={"cursor": cursor}).status_code == 400
    finally:
        d.stop()
        key.write_bytes(kept)
        d.start()
    assert page(d, cursor)["items"]


# ---- issues -----------------------------------------------------------------------------------------------------


def issues(d, name, project="team-a"):
    answer = d.http.get(d.clusters_path(name, project) + "/issues")
    assert answer.status_code == 200, answer.text
    assert answer.json()["next_cursor"] is None
    return {i["code"]: i for i in answer.json()["items"]}


def test_issues_of_versions(small):
    _, d = small
    wait_until(lambda: d.http.get("/v1/summary").json()["stale"] == 0, what="a first poll after the restarts above")
    old = issues(d, "old")["version_expiring"]
    assert old["severity"] == "warning" and old["subject"] == "kubernetes 1.33.6" and old["target_version"] == "1.33.7"
    assert "adopted" in old["action"] and old["expires_at"]
    assert issues(d, "far", "team-b")["version_expiring"]["severity"] == "info"
    assert issues(d, "web") == {} and issues(d, "asleep") == {}
    assert d.http.get(d.clusters_path("nobody") + "/issues").status_code == 404


def test_issues_of_failures_and_of_an_outage(sim, make_shootd):
    sim.post("lifecycle", shoot="bad", operation="create", outcome="failed", codes=["ERR_INFRA_QUOTA_EXCEEDED"], description="no more cores")
    sim.post("settings", hibernation_blocked=True)
    d = make_shootd(sim.url).start()
    bad, good = d.create("bad"), d.create("good")
    d.wait_operation(bad["operation"]["id"])
    d.wait_operation(good["operation"]["id"])
    found = wait_until(lambda: (f := issues(d, "bad")).keys() >= {"cluster_failed"} and f, what="the issue of the failure")
    assert not {"upstream_error", "operation_failed"} & set(found), "one fault is one issue"
    failed = found["cluster_failed"]
    assert (failed["severity"], failed["subject"], failed["codes"]) == ("critical", "ERR_INFRA_QUOTA_EXCEEDED", ["ERR_INFRA_QUOTA_EXCEEDED"])
    assert "quota" in failed["action"] and failed["action"].endswith("Then retry.") and "by itself" not in failed["action"]
    assert failed["operation_id"] == bad["operation"]["id"] and "no more cores" in failed["description"]
    assert wait_until(lambda: issues(d, "good").get("hibernation_blocked"), what="the constraint")["subject"] == "HibernationPossible"
    sim.post("down", down=True)
    def outage():
        return [issue for issue in d.http.get("/v1/issues").json()["items"] if issue["source"] in ("account", "project", "observation")]
    away = wait_until(outage, timeout=60, what="the issue of the outage")
    wait_until(lambda: d.http.get("/v1/summary").json()["stale"] == 2, timeout=30, what="stale")
    assert [(i["code"], i["subject"], i["project"], i["cluster"], i["responsible"]) for i in outage()] == [("account_unreachable", "main", None, None, "cleura")]
    assert away[0]["since"] and "wait" in away[0]["remedy"] and not issues(d, "good").get("observation_stale"), "an outage is one issue, not one per cluster"
    sim.post("down", down=False)
    wait_until(lambda: not outage(), timeout=60, what="the end of the outage")


# ---- pages while clusters come and go ---------------------------------------------------------------------------


class Churn:
    """Makes and removes clusters at Cleura, and creates and cancels others through shootd, until it ends."""

    def __init__(self, sim, d):
        self.sim, self.d, self.over, self.rounds, self.faults = sim, d, threading.Event(), 0, []
        self.threads = [threading.Thread(target=self.run, args=(t,)) for t in "abcd"]

    def run(self, letter):
        i = 0
        with web.Client(base_url=self.d.url, timeout=60, headers={"Authorization": "Bearer " + self.d.token()}) as http:
            while not self.over.is_set():
                name = f"live-{i * 371 % 4000:04}{letter}"  # the name lies between the names that stay
                made = http.post(self.d.clusters_path(), json={"name": name})
                taken = http.delete(self.d.clusters_path(name))
                if made.status_code != 202 or taken.status_code not in (202, 404):
                    self.faults.append((made.text, taken.text))
                self.sim.http.delete(f"/_sim/shoots/gone-{letter}-{i:04}")
                i += 1
                self.rounds += 1
                self.over.wait(0.01)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *args):
        self.over.set()
        for thread in self.threads:
            thread.join()
        assert not self.faults, self.faults


def test_ht35_pages_lose_nothing_while_clusters_come_and_go(sim, make_shootd):
    """A cluster that exists throughout appears once in every walk, in order, whatever else changes."""
    live, kept = (200, 50) if SANITIZED else size((400, 80), (2000, 400))  # the simulator is slower, too
    sim.post("shoots", count=live, prefix="live", state="ready")
    sim.post("shoots", count=kept, prefix="kept", state="hibernated")
    for letter in "abcd":
        sim.post("shoots", count=25, prefix=f"gone-{letter}", state="ready")
    d = make_shootd(sim.url, polling="{active: 1s, idle: 2s, discovery: 2s}").start()
    wait_until(lambda: count(d) == live + kept + 100, timeout=60, what="discovery")
    lives = {f"live-{i:04}" for i in range(live)} | {f"kept-{i:04}" for i in range(kept)}
    few = {f"live-01{i:02}" for i in range(100)}
    others = set()

    def check(items, among):
        found = [c["name"] for c in items]
        ours = [n for n in found if n in among]
        assert len(ours) == len(set(ours)) == len(among)
        assert len(found) == len(set(found)), "nobody is seen twice, living or not"
        others.update(set(found) - lives)
        return ours

    def look_at_everything(between=lambda i: None):
        assert check(walk(d, between, limit=1000), lives) == sorted(lives)
        assert check(walk(d, between, limit=1000, sort="name", fields="summary"), lives) == sorted(lives)
        newest = walk(d, between, limit=1000, sort="-created_at", fields="summary")
        check(newest, lives)
        stamps = [c["created_at"] for c in newest]
        assert stamps == sorted(stamps, reverse=True)
        assert check(walk(d, between, limit=7, sort="name", q="live-01", fields="summary"), few) == sorted(few)
        assert check(walk(d, between, limit=7, q="live-01", fields="summary"), few) == sorted(few)
        check(walk(d, between, limit=7, sort="-created_at", q="live-01", fields="summary"), few)

    def some_came_and_some_went():
        look_at_everything()
        now = {c["name"] for c in walk(d, limit=1000, fields="summary")}
        came = any(n.startswith("live-") for n in others)
        return churn.rounds >= 24 and came and others - now

    with Churn(sim, d) as churn:
        wait_until(some_came_and_some_went, timeout=120, what="enough to come and go")

    def restart(i):
        if i == 1:
            d.kill()
            d.start()

    look_at_everything(restart)
