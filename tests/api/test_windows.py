"""Events and the audit log by time, and newest first."""

import time
from datetime import datetime, timezone

import pytest


def now():
    return datetime.now(timezone.utc).isoformat()


@pytest.fixture(scope="module")
def d(tmp_path_factory):
    import harness
    directory = tmp_path_factory.mktemp("windows")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start().wait_upstream()
    for name in ("one", "two"):
        d.create(name)
        d.wait_phase(name, "ready")
        time.sleep(0.01)
        d.moment = {**getattr(d, "moment", {}), name: now()}
        time.sleep(0.01)
    yield d
    d.stop()
    sim.stop()


def events(d, path="/v1/events", **params):
    """All pages with two events each; returns the events and the last page."""
    found, cursor = [], None
    while True:
        page = d.http.get(path, params={**params, "limit": 2, **({"cursor": cursor} if cursor else {})})
        assert page.status_code == 200, page.text
        found += page.json()["items"]
        cursor = page.json()["next_cursor"]
        if not cursor:
            return [e["sequence"] for e in found], page.json()


def test_the_newest_first(d):
    oldest, last = events(d)
    newest, page = events(d, order="desc")
    assert newest == oldest[::-1] and len(newest) >= 8
    assert page["last_sequence"] == last["newest_sequence"], "where who shows them goes on"
    for params, path in (({"cluster": "two"}, "/v1/events"), ({"project": "team-a"}, "/v1/events"), ({"type": "cluster.*"}, "/v1/events"),
                         ({}, d.clusters_path("two") + "/events")):
        assert events(d, path, order="desc", **params)[0] == events(d, path, order="asc", **params)[0][::-1] != []


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_windows_of_time(d, order):
    everything = {e["sequence"]: e["timestamp"] for e in d.events()}
    since, until = d.moment["one"], d.moment["two"]
    for params, wanted in (({"since": since}, lambda at: at >= since), ({"until": since}, lambda at: at < since),
                           ({"since": since, "until": until}, lambda at: since <= at < until), ({"since": until, "until": since}, lambda at: False)):
        found = events(d, order=order, **params)[0]
        assert sorted(found) == [n for n, at in everything.items() if wanted(datetime.fromisoformat(at).isoformat())], params
        assert found == sorted(found, reverse=order == "desc")
    assert len(events(d, since="1h")[0]) == len(everything) and events(d, until="1h")[0] == []


def test_a_page_that_ends_early_says_where(d):
    """A client that continues with `after` misses no event after the window."""
    found, page = events(d, until=d.moment["one"])
    assert page["last_sequence"] == found[-1] < page["newest_sequence"]


def test_the_audit_log(d):
    def actions(**params):
        answer = d.http.get("/v1/audit", params={"action": "createCluster", **params})
        assert answer.status_code == 200, answer.text
        return [e["cluster"] for e in answer.json()["items"]]
    assert actions() == ["two", "one"]
    assert actions(since=d.moment["one"]) == ["two"] and actions(until=d.moment["one"]) == ["one"]
    assert actions(since="1h") == ["two", "one"] and actions(until="1h") == []


def test_operations(d):
    deleted = d.http.delete(d.clusters_path("one")).json()["operation"]
    d.wait_operation(deleted["id"])

    def found(path="/v1/operations", **params):
        answer = d.http.get(path, params=params)
        assert answer.status_code == 200, answer.text
        return [(o["type"], o["cluster"]) for o in answer.json()["items"]]
    everything = [("delete", "one"), ("create", "two"), ("create", "one")]
    assert found() == found(since="1h") == found(type="create,delete") == everything
    assert found(since=d.moment["one"]) == everything[:2] and found(type="delete") == everything[:1] and found(since=now()) == []
    assert found(d.clusters_path("two") + "/operations", type="create", since=d.moment["one"]) == everything[1:2]
    refused = d.http.get("/v1/operations", params={"type": "destroy"})
    assert refused.status_code == 400 and "hibernate" in str(refused.json()["errors"])


@pytest.mark.parametrize("path, params, name, words", [
    ("/v1/events", {"since": "yesterday"}, "since", "how long ago"),
    ("/v1/events", {"until": "7w"}, "until", "how long ago"),
    ("/v1/audit", {"since": "99999999d"}, "since", "how long ago"),
    ("/v1/clusters", {"age": "old"}, "age", "how long ago"),
    ("/v1/clusters", {"created_before": "-1d"}, "created_before", "how long ago"),
    ("/v1/events", {"order": "up"}, "order", None),
    ("/v1/events", {"order": "desc", "after": "1"}, "after", "begins with the newest"),
    ("/v1/audit", {"order": "down"}, "order", None),
])
def test_faults(d, path, params, name, words):
    answer = d.http.get(path, params=params)
    assert answer.status_code == 400, answer.text
    [fault] = [e for e in answer.json()["errors"] if e["parameter"] == name]
    assert not words or words in fault["detail"]


def test_a_cursor_belongs_to_its_order(d):
    cursor = d.http.get("/v1/events", params={"limit": 1, "order": "desc"}).json()["next_cursor"]
    assert d.http.get("/v1/events", params={"limit": 1, "cursor": cursor}).status_code == 400


@pytest.mark.parametrize("params", [{"since": "1h"}, {"until": "1h"}, {"order": "desc"}])
def test_streams_have_neither(d, params):
    answer = d.http.get("/v1/events", params=params, headers={"Accept": "text/event-stream"})
    assert answer.status_code == 400 and answer.json()["errors"][0]["parameter"] == next(iter(params))
