#!/usr/bin/python3
"""Writes compile_commands.json for the sources on stdin, one a line: tools/compile_commands.py 'gcc -O2 ...'"""

import json
import os
import sys

command = sys.argv[1]


def entry(name):
    more = " -Wno-unused-parameter" if name.startswith(("tests/", "fuzz/", "bench/")) else ""  # as TEST_WARNINGS of the Makefile
    return {"directory": os.getcwd(), "file": name, "command": f"{command}{more} -c {name}"}


print(json.dumps([entry(name) for name in sys.stdin.read().split()], indent=1))
