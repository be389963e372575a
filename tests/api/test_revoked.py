"""A revoked or narrowed token has no effect, also for requests whose head came before the revocation (AU-5)."""

import concurrent.futures

import pytest

import web
from harness import PROJECT_ID, wait_until
from raw import Raw, request

OTHER = "ffeeddccbbaa99887766554433221100"
NO_POLLS = "{active: 1h, idle: 1h, discovery: 1h}"
JSON = "Content-Type: application/json"
ADMIN = '{"name": "mine", "role": "admin", "projects": ["*"]}'
WEBHOOK = '{"url": "http://127.0.0.1:9/", "event_types": ["*"]}'
POOL = '{"name": "more", "machine_type": "b.2c4gb", "minimum": 1, "maximum": 1}'
CLUSTER = "/v1/projects/team-a/clusters/dev"


def make(d, role="admin", projects=("*",)):
    answer = d.http.post("/v1/tokens", json={"name": "ci", "role": role, "projects": list(projects)})
    assert answer.status_code == 201, answer.text
    return answer.json()


def revoke(d, token):
    assert d.http.delete(f"/v1/tokens/{token['id']}").status_code == 204


def bearer(token):
    return {"Authorization": "Bearer " + token["token"]}


def denied(d, token):
    """The refusals of the token in the audit log, oldest first: operation, status, code."""
    entries = d.http.get("/v1/audit", params={"token": token["id"], "outcome": "denied", "order": "asc"}).json()["items"]
    return [(e["action"], e["status"], e["code"]) for e in entries]


class Late:
    """A request whose head was checked and whose body has not arrived."""

    def __init__(self, d, token, method, path, body="{}", *fields):
        self.body = body
        self.raw = Raw(d.port)
        self.raw.send(request(method, path, JSON, f"Content-Length: {len(body)}", "Expect: 100-continue", *fields, token=token["token"]))
        assert self.raw.read().status == 100

    def end(self):
        with self.raw:
            return self.raw.send(self.body).read()


WRITES = [
    ("createToken", "POST", "/v1/tokens", ADMIN),
    ("createWebhook", "POST", "/v1/webhooks", WEBHOOK),
    ("putFreeze", "PUT", "/v1/freeze", '{"scope": "all", "reason": "mine"}'),
    ("createCluster", "POST", "/v1/projects/team-a/clusters", '{"name": "mine"}'),
    ("putCluster", "PUT", CLUSTER, '{"labels": {"a": "b"}}'),
    ("patchCluster", "PATCH", CLUSTER, '{"labels": {"a": "b"}}'),
    ("createNodePool", "POST", CLUSTER + "/node-pools", POOL),
    # these need no body, but one that sends a body is checked, too
    ("deleteCluster", "DELETE", CLUSTER, "{}"),
    ("runClusterAction", "POST", CLUSTER + "/actions/reconcile", "{}"),
    ("createStreamTicket", "POST", "/v1/stream-tickets", "{}"),
    ("listClusters", "GET", "/v1/clusters", "{}"),
    ("listTokens", "GET", "/v1/tokens", "{}"),
    ("getKubeconfig", "GET", CLUSTER + "/kubeconfig", "{}"),
]


def test_the_refusal_of_a_late_body_with_a_used_key_is_in_the_audit_log(shootd):
    """The note about the refusal must not look for an answer of the request's key."""
    d, key = shootd, "late-body-0123456789"
    token = make(d)
    made = web.post(d.url + "/v1/webhooks", content=WEBHOOK, headers={**bearer(token), "Content-Type": "application/json", "Idempotency-Key": key})
    assert made.status_code == 201
    late = Late(d, token, "POST", "/v1/webhooks", WEBHOOK, "Idempotency-Key: " + key)
    revoke(d, token)
    assert late.end().code == "invalid_token"
    wait_until(lambda: denied(d, token), what="the refusal")
    assert denied(d, token) == [("createWebhook", 401, "invalid_token")]


def test_a_body_that_comes_after_the_revocation_does_nothing(sim, shootd):
    d = shootd
    d.create("dev")
    before = d.wait_phase("dev", "ready")
    token = make(d)
    late = [Late(d, token, *write[1:]) for write in WRITES]
    revoke(d, token)
    for one in late:
        answer = one.end()
        assert (answer.status, answer.code) == (401, "invalid_token"), answer
        assert answer["WWW-Authenticate"] == 'Bearer realm="shootd", error="invalid_token"'
    wait_until(lambda: len(denied(d, token)) == len(WRITES), what="the refusals")
    assert denied(d, token) == [(write[0], 401, "invalid_token") for write in WRITES]
    assert len(d.http.get("/v1/tokens").json()["items"]) == 1 and not d.http.get("/v1/webhooks").json()["items"]
    after = d.cluster("dev").json()
    assert after["labels"] == {} and after["operation"]["id"] == before["operation"]["id"] and not d.http.get("/v1/freeze").json()["items"]


@pytest.mark.parametrize("grace, status", [(0, 401), (3600, 201)])
def test_a_secret_that_was_rotated_away_does_nothing(shootd, grace, status):
    token = make(shootd)
    late = Late(shootd, token, "POST", "/v1/tokens", ADMIN)
    assert shootd.http.post(f"/v1/tokens/{token['id']}/rotate", json={"grace_seconds": grace}).status_code == 200
    assert late.end().status == status


@pytest.fixture
def two(make_sim, make_shootd):
    sim = make_sim(project=[PROJECT_ID, OTHER])
    return make_shootd(sim.url, projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Sto2", OTHER)]).start().wait_upstream()


def test_a_token_that_was_narrowed_reaches_no_further(two):
    d = two
    token = make(d)
    late = [Late(d, token, "PUT", CLUSTER), Late(d, token, "POST", "/v1/tokens", ADMIN), Late(d, token, "POST", "/v1/webhooks", WEBHOOK),
            Late(d, token, "GET", "/v1/projects")]
    assert d.http.patch(f"/v1/tokens/{token['id']}", json={"projects": ["team-b"]}).status_code == 200
    cluster, wide, webhook, projects = (one.end() for one in late)
    assert (cluster.status, cluster.code) == (404, "project_not_found")
    assert wide.status == 422 and wide.json()["errors"][0]["pointer"] == "#/projects/0"
    assert webhook.status == 201 and webhook.json()["projects"] == ["team-b"]
    assert [p["name"] for p in projects.json()["items"]] == ["team-b"]
    wait_until(lambda: denied(d, token), what="the refusal")
    assert denied(d, token) == [("putCluster", 404, "project_not_found")]
    assert d.cluster("dev").status_code == 404


def test_a_stream_of_a_token_that_was_narrowed_ends(two):
    d = two
    token = make(d, "viewer")
    with web.stream("GET", d.url + "/v1/events", headers={**bearer(token), "Accept": "text/event-stream"}, timeout=60) as answer:
        assert answer.status_code == 200
        assert d.http.patch(f"/v1/tokens/{token['id']}", json={"projects": ["team-b"]}).status_code == 200
        answer.read()
    wait_until(lambda: 'shootd_sse_streams_ended_total{end="token"} 1\n' in d.http.get("/metrics").text, what="its end")


def parked(d, count):
    wait_until(lambda: d.parked() == count, what=f"{count} to wait")


def test_who_waits_for_an_operation_hears_no_more_after_the_revocation(sim, shootd):
    d = shootd.wait_upstream()
    token = make(d)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        with sim.lasting("create"):
            write = pool.submit(web.request, "PUT", d.url + CLUSTER + "?wait=55", json={}, headers=bearer(token), timeout=90)
            operation = wait_until(lambda: d.cluster("dev").status_code == 200 and d.cluster("dev").json()["operation"], what="the operation")["id"]
            reads = [pool.submit(web.get, f"{d.url}/v1/operations/{operation}", params=params, headers={**bearer(token), **headers}, timeout=90)
                     for params, headers in (({"wait": 55}, {}), ({}, {"Prefer": "wait=55"}))]
            parked(d, 3)
            revoke(d, token)
        for read in reads:
            assert (read.result().status_code, read.result().json()["code"]) == (401, "invalid_token")
    accepted = write.result()  # it was sent before the revocation, so the client gets this answer
    assert accepted.status_code == 202 and accepted.json()["operation"]["id"] == operation and accepted.json()["status"]["phase"] == "pending"
    wait_until(lambda: len(denied(d, token)) == 2, what="the refusals")
    assert denied(d, token) == [("getOperation", 401, "invalid_token")] * 2
    d.wait_phase("dev", "ready")


def test_who_waits_for_cleura_hears_nothing_after_the_revocation(sim, make_shootd):
    sim.post("shoots", count=1, prefix="c", state="ready")
    d = make_shootd(sim.url, polling=NO_POLLS).start()
    wait_until(lambda: d.http.get("/v1/clusters").json()["items"], what="the cluster")
    wait_until(lambda: not d.cluster("c-0000").json()["status"]["settling"], what="settled")
    token = make(d)
    for operation in ("list_shoots", "get_shoot"):
        sim.fault(operation, "delay", delay_ms=600000, count=0)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        reads = [pool.submit(web.get, d.url + path, headers={**bearer(token), "Cache-Control": "no-cache", "Prefer": "wait=50"}, timeout=90)
                 for path in ("/v1/clusters", d.clusters_path("c-0000"))]
        parked(d, 2)
        revoke(d, token)
        sim.clear_faults()
        for read in reads:
            assert (read.result().status_code, read.result().json()["code"]) == (401, "invalid_token")
