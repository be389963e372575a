"""The store: its identity, rows that cannot be read, and a full disk."""

import concurrent.futures
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

import harness
import web
from harness import BUILD, wait_until


def check_store(d):
    run = subprocess.run([BUILD / "shootd", "check-store", "--config", d.config], capture_output=True, text=True, timeout=60)
    return run.returncode, run.stdout + run.stderr


def test_ids_of_the_store_and_of_each_start(sim, shootd):
    first = shootd.http.get("/version").json()
    shootd.stop()
    shootd.start()
    second = shootd.http.get("/version").json()
    assert first["store_id"] == second["store_id"] and first["start_id"] != second["start_id"]
    for id in (first["store_id"], first["start_id"], second["start_id"]):
        assert len(id) == 36 and id in shootd.log()
    code, said = check_store(shootd)
    assert code == 0 and first["store_id"] in said and "integrity  ok" in said and "put aside  none" in said
    shootd.stop()
    backup = shootd.state / "elsewhere.db"
    shutil.copy(shootd.state / "shootd.db", backup)
    of_backup = subprocess.run([BUILD / "shootd", "check-store", backup], capture_output=True, text=True, timeout=60)
    assert of_backup.returncode == 0 and f"id         {first['store_id']}\n" in of_backup.stdout, of_backup.stderr


def test_a_row_that_cannot_be_read_stops_nothing(sim, shootd):
    shootd.create("dev")
    shootd.wait_phase("dev", "ready")
    shootd.stop()
    with sqlite3.connect(shootd.state / "shootd.db") as db:
        db.execute("INSERT INTO clusters (id, project, name, version, deleted, doc) VALUES ('cl_bad', 'team-a', 'bad', 1, 0, ?)",
                   ('{"a":' + "[" * 100 + "]" * 100 + "}",))
    db.close()
    for _ in range(2):
        shootd.start()
        assert shootd.cluster("dev").json()["status"]["phase"] == "ready" and shootd.cluster("bad").status_code == 404
        verbose = shootd.http.get("/readyz", params={"verbose": ""})
        assert verbose.status_code == 200 and "[!]stored rows put aside: 1 (shootd check-store)" in verbose.text
        assert "shootd_store_rows_put_aside 1\n" in shootd.http.get("/metrics").text
        code, said = check_store(shootd)
        assert code == 1 and "cluster cl_bad: nested deeper than" in said and "to do      nothing has to be done for shootd to run" in said
        shootd.stop()
    assert "stored cluster cl_bad cannot be read and was moved to quarantine" in shootd.log()


def test_check_store_without_a_store(sim, make_shootd):
    code, said = check_store(make_shootd(sim.url))
    assert code == 69 and "cannot be opened" in said and "restore a backup" in said


def refused_in_time(d, method, path, **more):
    """Returns the code of the answer. No answer waits for the disk longer than 32 s: a command may take 30 s, and 2 s more."""
    began = time.monotonic()
    answer = d.http.request(method, path, **more)
    assert time.monotonic() - began < 40 * max(harness.PATIENCE, 1), answer.text
    assert answer.status_code == 503 and answer.json()["code"] in ("store_unavailable", "outcome_unknown"), answer.text
    assert int(answer.headers["Retry-After"]) >= 1
    return answer.json()["code"]


def refused_with_words(d, words):
    """A refused write and the readiness report both state the reason."""
    told = wait_until(lambda: d.http.get("/readyz").status_code == 503 and
                      d.http.put(d.clusters_path("dev"), json={"labels": {"not": "stored"}}), what="the state of the store")
    assert (told.status_code, told.json()["code"]) == (503, "store_unavailable") and words in told.json()["detail"], told.text
    assert words in d.http.get("/readyz?verbose").text and str(d.state) not in told.text


@pytest.mark.parametrize("first", ["create", pytest.param("token", marks=pytest.mark.skipif(
    harness.SANITIZED, reason="half a minute of waiting: once is enough under a sanitizer"))])
def test_a_full_disk_is_answered_in_time_and_heals(sim, shootd, first):
    """A limit of the file size replaces the full disk. The first change meets the fault and waits for its outcome. A change refused as
    store_unavailable did not happen; any other either happened or did not, and this never changes later."""
    shootd.create("dev")
    shootd.wait_phase("dev", "ready")
    token = shootd.http.post("/v1/tokens", json={"name": "other", "role": "viewer", "projects": ["*"]}).json()
    as_other = {"Authorization": "Bearer " + token["token"]}
    requests = {
        "labels": ("PUT", shootd.clusters_path("dev"), {"json": {"labels": {"team": "web"}}}),
        "token": ("DELETE", "/v1/tokens/" + token["id"], {}),
        "create": ("POST", shootd.clusters_path(), {"json": {"name": "late"}}),
    }
    pid = shootd.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        began = time.monotonic()
        codes = {}
        for name in sorted(requests, key=lambda name: name != first):
            method, path, more = requests[name]
            codes[name] = refused_in_time(shootd, method, path, **more)
        assert time.monotonic() - began < 2 * 40 * harness.PATIENCE, "one deadline for all that wait"
        refused_with_words(shootd, "file size limit reached")
        assert shootd.cluster("dev").status_code == 200, "reads go on"
        ready = shootd.http.get("/readyz")
        assert ready.status_code == 503 and "store" in ready.text
        assert shootd.process.popen.poll() is None, signal.Signals.SIGXFSZ.name
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
    wait_until(lambda: shootd.http.get("/readyz").status_code == 200, timeout=40, what="the store to recover")
    assert "store has recovered" in shootd.log()  # log lines in between met the same limit

    def state():
        return {"labels": shootd.cluster("dev").json()["labels"], "late": shootd.cluster("late").status_code,
                "token": shootd.http.get("/v1/whoami", headers=as_other).status_code}
    behind = shootd.http.post("/v1/tokens", json={"name": "behind", "role": "viewer", "projects": ["*"]})
    assert behind.status_code == 201, "stored after all that still waited"
    healed = state()
    old = {"labels": ("labels", {}), "token": ("token", 200), "create": ("late", 404)}
    new = {"labels": {"team": "web"}, "token": 401, "create": 200}
    for name, (member, value) in old.items():
        assert healed[member] == value or codes[name] == "outcome_unknown" and healed[member] == new[name], (name, codes, healed)
    shootd.kill()
    shootd.start()
    assert state() == healed, codes
    accepted = shootd.http.put(shootd.clusters_path("late"), json={})
    assert accepted.status_code in (200, 202)
    shootd.wait_phase("late", "ready")
    shootd.kill()
    shootd.start()
    assert shootd.cluster("late").status_code == 200


def test_a_failed_create_gives_way_only_to_one_that_is_stored(sim, shootd):
    d = shootd.wait_upstream()
    sim.fault("create_shoot", "status", status=400, body='{"error": {"code": 400, "message": "the flavor is gone"}}')
    d.create("dev")
    failed = d.wait_phase("dev", "failed")
    pid = d.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            again = pool.submit(web.post, d.url + d.clusters_path(), json={"name": "dev"}, headers=d.http.headers, timeout=90)
            wait_until(lambda: d.http.get("/readyz").status_code == 503, what="the fault")
        finally:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        made = again.result()
    assert made.status_code == 202 and made.json()["id"] != failed["id"], made.text
    d.wait_phase("dev", "ready")


def test_a_file_system_that_is_full_heals(sim, make_shootd, small_disk):
    d = make_shootd(sim.url, name="disk/shootd").start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    filler = d.state / "filler"
    with filler.open("wb", buffering=0) as out, pytest.raises(OSError, match="No space left"):
        while True:
            out.write(b"x" * 4096)
    for i in range(3000):  # changes are accepted while the log of the database has space
        began = time.monotonic()
        refused = d.http.put(d.clusters_path("dev"), json={"labels": {"n": str(i)}})
        if refused.status_code != 200:
            break
    assert time.monotonic() - began < 40 * max(harness.PATIENCE, 1), "answered, not left waiting"
    assert refused.status_code == 503 and refused.json()["code"] in ("store_unavailable", "outcome_unknown"), refused.text
    refused_with_words(d, "disk full")
    assert d.cluster("dev").status_code == 200
    filler.unlink()
    wait_until(lambda: d.http.get("/readyz").status_code == 200, timeout=40, what="the store to recover")
    assert d.http.put(d.clusters_path("dev"), json={"labels": {"n": "last"}}).status_code == 200
    d.kill()
    d.start()
    assert d.cluster("dev").json()["labels"] == {"n": "last"}
    d.stop()
