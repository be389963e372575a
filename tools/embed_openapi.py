#!/usr/bin/python3
"""embed_openapi.py YAML JSON: prints openapi.yaml, unchanged and as JSON, as C source (see api/api_private.h). The tests read the JSON file."""

import json
import sys

import yaml


class Loader(yaml.CSafeLoader):
    """Reads YAML 1.2 core scalars as OpenAPI requires: dates and yes/no stay text."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def c_array(name, data):
    print(f"const unsigned char {name}[] = {{")
    for start in range(0, len(data), 24):
        print("    " + " ".join(f"{byte}," for byte in data[start : start + 24]))
    print("};")
    print(f"const size_t {name}_len = sizeof({name});")


def main():
    with open(sys.argv[1], "rb") as file:
        text = file.read()
    document = yaml.load(text, Loader)
    print('#include "api/api_private.h"\n')
    c_array("openapi_yaml", text)
    as_json = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    c_array("openapi_json", as_json)
    with open(sys.argv[2], "wb") as file:
        file.write(as_json)


main()
