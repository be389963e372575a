import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import contract  # noqa: E402
import harness  # noqa: E402

# About documents, tools and foreign programs; what they drive in the daemon other files drive, too.
NOT_FOR_SANITIZERS = ["test_browser.py", "test_contrib.py", "test_docs.py", "test_hot_path.py", "test_iac.py", "test_layout.py", "test_operators_day.py", "test_proxy.py",
                      "test_typescript.py", "test_webhook_docs.py", "test_webhook_peers.py"]
collect_ignore = NOT_FOR_SANITIZERS if harness.SANITIZED else []
harness.RESPONSE_HOOKS.append(contract.Watch())  # the whole suite is held to openapi.yaml


def pytest_configure(config):
    """A thread that dies fails its test, with its own error."""
    config.addinivalue_line("filterwarnings", "error::pytest.PytestUnhandledThreadExceptionWarning")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """What a sanitizer said is part of the failure: the log itself is gone with the machine."""
    report = (yield).get_result()
    if not report.failed or "tmp_path" not in getattr(item, "funcargs", {}):
        return
    for log in sorted(item.funcargs["tmp_path"].rglob("*.log")):
        said = re.search(r"^.*(Sanitizer: |runtime error: )(.*\n){1,60}", log.read_text(errors="replace"), re.MULTILINE)
        if said:
            report.sections.append((f"sanitizer, {log.name}", said.group()))


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


@pytest.fixture(params=["v2", "v1"])
def generation(request):
    return request.param


@pytest.fixture
def shootd(sim, make_shootd):
    return make_shootd(sim.url).start()


@pytest.fixture
def receiver():
    r = harness.Receiver()
    yield r
    r.stop()


@pytest.fixture
def small_disk(tmp_path):
    """A directory on a file system of its own, of 2 MiB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", directory], capture_output=True).returncode:
        pytest.skip("a file system can be mounted by root only")
    yield directory
    subprocess.run(["umount", "--lazy", directory], check=True)
