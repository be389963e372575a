"""Many clients at once over one state."""

import concurrent.futures

import web
from conftest import create_body, worker_body


def play(sim, number):
    """One client: makes a shoot, reads it, changes it, deletes it."""
    name = f"many-{number}"
    statuses = []
    with web.Client(base_url=sim.url, headers=sim.auth, timeout=30) as http:
        path = f"{sim.SHOOTS}/{name}"
        statuses.append(http.post(sim.SHOOTS, json=create_body(name)).status_code)
        for _ in range(10):
            statuses.append(http.get(path).status_code)
            statuses.append(http.get(sim.SHOOTS).status_code)
            http.get("/_sim/state")
            http.post("/_sim/faults", json={"operation": "node_names", "kind": "reorder"})
            http.post("/_sim/clock", json={"advance_seconds": 30})
            http.put(f"{path}/workers/wg1", json=worker_body(maximum=number + 2))
            http.get(path.replace("v2/public/shoots", "v1/public/shoot"))
            http.post(f"{path}/admin-kubeconfig", json={"expiration_seconds": 600})
            http.get(f"{path}/monitoring/workers/wg1/nodes")
        statuses.append(http.delete(path).status_code)
    return statuses


def test_eight_clients(sim):
    sim.bootstrap()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for statuses in pool.map(lambda number: play(sim, number), range(8)):
            assert statuses[0] == statuses[-1] == 202 and set(statuses[1:-1]) == {200}
    counters = sim.counters()
    assert counters["max_in_flight"] <= 8
    assert counters["by_operation"]["create_shoot"]["effects"] == 8 and len(counters["deletes"]) == 8
