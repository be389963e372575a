"""GET, edit, PUT of a whole spec: members that only Cleura sets may be sent back unchanged, and no change is ignored silently."""

import pytest

NIGHTS = {"start": "0 18 * * 1-5", "end": "0 7 * * 1-5"}
WEEKENDS = {"start": "0 18 * * 5", "end": "0 7 * * 1"}
STOCKHOLM = NIGHTS | {"location": "Europe/Stockholm"}


@pytest.fixture
def d(sim, make_shootd, generation):
    """A cluster of another user, with a schedule that was made in Cleura's control panel."""
    d = make_shootd(sim.url, api=generation).start()
    sim.http.put("/_sim/state", json={"bootstrapped": [], "shoots": [{"name": "dev", "spec": {"schedules": [STOCKHOLM]}}]}).raise_for_status()
    d.wait_phase("dev", "ready")
    return d


def schedules(d):
    return d.cluster("dev").json()["observed"]["hibernation_schedules"]


def put(d, spec, **more):
    return d.http.put(d.clusters_path("dev"), json={"spec": spec}, **more)


def sent(sim):
    return [r for r in sim.requests() if r["method"] not in ("GET", "HEAD") and "/auth/" not in r["path"]]


def test_a_read_document_can_be_sent_back(sim, d):
    observed = d.cluster("dev").json()["observed"]
    assert observed["hibernation_schedules"] == [STOCKHOLM] and observed["uid"]
    sim.forget()
    answer = put(d, observed)
    assert answer.status_code == 200, answer.text
    assert not sent(sim) and answer.json()["spec"] == observed and answer.json()["drift"] == []
    again = put(d, d.cluster("dev").json()["spec"])
    assert again.status_code == 200 and not sent(sim)
    # After the edit one member differs, and only that is sent.
    assert observed["maintenance"]["begin"] != "013000+0000", "the simulator gives full hours"
    observed["maintenance"] |= {"begin": "013000+0000", "end": "023000+0000"}
    changed = put(d, observed)
    assert changed.status_code == 202, changed.text
    assert d.wait_operation(changed.json()["operation"]["id"])["status"] == "succeeded"
    assert schedules(d) == [STOCKHOLM] and len(sent(sim)) == 1


@pytest.mark.parametrize("generation", ["v2"])
def test_read_only_members_cannot_be_changed(d):
    observed = d.cluster("dev").json()["observed"]
    for member in ("uid", "technical_id", "purpose"):
        answer = put(d, {member: "other"})
        [fault] = answer.json()["errors"]
        assert (answer.status_code, fault["code"], fault["pointer"], fault["valid"]) == (422, "read_only", f"#/spec/{member}", [observed[member]])
    new = d.http.put(d.clusters_path("new"), json={"spec": {"uid": observed["uid"]}})
    assert new.json()["errors"][0]["code"] == "unknown_member"


def test_a_second_schedule_does_not_move_the_first_in_silence(sim, d):
    assert put(d, {}).status_code == 200, "adopted"
    sim.forget()
    for wanted in ([NIGHTS, WEEKENDS], [STOCKHOLM, WEEKENDS], [NIGHTS | {"location": None}, WEEKENDS]):
        for method in ("PUT", "PATCH"):
            answer = d.http.request(method, d.clusters_path("dev"), json={"spec": {"hibernation_schedules": wanted}})
            [fault] = answer.json()["errors"]
            assert (answer.status_code, fault["code"], fault["pointer"], fault["valid"]) == \
                (422, "time_zone_lost", "#/spec/hibernation_schedules/0/location", ["UTC"]), answer.text
            assert "Europe/Stockholm" in fault["detail"]
    assert not sent(sim) and schedules(d) == [STOCKHOLM]

    said = put(d, {"hibernation_schedules": [NIGHTS | {"location": "UTC"}, WEEKENDS]})
    assert said.status_code == 202, said.text
    assert d.wait_operation(said.json()["operation"]["id"])["status"] == "succeeded"
    now = d.cluster("dev").json()
    assert sorted(s["start"] for s in schedules(d)) == ["0 18 * * 1-5", "0 18 * * 5"]
    assert not any(s.get("location") for s in schedules(d)) and now["drift"] == []
    assert put(d, now["spec"]).status_code == 200


def test_times_in_utc_alone_are_a_change(d):
    """The same start and end in another time zone is another schedule."""
    said = put(d, {"hibernation_schedules": [NIGHTS | {"location": "UTC"}]})
    assert said.status_code == 202, said.text
    assert d.wait_operation(said.json()["operation"]["id"])["status"] == "succeeded"
    assert not schedules(d)[0].get("location")


def test_no_other_zone_can_be_asked_for(d):
    for wanted in ([WEEKENDS | {"location": "Europe/Stockholm"}], [NIGHTS | {"location": "Europe/Berlin"}]):
        answer = put(d, {"hibernation_schedules": wanted})
        assert answer.status_code == 422
        assert ("unknown_value", ["UTC"]) in [(f["code"], f["valid"]) for f in answer.json()["errors"]]
    assert put(d, {"hibernation_schedules": [WEEKENDS]}).status_code == 202, "what goes is no loss"
