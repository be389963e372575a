"""ETags name the state, not its age: a client that polls gets 304 while nothing changes, with the present age."""

import pytest

from harness import wait_until

PATHS = ["/v1/projects/team-a/clusters/dev-0000", "/v1/clusters", "/v1/clusters?sort=-phase&fields=summary"]


@pytest.fixture
def d(sim, make_shootd, any_generation):
    sim.post("shoots", count=2, prefix="dev", state="ready")
    d = make_shootd(sim.url, api=any_generation, polling="{active: 200ms, idle: 200ms, discovery: 300ms}").start()
    wait_until(lambda: len(d.http.get("/v1/clusters").json()["items"]) == 2, what="discovery")
    wait_until(lambda: d.cluster("dev-0000").json()["status"]["phase"] == "ready", what="calm")
    return d


def settled(d, path):
    """An answer whose ETag still matched in a second request."""
    def same():
        first = d.http.get(path)
        return first if d.http.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304 else None
    return wait_until(same, what="a tag that stays")


@pytest.mark.parametrize("path", PATHS)
def test_looks_that_find_nothing_new_leave_the_tag(d, path):
    first = settled(d, path)
    seen = {first.headers["Observed-At"]}

    def looked_often():
        known = d.http.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert known.status_code == 304 and known.headers["ETag"] == first.headers["ETag"], "nothing changed"
        assert int(known.headers["Age"]) < 30 and known.headers["Observed-At"] >= max(seen)
        seen.add(known.headers["Observed-At"])
        return len(seen) >= 5
    wait_until(looked_often, what="five looks")
    again = d.http.get(path)
    assert again.headers["ETag"] == first.headers["ETag"] and again.headers["Observed-At"] > first.headers["Observed-At"]
    document = again.json()
    clusters = document["items"] if "items" in document else [document]
    told = [(c.get("status") or c)["observed_at"] for c in clusters]
    assert min(told) == again.headers["Observed-At"], "the body tells it, too"


def test_a_cluster_that_cleura_has_not_reported_is_0_s_old(sim, d):
    wait_until(lambda: d.http.get("/v1/projects/team-a/catalog").status_code == 200, what="the catalog")
    for call in ("create_shoot", "list_shoots", "get_shoot"):
        sim.fault(call, "status", status=503, count=0)
    d.create("new")
    for headers in ({}, {"If-None-Match": d.cluster("new").headers["ETag"]}):
        answer = d.http.get(d.clusters_path("new"), headers=headers)
        assert answer.headers["Age"] == "0" and "Observed-At" not in answer.headers, answer.headers


def test_a_change_and_an_outage_change_the_tag(sim, d):
    tags = {path: settled(d, path).headers["ETag"] for path in PATHS}

    def changed():
        return all(d.http.get(path, headers={"If-None-Match": tag}).status_code == 200 for path, tag in tags.items())
    assert d.http.put(PATHS[0], json={"description": "adopted"}).status_code in (200, 202)
    wait_until(changed, what="other tags")
    tags = {path: settled(d, path).headers["ETag"] for path in PATHS}
    for call in ("list_shoots", "get_shoot"):
        sim.fault(call, "status", status=503, count=0)
    wait_until(changed, what="what is stale has another tag")
    assert d.cluster("dev-0000").json()["status"]["stale"] is True
    stale = settled(d, PATHS[0])
    assert int(stale.headers["Age"]) >= 0 and stale.headers["Observed-At"]


def refused(answer):
    assert answer.status_code == 412 and answer.json()["code"] == "precondition_failed", answer.text


def test_a_token_changes_only_in_the_version_that_was_seen(sim, make_shootd):
    d = make_shootd(sim.url).start()
    token = d.http.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["team-a"]}).json()
    path = f"/v1/tokens/{token['id']}"
    seen = d.http.get(path).headers["ETag"]
    assert d.http.get("/v1/whoami", headers={"Authorization": f"Bearer {token['token']}"}).status_code == 200
    wait_until(lambda: d.http.get(path).json()["last_used_at"], what="use of the token")
    assert d.http.get(path, headers={"If-None-Match": seen}).status_code == 200, "its use is shown"
    changed = d.http.patch(path, json={"description": "pipelines"}, headers={"If-Match": seen})
    assert changed.status_code == 200, "its use is not a change"
    assert changed.headers["ETag"] == d.http.get(path).headers["ETag"]
    old = {"If-Match": seen}
    refused(d.http.patch(path, json={"description": "lost"}, headers=old))
    refused(d.http.patch(path, json={"description": "lost"}, headers={"If-None-Match": "*"}))
    refused(d.http.post(path + "/rotate", headers=old))
    refused(d.http.delete(path, headers=old))
    assert d.http.get(path).json() == changed.json()
    assert d.http.patch(path, json={"unknown": 1}, headers=old).status_code == 422, "preconditions are checked last"
    assert d.http.post(path + "/rotate", json={"grace_seconds": 1}, headers={"If-Match": changed.headers["ETag"]}).status_code == 200
    rotated = d.http.get(path).headers["ETag"]
    wait_until(lambda: not d.http.get(path).json()["old_secret_ends_at"], what="the end of the old secret")
    assert d.http.patch(path, json={}, headers={"If-Match": rotated}).status_code == 200, "the end of the old secret is not a change"
    refused(d.http.delete(path, headers={"If-Match": changed.headers["ETag"]}))
    assert d.http.delete(path, headers={"If-Match": f'"other", {rotated}'}).status_code == 204


def test_freezes_change_only_in_the_version_that_was_seen(sim, make_shootd):
    d = make_shootd(sim.url).start()
    freeze = {"scope": "all", "reason": "year end"}

    def put(**headers):
        return d.http.put("/v1/freeze", json=freeze, headers={k.replace("_", "-"): v for k, v in headers.items()})
    none = d.http.get("/v1/freeze").headers["ETag"]
    refused(put(If_Match="*"))
    assert put(If_None_Match="*").status_code == 200
    refused(put(If_None_Match="*"))
    refused(put(If_Match=none))
    refused(d.http.delete("/v1/freeze", headers={"If-Match": none}))
    now = d.http.get("/v1/freeze")
    assert len(now.json()["items"]) == 1
    assert d.http.delete("/v1/freeze", headers={"If-Match": "W/" + now.headers["ETag"]}).status_code == 204
    assert d.http.get("/v1/freeze").headers["ETag"] == none
    assert put(If_Match=none).status_code == 200
