#!/usr/bin/python3
"""Whether the time of a refusal reveals why a token was refused: unknown, revoked, malformed, nearly right. shootd answers on one open
connection, in random order. Differences are compared with those between groups of equal tokens."""

import gc
import pathlib
import random
import socket
import statistics
import string
import tempfile
import time
import zlib

from load import CORES, pin, quiet, shipped
from report import goal, section, table
import harness
import issuers
import web

ROUNDS, BLOCKS, RESAMPLES, TOKENS, SAME = 20000, 200, 1000, 200, 7  # a round sends a token of each group once; each block of rounds has medians, which are compared
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
CHECKED = 36  # characters of prefix and random part; six of checksum follow
LIMITS = "limits: {requests_per_minute: 1000000000, auth_failures_per_minute: 1000000000}\n"

UNKNOWN, CONTROL = "unknown", "shorter by one character, refused at once (a control: the method must show this difference)"


def whole(checked):
    """The token with its checksum."""
    crc, checksum = zlib.crc32(checked.encode()), ""
    for _ in range(6):
        crc, digit = divmod(crc, 62)
        checksum = BASE62[digit] + checksum
    return checked + checksum


def other(character):
    return random.choice([c for c in BASE62 if c != character])


def changed(token, at):
    return token[:at] + other(token[at]) + token[at + 1:]


def unknown():
    return whole("shd_" + "".join(random.choices(BASE62, k=32)))


def made(d, revoke):
    answer = d.http.post("/v1/tokens", json={"name": "bench", "role": "viewer", "projects": ["team-a"]}).json()
    if revoke:
        assert d.http.delete(f"/v1/tokens/{answer['id']}").status_code == 204
    return answer["token"]


def groups_of_tokens(d):
    valid, revoked = ([made(d, revoke) for _ in range(TOKENS)] for revoke in (False, True))
    assert whole(valid[0][:CHECKED]) == valid[0]
    same = {f"{UNKNOWN}, again ({i + 1})": [unknown() for _ in valid] for i in range(SAME)}
    return {UNKNOWN: [unknown() for _ in valid], **same,
            "revoked": revoked,
            "a valid token with another first character": [whole(changed(t[:CHECKED], 4)) for t in valid],
            "a valid token with another last character": [whole(changed(t[:CHECKED], CHECKED - 1)) for t in valid],
            "malformed: another first character, with the checksum of the valid token": [changed(t, 4) for t in valid],
            "malformed: a valid token with another last character of the checksum": [changed(t, len(t) - 1) for t in valid],
            "malformed: other characters, of the same length": ["".join(random.choices("!#$%&*+-^|~", k=len(t))) for t in valid],
            CONTROL: [unknown()[:-1] for _ in valid]}, [*same]


def groups_of_jwts(issuer):
    def spoiled(token):
        head, _, signature = token.rpartition(".")
        return f"{head}.{changed(signature, 10)}"

    stranger, now = issuers.Key("another"), time.time()
    first = "JWT, signature wrong"
    tokens = {first: lambda i: spoiled(issuer.token(sub=f"a{i}")), f"{first}, again": lambda i: spoiled(issuer.token(sub=f"b{i}")),
              "JWT, expired": lambda i: issuer.token(sub=f"c{i}", iat=now - 900, exp=now - 300),
              "JWT, key not known": lambda i: issuer.token(key=stranger, sub=f"d{i}"),
              "JWT, malformed: not JSON": lambda i: "x" + issuer.token(sub=f"e{i}")[1:]}
    return {name: [make(i) for i in range(TOKENS)] for name, make in tokens.items()}


class Asker:
    def __init__(self, d):
        self.socket = socket.create_connection(("127.0.0.1", d.port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.path = d.clusters_path("bench-0000")
        self.buffer = bytearray(1 << 16)

    def request(self, token):
        return f"GET {self.path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n".encode()

    def nanoseconds(self, request):
        began = time.perf_counter_ns()
        self.socket.sendall(request)
        count = self.socket.recv_into(self.buffer)
        took = time.perf_counter_ns() - began
        head, _, body = bytes(self.buffer[:count]).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 401 ") and body.endswith(b"}") and f"Content-Length: {len(body)}".encode() in head, head
        return took


def measure(d, groups, rounds):
    """Nanoseconds of each answer by group, in the order of the rounds."""
    asker = Asker(d)
    requests = {name: [asker.request(token) for token in tokens] for name, tokens in groups.items()}
    times, order = {name: [] for name in groups}, list(groups)
    gc.disable()
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            times[name].append(asker.nanoseconds(random.choice(requests[name])))
    gc.enable()
    asker.socket.close()
    return times


def medians(times):
    size = len(times) // BLOCKS
    return [statistics.median(times[i * size:(i + 1) * size]) for i in range(BLOCKS)]


def compare(times, first):
    """For each other group: the median over all blocks of its difference from the first group's median, and a 95 % interval (bootstrap)."""
    base = medians(times[first])
    for name in times:
        if name != first:
            differences = [a - b for a, b in zip(medians(times[name]), base)]
            again = sorted(statistics.median(random.choices(differences, k=BLOCKS)) for _ in range(RESAMPLES))
            yield name, statistics.median(differences), again[RESAMPLES // 40], again[-RESAMPLES // 40]


def rows_of(times, compared, first):
    yield [first, statistics.median(times[first]) / 1e3, "", ""]
    for name, difference, low, high in compared:
        yield [name, statistics.median(times[name]) / 1e3, f"{difference:.0f}", f"{low:.0f} to {high:.0f}"]


def main():
    with tempfile.TemporaryDirectory() as name, issuers.running() as issuer:
        directory = pathlib.Path(name)
        sim = harness.Sim(directory)
        d = harness.Shootd(directory / "d", sim.url, extra=LIMITS + issuers.configuration(issuer.url))
        shipped(d)
        try:
            sim.post("shoots", count=1, prefix="bench", state="ready")
            d.start().wait_upstream()
            assert web.get(d.url + "/v1/whoami", headers={"Authorization": "Bearer " + issuer.token()}).status_code == 200
            tokens, same = groups_of_tokens(d)
            jwts = groups_of_jwts(issuer)
            pin(d.process.pid, CORES[1])
            harness.os.sched_setaffinity(0, {CORES[0]})
            quiet(d.process.pid)
            of_tokens, of_jwts = measure(d, tokens, ROUNDS), measure(d, jwts, ROUNDS // 4)
        finally:
            d.stop()
            sim.stop()
    compared = list(compare(of_tokens, UNKNOWN))
    noise = max(abs(end) for name, _, *ends in compared if name in same for end in ends)
    most = max(abs(difference) for name, difference, *_ in compared if name not in same and name != CONTROL)
    goal("time of a refusal of revoked, malformed and almost valid tokens: largest difference from unknown tokens, ns", f"{most:.0f}",
         f"{noise:.0f} (noise)")
    section("Whether the time of a refusal reveals its reason",
            f"Each group of tokens gets {ROUNDS:,} answers on one open connection, one request at a time. A group has {TOKENS} tokens, and the groups are in random "
            f"order in each round. The rounds are divided into {BLOCKS} blocks. In each block the median of the group is compared with the median of unknown tokens; "
            "the difference in the table is the median over all blocks. The interval of this difference is computed by bootstrap. Some groups have other unknown tokens "
            f"(`{UNKNOWN}, again`). The intervals of these groups show the noise: it is the largest distance between an end of such an interval and 0, here "
            f"{noise:.0f} ns. The goal is that no other difference is larger, except for the shorter token. "
            "shootd has its default configuration, except for `auth_failures_per_minute`, which would end the test after 600 requests.")
    columns = ["token", "median, µs", "difference, ns", "its 95 % interval, ns"]
    table(columns, rows_of(of_tokens, compared, UNKNOWN))
    first = next(iter(of_jwts))
    print("JWTs are compared with each other and have no goal, because the work for them differs. A JWT that is not JSON is refused first. A JWT with an unknown "
            "key is refused before a signature is checked, an expired JWT after that check. The time thus reveals only whether the token is "
            "JSON, and whether its key is one of the issuer's keys, which are public. A JWT with a wrong signature and an expired JWT take the same time, because the claims are checked last.\n")
    table(columns, rows_of(of_jwts, compare(of_jwts, first), first))


main()
