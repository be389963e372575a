"""Runs Chromium for tests of the dashboard: a Python interface to tests/js/dashboard.mjs, and the server that the pages come from."""

import itertools
import json
import queue
import shutil
import subprocess
import threading

import pytest

import harness
from harness import PROJECT_ID, ROOT, wait_until

OTHER_PROJECT = "ffeeddccbbaa99887766554433221100"
JS = ROOT / "tests/js"
AXE = ROOT / "dashboard/node_modules/axe-core/axe.min.js"
PATIENCE_S = 90
SHELL = "chromium-headless-shell"  # Chromium without its user interface: equal pictures for 60 % of the processor time
WHOLE = "chromium"  # it also has the back/forward cache


def chromium(name=SHELL):
    """The path of Chromium. The test is skipped when Chromium, its driver or the dashboard is absent."""
    program = shutil.which(name)
    if not program or not (JS / "node_modules/playwright-core").is_dir():
        pytest.skip(f"{name} or tests/js/node_modules/playwright-core is absent; `make deps-test` installs them")
    if not (ROOT / "build/dashboard/index.html").exists():
        pytest.skip("the dashboard was not built: npm or its registry was absent")
    return program


class Chromium:
    """`without` are arguments of Playwright's that this browser does not get."""

    def __init__(self, directory, name=SHELL, without=()):
        self.log = directory / "chromium.log"
        self.errors = open(self.log, "ab")
        self.popen = subprocess.Popen(["node", "dashboard.mjs", chromium(name), directory / "profile", AXE if AXE.exists() else "", *without], cwd=JS, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.answers = queue.Queue()
        self.ids = itertools.count(1)
        threading.Thread(target=self._read, daemon=True).start()
        self._answer(0)

    def _read(self):
        for line in self.popen.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def _answer(self, id):
        try:
            answer = self.answers.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise AssertionError("the browser says nothing; " + self.log.read_text()[-2000:]) from None
        assert answer and answer["id"] == id, f"the browser ended; {self.log.read_text()[-3000:]}"
        assert "error" not in answer, answer["error"]
        return answer

    def run(self, page, body, **args):
        """Runs the JavaScript `body` with the page of this name, and returns its result. Fails when the page had a fault."""
        id = next(self.ids)
        self.popen.stdin.write(json.dumps({"id": id, "page": page, "body": body, "args": args}) + "\n")
        self.popen.stdin.flush()
        answer = self._answer(id)
        assert not answer["faults"], answer["faults"]
        return answer["value"]

    def stop(self):
        self.popen.stdin.close()
        try:
            self.popen.wait(20)
        finally:
            self.popen.kill()
            self.errors.close()


class World:
    """A simulator, a daemon with two projects, and a browser. `page` is the name of a page of the browser, which the first use makes."""

    def __init__(self, directory, polling="{active: 100ms, idle: 300ms, discovery: 300ms, absent_for: 200ms}"):
        chromium()
        self.directory = directory
        self.sim = harness.Sim(directory, project=[PROJECT_ID, OTHER_PROJECT])
        self.d = harness.Shootd(directory / "shootd", self.sim.url, projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Sto2", OTHER_PROJECT)],
                                polling=polling).start().wait_upstream()
        self.chromium = Chromium(directory)

    def wait_total(self, count):
        wait_until(lambda: self.d.http.get("/v1/summary").json()["total"] == count, what=f"{count} clusters")

    def run(self, page, body, **args):
        return self.chromium.run(page, body, **{"url": self.d.url + "/", "token": self.d.token(), **args})

    def go(self, page, place):
        self.run(page, "await page.evaluate((place) => { location.hash = place; }, args.place);", place=place)

    def stop(self):
        self.chromium.stop()
        self.d.stop()
        self.sim.stop()
