"""docs/iac.md: the requests of each tool, made from the manifests of the page. The tools themselves do not run; their requests,
comparisons and end conditions come from their sources (the page names them)."""

import json
import re
import subprocess
import sys
import types
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
import yaml

import web
from harness import BUILD, ROOT, wait_until

PAGE = (ROOT / "docs/iac.md").read_text()
SERVER = "https://shootd.example.com"


def blocks(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)
    assert found, f"no {language} on the page"
    return found


# ---- the world -------------------------------------------------------------------------------------------------------

class Scene:
    """A daemon with its simulator, and a client that sends the requests of a tool."""

    def __init__(self, sim, d):
        self.sim, self.d = sim, d
        self.http = web.Client(timeout=90)
        self.sent = []

    def send(self, method, url, body=None, headers=None):
        assert url.startswith(SERVER), url
        if headers is None:
            headers = {"Authorization": "Bearer " + self.d.token()}
            if body:
                headers["Content-Type"] = "application/json"
        answer = self.http.request(method, self.d.url + url[len(SERVER):], content=body or None, headers=headers)
        self.sent.append((method, urlsplit(url).path, answer.status_code))
        return answer

    def cluster(self):
        return self.d.cluster("dev").json()

    def writes(self):
        return [r["operation"] for r in self.sim.requests() if r["method"] != "GET" and r["operation"] not in ("create_token", "bootstrap")]

    @contextmanager
    def no_effect(self):
        before, operation = self.writes(), self.cluster()["operation"]["id"]
        yield
        assert self.writes() == before and self.cluster()["operation"]["id"] == operation

    @contextmanager
    def slowly(self):
        """Open operations stay open during the requests in the block."""
        self.sim.post("clock", speed=20)
        yield
        self.sim.post("clock", speed=720)

    def ready(self):
        self.d.wait_phase("dev", "ready")
        wait_until(lambda: self.cluster()["operation"]["status"] == "succeeded", what="the operation to end")

    def others_scale(self, maximum):
        """Another user changes the cluster at Cleura."""
        state = self.sim.get("state")
        shoot = next(s for s in state["shoots"] if s["name"] == "dev")
        shoot["spec"]["workers"][0]["maximum"] = maximum
        answer = self.sim.http.put("/_sim/state", json={"bootstrapped": state["bootstrapped"], "shoots": state["shoots"]})
        assert answer.status_code == 200, answer.text
        wait_until(lambda: self.cluster()["drift"], what="drift")

    def others_delete(self):
        assert self.sim.http.delete("/_sim/shoots/dev").status_code < 300
        wait_until(lambda: self.d.cluster("dev").status_code == 404, what="the cluster to be missed")

    def maximum(self):
        return self.cluster()["observed"]["node_pools"][0]["maximum"]


@pytest.fixture
def scene(sim, shootd):
    return Scene(sim, shootd)


def scaled(spec, maximum):
    changed = json.loads(json.dumps(spec))
    changed["node_pools"][0]["maximum"] = maximum
    return changed


def test_the_page_has_one_spec_in_all_its_manifests():
    wanted = json.loads(yaml.safe_load(blocks("yaml")[0])["spec"]["forProvider"]["payload"]["body"])
    restapi, restful = (Hcl(text).document() for text in blocks("hcl")[:2])
    assert restapi["resource restapi_object dev"]["data"] == wanted
    assert restful["resource restful_resource dev"]["body"] == {"labels": wanted["labels"], "spec": wanted["spec"]}
    assert '"192.0.2.0/24", "198.51.100.7/32"' in blocks("python")[0]


# ---- behaviour that all tools need -------------------------------------------------------------------------------------

def test_a_put_may_repeat_the_name_in_its_path(shootd):
    """Tools use one document for POST and PUT."""
    path = shootd.clusters_path("dev")
    made = shootd.http.put(path, json={"name": "dev", "spec": {}})
    assert made.status_code == 202
    again = shootd.http.put(path, json={"name": "dev", "spec": {}})
    assert again.status_code == 202 and again.headers["Location"] == made.headers["Location"]
    other = shootd.http.put(path, json={"name": "other", "spec": {}})
    assert other.status_code == 422, other.text
    assert other.json()["errors"] == [{"pointer": "#/name", "code": "immutable", "valid": ["dev"],
                                       "detail": "is another name than the one in the path"}]
    shootd.wait_operation(made.json()["operation"]["id"])
    assert shootd.http.put(path, json={"name": "dev", "spec": {}}).status_code == 200
    for wrong in (shootd.http.put(path, json={"name": "other"}), shootd.http.patch(path, json={"name": "other"}),
                  shootd.http.put(shootd.clusters_path("b"), json={"name": "c"}), shootd.http.put(path, json={"name": 5})):
        assert wrong.status_code == 422 and [e["pointer"] for e in wrong.json()["errors"]] == ["#/name"], wrong.text
    assert shootd.http.patch(path, json={"name": "dev", "labels": {"a": "b"}}).status_code == 200
    assert shootd.cluster("b").status_code == 404


def test_sent_values_are_read_back(sim, shootd):
    """The spec is returned as it was sent, with nulls, empty lists and unknown members in any order; also after a restart, and in every
    answer with the cluster."""
    sent = {"allowed_cidrs": ["198.51.100.7/32", "192.0.2.0/24"], "kubernetes_version": None, "hibernation_schedules": [],
            "node_pools": [{"maximum": 2, "labels": {"z": "1", "a": ""}, "name": "zz", "minimum": 1, "taints": []},
                           {"name": "aa", "zones": None, "machine_type": "b.4c8gb", "minimum": 1, "maximum": 1}]}
    labels = {"z/team": "web", "a": ""}
    made = shootd.http.put(shootd.clusters_path("dev"), json={"spec": sent, "labels": labels, "description": "für \"alle\" \u2192"})
    assert made.status_code == 202, made.text
    shootd.wait_operation(made.json()["operation"]["id"])
    shootd.stop()
    shootd.start()
    listed = shootd.http.get("/v1/clusters").json()["items"][0]
    again = shootd.http.put(shootd.clusters_path("dev"), json={"spec": sent, "labels": labels, "description": "für \"alle\" \u2192"})
    assert again.status_code == 200
    for answer in (made.json(), listed, again.json(), shootd.cluster("dev").json()):
        assert json.dumps(answer["spec"]) == json.dumps(sent)
        assert answer["labels"] == labels and answer["description"] == "für \"alle\" \u2192"
    assert "deletion_protection" in listed and listed["drift"] == []


def test_null_outside_of_the_spec_reads_back_as_what_it_means(shootd):
    body = {"labels": None, "deletion_protection": None, "description": None, "spec": None}
    made = shootd.http.put(shootd.clusters_path("dev"), json=body)
    assert made.status_code == 202, made.text
    again = shootd.http.put(shootd.clusters_path("dev"), json=body)
    assert again.status_code == 202 and again.json()["operation"]["id"] == made.json()["operation"]["id"], "an equal one"
    for answer in (made.json(), again.json(), shootd.cluster("dev").json()):
        assert {k: answer[k] for k in body} == {"labels": {}, "deletion_protection": False, "description": None, "spec": {}}


def test_a_whole_number_is_an_integer_however_it_is_written(shootd):
    """Some tools know floating-point numbers only; for JSON Schema, and so for the contract, 3.0 is an integer."""
    body = '{"spec":{"node_pools":[{"name":"default","machine_type":"b.2c4gb","minimum":1.0,"maximum":3e0}]}}'
    made = shootd.http.put(shootd.clusters_path("dev"), content=body, headers={"Content-Type": "application/json"})
    assert made.status_code == 202, made.text
    pool = made.json()["spec"]["node_pools"][0]
    assert pool["maximum"] == 3 and isinstance(pool["maximum"], int)
    refused = shootd.http.put(shootd.clusters_path("dev"), content=body.replace("3e0", "3.5"), headers={"Content-Type": "application/json"})
    assert refused.status_code == 422 and refused.json()["errors"][0]["code"] == "wrong_type"


# ---- Crossplane provider-http ----------------------------------------------------------------------------------------

def jq(query, value):
    run = subprocess.run(["jq", "-c", " ".join(query.split())], input=json.dumps(value), capture_output=True, text=True)
    assert run.returncode == 0, f"{query}: {run.stderr}"
    return json.loads(run.stdout)


def with_secrets(headers, scene):
    secret = "{{ shootd:crossplane-system:token }}"
    return {name: values[0].replace(secret, scene.d.token()) for name, values in headers.items()}


def contains(container, containee):
    """Whether one document contains the other: objects by member, all else equal as JSON."""
    return all(name in container and (contains(container[name], value) if isinstance(value, dict) and isinstance(container[name], dict)
                                      else container[name] == value) for name, value in containee.items())


class Request:
    """Reads; then creates, updates or removes; then waits for the next minute."""

    def __init__(self, scene, manifest):
        self.scene, self.asked = scene, manifest["spec"]["forProvider"]
        self.body = json.loads(self.asked["payload"]["body"])
        self.response = {"headers": None}
        self.default_check = False

    def context(self):
        return {"payload": {"baseUrl": self.asked["payload"]["baseUrl"], "body": self.body}, "response": self.response}

    def act(self, action):
        mapping = next(m for m in self.asked["mappings"] if m["action"] == action)
        url = jq(mapping["url"], self.context())
        body = json.dumps(jq(mapping["body"], self.context())) if "body" in mapping else ""
        assert "null" not in url + body  # the provider would not send a request with a null in it
        answer = self.scene.send(mapping["method"], url, body, with_secrets(self.asked["headers"], self.scene))
        self.response = {"statusCode": answer.status_code, "headers": {k: [v] for k, v in answer.headers.items()},
                         "body": answer.json()}
        return answer

    def is_up_to_date(self, answer):
        if self.default_check:
            update = next(m for m in self.asked["mappings"] if m["action"] == "UPDATE")
            return contains(answer.json(), jq(update["body"], self.context()))
        return jq(self.asked["expectedResponseCheck"]["logic"], self.context())

    def reconcile(self, deleted=False):
        """The action after the read, if any."""
        answer = self.act("OBSERVE")
        exists = answer.status_code != 404
        assert answer.status_code in (200, 404), answer.text
        if deleted:
            action = "REMOVE" if exists else None
        elif not exists:
            action = "CREATE"
        else:
            action = None if self.is_up_to_date(answer) else "UPDATE"
        if action:
            status = self.act(action).status_code
            assert status < 300 or (action, status) == ("REMOVE", 404), self.response
        return action


class DisposableRequest:
    """Sends its request until the answer is as expected, and then never again."""

    def __init__(self, scene, manifest):
        self.scene, self.asked, self.synced = scene, manifest["spec"]["forProvider"], False
        self.tries = 0

    def reconcile(self):
        if not self.synced:
            answer = self.scene.send(self.asked["method"], self.asked["url"], "", with_secrets(self.asked["headers"], self.scene))
            self.tries += 1
            assert self.tries <= self.asked["rollbackRetriesLimit"], "the provider gives up, and it panics when there is no limit"
            seen = {"statusCode": answer.status_code, "body": answer.json()}
            self.synced = answer.status_code < 400 and jq(self.asked["expectedResponse"], seen)
        return self.synced


@pytest.mark.parametrize("default_check", [False, True])
def test_crossplane_request(scene, default_check):
    request = Request(scene, yaml.safe_load(blocks("yaml")[0]))
    request.default_check = default_check
    ready = DisposableRequest(scene, yaml.safe_load(blocks("yaml")[1]))
    assert not ready.reconcile(), "there is nothing yet"
    with scene.slowly():
        assert request.reconcile() == "CREATE" and request.response["statusCode"] == 202
        assert request.response["body"]["spec"] == request.body["spec"]
        wait_until(scene.writes, what="the create at Cleura")
        with scene.no_effect():  # one minute later; with a check of readiness the provider sends a PUT each minute
            assert request.reconcile() is None
            assert not ready.reconcile()
            assert request.act("UPDATE").status_code == 202
    wait_until(ready.reconcile, what="the second object")
    scene.ready()
    with scene.no_effect():
        assert request.reconcile() is None and request.reconcile() is None
        assert request.act("UPDATE").status_code == 200
        count = len(scene.sent)
        assert ready.reconcile() and len(scene.sent) == count

    request.body = {**request.body, "labels": {"team": "web", "tier": "1"}, "spec": scaled(request.body["spec"], 5)}
    assert request.reconcile() == "UPDATE" and request.response["statusCode"] == 202
    assert request.reconcile() is None, "under way"
    scene.ready()
    assert request.reconcile() is None and scene.maximum() == 5 and scene.cluster()["labels"]["tier"] == "1"

    scene.others_scale(7)
    if default_check:
        assert request.reconcile() is None, "it does not look at drift"
    else:
        assert request.reconcile() == "UPDATE" and request.response["statusCode"] == 202
        wait_until(lambda: scene.maximum() == 5 and not scene.cluster()["drift"], what="the repair")
        scene.ready()
        assert request.reconcile() is None

    scene.others_delete()
    assert request.reconcile() == "CREATE" and request.response["statusCode"] == 202
    scene.ready()
    with scene.slowly():
        assert request.reconcile(deleted=True) == "REMOVE" and request.response["statusCode"] == 202
        operation = request.response["body"]["operation"]["id"]
        assert request.reconcile(deleted=True) == "REMOVE" and request.response["body"]["operation"]["id"] == operation
        early = request.act("CREATE")
        assert early.status_code == 409 and early.json()["code"] == "cluster_busy", "not before it is gone"
    wait_until(lambda: request.reconcile(deleted=True) is None, what="404")
    assert {status for method, _, status in scene.sent if method == "DELETE"} <= {202, 404}
    assert request.act("REMOVE").status_code == 404


def test_crossplane_adopts_what_exists(scene):
    scene.sim.post("shoots", count=1, prefix="un")
    name = wait_until(lambda: [c["name"] for c in scene.d.http.get("/v1/clusters").json()["items"]], what="discovery")[0]
    request = Request(scene, yaml.safe_load(blocks("yaml")[0]))
    request.body = {"name": name, "labels": {}, "spec": {"allowed_cidrs": []}}
    assert request.reconcile() == "UPDATE" and request.response["body"]["managed"] is True
    assert request.reconcile() is None


# ---- a little of HCL -------------------------------------------------------------------------------------------------

class Hcl:
    """Blocks by "type label label", attributes, strings, numbers, lists, objects, jsonencode; other expressions are None."""

    def __init__(self, text):
        self.tokens = re.findall(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|[A-Za-z_][\w.-]*|[=!]=|[{}\[\](),=]|\n', text) + ["\n", None]

    def take(self):
        return self.tokens.pop(0)

    def skip(self):
        while self.tokens[0] in ("\n", ","):
            self.take()

    def document(self):
        return self.body(None)

    def body(self, end):
        found = {}
        while True:
            self.skip()
            name = self.take()
            if name == end:
                return found
            while self.tokens[0] not in ("=", "{"):
                name += " " + json.loads(self.take())
            found[name] = self.value() if self.take() == "=" else self.body("}")

    def value(self):
        self.skip()
        token = self.take()
        if token == "{":
            return self.body("}")
        if token == "[":
            items = []
            while self.skip() or self.tokens[0] != "]":
                items.append(self.value())
            self.take()
            return items
        if token == "jsonencode":
            self.take()
            value = self.value()
            self.skip()
            assert self.take() == ")"
            return value
        if token in ("true", "false") or token[0] in '"-0123456789':
            return json.loads(token)
        while self.tokens[0] not in ("\n", "}"):
            self.take()
        return None


# ---- Mastercard/restapi ----------------------------------------------------------------------------------------------

def delta(recorded, actual, ignored):
    """The recorded document with the members of the actual one that differ and are not ignored."""
    found = {}
    for name, value in recorded.items():
        if name in ignored:
            found[name] = value
        elif isinstance(value, dict) and isinstance(actual.get(name), dict):
            found[name] = delta(value, actual[name], [i[len(name) + 1:] for i in ignored if i.startswith(name + ".")])
        else:
            found[name] = actual.get(name)
    found.update({n: v for n, v in actual.items() if n not in recorded and n not in ignored})
    return found


class RestapiObject:
    def __init__(self, scene, document):
        self.scene, self.provider = scene, document["provider restapi"]
        self.resource = document["resource restapi_object dev"]
        self.data = self.resource["data"]
        self.state = None
        assert self.provider["timeout"] > 55
        assert scene.send("GET", self.provider["uri"] + self.provider["test_path"]).status_code == 200

    def send(self, method, path, body=None):
        url = self.provider["uri"] + path.replace("{id}", self.data[self.provider["id_attribute"]])
        return self.scene.send(method, url, json.dumps(body) if body else None)

    def read(self):
        """Every answer above 299 is an error of the plan, also 404."""
        answer = self.send("GET", self.resource["path"] + "/{id}")
        assert answer.status_code == 200, answer.text
        self.state = delta(self.state, answer.json(), self.resource["ignore_changes_to"])

    def remove_from_state(self):
        """`terraform state rm`"""
        self.state = None

    def apply(self, refresh=True):
        """Refreshes, plans and applies; returns the action."""
        if refresh and self.state is not None:
            self.read()
        if self.state == self.data:
            return None
        action = ("create", self.provider["create_method"]) if self.state is None else ("update", "PUT")
        answer = self.send(action[1], self.resource[action[0] + "_path"], self.data)
        assert 200 <= answer.status_code < 300 and answer.json()[self.provider["id_attribute"]] == self.data["name"], answer.text
        self.state = self.data
        return action[0], answer.status_code

    def destroy(self):
        answer = self.send("DELETE", self.resource["destroy_path"])
        assert answer.status_code < 300 or answer.status_code in (404, 410), answer.text
        return answer.status_code


def test_terraform_restapi(scene):
    tool = RestapiObject(scene, Hcl(blocks("hcl")[0]).document())
    assert tool.apply() == ("create", 201), "the wait covers it"
    assert scene.cluster()["status"]["phase"] == "ready" and scene.cluster()["spec"] == tool.data["spec"]
    with scene.no_effect():
        assert tool.apply() is None and tool.apply() is None

    tool.data = {**tool.data, "labels": {"team": "web", "tier": "1"}}
    assert tool.apply() == ("update", 200)
    tool.data = {**tool.data, "spec": scaled(tool.data["spec"], 5)}
    assert tool.apply() == ("update", 200) and scene.maximum() == 5
    assert tool.apply() is None

    # A change by another client of shootd is found and reverted. A change at Cleura is found by the check of the page, and any PUT reverts
    # it.
    changed = scene.d.http.patch(scene.d.clusters_path("dev"), json={"spec": {"allowed_cidrs": []}}, params={"wait": 55})
    assert changed.status_code == 200
    assert tool.apply() == ("update", 200) and tool.apply() is None
    scene.others_scale(7)
    assert tool.apply() is None
    assert tool.send("PUT", tool.resource["update_path"], tool.data).status_code == 200
    assert scene.maximum() == 5 and scene.cluster()["drift"] == []

    scene.others_delete()
    for _ in range(2):
        with pytest.raises(AssertionError, match="cluster_not_found"):
            tool.apply()
    assert "`terraform state rm restapi_object.dev`" in PAGE and "`terraform plan -refresh=false`" in PAGE
    assert tool.apply(refresh=False) is None
    tool.remove_from_state()
    assert tool.apply() == ("create", 201)
    tool.remove_from_state()  # an interrupted apply stored no state
    with scene.no_effect():
        assert tool.apply() == ("create", 200)
    assert tool.destroy() == 204 and tool.destroy() == 404


def test_a_cluster_of_cleuras_own_provider_is_handed_over(sim, make_shootd):
    """The manifest has the values of the old resource, so nothing is sent."""
    texts = blocks("hcl")
    document = {**Hcl(texts[0]).document(), **Hcl(texts[2]).document()}
    assert document["removed"]["lifecycle"] == {"destroy": False}
    wanted = document["resource restapi_object dev"]["data"]["spec"]
    before = make_shootd(sim.url, name="before").start()  # makes it as the other provider would
    before.wait_operation(before.create("dev", spec=wanted)["operation"]["id"])
    before.stop()
    scene = Scene(sim, make_shootd(sim.url, name="after").start())
    wait_until(lambda: scene.d.cluster("dev").status_code == 200, what="the cluster to be discovered")
    assert scene.cluster()["managed"] is False
    writes = scene.writes()
    tool = RestapiObject(scene, document)
    assert tool.apply() == ("create", 200) and tool.apply() is None
    assert scene.cluster()["managed"] is True and scene.cluster()["drift"] == [] and scene.writes() == writes


def test_the_manifest_of_the_kubernetes_provider_calls_shootctl(scene):
    exec_ = Hcl(blocks("hcl")[3]).document()["provider kubernetes"]["exec"]
    url, arguments = exec_["args"][-1], exec_["args"][:-1]
    assert url == SERVER and exec_["command"] == "shootctl"
    scene.d.wait_operation(scene.d.create("dev")["operation"]["id"])
    asked = json.dumps({"apiVersion": exec_["api_version"], "kind": "ExecCredential", "spec": {"interactive": False}})
    done = subprocess.run([BUILD / "shootctl", *arguments, scene.d.url], capture_output=True, text=True, timeout=60, env={
        "HOME": str(scene.d.directory), "SHOOTD_TOKEN": scene.d.token(), "KUBERNETES_EXEC_INFO": asked})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["apiVersion"] == exec_["api_version"]


# ---- magodo/restful --------------------------------------------------------------------------------------------------

def located(answer, locator):
    if locator == "code":
        return str(answer.status_code)
    assert answer.is_success, answer.text
    value = answer.json()
    for name in locator.removeprefix("body.").split("."):
        value = value[name]
    return value


def like(shape, value):
    """The answer with only the members of the body; lists of another length are not changed."""
    if isinstance(shape, dict) and isinstance(value, dict):
        return {name: like(inner, value.get(name)) for name, inner in shape.items()}
    if isinstance(shape, list) and isinstance(value, list) and len(shape) == len(value):
        return [like(s, v) for s, v in zip(shape, value)]
    return value


class RestfulResource:
    def __init__(self, scene, document):
        self.scene, self.url = scene, document["provider restful"]["base_url"]
        self.resource = document["resource restful_resource dev"]
        self.kubeconfig = document["ephemeral restful_resource kubeconfig"]
        self.body = self.resource["body"]
        self.state = None
        self.delays = []

    def send(self, method, body=None):
        return self.scene.send(method, self.url + self.resource["path"], json.dumps(body) if body else None)

    def poll(self, begun, option):
        """Polls the same URL with GET; the delay is Retry-After, or ten seconds."""
        self.delays.append(int(begun.headers.get("Retry-After", 10)))

        def ended():
            answer = self.send("GET")
            status = located(answer, option["status_locator"])
            assert status in (option["status"]["success"], *option["status"]["pending"]), answer.text
            self.delays.append(int(answer.headers.get("Retry-After", 10)))
            return status == option["status"]["success"]
        wait_until(ended, what="the poll")

    def read(self):
        answer = self.send("GET")
        self.state = None if answer.status_code == 404 else like(self.state, answer.json())
        assert answer.status_code in (200, 404), answer.text

    def apply(self):
        if self.state is not None:
            self.read()
        if self.state == self.body:
            return None
        if self.state is None:
            assert not self.resource["check_existance"] or self.send("GET").status_code == 404, "already exists"
            answer, option = self.send(self.resource["create_method"], self.body), "poll_create"
        else:
            answer, option = self.send("PUT", self.body), "poll_update"
        assert answer.is_success, answer.text
        self.poll(answer, self.resource[option])
        self.state = self.body
        self.read()
        assert self.state == self.body, "what is read after an apply has to be what was planned"
        return option, answer.status_code

    def destroy(self):
        answer = self.send("DELETE")
        if answer.status_code != 404:
            assert answer.is_success, answer.text
            self.poll(answer, self.resource["poll_delete"])
        return answer.status_code


def test_terraform_restful(scene):
    tool = RestfulResource(scene, Hcl(blocks("hcl")[1]).document())
    assert tool.apply() == ("poll_create", 202)
    assert scene.cluster()["status"]["phase"] == "ready" and 5 in tool.delays
    with scene.no_effect():
        assert tool.apply() is None and tool.apply() is None

    tool.body = {**tool.body, "labels": {"team": "web", "tier": "1"}}
    with scene.no_effect():
        assert tool.apply() == ("poll_update", 200), "labels have no operation: the poll ends at once"
    tool.body = {**tool.body, "spec": scaled(tool.body["spec"], 5)}
    assert tool.apply() == ("poll_update", 202) and scene.maximum() == 5
    assert tool.apply() is None

    assert scene.d.http.patch(scene.d.clusters_path("dev"), json={"spec": {"allowed_cidrs": []}}, params={"wait": 55}).status_code == 200
    assert tool.apply() == ("poll_update", 202) and tool.apply() is None
    scene.others_scale(7)
    assert tool.apply() is None
    for output in tool.resource["output_attrs"]:
        assert located(tool.send("GET"), "body." + output)
    assert tool.send("PUT", tool.body).status_code == 202
    wait_until(lambda: scene.maximum() == 5 and not scene.cluster()["drift"], what="the repair")

    secret = scene.send(tool.kubeconfig["method"], tool.url + tool.kubeconfig["path"]).json()
    assert yaml.safe_load(secret["kubeconfig"])["kind"] == "Config"
    scene.others_delete()
    assert tool.apply() == ("poll_create", 202)
    assert tool.destroy() == 202 and tool.destroy() == 404
    tool.read()
    assert tool.state is None


def test_restful_stops_at_a_failure(scene):
    scene.sim.post("lifecycle", shoot="dev", operation="create", outcome="failed", at_progress=40, codes=["ERR_INFRA_QUOTA_EXCEEDED"],
                   description="no room")
    tool = RestfulResource(scene, Hcl(blocks("hcl")[1]).document())
    with pytest.raises(AssertionError, match="ERR_INFRA_QUOTA_EXCEEDED"):
        tool.apply()
    assert tool.state is None and scene.d.cluster("dev").status_code == 200
    with pytest.raises(AssertionError, match="already exists"):
        tool.apply()


# ---- Pulumi ----------------------------------------------------------------------------------------------------------

def stand_ins(made):
    """Stand-ins for the parts of Pulumi that the program on the page uses."""
    def record(*names):
        class Record:
            def __init__(self, *given, **named):
                self.__dict__.update(dict(zip(names, given)) | named)
        return Record

    class Resource:
        def __init__(self, provider, name, props, opts=None):
            made.append((provider, name, props))

    dynamic = types.ModuleType("pulumi.dynamic")
    dynamic.Resource, dynamic.ResourceProvider = Resource, type("ResourceProvider", (), {})
    dynamic.CheckFailure, dynamic.CheckResult = record("property", "reason"), record("inputs", "failures")
    dynamic.CreateResult, dynamic.DiffResult, dynamic.UpdateResult = record("id", "outs"), record("changes", "replaces"), record("outs")
    pulumi = types.ModuleType("pulumi")
    pulumi.dynamic = dynamic
    return {"pulumi": pulumi, "pulumi.dynamic": dynamic}


def over_the_wire(value):
    """Between engine and provider every number is a double, and members that are None are left out."""
    if isinstance(value, dict):
        return {name: over_the_wire(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [over_the_wire(inner) for inner in value]
    return float(value) if type(value) is int else value


class Engine:
    def __init__(self, provider, inputs):
        self.provider, self.inputs, self.state = provider, inputs, None

    def up(self, preview=False):
        news = over_the_wire(self.inputs)
        olds = self.state[1] if self.state else {}
        checked = self.provider.check(olds, news)
        assert not checked.failures, [(f.property, f.reason) for f in checked.failures]
        if not self.state:
            if not preview:
                made = self.provider.create(checked.inputs)
                self.state = (made.id, over_the_wire(made.outs))
            return "create"
        diff = self.provider.diff(self.state[0], olds, checked.inputs)
        assert not diff.replaces
        if diff.changes and not preview:
            self.state = (self.state[0], over_the_wire(self.provider.update(self.state[0], olds, checked.inputs).outs))
        return "update" if diff.changes else None

    def destroy(self):
        self.provider.delete(*self.state)


def test_pulumi_dynamic_provider(scene, monkeypatch):
    made = []
    for name, module in stand_ins(made).items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setenv("SHOOTD_URL", scene.d.url)
    monkeypatch.setenv("SHOOTD_TOKEN", scene.d.token())
    exec(compile(blocks("python")[0], "docs/iac.md", "exec"), {"__name__": "program"})
    ((provider, _, inputs),) = made
    engine = Engine(provider, inputs)
    assert engine.up(preview=True) == "create" and scene.d.cluster("dev").status_code == 404
    assert engine.up() == "create"
    cluster = scene.cluster()
    assert cluster["status"]["phase"] == "ready" and cluster["spec"] == inputs["spec"] and cluster["labels"] == inputs["labels"]
    assert engine.state[0] == "team-a/dev" and engine.state[1]["kubernetes_version"] == "1.33.7"
    with scene.no_effect():
        assert engine.up(preview=True) is None and engine.up() is None

    engine.inputs = {**inputs, "spec": scaled(inputs["spec"], 5)}
    with scene.no_effect():
        assert engine.up(preview=True) == "update"
    assert engine.up() == "update" and scene.maximum() == 5 and engine.up() is None
    for wrong, words in (({"node_pools": []}, "#/spec/node_pools"), ({"kubernetes_version": "1.32"}, "#/spec/kubernetes_version"),
                         ({"colour": "red"}, "#/spec/colour")):
        engine.inputs = {**inputs, "spec": {**inputs["spec"], **wrong}}
        with pytest.raises(AssertionError, match=words):
            engine.up(preview=True)
    assert provider.diff("x", inputs, {**inputs, "name": "other"}).replaces == ["name"]

    scene.others_scale(7)
    engine.inputs = {**inputs, "labels": {"team": "web", "tier": "1"}, "spec": scaled(inputs["spec"], 5)}
    assert engine.up() == "update" and scene.maximum() == 5 and engine.state[1]["drift"] == []
    engine.destroy()
    assert scene.d.cluster("dev").status_code == 404
    engine.destroy()
    assert engine.up() is None, "dynamic providers do not read"
    scene.sim.post("lifecycle", shoot="dev", operation="create", outcome="failed", at_progress=40, codes=["ERR_INFRA_QUOTA_EXCEEDED"],
                   description="no room")
    engine.state = None
    with pytest.raises(Exception, match="no room|QUOTA"):
        engine.up()
