"""A path that names no cluster or no project: one text everywhere, and another name only when the caller may see it."""

import re

import pytest

import contract
import harness
import web
from harness import PROJECT_ID

OTHER_ID = "ffeeddccbbaa99887766554433221100"
OF_A_CLUSTER = [(method.upper(), path) for path, of in contract.DOCUMENT["paths"].items() if "{cluster}" in path
                for method, operation in of.items() if "operationId" in operation]
WITHOUT_404 = {("PUT", "/v1/projects/{project}/clusters/{cluster}"),  # it creates
               ("GET", "/v1/projects/{project}/clusters/{cluster}/events"), ("GET", "/v1/projects/{project}/clusters/{cluster}/operations")}


@pytest.fixture(scope="module")
def d(tmp_path_factory):
    directory = tmp_path_factory.mktemp("not_found")
    sim = harness.Sim(directory, project=[PROJECT_ID, OTHER_ID])
    d = harness.Shootd(directory / "shootd", sim.url, projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Sto2", OTHER_ID)]).start()
    for project, name in (("team-a", "web-prod"), ("team-a", "api"), ("team-b", "elsewhere")):
        made = d.http.post(d.clusters_path(project=project), json={"name": name})
        assert made.status_code == 202, made.text
        d.wait_operation(made.json()["operation"]["id"])
    yield d
    d.stop()
    sim.stop()


@pytest.fixture(scope="module")
def of_team_a(d):
    made = d.http.post("/v1/tokens", json={"name": "a", "role": "admin", "projects": ["team-a"]}).json()
    with web.Client(base_url=d.url, timeout=60, headers={"Authorization": f"Bearer {made['token']}"}) as client:
        yield client


def problem(answer):
    assert answer.status_code == 404, answer.text
    return answer.json()["code"], answer.json()["detail"]


def send(client, method, path, project, cluster):
    path = path.replace("{project}", project).replace("{cluster}", cluster).replace("{action}", "reconcile").replace("{pool}", "default")
    return client.request(method, re.sub(r"\{\w+\}", "none", path), json=None if method in ("GET", "DELETE") else {},
                          headers={"Content-Type": "application/json"} if method != "GET" else {})


@pytest.mark.parametrize("method, path", [row for row in OF_A_CLUSTER if row not in WITHOUT_404])
def test_each_route_of_a_cluster_has_the_same_text(d, method, path):
    for name, more in (("nope", ""), ("web-prd", " Did you mean 'web-prod'?"), ("web", " Did you mean 'web-prod'?"),
                       ("elsewhere", " It is in project 'team-b'.")):
        told = problem(send(d.http, method, path, "team-a", name))
        assert told == ("cluster_not_found", f"There is no cluster '{name}' in project 'team-a'.{more}"), (method, path)
    told = problem(send(d.http, method, path, "teem-a", "api"))
    assert told == ("project_not_found", "There is no project 'teem-a' that the token may see. Did you mean 'team-a'?"), (method, path)


def test_what_the_caller_may_not_see_is_not_named(d, of_team_a):
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/issues"), ("GET", "/kubeconfig"), ("POST", "/actions/reconcile")):
        told = problem(of_team_a.request(method, d.clusters_path("elsewhere") + path))
        assert told[1] == "There is no cluster 'elsewhere' in project 'team-a'."
    for path in ("/v1/projects/{}", "/v1/projects/{}/clusters", "/v1/projects/{}/clusters/elsewhere", "/v1/projects/{}/clusters/nope"):
        there, absent = (problem(of_team_a.get(path.format(p))) for p in ("team-b", "team-c"))
        assert there[1].replace("team-b", "team-c") == absent[1], "the answer does not show that the project exists"
    assert problem(of_team_a.get("/v1/projects/team-b"))[1] == "There is no project 'team-b' that the token may see. Did you mean 'team-a'?"


def test_names_in_the_text_are_bounded_and_harmless(d):
    assert problem(d.http.get(d.clusters_path("x" * 5000)))[1] == f"There is no cluster '{'x' * 64}' in project 'team-a'."
    assert problem(d.http.get(d.clusters_path("%C2%9B31m%E2%80%AEx")))[1] == "There is no cluster ' 31m x' in project 'team-a'."
    assert problem(d.http.get(f"/v1/projects/{'ä' * 500}"))[1] == f"There is no project '{'ä' * 32}' that the token may see."
