#!/bin/bash
# Makes the file tree of the container image: shootd, the libraries that it loads, and certificates of authorities. It contains no
# other program: no shell, no package manager.
#   tools/image_tree.sh PROGRAM DIRECTORY      DIRECTORY is new
set -euo pipefail
[ $# = 2 ] || {
    echo "usage: tools/image_tree.sh PROGRAM DIRECTORY" >&2
    exit 64
}
program=$1 tree=$2
user=65532
mkdir -m 0755 "$tree"
install -D -s -m 0755 "$program" "$tree/usr/bin/shootd" # stripped, as in the Debian package

# One line per library: "name => path (address)", or "path (address)" for the loader.
mapfile -t libraries < <(ldd "$program" | sed -nE 's/^\s*(.* => )?(\/[^ ]+) \(0x.*/\2/p')
[ ${#libraries[@]} -gt 10 ] || {
    echo "image_tree.sh: ldd tells no libraries of $program" >&2
    exit 1
}
# Packages list their files below /lib or /usr/lib, which are one directory, by the name of a link or of its target.
names_of() {
    local real
    real=$(readlink -f "$1")
    printf '%s\n' "$1" "/usr$1" "${1#/usr}" "$real" "${real#/usr}"
}
# One query for all files, because each query reads the lists of all packages. A line is "package:architecture: /path".
mapfile -t names < <(for library in "${libraries[@]}"; do names_of "$library"; done)
declare -A owner
while IFS=: read -r package _ path; do owner[${path# }]=$package; done < <(dpkg-query --search "${names[@]}" 2>/dev/null | grep -v '^diversion ')
for library in "${libraries[@]}"; do
    install -D -m 0755 "$library" "$tree$library"
    package=
    while [ -z "$package" ] && read -r name; do package=${owner[$name]:-}; done < <(names_of "$library")
    [ -n "$package" ] || {
        echo "image_tree.sh: no package has $library" >&2
        exit 1
    }
    install -D -m 0644 "/usr/share/doc/$package/copyright" "$tree/usr/share/doc/$package/copyright"
done
install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/ca-certificates.crt"
printf 'root:x:0:0:root:/:/nonexistent\nshootd:x:%d:%d:shootd:/var/lib/shootd:/nonexistent\n' $user $user >"$tree/etc/passwd"
printf 'root:x:0:\nshootd:x:%d:\n' $user >"$tree/etc/group"
echo 'hosts: files dns' >"$tree/etc/nsswitch.conf"
mkdir -p "$tree/etc/shootd" "$tree/run/credentials/shootd" "$tree/var/lib" "$tree/proc" "$tree/dev"
install -d -m 0700 -o $user -g $user "$tree/var/lib/shootd"
