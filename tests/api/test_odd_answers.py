"""An odd member in Cleura's answer is unknown, and everything else counts: the cluster is shown and can be managed, other clusters are
not affected. The same for unknown words."""

import json
import re

import pytest

from harness import wait_until
from test_budgets import between, is_list, metric  # noqa: F401 (fixture)

NO_CACHE = {"Cache-Control": "no-cache"}


def make_odd(row, generation):
    """JSON that RFC 8259 allows, in a form that nobody would write."""
    if generation == "v2":
        run, status, provider = row["last_operation"], row["status"], row["shoot_provider"]
        row.update(generation=2**64 - 1, purpose="\ud83d")
        provider["workers"][0]["max_surge"] = "25%"
        run["last_update_time"] = "0001-01-01T00:00:00Z"
    else:
        run, status, provider = row["status"]["lastOperation"], row["status"], row["spec"]["provider"]
        row["metadata"]["generation"] = 2**64 - 1
        row["spec"]["purpose"] = "\ud83d"
        provider["workers"][0]["maxSurge"] = "25%"
        run["lastUpdateTime"] = "2026-03-01T12:05:00"
    run["progress"] = "HUGE"
    status["conditions"] = {}
    return row


def odd_answers(generation):
    def name_of(row):
        return (row if generation == "v2" else row["metadata"])["name"]

    def replace(method, path, answer):
        one = method == "GET" and path.endswith("/odd-0000")
        if answer.status_code != 200 or not (one or is_list(method, path)):
            return None
        doc = json.loads(answer.content)
        doc = make_odd(doc, generation) if one else [make_odd(row, generation) if name_of(row) == "odd-0000" else row for row in doc]
        return json.dumps(doc).replace('"HUGE"', "1e400").encode()
    return replace


def test_a_cluster_with_odd_members_is_managed_like_any_other(sim, between, make_shootd, generation):  # noqa: F811
    sim.post("shoots", prefix="odd", state="ready")
    sim.post("shoots", prefix="even", state="ready")
    between.replace = odd_answers(generation)
    d = make_shootd(between.url, api=generation).start()
    cluster = d.wait_phase("odd-0000", "ready")
    even = d.wait_phase("even-0000", "ready")
    observed, pool = cluster["observed"], cluster["observed"]["node_pools"][0]
    assert observed["purpose"] is None and pool["max_surge"] is None
    assert observed["kubernetes_version"] == even["observed"]["kubernetes_version"] and pool["maximum"] >= pool["minimum"] >= 1
    assert cluster["status"]["health"] == "unknown" and cluster["status"]["last_operation"]["progress"] is None
    for name in ("odd-0000", "even-0000") * 3:
        fresh = d.http.get(d.clusters_path(name), headers=NO_CACHE)
        assert fresh.status_code == 200 and not fresh.json()["status"]["stale"], fresh.headers["Cache-Status"]
    assert metric(d, "shootd_upstream_members_unread_total") >= 5 and metric(d, "shootd_upstream_rows_refused_total") == 0
    path = "/shoot_provider/workers/0/max_surge" if generation == "v2" else "/spec/provider/workers/0/maxSurge"
    assert d.log().count(f"member {path}") + d.log().count(f"member={path}") == 1, d.log()
    assert "no JSON" not in d.log()
    spec = {"node_pools": [{"name": pool["name"], "maximum": pool["maximum"]}]}
    adopted = d.http.put(d.clusters_path("odd-0000"), json={"spec": spec})
    assert adopted.status_code == 200 and adopted.json()["managed"] and adopted.json()["drift"] == [], adopted.text
    deleted = d.http.delete(d.clusters_path("odd-0000"))
    assert deleted.status_code == 202, deleted.text
    assert d.wait_operation(deleted.json()["operation"]["id"])["status"] == "succeeded"
    assert d.cluster("odd-0000").status_code == 404


def test_each_member_is_named_once_in_the_log(sim, between, make_shootd, generation):  # noqa: F811
    """A member is logged once, however many clusters have it and however often they are read. The same member of another pool counts as the same."""
    sim.post("shoots", count=3, prefix="odd", state="ready")

    def replace(method, path, answer):
        if answer.status_code != 200 or not is_list(method, path):
            return None
        return json.dumps([make_odd(row, generation) for row in json.loads(answer.content)]).replace('"HUGE"', "1e400").encode()
    between.replace = replace
    d = make_shootd(between.url, api=generation).start()
    for name in ("odd-0000", "odd-0001", "odd-0002"):
        d.wait_phase(name, "ready")
    before = metric(d, "shootd_upstream_members_unread_total")
    for name in ("odd-0000", "odd-0001") * 3:
        assert d.http.get(d.clusters_path(name), headers=NO_CACHE).status_code == 200
    assert metric(d, "shootd_upstream_members_unread_total") >= before
    named = re.findall(r"is treated as unknown.*?member[ =](\S+)", d.log())
    assert sorted(named) == sorted(set(named)) and len(named) >= 4, named


@pytest.mark.parametrize("what", ["a stage", "a state", "an outcome"])
def test_a_word_that_was_not_heard_before_means_in_progress(sim, between, make_shootd, what):  # noqa: F811
    d = make_shootd(between.url).start()
    d.wait_operation(d.create("dev", spec={"kubernetes_version": "1.33"})["operation"]["id"])
    path, seen = d.clusters_path("dev"), {"rotate": 0, "odd": True}

    def replace(method, to, answer):
        seen["rotate"] += method == "PATCH" and to.endswith("/ca/rotate")
        if not seen["odd"] or answer.status_code != 200:
            return None
        if what == "a stage" and to.endswith("/rotation-stage") and seen["rotate"]:
            return b'{"stage":"PreparingWithoutWorkersRollout"}'
        if what == "a state" and seen["rotate"] and method == "GET" and (to.endswith("/dev") or is_list(method, to)):
            return answer.content.replace(b'"Succeeded"', b'"Levitating"')
        if what == "an outcome" and "/upgrade/check" in to:
            return b'{"outcome":"Postponed","details":[],"upgrade_notes":null}'
        return None
    between.replace = replace
    if what == "an outcome":
        checks = [offer["check"] for offer in d.http.get(path + "/upgrades").json()["kubernetes"]["offers"] if offer["check"]]
        assert checks and {(check["outcome"], check["word"]) for check in checks} == {("pending", "Postponed")}
        return
    op = d.http.post(path + "/actions/rotate-ca-prepare").json()["operation"]["id"]
    word = "PreparingWithoutWorkersRollout" if what == "a stage" else "Levitating"
    wait_until(lambda: word in (d.operation(op)["message"] or ""), what="the word")
    assert d.operation(op)["status"] == "running" and d.cluster("dev").json()["status"]["phase"] == "updating"
    seen["odd"] = False
    assert d.wait_operation(op)["status"] == "succeeded" and seen["rotate"] == 1
