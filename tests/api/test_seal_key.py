"""The seal key: a command replaces it, and at every moment one key opens everything. Reports when it does not fit."""

import base64
import hashlib
import hmac
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from harness import BUILD, Receiver, SANITIZED, size, wait_until

HEADER = "Bearer of-the-receiver-1234"


def run(command, d, *argv, env=None):
    done = subprocess.run([BUILD / "shootd", command, "--config", d.config, *argv], capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def is_signed(delivery, secret):
    signed = f"{delivery['headers']['webhook-id']}.{delivery['headers']['webhook-timestamp']}.".encode() + delivery["body"]
    digest = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode() in delivery["headers"]["webhook-signature"].split()


def rotate(d):
    code, said, errors = run("rotate-seal-key", d)
    assert (code, errors) == (0, ""), errors
    return said


@pytest.fixture
def receiver():
    r = Receiver()
    yield r
    r.stop()


class Sealed:
    """A daemon with one sealed object of each kind: a token of Cleura, a webhook with a header field, a stored answer."""

    def __init__(self, sim, d, receiver):
        self.sim, self.d, self.receiver = sim, d, receiver
        d.start().wait_upstream()
        answer = d.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["*"], "headers": {"Authorization": HEADER}})
        assert answer.status_code == 201, answer.text
        self.hook, self.secret = answer.json()["id"], answer.json()["secret"]
        self.made = self.make()
        assert self.made.status_code == 201

    def make(self):
        return self.d.http.post("/v1/tokens", json={"name": "kept", "role": "viewer", "projects": ["*"]}, headers={"Idempotency-Key": "made-once-for-all"})

    def key(self, name="seal.key"):
        return (self.d.state / name).read_bytes()

    def send_test(self):
        """Sends a test; returns the last delivery of the webhook, or None when nothing arrived."""
        path = f"/v1/webhooks/{self.hook}"
        before = len(self.receiver.received)
        delivery = self.d.http.post(f"{path}/test").json()["id"]
        wait_until(lambda: self.d.http.get(f"{path}/deliveries/{delivery}").json()["status"] != "pending", what="the test")
        return self.receiver.received[-1] if len(self.receiver.received) > before else None

    def assert_all_opens(self, start=True):
        logins = self.sim.counters()["logins"]
        if start:
            self.d.start().wait_upstream()
        again = self.make()
        assert again.headers.get("Idempotency-Replayed") == "true" and again.json() == self.made.json()
        got = self.send_test()
        assert got["headers"]["Authorization"] == HEADER
        assert is_signed(got, self.secret)
        assert self.d.http.get(f"/v1/webhooks/{self.hook}").json()["secrets"] == "ok"
        assert not re.search("logged in to Cleura|the seal key (is|does) not", self.since_start())  # a start may finish a rotation, which it logs
        assert not list(self.d.state.glob("seal.key.*"))
        assert self.sim.counters()["logins"] == logins

    def since_start(self):
        """The log since the last start."""
        return re.split(r"database migrated|event loop has ended", self.d.log())[-1]


@pytest.fixture
def sealed(sim, make_shootd, receiver):
    return Sealed(sim, make_shootd(sim.url), receiver)


def test_everything_is_sealed_again(sealed):
    d = sealed.d
    old = sealed.key()
    code, said, errors = run("rotate-seal-key", d)
    assert (code, said) == (69, "") and "is in use by process" in errors and sealed.key() == old
    d.stop()
    held = os.open(d.state / "seal.key", os.O_RDONLY)
    said = rotate(d)
    assert "sealed     1 webhooks, 1 tokens of accounts, 1 stored answers" in said
    assert sealed.key() != old and (d.state / "seal.key").stat().st_mode & 0o777 == 0o600
    assert os.pread(held, 64, 0) == bytes(32), "the old key is not overwritten"
    os.close(held)
    assert old not in b"".join(f.read_bytes() for f in d.state.iterdir() if f.is_file())
    code, said, _ = run("check-store", d)
    assert code == 0 and re.search("^seal key   fits$", said, re.M)
    sealed.assert_all_opens()


def states_of_a_kill(sealed, tmp_path):
    """The states of the disk between two steps of a rotation: the new key beside the old one, then the new store, then the new key in
    place."""
    d = sealed.d
    d.stop()
    before, after = tmp_path / "before", tmp_path / "after"
    shutil.copytree(d.state, before)
    rotate(d)
    shutil.copytree(d.state, after)
    new = (after / "seal.key").read_bytes()
    yield "nothing is written", before, {}
    yield "half of a key", before, {"seal.key.next": new[:7]}
    yield "a draft of the key", before, {"seal.key.next.new": new}
    yield "the new key is beside the old one", before, {"seal.key.next": new}
    yield "the store is committed", after, {"seal.key": (before / "seal.key").read_bytes(), "seal.key.next": new}
    yield "the new key is in its place", after, {}


def put(d, state, files):
    shutil.rmtree(d.state)
    shutil.copytree(state, d.state)
    for name, content in files.items():
        (d.state / name).write_bytes(content)
        (d.state / name).chmod(0o600)


def test_each_state_of_a_kill_is_settled_by_the_start_and_by_the_command(sealed, tmp_path):
    d = sealed.d
    for what, state, files in states_of_a_kill(sealed, tmp_path):
        put(d, state, files)
        for file in files:  # an unused draft is not a key
            if file.endswith(".new"):
                (d.state / file).unlink()
        d.start().wait_upstream()
        assert not list(d.state.glob("seal.key.*")), what
        assert d.http.get(f"/v1/webhooks/{sealed.hook}").json()["secrets"] == "ok", what
        assert sealed.make().headers.get("Idempotency-Replayed") == "true", what
        assert sealed.send_test()["headers"]["Authorization"] == HEADER, what
        d.stop()
        put(d, state, files)
        said = rotate(d)
        assert ("interrupted is finished" in said) == ("committed" in what), what
        code, said, _ = run("check-store", d)
        assert code == 0 and re.search("^seal key   fits$", said, re.M), what


def test_a_backup_with_the_key_waits_for_the_end_of_a_rotation(sealed, tmp_path):
    d = sealed.d
    d.stop()
    old = sealed.key()
    rotate(d)
    shutil.move(d.state / "seal.key", d.state / "seal.key.next")
    (d.state / "seal.key").write_bytes(old)
    (d.state / "seal.key").chmod(0o600)
    code, _, errors = run("backup", d, "--to", tmp_path / "copy.db", "--with-seal-key")
    assert code == 69 and "interrupted" in errors and not (tmp_path / "copy.db").exists()
    rotate(d)
    code, _, errors = run("backup", d, "--to", tmp_path / "copy.db", "--with-seal-key")
    assert (code, errors) == (0, "")
    check = subprocess.run([BUILD / "shootd", "check-store", tmp_path / "copy.db"], capture_output=True, text=True, timeout=60, check=False)
    assert check.returncode == 0 and "seal key   fits" in check.stdout


def test_kills_at_any_moment(sealed):
    d = sealed.d
    d.stop()
    started = time.monotonic()
    rotate(d)
    takes = time.monotonic() - started
    chance = random.Random(13)
    killed, times = 0, size(8 if SANITIZED else 16, 100)
    for i in range(times):
        command = subprocess.Popen([BUILD / "shootd", "rotate-seal-key", "--config", d.config], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, takes))
        command.send_signal(signal.SIGKILL)
        killed += command.wait(30) == -signal.SIGKILL
        with sqlite3.connect(f"file:{d.state / 'shootd.db'}?mode=rw", uri=True) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()
        if i % 8 == 7:
            sealed.assert_all_opens()
            d.stop()
    assert killed > times / 4
    sealed.assert_all_opens()


def test_a_key_that_was_never_whole_is_removed(sealed):
    """The process was killed while it wrote the key."""
    sealed.d.stop()
    draft = sealed.d.state / "seal.key.next.new"
    draft.write_bytes(b"x" * 7)
    draft.chmod(0o600)
    sealed.assert_all_opens()
    assert not draft.exists()


def test_a_key_that_does_not_fit_is_told_at_once(sealed):
    d = sealed.d
    wait_until(lambda: d.http.get("/readyz?verbose").status_code == 200, what="ready")
    etag = d.http.get(f"/v1/webhooks/{sealed.hook}").headers["ETag"]
    d.stop()
    right = sealed.key()
    (d.state / "seal.key").unlink()
    d.start().wait_upstream()
    assert "the seal key does not fit the store" in d.log()
    assert re.search(f"does not open the secrets of a webhook.*{sealed.hook}", d.log())
    assert right not in d.log_path.read_bytes()
    wait_until(lambda: "[!]webhooks whose secrets the seal key does not open: 1 (secrets of GET /v1/webhooks)" in d.http.get("/readyz?verbose").text,
               what="the remark")
    assert re.search(r"^shootd_webhooks_unreadable 1$", d.http.get("/metrics").text, re.M)
    answer = d.http.get(f"/v1/webhooks/{sealed.hook}", headers={"If-None-Match": etag})
    assert answer.status_code == 200 and answer.json()["secrets"] == "unreadable"
    assert d.create("dev")["name"] == "dev", "what needs no secret is served"
    assert sealed.send_test() is None
    code, said, _ = run("check-store", d)
    assert code == 1 and f"does not open the secrets of webhook {sealed.hook}" in said and "is not the key of the store" in said
    d.stop()
    wrong = sealed.key()
    code, _, errors = run("rotate-seal-key", d)
    assert code == 69 and f"does not open the secrets of webhook {sealed.hook}" in errors and sealed.key() == wrong
    assert not list(d.state.glob("seal.key.*"))
    # After the owner's repair everything works, also a rotation.
    d.start()
    path = f"/v1/webhooks/{sealed.hook}"
    d.http.patch(path, json={"headers": {"Authorization": HEADER}}, headers={"Content-Type": "application/merge-patch+json"})
    answer = d.http.post(f"{path}/rotate-secret", json={})
    assert answer.status_code == 200 and answer.json()["secrets"] == "ok"
    wait_until(lambda: "[!]" not in d.http.get("/readyz?verbose").text, what="no remark")
    d.stop()
    d.start()
    d.stop()
    assert "the seal key is not the one" not in sealed.since_start()
    rotate(d)
    d.start()
    assert is_signed(sealed.send_test(), answer.json()["secret"])


def test_the_right_key_put_back_opens_everything(sealed):
    d = sealed.d
    d.stop()
    right = sealed.key()
    (d.state / "seal.key").unlink()
    d.start()
    assert d.http.get(f"/v1/webhooks/{sealed.hook}").json()["secrets"] == "unreadable"
    d.stop()
    (d.state / "seal.key").write_bytes(right)
    d.start()
    assert d.http.get(f"/v1/webhooks/{sealed.hook}").json()["secrets"] == "ok"
    assert sealed.send_test()["headers"]["Authorization"] == HEADER


def test_a_credential_is_replaced_by_its_keeper(sealed, tmp_path):
    d = sealed.d
    d.stop()
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    shutil.move(d.state / "seal.key", credentials / "shootd-seal-key")
    for env in ({"CREDENTIALS_DIRECTORY": str(credentials)}, {}):
        code, _, errors = run("rotate-seal-key", d, env=env)
        assert code == 69 and "a seal key that is a systemd credential" in errors and "systemd-creds" in errors
    assert not list(d.state.glob("seal.key*"))
    # Follows the advice of the message.
    shutil.copy(credentials / "shootd-seal-key", d.state / "seal.key")
    rotate(d)
    shutil.move(d.state / "seal.key", credentials / "shootd-seal-key")
    os.environ["CREDENTIALS_DIRECTORY"] = str(credentials)
    try:
        d.start().wait_upstream()
    finally:
        del os.environ["CREDENTIALS_DIRECTORY"]
    sealed.assert_all_opens(start=False)


def test_no_store_no_rotation(sim, make_shootd):
    d = make_shootd(sim.url)
    code, said, errors = run("rotate-seal-key", d)
    assert (code, said) == (69, "") and "No such file" in errors
    d.state.mkdir()
    code, said, errors = run("rotate-seal-key", d)
    assert (code, said) == (69, "") and "shootd.db" in errors and not list(d.state.iterdir())


def test_a_token_of_an_account_that_is_gone_is_not_kept(sealed):
    d = sealed.d
    d.stop()
    config = d.config.read_text()
    d.config.write_text(config.replace("login: demo", "login: other"))
    assert "account    main: its token is dropped, and it logs in again" in rotate(d)
    d.config.write_text(config)
    d.start().wait_upstream()
    assert sealed.send_test() is not None
