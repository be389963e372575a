"""A validating proxy between client and daemon: Prism, another reader of openapi.yaml, checks every request and answer of a walk through
the API. It turns an answer that breaks the contract into a 500. 304 is left out: Prism 5.14 tries to parse the body that its
Content-Type announces."""

import copy
import json
import re
import subprocess
import time

import httpx
import pytest

import harness
import web
from contract import DOCUMENT, OPERATIONS, operation_of
from harness import ROOT, free_port, wait_until

PRISM = ROOT / "tests/js/node_modules/.bin/prism"


class Proxy:
    def __init__(self, directory, contract, upstream):
        self.port = free_port()
        argv = [PRISM, "proxy", contract, upstream, "--errors", "--host", "127.0.0.1", "--port", str(self.port), "--verboseLevel", "warn"]
        self.process = harness.Process(argv, directory / f"prism-{self.port}.log")
        self.url = f"http://127.0.0.1:{self.port}"
        wait_until(self.answers, timeout=40, what="the proxy to start")

    def answers(self):
        assert self.process.popen.poll() is None, self.process.text()
        try:
            return web.get(self.url + "/livez").status_code == 200
        except httpx.TransportError:
            return False

    def stop(self):
        self.process.kill()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    if not PRISM.exists():
        pytest.skip("tests/js/node_modules is absent; `make deps-test` installs it")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, version.strip().lstrip("v").split("."))) < (18, 20, 1):
        pytest.skip(f"the proxy needs Node.js 18.20.1 or newer, this is {version}")
    directory = tmp_path_factory.mktemp("proxy")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start()
    yield directory, sim, d
    d.stop()
    sim.stop()


def test_the_proxy_sees_what_is_wrong(daemon):
    """The proxy reports an answer that breaks a changed contract; without this check its silence would prove nothing."""
    directory, _, d = daemon
    wrong = copy.deepcopy(DOCUMENT)
    wrong["components"]["schemas"]["Whoami"]["properties"]["role"] = {"type": "integer"}
    wrong["components"]["schemas"]["NextCursor"] = {"type": "string"}
    path = directory / "wrong.json"
    path.write_text(json.dumps(wrong))
    proxy = Proxy(directory, path, d.url)
    try:
        with web.Client(base_url=proxy.url, headers={"Authorization": "Bearer " + d.token()}) as client:
            assert client.get("/v1/projects/team-a").status_code == 200
            for what, member in (("/v1/whoami", "role"), ("/v1/clusters", "next_cursor")):
                told = client.get(what)
                assert told.status_code == 500 and "VIOLATIONS" in told.json()["type"] and member in told.text, told.text
            refused = client.get("/v1/clusters", params={"phase": "purple"})
            assert refused.status_code == 422 and "prism" in refused.json()["type"], refused.text
    finally:
        proxy.stop()


class Walker:
    def __init__(self, client):
        self.client, self.called = client, set()

    def __call__(self, method, path, status, **more):
        answer = self.client.request(method, path, **more)
        assert "sl-violations" not in answer.headers, answer.headers["sl-violations"]
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        assert "stoplight.io" not in answer.text or path == "/openapi.json", answer.text
        self.called.add(operation_of(method, path.split("?")[0])["operationId"])
        return answer

    def ended(self, accepted):
        path = accepted.headers["Location"]
        end = time.monotonic() + 40 * harness.PATIENCE
        while (op := self("GET", path, 200, params={"wait": 5}).json())["status"] in ("pending", "running"):
            assert time.monotonic() < end, op
        assert op["status"] == "succeeded", op


def test_a_walk_through_the_proxy(daemon):
    directory, sim, d = daemon
    proxy = Proxy(directory, ROOT / "openapi.yaml", d.url)
    client = web.Client(base_url=proxy.url, timeout=90, headers={"Authorization": "Bearer " + d.token()})
    walk = Walker(client)
    try:
        clusters = d.clusters_path()
        dev = d.clusters_path("dev")
        patch = {"headers": {"Content-Type": "application/merge-patch+json"}}
        spec = {"kubernetes_version": "1.33", "node_pools": [{"name": "default", "minimum": 1, "maximum": 2}]}
        walk("POST", clusters, 200, params={"dry_run": "true"}, json={"name": "dev", "spec": spec})
        created = walk("POST", clusters, 202, json={"name": "dev", "labels": {"team": "web"}, "spec": spec})
        assert created.headers["Location"].startswith("/v1/operations/") and created.headers["Retry-After"]
        walk("GET", created.headers["Location"], 200, headers={"Prefer": "wait=1"})
        walk.ended(created)
        walk("PUT", dev, 200, json={"labels": {"team": "web"}, "spec": spec})
        walk("PUT", dev, 200, json={"labels": {"team": "web"}, "spec": spec}, headers={"If-Match": walk("GET", dev, 200).headers["ETag"]})
        walk("GET", dev, 200, headers={"Cache-Control": "no-cache"})
        walk("PATCH", dev, 200, params={"dry_run": "true"}, json={"spec": {"kubernetes_version": "1.34"}}, **patch)
        walk.ended(walk("PATCH", dev, 202, json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}}, **patch))
        walk.ended(walk("POST", dev + "/node-pools", 202, json={"name": "gpu", "maximum": 2}))
        walk.ended(walk("PUT", dev + "/node-pools/gpu", 202, json={"maximum": 3}))
        walk.ended(walk("PATCH", dev + "/node-pools/gpu", 202, json={"maximum": 4}, **patch))
        walk.ended(walk("DELETE", dev + "/node-pools/gpu", 202))
        walk.ended(walk("POST", dev + "/actions/hibernate", 202))
        walk.ended(walk("POST", dev + "/actions/wake", 202))
        hook = walk("POST", "/v1/webhooks", 201, json={"url": "https://hooks.example.com/x", "event_types": ["cluster.*"]}).json()
        token = walk("POST", "/v1/tokens", 201, json={"name": "ci", "role": "viewer", "projects": ["*"], "expires_in_days": 9}).json()
        walk("POST", "/v1/accounts/main/login", 200)
        walk("POST", "/v1/accounts/main/verify", 409, json={"code": "123456"})

        names = {"project": "team-a", "cluster": "dev", "pool": "default", "webhook": hook["id"], "account": "main",
                 "operation": created.json()["operation"]["id"], "token": token["id"]}
        for id, (method, path) in OPERATIONS.items():
            if method == "get" and set(re.findall(r"\{(\w+)\}", path)) <= set(names):
                walk("GET", path.format(**names), 200)
        walk("GET", dev + "/kubeconfig", 200, params={"format": "yaml", "ttl_seconds": "7200"})
        walk("GET", "/v1/clusters", 200, params={"phase": "ready,failed", "managed": "true", "kubernetes_version": "1.33", "q": "dev", "limit": 1})
        walk("GET", "/v1/events", 200, params={"after": 1, "limit": 2, "type": "cluster.ready,operation.*"})

        walk("GET", d.clusters_path("none"), 404)
        walk("POST", clusters, 409, json={"name": "dev"})
        walk("POST", clusters, 422, json={"name": "x", "spec": {"kubernetes_version": "1.99"}})
        walk("PATCH", dev, 412, json={}, headers={"If-Match": '"other"', "Content-Type": "application/merge-patch+json"})
        walk("GET", "/v1/whoami", 401, headers={"Authorization": "Bearer shd_wrong"})

        walk("DELETE", "/v1/webhooks/" + hook["id"], 204)
        walk("DELETE", "/v1/tokens/" + token["id"], 204)
        walk("DELETE", dev, 200, params={"dry_run": "true"})
        walk.ended(walk("DELETE", dev, 202))
        assert len(walk.called) >= 40, set(OPERATIONS) - walk.called
    finally:
        client.close()
        proxy.stop()
