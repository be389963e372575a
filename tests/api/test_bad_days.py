"""Faults of the machine: full, read-only or lost file systems, too few descriptors, a clock that jumps. Reads continue, writes are
refused with the reason, and shootd recovers without a restart where possible."""

import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import time

import httpx
import pytest

import harness
import web
from harness import PATIENCE, SANITIZED, wait_until
from raw import Raw, request
from test_start import run

DAY = 86400
NOBODY = 65534
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


def meet_the_fault(d):
    """A write meets the fault. Its answer may take half a minute, until its outcome is known. test_store.py waits for that answer; this
    client does not."""
    try:
        answer = d.http.put(d.clusters_path("dev"), json={"labels": {"refused": "yes"}}, timeout=2)
        assert answer.status_code == 503 and answer.json()["code"] in ("store_unavailable", "outcome_unknown"), answer.text
    except httpx.ReadTimeout:
        pass


def refused(d, *words):
    """A write is refused with the reason; reads continue."""
    meet_the_fault(d)
    wait_until(lambda: d.http.get("/readyz").status_code == 503, what="the state of the store")
    told = d.http.put(d.clusters_path("dev"), json={"labels": {"refused": "yes"}}).json()
    for word in words:
        assert word in told["detail"], told
        assert word in d.http.get("/readyz?verbose").text
    assert str(d.state) not in told["detail"]
    assert d.cluster("dev").json()["labels"] == {"before": "yes"} and d.http.get("/v1/summary").status_code == 200


def recovered(d):
    wait_until(lambda: d.http.get("/readyz").status_code == 200, timeout=40, what="the store to recover")
    assert d.http.put(d.clusters_path("dev"), json={"labels": {"after": "yes"}}).status_code == 200
    d.kill()
    d.start()
    assert d.cluster("dev").json()["labels"] == {"after": "yes"}


def with_a_cluster(d):
    d.start()
    d.create("dev", labels={"before": "yes"})
    d.wait_phase("dev", "ready")
    return d


def remount(directory, how):
    subprocess.run(["mount", "-o", f"remount,{how}", directory], check=True, timeout=20)


# ---- file systems ----------------------------------------------------------------------------------------------


def test_a_disk_that_is_full_at_the_start(sim, make_shootd, small_disk):
    d = make_shootd(sim.url, name="disk/shootd")
    d.state.mkdir(mode=0o700)
    filler = d.state / "filler"
    with filler.open("wb", buffering=0) as out, pytest.raises(OSError, match="No space left"):
        while True:
            out.write(b"x" * 4096)
    # the log and the configuration are on another file system, as usual
    started = run("--config", d.config)
    assert started.returncode == 69 and "disk full" in started.stderr, started.stderr
    filler.unlink()
    with_a_cluster(d)


def test_a_file_system_that_is_read_only_at_the_start(sim, make_shootd, small_disk):
    d = with_a_cluster(make_shootd(sim.url, name="disk/shootd"))
    d.stop()
    remount(small_disk, "ro")
    started = run("--config", d.config)
    assert started.returncode == 69 and ("Read-only" in started.stderr or "readonly" in started.stderr), started.stderr
    remount(small_disk, "rw")
    d.start()
    assert d.cluster("dev").json()["labels"] == {"before": "yes"}


def test_a_file_system_that_becomes_read_only(sim, make_shootd, tmp_path):
    """Linux makes a faulty file system read-only: open files stay open, and each write fails."""
    image, mounted = tmp_path / "image", tmp_path / "mounted"
    mounted.mkdir()
    if os.geteuid() or not shutil.which("mkfs.ext4"):
        pytest.skip("needs root and mkfs.ext4")
    with image.open("wb") as out:
        out.truncate(32 << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True, timeout=60)
    if subprocess.run(["mount", "-o", "loop,errors=remount-ro", image, mounted], capture_output=True).returncode:
        pytest.skip("no loop devices here")
    d = make_shootd(sim.url)
    try:
        source = next(line.split()[0] for line in open("/proc/mounts", encoding="utf-8") if line.split()[1] == str(mounted))
        trigger = pathlib.Path("/sys/fs/ext4", source.removeprefix("/dev/"), "trigger_fs_error")
        if not trigger.exists():
            pytest.skip("this Linux cannot make a file system faulty")
        d.config.write_text(d.config.read_text().replace(f"state_dir: {d.state}", f"state_dir: {mounted}/state"))
        d.state = mounted / "state"
        with_a_cluster(d)
        trigger.write_text("1")
        refused(d, "read-only")
        assert d.process.popen.poll() is None
    finally:
        d.kill()
        subprocess.run(["umount", "--lazy", mounted], check=True, timeout=20)


@pytest.mark.parametrize("what", ["directory", "file", "replaced"])
def test_a_state_directory_that_is_lost(sim, make_shootd, what):
    """SQLite would continue with the removed file, and the next start would break the promise of each answer."""
    d = with_a_cluster(make_shootd(sim.url))
    aside, other = d.directory / "aside", make_shootd(sim.url, name="other")
    if what == "replaced":
        other.start().stop()
        d.state.rename(aside)
        other.state.rename(d.state)
        before = (d.state / "shootd.db").read_bytes()
    elif what == "directory":
        d.state.rename(aside)
    else:
        aside.mkdir()
        for path in d.state.glob("shootd.db*"):
            path.rename(aside / path.name)
    refused(d, "moved or removed")
    assert d.http.post("/v1/tokens", json={"name": "x", "role": "viewer", "projects": ["*"]}).status_code == 503
    if what == "replaced":
        assert (d.state / "shootd.db").read_bytes() == before, "nothing is written into another store"
        d.state.rename(other.state)
    if what != "file":
        aside.rename(d.state)
    else:
        for path in aside.iterdir():
            path.rename(d.state / path.name)
    recovered(d)


def test_a_lock_file_that_is_removed(sim, make_shootd):
    """A second daemon could lock a new file, so the first one writes no more."""
    d = with_a_cluster(make_shootd(sim.url))
    (d.state / "shootd.db.lock").unlink()
    refused(d, "the lock file was moved or removed")
    d.kill()
    recovered(d.start())


def test_a_store_that_is_lost_is_missed(sim, make_shootd):
    """A start without a store makes one. The log says so when a key shows that there was a store."""
    d, words = with_a_cluster(make_shootd(sim.url)), "there was no store beside seal.key"
    d.stop()
    assert words not in d.log()
    for path in d.state.glob("shootd.db*"):
        path.unlink()
    d.start()
    assert words in d.log()


def test_a_state_directory_that_is_removed(sim, make_shootd):
    d = with_a_cluster(make_shootd(sim.url))
    token = d.token()
    shutil.rmtree(d.state)
    refused(d, "moved or removed")
    d.state.mkdir(mode=0o700)
    refused(d, "moved or removed")
    assert not list(d.state.glob("shootd.db")), "no new store under a running daemon"
    d.kill()
    d.start()  # the store is new: clusters are found at Cleura, old tokens do not exist
    assert d.token() != token
    wait_until(lambda: d.cluster("dev").status_code == 200, what="the cluster to be found")
    assert d.cluster("dev").json()["managed"] is False


def test_another_store_in_the_place_of_ours(sim, make_shootd):
    """After an I/O error the daemon opens the file again; it must find the same store."""
    d = with_a_cluster(make_shootd(sim.url))
    other = make_shootd(sim.url, name="other").start()
    other.stop()
    before = resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        meet_the_fault(d)
        for path in d.state.glob("shootd.db*"):
            if not path.name.endswith(".lock"):
                path.unlink()
        shutil.copy(other.state / "shootd.db", d.state / "shootd.db")
    finally:
        resource.prlimit(d.process.pid, resource.RLIMIT_FSIZE, before)
    refused(d)
    assert d.process.popen.poll() is None
    d.kill()


# ---- owners ----------------------------------------------------------------------------------------------------


@pytest.fixture
def of_nobody(sim):
    """A daemon of an ordinary user; root can take its files away."""
    if os.geteuid():
        pytest.skip("files of another user can be made by root only")
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        program = shutil.copy(harness.BUILD / "shootd", directory / "shootd")
        d = harness.Shootd(directory / "d", sim.url)
        as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--", program, "--config", d.config]
        for path in [directory, *directory.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)

        def start(wait=True):
            d.process = harness.Process(as_nobody, d.log_path)
            if wait:
                d.wait_ready()
        d.start = start
        yield d
        d.kill()


def give(paths, user):
    for path in paths:
        os.chown(path, user, user)
        path.chmod(0o700 if path.is_dir() else 0o600)


def cannot_start(d, *words):
    before = len(d.log())
    d.start(wait=False)
    assert d.process.popen.wait(30) == 69
    for word in words:
        assert word in d.log()[before:], d.log()[before:]


def test_a_state_directory_of_another_owner(of_nobody):
    """Open files can still be written, but the next start could not open them by name. It counts as a moved directory until the owner is
    restored."""
    d = with_a_cluster(of_nobody)
    give([d.state], 0)
    refused(d, "permission denied", "owner and mode of the state directory")
    assert d.process.popen.poll() is None
    give([d.state], NOBODY)
    wait_until(lambda: d.http.get("/readyz").status_code == 200, timeout=40, what="the store to recover")
    give([d.state], 0)
    d.kill()
    cannot_start(d, "state directory", "Permission denied")
    give([d.state], NOBODY)
    d.start()
    recovered(d)


def test_a_database_of_another_owner(of_nobody):
    """The open file stays writable; the next start reports the fault."""
    d = with_a_cluster(of_nobody)
    give(d.state.glob("shootd.db*"), 0)
    for labels in ({"n": "1"}, {"n": "2"}):
        assert d.http.put(d.clusters_path("dev"), json={"labels": labels}).status_code == 200
        assert d.cluster("dev").json()["labels"] == labels and d.http.get("/readyz").status_code == 200
    d.kill()
    cannot_start(d, "database cannot be used", "shootd.db.lock: Permission denied")
    give([d.state / "shootd.db.lock"], NOBODY)
    cannot_start(d, "database cannot be used", "unable to open database file")
    give(d.state.glob("shootd.db*"), NOBODY)
    d.start()
    assert d.cluster("dev").json()["labels"] == {"n": "2"}, "what was answered is there"
    recovered(d)


# ---- descriptors -----------------------------------------------------------------------------------------------


FEW = 64


def started_with_few(d):
    d.process = harness.Process(["prlimit", f"--nofile={FEW}:{FEW}", harness.BUILD / "shootd", "--config", d.config], d.log_path)
    d.wait_ready()


def left_with_few(d):
    d.start()
    resource.prlimit(d.process.pid, resource.RLIMIT_NOFILE, (FEW, FEW))


@pytest.mark.parametrize("few", [started_with_few, left_with_few])
def test_few_descriptors(sim, make_shootd, few):
    """64 descriptors: connections wait in the queue of the socket, because Cleura and the store have priority. A connection that sends
    nothing is closed after 20 s; the test must end earlier."""
    d = make_shootd(sim.url)
    few(d)
    assert resource.prlimit(d.process.pid, resource.RLIMIT_NOFILE) == (FEW, FEW)
    d.wait_upstream()  # opens a connection to Cleura
    began = time.monotonic()
    with_open = [Raw(d.port) for _ in range(100)]
    try:
        wait_until(lambda: "cannot accept connections" in d.log(), what="descriptors to be missed")
        asked = time.monotonic()
        made = d.create("dev")
        assert time.monotonic() - asked < 2.5 * PATIENCE
        assert d.wait_operation(made["operation"]["id"])["status"] == "succeeded"
        assert SANITIZED or time.monotonic() - began < 15, "Cleura was asked while all of them were open"
        assert '(account main, status 0)' not in d.log()
        assert d.http.get("/readyz").status_code == 200
        metrics = d.http.get("/metrics").text
        assert "shootd_store_errors_total 0\n" in metrics
        assert int(re.search(r"^process_open_fds (\d+)$", metrics, re.M)[1]) < FEW
    finally:
        for raw in with_open:
            raw.socket.close()
    with Raw(d.port) as raw:
        assert raw.send(request("GET", "/livez")).read().status == 200
    d.kill()
    d.start()
    assert d.cluster("dev").json()["status"]["phase"] == "ready"


# ---- clocks ----------------------------------------------------------------------------------------------------


class Clock:
    """The wall clock of a process, set by libfaketime; the monotonic clock is not changed."""

    def __init__(self, directory):
        self.path = directory / "faketime"
        self.set(0)

    def set(self, seconds):
        new = self.path.with_suffix(".new")
        new.write_text(f"{seconds:+d}s\n")
        new.rename(self.path)

    def environment(self):
        """Without the last variable each wait for a condition with a time limit ends at once, and the threads of the daemon never rest."""
        return {**os.environ, "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": str(self.path), "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FLSHM": "0", "FAKETIME_FORCE_MONOTONIC_FIX": "0"}


@pytest.mark.skipif(SANITIZED or not os.path.exists(FAKETIME), reason="libfaketime is absent, or cannot be before a sanitizer")
@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_a_clock_that_jumps(sim, make_shootd, receiver, tmp_path, jump):
    d = make_shootd(sim.url)
    clock = Clock(tmp_path)

    def start():
        d.process = harness.Process([harness.BUILD / "shootd", "--config", d.config], d.log_path, env=clock.environment())
        d.wait_ready()

    def life(name):
        made = d.create(name)
        assert d.wait_operation(made["operation"]["id"])["status"] == "succeeded"
        gone = d.http.delete(d.clusters_path(name)).json()
        assert d.wait_operation(gone["operation"]["id"])["status"] == "succeeded"
        wait_until(lambda: [r for r in receiver.of_type("cluster.deleted") if f'"{name}"' in r["body"].decode()], what="the delivery")

    start()
    hook = d.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["*"]})
    assert hook.status_code == 201, hook.text
    slow = d.create("slow")
    clock.set(jump)  # a jump during an operation
    d.wait_operation(slow["operation"]["id"])
    life("here")
    assert d.http.get("/readyz").status_code == 200
    logins = len(sim.requests("login"))
    clock.set(0)  # a jump back
    life("back")
    assert len(sim.requests("login")) <= logins + 1
    d.stop()
    clock.set(jump)  # a jump between two starts
    start()
    assert d.cluster("slow").json()["status"]["phase"] in ("ready", "unknown")
    d.wait_phase("slow", "ready")
    life("later")
    sequences = [e["sequence"] for e in d.events()]
    assert sequences == sorted(set(sequences))
    audit = d.http.get("/v1/audit", params={"limit": 1000}).json()["items"]
    assert len(audit) > 8
    for word in ("Assertion", "store is broken"):
        assert word not in d.log()


@pytest.mark.skipif(SANITIZED or not os.path.exists(FAKETIME), reason="libfaketime is absent, or cannot be before a sanitizer")
def test_an_old_secret_does_not_come_back_with_an_old_clock(sim, make_shootd, receiver, tmp_path):
    d = make_shootd(sim.url)
    clock = Clock(tmp_path)

    def start():
        d.process = harness.Process([harness.BUILD / "shootd", "--config", d.config], d.log_path, env=clock.environment())
        d.wait_ready()

    start()
    token = d.http.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["*"]}).json()
    hook = d.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["webhook.test"]}).json()
    of_token, of_hook = f"/v1/tokens/{token['id']}", f"/v1/webhooks/{hook['id']}"
    for path in (of_token + "/rotate", of_hook + "/rotate-secret"):
        assert d.http.post(path, json={"grace_seconds": 1}).status_code == 200
    wait_until(lambda: d.http.get(of_token).json()["old_secret_ends_at"] is None and len(d.http.get(of_hook).json()["keys"]) == 1, what="the end of the old secrets")
    d.kill()
    clock.set(-3600)
    start()
    assert web.get(d.url + "/v1/whoami", headers={"Authorization": "Bearer " + token["token"]}).status_code == 401
    assert d.http.post(of_hook + "/test").status_code == 202
    sent = wait_until(lambda: receiver.of_type("webhook.test"), what="the delivery")[0]
    assert len(sent["headers"]["webhook-signature"].split()) == 1


@pytest.mark.skipif(SANITIZED or not os.path.exists(FAKETIME), reason="libfaketime is absent, or cannot be before a sanitizer")
def test_ages_go_on_when_the_clock_is_set_back(sim, make_shootd, tmp_path):
    d = make_shootd(sim.url)
    clock = Clock(tmp_path)
    d.process = harness.Process([harness.BUILD / "shootd", "--config", d.config], d.log_path, env=clock.environment())
    d.wait_ready()
    d.create("dev")
    d.wait_phase("dev", "ready")
    sim.post("down", down=True)
    clock.set(-600)
    wait_until(lambda: d.cluster("dev").json()["status"]["stale"], what="stale to be stated")
    one, all_of_them = (lambda: int(d.cluster("dev").headers["age"])), (lambda: int(d.http.get(d.clusters_path()).headers["age"]))
    before = one()
    wait_until(lambda: one() >= before + 2 and all_of_them() >= before + 2, what="the age to grow")
    for family in ("shootd_upstream_last_contact_age_seconds", "shootd_project_oldest_observation_age_seconds"):
        wait_until(lambda: float(re.search(rf"^{family}{{.*}} (\S+)$", d.http.get("/metrics").text, re.M)[1]) >= 2, what=family)


@pytest.mark.skipif(SANITIZED or not os.path.exists(FAKETIME), reason="libfaketime is absent, or cannot be before a sanitizer")
def test_a_minute_that_begins_before_the_body_reserves_no_key(sim, make_shootd, tmp_path):
    """The check of the body notes the use of the token in the new minute. The note must not reserve the key of its request."""
    d, clock = make_shootd(sim.url), Clock(tmp_path)
    d.process = harness.Process([harness.BUILD / "shootd", "--config", d.config], d.log_path, env=clock.environment())
    d.wait_ready()
    body, operations = '{"name": "dev"}', set()
    for minute in range(1, 5):
        with Raw(d.port) as raw:
            raw.send(request("POST", d.clusters_path(), "Content-Type: application/json", f"Content-Length: {len(body)}", "Expect: 100-continue",
                             "Idempotency-Key: minute-0123456789", token=d.token()))
            assert raw.read().status == 100  # the head was checked
            clock.set(61 * minute)
            answer = raw.send(body).read()
        assert answer.status == 202, answer
        operations.add(answer.json()["operation"]["id"])
    assert len(operations) == 1


@pytest.mark.skipif(SANITIZED or not os.path.exists(FAKETIME), reason="libfaketime is absent, or cannot be before a sanitizer")
def test_a_clock_that_is_ahead_for_a_moment_removes_nothing(sim, make_shootd, tmp_path):
    d = make_shootd(sim.url)
    clock = Clock(tmp_path)

    def start():
        d.process = harness.Process([harness.BUILD / "shootd", "--config", d.config], d.log_path, env=clock.environment())
        d.wait_ready()

    def kept():
        return {path: [i["id"] for i in d.http.get(path).json()["items"]] for path in ("/v1/tokens", "/v1/operations?status=succeeded")}

    start()
    token = d.http.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["*"], "expires_in_days": 1}).json()
    made = d.http.post(d.clusters_path(), json={"name": "dev"}, headers={"Idempotency-Key": "clock-that-is-ahead"})
    d.wait_operation(made.json()["operation"]["id"])
    before, events = kept(), [e["sequence"] for e in d.events()]
    audit = len(d.http.get("/v1/audit", params={"limit": 1000}).json()["items"])
    assert token["id"] in before["/v1/tokens"] and made.json()["operation"]["id"] in before["/v1/operations?status=succeeded"]
    d.stop()
    clock.set(120 * DAY)  # the start also does the hourly purge
    start()
    wait_until(lambda: "the wall clock jumped ahead" in d.log(), what="the jump to be seen")
    wait_until(lambda: d.cluster("dev").json()["status"]["stale"] is False, what="a look at Cleura")
    clock.set(0)
    d.stop()
    start()
    assert kept() == before
    assert [e["sequence"] for e in d.events()][:len(events)] == events
    assert len(d.http.get("/v1/audit", params={"limit": 1000}).json()["items"]) >= audit
    again = d.http.post(d.clusters_path(), json={"name": "dev"}, headers={"Idempotency-Key": "clock-that-is-ahead"})
    assert again.status_code == made.status_code and again.json()["operation"]["id"] == made.json()["operation"]["id"]
    d.http.get("/v1/whoami", headers={"Authorization": "Bearer " + token["token"]}).raise_for_status()
