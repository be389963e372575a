"""Parts that the benchmarks share: cores, CPU time, memory, the default configuration, a client, another user at Cleura, and wrk."""

import contextlib
import math
import multiprocessing
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
sys.path.insert(0, str(ROOT / "tests/api"))
import web  # noqa: E402

OF_TESTS = ("log_level: ", "access_log: ", "    min_spacing: ", "polling: ")  # set by harness.Shootd, unlike the defaults

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the programs that a benchmark has started end with it
CORES = (sorted(os.sched_getaffinity(0)) * 2)[:2]


def need_tools(*names):
    for name, package in (("wrk", "wrk"), ("h2load", "nghttp2-client"), ("nginx", "nginx-light"), ("varnishd", "varnish"), ("valgrind", "valgrind")):
        if name in (names or ("wrk", "h2load", "nginx", "varnishd")) and not shutil.which(name):
            raise SystemExit(f"bench needs {name}: apt-get install {package}")


def cpu_seconds(pid):
    """CPU seconds of a process and its running children."""
    children = (pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()).split()
    return own_cpu_seconds(pid) + sum(own_cpu_seconds(child) for child in children)


def own_cpu_seconds(pid):
    fields = (pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]).split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_clock(pid):
    """The CPU time of one process in nanoseconds: the kernel derives the number of its clock from the pid (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


def resident(pid):
    """Resident memory in bytes."""
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def quiet(pid, seconds=60):
    """Waits until the process is idle: at most a few milliseconds of work in three tenths of a second."""
    end, calm, last = time.monotonic() + seconds, 0, cpu_clock(pid)
    while calm < 3:
        if time.monotonic() > end:
            raise SystemExit(f"still busy after {seconds} s")
        time.sleep(0.1)
        now = cpu_clock(pid)
        calm = calm + 1 if now - last < 0.003 else 0
        last = now


def shipped(d, **keys):
    """The default configuration, except for the address of Cleura and the permission of webhooks to loopback; `keys` replace defaults."""
    lines = d.config.read_text().splitlines(keepends=True)
    d.config.write_text("".join(line for line in lines if not line.startswith(OF_TESTS)) +
                        "".join(f"{key}: {value}\n" for key, value in keys.items()))


def metric(d, name):
    """Not a number when this build has no such metric (bench/before.py)."""
    found = re.search(f"^{re.escape(name)} (\\S+)$", d.http.get("/metrics").text, re.M)
    return float(found[1]) if found else math.nan


class Answer:
    """An answer: its parts, and their times of arrival in seconds after the request was sent."""

    def __init__(self, head, body, first, last):
        self.status, self.head, self.body = int(head.split(b" ", 2)[1]), head, body
        self.first, self.last = first, last

    def header(self, name):
        return re.search(rb"(?im)^" + name.encode() + rb": (.*?)\r?$", self.head)[1].decode()


class Client:
    """One open connection, with as little code between the socket and the clock as Python allows."""

    def __init__(self, d):
        self.socket = socket.create_connection(("127.0.0.1", d.port), timeout=90)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.fields = f"Host: bench\r\nAuthorization: Bearer {d.token()}\r\n"
        self.rest = memoryview(bytearray(1 << 20))

    def ask(self, path, *headers, method="GET", body=""):
        fields = self.fields + "".join(f"{header}\r\n" for header in headers)
        if body:
            fields += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        began = time.monotonic()
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\n{fields}\r\n{body}".encode())
        return self.read(began)

    def read(self, began):
        answer, first = bytearray(), None
        while b"\r\n\r\n" not in answer:
            answer += self.some()
            first = first or time.monotonic()
        head, _, body = answer.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        if b" 304 " in head[:16]:
            assert not body
        elif length:
            while len(body) < int(length[1]):
                body += self.some()
        else:
            body = self.chunks(body)
        return Answer(bytes(head), bytes(body), first - began, time.monotonic() - began)

    def chunks(self, rest):
        """Reads a body in chunks, each after its length."""
        body, length = bytearray(), None
        while length != 0:
            while b"\r\n" not in rest:
                rest += self.some()
            line, _, rest = rest.partition(b"\r\n")
            length = int(line, 16)
            while len(rest) < length + 2:
                rest += self.some()
            body += rest[:length]
            rest = rest[length + 2:]
        return body

    def some(self):
        count = self.socket.recv_into(self.rest)
        if not count:
            raise SystemExit("shootd closed a connection")
        return self.rest[:count]

    def close(self):
        self.socket.close()


def open_stream(d, query=""):
    """Opens the socket of an event stream."""
    s = socket.create_connection(("127.0.0.1", d.port))
    s.sendall((f"GET /v1/events{query} HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n"
               f"Authorization: Bearer {d.token()}\r\n\r\n").encode())
    return s


class Beside:
    """A process that works beside the measured one. `work(pipe, ...)` sends None when it is ready, works until `pipe` has input, and
    then sends its result."""

    def __init__(self, work, *args):
        self.pipe, end = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=work, args=(end, *args), daemon=True)
        self.process.start()
        end.close()
        self.pipe.recv()

    def stop(self):
        self.pipe.send(None)
        told = self.pipe.recv()
        self.process.join(10)
        return told


def listen(pipe, d, count):
    """Work for Beside: reads a number of event streams, reopens each one that ends, and sends the number of events."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    epoll, streams, events, quiet_ones = select.epoll(), {}, 0, count

    def add():
        stream = open_stream(d)
        streams[stream.fileno()] = stream
        epoll.register(stream, select.EPOLLIN)

    for _ in range(count):
        add()
    while not pipe.poll():
        for fd, _ in epoll.poll(0.2):
            piece = b""
            with contextlib.suppress(ConnectionResetError):
                piece = streams[fd].recv(65536)
            events += piece.count(b"\ndata: {")
            if not piece:
                epoll.unregister(fd)
                streams.pop(fd).close()
                add()
            elif quiet_ones and b"retry:" in piece:
                quiet_ones -= 1
                if not quiet_ones:
                    pipe.send(None)
    pipe.send(events)


class SomebodyElse:
    """Another user of the same account, who works at Cleura without shootd."""

    def __init__(self, sim):
        login = web.post(sim.url + "/auth/v2/tokens", json={"login": "demo", "password": "demo"}).json()
        self.http = web.Client(base_url=sim.url, headers={"X-AUTH-LOGIN": "demo", "X-AUTH-TOKEN": login["token"]}, timeout=30)

    def act(self, project_id, name, action):
        answer = self.http.patch(f"/gardener/v2/public/shoots/Sto2/{project_id}/{name}/{action}")
        if answer.status_code >= 300:
            raise SystemExit(answer.text)

    def list_text(self, project_id):
        answer = self.http.get(f"/gardener/v2/public/shoots/Sto2/{project_id}")
        answer.raise_for_status()
        return answer.text

    def close(self):
        self.http.close()


def pin(pid, core):
    """Binds all threads of a process and of its children to cores."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), {core})
        for child in (task / "children").read_text().split():
            pin(child, core)


def wrk(url, token, connections, seconds, *more):
    """The number of answered requests, and the 99th percentile of their time in milliseconds."""
    run = subprocess.run(["taskset", "-c", str(CORES[0]), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency",
                          *more, "-H", f"Authorization: Bearer {token}", url], capture_output=True, text=True, check=True)
    if "Non-2xx" in run.stdout:
        raise SystemExit(run.stdout)
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", run.stdout).groups()
    return (int(re.search(r"(\d+) requests in", run.stdout).group(1)),
            float(value) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit])


def h2load(url, token, connections, seconds, *more):
    """The number of 304 answers and their rate. wrk cannot count them: a 304 states the length of its body and has none (RFC 9110,
    15.4.5), and wrk waits for it."""
    run = subprocess.run(["taskset", "-c", str(CORES[0]), "h2load", "--h1", "-t1", f"-c{connections}", f"-D{seconds}",
                          *more, "-H", f"Authorization: Bearer {token}", url], capture_output=True, text=True, check=True)
    return int(re.search(r"(\d+) 3xx", run.stdout).group(1))
