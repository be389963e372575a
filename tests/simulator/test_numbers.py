"""A number is written with the fewest digits that give the same number when read."""

import json

import pytest

NUMBERS = [0.1, 0.3, 1 / 3, 5e-324, 1.7e308, 123456.789, 998195200.0, 0.07, 2.2, 1e15, 1e16, 1e22, 0.0001, 0.00001, 720.0, 1e9,
           0.1 + 0.2, 9007199254740993.0]


def reals(text):
    found = []
    json.loads(text, parse_float=found.append)
    return found


def check(text):
    found = reals(text)
    for number in found:
        assert len(number) <= len(repr(float(number))), number
    return found


@pytest.mark.parametrize("number", [n for n in NUMBERS if n <= 1e9])
def test_a_setting_comes_back_as_it_was_written(sim, number):
    answer = sim.http.post("/_sim/settings", json={"care_seconds": number})
    assert str(json.loads(answer.text, parse_float=str)["care_seconds"]) in (repr(number), repr(number).replace("e-0", "e-"))
    check(answer.text)


def test_every_number_of_an_answer(sim):
    sim.ready()
    answer = sim.call("GET", "/monitoring/workers/wg1/nodes/overview")
    assert len(check(answer.text)) >= 7
    node = answer.json()[0]["node_name"]
    assert check(sim.call("GET", f"/monitoring/nodes/{node}").text) == ["4.391667", "33.35398"]
    sim.fault("node_details", "wrong_types")
    assert sim.call("GET", f"/monitoring/nodes/{node}").json()["cpu_utilization"] == "4.391667"


def test_texts_are_left_alone(sim):
    """Numbers inside texts, and other texts that look like numbers."""
    sim.control("POST", "/replay", {"answers": [
        {"operation": "list_shoots", "status": 200, "body": {
            "0.10000000000000001": "0.10000000000000001", "a\\\"0.10000000000000001": "\\", "n": [1e22, True, None, -0.0, -1.5e-7]}}]})
    answer = sim.request("GET", sim.SHOOTS)
    assert answer.json() == {"0.10000000000000001": "0.10000000000000001", "a\\\"0.10000000000000001": "\\",
                             "n": [1e22, True, None, -0.0, -1.5e-7]}
    check(answer.text)
