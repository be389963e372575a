"""Rate limits in requests per minute: of a token, and of an address with wrong credentials (HT-42 to HT-45)."""

import re
import time

import pytest

import web
from contract import Checker
from raw import Raw, request

PER_MINUTE = 60
FAILURES = 4


@pytest.fixture
def d(sim, make_shootd):
    return make_shootd(sim.url, extra=f"limits: {{requests_per_minute: {PER_MINUTE}, auth_failures_per_minute: {FAILURES}}}\n").start()


@pytest.fixture
def client(d):
    with Checker().client(d) as client:
        yield client


def fields(answer):
    """The name of the policy, the limit, the window, the remaining requests, and the seconds until more are available."""
    policy = re.fullmatch(r'"([a-z_]+)";q=(\d+);w=(\d+)', answer.headers["RateLimit-Policy"])
    state = re.fullmatch(r'"([a-z_]+)";r=(\d+);t=(\d+)', answer.headers["RateLimit"])
    assert policy[1] == state[1]
    return policy[1], int(policy[2]), int(policy[3]), int(state[2]), int(state[3])


def spend(client):
    """All answers up to the first refusal."""
    answers = []
    while not answers or answers[-1].status_code != 429:
        answers.append(client.get("/v1/whoami"))
        assert len(answers) < 6 * PER_MINUTE
    return answers


def refused_total(d, policy):
    text = web.get(d.url + "/metrics", timeout=60).text
    return int(re.search(rf'^shootd_http_quota_refused_total{{policy="{policy}"}} (\d+)$', text, re.M)[1])


def test_ht42_ht43_ht44_what_is_left_is_told_and_what_is_too_much_refused(d, client):
    *granted, refused = spend(client)
    assert {a.status_code for a in granted} == {200} and len(granted) >= PER_MINUTE
    told = ["RateLimit" in a.headers for a in granted]
    assert told[0] is False and told[-1] is True, "from a quarter on"
    assert fields(next(a for a in granted if "RateLimit" in a.headers))[3] == PER_MINUTE // 4
    name, quota, window, left, seconds = fields(granted[-1])
    assert (name, quota, window, left) == ("requests", PER_MINUTE, 60, 0) and seconds == 1, "until there is more"

    problem = refused.json()
    assert problem["code"] == "request_quota_exceeded" and problem["responsible"] == "user"
    assert problem["type"] == "https://iana.org/assignments/http-problem-types#quota-exceeded"
    assert problem["violated-policies"] == ["requests"]
    name, quota, window, left, seconds = fields(refused)
    assert (name, quota, window, left) == ("requests", PER_MINUTE, 60, 0)
    assert int(refused.headers["Retry-After"]) >= seconds >= 1
    assert refused_total(d, "requests") >= 1
    time.sleep(int(refused.headers["Retry-After"]))
    assert client.get("/v1/whoami").status_code == 200


def test_ht45_each_token_has_its_own_and_probes_none(d, client):
    made = client.post("/v1/tokens", json={"name": "other", "role": "viewer", "projects": ["*"]})
    assert made.status_code == 201
    spend(client)
    with Checker().client(d, made.json()["token"]) as other:
        assert other.get("/v1/whoami").status_code == 200
    for path in ("/livez", "/readyz", "/metrics", "/version"):
        answer = client.get(path)
        assert answer.status_code == 200 and "RateLimit" not in answer.headers


def test_a_refused_write_has_no_effect(sim, make_shootd):
    d = make_shootd(sim.url, extra="limits: {requests_per_minute: 2}\n").start()  # one request every 30 seconds
    with Checker().client(d) as client:
        other = client.post("/v1/tokens", json={"name": "other", "role": "viewer", "projects": ["*"]}).json()["token"]
        while client.get("/v1/whoami").status_code == 200:
            pass
        assert client.put(d.clusters_path("late"), json={}).status_code == 429
    with Raw(d.port) as raw:  # shootd does not wait for the body
        raw.send(request("POST", d.clusters_path(), "Content-Type: application/json", "Content-Length: 100", token=d.token()))
        assert raw.read().code == "request_quota_exceeded"
        assert raw.is_closed()
    with Checker().client(d, other) as reader:
        assert reader.get(d.clusters_path("late")).status_code == 404
    assert not [r for r in sim.requests() if r["operation"] == "create_shoot"]


def test_ht45_wrong_credentials_have_a_budget_of_their_own(d, client):
    wrong = "shd_" + "0" * 40
    with Checker().client(d, "") as nobody:
        kinds = [{}, {"Authorization": "Bearer " + wrong}, {"Authorization": "Basic eDp4"}]
        answers = [nobody.get("/v1/whoami", headers=kinds[i % len(kinds)]) for i in range(FAILURES + 1)]
        ticket = nobody.get("/v1/events?ticket=" + "x" * 20, headers={"Accept": "text/event-stream"})
    assert [a.status_code for a in answers] == [401] * FAILURES + [429]
    assert fields(answers[-1])[0] == "auth_failures" and answers[-1].json()["violated-policies"] == ["auth_failures"]
    assert ticket.status_code == 429
    assert client.get("/v1/whoami").status_code == 200, "a good token of the same address"
    assert refused_total(d, "auth_failures") == 2
