"""openapi.yaml is the contract: every operation is called, every documented status is reached, every answer is validated (QA-19). The
tests run in their order: the last one checks the results of the others. tests/unit/test_api_contract.c compares the document with the
tables of the program: routes, roles, parameters, limits, problem codes and other closed sets."""

import concurrent.futures
import html
import json
import re
import subprocess
import time

import jsonschema
import pytest
import yaml

import harness
import web
from contract import (ANYWHERE, DASHBOARD_FILE, DOCUMENT, METHODS, OPERATIONS, PAIRS, Checker, Probes, bodies, described, resolve, validate)
from harness import ROOT, wait_until
from raw import Raw, request


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("contract")


@pytest.fixture(scope="module")
def pair(directory):
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url, extra=f"backups: {{directory: {directory}/backups, every: 0s}}\n").start()
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture(scope="module")
def checker():
    return Checker()


OTHER_PROJECT = "ffeeddccbbaa99887766554433221100"


def simulator(directory):
    sim = harness.Sim(directory, project=[harness.PROJECT_ID, OTHER_PROJECT])
    sim.post("shoots", count=1, prefix="found", state="ready", project=OTHER_PROJECT)
    return sim


# ---- slow answers: requested first, checked last -------------------------------------------------------------------------

# The calls to Cleura that a request needs before it is answered, by the simulator's names.
NEEDS = {"getCatalog": ["cloud_profiles"], "createCluster": ["cloud_profiles"], "putCluster": ["cloud_profiles"],
         "listUpgrades": ["cloud_profiles"], "getQuota": ["current_projects"], "getMonitoring": ["monitoring"],
         "listNodes": ["nodes_overview"], "getSshKey": ["ssh_key"],
         "getKubeconfig": ["kubeconfig_v3", "kubeconfig"], "getCredential": ["kubeconfig_v3", "kubeconfig"],
         "runClusterAction": ["ca_stage"]}
THERE = {"file": DASHBOARD_FILE, "problem": "not_found", "project": "team-a", "cluster": "dev", "pool": "default", "account": "main", "action": "rotate-ca-prepare"}


def young(directory, name, sim, **options):
    """A daemon that knows an own cluster and a cluster that it found in another project, but not Cleura's catalog. The catalog is stored
    after its first read, so from the second start on every read returns rubbish."""
    projects = [("team-a", "Sto2", harness.PROJECT_ID), ("team-b", "Sto2", OTHER_PROJECT)]
    d = harness.Shootd(directory / name, sim.url, projects=projects[:1], **options).start()
    d.wait_operation(d.create("dev")["operation"]["id"])
    d.stop()
    every_need(sim, "garbage")
    d = harness.Shootd(directory / name, sim.url, projects=projects, **options).start()
    wait_until(lambda: d.http.get("/v1/projects/team-b/clusters/found-0000").status_code == 200, what="the other's cluster")
    return d


def every_need(sim, kind, **more):
    sim.clear_faults()
    for operation in sorted({o for operations in NEEDS.values() for o in operations}):
        sim.fault(operation, kind, count=0, **more)


def needing(probes, id):
    """Sends the request of NEEDS. If it needs the catalog, it names the project without one."""
    there = {**THERE, "project": "team-b", "cluster": "found-0000"} if NEEDS[id] == ["cloud_profiles"] else THERE
    return probes.send(id, path=probes.path(id, there), **({"json": {"name": "more"} if id == "createCluster" else {}} if bodies(id) else {}))


def until_the_guard_opens(probes):
    while (status := probes.send("loginAccount")) == 429:
        time.sleep(0.5)
    return status


@pytest.fixture(scope="module")
def no_answers(directory, checker):
    """Cleura accepts requests and never answers: after 30 seconds the answer is 504."""
    patient = {"account_extra": "    call_timeout: 50s\n"}
    sim, by_hand = simulator(directory), harness.Sim(directory, two_factor=True)
    coded, silent = (harness.Shootd(directory / name, by_hand.url, **patient).start() for name in ("coded", "silent"))
    d = young(directory, "hang", sim, extra="limits: {drain: 120s}\n", **patient)
    every_need(sim, "hang")
    probes = [Probes(checker, one, "", THERE) for one in (d, coded, silent)]
    assert until_the_guard_opens(probes[1]) == 202
    by_hand.fault("verify_sms_code", "hang", count=0)
    by_hand.fault("create_token", "hang", count=0)
    with concurrent.futures.ThreadPoolExecutor(len(NEEDS) + 2) as pool:
        asked = {id: pool.submit(needing, probes[0], id) for id in NEEDS}
        asked["verifyAccount"] = pool.submit(probes[1].send, "verifyAccount", json={"code": "123456"})
        asked["loginAccount"] = pool.submit(until_the_guard_opens, probes[2])
        yield d, asked
    for p in probes:
        p.close()
    for one in (d, coded, silent, sim, by_hand):
        one.stop()


@pytest.fixture(scope="module", autouse=True)
def asked_first(no_answers):
    """Starts the slow requests before all other tests."""


@pytest.fixture
def client(pair, checker):
    with web.Client(base_url=pair[1].url, timeout=60, headers={"Authorization": "Bearer " + pair[1].token()},
                      event_hooks={"response": [checker]}) as c:
        yield c


class TextDates(yaml.CSafeLoader):
    """YAML as OpenAPI requires it: dates stay text."""

    yaml_implicit_resolvers = {first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
                               for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()}


def test_document_is_served_as_it_is(client):
    served = client.get("/openapi.yaml")
    assert served.content == (ROOT / "openapi.yaml").read_bytes()
    assert client.get("/openapi.json").json() == DOCUMENT == yaml.load(served.text, TextDates)
    for path in ("/openapi.yaml", "/openapi.json"):
        tag = client.get(path).headers["ETag"]
        assert client.get(path, headers={"If-None-Match": tag}).status_code == 304


def lint(document):
    js = ROOT / "tests/js"
    if not (js / "node_modules").is_dir():
        pytest.skip("tests/js/node_modules is absent; `make deps-test` installs it")
    return subprocess.run(["node", "lint_openapi.mjs", document], cwd=js, capture_output=True, text=True, timeout=240)


@pytest.mark.skipif(harness.SANITIZED, reason="a document is looked at, not the daemon")
def test_document_passes_the_linter():
    """Redocly reports no error and no warning."""
    run = lint(ROOT / "openapi.yaml")
    assert run.returncode == 0 and run.stdout == "", run.stdout + run.stderr


FAULTY = """openapi: 3.1.0
info: {title: Planted, version: '1', description: Two operations of one name.}
servers: [{url: 'https://api.example.com'}]
paths:
  /a: {get: {operationId: same, description: The first., responses: {'200': {description: All is well.}}}}
  /b: {get: {operationId: same, responses: {'200': {description: All is well.}}}}
"""


@pytest.mark.skipif(harness.SANITIZED, reason="a document is looked at, not the daemon")
def test_a_document_with_planted_faults_does_not(tmp_path):
    (tmp_path / "openapi.yaml").write_text(FAULTY)
    run = lint(tmp_path / "openapi.yaml")
    for rule in ("operation-operationId-unique", "operation-description"):
        assert run.returncode == 1 and re.search(f"^error {rule} ", run.stdout, re.M), run.stdout + run.stderr


def test_each_schema_says_what_it_is():
    schemas = DOCUMENT["components"]["schemas"]
    assert not [name for name, schema in schemas.items() if "description" not in schema]


def schemas_within(node):
    if isinstance(node, (dict, list)):
        for value in node.values() if isinstance(node, dict) else node:
            yield from schemas_within(value)
    if isinstance(node, dict) and isinstance(node.get("type"), (str, list)):
        yield node


def test_lists_say_what_they_list():
    found = list(schemas_within(DOCUMENT["components"]["schemas"]))
    assert len(found) > 300
    for schema in found:
        assert "array" not in schema["type"] or "items" in schema, schema
        assert len(set(schema.get("enum", []))) == len(schema.get("enum", [])), schema
    tags = [tag["name"] for tag in DOCUMENT["tags"]]
    assert len(set(tags)) == len(tags)


def test_no_two_names_differ_in_their_letter_case_only():
    """Generators make a file, a class or a constant of each name, and some file systems ignore letter case."""
    seen = {}
    names = [name for items in DOCUMENT["components"].values() for name in items] + [tag["name"] for tag in DOCUMENT["tags"]]
    for name in names:
        assert seen.setdefault(re.sub("[-_]", "", name.lower()), name) == name, (name, seen)


def test_deliveries_are_in_the_document():
    """The body of a delivery is an event without its sequence (docs/webhooks.md)."""
    body = DOCUMENT["webhooks"]["event"]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
    schemas = DOCUMENT["components"]["schemas"]
    assert set(schemas[body]["required"]) == set(schemas["Event"]["required"]) - {"sequence"}


@pytest.mark.parametrize("folder, least", [("tests/js", 50), ("dashboard", 3)])
def test_npm_packages_run_on_the_node_of_debian_12(folder, least):
    js = ROOT / "tests/js"
    if not (js / "node_modules").is_dir():
        pytest.skip("tests/js/node_modules is absent; `make deps-test` installs it")
    wants = {name: one["engines"]["node"] for name, one in json.loads((ROOT / folder / "package-lock.json").read_text())["packages"].items()
             if "node" in one.get("engines", {})}
    program = """import semver from "semver";
        for (const [name, range] of Object.entries(JSON.parse(process.argv[1])))
          if (!semver.satisfies("18.20.4", range)) console.log(name, range);"""
    run = subprocess.run(["node", "--input-type=module", "-e", program, json.dumps(wants)], cwd=js, capture_output=True, text=True,
                         timeout=60, check=True)
    assert len(wants) > least and run.stdout == ""


# These have no bound by their nature.
BOUNDLESS = {"#/components/schemas/EventStream": "a stream goes on", "#/components/schemas/AuditExport": "all there is"}


def unbounded_within(node, where):
    """Every string, array and open map below a node that lacks a maximum, with its place."""
    if isinstance(node, list):
        for i, value in enumerate(node):
            yield from unbounded_within(value, f"{where}/{i}")
    if not isinstance(node, dict):
        return
    types = node.get("type", [])
    types = {types} if isinstance(types, str) else set(types) if isinstance(types, list) else set()
    if "string" in types and not {"maxLength", "enum", "const"} & set(node):
        yield where, "maxLength"
    if "array" in types and "maxItems" not in node:
        yield where, "maxItems"
    if "object" in types and node.get("additionalProperties"):
        if "maxProperties" not in node:
            yield where, "maxProperties"
        if "maxLength" not in node.get("propertyNames", {}):
            yield where, "propertyNames"
    for key, value in node.items():
        if key not in ("example", "examples", "securitySchemes"):
            yield from unbounded_within(value, f"{where}/{key}")


def test_everything_has_a_maximum():
    """All strings, arrays and maps of requests, parameters, answers and header fields have a maximum. Tests that use contract.Checker
    check the values in answers; test_bounds.py sends values of the largest length and longer ones."""
    assert {where for where, _ in unbounded_within(DOCUMENT, "#")} == set(BOUNDLESS)
    assert sorted(what for _, what in unbounded_within({"a": {"type": ["string", "null"]}, "b": {"type": "array", "items": {"type": "string"}},
                                                        "c": {"type": "object", "additionalProperties": True}}, "#")) \
        == ["maxItems", "maxLength", "maxLength", "maxProperties", "propertyNames"]


def test_each_success_has_an_example():
    """Each success has a named example; test_examples_validate checks the content."""
    missing = [(id, status, kind) for id in OPERATIONS for status, answer in described(id)["responses"].items() if status[0] == "2"
               for kind, media in resolve(answer).get("content", {}).items() if not media.get("examples")]
    assert not missing
    named = {ref.rsplit("/", 1)[1] for ref in re.findall(r"#/components/examples/\w+", json.dumps(DOCUMENT))}
    assert named == set(DOCUMENT["components"]["examples"]) and len(named) > 50, "each of them is used"


def examples_within(node, where):
    """Every schema, parameter, header and body with examples below a node, and its examples."""
    if isinstance(node, dict):
        if "schema" in node and isinstance(node.get("examples"), dict):
            for name, example in node["examples"].items():
                yield f"{where}/examples/{name}", node["schema"], resolve(example)["value"]
        if "example" in node:
            yield where, node["schema"], node["example"]
        if isinstance(node.get("examples"), list):
            for example in node["examples"]:
                yield where, node, example
        for key, value in node.items():
            if key not in ("example", "examples"):
                yield from examples_within(value, f"{where}/{key}")
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from examples_within(value, f"{where}/{i}")


def test_examples_validate():
    """The examples of bodies, answers, members, parameters and header fields."""
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    found = list(examples_within(DOCUMENT, "#"))
    assert len(found) > 50
    for where, schema, example in found:
        validate(schema, example, where)
    assert sum("/responses/" in where and "/examples/" in where for where, _, _ in found) > 60


def test_examples_of_bodies_are_taken(client, pair):
    """Sends the examples as dry runs where possible, else as real requests."""
    sim, d = pair
    d.wait_operation(d.create("example", spec={"kubernetes_version": "1.33"})["operation"]["id"])
    hook = client.post("/v1/webhooks", json={"url": "https://hooks.example.com/example"}).json()["id"]
    token = client.post("/v1/tokens", json={"name": "example", "role": "viewer", "projects": ["*"]}).json()["id"]
    there = {"project": "team-a", "cluster": "example", "pool": "default", "webhook": hook, "token": token}
    sent = set()
    for id, (method, path) in OPERATIONS.items():
        for kind, examples in bodies(id):
            assert examples, f"{id} has no example of its body"
            if id == "verifyAccount":  # test_a_login_by_hand sends it
                continue
            dry = any(resolve(p)["name"] == "dry_run" for p in described(id).get("parameters", []))
            for example in examples:
                answer = client.request(method.upper(), re.sub(r"\{(\w+)\}", lambda m: there[m[1]], path), json=example,
                                        params={"dry_run": "true"} if dry else {}, headers={"Content-Type": kind})
                if id == "confirmLocation":  # shootd accepts the body, but nothing needs confirmation
                    assert "nothing is set aside" in answer.json()["detail"], answer.text
                    continue
                assert answer.status_code < 300, f"{id} {example}: {answer.text}"
                if id == "putFreeze":
                    assert client.delete("/v1/freeze").status_code == 204
                assert not dry or answer.json()["valid"], f"{id} {example}: {answer.text}"
                sent.add(id)
    assert len(sent) >= 7
    for what in ("webhooks", "tokens"):
        for item in client.get("/v1/" + what).json()["items"]:
            if item.get("name") != "admin":
                assert client.delete(f"/v1/{what}/{item['id']}").status_code == 204


def test_ht8_ht9_every_path_is_routed_with_the_documented_methods(client):
    for path, item in DOCUMENT["paths"].items():
        documented = {m.upper() for m in METHODS if m in item}
        allowed = documented | {"OPTIONS"} | ({"HEAD"} if "GET" in documented else set())
        concrete = re.sub(r"\{project\}", "team-a", path)
        concrete = re.sub(r"\{[a-z]+\}", "x", concrete)
        options = client.options(concrete)
        assert options.status_code == 204, path
        assert set(options.headers["Allow"].split(", ")) == allowed, path
        for method in {"GET", "PUT", "POST", "DELETE", "PATCH"} - documented:
            refused = client.request(method, concrete)
            assert refused.status_code == 405 and refused.json()["code"] == "method_not_allowed", (method, path)
            assert set(refused.headers["Allow"].split(", ")) == allowed
    for path in ("/v1", "/v2/clusters", "/v1/clusters/", "/v1/clusters/x", "/v1/projects/team-a/clusters/x/y",
                 "/v1//clusters", "/V1/clusters", "/v1/projects//clusters", "/v1/a/b/c/d/e/f/g/h/i/j"):
        assert client.get(path).status_code == 404, path


def test_a_token_is_needed_where_the_document_says_so(pair, checker):
    with web.Client(base_url=pair[1].url, timeout=60, event_hooks={"response": [checker]}) as nobody:
        for id, (method, path) in OPERATIONS.items():
            open_to_all = DOCUMENT["paths"][path][method].get("security") == []
            answer = nobody.request(method, re.sub(r"\{([a-z]+)\}", lambda m: THERE[m[1]] if open_to_all else "x", path))
            if open_to_all:
                assert answer.status_code == 200, id
            else:
                assert answer.status_code == 401 and answer.json()["code"] == "unauthenticated", id


def test_life_of_everything(pair, client, checker):
    sim, d = pair
    clusters = d.clusters_path()
    assert client.get("/livez").text == "ok\n" and client.get("/healthz?verbose").text == "[+]progress ok\nok\n"
    assert "[+]store ok" in client.get("/readyz?verbose").text
    for path in ("/version", "/v1/auth", "/v1/whoami", "/v1/projects", "/v1/projects/team-a", "/v1/projects/team-a/catalog",
                 "/metrics"):
        assert client.get(path).status_code == 200, path
        assert client.head(path).status_code == 200, path

    with sim.frozen():
        created = client.post(clusters, json={"name": "dev", "labels": {"team": "web"}, "spec": {
            "kubernetes_version": "1.33", "high_availability": None,
            "node_pools": [{"name": "work", "minimum": 1, "maximum": 2, "taints": [
                {"key": "a", "value": "b", "effect": "NoSchedule"}]}],
            "maintenance": {"begin": "020000+0000", "end": "030000+0000"}}})
        assert created.status_code == 202, created.text
        assert client.post(clusters, json={"name": "dev"}).status_code == 409
        for name in ("kubeconfig", "credential"):
            assert client.get(f"{d.clusters_path('dev')}/{name}").status_code == 409
        operation = created.headers["Location"]
        with_wait = client.get(operation, headers={"Prefer": "wait=0"})
        same = client.get(operation, headers={"If-None-Match": "*", "Prefer": "wait=0"})
        assert same.status_code == 304 and {n: same.headers.get(n) for n in ("Retry-After", "Preference-Applied")} \
            == {n: with_wait.headers[n] for n in ("Retry-After", "Preference-Applied")}
        assert client.get(operation).headers["Retry-After"]
        assert client.get(operation, headers={"Prefer": "wait=1"}).headers["Preference-Applied"] == "wait=1"
    assert client.get(operation, params={"wait": 55}).json()["status"] == "succeeded"
    ready = wait_until(lambda: client.get(d.clusters_path("dev")).json()["status"]["phase"] == "ready")
    assert ready
    got = client.get(d.clusters_path("dev"))
    validate({"$ref": "#/components/schemas/Observed"}, got.json()["observed"], "observed")
    assert client.get(operation, headers={"If-None-Match": client.get(operation).headers["ETag"]}).status_code == 304
    assert client.get(operation, headers={"If-Match": '"other"'}).status_code == 412
    assert client.get(d.clusters_path("dev"), headers={"If-None-Match": "*"}).status_code == 304
    assert client.get(d.clusters_path("dev"), headers={"If-Match": '"other"'}).status_code == 412
    assert client.get("/v1/summary").json()["total"] == len(client.get("/v1/clusters").json()["items"])
    assert client.get(d.clusters_path("dev") + "/issues").json()["items"] == []
    usual = client.get("/v1/projects/team-a/durations").json()
    assert "create" in [item["type"] for item in usual["items"]] and usual["items"][0]["steps"][-1]["type"] == "wait_ready"
    assert client.get("/v1/issues").json() == {"items": [], "next_cursor": None}
    tag = client.get("/v1/issues").headers["ETag"]
    assert client.get("/v1/issues", headers={"If-None-Match": tag}).status_code == 304
    assert client.get("/v1/issues", headers={"If-Match": '"other"'}).status_code == 412
    short = client.get(clusters, params={"fields": "summary", "sort": "-kubernetes_version,name", "label": "team=web", "expiring_before": "9999d"})
    assert short.status_code == 200 and client.get("/v1/clusters", params={"fields": "summary"}).status_code == 200
    wait_until(lambda: client.get("/v1/clusters", headers={
        "If-None-Match": client.get("/v1/clusters").headers["ETag"]}).status_code == 304, what="a calm page")
    assert client.get("/v1/summary", headers={"If-Match": '"other"'}).status_code == 412
    for path in ("/v1/clusters", clusters, d.clusters_path("dev") + "/events", d.clusters_path("dev") + "/operations",
                 "/v1/operations", "/v1/events", "/v1/audit"):
        page = client.get(path, params={"limit": 1})
        assert page.status_code == 200 and len(page.json()["items"]) == 1, path
        assert client.head(path).status_code == 200
        assert client.get(path, params={"colour": "red"}).status_code == 400
        assert client.get(path, headers={"Accept": "text/html"}).status_code == 406

    body = {"labels": {"team": "web"}, "spec": got.json()["spec"]}
    assert client.put(d.clusters_path("dev"), json=body).status_code == 200
    assert client.put(d.clusters_path("dev"), json=body, headers={"If-Match": '"x"'}).status_code == 412
    assert client.put(d.clusters_path("new"), json={}).status_code == 202
    assert client.put(d.clusters_path("UP"), json={}).status_code == 422
    assert client.get(d.clusters_path("dev") + "/kubeconfig").json()["cached"] is False
    text = client.get(d.clusters_path("dev") + "/kubeconfig", headers={"Accept": "application/yaml"})
    assert text.headers["Content-Type"].startswith("application/yaml") and "kind: Config" in text.text
    assert client.get(d.clusters_path("none") + "/kubeconfig").status_code == 404
    assert client.get(d.clusters_path("dev") + "/credential").json()["kind"] == "ExecCredential"
    deleted = client.delete(d.clusters_path("dev"))
    assert deleted.status_code == 202 and deleted.headers["Retry-After"]
    assert client.delete(d.clusters_path("none")).status_code == 404
    assert client.delete(d.clusters_path("new"), headers={"If-Match": '"x"'}).status_code == 412
    wait_until(lambda: client.get(d.clusters_path("dev")).status_code == 404, what="dev to be gone")
    assert client.get(d.clusters_path("dev") + "/events").json()["items"], "also of a cluster that is gone"

    hook = client.post("/v1/webhooks", json={"url": "https://hooks.example.com/x", "event_types": ["cluster.*"]})
    assert hook.status_code == 201 and hook.headers["Location"].endswith(hook.json()["id"])
    path = hook.headers["Location"]
    assert "secret" not in client.get(path).json()
    assert client.get(path, headers={"If-None-Match": client.get(path).headers["ETag"]}).status_code == 304
    assert client.get("/v1/webhooks").json()["items"][0]["id"] == hook.json()["id"]
    assert client.post("/v1/webhooks", json={"url": "ftp://x", "colour": 1}).status_code == 422
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404 and client.delete(path).status_code == 404

    assert client.post("/v1/stream-tickets").status_code == 201

    token = client.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["*"], "expires_in_days": 9})
    assert token.status_code == 201
    assert {t["name"] for t in client.get("/v1/tokens").json()["items"]} == {"admin", "ci"}
    viewer = {"Authorization": "Bearer " + token.json()["token"]}
    assert client.get("/v1/whoami", headers=viewer).json()["name"] == "ci"
    assert client.post(clusters, json={"name": "x"}, headers=viewer).status_code == 403
    assert client.post("/v1/tokens", json={}).status_code == 422
    path = "/v1/tokens/" + token.json()["id"]
    assert client.get(path).json()["name"] == "ci" and client.get(path, headers={"If-None-Match": client.get(path).headers["ETag"]}).status_code == 304
    admin = "/v1/tokens/" + client.get("/v1/whoami").json()["id"]
    for refused in (client.patch(admin, json={"projects": ["team-a"]}), client.delete(admin)):
        assert refused.status_code == 409 and refused.json()["code"] == "last_admin"
    assert client.delete(path).status_code == 204
    assert client.get("/v1/whoami", headers=viewer).status_code == 401
    assert client.delete("/v1/tokens/" + token.json()["id"]).status_code == 404


@pytest.mark.skipif(not DASHBOARD_FILE, reason="the dashboard was not built")
def test_no_dashboard_is_to_be_served(directory, checker):
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "no-dashboard", sim.url, extra="dashboard: false\n").start()
    try:
        with checker.client(d) as client:
            for path in ("/", "/dashboard/" + DASHBOARD_FILE):
                refused = client.get(path)
                assert refused.status_code == 404 and "dashboard: false" in refused.json()["detail"]
    finally:
        d.stop()
        sim.stop()


def test_changes_actions_and_sub_resources_validate(client, pair):
    sim, d = pair
    d.wait_operation(d.create("sub")["operation"]["id"])
    path = d.clusters_path("sub")
    patched = client.patch(path, json={"description": "patched"},
                           headers={"Content-Type": "application/merge-patch+json"})
    assert patched.status_code == 200 and patched.json()["description"] == "patched"
    changed = client.patch(path, json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}})
    assert changed.status_code == 202, changed.text
    assert d.wait_operation(changed.json()["operation"]["id"])["status"] == "succeeded"
    for method, more in (("PUT", {"json": {"spec": {"high_availability": True}}}), ("DELETE", {}),
                         ("PATCH", {"json": {"spec": {"kubernetes_version": "1.2"}}})):
        plan = client.request(method, path, params={"dry_run": "true"}, **more)
        assert plan.status_code == 200 and plan.json()["valid"] == (method != "PATCH"), plan.text
    pools = path + "/node-pools"
    assert [p["name"] for p in client.get(pools).json()["items"]] == ["default"]
    done = []
    for method, name, more in (("POST", "", {"json": {"name": "gpu", "maximum": 2}}), ("PUT", "/gpu", {"json": {"maximum": 3}}),
                               ("PATCH", "/gpu", {"json": {"maximum": 4}}), ("DELETE", "/gpu", {})):
        accepted = client.request(method, pools + name, **more)
        assert accepted.status_code == 202, accepted.text
        done.append(d.wait_operation(accepted.json()["operation"]["id"])["status"])
        if method == "PATCH":
            assert client.get(pools + "/gpu").json()["observed"]["maximum"] == 4
    assert done == ["succeeded"] * 4
    acted = client.post(path + "/actions/reconcile")
    assert acted.status_code == 202, acted.text
    d.wait_operation(acted.json()["operation"]["id"])
    assert client.post(path + "/actions/wake").status_code == 200, "it is awake"
    assert client.post(path + "/actions/dance").status_code == 404
    for name in ("monitoring", "nodes", "ssh-key", "upgrades"):
        answer = client.get(f"{path}/{name}")
        assert answer.status_code == 200, answer.text
    assert client.get("/v1/projects/team-a/quota").json()["limits"]["cores"] == 20
    fresh = client.get(path, headers={"Cache-Control": "no-cache"})
    assert fresh.status_code == 200 and "fwd=request" in fresh.headers["Cache-Status"]
    assert client.get("/v1/clusters", headers={"Cache-Control": "no-cache"}).status_code == 200
    assert client.get(d.clusters_path(), headers={"Cache-Control": "no-cache"}).status_code == 200


def test_a_login_by_hand(directory, checker):
    sim = harness.Sim(directory, two_factor=True)
    d = harness.Shootd(directory / "by-hand", sim.url).start()
    try:
        with web.Client(base_url=d.url, timeout=60, headers={"Authorization": "Bearer " + d.token()},
                          event_hooks={"response": [checker]}) as client:
            assert client.get("/v1/accounts", params={"limit": 1}).json()["items"][0]["projects"] == ["team-a"]
            assert client.get("/v1/accounts", params={"colour": "red"}).status_code == 400
            assert client.post("/v1/accounts/none/login").status_code == 404
            assert client.post("/v1/accounts/main/verify", json={"code": "1"}).json()["code"] == "no_code_awaited"
            assert client.post("/v1/accounts/main/verify", json={"code": "x", "y": 1}).status_code == 422
            wait_until(lambda: client.post("/v1/accounts/main/login").status_code == 202, interval=0.5, what="the guard")
            refused = client.post("/v1/accounts/main/login")
            assert refused.status_code == 429 and refused.headers["Retry-After"]
            assert client.post("/v1/accounts/main/verify", json={"code": 123456}).status_code == 200
            fresh = client.post("/v1/accounts/main/login")
            assert fresh.status_code == 200 and fresh.json()["status"] == "ok"
        webauthn = {"operation": "create_token", "status": 201, "body": {"result": "twofactor_options", "options": ["webauthn"]}}
        sim.post("replay", answers=[webauthn] * 9)
        other = harness.Shootd(directory / "webauthn", sim.url).start()
        with checker.client(other) as client:
            refused = wait_until(lambda: (a := client.post("/v1/accounts/main/login")).status_code != 429 and a, interval=0.5)
            assert refused.status_code == 409 and refused.json()["code"] == "second_factor_unusable", refused.text
        other.stop()
    finally:
        d.stop()
        sim.stop()


def test_writes_that_wait_validate(pair, client):
    """?wait, Prefer: return=minimal, and operations that failed during the wait."""
    sim, d = pair
    whole, least = {"params": {"wait": 55}}, {"headers": {"Prefer": "return=minimal"}}
    path = d.clusters_path("waited")
    assert client.post(d.clusters_path(), json={"name": "first"}, **whole).status_code == 201
    made = client.put(path, json={}, **whole)
    assert made.status_code == 201 and made.headers["Location"] == path
    pools = path + "/node-pools"
    wanted = {"machine_type": "b.2c4gb", "minimum": 1, "maximum": 1}
    for method, more, answered in (
            ("PUT", {"url": path, "json": {}}, 204), ("PATCH", {"url": path, "json": {}}, 204),
            ("POST", {"url": path + "/actions/wake"}, 204), ("POST", {"url": pools, "json": {"name": "more", **wanted}}, 204),
            ("PUT", {"url": pools + "/more", "json": wanted}, 204), ("PATCH", {"url": pools + "/more", "json": {}}, 204),
            ("DELETE", {"url": pools + "/more"}, 204)):
        if method == "DELETE":
            assert client.request(method, **more, headers={"If-Match": '"other"'}).status_code == 412
        answer = client.request(method, **more, **whole, **least)
        assert answer.status_code == answered and not answer.content, (method, more, answer.text)
    for method, more in (("POST", {"url": pools, "json": {"name": "more", **wanted}}), ("PUT", {"url": pools + "/more", "json": {**wanted, "maximum": 2}}),
                         ("DELETE", {"url": pools + "/more"})):
        assert client.request(method, **more, **whole).json()["operation"]["status"] == "succeeded"
    stale = {"headers": {"If-Match": '"other"'}}
    assert client.post(pools, json={"name": "more", **wanted}, **stale).status_code == 412
    for method, more in (("PATCH", {"url": path, "json": {"spec": {"allowed_cidrs": ["192.0.2.0/24"]}}}),
                         ("POST", {"url": pools, "json": {"name": "more", **wanted}}), ("PUT", {"url": pools + "/more", "json": {**wanted, "maximum": 2}}),
                         ("PATCH", {"url": pools + "/more", "json": {"maximum": 3}}), ("DELETE", {"url": pools + "/more"})):
        sim.post("lifecycle", shoot="waited", operation="reconcile", outcome="failed", at_progress=50)
        failed = client.request(method, **more, **whole)
        assert failed.status_code == 502 and failed.json()["code"] == "cluster_failed", (method, more, failed.text)
        assert client.post(path + "/actions/retry", **whole).status_code == 200
    sim.fault("delete_shoot", "status", status=400, body='{"error": {"message": "no"}}')
    sim.post("lifecycle", shoot="waited", operation="delete", outcome="failed", at_progress=50)
    for status in (422, 502):
        refused = client.delete(path, **whole)
        assert refused.status_code == status and refused.json()["operation_id"].startswith("op_"), refused.text
    for name in ("first", "waited"):
        assert client.delete(d.clusters_path(name), **whole).status_code == 204


def test_keyed_requests_validate(pair, client, checker):
    """422 when the key was used for another request, 409 while the first request is being stored."""
    sim, d = pair
    d.wait_operation(d.create("keyed")["operation"]["id"])
    sim.post("lifecycle", shoot="keyed", operation="reconcile", outcome="hang", at_progress=20)  # later operations wait behind it
    path, key = d.clusters_path("keyed"), {"Idempotency-Key": "contract-0123456789"}
    assert client.post(path + "/actions/reconcile", headers=key).status_code == 202
    assert client.post(path + "/actions/maintain", headers=key).json()["code"] == "idempotency_key_reused"
    queued = [client.post(path + "/actions/" + action).json()["operation"]["id"] for action in ("hibernate", "maintain")]
    assert client.post(f"/v1/operations/{queued[0]}/cancel", headers=key).status_code == 200
    assert client.post(f"/v1/operations/{queued[1]}/cancel", headers=key).json()["code"] == "idempotency_key_reused"
    d.http.delete(path)
    for what, body in (("tokens", {"name": "twice", "role": "viewer", "projects": ["*"]}), ("webhooks", {"url": "https://hooks.example.com/x"})):
        def hurry(key):
            with checker.client(d) as other:
                answer = other.post("/v1/" + what, json=body, headers={"Idempotency-Key": key})
            if answer.status_code == 201 and "Idempotency-Replayed" not in answer.headers:
                made.append(answer.json()["id"])
            return answer

        def one_is_in_use():
            answers = pool.map(hurry, [f"contract-{time.monotonic_ns()}"] * 8)
            return next((a for a in [*answers] if a.status_code == 409), None)
        made = []
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            refused = wait_until(one_is_in_use, what="a key in use")
        assert refused.json()["code"] == "idempotency_key_in_use"
        for id in made:
            assert client.delete(f"/v1/{what}/{id}").status_code == 204


def test_repair_of_webhooks_validates(client):
    hook = client.post("/v1/webhooks", json={"url": "https://hooks.example.com/repair"}).json()["id"]
    path = "/v1/webhooks/" + hook
    sent = client.post(path + "/test")
    assert sent.status_code == 202 and sent.headers["Location"] == f"{path}/deliveries/{sent.json()['id']}"
    delivery = wait_until(lambda: next((d for d in client.get(path + "/deliveries", params={"status": "failed"}).json()["items"]), None),
                          timeout=60, what="a test that failed")
    assert delivery["id"] == sent.json()["id"] and delivery["event_type"] == "webhook.test" and delivery["attempt"] == 1
    page = client.get(path + "/deliveries", params={"limit": 1})
    assert page.status_code == 200 and page.json()["items"]
    assert client.get(path + "/deliveries", headers={"If-None-Match": "*"}).status_code == 304
    one = client.get(sent.headers["Location"])
    assert one.status_code == 200 and one.json()["id"] == delivery["id"]
    assert client.get(sent.headers["Location"], headers={"If-None-Match": one.headers["ETag"]}).status_code in (200, 304)
    assert client.post(sent.headers["Location"] + "/redeliver").status_code == 202
    assert client.post(path + "/recover", json={"since": "2026-01-01T00:00:00Z"}).status_code == 202
    tag = client.get(path).headers["ETag"]
    off = client.patch(path, json={"enabled": False}, headers={"If-Match": tag})
    assert off.status_code == 200 and off.json()["status"]["state"] == "disabled"
    assert client.patch(path, json={"enabled": False}, headers={"If-Match": tag}).status_code == 412
    for what, more in (("/test", {}), ("/recover", {"json": {"since": "2026-01-01T00:00:00Z"}}),
                       (f"/deliveries/{delivery['id']}/redeliver", {})):
        refused = client.post(path + what, **more)
        assert refused.status_code == 409 and refused.json()["code"] == "action_not_possible", refused.text
    key, other = {"Idempotency-Key": "contract-hook-0123456789"}, {"Idempotency-Key": "contract-hook-9876543210"}
    assert client.post(path + "/enable", headers=key).status_code == 200
    assert client.post(path + "/enable").json()["enabled"]
    first = client.post(path + "/rotate-secret", headers=other)
    assert first.status_code == 200 and first.json() == client.post(path + "/rotate-secret", headers=other).json()
    assert client.post(path + "/rotate-secret", json={"signature": "v1a"}).json()["secret"] is None
    elsewhere = client.post("/v1/webhooks", json={"url": "https://hooks.example.com/elsewhere"}).json()["id"]
    for what, body in (("/enable", None), ("/rotate-secret", {}), ("/test", None), ("/recover", {"since": "2026-01-01T00:00:00Z"}),
                       (f"/deliveries/{delivery['id']}/redeliver", None)):
        more = {"headers": key, **({} if body is None else {"json": body})}
        assert client.post(path + what, **more).status_code < 300
        reused = client.post(f"/v1/webhooks/{elsewhere}{what}", **more)
        assert reused.json()["code"] == "idempotency_key_reused", reused.text
    assert client.delete("/v1/webhooks/" + elsewhere).status_code == 204
    assert client.delete(path).status_code == 204


def test_cancel_answers_validate(pair, client):
    sim, d = pair
    with sim.frozen():
        created = client.post(d.clusters_path(), json={"name": "cancel"}).json()["operation"]["id"]
        change = client.patch(d.clusters_path("cancel"), json={"spec": {"maintenance": {"auto_update_kubernetes": False}}})
        assert client.post(f"/v1/operations/{change.json()['operation']['id']}/cancel").status_code == 200
    d.wait_operation(created)
    assert client.post(f"/v1/operations/{created}/cancel").status_code == 409
    with sim.frozen():
        change = client.patch(d.clusters_path("cancel"), json={"spec": {
            "maintenance": {"auto_update_kubernetes": False}, "node_pools": [{"name": "default"}, {"name": "more"}]}}).json()["operation"]["id"]
        wait_until(lambda: d.operation(change)["steps"][0]["status"] == "waiting", what="a step that goes on")
        assert client.post(f"/v1/operations/{change}/cancel").status_code == 202
    assert client.delete(d.clusters_path("cancel"), params={"wait": 55}).status_code == 204


def test_outage_answers_validate(directory, checker):
    """Cleura cannot be reached: requests that need it are refused in the documented way, others work."""
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "outage", sim.url).start()
    try:
        with web.Client(base_url=d.url, timeout=60, headers={"Authorization": "Bearer " + d.token()},
                          event_hooks={"response": [checker]}) as client:
            d.wait_operation(d.create("dev")["operation"]["id"])
            sim.fault("kubeconfig_v3", "status", status=500, count=0)
            sim.fault("kubeconfig", "status", status=500, count=0)
            refused = client.get(d.clusters_path("dev") + "/kubeconfig")
            assert refused.status_code in (502, 503) and refused.json()["responsible"] == "cleura", refused.text
            sim.clear_faults()
            sim.post("down", down=True)
            refused = client.get(d.clusters_path("dev") + "/kubeconfig?ttl_seconds=7200")
            assert refused.status_code in (502, 503, 504) and refused.json()["responsible"] == "cleura", refused.text
            assert client.get("/readyz").status_code == 200, "an outage of Cleura does not make it unready"
            wait_until(lambda: client.get("/v1/projects/team-a").json()["upstream"]["last_error"])
            wait_until(lambda: client.get(d.clusters_path("dev")).json()["status"]["stale"], what="stale")
            sim.post("down", down=False)
    finally:
        d.stop()
        sim.stop()


def test_versions_named_as_valid_are_not_expired(client):
    catalog = client.get("/v1/projects/team-a/catalog").json()
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    expired = {v["version"] for v in catalog["kubernetes_versions"] if v["expires_at"] and v["expires_at"] < now}
    assert expired, "the simulator offers one"
    refused = client.post("/v1/projects/team-a/clusters", json={"name": "old", "spec": {"kubernetes_version": "9.9"}})
    assert not expired & set(refused.json()["errors"][0]["valid"])


def test_docs_show_every_path():
    """docs/api.md has every path of the contract."""
    page = (ROOT / "docs/api.md").read_text()
    missing = []
    for path in DOCUMENT["paths"]:
        names = {"project": "(team-a|{project})", "cluster": "(dev|web|{cluster})", "operation": r"(\$OP|{id})",
                 "webhook": r"(\$WH|{id})", "delivery": r"(\$DLV|{id})", "token": r"(\$ID|{id})", "action": "({action}|[a-z-]+)",
                 "account": "(main|{account})", "problem": "[a-z_]+", "file": "{file}",
                 "pool": "(default|gpu|{pool})"}
        pattern = re.sub(r"\\{([a-z]+)\\}", lambda m: names[m.group(1)], re.escape(path))
        if not re.search(pattern + r"(?![\w/-])", page):
            missing.append(path)
    assert not missing, missing


def test_docs_list_every_problem_code():
    """docs/problems.md and model/problem.h have the same codes."""
    header = re.sub(r"\\\n", "", (ROOT / "model/problem.h").read_text())
    rows = re.findall(r'X\(([A-Z_0-9]+),\s*"([a-z_0-9]+)",\s*(\d+),\s*"([^"]*)",\s*([A-Z]+),\s*"([^"]*)"\)', header)
    wanted = [[code, status, title, who.lower(), advice] for _, code, status, title, who, advice in rows]
    assert len(wanted) == len(re.findall(r'X\([A-Z_0-9]+,\s*"', header)) > 30
    page = (ROOT / "docs/problems.md").read_text()
    told = [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
            for line in page.splitlines() if re.match(r"\| `[a-z_0-9]+` \|", line)]
    assert told == wanted


def test_types_of_problems_lead_to_their_meaning(client, pair, checker):
    """GET /problems/{code} has the text of docs/problems.md, without a token; browsers get a page."""
    page = (ROOT / "docs/problems.md").read_text()
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
            for line in page.splitlines() if re.match(r"\| `[a-z_0-9]+` \|", line)]
    nobody = checker.client(pair[1], "")
    for code, status, title, responsible, advice in rows:
        told = nobody.get("/problems/" + code)
        assert told.status_code == 200 and told.headers["Content-Type"] == "application/json"
        body = told.json()
        assert body.pop("type") in ("/problems/" + code,) or code in ("request_quota_exceeded", "overloaded")
        assert body == {"code": code, "status": int(status), "title": title, "responsible": responsible, "advice": advice}
        shown = nobody.get("/problems/" + code, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        assert shown.headers["Content-Type"].startswith("text/html") and "Accept" in shown.headers["Vary"]
        text = html.unescape(re.sub(r"<[^>]*>", "", shown.text))
        assert all(word in text for word in (code, status, title, responsible, advice)), text
        assert shown.headers["Content-Security-Policy"] == "default-src 'none'"
    nobody.close()
    refused = client.get("/v1/projects/none")
    assert client.get(refused.json()["type"]).json()["code"] == refused.json()["code"]
    for wrong in ("none", "NOT_FOUND", "<script>"):
        assert client.get("/problems/" + wrong).status_code == 404


# ---- every status ----------------------------------------------------------------------------------------------------

def test_freezes(client, pair):
    _, d = pair
    d.wait_operation(d.create("frozen")["operation"]["id"])
    assert client.put("/v1/freeze", json={"scope": "team-a", "reason": "Year end"}).status_code == 200
    there = {"project": "team-a", "cluster": "frozen", "pool": "default", "action": "hibernate"}
    for id, (method, path) in OPERATIONS.items():
        if "423" in described(id)["responses"]:
            kind = "application/merge-patch+json" if method == "patch" else "application/json"
            body = {"name": "more"} if method == "post" else {"labels": {}}
            answer = client.request(method.upper(), re.sub(r"\{(\w+)\}", lambda m: there[m[1]], path),
                                    **({"json": body, "headers": {"Content-Type": kind}} if bodies(id) else {}))
            assert answer.status_code == 423, (id, answer.text)
    assert client.get("/v1/freeze").json()["items"][0]["scope"] == "team-a"
    for method, more in (("PUT", {"json": {"scope": "team-a", "reason": "Another"}}), ("DELETE", {"params": {"scope": "team-a"}})):
        assert client.request(method, "/v1/freeze", headers={"If-Match": '"other"'}, **more).status_code == 412
    assert client.delete("/v1/freeze", params={"scope": "team-a"}).status_code == 204
    assert client.delete("/v1/freeze").status_code == 404


def test_answers_that_all_operations_share(checker, client, pair):
    """New operations are checked without a change here; statuses of their own need a test above."""
    sim, d = pair
    d.wait_operation(d.create("dev")["operation"]["id"])
    viewer = client.post("/v1/tokens", json={"name": "viewer", "role": "viewer", "projects": ["*"]}).json()
    hook = client.post("/v1/webhooks", json={"url": "https://hooks.example.com/x"}).json()
    there = {**THERE, "action": "reconcile", "operation": client.get("/v1/operations").json()["items"][0]["id"],
             "webhook": hook["id"], "delivery": client.post(f"/v1/webhooks/{hook['id']}/test").json()["id"], "token": viewer["id"]}
    probes = Probes(checker, d, viewer["token"], there)
    wrong = []
    for id, status in sorted(PAIRS):
        if status in probes.statuses and (id, status) not in checker.pairs:
            got = probes.statuses[status](id)
            if got != status:
                wrong.append(f"{id}: {got} and not {status}")
    probes.close()
    assert not wrong, "\n".join(wrong)


def test_the_states_that_stand_against_it(client, pair):
    """Causes the 409 answers of each operation, and the answers when nothing needs to be done."""
    sim, d = pair
    found, protected = d.clusters_path("found-0000"), d.clusters_path("guarded")
    d.wait_operation(d.create("guarded")["operation"]["id"])
    sim.post("shoots", count=1, prefix="found", state="ready")
    d.wait_phase("found-0000", "ready")
    for method, path in (("PATCH", found), ("PUT", found + "/node-pools/x"), ("PATCH", found + "/node-pools/pool1"),
                         ("DELETE", found + "/node-pools/pool1"), ("POST", found + "/node-pools"), ("DELETE", found)):
        refused = client.request(method, path, **({} if method == "DELETE" else {"json": {"name": "x"} if method == "POST" else {}}))
        assert refused.status_code == 409 and refused.json()["code"] == "not_managed", (method, path, refused.text)
    assert client.patch(protected, json={"deletion_protection": True}).status_code == 200
    assert client.delete(protected).json()["code"] == "deletion_protected"
    for method, name, more in (("POST", "", {"name": "x"}), ("PUT", "/default", {}), ("PATCH", "/default", {})):
        assert client.request(method, f"{protected}/node-pools{name}", params={"dry_run": "true"}, json=more).status_code == 200
    assert client.patch(protected + "/node-pools/default", json={}).status_code == 200
    assert client.delete(protected + "/node-pools/default", params={"dry_run": "true"}).status_code == 200

    sim.post("lifecycle", shoot="slow", operation="create", outcome="hang", at_progress=20)
    sim.fault("create_shoot", "delay", delay_ms=1500)
    d.create("slow")
    refused = client.get(d.clusters_path("slow") + "/upgrades")
    assert refused.status_code == 409 and refused.json()["code"] == "cluster_not_ready"
    d.wait_phase("slow", "creating")
    sim.post("lifecycle", shoot="slow", operation="delete", outcome="hang", at_progress=20)
    assert client.delete(d.clusters_path("slow")).status_code == 202
    d.wait_phase("slow", "deleting")
    refused = client.put(d.clusters_path("slow"), json={"spec": {"kubernetes_version": "1.34"}})
    assert refused.status_code == 409 and refused.json()["code"] == "cluster_busy"


def test_a_project_that_moved(directory, checker):
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "moved", sim.url).start()
    path = "/v1/projects/team-a/confirm-location"
    try:
        d.wait_operation(d.create("dev")["operation"]["id"])
        d.stop()
        d.config.write_text(d.config.read_text().replace(harness.PROJECT_ID, "f" * 32))
        d.start()
        with checker.client(d) as client:
            assert client.get("/v1/projects/team-a").json()["location_change"]["clusters"] == 1
            assert client.post(path, json={"clusters": "forget"}, headers={"Idempotency-Key": "moved-0123456789"}).status_code == 200
            assert client.post(path, json={"clusters": "forget"}).status_code == 409
    finally:
        d.stop()
        sim.stop()


def test_backups(directory, checker, client):
    made = client.post("/v1/backups", headers={"Idempotency-Key": "backup-0123456789"})
    assert made.status_code == 201 and (directory / "backups" / made.json()["name"]).exists()
    assert client.get("/v1/backups").json()["items"][0] == made.json()
    sim = harness.Sim(directory)
    (directory / "a-file").write_text("")
    try:
        for name, keys, status in (("none", "", 409), ("refused", f"backups: {{directory: {directory}/a-file, every: 0s}}\n", 503)):
            d = harness.Shootd(directory / name, sim.url, extra=keys).start()
            try:
                with checker.client(d) as one:
                    assert one.post("/v1/backups").status_code == status
                    assert one.get("/v1/backups").status_code == (503 if status == 503 else 200)
            finally:
                d.stop()
    finally:
        sim.stop()


def test_reload(directory, checker):
    sim = simulator(directory)
    d = young(directory, "reload", sim)
    try:
        with checker.client(d) as client:
            good = d.config.read_text()
            d.config.write_text(good.replace("idle: 1s", "idle: 3s").replace("listen: 127.0.0.1:", "listen: 127.0.0.2:"))
            assert client.get("/v1/reload").json() == {"last_reload": None}
            told = client.post("/v1/reload", headers={"Idempotency-Key": "reload-0123456789"})
            assert (told.status_code, told.json()) == (200, {"changed": ["polling.idle"], "restart_needed": ["listen"]})
            d.config.write_text(good + "colour: red\n")
            assert client.post("/v1/reload").status_code == 409
            assert client.get("/v1/reload").json()["last_reload"]["ok"] is False
    finally:
        d.stop()
        sim.stop()


def test_the_first_generation_has_less(directory, checker):
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "v1", sim.url, api="v1").start()
    try:
        with checker.client(d) as client:
            d.wait_operation(d.create("dev")["operation"]["id"])
            for method, path in (("GET", "/v1/projects/team-a/quota"), ("GET", d.clusters_path("dev") + "/nodes"),
                                 ("GET", d.clusters_path("dev") + "/ssh-key"), ("POST", d.clusters_path("dev") + "/actions/reconcile")):
                refused = client.request(method, path)
                assert refused.status_code == 501 and refused.json()["code"] == "not_supported", path
            for path in ("monitoring", "upgrades"):
                assert client.get(d.clusters_path("dev") + "/" + path).status_code == 200
    finally:
        d.stop()
        sim.stop()


def test_answers_that_need_cleura(directory, checker):
    """409 for data that Cleura does not have yet, 502 for rubbish, 503 for no answer (last, because it opens the breaker)."""
    sim = simulator(directory)
    wrong = []
    d = young(directory, "faults", sim)
    probes = Probes(checker, d, "", THERE)
    try:
        for status, kind, more in ((409, "status", {"status": 404}), (502, "garbage", {}), (503, "drop", {})):
            every_need(sim, kind, **more)
            for id, operations in NEEDS.items():
                if status == 409 and operations == ["cloud_profiles"]:
                    continue  # there always is a catalog
                if (id, status) in PAIRS and (id, status) not in checker.pairs and (got := needing(probes, id)) != status:
                    wrong.append(f"{id}: {got} and not {status}")
        assert not wrong, "\n".join(wrong)
    finally:
        probes.close()
        d.stop()
        sim.stop()


def test_no_answer_in_time(no_answers, checker):
    """504: a request that waits for Cleura gives up after 30 seconds."""
    got = {id: future.result(60) for id, future in no_answers[1].items()}
    assert got == dict.fromkeys(got, 504)


def test_writes_while_the_daemon_stops(no_answers, checker):
    """503 for every write while the daemon stops."""
    d = no_answers[0]
    calls = [(id, method.upper(), re.sub(r"\{([a-z]+)\}", lambda m: THERE.get(m[1], "none"), path))
             for id, (method, path) in OPERATIONS.items() if (id, 503) in PAIRS and (method != "get" or id == "getReadyz")]
    idle = [Raw(d.port) for _ in calls]
    for raw in idle:
        assert raw.send(request("GET", "/livez")).read().status == 200
    token = d.token()
    held = Raw(d.port, timeout=60).send(request("POST", "/v1/tokens", "Content-Type: application/json", "Content-Length: 9",
                                                            "Expect: 100-continue", token=token))
    assert held.socket.recv(100).startswith(b"HTTP/1.1 100 "), "it is under way"
    d.process.popen.terminate()
    wait_until(lambda: "stopping" in d.log(), what="the stop to begin")
    time.sleep(0.2)
    for raw, (id, method, path) in zip(idle, calls):
        fields = ["Content-Type: application/json"] if bodies(id) else []
        answer = raw.send(request(method, path, *fields, token=token, body="{}" if bodies(id) else None)).read()
        checker.raw(method, path, answer)
        assert answer.status == 503, (id, answer)
        raw.socket.close()
    held.socket.close()
    assert d.process.popen.wait(60) == 0


# Documented statuses that these tests cannot cause, each with the reason. A status that is reached must be removed here.
ELSEWHERE = {
    ("getLivez", 503): "a thread that stands still: no client can bring that about",
    ("getHealthz", 503): "as getLivez",
    ("getOperation", 503): "a stop while it waits, by chance: test_stop.py takes 200 and 503",
    ("listEvents", 503): "too many streams: test_streams.py; a database that cannot be read: no client can bring that about",
    ("listClusterEvents", 503): "as listEvents",
    ("listDeliveries", 503): "as listEvents",
    ("getDelivery", 503): "as listEvents",
    ("listAudit", 503): "as listEvents",
}


# Documented fields that are sent only on request: test_wait.py, test_idempotency.py and, for streams, test_streams.py.
ON_DEMAND = {"preference-applied", "idempotency-replayed", "x-accel-buffering"}


def test_every_documented_field_of_a_success_was_sent(checker):
    """contract.Checker checks that each sent field is documented; this test checks that each documented field is sent."""
    missing = [(id, status, name) for (id, status), sent in sorted(checker.fields.items()) if status < 400
               for name in resolve(described(id)["responses"][str(status)]).get("headers", {})
               if name.lower() not in sent | ON_DEMAND]
    assert not missing


def test_every_documented_status_was_reached(checker):
    """Runs last. A new operation or status fails here until a test above reaches it."""
    good = {id for id, statuses in checker.seen.items() if any(s < 400 for s in statuses)}
    assert not set(OPERATIONS) - good, "never called with success"
    missing = sorted(PAIRS - checker.pairs - set(ELSEWHERE))
    assert not missing, f"{len(missing)} of {len(PAIRS)} documented statuses were never reached: {missing}"
    assert not set(ELSEWHERE) - PAIRS, "excuses for what is not documented"
    assert not set(ELSEWHERE) & checker.pairs, "excuses for what was reached"
