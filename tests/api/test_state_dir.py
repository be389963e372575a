"""Only shootd can read state_dir: it checks the directory, does not follow links, and protects its memory."""

import os
import pathlib
import re
import resource
import shutil
import stat
import subprocess
import tempfile

import httpx
import pytest

import harness
import web
from harness import BUILD, wait_until
from test_start import run, written  # noqa: F401 (fixture)

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: makes files of another user")


def refused(path, *words, env=None):
    started = run("--config", path, env=env)
    assert started.returncode == 69, started.stderr
    for word in words:
        assert word in started.stderr, started.stderr


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777, 0o702])
def test_directory_that_others_may_change(written, mode):
    state = written.directory / "state"
    state.mkdir()
    state.chmod(mode)
    refused(written(), f"mode {mode:04o}", "chmod 700", str(state))
    assert list(state.iterdir()) == []


@needs_root
def test_directory_and_link_of_somebody_else(written):
    state, link = written.directory / "state", written.directory / "link"
    state.mkdir(mode=0o700)
    os.chown(state, NOBODY, NOBODY)
    refused(written(), f"belongs to user {NOBODY}", "chown")
    os.chown(state, 0, 0)
    link.symlink_to(state)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    refused(written("/state\n", "/link\n"), "symbolic links")
    assert list(state.iterdir()) == []


def test_directory_behind_a_link_of_our_own(sim, make_shootd):
    """With systemd's DynamicUser=, /var/lib/shootd is a link to /var/lib/private/shootd, which others may list."""
    d = make_shootd(sim.url)
    real = d.directory / "real"
    real.mkdir(mode=0o755)
    d.state.symlink_to(real)
    d.start()
    assert d.http.get("/v1/whoami").status_code == 200
    assert {p.name for p in real.iterdir()} >= {"shootd.db", "seal.key", "admin-token"}
    for path in real.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert not list(real.glob("*.new"))


def test_links_are_replaced_and_never_followed(sim, make_shootd, tmp_path):
    d = make_shootd(sim.url)
    d.state.mkdir(mode=0o700)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in ("admin-token", "admin-token.new", "seal.key.new"):
        (d.state / name).symlink_to(victim)
    d.start()
    assert victim.read_text() == "precious"
    assert not (d.state / "admin-token").is_symlink() and d.http.get("/v1/whoami").status_code == 200
    d.stop()
    key = d.state / "seal.key"
    key.rename(d.state / "elsewhere")
    key.symlink_to(d.state / "elsewhere")
    refused(d.config, "seal.key", "symbolic links")
    key.unlink()
    (d.state / "elsewhere").rename(key)
    database = d.state / "shootd.db"
    database.rename(d.state / "elsewhere")
    database.symlink_to(d.state / "elsewhere")
    refused(d.config, "shootd.db", "symbolic link")


def test_mode_of_the_key_counts_whatever_the_environment_says(sim, make_shootd, tmp_path):
    d = make_shootd(sim.url).start()
    d.stop()
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    with_credentials = {**os.environ, "CREDENTIALS_DIRECTORY": str(credentials)}
    for mode in (0o644, 0o640, 0o604):
        (d.state / "seal.key").chmod(mode)
        refused(d.config, "seal.key", "owner only")
        refused(d.config, "seal.key", "owner only", env=with_credentials)
    (d.state / "seal.key").chmod(0o600)
    (credentials / "shootd-seal-key").write_bytes(bytes(32))
    (credentials / "shootd-seal-key").chmod(0o444)
    refused(d.config, "shootd-seal-key", "owner only", env=with_credentials)
    password = d.directory / "password"
    password.chmod(0o604)
    checked = run("--config", d.config, "--check-config", env={**os.environ, "CREDENTIALS_DIRECTORY": str(d.directory)})
    assert checked.returncode == 78 and "chmod 600" in checked.stderr
    password.chmod(0o440)  # the mode that an access control list shows
    assert run("--config", d.config, "--check-config",
               env={**os.environ, "CREDENTIALS_DIRECTORY": str(d.directory)}).returncode == 0
    for other in (str(d.directory)[:-1], str(d.directory.parent), str(d.directory) + "/"):
        env = {**os.environ, "CREDENTIALS_DIRECTORY": other}
        assert run("--config", d.config, "--check-config", env=env).returncode == (0 if other.endswith("/") else 78), other


# ---- in containers: users that the platform picks, volumes that belong to a group, Secrets (docs/operations.md) --------------------

GROUP = 4242
USERS = {"of the image": 65532, "picked by the platform": 1000670000}


class Pod:
    """A volume as fsGroup makes it, and a Secret beside it, in a directory that another user can enter."""

    def __init__(self, root, d):
        self.d, self.root, self.volume, self.secrets = d, root, root / "volume", root / "secrets"
        root.chmod(0o755)
        for directory in (self.volume, self.secrets, self.secrets / "..data"):
            directory.mkdir()
            os.chown(directory, 0, GROUP)
        self.volume.chmod(0o2775)
        self.put("password", b"demo\n")
        self.config = root / "shootd.yaml"
        text = d.config.read_text().replace(str(d.state), str(self.volume / "state"))
        self.config.write_text(re.sub(r"password_file: .*", f"password_file: {self.secrets}/password", text))

    def put(self, name, content):
        """Adds a file as a Secret volume has it: a link."""
        file = self.secrets / "..data" / name
        file.write_bytes(content)
        os.chown(file, 0, GROUP)
        file.chmod(0o440)
        (self.secrets / name).symlink_to(f"..data/{name}")

    def start(self, user):
        """Starts the process; returns it when it serves, else its exit code and output."""
        process = harness.Process(["setpriv", f"--reuid={user}", f"--regid={GROUP}", f"--groups={GROUP}", BUILD / "shootd", "--config", self.config],
                                  self.root / "log", env={**os.environ, "CREDENTIALS_DIRECTORY": str(self.secrets)})

        def serves():
            try:
                return web.get(self.d.url + "/livez").status_code == 200
            except httpx.HTTPError:
                return False
        wait_until(lambda: process.popen.poll() is not None or serves(), what="the start")
        return process

    def serves(self, user):
        process = self.start(user)
        assert process.popen.poll() is None, process.text()[-2000:]
        assert process.stop() == 0

    def refuses(self, user, code, *words):
        (self.root / "log").write_text("")
        process = self.start(user)
        assert process.popen.poll() == code and all(word in process.text() for word in words), process.text()[-2000:]


@pytest.fixture
def pod(sim, make_shootd):
    root = pathlib.Path(tempfile.mkdtemp(prefix="shootd-pod-"))
    yield Pod(root, make_shootd(sim.url))
    shutil.rmtree(root)


@needs_root
@pytest.mark.parametrize("user", USERS.values(), ids=USERS)
def test_owners_and_modes_of_containers(pod, user):
    state, password = pod.volume / "state", pod.secrets / "..data/password"
    pod.serves(user)
    assert stat.S_IMODE(state.stat().st_mode) & 0o777 == 0o700 and state.stat().st_uid == user
    pod.serves(user)
    pod.refuses(user + 1, 69, "state directory", "Permission denied")
    state.chmod(0o2770)  # as the kubelet sets it without OnRootMismatch
    pod.refuses(user, 69, "mode 2770", "chmod 700")
    state.chmod(0o2700)
    password.chmod(0o444)
    pod.refuses(user, 78, "chmod 600")
    password.chmod(0o440)
    pod.put("shootd-seal-key", bytes(32))
    pod.refuses(user, 69, "shootd-seal-key")
    os.replace(pod.secrets / "..data/shootd-seal-key", pod.secrets / "shootd-seal-key")  # as a subPath mounts it
    state.rename(pod.volume / "old")  # its secrets are sealed with another key
    pod.serves(user)


@pytest.mark.skipif(harness.SANITIZED, reason="the sanitizers look into their own process")
@pytest.mark.parametrize("debugged", [None, "0", "1"])
def test_memory_is_closed_to_others_of_the_same_user(debugged):
    """PR_SET_DUMPABLE: root owns the files of the process in /proc; its own figures stay right. SHOOTD_DEBUG=1 allows debuggers and
    core files, and the log says so."""
    own = {name: value for name, value in os.environ.items() if name != "SHOOTD_DEBUG"}
    env = own | ({"SHOOTD_DEBUG": debugged} if debugged else {})
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    limit = str(0 if debugged != "1" else "unlimited" if hard == resource.RLIM_INFINITY else hard)
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        program = directory / "shootd"
        shutil.copy(BUILD / "shootd", program)
        d = harness.Shootd(directory / "d", "http://127.0.0.1:9")
        for path in [directory, *directory.rglob("*")]:
            os.chown(path, user, -1)
        log = directory / "log"
        with open(log, "wb") as stderr:
            process = subprocess.Popen([program, "--config", d.config], user=user, env=env, stderr=stderr)
        try:
            def metrics():
                assert process.poll() is None
                try:
                    return web.get(d.url + "/metrics", timeout=5).text
                except httpx.HTTPError:
                    return None
            text = wait_until(metrics, what="metrics")
            assert os.stat(f"/proc/{process.pid}/mem").st_uid == (user if debugged == "1" else 0)
            limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
            assert re.search(r"^Max core file size +(\S+) +(\S+) ", limits, re.M).groups() == (limit, limit)
            assert ("SHOOTD_DEBUG=1 allows core files and debuggers" in log.read_text()) == (debugged == "1")
            assert ("no core files, and no debuggers" in log.read_text()) == (debugged != "1")
            for family in ("open_fds", "resident_memory_bytes", "threads", "start_time_seconds"):
                assert float(re.search(rf"^process_{family} (\S+)$", text, re.M)[1]) > 3, family
        finally:
            process.terminate()
            assert process.wait(30) == 0
