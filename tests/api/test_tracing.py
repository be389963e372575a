"""Traces: one per write, from the request through the lane and Cleura's calls to the end of the operation and the webhook."""

import collections
import concurrent.futures
import datetime
import json
import re
import shutil
import statistics
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jsonschema
import pytest
import yaml

from harness import ROOT, SANITIZED, free_port, wait_until

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SERVER, CLIENT, INTERNAL, ERROR = 2, 3, 1, 2


def exactly(required, **properties):
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def many(items):
    return {"type": "array", "items": items}


# ExportTraceServiceRequest in OTLP's JSON form: lowerCamelCase, ids in hex, 64-bit numbers as decimal texts, enums as numbers.
TEXT, NUMBER = {"type": "string"}, {"type": "string", "pattern": "^-?[0-9]+$"}
VALUE = {"oneOf": [exactly(["stringValue"], stringValue=TEXT), exactly(["intValue"], intValue=NUMBER)]}
ATTRIBUTES = many(exactly(["key", "value"], key={"type": "string", "minLength": 1}, value=VALUE))
ID = {8: {"type": "string", "pattern": "^(?!0{16})[0-9a-f]{16}$"}, 16: {"type": "string", "pattern": "^(?!0{32})[0-9a-f]{32}$"}}
SPAN = exactly(["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"],
               traceId=ID[16], spanId=ID[8], parentSpanId=ID[8], name={"type": "string", "minLength": 1},
               kind={"enum": [INTERNAL, SERVER, CLIENT]}, startTimeUnixNano=NUMBER, endTimeUnixNano=NUMBER, attributes=ATTRIBUTES,
               events=many(exactly(["timeUnixNano", "name"], timeUnixNano=NUMBER, name=TEXT)),
               status=exactly(["code"], code={"enum": [ERROR]}, message=TEXT))
REQUEST = exactly(["resourceSpans"], resourceSpans=many(exactly(
    ["resource", "scopeSpans"], resource=exactly(["attributes"], attributes=ATTRIBUTES),
    scopeSpans=many(exactly(["scope", "spans"], scope=exactly(["name", "version"], name=TEXT, version=TEXT), spans=many(SPAN))))))


def values(attributes):
    return {a["key"]: a["value"].get("stringValue", a["value"].get("intValue")) for a in attributes}


class Collector:
    """Receives OTLP and checks the form of each body. `answers` are used first, as (status, headers), then `then` for all others; each
    comes after `delay_s`; with `hangs` none comes. `texts` are the bodies of the first answers with status 200."""

    def __init__(self, port=0):
        self.bodies, self.faults, self.answers, self.times = [], [], [], []
        self.then, self.delay_s, self.is_gone = (200, {}), 0, False
        self.texts = []
        self.hangs = threading.Event()
        self.free = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.take(self.path, self.headers, body)
                if outer.hangs.is_set():
                    outer.free.wait(120)
                outer.free.wait(outer.delay_s)
                if outer.is_gone:
                    self.close_connection = True
                    return
                status, fields = outer.answers.pop(0) if outer.answers else outer.then
                if status == 200:
                    outer.bodies.append(body)
                answer = outer.texts.pop(0) if status == 200 and outer.texts else b"{}"
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(answer)), **fields}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        self.times.append((time.monotonic(), body))
        try:
            assert path == "/v1/traces" and headers["Content-Type"] == "application/json", (path, headers)
            jsonschema.validate(json.loads(body), REQUEST)
        except Exception as e:  # the test reports it, not this thread
            self.faults.append(e)

    def spans(self):
        assert not self.faults, self.faults
        found = []
        for body in list(self.bodies):
            for resource in json.loads(body)["resourceSpans"]:
                who = values(resource["resource"]["attributes"])
                assert who["service.name"] == "shootd" and who["service.version"] and who["service.instance.id"]
                found += [s for scope in resource["scopeSpans"] for s in scope["spans"]]
        assert max(collections.Counter(s["spanId"] for s in found).values(), default=1) == 1
        return found

    def named(self, pattern, trace=None):
        return [s for s in self.spans() if re.fullmatch(pattern, s["name"]) and trace in (None, s["traceId"])]

    def wait(self, pattern, count=1, trace=None):
        def there():
            found = self.named(pattern, trace)
            return found if len(found) >= count else None
        return wait_until(there, what=f"{count} spans {pattern}")

    def stop(self):
        self.free.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def collector():
    c = Collector()
    yield c
    c.stop()


def traced(collector_url, more=""):
    return f"tracing: {{endpoint: '{collector_url}'{more}}}\n"


@pytest.fixture
def make(sim, make_shootd, collector):
    def made(more="", extra="", url=None):
        return make_shootd(sim.url, extra=traced(url or collector.url, more) + extra).start().wait_upstream()
    return made


def times(span):
    return int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])


def metric(d, name):
    return float(re.search(rf"^{re.escape(name)} (\S+)$", d.http.get("/metrics").text, re.M)[1])


def create(d, name="dev", flags="00", **fields):
    answer = d.http.post(d.clusters_path(), json={"name": name}, headers={"traceparent": f"00-{TRACE}-{CALLER}-{flags}", **fields})
    assert answer.status_code == 202, answer.text
    return answer.json()["operation"]


def test_where_the_minutes_went(make, collector, receiver, sim):
    d = make()
    assert d.http.post("/v1/webhooks", json={"url": receiver.url}).status_code == 201
    op = create(d)
    d.wait_operation(op["id"])
    collector.wait("webhook operation.succeeded", trace=TRACE)
    request, = collector.wait("POST /v1/projects/{project}/clusters", trace=TRACE)
    operation, = collector.wait("operation create", trace=TRACE)
    # the request is a child of its caller, the operation a child of the request, and so on
    assert request["kind"] == SERVER and request["parentSpanId"] == CALLER
    told = values(request["attributes"])
    assert (told["http.request.method"], told["http.route"], told["http.response.status_code"], told["shootd.project"]) == \
        ("POST", "/v1/projects/{project}/clusters", "202", "team-a")
    assert operation["kind"] == INTERNAL and operation["parentSpanId"] == request["spanId"] and "status" not in operation
    assert values(operation["attributes"])["shootd.operation"] == op["id"]
    steps = {s["name"]: s for s in collector.spans() if s.get("parentSpanId") == operation["spanId"] and s["kind"] == INTERNAL}
    assert set(steps) == {"bootstrap", "create_shoot", "wait_ready"}
    # a step has its calls as children, and the wait in the lane before each
    below = [s for s in collector.spans() if s.get("parentSpanId") == steps["create_shoot"]["spanId"]]
    turn, = [s for s in below if s["name"] == "wait for a turn"]
    call, = [s for s in below if s["kind"] == CLIENT]
    assert values(call["attributes"])["http.request.method"] == "POST" and values(call["attributes"])["shootd.account"] == "main"
    assert call["name"] == "POST create" and values(call["attributes"])["http.response.status_code"] == "202"
    assert times(turn)[0] <= times(turn)[1] <= times(call)[0] <= times(call)[1]
    # Cleura received the id of the call's span
    sent = [r for r in sim.requests() if TRACE in r.get("traceparent", "")]
    assert {r["traceparent"] for r in sent} >= {f"00-{TRACE}-{call['spanId']}-01"}
    # the step that waited has Gardener's messages
    notes = [e["name"] for e in steps["wait_ready"]["events"]]
    assert len(notes) > 2 and any(n.startswith("Waiting until ") for n in notes), notes
    # children lie within their parents, and agree with the times of the API to the millisecond
    for span in steps.values():
        assert times(operation)[0] <= times(span)[0] <= times(span)[1] <= times(operation)[1]
    webhook, = collector.named("webhook operation.succeeded")
    assert webhook["kind"] == CLIENT and webhook["parentSpanId"] == operation["spanId"] and webhook["traceId"] == TRACE
    assert values(webhook["attributes"])["http.response.status_code"] == "200"
    seconds = (times(steps["wait_ready"])[1] - times(steps["create_shoot"])[0]) / (times(operation)[1] - times(operation)[0])
    assert 0.5 < seconds <= 1  # the time of the whole is accounted for


def alerts_over(tmp_path, closed):
    """The alerts that fire in each minute, for minutes in which the breaker was closed (1) or not (0)."""
    last = len(closed) - 1
    series = [{"series": 'shootd_upstream_breaker_state{job="shootd",account="main",state="closed"}', "values": " ".join(map(str, closed))}]
    asked = [{"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": f"{minute}m", "exp_samples": []} for minute in range(last + 1)]
    (tmp_path / "story.yaml").write_text(yaml.safe_dump({"rule_files": [str(ROOT / "contrib/prometheus/alerts.yaml")], "evaluation_interval": "1m", "tests": [
        {"interval": "1m", "input_series": series, "promql_expr_test": asked}]}))
    run = subprocess.run(["promtool", "test", "rules", tmp_path / "story.yaml"], capture_output=True, text=True, timeout=60)
    fired = re.findall(r'time: (\d+)m.*?got:.*?alertname="(\w+)"', run.stdout + run.stderr, re.S)
    return {int(minute): name for minute, name in fired}


def test_an_outage_in_the_middle_of_a_create_is_one_story(make, collector, sim, tmp_path):
    """Trace, steps, durations and alerts show the same gap. Here one scrape counts as a minute for the alerts."""
    if not shutil.which("promtool"):
        pytest.skip("promtool is absent; `make deps-test` installs it")
    d, closed = make(), []

    def scrape(count):
        for _ in range(count):
            closed.append(int(metric(d, 'shootd_upstream_breaker_state{account="main",state="closed"}')))

    def step_of(op):
        return next(s for s in d.operation(op["id"])["steps"] if s["type"] == "wait_ready")
    with sim.lasting("create"):
        op = create(d)
        wait_until(lambda: step_of(op)["messages"], what="Gardener's first words")
        scrape(4)
        sim.post("down", down=True)
        wait_until(lambda: not metric(d, 'shootd_upstream_breaker_state{account="main",state="closed"}'), timeout=40, what="the breaker")
        began = time.time()
        scrape(10)
        time.sleep(1)  # the gap must exceed the rounding
        sim.post("down", down=False)
        ended = time.time()
        wait_until(lambda: metric(d, 'shootd_upstream_breaker_state{account="main",state="closed"}'), timeout=40, what="the end of the outage")
        scrape(4)
    assert d.wait_operation(op["id"])["status"] == "succeeded"
    # the alert fires after five minutes and until the outage ends
    fired = alerts_over(tmp_path, closed)
    assert set(fired.values()) == {"ShootdCleuraAway"} and min(fired) == closed.index(0) + 5 and max(fired) == len(closed) - 5, (closed, fired)
    # the trace: one step covers the outage and has no messages during it
    whole, = collector.wait("operation create", trace=TRACE)
    span, = collector.wait("wait_ready", trace=TRACE)
    assert span["parentSpanId"] == whole["spanId"] and times(span)[0] < began * 1e9 < ended * 1e9 < times(span)[1]
    assert not [e for e in span["events"] if began * 1e9 < int(e["timeUnixNano"]) < ended * 1e9]
    # the operation has the same times without a collector; they come from another clock, and the loop may lose the processor between the
    # two readings
    step = step_of(op)
    assert abs(step["waited_ms"] + step["running_ms"] - (times(span)[1] - times(span)[0]) / 1e6) <= 500
    told = [datetime.datetime.fromisoformat(m["at"].replace("Z", "+00:00")).timestamp() for m in step["messages"]]
    assert min(told) < began and max(told) > ended - 1 and not [at for at in told if began < at < ended]
    # the durations agree
    shown = next(i for i in d.http.get("/v1/projects/team-a/durations").json()["items"] if i["type"] == "create")
    assert shown["count"] == 1 and abs(shown["p50_ms"] - (times(whole)[1] - times(whole)[0]) / 1e6) <= 1
    longest = max(shown["steps"], key=lambda s: s["p50_ms"])
    assert longest["type"] == "wait_ready" and longest["p50_ms"] / 1000 >= ended - began - 1


def test_a_failed_write_and_a_failed_operation(make, collector, sim):
    d = make()
    sim.fault("create_shoot", "status", status=400, body='{"error":{"code":400,"message":"no"}}')
    op = create(d)
    assert d.wait_operation(op["id"])["status"] == "failed"
    operation, = collector.wait("operation create", trace=TRACE)
    step, = collector.named("create_shoot")
    call, = collector.named("POST create")
    assert operation["status"]["code"] == step["status"]["code"] == call["status"]["code"] == ERROR
    assert operation["status"]["message"] == d.operation(op["id"])["message"]
    # a fault of the client does not count as ours
    d.create("other")
    refused = d.http.post(d.clusters_path(), json={"name": "other"})
    assert refused.status_code == 409
    span = collector.wait("POST /v1/projects/{project}/clusters", 3)[-1]
    assert "status" not in span and values(span["attributes"])["error.type"] == refused.json()["code"]
    assert values(span["attributes"])["http.response.status_code"] == "409"


def test_calls_that_were_never_accepted_are_reported(make, collector, sim):
    """Calls that were throttled and given up: the spans of the calls, of the waits, and of their step."""
    d = make()
    sim.fault("create_shoot", "status", status=429, count=0)
    op = create(d)
    wait_until(lambda: len([r for r in sim.requests("create_shoot") if r["status"] == 429]) >= 2, what="two refusals")
    assert d.http.post(f"/v1/operations/{op['id']}/cancel").status_code in (200, 202)
    assert d.wait_operation(op["id"])["status"] == "cancelled"
    operation, = collector.wait("operation create", trace=TRACE)
    step, = collector.named("create_shoot")
    calls = [s for s in collector.named("POST create") if s["parentSpanId"] == step["spanId"]]
    assert len(calls) >= 2 and all(s["status"]["code"] == ERROR and values(s["attributes"])["error.type"] for s in calls)
    assert any("Waiting" in e["name"] for e in step["events"])
    parents = {s["spanId"] for s in collector.spans()} | {CALLER}
    assert all(s["parentSpanId"] in parents for s in collector.spans() if s["traceId"] == TRACE)
    assert times(operation)[1] == times(step)[1]


def test_a_change_is_whole(make, collector, sim):
    """Reads before a step, two steps, and the wait between them: each span has a parent and lies within it."""
    d = make()
    d.wait_operation(d.create("dev")["operation"]["id"])
    changed = d.http.patch(d.clusters_path("dev"), headers={"traceparent": f"00-{TRACE}-{CALLER}-00", "Content-Type": "application/merge-patch+json"},
                           json={"spec": {"node_pools": [{"name": "default", "machine_type": "b.2c4gb", "minimum": 2, "maximum": 4},
                                                         {"name": "more", "machine_type": "b.2c4gb", "minimum": 1, "maximum": 1}]}})
    assert changed.status_code == 202, changed.text
    d.wait_operation(changed.json()["operation"]["id"])
    collector.wait("operation update", trace=TRACE)
    spans = {s["spanId"]: s for s in collector.spans() if s["traceId"] == TRACE}
    assert {s["name"] for s in spans.values()} >= {"update_pool", "create_pool", "GET get", "wait for a turn"}
    for s in spans.values():
        parent = spans.get(s["parentSpanId"])
        assert parent or s["parentSpanId"] == CALLER, s
        if parent and parent["kind"] == INTERNAL and s["kind"] != CLIENT:
            assert times(parent)[0] <= times(s)[0], (parent["name"], s["name"])


def test_a_trace_goes_on_after_a_crash(make, collector, sim):
    d = make()
    with sim.lasting("create"):
        op = create(d)
        wait_until(lambda: d.operation(op["id"])["status"] == "running" and d.operation(op["id"])["steps"][0]["status"] == "done",
                   what="the create to be sent")
        request, = collector.wait("POST /v1/projects/{project}/clusters", trace=TRACE)
        collector.wait("POST create", trace=TRACE)
        d.kill()
        d.start()
    d.wait_operation(op["id"])
    operation, = collector.wait("operation create", trace=TRACE)
    assert operation["parentSpanId"] == request["spanId"]
    assert {s["name"] for s in collector.spans() if s.get("parentSpanId") == operation["spanId"]} >= {"create_shoot", "wait_ready"}
    call, = collector.named("POST create")
    step, = collector.named("create_shoot")
    assert call["parentSpanId"] == step["spanId"]  # the call was exported before the crash, the step after it


def test_cached_reads_are_no_spans_and_fresh_ones_are(make, collector):
    d = make()
    d.create("dev")
    made = d.http.post("/v1/tokens", json={"name": "new", "role": "viewer", "projects": ["*"]}).json()["token"]
    for token in (made, d.token()):  # also requests that cause other work: the first use of a token, a refusal
        for _ in range(20):
            assert d.http.get(d.clusters_path(), headers={"Authorization": "Bearer " + token}).status_code == 200
    assert d.http.delete(d.clusters_path("dev"), headers={"Authorization": "Bearer " + made}).status_code == 403
    assert d.http.get("/v1/audit").status_code == d.http.get("/v1/events").status_code == 200
    fresh = d.http.get(d.clusters_path("dev"), headers={"Cache-Control": "no-cache"})
    assert fresh.status_code == 200
    read, = collector.wait("GET /v1/projects/{project}/clusters/{cluster}")
    call, = [s["name"] for s in collector.spans() if s.get("parentSpanId") == read["spanId"] and s["kind"] == CLIENT]
    assert call in ("GET get", "GET list")  # the list when it was due anyway
    wait_until(lambda: metric(d, "shootd_spans_recorded_total") == len(collector.spans()), what="all spans")
    waited = "GET /v1/projects/{project}/catalog"  # from the start of this test, which had to read Cleura
    assert {s["name"] for s in collector.spans() if s["kind"] == SERVER} - {waited} == {
        read["name"], "POST /v1/projects/{project}/clusters", "POST /v1/tokens"}


@pytest.mark.parametrize("ratio, proxy, flags, recorded", [
    ("0", False, "01", False), ("0", True, "01", True), ("1", True, "00", False), ("1", False, "00", True)])
def test_who_decides(make, collector, ratio, proxy, flags, recorded):
    d = make(f", ratio: {ratio}", "trusted_proxies: [127.0.0.1]\n" if proxy else "")
    create(d, flags=flags)
    assert d.http.post(d.clusters_path(), json={"name": "other"}).status_code == 202  # its trace begins here
    requests = "POST /v1/projects/{project}/clusters"
    if recorded or ratio == "1":
        collector.wait(requests, recorded + int(ratio))
    if ratio == "0" and not recorded:
        wait_until(lambda: len(d.http.get("/v1/operations", params={"status": "succeeded"}).json()["items"]) == 2, what="the operations")
        assert metric(d, "shootd_spans_recorded_total") == 0
    assert len(collector.named(requests)) == recorded + int(ratio) and len(collector.named(requests, TRACE)) == recorded


def test_a_part_of_the_traces(make, collector):
    d = make(", ratio: 0.25")
    for i in range(80):
        assert d.http.post(d.clusters_path(), params={"dry_run": "true"}, json={"name": f"dev-{i}"}).status_code == 200
    wait_until(lambda: metric(d, "shootd_spans_recorded_total") == len(collector.spans()), what="all spans")
    assert 0 < len(collector.named("POST /v1/projects/{project}/clusters")) < 45  # 20 are expected; 23 more are 6 sigma


def test_patience_is_kept_and_nothing_is_lost(make, collector):
    d = make()
    collector.answers += [(503, {"Retry-After": "3"}), (429, {})]
    create(d)
    collector.wait("operation create", trace=TRACE)
    collector.wait("POST /v1/projects/{project}/clusters", trace=TRACE)
    (first, one), (second, two), (_, three) = collector.times[:3]
    assert one == two == three and second - first >= 2.9
    assert d.log().count("trace receiver does not accept spans") == 1 and d.log().count("trace receiver accepts spans again") == 1
    assert metric(d, "shootd_spans_dropped_total") == 0 and metric(d, 'shootd_spans_exported_total{outcome="refused"}') == 0


def test_refused_spans_are_not_sent_again(make, collector):
    d = make()
    collector.answers += [(400, {})]
    assert d.http.post(d.clusters_path(), params={"dry_run": "true"}, json={"name": "dev"}).status_code == 200
    wait_until(lambda: metric(d, 'shootd_spans_exported_total{outcome="refused"}') >= 1, what="the refusal")
    create(d, "dev")
    collector.wait("operation create", trace=TRACE)
    assert len({body for _, body in collector.times}) == len(collector.times)
    assert metric(d, 'shootd_spans_exported_total{outcome="taken"}') >= 4


@pytest.mark.parametrize("text, refused", [
    ('{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too\\nold"}}', 1), ('{"partialSuccess": {"rejectedSpans": 1}}', 1),
    ('{"partialSuccess": {"rejectedSpans": "99999999999"}}', None), ('{"partialSuccess": {"rejectedSpans": 0, "errorMessage": "hint"}}', 0),
    ('{"partialSuccess": {"rejectedSpans": -5}}', 0), ('{"partialSuccess": {"rejectedSpans": true}}', 0), ('{"partialSuccess": 1}', 0),
    ('{"partialSuccess": ' + "[" * 8000, 0), ("no JSON", 0), ("", 0)])
def test_spans_that_are_refused_in_part_are_counted(make, collector, text, refused):
    """A 200 with partialSuccess: the receiver has dropped spans. OTLP forbids to send them again."""
    d = make()
    collector.texts += [text.encode()]
    assert d.http.post(d.clusters_path(), params={"dry_run": "true"}, json={"name": "dev"}).status_code == 200
    wait_until(lambda: collector.bodies, what="the first batch")
    create(d, "dev")
    collector.wait("operation create", trace=TRACE)
    first = sum(len(scope["spans"]) for scope in json.loads(collector.bodies[0])["resourceSpans"][0]["scopeSpans"])
    counted = first if refused is None else refused
    assert metric(d, 'shootd_spans_exported_total{outcome="refused"}') == counted
    wait_until(lambda: metric(d, 'shootd_spans_exported_total{outcome="taken"}') >= len(collector.spans()) - counted, what="the rest")
    assert len({body for _, body in collector.times}) == len(collector.times), "nothing is sent twice"
    told = re.findall(r"trace receiver does not accept spans .*", d.log())
    assert len(told) == bool(counted) and d.log().count("trace receiver accepts spans again") == bool(counted)
    assert "errorMessage" not in text or not counted or "too old" in told[0]


def test_a_receiver_that_is_away_is_no_harm(make, sim):
    port = free_port()
    d = make(url=f"http://127.0.0.1:{port}")
    op = create(d)
    assert d.wait_operation(op["id"])["status"] == "succeeded"
    wait_until(lambda: "trace receiver does not accept spans" in d.log(), what="the warning")
    assert d.http.get("/readyz").status_code == 200
    late = Collector(port)
    try:
        assert late.wait("operation create", trace=TRACE) and late.wait("POST create", trace=TRACE)
    finally:
        late.stop()


def test_a_receiver_that_hangs_stops_nobody(make, collector):
    d = make()
    collector.hangs.set()
    bodies = [{"name": f"dev-{i}"} for i in range(200)]

    def dry_run(body):
        return d.http.post(d.clusters_path(), params={"dry_run": "true"}, json=body).status_code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(dry_run, bodies)) == {200}
    wait_until(lambda: metric(d, "shootd_spans_recorded_total") >= 200, what="the spans")  # tests/unit/test_traces.c tests the limit of waiting spans
    started = time.monotonic()
    d.stop()
    assert time.monotonic() - started < 20


def hang(collector):
    collector.hangs.set()


def be_slow(collector):
    collector.delay_s = 2


def fail(collector):
    collector.then = (500, {})


def ask_for_patience(collector):
    collector.then = (503, {"Retry-After": "3600"})


def vanish(collector):
    collector.is_gone = True
    collector.stop()


@pytest.mark.parametrize("trouble", [hang, be_slow, fail, ask_for_patience, vanish])
def test_a_trouble_of_the_collector_is_its_own(make, collector, trouble):
    """Reads and writes are answered as before, operations end, and only the exporter waits."""
    d = make()

    def round_of(i):
        """The times of the faster quarter of 60 reads and 60 dry runs; other processes delay the rest. A create ends meanwhile."""
        took = {"read": [], "dry run": []}
        assert d.wait_operation(d.create(f"dev-{i}")["operation"]["id"])["status"] == "succeeded"
        for j in range(60):
            for kind, send in (("read", lambda: d.cluster(f"dev-{i}")), ("dry run", lambda: d.http.post(
                    d.clusters_path(), params={"dry_run": "true"}, json={"name": f"new-{j}"}))):
                began = time.monotonic()
                assert send().status_code == 200
                took[kind].append(time.monotonic() - began)
        return {kind: statistics.quantiles(all, n=4)[0] for kind, all in took.items()}

    calm, rounds = round_of(0), []

    def is_slower(i):
        rounds.append(round_of(i))
        return any(rounds[-1][kind] > 4 * calm[kind] + 0.005 for kind in calm)
    trouble(collector)
    assert not all(is_slower(i) for i in range(1, 4)) or SANITIZED, (calm, rounds)  # beside the tests of a sanitizer times say nothing
    assert d.http.get("/readyz").status_code == 200


def test_no_secret_is_in_a_trace(make, collector, sim):
    d = make()
    d.create("dev")
    d.wait_phase("dev", "ready")
    secret = "shd_" + "a" * 38
    token = d.token()
    made = d.http.post("/v1/tokens", json={"name": "x", "role": "viewer", "projects": ["*"]}).json()["token"]
    kubeconfig = d.http.get(d.clusters_path("dev") + "/kubeconfig", headers={"X-Request-Id": secret})
    assert kubeconfig.status_code == 200
    collector.wait("GET /v1/projects/{project}/clusters/{cluster}/kubeconfig")
    collector.wait("POST /v1/tokens")
    text = "".join(collector.bodies)
    assert kubeconfig.headers["X-Request-Id"] == secret
    for word in (token, made, secret, "client-key-data"):
        assert word not in text, word


def test_another_receiver_needs_a_restart(make, collector):
    d = make()
    before = d.config.read_text()

    def reload(text):
        return d.reload(text)["restart_needed"]
    assert reload(before.replace(traced(collector.url), "tracing: {endpoint: 'http://127.0.0.1:1', ratio: 0.5}\n")) == ["tracing.endpoint", "tracing.ratio"]
    assert reload(before.replace(traced(collector.url), "")) == ["tracing.endpoint"]
    assert reload(before) == []
    d.create("dev")
    assert collector.wait("operation create")
