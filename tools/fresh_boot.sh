#!/bin/bash
# tools/fresh.sh runs this script inside a booted Debian 12, with the packages in /root/debs and no compiler. It tries README's "Deploy"
# unchanged, and reloads. Then it tries an operator's first day with a version of the previous schema, the upgrade to this version, a
# disaster, one more upgrade, a removal, and purges. cleura-sim replaces Cleura.
set -euo pipefail
config=/etc/shootd/shootd.yaml
url=http://127.0.0.1:8080
cleura=http://127.0.0.1:9090
clusters=$url/v1/projects/team-a/clusters
state=/var/lib/shootd

fail() {
    echo "FAILED: $*" >&2
    journalctl --no-pager -u shootd -n 40 >&2
    exit 1
}
# dpkg has no one to ask about a changed configuration file: the administrator's file stays, as in unattended upgrades.
install_debs() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@" >/dev/null
}
api() { curl -sS -m 60 -H "Authorization: Bearer $token" "$@"; }
send() { api -H 'Content-Type: application/json' "$@"; }
told() { curl -sS -m 10 "$url/version" | jq -r ".$1"; }
serves() {
    for _ in $(seq 100); do
        curl -sS -m 5 -o /dev/null -f "$url/readyz" 2>/dev/null && return
        sleep 0.1
    done
    fail "shootd does not serve"
}

simulator() {
    ! command -v gcc cc make >/dev/null || fail "a compiler is here"
    install_debs /root/debs/cleura-sim_*.deb
    systemd-run --quiet --unit=cleura cleura-sim --listen 127.0.0.1:9090 --speed 720
}

edit_configuration() {
    [ "$(systemctl is-active shootd.service)" = inactive ] || fail "an installation started the service before it was configured"
    sed -i -e 's|^    url: .*|    url: '$cleura'|' -e 's|^    login: .*|    login: demo|' \
        -e 's|^    project_id: .*|    project_id: 00112233445566778899aabbccddeeff|' \
        -e 's|^  allow: .*|  allow: [127.0.0.0/8]|' -e 's|^  allow_http: .*|  allow_http: true|' $config
}

# Runs line by line. The directory contains the result of `make deb`, the first line, from the Debian that builds. The typed text is the password.
deploy_as_readme_says() {
    local line lines
    mkdir -p /root/checkout/build/deb
    cp /root/debs/now/shootd_*.deb /root/checkout/build/deb
    lines=$(awk '/^## / { inside = $0 == "## Deploy"; next } inside && /^    / { print substr($0, 5) }' /root/README.md)
    [[ $lines == 'make deb '*'apt-get install'*'--check-config'*'systemctl enable --now shootd' ]] || fail "README's Deploy has changed: $lines"
    while read -r line; do
        [[ $line != *--check-config* ]] || edit_configuration
        echo "\$ $line"
        (cd /root/checkout && bash -e -c "$line") <<<demo >/root/said 2>&1 || fail "$(cat /root/said)"
    done < <(tail -n +2 <<<"$lines")
    serves
    [ "$(systemctl is-enabled shootd.socket shootd.service | sort -u)" = enabled ] || fail "not both units are enabled"
    [ "$(systemctl is-active shootd.socket shootd.service | sort -u)" = active ] || fail "not both units run"
    token=$(cat $state/admin-token)
}

told_in_journal() { # PATTERN FIELD=VALUE...: waits for it
    for _ in $(seq 100); do
        ! journalctl --no-pager -u shootd -o cat "${@:2}" | grep "$1" || return 0
        sleep 0.1
    done
    fail "the journal has no line '$1'"
}

# The package contains the page, not the answer that explains why there is none.
page() {
    local body file
    body=$(curl -sS -m 10 "$url/")
    grep -q '<div id="app">' <<<"$body" || fail "/ is not the page"
    file=$(grep -o 'dashboard/app-[^"]*\.js' <<<"$body") || fail "the page names no script"
    [ "$(curl -sS -m 10 -o /dev/null -w '%{http_code}' "$url/$file")" = 200 ] || fail "the script of the page"
}

# The process stays; changes are logged and in use; a file with faults changes nothing, and systemctl shows that.
reload() {
    local pid
    pid=$(systemctl show -P MainPID shootd.service)
    grep -q '^  idle: ' $config || fail "the configuration has no polling.idle"
    sed -i 's|^  idle: .*|  idle: 77s|' $config
    systemctl reload shootd || fail "systemctl reload"
    told_in_journal '^configuration reloaded' 'CHANGED=["polling.idle"]'
    [ "$(systemctl show -P StatusText shootd.service)" = serving ] || fail "the status after a reload"
    cp $config /root/good.yaml
    echo 'nonsense: 1' >>$config
    systemctl reload shootd || fail "systemctl reload"
    told_in_journal '^configuration not reloaded'
    systemctl show -P StatusText shootd.service | grep -q 'it has faults' || fail "the status after a reload of a file with faults"
    cp /root/good.yaml $config
    systemctl reload shootd || fail "systemctl reload"
    told_in_journal '^configuration reloaded' 'CHANGED=[]'
    [ "$(systemctl show -P MainPID shootd.service)" = "$pid" ] || fail "a reload is no restart"
    serves
}

# Without the socket unit, `listen` is used; after the service is enabled again, both are.
without_the_socket() {
    sed -i 's|^listen: .*|listen: 127.0.0.1:8081|' $config
    systemctl disable --now shootd.socket 2>/dev/null
    systemctl restart shootd
    url=http://127.0.0.1:8081 serves
    [ "$(systemctl is-active shootd.socket)" = inactive ] || fail "the service started a socket that is disabled"
    systemctl stop shootd
    systemctl enable --now shootd 2>/dev/null
    serves
    [ "$(systemctl is-active shootd.socket shootd.service | sort -u)" = active ] || fail "not both units run again"
}

first_day() {
    install_debs /root/debs/older/shootd_*.deb
    edit_configuration
    install -m 0600 /dev/stdin /etc/shootd/cleura-main <<<demo
    shootd --config $config --check-config | grep -qx 'configuration is valid' || fail "the configuration"
    systemctl enable --now shootd.socket shootd.service 2>/dev/null
    serves
    token=$(cat $state/admin-token)
}

life_of_a_cluster() {
    local operation
    operation=$(send -X POST -d "{\"name\":\"$1\"}" "$clusters" | jq -r .operation.id)
    [ "$(api "$url/v1/operations/$operation?wait=60" | jq -r .status)" = succeeded ] || fail "the create of $1"
    [ "$(api "$clusters/$1" | jq -r .status.phase)" = ready ] || fail "$1 is not ready"
    api "$clusters/$1/kubeconfig?format=yaml" | grep -q '^kind: Config' || fail "no kubeconfig of $1"
}

deletion_of() {
    local operation
    operation=$(api -X DELETE "$clusters/$1" | jq -r .operation.id)
    [ "$(api "$url/v1/operations/$operation?wait=60" | jq -r .status)" = succeeded ] || fail "the delete of $1"
    [ "$(api -o /dev/null -w '%{http_code}' "$clusters/$1")" = 404 ] || fail "$1 is still there"
}

care() {
    local second
    second=$(shootd admin-token --config $config 2>/dev/null)
    [ "$(curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $second" "$url/v1/whoami")" = 200 ] || fail "admin-token"
    shootd check-store --config $config | grep -q '^integrity  ok' || fail "check-store"
    shootd backup --config $config --to /root --with-seal-key >/dev/null || fail "backup"
    journalctl --no-pager -u shootd -o cat | grep -q '^POST /v1/projects/{project}/clusters answered 202' || fail "no line of a write in the journal"
    journalctl --no-pager PROJECT=team-a -o cat | grep -q . || fail "no field PROJECT in the journal"
}

disaster() {
    systemctl stop shootd.socket shootd.service
    rm -f $state/shootd.db* $state/seal.key
    shootd restore --config $config --from /root/shootd-*.db >/dev/null || fail "restore"
    systemctl start shootd.socket shootd.service
    serves
    [ "$(api "$clusters/kept" | jq -r .managed)" = true ] || fail "the cluster after a restore"
}

# The data of the previous version, in addition to clusters: a second token, and a webhook with a delivery and a sealed secret. cleura-sim
# is also the receiver: it answers this request with 204, whatever the body is.
use() {
    second=$(send -X POST -d '{"name": "reader", "role": "viewer", "projects": ["team-a"], "description": "of a page"}' "$url/v1/tokens" | jq -r .token)
    webhook=$url/v1/webhooks/$(send -X POST -d "{\"url\": \"$cleura/_sim/tokens/expire\", \"event_types\": [\"cluster.ready\"]}" "$url/v1/webhooks" | jq -r .id)
    a_test_is_delivered
}

a_test_is_delivered() {
    local delivery
    delivery=$(api -X POST "$webhook/test" | jq -r .id)
    for _ in $(seq 100); do
        api "$webhook/deliveries" | jq -e ".items[] | select(.id == \"$delivery\" and .status == \"delivered\")" >/dev/null && return
        sleep 0.1
    done
    fail "the test of the webhook is not delivered"
}

# The state that an upgrade must not change, as users and the owner see it.
kept() {
    local one
    for one in "$token" "$second"; do curl -sS -m 10 -H "Authorization: Bearer $one" "$url/v1/whoami" | jq -S '[.name, .role, .projects]'; done
    api "$url/v1/tokens" | jq -S '.items[] | [.id, .name, .role, .projects, .description, .created_at, .expires_at]'
    api "$clusters" | jq -S '.items[] | [.id, .name, .managed, .labels, .spec, .created_at]'
    api "$url/v1/operations?status=succeeded" | jq -S '.items[] | [.id, .type, .cluster, .created_at, .finished_at]'
    api "$webhook" | jq -S '[.id, .url, .event_types, .created_at]'
    api "$webhook/deliveries" | jq -S '.items[] | [.id, .event_id, .status, .attempt, .response_status, .created_at]'
    api "$url/v1/events?limit=1000" | jq -S ".items[:$events][]"
    told store_id
    sha256sum $config /etc/shootd/cleura-main
    systemctl is-enabled shootd.socket shootd.service
}

# A client that sends requests continuously, each on a new connection; counts the answers other than 200.
ask_all_the_time() {
    local refused=0 asked=0
    while [ ! -e /root/asked-enough ]; do
        [ "$(curl -s -m 60 -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "$clusters/kept")" = 200 ] || refused=$((refused + 1))
        asked=$((asked + 1))
    done
    echo "$asked requests beside it, $refused without an answer of 200"
    [ $refused = 0 ]
}

upgrade() { # TO: a directory with a package
    local version before pid asking
    version=$(told version) pid=$(systemctl show -P MainPID shootd.service)
    events=$(api "$url/v1/events?limit=1000" | jq '.items | length')
    before=$(kept)
    [ "$(wc -l <<<"$before")" -gt 50 ] || fail "there is nothing that an upgrade could lose: $before"
    ask_all_the_time &
    asking=$!
    install_debs "/root/debs/$1"/shootd_*.deb
    serves
    touch /root/asked-enough
    wait $asking || fail "a client noticed the upgrade"
    rm /root/asked-enough
    [ "$(told version)" != "$version" ] || fail "the old version still runs"
    [ "$(systemctl show -P MainPID shootd.service)" != "$pid" ] || fail "the old process still runs"
    [ "$(systemctl is-active shootd.socket)" = active ] || fail "the socket is closed"
    diff <(echo "$before") <(kept) || fail "the upgrade changed something (< before, > after)"
    a_test_is_delivered
}

# Cleura's clock is stopped: an operation is in progress while the version changes, and continues with the next version.
upgrade_of_the_schema() {
    local older newest copy operation
    older=$(cat /root/debs/older/schema)
    speed 0
    operation=$(send -X POST -d '{"name":"on-its-way"}' "$clusters" | jq -r .operation.id)
    upgrade now
    speed 720
    [ "$(api "$url/v1/operations/$operation?wait=60" | jq -r .status)" = succeeded ] || fail "the create that was on its way"
    newest=$(shootd --version | sed -n 's/^stores of schema 1 to \([0-9]*\);.*/\1/p')
    [ "$newest" -gt "$older" ] || fail "the older version has schema $older, this one $newest"
    shootd check-store --config $config | grep -qx "schema *$newest" || fail "the schema after the upgrade"
    copy=$state/backup-v$older-shootd.db
    [ "$(stat -L -c %a "$copy")" = 600 ] || fail "no copy $copy of the store before the upgrade, or others may read it"
    [ "$(head -c 15 "$copy")" = "SQLite format 3" ] || fail "$copy is no database"
    echo "schema $older -> $newest, $copy is there"
}

speed() { curl -sS -m 10 -o /dev/null -d "{\"speed\": $1}" $cleura/_sim/clock; }

# Program and units are removed; configuration, password and state stay, and the next installation uses them.
removal() {
    local before left
    events=$(api "$url/v1/events?limit=1000" | jq '.items | length')
    before=$(kept)
    DEBIAN_FRONTEND=noninteractive apt-get -qq remove -y shootd >/dev/null
    ! systemctl is-active --quiet shootd.socket shootd.service || fail "it runs after a removal"
    for left in /usr/bin/shootd /lib/systemd/system/shootd.{service,socket}; do [ ! -e "$left" ] || fail "$left is left by a removal"; done
    for left in $state/shootd.db $state/seal.key $config /etc/shootd/cleura-main; do [ -s "$left" ] || fail "$left went with a removal"; done
    install_debs /root/debs/next/shootd_*.deb
    systemctl start shootd.socket shootd.service
    serves
    diff <(echo "$before") <(kept) || fail "the removal changed something (< before, > after)"
}

# Every file with shootd in its name, except this test's own files and those that end with the boot.
files_of_ours() {
    find / -xdev \( -path /root -o -path /tmp/debs -o -path /var/cache/apt -o -path /proc -o -path /sys -o -path /run -o -path /dev \) -prune \
        -o -name '*shootd*' -print
}

purge() { # ANSWER: true removes the state; unanswered: no question is asked
    [ "$1" = unanswered ] || debconf-set-selections <<<"shootd shootd/remove-state boolean $1"
    DEBIAN_FRONTEND=noninteractive apt-get -qq purge -y shootd >/dev/null
    ! systemctl is-active --quiet shootd.service || fail "it runs after a purge"
    for left in $config /usr/bin/shootd /lib/systemd/system/shootd.{service,socket} /etc/systemd/system/*.wants/shootd.* \
        /var/lib/systemd/deb-systemd-helper-enabled/shootd.*; do
        [ ! -e "$left" ] || fail "$left is left by a purge"
    done
    if [ "$1" = true ]; then
        for left in $state /var/lib/private/shootd /etc/shootd; do
            [ ! -e "$left" ] || fail "$left is left by a purge"
        done
        left=$(files_of_ours)
        [ -z "$left" ] || fail "a purge leaves $left"
    else
        [ -s $state/shootd.db ] || fail "the state went with a purge that was to keep it ($1)"
    fi
}

step() {
    echo "---- $*"
    "$@"
}

step simulator
step deploy_as_readme_says
step life_of_a_cluster dev
step page
step reload
step without_the_socket
step deletion_of dev
step purge true
step first_day
step life_of_a_cluster dev
step deletion_of dev
step life_of_a_cluster kept
step use
step upgrade_of_the_schema
step care
step disaster
step upgrade next
step removal
step deletion_of kept
step deletion_of on-its-way
step purge false
install_debs /root/debs/next/shootd_*.deb
step purge unanswered
install_debs /root/debs/next/shootd_*.deb
step purge true
