"""What the sources may contain: includes point one way, some calls and words do not occur (style.md 5, 6)."""

import re

import pytest

from harness import ROOT

# What a folder may include beside itself. Dependencies point to the left only.
ORDER = [["base"], ["model"], ["config", "storage", "view", "loop"], ["upstream", "webhook"], ["reconcile"], ["api"],
         ["daemon"]]
LEVEL = {folder: i for i, folders in enumerate(ORDER) for folder in folders}
FOLDERS = set(LEVEL) | {"simulator"}
# Library headers, and who may see them.
LIBRARIES = {
    "microhttpd.h": {"api", "simulator"},
    "sqlite3.h": {"storage/sqlite"},
    "curl/curl.h": {"loop", "upstream", "webhook", "daemon"},
    "yaml.h": {"config"},
    "systemd/": {"daemon"},
    "openssl/": {"upstream", "simulator", "reconcile"},
}
BANNED = ("sprintf", "vsprintf", "strcpy", "strcat", "strncat", "strtok", "atoi", "atol", "atof", "gets", "localtime", "gmtime",
          "asctime", "ctime", "system", "popen", "tmpnam", "alloca", "rand", "srand", "getpwnam", "inet_ntoa",
          "gethostbyname")
SOURCES = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.[ch]"))


def code_of(path):
    """The text without comments and strings, lines kept."""
    text = path.read_text()
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) or " ", text)


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1), found.group(2)


def folder_of(path):
    return path.relative_to(ROOT).parts[0]


def test_there_is_something_to_look_at():
    assert len(SOURCES) > 100 and {folder_of(p) for p in SOURCES} == FOLDERS


def test_includes_point_one_way():
    faults = []
    for path in SOURCES:
        own = folder_of(path)
        for number, kind, name in includes(path):
            where = f"{path.relative_to(ROOT)}:{number}: {name}"
            if kind == "<":
                if name.split("/")[0] in FOLDERS:
                    faults.append(where + " is ours: use quotes")
                continue
            other = name.split("/")[0]
            if not (ROOT / name).exists():
                faults.append(where + " does not exist from the root")
            elif other == own:
                continue
            elif own == "simulator":
                if other != "base":
                    faults.append(where + ": the simulator shares nothing but base")
            elif other not in LEVEL or LEVEL[other] >= LEVEL[own]:
                faults.append(where + f": {own} must not know {other}")
            elif name.endswith("_private.h"):
                faults.append(where + " is private")
    assert not faults, "\n".join(faults)


def test_no_cycles_between_peers():
    """Folders of one level do not know each other; the rule above says so, this one that it is not vacuous."""
    edges = {(folder_of(p), n.split("/")[0]) for p in SOURCES for _, kind, n in includes(p) if kind == '"'}
    assert ("reconcile", "upstream") in edges and ("api", "view") in edges and ("model", "base") in edges
    for folders in ORDER:
        for a in folders:
            for b in folders:
                assert a == b or (a, b) not in edges, (a, b)


def test_libraries_are_seen_by_few():
    faults = []
    for path in SOURCES:
        where = str(path.relative_to(ROOT))
        for number, kind, name in includes(path):
            for prefix, allowed in LIBRARIES.items():
                if kind == "<" and name.startswith(prefix) and not any(where.startswith(a + "/") for a in allowed):
                    faults.append(f"{where}:{number}: {name}")
    assert not faults, "\n".join(faults)


def test_each_source_includes_its_own_header_first():
    faults = []
    for path in SOURCES:
        own = path.with_suffix(".h")
        if path.suffix == ".c" and own.exists():
            first = next((n for _, kind, n in includes(path) if kind == '"'), None)
            if first != str(own.relative_to(ROOT)):
                faults.append(f"{path.relative_to(ROOT)}: {first}")
    assert not faults, "\n".join(faults)


def test_headers_are_guarded():
    for path in SOURCES:
        if path.suffix == ".h":
            guard = re.sub(r"[^A-Z0-9]", "_", str(path.relative_to(ROOT)).upper())
            assert re.search(rf"^#ifndef {guard}\n#define {guard}$", path.read_text(), re.M), path


def test_banned_calls():
    pattern = re.compile(r"(?<![A-Za-z0-9_>.])(" + "|".join(BANNED) + r")\s*\(")
    faults = [f"{p.relative_to(ROOT)}:{n}: {line.strip()}" for p in SOURCES
              for n, line in enumerate(code_of(p).splitlines(), 1) if pattern.search(line)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("word", ["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK"])
def test_no_marks_of_unfinished_work(word):
    places = SOURCES + sorted((ROOT / "tests").rglob("*.py")) + sorted((ROOT / "tests").rglob("*.[ch]")) + \
        sorted((ROOT / "tools").glob("*")) + sorted((ROOT / "docs").glob("*.md")) + \
        [ROOT / "openapi.yaml", ROOT / "Makefile", ROOT / "README.md"]
    pattern = re.compile(rf"\b{word}\b")
    faults = [f"{p.relative_to(ROOT)}:{n}" for p in places if p.is_file() and "node_modules" not in p.parts
              for n, line in enumerate(p.read_text().splitlines(), 1) if pattern.search(line)]
    assert not faults, faults


def test_files_are_small():
    for path in SOURCES:
        assert len(path.read_text().splitlines()) <= 800, path


def test_documents_name_no_place_of_this_machine():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text()
        assert not re.search(r"/work/|/root/|/home/", text), path
