"""Request smuggling (docs/rules.md, 6.5): bytes that a proxy in front may read differently never begin a request here.

Each form is sent with a second request after it, where a lenient proxy would see a body, or the end of another client's request. There
must never be an answer to that second request.
"""

import re

import pytest

import harness
import web
from raw import Raw, request

SMUGGLED = "GET /v1/whoami HTTP/1.1\r\nHost: x\r\nX-Request-Id: smuggled-one\r\nAuthorization: Bearer {}\r\n\r\n"


@pytest.fixture(scope="module")
def d(tmp_path_factory):
    directory = tmp_path_factory.mktemp("smuggling")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start()
    yield d
    d.stop()
    sim.stop()


@pytest.fixture(scope="module")
def token(d):
    return d.token()


def everything(raw):
    while raw._more():
        pass
    return raw.buffer


def statuses(answers):
    return [int(s) for s in re.findall(rb"(?:^|\n|})HTTP/1\.1 (\d{3}) ", answers)]


def post(*fields, token, method="POST"):
    return (f"{method} /v1/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: application/json\r\n" + "".join(f + "\r\n" for f in fields) + "\r\n")


CHUNKED = "Transfer-Encoding: chunked"
# Bodies that the library takes as complete; the smuggled request follows.
CHUNK_FORMS = {
    "plain": "2\r\n{}\r\n0\r\n\r\n",
    "bare LF in an extension": "2;a\n{}\r\n0\r\n\r\n",
    "bare LF in the last extension": "2\r\n{}\r\n0;a\n\r\n",
    "bare LF behind a size": "2\n{}\r\n0\r\n\r\n",
    "bare LF behind the data": "2\r\n{}\n0\r\n\r\n",
    "bare LF behind the last chunk": "2\r\n{}\r\n0\n\n",
    "bare CR in an extension": "2;a\rb\r\n{}\r\n0\r\n\r\n",
    "quoted line end in an extension": '2;a="\r\n{}\r\n0\r\n\r\n',
    "NUL in an extension": "2;a\0\r\n{}\r\n0\r\n\r\n",
    "0x": "0x2\r\n{}\r\n0\r\n\r\n",
    "plus": "+2\r\n{}\r\n0\r\n\r\n",
    "minus": "-2\r\n{}\r\n0\r\n\r\n",
    "leading zeros": "0000000000000000000002\r\n{}\r\n0\r\n\r\n",
    "overflow": "10000000000000002\r\n{}\r\n0\r\n\r\n",
    "blank behind the size": "2 \r\n{}\r\n0\r\n\r\n",
    "blank before the size": " 2\r\n{}\r\n0\r\n\r\n",
    "empty size": "\r\n{}\r\n0\r\n\r\n",
    "size of words": "2_0\r\n{}\r\n0\r\n\r\n",
    "more data than said": "1\r\n{}\r\n0\r\n\r\n",
    "trailers": "2\r\n{}\r\n0\r\nX-Trailer: a\r\n\r\n",
    "trailer that is framing": "2\r\n{}\r\n0\r\nContent-Length: 60\r\n\r\n",
    "trailer with a bare LF": "2\r\n{}\r\n0\r\nX-Trailer: a\n\n",
    "trailer that begins with NUL": "2\r\n{}\r\n0\r\n\0a\r\n",
    "without an end": "2\r\n{}\r\n0\r\n",
}


@pytest.mark.parametrize("form", CHUNK_FORMS)
def test_ht14_6_5_chunks_end_the_connection(d, token, form):
    with Raw(d.port) as raw:
        raw.send(post(CHUNKED, token=token) + CHUNK_FORMS[form] + SMUGGLED.format(token))
        answers = everything(raw)
    assert b"smuggled-one" not in answers, answers
    assert b'"role"' not in answers and set(statuses(answers)) <= {400, 413, 422}, answers
    assert answers, "an answer, not silence"


def test_6_5_chunked_bodies_work_and_say_that_they_end_the_connection(d, token):
    """curl -T - and Go clients send bodies of unknown length in this form."""
    def body():
        yield b'{"name": "made-of-chunks",'
        yield b' "role": "viewer", "projects": ["*"]}'

    with web.Client(base_url=d.url, timeout=60, headers={"Authorization": f"Bearer {token}"}) as client:
        for _ in range(2):  # the client opens a new connection by itself
            answer = client.post("/v1/tokens", content=body(), headers={"Content-Type": "application/json"})
            assert answer.status_code == 201 and answer.headers["Connection"] == "close", answer.text
            assert answer.request.headers["Transfer-Encoding"] == "chunked"
            client.delete("/v1/tokens/" + answer.json()["id"])


def test_6_5_known_lengths_keep_the_connection(d, token):
    with Raw(d.port) as raw:
        for _ in range(3):
            raw.send(request("POST", "/v1/tokens", "Content-Type: application/json", token=token, body="{}"))
            answer = raw.read()
            assert answer.status == 422 and "Connection" not in answer


# Header sections that other programs end or count differently. Each line is sent in the middle and as the last one.
LINES = {
    "NUL ends a length": "Content-Length: 0\0{n}",
    "NUL ends a longer length": "Content-Length: 00\0{n}",
    "NUL begins a length": "Content-Length: \0{n}",
    "NUL in any field": "X-A: a\0b",
    "NUL in an empty field": "X-A:\0",
    "NUL in a name": "X-\0A: b",
    "NUL in place of a line": "\0",
    "NUL begins a line": "\0X-A: b",
    "bare LF ends a line": "X-A: b\nX-B: c",
    "bare LF hides a length": "X-A: b\nContent-Length: 0",
    "bare LF hides a coding": "X-A: b\nTransfer-Encoding: chunked",
    "bare LF, bare LF": "X-A: b\n\nX-B: c",
    "bare CR": "X-A: b\rX-B: c",
    "bare CR hides a length": "X-A: b\rContent-Length: {n}",
    "bare CR, bare CR": "X-A: b\r\rX-B: c",
    "CR CR LF": "X-A: b\r",
    "folded line": "X-A: b\r\n c",
    "folded line with a tab": "X-A: b\r\n\tc",
    "folded length": "Content-Length:\r\n {n}",
    "folded coding": "Transfer-Encoding:\r\n chunked",
    "folded line of blanks": "X-A: b\r\n \t ",
    "first line folded": " X-A: b",
    "coding behind a vertical tab": "Transfer-Encoding: \x0bchunked",
    "coding behind a blank name": "Transfer-Encoding : chunked",
    "coding with a blank behind": "Transfer-Encoding: chunked ",
    "coding in quotes": 'Transfer-Encoding: "chunked"',
    "coding with a parameter": "Transfer-Encoding: chunked;a=b",
    "coding after another": "Transfer-Encoding: identity, chunked",
    "coding twice in one": "Transfer-Encoding: chunked, chunked",
    "no coding": "Transfer-Encoding:",
    "identity": "Transfer-Encoding: identity",
    "length with a sign": "Content-Length: +{n}",
    "length in hexadecimal": "Content-Length: 0x{n}",
    "length with a blank name": "Content-Length : {n}",
    "length with a blank behind": "Content-Length: 0 ",
    "list of lengths": "Content-Length: 0, 0",
    "two lengths": "Content-Length: 0\r\nContent-Length: {n}",
    "length that is empty": "Content-Length:",
    "length that overflows": "Content-Length: 18446744073709551616",
    "length and coding": "Content-Length: {n}\r\nTransfer-Encoding: chunked",
    "no colon": "X-A",
    "no name": ": b",
}


@pytest.mark.parametrize("place", ["middle", "last"])
@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("form", LINES)
def test_ht14_6_5_unclean_lines(d, token, form, method, place):
    smuggled = SMUGGLED.format(token)
    line = LINES[form].format(n=len(smuggled))
    lines = [line, "X-Last: 1"] if place == "middle" else [line]
    with Raw(d.port) as raw:
        raw.send(post(*lines, token=token, method=method) + smuggled)
        raw.socket.settimeout(30)
        answers = everything(raw)
    assert b"smuggled-one" not in answers, answers
    assert b'"role"' not in answers and set(statuses(answers)) <= {400, 413, 501}, answers
    assert answers, "an answer, not silence"


@pytest.mark.parametrize("head", [
    "GET /livez HTTP/1.1\nHost: x\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: x\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: x\r\n\n", "GET /livez HTTP/1.1\nHost: x\n\n", "GET  /livez HTTP/1.1\r\nHost: x\n\n",
    "GET /livez HTTP/1.0\n\n", "GET /livez?a=b&c HTTP/1.1\nHost: x\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: x\r\n\0a\r\n",
])
def test_6_5_bare_line_feeds(d, head):
    with Raw(d.port) as raw:
        raw.send(head + SMUGGLED)
        answer = raw.read()
        assert answer.status == 400 and answer.code == "malformed_request", answer
        assert raw.is_closed()


@pytest.mark.parametrize("head", [
    "GET /livez HTTP/1.0\r\n\r\n", "GET /livez HTTP/1.1\r\nHost:x\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: x\r\nX-A:\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: x\r\nX-A:   b   \r\n\r\n", "GET /livez HTTP/1.1\r\nX-A: \t b\t\r\nHost: x\r\n\r\n",
    "\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: x\r\nCookie: a=b; c\r\nCookie: d\r\n\r\n",
    "GET /livez HTTP/1.1\r\nHost: x\r\nCookie:\r\n\r\n",
])
def test_6_5_clean_lines_are_taken_in_pieces_and_behind_each_other(d, head):
    expected = 400 if "?" in head else 200
    with Raw(d.port) as raw:
        for byte in head.encode():
            raw.send(bytes([byte]))
        assert raw.read().status == expected
    if "1.0" in head:
        return
    with Raw(d.port) as raw:
        raw.send(head * 50)
        for _ in range(50):
            assert raw.read().status == expected


def test_ht13_mh8_the_librarys_memory(d):
    """A request that would fill the library's memory gets our answer at once; cookies are not parsed."""
    for target, status in (("/livez?" + "&".join(f"a{i}=1" for i in range(129)), 400),
                           ("/livez?" + "&".join(f"a{i}=1" for i in range(700)), 400),
                           ("/livez?" + "&" * 4000, 400), ("/livez?" + "a" * 8000, 400), ("/" + "b" * 9000, 414)):
        with Raw(d.port) as raw:
            raw.send(request("GET", target) + SMUGGLED.encode())
            answer = raw.read()
            assert answer.status == status and answer["Content-Type"] == "application/problem+json", target[:20]
            assert answer["X-Request-Id"] == answer.json()["request_id"]
            if status == 414 or "&" in target:
                assert answer["Connection"] == "close" and raw.is_closed()
    for count, status in ((800, 200), (3000, 431)):
        with Raw(d.port) as raw:
            raw.send(request("GET", "/livez", "Cookie: " + "; ".join(f"a{i}=1" for i in range(count))))
            assert raw.read().status == status, count
    for fields, status in ((64, 431), (1000, 431)):
        with Raw(d.port) as raw:
            raw.send(request("GET", "/livez", *[f"a{i}: 1" for i in range(fields)]))
            assert raw.read().status == status, fields
