"""Starts the built programs on loopback for black-box tests. All waits are bounded, and every process is stopped by its pid."""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

import web

os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"  # an ordinary user's PATH lacks the directory of nginx
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", ROOT / "build"))
SANITIZED = BUILD.name in ("asan", "tsan")
# A sanitizer build of the daemon runs beside the fast simulator; the simulator's own suite tests its sanitizer build.
SIMULATOR = (ROOT / "build" if SANITIZED else BUILD) / "cleura-sim"
PROJECT_ID = "00112233445566778899aabbccddeeff"
FULL = os.environ.get("FULL") == "1"  # FULL=1 uses the sizes of a long run; `make test` runs the same tests with smaller sizes
# Sanitizer builds are several times slower. Waits are upper bounds, never fixed sleeps.
PATIENCE = 4 if SANITIZED else 1


def size(small, full):
    """The size of a test: the first value, or the second with FULL=1."""
    return full if FULL else small


def generations(wire_differs):
    """The generations of Cleura's API for a test. Where both send the same, one is enough, and the other is for FULL=1."""
    return ("v2", "v1") if wire_differs or FULL else ("v2",)


def wait_until(condition, timeout=20.0, interval=0.02, what="condition"):
    """Calls condition() until it is true, and returns its value. The limit only ends a test that fails; it is long because the machine
    may be busy. A long wait calls less often."""
    end = time.monotonic() + timeout * max(PATIENCE, 4)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"timed out waiting for {what}")
        time.sleep(interval)
        interval = max(interval, min(interval * 1.1, 0.08))


def after_polls(sim, d, name):
    """Waits for three polls. Polls become rarer while nothing changes (200 ms, 400 ms, ...), so the next one is more than a second away."""
    def polls():
        return sum(sim.counters()["by_operation"].get(o, {}).get("requests", 0) for o in ("list_shoots", "get_shoot"))
    wait_until(lambda: not d.cluster(name).json()["status"]["settling"], what="calm")
    before = polls()
    wait_until(lambda: polls() >= before + 3, what="polls")


_ports = itertools.count()
_range = None  # of this process: the first port, and the socket whose name reserves the range
_range_lock = threading.Lock()  # the first threads that need a port must get the same range
PORTS = 500


def own_range():
    """Ports that no other test process uses, below the kernel's range for clients. A name in the abstract socket namespace reserves
    them: it belongs to the same network namespace as the ports and disappears with the process."""
    for first in range(16000, 32000, PORTS):
        holder = socket.socket(socket.AF_UNIX)
        try:
            holder.bind(f"\0shootd-tests-ports-{first}")
            return first, holder
        except OSError:
            holder.close()
    raise AssertionError("every range of ports is taken by another run of the tests")


def free_port():
    global _range
    with _range_lock:
        _range = _range or own_range()
    while True:
        port = _range[0] + next(_ports) % PORTS
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def hostile_home(directory):
    """The environment of a user whose ~/.curlrc changes every answer and prints the token, for commands that must not read that file."""
    directory.mkdir(exist_ok=True)
    (directory / ".curlrc").write_text(f"""include
verbose
write-out = "written"
dump-header = "-"
header = "Authorization: Bearer shd_another"
output = "{directory}/elsewhere"
""")
    return {"HOME": str(directory), "CURL_HOME": str(directory)}


def log_text(path):
    """The text of a log; nothing when the log is no file: a pipe would wait for a writer."""
    return path.read_text(errors="replace") if path.is_file() else ""


class Process:
    known = []  # running processes, and those that ended during this test: a failure shows their logs

    @classmethod
    def forget_ended(cls):
        """The list stays the same object. Python 3.11 frees the value of an attribute of a class before other threads cease to find it; a
        thread that used it then crashed its worker."""
        for p in [p for p in cls.known if p.popen.poll() is not None]:
            cls.known.remove(p)

    def __init__(self, argv, log, env=None):
        self.log_path = pathlib.Path(log)
        self.log = open(log, "ab")
        self.log_start = os.fstat(self.log.fileno()).st_size
        self.popen = subprocess.Popen(argv, stdout=self.log, stderr=self.log, env=env)
        Process.known.append(self)

    @property
    def pid(self):
        return self.popen.pid

    def text(self):
        return log_text(self.log_path)

    def kill(self):
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGKILL)
        self.popen.wait(30)

    def stop(self, timeout=40):
        """Sends SIGTERM and returns the exit code."""
        if self.popen.poll() is None:
            self.popen.send_signal(signal.SIGTERM)
        try:
            return self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("did not stop on SIGTERM:\n" + self.text()[-4000:])
        finally:
            self.log.close()


class Sim:
    """cleura-sim and the orders below /_sim/."""

    started = collections.Counter()  # number of starts, by directory

    def __init__(self, directory, speed=720, port=None, **options):
        self.directory = pathlib.Path(directory)
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        # Names, ids and windows are the same in each run of a test. A second simulator of a test uses another seed, so it knows no token of
        # the first.
        Sim.started[self.directory] += 1
        seed = zlib.crc32(f"{self.directory.name} {Sim.started[self.directory]}".encode())
        options.setdefault("token_ttl", 10**8)  # a simulated day takes two minutes: tests that count logins must not reach the end of a token
        argv = [SIMULATOR, "--listen", f"127.0.0.1:{self.port}", "--speed", str(speed), "--seed", str(seed)]
        for name, value in options.items():
            flag = "--" + name.replace("_", "-")
            for one in value if isinstance(value, list) else [value]:
                argv += [flag] if one is True else [flag, str(one)]
        self.process = Process(argv, self.directory / f"sim-{self.port}.log")
        self.http = web.Client(base_url=self.url, timeout=30)
        wait_until(self._answers, what="cleura-sim to start")
        self.post("settings", refuse_before_pickup=True)  # shows writes that shootd sends too early: the simulator answers 409

    def _answers(self):
        """A simulator that cannot have the port ends. Only its own log shows that another one does not answer in its place."""
        if self.process.popen.poll() is not None:
            raise AssertionError("cleura-sim ended: " + self.process.text())
        if b"listening on" not in self.process.log_path.read_bytes()[self.process.log_start:]:
            return False
        try:
            return self.http.get("/_sim/healthz").status_code == 200
        except httpx.HTTPError:
            return False

    def post(self, path, **body):
        answer = self.http.post("/_sim/" + path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def get(self, path):
        return self.http.get("/_sim/" + path).json()

    def counters(self):
        return self.get("counters")

    def requests(self, operation=None):
        items = self.get("requests")["items"]
        return [i for i in items if operation is None or i["operation"] == operation]

    def forget(self):
        self.http.delete("/_sim/requests")

    def fault(self, operation, kind, **more):
        return self.post("faults", operation=operation, kind=kind, **more)

    @contextlib.contextmanager
    def frozen(self):
        """Stops simulated time, so that an operation that Cleura began does not end, however slow the test is."""
        speed = self.get("clock")["speed"]
        self.post("clock", speed=0)
        try:
            yield
        finally:
            self.post("clock", speed=speed)

    @contextlib.contextmanager
    def lasting(self, kind):
        """A run of this kind (create, reconcile, ...) does not end before the block ends. A run that begins after the block is as long as
        before."""
        usual = self.get("settings")["durations"][kind]
        self.post("settings", durations={kind: 72000})
        yield
        self.post("settings", durations={kind: usual})
        self.post("clock", advance_seconds=72000)

    def clear_faults(self):
        self.http.delete("/_sim/faults")

    def stop(self):
        self.http.close()
        code = self.process.stop()
        assert code == 0, self.process.text()[-4000:]


RESPONSE_HOOKS = []  # called for every answer to Shootd.http
HOLDS_US = []  # the longest piece of work of each daemon's loop, when the daemon has ended in order; tests/outcome.py empties this list
LOG_END = 8192


class Shootd:
    """One daemon with its configuration and state. It can be killed and started again."""

    def __init__(self, directory, sim_url, api="v2", password="demo", polling=None, extra="", projects=None,
                 account_extra=""):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.state = self.directory / "state"
        self.config = self.directory / "shootd.yaml"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_path = self.directory / "shootd.log"
        self.process = None
        self.http = None
        self.environment = {}  # for start()
        (self.directory / "password").write_text(password + "\n")
        (self.directory / "password").chmod(0o600)
        projects = projects or [("team-a", "Sto2", PROJECT_ID)]
        lines = "".join(
            f"  - {{name: {n}, account: main, region: {r}, project_id: {i}}}\n" for n, r, i in projects)
        polling = polling or "{active: 200ms, idle: 1s, discovery: 2s}"
        if "absent_for" not in polling:
            polling = polling.replace("}", ", absent_for: 1s}")
        if "fresh_floor" not in polling:
            polling = polling.replace("}", ", fresh_floor: 0s}")
        self.config.write_text(
            f"listen: 127.0.0.1:{self.port}\nstate_dir: {self.state}\nlog_level: debug\naccess_log: all\n"
            f"accounts:\n  - name: main\n    url: {sim_url}\n    api: {api}\n    login: demo\n"
            f"    password_file: {self.directory}/password\n    min_spacing: 1ms\n{account_extra}"
            f"projects:\n{lines}polling: {polling}\n"
            f"webhooks: {{allow: [127.0.0.0/8], allow_http: true}}\n{extra}")

    def start(self, wait=True):
        own = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}  # a proxy of this machine is none of the test
        self.process = Process([BUILD / "shootd", "--config", self.config], self.log_path, env={**own, **self.environment})
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self):
        def ready():
            if self.process.popen.poll() is not None:
                raise AssertionError("shootd ended: " + self.log()[-6000:])
            try:
                return web.get(self.url + "/readyz", timeout=5).status_code == 200
            except httpx.HTTPError:
                return False
        wait_until(ready, timeout=30, what="shootd to be ready")
        self.open()

    def start_on(self, path):
        """Listens on a Unix socket instead of the port; `http` stays closed."""
        self.config.write_text(self.config.read_text().replace(f"listen: 127.0.0.1:{self.port}", f"listen: unix:{path}"))
        self.start(wait=False)

        def ready():
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
                try:
                    s.connect(str(path))
                    s.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    return s.recv(100).startswith(b"HTTP/1.1 200 ")
                except OSError:
                    return False
        wait_until(ready, timeout=30, what="shootd to be ready")
        return self

    def open(self):
        if self.http:
            self.http.close()
        self.http = web.Client(base_url=self.url, timeout=90, headers={"Authorization": "Bearer " + self.token()},
                                 event_hooks={"response": RESPONSE_HOOKS})

    def wait_upstream(self):
        """Waits for the login, the catalog and the first list. A create gives Cleura at most 2.5 s, which these calls would use up."""
        wait_until(lambda: self.http.get("/v1/projects/team-a/catalog").status_code == 200 and
                   self.http.get("/v1/projects/team-a").json()["upstream"]["last_list_at"], what="the first list")
        return self

    def wait_outage_over(self):
        """Waits until shootd reads the clusters of all projects again, after an outage of Cleura."""
        wait_until(lambda: all(one["upstream"]["breaker"] == "closed" for one in self.http.get("/v1/projects").json()["items"]), what="the end of the outage")

    def token(self):
        return (self.state / "admin-token").read_text().strip()

    def log(self):
        """The whole lines. The daemon may be writing one at this moment."""
        text = log_text(self.log_path)
        return text[:text.rfind("\n") + 1]

    def kill(self):
        self.process.kill()

    def stop(self):
        if self.http:
            self.http.close()
            self.http = None
        if self.process and self.process.popen.poll() is None:
            code = self.process.stop()
            assert code == 0, f"exit {code}: " + self.log()[-6000:]
            HOLDS_US.extend(self.longest_hold())

    def longest_hold(self):
        """From the end of the log, in µs; nothing when the log is no file (a pipe would wait for a writer), or has not these words."""
        end = self.log_path.read_bytes()[-LOG_END:].decode(errors="replace") if self.log_path.is_file() else ""
        return map(int, re.findall(r"longest_hold_cpu_us\W+(\d+)", end)[-1:])

    # ---- the API ------------------------------------------------------------------------------------------------

    def clusters_path(self, name="", project="team-a"):
        return f"/v1/projects/{project}/clusters" + (f"/{name}" if name else "")

    def create(self, name, **body):
        answer = self.http.post(self.clusters_path(), json={"name": name, **body})
        assert answer.status_code == 202, answer.text
        return answer.json()

    def cluster(self, name):
        return self.http.get(self.clusters_path(name))

    def operation(self, id):
        return self.http.get(f"/v1/operations/{id}").json()

    def wait_operation(self, id, timeout=60):
        def ended():
            op = self.http.get(f"/v1/operations/{id}", params={"wait": 5}).json()
            return op if op["status"] in ("succeeded", "failed", "cancelled") else None
        return wait_until(ended, timeout=timeout, what=f"operation {id}")

    def wait_phase(self, name, *phases, timeout=60):
        def there():
            answer = self.cluster(name)
            return answer.json() if answer.status_code == 200 and answer.json()["status"]["phase"] in phases else None
        return wait_until(there, timeout=timeout, what=f"{name} to be {phases}")

    def reload(self, text=None):
        """Reloads the configuration, after writing this text if it is given."""
        if text is not None:
            self.config.write_text(text)
        answer = self.http.post("/v1/reload")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def parked(self):
        """The number of requests that wait for a decision or an operation."""
        return int(re.search(r"^shootd_http_parked (\d+)", self.http.get("/metrics").text, re.M)[1])

    def wait_gone(self, name, timeout=60):
        wait_until(lambda: self.cluster(name).status_code == 404, timeout=timeout, what=f"{name} to be gone")

    def events(self, **params):
        items, after = [], 0
        while True:
            page = self.http.get("/v1/events", params={"after": after, "limit": 1000, **params}).json()
            items += page["items"]
            if not page["items"] or page["next_cursor"] is None:
                return items
            after = page["last_sequence"]


class Receiver:
    """A webhook consumer that records its requests. Tests may replace `status` and the body `answer`."""

    def __init__(self, status=200):
        self.status = status
        self.answer = b""
        self.received = []
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with outer.lock:
                    outer.received.append({"path": self.path, "headers": dict(self.headers), "body": body,
                                           "json": json.loads(body)})
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(outer.answer)))
                self.end_headers()
                self.wfile.write(outer.answer)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def of_type(self, type):
        with self.lock:
            return [r for r in self.received if r["json"]["type"] == type]

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def verify_delivery(delivery, secrets=(), public_keys=()):
    """Verifies a delivery: with each secret (v1) by the npm packages standardwebhooks and svix, with each public key (v1a) by Node's
    Ed25519. Returns whether all agree, and the output."""
    headers = {k.lower(): v for k, v in delivery["headers"].items() if k.lower().startswith("webhook-")}
    request = json.dumps({"secrets": list(secrets), "public_keys": list(public_keys), "headers": headers,
                          "body": delivery["body"].decode()})
    run = subprocess.run(["node", "verify_webhook.mjs"], cwd=ROOT / "tests/js", input=request, text=True,
                         capture_output=True, timeout=60)
    return run.returncode == 0, run.stdout + run.stderr
