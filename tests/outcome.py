"""A plugin of pytest: writes how each test ended to the file TEST_OUTCOMES, a line of JSON each, for tools/test.py."""

import json
import os
import re

SANITIZER_EXITS = (98, 99)  # as tools/test.py sets them
REPORT = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer\b|runtime error: |\bexit 9[89]\b")


def of_a_sanitizer(text, code=0):
    """Whether this failure is a report of a sanitizer, which is no chance."""
    return code in SANITIZER_EXITS or REPORT.search(text) is not None


def first_line(report):
    """The line that says why."""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = (crash.message if crash else report.longreprtext).strip().splitlines()
    return lines[0][:200] if lines else "no reason"


class Writer:
    def __init__(self, path):
        self.path, self.outcomes = path, {}

    def pytest_runtest_logreport(self, report):
        """A test has up to three reports: set-up, call, and what comes after it. A failure of any of them is its outcome."""
        id = report.nodeid.rsplit("@", 1)[0] if report.nodeid.rfind("@") > report.nodeid.rfind("]") else report.nodeid
        before = self.outcomes.get(id, {}).get("outcome")
        if report.outcome == "failed" and before != "failed":
            text = report.longreprtext + "".join(body for _, body in report.sections)
            self.outcomes[id] = {"id": id, "outcome": "failed", "reason": first_line(report), "final": of_a_sanitizer(text)}
        elif before is None and (report.when == "call" or report.skipped):
            self.outcomes[id] = {"id": id, "outcome": report.outcome}

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes[report.nodeid] = {"id": report.nodeid, "outcome": "failed", "reason": first_line(report), "final": True}

    def pytest_sessionfinish(self):
        with open(self.path, "w") as file:
            file.writelines(json.dumps(one) + "\n" for one in self.outcomes.values())


def pytest_configure(config):
    if "TEST_OUTCOMES" in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Writer(os.environ["TEST_OUTCOMES"]))
