"""README "Deploy": what `make install` brings, and the check of the installed sample before the unit runs."""

import os
import re
import shutil
import subprocess

import pytest

from harness import BUILD, ROOT, SANITIZED

CREDENTIAL = "/run/credentials/shootd.service/cleura-main"

pytestmark = pytest.mark.skipif(SANITIZED, reason="build/ is what is installed")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """PREFIX of an installation, of the programs that are there."""
    root = tmp_path_factory.mktemp("root")
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"}
    subprocess.run(["make", "-o", "all", "install", f"PREFIX={root}/usr"], cwd=ROOT, env=env, check=True, timeout=120, capture_output=True)
    subprocess.run(["make", "-o", "all", "install", f"DESTDIR={root}/package", "PREFIX=/usr"], cwd=ROOT, env=env, check=True, timeout=120,
                   capture_output=True)
    return root / "usr"


def check(program, path, **environment):
    return subprocess.run([program, "--config", path, "--check-config"], capture_output=True, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], **environment})


def test_the_sample_passes_before_the_unit_runs(installed):
    sample = installed / "share/doc/shootd/shootd.sample.yaml"
    checked = check(installed / "bin/shootd", sample)
    assert (checked.returncode, checked.stdout) == (0, "configuration is valid\n"), checked
    assert re.fullmatch(rf"{sample}:\d+: password_file: note: not read: {CREDENTIAL} exists only inside the unit \(LoadCredential=\)\n", checked.stderr)


def test_other_files_are_read(installed, tmp_path):
    """Only what can only be there inside the unit is passed over."""
    text = (installed / "share/doc/shootd/shootd.sample.yaml").read_text()
    path = tmp_path / "shootd.yaml"
    for other in (tmp_path / "missing", "/run/credentials/cleura-main", "/run/credentials/a/b/c", "/srv" + CREDENTIAL):
        path.write_text(text.replace(CREDENTIAL, str(other)))
        checked = check(BUILD / "shootd", path)
        assert checked.returncode == 78 and "cannot read" in checked.stderr, other
    path.write_text(text)
    inside = check(BUILD / "shootd", path, CREDENTIALS_DIRECTORY="/run/credentials/shootd.service")
    assert inside.returncode == 78 and "cannot read" in inside.stderr, "inside the unit it has to be there"
    served = subprocess.run([BUILD / "shootd", "--config", path], capture_output=True, text=True, timeout=60)
    assert served.returncode == 78 and "cannot read" in served.stderr, "and to serve"
    token = text.replace(f"password_file: {CREDENTIAL}", "token_file: /run/user/1000/credentials/shootd.service/token")
    path.write_text(token)
    assert check(BUILD / "shootd", path).returncode == 0


def test_commands_beside_the_unit_need_no_credentials(installed, tmp_path):
    """They are run with the unit's configuration, by an administrator outside of it."""
    path = tmp_path / "shootd.yaml"
    (tmp_path / "state").mkdir(mode=0o700)
    path.write_text((installed / "share/doc/shootd/shootd.sample.yaml").read_text().replace("/var/lib/shootd", f"{tmp_path}/state"))
    made = subprocess.run([BUILD / "shootd", "admin-token", "--config", path], capture_output=True, text=True, timeout=60)
    assert made.returncode == 0 and re.fullmatch(r"shd_\S+\n", made.stdout), made
    store = subprocess.run([BUILD / "shootd", "check-store", "--config", path], capture_output=True, text=True, timeout=60)
    assert store.returncode == 69 and "cannot be opened" in store.stderr, "there is none yet"


def test_sample_and_unit_agree(installed):
    """What the sample names, the unit hands over, from where README puts it."""
    unit = (installed / "lib/systemd/system/shootd.service").read_text()
    name, source = re.search(r"^LoadCredential=([^:\n]+):(\S+)$", unit, re.M).groups()
    assert f"password_file: /run/credentials/shootd.service/{name}\n" in (installed / "share/doc/shootd/shootd.sample.yaml").read_text()
    deploy = (ROOT / "README.md").read_text().split("## Deploy\n")[1].split("\n## ")[0]
    assert source in deploy and re.search(r"ExecStart=\S+ --config (\S+)", unit)[1] in deploy


def test_the_installed_units_are_well_formed(installed):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is absent; `make deps-test` installs it")
    units = sorted((installed / "lib/systemd/system").iterdir())
    assert [u.name for u in units] == ["shootd.service", "shootd.socket"]
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *units], text=True, capture_output=True, timeout=60)
    about_us = [line for line in (result.stdout + result.stderr).splitlines() if "shootd" in line]
    assert result.returncode == 0 and about_us == []


def test_nothing_is_left_out(installed):
    """Programs, units, the sample, the contract, and every page and program that README names."""
    documents = installed / "share/doc/shootd"
    assert {p.name for p in (installed / "bin").iterdir()} == {"shootd", "cleura-sim"}
    named = set(re.findall(r"\((docs/[a-z]+\.md)\)|`(contrib/[a-z.-]+|openapi\.yaml)`", (ROOT / "README.md").read_text()))
    named = {a or b for a, b in named}
    assert len(named) > 8 and not {n for n in named if not (documents / n).is_file()}
    package = installed.parent / "package/usr"
    assert {p.relative_to(package) for p in package.rglob("*")} == {p.relative_to(installed) for p in installed.rglob("*")}
    assert "@PREFIX@" not in "".join(p.read_text() for p in (package / "lib/systemd/system").iterdir())
    assert "ExecStart=/usr/bin/shootd " in (package / "lib/systemd/system/shootd.service").read_text()


def test_manual_pages(installed):
    """Each option of --help and each key of the sample has its place, and a reader of pages finds nothing wrong with them."""
    man = installed / "share/man"
    pages = {p.name: p for p in man.rglob("*.*")}
    assert set(pages) == {"shootd.8", "cleura-sim.1", "shootd.yaml.5"}
    for program, page in (("shootd", "shootd.8"), ("cleura-sim", "cleura-sim.1")):
        told = subprocess.run([installed / "bin" / program, "--help"], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"--[a-z-]+", told))
        text = pages[page].read_text().replace("\\-", "-")
        assert len(options) > 4 and not {o for o in options if not re.search(rf"^\.B .*{o}\b", text, re.M)}
    sample = (installed / "share/doc/shootd/shootd.sample.yaml").read_text()
    keys = set(re.findall(r"^ *(?:# |- )?([a-z_]+):(?: |$)", sample, re.M)) - {"shootd"}
    text = pages["shootd.yaml.5"].read_text()
    assert len(keys) > 50 and not {k for k in keys if not re.search(rf"^\.B (?:\S+\.)?{k}$", text, re.M)}
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is absent; `make deps-test` installs it")
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages.values()], capture_output=True, text=True, timeout=60)
    assert (lint.returncode, lint.stdout + lint.stderr) == (0, "")
