#!/bin/bash
# What tools/fresh.sh does inside a bare Debian 12, in the checkout: one stage.
#   run             `make run`, the commands that it prints, README's commands, Ctrl-C
#   deploy          README's "Deploy", up to the start of the unit, which needs a running systemd
#   test            `make test`, beside a running `make run`
#   refused         without sudo and packages `make run` names what is missing
#   nothing-run     everything that `make run` needs is there: nothing is installed, and it runs
#   nothing-test    the same of `make test`, of which only the installing is tried
set -euo pipefail
set -m # jobs of their own, so that they get the Ctrl-C that a terminal would send them
log=$(mktemp)
fail() {
    echo "FAILED: $*" >&2
    tail -40 "$log" >&2
    exit 1
}

# README's commands of one section, as they stand there.
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
    export SHOOTD_URL SHOOTD_TOKEN
    SHOOTD_URL=$(said 'shootd is running') SHOOTD_TOKEN=$(said token)
    try_commands README < <(commands_of 'The first five commands')
    # One after the other, as a person would: what is printed needs a cluster that is ready, and a name that is free again.
    local path=$SHOOTD_URL/v1/projects/team-a/clusters/dev
    until curl -sS -H "Authorization: Bearer $SHOOTD_TOKEN" "$path" | grep -q '"status":404'; do sleep 0.5; done
    try_commands 'make run' < <(sed -n '/^Try it/,/^Ctrl-C/{/^Try it/d;/^Ctrl-C/d;p}' "$log" |
        sed "/fetch its kubeconfig/a until curl -sS -H 'Authorization: Bearer $SHOOTD_TOKEN' $path | grep -q '\"phase\":\"ready\"'; do sleep 0.5; done")
    stop_run
}

# Here is no systemd that could start the unit, which is the last command: systemctl enables it and says so.
deploy() {
    local script
    script=$(awk '/^## / { inside = $0 == "## Deploy"; next } inside && /^    / { print substr($0, 5) }' README.md)
    [[ $script == *'make install'*'--check-config'*'systemctl enable'* ]] || fail "README's Deploy has changed"
    echo "---- commands of Deploy"
    bash -e -x -c "$(sed '$d' <<<"$script")" >"$log" 2>&1 <<<"a password" || fail "commands of Deploy"
    bash -e -x -c "$(tail -1 <<<"$script")" >>"$log" 2>&1 || grep -q 'not been booted with systemd\|in chroot' "$log" || fail "start of the unit"
    grep -qx 'configuration is valid' "$log" || fail "--check-config of the sample"
    [ "$(systemctl is-enabled shootd.socket shootd.service | sort -u)" = enabled ] || fail "the units are not enabled"
    sudo grep -qx 'a password' /etc/shootd/cleura-main || fail "the password is not where the unit reads it"
    sudo grep -h '^ExecStart' /usr/lib/systemd/system/shootd.service | grep -q '=/usr/bin/shootd --config /etc/shootd/shootd.yaml' || fail "the unit"
    grep -e '^+' -e 'note:' -e valid "$log"
}

case "$1" in
run) run ;;
deploy) deploy ;;
test)
    start_run # README's natural order: the tests run beside it
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
