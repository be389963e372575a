#!/usr/bin/env python3
"""Prints figures of the structure: files and lines by folder, functions, asserts, members of structs, and circles of files that call each other.

    tools/structure.py                   a table
    tools/structure.py --circle FOLDER   the files of its largest circle, and a call for each step

A circle is a strongly connected component of "a function of this file calls one that the other file defines". Functions are found by
the layout that clang-format enforces: a definition begins in the first column and its body's brace stands alone in it.
"""

import collections
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = sorted({p.parent.relative_to(ROOT).as_posix() for p in ROOT.glob("*/**/*.c")
                  if p.relative_to(ROOT).parts[0] not in ("build", "tests", "fuzz", "bench")})
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DEFINITION = re.compile(r"^(?!static const|struct|enum|union|typedef)(\w[^\n;={}]*?\b(\w+)\((?:[^;{}]|\n)*?\)[^;{}\n]*)\n\{\n(.*?)^\}", re.M | re.S)


def code_of(path):
    return NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) or " ", path.read_text())


def functions(code):
    """(name, is static, lines of the body, the body)"""
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


def calls_between(sources):
    """{file: {other file: (caller, callee)}} within one folder."""
    bodies = {path: list(functions(code)) for path, code in sources.items()}
    home = {name: path for path, found in bodies.items() for name, is_static, _, _ in found if not is_static}
    graph = {path: {} for path in sources}
    for path, found in bodies.items():
        for caller, _, _, body in found:
            for callee in set(re.findall(r"\b(\w+)\b", body)):
                if home.get(callee, path) != path:
                    graph[path].setdefault(home[callee], (caller, callee))
    return graph


def largest_circle(graph):
    return max(components(graph), key=len, default=[])


def members(header):
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\}", header, re.M | re.S):
        yield len(re.findall(r";", body)), name


def row(folder):
    paths = sorted(p for p in (ROOT / folder).glob("*.[ch]"))
    codes = {p: code_of(p) for p in paths}
    lengths = {p: p.read_text().count("\n") for p in paths}
    sizes = [lines for p, code in codes.items() if p.suffix == ".c" for _, _, lines, _ in functions(code)] or [0]
    graph = calls_between({p: c for p, c in codes.items() if p.suffix == ".c"})
    circle = largest_circle(graph)
    asserts = sum(len(re.findall(r"\b(?:assert|\w*_assert\w*)\(", c)) for p, c in codes.items() if p.suffix == ".c")
    lines = sum(lengths.values())
    longest = max(paths, key=lengths.get)
    biggest = max((m for c in codes.values() for m in members(c)), default=(0, "-"))
    return (folder, len(paths), lines, f"{longest.name} {lengths[longest]}", len(circle) if len(circle) > 1 else 0, len(sizes),
            int(statistics.median(sizes)), sorted(sizes)[len(sizes) * 9 // 10], max(sizes), f"{1000 * asserts / lines:.1f}",
            f"{biggest[1]} {biggest[0]}"), sizes


def table():
    head = ("folder", "files", "lines", "longest file", "circle", "functions", "median", "p90", "longest", "asserts/1000", "largest struct")
    rows, sizes = zip(*(row(folder) for folder in FOLDERS))
    every = sorted(size for part in sizes for size in part)
    rows += (("all", sum(r[1] for r in rows), sum(r[2] for r in rows), "", max(r[4] for r in rows), len(every),
              int(statistics.median(every)), every[len(every) * 9 // 10], every[-1], "", ""),)
    widths = [max(len(str(r[i])) for r in (head, *rows)) for i in range(len(head))]
    for one in (head, *rows):
        print("  ".join(str(cell).ljust(width) for cell, width in zip(one, widths)).rstrip())


def show_circle(folder):
    sources = {p: code_of(p) for p in sorted((ROOT / folder).glob("*.c"))}
    graph = calls_between(sources)
    circle = sorted(largest_circle(graph))
    calls = collections.Counter()
    for path in circle:
        for other, (caller, callee) in sorted(graph[path].items()):
            if other in circle:
                calls[path] += 1
                print(f"{path.name} -> {other.name}: {caller} calls {callee}")
    print(f"{len(circle)} files in one circle, {sum(calls.values())} edges")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--circle"] and len(sys.argv) == 3:
        show_circle(sys.argv[2])
    elif len(sys.argv) == 1:
        table()
    else:
        sys.exit(__doc__)
