#!/usr/bin/python3
"""Instructions and allocations of a cached read, under callgrind; tests/api/test_hot_path.py bounds them."""

import pathlib
import tempfile

from load import need_tools
from report import section, table
import harness
from test_hot_path import MOST_ALLOCATIONS, MOST_INSTRUCTIONS, POLLING, cost_of_a_read


def main():
    need_tools("valgrind")
    rows = []
    for status, most in MOST_INSTRUCTIONS.items():
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            sim = harness.Sim(directory)
            d = harness.Shootd(directory / "d", sim.url, polling=POLLING)
            try:
                rows.append([status, *cost_of_a_read(sim, d, directory, status), f"{most:,} and {MOST_ALLOCATIONS}"])
            finally:
                d.stop()
                sim.stop()
    section("Instructions and allocations of a cached read", "One cluster is read on an open connection, under callgrind. The library is libmicrohttpd.")
    table(["status", "instructions of shootd", "with the library", "allocations", "limits in `make test`: instructions of shootd, allocations"], rows)


main()
