"""A client in TypeScript: types generated from openapi.yaml, checked strictly, run against the daemon."""

import json
import os
import re
import subprocess

import pytest

import harness
from harness import ROOT

JS = ROOT / "tests/js"
PROGRAMS = JS / "node_modules/.bin"


def run(*argv, **more):
    done = subprocess.run(argv, cwd=JS, capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def client():
    """The compiled program; it and the types are generated from the contract of this checkout."""
    if not (PROGRAMS / "openapi-typescript").exists():
        pytest.skip("tests/js/node_modules is absent; `make deps-test` installs it")
    types = JS / "build/shootd.ts"
    run(PROGRAMS / "openapi-typescript", ROOT / "openapi.yaml", "-o", types)
    run(PROGRAMS / "tsc", "--project", JS)
    return {"program": JS / "build/list_clusters.js", "types": types.read_text()}


def test_nothing_is_untyped(client):
    """Members without a type can have any value by their nature; a new bare `object` fails here."""
    untyped = re.findall(r"^ +(\S+): (?:unknown|unknown\[\]|Record<string, never>|Record<string, unknown>)(?: \| null)?;", client["types"], re.M)
    assert set(untyped) == {"old", "new", "wanted", "found", "valid?"}, untyped


def test_lists_creates_waits(client, sim, make_shootd):
    d = make_shootd(sim.url).start()
    sim.post("shoots", count=2, prefix="old", state="ready")
    d.wait_phase("old-0001", "ready")
    said = json.loads(run("node", client["program"], "team-a", "typed",
                          env={**os.environ, "SHOOTD_URL": d.url, "SHOOTD_TOKEN": d.token()}))
    assert "1.34.3" in said.pop("valid")
    assert said == {"before": ["old-0000", "old-0001"], "operation": "create", "phase": "ready", "pool": "work",
                    "maximum": 2, "machine_type": "b.2c4gb", "condition": said["condition"], "kubeconfig": True,
                    "after": ["old-0000", "old-0001", "typed"]}
    assert said["condition"]
