"""Show 4: tokens that expire, passwords that are wrong."""

import time

from harness import wait_until


def test_token_expiry_during_create_and_polling(sim, shootd):
    op = shootd.create("dev")["operation"]
    for _ in range(3):
        shootd.wait_phase("dev", "creating", "ready")
        before = sim.counters()["logins"]
        sim.post("tokens/expire")
        wait_until(lambda: sim.counters()["logins"] > before, what="a new login")
        time.sleep(0.3)
        assert sim.counters()["logins"] == before + 1, "one login per expiry"
    assert shootd.wait_operation(op["id"])["status"] == "succeeded"
    assert sim.counters()["failed_logins"] == 0


def test_token_expired_when_the_create_is_sent(sim, shootd):
    shootd.create("warm")
    shootd.wait_phase("warm", "ready")
    before = sim.counters()["logins"]
    sim.post("tokens/expire")
    assert shootd.wait_operation(shootd.create("dev")["operation"]["id"])["status"] == "succeeded"
    assert sim.counters()["logins"] == before + 1
    assert sim.counters()["creates"]["dev"] == 1


def test_token_survives_a_restart(sim, shootd):
    shootd.create("dev")
    shootd.wait_phase("dev", "ready")
    assert sim.counters()["logins"] == 1
    shootd.stop()
    shootd.start()
    wait_until(lambda: sim.counters()["by_operation"].get("validate_token", {"requests": 0})["requests"] >= 1,
               what="validation of the remembered token")
    shootd.create("again")
    shootd.wait_phase("again", "ready")
    assert sim.counters()["logins"] == 1


def test_wrong_password_is_not_hammered(sim, make_shootd):
    d = make_shootd(sim.url, password="wrong").start()
    answer = d.http.post(d.clusters_path(), json={"name": "dev"})
    assert answer.status_code == 503 and answer.json()["code"] == "upstream_login_failed"
    assert int(answer.headers["Retry-After"]) >= 1
    end = time.monotonic() + 16
    while time.monotonic() < end:
        d.http.get("/v1/projects/team-a/catalog")
        time.sleep(0.2)
    # Attempts at 0, 5 and 15 seconds; the unit test with a virtual clock covers the first minute and hour.
    assert sim.counters()["failed_logins"] <= 3
    project = d.http.get("/v1/projects/team-a").json()
    assert project["upstream"]["login"] == "rejected"
    assert [e for e in d.events() if e["type"] == "account.login_failed"]
    d.stop()
    before = sim.counters()["failed_logins"]
    d.start()
    time.sleep(1)
    assert sim.counters()["failed_logins"] == before, "the guard survives a restart"
    d.stop()
    (d.directory / "password").write_text("demo\n")
    d.start()
    assert d.http.post(d.clusters_path(), json={"name": "dev"}).status_code == 202, "a corrected password is tried"
    wait_until(lambda: [e for e in d.events() if e["type"] == "account.recovered"], what="account.recovered")


def test_two_factor_account_is_reported(make_sim, make_shootd):
    sim = make_sim(two_factor=True)
    d = make_shootd(sim.url).start()
    wait_until(lambda: d.http.get("/v1/projects/team-a").json()["upstream"]["login"] == "two_factor_required",
               what="the state of the account")
