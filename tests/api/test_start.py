"""Show 8: a start that cannot work is refused with a clear message and the right exit code, and changes nothing."""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time

import httpx
import pytest

import web
from harness import BUILD, PROJECT_ID, ROOT, free_port, wait_until


def run(*arguments, env=None):
    return subprocess.run([BUILD / "shootd", *arguments], capture_output=True, text=True, timeout=60, env=env)


@pytest.fixture
def written(tmp_path):
    """A valid configuration as text, for tests to damage."""
    (tmp_path / "password").write_text("demo\n")
    (tmp_path / "password").chmod(0o600)
    text = (f"listen: 127.0.0.1:{free_port()}\nstate_dir: {tmp_path}/state\naccounts:\n  - name: main\n"
            f"    url: http://127.0.0.1:9\n    login: demo\n    password_file: {tmp_path}/password\nprojects:\n"
            f"  - {{name: team-a, account: main, region: Sto2, project_id: {PROJECT_ID}}}\n")

    def write(old="", new=""):
        assert old in text
        path = tmp_path / "shootd.yaml"
        path.write_text(text.replace(old, new, 1) if old else text + new)
        return path

    write.directory = tmp_path
    return write


def test_valid(written):
    checked = run("--config", written(), "--check-config")
    assert (checked.returncode, checked.stdout) == (0, "configuration is valid\n")
    assert not (written.directory / "state").exists()


FAULTS = {
    "unknown key": (("", "colour: red\n"), "colour: unknown key; known here: listen"),
    "unknown nested key": (("login: demo", "login: demo\n    pasword: x"), "pasword: unknown key"),
    "wrong type": (("", "limits: {connections: many}\n"), "connections: 'many' is not an integer"),
    "wrong duration": (("", "polling: {active: 15}\n"), "active: '15' is not a duration"),
    "wrong word": (("login: demo", "login: demo\n    api: v7"), "api: 'v7' is not one of: v1, v2"),
    "missing password file": (("/password\n", "/nothing\n"), "password_file: cannot read"),
    "unknown account": (("account: main", "account: other"), "account: there is no account 'other'"),
    "bad project id": ((PROJECT_ID, "123"), "project_id: '123' must be 32 hex digits"),
    "plain http": (("http://127.0.0.1:9", "http://example.com"), "url: 'http://example.com' must be https"),
    "unknown cloud": (("url: http://127.0.0.1:9", "cloud: mine"), "url: is required for cloud 'mine'"),
    "given twice": (("login: demo", "login: demo\n    login: demo"), "login: is given twice"),
    "not YAML": (("", "a: [\n"), "not YAML"),
    "same project twice": (("projects:\n", f"projects:\n  - {{name: b, account: main, region: Sto2, project_id: {PROJECT_ID}}}\n"),
                           "project_id: is served as project 'b' already"),
    "missing key": (("    login: demo\n", ""), "login: is required in accounts"),
    "port above 65535": (("listen: 127.0.0.1:", "listen: 127.0.0.1:9"), "has a port that is no number from 0 (any free port) to 65535"),
    "no such address": (("listen: 127.0.0.1", "listen: 300.1.1.1"), "listen: '300.1.1.1:"),
    "no such IPv6 address": (("listen: 127.0.0.1", "listen: '[1::2::3]:80' #"), "has a malformed IPv6 address"),
    "port of a URL": (("http://127.0.0.1:9", "https://cleura.example:99999"), "has a port that is no number from 1 to 65535"),
    "address in a URL": (("http://127.0.0.1:9", "https://300.1.1.1"), "url: 'https://300.1.1.1' has an IPv4 address"),
    "port of public_url": (("", "public_url: https://shootd.example:0\n"), "public_url: 'https://shootd.example:0' has a port"),
    "address of tracing": (("", "tracing: {endpoint: 'collector:4318'}\n"), "tracing.endpoint: 'collector:4318' must be http(s)://host[:port][/path]"),
    "ratio of tracing": (("", "tracing: {endpoint: 'http://127.0.0.1:4318', ratio: 1.5}\n"),
                         "ratio: '1.5' is not a number from 0 to 1 with at most six decimals"),
    "second document": (("", "---\nlisten: 127.0.0.1:1\n"), ":10: a second document begins here"),
    "rest is not YAML": (("", "---\na: [\n"), "not YAML"),
    "empty login": (("login: demo", "login: ''"), "login: must not be empty"),
    "blank login": (("login: demo", "login: '  '"), "login: must not be empty"),
    "no login": (("login: demo", "login:"), "login: must not be empty"),
    "minimum above maximum": (("region: Sto2", "region: Sto2, defaults: {minimum: 4, maximum: 3}"), "minimum: 4 is above maximum, 3"),
    "maximum below the usual minimum": (("region: Sto2", "region: Sto2, defaults: {maximum: 0}"), "minimum: 1 is above maximum, 0"),
    "default given twice": (("region: Sto2", "region: Sto2, defaults: {minimum: 1, minimum: 2}"), "minimum: is given twice"),
    "no version": (("region: Sto2", "region: Sto2, defaults: {kubernetes_version: abc}"), "kubernetes_version: 'abc' must be a version"),
    "active above idle": (("", "polling: {active: 5m, idle: 2m}\n"), "active: must not be longer than idle, which is 2m"),
    "active above the default of idle": (("", "polling: {active: 5m}\n"), "active: must not be longer than idle, which is 2m by default"),
    "idle below the default of active": (("", "polling: {idle: 5s}\n"), "active: must not be longer than idle, which is 5s"),
    "webhook host with a blank": (("", "webhooks: {allow: ['hooks .internal']}\n"), "allow: 'hooks .internal' is neither a network"),
    "webhook address": (("", "webhooks: {allow: [300.1.1.1]}\n"), "allow: '300.1.1.1' is neither a network"),
    "duration out of range": (("", "limits: {drain: 10m}\n"), "drain: '10m' is not between 1s and 5m"),
    "polling out of range": (("", "polling: {idle: 20ms}\n"), "idle: '20ms' is not between 50ms and 1d"),
    "long cloud": (("login: demo", "login: demo\n    cloud: " + "c" * 63), "must be 1 to 62 letters"),
    "long URL": (("http://127.0.0.1:9", "http://127.0.0.1:9/" + "u" * 2048), "url: has 2067 bytes, the most is 2048"),
    "many projects": (("projects:\n", "projects:\n" + "  - {}\n" * 1000), "projects: has 1001 entries, the most are 1000"),
    "list given twice": (("", "accounts: []\n"), "accounts: is given twice"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_configuration_fault(written, name):
    (old, new), message = FAULTS[name]
    path = written(old, new)
    for arguments in (("--check-config",), ()):
        checked = run("--config", path, *arguments)
        assert checked.returncode == 78, checked
        assert message in checked.stderr
        assert f"{path}:" in checked.stderr, "names file and line"
    assert not (written.directory / "state").exists()


def test_every_fault_with_its_line(written):
    path = written("region: Sto2", "region: ''")
    path.write_text(path.read_text() + "colour: red\npolling: {idle: soon}\n")
    checked = run("--config", path, "--check-config")
    lines = [line.split(":")[1] for line in checked.stderr.splitlines()]
    assert len(lines) == 3 and checked.returncode == 78
    assert list(map(int, lines)) == [9, 10, 11]


def test_faults_in_the_order_of_lines(written):
    """Both kinds of faults: those of single keys, and those between keys."""
    path = written("listen: 127.0.0.1", "listen: 300.1.1.1")
    path.write_text(path.read_text().replace("login: demo", "login: ''").replace("/password\n", "/nothing\n")
                    .replace("account: main", "account: other") + "polling:\n  idle: soon\n  active: 20m\ncolour: red\n")
    checked = run("--config", path, "--check-config")
    lines = [int(line.split(":")[1]) for line in checked.stderr.splitlines()]
    assert checked.returncode == 78 and lines == sorted(lines) and len(lines) == 7, checked.stderr


def test_a_group_without_keys_is_none(written):
    for text in ("tls:\n", "tls: {}\n", "tls:\n  # certificate: ...\n"):
        assert run("--config", written(new=text), "--check-config").returncode == 0, text
    refused = run("--config", written(new='tls: ""\n'), "--check-config")
    assert refused.returncode == 78 and "tls: must be a mapping" in refused.stderr


def test_password_file_readable_by_others(written):
    (written.directory / "password").chmod(0o644)
    checked = run("--config", written(), "--check-config")
    assert checked.returncode == 78 and "chmod 600" in checked.stderr and "demo" not in checked.stderr.split("\n")[0].split("password")[-1]


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfdemo\r\n", b" demo\t\n", b"demo"])
def test_what_editors_add_to_a_password_is_not_part_of_it(written, content):
    (written.directory / "password").write_bytes(content)
    assert run("--config", written(), "--check-config").returncode == 0
    (written.directory / "password").write_bytes(content.replace(b"demo", b""))
    assert run("--config", written(), "--check-config").returncode == 78


def test_missing_file_and_bad_usage(tmp_path):
    missing = run("--config", tmp_path / "none.yaml")
    assert missing.returncode == 78 and "No such file" in missing.stderr
    assert run("--colour").returncode == 64
    assert run("extra").returncode == 64


def test_the_version_is_reported():
    version = (ROOT / "VERSION").read_text().strip()
    first, stores = run("--version").stdout.splitlines()
    assert re.fullmatch(rf"shootd {re.escape(version)} \([0-9a-f]+\)", first)
    newest = int(re.fullmatch(r"stores of schema 1 to (\d+); older ones are upgraded at start", stores)[1])
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(r"^## (\d\S*)", changes, re.M)[1] == version  # unreleased changes stand above it
    assert int(re.search(r"schema (\d+)", changes)[1]) == newest


def test_unreachable_state_directory(written):
    (written.directory / "file").write_text("")
    started = run("--config", written(f"{written.directory}/state", f"{written.directory}/file/state"))
    assert started.returncode == 69 and "state directory" in started.stderr


def test_port_in_use(written):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        path = written()
        text = path.read_text()
        port = s.getsockname()[1]
        path.write_text("".join(f"listen: 127.0.0.1:{port}\n" if line.startswith("listen") else line
                                for line in text.splitlines(True)))
        started = run("--config", path)
    assert started.returncode == 69 and "Address already in use" in started.stderr and str(port) in started.stderr
    assert "`listen`" in started.stderr and "SHOOTD_LISTEN" in started.stderr, "names the key that changes it"
    assert not (written.directory / "state" / "shootd.db").exists()


def digest(directory):
    """Digests of the stored files; SQLite's empty side files may appear and disappear."""
    return {name: hashlib.sha256((directory / name).read_bytes()).hexdigest()
            for name in ("shootd.db", "seal.key", "admin-token")}


def test_newer_database(sim, make_shootd):
    d = make_shootd(sim.url).start()
    d.stop()
    database = sqlite3.connect(d.state / "shootd.db")
    database.execute("PRAGMA user_version = 9999")
    database.close()
    before = digest(d.state)
    started = run("--config", d.config)
    assert started.returncode == 78, started.stderr
    assert "newer" in started.stderr
    assert digest(d.state) == before


def test_corrupt_and_foreign_database(sim, make_shootd):
    d = make_shootd(sim.url).start()
    d.stop()
    (d.state / "shootd.db").write_bytes(b"this is not a database, but long enough to be taken for a file" * 100)
    before = digest(d.state)
    started = run("--config", d.config)
    assert started.returncode == 69 and "shootd.db" in started.stderr
    assert digest(d.state) == before


def test_second_daemon_on_the_same_state(sim, make_shootd):
    d = make_shootd(sim.url).start()
    second = d.directory / "second.yaml"
    second.write_text("".join(f"listen: 127.0.0.1:{free_port()}\n" if line.startswith("listen") else line
                              for line in d.config.read_text().splitlines(True)))
    started = run("--config", second)
    assert started.returncode == 69 and "locked" in started.stderr
    assert d.http.get("/v1/whoami").status_code == 200


def test_sample_configuration_is_the_code(tmp_path):
    printed = run("--sample-config")
    assert printed.stdout == (ROOT / "config/shootd.sample.yaml").read_text()
    import yaml
    sample = yaml.safe_load(printed.stdout)
    assert sample["polling"] == {"active": "15s", "idle": "2m", "discovery": "5m", "absent_for": "5m", "fresh_floor": "5s"}
    assert sample["accounts"][0]["max_in_flight"] == 1
    password = tmp_path / "password"
    password.write_text("x\n")
    password.chmod(0o600)
    path = tmp_path / "sample.yaml"
    filled = printed.stdout.replace("LOGIN_AT_CLEURA", "robot").replace("PROJECT_ID_AT_CLEURA", PROJECT_ID)
    path.write_text(filled.replace("/run/credentials/shootd.service/cleura-main", str(password)))
    assert run("--config", path, "--check-config").returncode == 0


def test_start_from_the_environment(sim, tmp_path):
    nothing = run(env={"PATH": os.environ["PATH"]})
    assert nothing.returncode == 78
    for name in ("CLEURA_LOGIN", "CLEURA_PASSWORD", "CLEURA_REGION", "CLEURA_PROJECT_ID"):
        assert name in nothing.stderr
    env = {"PATH": os.environ["PATH"], "CLEURA_LOGIN": "demo", "CLEURA_PASSWORD": "demo", "CLEURA_URL": sim.url,
           "CLEURA_REGION": "Sto2", "CLEURA_PROJECT_ID": PROJECT_ID, "XDG_STATE_HOME": str(tmp_path / "home")}
    wrong = run(env={**env, "SHOOTD_LISTEN": "somewhere"})
    assert wrong.returncode == 78 and "listen: 'somewhere' must be" in wrong.stderr
    env["SHOOTD_LISTEN"] = f"127.0.0.1:{free_port()}"
    log = open(tmp_path / "log", "wb")
    process = subprocess.Popen([BUILD / "shootd"], env=env, stdout=log, stderr=log)
    try:
        state = tmp_path / "home/shootd"
        wait_until(lambda: (state / "admin-token").exists() or process.poll() is not None, what="start")
        token = (state / "admin-token").read_text().strip()
        assert (state / "admin-token").stat().st_mode & 0o777 == 0o600

        def answers():
            try:
                answer = web.get(f"http://{env['SHOOTD_LISTEN']}/v1/projects", headers={"Authorization": "Bearer " + token})
                return answer.json()["items"] if answer.status_code == 200 else None  # the token is still being stored
            except httpx.HTTPError:
                return None
        assert [p["name"] for p in wait_until(answers, what="an answer")] == ["default"]
        assert token not in (tmp_path / "log").read_text()
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0
        log.close()


def test_a_long_past_is_purged_slice_by_slice(sim, make_shootd):
    """Two kinds of rows, each more than a slice (5,000 rows); writes continue meanwhile."""
    d = make_shootd(sim.url).start()
    d.create("dev")
    d.stop()
    rows = 12000
    with contextlib.closing(sqlite3.connect(d.state / "shootd.db")) as db, db:
        first = db.execute("SELECT value FROM meta WHERE key = 'event_sequence'").fetchone()[0]
        db.execute("UPDATE events SET at = 1")
        db.executemany("INSERT INTO events (sequence, id, type, project, cluster, at, body) VALUES (?, ?, 'cluster.ready', 'team-a', 'dev', 1, '{}')",
                       [(first + i, f"evt_{i:026}") for i in range(1, rows + 1)])
        db.execute("UPDATE meta SET value = ? WHERE key = 'event_sequence'", (first + rows,))
        db.executemany("INSERT INTO audit (at, action, outcome, body) VALUES (1, 'createToken', 'success', ?)", [(f'{{"n":{i}}}',) for i in range(rows)])
    d.start()
    assert d.http.put(d.clusters_path("other"), json={}).status_code == 202
    wait_until(lambda: re.search(rf"^shootd_events_oldest_sequence ({first + rows + 1})$", d.http.get("/metrics").text, re.M), what="the purge")
    assert not d.http.get("/v1/audit?action=createToken&limit=1").json()["items"]
    assert d.events()
