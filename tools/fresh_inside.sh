#!/bin/bash
# Runs one stage of tools/fresh.sh inside a bare Debian 12, in the checkout.
#   run             `make run`, the commands that it prints, README's commands, Ctrl-C
#   packages        `make deb` twice, in folders with different names, with different umasks and time zones; both must give the same
#                   bytes. Then once as a later version, and once of the newest commit whose store has an older schema: build/debs/now,
#                   build/debs/next, build/debs/older
#   deploy          README's "Deploy", up to the start of the unit, which needs a running systemd: tools/fresh_boot.sh has one
#   test            `make test`, beside a running `make run`
#   refused         without sudo and packages `make run` names what is missing
#   nothing-run     all packages for `make run` are installed: it installs nothing and runs
#   nothing-test    the same for `make test`; only the installation is tried
set -euo pipefail
set -m # separate jobs, so they get the Ctrl-C that a terminal would send
log=$(mktemp)
fail() {
    echo "FAILED: $*" >&2
    tail -40 "$log" >&2
    exit 1
}

# README's commands of one section, unchanged.
commands_of() { # SECTION
    awk -v section="## $1" '
        /^## / { inside = $0 == section; next }
        inside && (/^    \$ / || goes_on) { line = substr($0, goes_on ? 5 : 7); print line; goes_on = line ~ /\\$/ }' README.md
}

try_commands() { # NAME: a script on standard input
    local script out
    script=$(cat)
    [ "$(grep -c curl <<<"$script")" -ge 4 ] || fail "no commands found in $1"
    echo "---- commands of $1"
    out=$(bash -e -o pipefail <<<"$script" 2>&1) || fail "commands of $1: $out"
    cut -c1-200 <<<"$out"
    grep -q 'kind: Config' <<<"$out" || fail "no kubeconfig came of the commands of $1"
    ! grep -q '"type":"/problems/' <<<"$out" || fail "a command of $1 was refused"
}

said() { sed -n "s/^$1: *\([^ ]*\).*/\1/p" "$log"; }

start_run() { # sets job
    local began=$SECONDS
    make run >"$log" 2>&1 &
    job=$!
    until grep -q '^Ctrl-C stops both' "$log"; do
        kill -0 $job 2>/dev/null || fail "make run ended"
        sleep 0.2
    done
    echo "make run serves after $((SECONDS - began)) s"
}

stop_run() {
    kill -INT -- -$job
    wait $job && true
    grep -q '^stopped' "$log" || fail "make run did not say that it stopped"
    ! readlink /proc/[0-9]*/exe | grep -E '/(shootd|cleura-sim)$' || fail "a process goes on after Ctrl-C"
}

run() {
    start_run
    eval "$(grep -m 1 '^ *export SHOOTD_URL=' "$log")"
    export PATH=$PWD/build:$PATH
    try_commands README < <(commands_of 'The first five commands')
    # One after the other, like a person: the printed commands need a ready cluster, and a name that is free again.
    local path=$SHOOTD_URL/v1/projects/team-a/clusters/dev
    until curl -sS -H "Authorization: Bearer $SHOOTD_TOKEN" "$path" | grep -q '"status":404'; do sleep 0.5; done
    try_commands 'make run' < <(sed -n '/^Try it/,/^Ctrl-C/{/^Try it/d;/^Ctrl-C/d;p}' "$log" |
        sed "/fetch its kubeconfig/a until curl -sS -H 'Authorization: Bearer $SHOOTD_TOKEN' $path | grep -q '\"phase\":\"ready\"'; do sleep 0.5; done")
    stop_run
}

# The last command starts the unit, but no systemd runs here: systemctl only enables it and reports that.
deploy() {
    local script
    script=$(awk '/^## / { inside = $0 == "## Deploy"; next } inside && /^    / { print substr($0, 5) }' README.md)
    [[ $script == *'make deb'*'apt-get install'*'--check-config'*'systemctl enable'* ]] || fail "README's Deploy has changed"
    echo "---- commands of Deploy"
    # What a person edits before the check.
    script=$(sed "/--check-config/i sudo sed -i -e 's|LOGIN_AT_CLEURA|robot|' -e 's|PROJECT_ID_AT_CLEURA|00112233445566778899aabbccddeeff|' /etc/shootd/shootd.yaml" <<<"$script")
    bash -e -x -c "$(sed '$d' <<<"$script")" >"$log" 2>&1 <<<"a password" || fail "commands of Deploy"
    bash -e -x -c "$(tail -1 <<<"$script")" >>"$log" 2>&1 || grep -q 'not been booted with systemd\|in chroot' "$log" || fail "start of the unit"
    grep -qx 'configuration is valid' "$log" || fail "--check-config of the sample"
    [ "$(systemctl is-enabled shootd.socket shootd.service | sort -u)" = enabled ] || fail "the units are not enabled"
    sudo grep -qx 'a password' /etc/shootd/cleura-main || fail "the password is not where the unit reads it"
    sudo grep -h '^ExecStart' /usr/lib/systemd/system/shootd.service | grep -q '=/usr/bin/shootd --config /etc/shootd/shootd.yaml' || fail "the unit"
    grep -e '^+' -e 'note:' -e valid "$log"
}

# Every file of `make install` is in a package, with the same bytes. Otherwise the packages contain only the files that Debian requires of
# each package. Programs are compared only by name, because the packages strip them.
same_as_make_install() {
    local installed=$PWD/build/installed packed=$PWD/build/packed deb
    make -C "build/deb/shootd-$(cat VERSION)" -o all install DESTDIR="$installed" PREFIX=/usr UNITS=/lib/systemd/system >"$log" 2>&1 || fail "make install"
    for deb in "$debs"/now/{shootd,cleura-sim}_*.deb; do dpkg-deb -x "$deb" "$packed"; done
    rm "$packed"/usr/share/doc/{shootd,cleura-sim}/{copyright,changelog.gz}
    rmdir "$packed/usr/share/doc/cleura-sim"
    find "$packed/usr/share/man" -name '*.gz' -exec gunzip {} +
    diff -r --exclude=bin "$installed" "$packed" || fail "the packages are not what make install brings"
    diff <(ls "$installed/usr/bin") <(ls "$packed/usr/bin") || fail "the programs of the packages"
    echo "make install brings the $(find "$packed" -type f | wc -l) files of the packages, and no other"
}

build_debs() { # TO [FOLDER]: of the checkout in FOLDER
    (cd "${2:-.}" && make deb >"$log" 2>&1) || fail "make deb of $1"
    mkdir -p "$debs/$1"
    cp "${2:-.}"/build/deb/*.deb "$debs/$1"
}

# Builds the same commit in a folder with another name, reached over a link, with another umask and another time zone.
build_debs_elsewhere() { # TO
    local folder
    folder=$(mktemp -d)
    git clone -q . "$folder/a-checkout-of-another-name"
    ln -s a-checkout-of-another-name "$folder/link"
    (umask 0077 && TZ=FAR-13 build_debs "$1" "$folder/link") || exit 1
    rm -rf "$folder"
}

same_bytes() { # DIRECTORY DIRECTORY: of packages
    local deb other
    [ "$(ls "$1")" = "$(ls "$2")" ] || fail "two builds make different packages: $(ls "$1" "$2")"
    for deb in "$1"/*.deb; do
        other=$2/$(basename "$deb")
        cmp -s "$deb" "$other" && continue
        diff <(dpkg-deb -c "$deb") <(dpkg-deb -c "$other") >&2 || true
        dpkg-deb -R "$deb" build/differs-a
        dpkg-deb -R "$other" build/differs-b
        diff -r build/differs-a build/differs-b >&2 || true
        fail "two builds of $(basename "$deb") differ"
    done
    echo "two builds, each with its folder, umask and time zone, gave the same bytes of $(ls "$1")"
}

build_debs_as() { # TO VERSION: builds the checkout with another version
    echo "$2" >VERSION
    sed -i "0,/^## /s/^## /## $2 (2099-01-01), schema 0\n\n- Another version.\n\n## /" CHANGELOG.md
    git -c user.name=fresh -c user.email=fresh@shootd.invalid commit -qam "Another version"
    build_debs "$1"
    git reset -q --hard HEAD~
}

schema_of() { # COMMIT
    git show "$1:CHANGELOG.md" | sed -n 's/^## .*, schema \([0-9]*\)$/\1/p' | head -1
}

# The newest commit whose store has another schema than this one: a version from which an operator may upgrade.
commit_of_older_schema() {
    local commit now
    now=$(schema_of HEAD)
    for commit in $(git log --format=%H -- storage/sqlite/migrate.c); do
        [ "$(schema_of "$commit~")" = "$now" ] || {
            git rev-parse "$commit~"
            return
        }
    done
    fail "the history of this checkout has no commit with an older schema than $now (a shallow clone?)"
}

# A commit older than the packages gets the present package, with its own program, units and sample.
repack_with() { # FOLDER TO VERSION
    local tree=$PWD/build/repacked unit
    echo "$3" >"$1/VERSION"
    make -C "$1" -j"$(nproc)" build/shootd >"$log" 2>&1 || fail "make of the $2 version"
    dpkg-deb -R "$debs"/now/shootd_*.deb "$tree"
    install -s -m 0755 "$1/build/shootd" "$tree/usr/bin/shootd"
    for unit in shootd.service shootd.socket; do sed 's|@PREFIX@|/usr|g' "$1/systemd/$unit" >"$tree/lib/systemd/system/$unit"; done
    cp "$1/config/shootd.sample.yaml" "$tree/etc/shootd/shootd.yaml"
    sed -i "s/^Version: .*/Version: $3/" "$tree/DEBIAN/control"
    (cd "$tree" && find . -type f -not -path './DEBIAN/*' -not -path './etc/*' -printf '%P\0' | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
    mkdir -p "$debs/$2"
    dpkg-deb --root-owner-group --build "$tree" "$debs/$2" >"$log" 2>&1 || fail "the package of the $2 version"
}

build_debs_of_older_schema() {
    local older
    older=$(commit_of_older_schema)
    git worktree add -q --detach build/older "$older"
    if [ -e build/older/debian/control ]; then
        (cd build/older && build_debs_as older 0.0.1)
    else
        repack_with build/older older 0.0.1
    fi
    schema_of "$older" >"$debs/older/schema"
    git worktree remove --force build/older
    echo "the older version is $(git log -1 --format='%h, %s' "$older")"
}

packages() {
    debs=$PWD/build/debs
    build_debs now
    same_as_make_install
    build_debs_elsewhere again
    same_bytes "$debs/now" "$debs/again"
    git status --porcelain | grep . && fail "make deb changed the checkout"
    build_debs_as next 99.0.0
    build_debs_of_older_schema
}

case "$1" in
run) run ;;
packages) packages ;;
deploy) deploy ;;
test)
    start_run # the order in README: the tests run beside it
    began=$SECONDS
    make test || fail "make test"
    echo "make test took $((SECONDS - began)) s"
    stop_run
    ;;
refused)
    ! make run >"$log" 2>&1 || fail "make run worked without packages and sudo"
    grep -q 'apt-get install .*gcc .*libmicrohttpd-dev' "$log" || fail "the packages are not named"
    cat "$log"
    ;;
nothing-run)
    run
    ! grep -q '^installing' "$log" || fail "something was installed"
    ;;
nothing-test)
    make deps-test >"$log" 2>&1 || fail "make deps-test"
    [ ! -s "$log" ] || fail "make deps-test had something to do"
    ;;
*) fail "no stage '$1'" ;;
esac
