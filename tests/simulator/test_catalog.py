"""The cloud profile, and data that a test may put into it."""

import pytest

from conftest import create_body, v1_create_body, worker_body

GPU = {"name": "g.8c64gb", "cpu": 8, "gpu": 1, "memory": "64Gi"}


def profile(sim):
    return sim.request("GET", f"{sim.G}/cloud-profiles").json()[0]


def test_a_gpu_flavour(sim):
    sim.bootstrap()
    body = create_body()
    body["shoot_provider"]["workers"] = [worker_body(machine={"type": "g.8c64gb"})]
    assert sim.request("POST", sim.SHOOTS, body).status_code == 400
    before = len(profile(sim)["machine_types"])
    assert sim.control("POST", "/catalog", {"machine_types": [GPU]}) == profile(sim)
    assert profile(sim)["machine_types"][before:] == [{**GPU, "architecture": "amd64", "usable": True}]
    old = sim.request("GET", "/gardener/v1/public/cloudprofile").json()[0]["spec"]["machineTypes"][-1]
    assert (old["name"], old["cpu"], old["gpu"]) == ("g.8c64gb", "8", "1")
    assert sim.request("POST", sim.SHOOTS, body).status_code == 202
    sim.control("POST", "/catalog", {"machine_types": [{**GPU, "usable": False, "architecture": "arm64"}]})
    assert profile(sim)["machine_types"][before:] == [{**GPU, "architecture": "arm64", "usable": False}]
    answer = sim.call("POST", "/workers", worker_body("wg2", machine={"type": "g.8c64gb"}))
    assert answer.status_code == 400 and "usable" in answer.text


def test_a_second_zone(start):
    sim = start("--speed", "0", "--region", "Sto2", "--region", "Fra1")
    sim.login()
    sim.bootstrap()
    two = {**worker_body(), "zones": ["nova", "nova2"]}
    body = create_body()
    body["shoot_provider"]["workers"] = [two]
    assert sim.request("POST", sim.SHOOTS, body).status_code == 400
    sim.control("POST", "/catalog", {"zones": {"Sto2": ["nova", "nova2"]}})
    assert profile(sim)["regions"] == [{"name": "Sto2", "zones": [{"name": "nova"}, {"name": "nova2"}]},
                                       {"name": "Fra1", "zones": [{"name": "nova"}]}]
    assert sim.request("POST", sim.SHOOTS, body).status_code == 202
    sim.advance(800)
    names = sim.call("GET", "/monitoring/workers/wg1/nodes").json()["node_names"]
    assert "-z1-" in names[0]
    old = v1_create_body("other")
    old["shoot"]["provider"]["workers"][0]["zones"] = ["nova2"]
    assert sim.request("POST", sim.V1, old).status_code == 200


@pytest.mark.parametrize("wrong,named", [
    ({"zones": {"Fra1": ["nova"]}}, "Fra1"), ({"zones": {"Sto2": []}}, "Sto2"), ({"zones": {"Sto2": [1]}}, "Sto2"),
    ({"zones": ["nova"]}, "zones"), ({"zones": {"Sto2": [""]}}, "Sto2"), ({"flavours": []}, "flavours"),
    ({"machine_types": [{**GPU, "gpu": "1"}]}, "gpu"), ({"machine_types": [{**GPU, "memory": "64"}]}, "memory"),
    ({"machine_types": [GPU, {"name": "x"}]}, "cpu"), ({"machine_types": GPU}, "machine_types"),
    ({"machine_types": [{**GPU, "usable": 1}]}, "usable"), ({"machine_types": [{**GPU, "cpu": -1}]}, "cpu"),
    ([], "body")])
def test_a_wrong_catalog_changes_nothing(sim, wrong, named):
    before = sim.control("GET", "/catalog")
    answer = sim.http.post("/_sim/catalog", json=wrong)
    assert answer.status_code == 400 and named in str([e["key"] for e in answer.json()["error"]["errors"]])
    assert sim.control("GET", "/catalog") == before == profile(sim)


def test_regions_of_the_compliant_cloud_have_integer_ids(start):
    """v1 writes the ids of the public cloud as strings and those of the compliant cloud as integers; v2 always writes integers."""
    sim = start("--speed", "0", "--region", "Sto2", "--region", "sto-com", "--region", "sto2hs")
    sim.login()
    areas = [domain["area"] for domain in sim.request("GET", "/accesscontrol/v1/openstack/domains").json()]
    assert [(area["id"], area["regions"][0]["zone_id"]) for area in areas] == [("6", "2"), (5, 104), (1, 101)]
    assert [area["tag"] for area in areas] == ["SE_STO2", "STO-COM", "STO2HS"]
    areas = [domain["area"] for domain in sim.request("GET", "/openstack/identity/v2/domains").json()]
    assert [(area["id"], area["regions"][0]["id"]) for area in areas] == [(6, 2), (5, 104), (1, 101)]
    assert [zone["name"] for zone in profile(sim)["regions"][1]["zones"]] == ["az1", "az2", "az3"]
