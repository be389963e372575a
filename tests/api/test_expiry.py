"""version.expiring: once per version and threshold, also over restarts. Upgrades combine the catalog, the expiry and Cleura's check."""

from datetime import datetime, timezone

from harness import wait_until


def versions(d):
    catalog = d.http.get("/v1/projects/team-a/catalog").json()
    return {v["version"]: v for v in catalog["kubernetes_versions"]}, catalog


def test_a_version_in_use_that_expires_is_told_once(sim, make_shootd):
    d = make_shootd(sim.url).start()
    offered, _ = wait_until(lambda: versions(d), what="the catalog")
    now = datetime.now(timezone.utc)
    days = {v: (datetime.fromisoformat(e["expires_at"].replace("Z", "+00:00")) - now).total_seconds() / 86400
            for v, e in offered.items() if e["expires_at"]}
    old, left = next((v, n) for v, n in sorted(days.items()) if 1 < n < 30)
    d.wait_operation(d.create("old", spec={"kubernetes_version": old})["operation"]["id"])
    d.wait_operation(d.create("new")["operation"]["id"])
    d.stop()
    d.start()  # the start reads the catalog
    events = wait_until(lambda: d.events(type="version.expiring", cluster="old"), what="version.expiring")
    data = events[0]["data"]
    assert data["component"] == "kubernetes" and data["component_version"] == old
    assert data["days_left"] == int(left) and data["expires_at"] == offered[old]["expires_at"]
    assert "cluster" in data and data["operation_id"] is None
    d.stop()
    sim.forget()
    d.start()
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["last_list_at"])
    wait_until(lambda: sim.requests("cloud_profiles"), what="catalog again")
    assert len(d.events(type="version.expiring", cluster="old")) == 1
    assert not [e for e in d.events(type="version.expiring", cluster="new")
                if e["data"]["component"] == "kubernetes"]


def test_upgrade_offers(sim, make_shootd, generation):
    d = make_shootd(sim.url, api=generation).start()
    d.wait_operation(d.create("dev", spec={"kubernetes_version": "1.33.6"})["operation"]["id"])
    answer = d.http.get(d.clusters_path("dev") + "/upgrades").json()
    offers = {o["version"]: o for o in answer["kubernetes"]["offers"]}
    assert answer["kubernetes"]["current"] == "1.33.6" and answer["kubernetes"]["state"] == "deprecated"
    assert offers["1.33.7"]["kind"] == "patch" and offers["1.33.7"]["recommended"]
    assert offers["1.34.3"]["kind"] == "minor" and offers["1.34.3"]["recommended"] and offers["1.34.3"]["rolls_nodes"]
    assert not offers["1.34.2"]["recommended"] and offers["1.34.2"]["expires_at"]
    assert "1.35.0" not in offers, "two minors away"
    if generation == "v2":
        assert offers["1.34.3"]["check"]["outcome"] == "ready" and answer["checked_by_cleura"]
        assert offers["1.34.2"]["check"] is None
    else:
        assert offers["1.34.3"]["check"] is None and not answer["checked_by_cleura"]


def test_offered_values_are_accepted(sim, make_shootd):
    """Each offer, for Kubernetes and for the image of a pool, passes a dry run; versions that a write refuses are not offered."""
    states = [("preview", None), ("deprecated", "2099-01-01T00:00:00Z"), ("unavailable", None), ("expired", None),
              ("supported", "2020-01-01T00:00:00Z")]  # no recommended version: the simulator does not know these
    catalog = sim.get("catalog")
    for entries, line in ((catalog["kubernetes"]["versions"], "1.34"), (catalog["machine_images"][0]["versions"], "9999.1")):
        entries += [{**entries[0], "version": f"{line}.{90 + i}", "classification": state, "expiration_date": end}
                    for i, (state, end) in enumerate(states)]
    sim.post("replay", answers=[{"operation": "cloud_profiles", "status": 200, "body": [catalog]}] * 5)
    d = make_shootd(sim.url).start()
    d.wait_operation(d.create("dev", spec={"kubernetes_version": "1.33.6", "node_pools": [{"name": "default"}]})["operation"]["id"])
    answer = d.http.get(d.clusters_path("dev") + "/upgrades").json()
    offers = [o["version"] for o in answer["kubernetes"]["offers"]]
    images = [o["version"] for o in answer["machine_images"][0]["offers"]]
    assert [v for v in offers if v.startswith("1.34.9")] == ["1.34.90", "1.34.91"]
    assert [v for v in images if v.startswith("9999.")] == ["9999.1.90", "9999.1.91"]
    for spec in [*({"kubernetes_version": v} for v in offers),
                 *({"node_pools": [{"name": "default", "image": {"version": v}}]} for v in images)]:
        told = d.http.patch(d.clusters_path("dev"), json={"spec": spec}, params={"dry_run": "true"},
                            headers={"Content-Type": "application/merge-patch+json"})
        assert told.status_code == 200 and told.json()["valid"], told.text


def test_upgrade_offers_without_cleura(sim, make_shootd):
    """Cleura's check fails: the offers stay, and state the reason."""
    d = make_shootd(sim.url).start()
    d.wait_operation(d.create("dev", spec={"kubernetes_version": "1.33.6"})["operation"]["id"])
    sim.fault("upgrade_check", "status", status=500, count=0)
    answer = d.http.get(d.clusters_path("dev") + "/upgrades")
    assert answer.status_code == 200
    check = next(o for o in answer.json()["kubernetes"]["offers"] if o["recommended"])["check"]
    assert check["error"]
