#!/usr/bin/python3
"""Makes the manual pages from the output of the programs, so both stay equal: man.py DIRECTORY, beside built programs.
shootd(8) and cleura-sim(1) are their --help, with tables of docs/operations.md; shootctl(1) is its table of commands; shootd.yaml(5) is the
annotated sample configuration."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return re.sub(r"^([.'])", r"\\&\1", text)


def said(program, *options):
    return subprocess.run([ROOT / "build" / program, *options], capture_output=True, text=True, check=True).stdout


def title(name, section):
    version, date = re.search(r"^## (\S+) \((\S+)\)", (ROOT / "CHANGELOG.md").read_text(), re.M).groups()
    return f'.TH {name.upper()} {section} "{date}" "shootd {version}" "shootd"\n'


def item(name, text):
    return f".TP\n.B {roff(name)}\n{roff(text)}\n"


def section(name, body):
    return f".SH {name}\n{body}"


# ---- --help ----

def entries(lines):
    """(name, text) of indented lines: a name begins after two spaces; its text follows after two more spaces or in the lines below."""
    found = []
    for line in lines:
        begins = re.match(r"  (\S.*?)(?:\s{2,}(.*))?$", line)
        if begins and not line.startswith("   "):
            found.append([begins[1], begins[2] or ""])
        else:
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return found


def blocks(text):
    """(first line, lines below it) of each block of --help."""
    found = []
    for line in text.splitlines():
        if line.startswith(" "):
            found[-1][1].append(line)
        else:
            found.append((line.removeprefix("usage: "), []))
    return found


def help_sections(text):
    (usage, options), *commands = blocks(text)
    synopsis = ".br\n".join(f".B {roff(line)}\n" for line in [usage, *(command for command, _ in commands)])
    made = section("SYNOPSIS", synopsis)
    about = section("OPTIONS", "".join(item(what, text) for what, text in entries(options)))
    if commands:
        about += section("COMMANDS", "".join(item(command, " ".join(line.strip() for line in lines)) for command, lines in commands))
    return made, about


def table(heading):
    """The first two columns of a table of docs/operations.md."""
    page = (ROOT / "docs/operations.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    page = re.sub(r"\[([^]]+)\]\(#[^)]*\)", r"\1", page)  # links within the page
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("|")][2:]
    return "".join(item(what.strip().replace("`", ""), text.strip()) for what, text, *_ in rows)


def shootd():
    synopsis, options = help_sections(said("shootd", "--help"))
    return (title("shootd", 8) + section("NAME", "shootd \\- a small, cached REST API for Gardener clusters at Cleura\n") + synopsis +
            section("DESCRIPTION", "Logs in at Cleura, reads the clusters of the configured projects, keeps their state, serves it as a REST API with events "
                    "and webhooks, and carries out changes as durable operations.\n") + options +
            section("EXIT STATUS", table("Exit codes")) + section("FILES", "In the state directory:\n" + table("Files in `state_dir`")) +
            section("SEE ALSO", ".BR shootd.yaml (5),\n.BR cleura\\-sim (1),\n/usr/share/doc/shootd/docs/operations.md\n"))


def cleura_sim():
    synopsis, options = help_sections(said("cleura-sim", "--help"))
    return (title("cleura-sim", 1) + section("NAME", "cleura\\-sim \\- a simulator of Cleura's API for tests and demonstrations\n") + synopsis +
            section("DESCRIPTION", "Answers as Cleura's API does, in both of its generations, with clusters that live in memory only.\n") + options +
            section("SEE ALSO", ".BR shootd (8),\n/usr/share/doc/shootd/docs/simulator.md\n"))


# ---- the table of commands ----

def flag_item(flag):
    letter = f"-{flag['letter']}, " if flag["letter"] else ""
    value = f" {flag['value']}" if flag["value"] else ""
    return item(f"{letter}--{flag['name']}{value}", flag["help"] + (": " + ", ".join(flag["words"]) if flag["words"] else "") + ".")


def command_section(command):
    lines = [command["summary"], *filter(None, [command["about"]])]
    examples = "".join(f"{roff(line)}\n" for line in command["examples"])
    return (f".SS {roff(command['name'])} {roff(command['arguments'])}".rstrip() + "\n" + "".join(f"{roff(line)}\n" for line in lines) +
            f".PP\n.nf\n{examples}.fi\n" + "".join(map(flag_item, command["flags"])))


def shootctl():
    told = json.loads(said("shootctl", "help", "-o", "json"))
    codes = "".join(item(str(one["code"]), one["text"][0].upper() + one["text"][1:] + ".") for one in told["exit_codes"])
    return (title("shootctl", 1) + section("NAME", "shootctl \\- the command line of shootd\n") +
            section("SYNOPSIS", ".B shootctl\n.I COMMAND\n[arguments] [flags]\n") +
            section("DESCRIPTION", "Creates, shows, changes and deletes Kubernetes clusters through the REST API of shootd. Data goes to standard output, everything else to "
                    "standard error.\n") +
            section("COMMANDS", "".join(map(command_section, told["commands"]))) +
            section("FLAGS OF EVERY COMMAND", "".join(map(flag_item, told["flags"]))) +
            section("FLAGS WITHOUT A COMMAND", item("--version", "Prints the version of shootctl, and asks no server.")) +
            section("EXIT STATUS", codes) +
            section("ENVIRONMENT", item("SHOOTD_URL, SHOOTD_TOKEN, SHOOTD_PROJECT, SHOOTD_CA_FILE", "Take precedence over the file of contexts; flags take precedence over them.") +
                    item("NO_COLOR", "No colours.") + item("SHOOTCTL_PROGRESS", "As --progress.")) +
            section("FILES", item("$XDG_CONFIG_HOME/shootctl/config.yaml", "The contexts, with their tokens; mode 0600.")) +
            section("SEE ALSO", ".BR shootd (8),\n/usr/share/doc/shootd/docs/shootctl.md\n"))


# ---- the sample ----

def keys(sample):
    """(path, text, value) of each key; value None where the sample omits it."""
    comment, path = [], []
    for line in sample.splitlines():
        key = re.match(r"( *)(# )?(- )?([a-z_]+):(?: (.*))?$", line)
        text = re.match(r" *# (.*)$", line)
        if key and not (key[2] and key[5] != "..." and key[5] != "[]"):
            depth = (len(key[1]) + len(key[3] or "")) // 2
            path = [*(path + [""] * depth)[:depth], key[4]]
            yield ".".join(path).replace("..", "[]."), " ".join(comment), None if key[2] else key[5]
            comment = []
        elif text:
            comment.append(text[1])
        else:
            comment = []


def yaml():
    sample = said("shootd", "--sample-config")
    about = "".join(item(path, f"{text} Sample: {value}." if value and "Default:" not in text else text) for path, text, value in keys(sample))
    intro = "".join(f"{roff(line[2:])}\n" for line in sample.split("\n\n")[0].splitlines())
    literal = "".join(f"{roff(line)}\n" for line in sample.splitlines() if not re.match(r" *# ", line) and line)
    return (title("shootd.yaml", 5) + section("NAME", "shootd.yaml \\- configuration of shootd\n") + section("DESCRIPTION", intro) +
            section("KEYS", about) + section("EXAMPLE", f".nf\n{literal}.fi\n") + section("SEE ALSO", ".BR shootd (8)\n"))


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for name, page in (("shootd.8", shootd()), ("shootctl.1", shootctl()), ("cleura-sim.1", cleura_sim()), ("shootd.yaml.5", yaml())):
        (directory / name).write_text(page)


if __name__ == "__main__":
    main()
