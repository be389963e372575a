"""Words and units of the API: one word for one thing, in the contract, the pages, the command line and the examples."""

import re

import pytest
import yaml

from harness import ROOT

CONTRACT = yaml.safe_load((ROOT / "openapi.yaml").read_text())
UNITS = {"_seconds": "integer", "_ms": "integer", "_days": "integer", "_bytes": "integer", "_mib": "integer", "_gib": "integer"}
OF_RFC_7240 = {"wait", "Prefer"}
A_DURATION = re.compile(r"\b(milliseconds?|ms|in seconds|of seconds|seconds to wait)\b|^how long\b", re.I)


def properties(node, path=()):
    """(name, schema, path) of each property and each parameter of the contract, examples left out."""
    if isinstance(node, list):
        for i, inner in enumerate(node):
            yield from properties(inner, (*path, i))
    elif isinstance(node, dict):
        if node.get("in") == "query":
            yield node["name"], {**node["schema"], "description": node.get("description", "")}, (*path, "query")
        for name, inner in node.items():
            if name in ("examples", "example", "x-examples"):
                continue
            if name == "properties" and isinstance(inner, dict) and all(isinstance(value, dict) for value in inner.values()):
                yield from ((one, schema, (*path, one)) for one, schema in inner.items())
            yield from properties(inner, (*path, name))


def types_of(schema):
    kinds = schema.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def test_a_number_with_a_unit_is_whole():
    """Memory, volumes and durations are integers, and their names end with one of the units."""
    found = [(name, types_of(schema) - {"null"}) for name, schema, _ in properties(CONTRACT) if name.endswith(tuple(UNITS)) or "_bytes_" in name]
    assert len(found) > 20 and {tuple(kinds) for _, kinds in found} == {("integer",)}, found


def test_what_is_told_in_seconds_says_so_in_its_name():
    wrong = [f"{'/'.join(map(str, path))}: {schema['description']}" for name, schema, path in properties(CONTRACT)
             if A_DURATION.search(schema.get("description", "")) and types_of(schema) & {"integer", "number"} and not name.endswith(("_seconds", "_ms"))
             and name not in OF_RFC_7240]
    assert not wrong, "\n".join(wrong)
    assert A_DURATION.search("How long the old keys stay valid.") and A_DURATION.search("The time in milliseconds.")


def schemas_of_requests():
    """Names of the schemas that bodies of requests consist of."""
    text, names = str([operation["requestBody"] for item in CONTRACT["paths"].values() for operation in item.values() if "requestBody" in operation]), set()
    while found := set(re.findall(r"#/components/schemas/(\w+)", text)) - names:
        names |= found
        text = str([CONTRACT["components"]["schemas"][name] for name in found])
    return names


def test_what_a_caller_chooses_is_in_seconds_and_what_was_measured_in_ms():
    asked = schemas_of_requests()
    for name, _, path in properties(CONTRACT):
        of_request = "query" in path or (path[:2] == ("components", "schemas") and path[2] in asked)
        if of_request:
            assert not name.endswith("_ms"), path
        elif name.endswith("_seconds"):
            assert name == "expires_in_seconds", f"{path}: what was measured is in ms"


@pytest.mark.parametrize("unit", ["memory_gib", "ram_mib", "p50_seconds", "p90_seconds", "memory_kib", "_secs", "duration_s"])
def test_no_other_unit(unit):
    assert not [name for name, _, _ in properties(CONTRACT) if unit in name]


# ---- words that were changed ----------------------------------------------------------------------------------------

FORMER = {
    r"\bby_version\b": "by_kubernetes_version", r"[?&]version=": "kubernetes_version=", r"\bsort=-?version\b": "sort=kubernetes_version",
    r"\bdata\.version\b": "data.revision", r'"version":(?:…|\d)': '"revision"', r"--version[ =](?:V\b|VERSION|1\.)": "--kubernetes-version",
    r"\bmemory_gib\b|\bram_mib\b": "memory_mib", r'"memory": ?"\d': "memory_mib", r"\bp[59]0_seconds\b": "p50_ms", r'"?\bfault"?: ?"?(?:caller|service|upstream)\b': "responsible",
    r"`(?:caller|service|upstream)` \(": "responsible", r"\bsubscriptions?\b": "webhook", r"\bwebhook_endpoints?\b": "webhooks", r'state="active"': 'state="enabled"',
    r"429 `quota_exceeded`": "request_quota_exceeded", r'"node_pools": ?\d': "node_pool_count",
}
# The first two tell what was changed. In the simulator it is Cleura's word.
EXEMPT = {"CHANGELOG.md", "docs/decisions.md", "docs/simulator.md"}
SHOWN = ["*.md", "docs/*.md", "*/README.md", "openapi.yaml", "cli/*.c", "cli/verbs/*.c", "dashboard/src/**/*.ts", "dashboard/src/**/*.tsx", "contrib/**/*", "deploy/**/*",
         "config/shootd.sample.yaml", "debian/*.md", "bench/*.py", "tests/soak/*.py"]
COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.S | re.M)


def shown_files():
    """What users see: pages, contract, command line, page, examples; of sources without their comments."""
    found = {path for pattern in SHOWN for path in ROOT.glob(pattern) if path.is_file() and str(path.relative_to(ROOT)) not in EXEMPT}
    for path in sorted(found):
        text = path.read_text()
        yield path.relative_to(ROOT), COMMENT.sub("", text) if path.suffix in (".c", ".ts", ".tsx") else text


def test_no_former_word_is_left():
    files = dict(shown_files())
    assert len(files) > 100
    left = [f"{path}: '{match[0]}' is called {today}" for path, text in files.items() for former, today in FORMER.items() for match in re.finditer(former, text)
            if not ("README" in path.name and match[0].startswith("subscription"))]
    assert not left, "\n".join(left)


def test_former_words_would_be_found():
    for text in ('{"by_version":{}}', "/v1/clusters?version=1.33", "sort=-version", '"version":…', "shootctl create dev --version 1.33", "ram_mib: 1", "p90_seconds",
                 '"fault":"caller"', "fault: upstream", "a subscription of a URL", 'shootd_webhook_endpoints{state="active"}', "429 `quota_exceeded`", '"node_pools":1'):
        assert any(re.search(former, text) for former in FORMER), text


# ---- descriptions ---------------------------------------------------------------------------------------------------

SCHEMAS = CONTRACT["components"]["schemas"]
THINGS = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() for name in SCHEMAS}


def is_a_thing(name):
    """The name of a schema, or its plural: the schema has the description."""
    return bool({name, name.removesuffix("s"), re.sub("ies$", "y", name)} & THINGS)


def refers_to_a_description(schema):
    parts = [schema, *schema.get("oneOf", ()), *schema.get("allOf", ()), schema.get("items", {})]
    return any(SCHEMAS[part["$ref"].split("/")[-1]].get("description") for part in parts if "$ref" in part)


def says_all(name, schema):
    """Rules for names that need no description."""
    return (refers_to_a_description(schema) or is_a_thing(name) or name in ("id", "name") or name.endswith(("_id", "_at"))
            or "const" in schema or schema.get("type") == "null")


def test_each_property_has_a_description_unless_its_name_says_all():
    silent = [".".join(map(str, path)) for name, schema, path in properties(CONTRACT)
              if not schema.get("description") and "query" not in path and not says_all(name, schema)]
    assert not silent, "\n".join(silent)
    assert not says_all("progress", {"type": "integer"}) and says_all("created_at", {}) and says_all("operations", {}) and says_all("next_cursor", {})
