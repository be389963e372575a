"""docs/webhooks.md: its programs against the vectors of Standard Webhooks and against real deliveries; its commands, its example, its
table."""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import subprocess
import time

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import harness
from contract import DOCUMENT
from harness import ROOT, wait_until
from test_docs import is_as_told, run_page

PAGE = (ROOT / "docs/webhooks.md").read_text()
PROGRAMS = {"verify.sh": "bash", "verify.py": "/usr/bin/python3", "verify.mjs": "node"}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The programs of the page as files, beside the packages that they import."""
    directory = tmp_path_factory.mktemp("programs")
    for block in re.findall(r"^```(?:bash|python|js)\n(.*?)^```", PAGE, re.S | re.M):
        name = re.search(r"\b(?:verify|server)\.(?:sh|py|mjs)\b", block)[0]
        (directory / name).write_text(block)
    (directory / "node_modules").symlink_to(ROOT / "tests/js/node_modules")
    assert {p.name for p in directory.iterdir()} == {*PROGRAMS, "server.mjs", "node_modules"}
    return directory


# A start of Python or node costs as much as thirty verifications. One process each therefore runs the program of the page for every case of
# a test: with its arguments, environment, standard input and clock.
DRIVERS = {
    "verify.py": """
import base64, io, json, os, runpy, sys, time
for line in sys.stdin:
    case = json.loads(line)
    os.environ.update(case["env"])
    sys.argv = [sys.argv[0], case["keys"]]
    real_time, real_input = time.time, sys.stdin
    time.time = (lambda: case["now"]) if case["now"] else real_time
    sys.stdin = io.TextIOWrapper(io.BytesIO(base64.b64decode(case["body"])))
    try:
        runpy.run_path(case["program"], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code
    time.time, sys.stdin = real_time, real_input
    for name in case["env"]:
        del os.environ[name]
    print(code, flush=True)
""",
    "verify.mjs": """
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
const [readFile, now] = [fs.readFileSync, Date.now];
let count = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const given = JSON.parse(line);
  Object.assign(process.env, given.env);
  process.argv[2] = given.keys;
  Date.now = given.now ? () => given.now * 1000 : now;
  fs.readFileSync = (path, ...more) => (path === 0 ? Buffer.from(given.body, "base64") : readFile(path, ...more));
  syncBuiltinESMExports();
  await import(`${pathToFileURL(given.program)}?${count++}`);
  for (const name of Object.keys(given.env)) delete process.env[name];
  console.log(process.exitCode);
  process.exitCode = 0;
}
""",
}


class Driver:
    def __init__(self, program, directory):
        self.program = program
        script = directory / ("driver" + program.suffix)
        script.write_text(DRIVERS[program.name])
        self.errors = open(directory / "driver.stderr", "w+")
        self.process = subprocess.Popen([PROGRAMS[program.name], script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def run(self, keys, fields, body, now):
        case = {"program": str(self.program), "keys": str(keys), "env": fields, "body": base64.b64encode(body).decode(), "now": now}
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def stop(self):
        self.process.stdin.close()
        code = self.process.wait(60)
        self.process.stdout.close()
        self.errors.seek(0)
        errors = self.errors.read()
        self.errors.close()
        assert code == 0 and not errors, errors


class Shell:
    """verify.sh, which is started for each case; `date` says that it is `now`."""

    def __init__(self, program, directory):
        self.program, self.directory = program, directory

    def run(self, keys, fields, body, now):
        environment = clock_at(self.directory, now) if now else {"PATH": os.environ["PATH"]}
        ran = subprocess.run(["bash", self.program, keys], input=body, env=environment | fields, capture_output=True, timeout=60)
        assert not ran.stderr, ran
        return str(ran.returncode)

    def stop(self):
        pass


def clock_at(directory, now):
    """An environment in which `date` says that it is `now`."""
    where = directory / f"at-{now}"
    if not where.exists():
        where.mkdir()
        (where / "date").write_text(f"#!/bin/sh\necho {now}\n")
        (where / "date").chmod(0o755)
    return {"PATH": f"{where}:{os.environ['PATH']}"}


@pytest.fixture(params=PROGRAMS)
def verify(request, here, tmp_path):
    """verify(keys, headers, body, now): the result of one of the programs."""
    runner = (Driver if request.param in DRIVERS else Shell)(here / request.param, tmp_path)

    def run(keys, headers, body, now=None):
        (tmp_path / "keys").write_text("\n".join(keys))
        fields = {"HTTP_" + name.upper().replace("-", "_"): value for name, value in headers.items()}
        code = runner.run(tmp_path / "keys", fields, body, now)
        assert code in ("0", "1"), code
        return code == "0"
    yield run
    runner.stop()


@pytest.mark.parametrize("program", [name for name in PROGRAMS if name in DRIVERS])
def test_the_programs_run_by_themselves(here, tmp_path, program):
    """As the page says, without a driver."""
    now, body = int(time.time()), b'{"type":"ping"}'
    for secret, code in ((OTHER, 0), (VECTORS[0][0], 1)):
        (tmp_path / "keys").write_text(secret)
        environment = {"PATH": os.environ["PATH"], "HTTP_WEBHOOK_ID": "evt_1", "HTTP_WEBHOOK_TIMESTAMP": str(now),
                       "HTTP_WEBHOOK_SIGNATURE": signed(OTHER, "evt_1", now, body)}
        ran = subprocess.run([PROGRAMS[program], here / program, tmp_path / "keys"], input=body, env=environment, capture_output=True, timeout=60)
        assert (ran.returncode, ran.stderr) == (code, b"")


# ---- vectors ---------------------------------------------------------------------------------------------------------

OTHER = "whsec_" + base64.b64encode(b"o" * 24).decode()
VECTORS = [  # published: secret, id, time, body, signature
    ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}',
     "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
    ("whsec_dGVzdC1zZWNyZXQta2V5LTI0LWJ5dGVzIQ==", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", 1700000000, b'{"type":"ping"}',
     "v1,h0MMKNDHsj6C/cbkz7JW3s/WKDbZuSDKkZVJd7F6pwY="),
]


def signed(secret, id, stamp, body):
    key = base64.b64decode(secret[6:])
    return "v1," + base64.b64encode(hmac.new(key, f"{id}.{stamp}.".encode() + body, hashlib.sha256).digest()).decode()


def fields(id, stamp, signature):
    return {"webhook-id": id, "webhook-timestamp": str(stamp), "webhook-signature": signature}


def test_wh3_wh4_published_vectors(verify):
    for secret, id, stamp, body, signature in VECTORS:
        assert signed(secret, id, stamp, body) == signature, "this test signs as the standard says"
        headers = fields(id, stamp, signature)
        assert verify([secret], headers, body, stamp)
        for wrong in (body + b" ", body.replace(b'"t', b'"T'), b""):
            assert not verify([secret], headers, wrong, stamp)
        assert not verify([secret], {**headers, "webhook-id": "msg_other"}, body, stamp)
        assert not verify([secret], {**headers, "webhook-timestamp": str(stamp + 1)}, body, stamp)
        assert not verify([OTHER], headers, body, stamp) and not verify([], headers, body, stamp)


def test_wh6_wh8_several_signatures_and_keys(verify):
    secret, id, stamp, body, good = VECTORS[0]
    other = signed(OTHER, id, stamp, body)
    for signatures in (good, f"{other} {good}", f"{good} {other}", f"v1a,xxx {good}", f"v2,{good[3:]} {good}", f"v1, {good}"):
        assert verify([secret], fields(id, stamp, signatures), body, stamp), signatures
        assert verify([OTHER, secret], fields(id, stamp, signatures), body, stamp), "and several keys"
    wrong = (f"{other},{good}", f"{good},{other}", f"v1a,{good[3:]}", f"v2,{good[3:]}", good[3:], good[:-1], good.lower(), good + "=", "v1,", "v1", " ")
    for signatures in wrong:
        assert not verify([secret], fields(id, stamp, signatures), body, stamp), signatures


def test_wh7_tolerance_in_both_directions(verify):
    secret, id, stamp, body, good = VECTORS[1]
    for seconds, genuine in ((299, True), (-299, True), (301, False), (-301, False), (10**9, False)):
        assert verify([secret], fields(id, stamp, good), body, stamp + seconds) is genuine, seconds


def test_wh2_headers_that_are_missing_or_odd(verify):
    secret, id, stamp, body, good = VECTORS[0]
    whole = fields(id, stamp, good)
    for name in whole:
        assert not verify([secret], {k: v for k, v in whole.items() if k != name}, body, stamp), name
        assert not verify([secret], {**whole, name: ""}, body, stamp), name
    for odd in (f"{stamp}.0", f" {stamp}", f"+{stamp}", hex(stamp), "soon", "9" * 30, "-1"):
        headers = fields(id, odd, signed(secret, id, odd, body))
        assert not verify([secret], headers, body, stamp), odd


@pytest.mark.parametrize("length", [24, 33, 64])
def test_wh3_any_bytes_and_any_length_of_key(verify, length):
    secret = "whsec_" + base64.b64encode((b"\x00\xff\x80%s\\x00" + bytes(range(64)))[:length]).decode()
    now = 1700000000
    for body in (b"", b"\x00\xff\r\n\x00", b"%s\\n%d", b"x" * 20000):
        assert verify([secret], fields("evt_1", now, signed(secret, "evt_1", now, body)), body, now), body[:20]


def test_wh5_ed25519(verify):
    key, other = (Ed25519PrivateKey.from_private_bytes(bytes([i]) * 32) for i in (1, 2))
    public, others = ("whpk_" + base64.b64encode(k.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode() for k in (key, other))
    now, body = 1700000000, b'{"type":"ping"}'
    good = "v1a," + base64.b64encode(key.sign(f"evt_1.{now}.".encode() + body)).decode()
    assert verify([public], fields("evt_1", now, good), body, now)
    assert verify([OTHER, others, public], fields("evt_1", now, "v1,x v1a,y " + good), body, now)
    for keys, headers, sent in (([others], fields("evt_1", now, good), body), ([public], fields("evt_2", now, good), body),
                                ([public], fields("evt_1", now, good), body + b"\n"), ([public], fields("evt_1", now, good[:-4]), body),
                                ([public], fields("evt_1", now, "v1" + good[3:]), body), ([public], fields("evt_1", now, "v1a,"), body),
                                ([OTHER], fields("evt_1", now, good), body), (["whsec_" + public[5:]], fields("evt_1", now, good), body)):
        assert not verify(keys, headers, sent, now), (keys, headers)


def test_the_key_is_no_argument_of_a_program(here, tmp_path):
    """Every user of the machine can read the arguments of a program."""
    tracer = tmp_path / "bin"
    tracer.mkdir()
    for name in ("openssl", "base64", "od", "tr"):
        (tracer / name).write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/seen\nexec {shutil.which(name)} "$@"\n')
        (tracer / name).chmod(0o755)
    secret, id, stamp, body, good = VECTORS[0]
    keys = tmp_path / "keys"
    keys.write_text(secret + "\n")
    environment = clock_at(tmp_path, stamp)
    environment["PATH"] = f"{tracer}:{environment['PATH']}"
    environment |= {"HTTP_WEBHOOK_ID": id, "HTTP_WEBHOOK_TIMESTAMP": str(stamp), "HTTP_WEBHOOK_SIGNATURE": good}
    assert subprocess.run(["bash", here / "verify.sh", keys], input=body, env=environment, timeout=60).returncode == 0
    seen = (tmp_path / "seen").read_text()
    assert "dgst" in seen and secret[6:] not in seen and base64.b64decode(secret[6:]).hex() not in seen.lower()


def test_shellcheck_finds_nothing(here):
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed; `make deps-test` installs it")
    run = subprocess.run(["shellcheck", here / "verify.sh"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout


# ---- live ------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def live(tmp_path_factory):
    directory = tmp_path_factory.mktemp("live")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start()
    yield d
    d.stop()
    sim.stop()


def outcome_of_a_test(d, hook):
    """Sends a test; returns its delivery when it has ended."""
    sent = d.http.post(f"/v1/webhooks/{hook['id']}/test")
    assert sent.status_code == 202, sent.text
    return wait_until(lambda: (v := d.http.get(sent.headers["Location"]).json())["status"] != "pending" and v, what="the test")


def delivered(d, hook, receiver):
    """(headers, body) of a test as received."""
    event = outcome_of_a_test(d, hook)["event_id"]
    got = next(r for r in receiver.received if r["json"]["id"] == event)
    return {k.lower(): v for k, v in got["headers"].items() if k.lower().startswith("webhook-")}, got["body"]


def rotate(d, hook, **body):
    answer = d.http.post(f"/v1/webhooks/{hook['id']}/rotate-secret", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_wh6_live_before_during_and_after_a_rotation(live, verify, receiver):
    hook = live.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["cluster.ready"]}).json()
    old = hook["secret"]
    before = delivered(live, hook, receiver)
    assert verify([old], *before) and not verify([OTHER], *before)

    new = rotate(live, hook, grace_seconds=3600)["secret"]
    during = delivered(live, hook, receiver)
    assert len(during[0]["webhook-signature"].split(" ")) == 2
    assert verify([old], *during) and verify([new], *during) and verify([old, new], *during) and not verify([OTHER], *during)

    last = rotate(live, hook, grace_seconds=1)["secret"]
    after = wait_until(lambda: (v := delivered(live, hook, receiver)) and " " not in v[0]["webhook-signature"] and v, what="the end of the grace")
    assert verify([last], *after) and not verify([old, new], *after)


def test_wh5_live_ed25519_and_on_the_way_to_it(live, verify, receiver):
    hook = live.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["cluster.ready"]}).json()
    old = hook["secret"]
    new = rotate(live, hook, signature="v1a")["keys"][0]["public_key"]
    both = delivered(live, hook, receiver)
    assert verify([old], *both) and verify([new], *both)
    last = rotate(live, hook, signature="v1a", grace_seconds=0)["keys"][0]["public_key"]
    alone = delivered(live, hook, receiver)
    assert verify([last], *alone) and not verify([old, new], *alone)
    assert not verify([last], alone[0], alone[1].replace(b"webhook.test", b"cluster.fine"))


@pytest.fixture
def server(here, tmp_path):
    """server.mjs: its URL and the file with its keys."""
    port, keys = harness.free_port(), tmp_path / "keys"
    keys.write_text(OTHER + "\n")
    process = harness.Process(["node", here / "server.mjs", keys, str(port)], tmp_path / "server.log")
    url = f"http://127.0.0.1:{port}/"
    wait_until(lambda: subprocess.run(["curl", "-s", "-o", "/dev/null", url], timeout=20).returncode == 0, what="server.mjs")
    yield url, keys, process
    process.kill()
    process.log.close()


def test_wh6_live_server_with_the_library(live, server):
    url, keys, process = server
    hook = live.http.post("/v1/webhooks", json={"url": url, "event_types": ["cluster.ready"]}).json()

    def answers():
        return outcome_of_a_test(live, hook)["response_status"]

    assert answers() == 401, "its key is another one"
    keys.write_text(hook["secret"] + "\n")
    assert answers() == 204
    new = rotate(live, hook)["secret"]
    assert answers() == 204, "the old key fits too"
    keys.write_text(f"{hook['secret']}\n{new}\n")
    assert answers() == 204
    rotate(live, hook, grace_seconds=0)
    assert answers() == 401
    assert process.text().splitlines()[0].startswith("webhook.test evt_") and len(process.text().splitlines()) == 3


# ---- the page --------------------------------------------------------------------------------------------------------

def test_its_commands(live, receiver, tmp_path):
    commands = run_page("docs/webhooks.md", tmp_path,
                        lambda section: {"SHOOTD_URL": live.url, "SHOOTD_TOKEN": live.token(), "RECEIVER": receiver.url})
    assert len(commands) >= 18 and sum(any(c.output) for c in commands) >= 9
    (hook,) = [h for h in live.http.get("/v1/webhooks").json()["items"] if h["header_names"] == ["Authorization"]]
    assert [k["signature"] for k in hook["keys"]] == ["v1a", "v1", "v1"]
    assert oct((tmp_path / "here/keys").stat().st_mode & 0o777) == "0o600"
    assert receiver.received[-1]["json"]["type"] == "webhook.test"


def test_wh9_wh11_its_example_and_its_table(live, receiver):
    """The delivery on the page equals a real one, and the table has every type with its members."""
    live.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["cluster.ready"]})
    live.wait_operation(live.create("dev")["operation"]["id"])
    got = wait_until(lambda: receiver.of_type("cluster.ready"), what="the delivery")[0]
    shown, _, body = re.search(r"^```http\n(.*?)^```", PAGE, re.S | re.M)[1].partition("\n\n")
    told = dict(line.split(": ", 1) for line in shown.splitlines()[1:])
    assert list(told) == list(got["headers"]), "names in their order"
    for name in ("User-Agent", "Accept", "content-type", "webhook-id", "webhook-signature", "Content-Length"):
        assert is_as_told(told[name], got["headers"][name]), name
    assert abs(time.time() - int(got["headers"]["webhook-timestamp"])) < 300 and re.fullmatch(r"\d{10}", told["webhook-timestamp"])
    assert is_as_told(body.strip(), got["body"].decode()), got["body"]

    rows = re.findall(r"^\| (`[a-z]+\.[^|]*) \| [^|]* \| ([^|]*) \|$", PAGE, re.M)
    members = {type: cells for types, cells in rows for type in re.findall(r"`([a-z._]+)`", types)}
    assert set(members) == set(DOCUMENT["components"]["schemas"]["EventType"]["enum"])
    of_a_cluster = re.search(r"^Events of a cluster have ([^.]*)\.", PAGE, re.M)[1]
    live.http.delete(live.clusters_path("dev"))
    live.wait_gone("dev")
    seen = {e["type"]: e["data"] for e in live.events()}
    assert {"cluster.ready", "cluster.deleted", "operation.started", "operation.succeeded", "webhook.test"} <= set(seen)
    for type, data in seen.items():
        cells = members[type].replace("of a cluster", of_a_cluster).split("; for")[0]
        assert sorted(data) == sorted(re.findall(r"`([a-z_]+)`", cells)), type


def test_wh14_its_schedule_is_that_of_the_source():
    source = (ROOT / "webhook/outcome.c").read_text()
    seconds = [eval(x, {"MINUTE": 60, "HOUR": 3600, "SCHEDULE_MAX_DELAY_S": 86400})
               for x in re.search(r"delays_s\[SCHEDULE_ATTEMPTS\] = \{\s*0, (.*?),?\s*\};", source, re.S)[1].split(",")]
    told = re.search(r"next attempt after (.*?)\.\sEach\spause", PAGE)[1].replace(" and ", ", ").split(", ")
    units = {"s": 1, "min": 60, "h": 3600}
    assert [int(n) * units[unit] for n, unit in (t.split() for t in told)] == seconds and len(told) == 9
