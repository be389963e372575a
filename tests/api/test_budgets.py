"""No input holds the loop: shootd parses Cleura's answers beside the loop and within budgets (issue 10, B and C)."""

import copy
import gzip
import http.server
import json
import re
import threading

import pytest

import harness
import web
from harness import wait_until

# Promise 7 is 20 ms, and each stop logs its figure (longest_hold_cpu_us). This bound is higher: another guest of the machine may use part
# of the CPU time. Without our bounds these answers hold the loop far longer.
LOOP_STALL_S = 0.100


class Between:
    """A proxy between shootd and cleura-sim. It forwards everything, except answers that a test replaces."""

    def __init__(self, sim_url):
        self.replace = None  # (method, path, answer) -> body, or (body, headers), or None for no change
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                passed = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "accept-encoding", "connection")}
                answer = web.request(self.command, sim_url + self.path, content=body, headers=passed, timeout=30)
                changed = outer.replace and outer.replace(self.command, self.path, answer)
                content, more = changed if isinstance(changed, tuple) else (changed, {})
                content = answer.content if content is None else content
                self.send_response(answer.status_code)
                for name, value in {"Content-Type": answer.headers.get("content-type", "application/json"), **more}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                try:
                    self.wfile.write(content)
                except OSError:
                    pass  # the client closed the connection

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def between(sim):
    b = Between(sim.url)
    yield b
    b.stop()


def metric(d, name, labels=""):
    found = re.search(rf"^{name}{re.escape(labels)} (\S+)$", d.http.get("/metrics").text, re.M)
    return float(found.group(1)) if found else 0.0


def longest_stall(d):
    return metric(d, "shootd_loop_longest_stall_seconds", '{clock="cpu"}')


def peak_mib(d):
    text = open(f"/proc/{d.process.pid}/status").read()
    return int(re.search(r"VmHWM:\s+(\d+) kB", text).group(1)) / 1024


sanitized = "san" in str(harness.BUILD)


def assert_loop_was_free(d):
    # A sanitizer slows the program by a factor that depends on the machine.
    assert sanitized or longest_stall(d) < LOOP_STALL_S, \
        re.findall(r".*loop blocked.*", d.log())


def is_list(method, path):
    return method == "GET" and re.fullmatch(r"/gardener/v\d/[^/]+/shoots?/[^/]+/[^/]+", path) is not None


def list_class(d, outcome):
    return metric(d, "shootd_upstream_requests_total", f'{{operation="list",outcome="{outcome}"}}')


MIB = 1024 * 1024
TOO_MUCH = {
    "many empty arrays": lambda: b"[" + b"[]," * (21 * MIB) + b"[]]",
    "too many rows": lambda: b"[" + b",".join([b'{"name":"a"}'] * 20001) + b"]",
    "too many values": lambda: b'[{"name":"a","x":[' + b"0," * 7000000 + b"0]}]",
    "too deep": lambda: b"[" * 100000 + b"]" * 100000,
    "too many bytes": lambda: b"[" + b" " * (65 * MIB) + b"]",
    "gzip of too many bytes": lambda: (gzip.compress(b"[" + b" " * (200 * MIB) + b"]", 1), {"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_an_answer_with_too_much_in_it_changes_nothing_and_holds_up_nobody(sim, between, make_shootd, what):
    sim.post("shoots", prefix="keeps")
    d = make_shootd(between.url).start()
    wait_until(lambda: d.cluster("keeps-0000").status_code == 200, what="the cluster")
    before = d.cluster("keeps-0000").json()
    body = TOO_MUCH[what]()
    between.replace = lambda method, path, answer: body if is_list(method, path) else None
    wait_until(lambda: list_class(d, "oversized") >= 1, timeout=60, what="the answer to be refused")
    between.replace = None
    assert d.cluster("keeps-0000").json()["id"] == before["id"]
    assert re.search(r"answer from Cleura is not used.*oversized|too_large", d.log())
    assert_loop_was_free(d)
    if not sanitized:
        assert peak_mib(d) < 200
    good = list_class(d, "ok")
    wait_until(lambda: list_class(d, "ok") > good, timeout=60, what="the next list")


MARK = b"\xef\xbb\xbf"
FORMS = {
    "gzip": lambda body: (gzip.compress(body), {"Content-Encoding": "gzip"}),
    "x-gzip": lambda body: (gzip.compress(body), {"Content-Encoding": "X-Gzip"}),
    "gzip of several members": lambda body: (b"".join(gzip.compress(body[i:i + 100]) for i in range(0, len(body), 100)), {"Content-Encoding": "gzip"}),
    "a byte order mark": lambda body: MARK + body,
    "a byte order mark in gzip": lambda body: (gzip.compress(MARK + body), {"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_in_a_legal_form_is_read(sim, between, make_shootd, form):
    sim.post("shoots", prefix="packed")
    between.replace = lambda method, path, answer: FORMS[form](answer.content)
    d = make_shootd(between.url).start()
    wait_until(lambda: d.cluster("packed-0000").status_code == 200, what="the cluster")


def many(answer, count):
    row = json.loads(answer.content)[0]
    rows = []
    for i in range(count):
        one = copy.copy(row)
        one["name"] = f"c{i:05}"
        one["uid"] = f"00000000-0000-4000-8000-{i:012}"
        rows.append(json.dumps(one))
    return ("[" + ",".join(rows) + "]").encode()


def test_thousands_of_shoots_are_found_while_others_are_answered(sim, between, make_shootd):
    count = 500 if sanitized else harness.size(2000, 10000)
    sim.post("shoots", prefix="real")
    made = {}

    def replace(method, path, answer):
        if not is_list(method, path):
            return None
        return made.setdefault("body", many(answer, count))

    between.replace = replace
    d = make_shootd(between.url, polling="{active: 30s, idle: 1h, discovery: 2h}").start()

    def found():
        assert d.http.get("/livez").status_code == 200
        return metric(d, "shootd_clusters", '{project="team-a",phase="ready"}') == count
    wait_until(found, timeout=240, interval=0.2, what="all of them")
    print("peak MiB", peak_mib(d), "body MiB", len(made["body"]) / MIB, "stall", longest_stall(d))
    assert_loop_was_free(d)
    d.stop()
    d.start()  # reads all rows from the store
    lists = list_class(d, "ok")
    wait_until(lambda: found() and list_class(d, "ok") > lists, timeout=240, interval=0.2, what="all of them, and Cleura's list again")
    print("stall after the restart", longest_stall(d))
    assert_loop_was_free(d)


NO_NAMES = ["", "../../etc", "x/y?z#", "A" * 100000, "-a", "a--b", "\u00e9", "a" * 64]


def test_names_that_gardener_cannot_have_become_no_clusters(sim, between, make_shootd, generation):
    sim.post("shoots", prefix="good")

    def replace(method, path, answer):
        if not is_list(method, path):
            return None
        rows = json.loads(answer.content)
        for name in NO_NAMES:
            row = copy.deepcopy(rows[0])
            (row if generation == "v2" else row["metadata"])["name"] = name
            rows.append(row)
        return json.dumps(rows).encode()

    between.replace = replace
    d = make_shootd(between.url, api=generation).start()
    wait_until(lambda: list_class(d, "ok") >= 3, what="three lists")
    names = [c["name"] for c in d.http.get("/v1/clusters").json()["items"]]
    assert names == ["good-0000"]
    assert metric(d, "shootd_upstream_rows_refused_total") >= 2 * len(NO_NAMES)
    told = re.findall(r"Cleura.s answer about a shoot is not accepted", d.log())
    assert len(told) == len(NO_NAMES)
    assert [e["type"] for e in d.events() if e["type"] == "cluster.discovered"] == ["cluster.discovered"]


def test_a_name_of_63_letters_is_found_once(sim, between, make_shootd):
    sim.post("shoots", prefix="good")
    name = "n" * 63

    def replace(method, path, answer):
        if is_list(method, path):
            return answer.content.replace(b'"name":"good-0000"', f'"name":"{name}"'.encode())
        return None

    between.replace = replace
    d = make_shootd(between.url).start()
    wait_until(lambda: list_class(d, "ok") >= 3, what="three lists")
    assert [c["name"] for c in d.http.get("/v1/clusters").json()["items"]] == [name]
    assert len([e for e in d.events() if e["type"] == "cluster.discovered"]) == 1


@pytest.mark.parametrize("behind", [True, False])
@pytest.mark.parametrize("change", ["a name that begins with it", "the same name"])
def test_a_row_that_is_not_believed_hides_no_other(sim, between, make_shootd, change, behind):
    sim.post("shoots", prefix="good")
    name = "n" * 63

    def replace(method, path, answer):
        if is_list(method, path):
            row = {**json.loads(answer.content)[0], "name": name}
            odd = {**row, "name": name + "x"} if change != "the same name" else {**row, "uid": 7}
            return json.dumps([row, odd] if behind else [odd, row]).encode()
        return None

    between.replace = replace
    d = make_shootd(between.url).start()
    wait_until(lambda: metric(d, "shootd_upstream_rows_refused_total") >= 1 and list_class(d, "ok") >= 2, what="lists")
    seen = d.cluster(name).json()["status"]["observed_at"]
    wait_until(lambda: d.cluster(name).json()["status"]["observed_at"] > seen, what="the good row to count")


ONE_SHOOT_TOO_MUCH = {
    "too many bytes": lambda row: b" " * (3 * MIB) + row,
    "gzip of too many bytes": lambda row: (gzip.compress(b" " * (3 * MIB) + row, 1), {"Content-Encoding": "gzip"}),
    "too many values": lambda row: b'{"name":"good-0000","x":[' + b"0," * 900000 + b"0]}",
    "a wrong type": lambda row: row.replace(b'"uid":"', b'"uid":7,"x":"'),
}


@pytest.mark.parametrize("what", ONE_SHOOT_TOO_MUCH)
def test_an_answer_about_one_shoot_is_no_fault_of_its_project(sim, between, make_shootd, what):
    sim.post("shoots", prefix="good", state="ready")
    alone = []

    def replace(method, path, answer):
        if method == "GET" and path.endswith("/good-0000") and answer.status_code == 200:
            alone.append(path)
            return ONE_SHOOT_TOO_MUCH[what](answer.content)
        return None

    between.replace = replace
    d = make_shootd(between.url, polling="{active: 1s, idle: 1h, discovery: 1h}").start()
    d.wait_phase("good-0000", "ready")
    fresh = d.http.get(d.clusters_path("good-0000"), headers={"Cache-Control": "no-cache"})
    assert fresh.status_code == 200 and "Cleura could not be read" in fresh.headers["Cache-Status"] and fresh.json()["status"]["stale"]
    assert alone and d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"] is None
    assert d.log().count("answer about a shoot is not accepted (shoot good-0000") == 1


def test_a_refusal_with_too_much_in_it_is_a_fault_of_the_project(sim, between, make_shootd):
    sim.post("shoots", prefix="good", state="ready")
    d = make_shootd(between.url, polling="{active: 1s, idle: 1h, discovery: 1h}").start()
    d.wait_phase("good-0000", "ready")
    sim.fault("get_shoot", "status", status=500, body=json.dumps({"error": {"code": 500, "message": "x"}}))
    between.replace = lambda method, path, answer: \
        (gzip.compress(b" " * (3 * MIB), 1), {"Content-Encoding": "gzip"}) if path.endswith("/good-0000") else None
    fresh = d.http.get(d.clusters_path("good-0000"), headers={"Cache-Control": "no-cache"})
    assert fresh.status_code == 200 and "Cleura could not be read" in fresh.headers["Cache-Status"]
    assert d.http.get("/v1/projects/team-a").json()["upstream"]["last_error"]
    assert "is not accepted" not in d.log()


# ---- requests of callers -----------------------------------------------------------------------------------------------

TOO_LARGE_SPECS = {
    "networks": {"allowed_cidrs": [f"10.{i >> 8 & 255}.{i & 255}.0/24" for i in range(50000)]},
    "schedules": {"hibernation_schedules": [{"start": f"{i % 60} {i // 60 % 24} * * *", "end": f"{i} 1 * * *"}
                                            for i in range(20000)]},
    "pools": {"node_pools": [{"name": f"p{i}"} for i in range(45000)]},
    "labels of a pool": {"node_pools": [{"name": "a", "labels": {f"k{i}": "v" for i in range(30000)}}]},
    "unknown members": {f"x{i}": 1 for i in range(60000)},
    "values in all": {"node_pools": [{"name": f"p{i}", "labels": {f"k{n}": "v" for n in range(50)},
                                      "annotations": {f"k{n}": "v" for n in range(50)}} for i in range(50)]},
    "values in unknown members": {"x": [[]] * 90000},
}


@pytest.mark.parametrize("what", TOO_LARGE_SPECS)
def test_a_spec_that_is_too_large_is_refused_at_once(sim, make_shootd, what):
    sim.post("shoots", prefix="there")
    d = make_shootd(sim.url).start()
    wait_until(lambda: d.cluster("there-0000").status_code == 200, what="the cluster")
    spec = TOO_LARGE_SPECS[what]
    path = d.clusters_path("there-0000")
    adopted = d.http.put(path, json={"spec": {}})
    assert adopted.status_code in (200, 202), adopted.text
    for method, to, body in (("PUT", path, {"spec": spec}), ("PUT", d.clusters_path("new"), {"spec": spec}),
                             ("POST", d.clusters_path(), {"name": "new", "spec": spec}), ("PATCH", path, {"spec": spec})):
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = d.http.request(method, to, json=body, headers={"Content-Type": kind})
        assert answer.status_code == 422, (method, answer.text[:500])
        codes = {e["code"] for e in answer.json()["errors"]}
        assert answer.json()["errors"][0]["code"] in ("too_many", "unknown_member"), (method, codes)
    assert_loop_was_free(d)


@pytest.mark.parametrize("count, status, code", [(4000, 422, "too_many"), (30000, 413, "body_too_large")])
@pytest.mark.parametrize("member", ["labels", "annotations"])
def test_a_pool_with_too_many_labels_is_refused_at_once(sim, make_shootd, member, count, status, code):
    """The routes of one pool accept 64 KiB: most of a larger body is refused before it is read."""
    d = make_shootd(sim.url).start()
    d.wait_operation(d.create("dev", spec={"node_pools": [{"name": "a"}]})["operation"]["id"])
    pools = d.clusters_path("dev") + "/node-pools"
    many_of_them = {member: {f"k{i}": "v" for i in range(count)}}
    for method, path, body in (("POST", pools, {"name": "b", **many_of_them}), ("PATCH", pools + "/a", many_of_them)):
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = d.http.request(method, path, json=body, headers={"Content-Type": kind})
        problem = answer.json()
        assert answer.status_code == status, (method, answer.text[:500])
        assert code in {problem["code"], *(e["code"] for e in problem.get("errors", []))}, (method, answer.text[:500])
    assert [p["name"] for p in d.cluster("dev").json()["spec"]["node_pools"]] == ["a"]
    assert_loop_was_free(d)


def test_a_body_of_very_many_values_is_refused_before_it_is_built(sim, make_shootd):
    d = make_shootd(sim.url).start()
    answer = d.http.post(d.clusters_path(), json={"name": "new", "spec": {"x": [[]] * 200000}})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert_loop_was_free(d)


def test_the_largest_spec_is_accepted_and_equal_again(sim, make_shootd):
    d = make_shootd(sim.url).start()
    spec = {"allowed_cidrs": [f"10.{i >> 8}.{i & 255}.0/24" for i in range(500)],
            "hibernation_schedules": [{"start": f"{i} 18 * * *", "end": f"{i} 8 * * *"} for i in range(50)],
            "node_pools": [{"name": f"p{i}", "labels": {f"k{n}": "v" * 63 for n in range(20)},
                            "annotations": {f"k{n}": "v" * 20 for n in range(20)},
                            "taints": [{"key": f"k{n}", "value": "v", "effect": "NoSchedule"} for n in range(6)]}
                           for i in range(50)]}
    answer = d.http.put(d.clusters_path("big"), json={"spec": spec})
    assert answer.status_code == 202, answer.text[:500]
    d.wait_operation(answer.json()["operation"]["id"], timeout=120)
    spec["allowed_cidrs"].reverse()
    again = d.http.put(d.clusters_path("big"), json={"spec": spec})
    assert again.status_code == 200, again.text[:500]
    assert_loop_was_free(d)
    d.stop()
    d.start()
    assert d.cluster("big").status_code == 200
    print("stall", longest_stall(d), re.findall(r"loop blocked.*", d.log()))
    assert_loop_was_free(d)
