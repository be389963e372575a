"""openapi.yaml for the tests: its operations, the validation of answers, and a request for each status that means the same for every
operation."""

import functools
import json
import re

import httpx
import jsonschema

import web
from harness import ROOT
from raw import Raw, request

DOCUMENT = json.loads((ROOT / "build/openapi.json").read_text())  # the build makes it; each worker would need seconds to read the YAML
METHODS = ("get", "put", "post", "delete", "patch")
# Every header field of an answer must be documented for that answer. These are the exceptions: fields of HTTP itself, and fields that the
# introduction of the document describes for all answers.
UNTOLD = {"date", "connection", "keep-alive", "transfer-encoding", "content-length", "content-type", "content-encoding",
          "ratelimit", "ratelimit-policy", "access-control-allow-origin", "access-control-expose-headers"}
OPERATIONS = {op["operationId"]: (method, path) for path, item in DOCUMENT["paths"].items()
              for method, op in item.items() if method in METHODS}
# A file of the dashboard. None when the build has no dashboard (npm or its registry was absent); then no test requests it.
DASHBOARD_FILE = next((p.name for p in sorted((ROOT / "build/dashboard").glob("app-*.js"))), None)
if not DASHBOARD_FILE:
    OPERATIONS = {id: where for id, where in OPERATIONS.items() if not id.startswith("getDashboard")}
PAIRS = {(id, int(status)) for id, (method, path) in OPERATIONS.items()
         for status in DOCUMENT["paths"][path][method]["responses"] if status != "default"}
# Vary of any answer may have these fields; the introduction of the document describes them.
VARY_OF_ALL = {"Accept-Encoding", "Origin"}
# Statuses of HTTP itself, which `default` describes for every operation.
ANYWHERE = (405, 408, 414, 417, 429, 431, 500, 501)

# Problem types that are registered by IANA (HT-44).
REGISTERED_TYPES = {code: "https://iana.org/assignments/http-problem-types#" + name
                    for code, name in (("request_quota_exceeded", "quota-exceeded"), ("overloaded", "temporary-reduced-capacity"))}


def resolve(node):
    while "$ref" in node:
        target = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = target
    return node


def described(id):
    method, path = OPERATIONS[id]
    return DOCUMENT["paths"][path][method]


def bodies(id):
    """The media type of each body that the operation accepts, with its examples: those of the body, else those of its schema."""
    content = described(id).get("requestBody", {}).get("content", {})
    return [(kind, [media["example"]] if "example" in media else resolve(media["schema"]).get("examples", []))
            for kind, media in content.items()]


@functools.cache  # a validator stores the schemas that it resolved
def validator_of(schema):
    return jsonschema.Draft202012Validator({**json.loads(schema), "components": DOCUMENT["components"]},
                                           format_checker=jsonschema.FormatChecker())


def validator(schema):
    return validator_of(json.dumps(schema, sort_keys=True))


def validate(schema, value, what):
    faults = [f"{what}: {'/'.join(map(str, e.absolute_path))}: {e.message[:1000]}"
              for e in validator(schema).iter_errors(value)]
    assert not faults, "\n".join(faults)


PATHS = [(re.compile(re.sub(r"\\{[a-z_]+\\}", "[^/]+", re.escape(template))), item)
         for template, item in sorted(DOCUMENT["paths"].items(), key=lambda p: p[0].count("{"))]


def operation_of(method, path):
    """The documented operation of a request. Literal paths win over templates."""
    for template, item in PATHS:
        if template.fullmatch(path):
            return item.get("get" if method == "HEAD" else method.lower())
    return None


class Checker:
    """Checks every answer that passes, and counts which operations were called with which status."""

    def __init__(self):
        self.seen = {}
        self.fields = {}  # header fields that were sent, by operation and status

    @property
    def pairs(self):
        return {(id, status) for id, statuses in self.seen.items() for status in statuses}

    def __call__(self, answer):
        answer.read()
        assert re.fullmatch(r"[A-Za-z0-9._-]{8,128}", answer.headers["X-Request-Id"])
        operation = operation_of(answer.request.method, answer.request.url.path)
        status = str(answer.status_code)
        if operation is None:
            if answer.status_code >= 400 and answer.request.method != "HEAD":
                self.check_problem(answer)
            return
        where = f"{operation['operationId']} {status}"
        self.seen.setdefault(operation["operationId"], set()).add(answer.status_code)
        documented = operation["responses"].get(status)
        assert documented or answer.status_code in ANYWHERE, where + " is undocumented"
        documented = resolve(documented or operation["responses"]["default"])
        described = {n.lower(): resolve(h)["schema"] for n, h in documented.get("headers", {}).items()}
        for name, value in answer.headers.items():
            if name in UNTOLD or name == "vary" and set(value.split(", ")) <= VARY_OF_ALL:
                continue
            assert name in described, f"{where}: {name} is undocumented"
            validate(described[name], int(value) if described[name]["type"] == "integer" else value, f"{where} {name}")
            self.fields.setdefault((operation["operationId"], answer.status_code), set()).add(name)
        content = documented.get("content")
        if not content or answer.request.method == "HEAD":
            assert not answer.content, where
            return
        if "return=minimal" in answer.headers.get("Preference-Applied", ""):
            assert not answer.content, where
            return
        kind = answer.headers["Content-Type"].split(";")[0]
        assert kind in content, f"{where}: {kind}"
        if kind == "application/x-ndjson":
            for line in answer.text.splitlines()[:20]:
                validate({"$ref": "#/components/schemas/AuditEntry"}, json.loads(line), where)
            return
        if kind.endswith("json"):
            self.check_body(content[kind]["schema"], answer.json(), where)
        if answer.status_code >= 400 and kind.endswith("json"):
            self.check_problem(answer)

    @staticmethod
    def check_body(schema, document, where):
        validate(schema, document, where)

    @staticmethod
    def check_problem(answer):
        assert answer.headers["Content-Type"].startswith("application/problem+json"), answer.headers
        problem = answer.json()
        validate({"$ref": "#/components/schemas/Problem"}, problem, str(answer.request.url))
        assert problem["status"] == answer.status_code
        assert problem["request_id"] == answer.headers["X-Request-Id"]
        assert problem["type"] == REGISTERED_TYPES.get(problem["code"], "/problems/" + problem["code"])
        assert answer.headers["Cache-Control"] == "no-store"

    def client(self, d, token=None):
        """A client that checks all answers of a daemon; `token=""` sends no token."""
        given = d.token() if token is None else token
        return web.Client(base_url=d.url, timeout=90, headers={"Authorization": "Bearer " + given} if given else {},
                            event_hooks={"response": [self]})

    def raw(self, method, path, answer):
        """Checks an answer that a bare socket received."""
        self(httpx.Response(answer.status, headers=answer.headers, content=answer.body,
                            request=httpx.Request(method, "http://shootd" + path)))


TIME_OR_ID = re.compile(r"[0-9a-z]{26}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?=Z)")


def most_items(schema):
    """The bound of a list, the largest one of several forms."""
    schema = resolve(schema)
    return max(resolve(form["properties"]["items"])["maxItems"] for form in map(resolve, schema.get("anyOf", [schema])))


class Watch(Checker):
    """A checker for whole suites. It skips an answer that differs from an earlier one only in numbers and ids, and items of a list that
    differ from earlier ones only in times and ids."""

    def __init__(self):
        super().__init__()
        self.known = set()
        self.tagged = {}

    def check_body(self, schema, document, where):
        """The first item is always checked: by it a list has one of several forms, and the others must have the same."""
        items = document.get("items") if isinstance(document, dict) else None
        if not items:
            return validate(schema, document, where)
        assert len(items) <= most_items(schema), f"{where}: {len(items)} items"
        form = where, tuple(items[0])
        shapes = [hash((form, TIME_OR_ID.sub("\0", json.dumps(item)))) for item in items]
        fresh = [item for item, shape in zip(items[1:], shapes[1:]) if shape not in self.known]
        validate(schema, {**document, "items": items[:1] + fresh}, where)
        self.known.update(shapes)

    def check_tag(self, answer):
        """Two answers with the same ETag must be equal, except for the time of the last read of Cleura."""
        if answer.status_code != 200 or "ETag" not in answer.headers or answer.request.method != "GET":
            return
        key = (str(answer.request.url), answer.request.headers.get("Authorization"), answer.headers["ETag"])
        body = re.sub(rb'"observed_at":"[^"]*"', b"", answer.read())
        assert self.tagged.setdefault(key, hash(body)) == hash(body), f"{key}: another body under the same tag: {body[:2000]}"

    def __call__(self, answer):
        self.check_tag(answer)
        body = answer.read()
        where = (answer.request.method, answer.request.url.path, answer.status_code, frozenset(answer.headers))
        same = hash((*where, body))
        if same in self.known:  # the usual answer to a test that waits; its shape takes longer than its hash
            return
        if "json" in answer.headers.get("Content-Type", ""):
            shape = re.sub(rb"[0-9a-z]{26}|[0-9]+", b"0", body)
        else:
            shape = body.translate(None, b"0123456789")
        key = hash((where[0], re.sub("[0-9]+", "0", where[1]), *where[2:], shape))
        if key not in self.known:
            super().__call__(answer)
        self.known |= {key, same}


# ---- requests that every operation answers alike ------------------------------------------------------------------------

class Probes:
    """For each status with one meaning everywhere, the request that must cause it. `there` maps path parameters to existing names; any
    other parameter gets the value `none`."""

    def __init__(self, checker, d, viewer, there):
        self.checker, self.d, self.there = checker, d, there
        self.admin, self.viewer, self.nobody = (checker.client(d, t) for t in (None, viewer, ""))
        self.statuses = {400: self.bad_query, 401: self.no_token, 403: self.small_role, 404: self.absent,
                         406: self.bad_accept, 412: self.other_version, 304: self.same_version, 413: self.large_body,
                         415: self.other_type, 422: self.unknown_member}

    def close(self):
        for client in (self.admin, self.viewer, self.nobody):
            client.close()

    def path(self, id, there=None):
        names = self.there if there is None else there
        return re.sub(r"\{([a-z_]+)\}", lambda m: names.get(m[1], "none"), OPERATIONS[id][1])

    def send(self, id, client=None, path=None, **more):
        method = OPERATIONS[id][0].upper()
        if "content" not in more and bodies(id):
            more["json"] = more.get("json", {})
        return (client or self.admin).request(method, path or self.path(id), **more).status_code

    def bad_query(self, id):
        return self.send(id, params={"colour": "red"})

    def no_token(self, id):
        return self.send(id, self.nobody)

    def small_role(self, id):
        return self.send(id, self.viewer)

    def absent(self, id):
        return self.send(id, path=self.path(id, {"action": "reconcile"}))

    def bad_accept(self, id):
        return self.send(id, headers={"Accept": "image/png"})

    def other_version(self, id):
        return self.send(id, headers={"If-Match": '"other"'})

    def same_version(self, id):
        return self.send(id, headers={"If-None-Match": "*"})

    def large_body(self, id):
        method, path = OPERATIONS[id][0].upper(), self.path(id)
        with Raw(self.d.port) as raw:  # refused because of its Content-Length
            raw.send(request(method, path, "Content-Type: application/json", "Content-Length: 1048577", token=self.d.token()))
            answer = raw.read()
        self.checker.raw(method, path, answer)
        return answer.status

    def other_type(self, id):
        return self.send(id, content="name: dev", headers={"Content-Type": "application/yaml"})

    def unknown_member(self, id):
        return self.send(id, json={"colour": "red"})
