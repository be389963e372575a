#!/bin/bash
# `make deb`: the packages of what is committed, in build/deb. Times, order, modes and names are those of the commit, so two builds of one
# commit give the same bytes, whatever the folder, the umask and the time zone are (tools/fresh_inside.sh compares them).
set -euo pipefail
umask 022
export TZ=UTC LC_ALL=C.UTF-8
# Not by a link: the compiler writes the folder as $PWD names it, and the Makefile takes away the name that the kernel knows.
cd -P "$(dirname "$0")/.."
version=$(cat VERSION)
out=$PWD/build/deb
source=$out/shootd-$version
rm -rf "$out"
mkdir -p "$source"
git -c safe.directory='*' -c tar.umask=0022 archive HEAD | tar -x -C "$source"
# git's own short form is longer in a repository that has more objects.
git -c safe.directory='*' rev-parse HEAD | cut -c1-12 >"$source/REVISION"
/usr/bin/python3 tools/debian_changelog.py CHANGELOG.md >"$source/debian/changelog"
cd "$source"
DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage --build=binary --no-sign
lintian --fail-on error,warning "$out"/*.changes
