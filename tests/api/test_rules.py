"""docs/rules.md is true: every rule has a row, and every row with tests names existing ones. Also tests of rules that belong to no other
file."""

import re
import time

import pytest

import harness
from contract import DOCUMENT
from harness import ROOT, wait_until
from raw import Raw, request

RULES = [f"{family}-{n}" for family, last in (("WH", 23), ("AO", 24), ("HT", 54)) for n in range(1, last + 1)]


def rows():
    found = []
    for line in (ROOT / "docs/rules.md").read_text().split("\n## Inside\n")[0].splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if re.match(r"\| (WH|AO|HT|MH)-\d+ \||\| 6\.5 ", line):
            assert len(cells) == 3, line
            found.append(cells)
    return found


def names_of_tests():
    names = set()
    for path in [*(ROOT / "tests").glob("*/test_*.py"), *(ROOT / "tests").glob("*/test_*.c")]:
        text = path.read_text()
        if path.suffix == ".py":
            names |= set(re.findall(r"^def (test_\w+)\(", text, re.M))
        else:  # the tests that main() runs
            names |= set(re.findall(r"(?:TEST|cmocka_unit_test\w*)\((\w+)", text))
    return names


def test_every_rule_has_a_row_in_order():
    ids = [cells[0] for cells in rows()]
    assert [i for i in ids if i[:2] in ("WH", "AO", "HT")] == RULES
    assert "MH-9" in ids and sum(i.startswith("6.5 ") for i in ids) == 14
    assert len(ids) == len(set(ids))


def test_rows_that_name_tests_have_them():
    names = names_of_tests()
    assert len(names) > 300
    for id, does, told in rows():
        assert does, id
        if not re.match(r"(later|not ours|not done): \w", told):
            mark = re.fullmatch(r"`(\w+)`", told)
            assert mark, (id, told)
            if id.startswith("6.5 "):  # these have no numbers
                assert re.fullmatch(r"6_5_\w+", mark[1]), id
            else:
                assert mark[1] == id.lower().replace("-", ""), id
            assert [n for n in names if re.search(rf"(^|_){mark[1]}(_|$)", n)], f"{id}: no test has {mark[1]} in its name"


def test_marks_are_of_rules_that_have_rows():
    """Each rule in the name of a test has a row."""
    told = {cells[2].strip("`") for cells in rows()}
    for name in names_of_tests():
        for mark in re.findall(r"(?<![a-z0-9])(?:wh|ao|ht)\d+(?![a-z0-9])|(?<![a-z0-9])mh9(?![0-9])", name):
            assert mark in told, name


FAMILIES = "WH|AO|HT|MH|UP|DB|AU|OB|SD|CL|GA"


def test_numbers_that_comments_cite_have_a_row():
    """A comment may cite a number only if docs/ explains it; comments cite no document that is not in the tree."""
    pages = (ROOT / "docs/rules.md").read_text() + (ROOT / "docs/cleura.md").read_text()
    known = set(re.findall(r"^\| ([A-Z]{2}-\d+) \|", pages, re.M))
    faults = []
    for path in (p for p in ROOT.glob("*/**/*.[ch]") if p.relative_to(ROOT).parts[0] != "build" and "node_modules" not in p.parts):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            cited = [id for id in re.findall(rf"\b(?:{FAMILIES})-\d+\b", line) if id not in known]
            cited += [name for name in re.findall(r"\b[\w/-]+\.md\b", line) if not (ROOT / name).exists()]
            faults += [f"{path.relative_to(ROOT)}:{number}: {one}" for one in cited]
    assert len(known) > 150 and not faults, "\n".join(faults)


# ---- the daemon --------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    directory = tmp_path_factory.mktemp("rules")
    sim = harness.Sim(directory)
    d = harness.Shootd(directory / "shootd", sim.url).start()
    d.wait_operation(d.create("dev")["operation"]["id"])
    yield sim, d
    d.stop()
    sim.stop()


@pytest.fixture(scope="module")
def d(pair):
    return pair[1]


@pytest.fixture
def http(d):
    return d.http


DEV = "/v1/projects/team-a/clusters/dev"


def some_problems(http):
    yield http.get("/v1/clusters?colour=red"), 400
    yield http.get("/v1/whoami", headers={"Authorization": "Bearer x"}), 401
    yield http.get("/v1/none"), 404
    yield http.get(DEV + "x"), 404
    yield http.request("TRACE", "/v1/whoami"), 405
    yield http.get("/v1/whoami", headers={"Accept": "text/html"}), 406
    yield http.post("/v1/projects/team-a/clusters", json={"name": "dev"}), 409
    yield http.put(DEV, json={}, headers={"If-Match": '"x"'}), 412
    yield http.post("/v1/tokens", content=b"x" * 70000, headers={"Content-Type": "application/json"}), 413
    yield http.post("/v1/tokens", content=b"x"), 415
    yield http.post("/v1/tokens", json={}), 422
    yield http.request("BREW", "/v1/whoami"), 501


def test_ht1_ht2_ht3_ht5_problems(pair, http):
    sim, _ = pair
    titles = {}
    for answer, status in some_problems(http):
        assert answer.status_code == status, answer.text
        assert answer.headers["Content-Type"] == "application/problem+json", "whatever Accept says"
        problem = answer.json()
        assert problem["status"] == status and problem["request_id"] == answer.headers["X-Request-Id"]
        assert problem["type"] == "/problems/" + problem["code"] and problem["title"] and problem["detail"]
        assert titles.setdefault(problem["code"], problem["title"]) == problem["title"], "one title per type"
        assert all(re.fullmatch(r"[a-z][a-z0-9_]{2,}", name) for name in problem), "HT-3"
        assert re.fullmatch(r"[a-z][a-z_]+", problem["code"])
        assert sim.url not in answer.text and str(sim.port) not in answer.text
    assert len(titles) == 12


def test_ht4_faults_are_capped(http):
    pools = [{"name": f"p{i}", "machine_type": "none", "colour": "red"} for i in range(40)]
    refused = http.post("/v1/projects/team-a/clusters", json={"name": "x", "spec": {"node_pools": pools}})
    assert refused.status_code == 422 and len(refused.json()["errors"]) == 50
    assert all(f["pointer"].startswith("#/") and f["code"] and f["detail"] for f in refused.json()["errors"])


def test_ht6_of_several_faults_the_first_in_order_is_reported(d):
    """Each request has this fault and all faults that come later in the order."""
    token = f"Authorization: Bearer {d.token()}"
    viewer = d.http.post("/v1/tokens", json={"name": "ht6", "role": "viewer", "projects": ["team-a"]}).json()["token"]
    body = '{"name":"Bad","name":"twice"}'
    wrong = ["Expect: x", "Content-Type: text/plain", "Accept: image/png", "Content-Encoding: br", "Idempotency-Key: x"]
    query = "?colour=red"
    for target, fields, status in (
            ("BREW /v1/none", ["Host: y", *wrong], 400),
            ("BREW /v1/none", wrong, 501),
            ("POST /v1/none", wrong, 404),
            ("PUT /v1/projects/team-b/clusters" + query, wrong, 405),
            ("POST /v1/projects/team-b/clusters" + query, wrong, 401),
            ("POST /v1/projects/team-b/clusters" + query, [f"Authorization: Bearer {viewer}", *wrong], 403),
            ("POST /v1/projects/team-b/clusters" + query, [token, *wrong], 404),
            ("POST /v1/projects/team-a/clusters" + query, [token, *wrong], 417),
            ("POST /v1/projects/team-a/clusters" + query, [token, *wrong[1:]], 415),
            ("POST /v1/projects/team-a/clusters" + query, [token, "Content-Type: application/json", *wrong[2:]], 415),
            ("POST /v1/projects/team-a/clusters" + query, [token, "Content-Type: application/json", wrong[2], wrong[4]], 406),
            ("POST /v1/projects/team-a/clusters" + query, [token, "Content-Type: application/json", wrong[4]], 400),
            ("POST /v1/projects/team-a/clusters", [token, "Content-Type: application/json"], 400)):
        with Raw(d.port) as raw:
            raw.send("\r\n".join([target + " HTTP/1.1", "Host: x", *fields, f"Content-Length: {len(body)}", "", body]))
            answer = raw.read()
            assert answer.status == status, (target, answer)


def test_ht7_safe_methods_change_nothing_and_idempotent_ones_once(d, http):
    def state():
        # Only last_used_at of a token may change with a request, once a minute.
        tokens = [{k: v for k, v in t.items() if k != "last_used_at"} for t in http.get("/v1/tokens").json()["items"]]
        return http.get(DEV).json()["revision"], http.get("/v1/operations").text, http.get("/v1/webhooks").text, tokens
    http.get(DEV + "/kubeconfig")  # the first kubeconfig contains the address of the cluster
    wait_until(lambda: (s := http.get(DEV).json()["status"])["api_server_url"] and not s["settling"], what="rest")
    before = state()
    for template in DOCUMENT["paths"]:
        path = re.sub(r"{(\w+)}", lambda m: {"project": "team-a", "cluster": "dev", "pool": "default"}.get(m[1], "x"), template)
        for method in ("GET", "HEAD", "OPTIONS"):
            assert http.request(method, path).status_code < 500 or path.endswith("/quota"), path
    assert state() == before
    spec = {"spec": {"maintenance": {"auto_update_kubernetes": False}}}
    changes = [http.put(DEV, json=spec).json()["operation"]["id"] for _ in range(3)]
    assert len(set(changes)) == 1
    d.wait_operation(changes[0])
    assert http.put(DEV, json=spec).status_code == 200
    d.wait_operation(d.create("ht7")["operation"]["id"])  # the delete is done at once, because Cleura has no such cluster yet
    ended = [http.delete(d.clusters_path("ht7")).json()["operation"]["id"] for _ in range(3)]
    assert len(set(ended)) == 1
    d.wait_operation(ended[0])


def test_ht13_query_parameters(http):
    known = "&".join(f"q=a{i}" for i in range(51))
    assert http.get("/v1/clusters?" + known).status_code == 400
    assert len(http.get("/v1/clusters?" + "&".join(f"x{i}=1" for i in range(50))).json()["errors"]) == 50


def test_ht24_ht28_age_and_cache_status(http):
    before = time.time()
    first = http.get(DEV)
    assert int(first.headers["Age"]) >= 0 and first.headers["Cache-Status"] == "shootd; hit"
    observed = time.mktime(time.strptime(first.json()["status"]["observed_at"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
    assert -2 < int(first.headers["Age"]) - (before - observed) < first.elapsed.total_seconds() + 2
    for path in (DEV + "x", "/v1/none", DEV + "?x=1"):
        refused = http.get(path)
        assert "Age" not in refused.headers and "Cache-Status" not in refused.headers, "not on errors"


def test_ht25_ht26_ht27_ht32_how_answers_may_be_kept(http):
    for path in (DEV, "/v1/clusters", "/v1/operations", "/v1/events", "/v1/projects/team-a", DEV + "/node-pools"):
        answer = http.get(path)
        assert answer.headers["Cache-Control"] == "private, no-cache", path
        assert "warning" not in answer.headers and "pragma" not in answer.headers and "expires" not in answer.headers
    assert http.get(DEV + "/kubeconfig").headers["Cache-Control"] == "no-store"
    assert http.get("/openapi.yaml").headers["Cache-Control"] == "max-age=300"
    for answer, _ in some_problems(http):
        assert answer.headers["Cache-Control"] == "no-store"


def test_ht29_a_write_is_seen_by_the_next_read(http):
    for n in range(3):
        tag = http.get(DEV).headers["ETag"]
        assert http.put(DEV, json={"labels": {"n": str(n)}}).status_code == 200
        after = http.get(DEV, headers={"If-None-Match": tag})
        assert after.status_code == 200 and after.json()["labels"] == {"n": str(n)}
        listed = {c["name"]: c for c in http.get("/v1/clusters").json()["items"]}
        assert listed["dev"]["labels"] == {"n": str(n)}


def test_ht33_members(http):
    """snake_case, times with Z; arrays are never null."""
    free = {"labels", "annotations", "spec"}  # callers choose the keys of these members

    def look(value, where):
        if isinstance(value, dict):
            for name, inner in value.items():
                assert re.fullmatch(r"[a-z][a-z0-9_]*", name), (where, name)
                assert not (name.endswith("s") and name in ("items", "steps", "errors", "projects", "conditions") and
                            inner is None), (where, name)
                if name.endswith("_at") and inner is not None:
                    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", inner), (where, name, inner)
                if name not in free:
                    look(inner, f"{where}/{name}")
        elif isinstance(value, list):
            for inner in value:
                look(inner, where)
    for path in (DEV, "/v1/clusters", "/v1/operations", "/v1/events", "/v1/projects", "/v1/projects/team-a/catalog",
                 "/v1/tokens", "/v1/accounts", "/v1/whoami", "/version", DEV + "/nodes", DEV + "/upgrades"):
        look(http.get(path).json(), path)


def test_ht34_paths():
    for path in DOCUMENT["paths"].keys() - {"/"}:
        for segment in path.strip("/").split("/"):
            assert re.fullmatch(r"{[a-z]+}|[a-z0-9]+(-[a-z0-9]+)*|openapi\.(yaml|json)", segment), path
        assert path.startswith(("/v1/", "/problems/", "/dashboard/")) or path in ("/livez", "/healthz", "/readyz", "/metrics", "/version", "/openapi.yaml",
                                                   "/openapi.json"), path


def test_ao1_ao2_ao4_ao5_accepted_writes(d, http):
    refused = http.post("/v1/projects/team-a/clusters", json={"name": "Bad", "spec": {"kubernetes_version": "9"}})
    before = len(http.get("/v1/operations").json()["items"])
    assert refused.status_code == 422 and len(refused.json()["errors"]) == 2
    assert len(http.get("/v1/operations").json()["items"]) == before, "nothing began"
    accepted = http.post("/v1/projects/team-a/clusters", json={"name": "ao"})
    assert accepted.status_code == 202 and int(accepted.headers["Retry-After"]) >= 1
    operation = accepted.json()["operation"]
    assert accepted.headers["Location"] == f"/v1/operations/{operation['id']}"
    monitor = http.get(accepted.headers["Location"])
    assert monitor.status_code == 200 and monitor.headers["ETag"] and monitor.headers["Cache-Control"] == "private, no-cache"
    assert monitor.json()["status"] in ("succeeded", "failed") or int(monitor.headers["Retry-After"]) >= 1
    d.wait_operation(operation["id"])
    ended = http.get(accepted.headers["Location"])
    assert ended.json()["status"] == "succeeded" and "Retry-After" not in ended.headers


def test_ao3_202_only_where_others_have_to_be_waited_for(http):
    """Only these answer 202: writes of clusters, cancellations, a login that sends a code, deliveries. All other requests are done when
    they are answered."""
    accepted = {o["operationId"] for item in DOCUMENT["paths"].values() for m, o in item.items()
                if m in ("get", "put", "post", "patch", "delete") and "202" in o["responses"]}
    assert accepted == {"createCluster", "putCluster", "patchCluster", "deleteCluster", "createNodePool", "putNodePool",
                        "patchNodePool", "deleteNodePool", "runClusterAction", "cancelOperation", "loginAccount",
                        "testWebhook", "recoverWebhook", "redeliver"}
    labels = {**http.get(DEV).json()["labels"], "ao": "3"}
    assert http.patch(DEV, json={"labels": labels}).status_code == 200, "nothing of it is Cleura's"
    for path, body in (("/v1/tokens", {"name": "ao3", "role": "viewer", "projects": ["*"]}),
                       ("/v1/webhooks", {"url": "https://hooks.example.com/ao3"})):
        made = http.post(path, json=body)
        assert made.status_code == 201
        assert http.delete(f"{path}/{made.json()['id']}").status_code == 204


def test_ao8_a_change_during_another_one_waits(d, http):
    made = d.create("queue")
    change = http.patch(d.clusters_path("queue"), json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}})
    assert change.status_code == 202
    assert change.json()["operation"]["id"] != made["operation"]["id"]
    assert d.wait_operation(change.json()["operation"]["id"])["status"] == "succeeded"


def test_wh9_wh10_wh11_events_are_thin(d, receiver):
    hook = d.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["cluster.ready"]})
    assert hook.status_code == 201, hook.text
    d.wait_operation(d.create("thin")["operation"]["id"])
    got = wait_until(lambda: receiver.of_type("cluster.ready"), what="a delivery")[0]
    assert {"id", "type", "timestamp", "data"} == set(got["json"]) and len(got["body"]) < 20000
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", got["json"]["timestamp"])
    data = got["json"]["data"]
    assert {"project", "cluster", "phase", "revision", "url"} <= set(data) and "spec" not in data and "observed" not in data
    assert data["url"] == "/v1/projects/team-a/clusters/thin"
    for type in DOCUMENT["components"]["schemas"]["EventType"]["enum"]:
        assert re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", type), type
    assert d.http.delete("/v1/webhooks/" + hook.json()["id"]).status_code == 204


def test_wh19_the_address_is_judged_when_connecting(pair, tmp_path, receiver):
    """The name passes the check of the URL; its address does not pass the check at the connection."""
    sim, _ = pair
    d = harness.Shootd(tmp_path / "strict", sim.url)
    port = receiver.url.split(":")[2].split("/")[0]
    d.config.write_text(d.config.read_text().replace("allow: [127.0.0.0/8]", f"allow: [10.0.0.0/8], ports: [{port}]"))
    d.start()
    try:
        made = d.http.post("/v1/webhooks", json={"url": receiver.url.replace("127.0.0.1", "localhost")})
        assert made.status_code == 201, made.text
        d.create("strict")
        wait_until(lambda: re.search(r'^shootd_webhook_attempts_total\{outcome="(?!success)[a-z_]+"\} [1-9]',
                                     d.http.get("/metrics").text, re.M), what="an attempt")
        assert receiver.received == []
    finally:
        d.stop()


# ---- 6.5 ---------------------------------------------------------------------------------------------------------

def lives(d):
    return d.http.get("/livez").status_code == 200


def test_6_5_versions(d):
    with Raw(d.port) as raw:
        raw.send("GET /livez HTTP/1.9\r\nHost: x\r\n\r\n")
        assert raw.read().status == 200, "as 1.1"
    for version in ("HTTP/2.0", "HTTP/3.0", "HTTP/0.9", "HTTP/1", "http/1.1", ""):
        with Raw(d.port) as raw:
            raw.send(f"GET /livez {version}\r\nHost: x\r\n\r\n")
            answer = raw.read()
            assert answer is None or answer.status in (400, 505), version
    assert lives(d)


def test_6_5_tls_bytes_on_the_plain_port(d):
    hello = bytes.fromhex("16030100310100002d0303") + bytes(32) + bytes.fromhex("000002002f0100")
    with Raw(d.port) as raw:
        raw.send(hello)
        raw.socket.shutdown(1)
        answer = raw.read()
        assert answer is None or answer.status == 400
    assert lives(d)


def test_6_5_nothing_is_smuggled_behind_a_refusal(d):
    for head in ("Content-Length: 4\r\nTransfer-Encoding: chunked", "Content-Length: 0\r\nContent-Length: 60",
                 "Transfer-Encoding: chunked, identity", "Transfer-Encoding:\tchunked\r\nContent-Length: 0",
                 "Transfer-Encoding: xchunked", "transfer-encoding: chunked\r\nTransfer-Encoding: chunked"):
        with Raw(d.port) as raw:
            raw.send(f"POST /v1/tokens HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = raw.read()
            assert answer.status in (400, 501) and answer["Connection"].lower() == "close", head
            assert raw.is_closed(), head
    assert "/smuggled" not in d.log()


def test_6_5_every_refusal_before_a_body_closes(d):
    """The body of a request that was refused at the header section must not be parsed as a request."""
    token = f"Authorization: Bearer {d.token()}"
    body = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    for head, status in ((["POST /v1/tokens HTTP/1.1", "Content-Type: application/json"], 401),
                         (["POST /v1/none HTTP/1.1"], 404), (["BREW /v1/tokens HTTP/1.1"], 501),
                         (["PUT /v1/tokens HTTP/1.1"], 405), (["POST /v1/tokens HTTP/1.1", token], 415),
                         (["POST /v1/tokens HTTP/1.1", token, "Content-Type: application/json", "Expect: x"], 417),
                         (["OPTIONS /v1/tokens HTTP/1.1"], 204)):
        with Raw(d.port) as raw:
            raw.send("\r\n".join([*head, "Host: x", f"Content-Length: {len(body)}", "", body]))
            answer = raw.read()
            assert answer.status == status, answer
            assert answer["Connection"].lower() == "close" and raw.is_closed(), head
    assert "/smuggled" not in d.log()


def test_mh9_readers_that_do_not_read_hold_nobody_up(d):
    stuck = []
    for _ in range(8):
        raw = Raw(d.port)
        raw.socket.setblocking(False)
        try:
            for _ in range(2000):
                raw.socket.send(request("GET", "/openapi.json"))
        except BlockingIOError:
            pass
        stuck.append(raw)
    began = time.monotonic()
    for _ in range(20):
        assert lives(d)
    assert time.monotonic() - began < 20
    for raw in stuck:
        raw.socket.close()
