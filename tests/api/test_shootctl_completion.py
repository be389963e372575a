"""Completion: the hidden verb, and the real bash with the script of `shootctl completion`."""

import functools
import json
import os
import shutil
import subprocess
import time

import pytest

from ctl import Answers, OK, SHOOTCTL, USAGE, answer, environment, fails, good, run


def lists(request):
    path = request.split(b" ")[1].decode()
    names = {"/v1/projects?": ["team-a", "team-b"], "/v1/projects/team-a/clusters?": ["dev", "deploy", "web", "$(touch x)", "two words"], "/v1/projects/team-b/clusters?": ["other"],
             "/v1/clusters?": ["everywhere"]}
    return answer(200, {"items": [{"name": name} for name in next(found for prefix, found in names.items() if path.startswith(prefix))], "next_cursor": None})


def complete(tmp_path, *words, **more):
    """Returns (candidates, bits)."""
    done = run(tmp_path, "__complete", "--", *words, **more)
    assert done.stderr == "", "it is silent"
    *candidates, bits = good(done).splitlines()
    assert bits[0] == ":"
    return [line.split("\t")[0] for line in candidates], int(bits[1:])


def in_time(ask, wanted):
    """Repeats the question: a request for names may take a tenth of a second, and on a busy machine a later one succeeds."""
    for _ in range(20):
        found = ask()
        if found == wanted:
            break
    return found


@pytest.fixture
def typed(tmp_path):
    with Answers({"*": lists}) as server:
        yield functools.partial(complete, tmp_path, SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a", XDG_RUNTIME_DIR=str(tmp_path / "run"))


def test_commands_and_flags_come_from_the_table(typed, tmp_path):
    table = json.loads(good(run(tmp_path, "help", "-o", "json")))
    assert typed("") == ([c["name"] for c in table["commands"]], 4)
    assert typed("de") == (["describe", "delete"], 4)
    for command in table["commands"]:
        assert set(typed(command["name"], "--")[0]) == {"--" + flag["name"] for flag in command["flags"] + table["flags"]}
    assert typed("--proj") == (["--project"], 4) and typed("--project", "x", "li") == (["list"], 4)
    assert "list\tLists the clusters" in good(run(tmp_path, "__complete", "--", "lis"))
    assert "__complete" not in good(run(tmp_path, "help")) and "__complete" not in json.dumps(table)
    fails(run(tmp_path, "__complet"), USAGE, "unknown command '__complet'")


@pytest.mark.parametrize("line, candidates, bits", [
    ("list -o ", ["table", "wide", "json", "yaml", "name", "jsonl"], 4), ("list --output=j", ["--output=json", "--output=jsonl"], 4), ("list -o j", ["json", "jsonl"], 4),
    ("list --phase failed,de", ["failed,degraded", "failed,deleting"], 4), ("list --phase=re", ["--phase=ready", "--phase=retrying"], 4), ("wait dev --for=phase=h", ["--for=phase=hibernating", "--for=phase=hibernated"], 4),
    ("wait dev --for d", ["deleted"], 4), ("list --managed ", ["true", "false"], 4),
    ("apply -f ", [], 0), ("login --token-file ", [], 0), ("kubeconfig dev --kubeconfig=", [], 0),
    ("get de", ["dev", "deploy"], 4), ("get dev we", ["web"], 4), ("delete --yes d", ["dev", "deploy"], 4), ("describe dev ", [], 4), ("create d", [], 4), ("list d", [], 4),
    ("get -p team-b ", ["other"], 4), ("--project team-b get ", ["other"], 4), ("get --project ", ["team-a", "team-b"], 4), ("get --project=team-b o", ["other"], 4),
    ("help de", ["describe", "delete"], 4), ("completion ", ["bash", "zsh", "fish"], 4), ("context ", ["list", "use", "show", "remove"], 4), ("context u", ["use"], 4),
    ("kubectl d", ["dev", "deploy"], 4), ("kubectl dev -- get no", [], 4), ("nothing ", [], 4), ("get --nothing=d", [], 4), ("get --utc=d", [], 4), ("get --nothing ", ["dev", "deploy", "web"], 4),
])
def test_each_place_has_its_candidates(typed, line, candidates, bits):
    assert in_time(functools.partial(typed, *line.split(" ")), (candidates, bits)) == (candidates, bits)


def test_contexts_are_completed(tmp_path):
    with Answers({"*": answer(200, {"name": "ci", "role": "admin"})}) as server:
        for name in ("alice", "bob", "a b"):
            good(run(tmp_path, "login", server.url, "--name", name, "--token-stdin", input="x"))
    assert complete(tmp_path, "context", "use", "") == (["alice", "bob"], 4) and complete(tmp_path, "list", "--context", "b") == (["bob"], 4)
    assert complete(tmp_path, "context", "show", "") == ([], 4)


def test_names_are_kept_and_nobody_waits_for_them(tmp_path):
    """The names come within a tenth of a second, else the cached ones are used."""
    gives = [lists]
    with Answers({"*": lambda request: gives[0](request)}) as server:
        ask = functools.partial(complete, tmp_path, "get", "d", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a", XDG_RUNTIME_DIR=str(tmp_path / "run"))
        assert in_time(ask, (["dev", "deploy"], 4)) == (["dev", "deploy"], 4)
        asked = len(server.requests)
        assert ask() == (["dev", "deploy"], 4) and len(server.requests) == asked, "they are fresh"
        kept = next((tmp_path / "run/shootctl").glob("names-*"))
        assert kept.stat().st_mode & 0o777 == 0o600
        document = json.loads(kept.read_text())
        kept.write_text(json.dumps({**document, "at": document["at"] - 60}))
        gives[0] = lambda request: b""
        assert ask() == (["dev", "deploy"], 4) and len(server.requests) == asked + 1, "the server gave nothing"
        assert ask(SHOOTD_TOKEN="y") == ([], 4), "they are of one token"
        kept.write_text("{ broken")
        assert ask() == ([], 4)
    with Answers({"*": lambda _: time.sleep(20) or b""}) as server:
        began = time.monotonic()
        assert complete(tmp_path, "get", "d", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a") == ([], 4)
        assert time.monotonic() - began < 10, "it does not wait for the answer"


def test_faults_are_silent(tmp_path):
    assert complete(tmp_path, "get", "") == ([], 4), "no server is known"
    file = tmp_path / "config/shootctl/config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("contexts: [\n")
    file.chmod(0o600)
    assert complete(tmp_path, "get", "") == ([], 4) and complete(tmp_path, "context", "use", "") == ([], 4)
    assert good(run(tmp_path, "__complete", "--")) == ":4\n"


# ---- the scripts -------------------------------------------------------------------------------------------------------

def test_a_script_for_each_shell(tmp_path):
    for shell in ("bash", "zsh", "fish"):
        text = good(run(tmp_path, "completion", shell))
        assert "__complete --" in text and "eval" not in text
        if shutil.which(shell):
            (tmp_path / "script").write_text(text)
            assert subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, timeout=60).returncode == 0
    fails(run(tmp_path, "completion", "bsh"), USAGE, "bash, zsh and fish", "did you mean 'bash'?")


DRIVER = r"""
source "$1"
COMP_LINE=$2 COMP_POINT=${3:-${#2}}
_shootctl
printf '%s\n' "${COMPREPLY[@]}"
"""


def in_bash(tmp_path, line, point=None, **more):
    """The words that the real bash would offer."""
    bin = tmp_path / "bin"
    if not bin.exists():
        bin.mkdir()
        (bin / "shootctl").symlink_to(SHOOTCTL)
        (tmp_path / "script").write_text(good(run(tmp_path, "completion", "bash")))
    env = environment(tmp_path, PATH=f"{bin}:{os.environ['PATH']}", **more)
    done = subprocess.run(["bash", "--norc", "-c", DRIVER, "bash", tmp_path / "script", line, *([str(point)] if point else [])], env=env, capture_output=True, text=True, timeout=60,
                          cwd=tmp_path)
    assert done.returncode == OK and done.stderr == "", done
    return [word for word in done.stdout.split("\n") if word]


def test_the_real_bash(tmp_path):
    with Answers({"*": lists}) as server:
        bash = functools.partial(in_bash, tmp_path, SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a", XDG_RUNTIME_DIR=str(tmp_path / "run"))
        in_time(lambda: bash("shootctl get de"), ["dev", "deploy"])  # from now on the names are cached
        assert bash("shootctl hib") == ["hibernate"] and bash("shootctl   get  de") == ["dev", "deploy"] and bash("shootctl get dev ") == ["dev", "deploy", "web"]
        assert bash("shootctl list --phase=re") == ["ready", "retrying"], "bash replaces what is behind the ="
        assert bash("shootctl wait dev --for=phase=read") == ["ready"] and bash("shootctl list --phase failed,re") == ["failed,ready", "failed,retrying"]
        assert bash("shootctl desc dev --utc", 13) == ["describe"], "up to the cursor"
        assert bash("shootctl get $(touch y) ; touch y ") == ["dev", "deploy", "web"] and not list(tmp_path.glob("[xy]")), "nothing of the line is run"
        assert bash("shootctl apply -f ") == []
        assert bash("~/bin/shootctl hib") == ["hibernate"] and bash(f"{tmp_path}/bin/shootctl hib") == ["hibernate"]
