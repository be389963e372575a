#!/usr/bin/python3
"""Converts CHANGELOG.md to debian/changelog: one entry for each version."""

import datetime
import pathlib
import re
import sys
import textwrap

MAINTAINER = "shootd maintainers <maintainers@shootd.invalid>"


def entry(version, date, text):
    day = datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.timezone.utc)
    items = re.findall(r"^- (.*?)(?=^- |\Z)", text, re.M | re.S)
    lines = [textwrap.fill(" ".join(item.split()), 78, initial_indent="  * ", subsequent_indent="    ", break_on_hyphens=False) for item in items]
    return f"shootd ({version}) unstable; urgency=medium\n\n" + "\n".join(lines) + f"\n\n -- {MAINTAINER}  {day:%a, %d %b %Y %H:%M:%S %z}\n"


def main():
    parts = re.split(r"^## (\S+) \((\S+)\).*$", pathlib.Path(sys.argv[1]).read_text(), flags=re.M)[1:]
    print("\n".join(entry(*parts[i:i + 3]) for i in range(0, len(parts), 3)), end="")


if __name__ == "__main__":
    main()
