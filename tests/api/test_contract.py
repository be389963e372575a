"""openapi.yaml is the contract: every operation is called and every answer validated against it (QA-19)."""

import re
import subprocess
import time

import httpx
import jsonschema
import pytest
import yaml

import harness
from harness import ROOT, wait_until

DOCUMENT = yaml.safe_load((ROOT / "openapi.yaml").read_text())
METHODS = ("get", "put", "post", "delete", "patch")
# Fields that mean something to a client: each one sent has to be documented for that answer.
TELLING = ("etag", "age", "cache-status", "location", "retry-after", "vary", "preference-applied", "www-authenticate",
           "accept", "accept-encoding", "allow")
OPERATIONS = {op["operationId"]: (method, path) for path, item in DOCUMENT["paths"].items()
              for method, op in item.items() if method in METHODS}


def resolve(node):
    while "$ref" in node:
        target = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def validator(schema):
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]},
                                           format_checker=jsonschema.FormatChecker())


def validate(schema, value, what):
    faults = [f"{what}: {'/'.join(map(str, e.absolute_path))}: {e.message}"
              for e in validator(schema).iter_errors(value)]
    assert not faults, "\n".join(faults)


def operation_of(method, path):
    """The documented operation of a request, literal paths before templates."""
    for template, item in sorted(DOCUMENT["paths"].items(), key=lambda p: p[0].count("{")):
        if re.fullmatch(re.sub(r"\{[a-z]+\}", "[^/]+", re.escape(template).replace(r"\{", "{").replace(r"\}", "}")),
                        path):
            return item.get("get" if method == "HEAD" else method.lower())
    return None


class Checker:
    """Checks every answer that passes, and remembers which operations were called with which status."""

    def __init__(self):
        self.seen = {}

    def __call__(self, answer):
        answer.read()
        assert re.fullmatch(r"[A-Za-z0-9._-]{8,128}", answer.headers["X-Request-Id"])
        operation = operation_of(answer.request.method, answer.request.url.path)
        status = str(answer.status_code)
        if operation is None:
            if answer.status_code >= 400:
                self.check_problem(answer)
            return
        where = f"{operation['operationId']} {status}"
        self.seen.setdefault(operation["operationId"], set()).add(answer.status_code)
        documented = operation["responses"].get(status)
        assert documented or answer.status_code in (405, 408, 414, 417, 429, 431, 500, 501), where + " is undocumented"
        documented = resolve(documented or operation["responses"]["default"])
        told = {n.lower() for n in documented.get("headers", {})}
        if status == "304":  # repeats what the 200 would have said (HT-19)
            told |= {n.lower() for n in operation["responses"]["200"]["headers"]}
        for name in TELLING:
            if name in answer.headers and not (name == "allow" and status == "405"):
                assert name in told, f"{where}: {name} is undocumented"
        content = documented.get("content")
        if not content or answer.request.method == "HEAD":
            assert not answer.content, where
            return
        kind = answer.headers["Content-Type"].split(";")[0]
        assert kind in content, f"{where}: {kind}"
        if kind.endswith("json"):
            validate(content[kind]["schema"], answer.json(), where)
        if answer.status_code >= 400 and kind.endswith("json"):
            self.check_problem(answer)

    @staticmethod
    def check_problem(answer):
        assert answer.headers["Content-Type"].startswith("application/problem+json"), answer.headers
        problem = answer.json()
        validate({"$ref": "#/components/schemas/Problem"}, problem, str(answer.request.url))
        assert problem["status"] == answer.status_code
        assert problem["request_id"] == answer.headers["X-Request-Id"]
        assert problem["type"] == "/problems/" + problem["code"]
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("contract")


@pytest.fixture(scope="module")
def pair(directory):
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start()
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture(scope="module")
def checker():
    return Checker()


@pytest.fixture
def client(pair, checker):
    with httpx.Client(base_url=pair[1].url, timeout=60, headers={"Authorization": "Bearer " + pair[1].token()},
                      event_hooks={"response": [checker]}) as c:
        yield c


def test_document_is_served_as_it_is(client):
    served = client.get("/openapi.yaml")
    assert served.content == (ROOT / "openapi.yaml").read_bytes()
    assert client.get("/openapi.json").json() == DOCUMENT
    for path in ("/openapi.yaml", "/openapi.json"):
        tag = client.get(path).headers["ETag"]
        assert client.get(path, headers={"If-None-Match": tag}).status_code == 304


def test_document_passes_the_linter():
    js = ROOT / "tests/js"
    if not (js / "node_modules").is_dir():
        pytest.skip("tests/js/node_modules is absent; `make deps` installs it")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < 20:
        pytest.skip(f"the linter needs Node.js 20 or newer, this is {version} (Debian 12 has 18)")
    run = subprocess.run(["node_modules/.bin/redocly", "lint", "../../openapi.yaml"], cwd=js, capture_output=True,
                         text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr


def test_examples_validate():
    for name, schema in DOCUMENT["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        for i, example in enumerate(schema.get("examples", [])):
            validate({"$ref": f"#/components/schemas/{name}"}, example, f"{name} example {i}")


def test_problem_codes_are_those_of_the_registry():
    header = (ROOT / "model/problem.h").read_text()
    codes = re.findall(r"^ *X\([A-Z_0-9]+, \"([a-z_0-9]+)\"", header, re.M)
    assert len(codes) > 30
    assert sorted(DOCUMENT["components"]["schemas"]["ProblemCode"]["enum"]) == sorted(codes)


def test_every_path_is_routed_with_the_documented_methods(client):
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
    for path in ("/", "/v1", "/v2/clusters", "/v1/clusters/", "/v1/clusters/x", "/v1/projects/team-a/clusters/x/y",
                 "/v1//clusters", "/V1/clusters", "/v1/projects//clusters", "/v1/a/b/c/d/e/f/g/h/i/j"):
        assert client.get(path).status_code == 404, path


def test_a_token_is_needed_where_the_document_says_so(pair, checker):
    with httpx.Client(base_url=pair[1].url, timeout=60, event_hooks={"response": [checker]}) as nobody:
        for id, (method, path) in OPERATIONS.items():
            open_to_all = DOCUMENT["paths"][path][method].get("security") == []
            answer = nobody.request(method, re.sub(r"\{[a-z]+\}", "x", path))
            if open_to_all:
                assert answer.status_code == 200, id
            else:
                assert answer.status_code == 401 and answer.json()["code"] == "unauthenticated", id


def test_life_of_everything(pair, client, checker):
    sim, d = pair
    clusters = d.clusters_path()
    assert client.get("/livez").text == "ok\n" and client.get("/healthz?verbose").text == "[+]progress ok\nok\n"
    assert "[+]store ok" in client.get("/readyz?verbose").text
    for path in ("/version", "/v1/whoami", "/v1/projects", "/v1/projects/team-a", "/v1/projects/team-a/catalog",
                 "/metrics"):
        assert client.get(path).status_code == 200, path
        assert client.head(path).status_code == 200, path

    created = client.post(clusters, json={"name": "dev", "labels": {"team": "web"}, "spec": {
        "kubernetes_version": "1.33", "high_availability": None,
        "node_pools": [{"name": "work", "minimum": 1, "maximum": 2, "taints": [
            {"key": "a", "value": "b", "effect": "NoSchedule"}]}],
        "maintenance": {"begin": "020000+0000", "end": "030000+0000"}}})
    assert created.status_code == 202, created.text
    assert client.post(clusters, json={"name": "dev"}).status_code == 409
    assert client.get(d.clusters_path("dev") + "/kubeconfig").status_code == 409
    operation = created.headers["Location"]
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
    assert client.get("/v1/summary").json()["total"] == 1
    assert client.get(d.clusters_path("dev") + "/issues").json()["items"] == []
    short = client.get(clusters, params={"fields": "summary", "sort": "-version,name", "label": "team=web", "expiring_before": "9999d"})
    assert short.status_code == 200 and client.get("/v1/clusters", params={"fields": "summary"}).status_code == 200
    tag = client.get("/v1/clusters").headers["ETag"]
    assert client.get("/v1/clusters", headers={"If-None-Match": tag}).status_code in (200, 304)
    assert client.get("/v1/summary", headers={"If-Match": '"other"'}).status_code == 412
    for path in ("/v1/clusters", clusters, d.clusters_path("dev") + "/events", d.clusters_path("dev") + "/operations",
                 "/v1/operations", "/v1/events"):
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

    token = client.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["*"], "expires_in_days": 9})
    assert token.status_code == 201
    assert {t["name"] for t in client.get("/v1/tokens").json()["items"]} == {"admin", "ci"}
    viewer = {"Authorization": "Bearer " + token.json()["token"]}
    assert client.get("/v1/whoami", headers=viewer).json()["name"] == "ci"
    assert client.post(clusters, json={"name": "x"}, headers=viewer).status_code == 403
    assert client.post("/v1/tokens", json={}).status_code == 422
    assert client.delete("/v1/tokens/" + token.json()["id"]).status_code == 204
    assert client.get("/v1/whoami", headers=viewer).status_code == 401
    assert client.delete("/v1/tokens/" + token.json()["id"]).status_code == 404


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
        with httpx.Client(base_url=d.url, timeout=60, headers={"Authorization": "Bearer " + d.token()},
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
    finally:
        d.stop()
        sim.stop()


def test_every_operation_was_called(checker):
    """Runs after the tests above: a new operation fails here until it is called somewhere."""
    good = {id for id, statuses in checker.seen.items() if any(s < 400 for s in statuses)}
    assert set(OPERATIONS) - good == set()


def test_outage_answers_validate(directory, checker):
    """Cleura not reachable: what needs it is refused in the documented way, the rest works."""
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "outage", sim.url).start()
    try:
        with httpx.Client(base_url=d.url, timeout=60, headers={"Authorization": "Bearer " + d.token()},
                          event_hooks={"response": [checker]}) as client:
            d.wait_operation(d.create("dev")["operation"]["id"])
            sim.fault("kubeconfig_v3", "status", status=500, count=0)
            sim.fault("kubeconfig", "status", status=500, count=0)
            refused = client.get(d.clusters_path("dev") + "/kubeconfig")
            assert refused.status_code in (502, 503) and refused.json()["fault"] == "upstream", refused.text
            sim.clear_faults()
            sim.post("down", down=True)
            refused = client.get(d.clusters_path("dev") + "/kubeconfig?ttl_seconds=7200")
            assert refused.status_code in (502, 503, 504) and refused.json()["fault"] == "upstream", refused.text
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
    """docs/api.md tells of every path of the contract."""
    page = (ROOT / "docs/api.md").read_text()
    missing = []
    for path in DOCUMENT["paths"]:
        names = {"project": "(team-a|{project})", "cluster": "(dev|{cluster})", "operation": r"(op_\w+|{id})",
                 "webhook": r"wh_\w+", "token": r"tok_\w+", "action": "({action}|[a-z-]+)",
                 "account": "(main|{account})",
                 "pool": "(default|gpu|{pool})"}
        pattern = re.sub(r"\\{([a-z]+)\\}", lambda m: names[m.group(1)], re.escape(path))
        if not re.search(pattern + r"(?![\w/-])", page):
            missing.append(path)
    assert not missing, missing


def test_docs_list_every_problem_code():
    """docs/problems.md and model/problem.h tell the same."""
    header = re.sub(r"\\\n", "", (ROOT / "model/problem.h").read_text())
    rows = re.findall(r'X\(([A-Z_0-9]+),\s*"([a-z_0-9]+)",\s*(\d+),\s*"([^"]*)",\s*FAULT_([A-Z]+),\s*"([^"]*)"\)', header)
    wanted = [[code, status, title, fault.lower(), advice] for _, code, status, title, fault, advice in rows]
    assert len(wanted) == len(re.findall(r'X\([A-Z_0-9]+,\s*"', header)) > 30
    page = (ROOT / "docs/problems.md").read_text()
    told = [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
            for line in page.splitlines() if re.match(r"\| `[a-z_0-9]+` \|", line)]
    assert told == wanted


def test_docs_example_verifies_a_webhook(monkeypatch):
    """The code in docs/api.md against the vectors of Standard Webhooks."""
    scope = {}
    exec(re.search(r"```python\n(.*?)```", (ROOT / "docs/api.md").read_text(), re.S)[1], scope)
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    headers = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
               "webhook-signature": "v1a,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}
    monkeypatch.setattr(time, "time", lambda: 1614265330 + 299)
    assert scope["is_genuine"](secret, headers, body)
    assert not scope["is_genuine"](secret, headers, body + b" ")
    monkeypatch.setattr(time, "time", lambda: 1614265330 + 301)
    assert not scope["is_genuine"](secret, headers, body)
