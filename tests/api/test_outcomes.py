"""The runner of the tests (tools/test.py): a test that passes when it runs alone is flaky; a report of a sanitizer is not repeated. The
harness: each test has its own ports and its own simulator, and each answer is checked. The order in which tests begin."""

import concurrent.futures
import importlib.util
import json
import pathlib
import re
import subprocess
import time
import types

import httpx
import pytest

import contract
import harness
import spread
from harness import ROOT

spec = importlib.util.spec_from_file_location("runner", ROOT / "tools/test.py")
runner = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)

EVERY_SECOND_TIME = '''
import pathlib

import pytest


@pytest.mark.parametrize("n", range({count}))
def test_planted(n):
    seen = pathlib.Path(__file__).with_name(f"seen-{{n}}")
    first = not seen.exists()
    seen.touch()
    assert not first, "the first time"


def test_that_passes():
    pass
'''
RACE = """
#include <pthread.h>
static int shared;
static void *count(void *arg) { for (int i = 0; i < 1000; i++) shared++; return arg; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, count, 0);
    count(0);
    return pthread_join(t, 0);
}
"""
LEAK = """
#include <stdlib.h>
int main(void) { volatile char *p = malloc(100); p[0] = 1; p = 0; return 0; }
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_WORKERS", "1")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return runner.Run(tmp_path, root=tmp_path)


def plant(run, text):
    path = run.root / "test_planted.py"
    path.write_text(text)
    run.suite(path)
    run.once_more()


def test_a_test_that_fails_every_second_time_is_flaky(run, capsys):
    plant(run, EVERY_SECOND_TIME.format(count=2))
    assert run.report()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "3 passed, 0 failed"
    assert lines[-3:-1] == [f"flaky: test_planted.py::test_planted[{n}]: AssertionError: the first time" for n in range(2)]


def test_more_than_three_of_them_fail_the_run(run, capsys):
    plant(run, EVERY_SECOND_TIME.format(count=4))
    assert not run.report()
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 4 failed"


@pytest.mark.parametrize("text", ["def test_planted():\n    assert False, 'always'\n",
                                  "import threading\n\n\ndef test_planted():\n    t = threading.Thread(target=lambda: 1 / 0)\n    t.start()\n    t.join()\n",
                                  "import nothing_of_this_name\n"])
def test_a_test_that_always_fails_fails(run, capsys, text):
    """A thread that ends with an exception fails its test, too."""
    (run.root / "conftest.py").write_text("def pytest_configure(config):\n"
                                          "    config.addinivalue_line('filterwarnings', 'error::pytest.PytestUnhandledThreadExceptionWarning')\n")
    plant(run, text)
    assert not run.report()
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 1 failed"


def test_a_test_that_does_not_end_fails(run, capsys, monkeypatch):
    """In place of an hour without a result."""
    monkeypatch.setenv("TEST_LIMIT_S", "1")
    plant(run, "import os\n\n\ndef test_planted():\n    os.read(os.pipe()[0], 1)\n\n\ndef test_that_passes():\n    pass\n")
    assert not run.report()
    out = capsys.readouterr().out
    assert "AssertionError: no end after 1 s" in out and out.splitlines()[-1] == "1 passed, 1 failed"


def test_processor_time_is_counted_for_each_file(run, capsys):
    """The processor time of the test itself and of the processes that it started."""
    plant(run, "import subprocess\nimport sys\nimport time\n\nWORK = 'import time\\nwhile time.process_time() < 0.4: pass'\n\n\n"
               "def test_planted():\n    subprocess.run([sys.executable, '-c', WORK])\n    exec(f'import time\\nend = time.process_time() + 0.4\\n'\n"
               "         'while time.process_time() < end: pass')\n")
    assert run.report()
    total, listed = re.search(r"processor time (\d+) s, most of it test_planted.py (\d+)", capsys.readouterr().out).groups()
    assert total == listed and int(total) >= 1


def test_the_longest_pieces_of_work_of_the_loops_are_listed(run, capsys):
    plant(run, "import sys\nimport types\n\nimport pytest\n\nharness = sys.modules['harness'] = types.SimpleNamespace(HOLDS_US=[])\n\n\n"
               "@pytest.mark.parametrize('n', [1, 2, 3, 4, 0])\ndef test_planted(n):\n    harness.HOLDS_US.extend([n * 1100, n * 100])\n")
    assert run.report()
    listed = re.search(r"longest pieces of work of the loop, .*: (.*)", capsys.readouterr().out)[1]
    assert listed == ", ".join(f"{n * 1.1:.1f} ms in test_planted.py::test_planted[{n}]" for n in (4, 3, 2))


def test_a_daemon_that_ends_reports_its_longest_piece_of_work(make_shootd, make_sim):
    d = make_shootd(make_sim().url).start()
    harness.HOLDS_US.clear()
    d.stop()
    [longest] = harness.HOLDS_US
    assert 0 < longest < 10_000_000


def test_a_worker_that_dies_leaves_no_process(run, capsys):
    plant(run, "import os\nimport signal\nimport subprocess\n\n\ndef test_planted():\n    subprocess.Popen(['sleep', '1234'], start_new_session=True)\n"
               "    os.kill(os.getpid(), signal.SIGKILL)\n")
    assert not run.report()
    assert "left behind, and killed: sleep" in capsys.readouterr().out


def test_a_report_of_a_sanitizer_is_final(run, capsys):
    plant(run, EVERY_SECOND_TIME.format(count=1).replace("the first time", "WARNING: ThreadSanitizer: data race (pid=1)"))
    assert not run.report() and not run.again
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed"


@pytest.mark.parametrize("source,sanitizer", [(RACE, "thread"), (LEAK, "address")])
def test_a_race_and_a_leak_fail_the_run(run, capsys, source, sanitizer):
    folder = run.out / "tests/unit"
    folder.mkdir(parents=True)
    subprocess.run(["gcc", "-g", f"-fsanitize={sanitizer}", "-pthread", "-x", "c", "-o", folder / "test_planted", "-"], input=source, text=True, check=True)
    run.units()
    run.once_more()
    assert not run.report() and not run.again
    text = capsys.readouterr().out
    assert ("data race" if sanitizer == "thread" else "LeakSanitizer") in text and text.splitlines()[-1] == "0 passed, 1 failed"


def test_the_first_threads_that_need_a_port_get_the_same_range(monkeypatch):
    """Otherwise a range is free again while its ports are in use, and the next process of the tests takes the same ports."""
    taken = []

    def slow():
        taken.append(30000 + harness.PORTS * len(taken))
        time.sleep(0.1)
        return taken[-1], None
    monkeypatch.setattr(harness, "_range", None)
    monkeypatch.setattr(harness, "own_range", slow)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ports = list(pool.map(lambda _: harness.free_port(), range(8)))
    assert taken == [30000] and len(set(ports)) == 8, ports


def test_a_simulator_that_answers_at_the_port_of_another_is_not_accepted(tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first = harness.Sim(tmp_path / "first")
    try:
        with pytest.raises(AssertionError, match="cleura-sim ended"):
            harness.Sim(tmp_path / "second", port=first.port)
    finally:
        first.stop()


# ---- the check of each answer -----------------------------------------------------------------------------------

CLUSTERS, SUMMARIES = (contract.DOCUMENT["components"]["examples"][name]["value"] for name in ("ClusterPage", "ClusterSummaryPage"))


def clusters(watch, change=lambda page: None):
    """Shows an answer of listClusters, the example of openapi.yaml after `change`."""
    page = json.loads(json.dumps(CLUSTERS))
    change(page)
    watch(httpx.Response(200, headers={"X-Request-Id": "req_00000000", "Content-Type": "application/json"}, json=page,
                         request=httpx.Request("GET", "http://shootd/v1/clusters")))


FAULTS = {
    "another item": lambda page: page["items"].append({}),
    "a member of a known item": lambda page: page["items"].append({**page["items"][0], "name": 1}),
    "too many known items": lambda page: page.update(items=page["items"][:1] * 1001),
    "a known item of another form": lambda page: page["items"].append(SUMMARIES["items"][0]),
    "beside known items": lambda page: page.update(next_cursor=1),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_list_of_known_items_is_still_checked(fault):
    watch = contract.Watch()
    clusters(watch)
    clusters(watch, lambda page: page.update(items=page["items"][:1] * 1000))
    clusters(watch, lambda page: page.update(SUMMARIES))
    for _ in range(2):  # a fault does not become known
        with pytest.raises(AssertionError, match="listClusters 200"):
            clusters(watch, fault)


# ---- the order --------------------------------------------------------------------------------------------------

def in_order(tests):
    """The tests, each `file::name` or `file::name@shared` (it uses a fixture of its file), in the order in which they begin."""
    def item(test):
        file, name = test.split("::")
        uses = [types.SimpleNamespace(scope="module", has_location=True)] if name.endswith("@shared") else []
        return types.SimpleNamespace(nodeid=test, path=pathlib.Path(file), originalname=name, add_marker=lambda mark: None,
                                     _fixtureinfo=types.SimpleNamespace(name2fixturedefs={"x": uses}))
    items = [item(test) for test in tests]
    spread.arrange(items)
    return [one.nodeid for one in items]


def test_tests_of_files_alternate_behind_the_long_ones():
    assert in_order(["a.py::1", "a.py::2", "a.py::3", "a.py::4", "b.py::1", "b.py::2", "c.py::1", "test_store.py::1", "test_contract.py::1",
                     "test_store.py::2"]) == \
        ["test_contract.py::1", "test_store.py::1", "test_store.py::2", "a.py::1", "b.py::1", "c.py::1", "a.py::2", "a.py::3", "b.py::2", "a.py::4"]


def test_tests_that_share_a_fixture_stay_together():
    tests = ["a.py::1", "a.py::2@shared", "a.py::3", "a.py::4@shared", "b.py::1@shared", "b.py::2@shared", "test_dashboard.py::1", "test_dashboard.py::2",
             "test_dashboard_layout.py::1"]
    assert in_order(tests) == ["a.py::1", "b.py::1@shared", "b.py::2@shared", "test_dashboard.py::1", "test_dashboard.py::2", "test_dashboard_layout.py::1",
                               "a.py::2@shared", "a.py::4@shared", "a.py::3"]
