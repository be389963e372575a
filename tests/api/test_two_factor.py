"""Accounts with a second factor: codes by SMS, tokens from a file, WebAuthn; reports and stored state."""

import os
import re
import time

import pytest

import web
from harness import wait_until

CODE = "123456"
FORMS = {
    "v2": [("/auth/v2/tokens", lambda b: b, "two_factor_method"), ("/auth/v2/request-sms-code", lambda b: b),
           ("/auth/v2/tokens-by-sms-code", lambda b: b)],
    "v1": [("/auth/v1/tokens", lambda b: {"auth": b}, "twofa_method"),
           ("/auth/v1/tokens/request2facode", lambda b: {"request2fa": b}),
           ("/auth/v1/tokens/verify2fa", lambda b: {"verify2fa": b})],
}


@pytest.fixture
def sim(make_sim):
    return make_sim(two_factor=True)


def account(d):
    return d.http.get("/v1/accounts").json()["items"][0]


def wait_state(d, *states, timeout=20):
    return wait_until(lambda: (a := account(d))["login_state"] in states and a, timeout=timeout, what=f"login {states}")


def login(d, status=202):
    """Logs in by hand after the automatic attempt was blocked."""
    def answered():
        answer = d.http.post("/v1/accounts/main/login", json={})
        return answer if answer.status_code != 429 else None
    answer = wait_until(answered, interval=0.3, timeout=30, what="the login guard to open")
    assert answer.status_code == status, answer.text
    return answer.json()


def verify(d, code=CODE):
    return d.http.post("/v1/accounts/main/verify", json={"code": code})


def sms(sim):
    return len(sim.requests("request_sms_code"))


def account_events(d):
    return [e["type"] for e in d.events() if e["type"].startswith("account.")]


def own_token(sim, generation="v2"):
    """Gets a token through the API, as a person does in Cleura's control panel."""
    (path, wrap, method), (ask, wrap_ask), (check, wrap_check) = FORMS[generation]
    answer = sim.http.post(path, json=wrap({"login": "demo", "password": "demo", method: "sms"})).json()
    handle = {"login": "demo", "verification": answer["verification"]}
    assert sim.http.post(ask, json=wrap_ask(handle)).status_code == 204
    return sim.http.post(check, json=wrap_check({**handle, "code": int(CODE)})).json()["token"]


def hand_over(path, token):
    """Replaces the file by a rename, as docs/operations.md describes."""
    new = path.with_suffix(".new")
    new.write_text(token + "\n")
    new.chmod(0o600)
    os.replace(new, path)


def test_login_by_sms(sim, make_shootd, generation):
    d = make_shootd(sim.url, api=generation).start()
    a = wait_state(d, "two_factor_required")
    assert "sms" in a["two_factor"]["methods"] and not a["two_factor"]["verification_pending"]
    assert "/v1/accounts/main/login" in a["login_message"]
    refused = d.http.post(d.clusters_path(), json={"name": "dev"})
    assert refused.status_code == 503 and refused.json()["code"] == "upstream_login_failed"
    assert int(refused.headers["Retry-After"]) >= 30, "only a person helps"
    asked = sim.counters()["by_operation"]["create_token"]["requests"]
    if generation == "v2":  # the guard is the same for both
        time.sleep(6)  # longer than its first delay
    assert sim.counters()["by_operation"]["create_token"]["requests"] == asked == 1, "no login without a person"
    assert sms(sim) == 0, "the automatic login never asks for an SMS"

    sent = login(d)
    assert sent["status"] == "code_sent" and sent["expires_in_seconds"] == 600
    assert sent["account"]["two_factor"]["verification_pending"] and sms(sim) == 1
    verified = verify(d, CODE if generation == "v2" else int(CODE))
    assert verified.status_code == 200, verified.text
    assert verified.json()["login_state"] == "ok" and verified.json()["token_source"] == "sms_code"
    assert account(d)["projects"] == ["team-a"] and account(d)["next_login_at"] is None
    op = wait_until(lambda: (r := d.http.post(d.clusters_path(), json={"name": "dev"})).status_code == 202 and r.json(),
                    what="a create to be accepted")["operation"]
    assert d.wait_operation(op["id"])["status"] == "succeeded"
    wait_until(lambda: account_events(d) == ["account.login_failed", "account.recovered"], what="both events, once")

    before = sim.counters()["by_operation"]["create_token"]["requests"]
    d.kill()
    d.start()
    d.create("again")
    d.wait_phase("again", "ready")
    assert sms(sim) == 1 and sim.counters()["by_operation"]["create_token"]["requests"] == before
    assert account(d)["token_source"] == "sms_code"
    assert account_events(d) == ["account.login_failed", "account.recovered"]


def test_wrong_code_and_verify_without_login(sim, make_shootd):
    d = make_shootd(sim.url).start()
    wait_state(d, "two_factor_required")
    assert verify(d).json()["code"] == "no_code_awaited"
    for bad in ("", "12x", "12345678901", -1, 1.5, None, True):
        answer = verify(d, bad)
        assert answer.status_code == 422 and answer.json()["errors"][0]["pointer"] == "#/code", bad
    login(d)
    wrong = verify(d, "654321")
    assert wrong.status_code == 422 and wrong.json()["code"] == "wrong_code"
    assert int(wrong.headers["Retry-After"]) >= 5
    closed = verify(d)
    assert closed.status_code == 429 and int(closed.headers["Retry-After"]) >= 1, "codes cannot be tried at will"
    assert len(sim.requests("verify_sms_code")) == 1
    assert account(d)["login_state"] == "two_factor_required"
    d.stop()
    d.start()
    assert verify(d).json()["code"] == "no_code_awaited", "a restart forgets that a code was sent"


def test_wrong_code_then_the_right_one(sim, make_shootd):
    d = make_shootd(sim.url, api="v1").start()
    login(d)
    assert verify(d, 1).status_code == 422
    right = wait_until(lambda: (r := verify(d)).status_code != 429 and r, interval=0.5, timeout=60, what="the guard")
    assert right.status_code == 200, right.text


def test_sms_cannot_be_asked_for_at_will(sim, make_shootd):
    d = make_shootd(sim.url).start()
    login(d)
    answers = [d.http.post("/v1/accounts/main/login") for _ in range(5)]
    assert {a.status_code for a in answers} == {429} and sms(sim) == 1
    assert all(int(a.headers["Retry-After"]) >= 1 for a in answers)
    d.stop()
    d.start()
    assert d.http.post("/v1/accounts/main/login").status_code == 429, "the guard survives a restart"
    assert sms(sim) == 1


def test_roles_and_projects(sim, make_shootd):
    other = "ffeeddccbbaa99887766554433221100"
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", "00112233445566778899aabbccddeeff"),
                                       ("team-b", "Sto2", other)]).start()

    def client(role, *projects):
        token = d.http.post("/v1/tokens", json={"name": role, "role": role, "projects": projects}).json()["token"]
        return web.Client(base_url=d.url, headers={"Authorization": "Bearer " + token}, timeout=60)

    with client("viewer", "team-a") as viewer, client("operator", "*") as operator, client("admin", "team-a") as half:
        seen = viewer.get("/v1/accounts").json()["items"]
        assert [a["projects"] for a in seen] == [["team-a"]] and "demo" not in seen[0].values()
        assert operator.get("/v1/accounts").json()["items"][0]["projects"] == ["team-a", "team-b"]
        for who in (viewer, operator, half):
            for path in ("login", "verify"):
                answer = who.post(f"/v1/accounts/main/{path}", json={"code": CODE})
                assert answer.status_code == 403, answer.text
    assert sms(sim) == 0


def test_token_file(sim, make_shootd, generation, tmp_path):
    path = tmp_path / "cleura-token"
    hand_over(path, own_token(sim, generation))
    sim.forget()
    d = make_shootd(sim.url, api=generation, account_extra=f"    token_file: {path}\n")
    d.config.write_text(re.sub(r".*password_file.*\n", "", d.config.read_text()))
    d.start()
    d.create("dev")
    d.wait_phase("dev", "ready")
    assert account(d)["token_source"] == "token_file"
    assert not sim.requests("create_token") and sms(sim) == 0

    sim.post("tokens/expire")
    a = wait_state(d, "no_password")
    assert "token_file" in a["login_message"] and a["token_source"] is None
    time.sleep(2)
    refused = d.http.post("/v1/accounts/main/login")
    assert refused.status_code == 503 and refused.json()["code"] == "upstream_login_failed"
    validations = len(sim.requests("validate_token"))
    time.sleep(2)
    assert len(sim.requests("validate_token")) == validations, "a rejected content is not tried again"
    hand_over(path, own_token(sim, generation))
    assert login(d, status=200)["account"]["token_source"] == "token_file", "a login by hand looks at the file at once"
    d.create("again")
    d.wait_phase("again", "ready")
    wait_until(lambda: account_events(d) == ["account.login_failed", "account.recovered"], what="both events")

    sim.post("tokens/expire")
    wait_state(d, "no_password")
    d.stop()
    d.start()
    wait_state(d, "no_password")
    assert account_events(d).count("account.login_failed") == 2, "a restart repeats nothing"
    hand_over(path, own_token(sim, generation))
    wait_state(d, "ok", timeout=60)
    wait_until(lambda: account_events(d).count("account.recovered") == 2, what="account.recovered")


def test_token_file_beside_a_password(sim, make_shootd, tmp_path):
    path = tmp_path / "cleura-token"
    d = make_shootd(sim.url, account_extra=f"    token_file: {path}\n").start()
    wait_state(d, "two_factor_required")
    hand_over(path, own_token(sim))
    time.sleep(1)  # shootd checks the file once a second
    assert d.http.get("/v1/projects/team-a/catalog").status_code == 200, "a call that waits finds the new token"
    assert account(d)["token_source"] == "token_file" and account(d)["login_state"] == "ok"


def test_token_file_is_checked_like_a_password_file(sim, make_shootd, tmp_path):
    path = tmp_path / "cleura-token"
    path.write_text("secret-of-many\n")
    path.chmod(0o644)
    d = make_shootd(sim.url, account_extra=f"    token_file: {path}\n").start(wait=False)
    assert d.process.popen.wait(20) == 78
    assert "token_file" in d.log() and "may be read by others" in d.log() and "secret-of-many" not in d.log()
    path.chmod(0o600)
    d.start()
    wait_state(d, "two_factor_required")
    assert "secret-of-many" not in d.log()


@pytest.mark.parametrize("body", [{"result": "twofactor_options", "options": ["webauthn"]},
                                  {"result": "twofactor_required", "type": "webauthn", "verification": "v"}])
def test_webauthn_only_is_told_what_to_do(sim, make_shootd, body):
    answers = [{"operation": "create_token", "status": 201, "body": body}]
    sim.post("replay", answers=answers)
    d = make_shootd(sim.url).start()
    a = wait_state(d, "two_factor_required")
    assert "token_file" in a["login_message"] and a["two_factor"]["methods"] == ["webauthn"]
    sim.post("replay", answers=answers)
    refused = wait_until(lambda: (r := d.http.post("/v1/accounts/main/login")).status_code != 429 and r, interval=0.5,
                         what="the guard")
    assert refused.status_code == 409 and refused.json()["code"] == "second_factor_unusable"
    assert "control panel" in refused.json()["detail"]
    assert sms(sim) == 0


def test_events_once_over_restarts(sim, make_shootd):
    d = make_shootd(sim.url).start()
    wait_state(d, "two_factor_required")
    for _ in range(2):
        d.stop()
        d.start()
        wait_state(d, "two_factor_required", timeout=40)
        time.sleep(0.3)
    assert account_events(d) == ["account.login_failed"]


def test_login_without_a_second_factor(make_sim, make_shootd):
    sim = make_sim()
    d = make_shootd(sim.url).start()
    wait_state(d, "ok")
    assert login(d, status=200)["status"] == "ok"
    assert sim.counters()["logins"] == 1, "a fresh token is kept"


def test_outage_during_a_login(sim, make_shootd):
    d = make_shootd(sim.url).start()
    wait_state(d, "two_factor_required")
    time.sleep(6)
    sim.fault("create_token", "status", status=500, count=1)
    lost = d.http.post("/v1/accounts/main/login")
    assert lost.status_code == 503 and lost.json()["code"] == "upstream_unavailable", lost.text
    assert account(d)["login_state"] == "two_factor_required"
    login(d)
    assert verify(d).status_code == 200


def test_nothing_secret_is_left_behind(sim, make_shootd, tmp_path):
    path = tmp_path / "cleura-token"
    d = make_shootd(sim.url, account_extra=f"    token_file: {path}\n").start()
    login(d)
    answers = [verify(d, "424242").text, d.http.post("/v1/accounts/main/verify", json={"code": "515151x"}).text]
    wait_until(lambda: (r := verify(d)).status_code == 200 and answers.append(r.text) is None, interval=0.5, timeout=60,
               what="the right code")
    d.create("dev")
    d.wait_phase("dev", "ready")
    handed = own_token(sim)
    hand_over(path, handed)
    sim.fault("list_shoots", "status", status=403, count=3, body='{"error":{"code":403,"message":"Invalid token"}}')
    wait_until(lambda: account(d)["token_source"] == "token_file", timeout=60, what="the token of the file")
    for url in ("/metrics", "/v1/accounts", "/v1/projects", "/v1/events", "/v1/clusters"):
        answers.append(d.http.get(url).text)
    d.stop()
    places = {p.name: p.read_bytes() for p in d.state.iterdir() if p.name not in ("admin-token", "seal.key")}
    places["log"] = d.log_path.read_bytes()
    places["answers"] = "\n".join(answers).encode()
    tokens = set(re.findall(r'"token" *: *"([^"]+)"', sim.process.text())) | {handed}
    for where, content in places.items():
        for secret in tokens:
            assert secret.encode() not in content, where
        for code in (b"424242", b"515151x"):
            assert not re.search(rb"(?<![0-9])" + code + rb"(?![0-9])", content), where
    said = re.sub(rb"(trace|request)_id=\S+", b"", places["log"]) + places["answers"]
    assert not re.search(rb"(?<![0-9.:])123456(?![0-9])", said)
