"""Runs shootctl for tests, against a daemon or against a server with given answers."""

import json
import os
import re
import socketserver
import subprocess
import threading

from harness import BUILD

SHOOTCTL = BUILD / "shootctl"
OK, REFUSED, USAGE, NOT_FOUND, CONFLICT, NOT_ALLOWED, TIMED_OUT, UNREACHABLE, FAILED, DIFFERENT = 0, 1, 2, 3, 4, 5, 6, 7, 8, 10


def environment(tmp_path, **more):
    """The environment of a user with a separate home directory."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "TZ": "Europe/Stockholm"}
    env.update({name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")})
    return {name: value for name, value in {**env, **more}.items() if value is not None}


def run(tmp_path, *arguments, input=None, timeout=120, **more):
    done = subprocess.run([SHOOTCTL, *map(str, arguments)], env=environment(tmp_path, **more), capture_output=True, text=True, timeout=timeout,
                          input=input, stdin=None if input is not None else subprocess.DEVNULL)
    assert 0 <= done.returncode <= 10, f"{arguments}: {done}"
    assert "shd_" not in done.stdout + done.stderr, "no token is ever printed"
    return done


def of_ci(d):
    return {"SHOOTD_URL": d.url, "SHOOTD_TOKEN": d.token(), "SHOOTD_PROJECT": "team-a"}


def good(done):
    assert done.returncode == OK, done.stdout + done.stderr
    return done.stdout


def fails(done, code, *words):
    assert done.returncode == code, done.stdout + done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
    return done.stderr


# ---- a server with given answers ---------------------------------------------------------------------------------------

def raw(status, body, type="application/json", fields="", length=None):
    body = body.encode() if isinstance(body, str) else body
    return (f"HTTP/1.1 {status} X\r\nContent-Type: {type}\r\nContent-Length: {len(body) if length is None else length}\r\n{fields}"
            "Connection: close\r\n\r\n").encode() + body


def answer(status, document, fields=""):
    return raw(status, json.dumps(document), fields=fields)


def problem(status, code, fields=""):
    return raw(status, json.dumps({"title": "Title of it", "status": status, "code": code, "detail": "Its detail.", "advice": "Its advice."}),
               "application/problem+json", fields)


class Answers:
    """A server with given answers, chosen by the beginning of the path. An answer is bytes, a function of the request, or a list whose
    items are used in turn."""

    def __init__(self, answers):
        self.requests, self.answers = [], answers
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                request = b""
                while b"\r\n\r\n" not in request:
                    piece = self.request.recv(65536)
                    if not piece:
                        return
                    request += piece
                outer.requests.append(request)
                path = request.split(b" ")[1].decode()
                found = next((a for prefix, a in answers.items() if path.startswith(prefix)), answers.get("*"))
                if isinstance(found, list):
                    found = found.pop(0) if len(found) > 1 else found[0]
                self.request.sendall(found(request) if callable(found) else found)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def by_method(**answers):
    """Answers chosen by the method of the request; a list is used in turn."""
    def found(request):
        one = answers[request.split(b" ")[0].decode()]
        return (one.pop(0) if len(one) > 1 else one[0]) if isinstance(one, list) else one
    return found


def fields_of(request):
    return dict(re.findall(r"\r\n([^:\r]+): ([^\r]*)", request.decode(errors="replace")))


HTML = raw(200, "<html><body>Welcome to the hotel's network</body></html>", "text/html")


def operation(status, **more):
    return answer(200, {"id": "op_1", "type": "create", "status": status, "progress": 43, "message": "Waiting", "error": None, **more})
