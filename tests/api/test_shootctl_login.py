"""shootctl login by single sign-on: the device flow (RFC 8628), the stored token, and its renewal."""

import functools
import json
import re
import shutil
import subprocess
import threading
import time

import pytest
import yaml

import harness
import issuers
import web
from ctl import (Answers, NOT_ALLOWED, OK, REFUSED, SHOOTCTL, TIMED_OUT, UNREACHABLE, USAGE, answer, environment, fails, good, problem, run)
from harness import ROOT, wait_until
from terminal import Terminal


@pytest.fixture(scope="module")
def issuer():
    with issuers.running() as one:
        yield one


@pytest.fixture(scope="module")
def d(tmp_path_factory, issuer):
    directory = tmp_path_factory.mktemp("login")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url, extra=issuers.configuration(issuer.url, client_id="shootctl", scopes=["openid", "offline_access"])).start().wait_upstream()
    wait_until(lambda: re.search(r"^shootd_oidc_keys [1-9]", d.http.get("/metrics").text, re.M), what="the keys")
    yield d
    d.stop()
    sim.stop()


def kept(tmp_path):
    file = tmp_path / "config/shootctl/config.yaml"
    assert file.stat().st_mode & 0o777 == 0o600
    return yaml.safe_load(file.read_text())["contexts"][0]


PENDING, DENIED = (400, {"error": "authorization_pending"}), (400, {"error": "access_denied"})


def test_a_person_logs_in_at_the_issuer(d, issuer, tmp_path):
    flow = issuers.DeviceFlow(issuer)
    flow.answers = [PENDING, (502, b"<html>Bad gateway</html>"), flow.issue]
    issuer.forms.clear()
    done = run(tmp_path, "login", d.url, "--device", "--project", "team-a")
    said = done.stderr
    assert good(done) == "" and f"open  {issuer.url}/device" in said and "code  WDJB-MJHT" in said and "valid for 1m" in said and "role operator" in said
    start, *polls = issuer.forms
    assert start == ("/device_authorization?policy=p", {"client_id": "shootctl", "scope": "openid offline_access"})
    assert [form for _, form in polls] == [{"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "device-1", "client_id": "shootctl"}] * 3
    context = kept(tmp_path)
    assert context["login"]["refresh_token"] == flow.refresh and context["login"]["issuer"] == issuer.url and "shd_" not in context["token"]
    assert good(run(tmp_path, "list", "-o", "json")) == "[]\n"
    shown = good(run(tmp_path, "context", "-o", "json"))
    assert context["token"] not in shown and flow.refresh not in shown
    good(run(tmp_path, "login", d.url, "--token-stdin", input=d.token()))
    assert "login" not in kept(tmp_path), "a token of shootd is not renewed anywhere"


@pytest.mark.parametrize("answers, code, words", [
    ([DENIED], NOT_ALLOWED, "was refused at"),
    ([(400, {"error": "expired_token"})], TIMED_OUT, "in time"),
    ([(400, {"error": "invalid_client", "error_description": "no such \x1b[2Jclient"})], REFUSED, "invalid_client: no such \\x1b[2Jclient"),
    ([(200, {"token_type": "bearer"})], REFUSED, "without a token"),
    ([(200, {"access_token": "two words"})], REFUSED, "without a token"),
    ([(200, {"access_token": "x", "token_type": "mac"})], REFUSED, "without a token"),
    ([(200, {"access_token": "not-one-of-shootd", "token_type": "Bearer"})], NOT_ALLOWED, "does not accept the token of the login"),
], ids=["denied", "expired", "error", "nothing", "no token", "another type", "foreign"])
def test_a_login_that_ends_without_a_token(d, issuer, tmp_path, answers, code, words):
    flow = issuers.DeviceFlow(issuer)
    flow.answers = answers
    fails(run(tmp_path, "login", d.url, "--device"), code, words)
    assert not (tmp_path / "config").exists()


def test_the_code_ends(d, issuer, tmp_path):
    flow = issuers.DeviceFlow(issuer, interval=1, expires_in=2)
    flow.answers = [PENDING]
    began = time.monotonic()
    fails(run(tmp_path, "login", d.url, "--device"), TIMED_OUT, "nobody entered the code in time")
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("change, code, words", [
    ({"device_authorization_endpoint": None}, REFUSED, "has no device flow"),
    ({"token_endpoint": "http://login.example.com/token"}, REFUSED, "has no device flow"),
    ({"issuer": "https://another.example.com"}, REFUSED, "says that it is https://another.example.com"),
])
def test_an_issuer_that_cannot_be_used(d, issuer, tmp_path, change, code, words):
    issuers.DeviceFlow(issuer)
    before = dict(issuer.discovery)
    issuer.discovery |= change
    try:
        fails(run(tmp_path, "login", d.url, "--device"), code, words)
    finally:
        issuer.discovery = before


def test_a_server_without_an_issuer(tmp_path):
    nobody = [answer(200, {"issuers": []}), answer(200, {"issuers": [{"issuer": "https://a.example.com", "client_id": None, "scopes": []}]}), answer(200, {"issuers": {"a": 1}})]
    for one in nobody:
        with Answers({"*": one}) as server:
            fails(run(tmp_path, "login", server.url, "--device"), REFUSED, "names no issuer")
    open_one = answer(200, {"issuers": [{"issuer": "http://login.example.com", "client_id": "c", "scopes": []}]})
    with Answers({"*": open_one}) as server:
        fails(run(tmp_path, "login", server.url, "--device"), REFUSED, "is not https")
        fails(run(tmp_path, "login", server.url, "--device", "--issuer", "https://b.example.com"), REFUSED, "names no issuer https://b.example.com")
    with Answers({"*": problem(404, "route_not_found")}) as server:
        fails(run(tmp_path, "login", server.url, "--device"), 3, "Its detail.")
        fails(run(tmp_path, "login", server.url), USAGE, "--device")
    fails(run(tmp_path, "login", "http://127.0.0.1:9", "--device", "--retries", "0"), UNREACHABLE)


def test_the_prompt_offers_the_issuer(d, issuer, tmp_path):
    flow = issuers.DeviceFlow(issuer)
    flow.answers = [PENDING, flow.issue]
    with Terminal([SHOOTCTL, "login", d.url], environment(tmp_path), 200) as t:
        t.expect(f"(nothing: log in at {issuer.url}):")
        t.send("\n")
        t.expect("WDJB-MJHT")
        assert t.end() == OK and "role operator" in t.text
    assert kept(tmp_path)["login"]["refresh_token"] == flow.refresh


# ---- renewal -----------------------------------------------------------------------------------------------------------

def ages(tmp_path, seconds):
    """Sets the expiry of the context's token to so many seconds from now."""
    file = tmp_path / "config/shootctl/config.yaml"
    end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
    text, count = re.subn(r'expires_at: "[^"]*"', f'expires_at: "{end}"', file.read_text())
    assert count == 1
    file.write_text(text)


def test_a_token_is_renewed_before_it_ends(d, issuer, tmp_path):
    flow = issuers.DeviceFlow(issuer)
    ctl = functools.partial(run, tmp_path)
    good(ctl("login", d.url, "--device", "--project", "team-a"))
    first = kept(tmp_path)
    issuer.forms.clear()
    good(ctl("list"))
    assert not issuer.forms and kept(tmp_path) == first, "it is good for long"
    ages(tmp_path, 30)
    good(ctl("list"))
    assert issuer.forms == [("/token/", {"grant_type": "refresh_token", "refresh_token": "refresh-1", "client_id": "shootctl"})]
    second = kept(tmp_path)
    assert second["token"] != first["token"] and second["login"]["refresh_token"] == "refresh-2" == flow.refresh
    ages(tmp_path, 30)
    many = [subprocess.Popen([SHOOTCTL, "list", "-o", "json"], env=environment(tmp_path), stdout=subprocess.PIPE) for _ in range(5)]
    assert [p.communicate(timeout=60)[0] for p in many] == [b"[]\n"] * 5
    assert len(issuer.forms) == 2, "one of them renews it, for a refresh token is good once"


def test_no_refresh_token_is_spent_that_could_not_be_stored(d, issuer, tmp_path):
    issuers.DeviceFlow(issuer)
    good(run(tmp_path, "login", d.url, "--device", "--project", "team-a"))
    before, blocker = kept(tmp_path), tmp_path / "config/shootctl/config.yaml.new"
    issuer.forms.clear()
    ages(tmp_path, 30)
    blocker.mkdir()
    done = run(tmp_path, "list")
    assert "could not be renewed" in done.stderr and "cannot write" in done.stderr and not issuer.forms
    assert kept(tmp_path)["login"]["refresh_token"] == before["login"]["refresh_token"]
    fails(run(tmp_path, "login", d.url, "--device"), REFUSED, "cannot write")
    assert not issuer.forms, "nobody logs in for nothing"
    blocker.rmdir()
    good(run(tmp_path, "list"))
    assert kept(tmp_path)["login"]["refresh_token"] != before["login"]["refresh_token"]


def test_a_renewal_that_fails_is_said(d, issuer, tmp_path):
    flow = issuers.DeviceFlow(issuer)
    ctl = functools.partial(run, tmp_path)
    good(ctl("login", d.url, "--device", "--project", "team-a"))
    ages(tmp_path, 30)
    flow.refresh = "another"
    before = kept(tmp_path)
    done = ctl("list", "-o", "json")
    assert good(done) == "[]\n" and "could not be renewed" in done.stderr and "invalid_grant" in done.stderr, "it is good for half a minute more"
    assert f"shootctl login {d.url} --device" in done.stderr and kept(tmp_path) == before
    issuer.posts["/token/"] = lambda form: (503, b"<html>")
    assert "could not be renewed" in ctl("list").stderr and kept(tmp_path) == before


def test_a_long_wait_continues_with_a_new_token(d, issuer, tmp_path):
    """A wait lasts longer than a token is valid."""
    issuers.DeviceFlow(issuer)
    good(run(tmp_path, "login", d.url, "--device", "--project", "team-a"))
    stop = threading.Event()
    seen = []

    def running(request):
        seen.append(re.search(rb"Authorization: Bearer (\S+)", request)[1])
        return answer(200, {"id": "op_1", "type": "create", "status": "succeeded" if stop.is_set() else "running"})
    with Answers({"*": running}) as server:
        file = tmp_path / "config/shootctl/config.yaml"
        file.write_text(file.read_text().replace(d.url, server.url))
        waiting = subprocess.Popen([SHOOTCTL, "wait", "op_1"], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(seen) >= 2, what="the wait")
        assert len(set(seen)) == 1
        stop.set()
        assert waiting.communicate(timeout=60)[0] == "op_1: create succeeded\n"
        stop.clear()
        ages(tmp_path, 62)  # during the next wait the token is due after two seconds
        seen.clear()
        waiting = subprocess.Popen([SHOOTCTL, "wait", "op_1"], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(set(seen)) == 2, what="the new token")
        stop.set()
        assert waiting.communicate(timeout=60)[0] == "op_1: create succeeded\n"


def test_a_credential_is_kept_for_the_person_not_for_the_token(d, issuer, tmp_path):
    issuers.DeviceFlow(issuer)
    good(run(tmp_path, "login", d.url, "--device", "--project", "team-a"))
    kept_one = {"expirationTimestamp": "2099-01-01T00:00:00Z", "clientCertificateData": "certificate", "clientKeyData": "key"}
    with Answers({"*": answer(200, {"apiVersion": "x", "kind": "ExecCredential", "status": kept_one})}) as server:
        file = tmp_path / "config/shootctl/config.yaml"
        file.write_text(file.read_text().replace(d.url, server.url))
        ctl = functools.partial(run, tmp_path, "credential", "dev", XDG_RUNTIME_DIR=str(tmp_path / "run"))
        good(ctl())
        ages(tmp_path, 30)
        good(ctl())
        assert len(server.requests) == 1 and len(list((tmp_path / "run/shootctl").glob("*.json"))) == 1, "the second is answered by the first"
        for one in (tmp_path / "run/shootctl").glob("*.json"):
            one.unlink()
        good(ctl())
        assert len({re.search(rb"Bearer (\S+)", request)[1] for request in server.requests}) == 2, "and the token was renewed when one was sent"


# ---- a real provider ---------------------------------------------------------------------------------------------------

@pytest.fixture
def provider():
    if not shutil.which("node") or not (ROOT / "tests/js/node_modules/oidc-provider").exists():
        pytest.skip("node or oidc-provider is absent; `make deps-test` installs them")
    port = harness.free_port()
    popen = subprocess.Popen(["node", "oidc_provider.mjs", str(port), issuers.AUDIENCE], cwd=ROOT / "tests/js", text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    assert next((line for line in popen.stdout if line.startswith("ready ")), None), "the provider ended"
    yield f"http://127.0.0.1:{port}"
    popen.stdin.close()
    popen.wait(30)


def test_a_real_provider(make_sim, make_shootd, provider, tmp_path):
    d = make_shootd(make_sim().url, extra=issuers.configuration(provider, client_id="shootctl", scopes=["openid", "offline_access", "api"])).start().wait_upstream()
    wait_until(lambda: re.search(r"^shootd_oidc_keys [1-9]", d.http.get("/metrics").text, re.M), what="the keys")
    login = subprocess.Popen([SHOOTCTL, "login", d.url, "--device", "--project", "team-a"], env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    lines = [login.stderr.readline() for _ in range(2)]
    page, code = lines[0].split()[-1], lines[1].split()[-1]
    with web.Client(follow_redirects=True, timeout=30) as person:
        def send(text, **more):
            """Sends the form of a page as a browser does."""
            action = re.search(r'action="([^"]+)"', text)[1]
            hidden = dict(re.findall(r'name="([^"]+)"[^>]* value="([^"]*)"', text))
            return person.post(action if action.startswith("http") else provider + action, data={**hidden, **more}).text
        text = send(person.get(page).text, user_code=code)
        text = send(text, user_code=code) if 'name="confirm"' in text else text
        text = send(text, prompt="login", login="alice", password="any")
        send(text, prompt="consent")
    assert login.wait(60) == OK, lines + login.stderr.readlines()
    assert json.loads(good(run(tmp_path, "status", "-o", "json")))["whoami"]["subject"] == "alice"
    first = kept(tmp_path)
    ages(tmp_path, 30)
    good(run(tmp_path, "list"))
    assert kept(tmp_path)["token"] != first["token"] and kept(tmp_path)["login"]["refresh_token"]
