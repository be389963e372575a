"""shootctl against the daemon and cleura-sim: its output, in a terminal and without one, and its exit codes."""

import base64
import functools
import http.server
import json
import os
import re
import shutil
import signal
import ssl
import stat
import subprocess
import threading
import time
import unicodedata

import pytest
import yaml

import contract
import harness
from contract import DOCUMENT
from ctl import (Answers, CONFLICT, DIFFERENT, FAILED, HTML, NOT_ALLOWED, NOT_FOUND, OK, REFUSED, SHOOTCTL, TIMED_OUT, UNREACHABLE, USAGE, answer, by_method,
                 environment, fails, fields_of, good, of_ci, operation, problem, raw, run)
from harness import ROOT, SANITIZED, wait_until
from terminal import Terminal

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    directory = tmp_path_factory.mktemp("shootctl")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start().wait_upstream()
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture
def ctl(pair, tmp_path):
    """Runs shootctl as a CI job does: address and token are in the environment."""
    return functools.partial(run, tmp_path, **of_ci(pair[1]))


# ---- the table of commands, and the contract -------------------------------------------------------------------------

def test_its_calls_are_those_of_the_contract():
    rows = re.findall(r'X\((\w+), "([A-Z]+)", "([^"]+)"\)', (ROOT / "cli/api.h").read_text())
    assert len(rows) > 12
    for name, method, path in rows:
        assert method.lower() in DOCUMENT["paths"].get(path, {}), (name, method, path)


def test_the_members_that_a_document_may_have_are_those_of_the_contract():
    text = (ROOT / "cli/input.c").read_text()
    lists = {name: set(re.findall(r'"(\w+)"', body)) for name, body in re.findall(r"const (sent|answered)\[\] = \{([^}]*)\}", text)}
    schemas = DOCUMENT["components"]["schemas"]
    assert lists["sent"] == set(schemas["ClusterPut"]["properties"])
    assert lists["sent"] | lists["answered"] == set(schemas["Cluster"]["properties"])


def test_help_comes_from_one_table(tmp_path):
    table = json.loads(good(run(tmp_path, "help", "-o", "json")))
    names = [c["name"] for c in table["commands"]]
    whole = good(run(tmp_path, "--help"))
    assert whole.startswith("Examples:") and all(re.search(rf"^  {name} ", whole, re.M) for name in names)
    for command in table["commands"]:
        text = good(run(tmp_path, command["name"], "--help", "--no-such-flag"))
        assert text.startswith("Examples:\n  ") and all("--" + flag["name"] in text for flag in command["flags"] + table["flags"])
    assert good(run(tmp_path, "help", "wait")) == good(run(tmp_path, "wait", "-h"))
    page = (ROOT / "docs/shootctl.md").read_text()
    assert not [name for name in names if f"`{name}" not in page and f"shootctl {name}" not in page]
    assert [str(c["code"]) for c in table["exit_codes"]] == re.findall(r"^\| (\d+) \|", page.split("## Errors")[1], re.M)


@pytest.mark.parametrize("line, words", [
    ("lsit", "did you mean 'list'?"), ("list --proejct x", "did you mean --project?"), ("list --all", "unknown flag --all of 'list'"),
    ("get", "'get' needs NAME..."), ("", "usage: shootctl COMMAND"), ("list -o xml", "not one of table"), ("wait dev --for=phase=redy", "phase=ready"),
    ("create", "needs a NAME"), ("create dev --pool a,typ=b", "is not NAME,type=TYPE"), ("apply", "-f FILE"), ("context use", "use NAME"),
    ("help lsit", "did you mean 'list'?"), ("create dev --label x", "is not NAME=VALUE"), ("login nowhere --token-stdin", "no address of a server"),
])
def test_a_wrong_line_ends_with_2_and_says_what_is_right(tmp_path, line, words):
    fails(run(tmp_path, *line.split(), SHOOTD_URL="http://127.0.0.1:9", SHOOTD_TOKEN="x"), USAGE, words)


def test_without_a_server_it_says_how_to_name_one(tmp_path):
    fails(run(tmp_path, "list"), USAGE, "shootctl login URL", "SHOOTD_URL")


# ---- contexts --------------------------------------------------------------------------------------------------------

def test_login_stores_a_checked_token_for_its_owner_only(pair, tmp_path):
    d, file = pair[1], tmp_path / "config/shootctl/config.yaml"
    fails(run(tmp_path, "login", d.url, "--token-stdin", input="wrong\n"), NOT_ALLOWED, "does not accept the token")
    assert not file.exists(), "a token that is not good is not stored"
    (tmp_path / "token").write_text(d.token() + "\n")
    done = run(tmp_path, "login", d.url + "/", "--token-file", tmp_path / "token", "--project", "team-a")
    assert done.returncode == OK and "role admin" in done.stderr and done.stdout == ""
    assert file.stat().st_mode & 0o777 == 0o600
    assert good(run(tmp_path, "list", "-o", "json")) == "[]\n"
    good(run(tmp_path, "login", d.url, "--token-stdin", "--name", "second", input=d.token()))
    rows = [line.split() for line in good(run(tmp_path, "context")).splitlines()[1:]]
    assert rows == [[f"127.0.0.1:{d.port}", d.url, "team-a"], ["*", "second", d.url, "-"]]
    good(run(tmp_path, "context", "use", f"127.0.0.1:{d.port}"))
    shown = json.loads(good(run(tmp_path, "context", "show", "-o", "json", SHOOTD_PROJECT="other")))
    assert shown["project"] == {"value": "other", "from": "SHOOTD_PROJECT"} and shown["token"]["value"] == "(set)"
    assert shown["url"] == {"value": d.url, "from": f"context 127.0.0.1:{d.port}"}
    fails(run(tmp_path, "context", "use", "third"), NOT_FOUND, "there is no context 'third'")
    good(run(tmp_path, "context", "remove", "second"))
    assert [c["name"] for c in yaml.safe_load(file.read_text())["contexts"]] == [f"127.0.0.1:{d.port}"]
    assert [p.name for p in file.parent.iterdir()] == ["config.yaml"], "no draft is left"


def test_a_file_that_others_may_read_is_refused(pair, tmp_path):
    d, file = pair[1], tmp_path / "config/shootctl/config.yaml"
    good(run(tmp_path, "login", d.url, "--token-stdin", input=d.token()))
    file.chmod(0o640)
    fails(run(tmp_path, "list"), USAGE, "others may read it", f"chmod 600 {file}")
    fails(run(tmp_path, "context", "use", "x"), USAGE, "others may read it")
    file.chmod(0o600)
    file.write_text("contexts: [{name: x}]\n")
    fails(run(tmp_path, "list"), USAGE, "is no file of contexts")
    file.write_text("contexts: [\n")
    fails(run(tmp_path, "list"), USAGE, f"{file}:")


def test_a_stored_token_is_sent_to_its_own_server_only(pair, tmp_path):
    good(run(tmp_path, "login", pair[1].url, "--token-stdin", input=pair[1].token()))
    with Answers({"*": problem(401, "unauthenticated")}) as other:
        fails(run(tmp_path, "list", "--url", other.url), NOT_ALLOWED, "you are not logged in")
        fails(run(tmp_path, "list", SHOOTD_URL=other.url), NOT_ALLOWED, "you are not logged in")
        assert other.requests and not any(b"authorization" in r.lower() for r in other.requests)
    good(run(tmp_path, "list", "--context", f"127.0.0.1:{pair[1].port}", SHOOTD_URL="http://127.0.0.1:9"))


def test_a_token_for_loopback_is_sent_to_no_proxy(tmp_path):
    page = answer(200, {"items": [], "next_cursor": None})
    with Answers({"*": page}) as server, Answers({"*": page}) as proxy:
        for name in ("http_proxy", "all_proxy", "ALL_PROXY"):
            one = functools.partial(run, tmp_path, "list", SHOOTD_TOKEN="x", **{name: proxy.url})
            good(one("--url", server.url))
            good(one("--url", server.url.replace("127.0.0.1", "localhost")))
            assert len(server.requests) == 2 and not proxy.requests
            good(one("--url", "http://127.evil.example"))
            assert len(proxy.requests) == 1 and proxy.requests[0].startswith(b"GET http://127.evil.example/"), "another host is asked through the proxy"
            del server.requests[:], proxy.requests[:]


def test_a_token_of_the_environment_is_sent_to_its_own_server_only(pair, tmp_path):
    ctl = functools.partial(run, tmp_path, **of_ci(pair[1]))
    with Answers({"*": problem(401, "unauthenticated")}) as other:
        fails(ctl("list", "--url", other.url), NOT_ALLOWED, "you are not logged in")
        assert other.requests and not any(b"authorization" in r.lower() for r in other.requests)
        fails(ctl("list", "--url", other.url, SHOOTD_URL=None), NOT_ALLOWED, "does not accept the token of SHOOTD_TOKEN")
        assert b"authorization" in other.requests[-1].lower(), "without SHOOTD_URL it is for the server of --url"
    good(ctl("list", "--url", pair[1].url + "/"))


def test_missing_rights_of_the_token_are_reported(pair, tmp_path):
    made = pair[1].http.post("/v1/tokens", json={"name": "looker", "role": "viewer", "projects": ["team-a"]}).json()
    viewer = functools.partial(run, tmp_path, SHOOTD_URL=pair[1].url, SHOOTD_TOKEN=made["token"])
    assert good(viewer("list", "-o", "name")) is not None
    fails(viewer("create", "nope"), NOT_ALLOWED, "the token may not do this")
    pair[1].http.delete("/v1/tokens/" + made["id"])
    fails(viewer("status"), NOT_ALLOWED, "does not accept the token of SHOOTD_TOKEN")
    fails(viewer("list", SHOOTD_TOKEN="two words"), USAGE, "SHOOTD_TOKEN is not a token")


def test_a_unix_socket(pair, make_shootd, tmp_path):
    path = tmp_path / "s"
    d = make_shootd(pair[0].url, name="socket").start_on(path)
    assert good(run(tmp_path, "list", "-o", "name", "--url", f"unix:{path}", SHOOTD_TOKEN=d.token())) is not None
    good(run(tmp_path, "login", f"unix:{path}", "--token-stdin", input=d.token()))
    assert "shootd" in good(run(tmp_path, "version"))


# ---- the life of a cluster without a terminal ---------------------------------------------------------------------------

def test_a_life_without_a_terminal(ctl):
    done = ctl("create", "life", "--kubernetes-version", "1.33", "--pool", "work,type=b.2c4gb,min=1,max=2", "--label", "team=web", "--description", "x: 1.30")
    assert good(done) == "life: create succeeded\n"
    assert "life create: " in done.stderr and "\x1b" not in done.stderr, "a line for each change"
    head, row = good(ctl("list")).splitlines()
    assert head.split() == ["PROJECT", "NAME", "PHASE", "HEALTH", "VERSION", "CREATED", "MESSAGE"]
    assert row.split()[:3] == ["team-a", "life", "ready"] and re.match(r"\d{4}-\d\d-\d\dT", row.split()[5])
    cluster = json.loads(good(ctl("get", "life", "-o", "json")))
    assert cluster["spec"] == {"kubernetes_version": "1.33", "node_pools": [{"name": "work", "machine_type": "b.2c4gb", "minimum": 1, "maximum": 2}]}
    assert yaml.safe_load(good(ctl("get", "life", "-o", "yaml"))).keys() == cluster.keys()
    assert good(ctl("list", "-A", "-o", "name")) == "team-a/life\n"
    assert good(ctl("list", "-o", "name")) == "life\n" and json.loads(good(ctl("list", "-o", "jsonl")))["name"] == "life"
    assert [c["id"] for c in json.loads(good(ctl("list", "-o", "json")))] == [cluster["id"]]
    assert "LABELS" in good(ctl("list", "-o", "wide")) and "team=web" in good(ctl("list", "-o", "wide"))
    told = good(ctl("describe", "life"))
    for words in ("Cluster:      team-a/life", "Kubernetes:   1.33", "Node pools", "work", "Last operation", "create succeeded", "Last events", "operation.succeeded"):
        assert words in told, told
    assert good(ctl("list", "--label", "team=web", "--phase", "ready", "--sort", "-name", "-o", "name")) == "life\n"
    assert good(ctl("list", "--label", "team=db", "-o", "name")) == ""
    fails(ctl("list", "--phase", "redy"), REFUSED, "phase: 'redy' is not one of the valid values; did you mean 'ready'?", "valid: pending, creating, ready")
    assert good(ctl("hibernate", "life")) == "life: hibernate succeeded\n"
    assert good(ctl("hibernate", "life")) == "life: already hibernated\n"
    assert json.loads(good(ctl("wake", "life", "-o", "json")))["status"]["phase"] == "ready"
    offers = ctl("upgrade", "life")
    assert "1.34.3" in good(offers) and "shootctl upgrade life --to" in offers.stderr
    fails(ctl("upgrade", "life", "--to", "1.34"), USAGE, "replaces nodes", "--yes")
    assert re.search(r"^changed fields: \d+, steps that replace nodes: \d+; nothing was done$", good(ctl("upgrade", "life", "--to", "1.34", "--dry-run")), re.M)
    assert good(ctl("upgrade", "life", "--to", "1.34", "--yes")) == "life: update succeeded\n"
    fails(ctl("upgrade", "life", "--to", "1.99", "--yes"), REFUSED, "spec.kubernetes_version: '1.99'", "valid:")
    assert good(ctl("wait", "life")) == "life: update succeeded\n" and good(ctl("wait", "life", "--for=phase=ready")) == "life: ready\n"
    fails(ctl("create", "life"), CONFLICT, "Cluster exists", "request: req_")
    fails(ctl("delete", "life"), USAGE, "--yes")
    assert good(ctl("delete", "life", "--yes")) == "life: delete succeeded\n"
    fails(ctl("get", "life"), NOT_FOUND, "Cluster not found")
    fails(ctl("delete", "life", "--yes"), NOT_FOUND)
    assert good(ctl("wait", "life", "--for=deleted")) == "life: deleted\n", "it is true of what is not there"
    fails(ctl("wait", "life"), NOT_FOUND)


def test_status_version_and_catalog(pair, ctl, tmp_path):
    told = good(ctl("status"))
    assert f"Server:    {pair[1].url}" in told and "role admin" in told and re.search(r"^team-a +Sto2 +ok ", told, re.M)
    document = json.loads(good(ctl("status", "-o", "json")))
    assert set(document) == {"server", "whoami", "clusters", "projects"}
    version = (ROOT / "VERSION").read_text().strip()
    assert good(run(tmp_path, "version")).startswith(f"shootctl {version} ") and f"shootd   {version} " in good(ctl("version"))
    assert good(ctl("version", "--client")).count("\n") == 1
    assert good(ctl("--version")) == good(ctl("version", "--client"))
    catalog = good(ctl("catalog"))
    assert all(words in catalog for words in ("KUBERNETES", "MACHINE TYPE", "b.2c4gb", " 4 GiB ", "Defaults of a create:"))
    assert "1.33.7" in good(ctl("catalog", "-o", "name")).split()
    assert "defaults" in yaml.safe_load(good(ctl("catalog", "-o", "yaml")))
    assert "defaults" in json.loads(good(ctl("catalog", "-o", "json", SHOOTD_PROJECT=None))), "the only project"
    fails(ctl("catalog", "--project", "team-x"), NOT_FOUND, "Project not found")


def test_refusals_name_every_member(ctl):
    said = fails(ctl("create", "Bad", "--kubernetes-version", "1.99"), REFUSED, "name: must have 1 to 15 characters", "spec.kubernetes_version: '1.99' is not offered", "valid: ")
    assert "request: req_" in said and "Correct every member" in said


def test_apply_and_diff(ctl, tmp_path):
    folder = tmp_path / "clusters"
    folder.mkdir()
    (folder / "a.yaml").write_text("name: app-a\nspec: {kubernetes_version: 1.33}\n---\nname: app-b\nlabels: {team: \"1.30\"}\n")
    (folder / "b.json").write_text('{"name": "app-c", "project": "team-a"}')
    (folder / "notes.txt").write_text("no document")
    done = ctl("diff", "-f", folder)
    assert done.returncode == DIFFERENT and "3 different, 0 unchanged" in done.stdout, done
    assert good(ctl("apply", "-f", folder)) == "team-a/app-a created\nteam-a/app-b created\nteam-a/app-c created\n"
    assert good(ctl("wait", "app-a", "app-b", "app-c")).count("succeeded") == 3
    assert good(ctl("apply", "-f", folder)) == "team-a/app-a unchanged\nteam-a/app-b unchanged\nteam-a/app-c unchanged\n"
    assert good(ctl("diff", "-f", folder)).startswith("0 different, 3 unchanged")
    printed = good(ctl("get", "app-b", "-o", "yaml"))
    assert good(ctl("apply", "-f", "-", input=printed)) == "team-a/app-b unchanged\n", "what get prints may be sent back"
    changed = "name: app-a\nspec: {node_pools: [{name: default, machine_type: b.4c8gb}]}\n"
    done = ctl("diff", "-f", "-", input=changed)
    assert done.returncode == DIFFERENT and "~ node_pools.default.machine_type" in done.stdout and "replaces nodes" in done.stdout, done.stdout
    fails(ctl("apply", "-f", "-", input=changed), USAGE, "replaces nodes", "--yes")
    assert good(ctl("apply", "-f", "-", "--yes", input=changed)) == "team-a/app-a configured\n"
    for text, words in (("name: a\nname: b\n", "2: duplicate key 'name'"), ("name: a\nspecs: {}\n", "did you mean 'spec'?"),
                        ("name: a\nversion: 7\n", "the member version is called revision"),
                        ("name: a\nnodePools: []\n", "unknown member 'nodePools': 'node_pools' belongs into 'spec'"), ("- a\n", "is no mapping"),
                        ("spec: {}\n", "has no name"), ("name: a\n---\nname: a\n", "is also in another document"), ("# none\n", "there is no document")):
        fails(ctl("apply", "-f", "-", input=text), USAGE, words)
    fails(ctl("apply", "-f", tmp_path / "none.yaml"), USAGE, "No such file")
    assert good(ctl("delete", "app-a", "app-b", "app-c", "--yes")).count("delete succeeded") == 3


def test_apply_asks_before_the_protection_goes(pair, ctl):
    good(ctl("create", "guarded", "--protect", "--label", "a=b"))
    whole = "name: guarded\ndeletion_protection: true\nlabels: {a: b}\n"
    assert good(ctl("apply", "-f", "-", input=whole)) == "team-a/guarded unchanged\n"
    assert good(ctl("apply", "-f", "-", input=whole.replace("a: b", "a: c"))) == "team-a/guarded configured\n", "labels are replaced, too"
    fails(ctl("apply", "-f", "-", input="name: guarded\n"), USAGE, "deletion_protection: true -> false", "--yes")
    kept = pair[1].cluster("guarded").json()
    assert (kept["deletion_protection"], kept["labels"]) == (True, {"a": "c"})
    fails(ctl("delete", "guarded", "--yes"), CONFLICT, "deletion_protection")
    assert [good(ctl("apply", "-f", "-", "--yes", input="name: guarded\n")) for _ in range(2)] == ["team-a/guarded configured\n", "team-a/guarded unchanged\n"]
    change = "name: guarded\nspec: {node_pools: [{name: default, machine_type: b.4c8gb}]}\n"
    with pair[0].frozen():
        assert [good(ctl("apply", "-f", "-", "--yes", input=change)) for _ in range(2)] == ["team-a/guarded configured\n", "team-a/guarded unchanged\n"], "it is under way"
    good(ctl("wait", "guarded"))
    good(ctl("delete", "guarded", "--yes"))


def test_a_cluster_that_changed_since_it_was_shown_stays(pair, tmp_path):
    sim, d = pair
    good(run(tmp_path, "create", "shown", **of_ci(d)))
    with Terminal([SHOOTCTL, "delete", "shown"], environment(tmp_path, **of_ci(d))) as t:
        t.expect("Type its name")
        assert d.http.patch("/v1/projects/team-a/clusters/shown", json={"labels": {"a": "b"}}).status_code == 200
        t.send("shown\n")
        assert t.end() == CONFLICT and "it changed meanwhile" in t.text, t.text
    assert d.cluster("shown").json()["status"]["phase"] == "ready"
    good(run(tmp_path, "delete", "shown", "--yes", **of_ci(d)))


def test_a_cluster_of_a_file(ctl, tmp_path):
    (tmp_path / "c.yaml").write_text("name: filed\nspec:\n  kubernetes_version: 1.33\n")
    fails(ctl("create", "other", "-f", tmp_path / "c.yaml"), USAGE, "is named 'filed'")
    assert "+ " in good(ctl("create", "-f", tmp_path / "c.yaml", "--dry-run"))
    assert re.fullmatch(r"filed: create accepted as op_\w{26}\n", good(ctl("create", "-f", tmp_path / "c.yaml", "--no-wait")))
    assert good(ctl("wait", "filed")) == "filed: create succeeded\n"
    assert good(ctl("delete", "filed", "--yes", "-o", "name")) == "filed\n"
    (tmp_path / "d.yaml").write_text("name: filed\nproject: team-b\n")
    fails(ctl("create", "-f", tmp_path / "d.yaml", "--project", "team-a"), USAGE, "names project 'team-b', --project says 'team-a'")
    with Answers({"*": answer(202, {"id": "cl_1", "name": "filed", "operation": {"id": "op_1", "type": "create"}})}) as server:
        good(ctl("create", "-f", tmp_path / "d.yaml", "--no-wait", SHOOTD_URL=server.url))
        assert server.requests[-1].startswith(b"POST /v1/projects/team-b/clusters "), "the document wins over SHOOTD_PROJECT"


def test_all_pages_are_followed(pair, ctl):
    names = sorted(f"page-{i:02}" for i in range(3))
    for name in names:
        good(ctl("create", name, "--no-wait"))
    cursors = []
    items = {c["name"]: c for c in pair[1].http.get("/v1/projects/team-a/clusters").json()["items"]}

    def page(request):
        found = re.search(rb"cursor=(\w+)", request)
        at = int(found[1]) if found else 0
        cursors.append(at)
        return answer(200, {"items": [items[names[at]]], "next_cursor": str(at + 1) if at + 1 < len(names) else None})
    with Answers({"*": page}) as server:
        assert good(ctl("list", "-o", "name", SHOOTD_URL=server.url)).split() == names and cursors == [0, 1, 2]
        assert len(json.loads(good(ctl("list", "-o", "json", SHOOTD_URL=server.url)))) == 3
    with Answers({"*": answer(200, {"items": [], "next_cursor": "same"})}) as server:
        fails(ctl("list", SHOOTD_URL=server.url), UNREACHABLE, "the same page again and again")
    turns = iter(range(1, 1000000))
    with Answers({"*": lambda request: answer(200, {"items": [], "next_cursor": str(next(turns))})}) as server:
        fails(ctl("list", SHOOTD_URL=server.url), UNREACHABLE, "more than 1000 pages")
    good(ctl("delete", *names, "--yes"))


def test_a_wait_ends_with_what_became_of_it(pair, ctl):
    sim = pair[0]
    with sim.frozen():
        good(ctl("create", "slow", "--no-wait"))
        fails(ctl("wait", "slow", "--for=phase=hibernated", "--timeout", "1s"), TIMED_OUT, "the wait reached its limit", "shootctl wait slow --project team-a --for=phase=hibernated")
        fails(ctl("wait", "slow", "--timeout", "500ms"), TIMED_OUT, "goes on at the server")
    operation = pair[1].cluster("slow").json()["operation"]["id"]
    assert good(ctl("wait", operation)) == f"{operation}: create succeeded\n"
    fails(ctl("wait", "op_" + "0" * 26), NOT_FOUND)
    good(ctl("delete", "slow", "--yes"))


def test_a_wait_survives_a_server_that_is_killed(pair, tmp_path):
    sim, d = pair
    with sim.frozen():
        good(run(tmp_path, "create", "keeps", "--no-wait", **of_ci(d)))
        waiting = subprocess.Popen([SHOOTCTL, "wait", "keeps"], env=environment(tmp_path, **of_ci(d)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: d.parked() >= 1, what="the wait to begin")
        d.kill()
    d.start()
    out, err = waiting.communicate(timeout=120)
    assert (waiting.returncode, out) == (OK, "keeps: create succeeded\n"), err
    assert "waiting goes on" in err and "the server answers again" in err
    good(run(tmp_path, "delete", "keeps", "--yes", **of_ci(d)))


# ---- in a terminal -----------------------------------------------------------------------------------------------------

def plain(text):
    return ESCAPE.sub("", text)


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def frames_of(text):
    """All texts that were drawn over one another, without escape sequences."""
    return [piece for line in text.split("\n") for piece in plain(line).split("\r")]


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_life_in_a_terminal(pair, tmp_path, columns):
    sim, d = pair
    name = f"tty-{columns}"
    with Terminal([SHOOTCTL, "login", d.url, "--project", "team-a"], environment(tmp_path), columns) as t:
        t.expect("Token for")
        t.send(d.token() + "\n")
        assert t.end() == OK and d.token() not in t.text and "role admin" in plain(t.text), t.text
    sim.post("clock", speed=300)
    with Terminal([SHOOTCTL, "create", name], environment(tmp_path), columns) as t:
        assert t.end() == OK, t.text
    sim.post("clock", speed=720)
    lines = frames_of(t.text)
    assert max(map(width, lines)) < columns, "the last column stays free"
    assert any("[#" in line for line in lines), t.text
    assert plain(t.text).rstrip().endswith(f"{name}: create succeeded") and "\x1b[2J" not in t.text
    with Terminal([SHOOTCTL, "list"], environment(tmp_path), columns) as t:
        assert t.end() == OK
    rows = [line.rstrip("\r") for line in plain(t.text).splitlines()]
    assert all(width(row) <= columns for row in rows) and rows[0].startswith("PROJECT  NAME"), rows
    assert "\x1b[32m" in t.text and (columns < 80 or " ago" in t.text)
    with Terminal([SHOOTCTL, "describe", name], environment(tmp_path, NO_COLOR="1"), columns) as t:
        assert t.end() == OK and "\x1b[" not in t.text and "Last operation" in t.text
        assert re.search(r"Created: +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d CES?T \(", t.text)
    with Terminal([SHOOTCTL, "describe", name, "--utc", "--no-color"], environment(tmp_path), columns) as t:
        assert t.end() == OK and re.search(r"Created: .* (UTC|GMT) \(", t.text)
    with Terminal([SHOOTCTL, "delete", name], environment(tmp_path), columns) as t:
        t.expect("Type its name")
        t.send("wrong\n")
        assert t.end() == REFUSED and "nothing was deleted" in t.text
    with Terminal([SHOOTCTL, "delete", name], environment(tmp_path), columns) as t:
        t.expect("Type its name")
        t.send(name + "\n")
        assert t.end() == OK and f"{name}: delete succeeded" in plain(t.text)


def test_a_dumb_terminal_gets_lines(pair, tmp_path):
    with Terminal([SHOOTCTL, "create", "dumb"], environment(tmp_path, TERM="dumb", **of_ci(pair[1]))) as t:
        assert t.end() == OK and "\x1b" not in t.text and "dumb create: " in t.text
    with Terminal([SHOOTCTL, "delete", "dumb", "--yes", "--progress=none"], environment(tmp_path, **of_ci(pair[1]))) as t:
        assert t.end() == OK and plain(t.text).strip() == "dumb: delete succeeded"


def test_ctrl_c_leaves_the_operation_going(pair, tmp_path):
    sim, d = pair
    with sim.frozen():
        with Terminal([SHOOTCTL, "create", "goes-on"], environment(tmp_path, **of_ci(d))) as t:
            t.expect("goes-on create")
            t.send("\x03")
            assert t.end() == -signal.SIGINT
        assert re.search(r"shootctl wait op_\w{26}   # goes-on goes on at the server", t.text) and "nothing was cancelled" in t.text
    assert d.wait_phase("goes-on", "ready")
    good(run(tmp_path, "delete", "goes-on", "--yes", **of_ci(d)))


def test_many_lines_fit_a_low_terminal(pair, tmp_path):
    sim, d = pair
    names = [f"low-{i}" for i in range(6)]
    with sim.frozen():
        for name in names:
            good(run(tmp_path, "create", name, "--no-wait", **of_ci(d)))
        with Terminal([SHOOTCTL, "wait", *names, "--timeout", "1500ms"], environment(tmp_path, **of_ci(d)), 60, 5) as t:
            t.expect("and 3 more")
            t.resize(30, 5)
            assert t.end() == TIMED_OUT
    assert not re.search(r"\x1b\[([5-9]|\d\d)A", t.text), "never higher than the terminal"
    good(run(tmp_path, "delete", *names, "--yes", **of_ci(d)))


# ---- a server with wrong answers ---------------------------------------------------------------------------------------

SEEN = {"id": "cl_1", "name": "dev", "managed": True, "labels": {"a": "b"}, "description": None, "deletion_protection": False, "spec": {}, "operation": {"id": "op_1"},
        "revision": 7}


@pytest.mark.parametrize("before, after, result", [
    ({}, {}, "unchanged"), ({}, {"revision": 8}, "unchanged"), ({}, {"operation": {"id": "op_2"}}, "unchanged"), ({}, {"operation": {"id": "op_2"}, "revision": 8}, "configured"),
    ({}, {"labels": {}}, "configured"), ({}, {"description": "x"}, "configured"), ({}, {"deletion_protection": True}, "configured"), ({"spec": {"a": 1}}, {}, "configured"),
    ({"managed": False}, {}, "configured"),
], ids=["equal", "polled", "it waits behind another", "repaired", "labels", "description", "protection", "spec", "adopted"])
def test_apply_says_what_became_of_it(tmp_path, before, after, result):
    seen = by_method(GET=answer(200, {**SEEN, **before}, 'ETag: "cl-7-x"\r\n'), PUT=answer(202 if "operation" in after else 200, {**SEEN, **after}))
    with Answers({"*": seen}) as server:
        done = run(tmp_path, "apply", "-f", "-", "--yes", input="name: dev\n", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
        assert good(done) == f"team-a/dev {result}\n" and fields_of(server.requests[-1])["If-Match"] == '"cl-7-x"'


CHANGED = problem(412, "precondition_failed")


@pytest.mark.parametrize("verb", ["delete dev --yes", "upgrade dev --to 1.34 --yes", "apply -f - --yes"])
def test_a_write_is_about_the_cluster_that_was_shown(tmp_path, verb):
    plan = {"valid": True, "changes": [], "steps": []}
    with Answers({"*": by_method(GET=answer(200, SEEN, 'ETag: "cl-7-x"\r\n'), DELETE=CHANGED, PUT=CHANGED, PATCH=[answer(200, plan), CHANGED])}) as server:
        fails(run(tmp_path, *verb.split(), input="name: dev\n", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a"), CONFLICT, "it changed meanwhile", "repeat the command if you still want the change")
        writes = [fields_of(request) for request in server.requests if not request.startswith(b"GET")]
        assert writes and all(fields["If-Match"] == '"cl-7-x"' for fields in writes)


@pytest.mark.parametrize("verb, now, said", [
    ("apply -f - --yes", {"labels": {}, "operation": {"id": "op_2"}, "revision": 8}, "team-a/dev configured\n"),
    ("upgrade dev --to 1.34 --yes --no-wait", {"spec": {"kubernetes_version": "1.34"}, "operation": {"id": "op_2", "type": "update"}}, "dev: update accepted as op_2\n"),
])
def test_a_second_try_may_find_what_the_first_has_done(tmp_path, verb, now, said):
    seen = [answer(200, SEEN, 'ETag: "cl-7-x"\r\n'), answer(200, {**SEEN, **now})]
    writes = by_method(GET=seen, PUT=[b"", CHANGED], PATCH=[answer(200, {"valid": True}), b"", CHANGED])
    with Answers({"*": writes}) as server:
        assert good(run(tmp_path, *verb.split(), input="name: dev\n", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")) == said


BAD = {
    "html": (HTML, UNREACHABLE, "the server is not shootd"),
    "half": (raw(200, '{"items": [', length=4000), UNREACHABLE, "broke before the answer was whole"),
    "no json": (raw(200, '{"items": [}'), UNREACHABLE, "is not JSON"),
    "no object": (raw(200, "[1, 2]"), UNREACHABLE, "no object"),
    "deep": (raw(200, "[" * 100000), UNREACHABLE, "is not JSON"),
    "nothing": (b"", UNREACHABLE, "broke before"),
    "noise": (b"SSH-2.0-OpenSSH_9.2\r\n", UNREACHABLE, "the server is not shootd"),
    "elsewhere": (raw(302, "", fields="Location: https://login.example.com/\r\n"), UNREACHABLE, "https://login.example.com/"),
    "401": (problem(401, "invalid_token"), NOT_ALLOWED, "does not accept the token"),
    "401 of a proxy": (answer(401, {"error": "sign in"}), UNREACHABLE, "none of shootd"),
    "403": (problem(403, "forbidden"), NOT_ALLOWED, "may not do this"),
    "429": (problem(429, "request_quota_exceeded"), REFUSED, "Title of it"),
    "503": (problem(503, "store_unavailable"), REFUSED, "Title of it"),
    "proxy": (raw(502, "<html>Bad gateway</html>", "text/html"), UNREACHABLE, "HTTP 502"),
    "wrong types": (raw(200, '{"items": {"a": 1}, "status": 5, "operation": [], "kubernetes_versions": 7, "observed": "x", "name": 3, "role": []}'), None, ""),
    "escape": (answer(409, {"code": "conflict", "title": "\x1b[2JTitle", "detail": "\x1b[2J\u202eX", "advice": "\x1b]0;x\x07", "errors": [{"pointer": "\x1b[1m", "valid": ["\x1b[1m"]}]}),
               CONFLICT, "\\x1b[2JTitle"),
    "204": (b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", UNREACHABLE, "the server is not shootd"),
    "304": (b"HTTP/1.1 304 Not Modified\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n", UNREACHABLE, "the server is not shootd"),
}
VERBS = ["status", "list", "list -o json", "get dev", "describe dev", "catalog", "create dev --timeout 100ms", "apply -f -", "diff -f -", "upgrade dev", "upgrade dev --to 1.34 --yes",
         "hibernate dev --timeout 100ms", "delete dev --yes --timeout 100ms", "wait dev --for=phase=ready --timeout 1s", "version", "login URL --token-stdin",
         "events", "kubeconfig dev --stdout", "kubeconfig dev", "credential dev", "kubectl dev -- get nodes"]


@pytest.mark.parametrize("kind", BAD)
def test_bad_answers_end_each_verb_with_a_plain_message(tmp_path, kind):
    given, code, words = BAD[kind]
    with Answers({"*": given}) as server:
        def one(verb):
            own = tmp_path / verb.replace(" ", "_").replace("/", "")
            own.mkdir()
            text = "token\n" if "stdin" in verb else "name: dev\n"
            arguments = [server.url if word == "URL" else word for word in verb.split()]
            return run(own, *arguments, "--retries", "0", input=text, SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
        # A start with a sanitizer takes as long as four without; there each verb meets every third answer.
        for verb in VERBS[list(BAD).index(kind) % 3::3] if SANITIZED else VERBS:
            done = one(verb)
            assert "\x1b" not in done.stdout + done.stderr and "\u202e" not in done.stdout + done.stderr, (verb, done)
            assert not list(tmp_path.rglob("config.yaml")), "a login that failed stores nothing"
            assert not list(tmp_path.rglob(".kube")), "nor is a kubeconfig begun"
            if verb.startswith("wait") and done.returncode == TIMED_OUT:
                assert code is None or "waiting goes on" in done.stderr, "the server may come back"
            elif code is not None:
                fails(done, code, "" if "is not a kubeconfig" in done.stderr else words)
            if code is not None and verb != "version":
                assert done.stdout == "", (verb, done)


def test_members_that_are_missing_crash_nothing(tmp_path):
    fake = functools.partial(run, tmp_path, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
    with Answers({"*": answer(200, {"items": [], "drift": [{"path": "a"}, {}], "status": {}})}) as server:
        assert "a: null, asked for null" in good(fake("describe", "dev", SHOOTD_URL=server.url))
    with Answers({"*": answer(200, {"items": [], "status": {"phase": "failed", "trouble_since": "2026-03-01T12:05:00Z"}})}) as server:
        assert re.search(r"^In trouble: +2026-03-01T12:05:00Z$", good(fake("describe", "dev", SHOOTD_URL=server.url)), re.M)
    issue = {"title": "T", "severity": "warning", "action": "Wait.", "responsible": "cleura"}
    with Answers({"*": answer(200, {"items": [issue, {}], "status": {}})}) as server:
        assert re.search(r"^  to do +Wait\.\n  who +Cleura$", good(fake("describe", "dev", SHOOTD_URL=server.url)), re.M)
    with Answers({"*": answer(200, {"name": "ci", "role": "admin"})}) as server:
        assert "projects null" in fake("login", server.url, "--token-stdin", input="token\n").stderr


@pytest.mark.parametrize("line", [["upgrade", "dev", "--to", b"\xff"], ["get", b"a\xff"], ["list", b"--q=\xc3"], ["create", "dev", "--description", b"\xed\xa0\x80"]])
def test_an_argument_that_is_no_text_is_refused(tmp_path, line):
    line = [os.fsdecode(word) for word in line]
    fails(run(tmp_path, *line, SHOOTD_URL="http://127.0.0.1:9", SHOOTD_TOKEN="x"), USAGE, "is no UTF-8")
    fails(run(tmp_path, "list", SHOOTD_URL="http://127.0.0.1:9", SHOOTD_PROJECT=os.fsdecode(b"\xff")), USAGE, "SHOOTD_PROJECT", "is no UTF-8")


@pytest.mark.parametrize("first", [problem(503, "store_unavailable"), problem(429, "request_quota_exceeded", "Retry-After: 0\r\n"), b"", raw(502, "<p>", "text/html"),
                                   raw(200, "{", length=50)], ids=["503", "429", "nothing", "proxy", "half"])
def test_repeatable_requests_are_repeated(tmp_path, first):
    with Answers({"*": [first, first, answer(200, {"items": [], "next_cursor": None})]}) as server:
        done = run(tmp_path, "list", "-o", "json", SHOOTD_URL=server.url, SHOOTD_TOKEN="x")
        assert (good(done), len(server.requests)) == ("[]\n", 3) and "trying again in" in done.stderr and "(2 of 3)" in done.stderr


def test_a_long_pause_is_left_to_people(tmp_path):
    with Answers({"*": problem(503, "store_unavailable", "Retry-After: 600\r\n")}) as server:
        fails(run(tmp_path, "list", SHOOTD_URL=server.url, SHOOTD_TOKEN="x"), REFUSED, "Title of it", "try again in 600 s")
        assert len(server.requests) == 1


def test_a_create_is_repeated_with_its_key(tmp_path):
    cluster = {"id": "cl_1", "name": "dev", "operation": {"id": "op_1", "type": "create"}}
    with Answers({"*": [b"", problem(409, "idempotency_key_in_use", "Retry-After: 0\r\n"), answer(202, cluster)]}) as server:
        done = run(tmp_path, "create", "dev", "--no-wait", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
        assert good(done) == "dev: create accepted as op_1\n"
    keys = {re.search(rb"\r\nIdempotency-Key: (\w+)\r\n", r, re.I)[1] for r in server.requests}
    assert len(server.requests) == 3 and len(keys) == 1 and len(keys.pop()) == 32


ASKING = [  # command lines that together send every query parameter
    "list -A --phase ready --health healthy --kubernetes-version 1.33 --label a=b --q x --region r --managed true --sort name --expiring-before 30d", "list --phase ready -o json",
    "events dev --last 5 --since 24h --type x", "describe dev", "wait op_1", "kubeconfig dev --stdout --ttl 1h", "credential dev", "diff -f -", "create dev --dry-run",
    "upgrade dev --to 1.34 --dry-run", "status",
]


def query_parameters(method, path):
    """The names of the parameters that the contract gives this call."""
    found = [template for template in DOCUMENT["paths"] if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template), path)]
    item = DOCUMENT["paths"][min(found, key=lambda template: template.count("{"))]
    all = [contract.resolve(one) for one in item.get("parameters", []) + item[method.lower()].get("parameters", [])]
    return {one["name"] for one in all if one["in"] == "query"}


def test_its_query_parameters_are_those_of_the_contract(tmp_path):
    states = [operation("running"), operation("succeeded")]

    def page(request):
        if b" /v1/operations/" in request:
            return states.pop(0)
        return answer(200, {"items": [{"name": "team-a"}], "next_cursor": None if b"cursor=" in request else "c2", "valid": True, "status": {}})
    with Answers({"*": page}) as server:
        for line in ASKING:
            run(tmp_path, *line.split(), "--retries", "0", input="name: dev\n", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
        run(tmp_path, "catalog", SHOOTD_URL=server.url, SHOOTD_TOKEN="x")
    sent = set()
    for request in server.requests:
        method, target = request.decode().split(" ")[:2]
        path, _, query = target.partition("?")
        names = {piece.partition("=")[0] for piece in query.split("&") if piece}
        assert names <= query_parameters(method, path), (method, target)
        sent |= names
    used = {name for path in (ROOT / "cli").rglob("*.c") for name in re.findall(r'api_query\(&?\w+, "(\w+)"', path.read_text())}
    filters = re.search(r"filters\[\] = \{([^}]*)\}", (ROOT / "cli/verbs/verb_clusters.c").read_text())[1]
    used |= {name.replace("-", "_") for name in re.findall(r'"([^"]+)"', filters)}
    assert len(used) > 15 and used == sent, used ^ sent


ERROR = {"code": "quota_exceeded", "title": "Quota exceeded", "detail": "20 cores are too few.", "advice": "Ask for more."}


@pytest.mark.parametrize("answers, code, words", [
    ([operation("running"), operation("succeeded")], OK, "dev create: 43% Waiting"),
    ([operation("failed", error=ERROR)], FAILED, "Quota exceeded: 20 cores are too few."),
    ([operation("cancelled")], FAILED, "shootctl describe dev"),
    ([operation("running"), problem(401, "invalid_token")], NOT_ALLOWED, "does not accept the token"),
    ([operation("running"), problem(403, "forbidden")], NOT_ALLOWED, "may not do this"),
    ([operation("running"), problem(404, "operation_not_found")], NOT_FOUND, "Its detail."),
    ([problem(429, "request_quota_exceeded"), b"", problem(503, "store_unavailable"), operation("succeeded")], OK, "the server answers again"),
    ([raw(502, "<p>", "text/html"), raw(200, "{", length=9), operation("succeeded")], OK, "waiting goes on"),
    ([HTML], UNREACHABLE, "the server is not shootd"),
    ([answer(201, {})], UNREACHABLE, "the server is not shootd"),
    ([operation("a word of next year"), operation("succeeded")], OK, ""),
    ([answer(200, {"status": 7}), operation("succeeded")], OK, ""),
], ids=["done", "failed", "cancelled", "401", "403", "404", "away", "proxy", "html", "201", "new word", "odd"])
def test_what_may_happen_in_the_middle_of_a_wait(tmp_path, answers, code, words):
    accepted = answer(202, {"id": "cl_1", "name": "dev", "operation": {"id": "op_1", "type": "create"}})
    with Answers({"/v1/operations/op_1": answers, "*": accepted}) as server:
        done = run(tmp_path, "create", "dev", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
        fails(done, code, words)
        assert done.stdout == ("dev: create succeeded\n" if code == OK else "")


def test_how_to_come_back_names_the_server(tmp_path):
    accepted = answer(202, {"id": "cl_1", "name": "dev", "operation": {"id": "op_1", "type": "create"}})
    with Answers({"/v1/operations/": operation("running"), "/v1/projects/it": answer(200, {"id": "cl_1", "name": "dev"}), "*": accepted}) as server:
        fake = functools.partial(run, tmp_path, "--timeout", "300ms", "--url", server.url, SHOOTD_TOKEN="x")
        fails(fake("create", "dev", "--project", "team-a"), TIMED_OUT, f"shootctl wait op_1 --url {server.url}   # dev goes on at the server")
        assert "--project" not in fails(fake("wait", "op_1"), TIMED_OUT, f"shootctl wait op_1 --url {server.url} ")
        fails(fake("wait", "dev", "--for=deleted", "--project", "it's"), TIMED_OUT, f"shootctl wait dev --project 'it'\\''s' --url {server.url} --for=deleted")


def test_a_wait_is_over_in_time(tmp_path):
    release = threading.Event()

    def hangs(_):
        release.wait(60)
        return b""
    with Answers({"*": hangs}) as server:
        began = time.monotonic()
        done = run(tmp_path, "wait", "dev", "web", "--for=phase=ready", "--timeout", "1s", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
        took = time.monotonic() - began
        release.set()
        fails(done, TIMED_OUT, "the server could not be reached", "the wait reached its limit")
        assert len(server.requests) == 1 and took < 15, "one request of a second, not of twenty"


def test_one_that_gets_no_answer_holds_up_no_other(tmp_path):
    with Answers({"/v1/operations/op_2": b"", "*": operation("succeeded")}) as server:
        done = run(tmp_path, "wait", "op_1", "op_2", "op_3", "--timeout", "4s", SHOOTD_URL=server.url, SHOOTD_TOKEN="x")
        fails(done, TIMED_OUT, "waiting goes on")
        assert done.stdout == "op_1: create succeeded\nop_3: create succeeded\n"


def certificate(directory):
    """A self-signed certificate for a server, and its key."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", directory / "key.pem", "-out", directory / "server.pem", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True, timeout=60)
    return directory / "server.pem", directory / "key.pem"


@pytest.mark.parametrize("line", ["list", "wait dev --for=phase=ready", "events -f"])
def test_a_fault_that_never_passes_is_not_repeated(tmp_path, line):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    fake = functools.partial(run, tmp_path, *line.split(), SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
    with Answers({"*": HTML}) as server:
        server.server.socket = context.wrap_socket(server.server.socket, server_side=True)
        address = server.url.replace("http:", "https:")
        said = fails(fake(SHOOTD_URL=address), UNREACHABLE, "certificate") + fails(fake("--ca-file", tmp_path / "none.pem", SHOOTD_URL=address), UNREACHABLE, "none.pem")
        assert "trying again" not in said and "goes on" not in said


def test_a_host_that_never_was_there_ends_a_wait(tmp_path):
    said = fails(run(tmp_path, "wait", "dev", "--for=phase=ready", SHOOTD_URL="unix:/" + "x" * 200, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a"), UNREACHABLE)
    assert "goes on" not in said


def test_a_name_is_no_way_up(tmp_path):
    with Answers({"*": problem(404, "cluster_not_found")}) as server:
        fails(run(tmp_path, "get", "..", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="."), NOT_FOUND)
        assert server.requests[0].startswith(b"GET /v1/projects/./clusters/.. ")


def test_an_apply_that_was_killed_is_repeated(pair, ctl, tmp_path):
    count = harness.size(8, 200)
    (tmp_path / "many.yaml").write_text("---\n".join(f"name: many-{i:03}\n" for i in range(count)))
    killed = subprocess.Popen([SHOOTCTL, "apply", "-f", tmp_path / "many.yaml"], env=environment(tmp_path, **of_ci(pair[1])), stdout=subprocess.PIPE, text=True)
    assert [killed.stdout.readline() for _ in range(2)] == ["team-a/many-000 created\n", "team-a/many-001 created\n"]
    killed.kill()
    killed.communicate(timeout=60)
    again = good(ctl("apply", "-f", tmp_path / "many.yaml")).splitlines()
    assert len(again) == count and again[-1] == f"team-a/many-{count - 1:03} created"
    good(ctl("wait", *[f"many-{i:03}" for i in range(min(count, 100))]))
    assert len([name for name in good(ctl("list", "-o", "name")).split() if name.startswith("many-")]) == count
    good(ctl("delete", *[f"many-{i:03}" for i in range(min(count, 100))], "--yes"))


def test_a_delete_that_was_lost_is_a_success(tmp_path):
    with Answers({"*": [answer(200, {"id": "cl_1", "name": "dev"}), b"", problem(404, "cluster_not_found")]}) as server:
        assert good(run(tmp_path, "delete", "dev", "--yes", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")) == "dev: deleted\n"


def test_a_server_that_is_not_there(tmp_path):
    port = harness.free_port()
    fails(run(tmp_path, "list", "--retries", "1", SHOOTD_URL=f"http://127.0.0.1:{port}", SHOOTD_TOKEN="x"), UNREACHABLE, f"127.0.0.1:{port}", "(1 of 1)")


def test_foreign_text_is_escaped(tmp_path):
    evil = "\x1b[31m\u202ered\u2028\x07"
    item = {"name": "dev", "project": evil, "phase": evil, "message": evil, "labels": {"a": evil}}
    with Answers({"*": answer(200, {"items": [item], "next_cursor": None})}) as server:
        for form in ("table", "wide", "json", "yaml", "jsonl", "name"):
            text = good(run(tmp_path, "list", "-o", form, SHOOTD_URL=server.url, SHOOTD_TOKEN="x"))
            assert not set(text) & set("\x1b\u202e\u2028\x07"), form
        assert "\\x1b[31m\\u202ered\\u2028\\x07" in good(run(tmp_path, "list", SHOOTD_URL=server.url, SHOOTD_TOKEN="x"))
        assert json.loads(good(run(tmp_path, "list", "-o", "json", SHOOTD_URL=server.url, SHOOTD_TOKEN="x"))) == [item]


def test_what_stands_in_the_place_of_a_time_is_escaped_too(tmp_path):
    evil = "\x1b[31m\u202ered\x07"
    whole = {"items": [{"timestamp": evil, "type": "a", "name": "p", "created_at": evil, "upstream": {"last_contact_at": evil}}], "expires_at": evil, "created_at": evil, "next_cursor": None}
    with Answers({"*": answer(200, whole)}) as server:
        env = environment(tmp_path, SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT=evil)
        for verb in ("events", "status", "describe dev", "get dev", "list"):
            done = subprocess.run([SHOOTCTL, *verb.split()], env=env, capture_output=True, text=True, timeout=60)
            assert done.returncode == OK and "\\x1b[31m\\u202ered\\x07" in done.stdout, (verb, done)
            assert not set(done.stdout + done.stderr) & set("\x1b\u202e\x07"), verb
        with Terminal([SHOOTCTL, "delete", "dev", "--no-color"], env) as t:
            t.expect("Type its name")
            t.send("no\n")
            assert t.end() == REFUSED and "\x1b" not in t.text and "\\x1b[31m" in t.text, t.text


def test_output_that_cannot_be_written_is_a_failure(ctl):
    with open("/dev/full", "w") as full:
        done = subprocess.run([SHOOTCTL, "help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == REFUSED and "No space left" in done.stderr


def test_a_closed_output_is_a_failure(tmp_path):
    """No connection may get the number of the closed descriptor, and with it the output."""
    def run_closed(redirection, *arguments, input=""):
        return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", SHOOTCTL, *arguments], input=input, capture_output=True, text=True, timeout=60,
                              env=environment(tmp_path, SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a"))
    put = by_method(GET=problem(404, "cluster_not_found"), PUT=answer(202, {"id": "cl_1", "name": "dev", "operation": {"id": "op_1"}, "valid": True, "changes": [{"path": "labels"}]}))
    with Answers({"*": put}) as server:
        for redirection in (">&-", ">/dev/full"):
            done = run_closed(redirection, "apply", "-f", "-", input="name: dev\n---\nname: web\n")
            assert done.returncode == REFUSED and "standard output cannot be written" in done.stderr, done
            assert sum(request.startswith(b"PUT") for request in server.requests) == 1, "nobody sees the result of the second"
            del server.requests[:]
            assert run_closed(redirection, "diff", "-f", "-", input="name: dev\n").returncode == REFUSED
            del server.requests[:]
        assert run_closed("2>&-", "apply", "-f", "-", input="name: dev\n").stdout == "team-a/dev created\n"
        assert run_closed("<&-", "apply", "-f", "-").returncode == USAGE
    with Answers({"*": answer(200, {"items": [], "next_cursor": None})}) as server:
        assert run_closed(">&-", "list", "-o", "json").returncode == REFUSED


# ---- events ------------------------------------------------------------------------------------------------------------

def test_events_are_followed_over_a_restart(pair, ctl, tmp_path):
    d = pair[1]
    good(ctl("create", "told"))
    types = [json.loads(line)["type"] for line in good(ctl("events", "told", "-o", "jsonl")).splitlines()]
    assert types[0] == "operation.started" and types[-1] in ("operation.succeeded", "cluster.ready"), types
    assert good(ctl("events", "told", "--type", "cluster.ready")).split()[1:3] == ["cluster.ready", "team-a/told"]
    assert good(ctl("events", "told", "--last", "0", "-o", "json")) == "[]\n"
    fails(ctl("events", "-f", "-o", "json"), USAGE, "-o jsonl")
    following = subprocess.Popen([SHOOTCTL, "events", "-f", "told", "--last", "0", "-o", "jsonl"], env=environment(tmp_path, **of_ci(d)), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: int(re.search(r"^shootd_sse_streams (\d+)", d.http.get("/metrics").text, re.M)[1]), what="the stream")
        d.kill()
        d.start()
        good(ctl("hibernate", "told"))
        seen = []
        while not {"operation.succeeded", "cluster.hibernated"} <= set(seen):
            seen.append(json.loads(following.stdout.readline())["type"])
        assert "operation.started" in seen and len(seen) == len(set(seen)), seen
    finally:
        following.send_signal(signal.SIGINT)
        following.communicate(timeout=60)
    assert following.returncode == -signal.SIGINT
    good(ctl("delete", "told", "--yes"))


# ---- kubectl -----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def reachable(pair, tmp_path_factory):
    """A cluster, and a user who is logged in."""
    home = tmp_path_factory.mktemp("kube")
    ctl = functools.partial(run, home)
    good(ctl("login", pair[1].url, "--token-stdin", "--project", "team-a", input=pair[1].token()))
    good(ctl("create", "kube"))
    yield home, ctl
    good(ctl("delete", "kube", "--yes"))


def names_of(config):
    return [[item["name"] for item in config[kind]] for kind in ("clusters", "users", "contexts")]


def test_a_kubeconfig_is_merged_and_nothing_is_lost(pair, reachable, tmp_path):
    home, ctl = reachable
    file, name = home / ".kube/config", f"team-a--kube@127.0.0.1:{pair[1].port}"
    assert good(ctl("kubeconfig", "kube")) == name + "\n"
    made = yaml.safe_load(file.read_text())
    assert names_of(made) == [[name]] * 3 and made["current-context"] == name and file.stat().st_mode & 0o777 == 0o600
    assert "secret" not in file.read_text().lower() and "client-key-data" not in file.read_text()
    exec_ = made["users"][0]["user"]["exec"]
    assert exec_["apiVersion"].endswith("/v1beta1") and exec_["interactiveMode"] == "Never"
    mine = tmp_path / "mine.yaml"
    mine.write_text("current-context: old\nextra: {keep: '1.30'}\nusers: [{name: old, user: {token: abc}}]\n")
    mine.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(mine)
    good(ctl("kubeconfig", "kube", "--kubeconfig", link))
    merged = yaml.safe_load(mine.read_text())
    assert link.is_symlink() and mine.stat().st_mode & 0o777 == 0o640 and merged["extra"] == {"keep": "1.30"}
    assert merged["current-context"] == "old" and names_of(merged)[1] == ["old", name]
    assert (tmp_path / "mine.yaml.before-shootctl").read_text().startswith("current-context: old\nextra")
    good(ctl("kubeconfig", "kube", "--use", KUBECONFIG=f":{tmp_path}/none:{mine}"))
    assert yaml.safe_load(mine.read_text())["current-context"] == name and not (tmp_path / "none").exists()
    assert {p.name for p in tmp_path.iterdir()} == {"mine.yaml", "mine.yaml.before-shootctl", "link"}, "neither locks nor drafts are left"
    mine.write_text("users: {a: b}\n")
    assert "is no kubeconfig" in fails(ctl("kubeconfig", "kube", "--kubeconfig", mine), REFUSED) and mine.read_text() == "users: {a: b}\n"
    whole = yaml.safe_load(good(ctl("kubeconfig", "kube", "--stdout")))
    assert "client-key-data" in str(whole)
    assert yaml.safe_load(good(ctl("kubeconfig", "kube", "--stdout", "--exec")))["users"] == made["users"]
    fails(ctl("kubeconfig", "nothing"), NOT_FOUND, "Cluster not found")


def test_only_regular_kubeconfigs_are_changed(reachable, tmp_path):
    ctl, fifo, null = reachable[1], tmp_path / "fifo", "/dev/null"
    os.mkfifo(fifo)
    assert "is no regular file" in fails(ctl("kubeconfig", "kube", KUBECONFIG=str(fifo), timeout=20), REFUSED) and stat.S_ISFIFO(fifo.stat().st_mode)
    assert "is no regular file" in fails(ctl("kubeconfig", "kube", KUBECONFIG=null), REFUSED) and stat.S_ISCHR(os.stat(null).st_mode)
    assert not list(tmp_path.glob("*shootctl*")) and not os.path.exists("/dev/null.lock")
    mine = tmp_path / "mine"
    good(ctl("kubeconfig", "kube", KUBECONFIG=f"{null}:{mine}"))
    assert names_of(yaml.safe_load(mine.read_text()))
    if os.geteuid() == 0:
        os.chown(mine, 12345, 12346)
        good(ctl("kubeconfig", "kube", "--use", KUBECONFIG=str(mine)))
        assert (mine.stat().st_uid, mine.stat().st_gid) == (12345, 12346)


def test_a_file_that_cannot_be_read_moves_no_context(reachable, tmp_path):
    """It may set the current context, so another file does not."""
    ctl, first, odd = reachable[1], tmp_path / "first", tmp_path / "odd"
    first.write_text("users: []\n")
    for text in ("current-context: [\n", "a: 1\na: 2\ncurrent-context: mine\n"):
        odd.write_text(text)
        good(ctl("kubeconfig", "kube", KUBECONFIG=f"{first}:{odd}"))
        assert "current-context" not in yaml.safe_load(first.read_text()) and odd.read_text() == text


def test_what_cannot_be_read_stops_only_who_needs_it(shootd, tmp_path):
    """A foreign or missing home, and a foreign directory of the session."""
    ci = of_ci(shootd)
    blocked = tmp_path / "blocked"
    (blocked / "shootctl").mkdir(parents=True)
    (blocked / "shootctl/config.yaml").write_text("contexts: [\n")
    good(run(tmp_path, "list", XDG_CONFIG_HOME=str(blocked), **ci))
    fails(run(tmp_path, "list", XDG_CONFIG_HOME=str(blocked), **{**ci, "SHOOTD_TOKEN": None}), USAGE, "config.yaml")
    good(run(tmp_path, "list", HOME=None, XDG_CONFIG_HOME=None, **ci))
    refused = run(tmp_path, "login", shootd.url, "--token-stdin", input=shootd.token(), HOME=None, XDG_CONFIG_HOME=None)
    fails(refused, REFUSED, "set HOME or XDG_CONFIG_HOME")
    assert not os.path.exists("/.config/shootctl")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user's directory")
def test_root_leaves_nothing_of_its_own_in_a_home(shootd, tmp_path):
    home = tmp_path / "home"
    (home / ".config").mkdir(parents=True)
    for path in (home, home / ".config"):
        os.chown(path, 12345, 12345)
    good(run(home, "login", shootd.url, "--token-stdin", input=shootd.token(), XDG_CONFIG_HOME=None))
    assert (home / ".config/shootctl").stat().st_uid == 12345


def test_the_current_context_of_several_files(pair, reachable, tmp_path):
    ctl, name = reachable[1], f"team-a--kube@127.0.0.1:{pair[1].port}"
    first, second = tmp_path / "first", tmp_path / "second"

    def currents():
        return [(yaml.safe_load(file.read_text()) or {}).get("current-context") for file in (first, second)]

    def merge(*flags):
        good(ctl("kubeconfig", "kube", *flags, KUBECONFIG=f"{tmp_path}/none:{first}:{second}"))
        return currents()
    first.write_text("users: []\n")
    second.write_text("current-context: mine\n")
    assert merge() == [None, "mine"], "another file sets it"
    assert names_of(yaml.safe_load(first.read_text())) == [[name]] * 3
    assert merge("--use") == [None, name], "it is set where it counts"
    assert "users" not in yaml.safe_load(second.read_text()), "and nothing else there"
    second.write_text("{}\n")
    assert merge() == [name, None]
    first.write_text("extra: 1\n")
    good(ctl("kubeconfig", "kube", "--kubeconfig", second))
    second.write_text(second.read_text().replace("current-context", "other"))
    assert merge() == [name, None] and "users" not in yaml.safe_load(first.read_text()), "the first that exists, when none sets it"
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    fails(ctl("kubeconfig", "kube", "--kubeconfig", tmp_path / "nowhere"), REFUSED, "follow the link")
    assert (tmp_path / "nowhere").is_symlink()


def credential(ctl, *arguments, **more):
    info = {"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential", "spec": {}}
    return ctl("credential", "kube", *arguments, **{"KUBERNETES_EXEC_INFO": json.dumps(info), **more})


def test_a_credential_is_kept_for_its_owner_and_for_bad_times(pair, reachable, tmp_path):
    home, ctl = reachable
    ctl = functools.partial(ctl, XDG_RUNTIME_DIR=str(tmp_path / "run"))
    first = json.loads(good(credential(ctl)))
    assert first["apiVersion"].endswith("/v1beta1") and first["status"]["clientCertificateData"].startswith("-----BEGIN ")
    assert json.loads(good(credential(ctl, KUBERNETES_EXEC_INFO='{"apiVersion":"client.authentication.k8s.io/v1"}')))["apiVersion"].endswith("/v1")
    assert json.loads(good(credential(ctl, KUBERNETES_EXEC_INFO=None)))["apiVersion"].endswith("/v1beta1")
    fails(credential(ctl, KUBERNETES_EXEC_INFO='{"apiVersion":"client.authentication.k8s.io/v9"}'), REFUSED, "v9")
    kept = next((tmp_path / "run/shootctl").glob("*.json"))
    assert kept.stat().st_mode & 0o777 == 0o600 and kept.parent.stat().st_mode & 0o777 == 0o700
    away = {"XDG_RUNTIME_DIR": str(tmp_path / "run")}
    document = json.loads(kept.read_text())
    kept.write_text(json.dumps({**document, "at": document["at"] - 60}))  # old enough for a new request
    pair[1].kill()
    try:
        done = credential(ctl, "--retries", "0", **away)
        assert json.loads(good(done))["status"]["clientKeyData"] == first["status"]["clientKeyData"] and "the server cannot be reached" in done.stderr
        kept.write_text("{ broken")
        assert credential(ctl, "--retries", "0", **away).stdout == ""
    finally:
        pair[1].start()
    good(credential(ctl))
    kept.parent.chmod(0o755)
    done = credential(ctl)
    assert good(done) and "others may read it" in done.stderr, "nothing is kept where others can read"


def test_many_kubectl_at_once_fetch_once(tmp_path):
    def slow(request):
        time.sleep(0.3)  # meanwhile the other processes start
        return answer(200, {"apiVersion": "x", "kind": "ExecCredential", "status": {
            "expirationTimestamp": "2099-01-01T00:00:00Z", "clientCertificateData": "certificate", "clientKeyData": "key"}})
    with Answers({"*": slow}) as server:
        env = environment(tmp_path, XDG_RUNTIME_DIR=str(tmp_path / "run"), SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
        many = [subprocess.Popen([SHOOTCTL, "credential", "kube"], env=env, stdout=subprocess.PIPE, text=True) for _ in range(8)]
        said = {p.communicate(timeout=60)[0] for p in many}
        assert len(said) == 1 and json.loads(said.pop())["status"]["clientKeyData"] == "key"
        assert len(server.requests) < 3, "one, unless they took longer than it is fresh"


CREDENTIAL = {"apiVersion": "x", "kind": "ExecCredential",
              "status": {"expirationTimestamp": "2099-01-01T00:00:00Z", "clientCertificateData": "certificate", "clientKeyData": "key"}}


def kept_file(tmp_path):
    return next((tmp_path / "run/shootctl").glob("*.json"))


def grow_old(file):
    """Makes the cached answer old enough for a new request."""
    kept = json.loads(file.read_text())
    kept.pop("away_at", None)
    file.write_text(json.dumps({**kept, "at": kept["at"] - 60}))


def test_a_good_certificate_stays_until_it_is_refused(tmp_path):
    answers = [answer(200, CREDENTIAL)]
    with Answers({"*": lambda request: answers.pop(0)}) as server:
        fake = functools.partial(run, tmp_path, "credential", "kube", XDG_RUNTIME_DIR=str(tmp_path / "run"), SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
        good(fake())
        file = kept_file(tmp_path)
        for away in (problem(429, "request_quota_exceeded", "Retry-After: 0\r\n"), problem(503, "store_unavailable"), problem(423, "frozen"), b"", HTML, answer(200, {})):
            grow_old(file)
            answers.append(away)
            before = len(server.requests)
            done = [fake() for _ in range(2)]
            assert all(json.loads(good(one))["status"]["clientKeyData"] == "key" and "the server cannot be reached" in one.stderr for one in done), done
            assert len(server.requests) == before + 1, "it is asked once, and not again at once"
        grow_old(file)
        answers.append(problem(403, "forbidden"))
        fails(fake(), NOT_ALLOWED, "may not do this")
        assert "certificate" not in file.read_text()


def test_a_server_that_hangs_holds_up_no_kubectl_with_a_certificate(tmp_path):
    release, answers = threading.Event(), [answer(200, CREDENTIAL)]

    def hangs(_):
        if answers:
            return answers.pop()
        release.wait(90)
        return b""
    with Answers({"*": hangs}) as server:
        fake = functools.partial(run, tmp_path, "credential", "kube", XDG_RUNTIME_DIR=str(tmp_path / "run"), SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
        good(fake())
        grow_old(kept_file(tmp_path))
        began = time.monotonic()
        assert "the server cannot be reached" in fake().stderr and time.monotonic() - began < 40, "five seconds, not a minute"
        release.set()


def test_keys_that_have_ended_are_removed(tmp_path):
    folder = tmp_path / "run/shootctl"
    folder.mkdir(parents=True, mode=0o700)
    for name, year in (("ended", 2020), ("good", 2099)):
        (folder / f"{name}.json").write_text(json.dumps({"at": 1, "status": {**CREDENTIAL["status"], "expirationTimestamp": f"{year}-01-01T00:00:00Z"}}))
        (folder / f"{name}.json").chmod(0o600)
    with Answers({"*": answer(200, CREDENTIAL)}) as server:
        good(run(tmp_path, "credential", "kube", XDG_RUNTIME_DIR=str(tmp_path / "run"), SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a"))
    names = {path.name for path in folder.glob("*.json")}
    assert "good.json" in names and "ended.json" not in names and len(names) == 2


def test_kubectl_with_the_merged_file(pair, reachable, tmp_path):
    """The real kubectl, against a server that requires the client certificate."""
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is absent; `make deps-test` installs it")
    home, ctl = reachable
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "shootctl").symlink_to(SHOOTCTL)
    env = {"PATH": f"{bin}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(tmp_path / "run"), "KUBECONFIG": str(tmp_path / "config")}
    good(ctl("kubeconfig", "kube", **env))
    cluster = yaml.safe_load((tmp_path / "config").read_text())["clusters"][0]["cluster"]
    (tmp_path / "ca.pem").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(tmp_path / "ca.pem")
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(dict(x[0] for x in self.connection.getpeercert()["subject"]))
            body = b'{"major":"1"}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = ["--server", f"https://127.0.0.1:{server.server_address[1]}", "--certificate-authority", str(tmp_path / "server.pem")]
        raw = [*address, "get", "--raw", "/version"]
        done = subprocess.run(["kubectl", *raw], env=environment(home, **env), capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout.strip()) == (0, '{"major":"1"}'), done
        assert seen and all(seen)
        before = len(seen)
        done = ctl("kubectl", "kube", "--", *raw, **env)
        assert good(done).strip() == '{"major":"1"}' and len(seen) > before
        failed = subprocess.run([SHOOTCTL, "kubectl", "kube", "--", "no-such-command"], env=environment(home, **env), capture_output=True, text=True, timeout=60)
        assert failed.returncode == 1 and "unknown command" in failed.stderr
        server.shutdown()
    assert not list((tmp_path / "run/shootctl").glob("kubeconfig*")), "the file of one command is gone"
