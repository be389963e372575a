"""README "Deploy": the files that `make install` installs, and the check of the installed sample before the unit runs."""

import os
import re
import shutil
import subprocess

import pytest

from harness import BUILD, ROOT, SANITIZED

CREDENTIAL = "/run/credentials/shootd.service/cleura-main"

pytestmark = pytest.mark.skipif(SANITIZED, reason="build/ is what is installed")


def install(**variables):
    """`make install` with the built programs."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"}
    given = [f"{name}={value}" for name, value in variables.items()]
    subprocess.run(["make", "-o", "all", "install", *given], cwd=ROOT, env=env, check=True, timeout=120, capture_output=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The PREFIX of an installation."""
    root = tmp_path_factory.mktemp("root")
    install(PREFIX=f"{root}/usr", ETC=f"{root}/etc")
    install(DESTDIR=f"{root}/package", PREFIX="/usr")
    return root / "usr"


def check(program, path, **environment):
    return subprocess.run([program, "--config", path, "--check-config"], capture_output=True, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], **environment})


def filled_sample(installed):
    """The sample with values for its placeholders."""
    text = (installed / "share/doc/shootd/shootd.sample.yaml").read_text()
    for placeholder, value in (("LOGIN_AT_CLEURA", "robot"), ("PROJECT_ID_AT_CLEURA", "0123456789abcdef" * 2)):
        assert text.count(placeholder) == 1
        text = text.replace(placeholder, value)
    return text


def test_the_untouched_sample_has_faults(installed, tmp_path):
    sample = installed / "share/doc/shootd/shootd.sample.yaml"
    checked = check(installed / "bin/shootd", sample)
    assert (checked.returncode, checked.stdout) == (78, ""), checked
    told = "is still the placeholder of the sample: write your own value here"
    faults = [line for line in checked.stderr.splitlines() if "note:" not in line]
    assert [re.sub(r"^.*:\d+: ", "", line) for line in faults] == [f"login: {told}", f"project_id: {told}"], checked.stderr
    served = subprocess.run([BUILD / "shootd", "--config", sample], capture_output=True, text=True, timeout=60)
    assert served.returncode == 78 and told in served.stderr


def test_the_case_of_a_region_counts(installed, tmp_path):
    path = tmp_path / "shootd.yaml"
    path.write_text(filled_sample(installed).replace("region: Sto2", "region: sto2"))
    checked = check(BUILD / "shootd", path)
    assert (checked.returncode, checked.stdout) == (0, "configuration is valid\n"), "a private cloud may have such a region"
    assert "region: note: case counts: Cleura writes its regions like Sto2, not like 'sto2'\n" in checked.stderr


def test_the_sample_passes_before_the_unit_runs(installed, tmp_path):
    sample = tmp_path / "shootd.yaml"
    sample.write_text(filled_sample(installed))
    checked = check(installed / "bin/shootd", sample)
    assert (checked.returncode, checked.stdout) == (0, "configuration is valid\n"), checked
    assert re.fullmatch(rf"{sample}:\d+: password_file: note: not read: {CREDENTIAL} exists only inside the unit \(LoadCredential=\)\n", checked.stderr)


def test_other_files_are_read(installed, tmp_path):
    """The check skips only files that exist only while the unit runs."""
    text = filled_sample(installed)
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
    """An administrator runs them with the unit's configuration, outside the unit."""
    path = tmp_path / "shootd.yaml"
    (tmp_path / "state").mkdir(mode=0o700)
    path.write_text(filled_sample(installed).replace("/var/lib/shootd", f"{tmp_path}/state"))
    made = subprocess.run([BUILD / "shootd", "admin-token", "--config", path], capture_output=True, text=True, timeout=60)
    assert made.returncode == 0 and re.fullmatch(r"shd_\S+\n", made.stdout), made
    assert "note:" not in made.stderr, "that is for who checks the configuration"
    store = subprocess.run([BUILD / "shootd", "check-store", "--config", path], capture_output=True, text=True, timeout=60)
    assert store.returncode == 69 and "cannot be opened" in store.stderr, "there is none yet"


def test_sample_and_unit_agree(installed):
    """The unit passes every credential that the sample names, from the path in README."""
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
    """Programs, units, the sample, the contract, and every page and program that README names are installed."""
    documents = installed / "share/doc/shootd"
    assert {p.name for p in (installed / "bin").iterdir()} == {"shootd", "shootctl", "cleura-sim"}
    named = set(re.findall(r"\((docs/[a-z]+\.md)\)|`(contrib/[a-z.-]+|openapi\.yaml)`", (ROOT / "README.md").read_text()))
    named = {a or b for a, b in named}
    assert len(named) > 8 and not {n for n in named if not (documents / n).exists()}
    contrib = {str(p.relative_to(ROOT)) for p in (ROOT / "contrib").rglob("*") if p.is_file() and p.suffix != ".pyc"}
    assert "contrib/prometheus/alerts.yaml" in contrib and not {n for n in contrib if not (documents / n).is_file()}
    package = installed.parent / "package/usr"
    assert {p.relative_to(package) for p in package.rglob("*")} == {p.relative_to(installed) for p in installed.rglob("*")}
    assert "@PREFIX@" not in "".join(p.read_text() for p in (package / "lib/systemd/system").iterdir())
    assert "ExecStart=/usr/bin/shootd " in (package / "lib/systemd/system/shootd.service").read_text()


def test_completions_are_where_the_shells_look(installed):
    """Completions for Debian's bash-completion, zsh and fish; also in the package."""
    lines = (ROOT / "debian/shootd.install").read_text().splitlines()
    for shell, path in (("bash", "share/bash-completion/completions/shootctl"), ("zsh", "share/zsh/vendor-completions/_shootctl"),
                        ("fish", "share/fish/vendor_completions.d/shootctl.fish")):
        told = subprocess.run([installed / "bin/shootctl", "completion", shell], capture_output=True, text=True, check=True).stdout
        assert (installed / path).read_text() == told and f"usr/{path}" in lines


def test_a_new_installation_is_configured_by_the_sample(tmp_path):
    config = tmp_path / "etc/shootd/shootd.yaml"
    install(DESTDIR=tmp_path, PREFIX="/usr")
    assert config.read_bytes() == (ROOT / "config/shootd.sample.yaml").read_bytes()
    config.write_text("mine")
    install(DESTDIR=tmp_path, PREFIX="/usr")
    assert config.read_text() == "mine", "an upgrade keeps the administrator's"


def test_manual_pages(installed):
    """The pages have each option of --help and each key of the sample, and a checker of manual pages finds no fault."""
    man = installed / "share/man"
    pages = {p.name: p for p in man.rglob("*.*")}
    assert set(pages) == {"shootd.8", "shootctl.1", "cleura-sim.1", "shootd.yaml.5"}
    for program, page in (("shootd", "shootd.8"), ("shootctl", "shootctl.1"), ("cleura-sim", "cleura-sim.1")):
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


def test_the_packages_hold_what_is_installed(tmp_path):
    """Each installed file is in one package, and each line of a package's list has a file."""
    install(DESTDIR=tmp_path, PREFIX="/usr", UNITS="/lib/systemd/system")
    files = [p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()]
    lines = [line for name in ("shootd", "cleura-sim") for line in (ROOT / f"debian/{name}.install").read_text().split()]
    assert len(files) > 20
    for file in files:
        assert len([line for line in lines if f"{file}/".startswith(f"{line}/")]) == 1, file
    for line in lines:
        assert any(f"{file}/".startswith(f"{line}/") for file in files), line


def test_the_packages_tell_the_same_changes(tmp_path):
    made = subprocess.run([ROOT / "tools/debian_changelog.py", ROOT / "CHANGELOG.md"], capture_output=True, text=True, check=True).stdout
    version = (ROOT / "VERSION").read_text().strip()
    assert made.startswith(f"shootd ({version}) unstable; urgency=medium\n\n  * ")
    assert not [line for line in made.splitlines() if len(line) > 80 and not line.startswith(" -- ")]
    if not shutil.which("dpkg-parsechangelog"):
        pytest.skip("dpkg-parsechangelog is absent; `make deb` installs it")
    (tmp_path / "changelog").write_text(made)
    parsed = subprocess.run(["dpkg-parsechangelog", "--all", "-l", tmp_path / "changelog"], capture_output=True, text=True, timeout=60, check=True)
    assert f"Version: {version}\n" in parsed.stdout and parsed.stderr == ""


@pytest.mark.parametrize("name", ["config", "postinst", "prerm", "postrm"])
def test_the_scripts_of_the_package_are_sound(name):
    path = ROOT / f"debian/shootd.{name}"
    subprocess.run(["sh", "-n", path], check=True, timeout=60)
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is absent; `make deps-test` installs it")
    subprocess.run(["shellcheck", "-s", "sh", path], check=True, timeout=60)


# The real debconf, with separate files. All directories that the script could remove are in the namespace only.
PURGE = """
set -e
mount -t tmpfs tmpfs /etc
mount -t tmpfs tmpfs /var/lib
mkdir -p /var/lib/shootd /var/lib/private/shootd /etc/shootd
for path in $5; do mount -t tmpfs tmpfs $path; done
mkdir -p /var/lib/shootd/backups
echo state >/var/lib/private/shootd/state
echo store >/var/lib/shootd/shootd.db
echo password >/etc/shootd/cleura-main
if [ "$3" = absent ]; then
    mount -t tmpfs tmpfs /usr/share/debconf
else
    [ -z "$2" ] || echo "shootd shootd/remove-state boolean $2" | debconf-set-selections
    [ -z "$3" ] || exec <"$3"
fi
"$1/shootd.postrm" "$4" >"$1/said" 2>&1 || { cat "$1/said" >&2; exit 1; }
for path in /var/lib/private/shootd/state /var/lib/shootd/shootd.db /var/lib/shootd/backups /etc/shootd/cleura-main; do [ ! -e $path ] || echo $path; done
"""
DEBCONF = """Config: all
Templates: templates

Name: all
Driver: File
Filename: {0}/config.dat

Name: templates
Driver: File
Filename: {0}/templates.dat
"""


STATE = ["/var/lib/private/shootd/state", "/var/lib/shootd/shootd.db", "/var/lib/shootd/backups", "/etc/shootd/cleura-main"]


def after(tmp_path, action, frontend, preset, typed, mounts=""):
    """The state after the package's script, and the output of the script."""
    if os.geteuid() or not os.path.exists("/usr/share/debconf/confmodule"):
        pytest.skip("needs root, for a namespace of mounts, and debconf")
    for name in ("postrm", "templates"):
        shutil.copy(ROOT / f"debian/shootd.{name}", tmp_path / f"shootd.{name}")
    (tmp_path / "shootd.postrm").chmod(0o755)
    (tmp_path / "rc").write_text(DEBCONF.format(tmp_path))
    answers = typed
    if typed in ("yes", "no"):
        answers = tmp_path / "answers"
        answers.write_text(typed + "\n")
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", PURGE, "sh", tmp_path, preset, answers, action, mounts],
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                          env={"PATH": os.environ["PATH"], "DEBCONF_SYSTEMRC": str(tmp_path / "rc"), "DEBIAN_FRONTEND": frontend, "LC_ALL": "C"})
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.split(), (tmp_path / "said").read_text()


@pytest.mark.parametrize("frontend, preset, typed, kept", [
    ("noninteractive", "", "", True), ("noninteractive", "false", "", True), ("noninteractive", "true", "", False),
    ("teletype", "", "no", True), ("teletype", "", "yes", False), ("teletype", "true", "no", True), ("noninteractive", "", "absent", True)])
def test_a_purge_keeps_the_state_unless_it_is_reported(tmp_path, frontend, preset, typed, kept):
    left, said = after(tmp_path, "purge", frontend, preset, typed)
    assert left == (STATE if kept else []), said
    assert ("Remove the state of shootd when it is purged?" in said) == (frontend == "teletype"), said


def test_a_purge_of_state_on_a_volume_is_whole(tmp_path):
    """Mount points cannot be removed; everything else is, also what comes after them."""
    assert after(tmp_path, "purge", "noninteractive", "true", "", "/var/lib/shootd /var/lib/private/shootd")[0] == []


@pytest.mark.parametrize("action", ["remove", "upgrade", "disappear"])
def test_whatever_is_no_purge_keeps_the_state(tmp_path, action):
    """No question is asked, and an earlier answer does not count."""
    assert after(tmp_path, action, "noninteractive", "true", "") == (STATE, "")


# Replaces the builder, and has everything that `make deb` gives it.
BUILDER = """#!/bin/sh
[ "$PWD" = "$(pwd -P)" ] || exit 3
umask
date +%Z
find . -printf '%P %m %l\\n' | sort
find . -type f -exec sha256sum {} + | sort
"""


def test_the_packages_are_made_of_the_same_everywhere(tmp_path):
    """Folders with different names, owners with different settings, one over a link. tools/fresh_inside.sh packages compares the built
    packages."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a repository")
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    for name, text in (("dpkg-buildpackage", BUILDER), ("lintian", "#!/bin/sh\n")):
        (stubs / name).write_text(text)
        (stubs / name).chmod(0o755)
    given = []
    for folder, umask, zone, settings in (("a", 0o022, "UTC", {}), ("another-folder", 0o077, "FAR-13", {"tar.umask": "0007", "core.abbrev": "20"})):
        git = ["git", "-c", "safe.directory=*"]
        subprocess.run([*git, "clone", "-q", ROOT, tmp_path / folder], check=True, timeout=120, umask=umask)
        for key, value in settings.items():
            subprocess.run([*git, "-C", tmp_path / folder, "config", key, value], check=True, timeout=60)
        shutil.copy(ROOT / "tools/deb.sh", tmp_path / folder / "tools/deb.sh")
        way = tmp_path / f"link-to-{folder}"
        way.symlink_to(folder)
        run = subprocess.run(["tools/deb.sh"], cwd=way, umask=umask, capture_output=True, text=True, timeout=120,
                             env={**os.environ, "PATH": f"{stubs}:{os.environ['PATH']}", "TZ": zone, "PWD": str(way)})
        assert (run.returncode, run.stderr) == (0, ""), run
        given.append(run.stdout)
    assert given[0] == given[1] and given[0].startswith("0022\nUTC\n") and "debian/rules 755" in given[0] and "debian/changelog 644" in given[0]
