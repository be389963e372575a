"""`make run`, `make deps` and `make` for their users: several at once, with a port in use, on a machine that lacks packages."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess

import httpx
import pytest

import web
from harness import BUILD, PATIENCE, ROOT, free_port, wait_until

DEPS = ROOT / "tools/deps.sh"


class Run:
    """One tools/run.sh, which `make run` starts."""

    def __init__(self, directory, **environment):
        directory.mkdir()
        self.path = directory / "output"
        env = {k: v for k, v in os.environ.items() if k != "SHOOTD_LISTEN" and not k.lower().endswith("_proxy")}
        with self.path.open("wb") as log:
            self.process = subprocess.Popen([ROOT / "tools/run.sh"], stdout=log, stderr=log,
                                            env={**env, "BUILD_DIR": str(BUILD), "TMPDIR": str(directory), **environment})

    def text(self):
        return self.path.read_text()

    def said(self, what):
        found = re.search(rf"^{what}: +(\S+)(.*)$", self.text(), re.M)
        return found.groups() if found else None

    def wait(self):
        wait_until(lambda: "Ctrl-C stops both" in self.text() or self.process.poll() is not None, timeout=40, what="make run")
        assert self.process.poll() is None, self.text()
        return self

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60 * PATIENCE)


@pytest.fixture
def start(tmp_path):
    with contextlib.ExitStack() as stack:
        def started(name, **environment):
            run = Run(tmp_path / name, **environment)
            stack.callback(run.stop)
            return run
        yield started


def assert_pages_may_call(url):
    """Only pages from the daemon's own address and from a development server may call it."""
    for origin, allowed in ((url, url), ("http://localhost:5173", "http://localhost:5173"), ("http://evil.example", None)):
        answer = web.get(url + "/livez", headers={"Origin": origin}, timeout=30)
        assert answer.headers.get("Access-Control-Allow-Origin") == allowed, (origin, answer.headers)


def test_two_side_by_side(start):
    """Each daemon answers at its printed address, only to its own token, and pages from that address may call it."""
    runs = [start("first"), start("second")]
    told = [{"url": run.wait().said("shootd is running"), "token": run.said("token")} for run in runs]
    assert told[0]["url"][0] != told[1]["url"][0]
    assert not any("proxy" in run.text() for run in runs)
    assert any("SHOOTD_LISTEN" in one["url"][1] for one in told), "who did not get the usual port says so"
    for one in told:
        if 8080 <= httpx.URL(one["url"][0]).port <= 8099:  # unless all of these ports were in use
            assert_pages_may_call(one["url"][0])
    for one, other in (told, reversed(told)):
        for token, status in ((one["token"][0], 200), (other["token"][0], 401)):
            answer = web.get(one["url"][0] + "/v1/whoami", headers={"Authorization": "Bearer " + token}, timeout=30)
            assert answer.status_code == status


def test_an_address_that_was_asked_for_and_is_taken_is_a_fault(start):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        address = f"127.0.0.1:{s.getsockname()[1]}"
        run = start("refused", SHOOTD_LISTEN=address)
        assert run.process.wait(40 * PATIENCE) == 1
        assert f"SHOOTD_LISTEN: {address} is taken" in run.text()
        assert "shootd is running" not in run.text()


def test_an_address_that_was_asked_for_is_used_without_a_proxy(start):
    """The proxy does not exist: neither the script nor a command that it prints may send anything there."""
    address, proxy = f"127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
    run = start("asked", SHOOTD_LISTEN=address, http_proxy=proxy, NO_PROXY=".example.com").wait()
    assert run.said("shootd is running") == ("http://" + address, "")
    assert_pages_may_call("http://" + address)
    exports = re.search(r"^ +(export SHOOTD_URL=.*)$", run.text(), re.M)[1]
    assert exports.endswith(" no_proxy='.example.com,127.0.0.1'")
    done = subprocess.run(["bash", "-c", exports + "; curl -q -sS -m 60 $SHOOTD_URL/livez"], env={"PATH": os.environ["PATH"], "http_proxy": proxy},
                          capture_output=True, text=True, timeout=90)
    assert done.stdout.strip() == "ok", done


def test_a_page_that_is_not_there_has_no_address(start, tmp_path):
    """A build without npm has no page; one that was switched off gives the same 404."""
    build = tmp_path / "build"
    build.mkdir()
    for name in ("cleura-sim", "shootctl"):
        (build / name).symlink_to(BUILD / name)
    (build / "shootd").write_text(f"#!/bin/bash\necho 'dashboard: false' >>\"$2\"\nexec {BUILD}/shootd \"$@\"\n")
    (build / "shootd").chmod(0o755)
    run = start("pageless", BUILD_DIR=str(build)).wait()
    assert run.said("dashboard") == ("not", " in this build (docs/dashboard.md, Build)")
    assert run.said("shootd is running")[0] + "/ " not in run.text()


# ---- a machine that lacks packages -------------------------------------------------------------------------------------

@pytest.fixture
def bare(tmp_path):
    """The PATH of an ordinary user on a machine without the packages and without sudo."""
    path = tmp_path / "bin"
    path.mkdir()
    for name in ("bash", "dirname", "env"):
        (path / name).symlink_to(shutil.which(name))
    for name, body in (("id", "echo 1000"), ("dpkg-query", "exit 1")):
        (path / name).write_text(f"#!/bin/bash\n{body}\n")
        (path / name).chmod(0o755)
    return {"PATH": str(path)}


PAGE = {"nodejs", "npm"}
OF_TESTS = {"chromium", "chromium-headless-shell", "kubernetes-client", "libcmocka-dev", "python3-pytest"}


@pytest.mark.parametrize("what, environment, there, not_there", [
    ("run", {}, {"gcc", "libmicrohttpd-dev", *PAGE}, OF_TESTS), ("run", {"DASHBOARD": "no"}, {"gcc", "libmicrohttpd-dev"}, {*OF_TESTS, *PAGE}),
    ("test", {}, {"gcc", "libcmocka-dev", "python3-pytest", *PAGE}, set()), ("test", {"DASHBOARD": "no"}, PAGE, set())])
def test_without_sudo_the_packages_are_named(bare, what, environment, there, not_there):
    done = subprocess.run(["bash", DEPS, what], env={**bare, **environment}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "no sudo" in done.stderr, done
    command = re.search(r"^ +apt-get update && apt-get install (.*)$", done.stderr, re.M)[1].split()
    assert there <= set(command) and not not_there & set(command)


def test_an_ordinary_user_with_everything_lacks_nothing():
    """nginx is in /usr/sbin, which is not on the PATH of an ordinary user."""
    done = subprocess.run([DEPS, "missing", "test"], env={"PATH": "/usr/local/bin:/usr/bin:/bin"}, capture_output=True, text=True,
                          timeout=60, check=True)
    assert done.stdout == ""


def test_an_ordinary_user_runs_the_tests_of_nginx():
    asked = subprocess.run(["/usr/bin/python3", "-c", "import harness, shutil; print(shutil.which('nginx'))"], cwd=ROOT / "tests/api",
                           env={"PATH": "/usr/local/bin:/usr/bin:/bin"}, capture_output=True, text=True, timeout=60, check=True)
    assert asked.stdout.strip() == "/usr/sbin/nginx"


@pytest.mark.parametrize("mode, with_npm, said", [
    ("auto", False, "the dashboard is left out: npm is absent ('apt-get install nodejs npm' installs it)"),
    ("auto", True, "the dashboard is left out: npm ci failed: code ENOTFOUND"),
    ("no", True, "the dashboard is left out: DASHBOARD=no"),
    ("required", False, "make: the dashboard cannot be built: npm is absent ('apt-get install nodejs npm' installs it)"),
    ("required", True, "make: the dashboard cannot be built: npm ci failed: code ENOTFOUND")])
def test_without_npm_or_its_registry_there_is_a_daemon_without_a_dashboard(tmp_path, mode, with_npm, said):
    """One line reports the failed build of the dashboard, as an error only if the dashboard is required. Otherwise the program has no page."""
    path, tree = tmp_path / "bin", tmp_path / "tree"
    for directory in (path, tree / "tools", tree / "dashboard"):
        directory.mkdir(parents=True)
    for name in ("bash", "dirname", "rm", "mkdir", "mktemp", "sed", "head", "touch"):
        (path / name).symlink_to(shutil.which(name))
    for name, body in (("node", "exit 1"), ("npm", "echo 'npm error code ENOTFOUND'; echo 'npm error errno ENOTFOUND'; exit 1")):
        if with_npm:
            (path / name).write_text(f"#!/bin/bash\n{body}\n")
            (path / name).chmod(0o755)
    shutil.copy(ROOT / "tools/dashboard.sh", tree / "tools")
    done = subprocess.run(["bash", tree / "tools/dashboard.sh", mode], env={"PATH": str(path)}, capture_output=True, text=True, timeout=60)
    assert done.returncode == (1 if mode == "required" else 0) and (done.stdout + done.stderr).strip() == said, done
    embedded = subprocess.run(["/usr/bin/python3", ROOT / "tools/embed_dashboard.py", tree / "build/dashboard"], capture_output=True, text=True,
                              timeout=60, check=True).stdout
    assert "dashboard_page = NULL;" in embedded and "dashboard_file_count = 0;" in embedded


def test_make_without_a_compiler_says_what_to_do():
    done = subprocess.run(["make", "CC=no-such-compiler", "all"], cwd=ROOT, capture_output=True, text=True, timeout=60,
                          env={k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"})
    assert done.returncode == 2 and "no compiler 'no-such-compiler': 'make deps'" in done.stderr, done


def test_make_without_the_libraries_says_what_to_do(tmp_path):
    """A compiler that finds no header. The Makefile checks this in a new checkout only."""
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\necho 'fatal error: microhttpd.h: No such file or directory' >&2\nexit 1\n")
    compiler.chmod(0o755)
    tree = tmp_path / "tree"
    tree.mkdir()
    shutil.copy(ROOT / "Makefile", tree)
    (tree / "base").mkdir()
    shutil.copy(ROOT / "base/mem.c", tree / "base")
    done = subprocess.run(["make", f"CC={compiler}", "all"], cwd=tree, capture_output=True, text=True, timeout=60,
                          env={k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"})
    assert done.returncode == 2 and "make: libraries are missing: 'make deps'" in done.stderr, done
    assert "  CC" not in done.stdout, "before the first file is compiled"


def test_deps_of_a_server_bring_no_test_tool():
    """`make run` and `make deps` install only the packages for building and running."""
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^deps:\n\t@tools/deps.sh run$", makefile, re.M) and re.search(r"^run: deps\n", makefile, re.M)
    assert re.search(r"^test: deps-test\n", makefile, re.M)


def test_make_run_without_a_dashboard_installs_no_npm(bare):
    """`make` hands DASHBOARD=no on to the list of packages, from its command line and from the environment."""
    for arguments, environment, there in (((), {}, True), (("DASHBOARD=no",), {}, False), ((), {"DASHBOARD": "no"}, False)):
        done = subprocess.run([shutil.which("make"), *arguments, "deps"], cwd=ROOT, env={**bare, **environment}, capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 2 and "gcc" in done.stderr and (" npm" in done.stderr) == there, done
