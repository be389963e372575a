"""The scenario suite: runs every file of tests/scenarios/ in the generation that it names, or in both; with FULL=1 in all that exist for it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import scenario
from harness import FULL, SANITIZED

SCENARIOS = scenario.load_all()
ALL_RUNS = {run.id: run for one in SCENARIOS for run in one.runs()}
# A scenario mostly waits. Scenarios with a shared pair run in turn, all others at once.
AT_ONCE = 3 if SANITIZED else 7


def is_due(run):
    """A sanitizer build runs no slow scenario, and each other one with one of its generations, in turn."""
    one = run.scenario
    if SANITIZED:
        return not one.slow and run.generation == one.every_run[SCENARIOS.index(one) % len(one.every_run)]
    return FULL or run.generation in one.every_run


RUNS = {id: run for id, run in ALL_RUNS.items() if is_due(run)}


def parameters():
    for run in RUNS.values():
        marks = [pytest.mark.xfail(reason=run.scenario.xfail, strict=True, raises=scenario.Failure)] if run.scenario.xfail else []
        yield pytest.param(run.id, id=run.id, marks=marks)


class Crew:
    """Runs the selected scenarios, several at once; each test waits for its own."""

    def __init__(self, directory, ids):
        self.directory = directory
        self.shared = {}
        self.workers = ThreadPoolExecutor(AT_ONCE)
        self.ends = {}
        chosen = [RUNS[id] for id in ids]
        for generation in scenario.GENERATIONS:
            together = [r for r in chosen if not r.scenario.own and r.generation == generation]
            if together:
                line = ThreadPoolExecutor(1)
                for run in together:
                    self.ends[run.id] = line.submit(self.run_shared, run)
                line.shutdown(wait=False)
        for run in sorted((r for r in chosen if r.scenario.own), key=lambda r: not r.scenario.slow):
            self.ends[run.id] = self.workers.submit(self.run_own, run)

    def run_shared(self, run):
        if run.generation not in self.shared:
            self.shared[run.generation] = scenario.Pair(self.directory / run.generation, run.generation)
        scenario.perform(run, self.shared[run.generation])

    def run_own(self, run):
        document = run.scenario.document
        pair = scenario.Pair(self.directory / run.id, run.generation, document.get("simulator"), document.get("daemon"))
        try:
            scenario.perform(run, pair)
        finally:
            pair.stop()

    def stop(self):
        for end in self.ends.values():
            end.cancel()
        self.workers.shutdown(wait=True, cancel_futures=True)
        for end in self.ends.values():
            if not end.cancelled():
                end.exception()
        for pair in self.shared.values():
            pair.stop()


@pytest.fixture(scope="module")
def crew(request, tmp_path_factory):
    ids = [i.callspec.params["id"] for i in request.session.items
           if i.module is request.module and hasattr(i, "callspec") and "id" in i.callspec.params]
    crew = Crew(tmp_path_factory.mktemp("scenarios"), ids)
    yield crew
    crew.stop()
    print("slowest:", *[f"{id} {took:.1f}" for id, took in sorted(scenario.TOOK.items(), key=lambda i: -i[1])[:12]], sep="\n  ")


@pytest.mark.parametrize("id", parameters())
def test_scenario(crew, id):
    crew.ends[id].result()


def test_every_verb_is_used():
    used = {step["do"] for one in SCENARIOS for step in one.steps}
    assert used == set(scenario.VERBS)


def test_names_are_unique_and_short_enough():
    names = {}
    for run in ALL_RUNS.values():
        name = scenario.short_name(run)
        assert len(name) <= 13, "a second cluster of a scenario takes two more"
        assert names.setdefault(name, run.scenario.stem) == run.scenario.stem
    assert len({one.document["name"] for one in SCENARIOS}) == len(SCENARIOS)


def test_labels_tell_the_steps_of_a_file_apart():
    for one in SCENARIOS:
        labels = [(step["label"], step.get("only")) for step in one.steps]
        assert len(labels) == len(set(labels)), one.path.name


def test_what_a_scenario_without_slow_ones_still_covers():
    kinds = {step["kind"] for one in SCENARIOS for step in one.steps if step["do"] == "fault"}
    fast = {step["kind"] for one in SCENARIOS for step in one.steps if step["do"] == "fault" and not one.slow}
    assert kinds == fast, "sanitizer builds leave slow files out, but no kind of fault"
    assert {s["do"] for o in SCENARIOS for s in o.steps} == {s["do"] for o in SCENARIOS for s in o.steps if not o.slow}


@pytest.mark.parametrize("step, said", [
    ({"do": "create"}, "label"),
    ({"label": "x", "do": "fly"}, "no verb 'fly'"),
    ({"label": "x", "do": "create", "colour": 1}, "does not know ['colour']"),
    ({"label": "x", "do": "patch"}, "lacks ['body']"),
    ({"label": "x", "do": "create", "only": "v9"}, "only is of"),
])
def test_mistakes_name_the_file_and_the_step(step, said):
    with pytest.raises(scenario.Mistake) as raised:
        scenario.check_step("a.yaml", 7, step)
    assert "a.yaml, step 7" in str(raised.value) and said in str(raised.value)
