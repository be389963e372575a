"""GET /v1/audit (AU-18, AU-19): who requested an action, and its outcome."""

import json
import sqlite3
import time

import httpx
import pytest

import web
from harness import SANITIZED, wait_until


def audit(d, **params):
    answer = d.http.get("/v1/audit", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def waited(d, count=1, **params):
    """Waits for entries: shootd answers before it stores entries of refusals and of secrets."""
    return wait_until(lambda: len(found := audit(d, **params)) >= count and found, what=f"{count} entries of {params}")


def wait_for_its_start(d):
    """Waits for the entry of the start: the daemon answers before it stores that entry."""
    wait_until(lambda: audit(d, limit=1)[0]["action"] == "daemon.started", what="the entry of this start")
    return d


def start_again(d):
    return wait_for_its_start(d.start())


def bearer(d, **wanted):
    made = d.http.post("/v1/tokens", json=wanted)
    assert made.status_code == 201, made.text
    return made.json(), web.Client(base_url=d.url, headers={"Authorization": "Bearer " + made.json()["token"]})


def test_au18_a_change_is_told_with_who_and_what(shootd):
    headers = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "X-Request-Id": "mine-0123456"}
    created = shootd.http.post(shootd.clusters_path(), json={"name": "dev", "labels": {"a": "b"}, "spec": {
        "kubernetes_version": "1.33"}}, headers=headers)
    operation = created.json()["operation"]["id"]
    shootd.wait_operation(operation)
    [entry] = audit(shootd, action="createCluster")
    me = shootd.http.get("/v1/whoami").json()
    assert entry == {
        "sequence": 2, "at": entry["at"], "action": "createCluster", "outcome": "success", "status": 202, "code": None,
        "token_id": me["id"], "token_name": "admin", "issuer": None, "subject": None, "address": "127.0.0.1", "project": "team-a", "cluster": "dev",
        "target": None, "members": ["name", "labels", "spec.kubernetes_version"], "left_out": None, "operation_id": operation,
        "request_id": "mine-0123456", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}
    [started] = audit(shootd, action="daemon.started")
    assert started["sequence"] == 1 and started["token_id"] is None and started["status"] is None


def test_every_kind_of_change_is_told_once(sim, shootd, receiver):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    path = shootd.clusters_path("dev")
    assert shootd.http.patch(path, json={"description": "x"}).status_code in (200, 202)
    pool = {"machine_type": "b.2c4gb", "minimum": 1, "maximum": 1}
    assert shootd.http.put(path + "/node-pools/more", json=pool, params={"wait": 55}).status_code == 200
    assert shootd.http.post(path + "/actions/reconcile", params={"wait": 55}).status_code == 200
    with sim.frozen():
        running = shootd.http.patch(path, json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}}).json()["operation"]["id"]
        waiting = shootd.http.post(path + "/actions/hibernate").json()["operation"]["id"]
        assert shootd.http.post(f"/v1/operations/{waiting}/cancel").status_code == 200
    shootd.wait_operation(running)
    hook = shootd.http.post("/v1/webhooks", json={"url": receiver.url}).json()["id"]
    shootd.http.delete("/v1/webhooks/" + hook)
    token = shootd.http.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["*"]}).json()["id"]
    shootd.http.delete("/v1/tokens/" + token)
    assert shootd.http.delete(path, params={"wait": 55}).status_code == 204
    told = [(e["action"], e["project"], e["cluster"], e["target"], e["status"]) for e in audit(shootd)][::-1]
    assert told == [
        ("daemon.started", None, None, None, None),
        ("createCluster", "team-a", "dev", None, 202),
        ("patchCluster", "team-a", "dev", None, 200),
        ("putNodePool", "team-a", "dev", "more", 202),
        ("runClusterAction", "team-a", "dev", "reconcile", 202),
        ("patchCluster", "team-a", "dev", None, 202),
        ("runClusterAction", "team-a", "dev", "hibernate", 202),
        ("cancelOperation", "team-a", "dev", waiting, 200),
        ("createWebhook", None, None, hook, 201),
        ("deleteWebhook", None, None, hook, 204),
        ("createToken", None, None, token, 201),
        ("deleteToken", None, None, token, 204),
        ("deleteCluster", "team-a", "dev", None, 202),
    ]
    sequences = [e["sequence"] for e in audit(shootd)]
    assert sequences == list(range(len(told), 0, -1))


def test_a_request_without_effect_is_not_audited(shootd):
    key = {"Idempotency-Key": "audit-0123456789"}
    for _ in range(3):
        assert shootd.http.post(shootd.clusters_path(), json={"name": "dev"}, headers=key).status_code == 202
    shootd.wait_phase("dev", "ready")
    path = shootd.clusters_path("dev")
    assert shootd.http.put(path, json={}).status_code == 200
    assert shootd.http.put(path, json={"spec": {"kubernetes_version": "1.2"}}, params={"dry_run": "true"}).status_code == 200
    assert shootd.http.post(path + "/actions/wake").status_code == 200
    assert shootd.http.get(path).status_code == 200
    shootd.http.patch(path, json={"description": "the last"})
    assert [e["action"] for e in audit(shootd)] == ["patchCluster", "createCluster", "daemon.started"]


def test_refusals_and_secrets_are_reported(shootd, receiver):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    path = shootd.clusters_path("dev")
    made, viewer = bearer(shootd, name="reader", role="viewer", projects=["team-a"])
    with viewer:
        assert viewer.delete(path).status_code == 403
        assert viewer.get(path + "/kubeconfig").status_code == 403
    denied = waited(shootd, 2, outcome="denied")
    assert {(e["action"], e["token_id"], e["code"], e["status"]) for e in denied} == {
        (a, made["id"], "forbidden", 403) for a in ("deleteCluster", "getKubeconfig")}
    assert shootd.http.put(path, json={"spec": {"kubernetes_version": "1.2"}}).status_code == 422
    assert shootd.http.delete(shootd.clusters_path("none")).status_code == 404
    errors = waited(shootd, 2, outcome="error")
    assert [(e["action"], e["cluster"], e["status"]) for e in errors] == [
        ("deleteCluster", "none", 404), ("putCluster", "dev", 422)]
    assert shootd.http.post(shootd.clusters_path(), content="{", headers={"Content-Type": "application/json"}).status_code == 400
    assert shootd.http.delete("/v1/webhooks/wh_none").status_code == 404
    hook = shootd.http.post("/v1/webhooks", json={"url": receiver.url}).json()["id"]
    assert shootd.http.patch("/v1/webhooks/" + hook, json={}, headers={"If-Match": '"another"'}).status_code == 412
    assert shootd.http.post("/v1/accounts/none/login").status_code == 404
    before_the_loop = waited(shootd, 6, outcome="error")[:4][::-1]
    assert [(e["action"], e["target"], e["code"]) for e in before_the_loop] == [
        ("createCluster", None, "invalid_json"), ("deleteWebhook", "wh_none", "webhook_not_found"),
        ("patchWebhook", hook, "precondition_failed"), ("loginAccount", "none", "account_not_found")]
    assert shootd.http.post(shootd.clusters_path(), content="{", params={"dry_run": "true"}, headers={"Content-Type": "application/json"}).status_code == 400
    for name in ("kubeconfig", "credential", "monitoring", "ssh-key"):
        assert shootd.http.get(f"{path}/{name}").status_code == 200, name
    for action in ("getKubeconfig", "getCredential", "getMonitoring", "getSshKey"):
        [entry] = waited(shootd, action=action, outcome="success")
        assert entry["cluster"] == "dev" and entry["status"] == 200
    assert len(audit(shootd, outcome="error")) == 6, "a dry run has no entry"


@pytest.mark.parametrize("status", [403, 404, 422])
def test_a_flood_of_refusals_is_cut_for_who_sends_it(shootd, status):
    made, flooder = bearer(shootd, name="flooder", role="viewer" if status == 403 else "operator", projects=["team-a"])
    other, quiet = bearer(shootd, name="quiet", role="viewer", projects=["team-a"])
    with flooder, quiet:
        for _ in range(130):
            if status == 422:
                answer = flooder.post(shootd.clusters_path(), json={"name": "Bad"})
            else:
                answer = flooder.delete(shootd.clusters_path("dev"))
            assert answer.status_code == status, answer.text
        assert quiet.delete(shootd.clusters_path("dev")).status_code == 403
    waited(shootd, token=other["id"])
    assert len(audit(shootd, token=made["id"], limit=200)) == 120
    shootd.stop()
    shootd.start()
    [entry] = audit(shootd, action="audit.left_out")
    assert entry["left_out"] == 10 and entry["token_id"] == made["id"] and entry["token_name"] == "flooder"


def test_audited_texts_of_callers_are_shortened(shootd):
    long = "é" * 60_000
    assert shootd.http.post(shootd.clusters_path(), json={"name": long, long: 1}).status_code == 422
    [entry] = waited(shootd, action="createCluster")
    assert entry["cluster"] == "é" * 64 and entry["members"] == ["name", "é" * 64]
    assert shootd.http.post(shootd.clusters_path(), json={f"m{i}": 1 for i in range(200)}).status_code == 422
    assert len(waited(shootd, 2, action="createCluster")[0]["members"]) == 50


def test_requests_for_projects_of_others_are_audited(make_sim, make_shootd):
    d, _ = two_projects(make_sim, make_shootd)
    made, stranger = bearer(d, name="stranger", role="operator", projects=["team-b"])
    with stranger:
        for method, path in (("DELETE", "/dev"), ("GET", "/dev/kubeconfig")):
            assert stranger.request(method, "/v1/projects/team-a/clusters" + path).status_code == 404
        assert stranger.get("/v1/projects/none/clusters").status_code == 404
    told = waited(d, 2, token=made["id"])
    assert [(e["action"], e["outcome"], e["code"], e["project"]) for e in told] == [
        ("getKubeconfig", "denied", "project_not_found", "team-a"), ("deleteCluster", "denied", "project_not_found", "team-a")]


def test_a_secret_that_is_given_again_is_reported(shootd):
    """The first repeat at once, further ones of the minute as a number when it ends (tests/unit/test_shares.c), or at a stop."""
    for _ in range(3):
        made = shootd.http.post("/v1/tokens", json={"name": "ci", "role": "viewer", "projects": ["*"]},
                                headers={"Idempotency-Key": "secret-0123456789"})
        assert made.status_code == 201
    assert len(waited(shootd, 2, action="createToken")) == 2
    shootd.stop()
    start_again(shootd)
    assert [e["left_out"] for e in audit(shootd, action="createToken")] == [1, None, None]


def test_starts_and_stops_are_reported(shootd):
    shootd.stop()
    start_again(shootd)
    assert [e["action"] for e in audit(shootd)] == ["daemon.started", "daemon.stopped", "daemon.started"]


OTHER = "ffeeddccbbaa99887766554433221100"


def two_projects(make_sim, make_shootd):
    sim = make_sim(speed=720, project=["00112233445566778899aabbccddeeff", OTHER])
    projects = [("team-a", "Sto2", "00112233445566778899aabbccddeeff"), ("team-b", "Sto2", OTHER)]
    return make_shootd(sim.url, projects=projects).start(), sim


def test_pages_filters_and_who_may_read(make_sim, make_shootd):
    d, _ = two_projects(make_sim, make_shootd)
    for project in ("team-a", "team-b"):
        for name in ("one", "two"):
            name += project[-2:]  # a cluster name is unique at Cleura
            assert d.http.post(f"/v1/projects/{project}/clusters", json={"name": name}).status_code == 202
    _, limited = bearer(d, name="limited", role="admin", projects=["team-b"])
    with limited:
        seen = limited.get("/v1/audit").json()["items"]
        assert [(e["project"], e["cluster"]) for e in seen] == [("team-b", "two-b"), ("team-b", "one-b")]
        assert limited.get("/v1/audit", params={"project": "team-a"}).json()["items"] == []
        assert [json.loads(line) for line in limited.get("/v1/audit", params={"format": "jsonl"}).text.splitlines()] == seen
        mine = limited.post("/v1/tokens", json={"name": "mine", "role": "viewer", "projects": ["team-b"]}).json()["id"]
        assert limited.get("/v1/audit").json()["items"][0]["target"] == mine, "what it did itself"
    ones = audit(d, project="team-a,team-b", cluster="one-a,one-b")
    assert [(e["project"], e["cluster"]) for e in ones] == [("team-b", "one-b"), ("team-a", "one-a")]
    whole, cursor, pages = [], None, 0
    while True:
        page = d.http.get("/v1/audit", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        whole, cursor, pages = whole + page["items"], page["next_cursor"], pages + 1
        if not cursor:
            break
        assert len(page["items"]) == 2
        assert d.http.get("/v1/audit", params={"limit": 2, "cursor": cursor, "action": "createToken"}).status_code == 400
    assert whole == audit(d) and len(whole) == 7 and pages == 4
    assert d.http.get("/v1/audit", params={"action": ""}).status_code == 400
    for wrong in ("foo", "createCluster,foo", ",", "createcluster", "createCluster,"):
        refused = d.http.get("/v1/audit", params={"action": wrong})
        assert refused.status_code == 400, wrong
        [fault] = refused.json()["errors"]
        assert fault["parameter"] == "action" and {"createCluster", "getKubeconfig", "daemon.started"} <= set(fault["valid"])
    for params in ({"outcome": "good"}, {"colour": "red"}, {"limit": 0}):
        assert d.http.get("/v1/audit", params=params).status_code == 400
    _, operator = bearer(d, name="operator", role="operator", projects=["*"])
    with operator:
        assert operator.get("/v1/audit").status_code == 403


def test_search_by_actor_target_and_in_both_orders(shootd, receiver):
    made, ci = bearer(shootd, name="ci", role="operator", projects=["*"])
    with ci:
        operation = ci.post(shootd.clusters_path(), json={"name": "dev"}).json()["operation"]["id"]
        hook = ci.post("/v1/webhooks", json={"url": receiver.url}).json()["id"]
    shootd.wait_operation(operation)
    shootd.http.patch(shootd.clusters_path("dev"), json={"description": "x"})
    actions = lambda **params: [e["action"] for e in audit(shootd, **params)]  # noqa: E731
    assert actions(actor="ci") == actions(actor=made["id"]) == ["createWebhook", "createCluster"]
    assert actions(actor="ci", order="asc") == ["createCluster", "createWebhook"]
    assert actions(actor="nobody") == []
    assert actions(actor="ci,admin", target="dev") == ["patchCluster", "createCluster"]
    assert actions(target=hook) == ["createWebhook"] and actions(target=made["id"]) == ["createToken"]
    assert actions(target=f"{hook},dev", action="createCluster,createWebhook") == ["createWebhook", "createCluster"]
    whole = audit(shootd)
    assert audit(shootd, order="desc") == whole and audit(shootd, order="asc") == whole[::-1]
    found, cursor = [], None
    while True:
        page = shootd.http.get("/v1/audit", params={"order": "asc", "limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        found, cursor = found + page["items"], page["next_cursor"]
        if not cursor:
            break
    assert found == whole[::-1]
    assert shootd.http.get("/v1/audit", params={"order": "up"}).json()["errors"][0]["valid"] == ["asc", "desc"]

    events = shootd.events(actor="ci")
    assert {e["type"] for e in events} == {"operation.started", "operation.succeeded"}
    assert {(e["data"]["operation_id"], e["data"]["requested_by"]) for e in events} == {(operation, "ci")}
    assert shootd.events(actor="admin") == [e for e in shootd.events() if e["data"].get("requested_by") == "admin"]
    assert shootd.events(target="dev") == [e for e in shootd.events() if e["data"].get("cluster") == "dev"]
    assert shootd.events(target="dev", type="cluster.*", actor="ci") == [] and shootd.events(target="none") == []
    newest = shootd.http.get("/v1/events", params={"actor": "ci", "order": "desc"}).json()
    assert newest["items"] == events[::-1] and newest["next_cursor"] is None
    for name in ("actor", "target"):
        refused = shootd.http.get("/v1/events", params={name: "ci"}, headers={"Accept": "text/event-stream"})
        assert refused.status_code == 400 and refused.json()["errors"][0]["parameter"] == name


def test_a_limited_token_learns_nothing_about_others(make_sim, make_shootd):
    """A limited token learns nothing of others: neither that a project, cluster, operation, webhook or token exists, nor what others do
    with it."""
    d, _ = two_projects(make_sim, make_shootd)
    made, limited = bearer(d, name="limited", role="admin", projects=["team-b"])
    operation = d.create("secret-one")["operation"]["id"]
    hook = d.http.post("/v1/webhooks", json={"url": "https://hooks.example.com/a", "projects": ["team-a"]}).json()["id"]
    token = d.http.post("/v1/tokens", json={"name": "of-a", "role": "viewer", "projects": ["team-a"]}).json()["id"]
    with limited:
        def told(project, operation, hook, token):
            """The answers and audit entries of several requests, with names removed."""
            start = max([e["sequence"] for e in audit(d)])
            path = f"/v1/projects/{project}/clusters"
            answers = [limited.post(path, json={"name": "x1"}), limited.delete(path + "/secret-one"),
                       limited.put(path + "/secret-one", json={}), limited.get(path + "/secret-one/kubeconfig"),
                       limited.post(path + "/secret-one/actions/reconcile"), limited.get(path + "/secret-one/ssh-key"),
                       limited.post(f"/v1/operations/{operation}/cancel"), limited.delete("/v1/webhooks/" + hook),
                       limited.post(f"/v1/webhooks/{hook}/rotate-secret"), limited.delete("/v1/tokens/" + token)]
            limited.post("/v1/tokens", json={"name": "mark", "role": "viewer", "projects": ["team-b"]})  # its entry comes after all others

            def entries():
                """The entries are stored in the order of the answers: when the mark is there, all are there."""
                found = [e for e in limited.get("/v1/audit").json()["items"] if e["sequence"] > start]
                return any(e["action"] == "createToken" for e in found) and found

            mine = wait_until(entries, what="the mark")
            return ([(a.status_code, a.json()["code"]) for a in answers],
                    [(e["action"], e["outcome"], e["code"], e["cluster"] is None) for e in mine])

        real = told("team-a", operation, hook, token)
        unreal = told("team-none", "op_00000000000000000000000000", "wh_00000000000000000000000000",
                      "tok_00000000000000000000000000")
        assert real == unreal
        assert ("deleteToken", "error", "not_found", True) in real[1]
        assert "team-a" not in limited.get("/v1/audit").text and "secret-one" not in limited.get("/v1/audit").text
    denied = waited(d, project="team-a", outcome="denied", token=made["id"])
    assert {e["action"] for e in denied} >= {"deleteCluster", "getKubeconfig"}, "who sees the project sees the attempts"


def test_au19_the_log_lives_over_a_crash(sim, shootd):
    shootd.create("dev")
    before = audit(shootd)
    shootd.kill()
    start_again(shootd)
    after = audit(shootd)
    assert after[1:] == before and after[0]["action"] == "daemon.started"


@pytest.mark.parametrize("secret", ["kubeconfig", "ssh-key"])
def test_no_secret_is_in_it(shootd, secret):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    body = shootd.http.get(f"{shootd.clusters_path('dev')}/{secret}").text
    text = str(waited(shootd, cluster="dev"))
    assert not [word for word in body.replace('"', " ").replace("\\n", " ").split() if len(word) > 60 and word in text]


# ---- exports ----

ENTRIES = 6000  # more bytes than sockets hold
SOME = 900 if SANITIZED else ENTRIES  # a few pages
GAP = 25000  # more numbers than one page searches


def fill(shootd, entries, start=start_again):
    """Makes a log of many pages, with a gap in its numbers; returns the daemon, which was started again."""
    shootd.create("dev")
    shootd.stop()
    with sqlite3.connect(shootd.state / "shootd.db") as db:
        sequence, *row, body = db.execute(
            "SELECT sequence, at, token_id, action, project, cluster, outcome, body FROM audit WHERE action = 'createCluster'").fetchone()
        long = json.dumps({**json.loads(body), "members": [f"{i:02}" + "m" * 100 for i in range(20)]})
        db.executemany("INSERT INTO audit (sequence, at, token_id, action, project, cluster, outcome, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                       [(sequence + GAP + i, *row, long) for i in range(entries)])
    db.close()
    return start(shootd)


@pytest.fixture
def full(shootd):
    return fill(shootd, ENTRIES)


def lines(answer):
    return [json.loads(line) for line in answer.text.splitlines()]


def test_an_export_has_all_entries_one_a_line(shootd):
    d = fill(shootd, SOME)
    answer = d.http.get("/v1/audit", params={"format": "jsonl"})
    assert answer.status_code == 200 and answer.headers["Content-Type"] == "application/x-ndjson"
    assert answer.headers["Transfer-Encoding"] == "chunked" and "ETag" not in answer.headers
    found = lines(answer)
    assert len(found) == SOME + 4 and found[:50] == audit(d)
    numbers = [e["sequence"] for e in found]
    assert numbers == sorted(set(numbers), reverse=True)
    by_accept = d.http.get("/v1/audit", params={"order": "asc"}, headers={"Accept": "application/x-ndjson"})
    assert by_accept.headers["Content-Type"] == "application/x-ndjson" and lines(by_accept) == found[::-1]
    assert [e["sequence"] for e in lines(d.http.get("/v1/audit", params={"format": "jsonl", "action": "daemon.started"}))] == [numbers[0], 1]
    assert d.http.get("/v1/audit", params={"format": "jsonl", "actor": "nobody"}).text == ""
    assert d.http.get("/v1/audit", headers={"Accept": "application/json, application/x-ndjson"}).json()["items"] == found[:50]
    assert d.http.head("/v1/audit", params={"format": "jsonl"}).headers["Content-Type"] == "application/x-ndjson"
    for wrong in ({"limit": 5}, {"cursor": "x"}, {"format": "csv"}):
        assert d.http.get("/v1/audit", params={"format": "jsonl", **wrong}).status_code == 400, wrong


@pytest.fixture
def full_on_socket(shootd, tmp_path):
    """It listens on a Unix socket, which holds 0.2 MB of an answer; a port holds more than ten, and with a sanitizer these take a minute."""
    path = tmp_path / "socket"

    def start(d):
        d.start_on(path)
        d.http = web.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://shootd", timeout=60, headers={"Authorization": "Bearer " + d.token()})
        return wait_for_its_start(d)
    return fill(shootd, SOME, start)


def resident(d):
    with open(f"/proc/{d.process.pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def test_readers_of_exports_bound_the_pace_and_each_other(full_on_socket):
    d = full_on_socket
    before = resident(d)
    open_ones = []
    try:
        for _ in range(4):
            one = d.http.stream("GET", "/v1/audit", params={"format": "jsonl"})
            open_ones.append((one, one.__enter__()))
        refused = d.http.get("/v1/audit", params={"format": "jsonl"})
        assert refused.status_code == 429 and refused.headers["Retry-After"], refused.text
        time.sleep(0.5)
        assert SANITIZED or resident(d) - before < 12 * 1024, "what is not read is not made"
        started = time.monotonic()
        assert d.cluster("dev").status_code == 200 and d.http.patch(d.clusters_path("dev"), json={"description": "x"}).status_code in (200, 202)
        assert time.monotonic() - started < 5
        assert len(b"".join(open_ones[0][1].iter_bytes()).splitlines()) >= SOME + 4
    finally:
        for one, _ in open_ones:
            one.__exit__(None, None, None)
    wait_until(lambda: d.http.get("/v1/audit", params={"format": "jsonl", "action": "daemon.started"}).status_code == 200, what="room for an export")


@pytest.mark.parametrize("end", ["token", "stop"])
def test_an_export_that_cannot_go_on_is_not_whole(full, end):
    d = full
    made, other = bearer(d, name="other", role="admin", projects=["*"])
    with other, other.stream("GET", "/v1/audit", params={"format": "jsonl"}) as answer:
        assert answer.status_code == 200
        if end == "token":
            assert d.http.delete("/v1/tokens/" + made["id"]).status_code == 204
        else:
            d.process.popen.terminate()
            wait_until(lambda: "signal=SIGTERM" in d.log() or "stopping" in d.log(), what="the stop")
        with pytest.raises(httpx.HTTPError):
            for _ in answer.iter_bytes():
                pass
    if end == "stop":
        assert d.process.popen.wait(60) == 0
