"""?dry_run=true returns the plan and changes nothing."""

import pytest

from harness import PROJECT_ID


@pytest.fixture
def shootd(shootd):
    return shootd.wait_upstream()


def plan(d, method, name="", **more):
    answer = d.http.request(method, d.clusters_path(name), params={"dry_run": "true"}, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_plans_of_all_writes(sim, make_shootd, generation):
    d = make_shootd(sim.url, api=generation).start()
    made = plan(d, "POST", json={"name": "dev", "spec": {"kubernetes_version": "1.33"}})
    assert made["valid"] and [s["type"] for s in made["steps"]] == ["bootstrap", "create_shoot"]
    assert {"path": "kubernetes_version", "old": None, "new": "1.33.7"} in made["changes"]
    # One pool with at most 3 nodes, plus one while rolling, of the machine type with 2 cores and 4 GiB.
    assert made["quota"] == {"before": {"nodes": 0, "cores": 0, "memory_mib": 0, "volume_gib": 0},
                             "after": {"nodes": 4, "cores": 8, "memory_mib": 16384, "volume_gib": 200}}
    assert d.cluster("dev").status_code == 404 and not d.events()
    assert plan(d, "PUT", "dev", json={})["steps"][-1]["type"] == "create_shoot"

    pools = [{"name": "a", "maximum": 2}, {"name": "b"}]
    d.wait_operation(d.create("dev", spec={"kubernetes_version": "1.33", "node_pools": pools})["operation"]["id"])
    before, revision = len(d.events()), d.cluster("dev").json()["revision"]
    sim.forget()
    wanted = {"kubernetes_version": "1.34", "node_pools": [{"name": "a", "maximum": 3, "machine_type": "b.4c8gb"}, {"name": "c"}]}
    change = plan(d, "PUT", "dev", json={"spec": wanted})
    assert [(s["type"], s["target"], s["rolls_nodes"]) for s in change["steps"]] == [
        ("patch_cluster", None, True), ("update_pool", "a", True), ("create_pool", "c", False),
        ("delete_pool", "b", False)]
    assert change["destructive"] and change["steps"][1]["reason"] == "the machine type changes"
    assert {"path": "node_pools.a.maximum", "old": 2, "new": 3} in change["changes"]
    # a: 2 + 1 nodes of 2 cores become 3 + 1 of 4; b: 3 + 1 of 2 are removed, c: 3 + 1 of 2 are added.
    assert (change["quota"]["before"]["cores"], change["quota"]["after"]["cores"]) == (14, 24)
    assert (change["quota"]["before"]["nodes"], change["quota"]["after"]["nodes"]) == (7, 8)
    equal = plan(d, "PATCH", "dev", json={"spec": {"kubernetes_version": "1.33"}})
    use = equal.pop("quota")
    assert equal == {"valid": True, "changes": [], "steps": [], "destructive": False, "warnings": [], "errors": []}
    assert use["before"] == use["after"] == change["quota"]["before"]
    wrong = plan(d, "PUT", "dev", json={"spec": {"kubernetes_version": "1.32", "node_pools": []}})
    assert not wrong["valid"] and {e["code"] for e in wrong["errors"]} == {"downgrade", "too_few"}
    slept = d.http.post(d.clusters_path("dev") + "/actions/hibernate", params={"dry_run": "true"}).json()
    assert slept["valid"] and [s["type"] for s in slept["steps"]] == ["hibernate"] and slept["quota"] is None
    assert d.http.post(d.clusters_path("dev") + "/actions/wake", params={"dry_run": ""}).json()["steps"] == []
    gone = plan(d, "DELETE", "dev")
    assert gone["quota"]["after"]["nodes"] == 0
    assert gone["destructive"] and [s["type"] for s in gone["steps"]] == ["delete_shoot"]

    assert len(d.events()) == before and d.cluster("dev").json()["spec"]["kubernetes_version"] == "1.33"
    assert d.cluster("dev").json()["revision"] - revision <= 2, "looks at Cleura only"
    assert not [r for r in sim.requests() if r["method"] != "GET"]


def test_a_dry_run_meets_the_same_walls(shootd):
    shootd.wait_operation(shootd.create("dev", deletion_protection=True)["operation"]["id"])
    path = shootd.clusters_path("dev")
    assert shootd.http.delete(path, params={"dry_run": "true"}).json()["code"] == "deletion_protected"
    assert shootd.http.post(shootd.clusters_path(), params={"dry_run": "true"}, json={"name": "dev"}).status_code == 409
    assert shootd.http.put(path, params={"dry_run": "true"}, json={}, headers={"If-None-Match": "*"}).status_code == 412
    assert shootd.http.get(path, params={"dry_run": "true"}).status_code == 400


def test_what_is_said_of_the_cluster_itself_is_reported(shootd):
    made = plan(shootd, "POST", json={"name": "dev", "labels": {"a": "b"}, "description": "mine", "deletion_protection": True})
    told = {c["path"]: (c["old"], c["new"]) for c in made["changes"]}
    assert (told["labels"], told["description"], told["deletion_protection"]) == ((None, {"a": "b"}), (None, "mine"), (None, True))
    shootd.wait_operation(shootd.create("dev", labels={"a": "b"}, deletion_protection=True)["operation"]["id"])
    assert plan(shootd, "PATCH", "dev", json={"labels": {"a": "c"}, "description": "x"})["changes"] == [
        {"path": "labels", "old": {"a": "b"}, "new": {"a": "c"}}, {"path": "description", "old": None, "new": "x"}]
    assert plan(shootd, "PUT", "dev", json={})["changes"] == [
        {"path": "labels", "old": {"a": "b"}, "new": {}}, {"path": "deletion_protection", "old": True, "new": False}]
    assert plan(shootd, "PUT", "dev", json={"labels": {"a": "b"}, "deletion_protection": True})["changes"] == []
    assert shootd.cluster("dev").json()["deletion_protection"] is True


def test_adoption_and_actions_that_replace_nodes_are_reported(sim, shootd):
    sim.post("shoots", count=1, prefix="found", state="ready")
    shootd.wait_phase("found-0000", "ready")
    assert {"path": "managed", "old": False, "new": True} in plan(shootd, "PUT", "found-0000", json={})["changes"]
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    [step] = plan(shootd, "POST", "dev/actions/rotate-ca-prepare")["steps"]
    assert step["rolls_nodes"] is True and "certificates" in step["reason"]
    [step] = plan(shootd, "POST", "dev/actions/maintain")["steps"]
    assert step["rolls_nodes"] is False and "may replace nodes" in step["reason"]
    [step] = plan(shootd, "POST", "dev/actions/hibernate")["steps"]
    assert step["rolls_nodes"] is False and step["reason"] is None


def warnings(answer):
    assert answer["valid"], answer
    return {(w["code"], w["pointer"]) for w in answer["warnings"]}


def test_a_create_that_fits_has_no_warning(sim, shootd):
    assert plan(shootd, "POST", json={"name": "dev"})["warnings"] == []
    assert [r["operation"] for r in sim.requests() if r["operation"] in ("name_taken", "quota", "create_shoot")] != []


def test_a_taken_name_is_reported(make_sim, make_shootd):
    """The cluster is in a project that is not ours: names are unique in the whole cloud."""
    other = "f" * 32
    sim = make_sim(project=[PROJECT_ID, other])
    sim.post("shoots", count=1, prefix="taken", state="ready", project=other)
    d = make_shootd(sim.url).start().wait_upstream()
    for method, name, body in (("POST", "", {"name": "taken-0000"}), ("PUT", "taken-0000", {})):
        answer = d.http.request(method, d.clusters_path(name), params={"dry_run": "true"}, json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "name_taken")
    assert d.cluster("taken-0000").status_code == 404


def test_what_cleura_does_not_tell_is_reported(sim, make_shootd):
    old = make_shootd(sim.url, api="v1").start()  # v1 has no such calls
    assert warnings(plan(old, "POST", json={"name": "dev"})) == {("name_unchecked", "#/name"), ("quota_unknown", "#/spec/node_pools")}


def test_the_worst_case_of_all_pools_is_held_to_the_quota(sim, shootd):
    limits = shootd.http.get("/v1/projects/team-a/quota").json()["limits"]
    machine = {"machine_type": "b.2c4gb", "minimum": 1, "volume_size_gib": 50}
    fits = {"node_pools": [machine | {"name": "a", "maximum": limits["instances"] // 2 - 1}]}
    told = plan(shootd, "POST", json={"name": "one", "spec": fits})
    shootd.wait_operation(shootd.create("one", spec=fits)["operation"]["id"])
    assert "quota_exceeded" not in {c for c, _ in warnings(told)}
    two = plan(shootd, "POST", json={"name": "two", "spec": {"node_pools": [machine | {"name": "a", "maximum": limits["instances"] // 2 + 2}]}})
    exceeded = {w["detail"].split(":")[0]: w for w in two["warnings"] if w["code"] == "quota_exceeded"}
    assert len(exceeded) == len([w for w in two["warnings"] if w["code"] == "quota_exceeded"]), "each resource once"
    machines = limits["instances"] // 2 * 2 + 1 + 2  # with one additional machine for each pool
    assert exceeded["machines"]["detail"] == f"machines: {machines} of {limits['instances']} if all pools of the project grow to their maximum"
    places = {"machines": "maximum", "cores": "machine_type", "memory": "machine_type", "volumes": "volume_size_gib"}
    assert {what: w["pointer"] for what, w in exceeded.items()} == {what: f"#/spec/node_pools/0/{places[what]}" for what in exceeded}


def test_what_breaks_the_monitoring_views_is_reported(shootd):
    spec = {"allowed_cidrs": ["192.0.2.0/24"]}
    blocked = ("monitoring_blocked", "#/spec/allowed_cidrs")
    assert warnings(plan(shootd, "POST", json={"name": "dev", "spec": spec})) == {blocked}
    for fine in ([], ["192.0.2.0/24", "141.255.187.164/32"], ["141.255.0.0/16"]):
        assert warnings(plan(shootd, "POST", json={"name": "dev", "spec": {"allowed_cidrs": fine}})) == set()
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    assert warnings(plan(shootd, "PATCH", "dev", json={"spec": spec})) == {blocked}


def test_a_surge_below_the_number_of_zones_is_reported(sim, make_shootd):
    sim.post("catalog", zones={"Sto2": ["nova", "nova2"]})
    d = make_shootd(sim.url).start().wait_upstream()

    def of(pool):
        return warnings(plan(d, "POST", json={"name": "dev", "spec": {"node_pools": [{"name": "a", "maximum": 4, **pool}]}}))
    two = {"zones": ["nova", "nova2"]}
    assert of({**two, "max_surge": 1}) == {("surge_below_zones", "#/spec/node_pools/0/max_surge")}
    assert of({**two, "max_surge": 2}) == set()
    assert of({"zones": ["nova2"], "max_surge": 1}) == set()


def test_a_schedule_that_moves_to_utc_is_reported(sim, shootd):
    night = {"start": "0 18 * * 1-5", "end": "0 7 * * 1-5"}
    shoot = {"name": "dev", "spec": {"schedules": [night | {"location": "Europe/Stockholm"}]}}
    sim.http.put("/_sim/state", json={"bootstrapped": [], "shoots": [shoot]}).raise_for_status()
    shootd.wait_phase("dev", "ready")
    wanted = {"spec": {"hibernation_schedules": [night | {"location": "UTC"}]}}
    assert warnings(plan(shootd, "PUT", "dev", json=wanted)) == {("time_zone_lost", "#/spec/hibernation_schedules/0/location")}
