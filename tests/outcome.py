"""A plugin of pytest for tools/test.py. It writes the outcome of each test, its seconds, its end, its seconds of processor time and the
longest piece of work of its daemons' loops to the file TEST_OUTCOMES, one line of JSON each. A test that does not end fails after
TEST_LIMIT_S, so that it does not hold up the run."""

import collections
import json
import os
import re
import resource
import signal
import sys
import time

import pytest

SANITIZER_EXITS = (98, 99)  # set by tools/test.py
LIMIT_S = float(os.environ.get("TEST_LIMIT_S", 900))
REPORT = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer\b|runtime error: |\bexit 9[89]\b")


def of_a_sanitizer(text, code=0):
    """Whether this failure is a report of a sanitizer; such a report is never by chance."""
    return code in SANITIZER_EXITS or REPORT.search(text) is not None


def first_line(report):
    """The line that gives the reason."""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = (crash.message if crash else report.longreprtext).strip().splitlines()
    return lines[0][:200] if lines else "no reason"


class Clock:
    """Runs in each worker. The processor time of each phase goes with its report; the time of a daemon is in the phase that waited for
    its end."""

    def __init__(self):
        self.last = self.seconds()

    def seconds(self):
        return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self):
        report = (yield).get_result()
        before, self.last = self.last, self.seconds()
        report.user_properties.append(("cpu_s", self.last - before))
        holds = getattr(sys.modules.get("harness"), "HOLDS_US", [])
        report.user_properties.append(("hold_us", max(holds, default=0)))
        holds.clear()


class Limit:
    """Runs in each worker. A call that waits, as for a line of another process, is interrupted."""

    def __init__(self):
        signal.signal(signal.SIGALRM, self.fail)

    def fail(self, *_):
        raise AssertionError(f"no end after {LIMIT_S:g} s")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self):
        signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)


class Writer:
    def __init__(self, path):
        self.path, self.outcomes, self.cpu, self.hold = path, {}, collections.Counter(), collections.Counter()
        self.seconds, self.ended = collections.Counter(), {}

    def pytest_runtest_logreport(self, report):
        """A test has up to three reports: set-up, call and tear-down. A failure in any of them is its outcome."""
        id = report.nodeid.rsplit("@", 1)[0] if report.nodeid.rfind("@") > report.nodeid.rfind("]") else report.nodeid
        values = dict(report.user_properties)
        self.cpu[id] += values.get("cpu_s", 0)
        self.seconds[id] += report.duration
        self.ended[id] = time.monotonic()
        self.hold[id] = max(self.hold[id], values.get("hold_us", 0))
        before = self.outcomes.get(id, {}).get("outcome")
        if report.outcome == "failed" and before != "failed":
            text = report.longreprtext + "".join(body for _, body in report.sections)
            self.outcomes[id] = {"id": id, "outcome": "failed", "reason": first_line(report), "final": of_a_sanitizer(text)}
        elif before is None and (report.when == "call" or report.skipped):
            self.outcomes[id] = {"id": id, "outcome": report.outcome}

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes[report.nodeid] = {"id": report.nodeid, "outcome": "failed", "reason": first_line(report), "final": True}

    def figures(self, id):
        """Figures of the test; the tests of a file that cannot be read have no end."""
        return {"cpu_s": round(self.cpu[id], 2), "hold_us": self.hold[id], "seconds": round(self.seconds[id], 1), "ended": self.ended.get(id, 0)}

    def pytest_sessionfinish(self):
        with open(self.path, "w") as file:
            file.writelines(json.dumps(one | self.figures(id)) + "\n" for id, one in self.outcomes.items())


def pytest_configure(config):
    if "TEST_OUTCOMES" in os.environ:
        config.pluginmanager.register(Clock())
        config.pluginmanager.register(Limit())
    if "TEST_OUTCOMES" in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Writer(os.environ["TEST_OUTCOMES"]))
