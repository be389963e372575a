"""Every operation of the document with each role, in an own project and another's: the result and the answer are as declared."""

import re
import ssl

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

import contract
import harness
import issuers
import web
from harness import PROJECT_ID, wait_until
from test_tls import Authority, start

OTHER = "ffeeddccbbaa99887766554433221100"
ROLES = contract.DOCUMENT["components"]["schemas"]["Role"]["enum"]
OPERATIONS = [(method.upper(), path, operation["x-role"]) for path, of in contract.DOCUMENT["paths"].items()
              for method, operation in of.items() if "operationId" in operation]
OF_ALL_PROJECTS = {(method.upper(), path) for path, of in contract.DOCUMENT["paths"].items() for method, operation in of.items()
                   if "operationId" in operation and operation.get("x-projects") == "all"}


@pytest.fixture
def issuer():
    with issuers.running() as one:
        yield one


@pytest.fixture
def d(make_sim, make_shootd, issuer, tmp_path):
    """Rules for each role, for JWTs and certificates, in team-a only."""
    sim = make_sim(project=[PROJECT_ID, OTHER])
    rules = [{"claim": "groups", "contains": role, "role": role, "projects": ["team-a"]} for role in ROLES]
    clients = "".join(f"    - {{name: 'dns:{role}.example.com', role: {role}, projects: [team-a]}}\n" for role in ROLES)
    servers = Authority(tmp_path)
    certificate, key = tmp_path / "fullchain.pem", tmp_path / "privkey.pem"
    servers.issue(certificate, key)
    authority = Authority(tmp_path, "clients")
    d = make_shootd(sim.url, projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Sto2", OTHER)],
                    extra=issuers.configuration(issuer.url, rules) +
                    f"tls:\n  certificate: {certificate}\n  key: {key}\n  client_ca: {authority.path}\n  clients:\n{clients}")
    d.context = ssl.create_default_context(cafile=servers.path)
    d.url = f"https://localhost:{d.port}"
    d.authority = authority
    start(d)
    d.wait_upstream()
    wait_until(lambda: re.search(r"^shootd_oidc_keys 2$", d.http.get("/metrics").text, re.M), what="the keys of the issuer")
    yield d
    d.http.close()
    d.http = None


def with_token(d, issuer, role, tmp_path):
    made = d.http.post("/v1/tokens", json={"name": role, "role": role, "projects": ["team-a"]})
    assert made.status_code == 201, made.text
    return web.Client(base_url=d.url, verify=d.context, timeout=60, headers={"Authorization": "Bearer " + made.json()["token"]})


def with_jwt(d, issuer, role, tmp_path):
    return web.Client(base_url=d.url, verify=d.context, timeout=60,
                        headers={"Authorization": "Bearer " + issuer.token(groups=[role], sub=role)})


def with_certificate(d, issuer, role, tmp_path):
    files = tmp_path / f"{role}.pem", tmp_path / f"{role}.key"
    d.authority.issue(*files, names=[x509.DNSName(f"{role}.example.com")], usage=ExtendedKeyUsageOID.CLIENT_AUTH)
    context = ssl.create_default_context(cafile=tmp_path / "test-authority.pem")
    context.load_cert_chain(*files)
    return web.Client(base_url=d.url, verify=context, timeout=60)


def ask(client, method, path, project):
    target = re.sub(r"\{(\w+)\}", lambda m: {"project": project}.get(m[1], "x"), path)
    # The role is checked before the content of the body.
    return client.request(method, target, content="[]" if method in ("POST", "PUT", "PATCH") else None, headers={"Content-Type": "application/json"})


def projects_of(path):
    return ("team-a", "team-b") if "{project}" in path else ("team-a",)


@pytest.mark.parametrize("shown", [with_token, with_jwt, with_certificate])
def test_what_a_role_may(d, issuer, tmp_path, shown):
    assert ROLES == ["viewer", "kubeconfig", "operator", "admin"] and len(OPERATIONS) > 60
    for rank, role in enumerate(ROLES):
        with shown(d, issuer, role, tmp_path) as client:
            who = client.get("/v1/whoami").json()
            assert (who["role"], who["projects"]) == (role, ["team-a"])
            for method, path, needed in OPERATIONS:
                may = (needed == "none" or rank >= ROLES.index(needed)) and (method, path) not in OF_ALL_PROJECTS
                for project in projects_of(path):
                    answer = ask(client, method, path, project)
                    where = (role, method, path, project, answer.status_code, answer.text)
                    assert (answer.status_code != 403) is may and answer.status_code != 401, where
                    if not may:
                        assert answer.json()["code"] == "forbidden", where
                        assert f'error="insufficient_scope", scope="{needed}"' in answer.headers["WWW-Authenticate"], where
                    elif project == "team-b":
                        assert (answer.status_code, answer.json()["code"]) == (404, "project_not_found"), where


def test_what_is_about_the_whole_server_is_for_admins_of_all_projects(d):
    """A token for some projects, or one that lists every project, may not do these; a token for `*` may."""
    assert OF_ALL_PROJECTS == {(method, path) for method in ("GET", "POST") for path in ("/v1/backups", "/v1/reload")}
    for projects, may in ((["team-a"], False), (["team-a", "team-b"], False), (["*"], True)):
        made = d.http.post("/v1/tokens", json={"name": "admin", "role": "admin", "projects": projects}).json()
        with web.Client(base_url=d.url, verify=d.context, timeout=60, headers={"Authorization": "Bearer " + made["token"]}) as client:
            for method, path in sorted(OF_ALL_PROJECTS):
                answer = client.request(method, path)
                assert (answer.status_code != 403) is may, (projects, method, path, answer.text)
                assert may or "for all projects" in answer.json()["detail"]
        if not may:
            audit = wait_until(lambda: d.http.get("/v1/audit", params={"token": made["id"]}).json()["items"], what="the refusals")
            assert {a["outcome"] for a in audit} == {"denied"}


def test_who_shows_nothing_may_nothing(d):
    with web.Client(base_url=d.url, verify=d.context, timeout=60) as client:
        for method, path, needed in OPERATIONS:
            for project in projects_of(path):
                answer = ask(client, method, path, project)
                assert (answer.status_code == 401) is (needed != "none"), (method, path, project, answer.status_code)


@pytest.mark.parametrize("shown", [with_token, with_jwt, with_certificate])
def test_what_belongs_to_another_project_is_not_there(d, issuer, tmp_path, shown):
    """An admin of team-a neither sees nor changes a token, a webhook or an operation of team-b."""
    token = d.http.post("/v1/tokens", json={"name": "b", "role": "viewer", "projects": ["team-b"]}).json()["id"]
    hook = d.http.post("/v1/webhooks", json={"url": "https://hooks.example.com/b", "projects": ["team-b"]}).json()["id"]
    op = d.http.put("/v1/projects/team-b/clusters/dev", json={"spec": {}}).json()["operation"]["id"]
    of = {"token": token, "webhook": hook, "operation": op}
    asked = 0
    with shown(d, issuer, "admin", tmp_path) as client:
        for method, path, _ in OPERATIONS:
            names = re.findall(r"\{(\w+)\}", path)
            if len(names) != 1 or names[0] not in of:
                continue
            target = path.replace("{" + names[0] + "}", of[names[0]])
            body = {"content": "{}", "headers": {"Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}}
            answer = client.request(method, target, **(body if method in ("POST", "PUT", "PATCH") else {}))
            assert answer.status_code == 404, (method, target, answer.status_code, answer.text)
            asked += 1
        for path in ("/v1/tokens", "/v1/webhooks", "/v1/operations", "/v1/projects/team-b/clusters/dev"):
            assert not any(one in client.get(path).text for one in of.values()), path
    assert asked >= 12
    assert d.http.get(f"/v1/webhooks/{hook}").status_code == 200 and token in d.http.get("/v1/tokens").text
    assert d.http.get(f"/v1/operations/{op}").json()["status"] != "cancelled"
