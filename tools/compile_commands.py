#!/usr/bin/python3
"""Writes compile_commands.json for the sources on stdin, one a line: tools/compile_commands.py 'gcc -O2 ...'"""

import json
import os
import sys

command = sys.argv[1]
print(json.dumps([{"directory": os.getcwd(), "file": name, "command": f"{command} -c {name}"} for name in sys.stdin.read().split()], indent=1))
