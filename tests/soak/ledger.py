"""The clients' record: each answer by method, route and status, the accepted operations, the failures."""

import collections
import re
import threading

import contract
import web

ROUTES = [(re.compile(re.sub(r"\\\{[a-z_]+\\\}", "[^/]+", re.escape(t)) + r"\Z"), t)
          for t in sorted(contract.DOCUMENT["paths"], key=lambda t: t.count("{"))]


def route_of(path):
    """The template of a path; literal paths first."""
    return next((template for pattern, template in ROUTES if pattern.match(path)), "none")


class Ledger:
    """A record that all clients fill at once."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answers = collections.Counter()  # (method, route, status) that a client has read
        self.left = collections.Counter()     # (method, route) of requests whose answer the client did not wait for
        self.did = collections.Counter()      # actions of the load, by name
        self.operations = {}                  # id of each known operation: (type, cluster)
        self.creates = {}                     # cluster: the operation that creates it
        self.faults = []                      # sentences about failures

    def count(self, method, path, status):
        with self.lock:
            self.answers[method, route_of(path), status] += 1

    def leave(self, method, path):
        with self.lock:
            self.left[method, route_of(path)] += 1

    def note(self, what, times=1):
        with self.lock:
            self.did[what] += times

    def fault(self, sentence):
        with self.lock:
            self.faults.append(sentence)

    def see(self, answer):
        """A hook of httpx. It counts each answer when its header section has arrived, and stores its operation when the body is
        complete."""
        self.count(answer.request.method, answer.request.url.path, answer.status_code)
        if answer.request.method == "GET" or answer.status_code not in (200, 201, 202):
            return
        answer.read()
        told = answer.json() if answer.content else {}
        if told.get("operation"):
            with self.lock:
                self.operations[told["operation"]["id"]] = (told["operation"]["type"], told["name"])

    def client(self, d, token=None):
        return web.Client(base_url=d.url, timeout=90, headers={"Authorization": "Bearer " + (token or d.token())},
                            event_hooks={"response": [self.see]})
