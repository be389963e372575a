"""The systemd units: well-formed, confined, and with the settings that the daemon needs."""
import pathlib
import re
import shutil
import subprocess

import pytest

UNITS = pathlib.Path(__file__).resolve().parents[2] / "systemd"
NAMES = ("shootd.service", "shootd.socket")
MAX_EXPOSURE = 1.5

needs_analyze = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")


@pytest.fixture
def units(tmp_path):
    """The units as `make install` writes them, with an existing program."""
    prefix = tmp_path / "prefix"
    program = prefix / "bin" / "shootd"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    manual = prefix / "share" / "doc" / "shootd" / "shootd.sample.yaml"
    manual.parent.mkdir(parents=True)
    manual.touch()
    rendered = []
    for name in NAMES:
        path = tmp_path / name
        path.write_text((UNITS / name).read_text().replace("@PREFIX@", str(prefix)))
        rendered.append(path)
    return rendered


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", *map(str, arguments)], text=True, capture_output=True, timeout=60,
                          check=False)


def settings(name, section):
    """Key to list of values in one section."""
    found = {}
    current = None
    for line in (UNITS / name).read_text().splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            current = match[1]
        elif current == section and line and not line.startswith("#"):
            key, value = line.split("=", 1)
            found.setdefault(key, []).append(value)
    return found


@needs_analyze
def test_units_are_well_formed(units):
    result = analyze("verify", "--man=no", "--recursive-errors=no", *units)
    about_us = [line for line in (result.stdout + result.stderr).splitlines() if "shootd" in line]
    assert about_us == []
    assert result.returncode == 0, result.stderr


@needs_analyze
def test_exposure_is_low(units):
    result = analyze("security", "--offline=true", f"--threshold={int(MAX_EXPOSURE * 10)}", units[0])
    exposure = re.search(r"Overall exposure level for shootd\.service: ([\d.]+)", result.stdout)
    assert exposure, result.stdout + result.stderr
    assert float(exposure[1]) <= MAX_EXPOSURE, result.stdout
    assert result.returncode == 0


@needs_analyze
def test_a_misspelt_key_would_be_found(units):
    """The check above finds a misspelt key."""
    units[0].write_text(units[0].read_text().replace("LockPersonality", "LockPersonalty"))
    assert "LockPersonalty" in analyze("verify", "--man=no", units[0]).stderr


def test_service_says_what_the_daemon_relies_on():
    service = settings("shootd.service", "Service")
    expected = {
        "Type": "notify",
        "WatchdogSec": "30",
        "Restart": "on-failure",
        "RestartSec": "1",
        "RestartPreventExitStatus": "78",
        "TimeoutStopSec": "40",
        "KillMode": "mixed",
        "DynamicUser": "yes",
        "StateDirectory": "shootd",
        "ConfigurationDirectory": "shootd",
        "LimitCORE": "0",
        "ExecStart": "@PREFIX@/bin/shootd --config /etc/shootd/shootd.yaml",
    }
    assert {key: service[key] for key in expected} == {key: [value] for key, value in expected.items()}
    assert service["ExecReload"] == ["/bin/sh -c 'kill -HUP $MAINPID'"]
    # Outgoing HTTPS to Cleura and to webhook receivers must work after installation.
    assert "IPAddressDeny" not in service
    assert {"AF_INET", "AF_INET6"} <= set(service["RestrictAddressFamilies"][0].split())


def test_service_has_no_secret_in_the_environment():
    service = settings("shootd.service", "Service")
    assert not {"Environment", "EnvironmentFile", "SetCredential", "PassEnvironment"} & set(service)


def test_exit_status_78_is_the_one_the_daemon_uses():
    codes = (UNITS.parent / "daemon" / "daemon.h").read_text()
    assert re.search(r"EXIT_CONFIG\s*=\s*78\b", codes)


def test_enabling_the_service_enables_the_socket():
    """`systemctl enable --now shootd` also enables the socket; tools/fresh_boot.sh runs it. The socket unit has the link, so disabling
    the service removes it."""
    assert settings("shootd.service", "Install")["Also"] == ["shootd.socket"]
    assert settings("shootd.socket", "Install")["WantedBy"] == ["sockets.target shootd.service"]
    assert not {"Wants", "Requires"} & {key for key, values in settings("shootd.service", "Unit").items() if "shootd.socket" in " ".join(values)}


def test_socket_hands_over_one_stream_socket():
    socket = settings("shootd.socket", "Socket")
    assert socket["ListenStream"] == ["127.0.0.1:8080"]
    assert socket["FileDescriptorName"] == ["http"]
    assert socket["FlushPending"] == ["no"]
    assert socket["NoDelay"] == ["yes"]
    assert socket["Accept"] == ["no"]
    assert int(socket["Backlog"][0]) >= 1024
