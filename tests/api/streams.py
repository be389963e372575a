"""Event streams for tests: a reader of text/event-stream, written from the HTML standard, and a client on a bare socket."""

import json
import socket
import threading
import time

from harness import PATIENCE, wait_until
from raw import CRLF, Raw, request


class Parser:
    """feed() takes any piece of the bytes and returns the events that are complete after it."""

    def __init__(self):
        self.rest, self.after_cr, self.first = b"", False, True
        self.type, self.data, self.id = "", [], None
        self.last_id, self.retry = "", None
        self.comments, self.blocks = [], 0

    def feed(self, piece):
        events = []
        for i in range(len(piece)):
            byte = piece[i:i + 1]
            if self.after_cr and byte == b"\n":  # the second half of CRLF
                self.after_cr = False
                continue
            self.after_cr = byte == b"\r"
            if byte not in (b"\r", b"\n"):
                self.rest += byte
                continue
            line, self.rest = self.rest, b""
            if self.first:
                line, self.first = line.removeprefix(b"\xef\xbb\xbf"), False
            event = self._line(line.decode())
            if event:
                events.append(event)
        return events

    def _line(self, line):
        if not line:
            return self._dispatch()
        if line.startswith(":"):
            self.comments.append(line[1:])
            return None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self.type = value
        elif name == "data":
            self.data.append(value)
        elif name == "id" and "\0" not in value:
            self.id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value)
        return None

    def _dispatch(self):
        self.blocks += 1
        if self.id is not None:
            self.last_id = self.id
        data, kind = self.data, self.type
        self.type, self.data = "", []
        return {"id": self.last_id, "type": kind or "message", "data": "\n".join(data)} if data else None


class Stream:
    """One open stream, read by a thread. `events` are its events, `times` their times of arrival."""

    def __init__(self, d, path="/v1/events", token=None, last=None, fields=(), read=True, host="127.0.0.1"):
        fields = ["Accept: text/event-stream", *([f"Last-Event-ID: {last}"] if last is not None else []), *fields]
        self.raw = Raw(d.port, timeout=30)
        self.raw.send(request("GET", path, *fields, token=d.token() if token is None else token or None, host=f"{host}:{d.port}"))
        self.parser, self.events, self.times, self.bytes = Parser(), [], [], b""
        self.closed = self.whole = False  # whole: the response ended as HTTP requires
        self.answer = self.raw.read(head=True)
        if self.answer and self.answer.status != 200:
            length = int(self.answer["content-length"])
            self.answer.body = self.raw._exactly(length)
        elif read:
            self.thread = threading.Thread(target=self._read, daemon=True)
            self.thread.start()

    def _read(self):
        try:
            while True:
                line = self.raw._until(CRLF)
                if line is None:
                    break
                size = int(line, 16)
                piece = self.raw._exactly(size)
                self.raw._exactly(2)
                if size == 0:
                    self.whole = True
                    break
                now = time.monotonic()
                self.bytes += piece
                new = self.parser.feed(piece)
                self.times += [now] * len(new)
                self.events += new
        except (OSError, AssertionError):
            pass
        self.closed = True

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()

    def close(self):
        try:
            self.raw.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.raw.socket.close()

    @property
    def status(self):
        return self.answer.status

    @property
    def ids(self):
        return [int(e["id"]) for e in self.events]

    @property
    def types(self):
        return [e["type"] for e in self.events]

    def items(self):
        return [json.loads(e["data"]) for e in self.events]

    def wait(self, condition, timeout=15, what="events"):
        try:
            return wait_until(lambda: condition(self), timeout=timeout, what=what)
        except AssertionError as e:
            raise AssertionError(f"{e}; got {self.types} {self.parser.comments}") from None

    def wait_ids(self, last, timeout=15):
        """Waits for the event with this number."""
        return self.wait(lambda s: s.ids and s.ids[-1] >= last, timeout, f"event {last}")

    def wait_end(self, timeout=15):
        return self.wait(lambda s: s.closed, timeout, "the end of the stream")


def newest(d):
    return d.http.get("/v1/events", params={"limit": 1}).json()["newest_sequence"]


def metric(d, name):
    """The sum of a metric over its labels."""
    text = d.http.get("/metrics").text
    values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name]
    assert values, name
    return sum(values)


def patience(seconds):
    return seconds * PATIENCE
