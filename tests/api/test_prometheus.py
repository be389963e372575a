"""contrib/prometheus and contrib/grafana: their expressions use existing metrics, and the alerts fire when they should."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree

import jsonschema
import pytest
import yaml

import harness
from harness import ROOT
from test_metrics import samples

RULES, ALERTS = ROOT / "contrib/prometheus/rules.yaml", ROOT / "contrib/prometheus/alerts.yaml"
CASES, DAYS = ROOT / "tests/prometheus/alerts_test.yaml", ROOT / "tests/prometheus/days_test.yaml"


def rules(path, kind):
    return {rule[kind]: rule for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The labels of each name in /metrics."""
    directory = tmp_path_factory.mktemp("prometheus")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start().wait_upstream()
    found = {"up": {"job"}}
    for name, labels in samples(d.http.get("/metrics").text):
        found.setdefault(name, {"job", "instance"}).update(label for label, _ in labels)
    for name, rule in rules(RULES, "record").items():
        found[name] = set(re.search(r"by \(([^)]*)\)", rule["expr"])[1].split(", ")) - {"le"}
    d.stop()
    sim.stop()
    return found


def check(expression, shown):
    """Each name exists and has the used labels."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
    names = re.findall(r"\b(?:up|(?:job\w*:)?(?:shootd|process)_[a-z0-9_:]+)", bare)
    assert names, expression
    for name in names:
        assert name in shown, f"{name}: {expression}"
    for name, matchers in re.findall(r"([a-z0-9_:]+)\{([^}]*)\}", bare):
        assert set(re.findall(r"(\w+)[=!]", matchers)) <= shown[name], f"{name}{{{matchers}}}"


def test_the_rules_ask_for_what_there_is(shown):
    recorded, alerts = rules(RULES, "record"), rules(ALERTS, "alert")
    assert len(recorded) > 10 and len(alerts) > 20
    for rule in [*recorded.values(), *alerts.values()]:
        check(rule["expr"], shown)
    used = " ".join([*(a["expr"] for a in alerts.values()), (ROOT / "contrib/grafana/shootd.json").read_text()])
    assert not [name for name in recorded if name not in used], "a rule that nobody asks for"


def test_every_alert_says_what_to_do_and_has_its_case():
    cases = CASES.read_text() + DAYS.read_text()
    for name, alert in rules(ALERTS, "alert").items():
        assert alert["labels"]["severity"] in ("page", "ticket") and set(alert["annotations"]) == {"summary", "description"}, name
        assert f'alertname="{name}"' in cases, name


def test_promtool_agrees(tmp_path):
    if not shutil.which("promtool"):
        pytest.skip("promtool is absent; `make deps-test` installs it")
    for command in (["check", "rules", RULES, ALERTS], ["test", "rules", CASES, DAYS]):
        run = subprocess.run(["promtool", *command], capture_output=True, text=True, timeout=240)
        assert run.returncode == 0, run.stdout + run.stderr
    # The cases can fail: with an alert that waits too long, they do.
    slower = ALERTS.read_text().replace("shootd_upstream_last_contact_age_seconds > 900", "shootd_upstream_last_contact_age_seconds > 9000")
    (tmp_path / "alerts.yaml").write_text(slower)
    cases = yaml.safe_load(CASES.read_text())
    cases["rule_files"] = [str(RULES), "alerts.yaml"]
    cases["tests"] = [case for case in cases["tests"] if "shootd_upstream_last_contact_age_seconds" in str(case)]
    (tmp_path / "cases.yaml").write_text(yaml.safe_dump(cases))
    run = subprocess.run(["promtool", "test", "rules", tmp_path / "cases.yaml"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and run.stdout.count("exp:") + run.stderr.count("exp:") == 1, run.stdout + run.stderr


# ---- the dashboard ----

# The parts of Grafana's schema (version 36 and later) that this dashboard uses.
DATASOURCE = {"type": "object", "required": ["type", "uid"], "additionalProperties": False,
              "properties": {"type": {"const": "prometheus"}, "uid": {"const": "${datasource}"}}}
TARGET = {"type": "object", "required": ["refId", "datasource", "expr", "legendFormat"], "additionalProperties": False,
          "properties": {"refId": {"pattern": "^[A-Z]$"}, "datasource": DATASOURCE, "expr": {"type": "string", "minLength": 1}, "legendFormat": {"type": "string"}}}
GRID = {"type": "object", "required": ["h", "w", "x", "y"], "additionalProperties": False,
        "properties": {"h": {"type": "integer", "minimum": 1}, "w": {"type": "integer", "minimum": 1, "maximum": 24},
                       "x": {"type": "integer", "minimum": 0, "maximum": 23}, "y": {"type": "integer", "minimum": 0}}}
ROW = {"required": ["id", "type", "title", "collapsed", "panels", "gridPos"],
       "properties": {"type": {"const": "row"}, "id": {"type": "integer"}, "title": {"type": "string"}, "panels": {"maxItems": 0}, "gridPos": GRID}}
PANEL = {"required": ["id", "type", "title", "datasource", "gridPos", "fieldConfig", "options", "targets"],
         "properties": {"type": {"const": "timeseries"}, "id": {"type": "integer", "minimum": 1}, "title": {"type": "string", "minLength": 1},
                        "datasource": DATASOURCE, "gridPos": GRID, "options": {"type": "object"},
                        "fieldConfig": {"required": ["defaults", "overrides"], "properties": {"defaults": {"required": ["unit"]}, "overrides": {"type": "array"}}},
                        "targets": {"type": "array", "minItems": 1, "items": TARGET}}}
VARIABLE = {"required": ["name", "type", "query"], "properties": {"name": {"type": "string"}, "type": {"enum": ["datasource", "query"]},
                                                                 "query": {"type": "string"}}}
DASHBOARD = {"type": "object", "required": ["title", "uid", "schemaVersion", "panels", "templating", "time", "annotations"],
             "properties": {"title": {"type": "string"}, "uid": {"type": "string", "maxLength": 40}, "schemaVersion": {"type": "integer", "minimum": 36},
                            "panels": {"type": "array", "items": {"if": {"properties": {"type": {"const": "row"}}}, "then": ROW, "else": PANEL}},
                            "templating": {"required": ["list"], "properties": {"list": {"type": "array", "items": VARIABLE}}},
                            "time": {"required": ["from", "to"]}, "annotations": {"required": ["list"]}}}


@pytest.fixture(scope="module")
def dashboard():
    return json.loads((ROOT / "contrib/grafana/shootd.json").read_text())


def test_the_dashboard_has_the_form_of_one(dashboard):
    jsonschema.validate(dashboard, DASHBOARD, cls=jsonschema.Draft7Validator)
    panels = dashboard["panels"]
    assert len({p["id"] for p in panels}) == len(panels) and len({p["title"] for p in panels}) == len(panels)
    taken = set()
    for p in panels:
        grid = p["gridPos"]
        assert grid["x"] + grid["w"] <= 24, p["title"]
        cells = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])}
        assert not cells & taken, f"{p['title']} lies over another one"
        taken |= cells


def test_the_dashboard_asks_for_what_there_is(dashboard, shown):
    variables = {v["name"] for v in dashboard["templating"]["list"]}
    expressions = [t["expr"] for p in dashboard["panels"] for t in p.get("targets", [])]
    assert len(expressions) > 25
    for expression in expressions:
        assert set(re.findall(r"\$(\w+)", expression)) <= variables | {"__rate_interval"}, expression
        check(expression, shown)
    for query in [v["query"] for v in dashboard["templating"]["list"] if v["type"] == "query"]:
        assert re.match(r"label_values\((\w+)", query)[1] in shown, query
    for p in dashboard["panels"]:
        for t in p.get("targets", []):  # a legend may only name existing labels
            assert set(re.findall(r"{{(\w+)}}", t["legendFormat"])) <= set().union(*(shown[n] for n in re.findall(r"[a-z0-9_:]+", t["expr"]) if n in shown)), t


def test_prometheus_understands_the_dashboard(dashboard, tmp_path):
    if not shutil.which("promtool"):
        pytest.skip("promtool is absent; `make deps-test` installs it")
    expressions = [t["expr"].replace("$__rate_interval", "5m") for p in dashboard["panels"] for t in p.get("targets", [])]
    recorded = [{"record": f"panel:{i}", "expr": expression} for i, expression in enumerate(expressions)]
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": recorded}]}))
    run = subprocess.run(["promtool", "check", "rules", tmp_path / "panels.yaml"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_picture_shows_each_panel(dashboard):
    """tools/grafana_picture.py draws docs/images/grafana.svg from real numbers; a new or renamed panel is missing in it."""
    picture = xml.etree.ElementTree.parse(ROOT / "docs/images/grafana.svg")
    words = {e.text for e in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {p["title"] for p in dashboard["panels"]} <= words, "tools/grafana_picture.py draws it anew"
