"""Real deliveries, verified by the npm packages standardwebhooks and svix and by Node's Ed25519, also while keys change."""

import pytest

from harness import ROOT, verify_delivery, wait_until


@pytest.fixture(autouse=True)
def libraries():
    if not (ROOT / "tests/js/node_modules/svix").is_dir():
        pytest.skip("tests/js/node_modules is absent; `make deps-test` installs it")


def delivered(d, hook, receiver):
    """The received request of a test."""
    answer = d.http.post(f"/v1/webhooks/{hook['id']}/test")
    assert answer.status_code == 202, answer.text
    event = answer.json()["event_id"]
    return wait_until(lambda: next((r for r in receiver.received if r["json"]["id"] == event), None), what="a delivery")


def rotate(d, hook, **body):
    answer = d.http.post(f"/v1/webhooks/{hook['id']}/rotate-secret", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def expect_genuine(delivery, secrets=(), public_keys=()):
    genuine, said = verify_delivery(delivery, secrets, public_keys)
    assert genuine and said.strip() == "webhook.test", said


def test_wh4_wh5_wh6_reference_libraries_verify_through_rotations(sim, make_shootd, receiver):
    d = make_shootd(sim.url).start()
    hook = d.http.post("/v1/webhooks", json={"url": receiver.url, "headers": {"Authorization": "Bearer x"}}).json()
    first = hook["secret"]
    one = delivered(d, hook, receiver)
    expect_genuine(one, [first])
    assert not verify_delivery({**one, "body": one["body"] + b" "}, [first])[0], "a changed body must not verify"

    second = rotate(d, hook)["secret"]
    both = delivered(d, hook, receiver)
    expect_genuine(both, [first, second])
    assert not verify_delivery(one, [second])[0], "it was signed before the second key was there"

    public = rotate(d, hook, signature="v1a")["keys"][0]["public_key"]
    three = delivered(d, hook, receiver)
    expect_genuine(three, [first, second], [public])
    assert not verify_delivery({**three, "body": three["body"] + b" "}, [], [public])[0]
    assert not verify_delivery(both, [], [public])[0]

    rotate(d, hook, signature="v1a", grace_seconds=0)
    four = delivered(d, hook, receiver)
    for secrets, keys in (([first], []), ([second], []), ([], [public])):
        assert not verify_delivery(four, secrets, keys)[0], "their time is over"
    expect_genuine(four, [], [d.http.get(f"/v1/webhooks/{hook['id']}").json()["keys"][0]["public_key"]])
