"""Show 2: kill -9 at random moments during creates and deletes, 50 of each with FULL=1."""

import os
import random
import time

import httpx

from harness import SANITIZED, size, wait_until

ROUNDS, KILLS = (12, 5) if SANITIZED else size((20, 7), (50, 14))


def settle(d, id):
    return d.wait_operation(id, timeout=90)


def test_wh17_kill_at_random_points_loses_and_repeats_nothing(sim, make_shootd):
    seed = int(os.environ.get("CRASH_SEED", "20261121"))
    rng = random.Random(seed)
    print("seed", seed)
    sim.post("settings", durations={"create": 360, "delete": 200})
    d = make_shootd(sim.url).start()
    accepted = {}
    uncertain = set()
    kill_at = sorted(rng.sample(range(1, 2 * ROUNDS), KILLS))
    step = 0

    def order(method, path, **more):
        """Sends a write; None when the daemon was killed before its answer."""
        try:
            return d.http.request(method, path, **more)
        except httpx.HTTPError:
            return None

    def maybe_kill():
        nonlocal step
        step += 1
        if kill_at and step >= kill_at[0]:
            kill_at.pop(0)
            time.sleep(rng.random() * 0.15)
            d.kill()
            d.start()

    names = [f"c{i}" for i in range(ROUNDS)]
    for name in names:
        answer = order("POST", d.clusters_path(), json={"name": name})
        if answer is not None and answer.status_code == 202:
            accepted[answer.json()["operation"]["id"]] = ("create", name)
        else:
            uncertain.add(name)
        maybe_kill()
    for name in rng.sample(names, ROUNDS):
        answer = order("DELETE", d.clusters_path(name))
        if answer is not None and answer.status_code == 202:
            accepted[answer.json()["operation"]["id"]] = ("delete", name)
        maybe_kill()

    for id, (kind, name) in accepted.items():
        op = settle(d, id)
        if kind == "delete":
            assert op["status"] == "succeeded", (name, op)
        else:
            assert op["status"] in ("succeeded", "cancelled"), (name, op)
    creates = sim.counters()["creates"]
    assert all(count == 1 for count in creates.values()), creates

    wait_until(lambda: not d.http.get("/v1/clusters").json()["items"], timeout=90, what="all clusters to be gone")
    events = d.events()
    assert [e["sequence"] for e in events] == list(range(1, len(events) + 1)), "dense, none missing, none twice"
    assert len({e["id"] for e in events}) == len(events)
    for id, (kind, name) in accepted.items():
        ends = [e for e in events if e["type"] in ("operation.succeeded", "operation.failed")
                and e["data"]["operation_id"] == id]
        assert len(ends) == 1, (kind, name, ends)
    for name in creates:
        mine = [e["type"] for e in events if e["data"].get("cluster") == name]
        assert mine.count("cluster.created") <= 1 and mine.count("cluster.deleted") == 1, (name, mine)
