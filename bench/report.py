"""The output of every benchmark is Markdown, so that docs/benchmarks.md is the output of one run (bench/all.py)."""

import json
import os
import time


def section(title, *paragraphs):
    print(f"\n## {title}\n", flush=True)
    for text in paragraphs:
        print(f"{text}\n", flush=True)


def table(columns, rows):
    """Prints a table. Cells are texts or numbers; numbers are printed with their significant digits."""
    print("| " + " | ".join(columns) + " |", flush=True)
    print("|" + "---|" * len(columns), flush=True)
    for row in rows:
        print("| " + " | ".join(cell(c) for c in row) + " |", flush=True)
    print(flush=True)


def goal(what, now, goal):
    """A row of the table of goals, which bench/all.py prints first."""
    path = os.environ.get("BENCH_GOALS")
    if path:
        with open(path, "a") as file:
            file.write(json.dumps([what, cell(now), cell(goal)]) + "\n")


def cell(value):
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percentile(values, share):
    """The smallest value that at least `share` (0.99) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Stopwatch:
    def __init__(self):
        self.began = time.monotonic()

    def seconds(self):
        return time.monotonic() - self.began
