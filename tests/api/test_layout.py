"""The tree obeys its own rules: who may include whom, which calls are banned, which headers are seen where."""

import re
import subprocess

import pytest

from harness import ROOT

# A folder may include itself, what its row names, and nothing else of ours (docs/architecture.md).
MAY_INCLUDE = {
    "base": set(),
    "model": {"base"},
    "config": {"base", "model"},
    "storage": {"base", "model"},
    "view": {"base", "model"},
    "loop": {"base"},
    "upstream": {"base", "model", "config", "loop"},
    "webhook": {"base", "model", "config", "storage", "loop"},
    "reconcile": {"base", "model", "config", "storage", "view", "loop", "upstream", "webhook"},
    "api": {"base", "model", "config", "storage", "view"},
    "daemon": {"base", "model", "config", "storage", "view", "loop", "upstream", "webhook", "reconcile", "api"},
    "simulator": {"base"},
}

# Library headers and the folders that may see them.
LIBRARIES = {
    r"microhttpd\.h": {"api", "simulator"},
    r"curl/": {"loop", "webhook", "daemon"},
    r"sqlite3\.h": {"storage"},
    r"systemd/": {"daemon"},
    r"yaml\.h": {"config", "upstream"},
    r"uthash\.h": {"reconcile", "webhook"},
}

BANNED = r"(?<![\w.>])(sprintf|vsprintf|strcpy|strcat|strtok|atoi|atol|gets|localtime|gmtime|alloca)\s*\("


def sources(*folders):
    for folder in folders or MAY_INCLUDE:
        yield from sorted(p for p in (ROOT / folder).rglob("*.[ch]"))


def folder_of(path):
    return path.relative_to(ROOT).parts[0]


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_includes_point_the_right_way(folder):
    for path in sources(folder):
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            target = name.split("/")[0]
            if target not in MAY_INCLUDE:
                assert (path.parent / name).exists(), f"{path}: {name}"
            else:
                assert target == folder or target in MAY_INCLUDE[folder], f"{path} includes {name}"


@pytest.mark.parametrize("header", LIBRARIES)
def test_library_headers_stay_in_their_folders(header):
    for path in sources():
        if re.search(rf"^#include <{header}", path.read_text(), re.M):
            assert folder_of(path) in LIBRARIES[header], path


def test_only_sqlite_backend_speaks_sqlite():
    for path in sources("storage"):
        if "sqlite3" in path.read_text():
            assert path.parent.name == "sqlite", path


def test_banned_calls_and_words():
    for path in sources():
        text = path.read_text()
        assert not re.search(BANNED, text), path
        assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text), path


def test_each_source_file_is_of_a_readable_size():
    for path in sources():
        assert len(path.read_text().splitlines()) <= 700, path


def test_headers_have_guards_and_a_head_comment():
    for path in sources():
        text = path.read_text()
        if path.suffix == ".h" and "_private" not in path.name and path.name != "version.h":
            assert text.startswith("/*"), path
            assert re.search(r"^#ifndef \w+_H$", text, re.M) or "X(" in text, path


def test_hardening_of_the_binary_QA_2():
    from harness import BUILD, SANITIZED
    if SANITIZED:
        pytest.skip("the shipped build is looked at, not the sanitizer builds")
    elf = subprocess.run(["readelf", "-W", "-h", "-l", "-d", "-s", BUILD / "shootd"], capture_output=True, text=True,
                         check=True).stdout
    assert "DYN (Position-Independent Executable" in elf or "DYN (Shared object" in elf
    assert "BIND_NOW" in elf or "Flags: NOW" in elf
    assert "GNU_RELRO" in elf
    assert re.search(r"GNU_STACK.*RW ", elf) and not re.search(r"GNU_STACK.*RWE", elf)
    assert "__stack_chk_fail" in elf and "_chk@" in elf
