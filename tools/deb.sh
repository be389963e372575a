#!/bin/bash
# `make deb`: the packages of what is committed, in build/deb. Times, order and paths are those of the commit, so two builds of one
# commit give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(cat VERSION)
out=$PWD/build/deb
source=$out/shootd-$version
rm -rf "$out"
mkdir -p "$source"
git -c safe.directory='*' archive HEAD | tar -x -C "$source"
git -c safe.directory='*' rev-parse --short HEAD >"$source/REVISION"
/usr/bin/python3 tools/debian_changelog.py CHANGELOG.md >"$source/debian/changelog"
cd "$source"
DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage --build=binary --no-sign
lintian --fail-on error,warning "$out"/*.changes
