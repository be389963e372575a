"""Show 3: whatever happens to the answer to a create, there is one shoot and the operation succeeds."""

import pytest

from harness import PROJECT_ID, generations

CASES = {
    "dropped after the effect": dict(kind="drop", effect=True),
    "dropped before the effect": dict(kind="drop", effect=False),
    "502 after the effect": dict(kind="status", status=502, effect=True),
    "502 before the effect": dict(kind="status", status=502, effect=False),
    "503 with Retry-After": dict(kind="status", status=503, effect=False, headers={"Retry-After": "1"}),
    "503 after the effect": dict(kind="status", status=503, effect=True),
    "500 before the effect": dict(kind="status", status=500, effect=False),
    "429 before the effect": dict(kind="status", status=429, effect=False, headers={"Retry-After": "1"}),
    "rubbish after the effect": dict(kind="garbage", effect=True),
    "truncated": dict(kind="truncate"),
    "wrong types": dict(kind="wrong_types"),
    "unauthorized": dict(kind="unauthorized"),
    "forbidden IP": dict(kind="forbidden_ip"),
}


# Each generation has a decoder of its own for these.
DECODED = {"rubbish after the effect", "wrong types", "unknown_enum", "reorder", "omit_optional", "wrong_types"}


def by_generation(cases):
    return [(generation, case) for case in cases for generation in generations(case in DECODED)]


@pytest.mark.parametrize("generation, case", by_generation(CASES))
def test_create(sim, make_shootd, generation, case):
    d = make_shootd(sim.url, api=generation).start()
    sim.fault("create_shoot", **CASES[case])
    op = d.wait_operation(d.create("dev")["operation"]["id"])
    assert op["status"] == "succeeded", op
    assert sim.counters()["creates"] == {"dev": 1}
    assert d.wait_phase("dev", "ready")


@pytest.mark.parametrize("case", ["dropped after the effect", "dropped before the effect", "502 after the effect",
                                  "503 with Retry-After", "rubbish after the effect"])
def test_delete(sim, shootd, case):
    shootd.create("dev")
    shootd.wait_phase("dev", "ready")
    sim.fault("delete_shoot", **CASES[case])
    op = shootd.http.delete(shootd.clusters_path("dev")).json()["operation"]
    assert shootd.wait_operation(op["id"])["status"] == "succeeded"
    shootd.wait_gone("dev")
    assert sim.counters()["deletes"] == {"dev": 1}


@pytest.mark.parametrize("case", ["dropped after the effect", "500 before the effect"])
def test_bootstrap(sim, shootd, case):
    sim.fault("bootstrap", **CASES[case])
    assert shootd.wait_operation(shootd.create("dev")["operation"]["id"])["status"] == "succeeded"


def test_name_taken_elsewhere_fails_clearly(make_sim, make_shootd):
    other = "f" * 32
    sim = make_sim(project=[PROJECT_ID, other])
    sim.post("shoots", count=1, prefix="taken", state="ready", project=other)
    d = make_shootd(sim.url).start().wait_upstream()
    refused = d.http.post(d.clusters_path(), json={"name": "taken-0000"})
    assert refused.status_code == 409 and refused.json()["code"] == "name_taken" and not sim.requests("create_shoot")
    sim.fault("name_taken", "status", status=500, count=0)  # the name check fails, and the create itself finds the cluster
    op = d.wait_operation(d.create("taken-0000")["operation"]["id"])
    assert op["status"] == "failed" and op["error"]["code"] == "name_taken"
    assert d.cluster("taken-0000").json()["status"]["phase"] == "failed"
    sim.clear_faults()  # the name is checked again: the failed record is not replaced
    for write, path, body, params in ((d.http.post, d.clusters_path(), {"name": "taken-0000"}, {}), (d.http.put, d.clusters_path("taken-0000"), {}, {}),
                                      (d.http.post, d.clusters_path(), {"name": "taken-0000"}, {"dry_run": "true"})):
        again = write(path, json=body, params=params)
        assert (again.status_code, again.json()["code"]) == (409, "name_taken"), again.text
    assert d.http.delete(d.clusters_path("taken-0000")).status_code == 202
    d.wait_gone("taken-0000")
    assert "taken-0000" not in sim.counters()["deletes"], "a stranger's cluster must never be deleted"


def test_a_strangers_cluster_of_the_same_name_is_left_alone(sim, make_shootd):
    """Another user made a cluster of this name in our own project."""
    d = make_shootd(sim.url, polling="{active: 1h, idle: 1h, discovery: 1h}").start()
    d.wait_upstream()
    sim.post("shoots", count=1, prefix="theirs", state="ready")
    sim.fault("name_taken", "status", status=500, count=0)
    op = d.wait_operation(d.create("theirs-0000")["operation"]["id"])
    assert op["error"]["code"] == "name_taken"
    assert d.http.delete(d.clusters_path("theirs-0000")).status_code == 202
    d.wait_gone("theirs-0000")
    d.wait_operation(d.create("theirs-0000")["operation"]["id"])
    d.stop()
    d.config.write_text(d.config.read_text().replace(": 1h", ": 1s"))
    d.start()
    found = d.wait_phase("theirs-0000", "ready")
    assert found["managed"] is False and found["spec"] is None
    assert sim.counters()["deletes"] == {}


@pytest.mark.parametrize("generation, kind", by_generation(["garbage", "truncate", "wrong_types", "unknown_enum", "reorder", "omit_optional",
                                                            "drop", "oversize", "forbidden_ip", "no_privilege"]))
def test_polls_survive(sim, make_shootd, generation, kind):
    d = make_shootd(sim.url, api=generation).start()
    with sim.lasting("create"):
        d.create("dev")
        d.wait_phase("dev", "creating")
        for operation in ("list_shoots", "get_shoot"):
            sim.fault(operation, kind, count=2)
    assert d.wait_phase("dev", "ready")["status"]["stale"] is False
    assert d.process.popen.poll() is None
