"""docs/operations.md: its commands run unchanged and in order, against the built daemon and cleura-sim, and its edits are then in force.
Its tables match the code: every metric, log field and exit code, and no other."""

import ipaddress
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

import harness
import issuers
from harness import BUILD, ROOT
from test_docs import Command, commands_of, run_commands
from test_metrics import samples
from test_tls import Authority

PATH = "docs/operations.md"
PAGE = (ROOT / PATH).read_text()
PASSWORD = "a password"
UNIT_USER = 65534 if os.geteuid() == 0 else os.geteuid()  # the user of DynamicUser=
CLUSTERS = 3
OUTSIDE = "127.0.0.2"  # in place of the address by which other machines reach the daemon: a socket on 127.0.0.1 does not answer there
DIRECTORIES = ("/etc/shootd", "/var/lib/shootd", "/var/backups/shootd")
CREDENTIALS = "/run/credentials/shootd.service"  # only systemctl gives access, as systemd does: outside the unit the directory is absent
# Commands that do not run here: the file that runs each, and the text that proves it.
ELSEWHERE = {
    "make deb": ("tools/fresh_inside.sh", "make deb >"),
    "sudo apt-get install -y ./build/deb/shootd_*.deb": ("tools/fresh_boot.sh", '(cd /root/checkout && bash -e -c "$line")'),  # as a line of README
    "sudo apt-get install -y ./shootd_NEW_amd64.deb": ("tools/fresh_boot.sh", 'install_debs "/root/debs/$1"/shootd_*.deb'),
    "podman build -t shootd .": ("tests/api/test_container.py", "tools/image_tree.sh"),  # the file tree of the image; podman needs a registry
    "kubectl apply -f deploy/kubernetes/namespace.yaml": ("tests/api/test_container.py", '"apply", "--dry-run=client"'),
    "kubectl -n shootd create secret generic shootd-credentials --from-file=cleura-main=FILE": ("tests/api/test_container.py", '"--dry-run=client", "-o", "json"'),
    "kubectl apply -f deploy/kubernetes/": ("tests/api/test_container.py", '"apply", "--dry-run=client"'),
    "kubectl -n shootd exec shootd-0 -- /usr/bin/shootd admin-token --config /etc/shootd/shootd.yaml":
        ("tests/api/test_container.py", '"/usr/bin/shootd", "admin-token", "--config", "/etc/shootd/shootd.yaml"'),
}

# ---- replacements for parts of the machine -----------------------------------------------------------------------------

SUDO = '#!/bin/sh\nexec "$@"\n'
JOURNALCTL = '#!/bin/sh\ntail -n 200 "$DAY/log"\n'
# The operator types the text that the page shows below the command.
SUDOEDIT = """#!/usr/bin/python3
import pathlib, sys, yaml
file = pathlib.Path(sys.argv[1])
file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | yaml.safe_load(sys.stdin)))
"""
# Starts and stops the daemon and reports its state. It runs the daemon as another user if the test may, passes the credential, and waits as
# a person does before the next command. As with systemd, the address of the socket replaces `listen`; another one is in force when the socket
# is started again.
SYSTEMCTL = r"""#!/bin/bash
set -eu
metric() { STATUSES=/dev/null curl -q -sS -k -m 60 "$(cat "$DAY/url")/metrics" 2>/dev/null | awk -v name="$1" '$1 ~ "^"name"({|$)" { sum += $2 } END { print sum + 0 }'; }
is_alive() { grep -q '^State:[[:space:]]*[^Z]' "/proc/$(cat "$DAY/pid")/status" 2>/dev/null; }  # some first processes do not bury
until_is() {
    for _ in $(seq 600); do
        [ "$(metric "$1")" != "$2" ] || return 0
        is_alive || break
        sleep 0.05
    done
    echo "$1 is not $2" >&2
    exit 1
}
render() {
    local scheme=http
    ! grep -q '^ *certificate: /' "$DAY/etc/shootd/shootd.yaml" || scheme=https
    echo "$scheme://localhost:$PORT" >"$DAY/url"
    install $OWNED -m 0600 -D "$DAY/etc/shootd/cleura-main" "$DAY/credentials/cleura-main"
    sed -e "s|/run/credentials/shootd.service|$DAY/credentials|" -e "s|^listen: .*|listen: $(cat "$DAY/socket")|" "$DAY/etc/shootd/shootd.yaml" >"$DAY/running.yaml"
}
stop() {
    [ -e "$DAY/pid" ] || return 0
    ! is_alive || kill "$(cat "$DAY/pid")"
    while is_alive; do sleep 0.05; done
    rm "$DAY/pid"
}
start() {
    local is_new=yes
    [ ! -e "$DAY/var/lib/shootd/shootd.db" ] || is_new=
    render
    CREDENTIALS_DIRECTORY=$DAY/credentials $AS_UNIT shootd --config "$DAY/running.yaml" >>"$DAY/log" 2>&1 &
    echo $! >"$DAY/pid"
    until_is shootd_clusters "$CLUSTERS"
    until_is shootd_oidc_issuers_without_keys 0
    until [ -z "$is_new" ] || [ -e "$DAY/var/lib/shootd/admin-token" ]; do sleep 0.05; done
}
reload() {
    local before
    before=$(metric shootd_reloads_total)
    render
    kill -HUP "$(cat "$DAY/pid")"
    until_is shootd_reloads_total $((before + 1))
    until_is shootd_oidc_issuers_without_keys 0
}
case "$1" in
edit) [ "$2" = shootd.socket ] && sed -n '/^ListenStream=$/,$ s/^ListenStream=\([0-9][0-9]*\)$/0.0.0.0:\1/p' >"$DAY/drop-in" ;;
start)
    [[ "$*" != *shootd.socket* ]] || [ ! -s "$DAY/drop-in" ] || cp "$DAY/drop-in" "$DAY/socket"
    start
    ;;
enable) [ "$2" = --now ] && start ;;
stop) stop ;;
restart) stop && start ;;
reload) reload ;;
*) echo "systemctl $1?" >&2; exit 1 ;;
esac
"""


class Day:
    """A separate machine: its directories, its programs, Cleura, an issuer, a certificate authority."""

    def __init__(self, directory, sim, issuer):
        self.root, self.port = directory / "day", harness.free_port()
        for place in DIRECTORIES[:2]:
            (self.root / place[1:]).mkdir(parents=True)
        os.chown(self.root / "var/lib/shootd", UNIT_USER, -1)
        (self.root / "var/lib/shootd").chmod(0o700)
        self.replaced = {
            **{place: f"{self.root}{place}" for place in DIRECTORIES},
            "https://rest.cleura.cloud": sim.url,
            "https://login.example.com/realms/it": issuer.url,
            "127.0.0.1:8080": f"127.0.0.1:{self.port}",
            "shootd.example.com:8080": f"{OUTSIDE}:{self.port}",
            "ListenStream=8080": f"ListenStream={self.port}",
        }
        sample = subprocess.run([BUILD / "shootd", "--sample-config"], capture_output=True, text=True, check=True).stdout
        self.config = self.root / "etc/shootd/shootd.yaml"
        self.config.write_text(self.here(sample))
        (self.root / "socket").write_text(f"127.0.0.1:{self.port}")
        self.programs(directory / "bin")
        self.certificates(directory / "here")
        as_unit = f"setpriv --reuid={UNIT_USER} --regid={UNIT_USER} --clear-groups --" if os.geteuid() == 0 else ""
        self.variables = {"DAY": self.root, "PORT": self.port, "CLUSTERS": CLUSTERS, "AS_UNIT": as_unit, "OWNED": f"-o {UNIT_USER}" if as_unit else "",
                          "PASSWORD": PASSWORD, "CURL_CA_BUNDLE": self.authority.path, "JWT": issuer.token(groups=["platform-admins"])}

    def here(self, text):
        for old, new in self.replaced.items():
            text = text.replace(old, new)
        return text

    @staticmethod
    def programs(bin):
        bin.mkdir()
        shutil.copy(BUILD / "shootd", bin)  # a path that the user of the unit can read
        for name, text in (("sudo", SUDO), ("sudoedit", SUDOEDIT), ("systemctl", SYSTEMCTL), ("journalctl", JOURNALCTL)):
            (bin / name).write_text(text)
            (bin / name).chmod(0o755)

    def certificates(self, here):
        here.mkdir()
        (here / "new").mkdir()
        etc = self.root / "etc/shootd"
        self.authority = Authority(self.root)
        uri = [x509.UniformResourceIdentifier("spiffe://example.com/ci")]
        own = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(OUTSIDE))]
        for place, where, name in ((etc, here, "clients"), (here / "new", here / "new", "later clients")):
            self.authority.issue(place / "fullchain.pem", place / "privkey.pem", names=own)
            clients = Authority(self.root, name)
            clients.issue(where / "ci.pem", where / "ci.key", names=uri, usage=ExtendedKeyUsageOID.CLIENT_AUTH)
            (place / "clients.pem").write_bytes(clients.path.read_bytes())
        for name in ("fullchain.pem", "privkey.pem"):
            os.chown(etc / name, UNIT_USER, -1)

    def log(self):
        log = self.root / "log"
        return log.read_text() if log.exists() else ""

    def stop(self):
        pid = self.root / "pid"
        if pid.exists():
            subprocess.run([self.root.parent / "bin/systemctl", "stop"], env={**os.environ, "DAY": str(self.root)}, check=True, timeout=60)


# ---- the page ----------------------------------------------------------------------------------------------------------


def edits_of(page):
    """The text that is typed into a file, by the line of the command that opens the file."""
    found = {}
    for block in re.finditer(r"^    \$ (?:sudoedit /etc/shootd/shootd\.yaml\n\n```yaml|sudo systemctl edit \S+\n\n```ini)\n(.*?)^```$", page, re.M | re.S):
        found[page.count("\n", 0, block.start()) + 1] = block[1]
    return found


def prepared(day, command, edits):
    """The command for this machine: with the typed text, and with standard error joined to the output, as on a terminal."""
    text = command.text
    if command.line in edits:
        text += f" <<'TYPED'\n{edits[command.line]}TYPED"
    text = day.here(text)
    assert not re.search(r"(?<![\w/-])(/etc|/var/lib|/var/backups)/shootd", text), f"of the machine itself: {text}"
    return Command(command.line, command.section, "{ " + text + "\n} 2>&1", [day.here(line) for line in command.output])


def test_every_block_is_run_or_told_who_runs_it():
    commands = commands_of(PAGE)
    indented = [n for n, line in enumerate(PAGE.splitlines(), 1) if line.startswith("    ") and not line.startswith("     ")]
    first = commands[0].line
    assert indented[0] == first, "an indented block without a command"
    fences = re.findall(r"^```(\w*)$", PAGE, re.M)
    assert len(edits_of(PAGE)) * 2 == len(fences) and set(fences) == {"yaml", "ini", ""}, "a block that nobody types into a file"
    texts = [c.text for c in commands]
    for text, (path, needle) in ELSEWHERE.items():
        assert texts.count(text) == 1, text
        assert needle in (ROOT / path).read_text(), f"{path} does not run it: {text}"
    left = [t for t in texts if t not in ELSEWHERE and re.match(r"(sudo )?(apt|dpkg|podman|docker|kubectl|make)\b", t)]
    assert not left, left


@pytest.fixture
def day(make_sim):
    sim = make_sim(login="robot", password=PASSWORD)
    sim.post("shoots", count=CLUSTERS, prefix="c", state="ready", project=harness.PROJECT_ID)
    with issuers.running() as issuer, tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)  # pytest's own directories are closed to the user of the unit
        one = Day(pathlib.Path(directory), sim, issuer)
        try:
            yield one
        finally:
            one.stop()
            print(one.log()[-6000:])


def test_the_operators_day(day):
    if not shutil.which("jq"):
        pytest.skip("jq is absent; `make deps-test` installs it")
    edits = edits_of(PAGE)
    commands = [prepared(day, c, edits) for c in commands_of(PAGE) if c.text not in ELSEWHERE]
    run_commands(PATH, commands, day.root.parent, lambda section: day.variables if section == commands[0].section else {})
    day.stop()
    assert len(commands) > 50
    totals = [c.said for c in commands if "jq -c '{total}'" in c.text]
    assert totals == [f'{{"total":{CLUSTERS}}}\n'] * 3, "found, restored, found again"
    typed = {}
    for text in edits.values():
        if not text.startswith("[Socket]"):
            typed |= yaml.safe_load(day.here(text))
    assert {key: yaml.safe_load(day.config.read_text())[key] for key in typed} == typed
    assert "new connections get the new certificate" in day.log()
    assert day.log().count("shootd is ready") == day.log().count(" stopped\n") >= 6
    assert PASSWORD not in day.log()


# ---- its tables ----------------------------------------------------------------------------------------------------------


def rows(heading):
    """The cells of the tables below a heading, without the heading rows."""
    text = re.split(r"^#+ ", PAGE.split(f"\n## {heading}\n")[1], maxsplit=1, flags=re.M)[0]
    lines = text.splitlines()
    for n, line in enumerate(lines):
        if line.startswith("|") and not line.startswith("|---") and not (n + 1 < len(lines) and lines[n + 1].startswith("|---")):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_every_metric_and_no_other(tmp_path, make_sim, make_shootd):
    d = make_shootd(make_sim().url).start().wait_upstream()
    d.wait_operation(d.create("dev")["operation"]["id"])
    text = d.http.get("/metrics").text
    families = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    labels = {name: set() for name in families}
    for name, of_one in samples(text):
        family = name if name in families else re.sub(r"_(bucket|sum|count)$", "", name)
        labels[family].update(label for label, _ in of_one if label != "le")
    told = {}
    for metrics, with_labels, _ in rows("Metrics"):
        if "shootd_" in metrics or "process_" in metrics:
            found = set(names(metrics))
            told |= dict.fromkeys(found, True)
            assert set(re.findall(r"\w+", with_labels)) == set().union(*(labels.get(name, set()) for name in found)), metrics
    assert set(told) == set(families)


def log_calls():
    """The arguments of each log call as text: the message, then keys and values in turn."""
    for path in sorted(p for p in ROOT.glob("*/**/*.c") if p.relative_to(ROOT).parts[0] not in ("build", "tests", "fuzz", "bench", "simulator")):
        if path.name == "log.c":
            continue
        text = path.read_text()
        for call in re.finditer(r"\blog_(error|warning|info|debug|write)\(", text):
            arguments, current, depth = [], "", 1
            for token in re.finditer(r'"(?:\\.|[^"\\])*"|.', text[call.end():], re.S):
                depth += (token[0] in "([{") - (token[0] in ")]}")
                if depth == 0:
                    break
                if token[0] == "," and depth == 1:
                    arguments.append(current.strip())
                    current = ""
                else:
                    current += token[0]
            arguments.append(current.strip())
            yield f"{path.name}: {arguments[0]}", arguments[1 if call[1] == "write" else 0:]


def test_every_log_field_and_no_other():
    written = set()
    for where, arguments in log_calls():
        keys = [a for a in arguments[1::2] if a != "NULL"]
        assert all(re.fullmatch(r'"[a-z_]+"', key) for key in keys), f"{where}: {keys}"
        written.update(key.strip('"') for key in keys)
    assert len(written) > 60
    told = [name for cells in rows("Log fields") for name in names(cells[0])]
    assert len(told) == len(set(told))
    assert set(told) == written | {"time", "level", "message"}


def test_every_exit_code_and_no_other():
    body = re.search(r"enum exit_code \{(.*?)\};", (ROOT / "daemon/daemon.h").read_text(), re.S)[1]
    codes = re.findall(r"= (\d+)", body)
    assert len(codes) >= 5 and [cells[0] for cells in rows("Exit codes")] == codes


# ---- its links -----------------------------------------------------------------------------------------------------------


def anchors(text):
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}


def test_links_of_the_pages_lead_somewhere():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    links = 0
    for page in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path) if path else page
            assert file.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(file.read_text()), f"{page.name}: {target}"
            links += 1
    assert links > 40
