"""Tokens and two-factor login in both generations, and the lists of identities."""

from conftest import DOMAIN, PROJECT


def message(answer):
    return answer.json()["error"]["message"]


def test_login_statuses_differ_by_generation(sim):
    new = sim.request("POST", "/auth/v2/tokens", {"login": "demo", "password": "demo"})
    old = sim.request("POST", "/auth/v1/tokens", {"auth": {"login": "demo", "password": "demo"}})
    assert (new.status_code, old.status_code) == (201, 200)
    assert new.json()["result"] == old.json()["result"] == "login_ok"
    assert len(new.json()["token"]) == 32


def test_wrong_password_is_400_and_counted(sim):
    for path, body in (("/auth/v2/tokens", {"login": "demo", "password": "x"}),
                       ("/auth/v1/tokens", {"auth": {"login": "demo", "password": "x"}}),
                       ("/auth/v2/tokens", {"login": "demo"}), ("/auth/v2/tokens", None)):
        assert sim.request("POST", path, body).status_code == 400
    assert sim.counters()["failed_logins"] == 4


def test_login_and_token_are_a_pair(sim):
    good = dict(sim.auth)
    for bad in ({}, {**good, "X-AUTH-LOGIN": "other"}, {**good, "X-AUTH-TOKEN": "x"},
                {"X-AUTH-TOKEN": good["X-AUTH-TOKEN"]}):
        sim.auth = bad
        answer = sim.request("GET", sim.SHOOTS)
        assert answer.status_code == 403 and message(answer) == "Invalid token"
    sim.auth = good
    sim.settings(invalid_token_status=401)
    assert sim.request("GET", sim.SHOOTS, headers={"X-AUTH-TOKEN": "x"}).status_code == 401


def test_tokens_expire_validate_and_revoke(sim):
    assert sim.request("POST", "/auth/v1/tokens/validate").status_code == 204
    assert sim.request("POST", "/auth/v2/tokens/validate").status_code == 204
    sim.advance(86401)
    assert sim.request("POST", "/auth/v2/tokens/validate").status_code == 403
    sim.login()
    assert sim.control("GET", "/tokens") == {"live": 1}
    sim.control("POST", "/tokens/expire")
    assert sim.control("GET", "/tokens") == {"live": 0}
    sim.login()
    assert sim.request("DELETE", "/auth/v2/tokens").status_code == 204
    assert sim.request("GET", sim.SHOOTS).status_code == 403


def test_two_factor_v2(start):
    sim = start("--two-factor")
    login = {"login": "demo", "password": "demo"}
    answer = sim.request("POST", "/auth/v2/tokens", login)
    assert answer.status_code == 201
    assert answer.json() == {"result": "twofactor_options", "options": ["sms", "webauthn"]}
    answer = sim.request("POST", "/auth/v2/tokens", {**login, "two_factor_method": "sms"}).json()
    assert answer["result"] == "twofactor_required" and answer["type"] == "sms"
    step = {"login": "demo", "verification": answer["verification"]}
    assert sim.request("POST", "/auth/v2/tokens-by-sms-code", {**step, "code": 123456}).status_code == 400
    for language, status in (("en", 204), ("se", 204), ("sv", 400), ("EN", 400), (1, 400), (None, 204)):
        asked = sim.request("POST", "/auth/v2/request-sms-code", {**step, "language_code": language})
        assert asked.status_code == status, language
    assert sim.request("POST", "/auth/v2/request-sms-code", step).status_code == 204
    assert sim.request("POST", "/auth/v2/tokens-by-sms-code", {**step, "code": "123456"}).status_code == 400
    assert sim.request("POST", "/auth/v2/tokens-by-sms-code", {**step, "code": 1}).status_code == 400
    answer = sim.request("POST", "/auth/v2/tokens-by-sms-code", {**step, "code": 123456})
    assert answer.status_code == 200 and list(answer.json()) == ["token"]


def test_two_factor_v1(start):
    sim = start("--two-factor")
    answer = sim.request("POST", "/auth/v1/tokens",
                         {"auth": {"login": "demo", "password": "demo", "twofa_method": "sms"}})
    assert answer.status_code == 200 and answer.json()["result"] == "twofactor_required"
    step = {"login": "demo", "verification": answer.json()["verification"]}
    assert sim.request("POST", "/auth/v1/tokens/request2facode", {"request2fa": step}).status_code == 204
    answer = sim.request("POST", "/auth/v1/tokens/verify2fa", {"verify2fa": {**step, "code": 123456}})
    assert answer.status_code == 200 and answer.json()["result"] == "login_ok"


def test_identity(start):
    sim = start("--region", "Sto2", "--region", "Kna1", "--project", PROJECT, "--project", "f" * 32)
    sim.login()
    assert sim.request("GET", "/identity/v2/current-user").json()["name"] == "demo"
    listed = sim.request("GET", "/openstack/identity/v1/current-user/projects").json()
    assert [entry["region"]["tag"] for entry in listed] == ["Sto2", "Kna1"]
    assert [project["id"] for project in listed[0]["projects"]] == [PROJECT, "f" * 32]
    domain = listed[1]["projects"][0]["domain_id"]
    quota = f"/openstack/identity/v2/domains/{domain}/projects/{PROJECT}/quotas"
    assert sim.request("GET", f"{quota}/Kna1").json()["compute"]["cores"] == 20
    assert sim.request("GET", f"{quota}/Sto2").status_code == 404
    answer = sim.request("GET", f"/openstack/identity/v2/domains/{domain}/projects/{'0' * 32}/quotas/Kna1")
    assert answer.status_code == 404 and message(answer) == "Not Found: Project not found"


def test_a_token_by_hash_needs_a_mail(sim):
    """The simulator sends no mail, so no hash is right. Other faults of the request are reported first."""
    good = {"login": "demo", "hash": "a1b2", "type": "authlogin"}
    answer = sim.request("POST", "/auth/v2/tokens-by-hash", good)
    assert answer.status_code == 400 and "hash" in message(answer)
    for wrong in ({"login": "demo", "hash": "x"}, {**good, "type": "mail"}, {**good, "hash": 1}, {**good, "type": None}):
        answer = sim.request("POST", "/auth/v2/tokens-by-hash", wrong)
        assert answer.status_code == 400 and answer.json()["error"]["errors"]
    assert sim.counters()["failed_logins"] == 5


def test_account_users_are_not_simulated(sim):
    """The answer for a user who may not administrate users; a wrong token is reported first."""
    for method, path in (("GET", "/users"), ("POST", "/users"), ("GET", "/user/42"), ("PATCH", "/users/42"), ("DELETE", "/users/42")):
        answer = sim.request(method, "/identity/v2" + path)
        assert answer.status_code == 403 and message(answer).startswith("No access:")
        answer = sim.request(method, "/identity/v2" + path, headers={"X-AUTH-TOKEN": "wrong"})
        assert answer.status_code == 403 and message(answer) == "Invalid token"


def test_v1_identity_escapes_slashes_and_spells_ids(sim):
    answer = sim.request("GET", "/accesscontrol/v1/openstack/domains")
    assert "Sweden \\/ Stockholm" in answer.text
    area = answer.json()[0]["area"]
    assert area["name"] == "Sweden / Stockholm" and area["regions"][0]["name"] == "Stockholm / Sweden"
    assert area["id"] == "6" and area["regions"][0] == {
        "zone_id": "2", "name": area["regions"][0]["name"], "status": "active", "region": "Sto2"}
    project = sim.request("GET", f"/accesscontrol/v1/openstack/{DOMAIN}/projects").json()[0]
    assert project["id"] == PROJECT and project["default"] is True
