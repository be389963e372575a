import gc
import os
import pathlib
import re
import subprocess
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
os.environ["PYRSISTENT_NO_C_EXTENSION"] = "1"  # jsonschema then uses the Python form of its persistent maps; their C extension was in the trace of a worker that crashed

import contract  # noqa: E402
import harness  # noqa: E402
import sanitizers  # noqa: E402
import spread  # noqa: E402

collect_ignore = sanitizers.left_out(harness.BUILD.name, [p.name for p in pathlib.Path(__file__).parent.glob("test_*.py")])
harness.RESPONSE_HOOKS.append(contract.Watch())  # every answer of the suite is checked against openapi.yaml
LOG_LINES = 40


def pytest_configure(config):
    """A thread that ends with an exception fails the test that is running."""
    config.addinivalue_line("markers", "xdist_group(name): tests that one worker runs")
    config.addinivalue_line("filterwarnings", "error::pytest.PytestUnhandledThreadExceptionWarning")


threads_at_rest = 1  # of a worker between two tests
GARBAGE = 100_000  # objects


def pytest_collection_finish():
    """Three times in eighty runs a worker with many threads crashed inside of Python 3.11.2, where a new list may start a garbage
    collection beside running threads. From here on a worker collects only while no other thread runs, and skips modules and tests."""
    global threads_at_rest
    threads_at_rest = threading.active_count()
    gc.freeze()
    gc.disable()


def collect_garbage():
    if gc.get_count()[0] > GARBAGE and threading.active_count() <= threads_at_rest:
        gc.collect()


@pytest.hookimpl(tryfirst=True)  # runs before the workers read the marks
def pytest_collection_modifyitems(items):
    spread.arrange(items)


def pytest_runtest_setup():
    harness.Process.forget_ended()
    collect_garbage()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Adds the logs to the report of a failure, reports of a sanitizer first, because the machine and its files are not kept."""
    report = (yield).get_result()
    if not report.failed:
        return
    logs = {process.log_path for process in harness.Process.known}
    logs.update(getattr(item, "funcargs", {}).get("tmp_path", pathlib.Path("/nowhere")).rglob("*.log"))
    for log in sorted(log for log in logs if log.exists()):
        text = harness.log_text(log)
        found = re.search(r"^.*(Sanitizer: |runtime error: )(.*\n){1,60}", text, re.MULTILINE)
        if found:
            report.sections.append((f"sanitizer, {log.name}", found.group()))
        report.sections.append((f"the last {LOG_LINES} lines of {log.name}", "\n".join(text.splitlines()[-LOG_LINES:])))


@pytest.fixture
def sim(tmp_path):
    s = harness.Sim(tmp_path)
    yield s
    s.stop()


@pytest.fixture
def make_sim(tmp_path):
    made = []

    def make(**options):
        made.append(harness.Sim(tmp_path, **options))
        return made[-1]

    yield make
    for s in made:
        if s.process.popen.poll() is None:
            s.stop()


@pytest.fixture
def make_shootd(tmp_path):
    made = []

    def make(sim_url, name="shootd", **options):
        made.append(harness.Shootd(tmp_path / name, sim_url, **options))
        return made[-1]

    yield make
    for d in made:
        d.stop()


@pytest.fixture(params=harness.generations(wire_differs=True))
def generation(request):
    return request.param


@pytest.fixture(params=harness.generations(wire_differs=False))
def any_generation(request):
    return request.param


@pytest.fixture
def shootd(sim, make_shootd):
    return make_shootd(sim.url).start()


@pytest.fixture
def receiver():
    r = harness.Receiver()
    yield r
    r.stop()


@pytest.fixture(scope="module")
def shared_world(request, tmp_path_factory):
    """The `World` of the file: a daemon and a browser (browser.py)."""
    w = request.module.World(tmp_path_factory.mktemp(request.module.__name__))
    yield w
    w.stop()


@pytest.fixture
def world(shared_world):
    """Closes the pages of a test at its end: the browser allows six connections to the server, and each page holds some."""
    yield shared_world
    shared_world.chromium.run(None, "")


@pytest.fixture
def small_disk(tmp_path):
    """A directory on a separate file system of 2 MiB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", directory], capture_output=True).returncode:
        pytest.skip("a file system can be mounted by root only")
    yield directory
    subprocess.run(["umount", "--lazy", directory], check=True)
