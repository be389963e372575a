"""The runner of `make fuzz`: it ends with a report at a finding, and also when the daemon ends. tests/unit/test_fuzz_replay.c runs the
targets with their own inputs."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from harness import BUILD, PATIENCE, ROOT, wait_until

TARGET = """#!/bin/sh
echo "#100 DONE cov: 12 ft: 3 corp: 4/5b"
echo "stat::number_of_executed_units: 100"
"""
FINDING = """#!/bin/sh
until [ -s "$FUZZ_OUT/pid" ]; do sleep 0.05; done
echo "Test unit written to $FUZZ_OUT/findings/bad-crash-1"
exit 77
"""
ENDLESS = """#!/bin/sh
echo $$ >"$FUZZ_OUT/pid"
exec sleep 1000
"""


@pytest.fixture
def run(tmp_path):
    def started(**targets):
        for name, text in targets.items():
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        return subprocess.run([ROOT / "tools/fuzz.sh", "1", *targets], env={**os.environ, "FUZZ_OUT": str(tmp_path)}, capture_output=True,
                              text=True, timeout=60 * PATIENCE)
    return started


def test_figures_are_told_D8(run):
    done = run(one=TARGET, two=TARGET, three=TARGET)
    assert done.returncode == 0, done.stdout
    told = re.findall(r"^(\w+) +100 executions, 12 edges, 4 inputs$", done.stdout, re.M)
    assert sorted(told) == ["one", "three", "two"]


def test_a_finding_ends_the_run_D8(run, tmp_path):
    done = run(one=TARGET, endless=ENDLESS, bad=FINDING)
    assert done.returncode == 1
    assert f"FAILED bad (exit 77): {tmp_path}/findings/bad-crash-1" in done.stdout
    pid = (tmp_path / "pid").read_text().strip()
    wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), what="the other target to be stopped")


def start_requests(seconds):
    return subprocess.Popen([sys.executable, ROOT / "fuzz/requests.py", str(seconds)], env={**os.environ, "BUILD_DIR": str(BUILD), "SEED": "1"},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_whole_requests_D8():
    process = start_requests(3)
    told = process.communicate(timeout=120 * PATIENCE)[0]
    assert process.returncode == 0, told
    assert int(re.search(r"requests.py +(\d+) requests, seed 1;", told)[1]) > 10
    assert re.search(r"\b200: \d", told) and re.search(r"\b400: \d", told)


def daemon_of(process):
    for one in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        if pathlib.Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0")[0].endswith(b"/shootd"):
            return int(one)
    return None


def test_a_daemon_that_ends_is_a_finding_D8():
    process = start_requests(1000)
    try:
        os.kill(wait_until(lambda: daemon_of(process), what="the daemon"), 9)
        told = process.communicate(timeout=120 * PATIENCE)[0]
        assert process.returncode == 1
    finally:
        process.kill()
        process.wait()
    assert "ended" in told
