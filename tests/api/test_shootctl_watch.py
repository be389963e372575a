"""Commands of shootctl that continue until something happens: --watch, events -f, waits. With lost connections, and at the pace that the
server requests."""

import functools
import json
import re
import signal
import subprocess
import threading
import time

import pytest

import harness
from ctl import (Answers, NOT_ALLOWED, NOT_FOUND, OK, REFUSED, SHOOTCTL, TIMED_OUT, UNREACHABLE, USAGE, answer, environment, fails, good, of_ci, operation, problem, raw, run)
from harness import wait_until
from terminal import Terminal


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    directory = tmp_path_factory.mktemp("watch")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start().wait_upstream()
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture
def ctl(pair, tmp_path):
    return functools.partial(run, tmp_path, **of_ci(pair[1]))


class Going:
    """A running shootctl; `lines` has its output. Ctrl-C ends it with the block, and `code` has its exit code."""

    def __init__(self, tmp_path, *arguments, **more):
        self.lines, self.said = [], []
        self.popen = subprocess.Popen([SHOOTCTL, *arguments], env=environment(tmp_path, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.readers = [threading.Thread(target=lambda f=f, to=to: to.extend(line.rstrip("\n") for line in iter(f.readline, "")), daemon=True) for f, to in
                        ((self.popen.stdout, self.lines), (self.popen.stderr, self.said))]
        for reader in self.readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGINT)
        self.finish()

    def finish(self, timeout=60):
        self.code = self.popen.wait(timeout)
        for reader in self.readers:
            reader.join(timeout)
        return self.code

    def until(self, condition, what):
        def there():
            assert self.popen.poll() is None or condition(), (self.lines, self.said)
            return condition()
        return wait_until(there, timeout=30, what=f"{what}: {self.lines} {self.said}")


def streams(d):
    return int(re.search(r"^shootd_sse_streams (\d+)", d.http.get("/metrics").text, re.M)[1])


# ---- list --watch, get --watch -----------------------------------------------------------------------------------------

def test_a_list_is_watched_over_a_restart(pair, ctl, tmp_path):
    d = pair[1]
    good(ctl("create", "stays"))
    wait_until(lambda: d.cluster("stays").json()["status"]["health"] == "healthy", what="the end of what goes on after a create")
    with Going(tmp_path, "list", "--watch", **of_ci(d)) as w:
        w.until(lambda: len(w.lines) >= 2 and streams(d), "the stream")
        first = list(w.lines)
        assert first == good(ctl("list")).splitlines(), "it begins as the list does"
        good(ctl("create", "comes"))
        w.until(lambda: any(" ready " in line for line in w.lines if " comes " in line), "the new one")
        d.kill()
        d.start()
        good(ctl("delete", "comes", "--yes"))
        w.until(lambda: any(" deleted " in line for line in w.lines), "the deletion")
    assert w.code == -signal.SIGINT
    assert [line for line in w.lines if " stays " in line] == first[1:], "nothing that has not changed comes again"
    rows = [line for line in w.lines[1:] if " comes " in line]
    phases = [row.split()[2] for row in rows]
    assert phases[-1] == "deleted" and "ready" in phases, phases
    assert all(a.split()[2:5] != b.split()[2:5] or a.split("  ")[-1] != b.split("  ")[-1] for a, b in zip(rows, rows[1:])), rows
    columns = [m.start() for m in re.finditer(r"\S+", w.lines[0])]
    assert all(row[at - 1] == " " and row[at] != " " for row in w.lines[1:] for at in columns[1:5]), w.lines
    good(ctl("delete", "stays", "--yes"))


def test_one_is_watched_as_documents(pair, ctl, tmp_path):
    d = pair[1]
    good(ctl("create", "seen"))
    fails(ctl("get", "nothing", "--watch"), NOT_FOUND, "Cluster not found")
    with Going(tmp_path, "get", "seen", "--watch", "-o", "jsonl", **of_ci(d)) as w:
        w.until(lambda: w.lines and streams(d), "the stream")
        good(ctl("apply", "-f", "-", input="name: seen\nlabels: {a: b}\n"))
        w.until(lambda: len(w.lines) >= 2, "the change")
        good(ctl("delete", "seen", "--yes"))
        w.until(lambda: '"deleted"' in w.lines[-1], "the deletion")
        good(ctl("create", "seen"))
        w.until(lambda: '"ready"' in w.lines[-1], "another of its name")
    assert w.code == -signal.SIGINT
    changes = [json.loads(line) for line in w.lines]
    words = [c["change"] for c in changes]
    assert set(changes[0]) == {"change", "cluster"} and words[:2] == ["added", "changed"] and words.count("deleted") == 1 and "added" in words[words.index("deleted"):]
    assert changes[1]["cluster"]["labels"] == {"a": "b"} and len({c["cluster"]["id"] for c in changes}) == 2
    good(ctl("delete", "seen", "--yes"))


def test_a_watch_in_a_terminal_has_titles_once(pair, ctl, tmp_path):
    with Terminal([SHOOTCTL, "list", "-w", "--label", "screen=yes"], environment(tmp_path, NO_COLOR="1", **of_ci(pair[1])), 100) as t:
        t.expect("no clusters yet")
        good(ctl("create", "screen", "--label", "screen=yes"))
        t.expect(" ready ")
        t.send("\x03")
        assert t.end() == -signal.SIGINT
    assert t.text.count("PROJECT  NAME") == 1 and max(map(len, t.text.splitlines())) <= 101
    good(ctl("delete", "screen", "--yes"))


def stream(text):
    return ("HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + text).encode()


def row(name, phase, *, observed_at=None, message=None, **more):
    return {"id": f"cl_{name}", "project": "team-a", "name": name, "status": {"phase": phase, "observed_at": observed_at, "message": message}, **more}


class Lists:
    """A server with a list, a stream and clusters by name; a test assigns each answer."""

    def __init__(self, items, streams):
        self.items, self.streams, self.clusters = items, streams, {}
        self.times, self.positions = [], []
        self.server = Answers({"/v1/events": self._events, "/v1/projects/team-a/clusters/": self._cluster, "*": lambda _: answer(200, {"items": self.items, "next_cursor": None})})

    def _events(self, request):
        if b"text/event-stream" not in request:
            return answer(200, {"items": [], "newest_sequence": 5})
        self.times.append(time.monotonic())
        self.positions.append(re.search(rb"Last-Event-ID: (\d+)", request)[1].decode())
        if len(self.streams) > 1:
            return self.streams.pop(0)
        return self.streams[0] if isinstance(self.streams[0], bytes) else self.streams[0]()

    def _cluster(self, request):
        name = request.split(b" ")[1].decode().split("/")[-1]
        return answer(200, self.clusters[name]) if name in self.clusters else problem(404, "cluster_not_found")

    def of(self):
        return {"SHOOTD_URL": self.server.url, "SHOOTD_TOKEN": "x", "SHOOTD_PROJECT": "team-a"}


BEGIN = "retry: 100\nid: 5\n\n"


def test_after_a_reset_the_list_is_read_anew(tmp_path):
    s = Lists([row("a", "ready"), row("b", "ready"), row("c", "ready")], [stream(BEGIN)])
    with s.server, Going(tmp_path, "list", "--watch", **s.of()) as w:
        w.until(lambda: len(w.lines) == 4 and s.times, "the list")
        s.items = [row("a", "ready", observed_at="2026-01-01T00:00:00Z", revision=9), row("c", "failed")]
        s.clusters = {"b": {**row("b", "x"), "id": "cl_another"}}
        s.streams = [stream("retry: 100\nid: 90\nevent: reset\ndata: {\"oldest_sequence\":80,\"newest_sequence\":90}\n\n")]
        w.until(lambda: len(w.lines) >= 6 and s.positions[-1] == "90", "the changes")
    assert [line.split()[1:3] for line in w.lines[4:]] == [["b", "deleted"], ["c", "failed"]], "the one of that name is another"


def test_one_that_the_filters_do_not_match_any_more(tmp_path):
    s = Lists([row("a", "failed")], [stream(BEGIN)])
    with s.server, Going(tmp_path, "list", "--watch", "--phase", "failed", "-o", "jsonl", **s.of()) as w:
        w.until(lambda: len(w.lines) == 1 and s.times, "the list")
        s.clusters, s.items = {"a": {"id": "cl_a", "name": "a", "project": "team-a", "status": {"phase": "ready"}}}, []
        w.until(lambda: len(w.lines) >= 2, "the change")
    last = json.loads(w.lines[1])
    assert (last["change"], last["cluster"]["status"]["phase"], len(w.lines)) == ("left", "ready", 2)


def test_a_percent_is_no_change(tmp_path):
    busy = {"id": "op_1", "type": "create", "status": "running", "progress": 3}
    s = Lists([row("a", "creating", message="begins", operation=busy)], [stream(BEGIN)])
    with s.server, Going(tmp_path, "list", "--watch", "-o", "wide", **s.of()) as w:
        w.until(lambda: len(w.lines) == 2 and s.times, "the list")
        s.items = [row("a", "creating", message="goes on", operation={**busy, "progress": 40})]
        seen = len(s.server.requests)
        w.until(lambda: len(s.server.requests) > seen + 6, "some looks")
        assert len(w.lines) == 2
        s.items = [row("a", "ready", message="done", operation={**busy, "status": "succeeded"})]
        w.until(lambda: len(w.lines) == 3, "the end")
    assert w.lines[2].endswith("done")


def test_a_list_that_cannot_be_read_for_a_while_is_read_later(tmp_path):
    s = Lists([row("a", "ready")], [stream(BEGIN)])
    with s.server, Going(tmp_path, "list", "--watch", **s.of()) as w:
        w.until(lambda: len(w.lines) == 2 and s.times, "the list")
        s.server.answers["*"] = problem(503, "store_unavailable", "Retry-After: 0\r\n")
        seen = len(s.server.requests)
        w.until(lambda: sum(b"clusters?" in r for r in s.server.requests[seen:]) >= 1, "a look that fails")
        s.items = [row("a", "failed")]
        s.server.answers["*"] = lambda _: answer(200, {"items": s.items, "next_cursor": None})
        w.until(lambda: len(w.lines) == 3, "the change")
        s.server.answers["*"] = problem(401, "invalid_token")
        w.finish()
    assert w.code == NOT_ALLOWED and any("does not accept the token" in line for line in w.said)


def test_a_server_without_a_stream_to_give_is_looked_at_all_the_same(tmp_path):
    s = Lists([row("a", "ready")], [problem(503, "too_many_streams", "Retry-After: 60\r\n")])
    with s.server, Going(tmp_path, "list", "--watch", **s.of()) as w:
        w.until(lambda: len(w.lines) == 2 and s.times, "the list")
        s.items = [row("a", "failed")]
        w.until(lambda: len(w.lines) == 3, "the change")
    assert len(s.times) == 1


@pytest.mark.parametrize("line, words", [("list --watch -o json", "-o jsonl"), ("get dev --watch -o yaml", "-o jsonl"), ("list --watch -o name", "-o jsonl"),
                                         ("wait dev --for=deleted --allow-absent", "--allow-absent")])
def test_a_form_that_needs_an_end_is_refused(tmp_path, line, words):
    fails(run(tmp_path, *line.split(), SHOOTD_URL="http://127.0.0.1:9", SHOOTD_TOKEN="x"), USAGE, words)


# ---- the pace that the server requests ---------------------------------------------------------------------------------

def gaps(times):
    return [b - a for a, b in zip(times, times[1:])]


def test_a_stream_begins_again_when_it_says_so(tmp_path):
    s = Lists([], [stream("retry: 1800\nid: 6\n\n"), stream("retry: 1\nid: 7\n\n"), stream("retry: 1\nid: 8\n\n"), problem(503, "too_many_streams", "Retry-After: 2\r\n"),
                   stream("retry: 1\nid: 9\n\n")])
    with s.server, Going(tmp_path, "events", "-f", "--last", "0", **s.of()) as w:
        w.until(lambda: len(s.times) >= 6, "six streams")
    slow, fast, also_fast, refused, _ = gaps(s.times)[:5]
    assert slow >= 1.7 and fast < slow and also_fast < slow and refused >= 1.9, gaps(s.times)
    assert s.positions[:6] == ["5", "6", "7", "8", "8", "9"]
    assert any("it continues in 2 s" in line for line in w.said)


def test_a_stream_ends_when_its_output_is_lost(tmp_path):
    s = Lists([], [stream(BEGIN + 'id: 6\nevent: cluster.ready\ndata: {"type":"cluster.ready","data":{}}\n\n')])
    with s.server, open("/dev/full", "w") as full:
        for form in ("table", "jsonl"):
            done = subprocess.run([SHOOTCTL, "events", "-f", "-o", form], env=environment(tmp_path, **s.of()), stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            assert done.returncode == REFUSED and done.stderr.count("standard output cannot be written") == 1, done
    assert len(s.times) == 2


def test_a_stream_that_is_refused_for_good_ends(tmp_path):
    s = Lists([], [stream(BEGIN), problem(403, "forbidden")])
    with s.server:
        fails(run(tmp_path, "events", "-f", **s.of()), NOT_ALLOWED, "may not do this")
    s = Lists([], [raw(200, "<html>", "text/html")])
    with s.server:
        fails(run(tmp_path, "events", "-f", **s.of()), UNREACHABLE, "the server is not shootd")


def test_the_last_events_may_have_several_pages(tmp_path):
    """The stream continues after the newest event of the first page, not of a later one."""
    pages, positions = [], []

    def events(request):
        if b"text/event-stream" in request:
            positions.append(re.search(rb"Last-Event-ID: (\d+)", request)[1])
            return problem(403, "forbidden")
        query = {name: int(value) for name, value in re.findall(rb"[?&](limit|cursor)=(\d+)", request)}
        pages.append(query)
        top = query.get(b"cursor", 1700)
        items = [{"id": str(n), "timestamp": "2026-01-01T00:00:00Z", "type": "cluster.ready", "data": {}} for n in range(top, max(top - query[b"limit"], 0), -1)]
        return answer(200, {"items": items, "next_cursor": str(top - len(items)) if top > len(items) else None, "newest_sequence": 1699 + len(pages)})
    with Answers({"/v1/events": events}) as server:
        fake = functools.partial(run, tmp_path, "events", "-o", "name", SHOOTD_URL=server.url, SHOOTD_TOKEN="x")
        done = fake("-f", "-n", "1500")
        fails(done, NOT_ALLOWED)
        assert done.stdout.split() == [str(n) for n in range(201, 1701)] and positions == [b"1700"]
        assert pages == [{b"limit": 1000}, {b"limit": 1000, b"cursor": 700}]
        assert good(fake("-n", "5000")).split() == [str(n) for n in range(1, 1701)]
        del pages[:]
        assert good(fake("-n", "1000")).split()[0] == "701" and good(fake("-n", "0")) == "" and len(pages) == 2, "no page that is not needed"
        fails(fake("-n", "100001"), USAGE, "is not a number up to 100000")


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_asks_as_slowly_as_the_server_wants(tmp_path, status):
    answers = [operation("running"), problem(status, "busy", "Retry-After: 3\r\n"), operation("succeeded")]
    times = []

    def next_answer(_):
        times.append(time.monotonic())
        return answers.pop(0)
    with Answers({"*": next_answer}) as server:
        done = run(tmp_path, "wait", "op_1", SHOOTD_URL=server.url, SHOOTD_TOKEN="x")
        assert good(done) == "op_1: create succeeded\n" and "the server asks for a pause of 3s" in done.stderr
        assert gaps(times)[1] >= 2.9, gaps(times)
    with Answers({"*": problem(status, "busy", "Retry-After: 600\r\n")}) as server:
        began = time.monotonic()
        fails(run(tmp_path, "wait", "op_1", "--timeout", "1s", SHOOTD_URL=server.url, SHOOTD_TOKEN="x"), TIMED_OUT, "a pause of 10m")
        assert time.monotonic() - began < 15, "the wait is over in time all the same"


# ---- clusters that do not exist yet ------------------------------------------------------------------------------------

@pytest.mark.parametrize("goal, said", [("phase=ready", "ready"), ("operation", "create succeeded")])
def test_a_wait_for_what_does_not_exist_yet(pair, ctl, tmp_path, goal, said):
    name = goal[:5].replace("=", "") + "-later"
    fails(ctl("wait", name, f"--for={goal}"), NOT_FOUND)
    fails(ctl("wait", name, f"--for={goal}", "--allow-absent", "--timeout", "500ms"), TIMED_OUT, f"--for={goal} --allow-absent", "does not exist yet")
    with Going(tmp_path, "wait", name, f"--for={goal}", "--allow-absent", **of_ci(pair[1])) as w:
        w.until(lambda: any("does not exist yet" in line for line in w.said), "the wait")
        good(ctl("create", name, "--no-wait"))
        w.finish()
    assert (w.code, w.lines) == (OK, [f"{name}: {said}"]), w.said
    good(ctl("delete", name, "--yes"))


def test_one_that_was_there_is_not_waited_for_again(tmp_path):
    seen = [answer(200, {"id": "cl_1", "name": "dev", "status": {"phase": "creating"}}), problem(404, "cluster_not_found")]
    with Answers({"*": seen}) as server:
        fails(run(tmp_path, "wait", "dev", "--for=phase=ready", "--allow-absent", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-a"), NOT_FOUND, "Its detail.")
    with Answers({"*": problem(404, "project_not_found")}) as server:
        fails(run(tmp_path, "wait", "dev", "--for=phase=ready", "--allow-absent", SHOOTD_URL=server.url, SHOOTD_TOKEN="x", SHOOTD_PROJECT="team-x"), NOT_FOUND, "Its detail.")
