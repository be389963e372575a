"""contrib/webhook-consumer.py hands on each event once and in order, over stops and kills on both sides."""

import base64
import hashlib
import hmac
import importlib.util
import json
import socket
import subprocess
import time

import httpx
import pytest

import harness
import web
from harness import ROOT, wait_until

SCRIPT = ROOT / "contrib/webhook-consumer.py"
SECRET, OTHER = ("whsec_" + base64.b64encode(bytes([i]) * 24).decode() for i in (1, 2))
# Runs the program with one function replaced; {} stands for the new behaviour.
PATCHED = """
import importlib.util, os, signal, sys
spec = importlib.util.spec_from_file_location("consumer", sys.argv[1])
consumer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(consumer)
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
{}
sys.exit(consumer.main(sys.argv[2:]))
"""
KILLED_BEHIND_THE_COMMIT = "add = consumer.Store.add; consumer.Store.add = lambda *a: (add(*a), die())"
KILLED_BEFORE_IT_IS_NOTED = "consumer.Store.handed = die"


def module():
    spec = importlib.util.spec_from_file_location("webhook_consumer", SCRIPT)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def private(path, text):
    path.write_text(text + "\n")
    path.chmod(0o600)
    return path


class Consumer:
    """A consumer: its files, its port, and its process, which tests start and stop."""

    def __init__(self, directory, secret=SECRET):
        self.directory = directory
        self.secrets = private(directory / "secrets", secret)
        self.port = harness.free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.out, self.errors = directory / "out", directory / "errors"
        self.process = None

    def arguments(self, *more):
        return ["--secrets", self.secrets, "--database", self.directory / "seen.db", "--listen", f"127.0.0.1:{self.port}", *more]

    def start(self, *more, patch="", wait=True):
        with open(self.out, "ab") as out, open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(["/usr/bin/python3", "-c", PATCHED.format(patch), SCRIPT, *self.arguments(*more)],
                                            stdout=out, stderr=errors)
        if wait:
            wait_until(lambda: "listening" in self.said() or self.process.poll() is not None, what="the consumer")
            assert self.process.poll() is None, self.said()
        return self

    def said(self):
        return self.errors.read_text()

    def lines(self):
        return [json.loads(line) for line in self.out.read_text().splitlines()]

    def ids(self):
        return [line["id"] for line in self.lines()]

    def stop(self):
        self.process.terminate()
        assert self.process.wait(20) == 0, self.said()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(20)

    def post(self, event="evt_1", body=None, secret=SECRET, age=0, **changed):
        """Posts a delivery; `changed` replaces header fields, None removes one."""
        body = json.dumps({"id": event, "type": "cluster.ready", "data": {"n": 1}}).encode() if body is None else body
        stamp = str(int(time.time()) - age)
        mac = hmac.new(base64.b64decode(secret[6:]), f"{event}.{stamp}.".encode() + body, hashlib.sha256).digest()
        headers = {"webhook-id": event, "webhook-timestamp": stamp, "webhook-signature": "v1," + base64.b64encode(mac).decode()}
        headers.update({"webhook-" + k: v for k, v in changed.items()})
        return web.post(self.url, content=body, headers={k: v for k, v in headers.items() if v is not None}, timeout=20)


@pytest.fixture
def consumer(tmp_path):
    directory = tmp_path / "consumer"
    directory.mkdir()
    c = Consumer(directory)
    yield c
    c.end()


# ---- with the daemon -------------------------------------------------------------------------------------------------

def log_reader(d, consumer, *more):
    """The arguments to read the event log of `d` with a viewer's token."""
    token = d.http.post("/v1/tokens", json={"name": "consumer", "role": "viewer", "projects": ["*"]}).json()["token"]
    return ["--url", d.url, "--token-file", private(consumer.directory / "token", token), *more]


def logged(d, **filters):
    return [e["id"] for e in d.events(**filters)]


def test_what_happens_while_it_is_down_is_recovered_in_order(sim, make_shootd, consumer):
    d = make_shootd(sim.url).start()
    hook = d.http.post("/v1/webhooks", json={"url": consumer.url, "event_types": ["cluster.*"], "secret": SECRET})
    assert hook.status_code == 201
    reader = log_reader(d, consumer, "--type", "cluster.*", "--begin", "0")
    consumer.start(*reader)
    d.wait_operation(d.create("one")["operation"]["id"])
    wait_until(lambda: consumer.ids() == logged(d, type="cluster.*"), what="the first events, delivered")
    consumer.stop()
    assert "recovered" not in consumer.said()

    before = len(consumer.ids())
    for name in ("two", "three"):
        d.wait_operation(d.create(name)["operation"]["id"])
    d.http.delete(d.clusters_path("two"))
    d.wait_gone("two")
    consumer.start(*reader)
    wait_until(lambda: consumer.ids() == logged(d, type="cluster.*"), what="what was missed")
    assert len(consumer.ids()) >= before + 5 and "recovered from the log" in consumer.said()
    assert all(set(line) == {"id", "type", "timestamp", "data"} for line in consumer.lines()), "however they came"

    # Failed deliveries are sent again, and change nothing.
    path = f"/v1/webhooks/{hook.json()['id']}/deliveries"
    for delivery in d.http.get(path).json()["items"]:
        assert d.http.post(f"{path}/{delivery['id']}/redeliver").status_code == 202
    wait_until(lambda: not d.http.get(path, params={"status": "pending"}).json()["items"], what="the repeats")
    d.wait_operation(d.create("four")["operation"]["id"])
    wait_until(lambda: consumer.ids() == logged(d, type="cluster.*"), what="each event once")
    consumer.stop()


def test_it_says_what_is_gone_from_the_log(sim, make_shootd, consumer):
    d = make_shootd(sim.url).start()
    d.wait_operation(d.create("one")["operation"]["id"])
    reader = log_reader(d, consumer)
    consumer.start(*reader).stop()
    assert consumer.lines() == [], "it begins now"
    last = d.events()[-1]["sequence"]
    sim.post("shoots", count=20, prefix="found", state="ready")
    wait_until(lambda: len(d.events(type="cluster.discovered")) == 20, what="20 events")
    d.stop()
    d.config.write_text(d.config.read_text() + "events: {keep_count: 10}\n")
    d.start()
    oldest = wait_until(lambda: (p := d.http.get("/v1/events").json())["oldest_sequence"] > last + 1 and p["oldest_sequence"], what="the purge")
    consumer.start(*reader)
    wait_until(lambda: consumer.ids()[1:] == logged(d), what="what is left")
    gap = consumer.lines()[0]
    assert gap["type"] == "consumer.gap" and gap["data"]["after"] == last and gap["data"]["oldest"] == oldest
    assert "events are missing, read the clusters anew" in consumer.said()
    consumer.stop()
    consumer.start(*reader).stop()
    assert [line["type"] for line in consumer.lines()].count("consumer.gap") == 1


def test_what_its_filter_leaves_out_is_no_gap_when_it_is_purged(sim, make_shootd, consumer):
    d = make_shootd(sim.url).start()
    d.wait_operation(d.create("one")["operation"]["id"])
    sim.post("shoots", count=20, prefix="found", state="ready")
    wait_until(lambda: len(d.events(type="cluster.discovered")) == 20, what="20 events")
    reader = log_reader(d, consumer, "--type", "webhook.disabled", "--begin", "0")
    newest = d.events()[-1]["sequence"]
    page = d.http.get("/v1/events", params={"type": "webhook.disabled", "after": 1}).json()
    assert page["items"] == [] and page["next_cursor"] is None and page["last_sequence"] == page["newest_sequence"] == newest, "as FakeLog says"
    consumer.start(*reader).stop()
    d.stop()
    d.config.write_text(d.config.read_text() + "events: {keep_count: 10}\n")
    d.start()
    wait_until(lambda: (p := d.http.get("/v1/events").json())["oldest_sequence"] == p["newest_sequence"] - 9, what="the purge")
    consumer.start(*reader).stop()
    assert consumer.lines() == [] and "missing" not in consumer.said()


def test_the_log_is_read_again_and_again_also_after_failures(sim, make_shootd, consumer):
    d = make_shootd(sim.url).start()
    reader = log_reader(d, consumer, "--begin", "0", "--every", "0.01")
    d.stop()
    consumer.start(*reader)
    assert "cannot read the event log" in consumer.said()
    d.start()
    d.create("one")
    wait_until(lambda: "cluster.ready" in [line["type"] for line in consumer.lines()], what="an event without any webhook")
    wait_until(lambda: consumer.ids() == logged(d), what="all of them")
    consumer.stop()


# ---- gaps in the log ---------------------------------------------------------------------------------------------------

class FakeLog:
    def __init__(self, oldest, newest, kept, base=0):
        self.oldest, self.newest, self.kept, self.base = oldest, newest, kept, base

    def page(self, after):
        items = [{"id": f"e{n}", "sequence": n} for n in self.kept if n > after][:2]
        full = len(items) == 2
        page = {"items": items, "next_cursor": "c" if full else None, "last_sequence": items[-1]["sequence"] if full else self.newest,
                "base_sequence": self.base}
        return page, self.oldest or self.newest + 1, self.newest


@pytest.mark.parametrize("seen, oldest, newest, kept, gap", [
    (4, 1, 9, range(1, 10), False), (4, 5, 9, range(5, 10), False), (9, 1, 9, range(1, 10), False), (0, 0, 0, (), False),
    (9, 0, 9, (), False), (3, 5, 9, range(5, 10), True), (4, 0, 9, (), True), (50, 1, 9, range(1, 10), True),
])
def test_gaps(tmp_path, seen, oldest, newest, kept, gap):
    """Gaps: purged beyond the last seen event, all purged, restored from a backup older than the last seen event."""
    m = module()
    store = m.Store(tmp_path / "seen.db")
    known = [{"id": f"e{n}"} for n in range(1, min(seen, 9) + 1)]
    store.add(known, seen)
    for event in known:
        store.handed(event["id"])
    log = m.Log(m.read_options(["--secrets", "x", "--database", "x", "--url", "http://x", "--token-file", "x"]), store)
    log.page = FakeLog(oldest, newest, kept).page
    log.catch_up()
    found = []
    while row := store.waiting():
        found.append(row[0])
        store.handed(row[0])
    assert found == [f"gap_{seen}_{oldest or newest + 1}_{newest}"] * gap + [f"e{n}" for n in kept if n > min(seen, 9)]
    assert store.sequence() == newest
    log.catch_up()
    assert store.waiting() is None


def test_a_restored_server_is_a_gap_once(tmp_path):
    """The numbers jumped to 107; of the events before the jump, the consumer has seen four."""
    m = module()
    store = m.Store(tmp_path / "seen.db")
    store.add([], 4)
    log = m.Log(m.read_options(["--secrets", "x", "--database", "x", "--url", "http://x", "--token-file", "x"]), store)
    log.page = FakeLog(1, 109, [*range(1, 7), 108, 109], base=107).page
    for wanted in (["gap_restored_107", "e5", "e6", "e108", "e109"], []):
        log.catch_up()
        found = []
        while row := store.waiting():
            found.append(row[0])
            store.handed(row[0])
        assert found == wanted and store.sequence() == 109


# ---- alone -----------------------------------------------------------------------------------------------------------

def test_repeats_do_nothing(consumer):
    consumer.start()
    assert [consumer.post().status_code for _ in range(3)] == [204] * 3
    assert consumer.post("evt_2").status_code == 204
    wait_until(lambda: consumer.ids() == ["evt_1", "evt_2"], what="two lines")
    consumer.stop()
    consumer.start()
    assert consumer.post().status_code == 204 and consumer.post("evt_3").status_code == 204
    wait_until(lambda: consumer.ids() == ["evt_1", "evt_2", "evt_3"], what="the third line only")
    consumer.stop()


def test_what_is_not_genuine_is_401_and_not_kept(consumer):
    consumer.start()
    good = consumer.post("evt_g").request.headers["webhook-signature"]
    wrong = [{"secret": OTHER}, {"age": 330}, {"age": -330}, {"signature": None}, {"id": None}, {"timestamp": None}, {"signature": good},
             {"signature": "v1a," + good[3:]}, {"timestamp": "soon"}, {"signature": ""}, {"signature": b"v1,\xe9"}]
    for one in wrong:
        assert consumer.post("evt_x", **one).status_code == 401, one
    for status, more in ((400, {"body": b"no json"}), (400, {"body": b"[]"}), (400, {"body": b'{"id":"evt_other"}'})):
        assert consumer.post("evt_x", **more).status_code == status
    for status, field in ((413, "Content-Length: 65537"), (411, "Transfer-Encoding: chunked"), (411, "Content-Length: -1"), (411, "X: y")):
        with socket.create_connection(("127.0.0.1", consumer.port), timeout=20) as s:
            s.sendall(f"POST / HTTP/1.1\r\nHost: x\r\n{field}\r\n\r\n".encode())
            assert s.makefile("rb").readline().split()[1] == str(status).encode(), field
    assert web.get(consumer.url).status_code == 501
    assert consumer.post("evt_x", age=270).status_code == 204 and consumer.post("evt_y", age=-270).status_code == 204
    wait_until(lambda: consumer.ids() == ["evt_g", "evt_x", "evt_y"], what="what is genuine")
    assert SECRET[6:] not in consumer.said()
    consumer.stop()


def test_a_rotation_needs_no_restart(consumer):
    consumer.start()
    assert consumer.post("evt_1", secret=OTHER).status_code == 401
    private(consumer.secrets, f"{OTHER}\n{SECRET}")
    assert consumer.post("evt_1", secret=OTHER).status_code == 204 and consumer.post("evt_2").status_code == 204
    private(consumer.secrets, OTHER)
    assert consumer.post("evt_3").status_code == 401
    consumer.secrets.chmod(0o640)
    assert consumer.post("evt_4", secret=OTHER).status_code == 503 and "chmod 600" in consumer.said()
    consumer.stop()


def test_killed_between_store_and_answer(consumer):
    consumer.start(patch=KILLED_BEHIND_THE_COMMIT)
    with pytest.raises(httpx.HTTPError):
        consumer.post()
    assert consumer.process.wait(20) == -9
    consumer.start()
    assert consumer.post().status_code == 204, "shootd sends it again"
    assert consumer.post("evt_2").status_code == 204
    wait_until(lambda: consumer.ids() == ["evt_1", "evt_2"], what="each of them once")
    consumer.stop()


def test_killed_between_handing_on_and_noting_it(consumer):
    """The only case in which an event is handed on twice: handing on and storing that cannot be one atomic step."""
    consumer.start(patch=KILLED_BEFORE_IT_IS_NOTED)
    try:
        consumer.post()
    except httpx.HTTPError:
        pass  # the kill may come before the answer
    assert consumer.process.wait(20) == -9
    consumer.start()
    wait_until(lambda: consumer.ids() == ["evt_1", "evt_1"], what="the same id again")
    consumer.stop()


def test_a_command_gets_each_event_until_it_takes_it(consumer, tmp_path):
    command = tmp_path / "command"
    command.write_text(f"#!/bin/sh\ncat >>{tmp_path}/got\n[ -e {tmp_path}/open ]\n")
    command.chmod(0o755)
    got = tmp_path / "got"
    consumer.start("--", command)
    assert [consumer.post(f"evt_{i}").status_code for i in range(3)] == [204] * 3, "a command that fails holds up no answer"
    wait_until(lambda: "evt_0 was not taken" in consumer.said(), what="a failure")
    (tmp_path / "open").touch()
    wait_until(lambda: "evt_2" in got.read_text(), what="all three")
    ids = [json.loads(line)["id"] for line in got.read_text().splitlines()]
    assert ids == ["evt_0"] * (len(ids) - 2) + ["evt_1", "evt_2"] and len(ids) > 3, "none is passed over"
    consumer.stop()
    assert consumer.lines() == []


def test_a_stop_waits_for_nobody_who_is_silent(consumer):
    consumer.start(patch="consumer.Deliveries.timeout = 1")
    with socket.create_connection(("127.0.0.1", consumer.port)) as s:
        s.sendall(b"POST / HTTP/1.1\r\n")
        time.sleep(0.1)
        consumer.stop()


def test_a_reader_that_has_gone_ends_it(consumer):
    consumer.start(patch="os.close(1); r, w = os.pipe(); os.close(r); os.dup2(w, 1)")
    assert consumer.post().status_code == 204
    assert consumer.process.wait(20) == 1 and "cannot go on" in consumer.said()
    consumer.start()
    wait_until(lambda: consumer.ids() == ["evt_1"], what="the event, which was kept")
    consumer.stop()


def run(*arguments):
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=30)


def test_usage(consumer):
    said = run("--help")
    assert said.returncode == 0 and "exit codes: 0" in said.stdout and "--secrets FILE" in said.stdout
    good = consumer.arguments()
    for arguments in ([], good[2:], [*good, "--url", "http://x"], [*good, "--token-file", "x"], [*good, "--listen", "x"], [*good, "--begin", "then"],
                      [*good, "--every", "0"], [*good, "--url", "ftp://x", "--token-file", "x"], [*good, "--colour"]):
        refused = run(*arguments)
        assert refused.returncode == 2 and "usage:" in refused.stderr, arguments


def test_what_keeps_it_from_starting(consumer, tmp_path):
    def refused(words, *arguments):
        said = run(*arguments)
        assert said.returncode == 1 and words in said.stderr and "Traceback" not in said.stderr, said.stderr

    for text, words in (("", "is empty"), ("whpk_AAAA", "must be a secret"), ("whsec_???", "cannot start")):
        refused(words, *consumer.arguments()[2:], "--secrets", private(tmp_path / "wrong", text))
    refused("/nonexistent", *consumer.arguments()[2:], "--secrets", "/nonexistent")
    refused("/nonexistent", *consumer.arguments(), "--url", "http://127.0.0.1:1", "--token-file", "/nonexistent")
    readable = private(tmp_path / "readable", SECRET)
    readable.chmod(0o604)
    refused("chmod 600", *consumer.arguments()[2:], "--secrets", readable)
    consumer.start()
    refused("locked", *consumer.arguments())
    refused("Address already in use", *consumer.arguments()[:2], "--database", tmp_path / "other.db", *consumer.arguments()[4:])
    consumer.stop()
