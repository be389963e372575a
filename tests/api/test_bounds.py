"""The daemon keeps the maxima of answers in openapi.yaml. A value of the largest length is shown; a longer value is cut or counts as
unknown. contract.Watch (conftest.py) validates each answer here."""

import json

from harness import wait_until
from test_budgets import between, is_list, metric  # noqa: F401 (fixture)

WORD, PROSE, TEXT = 255, 1024, 1024


def stretched(row, word):
    """A shoot of generation v2 whose texts have their largest length; prose, labels and annotations are far longer."""
    worker = row["shoot_provider"]["workers"][0]
    worker["machine"].update(type=word, image={"name": word, "version": word})
    worker.update(zones=[word] * 300, labels=[{"key": "k" * 317, "value": "v" * 5000}] + [{"key": f"l{i}", "value": ""} for i in range(100)],
                  annotations=[{"key": "a", "value": "n" * 300000}],
                  taints=[{"key": word, "value": word, "effect": "NoSchedule"}])
    networks = row["shoot_provider"]["infrastructure_config"]["networks"]
    networks.update(id=word, workers=word, router={"id": word})
    row["shoot_provider"]["infrastructure_config"]["floating_pool_name"] = word
    row["shoot_provider"]["control_plane_config"]["load_balancer_provider"] = word
    row["networking"].update(type=word, nodes=word)
    row["hibernation"] = {"schedules": [{"start": word, "end": word, "location": word}] * 60}
    row["maintenance"]["time_window"] = {"begin": word, "end": word}
    row.update(purpose=word, technical_id=word, allowed_cidrs=[word] * 600)
    row["last_operation"].update(description="d" * 5000, state="Error", type=word)
    check = {"type": word, "status": "False", "reason": word, "message": "m" * 5000, "codes": [word] * 3, "last_transition_time": word,
             "last_update_time": word}
    row["status"].update(conditions=[check] * 60, constraints=[check] * 60,
                         last_errors=[{"description": "e" * 5000, "codes": [word] * 30, "task_id": word}] * 20)
    return row


def long_answers(word):
    def replace(method, path, answer):
        one = method == "GET" and path.endswith("/long-0000")
        if answer.status_code != 200 or not (one or is_list(method, path)):
            return None
        doc = json.loads(answer.content)
        return json.dumps(stretched(doc, word) if one else [stretched(row, word) if row["name"].startswith("long") else row
                                                                for row in doc]).encode()
    return replace


def test_the_longest_shoot_is_shown_and_of_a_longer_one_what_is_no_longer(sim, between, make_shootd):  # noqa: F811
    sim.post("shoots", prefix="long", state="ready")
    sim.post("shoots", prefix="other", state="ready")
    d = make_shootd(between.url).start()
    d.wait_phase("other-0000", "ready")
    d.wait_phase("long-0000", "ready")
    between.replace = long_answers("w" * (WORD + 1))
    longer = wait_until(lambda: (c := d.cluster("long-0000").json())["observed"]["purpose"] is None and c, what="the one that is too long")
    assert longer["observed"]["technical_id"] is None and longer["observed"]["maintenance"]["begin"] is None and not longer["status"]["stale"]
    assert longer["observed"]["node_pools"][0]["machine_type"] is None and len(longer["observed"]["node_pools"][0]["labels"]) == 101
    assert metric(d, "shootd_upstream_rows_refused_total") == 0
    between.replace = long_answers("w" * WORD)
    wait_until(lambda: d.cluster("long-0000").json()["observed"]["purpose"] == "w" * WORD, what="the long one")
    project = d.http.get("/v1/projects/team-a").json()
    assert project["upstream"]["last_error"] is None and not d.cluster("other-0000").json()["status"]["stale"]
    cluster = d.cluster("long-0000").json()
    assert cluster["observed"]["purpose"] == "w" * WORD
    assert len(cluster["status"]["conditions"][0]["message"]) == len(cluster["status"]["message"]) == PROSE
    assert len(cluster["status"]["errors"]) == 600 and len(cluster["status"]["errors"][0]["description"]) == PROSE
    pool = cluster["observed"]["node_pools"][0]
    assert len(pool["annotations"]["a"]) == 300000 and len(pool["labels"]) == 101 and len(pool["zones"]) == 300
    path = d.clusters_path("long-0000")
    for other in (path + "/issues", path + "/node-pools", "/v1/clusters", "/v1/clusters?fields=summary", "/v1/events", "/v1/summary"):
        assert d.http.get(other).status_code == 200
    assert len(d.http.get(path + "/issues").json()["items"]) > 100


def test_names_of_the_catalog_and_of_nodes_are_words(sim, between, make_shootd):  # noqa: F811
    """Longer names are left out; a node with a longer name has no name."""
    def replace(method, path, answer):
        if answer.status_code != 200:
            return None
        doc = json.loads(answer.content)
        if path.endswith("/cloud-profiles"):
            for name in ("m" * WORD, "m" * (WORD + 1)):
                doc[0]["machine_types"].append({**doc[0]["machine_types"][0], "name": name})
                doc[0]["machine_images"].append({**doc[0]["machine_images"][0], "name": name})
                doc[0]["kubernetes"]["versions"].append({"version": "1.33." + "7" * (len(name) - 5), "classification": name, "expiration_date": name})
        elif "nodes" in path:
            doc = [{**doc[0], "node_name": "n" * length, "worker_group": "n" * length} for length in (WORD, WORD + 1)]
        else:
            return None
        return json.dumps(doc).encode()
    between.replace = replace
    d = make_shootd(between.url).start()
    catalog = d.http.get("/v1/projects/team-a/catalog").json()
    for kind in ("machine_types", "machine_images"):
        assert [len(item["name"]) for item in catalog[kind] if item["name"].startswith("m" * 9)] == [WORD]
    assert max(len(version["version"]) for version in catalog["kubernetes_versions"]) == WORD
    d.wait_operation(d.create("dev")["operation"]["id"])
    nodes = d.http.get(d.clusters_path("dev") + "/nodes").json()["items"]
    assert [node["name"] for node in nodes] == ["n" * WORD, None] and nodes[1]["pool"] == "default"


def test_problems_do_not_send_back_a_whole_body(shootd):
    shootd.wait_operation(shootd.create("dev")["operation"]["id"])
    for body in ({"y" * 5000: 1}, {"spec": {"y" * 5000: 1}}, {"spec": {"kubernetes_version": "ü" * 100000}}, {"labels": {"z/" * 40000: "v"}},
                 {"spec": {"node_pools": [{"name": "default", "machine_type": "m" * 100000}]}}):
        refused = shootd.http.put(shootd.clusters_path("dev"), json=body)
        assert refused.status_code == 422, refused.text
        told = refused.json()
        texts = [told["detail"]] + [fault[name] for fault in told["errors"] for name in ("detail", "pointer")]
        assert max(len(text.encode()) for text in texts) <= TEXT


def test_a_long_value_that_drifted_is_told_in_part(sim, between, make_shootd):  # noqa: F811
    d = make_shootd(between.url).start()
    networks = [f"10.{i // 250}.{i % 250}.0/24" for i in range(400)]
    d.wait_operation(d.create("dev", spec={"allowed_cidrs": networks})["operation"]["id"])

    def replace(method, path, answer):
        if not is_list(method, path) or answer.status_code != 200:
            return None
        return json.dumps([{**row, "allowed_cidrs": networks[:399]} for row in json.loads(answer.content)]).encode()
    between.replace = replace
    issues = wait_until(lambda: [i for i in d.http.get(d.clusters_path("dev") + "/issues").json()["items"] if i["code"] == "drift"],
                        what="the drift")
    assert issues[0]["subject"] == "allowed_cidrs" and issues[0]["description"].startswith('wanted ["10.0.0.0/24"')
    assert ", found [" in issues[0]["description"] and len(issues[0]["description"]) < 1100
    assert len(d.cluster("dev").json()["drift"][0]["wanted"]) == 400, "in whole there"
