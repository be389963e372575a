"""Event streams (server-sent events): their content, their start, who may read them, and how they end."""

import collections
import json
import pathlib
import re
import resource
import subprocess
import threading
import time
import urllib.parse
from random import Random

import pytest

import harness
import web
from contract import Checker, validate
from harness import PROJECT_ID, ROOT, wait_until
from raw import Raw, request
from streams import Parser, Stream, metric, newest, patience

OTHER_ID = "ffeeddccbbaa99887766554433221100"
FAST = "{active: 100ms, idle: 200ms, discovery: 300ms}"
LIMITS = "limits: {heartbeat: 1s, streams: 400, streams_per_token: 350}\n"


@pytest.fixture(scope="module")
def sim(tmp_path_factory):
    s = harness.Sim(tmp_path_factory.mktemp("sim"), project=[PROJECT_ID, OTHER_ID])
    yield s
    s.stop()


@pytest.fixture(scope="module")
def d(sim, tmp_path_factory):
    one = harness.Shootd(tmp_path_factory.mktemp("d"), sim.url, polling=FAST, extra=LIMITS,
                         projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Sto2", OTHER_ID)]).start()
    one.http.put("/v1/projects/team-a/clusters/first", json={}, params={"wait": 55})
    yield one
    one.stop()


def token(d, *projects, role="viewer"):
    return d.http.post("/v1/tokens", json={"name": "stream", "role": role, "projects": list(projects) or ["*"]}).json()


names = iter(range(10000))
made = collections.defaultdict(set)  # by simulator


@pytest.fixture(autouse=True)
def quiet(sim, d):
    """Waits until the events of earlier tests, which share the simulator, are in the log."""
    def is_known():
        made[sim.url].difference_update(e["data"]["cluster"] for e in d.events(type="cluster.discovered"))
        return not made[sim.url]
    wait_until(is_known, what="the discovery of everything")


def found(sim, count=1, project=PROJECT_ID):
    """Makes clusters at Cleura, each of which soon causes one event; returns their names."""
    prefix = f"s{next(names)}"
    sim.post("shoots", count=count, prefix=prefix, state="ready", project=project)
    new = [f"{prefix}-{i:04}" for i in range(count)]
    made[sim.url].update(new)
    return new


def discovered(stream, names):
    """Waits until the stream has the events of their discovery; returns the stream."""
    def all_there(s):
        return {i["data"].get("cluster") for i in s.items() if i.get("type") == "cluster.discovered"} >= set(names)
    stream.wait(all_there, timeout=30, what=f"the discovery of {len(names)}")
    return stream


# ---- content -----------------------------------------------------------------------------------------------------------

def test_ao18_ao19_a_stream_of_what_happens(sim, d):
    checker = Checker()
    before = newest(d)
    with Stream(d) as s:
        checker.raw("GET", "/v1/events", s.answer)
        assert s.status == 200 and s.answer["content-type"] == "text/event-stream"
        assert s.answer["cache-control"] == "no-store, no-transform" and s.answer["x-accel-buffering"] == "no"
        assert s.answer["connection"] == "close" and "Accept" in s.answer["vary"].split(", ")
        for absent in ("content-length", "content-encoding", "etag"):
            assert absent not in s.answer
        s.wait(lambda s: s.parser.last_id == str(before), what="the position at the beginning")
        assert s.parser.retry == 2000 and not s.events
        discovered(s, found(sim, 5))
        assert s.ids == list(range(before + 1, before + 1 + len(s.events)))
        page = d.http.get("/v1/events", params={"after": before, "limit": len(s.events)})
        assert page.json()["items"] == s.items(), "the same items as in pages"
        assert [json.loads(e["data"])["type"] for e in s.events] == s.types
        assert all(json.dumps(i, separators=(",", ":"), ensure_ascii=False) == e["data"] for i, e in zip(page.json()["items"], s.events))


def test_ao19_ao20_any_split_of_the_bytes_reads_alike(sim, d):
    with Stream(d, f"/v1/events?after={newest(d) - 3}") as s:
        s.wait(lambda s: len(s.events) == 3)
        whole = s.bytes[:s.bytes.index(b"\n\n", s.bytes.rindex(b"\ndata:")) + 2]  # a comment line may follow
    wanted = Parser()
    events = wanted.feed(whole)
    assert len(events) == 3 and wanted.last_id == events[-1]["id"]
    for at in range(len(whole) + 1):
        one = Parser()
        assert one.feed(whole[:at]) + one.feed(whole[at:]) == events and one.last_id == wanted.last_id
    for at in range(0, len(whole), 7):  # other line ends that the standard allows
        one = Parser()
        other = whole.replace(b"\n", b"\r\n")
        assert one.feed(other[:at]) + one.feed(other[at:]) == events
    assert Parser().feed(whole.rstrip(b"\n")) == events[:2], "a block without its empty line is no event"


def test_ao19_another_parser_reads_the_same(d):
    """The npm package eventsource-parser gives the same events, with the bytes cut at every place."""
    js = ROOT / "tests/js"
    if not (js / "node_modules/eventsource-parser").is_dir():
        pytest.skip("tests/js/node_modules/eventsource-parser is absent; `make deps-test` installs it")
    with Stream(d, last=newest(d) + 9) as reset, Stream(d, f"/v1/events?after={newest(d) - 3}") as s:
        s.wait(lambda s: len(s.events) == 3 and "" in s.parser.comments)
        reset.wait(lambda s: s.events)
        for one in (s, reset):
            run = subprocess.run(["node", "parse_events.mjs"], cwd=js, input=one.bytes, capture_output=True, timeout=60)
            assert run.returncode == 0, run.stderr.decode()
            assert json.loads(run.stdout) == one.events


def test_ao19_the_reader_is_a_reader():
    """The parser of these tests passes cases of the standard."""
    for text, events in ((b"data: a\ndata: b\n\n", [("message", "a\nb")]), (b"data\n\ndata\ndata\n\ndata:", [("message", ""), ("message", "\n")]),
                         (b":c\n\nevent: x\n\nevent: y\ndata:z\n\n", [("y", "z")]), (b"data:  x\rdata:y\r\r", [("message", " x\ny")])):
        assert [(e["type"], e["data"]) for e in Parser().feed(text)] == events


def test_filters_and_what_a_token_sees(sim, d):
    limited = token(d, "team-b")
    with Stream(d, "/v1/events?type=cluster.*&project=team-b") as b, Stream(d, token=limited["token"]) as seen, \
            Stream(d, "/v1/events?type=operation.*,cluster.ready") as types, Stream(d) as everything, \
            Stream(d, "/v1/projects/team-b/clusters/web/events") as web, Stream(d, "/v1/events?cluster=web") as by_name:
        assert {s.status for s in (b, seen, types, everything, web, by_name)} == {200}
        a = found(sim, 3)
        discovered(everything, a)
        d.http.put("/v1/projects/team-b/clusters/web", json={}, params={"wait": 55})
        d.http.put("/v1/projects/team-a/clusters/web-a", json={}, params={"wait": 55})
        last = everything.wait(lambda s: s.items() and s.items()[-1]["data"]["cluster"] == "web-a" and s.types[-1] == "operation.succeeded" and s.ids[-1])
        assert last == newest(d)
        of_web = [i for i in everything.items() if i["data"]["cluster"] == "web"]
        assert [i["type"] for i in of_web] == ["operation.started", "cluster.created", "cluster.ready", "operation.succeeded"]
        for s, wanted in ((web, of_web), (by_name, of_web), (seen, of_web), (b, [i for i in of_web if i["type"].startswith("cluster.")]),
                          (types, [i for i in everything.items() if i["type"].startswith("operation.") or i["type"] == "cluster.ready"])):
            s.wait(lambda s: len(s.events) >= len(wanted))
            assert s.items() == wanted
        # the position also moves over events that this token may not see; the comment line has the new id
        seen.wait(lambda s: s.parser.last_id == str(last), what="the position of what is not seen")
        assert seen.ids[-1] < last and any(c == "" for c in seen.parser.comments)
    assert Stream(d, "/v1/projects/team-a/clusters/dev/events", token=limited["token"]).status == 404
    with Stream(d, "/v1/events?project=team-a&after=0", token=limited["token"]) as nothing:
        time.sleep(0.3)
        assert nothing.status == 200 and not nothing.events


def test_account_events_are_for_those_who_see_everything(make_sim, tmp_path):
    sim = make_sim(token_ttl=60, speed=60)
    d = harness.Shootd(tmp_path / "a", sim.url, polling=FAST, extra="limits: {heartbeat: 500ms}\n").start()
    with Stream(d) as everything, Stream(d, token=token(d, "team-a")["token"]) as limited:
        sim.fault("create_token", "status", status=403, count=0, body='{"error": {"message": "no"}}')
        everything.wait(lambda s: "account.login_failed" in s.types, timeout=30)
        limited.wait(lambda s: s.parser.last_id == everything.events[-1]["id"])
        assert not any(t.startswith("account.") for t in limited.types)
    d.stop()


def test_ao23_signs_of_life(d):
    began = time.monotonic()
    with Stream(d) as s:
        s.wait(lambda s: len(s.parser.comments) >= 2, timeout=5)
        assert time.monotonic() - began > 1.5, "every second, not all the time"
        assert set(s.parser.comments) == {""} and not s.events and not s.closed


# ---- the start of a stream ---------------------------------------------------------------------------------------------

def test_ao21_ao22_resume(sim, d):
    with Stream(d) as s:
        discovered(s, found(sim, 4))
    last = newest(d)
    for path, given, begin in (("/v1/events", last - 2, last - 2), (f"/v1/events?after={last - 3}", None, last - 3),
                               (f"/v1/events?after={last - 3}", last - 1, last - 1), ("/v1/events?after=0", None, 0),
                               (f"/v1/events?after={last - 3}", "", last - 3), ("/v1/events", last, last)):
        with Stream(d, path, last=given) as s:
            s.wait(lambda s: s.parser.last_id == str(last) if begin == last else s.ids and s.ids[-1] >= last)
            assert s.ids == list(range(begin + 1, last + 1)), (path, given)
            assert s.parser.last_id == str(last)
    (more,) = found(sim)
    with Stream(d, last=last) as s:
        discovered(s, [more])
        assert s.ids[0] == last + 1


def test_ao22_reset_of_a_position_from_another_log(sim, d):
    last = newest(d)
    with Stream(d, last=last + 1000) as s:
        s.wait(lambda s: s.events)
        validate({"$ref": "#/components/schemas/StreamReset"}, s.items()[0], "reset")
        assert s.types == ["reset"] and s.items()[0] == {"oldest_sequence": 1, "newest_sequence": last} and s.ids == [last]
        discovered(s, found(sim))
        assert s.ids[1] == last + 1
    with Stream(d, last=2**63 - 1) as s:
        s.wait(lambda s: s.types == ["reset"])


def test_ao22_reset_of_a_position_that_is_purged(make_sim, make_shootd):
    """Only the newest events are retained; numbers continue without gaps over a purge and a restart."""
    sim = make_sim()
    d = make_shootd(sim.url, polling=FAST).start()
    made_here = found(sim, 15)
    with Stream(d, "/v1/events?after=0") as s:
        discovered(s, made_here)
    d.stop()
    d.config.write_text(d.config.read_text() + "events: {keep: 1h, keep_count: 10}\n")
    d.start()
    page = wait_until(lambda: (p := d.http.get("/v1/events").json())["oldest_sequence"] > 1 and p, what="the purge")
    oldest, last = page["oldest_sequence"], page["newest_sequence"]
    assert oldest == last - 9 and [i["sequence"] for i in page["items"]] == list(range(oldest, last + 1))
    wait_until(lambda: metric(d, "shootd_events_oldest_sequence") == oldest, what="the metric")
    assert metric(d, "shootd_events_newest_sequence") == last
    for position, ids in ((oldest - 2, None), (0, None), (oldest - 1, list(range(oldest, last + 1))), (last - 1, [last])):
        with Stream(d, last=position) as s:
            s.wait(lambda s: s.events and s.ids[-1] >= last)
            if ids is None:
                assert s.items() == [{"oldest_sequence": oldest, "newest_sequence": last}] and s.types == ["reset"] and s.ids == [last]
            else:
                assert s.ids == ids
    with Stream(d, last=last) as s:
        names = found(sim)
        discovered(s, names)
        assert s.ids[0] == last + 1


def test_ao22_nothing_is_missed_and_nothing_comes_twice_over_kills(tmp_path):
    """The daemon is killed again and again; clients reconnect with the last id that they have."""
    sim = harness.Sim(tmp_path)
    d = harness.Shootd(tmp_path / "k", sim.url, polling=FAST).start()
    seen, stop = {name: [] for name in ("header", "query")}, threading.Event()
    reading = dict.fromkeys(seen)  # the open stream

    def follow(name):
        last = 0
        while not stop.is_set():
            try:
                path = f"/v1/events?after={last}" if name == "query" else "/v1/events"
                with Stream(d, path, last=last if name == "header" else None) as s:
                    reading[name] = s
                    while not stop.is_set() and not s.closed:
                        time.sleep(0.01)
                    seen[name] += s.ids
                    reading[name] = None
                    last = int(s.parser.last_id or last)
            except (OSError, AssertionError, AttributeError):
                time.sleep(0.02)
    threads = [threading.Thread(target=follow, args=(name,)) for name in seen]
    for t in threads:
        t.start()
    made = []
    try:
        for _ in range(4):
            made += found(sim, 60)
            time.sleep(0.35)
            d.kill()
            d.start()
        wait_until(lambda: {i["data"].get("cluster") for i in d.events(type="cluster.discovered")} >= set(made), timeout=40, what="all")
        last = newest(d)
        wait_until(lambda: all(max(seen[n] + (s.ids if (s := reading[n]) else []), default=0) >= last for n in seen), what="both to have all")
    finally:
        stop.set()
        for t in threads:
            t.join(20)
    for name, ids in seen.items():
        assert ids == list(range(1, max(last, len(ids)) + 1)), name
    d.stop()
    sim.stop()


# ---- permissions -------------------------------------------------------------------------------------------------------

def test_ao24_a_revoked_token_ends_its_streams(d):
    one, other = token(d), token(d)
    with Stream(d, token=one["token"]) as s, Stream(d, token=other["token"]) as kept:
        assert s.status == kept.status == 200
        before = time.monotonic()
        assert d.http.delete("/v1/tokens/" + one["id"]).status_code == 204
        s.wait_end(20)
        assert time.monotonic() - before < 30 and s.whole
        time.sleep(0.2)
        assert not kept.closed
    assert Stream(d, token=one["token"]).status == 401


def ticket(d, of=None):
    answer = d.http.post("/v1/stream-tickets", headers={"Authorization": "Bearer " + of} if of else {})
    assert answer.status_code == 201 and answer.headers["Cache-Control"] == "no-store", answer.text
    return answer.json()["ticket"]


def test_tickets(sim, d):
    limited = token(d, "team-b")
    mine = ticket(d, limited["token"])
    with Stream(d, "/v1/events?after=0&type=cluster.discovered&ticket=" + mine, token="") as s:
        assert s.status == 200
        discovered(s, found(sim, 2, OTHER_ID))
        assert {i["data"]["project"] for i in s.items()} == {"team-b"}, "what its token sees"
        used = Stream(d, "/v1/events?ticket=" + mine, token="")
        assert used.status == 401 and used.answer.code == "invalid_token" and "bearer" in used.answer["www-authenticate"].lower()
        unused = ticket(d, limited["token"])
        d.http.delete("/v1/tokens/" + limited["id"])
        s.wait_end(5)
    assert Stream(d, "/v1/events?ticket=" + unused, token="").status == 401, "it ends with its token"
    assert Stream(d, "/v1/events?ticket=ticket_" + "x" * 32, token="").status == 401
    fresh = ticket(d)
    pages = web.get(d.url + "/v1/events?ticket=" + fresh)
    assert pages.status_code == 401 and pages.json()["code"] == "unauthenticated"
    assert web.get(d.url + "/v1/clusters?ticket=" + fresh, headers={"Accept": "text/event-stream"}).status_code == 401
    both = Stream(d, "/v1/events?ticket=" + fresh)
    assert both.status == 400 and both.answer.json()["errors"][0]["parameter"] == "ticket"
    assert d.http.get("/v1/events?ticket=" + fresh).status_code == 400
    with Stream(d, "/v1/projects/team-a/clusters/first/events?ticket=" + fresh, token="") as s:
        assert s.status == 200, "it was not used up"
    for secret in (mine, unused, fresh):
        assert secret not in d.log() and secret.removeprefix("ticket_") not in d.log()
        assert secret not in d.http.get("/metrics").text and secret not in d.http.get("/v1/audit").text
    assert web.post(d.url + "/v1/stream-tickets").status_code == 401


# ---- forms of the request ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("accept, kind", [
    (None, "json"), ("*/*", "json"), ("text/event-stream", "stream"), ("text/*", "stream"), ("application/json, text/event-stream", "json"),
    ("application/json;q=0.5, text/event-stream", "stream"), ("text/event-stream;q=0.3, application/json;q=0.4", "json"),
    ("text/event-stream, */*;q=0.1", "stream"), ("text/event-stream;q=0", 406), ("text/html", 406), ("application/yaml", 406)])
def test_the_form_is_what_accept_prefers(d, accept, kind):
    with Raw(d.port) as raw:
        raw.send(request("GET", "/v1/events?after=0", *([f"Accept: {accept}"] if accept else []), token=d.token()))
        answer = raw.read(head=True)
    if kind == 406:
        assert answer.status == 406
    else:
        assert answer.status == 200 and answer["content-type"] == {"json": "application/json", "stream": "text/event-stream"}[kind]
        assert "Accept" in answer["vary"].split(", ")


def test_faults_are_told_all_at_once(d):
    s = Stream(d, "/v1/events?limit=3&cursor=abc&type=cluster.none")
    assert s.status == 400 and s.answer.code == "invalid_parameter"
    told = {(e.get("parameter") or e.get("header"), e["code"]) for e in s.answer.json()["errors"]}
    assert told == {("limit", "not_for_streams"), ("cursor", "not_for_streams"), ("type", "unknown_value")}
    with Raw(d.port) as raw:
        raw.send(request("GET", "/v1/events", "Accept: text/event-stream", "Last-Event-ID: 1", "Last-Event-ID: 2", token=d.token()))
        assert raw.read().status == 400
    assert Stream(d, "/v1/events?after=-1").status == 400
    assert Stream(d, "/v1/events", token="").status == 401
    assert d.http.get("/v1/events", headers={"Last-Event-ID": "x"}).status_code == 200, "pages have no use for it"


def test_ao22_the_last_id_may_stand_in_the_query(d):
    """Libraries that replace EventSource add the last id to their first address, whatever that has in its query."""
    last = newest(d)
    assert last >= 3
    for query, last_field, begin in ((f"?lastEventId={last - 2}", None, last - 2), (f"?after=0&lastEventId={last - 1}", None, last - 1),
                                     (f"?&after={last - 2}", None, last - 2), (f"?after={last - 1}&&", None, last - 1),
                                     (f"?lastEventId=0&after={last}", last - 1, last - 1)):
        with Stream(d, "/v1/events" + query, last=last_field) as s:
            assert s.status == 200, (query, s.answer)
            s.wait_ids(last)
            assert s.ids[0] == begin + 1, query
    for bad in ("", "9" * 1001):
        s = Stream(d, f"/v1/events?lastEventId={bad}")
        assert s.status == 400 and s.answer.json()["errors"][0]["parameter"] == "lastEventId", bad
    page = d.http.get("/v1/events", params={"lastEventId": 1})
    assert page.status_code == 400 and [(e["parameter"], e["code"]) for e in page.json()["errors"]] == [("lastEventId", "only_for_streams")]


@pytest.mark.parametrize("bad", ["-1", "x", "evt_1", "1.5", "1%202", "%E2%82%AC", "99999999999999999999", "9223372036854775807", "0x7"])
def test_ao22_an_id_that_is_no_number_begins_with_a_reset(d, bad):
    """A browser gives up its EventSource for good after a 400; a reset makes it read everything and go on."""
    for path, last in (("/v1/events?after=0", urllib.parse.unquote(bad, "latin-1")), (f"/v1/events?lastEventId={bad}&after=0", None)):
        with Stream(d, path, last=last) as s:
            assert s.status == 200, (path, s.answer)
            wait_until(lambda s=s: s.events, what="the first event")
            assert s.events[0]["type"] == "reset" and int(s.events[0]["id"]) == json.loads(s.events[0]["data"])["newest_sequence"]


@pytest.mark.parametrize("parameter", ["", "after"])
def test_ao22_a_polyfill_comes_back_behind_a_cut(make_sim, make_shootd, parameter):
    """event-source-polyfill sends the last id in the query. If its parameter is called `after`, an empty part remains after the `?`."""
    js = ROOT / "tests/js"
    if not (js / "node_modules/event-source-polyfill").is_dir():
        pytest.skip("tests/js/node_modules/event-source-polyfill is absent; `make deps-test` installs it")
    sim, kind = make_sim(), "cluster.discovered"
    d = make_shootd(sim.url, polling=FAST).start()
    popen = subprocess.Popen(["node", "follow_polyfill.mjs", d.url + "/v1/events?after=0", d.token(), parameter, kind], cwd=js, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    told = []
    reader = threading.Thread(target=lambda: told.extend(line.strip() for line in popen.stdout), daemon=True)
    reader.start()
    try:
        sim.post("shoots", count=3, prefix="before", state="ready")
        wait_until(lambda: len(told) == 4, what="three events")
        d.kill()
        d.start()
        sim.post("shoots", count=3, prefix="behind", state="ready")
        wait_until(lambda: len(told) >= 8 or "closed for good" in told, what="three more behind the cut")
        wanted = [str(e["sequence"]) for e in d.events(type=kind)]
        assert len(wanted) == 6 and told == ["open", *wanted[:3], "open", *wanted[3:]], told
    finally:
        popen.stdin.close()
        popen.wait(20)
        popen.kill()


def test_head_old_clients_and_other_origins(sim, tmp_path, d):
    with Raw(d.port) as raw:
        raw.send(request("HEAD", "/v1/events", "Accept: text/event-stream", token=d.token()))
        answer = raw.read(head=True)
        assert answer.status == 200 and answer["content-type"] == "text/event-stream" and "content-length" not in answer
        assert answer["cache-control"] == "no-store, no-transform" and raw.is_closed(), "not a byte more"
    last = newest(d)
    with Raw(d.port) as raw:  # HTTP/1.0, which some proxies speak, has no chunks
        raw.send(request("GET", f"/v1/events?after={last - 1}", "Accept: text/event-stream", token=d.token()).replace(b"HTTP/1.1", b"HTTP/1.0"))
        answer = raw.read(head=True)
        assert answer.status == 200 and "transfer-encoding" not in answer
        parser, events = Parser(), []
        wait_until(lambda: events.extend(parser.feed(raw.buffer + raw.socket.recv(4096))) or setattr(raw, "buffer", b"") or events)
        assert [int(e["id"]) for e in events] == [last]
    other = harness.Shootd(tmp_path / "cors", sim.url, extra='cors: {origins: ["http://127.0.0.1:1234"]}\n').start()
    with Stream(other, fields=["Origin: http://127.0.0.1:1234", "Accept-Encoding: gzip"]) as s:
        assert s.answer["access-control-allow-origin"] == "http://127.0.0.1:1234" and "Origin" in s.answer["vary"]
        assert "content-encoding" not in s.answer and s.answer["x-request-id"]
    with Stream(other, fields=["Origin: http://elsewhere:1"]) as s:
        assert s.status == 200 and "access-control-allow-origin" not in s.answer
    other.stop()


# ---- the end of a stream -----------------------------------------------------------------------------------------------

def test_ao24_lifetime_and_caps(sim, tmp_path):
    """At the end of its lifetime a stream announces its end, and the next one continues. Above the limits the answer is 503 with a time
    to retry."""
    d = harness.Shootd(tmp_path / "caps", sim.url, polling=FAST, extra="limits: {stream_lifetime: 10s, streams: 3, streams_per_token: 2, heartbeat: 500ms}\n").start()
    checker, other = Checker(), token(d)
    with Stream(d) as one, Stream(d) as two:
        assert (one.status, two.status) == (200, 200)
        refused = Stream(d)
        checker.raw("GET", "/v1/events", refused.answer)
        assert refused.status == 503 and refused.answer.code == "too_many_streams" and int(refused.answer["retry-after"]) > 0
        with Stream(d, token=other["token"]) as three:
            assert three.status == 200
            assert Stream(d, "/v1/projects/team-a/clusters/x/events", token=token(d)["token"]).status == 503, "those of all"
            assert d.http.get("/v1/events").status_code == 200, "pages go on"
            assert metric(d, "shootd_sse_streams") == 3
            for s in (one, two, three):
                s.wait_end(20)
                assert s.whole and any("lifetime" in c for c in s.parser.comments) and 1000 <= s.parser.retry < 4000
        names = found(sim, 2)
    with Stream(d, last=one.parser.last_id) as again:
        discovered(again, names)
        assert (one.ids + again.ids) == list(range(one.ids[0] if one.ids else again.ids[0], again.ids[-1] + 1))
    wait_until(lambda: metric(d, "shootd_sse_streams") == 0, what="the client's end to be noticed")
    text = d.http.get("/metrics").text
    assert 'shootd_sse_streams_ended_total{end="lifetime"} 3' in text
    assert re.search(r'shootd_sse_streams_ended_total\{end="client"\} [1-9]', text) and re.search(r"shootd_sse_events_sent_total [1-9]", text)
    assert re.search(r'shootd_events_total\{type="cluster.discovered"\} [1-9]', text)
    line = r"request_id=\S+ .*route=/v1/events status=200 .*bytes_out=[1-9]\d* .*outcome=lifetime"
    wait_until(lambda: re.search(line, d.log()), what="the access line, which comes at the end")
    d.stop()


def test_mh12_mh13_a_stop_ends_streams_at_once(sim, tmp_path):
    d = harness.Shootd(tmp_path / "stop", sim.url, polling=FAST).start()
    last = newest(d)
    streams = [Stream(d, last=last if i % 2 else 0) for i in range(60)]
    stalled = [Stream(d, "/v1/events?after=0", read=False) for _ in range(3)]
    assert {s.status for s in streams + stalled} == {200}
    waiting = threading.Thread(target=discovered, args=(streams[0], found(sim, 20)))
    waiting.start()
    waiting.join(30)
    began = time.monotonic()
    d.process.popen.terminate()
    for s in streams:
        s.wait_end(10)
    assert d.process.popen.wait(20) == 0
    assert time.monotonic() - began < 20, "before the drain limit"
    for s in streams:
        assert s.whole and any("stopped" in c for c in s.parser.comments) and s.parser.last_id and s.parser.retry >= 1000
    assert len({s.parser.retry for s in streams}) > 20, "they do not all come back at once"
    for s in streams + stalled:
        s.close()


# ---- many streams, and slow ones ---------------------------------------------------------------------------------------

def test_an_event_reaches_all_of_many(sim, d):
    """Some of them are stalled and read nothing. The bound is generous; bench/streams.py measures."""
    count = 300
    streams = [Stream(d) for _ in range(count)]
    stalled = [Stream(d, "/v1/events?after=0", read=False) for _ in range(20)]
    try:
        assert {s.status for s in streams + stalled} == {200}
        for s in streams:
            s.wait(lambda s: s.parser.last_id)
        discovered(streams[0], found(sim, 10))
        last = streams[0].ids[-1]
        for s in streams:
            s.wait_ids(last)
            assert s.ids == streams[0].ids and s.events == streams[0].events
        when = [s.times[s.ids.index(last)] for s in streams]
        assert max(when) - min(when) < patience(20)
        assert d.http.get("/livez").status_code == 200
    finally:
        for s in streams + stalled:
            s.close()
    wait_until(lambda: metric(d, "shootd_sse_streams") == 0, what="all to be gone", timeout=20)


def test_the_descriptor_limit_is_raised(sim, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    try:
        d = harness.Shootd(tmp_path / "fd", sim.url, extra="limits: {connections: 100000}\n").start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    limits = pathlib.Path(f"/proc/{d.process.pid}/limits").read_text()
    assert re.search(rf"Max open files\s+{hard}\s+{hard}", limits), limits
    assert ("file descriptors is too low" in d.log()) == (hard < 100384)
    d.stop()


def test_clients_that_come_and_go(sim, tmp_path):
    """Streams that open and close in every way at once, while tokens are revoked; at the end none is left."""
    d = harness.Shootd(tmp_path / "go", sim.url, polling=FAST, extra="limits: {heartbeat: 500ms, stream_lifetime: 1s, http_threads: 4}\n").start()
    tokens, stop, faults = [token(d) for _ in range(8)], threading.Event(), []

    def client(seed):
        random = Random(seed)
        while not stop.is_set():
            try:
                path = random.choice(["/v1/events", "/v1/events?after=0", "/v1/events?type=operation.*", f"/v1/events?after={random.randint(0, 99)}"])
                mine = random.choice([None, *(t["token"] for t in tokens)])
                with Stream(d, path, token=mine, last=random.choice([None, "5", "999999"]), read=random.random() < 0.8) as s:
                    assert s.status in (200, 401)
                    time.sleep(random.random() * random.choice([0.01, 0.2, 1.2]))
            except Exception as e:
                faults.append(repr(e))
    threads = [threading.Thread(target=client, args=(i,)) for i in range(20)]
    for t in threads:
        t.start()
    for t in tokens[:4]:
        found(sim, 5)
        time.sleep(0.7)
        d.http.delete("/v1/tokens/" + t["id"])
    wait_until(lambda: metric(d, "shootd_sse_streams_ended_total") > 60, what="many streams")
    stop.set()
    for t in threads:
        t.join(20)
    assert not faults, faults[:3]
    wait_until(lambda: metric(d, "shootd_sse_streams") == 0, what="all to be gone")
    d.stop()


# ---- the log of events -------------------------------------------------------------------------------------------------

def test_the_log_outlives_the_cluster(d):
    """The log also retains the data: phases, operation, revision, a message. It can be read by project, cluster and type; numbers
    continue over a restart."""
    path = d.clusters_path("gone")
    d.http.put(path, json={}, params={"wait": 55})
    assert d.http.delete(path, params={"wait": 55}).status_code == 204
    items = wait_until(lambda: (i := d.http.get(path + "/events").json()["items"]) and i[-1]["type"] == "cluster.deleted" and i,
                       what="the end")
    kinds = [i["type"] for i in items]
    assert kinds == ["operation.started", "cluster.created", "cluster.ready", "operation.succeeded", "operation.started", "operation.succeeded",
                     "cluster.deleted"], kinds
    for i in items:
        assert i["data"].keys() >= {"project", "cluster", "phase", "previous_phase", "operation_id", "revision", "url", "message"}
    ready = items[kinds.index("cluster.ready")]["data"]
    assert (ready["previous_phase"], ready["phase"]) == ("creating", "ready") and ready["operation_id"].startswith("op_") and ready["message"]
    revisions = [i["data"]["revision"] for i in items]
    assert revisions == sorted(revisions) and revisions[0] >= 1
    assert d.http.get("/v1/events", params={"cluster": "gone", "project": "team-a"}).json()["items"] == items
    assert d.http.get("/v1/events", params={"cluster": "gone", "project": "team-b"}).json()["items"] == []
    some = d.http.get("/v1/events", params={"cluster": "gone", "type": "cluster.*", "after": items[1]["sequence"], "limit": 1}).json()
    assert [i["type"] for i in some["items"]] == ["cluster.ready"]
    last = newest(d)
    d.stop()
    d.start()
    everything = d.events()
    assert [i["sequence"] for i in everything] == list(range(1, len(everything) + 1)) and len(everything) >= last
    assert d.http.get(path + "/events").json()["items"] == items
