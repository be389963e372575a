"""Single sign-on: JWTs of issuers as bearer tokens. One issuer is the test's own (issuers.py), one is a real provider."""

import hashlib
import hmac
import itertools
import json
import re
import shutil
import subprocess
import threading
import time

import pytest

import harness
import issuers
import web
from harness import PROJECT_ID, ROOT, wait_until
from issuers import Issuer, Key, base64url, configuration
from raw import Raw, request

OTHER = "ffeeddccbbaa99887766554433221100"


@pytest.fixture
def issuer():
    with issuers.running() as one:
        yield one


@pytest.fixture
def d(make_sim, make_shootd, issuer):
    sim = make_sim(project=[PROJECT_ID, OTHER])
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Sto2", OTHER)],
                    extra=configuration(issuer.url)).start().wait_upstream()
    wait_keys(d)
    return d


def metric(d, line):
    return float(re.search(rf"^{re.escape(line)} (\S+)$", d.http.get("/metrics").text, re.M)[1])


def wait_keys(d, count=2):
    wait_until(lambda: metric(d, "shootd_oidc_keys") == count, what="the keys of the issuer")


def ask(d, token, path="/v1/whoami", method="GET", **more):
    headers = {"Authorization": f"Bearer {token}", **more.pop("headers", {})}
    return web.request(method, d.url + path, headers=headers, timeout=90, **more)


# ---- identities --------------------------------------------------------------------------------------------------


def test_a_jwt_is_a_token(d, issuer):
    end = int(time.time()) + 300
    for key in issuer.keys:
        answer = ask(d, issuer.token(key, exp=end))
        assert answer.status_code == 200
        told = answer.json()
        digest = hashlib.sha256(f"oidc\n{issuer.url}\nalice".encode()).hexdigest()
        assert told == {"id": "oidc_" + digest[:32], "name": "oidc:alice", "role": "operator", "projects": ["team-a"],
                        "expires_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end)), "issuer": issuer.url, "subject": "alice"}
    assert ask(d, issuer.token(sub="bob")).json()["id"] != told["id"]
    large = issuer.token(groups=["platform"] + [f"group-{i:04}" for i in range(400)])
    assert 7000 < len(large) < 8192 and ask(d, large).json()["role"] == "operator"
    own = d.http.get("/v1/whoami").json()
    assert own["issuer"] is None and own["subject"] is None


def test_tokens_of_real_issuers(make_sim, make_shootd, issuer):
    """The keys have only the type of RFC 7517, and a modulus with a sign; access tokens have members of ID tokens; `scp` has several words."""
    issuer.keys[0].zeros = 1
    issuer.offers = {"/jwks": "application/jwk-set+json"}
    rules = [{"claim": "scp", "contains": "clusters", "role": "operator", "projects": ["team-a"]}]
    d = make_shootd(make_sim().url, extra=configuration(issuer.url, rules)).start()
    wait_keys(d)
    for members in ({"nonce": "n", "at_hash": "h"}, {"typ": "Bearer", "nonce": "n"}):
        answer = ask(d, issuer.token(header={"typ": "JWT"}, scp="openid clusters", groups=None, **members))
        assert (answer.status_code, answer.json().get("role")) == (200, "operator"), answer.text


def test_rights_of_a_jwt(d, issuer):
    admin, operator, reader = (issuer.token(groups=[g], sub=g) for g in ("admins", "platform", "readers"))
    cluster = "/v1/projects/{}/clusters/web"
    body = {"spec": {}}
    assert ask(d, reader, cluster.format("team-a"), "PUT", json=body).status_code == 403
    assert ask(d, operator, cluster.format("team-b"), "PUT", json=body).status_code == 404
    assert ask(d, operator, "/v1/projects/team-b").status_code == 404
    made = ask(d, operator, cluster.format("team-a"), "PUT", json=body)
    assert made.status_code in (201, 202), made.text
    assert [p["name"] for p in ask(d, reader, "/v1/projects").json()["items"]] == ["team-a"]
    # nobody can grant more than they have
    wanted = {"name": "mine", "role": "admin", "projects": ["*"]}
    assert ask(d, operator, "/v1/tokens", "POST", json=wanted).status_code == 403
    given = ask(d, admin, "/v1/tokens", "POST", json=wanted)
    assert given.status_code == 201 and given.json()["created_by"] == "oidc:admins"
    assert ask(d, given.json()["token"]).json()["name"] == "mine"


def test_whom_no_rule_fits_may_nothing(d, issuer):
    token = issuer.token(groups=["others"], sub="eve")
    for path in ("/v1/whoami", "/v1/clusters", "/v1/projects/team-a"):
        answer = ask(d, token, path)
        assert answer.status_code == 403 and "No rule" in answer.json()["detail"]
    assert metric(d, 'shootd_oidc_tokens_total{result="no_rule"}') == 1  # the result of the check is cached
    entry = wait_until(lambda: d.http.get("/v1/audit", params={"outcome": "denied"}).json()["items"], what="the entry")[0]
    assert (entry["issuer"], entry["subject"]) == (issuer.url, "eve")


def test_the_audit_log_tells_who(d, issuer):
    token = issuer.token()
    made = ask(d, token, "/v1/projects/team-a/clusters/web", "PUT", json={"spec": {}})
    assert made.status_code in (201, 202)
    entry = d.http.get("/v1/audit", params={"action": "putCluster"}).json()["items"][0]
    who = ask(d, token).json()
    assert entry["token_id"] == who["id"] and entry["token_name"] == "oidc:alice"
    assert (entry["issuer"], entry["subject"], entry["outcome"]) == (issuer.url, "alice", "success")
    assert [e["sequence"] for e in d.http.get("/v1/audit", params={"token": who["id"]}).json()["items"]] == [entry["sequence"]]
    d.http.post("/v1/webhooks", json={"url": "http://127.0.0.1:9/", "event_types": ["*"]})
    own = d.http.get("/v1/audit", params={"action": "createWebhook"}).json()["items"][0]
    assert own["issuer"] is None and own["subject"] is None
    wait_until(lambda: who["id"] in d.log(), what="the access line")
    assert token not in d.log() and token.split(".")[2] not in d.log()


def test_idempotency_keys_are_those_of_the_subject(d, issuer):
    def create(token):
        return ask(d, token, "/v1/webhooks", "POST", json={"url": "http://127.0.0.1:9/", "event_types": ["*"]}, headers={"Idempotency-Key": "make-one-webhook-0001"})
    first = create(issuer.token())
    assert first.status_code == 201, first.text
    assert first.json()["created_by"] == "oidc:alice" and first.json()["created_by_token_id"].startswith("oidc_")
    assert create(issuer.token(issuer.keys[1], jti="another")).json()["id"] == first.json()["id"]
    assert create(issuer.token(sub="bob")).json()["id"] != first.json()["id"]


def test_requests_are_counted_by_subject(make_sim, make_shootd, issuer):
    d = make_shootd(make_sim().url, extra=configuration(issuer.url) + "limits: {requests_per_minute: 20}\n").start()
    wait_keys(d)
    statuses = [ask(d, issuer.token(jti=str(i))).status_code for i in range(25)]
    assert statuses[:20] == [200] * 20 and 429 in statuses[20:]
    assert ask(d, issuer.token(sub="bob")).status_code == 200 and d.http.get("/v1/whoami").status_code == 200


def test_kubeconfigs_are_kept_for_who_asked(d, issuer):
    d.create("web")
    d.wait_phase("web", "ready")
    path = "/v1/projects/team-a/clusters/web/kubeconfig"
    first = ask(d, issuer.token(), path).json()
    again = ask(d, issuer.token(jti="another"), path).json()
    assert (first["cached"], again["cached"]) == (False, True) and again["kubeconfig"] == first["kubeconfig"]
    assert ask(d, issuer.token(sub="bob"), path).json()["cached"] is False


# ---- requests in progress ------------------------------------------------------------------------------------------


def begun(d, token, method, path, body):
    """Sends the head of a request, which shootd checks; returns the connection and the body."""
    raw = Raw(d.port)
    raw.send(request(method, path, "Content-Type: application/json", f"Content-Length: {len(body)}", "Expect: 100-continue", token=token))
    assert raw.read().status == 100
    return raw, body


def ended(raw, body):
    with raw:
        answer = raw.send(body).read()
        return answer.status, answer.code if answer.status >= 400 else None


def test_other_rules_count_for_requests_under_way(d, issuer):
    """The new rules apply as they would to a request that begins now."""
    token = issuer.token(groups=["admins"])
    wide = json.dumps({"name": "mine", "role": "admin", "projects": ["*"]})
    before = d.config.read_text()
    late = [begun(d, token, "POST", "/v1/tokens", wide) for _ in range(3)]
    assert ended(*late[0]) == (201, None)
    assert d.reload(before.replace('"contains": "admins", "role": "admin"', '"contains": "admins", "role": "viewer"'))["changed"] == ["oidc.issuers"]
    assert ended(*late[1]) == (403, "forbidden")
    d.reload(re.sub(r"^oidc: .*\n", "", before, flags=re.M))
    assert ended(*late[2]) == (401, "invalid_token")
    wait_until(lambda: len(refusals(d)) == 2, what="the refusals")
    assert refusals(d) == [(401, "invalid_token"), (403, "forbidden")]


def refusals(d):
    return [(e["status"], e["code"]) for e in d.http.get("/v1/audit", params={"action": "createToken", "outcome": "denied"}).json()["items"]]


def test_a_request_ends_with_its_jwt(d, issuer):
    now = int(time.time())
    late = begun(d, issuer.token(exp=now - 58, iat=now - 100), "PUT", "/v1/projects/team-a/clusters/web", '{"spec": {}}')
    wait_until(lambda: time.time() > now + 2, what="the end of the JWT and of its leeway")
    assert ended(*late) == (401, "invalid_token") and d.cluster("web").status_code == 404


# ---- streams -----------------------------------------------------------------------------------------------------


def follow(d, token):
    return web.stream("GET", d.url + "/v1/events", headers={"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}, timeout=60)


def test_a_stream_ends_with_its_jwt(d, issuer):
    now = int(time.time())
    with follow(d, issuer.token(exp=now - 57, iat=now - 100)) as answer:
        assert answer.status_code == 200
        began = time.monotonic()
        answer.read()
        assert time.monotonic() - began < 30 * harness.PATIENCE
    wait_until(lambda: metric(d, 'shootd_sse_streams_ended_total{end="token"}') == 1, what="its end")


def test_a_ticket_stands_for_the_jwt(d, issuer):
    token = issuer.token(groups=["readers"])
    ticket = ask(d, token, "/v1/stream-tickets", "POST").json()["ticket"]
    url = f"{d.url}/v1/events?ticket={ticket}"
    with web.stream("GET", url, headers={"Accept": "text/event-stream"}, timeout=30) as answer:
        assert answer.status_code == 200
        assert next(answer.iter_lines()).startswith("retry:")
    assert web.get(url, headers={"Accept": "text/event-stream"}).status_code == 401
    # the path has no project; the ticket's rights end with the configuration
    ticket = ask(d, token, "/v1/stream-tickets", "POST").json()["ticket"]
    d.config.write_text(re.sub(r"^oidc: .*\n", "", d.config.read_text(), flags=re.M))
    assert d.http.post("/v1/reload").status_code == 200
    assert web.get(f"{d.url}/v1/events?ticket={ticket}", headers={"Accept": "text/event-stream"}).status_code == 401


# ---- hostile tokens ----------------------------------------------------------------------------------------------


def hostile(issuer):
    """Pairs (reason, token)."""
    key, now = issuer.keys[0], int(time.time())
    good = issuer.token()
    header, claims, signature = good.split(".")
    stranger = Key("one")
    jwk = key.public()
    pem = key.private.public_key().public_bytes(*pem_format())

    def by_secret(secret, alg="HS256"):
        text = f"{base64url({'alg': alg, 'kid': 'one'})}.{claims}"
        return f"{text}.{base64url(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"

    yield "malformed", f"{base64url({'alg': 'none'})}.{claims}."
    yield "algorithm", f"{base64url({'alg': 'none'})}.{claims}.{signature}"
    yield "algorithm", by_secret(pem)
    yield "algorithm", by_secret(json.dumps(jwk).encode())
    yield "signature", by_secret(pem, "RS256")
    yield "signature", issuer.token(stranger)
    yield "signature", issuer.token(stranger, header={"jwk": stranger.public(), "jku": "http://127.0.0.1:1/jwks"})
    yield "signature", f"{header}.{base64url(issuer.claims(sub='root'))}.{signature}"
    yield "key_unknown", issuer.token(header={"kid": "two"})  # a key of another type
    yield "key_unknown", issuer.token(header={"kid": "../../../../dev/null"})
    yield "key_unknown", issuer.token(header={"kid": "' OR 1=1 --"})
    yield "type", issuer.token(header={"kid": ["one"]})
    yield "type", issuer.token(header={"crit": ["exp"]})
    yield "type", issuer.token(header={"typ": "logout+jwt"})
    yield "malformed", Issuer.sign(key, {"alg": "RS256", "kid": "one", "cty": "JWT"}, good)  # nested token
    yield "malformed", issuer.token(filler="x" * 7000)  # very large token
    yield "malformed", f"{header}.{claims}.{signature}.{signature}"
    yield "malformed", f"{header}.{claims}.{signature}="
    yield "malformed", ".".join([header, base64url(json.dumps(issuer.claims())[:-1].encode() + b', "sub": "root"}'), signature])
    yield "issuer", issuer.token(iss="http://127.0.0.1:1")
    yield "issuer", issuer.token(iss=issuer.url + "/")
    yield "audience", issuer.token(aud="another")
    yield "audience", issuer.token(aud=None)
    yield "audience", issuer.token(aud=["another", "Shootd"])
    yield "expired", issuer.token(exp=now - 61, iat=now - 100)
    yield "not_yet", issuer.token(nbf=now + 120)
    yield "not_yet", issuer.token(iat=now + 120)
    yield "lifetime", issuer.token(exp=now + 2 * 86400)
    yield "claims", issuer.token(exp=None)
    yield "claims", issuer.token(sub=None)
    yield "claims", issuer.token(sub="a\nb")
    yield "id_token", issuer.token(typ="ID")
    yield "id_token", issuer.token(header={"typ": "JWT"}, c_hash="n")


def pem_format():
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    return Encoding.PEM, PublicFormat.SubjectPublicKeyInfo


def test_hostile_tokens_are_told_nothing(d, issuer):
    """The answer is the same as for any unknown token; the reason is counted and logged."""
    usual = ask(d, "shd_0123456789ABCDEFGHIJabcdefghijkl1ZpOpl")
    assert usual.status_code == 401
    by_credentials = 'shootd_auth_failures_total{reason="jwt"}'
    for reason, token in hostile(issuer):
        line = f'shootd_oidc_tokens_total{{result="{reason}"}}'
        before, failures = metric(d, line), metric(d, by_credentials)
        answer = ask(d, token)
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, usual.headers["WWW-Authenticate"]), (reason, token)
        assert {**answer.json(), "request_id": "", "instance": ""} == {**usual.json(), "request_id": "", "instance": ""}
        assert (metric(d, line), metric(d, by_credentials)) == (before + 1, failures + 1), (reason, token)
    assert usual.headers["WWW-Authenticate"] == 'Bearer realm="shootd", error="invalid_token"'
    assert re.search(r"JWT refused", d.log())
    refused = metric(d, by_credentials)
    assert ask(d, issuer.token()).status_code == 200 and metric(d, by_credentials) == refused


def test_without_issuers_no_jwt_is_taken(shootd):
    issuer = Issuer()
    assert ask(shootd, issuer.token()).status_code == 401
    assert metric(shootd, 'shootd_oidc_tokens_total{result="issuer"}') == 1


# ---- the issuer is away, returns and changes its keys --------------------------------------------------------------


def test_an_issuer_that_is_down_stops_nobody(d, issuer):
    issuer.stop()
    for i in range(5):
        assert ask(d, issuer.token(jti=str(i))).status_code == 200  # each token is checked
    assert d.http.get("/v1/whoami").status_code == 200


def test_an_issuer_that_is_down_at_the_start(make_sim, make_shootd):
    issuer = Issuer()
    d = make_shootd(make_sim().url, extra=configuration(issuer.url)).start()
    assert d.http.get("/v1/whoami").status_code == 200
    failures = metric(d, 'shootd_auth_failures_total{reason="jwt"}')
    refused = ask(d, issuer.token())
    assert (refused.status_code, refused.json()["code"]) == (503, "issuer_unavailable") and 1 <= int(refused.headers["Retry-After"]) <= 5
    assert ask(d, issuer.token(aud="another")).status_code == 401, "it would be refused in any case"
    assert (metric(d, "shootd_oidc_keys"), metric(d, "shootd_oidc_issuers_without_keys")) == (0, 1)
    assert metric(d, 'shootd_oidc_tokens_total{result="keys_missing"}') == 1
    assert metric(d, 'shootd_auth_failures_total{reason="jwt"}') == failures + 1
    wait_until(lambda: "issuer keys cannot be read" in d.log(), what="the warning")
    issuer.start()
    try:
        wait_keys(d)
        assert ask(d, issuer.token()).status_code == 200
        assert metric(d, "shootd_oidc_issuers_without_keys") == 0 and metric(d, "shootd_oidc_oldest_keys_age_seconds") < 60
        assert metric(d, 'shootd_oidc_key_reads_total{outcome="ok"}') == 1 and metric(d, 'shootd_oidc_key_reads_total{outcome="failed"}') >= 1
    finally:
        issuer.stop()


def test_a_jwt_right_after_the_first_start(make_sim, make_shootd, issuer):
    """A request waits for the first read of the keys, for a limited time; then shootd cannot say whether the JWT is valid."""
    issuer.may_answer.clear()
    d = make_shootd(make_sim().url, extra=configuration(issuer.url)).start()
    wait_until(lambda: issuer.asked, what="the first read")
    began, statuses = time.monotonic(), []
    refused = ask(d, issuer.token())
    assert (refused.status_code, refused.json()["code"]) == (503, "issuer_unavailable") and int(refused.headers["Retry-After"]) >= 1
    assert 4 < time.monotonic() - began < 30 * harness.PATIENCE
    assert d.http.get("/readyz").status_code == 200 and d.http.get("/v1/whoami").status_code == 200
    waiting = threading.Thread(target=lambda: statuses.append(ask(d, issuer.token(sub="bob")).status_code))
    waiting.start()
    wait_until(lambda: metric(d, "shootd_oidc_tokens_waiting") == 1, what="the request")
    issuer.may_answer.set()
    waiting.join(60)
    assert statuses == [200] and metric(d, 'shootd_oidc_tokens_total{result="keys_missing"}') == 0


def test_a_key_that_changes_under_its_kid(d, issuer):
    issuer.keys = [Key("one"), issuer.keys[1]]
    new = issuer.token()
    wait_until(lambda: ask(d, new).status_code == 200, what="the new key")


def test_a_start_while_the_issuer_is_away(d, issuer):
    """shootd uses the stored keys, for as long as they would count without the restart."""
    token = issuer.token()
    kept = wait_until(lambda: list(d.state.glob("issuer-*.json")), what="the file")[0]
    assert kept.stat().st_mode & 0o777 == 0o600
    issuer.stop()
    text = json.loads(kept.read_text())
    assert text["issuer"] == issuer.url and abs(text["read_at"] / 1e6 - time.time()) < 600
    for change, status, keys in (({}, 200, 2), ({"read_at": text["read_at"] - 25 * 3600 * 10**6}, 503, 0), ({"read_at": text["read_at"] + 3600 * 10**6}, 503, 0),
                                 ({"issuer": "https://other.example.com"}, 503, 0), ({"jwks": {"keys": []}}, 503, 0), (None, 503, 0)):
        d.stop()
        kept.write_text("{" if change is None else json.dumps({**text, **change}))
        d.start()
        assert ask(d, token).status_code == status, "the first request after the start"
        wait_until(lambda: metric(d, 'shootd_oidc_key_reads_total{outcome="failed"}') >= 1, what="the attempt")
        assert (ask(d, token).status_code, metric(d, "shootd_oidc_keys")) == (status, keys), change
    assert "stored issuer keys are not usable" in d.log()
    issuer.start()
    wait_keys(d, 2)
    assert ask(d, token).status_code == 200
    wait_until(lambda: json.loads(kept.read_text())["jwks"] == text["jwks"], what="the new file")


def test_an_issuer_that_hangs_or_sends_too_much_holds_up_nobody(d, issuer):
    """Calls to the issuer end by a timeout, and the known keys stay."""
    issuer.may_answer.clear()
    asked = len(issuer.asked)
    assert ask(d, issuer.token(header={"kid": "made-up"})).status_code == 401  # shootd asks the issuer for an unknown key
    wait_until(lambda: len(issuer.asked) > asked, what="the read")
    began = time.monotonic()
    for i in range(20):
        assert ask(d, issuer.token(jti=str(i))).status_code == 200
    assert time.monotonic() - began < 5 * harness.PATIENCE
    issuer.may_answer.set()
    d.stop()
    issuer.padding = "x" * 300_000
    d.start()
    wait_until(lambda: metric(d, 'shootd_oidc_key_reads_total{outcome="failed"}') >= 1, what="the answer that is too large")
    assert metric(d, "shootd_oidc_keys") == 2 and ask(d, issuer.token(jti="large")).status_code == 200


def test_a_new_key_is_found_and_an_old_one_forgotten(d, issuer):
    old = issuer.keys[0]
    kept = issuer.token(old)
    assert ask(d, kept).status_code == 200
    issuer.keys = [Key("three")]
    new = issuer.token()
    wait_until(lambda: ask(d, new).status_code == 200, what="the new key")
    assert ask(d, issuer.token(old, jti="another")).status_code == 401
    # many unknown keys: shootd asks the issuer once a minute
    asked = len(issuer.asked)
    for i in range(20):
        assert ask(d, issuer.token(header={"kid": f"made-up-{i}"})).status_code == 401
    time.sleep(1)
    assert len(issuer.asked) == asked


def test_other_issuers_and_rules_by_a_reload(d, issuer):
    token = issuer.token(groups=["readers"])
    assert ask(d, token).json()["role"] == "viewer"
    before = d.config.read_text()

    def reload(text):
        return d.reload(text)["changed"]

    assert reload(before) == []
    with follow(d, token) as stream:
        assert stream.status_code == 200
        assert reload(before.replace('"contains": "readers", "role": "viewer"', '"contains": "readers", "role": "operator"')) == ["oidc.issuers"]
        stream.read()  # the stream ends; a client that reconnects is checked again
    assert ask(d, token).json()["role"] == "operator"
    assert reload(re.sub(r"^oidc: .*\n", "", before, flags=re.M)) == ["oidc.issuers"]
    assert ask(d, token).status_code == 401
    assert reload(before) == ["oidc.issuers"]
    wait_keys(d)
    assert ask(d, token).json()["role"] == "viewer"


def test_nobody_notices_reloads_and_new_keys(d, issuer):
    """Requests continue while issuers, rules and keys are replaced; each uses the state before or after a change."""
    before, statuses, over = d.config.read_text(), [], threading.Event()
    other = before.replace('"contains": "platform", "role": "operator"', '"contains": "platform", "role": "viewer"')
    assert other != before

    def go_on(number):
        with web.Client(base_url=d.url, timeout=60) as client:
            for i in itertools.count():
                if over.is_set():
                    return
                token = issuer.token(issuer.keys[i % 2], sub=f"s{number}", jti=str(i // 2))
                answer = client.get("/v1/whoami", headers={"Authorization": f"Bearer {token}"})
                statuses.append((answer.status_code, answer.json().get("role")))

    threads = [threading.Thread(target=go_on, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for i in range(40):
        d.config.write_text(other if i % 2 else before)
        assert d.http.post("/v1/reload").json()["changed"] == (["oidc.issuers"] if i else [])
    over.set()
    for t in threads:
        t.join()
    assert set(statuses) == {(200, "operator"), (200, "viewer")} and len(statuses) > 50


# ---- the configuration -------------------------------------------------------------------------------------------

GOOD = {"issuer": "https://login.example.com", "audience": "shootd", "algorithms": ["RS256"],
        "rules": [{"claim": "groups", "contains": "x", "role": "viewer", "projects": ["team-a"]}]}


def checked(d, *entries):
    text = re.sub(r"^oidc: .*\n", "", d.config.read_text(), flags=re.M)
    path = d.directory / "checked.yaml"
    path.write_text(text + "oidc: " + json.dumps({"issuers": list(entries)}) + "\n")
    run = subprocess.run([harness.BUILD / "shootd", "--config", path, "--check-config"], capture_output=True, text=True, timeout=30, check=False)
    return run.returncode, run.stderr


@pytest.mark.parametrize("change, fault", [
    ({"issuer": "http://login.example.com"}, "issuer: 'http://login.example.com' must be https://host[:port][/path], or http:// to a loopback address"),
    ({"issuer": "https://login.example.com/?a=b"}, "issuer: 'https://login.example.com/?a=b' must be"),
    ({"issuer": "https://" + "a" * 250}, "issuer: has 258 bytes, the most is 255"),
    ({"algorithms": ["HS256"]}, "algorithms: 'HS256' is not one of: RS256, PS256, ES256, EdDSA"),
    ({"algorithms": ["none"]}, "algorithms: 'none' is not one of"),
    ({"algorithms": []}, "algorithms: must name at least one of"),
    ({"algorithms": None}, "algorithms: is required in issuers"),
    ({"audience": None}, "audience: is required in issuers"),
    ({"rules": None}, "rules: is required in issuers"),
    ({"rules": []}, "rules: must have at least one entry"),
    ({"max_lifetime": "1s"}, "max_lifetime:"),
    ({"rules": [{**GOOD["rules"][0], "role": "root"}]}, "role: 'root' is not one of: viewer, kubeconfig, operator, admin"),
    ({"rules": [{**GOOD["rules"][0], "projects": ["nowhere"]}]}, "projects: there is no project 'nowhere'"),
    ({"rules": [{**GOOD["rules"][0], "projects": []}]}, "projects: must name at least one project"),
    ({"rules": [{"claim": "groups"}]}, "contains: is required in rules"),
    ({"rules": GOOD["rules"] * 101}, "rules: has 101 entries, the most are 100"),
    ({"client_id": "with blank"}, "client_id: must be 1 to 255 ASCII characters without blanks"),
    ({"client_id": "ü"}, "client_id: must be 1 to 255 ASCII characters without blanks"),
    ({"client_id": ""}, "client_id: must not be empty"),
    ({"scopes": ["openid"]}, "scopes: needs client_id"),
    ({"client_id": "cli", "scopes": []}, "scopes: must name at least one scope such as openid"),
    ({"client_id": "cli", "scopes": "openid"}, "scopes: must be a list"),
    ({"client_id": "cli", "scopes": ["openid", "a b"]}, "scopes: 'a b' must have 1 to 100 ASCII characters, without blanks"),
    ({"client_id": "cli", "scopes": ['a"b']}, "scopes: 'a\"b' must have"),
    ({"client_id": "cli", "scopes": ["a\\b"]}, "scopes: 'a\\b' must have"),
    ({"client_id": "cli", "scopes": ["x" * 101]}, "must have 1 to 100 ASCII characters"),
    ({"client_id": "cli", "scopes": ["openid", "openid"]}, "scopes: 'openid' is given twice"),
    ({"client_id": "cli", "scopes": [f"s{i}" for i in range(21)]}, "scopes: has 21 entries, the most are 20"),
    ({"secret": "x"}, "secret: unknown key; known here: issuer, audience, algorithms"),
])
def test_faults_are_reported(d, change, fault):
    code, errors = checked(d, {k: v for k, v in {**GOOD, **change}.items() if v is not None})
    assert code == 78 and fault in errors, errors


def test_issuers_are_named_once(d):
    assert checked(d, GOOD)[0] == 0
    code, errors = checked(d, GOOD, GOOD)
    assert code == 78 and "issuer: 'https://login.example.com' is given twice" in errors
    code, errors = checked(d, *({**GOOD, "issuer": f"https://login{i}.example.com"} for i in range(17)))
    assert code == 78 and "issuers: has 17 entries, the most are 16" in errors


# ---- where tokens come from --------------------------------------------------------------------------------------


def test_everybody_may_know_where_tokens_come_from(d, issuer):
    """GET /v1/auth and its ETag follow each reload."""
    def listed(*entries):
        text = re.sub(r"^oidc: .*\n", "", d.config.read_text(), flags=re.M)
        d.reload(text + "oidc: " + json.dumps({"issuers": list(entries)}) + "\n")
        answer = web.get(d.url + "/v1/auth")
        assert answer.status_code == 200 and answer.headers["Cache-Control"] == "no-cache"
        assert web.get(d.url + "/v1/auth", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
        tags.append(answer.headers["ETag"])
        return answer.json()["issuers"]

    tags = []
    assert web.get(d.url + "/v1/auth").json() == {"issuers": [{"issuer": issuer.url, "client_id": None, "scopes": []}]}
    assert listed({**GOOD, "issuer": issuer.url, "client_id": "shootctl"}) == [{"issuer": issuer.url, "client_id": "shootctl", "scopes": ["openid"]}]
    every = ["openid", "offline_access", "api://shootd/.default", "a]b", "!#[^~"]
    assert listed({**GOOD, "client_id": "x" * 255, "scopes": every}, {**GOOD, "issuer": issuer.url}) == [
        {"issuer": GOOD["issuer"], "client_id": "x" * 255, "scopes": every}, {"issuer": issuer.url, "client_id": None, "scopes": []}]
    assert listed() == []
    assert len(set(tags)) == 3


# ---- a real provider ---------------------------------------------------------------------------------------------


class Provider:
    def __init__(self, port=None):
        self.port = port or harness.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.popen = subprocess.Popen(["node", "oidc_provider.mjs", str(self.port), issuers.AUDIENCE], cwd=ROOT / "tests/js", text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.key = self.ready()

    def ready(self):
        for line in self.popen.stdout:  # the provider also prints notices
            if line.startswith("ready "):
                return line.split()[1]
        raise AssertionError("the provider ended")

    def rotate(self):
        self.popen.stdin.write("rotate\n")
        self.popen.stdin.flush()
        self.key = self.ready()

    def token(self):
        form = {"grant_type": "client_credentials", "client_id": "robot", "client_secret": "robot-secret", "resource": "urn:shootd"}
        answer = web.post(self.url + "/token", data=form, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()["access_token"]

    def stop(self):
        self.popen.stdin.close()
        self.popen.wait(30)


@pytest.fixture
def provider():
    if not shutil.which("node") or not (ROOT / "tests/js/node_modules/oidc-provider").exists():
        pytest.skip("node or oidc-provider is absent; `make deps-test` installs them")
    p = Provider()
    yield p
    p.stop()


def test_a_real_provider(make_sim, make_shootd, provider):
    d = make_shootd(make_sim().url, extra=configuration(provider.url, at_jwt_only=True)).start().wait_upstream()
    wait_keys(d, 1)
    first = provider.token()
    who = ask(d, first).json()
    assert (who["issuer"], who["subject"], who["role"], who["projects"]) == (provider.url, "robot", "operator", ["team-a"])
    made = ask(d, first, "/v1/projects/team-a/clusters/web", "PUT", json={"spec": {}})
    assert made.status_code in (201, 202)
    entry = d.http.get("/v1/audit", params={"action": "putCluster"}).json()["items"][0]
    assert (entry["issuer"], entry["subject"]) == (provider.url, "robot")
    # a new key, beside the old one
    provider.rotate()
    second = provider.token()
    wait_until(lambda: ask(d, second).status_code == 200, what="the new key")
    wait_keys(d, 2)
    assert ask(d, first).status_code == 200
    # shootd refuses a token of an unknown client, too
    header, claims, _ = second.split(".")
    assert ask(d, f"{header}.{claims}.{first.split('.')[2]}").status_code == 401


def test_a_real_provider_dies_and_returns(make_sim, make_shootd, provider):
    """Tokens count while the provider is away, also over a restart of shootd. Tokens of its next start, with other keys, count when it
    is back."""
    d = make_shootd(make_sim().url, extra=configuration(provider.url, at_jwt_only=True)).start().wait_upstream()
    wait_keys(d, 1)
    token, unseen = provider.token(), provider.token()
    provider.stop()
    assert ask(d, token).json()["subject"] == "robot"
    d.stop()
    d.start()
    wait_until(lambda: metric(d, 'shootd_oidc_key_reads_total{outcome="failed"}') >= 1, what="an attempt")
    assert ask(d, token).json()["subject"] == "robot"
    back = Provider(provider.port)
    try:
        other = back.token()
        wait_until(lambda: ask(d, other).status_code == 200, timeout=90, what="the keys of the provider that is back")
        assert metric(d, "shootd_oidc_keys") == 1 and ask(d, unseen).status_code == 401, "the key of before is withdrawn"
    finally:
        back.stop()
