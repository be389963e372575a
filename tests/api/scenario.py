"""Scenarios: each file in tests/scenarios/ is one, with a list of labelled steps. A step names a verb of the table below. An unknown
verb, member or operator is a Mistake that names the file and the step. See tests/scenarios/README.md."""

import copy
import fcntl
import itertools
import json
import pathlib
import pickle
import re
import time

import httpx
import yaml

import harness
from harness import BUILD, PROJECT_ID, ROOT, wait_until

DIRECTORY = ROOT / "tests" / "scenarios"
POLLING = "{active: 100ms, idle: 500ms, discovery: 1s}"
GENERATIONS = ("v2", "v1")
# The word of a file: the generations that exist for it (FULL=1 has them all), and those of every run.
WORDS = {"both": (GENERATIONS, GENERATIONS), "v2": (GENERATIONS, ("v2",)), "v1": (GENERATIONS, ("v1",)),
         "only v2": (("v2",), ("v2",)), "only v1": (("v1",), ("v1",))}
FILE_MEMBERS = {"name", "why", "generations", "own", "slow", "xfail", "simulator", "daemon", "each", "conflicts", "overlap",
                "steps"}
CHANGES = ("create_shoot", "edit_shoot", "delete_shoot", "create_worker", "update_worker", "delete_worker", "hibernate",
           "wake", "reconcile", "retry", "maintenance", "enable_ha", "rotate_ca")
OF_NO_SHOOT = ("*", "list_shoots", "bootstrap", "create_token", "validate_token", "cloud_profiles", "current_projects", "quota")
ENDS = ("succeeded", "failed", "cancelled")
PATIENCE_S = 60
TOOK = {}  # seconds by run


class Mistake(Exception):
    """The scenario file is wrong, not the program."""


class Failure(AssertionError):
    """An expectation of a step was not met."""


# ---- files ---------------------------------------------------------------------------------------------------------

class Loader(yaml.CSafeLoader):
    """Refuses a duplicate member."""

    def construct_mapping(self, node, deep=False):
        keys = [k.value for k, _ in node.value]
        twice = {k for k in keys if keys.count(k) > 1}
        if twice:
            raise Mistake(f"{node.start_mark}: {sorted(twice)} stands twice")
        return super().construct_mapping(node, deep)


class Scenario:
    """One file. Its `runs` are the generations that exist for it times its `each` values; those of `every_run` are run without FULL=1."""

    def __init__(self, path):
        self.path = path
        self.stem = path.stem
        document = yaml.load(path.read_text(), Loader)
        self.check_file(document)
        self.document = document
        (word,) = document["generations"]
        self.generations, self.every_run = WORDS[word]
        self.own = document.get("own", False)
        self.slow = document.get("slow", False)
        self.xfail = document.get("xfail")
        self.steps = document["steps"]
        for number, step in enumerate(self.steps, 1):
            check_step(path.name, number, step)

    def check_file(self, document):
        unknown = set(document) - FILE_MEMBERS
        missing = {"name", "why", "generations", "steps"} - set(document)
        if unknown or missing:
            raise Mistake(f"{self.path.name}: unknown {sorted(unknown)}, missing {sorted(missing)}")
        told = document["generations"]
        if not isinstance(told, dict) or len(told) != 1 or set(told) - set(WORDS) or not all(told.values()):
            raise Mistake(f"{self.path.name}: generations are one word of {sorted(WORDS)}, with a reason")
        if set(told) != {"both"} and any("only" in step for step in document["steps"]):
            raise Mistake(f"{self.path.name}: a step for one generation needs both")
        own_only = {"simulator", "daemon"} & set(document)
        if own_only and not document.get("own"):
            raise Mistake(f"{self.path.name}: {sorted(own_only)} need own: true")

    def runs(self):
        each = self.document.get("each", {})
        for generation in self.generations:
            for values in itertools.product(*each.values()):
                yield Run(self, generation, dict(zip(each, values)))


class Run:
    def __init__(self, scenario, generation, parameters):
        self.scenario = scenario
        self.generation = generation
        self.parameters = parameters
        self.id = "-".join([scenario.stem.replace("_", "-"), generation] +
                           [f"{k.replace('_', '-')}-{str(v).replace('_', '-')}" for k, v in parameters.items()])


def load_all():
    """Loads all files. The first worker parses them for all workers, because that takes a second."""
    paths = sorted(DIRECTORY.glob("*.yaml"))
    key = [(str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in (*paths, pathlib.Path(__file__))]
    cache = BUILD / "scenarios.pickle"
    with cache.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            known, scenarios = pickle.loads(cache.read_bytes())
        except Exception:  # no file, an incomplete one, or one with classes that no longer exist
            known = None
        if known != key:
            scenarios = [Scenario(path) for path in paths]
            draft = cache.with_suffix(".new")
            draft.write_bytes(pickle.dumps((key, scenarios)))
            draft.replace(cache)
    return scenarios


# ---- verbs: the table ----------------------------------------------------------------------------------------------

VERBS = {}
COMMON = {"label", "do", "only"}


def verb(required="", optional=""):
    """A verb is a function of the world and the step; its docstring is its documentation."""
    def enter(function):
        VERBS[function.__name__.rstrip("_")] = (function, set(required.split()), set(optional.split()))
        return function
    return enter


def check_step(file, number, step):
    where = f"{file}, step {number} ({step.get('label', 'no label')})"
    if not isinstance(step.get("label"), str) or not step["label"]:
        raise Mistake(f"{where}: every step has a label")
    if step.get("do") not in VERBS:
        raise Mistake(f"{where}: no verb {step.get('do')!r}; there are {sorted(VERBS)}")
    if step.get("only", "v2") not in GENERATIONS:
        raise Mistake(f"{where}: only is of {GENERATIONS}")
    _, required, optional = VERBS[step["do"]]
    given = set(step) - COMMON
    if given - required - optional or required - given:
        raise Mistake(f"{where}: {step['do']} does not know {sorted(given - required - optional)}, "
                      f"lacks {sorted(required - given)}")


# ---- expectations --------------------------------------------------------------------------------------------------

MISSING = object()


def seek(value, path):
    """The value at a dotted path. Items of lists are named by number, name or type."""
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part, MISSING)
        elif isinstance(value, list):
            named = [i for i in value if isinstance(i, dict) and part in (i.get("name"), i.get("type"), i.get("path"))]
            number = int(part) if part.lstrip("-").isdigit() else None
            if number is not None and -len(value) <= number < len(value):
                value = value[number]
            else:
                value = named[0] if named else MISSING
        else:
            return MISSING
        if value is MISSING:
            return MISSING
    return value


def contains(found, wanted):
    if isinstance(wanted, dict) and isinstance(found, list):
        return any(isinstance(f, dict) and all(f.get(k, MISSING) == v for k, v in wanted.items()) for f in found)
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(found.get(k, MISSING) == v for k, v in wanted.items())
    return found is not MISSING and found is not None and wanted in found


OPERATORS = {
    "in": lambda found, wanted: found in wanted,
    "not": lambda found, wanted: found != wanted,
    "contains": contains,
    "lacks": lambda found, wanted: not contains(found, wanted),
    "absent": lambda found, wanted: (found is MISSING) is wanted,
    "matches": lambda found, wanted: isinstance(found, str) and re.search(wanted, found) is not None,
    "size": lambda found, wanted: found is not MISSING and len(found) == wanted,
    "at_least": lambda found, wanted: found is not MISSING and found >= wanted,
}


def differs(found, wanted):
    """A sentence about the difference, or None when the value is as wanted."""
    shown = "nothing" if found is MISSING else json.dumps(found)[:600]
    if isinstance(wanted, dict) and len(wanted) == 1 and next(iter(wanted)) in OPERATORS:
        operator, value = next(iter(wanted.items()))
        return None if OPERATORS[operator](found, value) else f"is {shown}, not {operator} {json.dumps(value)}"
    return None if found is not MISSING and found == wanted else f"is {shown}, not {json.dumps(wanted)}"


def faults_of(document, expected):
    found = [(path, differs(seek(document, path), wanted)) for path, wanted in expected.items()]
    return [f"{path} {said}" for path, said in found if said]


# ---- one run -------------------------------------------------------------------------------------------------------

class Pair:
    """A simulator and a daemon. The scenarios of a generation share a pair, or a scenario has its own."""

    def __init__(self, directory, generation, simulator=None, daemon=None):
        directory.mkdir(parents=True)
        self.generation = generation
        self.speed = (simulator or {}).get("speed", 720)
        self.sim = harness.Sim(directory, **{"speed": self.speed, **(simulator or {})})
        self.d = harness.Shootd(directory / "shootd", self.sim.url, api=generation,
                                **{"polling": POLLING, **(daemon or {})}).start().wait_upstream()

    def stop(self):
        try:
            self.d.stop()
        finally:
            self.sim.stop()


class World:
    """The state that the steps of one run use."""

    def __init__(self, run, pair):
        self.run = run
        self.file = run.scenario.path.name
        self.generation = run.generation
        self.pair, self.sim, self.d = pair, pair.sim, pair.d
        # A name has at most 15 characters; the second cluster of a scenario adds two ("-b").
        self.name = short_name(run)
        self.first_request = self.sim.http.get("/_sim/requests", params={"since": 1 << 60}).json()["next"]
        self.creates_before = dict(self.sim.counters()["creates"])
        self.deletes_before = dict(self.sim.counters()["deletes"])
        self.first_event = self.d.http.get("/v1/events", params={"limit": 1}).json()["newest_sequence"] or 0
        self.operations = {}
        self.last = None  # the last answer to a write, accepted or refused
        self.last_operation = None
        self.token = None

    def cluster_name(self, step):
        return self.name + ("-" + step["cluster"] if step.get("cluster") else "")

    def path(self, step, rest=""):
        return self.d.clusters_path(self.cluster_name(step)) + rest

    def requests(self, name=None):
        items = self.sim.http.get("/_sim/requests", params={"since": self.first_request}).json()["items"]
        return [i for i in items if name is None or i.get("shoot") == name]

    def changes(self, name):
        return [i for i in self.requests(name) if i["operation"] in CHANGES and i["method"] != "GET"]

    def substitute(self, value):
        if isinstance(value, dict):
            return {k: self.substitute(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.substitute(v) for v in value]
        if not isinstance(value, str):
            return value
        for name, parameter in {"cluster": self.name, "generation": self.generation, **self.run.parameters}.items():
            if value == "$" + name:
                return copy.deepcopy(parameter)
            value = value.replace("$" + name, str(parameter))
        return value

    def operation(self, step):
        name = step.get("operation")
        id = self.operations[name] if name else self.last_operation
        if not id:
            raise Mistake("no operation was accepted before")
        return id

    def look(self, id):
        return self.d.http.get(f"/v1/operations/{id}").json()

    def wait_for(self, condition, what, timeout=PATIENCE_S, interval=0.02):
        """Waits until condition() returns (True, seen)."""
        seen = [None]

        def check():
            done, seen[0] = condition()
            return done
        try:
            wait_until(check, timeout=timeout, interval=interval, what=what)
        except AssertionError as error:
            raise Failure(f"{error}; seen: {seen[0]}") from None


def short_name(run):
    """A name that is unique among the runs of a simulator: the number of the file, and a hint at its subject."""
    files = sorted(p.stem for p in DIRECTORY.glob("*.yaml"))
    hint = re.sub("[^a-z0-9]", "", run.scenario.stem)[:9]
    return f"s{files.index(run.scenario.stem):02}{hint}"


def steps_of(operation):
    return [" ".join(filter(None, [s["type"], s["target"], s["status"]])) for s in operation["steps"]]


def perform(run, pair):
    """Runs all steps in order. A failure shows the file, the label and the value found."""
    began = time.monotonic()
    world = World(run, pair)
    label = "start"
    try:
        for step in run.scenario.steps:
            if step.get("only", run.generation) != run.generation:
                continue
            label = step["label"]
            hold_time(world, step)
            VERBS[step["do"]][0](world, world.substitute(step))
        label = "what holds for every scenario"
        hold_always(world)
    except (AssertionError, KeyError, IndexError, TypeError, ValueError, httpx.HTTPError) as error:
        raise Failure(report(world, label, error)) from (None if isinstance(error, AssertionError) else error)
    except Mistake as error:
        raise Mistake(f"{world.file}, step '{label}': {error}") from None
    finally:
        pair.sim.post("clock", speed=pair.speed)
        world.sim.clear_faults()
        world.sim.http.delete("/_sim/lifecycle")
        world.sim.http.delete("/_sim/replay")
        TOOK[run.id] = time.monotonic() - began


def hold_time(world, step):
    """Stops Cleura's time from an operation that is named (`as`) until a step that waits for its end or effect. The steps between then
    run while the operation is open, even on a slow machine."""
    if "ends" in step or "gone" in step or step["do"] in ("wait", "await", "absent") or step.keys() & {"passed", "met"}:
        world.sim.post("clock", speed=world.pair.speed)
    elif "as" in step:
        world.sim.post("clock", speed=0)


def report(world, label, error):
    def told(make):
        try:
            return make()
        except Exception as failure:  # the report must not hide the failure that it reports
            return f"({failure!r})"
    requests = told(lambda: [f"{r['operation']} {r['status']}" for r in world.changes(None)][-25:])
    log = told(lambda: "\n".join(line for line in world.d.log().splitlines()
                                 if world.name in line or "level=warning" in line or "level=error" in line)[-3000:])
    return (f"{world.file} [{world.run.id}], step '{label}': {type(error).__name__ if not str(error) else error}\n"
            f"changes that the simulator saw: {requests}\nlog of shootd:\n{log}")


def hold_always(world):
    """Checks that always hold: the daemon runs, and Cleura received one request at a time and none while it was busy (409)."""
    if world.d.process.popen.poll() is not None:
        raise Failure(f"the daemon ended with {world.d.process.popen.poll()}")
    if not world.sim.get("settings")["refuse_before_pickup"]:
        raise Failure("a write that comes too early would not be seen: refuse_before_pickup is off")
    mine = [r for r in world.requests() if (r.get("shoot") or "").startswith(world.name)]
    conflicts = [r for r in mine if r["status"] == 409]
    if conflicts and not world.run.scenario.document.get("conflicts"):
        raise Failure(f"sent while Cleura was busy: {conflicts}")
    # shootd aborts a read that no client waits for (UP-19); the simulator may still be busy with it.
    others = [r for r in world.requests() if r.get("client_left") or r.get("x_request_id") == BY_THE_TEST["X-Request-Id"]]
    overlaps = [r for r in world.requests() if r["in_flight"] > 1
                and not any(o["at_us"] <= r["at_us"] <= o["at_us"] + o["duration_us"] for o in others)]
    if overlaps and not world.run.scenario.document.get("overlap"):
        first = overlaps[0]["seq"]
        raise Failure(f"more than one call at a time: {overlaps[:3]} among {[r for r in world.requests() if abs(r['seq'] - first) < 4]}")


# ---- verbs: requests to shootd -------------------------------------------------------------------------------------

ANSWER = "status code pointer faults says same_as as ends operation_type cluster headers"
SPEC_MEMBERS = "spec labels description deletion_protection"


def check_problem(step, answer):
    body = answer.json()
    said = []
    if body.get("code") != step["code"]:
        said.append(f"code {body.get('code')}, not {step['code']}")
    faults = {e.get("pointer"): e.get("code") for e in body.get("errors", [])}
    if "pointer" in step and step["pointer"] not in faults:
        said.append(f"no fault at {step['pointer']}")
    if "faults" in step and faults != step["faults"]:
        said.append(f"faults {faults}, not {step['faults']}")
    if said:
        raise Failure(f"{'; '.join(said)}: {answer.text[:1200]}")


def take_answer(world, step, answer, default):
    """Checks the answer to a write, and stores its operation."""
    world.last = answer
    wanted = step.get("status", default)
    wanted = wanted if isinstance(wanted, list) else [wanted]
    if answer.status_code not in wanted:
        raise Failure(f"answered {answer.status_code}, not {wanted}: {answer.text[:1500]}")
    if "code" in step and answer.status_code >= 400:
        check_problem(step, answer)
    if "says" in step and not re.search(step["says"], answer.text):
        raise Failure(f"does not say {step['says']!r}: {answer.text[:1500]}")
    if answer.status_code != 202:
        return
    operation = answer.json()["operation"]
    world.last_operation = operation["id"]
    if answer.headers.get("Location") != f"/v1/operations/{operation['id']}" or int(answer.headers["Retry-After"]) < 1:
        raise Failure(f"202 with headers {dict(answer.headers)}")
    if "operation_type" in step and operation["type"] != step["operation_type"]:
        raise Failure(f"an operation of type {operation['type']}, not {step['operation_type']}")
    if "same_as" in step and operation["id"] != world.operations[step["same_as"]]:
        raise Failure(f"operation {operation['id']} ({operation['type']}), not that of '{step['same_as']}'")
    if "as" in step:
        if operation["id"] in world.operations.values() and "same_as" not in step:
            raise Failure(f"not a new operation: {operation}")
        world.operations[step["as"]] = operation["id"]
    if "ends" in step:
        wait(world, {"ends": step["ends"]})


def spec_of(step):
    return {m: step[m] for m in SPEC_MEMBERS.split() if m in step}


@verb(optional=f"{ANSWER} {SPEC_MEMBERS}")
def create(world, step):
    """POST of a new cluster; `ends` waits for the end of the operation."""
    answer = world.d.http.post(world.d.clusters_path(), json={"name": world.cluster_name(step), **spec_of(step)})
    take_answer(world, step, answer, 202)


@verb(optional=f"{ANSWER} {SPEC_MEMBERS}")
def put(world, step):
    """PUT of the whole spec."""
    answer = world.d.http.put(world.path(step), json=spec_of(step), headers=step.get("headers"))
    take_answer(world, step, answer, 202)


@verb("body", ANSWER)
def patch(world, step):
    """PATCH with a merge patch."""
    headers = {"Content-Type": "application/merge-patch+json", **step.get("headers", {})}
    answer = world.d.http.patch(world.path(step), content=json.dumps(step["body"]), headers=headers)
    take_answer(world, step, answer, 202)


@verb(optional=f"{ANSWER} gone")
def delete(world, step):
    """DELETE; `gone` waits until GET is 404."""
    take_answer(world, step, world.d.http.delete(world.path(step)), 202)
    if step.get("gone"):
        world.wait_for(lambda: ((a := world.d.http.get(world.path(step))).status_code == 404, a.text[:600]), "404")


@verb("action", ANSWER)
def action(world, step):
    """POST of an action."""
    take_answer(world, step, world.d.http.post(world.path(step, "/actions/" + step["action"])), 202)


@verb(optional="path of status code says headers expect has cluster")
def get(world, step):
    """GET of a sub-resource (`of`) or of any path; checks the body and the headers (`has`)."""
    path = step["path"] if "path" in step else world.path(step, "/" + step["of"] if step.get("of") else "")
    answer = world.d.http.get(path, headers=step.get("headers"))
    take_answer(world, {k: v for k, v in step.items() if k != "expect"}, answer, 200)
    said = faults_of(answer.json(), step.get("expect", {}))
    said += [f"{name}: {differs(answer.headers.get(name, MISSING), wanted)}" for name, wanted in step.get("has", {}).items()
             if differs(answer.headers.get(name, MISSING), wanted)]
    if said:
        raise Failure(f"{'; '.join(said)}: {answer.text[:1500]}")


@verb(optional="status code says ttl_seconds cached cluster until")
def kubeconfig(world, step):
    """GET of a kubeconfig; checks that it is one. `until: 200` repeats the request until the status is 200."""
    def ask():
        return world.d.http.get(world.path(step, "/kubeconfig"), params={"ttl_seconds": step.get("ttl_seconds", 3600)})
    answer = ask()
    if "until" in step:
        answers = [answer]

        def repeated():
            if answers[-1].status_code != step["until"]:
                answers.append(ask())
            return answers[-1].status_code == step["until"], [a.status_code for a in answers]
        world.wait_for(repeated, f"a kubeconfig with {step['until']}")
        answer = answers[-1]
    take_answer(world, step, answer, step.get("until", 200))
    if answer.headers["Cache-Control"] != "no-store" and answer.status_code == 200:
        raise Failure(f"may be stored: {dict(answer.headers)}")
    if answer.status_code == 200:
        body = answer.json()
        config = yaml.safe_load(body["kubeconfig"])
        if config["kind"] != "Config" or not config["users"] or not body["expires_at"]:
            raise Failure(f"no kubeconfig: {answer.text[:300]}")
        if "until" not in step and body["cached"] is not step.get("cached", False):
            raise Failure(f"cached is {body['cached']}")


# ---- verbs: operations ---------------------------------------------------------------------------------------------

@verb("ends", "operation steps message code upstream_code superseded_by timeout")
def wait(world, step):
    """Waits for the end of an operation (the last one, or the one that `as` named), and checks how it ended."""
    id = world.operation(step)
    seen = []

    def ended():
        seen.append(world.d.http.get(f"/v1/operations/{id}", params={"wait": 5}).json())
        return seen[-1]["status"] in ENDS, json.dumps(seen[-1])
    world.wait_for(ended, f"the end of operation {id}", step.get("timeout", PATIENCE_S))
    operation = seen[-1]
    error = operation["error"] or {}
    codes = [e["code"] for e in error.get("upstream_errors", [])]
    said = []
    if operation["status"] != step["ends"]:
        said.append(f"ended {operation['status']}, not {step['ends']}")
    if "steps" in step and steps_of(operation) != step["steps"]:
        said.append(f"steps {steps_of(operation)}, not {step['steps']}")
    if "message" in step and step["message"] not in (operation["message"] or ""):
        said.append(f"message lacks {step['message']!r}")
    if "code" in step and error.get("code") != step["code"]:
        said.append(f"error code {error.get('code')}, not {step['code']}")
    if "upstream_code" in step and step["upstream_code"] not in codes:
        said.append(f"upstream errors {codes} lack {step['upstream_code']}")
    if "superseded_by" in step and error.get("operation_id") != world.operations[step["superseded_by"]]:
        said.append(f"does not name the operation of '{step['superseded_by']}'")
    said += wrong_times(operation)
    if said:
        raise Failure(f"{'; '.join(said)}: {json.dumps(operation)}")


def wrong_times(operation):
    """The steps with wrong times. A step that is done or failed ended after it began; a skipped step never began."""
    for s in operation["steps"]:
        ended, begun = s["finished_at"], s["started_at"]
        if s["status"] == "skipped" and ended or s["status"] != "skipped" and not (ended and (begun or "") <= ended <= operation["finished_at"]):
            yield f"times of the step {s['type']}"


def passed(operation):
    return sum(s["status"] in ("done", "skipped") for s in operation["steps"])


@verb(optional="operation status step passed message")
def reach(world, step):
    """Waits until an open operation has a status, a step ("update_pool a waiting"), or a number of passed steps."""
    id = world.operation(step)

    def there():
        operation = world.look(id)
        ok = (operation["status"] == step.get("status", operation["status"])
              and step.get("step", "") in ["", *steps_of(operation)]
              and passed(operation) >= step.get("passed", 0)
              and step.get("message", "") in (operation["message"] or ""))
        return ok or operation["status"] in ENDS, json.dumps(operation)
    world.wait_for(there, f"operation {id} to reach {step}", interval=0.003)
    operation = world.look(id)
    if operation["status"] in ENDS and (step.get("step") or step.get("status", operation["status"]) != operation["status"]):
        raise Failure(f"it is over: {json.dumps(operation)}")


# ---- verbs: the state that shootd shows ---------------------------------------------------------------------------

@verb("members", "cluster headers")
def expect(world, step):
    """Checks members of the cluster now."""
    answer = world.d.http.get(world.path(step), headers=step.get("headers"))
    said = faults_of(answer.json(), step["members"])
    if said:
        raise Failure(f"{'; '.join(said)}: {answer.text[:3000]}")


@verb("members", "cluster")
def await_(world, step):
    """Waits until members of the cluster are so."""
    def there():
        document = world.d.http.get(world.path(step)).json()
        said = faults_of(document, step["members"])
        return not said, f"{'; '.join(said)}: {json.dumps(document)[:3000]}"
    world.wait_for(there, "the cluster to be as expected")


@verb(optional="cluster")
def absent(world, step):
    """Waits until GET of the cluster answers 404."""
    world.wait_for(lambda: ((a := world.d.http.get(world.path(step))).status_code == 404, a.text[:600]), "404")


@verb(optional="contains once lacks order cluster account")
def events(world, step):
    """Checks the types of events since the start of the scenario: those of the cluster, or with `account` those of the account."""
    filter = {} if step.get("account") else {"cluster": world.cluster_name(step)}

    def types():
        page = world.d.http.get("/v1/events", params={"after": world.first_event, "limit": 1000, **filter}).json()
        return [e["type"] for e in page["items"]]

    def there():
        seen = types()
        rest = iter(seen)
        ok = (all(t in seen for t in step.get("contains", []) + step.get("once", []))
              and all(t in rest for t in step.get("order", [])))
        return ok, seen
    world.wait_for(there, f"events {step}", timeout=20)
    seen = types()
    said = [t for t in step.get("once", []) if seen.count(t) != 1] + [t for t in step.get("lacks", []) if t in seen]
    if said:
        raise Failure(f"{said} in {seen}")


# ---- verbs: requests that the simulator received -------------------------------------------------------------------

@verb(optional="counts changes applied order creates deletes logins at_most cluster")
def requests(world, step):
    """Requests about the cluster since the start: `counts` and `at_most` per operation, the number of requested `changes`, the `order`
    of successful requests, creates and deletes that had effect, logins. In own pairs also `applied` per operation: requests that had
    effect, whatever the answer was."""
    name = world.cluster_name(step)
    mine = world.requests(name)
    count = {}
    for r in mine if step.get("counts") or step.get("at_most") else []:
        count[r["operation"]] = count.get(r["operation"], 0) + 1
    changes = [r["operation"] for r in world.changes(name)]
    good = [r["operation"] for r in world.changes(name) if 200 <= r["status"] < 300]
    counters = world.sim.counters()
    said = [f"{count.get(o, 0)} times {o}, not {n}" for o, n in step.get("counts", {}).items() if count.get(o, 0) != n]
    said += [f"{count.get(o, 0)} times {o}, more than {n}" for o, n in step.get("at_most", {}).items() if count.get(o, 0) > n]
    if "changes" in step and len(changes) != step["changes"]:
        said.append(f"{len(changes)} changes, not {step['changes']}")
    if "applied" in step:
        need_own(world)
        applied = {o: c["effects"] for o, c in counters["by_operation"].items() if o in CHANGES and c["effects"]}
        if applied != step["applied"]:
            said.append(f"{applied} had effect, not {step['applied']}")
    if "order" in step and good != step["order"]:
        said.append(f"order {good}, not {step['order']}")
    for member, before in (("creates", world.creates_before), ("deletes", world.deletes_before)):
        made = counters[member].get(name, 0) - before.get(name, 0)
        if member in step and made != step[member]:
            said.append(f"{made} {member}, not {step[member]}")
    logins = sum(r["operation"] == "create_token" and r["status"] < 300 for r in world.requests())
    if "logins" in step and logins != step["logins"]:
        said.append(f"{logins} logins, not {step['logins']}")
    if said:
        seen = [f"{r['operation']} {r['status']}" for r in mine if r["method"] != "GET"]
        raise Failure(f"{'; '.join(said)}; seen: {seen}")


def state_of(world, name):
    return next((s for s in world.sim.get("state")["shoots"] if s["name"] == name), None)


@verb("members", "cluster")
def upstream(world, step):
    """Checks the cluster in the simulator: its state, its spec, the stage of its CA."""
    found = state_of(world, world.cluster_name(step))
    said = faults_of(found, step["members"])
    if said:
        raise Failure(f"{'; '.join(said)}: {json.dumps(found)[:2500]}")


# ---- verbs: orders to the simulator --------------------------------------------------------------------------------

@verb("operation kind", "count skip effect status headers delay_ms body content_type cluster of_all")
def fault(world, step):
    """The next requests of an operation fail; only those about this cluster, if the operation is about a cluster."""
    more = {k: v for k, v in step.items() if k not in COMMON | {"operation", "kind", "cluster", "of_all"}}
    for operation in step["operation"] if isinstance(step["operation"], list) else [step["operation"]]:
        of_one = operation not in OF_NO_SHOOT and not step.get("of_all")
        world.sim.fault(operation, step["kind"], **more, **({"shoot": world.cluster_name(step)} if of_one else {}))


@verb(optional="met")
def clear_faults(world, step):
    """Removes all faults. `met` waits first until each fault with a count was used that often."""
    def all_met():
        items = world.sim.get("faults")["items"]
        return all(f["hits"] >= f["count"] for f in items), items
    if step.get("met"):
        world.wait_for(all_met, "the faults to be met")
    world.sim.clear_faults()


@verb("operation outcome", "at_progress codes description heal_after_seconds count cluster")
def lifecycle(world, step):
    """Sets how the next run of the cluster proceeds."""
    more = {k: v for k, v in step.items() if k not in COMMON | {"cluster"}}
    world.sim.post("lifecycle", shoot=world.cluster_name(step), **more)


@verb("set")
def settings(world, step):
    """Changes settings of the simulator; own pairs only."""
    need_own(world)
    world.sim.post("settings", **step["set"])


@verb(optional="spec workers state ca_stage cluster")
def outside(world, step):
    """Another user changes or makes the cluster at Cleura: members of the state's spec, or of its workers by name."""
    name = world.cluster_name(step)
    state = world.sim.get("state")
    found = next((s for s in state["shoots"] if s["name"] == name), None)
    if not found:
        found = {"name": name, "spec": {}}
        state["shoots"].append(found)
    found["spec"].update(step.get("spec", {}))
    for worker, members in step.get("workers", {}).items():
        there = next(w for w in found["spec"]["workers"] if w["name"] == worker)
        there.update(members)
    found.update({m: step[m] for m in ("state", "ca_stage") if m in step})
    answer = world.sim.http.put("/_sim/state", json={"bootstrapped": state["bootstrapped"], "shoots": state["shoots"]})
    if answer.status_code != 200:
        raise Mistake(f"the simulator refuses the state: {answer.text}")


@verb(optional="cluster")
def vanish(world, step):
    """Another user deletes the cluster at Cleura."""
    answer = world.sim.http.delete("/_sim/shoots/" + world.cluster_name(step))
    if answer.status_code >= 300:
        raise Failure(f"the simulator does not know it: {answer.text}")


@verb()
def expire_tokens(world, step):
    """All tokens of Cleura expire; own pairs only."""
    need_own(world)
    world.sim.post("tokens/expire")


@verb("down")
def outage(world, step):
    """Cleura stops answering, or answers again; own pairs only."""
    need_own(world)
    world.sim.post("down", down=step["down"])


def read_list(world):
    """The simulator's own list of shoots, in the form of this generation."""
    version = world.generation
    if not world.token:
        world.token = world.sim.http.post(f"/auth/{version}/tokens", json=LOGIN[version], headers=BY_THE_TEST).json()["token"]
    path = {"v2": f"/gardener/v2/public/shoots/Sto2/{PROJECT_ID}", "v1": f"/gardener/v1/public/shoot/Sto2/{PROJECT_ID}"}
    answer = world.sim.http.get(path[version], headers={"X-AUTH-LOGIN": "demo", "X-AUTH-TOKEN": world.token, **BY_THE_TEST})
    if answer.status_code != 200:
        raise Mistake(f"the simulator gives no list: {answer.status_code} {answer.text}")
    return answer.json()


BY_THE_TEST = {"X-Request-Id": "by-the-test"}  # marks requests that shootd did not send
LOGIN = {"v2": {"login": "demo", "password": "demo"}, "v1": {"auth": {"login": "demo", "password": "demo"}}}


def of_shoot(shoot, name):
    return shoot.get("name") == name or shoot.get("metadata", {}).get("name") == name


@verb("times", "constraint condition escaped cluster")
def shown(world, step):
    """The next reads show the present state with a change: a constraint or condition with another status ({type, status, message}), or
    all slashes escaped."""
    need_own(world)
    shoots = read_list(world)
    mine = next(s for s in shoots if of_shoot(s, world.cluster_name(step)))
    for member, lists in (("constraint", "constraints"), ("condition", "conditions")):
        if member not in step:
            continue
        for item in mine["status"][lists]:
            if item["type"] == step[member]["type"]:
                item.update(step[member])
    for operation, body in (("list_shoots", shoots), ("get_shoot", mine)):
        text = json.dumps(body)
        if step.get("escaped"):
            text = text.replace("/", "\\/")
            if "\\/" not in text:
                raise Mistake("there is no slash to escape")
        answer = {"operation": operation, "status": 200, "body": text}
        world.sim.post("replay", answers=[answer] * step["times"])


@verb()
def as_it_is(world, step):
    """Ends `shown`: reads show the true state again."""
    world.sim.http.delete("/_sim/replay")


@verb("count", "members")
def lists(world, step):
    """Waits for a number of further lists of shoots, and checks `members` all the time."""
    def asked():
        if "members" in step:
            expect(world, {"members": step["members"]})
        return world.sim.counters()["by_operation"]["list_shoots"]["requests"]
    last = asked() + step["count"]
    world.wait_for(lambda: (asked() >= last, ""), f"{step['count']} lists", PATIENCE_S)


# ---- verbs: the daemon ---------------------------------------------------------------------------------------------

def need_own(world):
    if not world.run.scenario.own:
        raise Mistake("this verb needs own: true")


@verb()
def kill(world, step):
    """Kills the daemon with SIGKILL and starts it again."""
    need_own(world)
    world.d.kill()
    world.d.start()


@verb()
def restart(world, step):
    """Stops the daemon with SIGTERM, expects a clean end, and starts it again."""
    need_own(world)
    world.d.stop()
    world.d.start()


@verb()
def stop(world, step):
    """Stops the daemon with SIGTERM and expects a clean end."""
    need_own(world)
    world.d.stop()


@verb()
def start(world, step):
    """Starts the daemon after `stop`."""
    need_own(world)
    world.d.start()
