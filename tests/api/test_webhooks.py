"""Webhooks as a resource: create, change, disable, enable, new keys, repair; permissions and secrets."""

import base64
import concurrent.futures
import datetime
import hashlib
import hmac
import json


import harness
import web
from harness import wait_until

OTHER = "ffeeddccbbaa99887766554433221100"
BEGUN = {"state": "enabled", "failing_since": None, "pending_deliveries": 0, "last_response": None, "disabled_reason": None}


def signature(secret, delivery):
    headers = {k.lower(): v for k, v in delivery["headers"].items()}
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + delivery["body"], hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()


def signatures(delivery):
    return {k.lower(): v for k, v in delivery["headers"].items()}["webhook-signature"].split(" ")


def subscribe(d, receiver, **more):
    answer = d.http.post("/v1/webhooks", json={"url": receiver.url, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def path_of(hook):
    return "/v1/webhooks/" + hook["id"]


def deliveries(d, hook, **params):
    return d.http.get(path_of(hook) + "/deliveries", params=params).json()["items"]


def send_test(d, hook, receiver):
    """Sends a test; returns the received request."""
    answer = d.http.post(path_of(hook) + "/test")
    assert answer.status_code == 202, answer.text
    event = answer.json()["event_id"]
    return wait_until(lambda: next((r for r in receiver.received if r["json"]["id"] == event), None), what="the test")


def client(d, role, *projects):
    token = d.http.post("/v1/tokens", json={"name": role, "role": role, "projects": projects}).json()["token"]
    return web.Client(base_url=d.url, headers={"Authorization": "Bearer " + token}, timeout=60)


def test_a_test_is_for_one_webhook_and_tried_once(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook, other = subscribe(d, receiver, event_types=["cluster.ready"]), subscribe(d, receiver)
    received = send_test(d, hook, receiver)
    assert received["json"]["type"] == "webhook.test" and received["json"]["data"]["webhook"] == hook["id"]
    assert "admin" in received["json"]["data"]["message"]
    assert received["headers"]["webhook-id"] == received["json"]["id"]
    delivered = wait_until(lambda: deliveries(d, hook, status="delivered"), what="the log")
    assert [(x["event_type"], x["attempt"], x["response_status"], x["error"]) for x in delivered] == [("webhook.test", 1, 200, None)]
    assert deliveries(d, other) == [], "although it is subscribed to everything"
    receiver.status = 500
    d.http.post(path_of(hook) + "/test")
    failed = wait_until(lambda: deliveries(d, hook, status="failed"), what="one attempt")
    assert [(x["attempt"], x["response_status"], x["error"], x["next_attempt_at"]) for x in failed] == [(1, 500, "http_5xx", None)]


def test_patch_is_a_merge_patch(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver, event_types=["cluster.ready"], description="first", max_in_flight=3,
                     headers={"Authorization": "Bearer very-secret", "X-Team": "blue"})
    assert hook["header_names"] == ["Authorization", "X-Team"] and hook["max_in_flight"] == 3
    path, http = path_of(hook), d.http
    tag = http.get(path).headers["ETag"]
    same = http.patch(path, json={"description": "first"})
    assert same.status_code == 200 and same.headers["ETag"] == tag, "nothing was changed"
    changed = http.patch(path, json={"event_types": None, "description": None, "headers": {"x-team": None, "X-Stage": "prod"},
                                     "max_in_flight": None}, headers={"If-Match": tag})
    assert changed.status_code == 200, changed.text
    got = changed.json()
    assert (got["event_types"], got["description"], got["header_names"], got["max_in_flight"]) == ([], None, ["Authorization", "X-Stage"], 1)
    assert got == http.get(path).json() and changed.headers["ETag"] != tag
    assert http.patch(path, json={}, headers={"If-Match": tag}).status_code == 412
    received = send_test(d, hook, receiver)
    assert received["headers"]["Authorization"] == "Bearer very-secret" and received["headers"]["X-Stage"] == "prod"
    assert "X-Team" not in received["headers"]

    elsewhere = http.patch(path, json={"url": "https://hooks.example.com/other"})
    assert elsewhere.status_code == 422 and elsewhere.json()["errors"][0]["pointer"] == "#/headers", "they are credentials"
    moved = http.patch(path, json={"url": receiver.url + "/more"})
    assert moved.status_code == 200 and moved.json()["header_names"] == ["Authorization", "X-Stage"], "the same host"
    moved = http.patch(path, json={"url": "https://hooks.example.com/other", "headers": {"X-New": "1"}})
    assert moved.status_code == 200 and moved.json()["header_names"] == ["X-New"]

    wrong = http.patch(path, json={"url": 1, "event_types": ["cluster.exploded"], "projects": ["nowhere"], "max_in_flight": 11, "enabled": "off", "status": "disabled",
                                   "description": "x" * 501, "headers": {"Host": "x", "X-A": "a\nb", "X-B": 1, "a/b": "x"}, "secret": "whsec_x"})
    assert wrong.status_code == 422
    faults = {e["pointer"]: e for e in wrong.json()["errors"]}
    assert set(faults) == {"#/url", "#/event_types/0", "#/projects/0", "#/max_in_flight", "#/enabled", "#/status", "#/description", "#/headers/Host",
                           "#/headers/X-A", "#/headers/X-B", "#/headers/a~1b", "#/secret"}
    assert "enabled" in faults["#/status"]["valid"], "the fault names the new member"
    assert "cluster.ready" in faults["#/event_types/0"]["valid"] and "team-a" in faults["#/projects/0"]["valid"]
    assert http.get(path).json() == moved.json(), "nothing of it was taken"
    too_many = http.patch(path, json={"headers": {f"X-{i}": "v" for i in range(10)}})
    assert too_many.status_code == 422 and [e["code"] for e in too_many.json()["errors"]] == ["too_many"]


def test_wh6_rotation_signs_twice_and_then_once(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    given = "whsec_" + base64.b64encode(b"a secret of the owner's own").decode()
    hook = subscribe(d, receiver, secret=given)
    assert hook["secret"] == given
    path = path_of(hook)
    rotated = d.http.post(path + "/rotate-secret").json()
    assert rotated["secret"] != given and [k["expires_at"] is None for k in rotated["keys"]] == [True, False]
    received = send_test(d, hook, receiver)
    assert signatures(received) == [signature(rotated["secret"], received), signature(given, received)], "newest first"
    d.kill()
    d.start()
    received = send_test(d, hook, receiver)
    assert signatures(received) == [signature(rotated["secret"], received), signature(given, received)]
    last = d.http.post(path + "/rotate-secret", json={"grace_seconds": 0}).json()
    assert len(last["keys"]) == 1
    received = send_test(d, hook, receiver)
    assert signatures(received) == [signature(last["secret"], received)]
    brief = d.http.post(path + "/rotate-secret", json={"grace_seconds": 1}).json()
    wait_until(lambda: signatures(received := send_test(d, hook, receiver)) == [signature(brief["secret"], received)], what="the end of the grace")
    for body, pointer in (({"grace_seconds": 86401}, "#/grace_seconds"), ({"secret": "whsec_c2hvcnQ="}, "#/secret"), ({"signature": "v2"}, "#/signature"),
                          ({"signature": "v1a", "secret": given}, "#/secret"), ({"colour": 1}, "#/colour"), ({"a/b~c": 1}, "#/a~1b~0c")):
        refused = d.http.post(path + "/rotate-secret", json=body)
        assert refused.status_code == 422 and refused.json()["errors"][0]["pointer"] == pointer, refused.text
    wait_until(lambda: len(d.http.get(path).json()["keys"]) == 1, what="the end of the old key in the store, too")


def test_wh5_public_keys_are_shown_and_private_ones_never(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver, signature="v1a")
    assert hook["secret"] is None and hook["keys"][0]["public_key"].startswith("whpk_")
    received = send_test(d, hook, receiver)
    assert [s.split(",")[0] for s in signatures(received)] == ["v1a"]
    rotated = d.http.post(path_of(hook) + "/rotate-secret", json={"signature": "v1"}).json()
    assert rotated["secret"].startswith("whsec_") and rotated["keys"][0]["public_key"] is None
    received = send_test(d, hook, receiver)
    assert [s.split(",")[0] for s in signatures(received)] == ["v1", "v1a"]


def test_secrets_are_nowhere_in_clear(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver, headers={"Authorization": "Bearer very-secret"})
    secrets = [hook["secret"], d.http.post(path_of(hook) + "/rotate-secret").json()["secret"], "very-secret"]
    send_test(d, hook, receiver)
    answers = d.http.get("/v1/webhooks").text + d.http.get("/v1/audit").text + d.http.get("/v1/events").text + d.http.get("/metrics").text
    d.stop()
    kept = b"".join(p.read_bytes() for p in d.state.iterdir() if p.is_file())
    for secret in secrets:
        assert secret not in answers and secret not in d.log()
        assert secret.encode() not in kept and secret.removeprefix("whsec_").encode() not in kept


def test_disabled_by_the_receiver_and_back(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver, event_types=["cluster.*"])
    watcher_events = subscribe(d, receiver, event_types=["webhook.*"])
    receiver.status = 410
    d.wait_operation(d.create("gone")["operation"]["id"])
    off = wait_until(lambda: (h := d.http.get(path_of(hook)).json())["status"]["state"] == "disabled" and h, what="410 to count")
    assert "410" in off["status"]["disabled_reason"]
    event = wait_until(lambda: next((e for e in d.events() if e["type"] == "webhook.disabled" and e["data"]["webhook"] == hook["id"]), None))
    assert "410" in event["data"]["message"] and receiver.url not in json.dumps(event)
    assert [e["data"]["webhook"] for e in d.events(type="webhook.disabled")].count(hook["id"]) == 1
    assert sum("webhook disabled" in line and hook["id"] in line for line in d.log().splitlines()) == 1
    receiver.status = 200
    if not d.http.get(path_of(watcher_events)).json()["enabled"]:  # its receiver answered 410, too
        d.http.post(path_of(watcher_events) + "/enable")
    for what, body in (("/test", None), ("/recover", {"since": "2026-01-01T00:00:00Z"})):
        refused = d.http.post(path_of(hook) + what, json=body)
        assert refused.status_code == 409 and "enable" in refused.json()["detail"]
    d.wait_operation(d.create("missed")["operation"]["id"])
    assert d.http.post(path_of(hook) + "/enable").json()["status"] == BEGUN

    with receiver.lock:
        receiver.received.clear()
    wanted = {e["id"] for e in d.events() if e["type"].startswith("cluster.")}
    recovered = d.http.post(path_of(hook) + "/recover", json={"since": "2026-01-01T00:00:00Z"})
    assert recovered.status_code == 202 and recovered.json() == {"recovered": len(wanted), "more": False}
    wait_until(lambda: {r["json"]["id"] for r in receiver.received} >= wanted, what="all that was missed")
    wait_until(lambda: not deliveries(d, hook, status="pending"), what="the log")
    again = d.http.post(path_of(hook) + "/recover", json={"since": "2026-01-01T00:00:00Z"}).json()
    assert again["recovered"] == 0, "nothing is missing any more"


def status_of(d, hook):
    return d.http.get(path_of(hook)).json()["status"]


def wait_state(d, hook, state):
    return wait_until(lambda: (s := status_of(d, hook))["state"] == state and s, what=state)


def test_a_receiver_that_fails_is_shown_until_it_accepts_something(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver, event_types=["freeze.*"])
    path = path_of(hook)
    assert hook["status"] == status_of(d, hook) == BEGUN
    first = d.http.get(path)
    send_test(d, hook, receiver)
    receiver.status = 502
    d.http.post(path + "/test")
    wait_until(lambda: deliveries(d, hook, status="failed"), what="the failed test")
    freeze = {"scope": "team-a", "reason": "test"}
    assert d.http.put("/v1/freeze", json=freeze).status_code == 200
    failing = wait_state(d, hook, "failing")
    assert failing["failing_since"] == failing["last_response"]["at"] and failing["last_response"]["status"] == 502 and failing["last_response"]["error"]
    failed = d.http.get(path)
    assert failed.headers["ETag"] != first.headers["ETag"] and d.http.get(path, headers={"If-None-Match": failed.headers["ETag"]}).status_code == 304
    assert d.http.delete("/v1/freeze", params={"scope": "team-a"}).status_code == 204
    waits = wait_until(lambda: (s := status_of(d, hook))["pending_deliveries"] == 2 and s, what="the second event to wait")
    read_at = datetime.datetime.now(datetime.timezone.utc)
    held = deliveries(d, hook, status="pending")
    assert len(held) == 2 and {one["waits_for"] for one in held} <= {"time", "turn", "answer"}
    for one in held:
        assert (one["waits_for"] == "time") == (one["next_attempt_at"] is not None), one
        assert not one["next_attempt_at"] or datetime.datetime.fromisoformat(one["next_attempt_at"].replace("Z", "+00:00")) > read_at, one
    d.kill()
    d.start()
    after = status_of(d, hook)
    assert (after["state"], after["failing_since"]) == ("failing", failing["failing_since"]), "a restart changes nothing"
    assert after["pending_deliveries"] == 2 and waits["state"] == "failing"
    listed = d.http.get("/v1/webhooks").json()["items"]
    assert [h["status"]["state"] for h in listed] == ["failing"]
    receiver.status = 200
    for one in deliveries(d, hook, status="pending"):
        d.http.post(f"{path}/deliveries/{one['id']}/redeliver")
    fine = wait_until(lambda: (s := status_of(d, hook))["pending_deliveries"] == 0 and s, what="the deliveries")
    assert (fine["state"], fine["failing_since"], fine["last_response"]["status"], fine["last_response"]["error"]) == ("enabled", None, 200, None)
    changed = d.http.patch(path, json={"description": "mine"}, headers={"If-Match": first.headers["ETag"]})
    assert changed.status_code == 200 and changed.json()["status"] == fine, "attempts are no change of the webhook"
    assert d.http.patch(path, json={"url": receiver.url + "/more"}).json()["status"] == BEGUN, "another target"


def test_a_delivery_names_the_cluster_of_its_event(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver, event_types=["cluster.created", "freeze.*"])
    d.wait_operation(d.create("dev")["operation"]["id"])
    d.http.put("/v1/freeze", json={"scope": "team-a", "reason": "test"})
    test = d.http.post(path_of(hook) + "/test").json()
    assert (test["event_type"], test["project"], test["cluster"]) == ("webhook.test", None, None)
    wait_until(lambda: len(deliveries(d, hook, status="delivered")) == 3, what="the deliveries")
    found = {one["event_type"]: one for one in deliveries(d, hook)}
    assert {name: (one["project"], one["cluster"]) for name, one in found.items()} == {
        "cluster.created": ("team-a", "dev"), "freeze.started": ("team-a", None), "webhook.test": (None, None)}
    created = found["cluster.created"]
    again = d.http.post(f"{path_of(hook)}/deliveries/{created['id']}/redeliver").json()
    assert (again["project"], again["cluster"], again["waits_for"], again["next_attempt_at"]) == ("team-a", "dev", "turn", None)
    assert d.http.get(f"{path_of(hook)}/deliveries/{created['id']}").json() == created


def test_a_webhook_that_fails_is_an_issue_for_operators(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    mine = subscribe(d, receiver, event_types=["freeze.*"], projects=["team-a"], description="On call")
    of_all = subscribe(d, receiver, event_types=["freeze.*"])
    assert d.http.get("/v1/issues").json()["items"] == []
    receiver.status = 502
    assert d.http.put("/v1/freeze", json={"scope": "team-a", "reason": "test"}).status_code == 200
    failing = [wait_state(d, hook, "failing") for hook in (mine, of_all)]
    first, second = d.http.get("/v1/issues").json()["items"]
    assert first["since"] <= second["since"], "the oldest first"
    told = next(i for i in (first, second) if i["subject"] == mine["id"])
    assert (told["code"], told["severity"], told["source"], told["responsible"]) == ("webhook_failing", "warning", "webhook", "operator")
    assert (told["project"], told["cluster"], told["remedy"]) == (None, None, {"contact": "operator"}) and told["since"].split(".")[0].rstrip("Z") == failing[0]["failing_since"].split(".")[0]
    assert told["description"] == "On call: 1 event waits; the last answer was 502."
    page = d.http.get("/v1/issues", params={"limit": 1}).json()
    assert page["items"] == [first] and page["next_cursor"]
    assert d.http.get("/v1/issues", params={"limit": 1, "cursor": page["next_cursor"]}).json() == {"items": [second], "next_cursor": None}
    for query, count in (({"source": "webhook"}, 2), ({"source": "cluster"}, 0), ({"severity": "warning"}, 2), ({"severity": "info"}, 0), ({"project": "team-a"}, 2)):
        assert len(d.http.get("/v1/issues", params=query).json()["items"]) == count, query
    found = {state: [h["id"] for h in d.http.get("/v1/webhooks", params={"state": state}).json()["items"]] for state in ("failing", "enabled", "enabled,failing")}
    assert found["enabled"] == [] and found["failing"] == found["enabled,failing"] == sorted((mine["id"], of_all["id"]))
    assert d.http.get("/v1/webhooks", params={"state": "broken"}).status_code == 400
    assert client(d, "viewer", "*").get("/v1/issues").json()["items"] == [], "webhooks are for operators"
    of_team = client(d, "operator", "team-a").get("/v1/issues").json()["items"]
    assert [i["subject"] for i in of_team] == [mine["id"]], "the other one is of all projects"


def test_switched_off_and_on_by_its_owner(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver)
    off = d.http.patch(path_of(hook), json={"enabled": False}).json()
    assert off["status"]["disabled_reason"] == "switched off with the token admin"
    assert [e["data"]["webhook"] for e in d.events(type="webhook.disabled")] == [hook["id"]]
    d.kill()
    d.start()
    assert d.http.get(path_of(hook)).json() == off
    on = d.http.patch(path_of(hook), json={"enabled": True}).json()
    assert on["enabled"] and on["status"] == BEGUN
    send_test(d, hook, receiver)


def test_redeliver(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver)
    first = send_test(d, hook, receiver)
    delivered = wait_until(lambda: deliveries(d, hook, status="delivered"), what="the log")[0]
    again = d.http.post(f"{path_of(hook)}/deliveries/{delivered['id']}/redeliver")
    assert again.status_code == 202 and again.json()["id"] != delivered["id"] and again.json()["event_id"] == delivered["event_id"]
    twice = wait_until(lambda: (r := [r for r in receiver.received if r["json"]["id"] == delivered["event_id"]]) and len(r) == 2 and r)
    assert twice[0]["body"] == twice[1]["body"] == first["body"] and twice[0]["headers"]["webhook-id"] == twice[1]["headers"]["webhook-id"]
    assert d.http.get(again.headers["Location"]).json()["event_id"] == delivered["event_id"]

    receiver.status = 503
    d.create("dev")
    waiting = wait_until(lambda: next((x for x in deliveries(d, hook, status="pending") if x["attempt"] == 2 and x["next_attempt_at"]), None),
                         timeout=40, what="a wait of minutes")
    receiver.status = 200
    hurried = d.http.post(f"{path_of(hook)}/deliveries/{waiting['id']}/redeliver")
    assert hurried.status_code == 202 and hurried.json()["id"] == waiting["id"]
    done = wait_until(lambda: (x := d.http.get(hurried.headers["Location"]).json())["status"] == "delivered" and x, what="the third attempt")
    assert done["attempt"] == 3
    assert [(a["response_status"], a["error"]) for a in done["attempts"]] == [(503, "http_5xx"), (503, "http_5xx"), (200, None)]
    assert done["attempts"][2]["at"] == done["updated_at"] and done["attempts"][2]["latency_ms"] == done["latency_ms"]
    assert [a["at"] for a in done["attempts"]] == sorted(a["at"] for a in done["attempts"]) and waiting["attempts"] == done["attempts"][:2]
    d.kill()
    d.start()
    assert d.http.get(hurried.headers["Location"]).json() == done
    first_of_all = d.http.get(f"{path_of(hook)}/deliveries/{delivered['id']}").json()
    assert [(a["response_status"], a["error"]) for a in first_of_all["attempts"]] == [(200, None)]
    for id in ("dlv_none", "x" * 60):
        assert d.http.post(f"{path_of(hook)}/deliveries/{id}/redeliver").json()["code"] == "delivery_not_found"
    other = subscribe(d, receiver)
    assert d.http.get(f"{path_of(other)}/deliveries/{delivered['id']}").json()["code"] == "delivery_not_found"


def test_pages_of_the_log(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver)
    for _ in range(7):
        d.http.post(path_of(hook) + "/test")
    wait_until(lambda: len(deliveries(d, hook, status="delivered")) == 7, what="seven tests")
    found, cursor = [], None
    while True:
        page = d.http.get(path_of(hook) + "/deliveries", params={"limit": 3, **({"cursor": cursor} if cursor else {})}).json()
        found += [x["id"] for x in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found)) == 7 and found == sorted(found, reverse=True)
    assert d.http.get(path_of(hook) + "/deliveries", params={"status": "lost"}).status_code == 400


def test_wh22_how_the_receiver_answered_is_for_admins(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver)
    receiver.status, receiver.answer = 500, b"internal \x00\xff trouble"
    d.http.post(path_of(hook) + "/test")
    failed = wait_until(lambda: deliveries(d, hook, status="failed"), what="a failure")[0]
    assert failed["response_snippet"].startswith("internal ") and "trouble" in failed["response_snippet"]
    with client(d, "operator", "*") as operator:
        seen = operator.get(f"{path_of(hook)}/deliveries/{failed['id']}").json()
        assert seen == {k: v for k, v in failed.items() if k != "response_snippet"}


def test_ownership_by_projects(sim, make_shootd, receiver):
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", harness.PROJECT_ID), ("team-b", "Sto2", OTHER)]).start()
    with client(d, "operator", "team-a") as a, client(d, "operator", "team-b") as b, client(d, "viewer", "*") as viewer:
        hook = a.post("/v1/webhooks", json={"url": receiver.url}).json()
        assert hook["projects"] == ["team-a"]
        for what, more in (("GET", {}), ("PATCH", {"json": {"description": "x"}}), ("DELETE", {})):
            assert b.request(what, path_of(hook), **more).json()["code"] == "webhook_not_found"
            assert viewer.request(what, path_of(hook), **more).status_code == 403
        for what in ("/test", "/enable", "/rotate-secret", "/deliveries/x/redeliver"):
            assert b.post(path_of(hook) + what).json()["code"] == "webhook_not_found"
        assert b.get(path_of(hook) + "/deliveries").json()["code"] == "webhook_not_found"
        assert a.patch(path_of(hook), json={"projects": ["team-b"]}).status_code == 422
        assert a.patch(path_of(hook), json={"projects": ["*"]}).status_code == 422
        wide = d.http.patch(path_of(hook), json={"projects": ["team-a", "team-b"]})
        assert wide.status_code == 200 and a.get(path_of(hook)).status_code == 404, "it reaches further than the token now"


def test_two_changes_at_once_lose_nothing(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: web.patch(d.url + path_of(hook), json={"headers": {f"X-{i}": "v"}},
                                                      headers={"Authorization": f"Bearer {d.token()}"}, timeout=30), range(8)))
    assert {a.status_code for a in answers} == {200}
    assert sorted(d.http.get(path_of(hook)).json()["header_names"]) == [f"X-{i}" for i in range(8)]
    tag = d.http.get(path_of(hook)).headers["ETag"]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: web.patch(d.url + path_of(hook), json={"description": str(i)},
                                                      headers={"Authorization": f"Bearer {d.token()}", "If-Match": tag}, timeout=30), range(8)))
    assert sorted(a.status_code for a in answers) == [200] + [412] * 7


def test_every_change_is_audited(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = subscribe(d, receiver)
    send_test(d, hook, receiver)
    wait_until(lambda: deliveries(d, hook, status="delivered"))
    d.http.patch(path_of(hook), json={"headers": {"Authorization": "Bearer x"}})
    d.http.post(path_of(hook) + "/rotate-secret")
    d.http.post(path_of(hook) + "/recover", json={"since": "2026-01-01T00:00:00Z"})
    d.http.patch(path_of(hook), json={"enabled": False})
    d.http.post(path_of(hook) + "/enable")
    told = [(e["action"], e["target"]) for e in d.http.get("/v1/audit", params={"limit": 100}).json()["items"] if e["target"] == hook["id"]]
    assert [a for a, _ in reversed(told)] == ["createWebhook", "testWebhook", "patchWebhook", "rotateWebhookSecret", "recoverWebhook", "patchWebhook",
                                             "enableWebhook"]


def test_recoveries_at_once_send_nothing_twice(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    d.wait_operation(d.create("dev")["operation"]["id"])
    hook = subscribe(d, receiver, event_types=["cluster.*", "operation.*"])
    missed = len(d.events(type="cluster.*,operation.*"))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: web.post(d.url + path_of(hook) + "/recover", json={"since": "2026-01-01T00:00:00Z"},
                                                     headers={"Authorization": f"Bearer {d.token()}"}, timeout=30), range(8)))
    assert sum(a.json()["recovered"] for a in answers if a.status_code == 202) == missed
    assert {a.status_code for a in answers} <= {202, 409}
    assert len(deliveries(d, hook, limit=1000)) == missed


def test_wh15_owners_of_several_projects_hear_of_it(sim, make_shootd, receiver):
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", harness.PROJECT_ID), ("team-b", "Sto2", OTHER)]).start()
    hook = subscribe(d, receiver, projects=["team-a", "team-b"])
    d.http.patch(path_of(hook), json={"enabled": False})
    for project in ("team-a", "team-b"):
        with client(d, "viewer", project) as viewer:
            events = viewer.get("/v1/events", params={"type": "webhook.disabled"}).json()["items"]
            assert [e["data"]["webhook"] for e in events] == [hook["id"]]
    refused = d.http.post("/v1/webhooks", json={"url": receiver.url, "event_types": ["*"] * 201})
    assert refused.status_code == 422 and refused.json()["errors"][0]["code"] == "too_many"


def test_webhooks_of_a_revoked_token_say_so_and_are_disabled_by_choice(shootd, receiver):
    def token(name, role="operator"):
        made = shootd.http.post("/v1/tokens", json={"name": name, "role": role, "projects": ["*"]}).json()
        return made["id"], web.Client(base_url=shootd.url, timeout=60, headers={"Authorization": "Bearer " + made["token"]})

    def hook(client):
        made = client.post("/v1/webhooks", json={"url": receiver.url}).json()
        assert made["token_revoked_at"] is None
        return made["id"]

    def read(id):
        return shootd.http.get("/v1/webhooks/" + id).json()

    (kept, a), (stopped, b), (namesake, c) = token("ci"), token("leaver"), token("leaver")
    of_a, of_b, of_c, of_admin = hook(a), hook(b), hook(c), hook(shootd.http)
    assert read(of_b)["created_by"] == read(of_c)["created_by"] == "leaver" and read(of_b)["created_by_token_id"] == stopped
    wrong = shootd.http.delete("/v1/tokens/" + stopped, params={"webhooks": "burn"})
    assert wrong.status_code == 400 and wrong.json()["errors"][0]["valid"] == ["keep", "disable"]
    before = read(of_a)
    assert shootd.http.delete("/v1/tokens/" + kept).status_code == 204
    after = read(of_a)
    assert after["enabled"] and after["token_revoked_at"] and before["token_revoked_at"] is None
    assert shootd.http.delete("/v1/tokens/" + stopped, params={"webhooks": "disable"}).status_code == 204
    off = read(of_b)
    assert off["status"]["state"] == "disabled" and "revoked" in off["status"]["disabled_reason"] and off["token_revoked_at"]
    for other in (of_c, of_admin):
        assert read(other)["token_revoked_at"] is None and read(other)["enabled"]
    listed = {w["id"]: w["token_revoked_at"] for w in shootd.http.get("/v1/webhooks").json()["items"]}
    assert {id for id, at in listed.items() if at} == {of_a, of_b}
    events = shootd.http.get("/v1/events", params={"type": "webhook.disabled"}).json()["items"]
    assert len(events) == 1
    shootd.kill()
    shootd.start()
    again = read(of_a)  # the event of the other webhook has been delivered meanwhile
    assert read(of_b) == off and {**again, "status": again["status"]["state"]} == {**after, "status": "enabled"}
    for client in (a, b, c):
        client.close()
