"""The cost of a cached read in instructions and allocations, which repeat exactly; times do not (docs/performance.md)."""

import collections
import re
import shutil
import socket
import subprocess

import pytest

import harness
from harness import wait_until

REQUESTS = 300

# Instructions of our code and of functions that it calls, for one request on an open connection: a tenth above the measured value.
MOST_INSTRUCTIONS = {200: 12900, 304: 15000}  # measured 11,720 and 13,660; the chains of hash tables make 150 more or less
POLLING = "{active: 1h, idle: 1h, discovery: 1h}"
MOST_ALLOCATIONS = 5  # of the whole thread, including the library


class Counted:
    """shootd under callgrind; it counts only between two commands."""

    def __init__(self, d, directory):
        self.d, self.out = d, directory / "callgrind"
        d.process = harness.Process(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes", f"--callgrind-out-file={self.out}",
                                     harness.BUILD / "shootd", "--config", d.config], d.log_path)
        d.wait_ready()

    def counting(self, on):
        subprocess.run(["callgrind_control", "-i", on, str(self.d.process.pid)], check=True, capture_output=True)

    def costs(self):
        """The thread that served: its instructions, instructions per function with its callees, and the number of calls."""
        threads = [path for path in self.out.parent.glob(self.out.name + "-*") if "on_completed" in path.read_text()]
        assert len(threads) == 1, "one connection is one thread's"
        report = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", threads[0]], check=True, capture_output=True, text=True).stdout
        below = {name: int(n.replace(",", "")) for n, name in re.findall(r"^ *([\d,]+) \([ \d.]+%\)  \S+:(\w+)", report, re.M)}
        calls, names, called = collections.Counter(), {}, None
        for line in threads[0].read_text().splitlines():
            if found := re.match(r"c?fn=\((\d+)\)(?: (\S+))?", line):
                names.setdefault(found[1], found[2])
                called = names[found[1]]
            elif line.startswith("calls="):
                calls[called] += int(line[6:].split()[0])
        total = int(re.search(r"([\d,]+) \([ \d.]+%\)  PROGRAM TOTALS", report)[1].replace(",", ""))
        return total, below, calls


def exchange(connection, request):
    """Sends one request on an open connection; returns the status."""
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(65536)
    head, body = answer.split(b"\r\n\r\n", 1)
    status = int(head.split()[1])
    length = int(re.search(rb"content-length: (\d+)", head.lower())[1]) if status == 200 else 0
    while len(body) < length:
        body += connection.recv(65536)
    return status


def cost_of_a_read(sim, d, directory, status):
    """Costs of one request: instructions of our code with its callees, instructions of the whole thread, allocations of the whole
    thread."""
    d.config.write_text(d.config.read_text().replace("log_level: debug\naccess_log: all\n", ""))
    sim.post("shoots", count=100, prefix="dev", state="ready")
    counted = Counted(d, directory)
    wait_until(lambda: d.cluster("dev-0050").status_code == 200, timeout=60, what="discovery")
    tag = d.http.get(d.clusters_path("dev-0050"), headers={"Accept-Encoding": "identity"}).headers["ETag"]
    more = f"If-None-Match: {tag}\r\n" if status == 304 else ""
    request = (f"GET {d.clusters_path('dev-0050')} HTTP/1.1\r\nHost: 127.0.0.1:{d.port}\r\nAuthorization: Bearer {d.token()}\r\n{more}\r\n").encode()
    with socket.create_connection(("127.0.0.1", d.port), 30) as connection:
        for _ in range(10):
            assert exchange(connection, request) == status
        counted.counting("on")
        for _ in range(REQUESTS):
            exchange(connection, request)
        counted.counting("off")
    d.stop()
    total, below, calls = counted.costs()
    assert calls["on_completed"] == REQUESTS, "what was counted is these requests"
    ours = below["on_access"] + below["on_completed"] + below["on_request_line"]
    return ours / REQUESTS, total / REQUESTS, (calls["malloc"] + calls["calloc"] + calls["realloc"]) / REQUESTS


@pytest.mark.parametrize("status", [200, 304])
def test_a_cached_read_stays_within_its_budget(sim, make_shootd, tmp_path, status):
    assert shutil.which("valgrind"), "`make deps-test` installs it"
    ours, _, allocated = cost_of_a_read(sim, make_shootd(sim.url, polling=POLLING), tmp_path, status)
    print(f"{ours:.0f} instructions, {allocated:.2f} allocations")
    assert ours <= MOST_INSTRUCTIONS[status]
    assert allocated <= MOST_ALLOCATIONS
