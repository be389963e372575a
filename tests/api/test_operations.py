"""Waiting for operations, lists and their cursors, the event log."""

import contextlib
import datetime
import gzip
import json
import re
import socket
import sqlite3
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import harness
import web
from harness import SANITIZED, wait_until
from raw import Raw, request


@pytest.fixture
def slow(make_sim, make_shootd):
    """A pair in which a create takes 12 minutes of real time, so operations stay open."""
    sim = make_sim(speed=1)
    return sim, make_shootd(sim.url).start()


# ---- waiting -----------------------------------------------------------------------------------------------------

def test_ao10_ao12_ao13_ao14_wait_answers_when_the_time_is_over(slow):
    _, d = slow
    op = d.create("dev")["operation"]["id"]
    wait_until(lambda: d.operation(op)["status"] == "running", what="the create to be sent")
    for how in ({"params": {"wait": 1}}, {"headers": {"Prefer": "wait=1"}},
                {"headers": {"Prefer": "respond-async, WAIT = 1; x=y, wait=40"}}):
        began = time.monotonic()
        answer = d.http.get(f"/v1/operations/{op}", **how)
        took = time.monotonic() - began
        assert answer.status_code == 200 and answer.json()["status"] == "running", answer.text
        assert 0.9 < took < 30, took  # the limit is far below 40 s
        assert int(answer.headers["Retry-After"]) >= 1
        assert answer.headers["Vary"] == "Accept-Encoding, Prefer", "AO-13"
        assert ("Preference-Applied" in answer.headers) is ("headers" in how)
        if "headers" in how:
            assert answer.headers["Preference-Applied"] == "wait=1"

    def unchanged():
        tag = d.http.get(f"/v1/operations/{op}").headers["ETag"]
        answer = d.http.get(f"/v1/operations/{op}?wait=1", headers={"If-None-Match": tag})
        return answer if answer.status_code == 304 else None
    assert wait_until(unchanged, what="a second without progress").headers["ETag"]
    for query in ("", "?wait=0"):
        began = time.monotonic()
        assert d.http.get(f"/v1/operations/{op}{query}").json()["status"] == "running"
        assert time.monotonic() - began < 20, "at once"
    assert d.http.get(f"/v1/operations/{op}?wait=-1").status_code == 400
    assert d.http.get(f"/v1/operations/{op}?wait=x").status_code == 400
    for preference in ("wait=x", "wait", "wait=", "wait=-1", "weight=3", '"wait=3'):
        began = time.monotonic()
        answer = d.http.get(f"/v1/operations/{op}", headers={"Prefer": preference})
        assert answer.status_code == 200 and "Preference-Applied" not in answer.headers, "passed over (AO-10)"
        assert time.monotonic() - began < 20, "not 55 seconds"


def test_ao11_ao14_ao15_wait_ends_early_and_is_clamped(make_sim, make_shootd):
    sim = make_sim(speed=240)
    d = make_shootd(sim.url).start()
    op = d.create("dev")["operation"]["id"]
    began = time.monotonic()
    answer = d.http.get(f"/v1/operations/{op}", headers={"Prefer": "wait=600"})
    assert answer.headers["Preference-Applied"] == "wait=55", "clamped"
    assert answer.json()["status"] == "succeeded", answer.text
    assert time.monotonic() - began < 54, "when it ends, not when the time is over"
    assert "Retry-After" not in answer.headers
    assert answer.headers["ETag"] == d.http.get(f"/v1/operations/{op}").headers["ETag"]
    began = time.monotonic()
    again = d.http.get(f"/v1/operations/{op}?wait=999999999999")
    assert again.json() == answer.json() and time.monotonic() - began < 50
    known = d.http.get(f"/v1/operations/{op}?wait=5", headers={"If-None-Match": answer.headers["ETag"]})
    assert known.status_code == 304


def test_ao16_ao17_many_clients_wait_for_one_operation(make_sim, make_shootd):
    sim = make_sim(speed=240)
    d = make_shootd(sim.url).start()
    sim.post("clock", speed=0)  # the operation must not end before all clients wait
    op = d.create("dev")["operation"]["id"]
    answers = []

    def wait():
        answers.append(web.get(f"{d.url}/v1/operations/{op}?wait=50", timeout=90,
                                 headers={"Authorization": "Bearer " + d.token()}))
    threads = [threading.Thread(target=wait) for _ in range(50)]
    for t in threads:
        t.start()
    wait_until(lambda: d.parked() == 50, what="the clients to wait")
    assert d.cluster("dev").status_code == 200 and d.parked() == 50, "others are served meanwhile"
    sim.post("clock", speed=240)
    before = sim.counters()["requests"]
    for t in threads:
        t.join(90)
    assert [a.json()["status"] for a in answers] == ["succeeded"] * 50
    assert len({a.content for a in answers}) == 1
    assert sim.counters()["requests"] - before < 60, "waiting costs Cleura nothing"
    wait_until(lambda: d.parked() == 0, what="nobody to wait")


def test_waiting_clients_that_leave_are_forgotten(make_sim, tmp_path):
    sim = make_sim(speed=1)
    d = harness.Shootd(tmp_path / "left", sim.url).start()
    try:
        op = d.create("dev")["operation"]["id"]
        for i in range(12):
            raw = Raw(d.port).send(request("GET", f"/v1/operations/{op}?wait=1", token=d.token()))
            if i % 2:
                raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            time.sleep(0.02)
            raw.socket.close()
        wait_until(lambda: d.parked() == 0, timeout=4, what="nobody to wait")
        d.process.popen.terminate()
        assert d.process.popen.wait(40) == 0
    finally:
        d.kill()


# ---- lists -------------------------------------------------------------------------------------------------------

def walk(d, path, limit=7, **params):
    """All items of a list, page by page."""
    items, cursor, pages = [], None, 0
    while True:
        page = d.http.get(path, params={**params, "limit": limit, **({"cursor": cursor} if cursor else {})})
        assert page.status_code == 200, page.text
        page = page.json()
        assert len(page["items"]) <= limit
        items += page["items"]
        pages += 1
        cursor = page["next_cursor"]
        if cursor is None:
            return items
        assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor), "safe in a URL"
        assert pages < 200


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """120 clusters found at Cleura (100 ready, 20 hibernated) and 20 that shootd made."""
    directory = tmp_path_factory.mktemp("many")
    sim = harness.Sim(directory)
    sim.post("shoots", count=100, prefix="seeded", state="ready")
    sim.post("shoots", count=20, prefix="asleep", state="hibernated")
    d = harness.Shootd(directory / "shootd", sim.url).start()
    made = [d.create(f"own-{i:02}", labels={"n": str(i % 4)}, description=f"Number {i}")["operation"]["id"]
            for i in range(20)]
    for op in made:
        assert d.wait_operation(op, timeout=90)["status"] == "succeeded"
    wait_until(lambda: len(d.http.get("/v1/clusters?limit=1000").json()["items"]) == 140, what="discovery")
    wait_until(lambda: all(c["status"]["phase"] in ("ready", "hibernated") and not c["status"]["settling"]
                           for c in d.http.get("/v1/clusters?limit=1000").json()["items"]), timeout=60, what="rest")
    yield sim, d
    d.stop()
    sim.stop()


def test_ht35_ht37_cursor_walk_finds_everything_once(many):
    _, d = many
    for path in ("/v1/clusters", "/v1/projects/team-a/clusters"):
        for limit in (1, 7, 139, 140, 141, 1000) if path == "/v1/clusters" else (7,):
            names = [c["name"] for c in walk(d, path, limit)]
            assert len(names) == 140 and len(set(names)) == 140
            assert names == sorted(names)
    for path in ("/v1/clusters", "/v1/projects/team-a/clusters"):
        whole = d.http.get(path).json()
        assert len(whole["items"]) == whole["total"] == 140 and whole["next_cursor"] is None, "the default is 200"
    events = d.http.get("/v1/events").json()
    assert len(events["items"]) == 50 and "total" not in events, "the default of other lists"


def seconds(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def test_where_the_time_of_an_operation_went(make_sim, make_shootd):
    """The times of waiting and running, and Gardener's messages, for each step. Answers with the same ETag are equal, also after a
    restart."""
    sim = make_sim(speed=240)
    d = make_shootd(sim.url).start()
    first, bodies = d.create("dev")["operation"]["id"], {}
    d.create("behind")
    behind = d.http.patch(d.clusters_path("behind"), json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}}).json()["operation"]["id"]

    def ended():
        answer = d.http.get(f"/v1/operations/{first}")
        assert bodies.setdefault(answer.headers["ETag"], answer.text) == answer.text
        return answer if answer.json()["status"] == "succeeded" else None
    answer = wait_until(ended, what="the end of the create")
    grown = [step["running_ms"] for text in bodies.values() for step in json.loads(text)["steps"] if step["type"] == "wait_ready" and step["running_ms"] is not None]
    assert grown == sorted(grown) and len(set(grown)) > 2, grown
    operation = answer.json()
    whole = (seconds(operation["steps"][-1]["finished_at"]) - seconds(operation["created_at"])) * 1000
    spent = sum((step["waited_ms"] or 0) + (step["running_ms"] or 0) for step in operation["steps"])
    assert whole - 10 <= spent <= whole + 10, (whole, operation["steps"])
    *_, made, ready = operation["steps"]
    assert (made["type"], ready["type"]) == ("create_shoot", "wait_ready") and ready["running_ms"] > made["running_ms"]
    assert [m["text"] for m in made["messages"]][-1] == "Accepted by Cleura"
    texts = [m["text"] for m in ready["messages"]]
    assert len(texts) > 3 and texts[-1] == "Done" and all(a != b for a, b in zip(texts, texts[1:])), texts
    assert any(text.startswith("Waiting until ") for text in texts), "what Gardener says"
    times = [m["at"] for step in operation["steps"] for m in step["messages"]]
    assert times == sorted(times) and operation["created_at"] <= times[0] and times[-1] == operation["finished_at"]
    assert all("messages" not in step and "waited_ms" in step for step in d.cluster("dev").json()["operation"]["steps"])

    update = d.wait_operation(behind)
    assert update["steps"][0]["waited_ms"] > 500, "the create before it"
    assert update["steps"][0]["waited_ms"] <= (seconds(update["steps"][0]["finished_at"]) - seconds(update["created_at"])) * 1000
    before = {id: d.http.get(f"/v1/operations/{id}") for id in (first, behind)}
    d.stop()
    d.start()
    for id, known in before.items():
        now = d.http.get(f"/v1/operations/{id}")
        assert (now.text, now.headers["ETag"]) == (known.text, known.headers["ETag"])


def test_how_long_operations_usually_take(make_sim, make_shootd):
    """Operations of the project that succeeded in the last 30 days: the numbers follow from the rows of the store."""
    sim = make_sim(speed=240)
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", harness.PROJECT_ID), ("team-b", "Fra1", harness.PROJECT_ID)]).start()
    path = "/v1/projects/team-{}/durations"
    assert d.http.get(path.format("a")).json() == {"window_days": 30, "items": []}
    for name in ("one", "two"):
        d.create(name)
    for name in ("one", "two"):
        d.wait_operation(d.cluster(name).json()["operation"]["id"])
    sim.post("lifecycle", shoot="one", operation="reconcile", outcome="failed", at_progress=50)
    failed = d.http.post(d.clusters_path("one") + "/actions/reconcile").json()["operation"]["id"]
    assert d.wait_operation(failed)["status"] == "failed"
    answer = d.http.get(path.format("a"))
    took = sorted(seconds(op["finished_at"]) - seconds(op["created_at"]) for op in d.http.get("/v1/operations?type=create").json()["items"])
    item, = answer.json()["items"]
    assert (item["type"], item["count"]) == ("create", 2)
    assert abs(item["p50_ms"] / 1000 - took[0]) <= 0.002 and abs(item["p90_ms"] / 1000 - took[1]) <= 0.002, (item, took)
    assert [(s["type"], s["count"]) for s in item["steps"]][-2:] == [("create_shoot", 2), ("wait_ready", 2)]
    assert d.http.get(path.format("a"), headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert d.http.get(path.format("b")).json()["items"] == [] and d.http.get(path.format("c")).status_code == 404

    with contextlib.closing(sqlite3.connect(d.state / "shootd.db")) as db:
        doc, = db.execute("SELECT doc FROM operations WHERE project = 'team-a' AND status = 'succeeded' ORDER BY id").fetchone()
        create = json.loads(doc)
    d.stop()

    def row(number, age_s, took_s, project="team-a"):
        """An operation like the first one, with another age and duration. An id begins with its time in milliseconds."""
        at = int((time.time() - age_s) * 1e6)
        digits, ms = "", at // 1000
        for _ in range(10):
            digits, ms = "0123456789abcdefghjkmnpqrstvwxyz"[ms % 32] + digits, ms // 32
        one = {**create, "id": f"op_{digits}{number:016}", "project": project, "created_at": at, "finished_at": at + took_s * 1_000_000, "steps": []}
        return one["id"], one["cluster_id"], project, one["cluster"], "succeeded", one["finished_at"], json.dumps(one)

    many = 1200
    rows = ([row(i, 86400 + i, 600) for i in range(many)] + [row(9000, 29 * 86400, 900000), row(9001, 31 * 86400, 900000)] +
            [row(9002, 3600, 77, "team-b")])
    with contextlib.closing(sqlite3.connect(d.state / "shootd.db")) as db, db:
        db.executemany("INSERT INTO operations (id, cluster_id, project, cluster, status, finished_at, doc) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    d.start()
    item, = d.http.get(path.format("a")).json()["items"]
    assert (item["count"], item["p50_ms"], item["p90_ms"]) == (1000, 600_000, 600_000), "the newest"
    other, = d.http.get(path.format("b")).json()["items"]
    assert (other["count"], other["p50_ms"], other["steps"]) == (1, 77_000, [])


def test_the_time_of_a_step_that_hangs_runs_on(sim, shootd):
    first = shootd.create("dev")["operation"]["id"]
    queued = shootd.http.patch(shootd.clusters_path("dev"), json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}}).json()["operation"]["id"]
    shootd.wait_phase("dev", "creating")
    with sim.frozen():
        def quiet():
            before = shootd.operation(first)
            time.sleep(0.3)
            return before["updated_at"] == shootd.operation(first)["updated_at"] and before
        before, waiting = wait_until(quiet, what="nothing to change"), shootd.operation(queued)

        def grown():
            now = shootd.operation(first)
            assert now["updated_at"] == before["updated_at"]
            return now["steps"][-1]["running_ms"] >= before["steps"][-1]["running_ms"] + 2000 and now
        now = wait_until(grown, timeout=30, what="the time to run on")
        assert now["steps"][:-1] == before["steps"][:-1]
        assert shootd.operation(queued)["steps"][0]["waited_ms"] > waiting["steps"][0]["waited_ms"]
        cluster = shootd.cluster("dev")
        shown = cluster.json()["operation"]["steps"][-1]["running_ms"]
        assert shown >= before["steps"][-1]["running_ms"] + 2000
        of_list = next(o for o in shootd.http.get("/v1/operations").json()["items"] if o["id"] == first)
        assert of_list["steps"][-1]["running_ms"] >= now["steps"][-1]["running_ms"]
    assert shootd.wait_operation(first)["status"] == "succeeded"


@pytest.mark.parametrize("lost", [False, True])
def test_the_times_of_a_step_survive_a_kill(make_sim, make_shootd, lost):
    """The stored row of a running step has its known times, also if the answer to its call was lost."""
    sim = make_sim(speed=30)
    d = make_shootd(sim.url).start()
    if lost:
        sim.fault("create_shoot", "drop", effect=True)
    id = d.create("dev")["operation"]["id"]
    running = wait_until(lambda: (op := d.operation(id))["steps"][-1]["running_ms"] is not None and len(op["steps"][-1]["messages"]) > 1 and op,
                         what="the texts of the run")
    d.kill()
    d.start()
    again = d.operation(id)
    for old, new in zip(running["steps"], again["steps"]):
        assert new["waited_ms"] == old["waited_ms"] and new["running_ms"] >= old["running_ms"]
        assert new["messages"][:len(old["messages"])] == old["messages"]


def supersede(d, name, times):
    """Updates of a cluster that is being created; each one ends the one before. Returns their ids, oldest first."""
    ids = [d.create(name)["operation"]["id"]]
    with web.Client(base_url=d.url, headers={"Authorization": "Bearer " + d.token()}, timeout=60) as http:
        for i in range(times):
            window = {"begin": f"{i % 20:02}0000+0000", "end": f"{i % 20 + 1:02}0000+0000"}
            answer = http.patch(d.clusters_path(name), json={"spec": {"maintenance": window}})
            assert answer.status_code == 202, answer.text
            ids.append(answer.headers["Location"].rsplit("/", 1)[1])
    return ids


@pytest.mark.skipif(SANITIZED and not harness.FULL, reason="a thousand changes, which the release build makes in a tenth of the time")
def test_ao6_operations_that_have_left_the_memory_are_read_from_the_store(make_sim, make_shootd):
    """1,000 ended operations stay in memory; clients see no difference."""
    sim = make_sim(speed=240)
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", harness.PROJECT_ID), ("team-b", "Fra1", harness.PROJECT_ID)]).start()
    keyed = {"json": {"name": "keyed"}, "headers": {"Idempotency-Key": "a-key-of-a-create-that-ended"}}
    first = d.http.post(d.clusters_path(), **keyed)
    assert first.status_code == 202
    d.wait_operation(first.json()["operation"]["id"])
    sim.post("clock", speed=1)
    names = [f"c{i}" for i in range(6)]
    with ThreadPoolExecutor(len(names)) as pool:
        made = dict(zip(names, pool.map(lambda name: supersede(d, name, harness.size(175, 225)), names)))
    made["keyed"] = [first.json()["operation"]["id"]]
    ids = sorted((id for of_one in made.values() for id in of_one), reverse=True)
    oldest = min(made[name][1] for name in names)
    other = d.http.post("/v1/tokens", json={"name": "other", "role": "operator", "projects": ["team-b"]}).json()["token"]

    def check():
        assert [op["id"] for op in walk(d, "/v1/operations", 100)] == ids
        assert [op["id"] for op in walk(d, "/v1/operations", 1000)] == ids
        for name in ("c0", "c5"):
            mine = sorted(made[name], reverse=True)
            assert [op["id"] for op in walk(d, d.clusters_path(name) + "/operations", 40)] == mine
            assert [op["id"] for op in walk(d, "/v1/operations", 99, cluster=name, project="team-a")] == mine
            for part in (name[1:].upper(), f"zzz,,{name}"):
                assert [op["id"] for op in walk(d, "/v1/operations", 99, cluster=part)] == mine, "in memory and in the store"
        still_open = {op["id"] for op in walk(d, "/v1/operations", 100, status="pending,running")}
        assert still_open == {made[name][i] for name in names for i in (0, -1)}
        ended = [op["id"] for op in walk(d, "/v1/operations", 500, status="cancelled")]
        assert ended == [id for id in ids if id not in still_open and id != made["keyed"][0]]
        answer = d.http.get(f"/v1/operations/{oldest}")
        assert answer.status_code == 200 and answer.json()["error"]["code"] == "superseded", answer.text
        assert answer.headers["ETag"] in [d.http.get(f"/v1/operations/{oldest}?wait=9").headers["ETag"]]
        known = d.http.get(f"/v1/operations/{oldest}", headers={"If-None-Match": answer.headers["ETag"]})
        assert known.status_code == 304
        assert d.http.get(f"/v1/operations/{oldest[:-1]}").status_code == 404
        again = d.http.post(f"/v1/operations/{oldest}/cancel")
        assert again.status_code == 200 and again.json() == answer.json()
        for method, path in (("GET", f"/v1/operations/{oldest}"), ("POST", f"/v1/operations/{oldest}/cancel")):
            assert d.http.request(method, path, headers={"Authorization": "Bearer " + other}).status_code == 404
        assert d.http.get("/v1/operations", headers={"Authorization": "Bearer " + other}).json()["items"] == []
        cluster = d.cluster("keyed").json()
        assert cluster["operation"]["id"] == made["keyed"][0] and cluster["operation"]["status"] == "succeeded", "its own last one"
        repeated = d.http.post(d.clusters_path() + "?wait=5", **keyed)
        assert repeated.status_code == 201 and repeated.headers["Idempotency-Replayed"] == "true", "what became of it"
        return answer

    before = check()
    d.stop()
    d.start()
    assert check().text == before.text
    recent = made["c5"][-2]
    with contextlib.closing(sqlite3.connect(d.state / "shootd.db")) as db, db:
        db.execute("DELETE FROM operations WHERE id IN (?, ?)", (oldest, recent))
    assert d.http.get(f"/v1/operations/{oldest}").status_code == 404, "only the store had it"
    assert d.http.get(f"/v1/operations/{recent}").status_code == 200, "from memory"


def test_ht36_cursor_walk_while_the_list_changes(many):
    """If a cluster appears or disappears during the walk, all others still appear once."""
    sim, d = many
    page = d.http.get("/v1/clusters?limit=70&q=seeded").json()
    names = [c["name"] for c in page["items"]]
    assert d.http.delete(d.clusters_path(names[-1])).json()["code"] == "not_managed"
    assert d.http.put(d.clusters_path(names[-1]), json={}).status_code == 200, "adopted"
    assert d.http.delete(d.clusters_path(names[-1])).status_code == 202, "the very one that the cursor stands on"
    d.wait_gone(names[-1])
    rest = d.http.get("/v1/clusters", params={"limit": 70, "q": "seeded", "cursor": page["next_cursor"]}).json()
    assert rest["next_cursor"] is None
    names += [c["name"] for c in rest["items"]]
    assert len(names) == 100 and names == sorted(set(names))
    sim.post("shoots", count=1, prefix="again", state="ready")
    wait_until(lambda: len(walk(d, "/v1/clusters", 50)) == 140, what="discovery")


def test_ht53_a_large_page_is_coded_in_pieces(many):
    _, d = many
    path = "/v1/clusters?limit=1000"

    def exchange(method, *fields):
        with Raw(d.port) as connection:
            return connection.send(request(method, path, *fields, token=d.token())).read(head=method == "HEAD")

    def both():
        plain = d.http.get(path, headers={"Accept-Encoding": "identity"})
        coded = exchange("GET", "Accept-Encoding: gzip")
        return (plain, coded) if plain.content == gzip.decompress(coded.body) else None
    plain, coded = wait_until(both, what="two forms of one page: a look in between moves times")
    assert len(plain.content) > 256 * 1024 and coded.status == 200
    assert coded["Content-Encoding"] == "gzip" and coded["Transfer-Encoding"] == "chunked"
    assert coded["ETag"] == plain.headers["ETag"][:-1] + '-gz"' and len(coded.body) < len(plain.content) / 5
    for tag in (coded["ETag"], plain.headers["ETag"]):
        known = exchange("GET", "Accept-Encoding: gzip", f"If-None-Match: {tag}")
        assert known.status in (200, 304) and (known.status == 200) == (known["ETag"] != tag)
    # The length of the coded form is unknown: no length is sent, and no byte follows the header section.
    for fields in (("HEAD",), ("GET", f"If-None-Match: {coded['ETag']}")):
        with Raw(d.port) as connection:
            answer = connection.send(request(fields[0], path, "Accept-Encoding: gzip", *fields[1:], token=d.token())).read(head=True)
            if answer.status == 200 and fields[0] == "GET":
                continue  # a read of Cleura in between changed the ETag
            assert answer.status == (304 if fields[1:] else 200) and answer["ETag"].endswith('-gz"')
            assert "content-length" not in answer and "transfer-encoding" not in answer and connection.is_closed()


def test_ht36_cursors_are_bound_to_their_list(many):
    _, d = many
    cursor = d.http.get("/v1/clusters?limit=7&phase=ready").json()["next_cursor"]
    good = d.http.get("/v1/clusters", params={"limit": 9, "phase": "ready", "cursor": cursor})
    assert good.status_code == 200 and len(good.json()["items"]) == 9, "limit may change"
    changed = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    for path, params in (("/v1/clusters", {"cursor": cursor}), ("/v1/clusters", {"phase": "failed", "cursor": cursor}),
                         ("/v1/projects/team-a/clusters", {"phase": "ready", "cursor": cursor}),
                         ("/v1/operations", {"cursor": cursor}), ("/v1/clusters", {"phase": "ready", "cursor": changed}),
                         ("/v1/clusters", {"phase": "ready", "cursor": cursor[:-4]}),
                         ("/v1/clusters", {"phase": "ready", "cursor": cursor + "AAAA"}),
                         ("/v1/clusters", {"phase": "ready", "cursor": "!"})):
        answer = d.http.get(path, params=params)
        assert answer.status_code == 400, (path, params, answer.text)
        assert answer.json()["errors"][0]["parameter"] == "cursor"


def test_ht38_cluster_filters(many):
    _, d = many

    def names(**params):
        return [c["name"] for c in walk(d, "/v1/clusters", 50, **params)]
    everything = names()
    asleep = [n for n in everything if n.startswith("asleep")]
    own = [n for n in everything if n.startswith("own")]
    assert (len(asleep), len(own)) == (20, 20)
    assert names(phase="hibernated") == asleep and names(phase="ready,hibernated") == everything
    assert names(phase="failed,deleting") == []
    assert names(managed="true") == own and names(managed="") == own and len(names(managed="false")) == 120
    assert names(region="Sto2") == everything and names(region="Fra1,Sto2") == everything and names(region="Fra1") == []
    assert names(project="team-a,team-b") == everything and names(project="team-b") == []
    assert names(q="OWN-0") == own[:10] and names(q="number 7") == ["own-07"] and names(q="asleep") == asleep
    versions = {c["observed"]["kubernetes_version"] for c in d.http.get("/v1/clusters?limit=1000").json()["items"]}
    for version in versions:
        of_it = names(kubernetes_version=version)
        assert of_it and set(of_it) <= set(names(kubernetes_version=".".join(version.split(".")[:2])))
    assert names(kubernetes_version="1") == everything and names(kubernetes_version="1.3") == []
    assert names(phase="ready", managed="true", q="-1") == own[10:]
    assert names(health="healthy,progressing,unhealthy,unknown") == everything


def test_operation_filters_and_order(many):
    _, d = many
    everything = walk(d, "/v1/operations")
    assert len({o["id"] for o in everything}) == len(everything) >= 20
    times = [o["created_at"] for o in everything]
    assert times == sorted(times, reverse=True), "newest first"
    assert walk(d, "/v1/operations", status="succeeded") == [o for o in everything if o["status"] == "succeeded"]
    assert walk(d, "/v1/operations", status="failed,cancelled,pending,running") == \
        [o for o in everything if o["status"] != "succeeded"]
    one = walk(d, "/v1/operations", cluster="own-03")
    assert [o["cluster"] for o in one] == ["own-03"] and one[0]["type"] == "create"
    assert walk(d, d.clusters_path("own-03") + "/operations") == one
    assert walk(d, "/v1/operations", project="team-b") == []
    assert len(walk(d, "/v1/operations", cluster="own-03,own-04")) == 2
    assert walk(d, "/v1/operations", cluster="N-03") == one, "a part of the name, in capitals"
    assert walk(d, "/v1/operations", cluster="own-") == [o for o in everything if "own-" in o["cluster"]]
    many = d.http.get("/v1/operations", params={"cluster": ",".join("n" for _ in range(11))})
    assert many.status_code == 400 and many.json()["errors"][0]["code"] == "too_many" and many.json()["errors"][0]["parameter"] == "cluster"
    assert walk(d, "/v1/operations", cluster=",") == walk(d, "/v1/operations", cluster="own-03x") == []
    step = one[0]["steps"]
    assert step and all(s["status"] in ("done", "skipped") for s in step)


# ---- events ------------------------------------------------------------------------------------------------------

def test_events_page_by_page(many):
    _, d = many
    everything = d.events()
    assert [e["sequence"] for e in everything] == list(range(1, len(everything) + 1))
    got, after = [], 0
    while True:
        page = d.http.get("/v1/events", params={"after": after, "limit": 13}).json()
        got += page["items"]
        assert page["oldest_sequence"] == 1 and page["newest_sequence"] >= len(everything)
        assert all(e["sequence"] > after for e in page["items"])
        if page["next_cursor"] is None:
            assert len(page["items"]) < 13
            break
        assert len(page["items"]) == 13 and page["last_sequence"] == page["items"][-1]["sequence"]
        after = page["last_sequence"]
    assert [e["id"] for e in got[:len(everything)]] == [e["id"] for e in everything]
    beyond = d.http.get("/v1/events?after=999999999").json()
    assert beyond["items"] == [] and beyond["next_cursor"] is None and beyond["last_sequence"] == 999999999


def test_ht35_ht36_events_page_as_every_list_does(many):
    _, d = many
    for path, params in (("/v1/events", {}), ("/v1/events", {"type": "operation.*"}), (d.clusters_path("own-05") + "/events", {})):
        everything = d.http.get(path, params={**params, "limit": 1000}).json()["items"]
        assert len(everything) > 2
        assert walk(d, path, limit=max(2, len(everything) // 5), **params)[:len(everything)] == everything, path
    first = d.http.get("/v1/events", params={"after": 3, "limit": 2}).json()
    assert [e["sequence"] for e in first["items"]] == [4, 5]
    cursor = first["next_cursor"]
    assert not cursor.isdigit(), "opaque, as all of them"
    second = d.http.get("/v1/events", params={"cursor": cursor, "limit": 1}).json()
    assert [e["sequence"] for e in second["items"]] == [6] and second["last_sequence"] == 6
    both = d.http.get("/v1/events", params={"cursor": cursor, "after": 3})
    assert both.status_code == 400 and [(f["parameter"], f["code"]) for f in both.json()["errors"]] == [("after", "conflict")]
    for path, params in (("/v1/events", {"cursor": "5"}), ("/v1/events", {"cursor": cursor[:-1] + ("A" if cursor[-1] != "A" else "B")}),
                         ("/v1/events", {"cursor": cursor, "type": "cluster.*"}), ("/v1/audit", {"cursor": cursor}),
                         (d.clusters_path("own-05") + "/events", {"cursor": cursor})):
        refused = d.http.get(path, params=params)
        assert refused.status_code == 400 and refused.json()["errors"][0]["code"] == "invalid_cursor", (path, params)


def test_event_filters(many):
    _, d = many
    everything = d.events()
    assert d.events(type="cluster.ready") == [e for e in everything if e["type"] == "cluster.ready"]
    assert d.events(type="operation.*,cluster.created") == \
        [e for e in everything if e["type"].startswith("operation.") or e["type"] == "cluster.created"]
    one = d.events(cluster="own-05")
    assert one == [e for e in everything if e["data"].get("cluster") == "own-05"] != []
    assert d.http.get(d.clusters_path("own-05") + "/events").json()["items"] == one
    assert d.http.get(d.clusters_path("own-05") + "/events?type=cluster.*&limit=1").json()["items"] == \
        [e for e in one if e["type"].startswith("cluster.")][:1]
    assert d.events(project="team-a") == [e for e in everything if e["data"].get("project") == "team-a"]
    assert d.events(project="team-b") == []
    last = [e["sequence"] for e in everything if e["type"] == "cluster.ready"][-1]
    for query, found in (("type=webhook.disabled&after=1", 0), (f"type=cluster.ready&after={last - 1}", 1), ("project=team-b&after=1", 0)):
        page = d.http.get("/v1/events?" + query).json()
        assert len(page["items"]) == found and page["next_cursor"] is None
        assert page["last_sequence"] == page["newest_sequence"] >= len(everything), "it has looked at all of them: " + query
    bad = d.http.get("/v1/events?type=cluster.born,cluster.ready")
    assert bad.status_code == 400 and "cluster.ready" in bad.json()["errors"][0]["valid"]
    for query in ("after=-1", "after=x", "after=99999999999999999999", "limit=0", "type="):
        assert d.http.get("/v1/events?" + query).status_code == 400, query
    for e in everything:
        assert set(e) == {"id", "type", "timestamp", "data", "sequence"}
        assert e["timestamp"].endswith("Z")
