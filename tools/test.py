#!/usr/bin/python3
"""Runs the tests against one build: the cmocka units, then the black-box suites.

    tools/test.py build | build/asan | build/tsan [--quick]

A test that fails is run once more, alone, after all others. When it then passes, it counts as passed and is listed as flaky, with the
first line of its failure; more than FLAKY_MAX flaky tests fail the run. A report of a sanitizer is never repeated: it fails at once.
`--quick`: the units, and the black-box files of the folders that differ from main (tests/quick.py).
Environment: TEST_WORKERS (black-box tests at a time), FULL=1 (more repetitions in some tests).
The last line is `N passed, N failed[, N skipped]`; the exit code is 1 when something failed."""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import outcome  # noqa: E402
import quick  # noqa: E402

CORES = len(os.sched_getaffinity(0))
UNITS_AT_ONCE = CORES + 1  # a few of them wait
WORKERS_A_CORE = 4  # black-box tests wait more than they compute
FLAKY_MAX = 3
REPEATED_MAX = 10  # more failures are not by chance: no test is run again
FAILURES_MAX = 20  # a suite ends after this many
CPU_LISTED, HOLDS_LISTED, ENDS_LISTED = 15, 3, 8
LONG_UNITS = ("test_day", "test_fuzz_replay", "test_kept", "test_kubeconfigs", "test_oidc_verify", "test_property", "test_slices")  # these begin first
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # the stores of units: a disk would be slower, and show nothing more
UNIT_LIMIT_S, SUITE_LIMIT_S = 1500, 3600
PYTEST = ["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
SANITIZERS = ("asan", "tsan")  # which black-box files they repeat: tests/api/sanitizers.py
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0:exitcode=99",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "exitcode=98:halt_on_error=0",
}


def end_what_is_left(mark):
    """Ends the daemons of a worker that ended abnormally: they have `mark` in their environment, like the worker."""
    for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in environ.read_bytes().split(b"\0"):
                print(f"left behind, and killed: {environ.with_name('comm').read_text().strip()} ({environ.parent.name})", flush=True)
                os.kill(int(environ.parent.name), signal.SIGKILL)
        except OSError:
            continue  # it has ended, or belongs to another user


def run_unit(program):
    """Runs one program of units; returns exit code, output and seconds."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="shootd-unit-", dir=IN_MEMORY) as folder:
        env = {**SANITIZER_OPTIONS, **os.environ, "TMPDIR": folder}
        try:
            done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=UNIT_LIMIT_S, env=env)
            code, output = done.returncode, done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as late:
            code, output = -1, (late.stdout or b"").decode(errors="replace") + f"\nno end after {UNIT_LIMIT_S} s"
    return code, output, time.monotonic() - began


class Run:
    """One run against the build `out`, and its results."""

    def __init__(self, out, root=ROOT):
        self.out, self.root = out, root
        self.workers = int(os.environ.get("TEST_WORKERS") or WORKERS_A_CORE * CORES)
        self.passed = self.skipped = 0
        self.failed = {}  # name -> first line of the failure
        self.flaky = {}
        self.again = []  # (name, function that returns whether it passes now)

    # ---- units --------------------------------------------------------------------------------------------------

    def units(self):
        """Runs all programs of units, several at once."""
        began = time.monotonic()
        programs = sorted((p for folder in ("unit", "storage") for p in (self.out / "tests" / folder).glob("test_*")
                           if p.is_file() and os.access(p, os.X_OK)), key=lambda p: (p.name not in LONG_UNITS, p))
        with concurrent.futures.ThreadPoolExecutor(UNITS_AT_ONCE) as pool:
            for program, ended in zip(programs, pool.map(run_unit, programs)):
                self.note_unit(program, *ended)
        print(f"units: {time.monotonic() - began:.0f} s, {UNITS_AT_ONCE} at a time", flush=True)

    def note_unit(self, program, code, output, seconds):
        name, passed = str(program.relative_to(self.out)), len(re.findall(r"^\[       OK \]", output, re.M))
        self.passed += passed
        if code == 0:
            print(f"ok     {name} ({passed}, {seconds:.1f} s)", flush=True)
            return
        print(f"FAILED {name} (exit {code})", *output.splitlines()[-60:], sep="\n", flush=True)
        reason = re.search(r"^\[  FAILED  \] [a-z]\w*|^.*(?:Sanitizer|runtime error): .*", output, re.M)
        self.failed[name] = reason.group() if reason else f"exit {code}"
        if not outcome.of_a_sanitizer(output, code):
            self.again.append((name, lambda: run_unit(program)[0] == 0))

    # ---- black-box suites ---------------------------------------------------------------------------------------

    def environment(self, **more):
        """Bytecode is stored, also for a caller who stores none: each worker would compile every file again."""
        path = os.pathsep.join([str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])])
        given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**SANITIZER_OPTIONS, **given, "BUILD_DIR": str(self.out), "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": str(self.out / "pycache"), **more}

    def compile(self, path):
        """Begins to collect the tests, once, which stores the bytecode for all workers."""
        return subprocess.Popen([*PYTEST, "--collect-only", "-p", "no:xdist", path], cwd=self.root, env=self.environment(),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def pytest(self, *arguments):
        """Prints the output of pytest; returns the result of each test, as outcome.py wrote it."""
        with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as outcomes:
            command = ["timeout", str(SUITE_LIMIT_S), *PYTEST, "-p", "outcome", *arguments]
            process = subprocess.Popen(command, cwd=self.root, env=self.environment(TEST_OUTCOMES=outcomes.name), stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, errors="replace")
            for line in process.stdout:
                if not re.match(r"(=+ )?\d+ (passed|failed|skipped|error)", line):  # the total is printed at the end
                    print(line, end="", flush=True)
            code = process.wait()
            end_what_is_left(f"TEST_OUTCOMES={outcomes.name}")
            found = [json.loads(line) for line in outcomes]
        if code not in (0, 1, 5) or (code == 1 and not any(one["outcome"] == "failed" for one in found)):
            found.append({"id": arguments[-1], "outcome": "failed", "reason": f"pytest ended with {code}", "final": True})
        return found

    def passes_alone(self, id):
        return [one["outcome"] for one in self.pytest("-p", "no:xdist", id)] == ["passed"]

    def suite(self, *paths):
        """Runs the tests of these files, which have one conftest."""
        began, cpu, holds, ends = time.monotonic(), collections.Counter(), [], []
        for one in self.pytest(f"--maxfail={FAILURES_MAX}", "-rs", "--durations=10", "--durations-min=10", "-n", str(self.workers), "--dist", "loadgroup", *map(str, paths)):
            cpu[one["id"].split("::")[0].split("/")[-1]] += one.get("cpu_s", 0)
            holds.append((one.get("hold_us", 0), one["id"]))
            ends.append((one.get("ended", 0), one.get("seconds", 0), one["id"]))
            self.passed += one["outcome"] == "passed"
            self.skipped += one["outcome"] == "skipped"
            if one["outcome"] == "failed":
                self.failed[one["id"]] = one["reason"]
                if not one["final"]:
                    self.again.append((one["id"], lambda id=one["id"]: self.passes_alone(id)))
        most = ", ".join(f"{name} {seconds:.0f}" for name, seconds in cpu.most_common(CPU_LISTED))
        print(f"{' '.join(os.path.relpath(p, self.root) for p in paths)}: {time.monotonic() - began:.0f} s, {self.workers} at a time; "
              f"processor time {sum(cpu.values()):.0f} s, most of it {most}", flush=True)
        # a long one of them belongs into LONG_FIRST of tests/api/spread.py
        last = ", ".join(f"{pathlib.Path(id).name} ({seconds:.0f} s)" for _, seconds, id in sorted(ends, reverse=True)[:ENDS_LISTED])
        print(f"the last tests to end: {last}", flush=True)
        longest = ", ".join(f"{us / 1000:.1f} ms in {pathlib.Path(id).name}" for us, id in sorted(holds, reverse=True)[:HOLDS_LISTED] if us)
        if longest:
            print(f"longest pieces of work of the loop, by the clock of its thread: {longest}", flush=True)

    # ---- the end ------------------------------------------------------------------------------------------------

    def once_more(self):
        if len(self.failed) > REPEATED_MAX:
            print(f"{len(self.failed)} failures: none is run again")
            return
        for name, passes in self.again:
            print(f"once more, alone: {name}", flush=True)
            if passes():
                self.flaky[name] = self.failed.pop(name)
                self.passed += 1

    def report(self):
        """Prints the total; returns whether no test failed."""
        for kind, names in (("failed", self.failed), ("flaky", self.flaky)):
            for name, reason in sorted(names.items()):
                print(f"{kind}: {name}: {reason}")
        failed = len(self.failed)
        if len(self.flaky) > FLAKY_MAX:
            print(f"{len(self.flaky)} tests passed only alone; {FLAKY_MAX} are allowed")
            failed += len(self.flaky)
            self.passed -= len(self.flaky)
        print(f"{self.passed} passed, {failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""), flush=True)
        return failed == 0


def main(arguments):
    run = Run((ROOT / arguments[0]).resolve())
    compiling = run.compile(ROOT / "tests/api")
    run.units()
    compiling.wait()
    of_the_product = run.out.name in SANITIZERS and not os.environ.get("FULL")  # the simulator is a tool of the tests
    suites = [[ROOT / "tests/api"]] if of_the_product else [[ROOT / "tests/simulator"], [ROOT / "tests/api"]]
    for paths in quick.suites(ROOT) if "--quick" in arguments else suites:
        if paths:
            run.suite(*paths)
    run.once_more()
    return 0 if run.report() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
