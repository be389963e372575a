"""Every v2 JSON answer is held to the published contract of 2026-06-30."""

import json
import re

import jsonschema
import pytest

from conftest import DOMAIN, PROJECT, ROOT, create_body, worker_body

CONTRACT = ROOT.parent / "shared" / "reference" / "cleura-openapi-2026-06-30.json"

# Not in the contract of that day, so without a schema here: the v3 kubeconfig and the node names of a
# group. Both are in the contract of September 2026 (cleura-api.md 0.3) and have tests of their own.


def to_draft7(node):
    """OpenAPI 3.0 says `nullable` where JSON Schema wants another type; a $ref hides its neighbours."""
    if isinstance(node, list):
        return [to_draft7(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: to_draft7(value) for key, value in node.items() if key != "nullable"}
    if node.get("nullable"):
        out = {"anyOf": [out, {"type": "null"}]}
    return out


@pytest.fixture(scope="module")
def contract():
    if not CONTRACT.exists():
        pytest.skip(f"the contract is not at hand: {CONTRACT.name}")
    return to_draft7(json.loads(CONTRACT.read_text()))


class Judge:
    def __init__(self, contract, sim):
        self.contract, self.sim, self.seen = contract, sim, set()

    def template(self, path):
        plain = path.split("?")[0]
        found = [known for known in self.contract["paths"]
                 if re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", known), plain)]
        return min(found, key=lambda known: (known.count("{"), known))

    def __call__(self, method, path, body=None, status=None):
        answer = self.sim.request(method, path, body)
        assert status is None or answer.status_code == status, (method, path, answer.text)
        template = self.template(path)
        operation = self.contract["paths"][template][method.lower()]
        self.seen.add((method, template))
        declared = operation["responses"].get(str(answer.status_code))
        if declared is None:
            assert answer.status_code in (202, 204, 403, 409), (method, path, answer.status_code)
            declared = operation["responses"]["500"] if answer.status_code >= 400 else {}
        content = declared.get("content", {}).get("application/json")
        if content:
            schema = {**content["schema"], "components": self.contract["components"]}
            jsonschema.Draft7Validator(schema).validate(answer.json())
        return answer


def walk_life(judge, sim):
    """Looks at one shoot in every phase of its life."""
    path = f"{sim.SHOOTS}/example"
    for _ in range(30):
        judge("GET", path, status=200)
        judge("GET", sim.SHOOTS, status=200)
        sim.advance(30)
    for change, body, seconds in (("/hibernate", None, 60), ("/wakeup", None, 90), ("/maintenance", None, 40),
                                  ("/reconcile", None, 20), ("/retry", None, 20),
                                  ("/ca/rotate", {"stage": "Prepare"}, 300),
                                  ("/ca/rotate", {"stage": "Complete"}, 300),
                                  ("/ha-control-plane/enable", None, 100)):
        judge("PATCH", path + change, body, status=202)
        for _ in range(3):
            judge("GET", path, status=200)
            judge("GET", f"{path}/ca/rotation-stage", status=200)
            sim.advance(seconds)


def walk_workers(judge, sim):
    path = f"{sim.SHOOTS}/example"
    judge("PATCH", path, {"kubernetes": "1.34.3"}, status=202)
    sim.advance(1000)
    judge("POST", f"{path}/workers", worker_body("wg2", taints=[{"key": "a", "effect": "NoExecute"}]), status=202)
    sim.advance(1000)
    judge("PUT", f"{path}/workers/wg2", {"minimum": 2, "labels": [{"key": "a", "value": "b"}]}, status=202)
    sim.advance(1000)
    judge("DELETE", f"{path}/workers/wg2", status=202)
    sim.advance(1000)


def walk_monitoring(judge, sim):
    path = f"{sim.SHOOTS}/example"
    judge("GET", f"{path}/monitoring", status=200)
    names = sim.request("GET", f"{path}/monitoring/workers/wg1/nodes").json()["node_names"]
    judge("GET", f"{path}/monitoring/nodes/{names[0]}", status=200)
    judge("GET", f"{path}/monitoring/workers/wg1", status=200)
    assert judge("GET", f"{path}/monitoring/workers/wg1/nodes/overview", status=200).json()
    key = judge("GET", f"{path}/ssh_pk", status=200)
    assert key.headers["content-type"] == "text/plain"
    assert key.text.startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
    for method, word in (("GET", "check"), ("PUT", "prepare"), ("PATCH", "revert")):
        judge(method, f"{path}/upgrade/{word}?target_version=1.35.0", status=200)
        judge(method, f"{path}/upgrade/{word}", status=400)
    assert judge("GET", f"{path}/upgrade/check?target_version=1.32.11").json()["outcome"] == "not_ready"
    judge("POST", f"{path}/admin-kubeconfig", {"expiration_seconds": 3600}, status=201)


def walk_errors(judge, sim):
    judge("POST", sim.SHOOTS, create_body("a_b"), status=400)
    judge("POST", sim.SHOOTS, create_body("example"), status=409)
    judge("GET", f"{sim.SHOOTS}/missing", status=404)
    judge("POST", f"{sim.G}/nowhere/{PROJECT}/bootstrap", status=404)
    judge("POST", f"{sim.G}/Sto2/{'0' * 32}/bootstrap", status=500)
    sim.control("POST", "/lifecycle", {"operation": "create", "outcome": "failed", "codes": [
        "ERR_INFRA_QUOTA_EXCEEDED"], "description": "Quota exceeded for cores", "at_progress": 88})
    judge("POST", sim.SHOOTS, create_body("failing", networking={"type": "cilium"}), status=202)
    sim.advance(1000)
    assert judge("GET", f"{sim.SHOOTS}/failing").json()["last_operation"]["state"] == "Failed"
    sim.auth = {}
    judge("GET", sim.SHOOTS, status=403)


def test_all_answers_follow_the_contract(contract, sim):
    judge = Judge(contract, sim)
    judge("GET", f"{sim.G}/cloud-profiles", status=200)
    judge("GET", "/openstack/identity/v2/domains", status=200)
    judge("GET", "/openstack/identity/v1/current-user/projects", status=200)
    judge("GET", f"/openstack/identity/v2/domains/{DOMAIN}/projects/{PROJECT}/quotas/Sto2", status=200)
    judge("GET", f"{sim.G}/shoots/example/is-name-taken", status=200)
    judge("POST", f"{sim.G}/Sto2/{PROJECT}/bootstrap", status=204)
    judge("POST", sim.SHOOTS, create_body(
        hibernation_schedules=[{"start": "0 20 * * 1-5", "end": "0 8 * * 1-5"}],
        allowed_cidrs=["192.0.2.0/24"]), status=202)
    walk_life(judge, sim)
    walk_workers(judge, sim)
    walk_monitoring(judge, sim)
    judge("DELETE", f"{sim.SHOOTS}/example", status=202)
    sim.advance(60)
    judge("GET", f"{sim.SHOOTS}/example", status=200)
    walk_errors(judge, sim)
    gardener = {(method.upper(), path) for path, item in contract["paths"].items() if path.startswith("/gardener/")
                for method in item if method in ("get", "post", "put", "patch", "delete")}
    assert gardener - judge.seen == set()
