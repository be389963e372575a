"""Starts cleura-sim on a free port, one process per test, and provides a small client for it."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/api"))
import web  # noqa: E402

PROJECT = "00112233445566778899aabbccddeeff"
DOMAIN = "ffeeddccbbaa99887766554433221100"
START_SECONDS = 20
LOG_LINES = 40
CONTRACT = ROOT.parent / "shared" / "reference" / "cleura-openapi-2026-06-30.json"


def binary():
    build = pathlib.Path(os.environ.get("BUILD_DIR", "build"))
    return (build if build.is_absolute() else ROOT / build) / "cleura-sim"


def to_draft7(node):
    """Converts a schema: OpenAPI 3.0 has `nullable` where JSON Schema has another type, and a $ref hides other members beside it."""
    if isinstance(node, list):
        return [to_draft7(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: to_draft7(value) for key, value in node.items() if key != "nullable"}
    if node.get("nullable"):
        out = {"anyOf": [out, {"type": "null"}]}
    return out


def read_contract():
    return to_draft7(json.loads(CONTRACT.read_text()))


def worker_body(name="wg1", **changes):
    body = {"name": name, "machine": {"type": "b.2c4gb", "image_version": "1877.9.0"}, "volume_size": "50Gi",
            "minimum": 1, "maximum": 3, "max_surge": 1, "zones": ["nova"]}
    return {**body, **changes}


def create_body(name="example", **changes):
    body = {"name": name, "kubernetes_version": "1.33.7",
            "shoot_provider": {"load_balancer_provider": "amphora",
                               "infrastructure_config": {"floating_pool_name": "ext-net"},
                               "workers": [worker_body()]}}
    return {**body, **changes}


def v1_create_body(name="example"):
    return {"shoot": {
        "name": name, "kubernetes": {"version": "1.33.7"},
        "provider": {"infrastructureConfig": {"floatingPoolName": "ext-net"},
                     "workers": [{"name": "wg1", "minimum": 1, "maximum": 3, "maxSurge": 1,
                                  "machine": {"type": "b.2c4gb",
                                              "image": {"name": "gardenlinux", "version": "1877.9.0"}},
                                  "volume": {"size": "50Gi"},
                                  "labels": [{"key": "workload", "value": "general"}],
                                  "annotations": [], "taints": [], "zones": ["nova"]}]},
        "maintenance": {"autoUpdate": {"kubernetesVersion": True, "machineImageVersion": True},
                        "timeWindow": {"begin": "000000+0100", "end": "010000+0100"}}}}


class Sim:
    """A running simulator. Its clock stands still unless a test moves it (speed 0)."""

    G = "/gardener/v2/public"
    SHOOTS = f"{G}/shoots/Sto2/{PROJECT}"
    V1 = f"/gardener/v1/public/shoot/Sto2/{PROJECT}"
    running = []

    def __init__(self, *options):
        command = [str(binary()), "--listen", "127.0.0.1:0", "--seed", "1", *options]
        self.log = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        Sim.running.append(self)
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if "listening on " not in line:
            self.process.kill()
            raise RuntimeError(f"no start line: {line!r} {self.logged()!r}")
        self.url = line.rsplit(" ", 1)[1].strip()
        self.http = web.Client(base_url=self.url, timeout=20)
        self.auth = {}

    def logged(self):
        self.log.seek(0)
        return self.log.read()

    def close(self):
        self.http.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        Sim.running.remove(self)
        errors = self.logged()
        self.log.close()
        assert self.process.returncode == 0, errors
        assert "Sanitizer" not in errors, errors

    def request(self, method, path, body=None, **more):
        headers = {**self.auth, **more.pop("headers", {})}
        return self.http.request(method, path, json=body, headers=headers, **more)

    def login(self):
        answer = self.request("POST", "/auth/v2/tokens", {"login": "demo", "password": "demo"})
        assert answer.status_code == 201, answer.text
        self.auth = {"X-AUTH-LOGIN": "demo", "X-AUTH-TOKEN": answer.json()["token"]}

    def control(self, method, path, body=None):
        answer = self.http.request(method, "/_sim" + path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def advance(self, seconds):
        return self.control("POST", "/clock", {"advance_seconds": seconds})

    def settings(self, **changes):
        return self.control("POST", "/settings", changes)

    def fault(self, operation, kind, **more):
        return self.control("POST", "/faults", {"operation": operation, "kind": kind, **more})["id"]

    def counters(self):
        return self.control("GET", "/counters")

    def bootstrap(self):
        assert self.request("POST", f"{self.G}/Sto2/{PROJECT}/bootstrap").status_code == 204

    def create(self, name="example", **changes):
        return self.request("POST", self.SHOOTS, create_body(name, **changes))

    def get(self, name="example"):
        return self.request("GET", f"{self.SHOOTS}/{name}").json()

    def call(self, method, path, body=None, name="example", **more):
        return self.request(method, f"{self.SHOOTS}/{name}{path}", body, **more)

    def operation(self, name="example"):
        last = self.get(name)["last_operation"]
        return (last["type"], last["state"], last["progress"]) if last else None

    def ready(self, name="example", **changes):
        """Makes a shoot that is created and settled."""
        self.bootstrap()
        answer = self.create(name, **changes)
        assert answer.status_code == 202, answer.text
        self.advance(800)
        assert self.operation(name) == ("Create", "Succeeded", 100)
        return self

    def wait(self, condition, seconds=10):
        """Waits in real time until the condition is true, at most for a limit."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.02)
        raise AssertionError("did not happen in time")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    report = (yield).get_result()
    for sim in Sim.running if report.failed else []:
        report.sections.append((f"the last {LOG_LINES} lines of {sim.url}", "\n".join(sim.logged().splitlines()[-LOG_LINES:])))


@pytest.fixture
def start():
    """Starts simulators with options that the test chooses, and stops them at the end of the test."""
    started = []

    def make(*options):
        sim = Sim(*options)
        started.append(sim)
        return sim

    yield make
    for sim in started:
        sim.close()


@pytest.fixture
def sim(start):
    running = start("--speed", "0")
    running.login()
    return running
