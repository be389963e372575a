"""A log that nobody reads any more (a stuck container runtime, a stopped journald) stops nothing: the loop works, requests are answered,
SIGTERM ends the process."""

import contextlib
import fcntl
import os
import re
import signal
import threading
import time

import pytest

from harness import wait_until

F_SETPIPE_SZ = 1031


@pytest.fixture
def start(make_shootd, sim, tmp_path):
    """Starts a daemon whose stderr is a full pipe that nobody reads: from the start on, or from when it is ready."""
    d = make_shootd(sim.url)
    d.log_path = tmp_path / "pipe"
    os.mkfifo(d.log_path)
    reader = os.open(d.log_path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, F_SETPIPE_SZ, 4096)
    writer = os.open(d.log_path, os.O_WRONLY | os.O_NONBLOCK)

    def started(reads_the_start=True):
        if not reads_the_start:
            fill(writer)
        is_ready = threading.Event()
        first_reader = threading.Thread(target=drain, args=(reader, is_ready))
        if reads_the_start:
            first_reader.start()
        try:
            d.start()
        finally:
            is_ready.set()
            if reads_the_start:
                first_reader.join()
        fill(writer)
        return d
    try:
        yield started
    finally:
        if d.process:
            d.kill()
        os.close(writer)
        os.close(reader)


def drain(reader, is_ready):
    while not is_ready.is_set():
        try:
            os.read(reader, 4096)
        except BlockingIOError:
            time.sleep(0.005)


def fill(writer):
    for size in (4096, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"x" * size)


@pytest.fixture
def unread(start):
    return start()


def metric(d, name):
    return int(re.search(rf"^{name} (\d+)", d.http.get("/metrics").text, re.M)[1])


@pytest.mark.parametrize("reads_the_start", [True, False])
def test_work_goes_on_and_a_signal_ends_it(start, reads_the_start):
    d = start(reads_the_start)
    assert d.wait_operation(d.create("dev")["operation"]["id"])["status"] == "succeeded"
    assert d.http.get("/livez").status_code == 200
    d.stop()


def test_lines_without_a_place_are_counted(unread):
    d = unread
    assert metric(d, "shootd_log_lines_dropped_total") == 0

    def are_counted():
        for _ in range(500):
            assert d.http.get("/v1/whoami").status_code == 200
        return metric(d, "shootd_log_lines_dropped_total")
    wait_until(are_counted, what="lines to be dropped")
    assert d.http.get("/livez").status_code == 200
    d.stop()


def test_a_second_signal_ends_at_once(unread):
    """The end waits some seconds for a reader."""
    d = unread
    d.http.close()
    d.process.popen.send_signal(signal.SIGTERM)
    wait_until(lambda: signal_was_taken(d), what="the first signal to be taken")
    d.process.popen.send_signal(signal.SIGTERM)
    assert d.process.popen.wait(30) == 1


def signal_was_taken(d):
    status = open(f"/proc/{d.process.pid}/status", encoding="utf-8").read()
    pending = int(re.search(r"^ShdPnd:\s*(\w+)", status, re.M)[1], 16)
    return not pending >> (signal.SIGTERM - 1) & 1
