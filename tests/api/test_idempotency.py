"""Idempotency-Key on POST (HT-46 to HT-49): one effect and equal answers, also over crashes."""

import random
import threading
import time

import httpx
import pytest

import web
from harness import size, wait_until

KEY = "8e03978e-40d5-43e8-bc93-6894a57f9324"
TOLD = ("location", "retry-after", "etag", "content-type", "cache-control")


def creates(sim):
    return [q for q in sim.requests() if q["operation"] == "create_shoot"]


def post(d, path, body, key=KEY, **more):
    return d.http.post(path, json=body, headers={"Idempotency-Key": key}, **more)


def is_replay_of(second, first):
    assert second.headers.get("Idempotency-Replayed") == "true"
    assert second.status_code == first.status_code
    assert second.content == first.content
    assert {n: second.headers.get(n) for n in TOLD} == {n: first.headers.get(n) for n in TOLD}


def test_ao7_ht48_a_repeated_create_has_one_effect_and_one_answer(sim, shootd):
    path = shootd.clusters_path()
    first = post(shootd, path, {"name": "dev"})
    assert first.status_code == 202 and "Idempotency-Replayed" not in first.headers
    is_replay_of(post(shootd, path, {"name": "dev"}), first)
    shootd.wait_operation(first.json()["operation"]["id"])
    is_replay_of(post(shootd, path, {"name": "dev"}), first)  # the stored first answer, not the present state
    assert len(creates(sim)) == 1
    # Without a key it counts as a second create.
    assert shootd.http.post(path, json={"name": "dev"}).json()["code"] == "cluster_exists"


def test_ht46_the_key_comes_in_quotes_or_bare(shootd):
    path = shootd.clusters_path()
    first = post(shootd, path, {"name": "dev"}, key=f'"{KEY}"')
    is_replay_of(post(shootd, path, {"name": "dev"}, key=KEY), first)
    for bad in ("short", "x" * 129, "a" * 15, f'"{KEY}', f'{KEY}"', KEY + " x", KEY + "/", '""'):
        answer = post(shootd, path, {"name": "dev"}, key=bad)
        assert answer.status_code == 400, bad
        assert answer.json()["errors"][0]["header"] == "Idempotency-Key"
    twice = [("Idempotency-Key", KEY), ("Idempotency-Key", KEY)]
    assert shootd.http.post(path, json={"name": "dev"}, headers=twice).status_code == 400
    # The key has no meaning with a method that is idempotent by itself.
    assert shootd.http.get(path, headers={"Idempotency-Key": "short"}).status_code == 200


@pytest.mark.parametrize("change", [
    {"json": {"name": "other"}},
    {"json": {"name": "dev", "description": "x"}},
    {"params": {"dry_run": "true"}},
    {"headers": {"Content-Type": "application/json; charset=utf-8"}},
])
def test_ht48_another_request_with_the_key_is_422(shootd, change):
    path = shootd.clusters_path()
    assert post(shootd, path, {"name": "dev"}).status_code == 202
    headers = {"Idempotency-Key": KEY, "Content-Type": "application/json", **change.get("headers", {})}
    content = httpx.Request("POST", "http://x", json=change.get("json", {"name": "dev"})).content
    answer = shootd.http.post(path, content=content, headers=headers, params=change.get("params"))
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == "idempotency_key_reused"


def test_ht47_keys_are_of_one_token_and_one_operation(shootd):
    path = shootd.clusters_path()
    first = post(shootd, path, {"name": "dev"})
    made = shootd.http.post("/v1/tokens", json={"name": "ci", "role": "operator", "projects": ["team-a"]}).json()
    other = post(shootd, path, {"name": "dev"})
    is_replay_of(other, first)
    with web.Client(base_url=shootd.url, headers={"Authorization": "Bearer " + made["token"]}) as ci:
        answer = ci.post(path, json={"name": "dev"}, headers={"Idempotency-Key": KEY})
        assert answer.json()["code"] == "cluster_exists"
    shootd.wait_operation(first.json()["operation"]["id"])
    # The same key with another operation counts as another key.
    action = post(shootd, shootd.clusters_path("dev") + "/actions/reconcile", None)
    assert action.status_code == 202 and "Idempotency-Replayed" not in action.headers


def test_ht48_a_key_is_bound_also_when_nothing_was_to_be_done(sim, shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    path = shootd.clusters_path("dev")
    needless = post(shootd, path + "/actions/wake", None)
    assert needless.status_code == 200
    assert shootd.http.post(path + "/actions/hibernate", params={"wait": 55}).status_code == 200
    is_replay_of(post(shootd, path + "/actions/wake", None), needless)  # the replay does not wake the cluster
    assert shootd.http.get(path).json()["status"]["phase"] == "hibernated"
    assert post(shootd, path + "/actions/reconcile", None).json()["code"] == "idempotency_key_reused"
    assert shootd.http.post(path + "/actions/wake", params={"wait": 55}).status_code == 200
    # A request that joined an open operation gets the answer again, also after the operation ended.
    with sim.frozen():
        first = post(shootd, path + "/actions/reconcile", None, key="first-0123456789abc")
        joined = post(shootd, path + "/actions/reconcile", None, key="joined-0123456789ab")
        assert joined.status_code == 202 and "Idempotency-Replayed" not in joined.headers
        assert joined.json()["operation"]["id"] == first.json()["operation"]["id"]
    shootd.wait_operation(first.json()["operation"]["id"])
    is_replay_of(post(shootd, path + "/actions/reconcile", None, key="joined-0123456789ab"), joined)
    assert len(sim.requests("reconcile")) == 1
    # The same holds for a repeated cancellation.
    with sim.frozen():
        running = shootd.http.patch(path, json={"spec": {"allowed_cidrs": ["192.0.2.0/24"]}}).json()["operation"]["id"]
        queued = shootd.http.post(path + "/actions/hibernate").json()["operation"]["id"]
        assert shootd.http.post(f"/v1/operations/{queued}/cancel").status_code == 200
        again = post(shootd, f"/v1/operations/{queued}/cancel", None)
        is_replay_of(post(shootd, f"/v1/operations/{queued}/cancel", None), again)
    shootd.wait_operation(running)


def test_ht49_refusals_are_decided_anew(shootd):
    path = shootd.clusters_path()
    assert post(shootd, path, {"name": "dev", "spec": {"kubernetes_version": "1.99"}}).status_code == 422
    corrected = post(shootd, path, {"name": "dev"})
    assert corrected.status_code == 202 and "Idempotency-Replayed" not in corrected.headers


def test_ht49_secrets_that_are_shown_once_are_replayed_and_sealed_at_rest(shootd, receiver):
    answers = [post(shootd, "/v1/webhooks", {"url": receiver.url}) for _ in range(2)]
    is_replay_of(answers[1], answers[0])
    secret = answers[0].json()["secret"]
    assert len(shootd.http.get("/v1/webhooks").json()["items"]) == 1
    body = {"name": "ci", "role": "viewer", "projects": ["*"]}
    tokens = [post(shootd, "/v1/tokens", body) for _ in range(2)]
    is_replay_of(tokens[1], tokens[0])
    assert tokens[0].headers["Cache-Control"] == "no-store"
    shootd.stop()
    stored = b"".join(f.read_bytes() for f in shootd.state.iterdir() if f.name != "admin-token")
    assert secret.encode() not in stored and tokens[0].json()["token"].encode() not in stored
    assert KEY.encode() not in stored
    shootd.start()
    is_replay_of(post(shootd, "/v1/webhooks", {"url": receiver.url}), answers[0])


def test_ht48_a_key_in_use_is_409(sim, shootd):
    """A create waits for Cleura's name check, for 2.5 seconds at most; meanwhile its key is in use."""
    path = shootd.clusters_path()
    with web.Client(base_url=shootd.url, headers=shootd.http.headers, timeout=60) as other:
        def meanwhile(i):
            """The answers to two requests with one key. The second is sent while the first waits, unless this machine was too slow."""
            body, key, answers = {"name": f"dev{i}"}, f"{i}{KEY}", []
            sim.fault("*", "delay", delay_ms=600000, count=0)
            thread = threading.Thread(target=lambda: answers.append(post(shootd, path, body, key=key)))
            thread.start()
            wait_until(lambda: "\nshootd_http_parked 1\n" in other.get("/metrics").text or answers, what="the first to wait")
            second = other.post(path, json=body, headers={"Idempotency-Key": key})
            sim.clear_faults()
            thread.join(60)
            assert answers[0].status_code == 202
            is_replay_of(post(shootd, path, body, key=key), answers[0])
            if second.status_code == 202:
                is_replay_of(second, answers[0])
                return None
            return second
        answer = next(filter(None, map(meanwhile, range(10))))
    assert answer.status_code == 409 and answer.json()["code"] == "idempotency_key_in_use", answer.text
    assert answer.headers["Retry-After"] == "1"


def test_replays_over_a_crash_make_one_cluster(sim, shootd):
    """50 connections with 20 posts each (FULL=1; else 20 and 10), kill -9 in the middle: all answers are the same."""
    path = shootd.wait_upstream().url + shootd.clusters_path()
    headers = {"Authorization": "Bearer " + shootd.token(), "Idempotency-Key": KEY}
    connections, posts = size((20, 10), (50, 20))
    answers, busy, lost = [], [], []
    began = threading.Event()

    def client(seed):
        rng = random.Random(seed)
        until = time.monotonic() + 240  # ends a run that hangs; the answers take as long as the machine needs
        left = posts  # a client that is asked to repeat does so; how often depends on the machine
        with web.Client(timeout=30) as http:
            while left:
                assert time.monotonic() < until, f"{left} answers are missing"
                left -= 1
                try:
                    answer = http.post(path, json={"name": "dev"}, headers=headers)
                except httpx.HTTPError:
                    lost.append(1)
                    time.sleep(rng.random() / 5)
                    continue
                if answer.status_code == 409:
                    assert answer.json()["code"] == "idempotency_key_in_use", answer.text
                    busy.append(1)
                    left += 1
                    time.sleep(rng.random() / 5)
                else:
                    answers.append(answer)
                if len(answers) > 3 * connections:
                    began.set()

    threads = [threading.Thread(target=client, args=(i,)) for i in range(connections)]
    for t in threads:
        t.start()
    assert began.wait(60)
    shootd.kill()
    shootd.start()
    for t in threads:
        t.join(300)
    assert len(answers) + len(lost) == connections * posts, (len(answers), len(lost), len(busy))
    assert lost, "the crash came too late"
    assert {(a.status_code, a.content, a.headers["Location"]) for a in answers} == {
        (202, answers[0].content, answers[0].headers["Location"])}
    assert sum("Idempotency-Replayed" not in a.headers for a in answers) <= 1
    op = shootd.wait_operation(answers[0].json()["operation"]["id"])
    assert op["status"] == "succeeded", op
    assert len(shootd.http.get(shootd.clusters_path()).json()["items"]) == 1
    assert len([q for q in creates(sim) if q["status"] < 300]) == 1
