#!/usr/bin/python3
"""requests.py SECONDS: whole HTTP requests, made of openapi.yaml and changed at random, against the address sanitizer's build and
the simulator, on loopback. Fails when the daemon ends, a sanitizer reports, or an answer is 500; then tells the requests that came
before, and keeps them in build/fuzz/findings. SEED= repeats the choices of each client."""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import signal
import socket
import sys
import tempfile
import threading
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ.setdefault("BUILD_DIR", str(ROOT / "build/asan"))
sys.path.insert(0, str(ROOT / "tests/api"))
from harness import PROJECT_ID, Shootd, Sim  # noqa: E402 (needs the path)

REMEMBERED = 50
CLIENTS = 4
METHODS = ("get", "put", "post", "patch", "delete")
ODD_VALUES = (None, True, -1, 0, 2**63 - 1, -2**63, 1e300, 0.5, "", "x", "é", "\u0000", "a" * 300, "../..", [], {}, [[]], {"a": {}}, "*", "0 0 * * *",
              "10.0.0.0/8", "2026-01-01T00:00:00Z", "%00", "1.33")
ODD_BYTES = (b"\0", b"\r", b"\n", b"\r\n\r\n", b"%00", b"%ff", b"\xff", b"\xc3\x28", b" ", b"\t", b";", b",", b'"', b"\\", b"..", b"//",
             b"99999999999999999999", b"-1", b"{", b"]", b"&a=b", b"?", b"#")
ODD_FIELDS = (b"Transfer-Encoding: chunked", b"Content-Length: 0", b"Content-Length: 5", b"Expect: 100-continue", b"Expect: x",
              b"Accept: text/event-stream", b"Accept: application/yaml", b"Accept: x/y;q=0", b"Accept-Encoding: gzip", b"Prefer: wait=1",
              b"Cache-Control: no-cache", b"If-Match: *", b"If-None-Match: *", b'If-Match: "x", W/"y"', b"Connection: close",
              b"Idempotency-Key: 0123456789abcdef", b"Origin: https://a.example", b"X-Forwarded-For: 1.2.3.4, x", b"Host: other",
              b"traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", b"Cookie: a=b; c", b"Last-Event-ID: 5",
              b"Authorization: Bearer shd_x", b"Content-Encoding: gzip", b"Content-Type: text/plain", b" folded", b"no colon")
SANITIZER = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:")
# What would end the daemon's usefulness for the rest of the run, and is not what is looked for.
LEFT_OUT = {"deleteToken"}


over = threading.Event()


class Finding(Exception):
    pass


class Maker:
    """Makes requests of the contract's operations."""

    def __init__(self, spec, choose, token):
        self.spec = spec
        self.choose = choose
        self.token = token
        self.operations = [(method, path, item, item[method]) for path, item in self.spec["paths"].items()
                           for method in METHODS if method in item and item[method]["operationId"] not in LEFT_OUT]

    def resolved(self, node):
        while isinstance(node, dict) and "$ref" in node:
            target = self.spec
            for part in node["$ref"][2:].split("/"):
                target = target[part.replace("~1", "/")]
            node = target
        return node or {}

    def value(self, schema, depth=0):
        schema = self.resolved(schema)
        if depth > 8 or self.choose.random() < 0.03:
            return self.choose.choice(ODD_VALUES)
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return self.value(self.choose.choice(schema[key]), depth + 1)
        if "allOf" in schema:
            parts = [self.value(part, depth + 1) for part in schema["allOf"]]
            return {k: v for part in parts if isinstance(part, dict) for k, v in part.items()}
        known = schema.get("enum") or schema.get("examples") or [schema[k] for k in ("example", "default", "const") if k in schema]
        if known and self.choose.random() < 0.8:
            return self.choose.choice(known)
        kind = schema.get("type", "object")
        kind = self.choose.choice(kind) if isinstance(kind, list) else kind
        if kind == "object":
            return {name: self.value(one, depth + 1) for name, one in (schema.get("properties") or {}).items()
                    if name in schema.get("required", ()) or self.choose.random() < 0.4}
        if kind == "array":
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(self.choose.choice((0, 1, 1, 2, 5)))]
        if kind in ("integer", "number"):
            return self.choose.choice((schema.get("minimum", 0), schema.get("maximum", 10), 1, 2, 3))
        if kind == "boolean":
            return self.choose.random() < 0.5
        return None if kind == "null" else self.choose.choice(("dev", "a", "b.2c4gb", "team-a", "1.33", "x" * 20))

    def parameter(self, one):
        fixed = {"project": "team-a", "cluster": self.choose.choice(("dev", "dev2", "none")), "account": "main"}
        if one["in"] == "path" and one["name"] in fixed:
            return fixed[one["name"]]
        value = self.value(one.get("schema", {}))
        return value if isinstance(value, str) else json.dumps(value)

    def request(self):
        method, path, item, operation = self.choose.choice(self.operations)
        query, fields = [], [f"Host: shootd\r\nAuthorization: Bearer {self.token}".encode()]
        for one in map(self.resolved, item.get("parameters", []) + operation.get("parameters", [])):
            quoted = re.sub(r"[^A-Za-z0-9._~-]", lambda m: "".join(f"%{b:02x}" for b in m[0].encode(errors="replace")), self.parameter(one))
            if one["in"] == "path":
                path = path.replace("{%s}" % one["name"], quoted)
            elif one["in"] == "query" and self.choose.random() < 0.3 and one["name"] != "wait":
                query.append(f"{one['name']}={quoted}")
        body = b""
        content = self.resolved(operation.get("requestBody")).get("content", {})
        if content:
            type, media = self.choose.choice(sorted(content.items()))
            body = json.dumps(self.value(media.get("schema", {})), ensure_ascii=False).encode(errors="replace")
            fields.append(b"Content-Type: " + type.encode())
        if self.choose.random() < 0.3:
            fields += self.choose.sample(ODD_FIELDS, self.choose.choice((1, 1, 2, 4)))
        body = self.mutated(body) if body and self.choose.random() < 0.2 else body
        if body or method != "get":
            fields.append(b"Content-Length: %d" % len(body))
        target = path + ("?" + "&".join(query) if query else "")
        head = f"{method.upper()} {target} HTTP/1.1".encode() + b"\r\n" + b"\r\n".join(fields)
        head = self.mutated(head) if self.choose.random() < 0.3 else head
        return head + b"\r\n\r\n" + body

    def mutated(self, data):
        data = bytearray(data)
        for _ in range(self.choose.choice((1, 1, 2, 5))):
            at = self.choose.randrange(len(data) + 1)
            kind = self.choose.randrange(4)
            if kind == 0:
                data[at:at] = self.choose.choice(ODD_BYTES)
            elif kind == 1:
                del data[at:at + self.choose.choice((1, 2, 10))]
            elif kind == 2:
                data[at:at + 1] = bytes([self.choose.randrange(256)])
            else:
                data[at:at] = data[at:at + self.choose.choice((3, 20, 200))] * self.choose.choice((1, 3, 50))
        return bytes(data)


def send(port, data):
    """The status of the first answer, 0 when the connection ended or nothing came. Half-closed behind the request, so that what is
    not whole is not waited for."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
        s.settimeout(3)
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            answer = s.recv(200)
        except OSError:  # slow, or closed before all was sent: both may be
            return 0
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0


def look_at(daemon, counts):
    if daemon.process.popen.poll() is not None:
        raise Finding(f"the daemon ended with {daemon.process.popen.returncode}")
    if counts[500]:
        raise Finding("an answer was 500")


def client(daemon, maker, end, counts, last):
    """Sends one request after the other until the end, or until somebody's finding."""
    while time.monotonic() < end and not over.is_set():
        request = maker.request()
        last.append(request)
        try:
            counts[send(daemon.port, request)] += 1
        except ConnectionError:
            counts["refused"] += 1
        look_at(daemon, counts)


def run(seconds, seed, directory, last):
    sim = Sim(directory, speed=3600)
    daemon = Shootd(directory / "shootd", sim.url, projects=[("team-a", "Sto2", PROJECT_ID)],
                    extra="limits: {requests_per_minute: 0, auth_failures_per_minute: 0, connections_per_address: 1000}\n")
    counts = collections.Counter()
    try:
        daemon.start()
        daemon.create("dev")
        spec = yaml.load((ROOT / "openapi.yaml").read_text(), yaml.CSafeLoader)
        makers = [Maker(spec, random.Random(f"{seed} {i}"), daemon.token()) for i in range(CLIENTS)]
        end = time.monotonic() + seconds
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            try:
                for done in [pool.submit(client, daemon, maker, end, counts, last) for maker in makers]:
                    done.result()
            finally:
                over.set()
        code = daemon.process.stop(timeout=120)
        if code != 0:
            raise Finding(f"the daemon ended with {code} at its stop")
        return counts
    finally:
        daemon.process and daemon.process.kill()
        sim.process.kill()
        if SANITIZER.search(daemon.log()):
            print(daemon.log()[-8000:])


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(os.environ.get("SEED", time.time_ns() % 10**9))
    last = collections.deque(maxlen=REMEMBERED)
    print(f"seed {seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # through what stops daemon and simulator
    with tempfile.TemporaryDirectory() as directory:
        try:
            counts = run(seconds, seed, pathlib.Path(directory), last)
        except Finding as finding:
            kept = ROOT / "build/fuzz/findings" / f"requests-{seed}"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(b"\n====\n".join(last))
            log = (pathlib.Path(directory) / "shootd/shootd.log").read_text(errors="replace")
            print("\n".join(line for line in log.splitlines() if '"debug"' not in line)[-6000:])
            print(f"FAILED: {finding}; the last {len(last)} requests: {kept.relative_to(ROOT)}")
            return 1
    told = ", ".join(f"{status}: {count}" for status, count in sorted(counts.items(), key=str))
    print(f"requests.py  {sum(counts.values())} requests, seed {seed}; by status (0: none): {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
