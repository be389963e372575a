"""The old generation: its forms, statuses and special behaviour, over the same state."""

import json

from conftest import PROJECT, v1_create_body

V = "/gardener/v1/public"


def bootstrap(sim):
    assert sim.request("POST", f"{V}/secret/sto2/{PROJECT}/bootstrap").status_code == 204


def ready(sim):
    bootstrap(sim)
    answer = sim.request("POST", sim.V1, v1_create_body())
    assert answer.status_code == 200, answer.text
    sim.advance(800)
    return answer


def test_cloud_profile(sim):
    profile = sim.request("GET", f"{V}/cloudprofile").json()[0]
    assert profile["name"] == "cleuracloud"
    assert profile["spec"]["machineTypes"][0]["cpu"] == "2"
    assert profile["spec"]["kubernetes"]["versions"][0]["expirationDate"].endswith("Z")
    assert profile["spec"]["machineImages"][0]["updateStrategy"] == "major"


def test_create_and_get_have_different_shapes(sim):
    created = ready(sim).json()["shoot"]
    pair = {"key": "workload", "value": "general"}
    assert created["provider"]["workers"][0]["labels"] == {"workload": pair}
    assert created["name"] == "example" and "status" not in created
    answer = sim.request("GET", f"{sim.V1}/example")
    shoot = answer.json()
    assert set(shoot) == {"metadata", "spec", "status"} and shoot["metadata"]["uid"] == created["uid"]
    assert shoot["spec"]["provider"]["workers"][0]["labels"] == {"workload": "general"}
    assert shoot["status"]["lastOperation"]["state"] == "Succeeded" and shoot["status"]["hibernated"] is False
    assert shoot["status"]["advertisedAddresses"][0]["url"].startswith("https://api.example.")
    assert "https:\\/\\/" in answer.text
    assert [item["metadata"]["name"] for item in sim.request("GET", sim.V1).json()] == ["example"]
    assert sim.get()["uid"] == created["uid"]


def test_region_case_does_not_matter_in_v1(sim):
    ready(sim)
    assert sim.request("GET", f"{V}/shoot/sto2/{PROJECT}/example").status_code == 200
    assert sim.request("GET", f"{V}/shoot/nowhere/{PROJECT}/example").status_code == 404


def test_changes_answer_202(sim):
    ready(sim)
    update = {"shoot": {"provider": {}, "kubernetes": {"version": "1.34.3"},
                        "hibernation": {"schedules": [{"start": "0 20 * * *", "end": "0 6 * * *"}]}}}
    answer = sim.request("PUT", f"{sim.V1}/example", update)
    assert answer.status_code == 202 and answer.json()["spec"]["kubernetes"]["version"] == "1.34.3"
    sim.advance(600)
    worker = {"worker": {**v1_create_body()["shoot"]["provider"]["workers"][0], "name": "wg2"}}
    assert sim.request("POST", f"{sim.V1}/example/worker", worker).status_code == 202
    sim.advance(600)
    answer = sim.request("PUT", f"{sim.V1}/example/worker/wg2", {"worker": {"maximum": 7}})
    assert answer.status_code == 202 and answer.json()["spec"]["provider"]["workers"][1]["maximum"] == 7
    sim.advance(600)
    assert sim.request("DELETE", f"{sim.V1}/example/worker/wg2").status_code == 202
    sim.advance(600)
    for action in ("enable-ha-control-plane", "hibernate", "wakeup"):
        assert sim.request("POST", f"{sim.V1}/example/{action}").status_code == 202
        sim.advance(600)
    shoot = sim.request("GET", f"{sim.V1}/example").json()
    assert shoot["spec"]["controlPlane"]["highAvailability"]["failureTolerance"]["type"] == "node"
    answer = sim.request("DELETE", f"{sim.V1}/example")
    assert answer.status_code == 202 and isinstance(json.loads(answer.text), str)
    sim.advance(600)
    assert sim.request("GET", f"{sim.V1}/example").status_code == 404


def test_hibernation_asked_and_reached(sim):
    ready(sim)
    sim.request("POST", f"{sim.V1}/example/hibernate")
    shoot = sim.request("GET", f"{sim.V1}/example").json()
    assert shoot["spec"]["hibernation"]["enabled"] is True and shoot["status"]["hibernated"] is False
    sim.advance(100)
    assert sim.request("GET", f"{sim.V1}/example").json()["status"]["hibernated"] is True


def test_kubeconfig_is_a_json_string(sim):
    ready(sim)
    answer = sim.request("POST", f"{sim.V1}/example/adminkubeconfig", {"config": {"expirationSeconds": 3600}})
    assert answer.status_code == 200 and answer.text.startswith('"apiVersion')
    assert json.loads(answer.text).startswith("apiVersion: v1\nkind: Config\n")
    assert sim.request("GET", f"{sim.V1}/example/kubeconfig").status_code == 404
    assert sim.request("POST", f"{sim.V1}/example/Kubeconfig").status_code == 404
    assert set(sim.request("GET", f"{sim.V1}/example/monitoring").json()) == {"prometheus", "plutono"}
