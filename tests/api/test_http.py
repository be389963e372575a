"""HTTP features beside the paths of the contract: codings, browsers, traces, preconditions. Names of tests have the ids of rules."""

import gzip
import re
import time
import zlib

import pytest

import harness
import web
from contract import DOCUMENT
from harness import ROOT, wait_until
from raw import Raw, request

ORIGIN = "https://console.example.com"


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    directory = tmp_path_factory.mktemp("http")
    sim = harness.Sim(directory)
    sim.post("shoots", count=5, prefix="seeded", state="ready")
    d = harness.Shootd(directory / "shootd", sim.url, polling="{active: 200ms, idle: 30m, discovery: 30m}",
                       extra=f'cors: {{origins: ["http://localhost:3000", "{ORIGIN}"]}}\n').start()
    d.wait_operation(d.create("dev")["operation"]["id"])
    wait_until(lambda: len(d.http.get("/v1/clusters").json()["items"]) == 6, what="discovery")
    d.http.get(d.clusters_path("dev") + "/kubeconfig")  # the first kubeconfig contains the address of the cluster
    wait_until(lambda: (s := d.cluster("dev").json()["status"])["api_server_url"] and not s["settling"], what="rest")
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture(scope="module")
def sim(pair):
    return pair[0]


@pytest.fixture(scope="module")
def d(pair):
    return pair[1]


@pytest.fixture(scope="module")
def token(d):
    return d.token()


@pytest.fixture
def raw(d):
    with Raw(d.port) as connection:
        yield connection


@pytest.fixture
def ask(raw, token):
    def exchange(method, path, *fields, body=None, as_token=token):
        raw.send(request(method, path, *fields, token=as_token, body=body))
        return raw.read(head=method == "HEAD")
    return exchange


JSON = "Content-Type: application/json"
GZIP = "Accept-Encoding: gzip"
CLUSTERS = "/v1/projects/team-a/clusters"
DEV = f"{CLUSTERS}/dev"


def unless_it_changes(ask, path, check):
    """Repeats the check if the resource changed between two requests, by a poll or by a new address."""
    for _ in range(20):
        tag = ask("GET", path)["ETag"]
        try:
            return check()
        except AssertionError:
            if ask("GET", path)["ETag"] == tag:
                raise
    raise AssertionError(f"{path} changes all the time")


def whole(body):
    """The answer without members that a poll in between may change."""
    return re.sub(rb'"observed_at":"[^"]*"', b"", body)


# ---- codings -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("field, coded", [
    (None, False), ("", False), ("gzip", True), ("GZIP", True), ("deflate, gzip;q=0.5, br", True), ("gzip;q=0", False),
    ("*", True), ("*;q=0", False), ("gzip;q=0, *", False), ("identity", False), ("br", False), ("gzip;q=0.001", True),
    ("gzip;q=0.5, identity", False), ("gzip;q=0.5, identity;q=0.5", True), ("gzip, identity;q=0", True), ("xgzip", False),
])
def test_ht53_q_values_choose_the_coding(ask, field, coded):
    for path in (DEV, "/v1/clusters"):
        answer = ask("GET", path, *([f"Accept-Encoding: {field}"] if field is not None else []))
        assert answer.status == 200 and ("content-encoding" in answer) is coded, answer
        plain = gzip.decompress(answer.body) if coded else answer.body
        assert whole(plain) == whole(ask("GET", path).body)
        assert "Accept-Encoding" in answer["Vary"].split(", ")


def test_ht53_what_is_coded_and_what_is_not(d, ask):
    hook = '{"url":"https://hooks.example.com/x","description":"%s"}' % ("a" * 250)
    for path in ("/openapi.yaml", "/openapi.json", "/metrics", DEV, "/v1/clusters", "/v1/projects/team-a/catalog",
                 "/v1/events", f"{DEV}/events"):
        answer, plain = ask("GET", path, GZIP), ask("GET", path)
        assert answer["Content-Encoding"] == "gzip", path
        assert "content-encoding" not in plain and "Accept-Encoding" in plain["Vary"], path
        in_pieces = path == "/metrics"  # above 256 KiB an answer that is made for one client is coded while it is sent
        assert len(answer.body) < len(plain.body) and ("transfer-encoding" in answer) is in_pieces, path
        assert zlib.decompressobj(31).decompress(answer.body)[:200] == plain.body[:200] or path == "/metrics"
    for path in ("/livez", "/v1/whoami", "/v1/projects"):
        small = ask("GET", path, GZIP)
        assert len(small.body) < 1024 and "content-encoding" not in small and "Accept-Encoding" in small["Vary"], path
    for path in (f"{DEV}/kubeconfig", f"{DEV}/kubeconfig?format=yaml", f"{DEV}/monitoring", f"{DEV}/ssh-key", "/v1/tokens"):
        secret = ask("GET", path, GZIP)
        assert secret.status == 200 and "content-encoding" not in secret, path
        assert "Accept-Encoding" not in "".join(secret.all("vary")), path
    for path, body in (("/v1/webhooks", hook), ("/v1/tokens", '{"name":"x","role":"viewer","projects":["*"]}')):
        made = ask("POST", path, GZIP, JSON, body=body)
        assert made.status == 201 and "content-encoding" not in made and "vary" in made, path
    refused = ask("GET", "/v1/clusters?" + "&".join(f"colour{i}=x" for i in range(40)), GZIP)
    assert refused.status == 400 and len(refused.body) > 1024 and "content-encoding" not in refused, "errors are plain"


def test_ht21_entity_tags_differ_per_coding(ask):
    def differ():
        plain, coded = ask("GET", path), ask("GET", path, GZIP)
        assert coded["ETag"] == plain["ETag"][:-1] + '-gz"'
        assert ask("GET", path, GZIP).body == coded.body, "the same tag, the same bytes"
    for path in (DEV, "/openapi.yaml", "/v1/projects/team-a/catalog"):
        unless_it_changes(ask, path, differ)


def test_ht21_preconditions_take_either_form(d, ask):
    def either():
        plain, coded = ask("GET", path), ask("GET", path, GZIP)
        for tag, wanted in ((plain["ETag"], plain), (coded["ETag"], coded)):
            for fields in ([], [GZIP]):
                known = ask("GET", path, f"If-None-Match: {tag}", *fields)
                assert known.status == 304 and known["ETag"] == tag, "the form that the client has"
                again = ask("GET", path, *([GZIP] if wanted is coded else []))  # a later read of Cleura may change the length
                assert known["Content-Length"] in (wanted["Content-Length"], again["Content-Length"]) and "content-encoding" not in known
                assert known["Vary"] == plain["Vary"] and known["Cache-Control"] == plain["Cache-Control"]
                assert ask("GET", path, f"If-Match: {tag}", *fields).status == 200
        both = f"If-None-Match: {plain['ETag']}, {coded['ETag']}"
        assert ask("GET", path, both)["ETag"] == plain["ETag"]
        assert ask("GET", path, both, GZIP)["ETag"] == coded["ETag"]
        assert ask("GET", path, "If-None-Match: *", GZIP)["ETag"] == coded["ETag"]
    for path in (DEV, "/openapi.yaml", f"{DEV}/node-pools"):
        unless_it_changes(ask, path, either)
    tag = ask("GET", DEV, GZIP)["ETag"]
    labels = '{"labels":{"n":"1"}}'
    assert ask("PUT", DEV, JSON, f"If-Match: {tag}", body=labels).status == 200
    assert ask("PUT", DEV, JSON, f"If-Match: {tag}", body=labels).status == 412, "it is another generation now"


@pytest.mark.parametrize("path", ["/version", "/v1/whoami", "/v1/projects/team-a/quota", f"{CLUSTERS}/seeded-0000/nodes",
                                  f"{DEV}/upgrades", "/v1/events", f"{DEV}/events", "/v1/events?limit=2"])
def test_ht18_every_open_resource_has_a_tag(ask, path):
    unless_it_changes(ask, path, lambda: has_a_tag(ask, path))


def has_a_tag(ask, path):
    first = ask("GET", path)
    assert first.status == 200 and re.fullmatch('"[!#-~]+"', first["ETag"]), first
    for fields, status in (([f"If-None-Match: {first['ETag']}"], 304), (["If-None-Match: W/" + first["ETag"]], 304), (["If-None-Match: *"], 304),
                           (['If-None-Match: "other"'], 200), ([f"If-Match: {first['ETag']}"], 200), (['If-Match: "other"'], 412)):
        for method in ("GET", "HEAD"):
            answer = ask(method, path, *fields)
            assert answer.status == status, (fields, answer)
            if status != 412:
                assert answer["ETag"] == first["ETag"] and answer["Cache-Control"] == first["Cache-Control"]


def test_ht32_what_is_secret_has_no_tag(ask):
    for path in ("/kubeconfig", "/kubeconfig?format=yaml", "/kubeconfig?format=exec", "/credential", "/monitoring", "/ssh-key"):
        answer = ask("GET", DEV + path, "If-None-Match: *")
        assert answer.status == 200 and "etag" not in answer and answer["Cache-Control"] == "no-store", path


def test_ht53_kept_form_is_made_once_for_all(d, token):
    """Many requests at once get the same bytes of a resource that was never coded before."""
    d.http.put(d.clusters_path("dev"), json={"labels": {"n": "2"}}).raise_for_status()
    connections = [Raw(d.port) for _ in range(16)]
    for c in connections:
        c.send(request("GET", DEV, GZIP, token=token))
    answers = [c.read() for c in connections]
    # A poll may come between two of these reads, but not between all. It changes observed_at under the same ETag (HT-16).
    coded = {(a["ETag"], a["Observed-At"]): a.body for a in answers}
    assert all(a.body == coded[a["ETag"], a["Observed-At"]] for a in answers), "the same state, the same bytes"
    assert len(coded) < len(answers), "one for each reader"
    assert all(b'"n":"2"' in gzip.decompress(body) for body in coded.values())
    for c in connections:
        c.socket.close()


# ---- browsers ----------------------------------------------------------------------------------------------------

def test_ht39_preflight_needs_no_token(ask):
    for path, methods in ((DEV, {"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"}),
                          ("/v1/tokens", {"GET", "HEAD", "POST", "OPTIONS"})):
        answer = ask("OPTIONS", path, f"Origin: {ORIGIN}", "Access-Control-Request-Method: PUT",
                     "Access-Control-Request-Headers: authorization,if-match", as_token=None)
        assert answer.status == 204 and answer["Access-Control-Allow-Origin"] == ORIGIN
        assert set(answer["Access-Control-Allow-Methods"].split(", ")) == methods == set(answer["Allow"].split(", "))
        allowed = {name.lower() for name in answer["Access-Control-Allow-Headers"].split(", ")}
        assert allowed >= {"authorization", "content-type", "if-match", "if-none-match", "idempotency-key", "prefer",
                           "cache-control", "last-event-id", "x-request-id", "traceparent", "tracestate"}
        assert answer["Access-Control-Max-Age"] == "7200" and "Origin" in answer["Vary"].split(", ")
        assert "content-length" not in answer
    without = ask("OPTIONS", DEV, f"Origin: {ORIGIN}", as_token=None)
    assert without.status == 204 and "access-control-allow-methods" not in without, "no preflight"
    for path, status in (("/v1/none", 404), ("/v1/clusters/%zz", 400), ("/" + "x" * 9000, 414)):
        answer = ask("OPTIONS", path, f"Origin: {ORIGIN}", "Access-Control-Request-Method: GET", as_token=None)
        assert answer.status == status and answer["Access-Control-Allow-Origin"] == ORIGIN
        assert "PATCH" in answer["Access-Control-Allow-Methods"] and "authorization" in answer["Access-Control-Allow-Headers"].lower()


def test_ht40_one_exact_origin(ask):
    for origin in (ORIGIN, "http://localhost:3000"):
        answer = ask("GET", DEV, f"Origin: {origin}")
        assert answer.all("access-control-allow-origin") == [origin]
        exposed = {n.lower() for n in answer["Access-Control-Expose-Headers"].split(", ")}
        assert exposed >= {"etag", "location", "retry-after", "age", "cache-status", "x-request-id", "preference-applied",
                           "idempotency-replayed", "link", "allow"}
        assert "access-control-allow-credentials" not in answer
    for origin in ("https://console.example.com.evil.example", "https://Console.example.com", "http://console.example.com",
                   "https://console.example.com:8443", "https://console.example.com/", "null", "*", "",
                   f"{ORIGIN}, {ORIGIN}"):
        for method, fields in (("GET", []), ("OPTIONS", ["Access-Control-Request-Method: GET"])):
            answer = ask(method, DEV, f"Origin: {origin}", *fields)
            assert not [n for n, _ in answer.headers if n.startswith("access-control-")], origin
    twice = ask("GET", DEV, f"Origin: {ORIGIN}", f"Origin: {ORIGIN}")
    assert "access-control-allow-origin" not in twice


def test_ht41_errors_too_and_vary_always(ask):
    origin = f"Origin: {ORIGIN}"
    etag = ask("GET", "/openapi.yaml")["ETag"]  # no poll changes it
    for expected, args in ((401, ("GET", DEV, origin)), (404, ("GET", DEV + "x", origin)), (404, ("GET", "/none", origin)),
                           (405, ("TRACE", DEV, origin)), (400, ("GET", DEV + "?x=1", origin)),
                           (304, ("GET", "/openapi.yaml", origin, f"If-None-Match: {etag}")), (501, ("BREW", DEV, origin)),
                           (422, ("POST", "/v1/tokens", origin, JSON)), (200, ("HEAD", DEV, origin))):
        body = "{}" if args[0] == "POST" else None
        answer = ask(*args, body=body, **({"as_token": None} if expected == 401 else {}))
        assert answer.status == expected and answer["Access-Control-Allow-Origin"] == ORIGIN, answer
        plain = ask(*[a for a in args if a != origin], body=body, **({"as_token": None} if expected == 401 else {}))
        assert "access-control-allow-origin" not in plain
        assert "Origin" in plain["Vary"].split(", ") and len(plain.all("vary")) == 1, plain


def test_ht30_vary_is_one_field(d, ask):
    operation = d.http.get("/v1/operations").json()["items"][0]["id"]
    assert ask("GET", f"/v1/operations/{operation}")["Vary"] == "Accept-Encoding, Origin, Prefer"
    assert ask("GET", f"{DEV}/kubeconfig")["Vary"] == "Origin, Accept"
    for path in (DEV, "/v1/clusters", "/livez", f"/v1/operations/{operation}", f"{DEV}/kubeconfig"):
        answer = ask("GET", path, f"Origin: {ORIGIN}", GZIP)
        assert len(answer.all("vary")) == 1 and "Authorization" not in answer["Vary"] and "*" not in answer["Vary"]


def test_ht39_off_unless_configured(make_shootd, sim):
    plain = make_shootd(sim.url, name="no-cors").start()
    for method, path in (("GET", "/livez"), ("OPTIONS", "/v1/clusters"), ("GET", "/v1/whoami")):
        answer = web.request(method, plain.url + path, headers={
            "Origin": ORIGIN, "Access-Control-Request-Method": "GET", "Accept-Encoding": "identity"})
        assert not [n for n in answer.headers if n.startswith("access-control-")]
        assert "Origin" not in answer.headers.get("Vary", "")


# ---- traces ------------------------------------------------------------------------------------------------------

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def upstream_of(sim, trace):
    return [r for r in sim.requests() if trace in r.get("traceparent", "")]


def test_ht51_ht52_a_trace_goes_on_upstream(sim, d, ask):
    sim.forget()
    parent = f"00-{TRACE}-00f067aa0ba902b7-01"
    made = ask("POST", "/v1/projects/team-a/clusters", JSON, f"traceparent: {parent}", "X-Request-Id: my-request-1",
               "tracestate: a=1", body='{"name":"traced"}')
    assert made.status == 202
    op = d.wait_operation(made.json()["operation"]["id"])
    assert op["trace_id"] == TRACE and op["request_id"] == "my-request-1"
    calls = upstream_of(sim, TRACE)
    assert {"name_taken", "create_shoot"} <= {c["operation"] for c in calls}
    for c in calls:
        assert re.fullmatch(rf"00-{TRACE}-[0-9a-f]{{16}}-01", c["traceparent"]), c
        assert c["x_request_id"] == "my-request-1", "HT-50"
        assert "tracestate" not in c, "it is of the caller's house, Cleura is another"
    parents = {c["traceparent"].split("-")[2] for c in calls}
    assert len(parents) == len(calls) and "00f067aa0ba902b7" not in parents, "each call has a parent id of its own"
    polls = [r for r in sim.requests() if "traceparent" not in r]
    assert polls and {r["operation"] for r in polls} <= {"list_shoots", "get_shoot"}, "nobody asked for them"
    assert not any("x_request_id" in r for r in polls)


def test_ht51_reads_that_wait_for_cleura(sim, ask):
    for path, fields, operation in ((f"{DEV}/nodes", [], None), (f"{DEV}/kubeconfig?ttl_seconds=4000", [], None),
                                    (DEV, ["Cache-Control: no-cache"], None)):
        sim.forget()
        answer = ask("GET", path, f"traceparent: 00-{TRACE}-00f067aa0ba902b7-03", "X-Request-Id: my-request-2", *fields)
        assert answer.status == 200
        calls = upstream_of(sim, TRACE)
        assert calls and all(c["traceparent"].endswith("-03") and c["x_request_id"] == "my-request-2" for c in calls), path


def test_ht51_a_trace_outlives_a_restart(tmp_path):
    """The trace is stored with the operation: after kill -9 the operation continues in the same trace."""
    sim = harness.Sim(tmp_path, speed=240)
    d = harness.Shootd(tmp_path / "kept", sim.url).start()
    try:
        d.create("dev")
        waiting = d.http.patch(d.clusters_path("dev"), json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}},
                               headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "X-Request-Id": "my-request-3"})
        assert waiting.status_code == 202
        d.kill()
        assert not upstream_of(sim, TRACE)
        d.start()
        op = d.wait_operation(waiting.json()["operation"]["id"])
        assert (op["status"], op["trace_id"]) == ("succeeded", TRACE)
        changes = [c for c in upstream_of(sim, TRACE) if c["method"] == "PATCH"]
        assert len(changes) == 1 and changes[0]["x_request_id"] == "my-request-3"
    finally:
        d.stop()
        sim.stop()


@pytest.mark.parametrize("fields", [
    [], ["traceparent: "], [f"traceparent: 00-{TRACE.upper()}-00f067aa0ba902b7-01"],
    [f"traceparent: 00-{'0' * 32}-00f067aa0ba902b7-01"], [f"traceparent: 00-{TRACE}-{'0' * 16}-01"],
    [f"traceparent: ff-{TRACE}-00f067aa0ba902b7-01"], [f"traceparent: 00-{TRACE}-00f067aa0ba902b7-01-x"],
    [f"traceparent: 00-{TRACE}-00f067aa0ba902b7"], [f"traceparent: 00-{TRACE}-00f067aa0ba902b7-01"] * 2,
])
def test_ht51_invalid_or_absent_begins_a_new_trace(d, sim, ask, fields):
    sim.forget()
    id = f"trace-{time.monotonic_ns()}"
    assert ask("GET", f"{DEV}/nodes", "Cache-Control: no-cache", f"X-Request-Id: {id}", *fields).status == 200
    line = wait_until(lambda: next((x for x in d.log().splitlines() if f"request_id={id} " in x), None), what="the line")
    trace = re.search(r" trace_id=([0-9a-f]{32}) ", line)[1]
    assert trace not in (TRACE, "0" * 32)
    for call in sim.requests("list_nodes"):
        assert call["traceparent"].startswith(f"00-{trace}-") and call["traceparent"].endswith("-02"), call


def test_ht51_the_access_line_names_the_trace(d, ask):
    assert ask("GET", DEV, f"traceparent: 01-{TRACE}-00f067aa0ba902b7-01-later", "X-Request-Id: log-line-1").status == 200
    wait_until(lambda: re.search(rf"request_id=log-line-1 trace_id={TRACE} ", d.log()), what="the line")


# ---- preconditions -----------------------------------------------------------------------------------------------

def test_ht18_if_none_match_on_writes(d, ask):
    d.wait_operation(d.create("cond")["operation"]["id"])
    path = d.clusters_path("cond")
    tag = ask("GET", path)["ETag"]
    other = '"gngja3pr7n-1-9d41c07be2a35f60"'
    merge = "Content-Type: application/merge-patch+json"
    for value in ("*", tag, f"W/{tag}", f"{other}, {tag}"):
        field = f"If-None-Match: {value}"
        for answer in (ask("PUT", path, JSON, field, body="{}"), ask("PATCH", path, merge, field, body="{}"),
                       ask("DELETE", path, field), ask("POST", path + "/actions/reconcile", field),
                       ask("PATCH", path + "/node-pools/default", merge, field, body="{}")):
            assert (answer.status, answer.code) == (412, "precondition_failed"), (value, answer)
    assert ask("PUT", path, JSON, f"If-None-Match: {other}", body="{}").status == 200
    assert ask("PATCH", path, merge, f"If-None-Match: {other}", body="{}").status == 200
    assert ask("PUT", path + "/node-pools/new?dry_run=true", JSON, "If-None-Match: *", body="{}").status == 200
    assert ask("PUT", path + "/node-pools/new?dry_run=true", JSON, "If-Match: *", body="{}").status == 412
    assert ask("POST", path + "/node-pools?dry_run=true", JSON, "If-None-Match: *", body='{"name":"new"}').status == 200
    assert ask("DELETE", path, f"If-Match: {tag}").status == 202
    assert ask("DELETE", path, f"If-Match: {tag}").status == 202, "its answer may have been lost (RFC 9110 13.1.1)"
    d.wait_gone("cond")


def test_ht18_posts_to_collections(ask):
    for path, body in (("/v1/projects/team-a/clusters", '{"name":"never"}'),
                       ("/v1/webhooks", '{"url":"https://hooks.example.com/never"}'),
                       ("/v1/tokens", '{"name":"never","role":"viewer","projects":["*"]}')):
        for field in ("If-None-Match: *", 'If-Match: "x"', "If-Match:"):
            answer = ask("POST", path, JSON, field, body=body)
            assert (answer.status, answer.code) == (412, "precondition_failed"), answer
        assert "never" not in ask("GET", path).body.decode()
    assert ask("POST", "/v1/tokens", JSON, 'If-None-Match: "x"', "If-Match: *", body="{}").status == 422
    assert ask("POST", "/v1/tokens", JSON, "If-None-Match:", body="{}").status == 422, "an empty field names no tag"


def test_ht18_webhooks(d, ask):
    hook = d.http.post("/v1/webhooks", json={"url": "https://hooks.example.com/y"}).json()["id"]
    path = f"/v1/webhooks/{hook}"
    tag = ask("GET", path)["ETag"]
    assert ask("GET", path, f"If-Match: W/{tag}").status == 200, "a proxy's mark, not ours"
    assert ask("DELETE", path, 'If-Match: W/"x"').status == 412
    assert ask("DELETE", path, 'If-Match: "x"').status == 412 == ask("DELETE", path, "If-None-Match: *").status
    assert ask("DELETE", path, f"If-Match: {tag}").status == 204


def test_ht18_conditions_come_last(ask):
    """They are not checked when the answer is an error anyway."""
    assert ask("GET", DEV + "x", 'If-Match: "x"').status == 404
    assert ask("GET", DEV, 'If-Match: "x"', as_token=None).status == 401
    assert ask("PUT", DEV, JSON, "If-None-Match: *", body="{").status == 400
    bad = '{"spec":{"kubernetes_version":"9"}}'
    assert ask("PUT", DEV, JSON, 'If-Match: "x"', body=bad).status == 422
    assert ask("PUT", DEV, JSON, body=bad).status == 422

    def of_both():
        etag = ask("GET", DEV)["ETag"]
        assert ask("GET", DEV, 'If-Match: "x"', f"If-None-Match: {etag}").status == 412, "If-Match first"
        assert ask("GET", DEV, f"If-Match: {etag}", f"If-None-Match: {etag}").status == 304
    unless_it_changes(ask, DEV, of_both)


def test_ht22_dates_are_no_validators(ask):
    """shootd sends no Last-Modified, so dates in a request are ignored."""
    for field in ("If-Modified-Since", "If-Unmodified-Since"):
        for date in ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 2094 08:49:37 GMT"):
            answer = ask("GET", DEV, f"{field}: {date}")
            assert answer.status == 200 and "last-modified" not in answer
    assert ask("GET", DEV, "Range: bytes=0-1", "If-Range: \"x\"").status == 200, "no ranges either"


def test_ht20_nothing_forces_a_precondition(d, ask):
    """PUT by tools that know no ETags: the last writer wins (design 5), so 428 never occurs; * only creates."""
    assert ask("PUT", DEV, JSON, body="{}").status == 200
    assert "'428'" not in (ROOT / "openapi.yaml").read_text()
    assert ask("PUT", DEV, JSON, "If-None-Match: *", body="{}").status == 412


def test_a_connection_answers_like_a_new_one(d, token, ask):
    """Data that a connection retains from one answer to the next does not show."""
    etag = ask("GET", DEV)["ETag"]
    seeded = d.clusters_path("seeded-0000")

    def alike(method, path, fields):
        for _ in range(20):  # repeated until no read of Cleura comes between
            answer = ask(method, path, *fields)
            with Raw(d.port) as other:
                new = other.send(request(method, path, *fields, token=token)).read(head=method == "HEAD")
            if answer.all("observed-at") == new.all("observed-at"):
                break
        assert answer.status == new.status and answer.status in (200, 304, 404, 412)
        same = [{(n, v) for n, v in a.headers if n not in ("date", "x-request-id", "age")} for a in (answer, new)]
        assert same[0] == same[1] and len(answer.headers) == len(new.headers), (method, path, fields)
        if answer.status < 400:
            assert answer.body == new.body
        return answer, new

    ids, seen = set(), 0
    for method, path, fields in [
            ("GET", DEV, []), ("GET", DEV, []), ("GET", seeded, []), ("GET", DEV, []), ("GET", DEV, [GZIP]), ("GET", DEV, [GZIP]),
            ("GET", DEV, []), ("HEAD", DEV, []), ("GET", DEV, [f"If-None-Match: {etag}"]), ("GET", DEV, []),
            ("GET", DEV, [f"Origin: {ORIGIN}"]), ("GET", DEV, ["Origin: http://localhost:3000"]), ("GET", DEV, []),
            ("GET", DEV, ['If-Match: "x"']), ("GET", DEV, []), ("GET", DEV + "x", []), ("GET", seeded, [GZIP]), ("GET", seeded, []),
            ("GET", "/v1/clusters", []), ("GET", seeded, ["X-Request-Id: " + "i" * 128]), ("GET", seeded, [])] * 2:
        answer, new = unless_it_changes(ask, "/v1/clusters", lambda: alike(method, path, fields))
        assert len(answer.all("age")) == ("age" in new) and len(answer.all("x-request-id")) == 1
        ids |= {answer["X-Request-Id"], new["X-Request-Id"]}
        seen += 2
    assert len(ids) == seen - 3, "one was ours, four times"


def test_an_answer_is_of_now_on_an_old_connection(d, ask):
    for n in ("5", "6"):
        assert ask("GET", DEV).status == 200
        d.http.put(DEV, json={"labels": {"n": n}}).raise_for_status()

        def of_now():
            answer = ask("GET", DEV)
            assert f'"n":"{n}"'.encode() in answer.body
            assert answer["ETag"] == d.http.get(DEV, headers={"Accept-Encoding": "identity"}).headers["ETag"]
        unless_it_changes(ask, DEV, of_now)


# ---- every path --------------------------------------------------------------------------------------------------

VOLATILE = {"date", "x-request-id", "age", "content-length", "etag", "content-encoding"}


def test_ht8_head_has_the_fields_of_get(d, ask):
    operation = d.http.get("/v1/operations").json()["items"][0]["id"]
    hook = d.http.post("/v1/webhooks", json={"url": "https://hooks.example.com/head"}).json()["id"]
    names = {"project": "team-a", "cluster": "dev", "operation": operation, "webhook": hook, "pool": "default"}
    asked = 0
    for template, item in DOCUMENT["paths"].items():
        if "get" not in item:
            continue
        path = re.sub(r"{(\w+)}", lambda m: names.get(m.group(1), "x"), template)
        coding = [] if path == "/metrics" else [GZIP]  # it is sent in chunks; HEAD has none, and closes the connection
        for fields in ([], [*coding, f"Origin: {ORIGIN}"]):
            for _ in range(5):
                get, head = ask("GET", path, *fields), ask("HEAD", path, *fields)
                if dict(get.headers).get("observed-at") == dict(head.headers).get("observed-at"):
                    break  # otherwise a poll came between the two
            assert head.status == get.status and head.body == b"", path
            assert {n for n, _ in head.headers} == {n for n, _ in get.headers}, path
            assert [(n, v) for n, v in head.headers if n not in VOLATILE] == \
                [(n, v) for n, v in get.headers if n not in VOLATILE], path
            asked += 1
    assert asked > 40


def test_ht8_options_everywhere(ask):
    for template, item in DOCUMENT["paths"].items():
        answer = ask("OPTIONS", re.sub(r"{\w+}", "x", template), as_token=None)
        methods = {m.upper() for m in item if m in ("get", "put", "post", "patch", "delete")}
        assert answer.status == 204 and set(answer["Allow"].split(", ")) == \
            methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
    star = ask("OPTIONS", "*", as_token=None)
    assert star.status == 204 and set(star["Allow"].split(", ")) == {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
