"""Two clients edit one cluster: If-Match accepts one, the other reads again, and no change is lost (HT-17, HT-20)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import web


@pytest.fixture
def editors(shootd):
    shootd.http.post(shootd.clusters_path(), json={"name": "dev"}, params={"wait": 55})
    clients = [web.Client(base_url=shootd.url, headers=shootd.http.headers, timeout=60) for _ in range(2)]
    yield shootd, clients
    for c in clients:
        c.close()


def edit(path, client, member, value, read):
    """The write of a careful client: it changes the document that it read, and writes only if the document is still the same."""
    body = {"labels": read.json()["labels"], "spec": read.json()["spec"]}
    if member == "labels":
        body["labels"] = {**body["labels"], **value}
    else:
        body["spec"] = {**body["spec"], member: value}
    return client.put(path, json=body, headers={"If-Match": read.headers["ETag"]})


@pytest.mark.parametrize("changes", [
    (("maintenance", {"auto_update_kubernetes": False}), ("allowed_cidrs", ["192.0.2.0/24"])),
    (("labels", {"a": "1"}), ("labels", {"b": "2"})),
    (("labels", {"a": "1"}), ("allowed_cidrs", ["192.0.2.0/24"])),
])
def test_ht17_one_of_two_edits_is_412_and_nothing_is_lost(editors, changes):
    d, clients = editors
    path = d.clusters_path("dev")
    reads = [c.get(path) for c in clients]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda i: edit(path, clients[i], *changes[i], reads[i]), range(2)))
    statuses = sorted(a.status_code for a in answers)
    assert statuses[1] == 412 and statuses[0] in (200, 202), [a.text for a in answers]
    late = next(i for i in range(2) if answers[i].status_code == 412)
    assert answers[late].json()["code"] == "precondition_failed"
    again = edit(path, clients[late], *changes[late], clients[late].get(path))
    assert again.status_code in (200, 202), again.text
    done = d.http.put(path, params={"wait": 55}, json={"labels": again.json()["labels"], "spec": again.json()["spec"]})
    assert done.status_code == 200, done.text
    cluster = done.json()
    for member, value in changes:
        if member == "labels":
            assert value.items() <= cluster["labels"].items()
        elif member == "maintenance":
            assert cluster["observed"]["maintenance"]["auto_update_kubernetes"] is False
        else:
            assert cluster["observed"][member] == value
    assert cluster["drift"] == []


def test_a_poll_between_read_and_write_is_no_conflict(editors):
    d, clients = editors
    path = d.clusters_path("dev")
    read = clients[0].get(path)
    fresh = clients[1].get(path, headers={"Cache-Control": "no-cache"})
    assert fresh.headers["Observed-At"] > read.headers["Observed-At"], "it was observed anew"
    assert edit(path, clients[0], "labels", {"a": "1"}, read).status_code == 200
    # A write of another client counts, whatever it changed.
    assert edit(path, clients[1], "labels", {"b": "2"}, fresh).status_code == 412
