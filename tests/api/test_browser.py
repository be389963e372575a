"""A real browser: a page of another origin follows the events with EventSource and tickets, while the daemon is killed."""

import http.server
import json
import pathlib
import shutil
import subprocess
import threading

import pytest

import harness
from browser import SHELL
from harness import ROOT, wait_until

JS = ROOT / "tests/js"


class Pages:
    """A web server of another origin."""

    def __init__(self):
        self.port = harness.free_port()

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *args):
                super().__init__(*args, directory=JS)

            def log_message(self, *args):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Quiet)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.origin = f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Browser:
    """Chromium with the page open; `seen` has the events that the page reported."""

    def __init__(self, program, url, directory):
        self.seen, self.errors = {}, open(directory / "browser.log", "ab")
        self.popen = subprocess.Popen(["node", "event_source.mjs", url, program, directory / "profile"], cwd=JS, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        threading.Thread(target=self._read, daemon=True).start()
        self.log = directory / "browser.log"

    def _read(self):
        for line in self.popen.stdout:
            self.seen = json.loads(line)

    def wait(self, condition, what):
        def there():
            if self.popen.poll() is not None:
                raise AssertionError("the browser ended: " + self.log.read_text()[-3000:])
            return self.seen and condition(self.seen)
        try:
            return wait_until(there, timeout=30, what=what)
        except AssertionError as e:
            raise AssertionError(f"{e}; the page has seen {self.seen}; {self.log.read_text()[-2000:]}") from None

    def stop(self):
        self.popen.stdin.close()
        try:
            self.popen.wait(20)
        finally:
            self.popen.kill()
            self.errors.close()


def test_ao21_ao24_event_source_resumes_without_gap_or_double(sim, make_shootd, tmp_path):
    program = shutil.which(SHELL)
    if not program or not (JS / "node_modules/playwright-core").is_dir():
        pytest.skip(f"{SHELL} or tests/js/node_modules/playwright-core is absent; `make deps-test` installs them")
    pages = Pages()
    d = make_shootd(sim.url, polling="{active: 100ms, idle: 200ms, discovery: 300ms}",
                    extra=f'cors: {{origins: ["{pages.origin}"]}}\nlimits: {{stream_lifetime: 4s}}\n').start()
    viewer = d.http.post("/v1/tokens", json={"name": "page", "role": "viewer", "projects": ["team-a"]}).json()["token"]
    browser = Browser(program, f"{pages.origin}/event_source.html#api={d.url}&token={viewer}", pathlib.Path(tmp_path))
    try:
        browser.wait(lambda s: s["opened"] == 1, "the stream")
        wanted = 0
        for part in range(3):
            sim.post("shoots", count=5, prefix=f"part{part}", state="ready")
            wanted += 5
            if part < 2:
                browser.wait(lambda s: len(s["ids"]) >= wanted - 4, "an event")
                opened = browser.seen["opened"]
                d.kill()
                d.start()
                browser.wait(lambda s: s["opened"] > opened, "another stream")
        browser.wait(lambda s: len(s["ids"]) >= wanted, "all events")
        opened = browser.seen["opened"]
        browser.wait(lambda s: s["opened"] > opened, "the stream behind the end of this one's lifetime")
        sim.post("shoots", count=1, prefix="last", state="ready")
        browser.wait(lambda s: len(s["ids"]) >= wanted + 1, "the event in it")
        seen = browser.seen
        assert seen["ids"] == [e["sequence"] for e in d.events(type="cluster.discovered")], "each once, in order"
        assert set(seen["types"]) == {"cluster.discovered"} and seen["resets"] == 0 and seen["tickets"] >= 4
        assert "ticket_" not in d.log()
    finally:
        browser.stop()
        pages.stop()
