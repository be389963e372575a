"""shootctl in its terminal, the programs that it starts, and the form of its documents."""

import email.utils
import functools
import json
import os
import re
import signal
import subprocess
import termios
import time

import pytest
import yaml

from ctl import (Answers, DIFFERENT, NOT_ALLOWED, NOT_FOUND, OK, REFUSED, SHOOTCTL, TIMED_OUT, USAGE, answer, environment, fails, fields_of, good, operation, problem, raw,
                 run)
from harness import wait_until
from terminal import Terminal


# ---- the prompt for a token --------------------------------------------------------------------------------------------

def echoes(t):
    return bool(termios.tcgetattr(t.master)[3] & termios.ECHO)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_finds_the_terminal_as_it_was(tmp_path, number):
    with Terminal([SHOOTCTL, "login", "http://127.0.0.1:9"], environment(tmp_path)) as t:
        t.expect("Token for")
        assert not echoes(t)
        t.send("secret")
        t.popen.send_signal(number)
        assert t.end() == -number and echoes(t) and "secret" not in t.text


def test_keys_that_interrupt_and_stop_a_prompt(tmp_path):
    with Terminal([SHOOTCTL, "login", "http://127.0.0.1:9", "--retries", "0"], environment(tmp_path)) as t:
        t.expect("Token for")
        t.send("\x1a")  # no shell stops it here, so it asks again at once
        wait_until(lambda: t._read(0.05) and t.text.count("Token for") == 2, what="the question")
        assert not echoes(t)
        t.send("\x03")
        assert t.end() == -signal.SIGINT and echoes(t)


def test_a_token_that_a_terminal_may_have_cut_is_refused(tmp_path):
    with Answers({"*": answer(200, {"name": "ci", "role": "admin"})}) as server:
        for length, code in ((4094, OK), (4095, USAGE), (6000, USAGE)):
            with Terminal([SHOOTCTL, "login", server.url], environment(tmp_path)) as t:
                t.expect("Token for")
                t.send("x" * length + "\n")
                assert t.end() == code and ("--token-file" in t.text) == (code == USAGE), t.text
        sent = [request for request in server.requests if b"Authorization" in request]
        assert len(sent) == 1 and b"x" * 4094 + b"\r\n" in sent[0]


# ---- bars --------------------------------------------------------------------------------------------------------------

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def test_a_narrower_terminal_has_no_leftovers(tmp_path):
    """A line that is wider than the narrowed terminal fills several rows, and the cursor moves up by that number."""
    with Answers({"*": operation("running", message="Waiting until worker pools have been reconciled")}) as server:
        with Terminal([SHOOTCTL, "wait", "op_1", "op_2", "op_3", "--timeout", "6s"], environment(tmp_path, SHOOTD_URL=server.url, SHOOTD_TOKEN="x"), 90) as t:
            t.expect("op_3 create")
            t.resize(25)
            assert t.end() == TIMED_OUT
    pieces = re.split(r"\r(?!\n)", t.text)  # the movement up comes before the carriage return
    ways = [int((re.search(r"\x1b\[(\d+)A$", piece) or [0, 0])[1]) for piece in pieces]
    frames = [(ways[i - 1], [len(ESCAPE.sub("", line)) for line in piece.splitlines()]) for i, piece in enumerate(pieces) if piece.count("\n") >= 2]
    turn = next(i for i, (_, widths) in enumerate(frames) if max(widths[:3]) < 25)
    before = frames[turn - 1][1][:3]
    assert turn and min(before) > 25 and frames[turn][0] == sum(-(-width // 25) for width in before) - 1, frames


@pytest.mark.parametrize("hours", [-1, 0, 1])
def test_ages_are_measured_by_the_clock_of_the_server(tmp_path, hours):
    clock = time.time() + hours * 3600
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock - 330))
    listed = {"items": [{"name": "dev", "project": "team-a", "status": {"phase": "ready", "health": "healthy"}, "created_at": made}], "next_cursor": None}
    date = f"Date: {email.utils.formatdate(clock, usegmt=True)}\r\n"
    with Answers({"*": answer(200, listed, fields=date)}) as server:
        with Terminal([SHOOTCTL, "list"], environment(tmp_path, SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a"), 120) as t:
            assert t.end() == OK and re.search(r"\b5m[34]\ds ago", t.text), t.text


def test_bars_begin_anew_after_a_stop(tmp_path):
    """After Ctrl-Z and fg other lines are below the bars: they are not erased."""
    with Answers({"*": operation("running")}) as server:
        with Terminal([SHOOTCTL, "wait", "op_1", "op_2", "op_3"], environment(tmp_path, SHOOTD_URL=server.url, SHOOTD_TOKEN="x"), 90) as t:
            t.expect("op_3 create")
            t.popen.send_signal(signal.SIGSTOP)
            before, t.text = t.text, ""
            t.popen.send_signal(signal.SIGCONT)
            t.expect("op_3 create")
            assert before and not re.search(r"\x1b\[\d+A", t.text), t.text


def test_an_ignored_interrupt_stays_ignored(tmp_path):
    with Answers({"*": operation("running")}) as server:
        one = subprocess.Popen([SHOOTCTL, "wait", "op_1", "--timeout", "3s"], env=environment(tmp_path, SHOOTD_URL=server.url, SHOOTD_TOKEN="x"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        line = one.stderr.readline()  # the first line of the progress
        one.send_signal(signal.SIGINT)
        _, said = one.communicate(timeout=60)
    assert "Waiting" in line and one.returncode == TIMED_OUT, said


# ---- the form of documents ---------------------------------------------------------------------------------------------

def cluster_of(request):
    path = request.split(b" ")[1].decode()
    name = re.search(r"(?:clusters|operations)/([^/?]+)", path)[1]
    if "no" in name:
        return problem(404, "cluster_not_found")
    body = {"id": name, "name": name, "operation": {"id": "op_1", "type": "hibernate"}, "status": {"phase": "ready"}}
    return operation("succeeded", id=name) if "/operations/" in path else answer(202 if request.startswith(b"POST") else 200, body)


@pytest.mark.parametrize("line, code, form", [
    ("get a", OK, "a"), ("get no", NOT_FOUND, None), ("get a b", OK, ["a", "b"]), ("get a no", NOT_FOUND, ["a"]), ("get no nor", NOT_FOUND, None),
    ("hibernate a --no-wait", OK, "a"), ("hibernate a b --no-wait", OK, ["a", "b"]), ("hibernate no a --no-wait", NOT_FOUND, ["a"]), ("hibernate no nor", NOT_FOUND, None),
    ("wait op_1", OK, "op_1"), ("wait op_1 op_2", OK, ["op_1", "op_2"]), ("wait op_1 op_no", NOT_FOUND, ["op_1"]),
])
def test_the_command_line_decides_about_the_form(tmp_path, line, code, form):
    """One name gives an object, several give a list, however many succeed."""
    with Answers({"*": cluster_of}) as server:
        texts = []
        for output in ("json", "yaml", "jsonl", "name"):
            done = run(tmp_path, *line.split(), "-o", output, SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
            assert done.returncode == code, done
            texts.append(done.stdout)
    if form is None:
        assert texts == [""] * 4
        return
    names = form if isinstance(form, list) else [form]
    for document in (json.loads(texts[0]), yaml.safe_load(texts[1])):
        assert isinstance(document, list) == isinstance(form, list)
        assert [one["id"] for one in (document if isinstance(form, list) else [document])] == names
    assert [json.loads(text)["id"] for text in texts[2].splitlines()] == names and texts[3].split() == names


def of_documents(request):
    """The server accepts `a`, refuses `bad` as invalid, and does not allow `shut`."""
    name = re.search(r"clusters/(\w+)", request.decode())[1]
    if request.startswith(b"GET"):
        return problem(404, "cluster_not_found")
    if name in ("bad", "shut"):
        return problem(*{"bad": (422, "validation_failed"), "shut": (403, "forbidden")}[name])
    plan = {"id": name, "valid": True, "changes": [{"path": "labels"}], "steps": []}
    return answer(200, plan) if b"dry_run" in request else answer(202, {"id": name, "operation": {"id": "op_1"}})


@pytest.mark.parametrize("verb, names, code, printed", [
    ("apply", "a", OK, ["a"]), ("apply", "a shut", NOT_ALLOWED, ["a"]), ("apply", "a bad b", REFUSED, ["a", "b"]), ("apply", "bad", REFUSED, None), ("apply", "shut a", NOT_ALLOWED, None),
    ("apply", "", USAGE, None), ("diff", "a", DIFFERENT, ["a"]), ("diff", "a shut", NOT_ALLOWED, ["a"]), ("diff", "a bad", REFUSED, ["a"]), ("diff", "bad", REFUSED, None),
])
def test_documents_that_succeeded_are_printed(tmp_path, verb, names, code, printed):
    text = "---\n".join(f"name: {name}\n" for name in names.split())
    with Answers({"*": of_documents}) as server:
        for output, read in (("json", json.loads), ("yaml", yaml.safe_load), ("jsonl", lambda text: [json.loads(line) for line in text.splitlines()])):
            done = run(tmp_path, verb, "-f", "-", "-o", output, input=text, SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a")
            assert done.returncode == code, done
            if printed is None:
                assert done.stdout == "", done
            else:
                assert [one["id"] for one in read(done.stdout)] == printed, done


# ---- kubeconfigs, and kubectl ------------------------------------------------------------------------------------------

KUBECONFIG = raw(200, json.dumps({
    "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "clusters": [{"name": "c", "cluster": {"server": "https://api.example.com"}}], "users": [{"name": "u", "user": {}}]}), "application/yaml")


def args_of(config, name):
    return next(u for u in config["users"] if u["name"] == name)["user"]["exec"]["args"]


def test_two_logins_to_one_server_have_entries_of_their_own(tmp_path):
    with Answers({"*": lambda request: answer(200, {"name": "ci", "role": "admin"}) if b"whoami" in request else KUBECONFIG}) as server:
        ctl = functools.partial(run, tmp_path)
        for name in ("alice", "bob"):
            good(ctl("login", server.url, "--name", name, "--token-stdin", "--project", "team-a", input=name))
        names = [good(ctl("kubeconfig", "dev", "--context", name)).strip() for name in ("alice", "bob")]
        assert names == ["team-a--dev@alice", "team-a--dev@bob"]
        config = yaml.safe_load((tmp_path / ".kube/config").read_text())
        assert args_of(config, names[1]) == ["credential", "dev", "--project", "team-a", "--context", "bob", "--url", server.url]
        for base in ("/one", "/two/"):
            good(ctl("login", server.url + base, "--token-stdin", input="x"))
        host = server.url.removeprefix("http://")
        assert [c["name"] for c in json.loads(good(ctl("context", "-o", "json")))] == ["alice", "bob", host + "/one", host + "/two"], "two paths are two servers"


def test_kubectl_finds_a_shootctl_that_was_called_by_its_path(tmp_path):
    with Answers({"*": KUBECONFIG}) as server:
        def command(path):
            done = run(tmp_path, "kubeconfig", "dev", "--stdout", "--exec", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a", PATH=path)
            return yaml.safe_load(good(done))["users"][0]["user"]["exec"]["command"]
        (tmp_path / "bin").mkdir()
        assert command(f"{tmp_path}/bin") == str(SHOOTCTL.resolve())
        (tmp_path / "bin/shootctl").symlink_to(SHOOTCTL)
        assert command(f"/nowhere:{tmp_path}/bin") == "shootctl"


@pytest.mark.parametrize("written", ["x", " x \t", "x\r\n", "\ufeffx\n", "\ufeff \tx \r\nmore\n"])
def test_tokens_are_read_alike(tmp_path, written):
    """From a variable, a file and standard input, whatever the editor or shell has added."""
    with Answers({"*": lambda request: answer(200, {"name": fields_of(request)["Authorization"], "role": "admin", "items": [], "next_cursor": None})}) as server:
        file = tmp_path / "token"
        file.write_text(written)
        for arguments, more in ((["--token-file", file], {}), (["--token-stdin"], {"input": written})):
            assert " as Bearer x (" in run(tmp_path, "login", server.url, *arguments, **more).stderr
        if "more" not in written:
            good(run(tmp_path, "list", SHOOTD_URL=server.url, SHOOTD_TOKEN=written, SHOOTD_PROJECT="team-a"))


@pytest.mark.parametrize("text, words", [
    ("name: 123\n", 'name: 123 is no text: write it in quotes, "123"'), ("name: true\n", 'name: true is no text: write it in quotes, "true"'),
    ("name: a\nproject: 5\n", 'project: 5 is no text: write it in quotes, "5"'), ("name: [a]\n", "name is no text"), ("labels: {}\n", "has no name"),
])
def test_a_name_needs_quotes(tmp_path, text, words):
    (tmp_path / "it.yaml").write_text(text)
    with Answers({"*": problem(404, "cluster_not_found")}) as server:
        assert words in fails(run(tmp_path, "diff", "-f", tmp_path / "it.yaml", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a"), USAGE)


def test_an_entry_names_what_it_was_made_with(tmp_path):
    (tmp_path / "ca.pem").write_text("none")
    with Answers({"/v1/whoami": answer(200, {"name": "ci", "role": "admin"}), "*": KUBECONFIG}) as server, Answers({"*": problem(401, "unauthenticated")}) as other:
        ctl = functools.partial(run, tmp_path, XDG_RUNTIME_DIR=str(tmp_path / "run"))
        good(ctl("login", server.url, "--name", "mine", "--token-stdin", "--project", "team-a", input="secret"))

        def args(*flags, **more):
            config = yaml.safe_load(good(ctl("kubeconfig", "dev", "--stdout", "--exec", *flags, **more)))
            return config["users"][0]["user"]["exec"]["args"][2:]
        assert args() == ["--project", "team-a", "--context", "mine", "--url", server.url]
        assert args("--context", "mine", "--ca-file", tmp_path / "ca.pem") == ["--project", "team-a", "--context", "mine", "--url", server.url, "--ca-file", str(tmp_path / "ca.pem")]
        assert args("--project", "b", "--url", server.url + "/", SHOOTD_TOKEN="x") == ["--project", "b", "--url", server.url], "the token is not of the context"
        own = server.url.replace("127.0.0.1", "localhost")
        assert args("--project", "b", "--url", own) == ["--project", "b", "--url", own], "a server without a context"
        made = args()
        file = tmp_path / "config/shootctl/config.yaml"
        file.write_text(file.read_text().replace(server.url, other.url))
        before = len(server.requests)
        assert ctl("credential", "dev", *made, "--retries", "0").stdout == ""
        assert not other.requests and not any(b"secret" in r for r in server.requests[before:]), "the context leads to another server by now"


def script(tmp_path, text):
    """A script in place of kubectl; returns the PATH with it."""
    bin = tmp_path / "bin"
    bin.mkdir(exist_ok=True)
    (bin / "kubectl").write_text("#!/bin/sh\n" + text)
    (bin / "kubectl").chmod(0o755)
    return {"PATH": f"{bin}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(tmp_path / "run"), "SHOOTD_TOKEN": "x", "SHOOTD_PROJECT": "team-a"}


def test_a_token_of_the_environment_is_that_of_kubectl_too(tmp_path):
    """The environment takes precedence over the context, also when kubectl runs the entry."""
    (tmp_path / "ca.pem").write_text("none")
    credential = {"apiVersion": "x", "kind": "ExecCredential", "status": {"expirationTimestamp": "2099-01-01T00:00:00Z", "clientCertificateData": "c", "clientKeyData": "k"}}
    with Answers({"/v1/whoami": answer(200, {"name": "ci", "role": "admin"}),
                  "*": lambda request: answer(200, credential) if b"/credential" in request else KUBECONFIG}) as server:
        ctl = functools.partial(run, tmp_path, **{**script(tmp_path, f'cp "$KUBECONFIG" {tmp_path}/kept\n'), "SHOOTD_TOKEN": "other"})
        good(ctl("login", server.url, "--name", "mine", "--token-stdin", "--ca-file", tmp_path / "ca.pem", input="stored"))
        del server.requests[:]
        good(ctl("kubectl", "dev", "--", "get"))
        config, name = yaml.safe_load((tmp_path / "kept").read_text()), "team-a--dev@" + server.url.removeprefix("http://")
        args = args_of(config, name)
        assert args == ["credential", "dev", "--project", "team-a", "--url", server.url, "--ca-file", str(tmp_path / "ca.pem")]
        assert json.loads(good(ctl(*args)))["status"]["clientKeyData"] == "k"
        merged = ctl("kubeconfig", "dev")
        assert good(merged).strip() == name and "kubectl needs SHOOTD_TOKEN" in merged.stderr
        assert {fields_of(request)["Authorization"] for request in server.requests} == {"Bearer other"}
        stored = ctl("kubeconfig", "dev", SHOOTD_TOKEN=None)
        assert good(stored).strip() == "team-a--dev@mine" and "SHOOTD_TOKEN" not in stored.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_reaches_kubectl(tmp_path, number):
    name = number.name.removeprefix("SIG")
    env = script(tmp_path, f"trap 'echo got {name}; exit 7' {name}\necho ready $1\nwhile :; do sleep 0.05; done\n")
    with Answers({"*": KUBECONFIG}) as server:
        p = subprocess.Popen([SHOOTCTL, "kubectl", "dev", "--", "-x"], env=environment(tmp_path, SHOOTD_URL=server.url, **env), stdout=subprocess.PIPE, text=True)
        assert p.stdout.readline() == "ready -x\n"
        p.send_signal(number)
        out, _ = p.communicate(timeout=60)
    assert (p.returncode, out) == (7, f"got {name}\n") and not list((tmp_path / "run/shootctl").glob("kubeconfig*"))


@pytest.mark.parametrize("text, code", [("exit 0", 0), ("exit 3", 3), ("exit 130", 130), ("kill -KILL $$", -signal.SIGKILL), ("kill -TERM $$", -signal.SIGTERM)])
def test_the_end_of_kubectl_is_passed_on(tmp_path, text, code):
    env = script(tmp_path, text + "\n")
    with Answers({"*": KUBECONFIG}) as server:
        done = subprocess.run([SHOOTCTL, "kubectl", "dev", "--", "get", "nodes"], env=environment(tmp_path, SHOOTD_URL=server.url, **env), capture_output=True, timeout=60)
    assert done.returncode == code and not list((tmp_path / "run/shootctl").glob("kubeconfig*"))


def test_a_key_reaches_kubectl_once(tmp_path):
    env = script(tmp_path, "n=0 i=0\ntrap 'n=$((n+1))' INT\necho ready\nwhile [ $n = 0 ] && [ $i -lt 300 ]; do i=$((i+1)); sleep 0.1; done\nsleep 0.3\nexit $n\n")
    with Answers({"*": KUBECONFIG}) as server:
        with Terminal([SHOOTCTL, "kubectl", "dev", "--", "exec"], environment(tmp_path, SHOOTD_URL=server.url, **env)) as t:
            t.expect("ready")
            t.send("\x03")
            assert t.end() == 1


def test_a_kubectl_that_is_absent(tmp_path):
    with Answers({"*": KUBECONFIG}) as server:
        done = subprocess.run([SHOOTCTL, "kubectl", "dev", "--", "get"], env=environment(tmp_path, PATH=str(tmp_path), XDG_RUNTIME_DIR=str(tmp_path / "run"), SHOOTD_URL=server.url,
                                                                                        SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 127 and "kubectl cannot be run" in done.stderr
