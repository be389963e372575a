"""API tokens: their lifetime, changes, new secrets, and that the last admin stays."""

import concurrent.futures
import contextlib
import datetime
import os
import re
import signal
import sqlite3
import subprocess
import time

import pytest

import web
from harness import BUILD, wait_until

DAY = 86400


@pytest.fixture
def d(shootd):
    return shootd


def make(d, **body):
    answer = d.http.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["team-a"], **body})
    assert answer.status_code == 201, answer.text
    return answer.json()


def who(d, secret):
    return web.get(d.url + "/v1/whoami", headers={"Authorization": f"Bearer {secret}"})


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def expiring(d):
    return [e["data"] for e in d.events() if e["type"] == "token.expiring"]


def lifetime(token, since="created_at"):
    return (seconds(token["expires_at"]) - seconds(token[since])) / DAY


def test_a_token_lives_for_90_days_unless_it_is_said(d):
    assert lifetime(make(d)) == 90 and lifetime(make(d, expires_in_days=7)) == 7
    assert make(d, expires_in_days=None)["expires_at"] is None
    for wrong in (0, 3651, 1.5, "7"):
        refused = d.http.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["*"], "expires_in_days": wrong})
        assert refused.status_code == 422 and refused.json()["errors"][0]["pointer"] == "#/expires_in_days", refused.text


def test_name_projects_and_description_change_the_rest_does_not(d):
    token = make(d, description="Deploys the shop.")
    path = f"/v1/tokens/{token['id']}"
    assert d.http.get(path).json()["description"] == "Deploys the shop."
    changed = d.http.patch(path, json={"name": "shop", "description": None})
    assert changed.status_code == 200 and (changed.json()["name"], changed.json()["description"]) == ("shop", None)
    assert who(d, token["token"]).json()["name"] == "shop", "the answer holds for the next request"
    assert d.http.patch(path, json={"projects": ["*"]}).json()["projects"] == ["*"]
    assert d.http.patch(path, json={}).json() == d.http.get(path).json()
    for body, pointer in (({"role": "admin"}, "#/role"), ({"name": ""}, "#/name"), ({"name": None}, "#/name"), ({"projects": []}, "#/projects"),
                          ({"projects": None}, "#/projects"), ({"projects": ["no-such"]}, "#/projects/0"), ({"description": "x" * 501}, "#/description")):
        refused = d.http.patch(path, json=body)
        assert refused.status_code == 422 and refused.json()["errors"][0]["pointer"] == pointer, refused.text
    d.stop()
    d.start()
    assert who(d, token["token"]).json()["projects"] == ["*"]


def test_a_rotation_keeps_the_old_secret_for_the_grace_only(d):
    token = make(d, expires_in_days=30)
    path = f"/v1/tokens/{token['id']}"
    second = d.http.post(path + "/rotate", json={"grace_seconds": 3}).json()
    assert second["id"] == token["id"] and second["token"] != token["token"] and second["last4"] == second["token"][-4:]
    assert lifetime(second, "rotated_at") == 30, "the same lifetime anew"
    assert who(d, token["token"]).status_code == who(d, second["token"]).status_code == 200
    assert len([t for t in d.http.get("/v1/tokens").json()["items"] if t["id"] == token["id"]]) == 1
    wait_until(lambda: who(d, token["token"]).status_code == 401, timeout=10, what="the end of the grace")
    assert who(d, second["token"]).status_code == 200
    third = d.http.post(path + "/rotate", json={"expires_in_days": None}).json()
    assert third["expires_at"] is None and third["old_secret_ends_at"]
    d.stop()
    d.start()
    assert who(d, second["token"]).status_code == who(d, third["token"]).status_code == 200, "over a restart, too"
    fourth = d.http.post(path + "/rotate").json()
    assert who(d, second["token"]).status_code == 401, "two secrets live, never three"
    assert who(d, third["token"]).status_code == who(d, fourth["token"]).status_code == 200
    leaked = d.http.post(path + "/rotate", json={"grace_seconds": 0}).json()
    assert who(d, fourth["token"]).status_code == 401 and who(d, third["token"]).status_code == 401 and leaked["old_secret_ends_at"] is None
    assert d.http.delete(path).status_code == 204
    assert who(d, leaked["token"]).status_code == 401 and d.http.post(path + "/rotate").status_code == 404
    for secret in (token, second, third, fourth, leaked):
        assert secret["token"] not in d.log(), "a secret is in the log"


def test_a_revoked_token_takes_its_old_secret_along(d):
    token = make(d)
    second = d.http.post(f"/v1/tokens/{token['id']}/rotate").json()
    assert d.http.delete(f"/v1/tokens/{token['id']}").status_code == 204
    assert who(d, token["token"]).status_code == who(d, second["token"]).status_code == 401


def change_sets(d):
    return int(re.search(r"^shootd_store_change_sets_total (\d+)", d.http.get("/metrics").text, re.M)[1])


def test_the_last_use_is_told_to_the_minute_and_stored_once_a_minute(d):
    token = make(d)
    path = f"/v1/tokens/{token['id']}"
    assert token["last_used_at"] is None
    d.http.get(path)  # its first use in this minute
    began, stored = time.time(), change_sets(d)
    for _ in range(50):
        assert who(d, token["token"]).status_code == 200
    used = d.http.get(path).json()["last_used_at"]
    assert used.endswith(":00Z") and began - 60 <= seconds(used) <= time.time(), used
    wait_until(lambda: change_sets(d) > stored, timeout=20, what="the use is stored")
    assert change_sets(d) - stored <= 2 * (2 + (time.time() - began) // 60), "two tokens, each at most once a minute"
    d.stop()
    d.start()
    assert d.http.get(path).json()["last_used_at"] == used
    assert who(d, token["token"][:-1] + "x").status_code == 401


def stored_ids(d):
    with contextlib.closing(sqlite3.connect(f"file:{d.state}/shootd.db?mode=ro", uri=True)) as db:
        return {row[0] for row in db.execute("SELECT id FROM tokens")}


def test_ended_tokens_are_removed(d):
    """A revoked token is removed from memory and store at once, an expired one 30 days after its end; the same for tokens stored as
    revoked."""
    revoked, ended, shown, old = (make(d, name=name, expires_in_days=1) for name in ("revoked", "ended", "shown", "old"))
    assert d.http.delete(f"/v1/tokens/{revoked['id']}").status_code == 204
    assert revoked["id"] not in stored_ids(d)
    assert d.http.delete(f"/v1/tokens/{revoked['id']}").status_code == 404
    now = time.time()
    change_stored(d, {(ended["id"], "expires_at"): now - 30 * DAY - 1, (shown["id"], "expires_at"): now - 29 * DAY, (old["id"], "revoked_at"): now})
    wait_until(lambda: stored_ids(d) == {shown["id"], d.http.get("/v1/whoami").json()["id"]}, timeout=20, what="removal of what is over")
    assert [t["name"] for t in d.http.get("/v1/tokens").json()["items"] if t["id"] == shown["id"]] == ["shown"]
    assert who(d, shown["token"]).status_code == who(d, old["token"]).status_code == 401
    assert 'shootd_auth_failures_total{reason="expired"} 1\n' in d.http.get("/metrics").text
    for gone in (ended, old):
        assert d.http.get(f"/v1/tokens/{gone['id']}").status_code == d.http.post(f"/v1/tokens/{gone['id']}/rotate").status_code == 404
    assert expiring(d) == []


def test_a_repeated_rotation_with_a_key_gives_the_same_secret(d):
    token = make(d)
    key = {"Idempotency-Key": "rotate-0123456789"}
    first, again = (d.http.post(f"/v1/tokens/{token['id']}/rotate", headers=key) for _ in range(2))
    assert first.json()["token"] == again.json()["token"] and again.headers["Idempotency-Replayed"] == "true"


def test_the_last_admin_of_everything_stays(d):
    admin = "/v1/tokens/" + d.http.get("/v1/whoami").json()["id"]
    limited = make(d, name="half", role="admin")
    for refused in (d.http.delete(admin), d.http.patch(admin, json={"projects": ["team-a"]})):
        assert refused.status_code == 409 and refused.json()["code"] == "last_admin", refused.text
    assert d.http.patch(admin, json={"name": "root"}).status_code == 200
    other = make(d, name="other", role="admin", projects=["*"])
    assert d.http.patch(f"/v1/tokens/{other['id']}", json={"projects": ["team-a"]}).status_code == 200
    assert d.http.delete(admin).status_code == 409, "now it is the last one"
    assert d.http.patch(f"/v1/tokens/{other['id']}", json={"projects": ["*"]}).status_code == 200
    assert d.http.delete(admin).status_code == 204
    bearer = {"Authorization": "Bearer " + other["token"]}
    assert web.delete(f"{d.url}/v1/tokens/{other['id']}", headers=bearer).status_code == 409
    assert web.delete(f"{d.url}/v1/tokens/{limited['id']}", headers=bearer).status_code == 204


def test_an_admin_that_is_not_stored_yet_does_not_count(d):
    admin = "/v1/tokens/" + d.http.get("/v1/whoami").json()["id"]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with store_that_hangs(d):
            other = pool.submit(web.post, d.url + "/v1/tokens", json={"name": "other", "role": "admin", "projects": ["*"]}, headers=d.http.headers, timeout=60)
            wait_until(lambda: d.parked() == 1, what="the new admin to wait for the store")
            for refused in (d.http.delete(admin, timeout=10), d.http.patch(admin, json={"projects": ["team-a"]}, timeout=10)):
                assert refused.status_code == 409 and refused.json()["code"] == "last_admin", refused.text
        assert other.result().status_code == 201
    assert d.http.delete(admin).status_code == 204 and who(d, other.result().json()["token"]).status_code == 200


def test_a_limited_admin_gives_and_touches_no_more_than_it_has(d):
    half = make(d, name="half", role="admin")
    everything = make(d, name="wide", projects=["*"])
    with web.Client(base_url=d.url, headers={"Authorization": "Bearer " + half["token"]}) as limited:
        path = f"/v1/tokens/{everything['id']}"
        assert [limited.get(path).status_code, limited.patch(path, json={"name": "x"}).status_code, limited.post(path + "/rotate").status_code,
                limited.delete(path).status_code] == [404] * 4
        mine = limited.post("/v1/tokens", json={"name": "mine", "role": "viewer", "projects": ["team-a"]}).json()
        assert limited.patch(f"/v1/tokens/{mine['id']}", json={"projects": ["*"]}).status_code == 422


def test_the_end_of_a_token_is_told_14_days_and_1_day_ahead_each_once(d):
    """A token with a shorter lifetime sends no early event, because its maker knows the end."""
    short, long = make(d, name="short", expires_in_days=1), make(d, name="long", expires_in_days=15)
    time.sleep(6)  # the check runs every 5 s
    assert expiring(d) == []
    del short
    change_stored(d, {(long["id"], "expires_at"): seconds(long["expires_at"]) - 13.5 * DAY})
    wait_until(lambda: expiring(d), timeout=20, what="token.expiring")
    told = expiring(d)
    assert len(told) == 1 and (told[0]["token"], told[0]["token_name"], told[0]["url"]) == (long["id"], "long", f"/v1/tokens/{long['id']}"), told
    assert told[0]["days_left"] <= 2 and "rotate" in told[0]["message"]
    change_stored(d, {(long["id"], "expires_at"): seconds(long["expires_at"]) - 14.5 * DAY})
    wait_until(lambda: len(expiring(d)) > 1, timeout=20, what="the second token.expiring")
    d.stop()
    d.start()
    time.sleep(6)
    told = expiring(d)
    assert [(e["token"], e["days_left"]) for e in told] == [(long["id"], 2), (long["id"], 1)], told


@contextlib.contextmanager
def store_that_hangs(d):
    """Another process locks the store; shootd waits up to 5 s for it."""
    with contextlib.closing(sqlite3.connect(d.state / "shootd.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


def change_stored(d, times):
    """Changes times of stored tokens, in seconds, by id and member."""
    d.stop()
    with contextlib.closing(sqlite3.connect(d.state / "shootd.db")) as db, db:
        for (id, member), at in times.items():
            assert db.execute("UPDATE tokens SET doc = json_set(doc, ?, ?) WHERE id = ?", (f"$.{member}", int(at * 1e6), id)).rowcount == 1
    d.start()


# ---- shootd admin-token ----

def admin_token(d, **more):
    """Runs the command while the daemon of `d` runs, or after it stopped."""
    return subprocess.Popen([BUILD / "shootd", "admin-token", "--config", d.config], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def test_a_writer_of_the_state_directory_gets_an_admin_token(d):
    process = admin_token(d)
    secret, said = process.communicate(timeout=20)
    assert process.returncode == 0 and "is valid from now on" in said, said
    asked = who(d, secret.strip()).json()
    assert (asked["role"], asked["projects"]) == ("admin", ["*"]) and asked["id"] in said
    token = d.http.get(f"/v1/tokens/{asked['id']}").json()
    assert lifetime(token) == 90 and token["created_by"] == f"shootd admin-token (user {os.getuid()})"
    entries = d.http.get("/v1/audit").json()["items"]
    assert [(e["action"], e["token_name"], e["outcome"]) for e in entries if e["target"] == asked["id"]] == \
        [("createToken", token["created_by"], "success")]
    assert secret.strip() not in d.log() and not list(d.state.glob("admin-token.request*"))


def test_a_token_that_was_made_while_shootd_did_not_run_is_good_when_it_does(d):
    d.stop()
    process = admin_token(d)
    other = wait_until(lambda: (d.state / "admin-token.request").exists() and admin_token(d), timeout=10, what="the file")
    assert other.communicate(timeout=20)[0] == "" and other.returncode == 69, "one at a time"
    secret, said = process.communicate(timeout=20)
    assert process.returncode == 0 and "will be valid when shootd runs" in said, said
    assert secret.strip() not in (d.state / "admin-token.request").read_text()
    d.start()
    wait_until(lambda: who(d, secret.strip()).status_code == 200, timeout=10, what="the token")
    wait_until(lambda: not (d.state / "admin-token.request").exists(), timeout=10, what="the file is removed")
    made = who(d, secret.strip()).json()["id"]
    assert [(e["action"], e["token_name"], e["outcome"]) for e in d.http.get("/v1/audit").json()["items"] if e["target"] == made] == \
        [("createToken", f"shootd admin-token (user {os.getuid()})", "success")], "once, as by a daemon that ran"


def left(d):
    return sorted(p.name for p in d.state.glob("admin-token.*"))


def put_in_place_of_the_request(d, text, mode=0o600):
    path = d.state / "draft"
    path.write_text(text)
    path.chmod(mode)
    path.rename(d.state / "admin-token.request")


@pytest.mark.parametrize("text, mode, why", [("{}", 0o600, "this is no token"), ("no JSON", 0o600, "no JSON"), ("{}", 0o644, "Operation not permitted")])
def test_a_token_that_is_refused_is_told_so(d, text, mode, why):
    """The file is removed in both cases; its absence proves nothing."""
    d.process.popen.send_signal(signal.SIGSTOP)
    try:
        process = admin_token(d)
        wait_until(lambda: (d.state / "admin-token.request").exists(), what="the file")
        put_in_place_of_the_request(d, text, mode)
    finally:
        d.process.popen.send_signal(signal.SIGCONT)
    secret, said = process.communicate(timeout=20)
    assert (process.returncode, secret) == (69, "") and f"refused by the running shootd: {why}\n" in said, said
    secret, said = admin_token(d).communicate(timeout=20)
    assert "is valid from now on" in said and who(d, secret.strip()).status_code == 200
    wait_until(lambda: left(d) == [], what="the files to go")


def test_a_file_that_was_left_meanwhile_is_another_one(d):
    """While the store hangs, shootd has the first token. A user who gives up and leaves a second file gets that one stored, too."""
    before = stored_ids(d)
    with store_that_hangs(d):
        first = admin_token(d)
        wait_until(lambda: "token created" in d.log(), what="the first one to be handed over")
        first.kill()
        first.communicate()
        (d.state / "admin-token.request").unlink(missing_ok=True)
        second = admin_token(d)
        wait_until(lambda: (d.state / "admin-token.request").exists(), what="the second file")
    secret, said = second.communicate(timeout=20)
    assert second.returncode == 0 and "is valid from now on" in said, said
    assert who(d, secret.strip()).status_code == 200
    assert len(stored_ids(d) - before) == 2
    wait_until(lambda: left(d) == [], what="the files to go")


@pytest.mark.parametrize("text, mode", [("no JSON", 0o600), ("{}", 0o600), ('{"id": "tok_x", "role": "admin"}', 0o600), (None, 0o644)])
def test_a_file_that_is_no_token_is_refused_and_removed(d, text, mode):
    before = stored_ids(d)
    if text is None:  # a valid token that other users could have written
        text = '{"id":"tok_01m7yahgycv5hxg2qqqaz3am6t","name":"x","role":"admin","projects":["*"],"digest":"' + "A" * 43 + '="}'
    put_in_place_of_the_request(d, text, mode)
    wait_until(lambda: not (d.state / "admin-token.request").exists(), timeout=10, what="the file is removed")
    assert stored_ids(d) == before and "admin-token" in d.log()
