"""A configuration that cannot be read at once: no regular file, a file that is too large or too deep, a share that hangs. It is refused,
and nothing else waits for it."""

import os
import re
import signal
import subprocess
import time

import pytest

from harness import BUILD, SANITIZED, wait_until

# Waits in open() of HANG_PATH while the file HANG_WHILE exists. `<HANG_WHILE>.seen` says that it waits.
HANGING_OPEN = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hang(const char *path)
{
    const char *hanging = getenv("HANG_PATH"), *gate = getenv("HANG_WHILE");
    char seen[4096];
    if (!hanging || strcmp(path, hanging) || access(gate, F_OK))
        return;
    snprintf(seen, sizeof(seen), "%s.seen", gate);
    close(creat(seen, 0600));
    while (!access(gate, F_OK))
        usleep(1000);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = va_arg(args, mode_t);
    va_end(args);
    hang(path);
    return ((int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    hang(path);
    return ((FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen"))(path, mode);
}
"""


class Share:
    """Where the configuration lies; it can hang."""

    def __init__(self, directory, config):
        self.gate = directory / "hangs"
        self.seen = directory / "hangs.seen"
        source, library = directory / "hang.c", directory / "hang.so"
        source.write_text(HANGING_OPEN)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        self.env = {"LD_PRELOAD": str(library), "HANG_PATH": str(config), "HANG_WHILE": str(self.gate)}

    def hang(self):
        self.gate.touch()

    def wait_seen(self):
        wait_until(self.seen.exists, what="the daemon to open its configuration")

    def release(self):
        self.gate.unlink()


@pytest.fixture
def shared(make_shootd, sim, tmp_path):
    if SANITIZED:
        pytest.skip("a sanitizer's library must come first")
    d = make_shootd(sim.url)
    d.share = Share(tmp_path, d.config)
    d.environment = d.share.env
    return d


def fifo(path):
    os.mkfifo(path)


UNREADABLE = {
    "FIFO": (fifo, "is not a regular file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
    "directory": (lambda path: path.mkdir(), "is not a regular file"),
    "deep": (lambda path: path.write_text("a: " + "[" * 200_000), "is nested more than 16 levels deep"),
    "deep block": (lambda path: path.write_text("- " * 100_000), "is nested more than 16 levels deep"),
    "deep second document": (lambda path: path.write_text("a: 1\n---\n" + "[" * 200_000), "is nested more than 16 levels deep"),
    "anchors": (lambda path: path.write_text("".join(f"- &a{i} x\n" for i in range(150_000))), "has more than 1000 anchors"),
    "long": (lambda path: path.write_text("# " + "x" * (4 << 20)), "is longer than 4 MiB"),
    "faults": (lambda path: path.write_text("".join(f"k{i}: 1\n" for i in range(5_000))), "at most 1000 faults are shown"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_start_refuses_it(tmp_path, kind):
    make, message = UNREADABLE[kind]
    path = tmp_path / "shootd.yaml"
    make(path)
    for more in ((), ("--check-config",)):
        run = subprocess.run([BUILD / "shootd", "--config", path, *more], capture_output=True, text=True, timeout=30, check=False)
        assert run.returncode == 78 and message in run.stderr, run.stderr[-2000:]


def test_a_password_file_is_a_regular_file(make_shootd, sim):
    d = make_shootd(sim.url)
    (d.directory / "password").unlink()
    os.mkfifo(d.directory / "password", 0o600)
    run = subprocess.run([BUILD / "shootd", "--config", d.config], capture_output=True, text=True, timeout=30, check=False)
    assert run.returncode == 78 and "password is not a regular file" in run.stderr


def test_a_reload_refuses_it(make_shootd, sim):
    d = make_shootd(sim.url).start()
    good = d.config.read_text()
    for kind in ("FIFO", "deep", "long"):
        make, message = UNREADABLE[kind]
        d.config.unlink()
        make(d.config)
        refused = d.http.post("/v1/reload", timeout=30)
        assert refused.status_code == 409 and message in refused.text, refused.text
    d.config.unlink()
    assert d.reload(good) == {"changed": [], "restart_needed": []}


def test_a_hanging_share_holds_nothing_else(shared):
    """The reload is given up after ten seconds, the next one works, and a signal ends shootd while the share hangs."""
    d = shared
    d.start()
    d.share.hang()
    began = time.monotonic()
    refused = d.http.post("/v1/reload", timeout=60)
    assert refused.status_code == 409 and "could not be read within 10 s" in refused.text, refused.text
    assert time.monotonic() - began >= 10
    assert d.http.get("/livez").status_code == 200
    d.share.release()
    assert d.reload() == {"changed": [], "restart_needed": []}
    d.share.seen.unlink()
    d.share.hang()
    os.kill(d.process.pid, signal.SIGHUP)
    d.share.wait_seen()
    d.stop()


def test_a_signal_ends_a_start_that_hangs(shared):
    d = shared
    d.share.hang()
    d.start(wait=False)
    d.share.wait_seen()
    d.stop()


def test_a_reload_during_the_start_is_a_reload(shared):
    d = shared
    d.share.hang()
    d.start(wait=False)
    d.share.wait_seen()
    os.kill(d.process.pid, signal.SIGHUP)
    d.share.release()
    d.wait_ready()
    wait_until(lambda: d.http.get("/v1/reload").json()["last_reload"], what="the reload")
    assert re.search(r"^shootd_config_reload_success 1$", d.http.get("/metrics").text, re.M)
