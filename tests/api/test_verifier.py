"""JWTs are verified on a separate thread: their requests wait for it, and no other request does."""

import collections
import contextlib
import os
import pathlib
import re
import secrets
import subprocess
import sys
import threading
import time

import pytest

import harness
import issuers
import web
from harness import wait_until
from issuers import base64url, number
from raw import Raw, request

OF_AN_ADDRESS = 256  # as many JWTs of one address may wait
WHOAMI = "/v1/whoami"


class HeavyKey:
    """An RSA key of the largest size and exponent. Nobody has the private key, so its signatures are wrong, and the check takes long."""
    kid, alg = "heavy", "RS256"

    def __init__(self):
        self.n = secrets.randbits(8192) | 1 << 8191 | 1

    def public(self):
        return {"use": "sig", "alg": self.alg, "kid": self.kid, "kty": "RSA", "n": number(self.n), "e": base64url(b"\xff\xff\xff\xff")}

    def sign(self, _):
        return b"\0" + secrets.token_bytes(1023)


@pytest.fixture
def issuer():
    with issuers.running() as one:
        one.keys.append(HeavyKey())
        yield one


def begin(make_sim, make_shootd, issuer, limits="", failures=1000000):
    """A daemon with one HTTP thread: a check on that thread would delay all requests."""
    extra = f"limits: {{http_threads: 1, auth_failures_per_minute: {failures}{limits}}}\n"
    d = make_shootd(make_sim().url, extra=issuers.configuration(issuer.url) + extra).start()
    wait_until(lambda: metric(d, "shootd_oidc_keys") == 3, what="the keys of the issuer")
    return d


@pytest.fixture
def d(make_sim, make_shootd, issuer):
    return begin(make_sim, make_shootd, issuer)


def metric(d, line):
    return float(re.search(rf"^{re.escape(line)} (\S+)$", d.http.get("/metrics").text, re.M)[1])


def waiting(d):
    return metric(d, "shootd_oidc_tokens_waiting")


@contextlib.contextmanager
def held_up(d):
    """The verifier shares a processor with a program that uses all of it, and so checks one signature in some 50 ms."""
    task = next(int(p.parent.name) for p in pathlib.Path(f"/proc/{d.process.pid}/task").glob("*/comm") if p.read_text() == "verifier\n")
    processors = os.sched_getaffinity(0)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        os.sched_setaffinity(busy.pid, {max(processors)})
        before = os.getpriority(os.PRIO_PROCESS, task)
        os.setpriority(os.PRIO_PROCESS, task, 19)
        os.sched_setaffinity(task, {max(processors)})
        try:
            yield
        finally:
            busy.kill()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.sched_setaffinity(task, processors)
                os.setpriority(os.PRIO_PROCESS, task, before)  # with a low one it waits for as long as the machine is busy


def dial(d, source=None):
    return Raw(d.port, timeout=120, source=source)


def flood(d, issuer, count, source=None):
    """Connections, each of which has sent a wrong JWT."""
    header, claims, _ = issuer.token(issuer.keys[-1]).split(".")
    raws = [dial(d, source) for _ in range(count)]
    for raw in raws:
        raw.send(request("GET", WHOAMI, token=f"{header}.{claims}.{base64url(issuer.keys[-1].sign(None))}"))
    return raws


def statuses(raws):
    """Reads an answer of each, and closes."""
    counts = collections.Counter()
    for raw in raws:
        with raw:
            answer = raw.read()
            counts[answer and answer.status] += 1
    return counts


def asked(raw, token, *fields, method="GET", path=WHOAMI, body=None):
    return raw.send(request(method, path, *fields, token=token, body=body))


# ---- nobody else waits -------------------------------------------------------------------------------------------


def test_others_do_not_wait_for_signatures(d, issuer):
    known, new = issuer.token(), issuer.token(issuer.keys[1], sub="bob")
    with dial(d) as own, dial(d) as remembered, dial(d) as late:
        assert asked(remembered, known).read().status == 200
        with held_up(d):
            raws = flood(d, issuer, 200)
            wait_until(lambda: waiting(d) >= 150, what="the flood")
            for _ in range(20):
                assert asked(own, d.token()).read().status == 200
                assert asked(remembered, known).read().json()["name"] == "oidc:alice"
            assert asked(own, "shd_0123456789ABCDEFGHIJabcdefghijkl1ZpOpl").read().status == 401
            assert asked(own, issuer.token() + ".x").read().status == 401, "what has no form is refused at once"
            asked(late, new)
            assert waiting(d) > 50, "all of them were answered before most of the flood"
            assert d.parked() == 0, "who waits for an operation has a limit of their own"
        assert late.read().json()["name"] == "oidc:bob", "it had its turn"
    assert statuses(raws) == {401: 200}
    wait_until(lambda: waiting(d) == 0, what="the end of the flood")
    assert metric(d, 'shootd_oidc_tokens_total{result="signature"}') == 200
    assert metric(d, "shootd_oidc_tokens_turned_away_total") == 0


def test_a_jwt_that_many_show_at_once_is_verified_once(d, issuer):
    token = issuer.token()
    raws = [dial(d) for _ in range(50)]
    with held_up(d):
        more = flood(d, issuer, 20)
        wait_until(lambda: waiting(d), what="the flood")
        for raw in raws:
            asked(raw, token)
    assert statuses(raws) == {200: 50} and statuses(more) == {401: 20}
    assert metric(d, 'shootd_oidc_tokens_total{result="ok"}') == 1


# ---- limits ------------------------------------------------------------------------------------------------------


def test_an_address_has_a_part_of_the_queue(d, issuer):
    known, new = issuer.token(), issuer.token(sub="bob")
    with dial(d) as near, dial(d, "127.0.0.2") as far:
        assert asked(near, known).read().status == 200
        wait_until(lambda: waiting(d) == 0, what="its place")  # the answer may be there before its place is free
        with held_up(d):
            raws = flood(d, issuer, OF_AN_ADDRESS + 60)
            wait_until(lambda: metric(d, "shootd_oidc_tokens_turned_away_total") >= 1, what="the limit")
            wait_until(lambda: metric(d, "shootd_oidc_tokens_turned_away_total") + metric(d, 'shootd_oidc_tokens_total{result="signature"}') + waiting(d)
                       >= len(raws), what="the whole flood")
            assert asked(near, d.token()).read().status == 200 and asked(near, known).read().status == 200
            asked(far, new)
        assert far.read().json()["name"] == "oidc:bob", "another address has its own"
        turned_away = 0
        for raw in raws:
            with raw:
                answer = raw.read()
                assert answer.status in (401, 429)
                if answer.status == 429:
                    turned_away += 1
                    assert answer.code == "too_many_requests" and 1 <= int(answer["Retry-After"]) <= 3, answer
                    assert "too many jwts wait" in answer.json()["detail"].lower() and "WWW-Authenticate" not in answer
        assert turned_away == metric(d, "shootd_oidc_tokens_turned_away_total") > 0
        assert len(raws) - turned_away >= OF_AN_ADDRESS
        wait_until(lambda: waiting(d) == 0, what="places")
        assert asked(near, issuer.token(sub="carol")).read().status == 200, "who repeats has their turn"


def test_wrong_signatures_of_six_addresses_lock_out_nobody(make_sim, make_shootd, issuer):
    """An address has as many checks as it may send wrong credentials, and then few and slow ones. The addresses take turns."""
    limit, each, few, gap = 60, 180, 4, 0.01
    d = begin(make_sim, make_shootd, issuer, failures=limit)
    sources = [f"127.0.0.{n}" for n in range(2, 8)]
    checked, turned_away = 'shootd_oidc_tokens_total{result="signature"}', "shootd_oidc_tokens_turned_away_total"
    began = time.monotonic()
    with held_up(d):
        raws = [raw for source in sources for raw in flood(d, issuer, each, source)]
        wait_until(lambda: metric(d, turned_away) + metric(d, checked) + waiting(d) >= len(raws), what="the whole flood")
        assert waiting(d) <= len(sources) * (limit + few)
        with dial(d, "127.0.0.8") as raw:
            assert asked(raw, issuer.token(issuer.keys[1], sub="in time")).read().status == 200
        assert waiting(d) > limit, "its turn came before most of the flood"
        # The flood may take longer than the server waits for the first request of a connection.
        users = [asked(dial(d, "127.0.0.8"), issuer.token(issuer.keys[1], sub=f"user{n}")) for n in range(10)]
    assert statuses(users) == {200: len(users)}
    assert set(statuses(raws)) == {401, 429}
    seconds = time.monotonic() - began
    assert metric(d, checked) <= len(sources) * (limit * (1 + seconds / 60) + few) + seconds / gap
    with dial(d, sources[0]) as raw:  # it may be the address of a proxy
        assert asked(raw, issuer.token(issuer.keys[1], sub="behind the same address")).read().status == 200


# ---- what else a request may bring ---------------------------------------------------------------------------------


def test_the_body_comes_after_the_verdict(d, issuer):
    """The server does not request the body before the check, but the body may arrive before it."""
    admin, body = issuer.token(groups=["admins"]), '{"name": "mine", "role": "viewer", "projects": ["*"]}'
    fields = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    with dial(d) as patient, dial(d) as hasty, dial(d) as chunked, dial(d) as wrong, dial(d) as head, dial(d) as two:
        with held_up(d):
            raws = flood(d, issuer, 20)
            wait_until(lambda: waiting(d), what="the flood")
            asked(patient, admin, *fields, "Expect: 100-continue", method="POST", path="/v1/tokens")
            asked(hasty, issuer.token(groups=["admins"], jti="2"), "Content-Type: application/json", method="POST", path="/v1/tokens", body=body)
            asked(chunked, issuer.token(groups=["admins"], jti="3"), fields[0], "Transfer-Encoding: chunked", method="POST", path="/v1/tokens")
            chunked.send(f"{len(body):x}\r\n{body}\r\n0\r\n\r\n")
            asked(wrong, issuer.token(issuer.keys[-1]), *fields, "Expect: 100-continue", method="POST", path="/v1/tokens")
            asked(head, issuer.token(jti="4"), method="HEAD")
            two.send(request("GET", WHOAMI, token=issuer.token(sub="bob")) + request("GET", "/v1/projects", token=d.token()))
        assert patient.read().status == 100
        assert patient.send(body).read().status == 201
        assert hasty.read().status == 201 and chunked.read().status == 201
        assert asked(hasty, d.token()).read().status == 200, "the connection goes on"
        refused = wrong.read()
        assert (refused.status, refused.code) == (401, "invalid_token") and wrong.is_closed()
        assert head.read(head=True).status == 200
        assert two.read().json()["name"] == "oidc:bob" and two.read().json()["items"]
    assert statuses(raws) == {401: 20}


def test_the_rules_of_the_verdict_count(d, issuer):
    """Issuers are replaced while JWTs wait: no JWT is refused for that reason."""
    before = d.config.read_text()
    other = before.replace('"contains": "platform", "role": "operator"', '"contains": "platform", "role": "viewer"')
    assert other != before
    with dial(d) as raw:
        with held_up(d):
            raws = flood(d, issuer, 20)
            wait_until(lambda: waiting(d), what="the flood")
            asked(raw, issuer.token())
            wait_until(lambda: waiting(d) + metric(d, 'shootd_oidc_tokens_total{result="signature"}') >= 21, what="the request")
            assert d.reload(other)["changed"] == ["oidc.issuers"]
        assert raw.read().json()["role"] == "viewer"
    assert statuses(raws) == {401: 20}


def test_a_body_under_other_rules_waits_once_more(d, issuer):
    """The caller is checked again after the body of the request: the JWT is verified under the rules of that time, and other requests do not wait."""
    body = '{"name": "mine", "role": "viewer", "projects": ["*"]}'
    fields = ("Content-Type: application/json", f"Content-Length: {len(body)}", "Expect: 100-continue")
    before = d.config.read_text()
    with dial(d) as good, dial(d) as narrowed, dial(d) as own:
        for raw, group in ((good, "admins"), (narrowed, "platform")):
            asked(raw, issuer.token(groups=["admins", group]), *fields, method="POST", path="/v1/tokens")
            assert raw.read().status == 100
        d.reload(before.replace('{"claim": "groups", "contains": "admins"', '{"claim": "groups", "contains": "platform", "role": "viewer", "projects": ["*"]}, '
                                '{"claim": "groups", "contains": "admins"'))
        with held_up(d):
            raws = flood(d, issuer, 20)
            wait_until(lambda: waiting(d), what="the flood")
            good.send(body)
            narrowed.send(body)
            wait_until(lambda: waiting(d) + metric(d, 'shootd_oidc_tokens_total{result="signature"}') >= 22, what="the bodies")
            assert asked(own, d.token()).read().status == 200
        assert good.read().status == 201
        refused = narrowed.read()
        assert (refused.status, refused.code) == (403, "forbidden")
    assert statuses(raws) == {401: 20}


# ---- who leaves, and the end ---------------------------------------------------------------------------------------


def test_a_client_that_hangs_up_while_it_waits(d, issuer):
    with held_up(d):
        raws = flood(d, issuer, 40)
        wait_until(lambda: waiting(d) >= 30, what="the flood")
        for raw in raws[::2]:
            raw.socket.close()
    assert statuses(raws[1::2]) == {401: 20}
    wait_until(lambda: metric(d, "shootd_http_requests_in_flight") == 1 and waiting(d) == 0, what="their end")
    assert ask(d, issuer.token()).status_code == 200


def ask(d, token):
    return web.get(d.url + WHOAMI, headers={"Authorization": f"Bearer {token}"}, timeout=90)


def test_a_stop_answers_those_that_wait(d, issuer):
    with dial(d) as raw, dial(d) as other:
        with held_up(d):
            raws = flood(d, issuer, 40)
            asked(raw, issuer.token())
            wait_until(lambda: waiting(d) >= 30, what="the flood")
            d.process.popen.terminate()
            # The log says earlier that the daemon stops; until here an answer may leave its connection open.
            wait_until(lambda: other.send(request("GET", "/readyz")).read().status == 503, what="the stop")
        answer = raw.read()
        assert answer.status == 200 and answer["Connection"] == "close"
    assert statuses(raws) == {401: 40}
    assert d.process.popen.wait(60) == 0
    assert "aborted at the drain limit" not in d.log()


def test_a_stop_does_not_wait_for_ever(make_sim, make_shootd, issuer):
    """Requests whose JWT was not verified yet are answered at the drain limit, or closed, and nothing remains of them."""
    d = begin(make_sim, make_shootd, issuer, ", drain: 1s")
    with held_up(d):
        raws = flood(d, issuer, 200)
        wait_until(lambda: waiting(d) >= 150, what="the flood")
        began = time.monotonic()
        d.process.popen.terminate()
        assert d.process.popen.wait(60) == 0
        assert time.monotonic() - began < 15 * harness.PATIENCE
    counts = statuses(raws)
    assert set(counts) <= {401, 503, None} and counts[503] + counts[None] > 50, counts
    assert "requests aborted: the time of limits.drain is over" in d.log()
    d.start()
    assert ask(d, issuer.token()).status_code == 200


def test_requests_go_on_while_jwts_come_and_go(d, issuer):
    """Valid and wrong, new and cached JWTs from several clients: each request gets the right answer."""
    wrong, over, faults = issuer.token(issuer.keys[-1]), time.monotonic() + 1.5, []

    def go_on(me):
        with web.Client(base_url=d.url, timeout=90) as client:
            number_of = 0
            while time.monotonic() < over:
                number_of += 1
                for token, name in ((issuer.token(issuer.keys[1], sub=me, jti=str(number_of)), f"oidc:{me}"), (wrong, None)) * 2:
                    answer = client.get(WHOAMI, headers={"Authorization": f"Bearer {token}"})
                    if (answer.status_code, answer.json().get("name")) != ((200, name) if name else (401, None)):
                        faults.append((token, answer.status_code, answer.text))

    threads = [threading.Thread(target=go_on, args=(f"s{n}",)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not faults and metric(d, 'shootd_oidc_tokens_total{result="ok"}') > 6
