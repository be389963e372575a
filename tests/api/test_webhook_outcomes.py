"""Receivers that are down, slow, gone, throttling, that reset, redirect or send without end: the delivery log of each, and the time of
the next attempt. tests/unit/test_webhook_engine.c tests the whole schedule with a virtual clock."""

import datetime
import socket
import ssl
import struct
import subprocess
import threading
import time

import harness
from harness import wait_until


class RawReceiver:
    """Answers every request with the same bytes, or handles the connection as a given function does."""

    def __init__(self, answer):
        self.answer = answer  # bytes, or a function of the connection
        self.requests = 0
        self.stopping = threading.Event()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(0.05)
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}/hook"
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopping.is_set():
            try:
                connection, _ = self.server.accept()
            except TimeoutError:
                continue
            with connection:
                connection.settimeout(5)
                try:
                    self.serve(connection)
                except OSError:
                    pass  # the client closed the connection

    def serve(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        length = int(data.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(data.split(b"\r\n\r\n", 1)[1]) < length:
            data += connection.recv(65536)
        self.requests += 1
        if callable(self.answer):
            self.answer(connection)
        else:
            connection.sendall(self.answer)

    def stop(self):
        self.stopping.set()
        self.thread.join(10)
        self.server.close()


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def closes_without_a_word(connection):
    connection.shutdown(socket.SHUT_RDWR)


def ten_megabytes(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n")
    for _ in range(160):
        connection.sendall(b"0123456789abcdef" * 4096)


def answer(status, *fields, body=b""):
    head = "\r\n".join([f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *fields])
    return head.encode() + b"\r\n\r\n" + body


# behaviour of the receiver, error, response_status, status after one attempt, seconds until the next one, snippet
ROWS = {
    "ok": (answer(200, body=b"thanks"), None, 200, "delivered", None, "thanks"),
    "10 MB": (ten_megabytes, None, 200, "delivered", None, "0123456789abcdef" * 16),
    "redirects": (answer(302, "Location: http://127.0.0.1:1/"), "redirect", 302, "pending", (4, 6), ""),
    "not found": (answer(404, body=b"no \x1b[31msuch\r\nhook"), "http_4xx", 404, "pending", (4, 6), "no  [31msuch  hook"),
    "gone": (answer(410), "gone", 410, "failed", None, ""),
    "throttles": (answer(429, "Retry-After: 120"), "throttled", 429, "pending", (119, 121), ""),
    "throttles without an end": (answer(429, "Retry-After: 99999999"), "throttled", 429, "pending", (86399, 86401), ""),
    "throttles for a fraction": (answer(429, "Retry-After: 30.5"), "throttled", 429, "pending", (30, 32), ""),
    "throttles in a list": (answer(429, "Retry-After: 60, 60" + " ;x" * 60), "throttled", 429, "pending", (59, 61), ""),
    "fails for a time": (answer(404, "Retry-After: 45"), "http_4xx", 404, "pending", (44, 46), ""),
    "unavailable": (answer(503, "Retry-After: 30"), "http_5xx", 503, "pending", (29, 31), ""),
    "broken": (answer(500), "http_5xx", 500, "pending", (4, 6), ""),
    "resets": (reset, "connection_lost", None, "pending", (4, 6), ""),
    "closes": (closes_without_a_word, "connection_lost", None, "pending", (4, 6), ""),
    "speaks something else": (b"SSH-2.0-OpenSSH_9.2\r\n", "connection_lost", None, "pending", (4, 6), ""),
}


def at(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def log_of(d, hook):
    items = d.http.get(f"/v1/webhooks/{hook['id']}/deliveries").json()["items"]
    return items[0] if items and items[0]["attempt"] else None


def subscribe(d, url):
    made = d.http.post("/v1/webhooks", json={"url": url, "event_types": ["cluster.discovered"]})
    assert made.status_code == 201, made.text
    return made.json()


def test_the_log_tells_each_outcome_and_the_next_attempt(sim, make_shootd):
    d = make_shootd(sim.url).start()
    receivers = {name: RawReceiver(row[0]) for name, row in ROWS.items()}
    try:
        hooks = {name: subscribe(d, receiver.url) for name, receiver in receivers.items()}
        down = subscribe(d, f"http://127.0.0.1:{harness.free_port()}/")
        nowhere = subscribe(d, "http://no-such-host.invalid/")
        sim.post("shoots", count=1, prefix="found", state="ready")
        entries = {}

        def collect():
            """Collects each entry after its first attempt; the second attempt comes after 4 seconds."""
            for name, hook in {**hooks, "down": down, "nowhere": nowhere}.items():
                if name not in entries and (entry := log_of(d, hook)):
                    entries[name] = entry, receivers[name].requests if name in receivers else None
            return len(entries) == len(hooks) + 2
        wait_until(collect, what="an attempt for each")
        for name, (_, error, response, status, wait, snippet) in ROWS.items():
            entry, requests = entries[name]
            assert (entry["error"], entry["response_status"], entry["status"], entry["attempt"]) == (error, response, status, 1), (name, entry)
            assert entry["response_snippet"] == (snippet or None), (name, entry)
            assert (entry["next_attempt_at"] is not None) == (wait is not None), (name, entry)
            if wait:
                assert wait[0] <= at(entry["next_attempt_at"]) - at(entry["updated_at"]) <= wait[1], (name, entry)
            assert requests == 1, name
        for name, error in (("down", "connect"), ("nowhere", "resolve")):
            entry, _ = entries[name]
            assert (entry["error"], entry["response_status"], entry["status"]) == (error, None, "pending")

        gone = d.http.get(f"/v1/webhooks/{hooks['gone']['id']}").json()
        assert gone["status"]["state"] == "disabled" and "410" in gone["status"]["disabled_reason"]
        enabled = [name for name in ROWS if d.http.get(f"/v1/webhooks/{hooks[name]['id']}").json()["enabled"]]
        assert set(ROWS) - set(enabled) == {"gone"}
        assert "127.0.0.1:1/" not in d.log(), "nobody followed, nobody told"
    finally:
        for receiver in receivers.values():
            receiver.stop()


def test_wh12_a_slow_receiver_delays_nobody(sim, make_shootd, receiver):
    """It delays neither other webhooks nor calls to Cleura. The units test its time limit of 20 s."""
    def drip(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not slow.stopping.wait(0.2):
            connection.sendall(b".")

    d = make_shootd(sim.url).start()
    slow = RawReceiver(drip)
    try:
        hook = subscribe(d, slow.url)
        subscribe(d, receiver.url)
        sim.post("shoots", count=1, prefix="first", state="ready")
        wait_until(lambda: slow.requests, what="the slow receiver")
        sim.post("shoots", count=3, prefix="later", state="ready")
        wait_until(lambda: len(receiver.of_type("cluster.discovered")) == 4, what="the fast receiver")
        assert slow.requests == 1, "one at a time"
        assert [x["attempt"] for x in d.http.get(f"/v1/webhooks/{hook['id']}/deliveries").json()["items"]] == [0] * 4
        assert "\nshootd_webhook_in_flight 1\n" in d.http.get("/metrics").text
        # A webhook that may have more deliveries in flight has them.
        assert d.http.patch(f"/v1/webhooks/{hook['id']}", json={"max_in_flight": 3}).status_code == 200
        wait_until(lambda: "\nshootd_webhook_in_flight 3\n" in d.http.get("/metrics").text, what="three at a time")
    finally:
        slow.stop()


def test_clients_without_tls_or_certificate_get_nothing(sim, make_shootd, tmp_path):
    """Nothing is sent to a receiver without TLS or with a certificate of an unknown authority."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-days", "2", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    seen = []

    class Tls(RawReceiver):
        def serve(self, connection):
            with context.wrap_socket(connection, server_side=True) as tunnel:
                seen.append(tunnel.recv(65536))

    class Plain(RawReceiver):
        def serve(self, connection):
            connection.sendall(b"220 mail.example.com ESMTP\r\n")
            connection.recv(65536)

    d = make_shootd(sim.url).start()
    receivers = [Tls(b""), Plain(b"")]
    try:
        hooks = [subscribe(d, r.url.replace("http:", "https:")) for r in receivers]
        sim.post("shoots", count=1, prefix="found", state="ready")
        for hook, error in zip(hooks, ("certificate", "tls")):
            entry = wait_until(lambda: log_of(d, hook), what=error)
            assert (entry["error"], entry["response_status"], entry["status"]) == (error, None, "pending")
        assert not any(seen)
    finally:
        for receiver in receivers:
            receiver.stop()
