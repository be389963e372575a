"""`shootd --check-config --login`: each account and project is proved at Cleura, without an SMS and without an effect."""

import os
import subprocess

import pytest

from harness import BUILD, PROJECT_ID, free_port

OTHER_ID = "ffeeddccbbaa99887766554433221100"


def check(d, *more, **environment):
    return subprocess.run([BUILD / "shootd", "--config", d.config, "--check-config", "--login", *more], capture_output=True, text=True,
                          timeout=120, check=False, env={**os.environ, **environment})


@pytest.fixture(params=["v1", "v2"])
def pair(request, make_sim, make_shootd):
    sim = make_sim(project=[PROJECT_ID, OTHER_ID])
    return sim, make_shootd(sim.url, api=request.param, projects=[("team-a", "Sto2", PROJECT_ID), ("team-b", "Sto2", OTHER_ID)])


def test_each_project_is_read_once(pair):
    sim, d = pair
    sim.post("shoots", count=2, prefix="found", state="ready")
    done = check(d)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert sorted(done.stdout.splitlines()) == ["account main: project team-a: 2 clusters", "account main: project team-b: 0 clusters",
                                                "configuration is valid"]
    assert sim.counters()["logins"] == 1 and len(sim.requests("list_shoots")) == 2
    assert not d.state.exists() or not list(d.state.iterdir()), "nothing is stored"


def test_a_wrong_password_and_a_wrong_project_are_told(make_sim, make_shootd):
    sim = make_sim()
    d = make_shootd(sim.url, password="s3cr3t-and-wrong")
    refused = check(d)
    assert (refused.returncode, refused.stdout) == (78, ""), refused
    assert refused.stderr.startswith("shootd: account main: project team-a: ") and "Cleura refused the login and password" in refused.stderr
    assert "s3cr3t" not in refused.stderr and len(refused.stderr.splitlines()) == 1
    assert sim.counters()["failed_logins"] == 1, "it is tried once"
    (d.directory / "password").write_text("demo\n")
    d.config.write_text(d.config.read_text().replace(PROJECT_ID, OTHER_ID))
    refused = check(d)
    assert (refused.returncode, refused.stdout) == (78, ""), refused
    assert refused.stderr.startswith("shootd: account main: project team-a: Cleura: "), refused


def test_a_second_factor_is_told_and_no_sms_is_sent(make_sim, make_shootd):
    sim = make_sim(two_factor=True)
    done = check(make_shootd(sim.url))
    assert done.returncode == 78 and "second factor" in done.stderr, done
    assert not [r for r in sim.requests() if "2fa" in r["operation"] or "code" in r["operation"]]


def test_a_cloud_that_does_not_answer_is_no_fault_of_the_configuration(make_shootd):
    done = check(make_shootd(f"http://127.0.0.1:{free_port()}"))
    assert (done.returncode, done.stdout) == (69, ""), done
    assert done.stderr.startswith("shootd: account main: project team-a: Cleura: ") and len(done.stderr.splitlines()) == 1


def test_secrets_of_the_unit_are_read_from_the_named_directory(sim, make_shootd):
    d = make_shootd(sim.url)
    (d.directory / "credentials").mkdir()
    (d.directory / "password").rename(d.directory / "credentials/cleura-main")
    d.config.write_text(d.config.read_text().replace(str(d.directory / "password"), "/run/credentials/none.service/cleura-main"))
    outside = check(d)
    assert outside.returncode == 78 and "password_file: cannot read" in outside.stderr, outside
    named = check(d, CREDENTIALS_DIRECTORY=str(d.directory / "credentials"))
    assert named.returncode == 0 and named.stdout.endswith("configuration is valid\n"), named


def test_login_goes_with_the_check_only(sim, make_shootd):
    d = make_shootd(sim.url)
    for arguments in (["--login"], ["--health", "--login"], ["check-store", "--login"]):
        done = subprocess.run([BUILD / "shootd", "--config", d.config, *arguments], capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 64 and done.stderr.startswith("shootd: --login goes with --check-config\n"), done
    assert not sim.requests()
