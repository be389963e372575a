"""Runs every command of docs/api.md and README.md, in the order of the page, in one shell per page, and compares the printed output.
On the page:

$ command           a command; it continues on the next lines while the shell needs more (a quote, a backslash)
output              its output, which may be left out; `…` stands for anything; ids, ETags, ages and times match any other of their kind
$ command   # 404   the status, when it is not a success

Blank space is not compared. For an answer with its header section, only the fields on the page are compared."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field

import harness
from contract import DOCUMENT
from harness import ROOT, hostile_home

ID = r"(?:tok|cl|op|wh|evt|req|dlv)_[0-9a-z]{26}"
TAG = r'"[0-9a-z]{10}-[0-9]+(?:-[0-9a-f]{16})?"'
TIME = r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-9:.]{8,15}Z"
AGE = r"Age:[0-9]+"
SECRET = r"(?:shd|whsec)_"
# Slow enough that an operation that is open on the page is still open at the next command.
SPEED = 120


# ---- reading a page --------------------------------------------------------------------------------------------------

@dataclass
class Command:
    line: int
    section: str
    text: str
    output: list = field(default_factory=list)
    said: str = ""  # the output of the run

    @property
    def status(self):
        """The status on the page, None for any success."""
        shown = "\n".join(self.output)
        told = re.search(r"\s# ([1-5]\d\d)\b[^\n]*$", self.text) or re.match(r"HTTP/1\.1 (\d+)", shown) or \
            re.match(r'\{"type":"/problems/.*?"status":(\d+),', shown, re.S)
        return int(told[1]) if told else None


def is_whole(text):
    return not text.endswith("\\") and subprocess.run(["bash", "-n", "-c", text], capture_output=True).returncode == 0


def commands_of(page):
    found, section, current = [], None, None
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("## "):
            section = line[3:]
        if line.startswith("    $ "):
            current = Command(number, section, line[6:])
            found.append(current)
        elif line.startswith("    ") and current:
            if is_whole(current.text):
                current.output.append(line[4:])
            else:
                current.text += "\n" + line[4:]
        elif line.strip():
            current = None  # prose ends the output of a command
        elif current:
            current.output.append("")
    return found


def pattern_of(text):
    """The output on the page as a pattern over text without blank space."""
    def part(told):
        for kind, pattern in (("…", ".*?"), (ID, ID), (TAG, TAG), (TIME, TIME), (AGE, AGE), (SECRET, SECRET)):
            if re.fullmatch(kind, told):
                return pattern
        return re.escape(told)

    return "".join(map(part, re.split(rf"(…|{ID}|{TAG}|{TIME}|{AGE}|{SECRET})", re.sub(r"\s+", "", text))))


def is_as_told(told, said):
    return re.fullmatch(pattern_of(told), re.sub(r"\s+", "", said), re.S)


def compare(command, said):
    """The fault, or None."""
    told = "\n".join(command.output).strip()
    if not told:
        return None
    if not told.startswith("HTTP/1.1"):
        return None if is_as_told(told, said) else f"printed:\n{said}\npage:\n{told}"
    head, _, body = said.replace("\r", "").partition("\n\n")
    fields, _, wanted = told.partition("\n\n")
    for one in fields.splitlines():
        if not any(is_as_told(one, line) for line in head.splitlines()):
            return f"no '{one}' in:\n{head}"
    return None if not wanted.strip() or is_as_told(wanted, body) else f"printed:\n{body}\npage:\n{wanted}"


# ---- running it ------------------------------------------------------------------------------------------------------

# This program replaces curl in the PATH and records the status of each request. The ~/.curlrc of this home changes the output of a curl
# without `-q`.
CURL = f"""#!/bin/bash
errors=$(mktemp)
case " $*" in *" -m "* | *" --max-time "*) ;; *) echo "a curl without end: $*" >&2 ;; esac
first=()
if [ "$1" = -q ]; then first=(-q); shift; fi
{shutil.which("curl")} "${{first[@]}}" -w '%{{stderr}}\\n@%{{http_code}}\\n' "$@" 2>"$errors"
code=$?
sed -n 's/^@//p' "$errors" >>"$STATUSES"
grep -v -e '^@' -e '^$' "$errors" >&2
rm -f "$errors"
exit $code
"""


def script_of(commands, environment):
    """All commands in one shell; each stores its output, its exit code and the statuses of its requests in files."""
    lines = ["set -o pipefail"]
    for i, command in enumerate(commands):
        if i == 0 or command.section != commands[i - 1].section:
            lines += [f"export {name}='{value}'" for name, value in environment(command.section).items()]
        lines += [f"export STATUSES=$PWD/{i}.statuses; : >$STATUSES", "{", command.text,
                  f"}} >{i}.out 2>{i}.err </dev/null", f"echo $? >{i}.code"]
    return "\n".join(lines) + "\n"


def fault_of(command, said, errors, code, statuses):
    if code:
        return f"exit code {code}: {errors}{said}"
    if not all(s == command.status if command.status else 200 <= s < 400 for s in statuses):
        return f"status {statuses}: {said}"
    return f"on standard error: {errors}" if errors else compare(command, said)


def run_page(path, directory, environment):
    return run_commands(path, commands_of((ROOT / path).read_text()), directory, environment)


def run_commands(path, commands, directory, environment):
    """Runs the commands in directory/here; directory/bin comes first in the PATH."""
    bin, here = directory / "bin", directory / "here"
    bin.mkdir(exist_ok=True)
    here.mkdir(exist_ok=True)
    (here / "contrib").symlink_to(ROOT / "contrib")
    (bin / "curl").write_text(CURL)
    (bin / "curl").chmod(0o755)
    (bin / "shootctl").symlink_to(harness.BUILD / "shootctl")
    home = hostile_home(directory / "home")
    run = subprocess.run(["bash"], input=script_of(commands, environment), text=True, capture_output=True, cwd=here,
                         timeout=400 * harness.PATIENCE, env={**os.environ, **home, "PATH": f"{bin}:{os.environ['PATH']}"})
    assert run.returncode == 0, run.stderr
    faults = []
    for i, command in enumerate(commands):
        said, errors, code, statuses = ((here / f"{i}.{kind}").read_text() for kind in ("out", "err", "code", "statuses"))
        command.said = said
        fault = fault_of(command, said, errors, int(code), [int(s) for s in statuses.split()])
        if fault:
            faults.append(f"{path}:{command.line}: {command.text}\n{fault}")
    assert not faults, "\n\n".join(faults)
    return commands


def test_docs_api(make_sim, make_shootd, tmp_path):
    d = make_shootd(make_sim(speed=SPEED).url, extra=f"backups: {{directory: {tmp_path}/backups, every: 0s}}\n").start()
    by_hand = make_shootd(make_sim(two_factor=True).url, name="by-hand").start()
    harness.wait_until(lambda: by_hand.http.get("/v1/accounts").json()["items"][0]["login_state"] == "two_factor_required",
                       what="the refused login")

    def environment(section):
        one = by_hand if section == "Accounts" else d
        return {"SHOOTD_URL": one.url, "SHOOTD_TOKEN": one.token(), "URL": one.url, "TOKEN": one.token()}

    commands = run_page("docs/api.md", tmp_path, environment)
    five = [c.text for c in commands if c.section == "In five lines" and "curl" in c.text]
    assert five == [c.text for c in commands][1:6] and all("\n" not in line for line in five)
    for line, what in zip(five, ("/clusters$", '{"name":"dev"}', "wait=55", "/kubeconfig", "-X DELETE"), strict=True):
        assert re.search(what, line), f"the page begins with list, create, wait, kubeconfig, delete: {line}"
    life = "\n".join(c.text for c in commands if c.section == "The life of a cluster")
    steps = [life.index(what) for what in ('"name":"dev"', "finish $OP", "/kubeconfig", "/upgrades", '"kubernetes_version":"1.34"',
                                           "/actions/hibernate", "/actions/wake", "-X DELETE")]
    assert steps == sorted(steps)
    assert len(commands) > 80 and sum(any(c.output) for c in commands) > 35


def test_readme(make_sim, make_shootd, tmp_path):
    d = make_shootd(make_sim(speed=SPEED).url).start()
    commands = run_page("README.md", tmp_path, lambda section: {"SHOOTD_URL": d.url, "SHOOTD_TOKEN": d.token(), "SHOOTCTL_PROGRESS": "none"})
    assert len(commands) >= 5 and sum(any(c.output) for c in commands) >= 5


def test_the_page_tells_what_only_admins_may():
    paths = DOCUMENT["paths"]
    of_admins = {path for path, item in paths.items() for method in item.values() if isinstance(method, dict) and method.get("x-role") == "admin"}
    row = re.search(r"^\| `admin` \| (.*) \|$", (ROOT / "docs/api.md").read_text(), re.M)[1]
    told = re.findall(r"`([^`]+)`", row)
    assert len(of_admins) > 8
    assert not {path for path in of_admins if not any(f"{path}/".startswith(f"{name}/") or path.endswith(f"/{name}") for name in told)}
    assert not {name for name in told if not any(name in path for path in of_admins)}


def test_the_comparison_itself():
    """The comparison finds differences, and accepts permitted ones."""
    page = ('text\n    $ a \'{"x":1,\n      "y":2}\' \\\n      b  # 404\n    {"id":"op_01k5c8s0zj8q4t6w2x9y0a1b2c", …,\n     "n":1}\n'
            '\nmore\n\n    no output\n')
    (command,) = commands_of(page)
    assert command.text.count("\n") == 2 and command.status == 404 and len(command.output) == 3
    said = '{"id":"op_01k5c8s0zj8q4t6w2x9y0aaaaa","z":[2],"n":1}'
    assert compare(command, said) is None
    assert compare(command, said.replace(":1}", ":2}")) and compare(command, said.replace("op_01", "op-01"))
    (command,) = commands_of('    $ x\n    HTTP/1.1 202 Accepted\n    Age: 0\n\n    {"a":"2026-11-21T05:50:58Z","t":"shd_…"}\n')
    answer = 'HTTP/1.1 202 Accepted\r\nDate: x\r\nAge: 0\r\n\r\n{"a":"2027-11-21T05:50:58.123456Z","t":"shd_9"}'
    assert compare(command, answer) is None and command.status == 202
    for old, new in (("Age: 0", "Age: x"), ("Z", ""), ("shd_", "")):
        assert compare(command, answer.replace(old, new)), new
    assert fault_of(command, answer, "", 0, [202]) is None
    assert fault_of(command, answer, "", 0, [200]) and fault_of(command, answer, "", 22, []) and fault_of(command, answer, "curl: (7)", 0, [])
