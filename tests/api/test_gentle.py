"""Show 6: Cleura receives one call at a time, and few calls."""

import time

from harness import SANITIZED, wait_until
from streams import metric


def test_never_more_than_one_call_at_a_time(sim, make_shootd):
    sim.post("settings", latency_ms=20)
    d = make_shootd(sim.url).start()
    for i in range(10):
        d.create(f"c{i}")
    for i in range(10):
        d.wait_phase(f"c{i}", "ready")
        d.http.get(d.clusters_path(f"c{i}") + "/kubeconfig")
    counters = sim.counters()
    assert counters["max_in_flight"] == 1
    assert counters["creates"] == {f"c{i}": 1 for i in range(10)}


def test_idle_clusters_of_a_project_share_one_list_call(sim, make_shootd):
    clusters = 40 if SANITIZED else 200
    sim.post("shoots", count=clusters, prefix="idle", state="ready")
    d = make_shootd(sim.url, polling="{active: 200ms, idle: 2s, discovery: 60s}").start()
    wait_until(lambda: len(d.http.get("/v1/clusters", params={"limit": 1000}).json()["items"]) == clusters,
               what="discovery")
    wait_until(lambda: all(not c["status"]["settling"] for c in
                           d.http.get("/v1/clusters", params={"limit": 1000}).json()["items"]), what="settling")
    sim.forget()
    wait_until(lambda: len(sim.requests("list_shoots")) >= 5, what="the intervals to double until they are idle's: 200 ms to 1.6 s")
    sim.forget()
    began = time.monotonic()
    wait_until(lambda: len(sim.requests("list_shoots")) >= 4, what="idle polls")
    lists, gets = len(sim.requests("list_shoots")), len(sim.requests("get_shoot"))
    assert gets == 0
    assert lists <= (time.monotonic() - began) / 2 + 2, lists


def test_rows_that_came_before_are_not_decoded(sim, make_shootd):
    """Rows that did not change are not decoded. No change is missed: changed rows, missing rows, and rows that were read alone between
    two lists."""
    sim.post("shoots", count=20, prefix="still", state="ready")
    d = make_shootd(sim.url, polling="{active: 200ms, idle: 1s, discovery: 1s, absent_for: 1s}").start()

    def unchanged():
        return metric(d, "shootd_upstream_rows_unchanged_total")

    def clusters():
        return d.http.get("/v1/clusters", params={"limit": 1000}).json()["items"]
    wait_until(lambda: len(clusters()) == 20, what="discovery")
    seen = unchanged()
    wait_until(lambda: unchanged() >= seen + 60, what="rows that came before")
    names = [c["name"] for c in clusters()]
    before = {c["name"]: c["status"]["observed_at"] for c in clusters()}
    sim.http.delete(f"/_sim/shoots/{names[0]}")
    assert d.http.put(d.clusters_path(names[1]), json={}).status_code == 200, "adopted: shown and stored anew"
    assert d.http.post(d.clusters_path(names[1]) + "/actions/hibernate").status_code == 202
    d.http.get(d.clusters_path(names[2]), headers={"Cache-Control": "no-cache"})
    d.wait_phase(names[1], "hibernated")
    d.wait_gone(names[0])
    wait_until(lambda: all(c["status"]["observed_at"] > before[c["name"]] and not c["status"]["stale"] for c in clusters()),
               what="all of them to be observed")
    assert {c["status"]["phase"] for c in clusters()} == {"ready", "hibernated"}
    seen = unchanged()
    wait_until(lambda: unchanged() >= seen + 38, what="all of them at rest again")
