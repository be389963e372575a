#!/usr/bin/python3
"""embed_dashboard.py DIRECTORY: prints the files that dashboard/build.mjs made there as C source (see api/dashboard_files.h). For an
empty directory it prints a program without a dashboard."""

import base64
import hashlib
import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".txt": "text/plain; charset=utf-8"}
FORMS = (("br", ".br"), ("gzip", ".gz"), ("identity", ""))
PAGE = "index.html"


def etag(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest())[:22].decode()


def c_array(name, data):
    print(f"static const unsigned char {name}[] = {{")
    for start in range(0, len(data), 24):
        print("    " + " ".join(f"{byte}," for byte in data[start : start + 24]))
    print("};")


def c_file(path, number):
    """Prints the bytes of the file's forms, and returns the initializer of its row."""
    forms = []
    for coding, suffix in FORMS:
        data = path.with_name(path.name + suffix).read_bytes()
        name = f"file_{number}_{coding}"
        c_array(name, data)
        forms.append(f'{{"{coding}", {name}, sizeof({name}), "\\"{etag(data)}\\""}}')
    return f'{{"{path.name}", "{TYPES[path.suffix]}", {{{", ".join(forms)}}}}}'


def main():
    directory = pathlib.Path(sys.argv[1])
    paths = sorted(p for p in directory.glob("*") if p.suffix in TYPES)
    print('#include "api/dashboard_files.h"\n')
    rows = {path.name: c_file(path, number) for number, path in enumerate(paths)}
    page = rows.pop(PAGE, None)
    if page:
        print(f"static const struct dashboard_file page = {page};")
    print(f"const struct dashboard_file *const dashboard_page = {'&page' if page else 'NULL'};")
    print("const struct dashboard_file dashboard_files[] = {")
    for row in rows.values() or ["{0}"]:
        print(f"    {row},")
    print("};")
    print(f"const size_t dashboard_file_count = {len(rows)};")


main()
