"""Every v2 JSON answer is checked against the published contract of 2026-06-30."""

import json
import re

import jsonschema
import pytest

from conftest import CONTRACT, DOMAIN, PROJECT, create_body, read_contract, worker_body

# These are not in that contract, so they have no schema here: the v3 kubeconfig and the node names of a group. Both are in the contract of
# September 2026 (CL-26), and other tests check them.


@pytest.fixture(scope="module")
def contract():
    if not CONTRACT.exists():
        pytest.skip(f"the contract is not at hand: {CONTRACT.name}")
    return read_contract()


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
    """Reads one shoot in every phase of its life."""
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


def walk_identity(judge, sim):
    domain = f"/openstack/identity/v2/domains/{DOMAIN}"
    endpoints = judge("GET", f"{domain}/endpoints", status=200).json()
    assert {e["region"] for service in endpoints for e in service["endpoints"]} == {"Sto2"}
    roles = judge("GET", f"{domain}/roles", status=200).json()
    assert [role["name"] for role in roles] == ["member", "swiftoperator", "load-balancer_member"]
    user = judge("GET", f"{domain}/users", status=200).json()[0]
    assert user["name"] == "demo" and user["domain_id"] == DOMAIN
    assert judge("GET", f"{domain}/projects/{PROJECT}/users", status=200).json() == [user]
    assert judge("GET", f"{domain}/projects/{'0' * 32}/users", status=200).json() == []
    projects = judge("GET", f"{domain}/users/{user['id']}/projects", status=200).json()
    assert projects[0]["id"] == PROJECT and projects[0]["roles"] == roles
    assert judge("GET", f"{domain}/users/{'0' * 32}/projects", status=200).json() == []
    rc = f"{domain}/users/{user['id']}/projects/{PROJECT}/regions/Sto2/rc-credentials"
    assert PROJECT in judge("GET", rc, status=200).json()["rc_data"]
    judge("GET", rc.replace("Sto2", "mars"), status=404)
    log = "/openstack/identity/v2/projects/example-project/logs"
    assert judge("GET", log, status=200).json()[0]["project_id"] == PROJECT
    assert judge("GET", f"{log}?limit=10&offset=1", status=200).json() == []
    for query in ("limit=201", "offset=1001", "limit=x", "offset=-1"):
        judge("GET", f"{log}?{query}", status=400)
    for path in ("endpoints", "roles", "users"):
        judge("GET", f"/openstack/identity/v2/domains/{'0' * 32}/{path}", status=404)
    for method, path in (("POST", "/projects"), ("PATCH", f"/projects/{PROJECT}"), ("POST", "/users"),
                         ("PATCH", f"/users/{user['id']}"), ("DELETE", f"/users/{user['id']}"),
                         ("POST", f"/users/{user['id']}/project-accesses"),
                         ("DELETE", f"/users/{user['id']}/projects/{PROJECT}/roles/{roles[0]['id']}")):
        answer = judge(method, domain + path, {"name": "x"} if method != "DELETE" else None, status=403)
        assert answer.json()["error"]["message"].startswith("No access:"), "not simulated"


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
    walk_identity(judge, sim)
    walk_errors(judge, sim)
    assert operations_of(contract) - judge.seen == set()


def operations_of(document):
    return {(method.upper(), path) for path, item in document["paths"].items()
            for method in item if method in ("get", "post", "put", "patch", "delete")}


def test_every_operation_needs_a_token(contract, sim):
    """Each operation, simulated or not, answers 403 `Invalid token` without a token; with a token its path is not 404."""
    for method, path in sorted(operations_of(contract)):
        known = {"openStackRegionTag": "Sto2", "openStackProjectId": PROJECT, "domainId": DOMAIN, "gardenerRegionTag": "public"}
        path = re.sub(r"{([^}]+)}", lambda name: known.get(name[1], "x"), path)
        answer = sim.request(method, path, headers={"X-AUTH-TOKEN": "wrong"})
        assert (answer.status_code, answer.json()["error"]["message"]) == (403, "Invalid token"), path
        answer = sim.request(method, path)
        assert answer.status_code != 404 or answer.json()["error"]["message"] != "Not Found" or "rc-cred" in path, path


def test_the_api_tells_its_operations(contract, sim):
    sim.auth = {}
    served = sim.request("GET", "/apidoc.json")
    assert served.status_code == 200 and served.headers["content-type"] == "application/json"
    document = served.json()
    assert document["openapi"] == "3.1.0" and document["info"] == contract["info"]
    assert operations_of(contract) - operations_of(document) == set()
    assert not [path for path in document["paths"] if path.startswith("/_sim") or "/gardener/v1" in path]
    success = document["paths"]["/openstack/identity/v2/domains/{domainId}/projects"]["post"]["responses"]
    assert list(success) == ["201"]


REQUIRED_SINCE = {"backup_enabled", "dns_enabled"}  # by the contract of September 2026 (CL-26)


def optional_left(contract, schema, value, at=""):
    """The paths of the members of an answer that the contract does not require."""
    while "$ref" in schema:
        schema = contract["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, list):
        return [path for item in value for path in optional_left(contract, schema.get("items", {}), item, at + "[]")]
    if not isinstance(value, dict):
        return []
    found = [f"{at}.{name}" for name in value if name not in REQUIRED_SINCE.union(schema.get("required", value))]
    return found + [path for name, item in value.items()
                    for path in optional_left(contract, schema.get("properties", {}).get(name, {}), item, f"{at}.{name}")]


def test_omit_optional_leaves_out_what_the_contract_does_not_require_and_nothing_else(contract, sim):
    judge = Judge(contract, sim)
    body = create_body(networking={"type": "cilium"}, hibernation_schedules=[{"start": "0 20 * * 1-5", "end": "0 8 * * 1-5"}])
    sim.bootstrap()
    assert sim.request("POST", sim.SHOOTS, body).status_code == 202
    sim.advance(800)
    sim.fault("*", "omit_optional", count=0)
    shoot = f"{sim.SHOOTS}/example"
    domain = f"/openstack/identity/v2/domains/{DOMAIN}"
    user = sim.request("GET", f"{domain}/users").json()[0]["id"]
    for path in (f"{sim.G}/cloud-profiles", sim.SHOOTS, shoot, f"{shoot}/monitoring", f"{shoot}/monitoring/workers/wg1",
                 f"{shoot}/monitoring/workers/wg1/nodes/overview", f"{shoot}/ca/rotation-stage",
                 f"{shoot}/upgrade/check?target_version=1.34.3", "/openstack/identity/v1/current-user/projects",
                 "/openstack/identity/v2/domains", f"{domain}/projects/{PROJECT}/quotas/Sto2", f"{domain}/endpoints",
                 f"{domain}/roles", f"{domain}/users", f"{domain}/users/{user}/projects",
                 "/openstack/identity/v2/projects/example-project/logs"):
        answer = judge("GET", path, status=200)
        schema = contract["paths"][judge.template(path)]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert optional_left(contract, schema, answer.json()) == [], path
