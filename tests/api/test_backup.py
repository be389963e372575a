"""`shootd backup` beside a daemon that writes, and `shootd restore`: the restored store has every change that was acknowledged before
the backup."""

import errno
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import threading
import time

import pytest

from harness import BUILD, FULL, SANITIZED, size, wait_until
from streams import Stream

TIMES = 5 if SANITIZED else size(10, 40)
MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}


def run(command, d, *argv):
    done = subprocess.run([BUILD / "shootd", command, "--config", d.config, *argv], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def backup(d, to, *argv):
    code, said, errors = run("backup", d, "--to", to, *argv)
    assert (code, errors) == (0, "")
    return {name: value for name, value in (re.split(r" +", line, maxsplit=1) for line in said.splitlines())}


def restore(d, path, *argv):
    code, said, errors = run("restore", d, "--from", path, *argv)
    assert (code, errors) == (0, ""), errors
    return said


def check_store(*argv):
    done = subprocess.run([BUILD / "shootd", "check-store", *argv], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


class Writer(threading.Thread):
    """Changes labels of a cluster until it is stopped. It stores the acknowledged changes and the duration of each."""

    def __init__(self, d):
        super().__init__()
        self.d, self.stopping, self.acknowledged, self.times = d, threading.Event(), 0, []
        self.start()

    def run(self):
        while not self.stopping.is_set():
            value = str(self.acknowledged + 1)
            began = time.monotonic()
            answer = self.d.http.patch(self.d.clusters_path("dev"), json={"labels": {"n": value}},
                                       headers=MERGE_PATCH)
            assert answer.status_code in (200, 202), answer.text
            self.times.append(time.monotonic() - began)
            self.acknowledged += 1

    def stop(self):
        self.stopping.set()
        self.join()


@pytest.fixture
def busy(sim, shootd):
    shootd.wait_upstream()
    shootd.create("dev")
    shootd.wait_phase("dev", "ready")
    return shootd


def restored(make_shootd, sim, d, path, name):
    """A daemon with only the configuration and the backup."""
    r = make_shootd(sim.url, name=name)
    restore(r, path, "--without-secrets")
    (r.state / "admin-token").write_text(d.token())
    return r


def begun(sim, d, name):
    """The id of the operation that makes the cluster, once the create was sent. A restored operation whose create was not begun would
    find a cluster that was made after the backup, and which it does not own."""
    sent = len(sim.requests("create_shoot"))
    id = d.create(name)["operation"]["id"]
    wait_until(lambda: d.operation(id)["status"] == "running" and len(sim.requests("create_shoot")) > sent, what="the create to be sent")
    return id


def is_open_in(path, operation):
    with sqlite3.connect(path) as db:
        ((finished_at,),) = db.execute("SELECT finished_at FROM operations WHERE id = ?", (operation,)).fetchall()
    db.close()
    return finished_at == 0


def test_backups_under_writes_are_whole_and_operations_go_on(sim, busy, make_shootd, tmp_path):
    """Operations that are open in a backup end after the restore: their calls are read back, and nothing is sent twice."""
    copies, slow = [], {}
    with sim.lasting("create"):
        writer = Writer(busy)
        for i in range(TIMES):
            if i % 3 == 0:
                slow[f"slow-{i}"] = begun(sim, busy, f"slow-{i}")
            before = writer.acknowledged
            wait_until(lambda: writer.acknowledged > before + 5, what="writes")
            least = writer.acknowledged
            copies.append((least, dict(slow), backup(busy, tmp_path / f"copy-{i}.db")))
        writer.stop()
        events = busy.events()
        busy.stop()
    sim.forget()
    for i, (least, begun_before, told) in enumerate(copies):
        assert all(is_open_in(told["backup"], id) for id in begun_before.values())
        r = restored(make_shootd, sim, busy, told["backup"], f"r{i}").start()
        assert int(r.cluster("dev").json()["labels"]["n"]) >= least
        upto = int(told["events"].removeprefix("up to "))
        assert [e for e in r.events() if e["sequence"] <= upto] == [e for e in events if e["sequence"] <= upto]
        assert r.http.get("/version").json()["store_id"] == told["id"]
        for name, id in begun_before.items():
            ended = r.wait_operation(id)
            assert ended["status"] == "succeeded", ended
            assert r.cluster(name).json()["status"]["phase"] == "ready" and r.cluster(name).json()["managed"]
        r.stop()
    assert not sim.requests("create_shoot"), "nothing is sent a second time"


def test_a_create_that_prepared_its_project_in_the_backup_is_found(sim, make_shootd, tmp_path):
    """The call that prepares the project is under way in the backup; the cluster is made after it."""
    d = make_shootd(sim.url).start()
    d.wait_upstream()
    sim.fault("bootstrap", "delay", delay_ms=60000)
    id = d.create("dev")["operation"]["id"]
    wait_until(lambda: d.operation(id)["steps"][0]["status"] == "sending", what="the project to be prepared")
    copy = backup(d, tmp_path / "copy.db", "--with-seal-key")["backup"]
    sim.clear_faults()
    assert d.wait_operation(id)["status"] == "succeeded"
    d.kill()
    restore(d, copy)
    sim.forget()
    d.start()
    ended = d.wait_operation(id)
    assert ended["status"] == "succeeded", ended
    assert d.cluster("dev").json()["managed"] and not sim.requests("create_shoot") and not sim.requests("bootstrap")


def with_many_events(path):
    """Adds about 50 MiB, so that a backup takes time."""
    with sqlite3.connect(path) as db:
        (last,) = db.execute("SELECT max(sequence) FROM events").fetchone()
        db.execute("""WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
                   INSERT INTO events (sequence, id, type, project, cluster, at, body)
                   SELECT sequence + i, printf('evt_%026d', i), type, project, cluster, at, body || printf('%600s', '') FROM events, n
                   WHERE sequence = ?""", (last,))
        db.execute("UPDATE meta SET value = value + 50000 WHERE key = 'event_sequence'")
    db.close()


@pytest.mark.skipif(SANITIZED, reason="measures time")
def test_no_write_waits_for_a_backup(sim, busy, tmp_path):
    """Half of the writes beside a backup are as fast as without one. With FULL=1, on a quiet machine, the slowest write takes at most
    50 ms longer than the slowest of as many writes without a backup; beside other tests the slowest of both kinds take 0.1 to 0.5 s.
    Other processes use the disk, too, so one good backup of three is enough."""
    busy.stop()
    with_many_events(busy.state / "shootd.db")
    busy.start().wait_upstream()
    writer = Writer(busy)
    wait_until(lambda: writer.acknowledged > 50, what="writes")
    rounds = []

    def is_waited_for(i):
        """Whether writes wait for the backup, or were too few to tell. It measures as many writes beside a backup as without one. The
        first of each kind is left out, because it may have begun earlier."""
        first = len(writer.times)
        assert int(backup(busy, tmp_path / f"copy-{i}.db")["bytes"]) > 30e6
        last = len(writer.times)
        if last - first <= 10:
            rounds.append([f"{last - first} writes"])
            return True
        wait_until(lambda: len(writer.times) >= 2 * last - first, timeout=60, what="as many writes without a backup")
        beside, calm = writer.times[first + 1:last], writer.times[last + 1:2 * last - first]
        rounds.append([f"{f(times) * 1000:.1f} ms" for f in (statistics.median, max) for times in (beside, calm)])
        return statistics.median(beside) > statistics.median(calm) * 3 + 0.002 or FULL and max(beside) > max(calm) + 0.05
    try:
        assert not all(is_waited_for(i) for i in range(3)), rounds
        print(rounds)
    finally:
        writer.stop()


def test_the_store_of_before_is_kept(sim, busy, tmp_path):
    path = tmp_path / "copy.db"
    told = backup(busy, path)
    assert path.stat().st_mode & 0o777 == 0o600 and told["checked"] == "ok" and int(told["bytes"]) == path.stat().st_size
    busy.create("later")
    busy.wait_phase("later", "ready")
    code, said, errors = run("restore", busy, "--from", path)
    assert (code, said) == (69, "") and "is in use by process" in errors and "\nto do      stop shootd" in errors
    assert busy.cluster("later").status_code == 200
    busy.stop()
    kept = re.search(r"^before     kept as (.*)$", restore(busy, path), re.M)[1]
    code, said, _ = check_store(kept)
    assert code == 0 and "clusters 2" in said
    busy.start()
    assert busy.cluster("dev").json()["managed"]
    wait_until(lambda: busy.cluster("later").status_code == 200, what="what Cleura shows")
    assert not busy.cluster("later").json()["managed"]


def test_a_store_that_was_killed_keeps_its_last_writes(sim, busy, tmp_path):
    """A killed daemon leaves a write-ahead log beside the database; only both together are the store."""
    path = tmp_path / "copy.db"
    busy.kill()
    assert (busy.state / "shootd.db-wal").stat().st_size > 0
    told = backup(busy, path)
    for file in busy.state.glob("shootd.db*"):
        file.unlink()
    restore(busy, path)
    busy.start()
    assert busy.events()[-1]["sequence"] >= int(told["events"].removeprefix("up to "))
    assert busy.cluster("dev").json()["managed"]


def test_changes_after_the_backup(sim, busy, make_shootd, tmp_path):
    """docs/operations.md, "Restore": changes after the backup exist at Cleura; shootd neither undoes nor repeats them."""
    d = busy
    for name in ("gone", "again"):
        d.create(name)
    before = d.http.patch(d.clusters_path("dev"), json={"spec": {"node_pools": [{"name": "default", "maximum": 5}]}}, headers=MERGE_PATCH).json()
    d.wait_operation(before["operation"]["id"])
    for name in ("gone", "again", "dev"):
        wait_until(lambda name=name: (s := d.cluster(name).json()["status"])["phase"] == "ready" and not s["settling"], what=name)
    revoked = d.http.post("/v1/tokens", json={"name": "x", "role": "viewer", "projects": ["*"]}).json()
    sim.fault("*", "status", status=503, count=0)
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["breaker"] == "open", what="the breaker")
    made = [d.create(name)["operation"]["id"] for name in ("early", "second")]
    deleted = d.http.delete(d.clusters_path("again")).json()["operation"]["id"]
    copy = backup(d, tmp_path / "copy.db", "--with-seal-key")["backup"]
    sim.clear_faults()
    assert [d.wait_operation(id)["status"] for id in (*made, deleted)] == ["succeeded"] * 3
    d.create("again")  # another cluster with the same name
    other = d.wait_phase("again", "ready")["observed"]["uid"]
    d.http.delete(d.clusters_path("gone"))
    d.wait_gone("gone")
    d.http.delete(f"/v1/tokens/{revoked['id']}")
    changed = d.http.patch(d.clusters_path("dev"), json={"spec": {"node_pools": [{"name": "default", "maximum": 7}]}}, headers=MERGE_PATCH).json()
    d.wait_operation(changed["operation"]["id"])
    with sim.lasting("create"):
        d.create("late")
        wait_until(lambda: d.cluster("late").json()["status"]["phase"] == "creating", what="the create to be under way")
        d.kill()
        sim.forget()
        restore(d, copy)
        d.start()
        assert d.wait_phase("late", "creating")["managed"] is False
    assert [d.wait_operation(id)["status"] for id in (*made, deleted)] == ["succeeded"] * 3
    d.wait_gone("gone")
    assert not d.wait_phase("late", "ready")["managed"]
    dev = d.cluster("dev").json()
    assert dev["managed"] and dev["observed"]["node_pools"][0]["maximum"] == 7 and dev["spec"]["node_pools"][0]["maximum"] == 5
    assert [(one["found"], one["wanted"]) for one in dev["drift"]] == [(7, 5)], dev["drift"]
    assert [d.cluster(name).json()["managed"] for name in ("early", "second", "again")] == [True, True, False]
    assert d.cluster("again").json()["observed"]["uid"] == other, "what was made since under the name is not deleted"
    sent = {r["operation"] for r in sim.requests() if r["method"] != "GET"}
    assert sent <= {"validate_token"}, "nothing is done again"
    assert d.http.get("/v1/whoami", headers={"Authorization": f"Bearer {revoked['token']}"}).status_code == 200, "revoke it again"


def test_a_restore_repeats_nothing_that_was_undone_since(sim, make_shootd, tmp_path, any_generation):
    """Operations that are open in the backup were carried out since then, and undone. They are not carried out again."""
    d = make_shootd(sim.url, api=any_generation).start()
    pools = [{"name": "a", "maximum": 2}, {"name": "b"}]
    for name in ("pools", "awake", "size"):
        d.create(name, spec={"node_pools": pools})
    for name in ("pools", "awake", "size"):
        wait_until(lambda name=name: (s := d.cluster(name).json()["status"])["phase"] == "ready" and not s["settling"], what=name)

    def accepted(answer):
        assert answer.status_code == 202, answer.text
        return answer.json()["operation"]["id"]

    def change(name, **spec):
        return accepted(d.http.patch(d.clusters_path(name), json={"spec": spec}, headers=MERGE_PATCH))

    def power(verb):
        return accepted(d.http.post(d.clusters_path("awake") + "/actions/" + verb))

    sim.fault("create_shoot", "delay", delay_ms=60000)
    again = d.create("again")["operation"]["id"]
    wait_until(lambda: d.operation(again)["steps"][-2]["status"] == "sending", what="the create to be on its way")
    # its answer keeps the lane, so the other calls are not sent yet
    is_open = [change("pools", node_pools=pools[:1]), power("hibernate"), change("size", node_pools=[{"name": "a", "maximum": 5}, {"name": "b"}]),
               accepted(d.http.delete(d.clusters_path("again")))]
    copy = backup(d, tmp_path / "copy.db", "--with-seal-key")["backup"]
    assert all(is_open_in(copy, id) for id in is_open)
    sim.clear_faults()
    for id in is_open:
        assert d.wait_operation(id)["status"] == "succeeded", d.operation(id)
    undone = [change("pools", node_pools=pools), power("wake"), change("size", node_pools=[{"name": "a", "maximum": 3}, {"name": "b"}]),
              d.create("again")["operation"]["id"]]
    for id in undone:
        assert d.wait_operation(id)["status"] == "succeeded", d.operation(id)
    before = sim.http.get("/_sim/state").json()["shoots"]
    d.kill()
    restore(d, copy)
    sim.forget()
    for operation in ("list_shoots", "get_shoot"):
        sim.fault(operation, "status", status=502, count=0)
    d.start()
    for method, path in (("DELETE", d.clusters_path("again")), ("POST", d.clusters_path("awake") + "/actions/hibernate"),
                         ("PUT", d.clusters_path("size"))):
        body = {"json": {"spec": {"node_pools": pools}}} if method == "PUT" else {}
        joined = d.http.request(method, path, **body)
        assert joined.status_code == 409 and joined.json()["code"] == "cluster_busy", "no request joins an operation that will fail"
    sim.clear_faults()
    ended = [d.wait_operation(id) for id in is_open]
    assert [(op["status"], op["error"]["code"]) for op in ended] == [("failed", "store_restored")] * 4, ended
    assert d.operation(again)["status"] in ("cancelled", "failed"), d.operation(again)
    assert [r for r in sim.requests() if r["method"] != "GET" and "token" not in r["operation"]] == []
    after = sim.http.get("/_sim/state").json()["shoots"]
    assert [(s["name"], s["uid"], s["spec"]) for s in after] == [(s["name"], s["uid"], s["spec"]) for s in before]
    for name in ("pools", "awake", "size", "again"):
        wait_until(lambda name=name: d.cluster(name).json()["status"]["phase"] == "ready", what=f"{name} to be shown as it is")


# SQL that takes a store back by one schema, as far as the rows allow: {newest schema: SQL}. A new migration needs a line here.
TAKE_BACK = {10: "DROP INDEX audit_behind; DROP INDEX audit_latest; ALTER TABLE audit DROP COLUMN latest",
             11: "; ".join(f"ALTER TABLE subscriptions DROP COLUMN {name}" for name in ("failing_since", "last_at", "last_status", "last_result"))}


def take_back(path):
    """Takes the store back to the previous schema; returns the newest one."""
    with sqlite3.connect(path) as db:
        (newest,) = db.execute("PRAGMA user_version").fetchone()
        db.executescript(TAKE_BACK[newest])
        db.execute(f"PRAGMA user_version = {newest - 1}")
    db.close()
    return newest


def test_the_way_back_from_an_upgrade(sim, busy):
    """docs/operations.md, "Upgrade": a store of an older schema is copied and then upgraded; the copy is an ordinary backup."""
    busy.stop()
    newest = take_back(busy.state / "shootd.db")
    copy = busy.state / f"backup-v{newest - 1}-shootd.db"
    assert check_store("--config", busy.config)[0] == 0
    busy.start()
    assert "database migrated" in busy.log() and copy.stat().st_mode & 0o777 == 0o600
    busy.create("later")
    busy.stop()
    assert f"schema     {newest - 1}, which the next start of shootd upgrades to {newest}\n" in check_store(copy)[1]
    good = (busy.state / "seal.key").read_bytes()
    (busy.state / "seal.key").write_bytes(good[::-1])
    code, said, errors = run("restore", busy, "--from", copy)
    assert (code, said) == (69, "") and "seal.key is not the key of the backup: a restore would lose the token of 1 account" in errors
    (busy.state / "seal.key").write_bytes(good)
    said = restore(busy, copy)
    assert f"schema     {newest - 1}\n" in said and said.endswith("seal.key   not changed: it fits the backup\n"), said
    busy.start()
    assert busy.cluster("dev").json()["managed"]


def damaged(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2:len(content) // 2 + 8192] = b"\x55" * 8192
    path.write_bytes(content)


def of_another_program(path):
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (a)")
    db.close()


def newer(path):
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()


TAKE_ANOTHER = r"\nto do      nothing was changed: take the newest backup that `shootd check-store BACKUP` finds sound\n$"


@pytest.mark.parametrize("spoil, code, words", [
    (damaged, 69, "(corrupt|malformed|damaged).*" + TAKE_ANOTHER),
    (of_another_program, 69, "not a shootd database.*" + TAKE_ANOTHER),
    (newer, 78, "made by a newer version of shootd\nto do      install that version, or a newer one"),
    (lambda path: path.write_bytes(b""), 69, "there is no store in.*" + TAKE_ANOTHER),
    (pathlib.Path.unlink, 69, "unable to open.*" + TAKE_ANOTHER),
])
def test_an_unsound_backup_is_refused(sim, busy, tmp_path, spoil, code, words):
    path = tmp_path / "copy.db"
    backup(busy, path)
    busy.stop()
    before = {p.name: p.read_bytes() for p in busy.state.iterdir() if p.suffix != ".lock"}
    spoil(path)
    got, said, errors = run("restore", busy, "--from", path)
    assert (got, said) == (code, "") and re.search(words, errors), errors
    assert {p.name: p.read_bytes() for p in busy.state.iterdir() if p.suffix != ".lock"} == before


def test_nothing_is_overwritten(sim, busy, tmp_path):
    taken = tmp_path / "taken.db"
    taken.write_text("mine")
    code, _, errors = run("backup", busy, "--to", taken)
    assert code == 69 and "there is a file of this name" in errors and taken.read_text() == "mine"
    taken = tmp_path / "other.db.json"
    taken.write_text("mine")
    code, _, errors = run("backup", busy, "--to", tmp_path / "other.db")
    assert code == 69 and "File exists" in errors and taken.read_text() == "mine" and not (tmp_path / "other.db").exists()
    code, _, errors = run("backup", busy, "--to", tmp_path / "none" / "copy.db")
    assert code == 69 and "No such file or directory" in errors
    directory = tmp_path / "backups"
    directory.mkdir()
    for to in (str(directory), f"{directory}/"):
        assert re.fullmatch(rf"{directory}/shootd-\d{{8}}T\d{{6}}\.\d{{3}}Z\.db", backup(busy, to)["backup"])
    assert not list(directory.glob("*.tmp"))


def test_the_seal_key_by_choice(sim, busy, make_shootd, tmp_path):
    alone, both = tmp_path / "alone.db", tmp_path / "both.db"
    backup(busy, alone)
    assert backup(busy, both, "--with-seal-key")["seal.key"] == f"{both}.seal.key"
    key = pathlib.Path(f"{both}.seal.key")
    assert key.read_bytes() == (busy.state / "seal.key").read_bytes() and key.stat().st_mode & 0o777 == 0o600
    other = make_shootd(sim.url, name="other").start()
    other.stop()
    theirs = (other.state / "seal.key").read_bytes()
    before = {p.name: p.read_bytes() for p in other.state.iterdir() if p.suffix != ".lock"}
    code, said, errors = run("restore", other, "--from", alone)
    assert (code, said) == (69, "") and "--without-secrets, and do after it: nothing: shootd logs in" in errors
    assert "seal.key is not the key of the backup: a restore would lose the token of 1 account at Cleura\n" in errors, errors
    wrong = pathlib.Path(f"{alone}.seal.key")
    wrong.write_bytes(theirs)
    code, said, errors = run("restore", other, "--from", alone)
    assert (code, said) == (69, "") and "the key beside the backup is not the key of the backup" in errors and "credential" not in errors
    wrong.unlink()
    assert {p.name: p.read_bytes() for p in other.state.iterdir() if p.suffix != ".lock"} == before
    said = restore(other, alone, "--without-secrets")
    assert "seal.key   not changed: it is not the key of the backup\nlost       the token of 1 account at Cleura\nto do      nothing: " in said, said
    assert (other.state / "seal.key").read_bytes() == theirs
    kept = re.search(r"the key of the backup; the old key is kept as (\S+)", restore(other, both))[1]
    assert (other.state / kept).read_bytes() == theirs and (other.state / "seal.key").read_bytes() == key.read_bytes()
    shutil.rmtree(other.state)
    assert "there is no seal.key" in run("restore", other, "--from", alone)[2]
    assert "seal.key   missing; shootd makes a key at its next start\nlost " in restore(other, alone, "--without-secrets")
    assert "seal.key   the key of the backup\n" in restore(other, both)
    said = restore(other, alone)  # the right key is in place
    assert said.endswith("seal.key   not changed: it fits the backup\n"), said
    (busy.state / "seal.key").unlink()
    code, _, errors = run("backup", busy, "--to", tmp_path / "third.db", "--with-seal-key")
    assert code == 69 and "the seal key is not in the state directory" in errors and not (tmp_path / "third.db").exists()


@pytest.mark.parametrize("spoil", [lambda key: key.write_bytes(b""), lambda key: (key.unlink(), key.symlink_to("elsewhere")), lambda key: (key.unlink(), key.mkdir())],
                         ids=["truncated", "link", "directory"])
def test_a_damaged_seal_key_is_put_away(busy, tmp_path, spoil):
    path = tmp_path / "copy.db"
    backup(busy, path, "--with-seal-key")
    good = (busy.state / "seal.key").read_bytes()
    busy.stop()
    spoil(busy.state / "seal.key")
    kept = re.search(r"the key of the backup; the old key is kept as (\S+)", restore(busy, path))[1]
    assert (busy.state / "seal.key").read_bytes() == good and (busy.state / "seal.key").stat().st_mode & 0o777 == 0o600
    assert os.path.lexists(busy.state / kept) and not (busy.state / "seal.key.restored").exists()
    busy.start()
    assert busy.cluster("dev").json()["managed"]


@pytest.mark.parametrize("lost", [False, True], ids=["kept", "lost"])
def test_no_event_number_is_used_twice(busy, tmp_path, lost):
    d = busy
    copy = backup(d, tmp_path / "copy.db", "--with-seal-key")
    of_backup = int(copy["events"].split()[-1])
    d.create("later")
    d.wait_phase("later", "ready")
    seen = d.http.get("/v1/events").json()["newest_sequence"]
    assert seen > of_backup
    d.stop()
    if lost:
        for file in d.state.glob("shootd.db*"):
            file.unlink()
    d.config.write_text(d.config.read_text() + "events: {keep_count: 1000}\n")  # the jump of numbers is not counted as events: the purge at the start counts existing rows
    restore(d, copy["backup"])
    d.start()
    with Stream(d, last=of_backup) as of_before, Stream(d, last=seen) as of_lost, Stream(d, "/v1/events?after=0") as all_of_them:
        for s in (of_before, of_lost, all_of_them):
            s.wait(lambda s: s.events)
            assert s.types[0] == "reset" and s.items()[0]["newest_sequence"] >= seen + 100000 - (seen - of_backup if lost else 0), s.items()
    wait_until(lambda: d.cluster("later").status_code == 200, what="the cluster that the backup does not know")
    found = wait_until(lambda: d.http.get("/v1/events", params={"after": seen}).json()["items"], what="an event about it")
    assert found[0]["sequence"] > seen + 90000
    history = d.http.get("/v1/events").json()["items"]
    assert [e["sequence"] for e in history][:of_backup] == list(range(1, of_backup + 1)), "the events of the backup stay"
    d.kill()
    d.start()
    with Stream(d, last=found[0]["sequence"] - 1) as s:  # the log that the restore began
        s.wait(lambda s: s.events)
        assert s.types[0] != "reset" and s.ids[0] == found[0]["sequence"]


def test_a_backup_that_is_killed_leaves_no_half(busy, tmp_path):
    began = time.monotonic()
    backup(busy, tmp_path / "whole.db")
    whole = time.monotonic() - began
    for i in range(size(6 if SANITIZED else 15, 100)):
        path = tmp_path / f"{i}.db"
        process = subprocess.Popen([BUILD / "shootd", "backup", "--config", busy.config, "--to", path], stdout=subprocess.DEVNULL)
        time.sleep(random.uniform(0, whole))
        process.kill()
        process.wait()
        assert not path.exists() or check_store(path)[0] == 0
    assert busy.http.patch(busy.clusters_path("dev"), json={"labels": {"after": "all"}}, headers=MERGE_PATCH).status_code == 200


def test_a_restore_that_is_killed_leaves_a_store_and_a_key(busy, tmp_path):
    path, larger, key = tmp_path / "backup.db", tmp_path / "larger.db", busy.state / "seal.key"
    backup(busy, path, "--with-seal-key")
    for i in range(30):
        assert busy.http.put(busy.clusters_path("dev"), json={"labels": {f"l{n}": f"{i}-" + "x" * 50 for n in range(30)}}).status_code in (200, 202)
    backup(busy, larger, "--with-seal-key")
    busy.stop()
    good = key.read_bytes()
    began = time.monotonic()
    restore(busy, path)
    whole = time.monotonic() - began
    for _ in range(size(6 if SANITIZED else 15, 100)):
        key.write_bytes(good[::-1])  # another key, which the restore replaces
        process = subprocess.Popen([BUILD / "shootd", "restore", "--config", busy.config, "--from", random.choice([path, larger])], stdout=subprocess.DEVNULL)
        time.sleep(random.uniform(0, whole))
        process.kill()
        process.wait()
        assert key.read_bytes() in (good, good[::-1])
        with sqlite3.connect(f"file:{busy.state / 'shootd.db'}?mode=rw", uri=True) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    restore(busy, path)
    assert key.read_bytes() == good
    busy.start()
    assert busy.cluster("dev").json()["managed"]


def test_a_restore_that_cannot_have_its_key_changes_nothing(busy, tmp_path):
    """If the store cannot be restored, the key is not replaced either."""
    path = tmp_path / "copy.db"
    backup(busy, path, "--with-seal-key")
    key = pathlib.Path(f"{path}.seal.key")
    running = run("restore", busy, "--from", path)
    assert running[0] == 69 and "is in use by process" in running[2]
    busy.stop()
    before = {p.name: p.read_bytes() for p in busy.state.iterdir() if p.suffix != ".lock"}
    good = key.read_bytes()
    key.write_bytes(good[:-1])
    code, said, errors = run("restore", busy, "--from", path)
    assert (code, said) == (69, "") and f"cannot read the seal key {key}" in errors and "\nto do      put the key of the backup there" in errors
    key.write_bytes(bytes(len(good)))
    damaged(path)
    assert run("restore", busy, "--from", path)[0] == 69
    assert {p.name: p.read_bytes() for p in busy.state.iterdir() if p.suffix != ".lock"} == before


# ---- by the daemon ----

def with_backups(make_shootd, sim, keys):
    d = make_shootd(sim.url)
    d.config.write_text(d.config.read_text() + f"backups: {{directory: {d.directory}/backups{keys}}}\n")
    return d


def names(d):
    return sorted(p.name for p in (d.directory / "backups").iterdir() if p.suffix != ".json")


def listed(d):
    return d.http.get("/v1/backups").json()["items"]


def test_an_admin_asks_for_one(sim, make_shootd):
    d = with_backups(make_shootd, sim, ", every: 0s, keep: 2").start().wait_upstream()
    writer = Writer(d) if d.create("dev") and d.wait_phase("dev", "ready") else None
    made = []
    for _ in range(3):
        before = writer.acknowledged
        wait_until(lambda before=before: writer.acknowledged > before, what="a write")
        least = writer.acknowledged
        answer = d.http.post("/v1/backups")
        assert answer.status_code == 201, answer.text
        made.append((least, answer.json()))
    writer.stop()
    assert names(d) == [told["name"] for _, told in made[1:]], "the oldest went"
    assert listed(d) == [told for _, told in made[:0:-1]]
    assert sorted(p.name for p in (d.directory / "backups").glob("*.json")) == [n + ".json" for n in names(d)]
    least, told = made[-1]
    path = d.directory / "backups" / told["name"]
    assert json.loads(pathlib.Path(f"{path}.json").read_text()) == told and told["rows"]["clusters"] == 1 == told["rows"]["operations"]
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        assert told["rows"] == {name: db.execute(f"SELECT count(*) FROM {'subscriptions' if name == 'webhooks' else name}").fetchone()[0]
                                for name in told["rows"]}
    text = d.http.get("/metrics").text
    assert f"shootd_backup_newest_bytes {told['bytes']}\n" in text and "shootd_backup_last_success 1\n" in text
    pathlib.Path(f"{path}.json").write_text("{}")  # without a description only name and size are known
    first = listed(d)[0]
    assert (first["name"], first["bytes"], first["rows"], first["store_id"]) == (told["name"], told["bytes"], None, None)
    assert path.stat().st_size == told["bytes"] and path.stat().st_mode & 0o777 == 0o600
    def audited():  # shootd stores the entry after it answers
        items = d.http.get("/v1/audit", params={"action": "createBackup"}).json()["items"]
        return items if len(items) >= 3 else None
    audit = wait_until(audited, what="the entries of all three")
    assert [a["status"] for a in audit] == [201] * 3
    assert 'shootd_backups_total{outcome="made"} 3\n' in d.http.get("/metrics").text
    d.stop()
    r = restored(make_shootd, sim, d, path, "restored").start()
    assert int(r.cluster("dev").json()["labels"]["n"]) >= least and r.events()[told["last_sequence"] - 1]["sequence"] == told["last_sequence"]


def test_the_list_does_not_wait_for_a_backup_that_is_being_made(sim, make_shootd):
    """In at least one of ten backups, a list begins and is answered while the draft of the backup exists."""
    d = with_backups(make_shootd, sim, ", every: 0s, keep: 2").start().wait_upstream()
    d.create("dev")
    d.wait_phase("dev", "ready")
    d.stop()
    with_many_events(d.state / "shootd.db")
    d.start().wait_upstream()

    def is_being_made():
        return bool(list((d.directory / "backups").glob("*.db.tmp")))

    def listed_meanwhile():
        made = []
        thread = threading.Thread(target=lambda: made.append(d.http.post("/v1/backups")))
        thread.start()
        wait_until(lambda: is_being_made() or made, interval=0.001, what="the draft")
        known = listed(d)
        seen = is_being_made()
        thread.join()
        assert made[0].status_code == 201, made[0].text
        return seen and made[0].json()["name"] not in [one["name"] for one in known]
    assert any(listed_meanwhile() for _ in range(10))
    assert listed(d) and all(one["rows"] for one in listed(d))


def test_one_by_the_clock_also_after_a_restart(sim, make_shootd):
    def newest_is_known():
        return re.search(r"^shootd_backup_newest_timestamp_seconds [1-9]", d.http.get("/metrics").text, re.M)

    d = with_backups(make_shootd, sim, "").start()
    wait_until(newest_is_known, what="the first backup with all that is written beside it")
    first = names(d)
    assert len(first) == 1 and first[0].endswith(".db")
    d.stop()
    (d.directory / "backups" / "mine.db").write_text("no backup of ours")
    d.start()
    wait_until(newest_is_known, what="a look at the directory")
    assert names(d) == ["mine.db", *first], "it is not due for a day"
    d.stop()
    old = d.directory / "backups" / first[0]
    old.rename(old.with_name("shootd-20260101T000000.000Z.db"))
    d.start()
    wait_until(lambda: len(names(d)) == 3, what="the next backup")


def test_a_backup_that_cannot_be_made_is_reported(sim, make_shootd):
    d = with_backups(make_shootd, sim, ", every: 0s")
    (d.directory / "backups").write_text("a file is here")
    d.start()
    answer = d.http.post("/v1/backups")
    assert answer.status_code == 503 and answer.json()["code"] == "store_unavailable" and "Not a directory" in answer.json()["detail"]
    assert int(answer.headers["Retry-After"]) > 60
    assert 'shootd_backups_total{outcome="failed"} 1\n' in d.http.get("/metrics").text
    d.stop()
    assert "no backup could be made (backups.directory)" in d.log()


def named(moment):
    return time.strftime("shootd-%Y%m%dT%H%M%S.000Z.db", time.gmtime(moment))


def test_other_stores_share_the_directory(sim, make_shootd):
    """Backups of another store are not removed, and do not count for the next time."""
    other = with_backups(make_shootd, sim, ", every: 0s").start()
    theirs = other.directory / "backups" / other.http.post("/v1/backups").json()["name"]
    other.stop()
    d = make_shootd(sim.url, name="own")
    d.config.write_text(d.config.read_text() + f"backups: {{directory: {d.directory}/backups, every: 24h, keep: 1}}\n")
    directory = d.directory / "backups"
    directory.mkdir(mode=0o700)
    foreign = {named(time.time() + days * 86400) for days in (-400, -0.001, 400)}
    for name in foreign:
        shutil.copy(theirs, directory / name)
        (directory / f"{name}.json").write_text("{}")
        (directory / f"{name}.seal.key").write_text("key")
    d.start()
    first = wait_until(lambda: {n for n in names(d) if n.endswith(".db")} - foreign, what="an automatic backup")
    future = directory / named(time.time() + 300 * 86400)
    shutil.copy(directory / first.pop(), future)
    made = d.http.post("/v1/backups")
    assert made.status_code == 201
    assert {n for n in names(d) if n.endswith(".db")} == foreign | {made.json()["name"]}
    assert all((directory / f"{name}{suffix}").exists() for name in foreign for suffix in (".json", ".seal.key"))


FAILING_SYNC = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int fsync(int fd)
{
    static int seen;
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && ++seen > atoi(getenv("SYNCS_LEFT"))) {
        errno = atoi(getenv("SYNC_ERROR"));
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}
"""


@pytest.fixture
def failing_syncs(tmp_path):
    """The environment of a process whose syncs of directories fail after the first ones."""
    library = tmp_path / "failing_sync.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=FAILING_SYNC, text=True, check=True)
    return lambda left, failure: {**os.environ, "LD_PRELOAD": str(library), "SYNCS_LEFT": str(left), "SYNC_ERROR": str(getattr(errno, failure))}


@pytest.mark.skipif(SANITIZED, reason="a sanitizer wants to be loaded first")
def test_a_rotation_in_a_directory_that_cannot_be_synced(busy, failing_syncs):
    """The key of the store is seal.key at every end, and a failure changes nothing."""
    busy.stop()
    seen, key = set(), busy.state / "seal.key"
    for left in range(5):
        before = key.read_bytes()
        done = subprocess.run([BUILD / "shootd", "rotate-seal-key", "--config", busy.config], capture_output=True, text=True, timeout=60, check=False,
                              env=failing_syncs(left, "EIO"))
        code, said, _ = check_store("--config", busy.config)
        assert code == 0 and re.search(r"^seal key +fits$", said, re.M), (left, done, said)
        assert not (busy.state / "seal.key.next").exists(), (left, done)
        assert done.returncode == (69 if key.read_bytes() == before else 0), (left, done)
        assert ("nothing was changed" in done.stderr) == (done.returncode == 69), (left, done)
        seen.add(done.returncode)
    assert seen == {0, 69}


@pytest.mark.skipif(SANITIZED, reason="a sanitizer wants to be loaded first")
@pytest.mark.parametrize("failure", ["EIO", "EINVAL"])
def test_a_directory_that_cannot_be_synced(busy, tmp_path, failing_syncs, failure):
    """Each failed sync leaves the old store with the old key, or the restored store with its key. The command says which."""
    path = tmp_path / "copy.db"
    backup(busy, path, "--with-seal-key")
    busy.create("later")
    busy.wait_phase("later", "ready")
    busy.stop()
    good = (busy.state / "seal.key").read_bytes()
    kept = {p.name: p.read_bytes() for p in busy.state.iterdir() if p.suffix != ".lock"}
    seen = set()
    for left in range(5):
        for p in busy.state.iterdir():
            p.unlink()
        for name, content in kept.items():
            (busy.state / name).write_bytes(content)
            (busy.state / name).chmod(0o600)
        (busy.state / "seal.key").write_bytes(good[::-1])
        done = subprocess.run([BUILD / "shootd", "restore", "--config", busy.config, "--from", path], capture_output=True, text=True, timeout=60, check=False,
                              env=failing_syncs(left, failure))
        with sqlite3.connect(busy.state / "shootd.db") as db:
            is_restored = db.execute("SELECT count(*) FROM clusters").fetchone() == (1,)
        db.close()
        assert (busy.state / "seal.key").read_bytes() == (good if is_restored else good[::-1]), done
        assert not (busy.state / "seal.key.restored").exists(), done
        assert ("\nrestored" in f"\n{done.stdout}") == is_restored, done
        assert done.returncode == (69 if "Input/output error" in done.stderr else 0), done
        assert ("the backup is restored, but a power failure may undo it" in done.stderr) == (is_restored and done.returncode == 69), done
        seen.add((is_restored, done.returncode))
    assert seen == ({(True, 0)} if failure == "EINVAL" else {(False, 69), (True, 69), (True, 0)})


def orphan(path):
    """Adds a row whose parent does not exist: SQLite's integrity check finds nothing, its check of foreign keys does."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        columns = db.execute("PRAGMA table_info(deliveries)").fetchall()
        values = ["'pending'" if c[1] == "status" else f"x'{'1' * 32}'" if "BLOB" in c[2] else "1" if "INT" in c[2] else "'zz'" for c in columns]
        db.execute(f"INSERT INTO deliveries VALUES ({', '.join(values)})")
        assert db.execute("PRAGMA foreign_key_check").fetchall()
    db.close()


def test_a_copy_that_fails_its_check_gets_no_name(sim, make_shootd, tmp_path):
    d = with_backups(make_shootd, sim, ", every: 0s, keep: 2").start()
    good = d.http.post("/v1/backups").json()["name"]
    newest = re.compile(r"^shootd_backup_newest_timestamp_seconds (\S+)$", re.M)
    before = float(newest.search(d.http.get("/metrics").text)[1])
    orphan(d.state / "shootd.db")
    for _ in range(3):
        answer = d.http.post("/v1/backups")
        assert answer.status_code == 503 and "foreign_key_check" in answer.json()["detail"], answer.text
        assert names(d) == [good]
    metrics = d.http.get("/metrics").text
    assert abs(float(newest.search(metrics)[1]) - before) < 0.002, "names tell milliseconds"
    assert 'shootd_backups_total{outcome="failed"} 3\n' in metrics
    code, said, errors = run("backup", d, "--to", tmp_path / "copy.db")
    assert (code, said) == (69, "") and "foreign_key_check" in errors and not list(tmp_path.glob("copy.db*"))


def wrong_index(path):
    """Makes an index that differs from its table: a quick check finds nothing."""
    def run(sql, *values):
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA writable_schema = ON")
            rows = db.execute(sql, values).fetchall()
        db.close()
        return rows
    (index,) = run("SELECT * FROM sqlite_schema WHERE name = 'events_at'")
    run("DELETE FROM sqlite_schema WHERE name = 'events_at'")
    run("UPDATE events SET at = at + 1")
    run("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", *index)
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    db.close()


def without_a_table(path):
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE audit")
    db.close()


RESTORE_ONE = "to do      do not use this file: restore a backup"


@pytest.mark.parametrize("spoil, words", [
    (damaged, ["integrity  the file is damaged:\n    \""]),
    (wrong_index, ["integrity  the file is damaged:\n    \"row 1 missing from index events_at\"", "references ok"]),
    (orphan, ["integrity  ok", "references rows without the one that they belong to (foreign_key_check):\n    \"deliveries row 1 belongs to a row of "
                               "subscriptions that is not there\""]),
    (without_a_table, ["but not all of it is there: ", "no such table: audit"]),
])
def test_check_store_tells_what_is_wrong_and_what_to_do(busy, tmp_path, spoil, words):
    path = tmp_path / "copy.db"
    backup(busy, path)
    code, said, errors = check_store(path)
    assert (code, errors) == (0, "") and "integrity  ok\nreferences ok\n" in said and "to do" not in said
    spoil(path)
    before = path.read_bytes()
    code, said, errors = check_store(path)
    assert (code, errors) == (1, "") and f"\n{RESTORE_ONE}" in said and " -1" not in said, said
    assert all(word in said for word in words), said
    assert path.read_bytes() == before


@pytest.mark.parametrize("spoil, code, words", [
    (lambda path: path.write_bytes(b"x" * 8192), 69, "file is not a database.*\nto do      if it is damaged or lost, restore a backup"),
    (lambda path: path.write_bytes(b""), 69, "there is no store in it, the file is empty\nto do      .*restore"),
    (pathlib.Path.unlink, 69, "unable to open.*\nto do      .*restore"),
    (of_another_program, 69, "not a shootd database"),
    (newer, 78, "made by a newer version of shootd\nto do      install that version"),
])
def test_check_store_of_what_is_no_store(busy, tmp_path, spoil, code, words):
    path = tmp_path / "copy.db"
    backup(busy, path)
    spoil(path)
    got, said, errors = check_store(path)
    assert (got, said) == (code, "") and re.search(words, errors), errors


def test_the_store_with_orphans_that_check_store_tells_of_is_refused_and_its_backup_is_not(busy, tmp_path):
    told = backup(busy, tmp_path / "copy.db")
    busy.stop()
    orphan(busy.state / "shootd.db")
    code, said, _ = check_store("--config", busy.config)
    assert code == 1 and "(foreign_key_check)" in said and RESTORE_ONE in said
    start = subprocess.run([BUILD / "shootd", "--config", busy.config], capture_output=True, text=True, timeout=60, check=False)
    assert start.returncode == 69 and "corrupt (foreign_key_check)" in start.stderr
    restore(busy, told["backup"])
    assert check_store("--config", busy.config)[0] == 0
    busy.start()


def test_check_store_knows_each_schema(busy, tmp_path):
    """It checks a store without changing it; an older schema lacks the tables of later ones."""
    path = tmp_path / "copy.db"
    backup(busy, path, "--with-seal-key")
    newest = take_back(path)
    code, said, errors = check_store(path)
    assert (code, errors) == (0, "") and f"schema     {newest - 1}, which the next start of shootd upgrades to {newest}\n" in said
    assert "audit " in said and "put aside  none" in said and "seal key   fits\n" in said
    key = pathlib.Path(f"{path}.seal.key")
    key.write_bytes(key.read_bytes()[::-1])
    code, said, errors = check_store(path)
    assert (code, errors) == (1, "") and "seal key   is not the key of the store" in said
    key.write_bytes(key.read_bytes()[::-1])
    with sqlite3.connect(path) as db:
        for table in ("replays", "audit", "quarantine"):
            db.execute(f"DROP TABLE {table}")
        db.execute("DELETE FROM meta WHERE key = 'store_id'")
        db.execute("PRAGMA user_version = 2")
    db.close()
    code, said, errors = check_store(path)
    assert (code, errors) == (0, "") and "id         none yet\nschema     2, which" in said and "clusters 1, " in said, said
    assert "integrity  ok\nreferences ok\n" in said and "audit" not in said and "put aside" not in said
    orphan(path)
    code, said, _ = check_store(path)
    assert code == 1 and RESTORE_ONE in said


def test_files_of_a_killed_process_are_removed(sim, make_shootd):
    d = with_backups(make_shootd, sim, ", every: 0s")
    directory = d.directory / "backups"
    directory.mkdir()
    left, written, mine = (directory / name for name in ("shootd-20260101T000000.000Z.db.tmp", "shootd-20260102T000000.000Z.db.tmp", "mine.db.tmp"))
    for path, age in ((left, 3700), (written, 0), (mine, 3700)):
        path.write_text("half")
        os.utime(path, (time.time() - age,) * 2)
    d.start()
    made = d.http.post("/v1/backups").json()["name"]
    assert names(d) == sorted([made, written.name, mine.name])


def test_without_a_directory_there_are_none(shootd):
    answer = shootd.http.post("/v1/backups")
    assert answer.status_code == 409 and answer.json()["code"] == "action_not_possible" and "backups.directory" in answer.json()["detail"]
    assert shootd.http.get("/v1/backups").json() == {"items": [], "next_cursor": None}


def test_keys(sim, make_shootd):
    d = make_shootd(sim.url)
    text = d.config.read_text()
    for keys, words in (("directory: backups", "directory: 'backups' must be an absolute path"), ("keep: 0", "keep"), ("every: 10s", "every")):
        d.config.write_text(text + f"backups: {{{keys}}}\n")
        done = subprocess.run([BUILD / "shootd", "--config", d.config, "--check-config"], capture_output=True, text=True, timeout=10, check=False)
        assert done.returncode == 78 and words in done.stderr, done.stderr


@pytest.mark.parametrize("argv", [("backup",), ("restore",), ("--to", "x"), ("check-store", "--from", "x"), ("restore", "--from", "x", "--with-seal-key"), ("backup", "--to", "x", "--without-secrets"),
                                  ("backup", "--to", "x", "more")])
def test_wrong_command_lines(argv):
    done = subprocess.run([BUILD / "shootd", *argv], capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == 64 and "usage: shootd" in done.stderr
