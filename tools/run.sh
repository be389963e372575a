#!/bin/bash
# Starts cleura-sim and shootd, connected on loopback, prints commands to try, stops both on Ctrl-C.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d "${TMPDIR:-/tmp}/shootd-run.XXXXXX")
sim_pid='' shootd_pid=''
stop() {
    trap - EXIT INT TERM
    [ -z "$shootd_pid" ] || { kill "$shootd_pid" 2>/dev/null && wait "$shootd_pid" 2>/dev/null; } || true
    [ -z "$sim_pid" ] || { kill "$sim_pid" 2>/dev/null && wait "$sim_pid" 2>/dev/null; } || true
    rm -rf "$dir"
    echo
    echo "stopped"
}
trap stop EXIT
touch "$dir/cleura-sim.log" "$dir/shootd.log" # read before the programs have started
trap 'exit 130' INT TERM
build=${BUILD_DIR:-build}

# Both programs are on this machine, where no proxy is of use. The commands below need the same setting.
proxies='' direct=${no_proxy:-${NO_PROXY:-}}
if [ -n "${http_proxy:-}${all_proxy:-}${ALL_PROXY:-}" ] && [ "$direct" != '*' ]; then
    host=${SHOOTD_LISTEN:-}
    host=${host%:*} host=${host#[} host=${host%]}
    export no_proxy=${direct:+$direct,}127.0.0.1
    [[ ,$no_proxy, == *,"${host:-127.0.0.1}",* ]] || no_proxy+=,$host
    proxies=" no_proxy='${no_proxy//"'"/}'"
fi

# Both programs print their address, so an answer of another process is not mistaken for theirs.
wait_for() { # PID NAME PATTERN PATH; sets url
    for _ in $(seq 300); do
        url=$(sed -n "s,$3,\\1,;T;p;q" "$dir/$2.log")
        [ -n "$url" ] && curl -q -fsS -m 5 -o /dev/null "$url$4" 2>/dev/null && return
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    url=''
}
ready() { # NAME
    [ -n "$url" ] && return
    echo "$1 did not start; its last lines:" >&2
    tail -20 "$dir/$1.log" >&2
    exit 1
}

# 12 simulated minutes of a create pass in about 20 seconds.
"$build/cleura-sim" --listen 127.0.0.1:0 --speed 36 >"$dir/cleura-sim.log" 2>&1 &
sim_pid=$!
wait_for "$sim_pid" cleura-sim '^cleura-sim listening on \(http.*\)' /_sim/healthz
ready cleura-sim
sim_url=$url

install -m 0600 /dev/null "$dir/password"
echo demo >"$dir/password"
start_shootd() { # ADDRESS; sets url, empty when it ended
    # Pages on loopback may call shootd: from its own address, and from the usual addresses of development servers.
    local port=${1##*:} origins=''
    for port in $([[ $port =~ ^[1-9][0-9]*$ ]] && echo "$port") 3000 5173 8000; do
        origins+="\"http://127.0.0.1:$port\", \"http://localhost:$port\", "
    done
    cat >"$dir/shootd.yaml" <<YAML
listen: "$1"
state_dir: $dir/state
accounts:
  - name: main
    cloud: public
    url: $sim_url
    login: demo
    password_file: $dir/password
projects:
  - name: team-a
    account: main
    region: Sto2
    project_id: 00112233445566778899aabbccddeeff
polling: {active: 1s, idle: 5s, discovery: 10s}
webhooks: {allow: [127.0.0.0/8, "::1/128"], allow_http: true}
cors: {origins: [$origins]}
YAML
    "$build/shootd" --config "$dir/shootd.yaml" >"$dir/shootd.log" 2>&1 &
    shootd_pid=$!
    wait_for "$shootd_pid" shootd '.* shootd is ready .*listen=\(http[^ ]*\).*' /readyz
}
taken() { [ -z "$url" ] && grep -q 'Address already in use' "$dir/shootd.log"; }
start_shootd "${SHOOTD_LISTEN:-127.0.0.1:8080}"
note=''
if taken; then
    if [ -n "${SHOOTD_LISTEN:-}" ]; then
        echo "SHOOTD_LISTEN: $SHOOTD_LISTEN is taken by another process; name another address, or none for a free port" >&2
        exit 1
    fi
    note=' (8080 is taken; SHOOTD_LISTEN=ADDRESS:PORT names another one)'
    # Any free port comes last: its number is known too late to allow pages from it.
    for port in $(seq 8081 8099) 0; do
        start_shootd "127.0.0.1:$port"
        taken || break
    done
fi
ready shootd
token=$(cat "$dir/state/admin-token")
# A build without npm, or with DASHBOARD=no, has no page.
page='not in this build (docs/dashboard.md, Build)'
! curl -q -fsS -m 5 -o /dev/null "$url/" 2>/dev/null || page="$url/ (it asks for the token)"

cat <<TEXT

shootd is running:    $url$note
simulated Cleura:     $sim_url
log:                  $dir/shootd.log
token:                $token
dashboard:            $page

Try it (in another terminal):

  export SHOOTD_URL=$url SHOOTD_TOKEN=$token$proxies

  # create a cluster with defaults for everything
  curl -q -sS -m 90 -H "Authorization: Bearer \$SHOOTD_TOKEN" -H 'Content-Type: application/json' \\
       -d '{"name":"dev"}' \$SHOOTD_URL/v1/projects/team-a/clusters

  # how far it is (ready in about 20 seconds)
  curl -q -sS -m 90 -H "Authorization: Bearer \$SHOOTD_TOKEN" \$SHOOTD_URL/v1/projects/team-a/clusters/dev | jq -c '.status | {phase, progress, message}'

  # fetch its kubeconfig
  curl -q -sS -m 90 -H "Authorization: Bearer \$SHOOTD_TOKEN" \\
       "\$SHOOTD_URL/v1/projects/team-a/clusters/dev/kubeconfig?format=yaml"

  # delete it
  curl -q -sS -m 90 -X DELETE -H "Authorization: Bearer \$SHOOTD_TOKEN" \$SHOOTD_URL/v1/projects/team-a/clusters/dev

  # the same with the command line: $build/shootctl help
  $build/shootctl status

Ctrl-C stops both.
TEXT
wait -n "$sim_pid" "$shootd_pid" || true
echo "one of the two ended; last lines of the daemon's log:" >&2
tail -20 "$dir/shootd.log" >&2
