"""HTTP itself: framing that could smuggle a request (docs/rules.md, 6.5), methods, negotiation, limits, permissions."""

import re
import threading
import time

import pytest

import harness
import web
from harness import PROJECT_ID, wait_until
from raw import Raw, request
from streams import Stream

OTHER_ID = "ffeeddccbbaa99887766554433221100"


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    directory = tmp_path_factory.mktemp("protocol")
    sim = harness.Sim(directory, project=[PROJECT_ID, OTHER_ID])
    d = harness.Shootd(directory / "shootd", sim.url,
                       projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Sto2", OTHER_ID)]).start()
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture(scope="module", autouse=True)
def slow_clients(pair):
    """Opened first and checked last: a connection with an endless header section, and a silent connection."""
    started = time.monotonic()
    header = Raw(pair[1].port, timeout=60).send("GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow")
    silent = Raw(pair[1].port, timeout=60)
    opened = {"header": header, "silent": silent}

    def read():
        opened["answer"] = header.read()
        opened["took"] = time.monotonic() - started
    opened["reader"] = threading.Thread(target=read)
    opened["reader"].start()
    yield opened
    opened["reader"].join(60)
    header.socket.close()
    silent.socket.close()


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


def refused_and_closed(connection, status, code):
    answer = connection.read()
    assert answer is not None and answer.status == status, answer
    assert answer["Content-Type"].startswith("application/problem+json")
    assert answer.code == code and answer["Connection"].lower() == "close", answer
    assert answer.json()["request_id"] == answer["X-Request-Id"]
    assert connection.is_closed(), "nothing that follows may be parsed"


SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"


# ---- 6.5, row by row ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, fields, body, status, code", [
    ("length and chunked", ["Content-Length: 5", "Transfer-Encoding: chunked"], "0\r\n\r\n", 400, "malformed_request"),
    ("chunked and length", ["Transfer-Encoding: chunked", "Content-Length: 5"], "0\r\n\r\n", 400, "malformed_request"),
    ("two lengths", ["Content-Length: 2", "Content-Length: 40"], "{}", 400, "malformed_request"),
    ("two equal lengths", ["Content-Length: 2", "Content-Length: 2"], "{}", 400, "malformed_request"),
    ("unknown coding", ["Transfer-Encoding: gzip, chunked"], "0\r\n\r\n", 501, "not_supported"),
    ("last coding not chunked", ["Transfer-Encoding: gzip"], "0\r\n\r\n", 400, "malformed_request"),
    ("chunked twice", ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], "0\r\n\r\n", 400,
     "malformed_request"),
    ("two hosts", ["Host: other"], "", 400, "malformed_request"),
    ("NUL in a value", ["X-A: a\x00b"], "", 400, "malformed_request"),
    ("bell in a value", ["X-A: a\x07b"], "", 400, "malformed_request"),
    ("delete in a value", ["X-A: a\x7fb"], "", 400, "malformed_request"),
    ("space in a name", ["X A: b"], "", 400, "malformed_request"),
    ("two authorizations", ["Authorization: Bearer a", "Authorization: Bearer b"], "", 400, "malformed_request"),
    ("two content types", ["Content-Type: application/json", "Content-Type: text/plain"], "", 400,
     "malformed_request"),
])
def test_ht14_6_5_framing(raw, token, name, fields, body, status, code):
    method = "POST" if body else "GET"
    credentials = [] if name == "two authorizations" else [f"Authorization: Bearer {token}"]
    raw.send(request(method, "/v1/projects/team-a/clusters", *credentials, *fields) + (body + SMUGGLED).encode())
    refused_and_closed(raw, status, code)


def test_ht14_6_5_bad_hosts(d):
    for host in ("a b", "a/b", "a@b", "", 'a"b'):
        with Raw(d.port) as raw:
            raw.send(f"GET /livez HTTP/1.1\r\nHost: {host}\r\n\r\n")
            answer = raw.read()
            assert answer.status == 400, host
            assert raw.is_closed(), host


@pytest.mark.parametrize("head", [
    "GET /livez HTTP/1.1\r\n\r\n",  # no Host
    "GET /livez HTTP/1.1\r\nHost : x\r\n\r\n",
    "POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\nhello",
    "POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello",
    "POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "GET /livez HTTP/2.0\r\nHost: x\r\n\r\n",
    "rubbish\r\n\r\n",
])
def test_6_5_what_the_library_refuses_itself(d, head):
    """libmicrohttpd answers these with its own page (MH-8) or closes the connection; our code does not see them."""
    with Raw(d.port) as raw:
        raw.send(head)
        answer = raw.read()
        assert answer is None or answer.status in (400, 413, 505), answer
        while raw._more():  # libmicrohttpd 0.9.75 sends its header section twice
            pass


@pytest.mark.parametrize("blank", [" ", "\t", " \t  "])
def test_blanks_behind_a_value_are_no_part_of_it(d, token, blank):
    """RFC 9110 5.5. Each answer equals that to the same request without the blanks."""
    head = f"Host: shootd{blank}", f"Authorization: Bearer {token}{blank}", "Connection: close"

    def ask(method, path, *fields, body=None):
        with Raw(d.port) as connection:
            return connection.send(request(method, path, *head, *(f + blank for f in fields), body=body, host=None)).read()
    assert ask("GET", "/v1/whoami", "X-Request-Id: abcdefgh")["X-Request-Id"] == "abcdefgh"
    tag = ask("GET", "/v1/whoami")["ETag"]
    assert ask("GET", "/v1/whoami", f"If-None-Match: {tag}").status == 304
    assert ask("GET", "/v1/whoami", f"If-None-Match: \"x\"{blank}", f"If-None-Match: {tag}").status == 304
    assert ask("GET", "/v1/whoami", "Accept: text/html").status == 406
    assert ask("GET", "/openapi.yaml", "Accept-Encoding: gzip")["Content-Encoding"] == "gzip"
    with Stream(d, last=f"0{blank}") as s:
        assert s.status == 200
    body = '{"name":"blank","role":"viewer","projects":["*"]}'
    of_body = "Content-Type: application/json", "Idempotency-Key: 0123456789abcdef"
    made = ask("POST", "/v1/tokens", *of_body, "Expect: 100-continue", body=body)
    assert made.status == 201, made
    assert ask("POST", "/v1/tokens", *of_body, body=body).json()["id"] == made.json()["id"], "the same key"


def test_ht14_transfer_encoding_needs_http_1_1(raw, token):
    raw.send(f"POST /v1/tokens HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
             "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    refused_and_closed(raw, 400, "malformed_request")


def test_6_5_absolute_form(raw):
    raw.send(request("GET", "http://elsewhere.example/livez"))
    assert raw.read().status == 200
    raw.send(request("GET", "http://elsewhere.example/none"))
    assert raw.read().status == 404
    raw.send(request("GET", "ftp://elsewhere.example/livez"))
    assert raw.read().status == 400


@pytest.mark.parametrize("method", ["get", "BREW", "PROPFIND", "Get"])
def test_ht9_6_5_unknown_methods(raw, method):
    raw.send(request(method, "/livez"))
    answer = raw.read()
    assert (answer.status, answer.code) == (501, "method_unknown")


@pytest.mark.parametrize("method", ["TRACE", "PATCH", "DELETE"])
def test_ht9_known_method_that_the_resource_has_not(raw, method):
    raw.send(request(method, "/livez"))
    answer = raw.read()
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert set(answer["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_ht8_connect_is_refused(raw):
    raw.send(request("CONNECT", "example.com:443"))
    answer = raw.read()
    assert answer.status in (400, 405, 501), answer


def test_ht8_options(raw):
    raw.send(request("OPTIONS", "*"))
    answer = raw.read()
    assert answer.status == 204 and "GET" in answer["Allow"] and "content-length" not in answer
    raw.send(request("OPTIONS", "/v1/projects/team-a/clusters"))
    answer = raw.read()
    assert answer.status == 204 and set(answer["Allow"].split(", ")) == {"GET", "HEAD", "POST", "OPTIONS"}
    raw.send(request("OPTIONS", "/none"))
    assert raw.read().status == 404


def test_ht12_6_5_unknown_expect(raw, token):
    raw.send(request("POST", "/v1/tokens", "Expect: 200-maybe", "Content-Type: application/json", token=token, body="{}"))
    refused_and_closed(raw, 417, "expectation_failed")


def test_ht12_expect_continue_is_decided_before_the_body(d, token):
    """417, 413, 415 and 401 come instead of 100 Continue (HT-12)."""
    with Raw(d.port) as raw:
        raw.send(request("POST", "/v1/tokens", f"Authorization: Bearer {token}", "Content-Type: application/json",
                         "Content-Length: 2", "Expect: 100-continue"))
        assert raw.read().status == 100
        raw.send("{}")
        assert raw.read().status == 422
    for fields, status in ((["Content-Type: application/json", "Content-Length: 9999999"], 413),
                           (["Content-Type: text/plain", "Content-Length: 2"], 415)):
        with Raw(d.port) as raw:
            raw.send(request("POST", "/v1/tokens", f"Authorization: Bearer {token}", "Expect: 100-continue", *fields))
            assert raw.read().status == status
            assert raw.is_closed()
    with Raw(d.port) as raw:
        raw.send(request("POST", "/v1/tokens", "Content-Type: application/json", "Content-Length: 2",
                         "Expect: 100-continue"))
        assert raw.read().status == 401


def test_http_1_0_closes(raw):
    raw.send("GET /livez HTTP/1.0\r\n\r\n")
    answer = raw.read()
    assert answer is not None and answer.status in (200, 400)
    assert raw.is_closed()


# ---- targets -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("target, status", [
    ("/v1/projects/team-a%2Fclusters", 400), ("/v1/projects/team-a/clusters/a%2fb", 400),
    ("/v1/projects/team-a%00/clusters", 400), ("/livez%00", 400),
    ("/v1/projects/../tokens", 400), ("/v1/./tokens", 400), ("/v1/projects/%2e%2e/clusters", 400),
    ("/v1/projects/%2E/clusters", 400), ("/v1/projects/%zz", 400), ("/v1/projects/%2", 400), ("/v1/projects/%", 400),
    ("/v1/projects/%ff", 400), ("/v1/projects/%c0%af", 400), ("/v1/projects/%0a", 400), ("/v1/projects/%7f", 400),
    ("/%6civez", 200), ("/livez#x", 404), ("//livez", 404), ("/livez/", 404), ("/v1/clusters;a=b", 404),
    ("/livez?verbose=%zz", 400), ("/livez?%ff", 400),
])
def test_paths(raw, token, target, status):
    raw.send(request("GET", target, token=token))
    answer = raw.read()
    assert answer.status == status, answer
    raw.send(request("GET", "/livez"))
    assert raw.read().status == 200, "the connection goes on"


def test_ht4_ht38_unknown_query_parameter_names_the_known_ones(d):
    answer = d.http.get("/v1/operations?colour=red&limit=x&status=done,running&limit=5")
    assert answer.status_code == 400 and answer.json()["code"] == "invalid_parameter"
    faults = {(f["parameter"], f["code"]): f for f in answer.json()["errors"]}
    assert set(faults) == {("colour", "unknown_parameter"), ("limit", "out_of_range"), ("limit", "duplicate"),
                           ("status", "unknown_value")}
    assert faults["colour", "unknown_parameter"]["valid"] == ["limit", "cursor", "project", "cluster", "status", "since", "type"]
    assert faults["status", "unknown_value"]["valid"] == ["pending", "running", "succeeded", "failed", "cancelled"]


@pytest.mark.parametrize("query, detail", [
    ("phase=faild", "'faild' is not one of the valid values; did you mean 'failed'?"),
    ("phase=Ready", "'Ready' is not one of the valid values; did you mean 'ready'?"),
    ("phase=ready,zzz", "'zzz' is not one of the valid values"), ("phase=", "'' is not one of the valid values"),
    ("phase=a%1b%5B31m%C3%A4", "'a [31mä' is not one of the valid values"),
    ("phase=" + "ä" * 1000, f"'{'ä' * 32}' is not one of the valid values"),
    ("phaes=ready", "is not a parameter of this operation; did you mean 'phase'?"),
    ("colour=red", "is not a parameter of this operation"),
    ("version=1.33", "the parameter version is called kubernetes_version"),
    ("sort=name,-version", "the sort key version is called kubernetes_version")])
def test_a_fault_of_the_query_names_the_value_and_the_near_one(d, query, detail):
    [fault] = d.http.get("/v1/clusters?" + query).json()["errors"]
    assert fault["detail"] == detail and fault["valid"]


def test_a_former_name_has_a_code_of_its_own_and_only_where_the_new_name_is_known(d):
    [fault] = d.http.get("/v1/clusters?version=1.33").json()["errors"]
    assert (fault["parameter"], fault["code"]) == ("version", "renamed") and "kubernetes_version" in fault["valid"]
    [fault] = d.http.get("/v1/operations?version=1.33").json()["errors"]
    assert fault["code"] == "unknown_parameter" and "kubernetes_version" not in fault["detail"]


@pytest.mark.parametrize("path, body, detail", [
    ("projects/team-a/clusters", {"name": "x", "kubernetes_version": "1.33"}, "is not a member that exists here: 'kubernetes_version' belongs into 'spec'"),
    ("projects/team-a/clusters", {"name": "x", "spec": {"nodePools": []}}, "is not a member that exists here; did you mean 'node_pools'?"),
    ("tokens", {"name": "x", "role": "viewer", "projects": ["*"], "expiresInDays": 5}, "is not a member that exists here; did you mean 'expires_in_days'?"),
    ("tokens", {"name": "x", "role": "viewer", "projects": ["team-s"]}, "'team-s' is not known; did you mean 'team-a'?")])
def test_a_fault_of_the_body_names_the_near_word(d, path, body, detail):
    answer = d.http.post(f"/v1/{path}", json=body)
    assert answer.status_code == 422 and [f["detail"] for f in answer.json()["errors"]] == [detail], answer.text


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=+1", "limit=", "limit=1.5", "limit=0x10", "cursor=",
                                   "cursor=zzz", "phase=", "phase=ready,", "managed=yes", "q="])
def test_ht35_bad_query_values(d, query):
    answer = d.http.get("/v1/clusters?" + query)
    assert answer.status_code == 400 and answer.json()["code"] == "invalid_parameter", query
    assert answer.json()["errors"][0]["parameter"] == query.split("=")[0]


def test_parameters_beyond_the_fiftieth_are_a_fault(d):
    many = "&".join(["label=x"] * 50)
    assert d.http.get("/v1/clusters?" + many).status_code == 200
    for more in ("&phase=ready", "&nonsense=1&limit=0", "&x=" * 200):
        answer = d.http.get("/v1/clusters?" + many + more)
        assert answer.status_code == 400 and answer.json()["code"] == "invalid_parameter", more
        assert [(f["code"], f["detail"]) for f in answer.json()["errors"]] == [("too_many", "holds more than 50 parameters")]


@pytest.mark.parametrize("path, name, valid", [
    ("/v1/clusters", "fields", ["full", "summary"]),
    ("/v1/projects/team-a/clusters/dev/kubeconfig", "format", ["json", "yaml", "exec"])])
def test_ht38_what_is_one_of_several_takes_no_list(d, path, name, valid):
    for value in (",".join(valid), ",".join(reversed(valid)), valid[0] + ",", "," + valid[0], valid[0] + "," + valid[0]):
        answer = d.http.get(path, params={name: value})
        assert answer.status_code == 400, value
        assert [(f["parameter"], f["code"], f["valid"]) for f in answer.json()["errors"]] == [(name, "unknown_value", valid)]
    assert d.http.get("/v1/clusters?phase=ready,failed&health=healthy,unknown").status_code == 200
    assert d.http.get("/v1/operations?status=failed,running").status_code == 200
    assert d.http.get("/v1/audit?outcome=success,denied").status_code == 200


def test_ht35_limit_above_the_maximum_is_the_maximum(d):
    assert d.http.get("/v1/clusters?limit=5000").status_code == 200
    assert d.http.get("/v1/clusters?limit=99999999999999999999").status_code == 200


# ---- sizes -------------------------------------------------------------------------------------------------------

def test_ht13_long_uri(raw):
    raw.send(request("GET", "/livez?exclude=" + "a" * 9000))
    refused_and_closed(raw, 414, "uri_too_long")


def test_ht13_uri_of_8000_bytes_passes(raw):
    raw.send(request("GET", "/livez?verbose=" + "a" * 7900))
    assert raw.read().status == 200


def test_ht13_large_headers(d):
    with Raw(d.port) as raw:
        raw.send(request("GET", "/livez", *(f"X-{i}: {'a' * 1000}" for i in range(17))))
        refused_and_closed(raw, 431, "headers_too_large")
    with Raw(d.port) as raw:
        raw.send(request("GET", "/livez", *(f"X-{i}: a" for i in range(64))))
        refused_and_closed(raw, 431, "headers_too_large")
    with Raw(d.port) as raw:
        raw.send(request("GET", "/livez", *(f"X-{i}: {'a' * 200}" for i in range(62))))
        assert raw.read().status == 200
    with Raw(d.port) as raw:  # the longest target together with the largest header section
        target = "/livez?verbose="
        raw.send(request("GET", target + "a" * (8192 - len(target)), *(f"X-{i:02}: {'a' * 253}" for i in range(62))))
        assert raw.read().status == 200
    with Raw(d.port) as raw:  # more than libmicrohttpd can hold: it sends its own page
        raw.send(request("GET", "/livez", *(f"X-{i}: {'a' * 1000}" for i in range(60))))
        assert raw.read().status == 431


def test_ht13_large_body(d, token):
    json = "Content-Type: application/json"
    with Raw(d.port) as raw:  # a stated length: refused before the body is sent
        raw.send(request("POST", "/v1/projects/team-a/clusters", json, f"Authorization: Bearer {token}",
                         "Content-Length: 1048577"))
        refused_and_closed(raw, 413, "body_too_large")
    with Raw(d.port) as raw:  # chunked: the size is known only at the end
        raw.send(request("POST", "/v1/tokens", json, "Transfer-Encoding: chunked", token=token))
        chunk = "a" * 16384
        for _ in range(5):
            raw.send(f"4000\r\n{chunk}\r\n")
        raw.send("0\r\n\r\n")
        refused_and_closed(raw, 413, "body_too_large")
    with Raw(d.port) as raw:  # far too large: the connection is cut
        raw.send(request("POST", "/v1/tokens", json, "Transfer-Encoding: chunked", token=token))
        with pytest.raises(OSError):
            for _ in range(2000):
                raw.send(f"4000\r\n{chunk}\r\n")
            raise AssertionError("32 MB were taken")
    with Raw(d.port) as raw:  # the largest allowed size
        body = '{"name":"dev","colour":"' + "a" * (1048576 - 26) + '"}'
        raw.send(request("POST", "/v1/projects/team-a/clusters", json, token=token, body=body))
        assert raw.read().status == 422


# ---- bodies ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("body, detail", [
    ('{"name": "dev",\n "labels": {,}}', "Line 2, column"),
    ('{"name": "dev"', "Line 1"),
    ('{"name": "a", "name": "b"}', "duplicate"),
    ('{"spec": {"a": 1, "a": 2}}', "duplicate"),
    ('{"name": "a"} x', "Line 1"),
    ('{"name": "\\u0000"}', "Line 1"),
    (b'{"name": "\xff"}', "Line 1"),
    (b'\xef\xbb\xbf\xef\xbb\xbf{"name": "dev"}', "Line 1"), (b"\xef\xbb\xbf", "empty"),
    ('{"a":' * 65 + "1" + "}" * 65, "Line 1"),
    ("[" * 3000 + "]" * 3000, "Line 1"),
    ('{"a": 1e999}', "Line 1"), ('{"a": 99999999999999999999}', "Line 1"), ('{"a": NaN}', "Line 1"),
    ("[1]", "object"), ("null", ""), ('"dev"', ""), ("", "empty"),
])
def test_bad_json_shows_the_position(raw, token, body, detail):
    raw.send(request("POST", "/v1/projects/team-a/clusters", "Content-Type: application/json", token=token, body=body))
    answer = raw.read()
    assert (answer.status, answer.code) == (400, "invalid_json"), answer
    assert detail in answer.json()["detail"], answer
    raw.send(request("GET", "/livez"))
    assert raw.read().status == 200, "the connection goes on"


@pytest.mark.parametrize("field, status", [
    ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("application/jsonx", 415), ("application/", 415),
    ("application/json; charset=latin1", 415), ("application/merge-patch+json", 415), (None, 415),
    ("application/json", 422), ("Application/JSON", 422), ("application/json; charset=utf-8", 422),
    ('application/json;charset="UTF-8"', 422), ("application/json; profile=x", 422),
])
def test_ht10_content_type(raw, token, field, status):
    fields = [f"Content-Type: {field}"] if field else []
    raw.send(request("POST", "/v1/tokens", *fields, token=token, body="{}"))
    answer = raw.read()
    assert answer.status == status, answer
    if status == 415:
        assert answer.code == "unsupported_media_type" and answer["Accept"] == "application/json"
        came = f"its Content-Type is '{field}'." if field else "it has no Content-Type."
        assert answer.json()["detail"] == f"The body has to be one of application/json, in UTF-8; {came}"
        assert "accept-encoding" not in answer


def test_ht54_content_encoding(raw, token):
    raw.send(request("POST", "/v1/tokens", "Content-Type: application/json", "Content-Encoding: gzip", token=token,
                     body="{}"))
    answer = raw.read()
    assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert answer["Accept-Encoding"] == "identity" and "accept" not in answer


@pytest.mark.parametrize("accept, status", [
    ("text/html", 406), ("application/json;q=0", 406), ("application/json;q=0, text/*", 406), ("image/*", 406),
    ("*/*", 200), ("application/*", 200), ("text/html, */*;q=0.1", 200), ("APPLICATION/JSON", 200), ("", 200),
    ("text/html, application/json;q=0.001", 200), ("*/*;q=0", 406),
])
def test_ht11_accept(raw, token, accept, status):
    raw.send(request("GET", "/v1/whoami", f"Accept: {accept}", token=token))
    answer = raw.read()
    assert answer.status == status, answer
    if status == 406:
        assert answer.code == "not_acceptable" and answer["Content-Type"].startswith("application/problem+json")


def test_ht8_head_is_get_without_a_body(raw, token):
    for path in ("/v1/whoami", "/openapi.yaml", "/v1/projects/team-a/catalog", "/v1/none"):
        raw.send(request("GET", path, token=token))
        get = raw.read()
        raw.send(request("HEAD", path, token=token))
        head = raw.read(head=True)
        assert head.status == get.status and head["Content-Length"] == get["Content-Length"], path
        assert head["Content-Type"] == get["Content-Type"]
    raw.send(request("GET", "/livez"))
    assert raw.read().body == b"ok\n"


def test_a_small_body_with_a_get_is_ignored(raw, token):
    raw.send(request("GET", "/v1/whoami", token=token, body="{}"))
    assert raw.read().status == 200
    raw.send(request("GET", "/v1/whoami", token=token))
    assert raw.read().status == 200


# ---- identity of a request ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("given, taken", [
    ("abcdefgh", True), ("A.b_c-9" * 4, True), ("a" * 128, True), ("a" * 129, False), ("short", False),
    ("with space in it", False), ("semi;colon-here", False), ("umlaut-\u00e4\u00f6\u00fc-here", False),
])
def test_ht50_request_id(raw, given, taken):
    raw.send(request("GET", "/none", f"X-Request-Id: {given}"))
    answer = raw.read()
    assert (answer["X-Request-Id"] == given) is taken
    assert answer.json()["request_id"] == answer["X-Request-Id"]
    assert taken or re.fullmatch(r"req_[0-9a-z]{26}", answer["X-Request-Id"])


def test_ht50_request_ids_differ(d):
    assert len({d.http.get("/livez").headers["X-Request-Id"] for _ in range(20)}) == 20


# ---- authentication and permissions ------------------------------------------------------------------------------

def test_challenges(d, token):
    """AU-7. The answers to unknown, expired, revoked and malformed tokens are equal (AU-8)."""
    def ask(*fields):
        with Raw(d.port) as raw:
            raw.send(request("GET", "/v1/whoami", *fields))
            return raw.read()
    nothing = ask()
    assert nothing.status == 401 and nothing.code == "unauthenticated"
    assert nothing["WWW-Authenticate"] == 'Bearer realm="shootd"'
    made = d.http.post("/v1/tokens", json={"name": "gone", "role": "viewer", "projects": ["*"]}).json()
    assert d.http.delete("/v1/tokens/" + made["id"]).status_code == 204
    bodies = set()
    changed = token[:-1] + ("a" if token[-1] != "a" else "b")
    for field in (f"Authorization: Bearer {made['token']}", f"Authorization: Bearer {changed}",
                  "Authorization: Bearer x", "Authorization: Bearer", f"Authorization: Bearer {token}x", f"Authorization: Bearer {token[:-1]}",
                  f"Authorization: Bearer {token} x"):
        answer = ask(field)
        assert answer.status == 401 and answer.code == "invalid_token", field
        assert answer["WWW-Authenticate"] == 'Bearer realm="shootd", error="invalid_token"'
        body = answer.json()
        body.pop("request_id")
        bodies.add(str(body))
        assert token not in answer.body.decode()
    assert len(bodies) == 1
    for field in ("Authorization: Basic YTpi", f"Authorization: {token}", f"Authorization: Token {token}", "Authorization: Bearers x"):
        other = ask(field)
        assert (other.status, other.code, other["WWW-Authenticate"]) == (401, "unauthenticated", 'Bearer realm="shootd"')
        assert other.json()["detail"] == "The scheme of Authorization is not Bearer: this operation needs 'Authorization: Bearer <token>'."
    assert ask(f"Authorization: bearer {token}").status == 200, "the scheme has no case"
    twice = ask(f"Authorization: Bearer {token}", f"Authorization: Bearer {token}")
    assert twice.status == 400 and 'error="invalid_request"' in twice["WWW-Authenticate"]
    assert ask().json()["advice"]
    with Raw(d.port) as raw:  # a token in the query never counts
        raw.send(request("GET", f"/v1/whoami?access_token={token}"))
        assert raw.read().status == 401


def test_credentials_are_judged_on_each_request_of_a_connection(d, raw, token):
    made = d.http.post("/v1/tokens", json={"name": "short-lived", "role": "viewer", "projects": ["*"]}).json()
    wrong = made["token"][:-1] + ("a" if made["token"][-1] != "a" else "b")

    def who(credentials):
        raw.send(request("GET", "/v1/whoami", token=credentials))
        answer = raw.read()
        return answer.json()["name"] if answer.status == 200 else answer.status
    for _ in range(2):
        assert [who(t) for t in (made["token"], made["token"], token, wrong, wrong, made["token"], None, token)] == \
            ["short-lived", "short-lived", "admin", 401, 401, "short-lived", 401, "admin"]
    assert who(made["token"]) == "short-lived"
    assert d.http.delete("/v1/tokens/" + made["id"]).status_code == 204
    assert [who(t) for t in (made["token"], made["token"], token)] == [401, 401, "admin"], "also where it was good before"


def client(d, role, projects):
    made = d.http.post("/v1/tokens", json={"name": f"{role} of {projects}", "role": role, "projects": projects})
    assert made.status_code == 201, made.text
    return web.Client(base_url=d.url, timeout=60, headers={"Authorization": "Bearer " + made.json()["token"]})


def test_project_limited_tokens_see_nothing_else(pair, d):
    sim, _ = pair
    sim.post("shoots", count=1, prefix="hidden", state="ready", project=OTHER_ID)
    wait_until(lambda: d.http.get("/v1/projects/team-b/clusters/hidden-0000").status_code == 200, what="discovery")
    sim.post("shoots", count=1, prefix="mine", state="ready")
    wait_until(lambda: d.http.get("/v1/projects/team-a/clusters/mine-0000").status_code == 200, what="discovery")
    theirs = d.http.put("/v1/projects/team-b/clusters/hidden-0000", json={}).json()
    operation = d.http.delete("/v1/projects/team-b/clusters/hidden-0000").json()["operation"]["id"]
    hook = d.http.post("/v1/webhooks", json={"url": "https://hooks.example.com/b", "projects": ["team-b"]}).json()
    every = d.http.post("/v1/webhooks", json={"url": "https://hooks.example.com/all"}).json()
    assert theirs["managed"] is True
    with client(d, "admin", ["team-a"]) as c:
        assert c.get("/v1/whoami").json()["projects"] == ["team-a"]
        assert [p["name"] for p in c.get("/v1/projects").json()["items"]] == ["team-a"]
        assert [x["name"] for x in c.get("/v1/clusters").json()["items"]] == ["mine-0000"]
        assert c.get("/v1/clusters?project=team-b").json()["items"] == []
        for path in ("", "/catalog", "/clusters", "/clusters/hidden-0000", "/clusters/hidden-0000/kubeconfig",
                     "/clusters/hidden-0000/events", "/clusters/hidden-0000/operations"):
            hidden = c.get("/v1/projects/team-b" + path)
            absent = c.get("/v1/projects/team-x" + path)
            assert hidden.status_code == absent.status_code == 404, path
            assert hidden.json()["code"] == absent.json()["code"] == "project_not_found"
            assert hidden.json()["detail"] == absent.json()["detail"].replace("team-x", "team-b"), "nothing tells the two apart"
        assert c.post("/v1/projects/team-b/clusters", json={"name": "x"}).status_code == 404
        assert c.put("/v1/projects/team-b/clusters/hidden-0000", json={}).status_code == 404
        assert c.delete("/v1/projects/team-b/clusters/hidden-0000").status_code == 404
        assert c.get(f"/v1/operations/{operation}").status_code == 404
        assert c.get(f"/v1/operations/{operation}?wait=5").status_code == 404
        assert all(o["project"] == "team-a" for o in c.get("/v1/operations").json()["items"])
        for query in ("", "?project=team-b", "?project=team-a,team-b", "?cluster=hidden-0000"):
            assert all(e["data"].get("project") == "team-a" for e in c.get("/v1/events" + query).json()["items"]), query
        for id in (hook["id"], every["id"]):
            assert c.get(f"/v1/webhooks/{id}").status_code == 404
            assert c.delete(f"/v1/webhooks/{id}").status_code == 404
        assert c.get("/v1/webhooks").json()["items"] == []
        refused = c.post("/v1/webhooks", json={"url": "https://hooks.example.com/x", "projects": ["team-b"]})
        assert refused.status_code == 422 and refused.json()["errors"][0]["pointer"] == "#/projects/0"
        own = c.post("/v1/webhooks", json={"url": "https://hooks.example.com/x"}).json()
        assert own["projects"] == ["team-a"], "by default: what its maker may see"
    assert d.http.get(f"/v1/webhooks/{hook['id']}").status_code == 200
    events = d.events(project="team-b")
    assert events and all(e["data"]["project"] == "team-b" for e in events)


def test_a_limited_admin_gives_no_more_than_it_has(d):
    with client(d, "admin", ["team-a"]) as c:
        for projects in (["*"], ["team-b"], ["team-a", "team-b"]):
            answer = c.post("/v1/tokens", json={"name": "more", "role": "admin", "projects": projects})
            assert answer.status_code in (403, 422), (projects, answer.text)


def test_a_limited_admin_touches_no_greater_token(d):
    greater = d.http.post("/v1/tokens", json={"name": "greater", "role": "admin", "projects": ["*"]}).json()
    own = d.http.post("/v1/tokens", json={"name": "own", "role": "viewer", "projects": ["team-a"]}).json()
    with client(d, "admin", ["team-a"]) as c:
        assert c.delete("/v1/tokens/" + greater["id"]).status_code == 404
        assert greater["id"] not in {t["id"] for t in c.get("/v1/tokens?limit=1000").json()["items"]}
        assert c.delete("/v1/tokens/" + own["id"]).status_code == 204
    who = web.get(d.url + "/v1/whoami", headers={"Authorization": "Bearer " + greater["token"]})
    assert who.status_code == 200


# ---- connections -------------------------------------------------------------------------------------------------

def test_keep_alive_after_errors(raw, token):
    for _ in range(3):
        for head, status in ((request("GET", "/none"), 404), (request("GET", "/v1/whoami"), 401),
                             (request("DELETE", "/livez"), 405), (request("BREW", "/livez"), 501),
                             (request("GET", "/v1/clusters?x=1", token=token), 400),
                             (request("GET", "/v1/whoami", "Accept: text/html", token=token), 406),
                             (request("POST", "/v1/tokens", "Content-Type: application/json", token=token, body="{}"),
                              422),
                             (request("GET", "/v1/whoami", token=token), 200)):
            raw.send(head)
            answer = raw.read()
            assert answer is not None and answer.status == status, (head, answer)
            assert "close" not in "".join(answer.all("connection")).lower(), (head, answer)


def test_connection_close_is_honoured(raw):
    raw.send(request("GET", "/livez", "Connection: close"))
    assert raw.read().status == 200
    assert raw.is_closed()


def test_6_5_pipelining(raw, token):
    """Answers come in order, although the second request waits for another thread."""
    count = 30
    batch = b""
    for i in range(count):
        batch += request("GET", "/v1/whoami", f"X-Request-Id: pipeline-{i:04}", token=token)
        batch += request("GET", "/v1/events?limit=1", f"X-Request-Id: waiting--{i:04}", token=token)
        batch += request("POST", "/v1/tokens", f"X-Request-Id: refused--{i:04}", "Content-Type: application/json",
                         token=token, body="{}")
    raw.send(batch)
    for i in range(count):
        for prefix, status in (("pipeline", 200), ("waiting-", 200), ("refused-", 422)):
            answer = raw.read()
            assert (answer.status, answer["X-Request-Id"]) == (status, f"{prefix}-{i:04}")


def test_request_in_single_bytes(raw, token):
    for byte in request("POST", "/v1/tokens", "Content-Type: application/json", token=token, body='{"a":1}'):
        raw.send(bytes([byte]))
    assert raw.read().status == 422


def test_chunked_body(raw, token):
    raw.send(request("POST", "/v1/tokens", "Content-Type: application/json", "Transfer-Encoding: chunked", token=token))
    for chunk in ('{"na', 'me":', ' "x"}'):
        raw.send(f"{len(chunk):x}\r\n{chunk}\r\n")
    raw.send("0\r\n\r\n")
    assert raw.read().status == 422
    assert raw.is_closed(), "what libmicrohttpd takes for the end of chunks is not believed: test_smuggling.py"


def test_client_that_leaves_does_no_harm(d, token):
    whole = request("POST", "/v1/tokens", "Content-Type: application/json", token=token, body="{}")
    for i in range(0, len(whole) - 2, 5):  # shootd waits for an incomplete body: test_stop.py
        Raw(d.port).send(whole[:i]).socket.close()
    assert d.http.get("/livez").status_code == 200


def test_ht15_slow_clients_are_ended(slow_clients):
    """HT-15: a header section has ten seconds; a client that began a request gets an answer."""
    header = slow_clients["header"]
    slow_clients["reader"].join(60)
    answer = slow_clients["answer"]
    assert answer is not None and (answer.status, answer.code) == (408, "request_timeout")
    assert 9 < slow_clients["took"] < 40
    assert answer["Connection"] == "close" and answer.json()["request_id"] == answer["X-Request-Id"]
    assert header.is_closed()
    assert slow_clients["silent"].is_closed()


def test_the_timeout_is_a_whole_problem(slow_clients):
    assert slow_clients["answer"].json()["advice"] == "Send the whole request within 30 seconds."
