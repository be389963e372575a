"""API tokens: how long they live, what may be changed of them, another secret, and that the last admin stays."""

import datetime
import time

import httpx
import pytest

from harness import wait_until

DAY = 86400


@pytest.fixture
def d(shootd):
    return shootd


def make(d, **body):
    answer = d.http.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["team-a"], **body})
    assert answer.status_code == 201, answer.text
    return answer.json()


def who(d, secret):
    return httpx.get(d.url + "/v1/whoami", headers={"Authorization": f"Bearer {secret}"})


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


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
    assert httpx.delete(f"{d.url}/v1/tokens/{other['id']}", headers=bearer).status_code == 409
    assert httpx.delete(f"{d.url}/v1/tokens/{limited['id']}", headers=bearer).status_code == 204


def test_a_limited_admin_gives_and_touches_no_more_than_it_has(d):
    half = make(d, name="half", role="admin")
    everything = make(d, name="wide", projects=["*"])
    with httpx.Client(base_url=d.url, headers={"Authorization": "Bearer " + half["token"]}) as limited:
        path = f"/v1/tokens/{everything['id']}"
        assert [limited.get(path).status_code, limited.patch(path, json={"name": "x"}).status_code, limited.post(path + "/rotate").status_code,
                limited.delete(path).status_code] == [404] * 4
        mine = limited.post("/v1/tokens", json={"name": "mine", "role": "viewer", "projects": ["team-a"]}).json()
        assert limited.patch(f"/v1/tokens/{mine['id']}", json={"projects": ["*"]}).status_code == 422


def expiring(d):
    return [e["data"] for e in d.events() if e["type"] == "token.expiring"]


def test_the_end_of_a_token_is_told_14_days_and_1_day_ahead_each_once(d):
    """A token that is made for less is not told of at once: who made it knows."""
    short, long = make(d, name="short", expires_in_days=1), make(d, name="long", expires_in_days=15)
    time.sleep(6)  # a look, every 5 s
    assert expiring(d) == []
    del short
    ends = f"{int((seconds(long['expires_at']) - 13.5 * DAY) * 1e6)}"
    shift(d, long["id"], ends)
    wait_until(lambda: expiring(d), timeout=20, what="token.expiring")
    told = expiring(d)
    assert len(told) == 1 and (told[0]["token"], told[0]["token_name"], told[0]["url"]) == (long["id"], "long", f"/v1/tokens/{long['id']}"), told
    assert told[0]["days_left"] <= 2 and "rotate" in told[0]["message"]


def shift(d, id, expires_at):
    """The stored token ends at another time."""
    import sqlite3
    d.stop()
    with sqlite3.connect(d.state / "shootd.db") as db:
        assert db.execute("UPDATE tokens SET doc = json_set(doc, '$.expires_at', ?) WHERE id = ?", (int(expires_at), id)).rowcount == 1
    db.close()
    d.start()
