#!/usr/bin/python3
"""The time until shootd serves again after a disaster: from a backup, with an empty state directory, with a lost seal key. Also the
delay of writes beside a backup. For 1,000 and 10,000 clusters with a hundred events each; docs/operations.md has the figures of one run."""

import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from load import BUILD, Beside, Client, quiet
from report import Stopwatch, percentile, section, table
from scale import FRESH, Fleet, first_answer
from store import Rows, copied_events

SIZES = [int(size) for size in sys.argv[1:]] or [1000, 10000]
EVENTS, ROUNDS = 100, 3  # events per cluster
PAUSE, CALM_SECONDS = 0.01, 5
SLOWEST = "the slowest"
MIB = 2**20


def command(name, *argv):
    """Runs `shootd name`; returns the seconds."""
    watch = Stopwatch()
    subprocess.run([BUILD / "shootd", name, *argv], check=True, stdout=subprocess.DEVNULL)
    return watch.seconds()


def with_a_past(f):
    """Copies the events of the discovery, as if each cluster had an event every few days."""
    f.d.start()
    f.wait_for_all()
    quiet(f.pid)
    f.d.stop()
    rows = Rows(f.d)
    events = rows.all("events", "sequence")
    wanted = EVENTS * f.count
    rows.add("events", copied_events(events, wanted - events[-1]["sequence"]))
    rows.db.execute("UPDATE meta SET value = ? WHERE key = 'event_sequence'", (wanted,))
    rows.close()


def right_answer(f):
    last = f.count - 1
    return first_answer(f.d, f.path(last), b'"name":"%s"' % f.name(last).encode())[0]


def before_others(pid):
    """Gives all threads of a process priority over other programs, if that is allowed, so that other load is not measured."""
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(int(thread.name), os.SCHED_FIFO, os.sched_param(1))


def write_on(pipe, d, path, first):
    """Work for Beside: changes the description of a token, one write at a time with a pause before each; sends the duration of each in
    ms."""
    if first:
        before_others(os.getpid())
    client, times = Client(d), []
    pipe.send(None)
    while not pipe.poll():
        time.sleep(PAUSE)
        answer = client.ask(path, method="PATCH", body=f'{{"description":"{len(times)}"}}')
        assert answer.status == 200, answer.body
        times.append(answer.last * 1e3)
    client.close()
    pipe.send(times)


def written_beside(f, what, first, work):
    """Figures of the writes while `work` runs."""
    writer = Beside(write_on, f.d, "/v1/tokens/" + f.d.http.get("/v1/whoami").json()["id"], first)
    work()
    times = writer.stop()
    return {f"{what}: median, ms": statistics.median(times), f"{what}: 99 of 100 within, ms": percentile(times, 0.99),
            f"{what}: {SLOWEST}, ms": max(times)}


def writes(f, path):
    """Writes without and beside a backup; both with ordinary priority and with priority over other programs."""
    def backup():
        path.unlink(missing_ok=True)
        command("backup", "--config", f.d.config, "--to", path)
    figures = {}
    for how, first in (("", False), (", with priority over other programs", True)):
        if first:
            before_others(f.pid)
        for what, work in (("without a backup", lambda: time.sleep(CALM_SECONDS)), ("beside a backup", backup)):
            figures |= written_beside(f, f"a write {what}{how}", first, work)
    path.unlink()
    return figures


def backed_up(f, directory):
    path = directory / "copy.db"
    f.d.start()
    f.wait_for_all()
    backup = command("backup", "--config", f.d.config, "--to", path, "--with-seal-key")
    check = command("check-store", path)
    token = f.d.token()
    written = writes(f, directory / "beside.db")
    f.d.stop()
    shutil.rmtree(f.d.state)
    restore = command("restore", "--config", f.d.config, "--from", path)
    (f.d.state / "admin-token").write_text(token)
    start = right_answer(f)
    f.d.open()
    f.d.stop()
    figures = {"store, MiB": path.stat().st_size / MIB, "`shootd backup`, with its checks, s": backup, "`shootd check-store` of the backup, s": check,
               "`shootd restore` into an empty directory, s": restore, "start after it, to the first right answer, s": start}
    path.unlink()
    path.with_name("copy.db.seal.key").unlink()
    return figures | written


def without_its_key(f):
    (f.d.state / "seal.key").unlink()
    watch = Stopwatch()
    start = right_answer(f)
    f.d.open()
    client = Client(f.d)
    while b"fwd=request; stored" not in client.ask(f.path(0), FRESH).head:
        assert watch.seconds() < 120
    again = watch.seconds()
    client.close()
    f.d.stop()
    return {"seal key lost: start to the first right answer, s": start, "seal key lost: start until shootd has logged in to Cleura and asked it again, "
            "s": again}


def from_nothing(f):
    shutil.rmtree(f.d.state)
    watch = Stopwatch()
    f.d.start()
    f.wait_for_all()
    known = watch.seconds()
    f.d.stop()
    return {"store lost, no backup: start until all clusters are known again, s": known}


def measure(count):
    with tempfile.TemporaryDirectory() as name:
        f = Fleet(name, count)
        try:
            rounds = []
            for _ in range(ROUNDS):
                with_a_past(f)
                rounds.append(backed_up(f, pathlib.Path(name)) | without_its_key(f) | from_nothing(f))
            return {what: (max if SLOWEST in what else statistics.median)(r[what] for r in rounds) for what in rounds[0]}
        finally:
            f.stop()


def main():
    section("After a disaster", f"Medians of {ROUNDS} rounds (the slowest write: of all rounds), {EVENTS} events for each cluster. The files are in the "
            "page cache. cleura-sim answers at once and shares the processors. Where shootd asks Cleura, add Cleura's own time for the list of a project.")
    results = [measure(count) for count in SIZES]
    table(["what", *(f"{count:,} clusters" for count in SIZES)], [[what, *(r[what] for r in results)] for what in results[0]])


if __name__ == "__main__":
    main()
