#!/bin/bash
# `make deb`: builds the packages of the committed sources in build/deb. Times, order, modes and names come from the commit. Two builds of one
# commit therefore give the same bytes, independent of folder, umask and time zone (tools/fresh_inside.sh compares them).
set -euo pipefail
umask 022
export TZ=UTC LC_ALL=C.UTF-8
# Resolves links: the compiler writes the folder as in $PWD, and the Makefile removes the name that the kernel uses.
cd -P "$(dirname "$0")/.."
version=$(cat VERSION)
out=$PWD/build/deb
source=$out/shootd-$version
rm -rf "$out"
mkdir -p "$source"
git -c safe.directory='*' -c tar.umask=0022 archive HEAD | tar -x -C "$source"
# The length of git's own short form depends on the number of objects in the repository.
git -c safe.directory='*' rev-parse HEAD | cut -c1-12 >"$source/REVISION"
/usr/bin/python3 tools/debian_changelog.py CHANGELOG.md >"$source/debian/changelog"
cd "$source"
DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage --build=binary --no-sign
lintian --fail-on error,warning "$out"/*.changes
