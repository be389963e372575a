"""contrib/cleura-shoot.sh: its five verbs against the daemon, and its messages for failures."""

import json
import os
import re
import shutil
import stat
import subprocess

import pytest

import harness
from ctl import Answers, raw
from harness import ROOT, free_port, hostile_home

SCRIPT = ROOT / "contrib/cleura-shoot.sh"
REFUSED, USAGE, UNREACHABLE, FAILED, TIMED_OUT = 1, 2, 3, 4, 5


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    directory = tmp_path_factory.mktemp("contrib")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start()
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture
def shoot(pair):
    def run(*arguments, **environment):
        env = {"PATH": os.environ["PATH"], "SHOOTD_URL": pair[1].url, "SHOOTD_TOKEN": pair[1].token(),
               "SHOOTD_PROJECT": "team-a", "SHOOTD_TIMEOUT": "60"}
        env = {k: v for k, v in {**env, **environment}.items() if v is not None}
        return subprocess.run([SCRIPT, *arguments], env=env, capture_output=True, text=True, timeout=120)
    return run


def good(run):
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def refused(run, code, *words):
    assert run.returncode == code, run.stdout + run.stderr
    for word in words:
        assert word in run.stderr, run.stderr
    assert "shd_" not in run.stderr and "unbound" not in run.stderr and "line " not in run.stderr
    return run.stderr


def test_five_verbs(shoot, pair, tmp_path):
    assert good(shoot("list")).split() == ["NAME", "PHASE", "HEALTH", "VERSION", "MESSAGE"]
    spec = tmp_path / "spec.json"
    spec.write_text('{"node_pools": [{"name": "work", "maximum": 2}]}')
    assert re.fullmatch(r"dev: accepted as op_\w{26}\n", good(shoot("create", "dev", "--kubernetes-version", "1.33", "--spec", f"@{spec}")))
    told = shoot("wait", "dev")
    assert "dev: create succeeded\n" == good(told) and "create 100%" in told.stderr
    assert good(shoot("wait", "dev")) == "dev: ready\n", "nothing is under way"
    made = pair[1].cluster("dev").json()
    assert made["spec"] == {"kubernetes_version": "1.33", "node_pools": [{"name": "work", "maximum": 2}]}
    row = good(shoot("list")).splitlines()[1].split()
    assert row[:2] == ["dev", "ready"] and row[3] == "1.33.7"
    text = good(shoot("kubeconfig", "dev"))
    assert "kind: Config" in text
    file = tmp_path / "kubeconfig"
    assert good(shoot("kubeconfig", "dev", "--output", str(file), "--ttl", "7200")) == ""
    assert "kind: Config" in file.read_text() and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert good(shoot("delete", "dev", "--wait")).splitlines()[-1] == "dev: delete succeeded"
    refused(shoot("wait", "dev"), REFUSED, "dev: Cluster not found")


def test_lists_have_pages(shoot, pair):
    sim, d = pair
    sim.post("shoots", count=230, prefix="many", state="ready")
    d.wait_phase("many-0229", "ready")
    rows = good(shoot("list")).splitlines()[1:]
    assert [r.split()[0] for r in rows if r.startswith("many")] == [f"many-{i:04}" for i in range(230)]


def test_a_create_that_fails(shoot, pair):
    pair[0].post("lifecycle", shoot="broken", operation="create", outcome="failed", at_progress=50,
                 codes=["ERR_INFRA_QUOTA_EXCEEDED"], description="Quota exceeded for cores")
    refused(shoot("create", "broken", "--wait"), FAILED, "create failed", "Quota exceeded for cores", "ERR_INFRA_QUOTA_EXCEEDED: ")
    refused(shoot("wait", "broken"), FAILED, "broken: failed")


def test_a_wait_has_an_end(shoot, pair):
    pair[0].post("lifecycle", shoot="slow", operation="create", outcome="hang", at_progress=50)
    good(shoot("create", "slow"))
    refused(shoot("wait", "slow", SHOOTD_TIMEOUT="1"), TIMED_OUT, "create still running after 1 seconds")


def test_refusals_say_what_would_be_valid(shoot):
    refused(shoot("create", "x", "--kubernetes-version", "1.99"), REFUSED, "#/spec/kubernetes_version: '1.99' is not offered", "1.33.7",
            "Correct every member named in errors.", "[req_")
    told = refused(shoot("create", "Bad", "--kubernetes-version", "1.99"), REFUSED, "#/name")
    assert "#/spec/kubernetes_version" in told, "all faults at once"
    refused(shoot("delete", "none"), REFUSED, "none: Cluster not found")
    refused(shoot("kubeconfig", "none"), REFUSED, "Cluster not found")
    refused(shoot("kubeconfig", "none", "--ttl", "1"), REFUSED, "ttl_seconds: ")
    refused(shoot("list", SHOOTD_PROJECT=None), REFUSED, "Project not found", "GET /v1/projects")
    refused(shoot("list", SHOOTD_TOKEN="shd_wrong0000"), REFUSED, "Invalid token")


def test_nobody_there(shoot, pair):
    refused(shoot("list", SHOOTD_URL=f"http://127.0.0.1:{free_port()}"), UNREACHABLE, "shootd does not answer at http://127.0.0.1:")
    refused(shoot("list", SHOOTD_URL=pair[0].url), REFUSED, "HTTP status 404 from " + pair[0].url)


FOREIGN = {
    "redirect": (raw(301, "", "text/plain", "Location: https://shootd.example.com/\r\n"), "HTTP status 301 with text/plain, to https://shootd.example.com/"),
    "redirect with a page": (raw(301, "<p>Moved", "text/html"), "HTTP status 301 with text/html"),
    "page": (raw(200, "<p>Welcome to the hotel's network", "text/html"), "HTTP status 200 with text/html"),
    "nothing": (raw(204, ""), "HTTP status 204"),
    "no object": (raw(200, "[1]"), "HTTP status 200 with application/json"),
    "another object": (raw(200, '{"a": 1}'), "it has no ."),
}


HOSTILE = "a\x1b]0;x\x07\x1b[2J\u009b1m\u202eb\u2028\r\n\x00c\x7f\u200bd"
OPERATION = {"id": "op_" + HOSTILE, "type": "create" + HOSTILE, "progress": 1, "status": "failed", "message": HOSTILE,
             "error": {"detail": HOSTILE, "upstream_errors": [{"code": HOSTILE, "action": HOSTILE}]}}
CLUSTER = {"name": "dev" + HOSTILE, "status": {"phase": "failed", "health": HOSTILE, "message": HOSTILE}, "spec": {"kubernetes_version": HOSTILE}}
PROBLEM = {"title": HOSTILE, "advice": HOSTILE, "detail": HOSTILE, "request_id": HOSTILE,
           "errors": [{"pointer": HOSTILE, "detail": HOSTILE, "valid": [HOSTILE, 1]}]}


@pytest.mark.parametrize("line, status, answer", [
    ("list", 200, {"items": [CLUSTER], "next_cursor": None}), ("wait dev", 200, CLUSTER), ("list", 409, PROBLEM),
    ("delete dev", 202, {"operation": OPERATION}), ("delete dev --wait", 200, {"operation": OPERATION, **OPERATION})])
def test_texts_of_others_cannot_write_on_the_screen(shoot, line, status, answer):
    with Answers({"*": raw(status, json.dumps(answer))}) as server:
        run = shoot(*line.split(), SHOOTD_URL=server.url)
    told = run.stdout + run.stderr
    assert "a?" in told and not [c for c in told if not c.isprintable() and c != "\n"], ascii(told)


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("line", ["list", "create dev", "wait dev", "kubeconfig dev", "delete dev"])
def test_another_server_is_no_success(shoot, kind, line):
    given, words = FOREIGN[kind]
    with Answers({"*": given}) as server:
        run = shoot(*line.split(), SHOOTD_URL=server.url)
        refused(run, UNREACHABLE, f"the answer of {server.url} is not from shootd", words)
        assert run.stdout == "" and len(server.requests) == 1


@pytest.mark.parametrize("arguments, words", [
    ((), "Exit codes"), (("dance",), "no verb 'dance'"), (("create",), "needs the name"),
    (("list", "dev"), "unexpected argument 'dev'"), (("wait", "a", "b"), "unexpected argument 'b'"),
    (("delete", "dev", "--force"), "no option --force"), (("create", "dev", "--kubernetes-version"), "--kubernetes-version needs a value"),
    (("create", "dev", "--spec", "{"), "not a JSON object"), (("create", "dev", "--spec", "[1]"), "not a JSON object"),
    (("create", "dev", "--spec", "@/nonexistent"), "/nonexistent"), (("wait", "../tokens"), "is not a name"),
])
def test_usage(shoot, arguments, words):
    run = shoot(*arguments)
    assert run.returncode == USAGE and words in run.stderr and not run.stdout, run.stdout + run.stderr


def test_environment_and_help(shoot):
    refused(shoot("list", SHOOTD_URL=None), USAGE, "SHOOTD_URL is not set")
    refused(shoot("list", SHOOTD_TOKEN=None), USAGE, "SHOOTD_TOKEN is not set")
    refused(shoot("list", SHOOTD_TIMEOUT="soon"), USAGE, "SHOOTD_TIMEOUT")
    for arguments in (("--help",), ("-h",), ("help",), ("create", "--help")):
        said = good(shoot(*arguments, SHOOTD_URL=None, SHOOTD_TOKEN=None))
        for verb in ("list", "create NAME", "wait NAME", "kubeconfig NAME", "delete NAME", "SHOOTD_PROJECT", "Exit codes"):
            assert verb in said
        assert [int(n) for n in re.findall(r"^  (\d)  ", said, re.M)] == [0, 1, 2, 3, 4, 5]


def test_the_token_is_not_among_the_arguments(shoot, pair, tmp_path):
    """Every user of the machine can read the arguments of a program."""
    real = shutil.which("curl")
    fake = tmp_path / "curl"
    fake.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/seen\nexec {real} "$@"\n')
    fake.chmod(0o755)
    good(shoot("list", PATH=f"{tmp_path}:{os.environ['PATH']}"))
    seen = (tmp_path / "seen").read_text()
    assert "/clusters" in seen and pair[1].token() not in seen


def test_a_curlrc_spoils_nothing(shoot, tmp_path):
    home = hostile_home(tmp_path / "home")
    run = shoot("list", **home)
    assert good(run).startswith("NAME") and "shd_" not in run.stdout + run.stderr, run.stderr
    assert run.stderr == ""


def test_no_proxy_gets_the_token_on_loopback(shoot):
    proxy = f"http://127.0.0.1:{free_port()}"
    good(shoot("list", http_proxy=proxy, all_proxy=proxy))
    refused(shoot("list", http_proxy=proxy, SHOOTD_URL="http://127.0.0.1.example.invalid:8080"), UNREACHABLE, proxy.rpartition(":")[2])


def test_shellcheck_finds_nothing():
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed; `make deps-test` installs it")
    run = subprocess.run(["shellcheck", SCRIPT, *sorted((ROOT / "tools").glob("*.sh"))], capture_output=True, text=True,
                         timeout=60)
    assert run.returncode == 0, run.stdout
