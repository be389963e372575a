#!/usr/bin/env python3
"""Prints figures of the structure: files and lines by folder, functions, asserts, members of structs, and cycles of calls between files.

    tools/structure.py                   a table
    tools/structure.py --cycle FOLDER    the files of its largest cycle, and a call for each step
    tools/structure.py --callers NAME    the functions that call NAME, in all folders
    tools/structure.py --dead            functions without a caller, and those that only tests call
    tools/structure.py --check           fails when a folder has a larger cycle than CEILING allows, or a dead function (make lint)

A cycle is a group of files of one top folder (with its subfolders) in which each file calls, directly or through others, every other file:
a strongly connected component of "a function of this file calls a function of that file".
Calls through pointers count. A call of a member counts as a call of each function that is stored under the member's name: by a
designator, by its place in a table or by an assignment. A function that is passed to another function counts as called by that
function, or as stored under the member in which that function stores its parameter. A pointer that only another top folder calls, such
as a timer of the loop, does not count. Functions are found by the layout that clang-format enforces: a definition begins in the first
column and its body's brace is alone on its line.
"""

import collections
import functools
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = sorted({p.parent.relative_to(ROOT).as_posix() for p in ROOT.glob("*/**/*.c")
                  if p.relative_to(ROOT).parts[0] not in ("build", "tests", "fuzz", "bench")})
TOPS = sorted({folder.split("/")[0] for folder in FOLDERS})
# The largest allowed cycle of each top folder, in files; folders without an entry may have ORDINARY files. The numbers may only go down.
ORDINARY = 5
CEILING: dict[str, int] = {}
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DEFINITION = re.compile(r"^(?!typedef)(\w[^\n;={}]*?\b(\w+)\((?:[^;{}]|\n)*?\)[^;{}\n]*)\n\{\n(.*?)^\}", re.M | re.S)
POINTER = re.compile(r"\(\*(?:const )?(\w+)\)\(")
STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\}", re.M | re.S)
ROWS = re.compile(r'^#define (\w+)\(([^)]*)\)((?:[^\n]*\\\n)*[^\n]*)\n#include "([^"]+\.def)"\n#undef \1$', re.M)
TABLE = re.compile(r"^[\w ]*?struct (\w+) \w+(?:\[[^\n]*?\])? = \{(.*?)\};", re.M | re.S)


def without_noise(text):
    return NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) or " ", text)


def expand_rows(text):
    """The text with each included table of rows (a .def file) in the form that its macro gives it."""
    def expanded(match):
        macro, names, form, path = match[1], [n.strip() for n in match[2].split(",")], match[3], match[4]
        rows = without_noise((ROOT / path).read_text())
        return "\n".join(filled(form, dict(zip(names, arguments(rows, row.end())))) for row in re.finditer(rf"^{macro}\(", rows, re.M))

    def filled(form, values):
        return re.sub(r"\w+", lambda word: values.get(word[0], word[0]), form).replace("##", "").replace("\\", "")
    return ROWS.sub(expanded, text)


def code_of(path):
    return without_noise(expand_rows(path.read_text()))


def functions(code):
    """(name, is static, lines of the body, the body) of each function."""
    for match in DEFINITION.finditer(code):
        yield match[2], match[1].startswith("static"), match[3].count("\n"), match[3]


def components(graph):
    """Tarjan's algorithm, without recursion, because chains are long."""
    index, low, on, stack, found = {}, {}, set(), [], []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, edges = work[-1]
            for other in edges:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                        on.discard(part[-1])
                    found.append(part)
    return found


def elements(text):
    """The parts of an initializer or of arguments, split at commas outside brackets."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "({[") - (c in ")}]")
        if c == "," and not depth:
            parts.append(text[begin:i])
            begin = i + 1
    return [part.strip() for part in (*parts, text[begin:])]


def arguments(text, begin):
    """The arguments of the call whose bracket opens before `begin`."""
    depth, i = 1, begin
    while depth and i < len(text):
        depth += (text[i] == "(") - (text[i] == ")")
        i += 1
    return elements(text[begin:i - 1])


def member_names(body):
    """The names of the members in the body of a struct, in order."""
    for declaration in body.split(";"):
        pointer = POINTER.search(declaration)
        if pointer:
            yield pointer[1]
        else:
            yield from ((re.findall(r"(\w+)(?:\[.*?\])*$", part.strip()) or [""])[0] for part in declaration.split(","))


def parameter_names(head):
    """The names of the parameters in the head of a function, in order."""
    names = []
    for part in elements(head[head.index("(") + 1:head.rindex(")")]):
        pointer = re.search(r"\(\*(?:const )?(\w+)\)\(", part)
        names.append(pointer[1] if pointer else (re.findall(r"(\w+)(?:\[.*?\])*$", part.strip()) or [""])[0])
    return names


class Calls:
    """The calls within one top folder: {file: {other file: (caller, callee)}}."""

    def __init__(self, top):
        paths = sorted((ROOT / top).glob("**/*.[ch]"))
        self.codes = {p: code_of(p) for p in paths}
        self.sources = {p: c for p, c in self.codes.items() if p.suffix == ".c"}
        self.bodies = {p: list(functions(c)) for p, c in self.sources.items()}
        self.home = {name: p for p, found in self.bodies.items() for name, is_static, _, _ in found if not is_static}
        self.shapes = {(p, m[2]): (parameter_names(m[1]), m[3]) for p, c in self.sources.items() for m in DEFINITION.finditer(c)}
        self.own = {p: {name for name, is_static, _, _ in found if is_static} for p, found in self.bodies.items()}
        self.members = {name: list(member_names(body)) for c in self.codes.values() for name, body in STRUCT.findall(c)}
        self.pointers = {m for c in self.codes.values() for m in POINTER.findall(c)}
        self.stored = self.find_stored()
        self.graph = {p: {} for p in self.sources}
        self.callers = collections.defaultdict(set)
        for path in self.sources:
            self.add_calls(path)

    def place(self, path, name):
        """The file of the function that this name means in a file; or None."""
        return path if name in self.own[path] else self.home.get(name)

    def find_stored(self):
        """The functions stored under each member: {member: {(file, function)}}."""
        stored = collections.defaultdict(set)
        self.stores = collections.defaultdict(set)  # file: the functions that it stores; storing is not calling

        def store(path, member, value):
            name = value.strip().lstrip("&")
            if member in self.pointers and re.fullmatch(r"\w+", name) and self.place(path, name):
                stored[member].add((self.place(path, name), name))
                self.stores[path].add(name)
        for path, code in self.sources.items():
            for member, value in re.findall(r"(?:\.|->)(\w+) = (&?\w+)(?=[,;})\s])", code):
                store(path, member, value)
            for kind, body in TABLE.findall(code):
                for row in elements(body):
                    row = re.sub(r"^\[[^]]*\] = ", "", row)
                    if row.startswith("{") and kind in self.members:
                        for member, value in zip(self.members[kind], elements(row[1:-1])):
                            store(path, member, value)
            for _, _, _, body in self.bodies[path]:
                for taker, call, place, other, name in self.handed(path, body):
                    for member in self.members_of(taker, call, place) & self.pointers:
                        stored[member].add((other, name))
        return stored

    def handed(self, path, body):
        """The functions that a body hands to others: (file of the other one, the other one, place of the argument, file, function)."""
        for call in re.finditer(r"\b(\w+)\(", body):
            taker = self.place(path, call[1])
            for place, name in enumerate(arguments(body, call.end())) if taker else ():
                name = name.lstrip("&")
                if re.fullmatch(r"\w+", name) and self.place(path, name):
                    yield taker, call[1], place, self.place(path, name), name

    def members_of(self, path, function, place, seen=frozenset()):
        """The members in which a function stores its parameter, itself or through a function that it hands it to."""
        names, body = self.shapes[path, function]
        if place >= len(names) or (path, function) in seen:
            return set()
        found = set(re.findall(rf"(?:\.|->)(\w+) = {names[place]}\b", body))
        for call in re.finditer(r"\b(\w+)\(", body):
            taker = self.place(path, call[1])
            for other, name in enumerate(arguments(body, call.end())) if taker else ():
                if name == names[place]:
                    found |= self.members_of(taker, call[1], other, seen | {(path, function)})
        return found

    def add(self, path, other, caller, callee):
        if other != path:
            self.graph[path].setdefault(other, (caller, callee))

    def add_calls(self, path):
        text = self.sources[path]
        for caller, _, _, body in self.bodies[path]:
            text = text.replace(body, "")
            for callee in set(re.findall(r"\b(\w+)\b", body)) & self.home.keys():
                self.add(path, self.home[callee], caller, callee)
                self.callers[callee].add((path, caller))
            for member in set(re.findall(r"(?:\.|->)(\w+)(?:\[[^]]*\])?\(", body)) & self.stored.keys():
                for other, callee in self.stored[member]:
                    self.add(path, other, caller, f"{callee} (stored as {member})")
                    self.callers[callee].add((path, caller))
            for taker, call, place, other, name in self.handed(path, body):
                if not self.members_of(taker, call, place):
                    self.add(taker, other, call, f"{name} (handed over by {caller})")
        words = set(re.findall(r"\b(\w+)\b", re.sub(r"^[\w *]+\([^{]*?;", "", text, flags=re.M)))
        for callee in (words & self.home.keys()) - self.stores[path]:
            self.add(path, self.home[callee], "a table", callee)


@functools.cache
def calls_in(top):
    return Calls(top)


def largest_cycle(graph):
    return max(components(graph), key=len, default=[])


def size_of_cycle(top):
    """The number of files in the largest cycle; 0 when no two files call each other."""
    cycle = largest_cycle(calls_in(top).graph)
    return len(cycle) if len(cycle) > 1 else 0


def members(header):
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\}", header, re.M | re.S):
        yield len(re.findall(r";", body)), name


def row(folder):
    paths = sorted(p for p in (ROOT / folder).glob("*.[ch]"))
    codes = {p: code_of(p) for p in paths}
    lengths = {p: p.read_text().count("\n") for p in paths}
    sizes = [lines for p, code in codes.items() if p.suffix == ".c" for _, _, lines, _ in functions(code)] or [0]
    asserts = sum(len(re.findall(r"\b(?:assert|\w*_assert\w*)\(", c)) for p, c in codes.items() if p.suffix == ".c")
    lines = sum(lengths.values())
    longest = max(paths, key=lengths.get)
    biggest = max((m for c in codes.values() for m in members(c)), default=(0, "-"))
    return (folder, len(paths), lines, f"{longest.name} {lengths[longest]}", size_of_cycle(folder) if folder in TOPS else "", len(sizes),
            int(statistics.median(sizes)), sorted(sizes)[len(sizes) * 9 // 10], max(sizes), f"{1000 * asserts / lines:.1f}",
            f"{biggest[1]} {biggest[0]}"), sizes


def table():
    head = ("folder", "files", "lines", "longest file", "cycle", "functions", "median", "p90", "longest", "asserts/1000", "largest struct")
    rows, sizes = zip(*(row(folder) for folder in FOLDERS))
    every = sorted(size for part in sizes for size in part)
    rows += (("all", sum(r[1] for r in rows), sum(r[2] for r in rows), "", max(r[4] or 0 for r in rows), len(every),
              int(statistics.median(every)), every[len(every) * 9 // 10], every[-1], "", ""),)
    widths = [max(len(str(r[i])) for r in (head, *rows)) for i in range(len(head))]
    for one in (head, *rows):
        print("  ".join(str(cell).ljust(width) for cell, width in zip(one, widths)).rstrip())


def show_cycle(top):
    graph = calls_in(top).graph
    cycle = sorted(largest_cycle(graph))
    edges = 0
    for path in cycle:
        for other, (caller, callee) in sorted(graph[path].items()):
            if other in cycle:
                edges += 1
                print(f"{path.relative_to(ROOT)} -> {other.relative_to(ROOT)}: {caller} calls {callee}")
    print(f"{len(cycle)} files in one cycle, {edges} edges")


def callers_of(name):
    """The functions that call this one by its name or, within its top folder, through a pointer."""
    by_name = {(path, caller) for top in TOPS for path, found in calls_in(top).bodies.items() for caller, _, _, body in found
               if re.search(rf"\b{name}\(", body)}
    return by_name.union(*(calls_in(top).callers[name] for top in TOPS))


def show_callers(name):
    found = sorted((p.relative_to(ROOT).as_posix(), caller) for p, caller in callers_of(name))
    for path, caller in found:
        print(f"{path}: {caller}")
    print(f"{name} is called by {len(found)} functions of {len({path for path, _ in found})} files")


def used_words(path, code):
    """The words of a file, except those in declarations."""
    if path.suffix == ".h":
        code = "".join(re.findall(r"^(?:#define(?:[^\n]|\\\n)*|DEFINE_\w+\(.*)|^static inline[^;{]*\n\{.*?^\}", code, re.M | re.S))
    return re.findall(r"\b\w+\b", code)


def unused():
    """The functions without a caller: [(file, function, whether a test calls it)]."""
    codes = {p: c for top in TOPS for p, c in calls_in(top).codes.items()}
    used = collections.Counter(word for p, code in codes.items() for word in used_words(p, code))
    tests = {word for folder in ("tests", "fuzz", "bench") for p in (ROOT / folder).glob("**/*.[ch]") for word in re.findall(r"\b\w+\b", p.read_text())}
    return [(p.relative_to(ROOT).as_posix(), name, name in tests) for top in TOPS for name, p in sorted(calls_in(top).home.items())
            if used[name] == 1 and name != "main"]


def show_unused():
    for path, name, by_tests in unused():
        print(f"{path}: {name}" + (" (tests only)" if by_tests else ""))


def check():
    """The number of folders with a cycle that is too large, plus the number of functions without a caller."""
    dead = [(path, name) for path, name, by_tests in unused() if not by_tests]
    for path, name in dead:
        print(f"{path}: no function calls {name}")
    sizes = {top: (size_of_cycle(top), CEILING.get(top, ORDINARY)) for top in TOPS}
    for top, (size, most) in sizes.items():
        if size > most:
            print(f"{top}: {size} files call each other in one cycle, {most} are allowed (CEILING in tools/structure.py; --cycle {top} shows it)")
        elif size < most and top in CEILING:
            print(f"{top}: {size} files call each other in one cycle; CEILING in tools/structure.py allows {most} and can go down")
    return sum(size > most for size, most in sizes.values()) + len(dead)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--cycle"] and len(sys.argv) == 3:
        show_cycle(sys.argv[2])
    elif sys.argv[1:2] == ["--callers"] and len(sys.argv) == 3:
        show_callers(sys.argv[2])
    elif sys.argv[1:] == ["--dead"]:
        show_unused()
    elif sys.argv[1:] == ["--check"]:
        sys.exit(1 if check() else 0)
    elif len(sys.argv) == 1:
        table()
    else:
        sys.exit(__doc__)
