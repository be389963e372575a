"""Cache-Control: no-cache: all clients that wait share one read of Cleura; the stored answer when Cleura fails."""

import concurrent.futures
import time

import web
from harness import wait_until

NO_POLLS = "{active: 1h, idle: 1h, discovery: 1h}"
FRESH = {"Cache-Control": "no-cache"}


def quiet(sim, make_shootd, count=1, **options):
    """A daemon that no longer polls by itself after it has found these clusters."""
    sim.post("shoots", count=count, prefix="c", state="ready")
    d = make_shootd(sim.url, polling=NO_POLLS, **options).start()
    wait_until(lambda: len(d.http.get("/v1/clusters", params={"limit": 500}).json()["items"]) == count, what="clusters")
    wait_until(lambda: not d.http.get("/v1/clusters").json()["items"][0]["status"]["settling"], what="settled")
    return d


def made_none_for(sim, seconds):
    before = sim.counters()["requests"]
    time.sleep(seconds)
    return sim.counters()["requests"] == before


def test_ht31_a_fresh_read_sees_what_changed(sim, make_shootd, generation):
    d = quiet(sim, make_shootd, api=generation)
    uid = sim.get("state")["shoots"][0]["uid"]
    sim.http.put("/_sim/state", json={"bootstrapped": [], "shoots": [
        {"name": "c-0000", "uid": uid, "state": "ready", "spec": {"kubernetes_version": "1.33.6"}}]})
    fresh = d.http.get(d.clusters_path("c-0000"), headers=FRESH)
    assert fresh.json()["observed"]["kubernetes_version"] == "1.33.6"
    assert fresh.headers["Cache-Status"] == "shootd; fwd=request; stored" and int(fresh.headers["Age"]) <= fresh.elapsed.total_seconds() + 1
    assert d.cluster("c-0000").headers["Cache-Status"] == "shootd; hit"


def test_ht31_many_fresh_reads_share_a_call(sim, make_shootd):
    d = quiet(sim, make_shootd, count=3)
    sim.forget()
    sim.fault("list_shoots", "delay", delay_ms=600000, count=0)

    def read(i):
        return d.http.get("/v1/clusters" if i % 2 else d.clusters_path(), headers=FRESH)
    with web.Client(base_url=d.url) as other, concurrent.futures.ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(read, i) for i in range(40)]
        wait_until(lambda: "\nshootd_http_parked 40\n" in other.get("/metrics").text, timeout=60, what="everybody to ask")
        sim.clear_faults()
        answers = [one.result() for one in asked]
    assert all(a.status_code == 200 and "fwd=request; stored" in a.headers["Cache-Status"] for a in answers)
    assert len(sim.requests("list_shoots")) <= 4, "asked together, read together"


def test_one_cluster_of_many_is_read_alone(sim, make_shootd):
    d = quiet(sim, make_shootd, count=8)
    sim.forget()
    assert d.http.get(d.clusters_path("c-0003"), headers={**FRESH, "X-Request-Id": "read-alone-1"}).status_code == 200
    assert [r["operation"] for r in sim.requests() if r.get("x_request_id") == "read-alone-1"] == ["get_shoot"]
    assert d.http.get(d.clusters_path("nobody"), headers=FRESH).status_code == 404


def test_without_cleura_the_stored_answer_comes_marked(sim, make_shootd):
    d = quiet(sim, make_shootd)
    before = d.cluster("c-0000").json()
    assert before["status"]["stale"] is False
    sim.post("down", down=True)
    fallen_back = d.http.get(d.clusters_path("c-0000"), headers=FRESH)
    assert fallen_back.status_code == 200 and 'detail="Cleura could not be read"' in fallen_back.headers["Cache-Status"]
    assert fallen_back.json()["status"]["stale"] is True
    assert fallen_back.json()["observed"] == before["observed"]
    listed = d.http.get("/v1/clusters", headers=FRESH)
    assert listed.status_code == 200 and "hit" in listed.headers["Cache-Status"]
    sim.post("down", down=False)
    back = wait_until(lambda: (a := d.http.get(d.clusters_path("c-0000"), headers=FRESH))
                      and not a.json()["status"]["stale"] and a, timeout=40, what="Cleura again")
    assert "stored" in back.headers["Cache-Status"]


def test_the_deadline_is_the_clients(sim, make_shootd):
    d = quiet(sim, make_shootd)
    sim.fault("list_shoots", "hang", count=0)
    sim.fault("get_shoot", "hang", count=0)
    late = d.http.get(d.clusters_path("c-0000"), headers={**FRESH, "Prefer": "wait=1"})
    assert late.status_code == 200 and late.json()["status"]["stale"] is True
    assert late.elapsed.total_seconds() < 30, "not the minute that Cleura is given"


def test_a_recent_read_answers(sim, make_shootd):
    """Browsers send no-cache by themselves; many of them cause no calls to Cleura."""
    d = quiet(sim, make_shootd, count=3)
    d.stop()
    d.config.write_text(d.config.read_text().replace("fresh_floor: 0s", "fresh_floor: 1h"))
    d.start()
    d.wait_upstream()
    wait_until(lambda: made_none_for(sim, 2), what="no more polls")
    sim.forget()
    for path in ("/v1/clusters", d.clusters_path(), d.clusters_path("c-0001")):
        answer = d.http.get(path, headers=FRESH)
        assert answer.status_code == 200
        assert answer.headers["Cache-Status"] == 'shootd; hit; detail="Cleura was read moments ago"'
    assert sim.requests() == []


def test_an_older_read_is_repeated(sim, make_shootd):
    d = quiet(sim, make_shootd)
    d.stop()
    d.config.write_text(d.config.read_text().replace("fresh_floor: 0s", "fresh_floor: 1s"))
    d.start()
    d.wait_upstream()
    wait_until(lambda: made_none_for(sim, 2), what="no more polls")

    def lists():
        return sim.counters()["by_operation"]["list_shoots"]["requests"]

    def passed_on():
        answer = d.http.get("/v1/clusters", headers=FRESH)
        assert answer.status_code == 200
        return "fwd=request; stored" in answer.headers["Cache-Status"]
    for _ in range(2):  # once for each time that the floor passes
        before = lists()
        wait_until(passed_on, interval=0.2, what="a read of Cleura")
        assert lists() > before


def test_a_token_has_a_budget_of_fresh_reads(sim, make_shootd):
    d = quiet(sim, make_shootd, extra="limits: {fresh_reads_per_minute: 3}\n")
    sim.forget()
    sources = [d.http.get(d.clusters_path("c-0000"), headers=FRESH).headers["Cache-Status"] for _ in range(6)]
    assert sources == ["shootd; fwd=request; stored"] * 3 + ['shootd; hit; detail="the token has asked for too many fresh reads"'] * 3
    assert len(sim.requests()) == 3
    assert 'shootd_http_quota_refused_total{policy="fresh_reads"} 3' in d.http.get("/metrics").text
