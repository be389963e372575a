"""HTTP over a bare socket, for requests that no HTTP library sends."""

import json
import socket

CRLF = b"\r\n"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json()["code"]

    def all(self, name):
        return [v for n, v in self.headers if n == name.lower()]

    def __getitem__(self, name):
        values = self.all(name)
        assert values, f"no {name} in {self.headers}"
        return values[0]

    def __contains__(self, name):
        return bool(self.all(name))

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:300]!r}>"


class Raw:
    """One connection. read() returns the next answer, or None when the server closed the connection."""

    def __init__(self, port=None, path=None, timeout=20, source=None):
        if path:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.settimeout(timeout)
            self.socket.connect(str(path))
        else:
            self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout, source_address=source and (source, 0))
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())
        return self

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.buffer += data
        return bool(data)

    def _until(self, mark):
        while mark not in self.buffer:
            if not self._more():
                return None
        part, self.buffer = self.buffer.split(mark, 1)
        return part

    def _exactly(self, count):
        while len(self.buffer) < count:
            if not self._more():
                raise AssertionError(f"closed within a body: {self.buffer!r}")
        part, self.buffer = self.buffer[:count], self.buffer[count:]
        return part

    def read(self, head=False):
        section = self._until(CRLF + CRLF)
        if section is None:
            return None
        lines = section.split(CRLF)
        status = int(lines[0].split()[1])
        headers = []
        for line in lines[1:]:
            name, value = line.decode().split(":", 1)
            headers.append((name.lower(), value.strip()))
        answer = Answer(status, headers, b"")
        if head or status in (204, 304) or status < 200:
            return answer
        if "transfer-encoding" in answer:
            while True:
                size = int(self._until(CRLF), 16)
                answer.body += self._exactly(size)
                self._exactly(2)
                if size == 0:
                    return answer
        answer.body = self._exactly(int(answer["content-length"]))
        return answer

    def is_closed(self, timeout=20):
        """Whether the server closes now, without sending another byte."""
        self.socket.settimeout(timeout)
        try:
            return not self.buffer and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except socket.timeout:
            return False


def request(method, target, *fields, token=None, body=None, host="shootd"):
    """The bytes of a request; `fields` are whole header lines."""
    lines = [f"{method} {target} HTTP/1.1"]
    if host:
        lines.append(f"Host: {host}")
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if body is not None:
        body = body if isinstance(body, bytes) else body.encode()
        lines.append(f"Content-Length: {len(body)}")
    lines += fields
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")
