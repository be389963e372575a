#!/bin/bash
# Starts cleura-sim and shootd wired together on loopback, prints what to try, stops both on Ctrl-C.
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
trap 'exit 130' INT TERM

wait_for() { # URL PID NAME
    for _ in $(seq 100); do
        curl -fsS -o /dev/null "$1" 2>/dev/null && return
        kill -0 "$2" 2>/dev/null || break
        sleep 0.1
    done
    echo "$3 did not start; its last lines:" >&2
    tail -20 "$dir/$3.log" >&2
    exit 1
}

# 12 simulated minutes of a create pass in about 20 seconds.
build/cleura-sim --listen 127.0.0.1:0 --speed 36 >"$dir/cleura-sim.log" 2>&1 &
sim_pid=$!
for _ in $(seq 50); do
    sim_url=$(sed -n 's/^cleura-sim listening on //p' "$dir/cleura-sim.log")
    [ -n "$sim_url" ] && break
    sleep 0.1
done
wait_for "$sim_url/_sim/healthz" "$sim_pid" cleura-sim

listen=${SHOOTD_LISTEN:-127.0.0.1:8080}
# Pages on loopback may call it: those of its own address, and where they are usually served from while they are made.
port=${listen##*:}
origins=''
for port in $([[ $port =~ ^[0-9]+$ ]] && echo "$port") 3000 5173 8000; do
    origins+="\"http://127.0.0.1:$port\", \"http://localhost:$port\", "
done
install -m 0600 /dev/null "$dir/password"
echo demo >"$dir/password"
cat >"$dir/shootd.yaml" <<YAML
listen: $listen
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
build/shootd --config "$dir/shootd.yaml" >"$dir/shootd.log" 2>&1 &
shootd_pid=$!
url=http://$listen
wait_for "$url/readyz" "$shootd_pid" shootd
token=$(cat "$dir/state/admin-token")

cat <<TEXT

shootd is running:    $url
simulated Cleura:     $sim_url
log:                  $dir/shootd.log
token:                $token

Try it (in another terminal):

  export SHOOTD_URL=$url SHOOTD_TOKEN=$token

  # create a cluster with defaults for everything
  curl -sS -H "Authorization: Bearer \$SHOOTD_TOKEN" -H 'Content-Type: application/json' \\
       -d '{"name":"dev"}' \$SHOOTD_URL/v1/projects/team-a/clusters

  # watch it get ready (about 20 seconds)
  watch -n1 "curl -sS -H 'Authorization: Bearer \$SHOOTD_TOKEN' \$SHOOTD_URL/v1/projects/team-a/clusters/dev | grep -oE '\"(phase|progress|message)\":[^,]*' | head -3"

  # fetch its kubeconfig
  curl -sS -H "Authorization: Bearer \$SHOOTD_TOKEN" \\
       "\$SHOOTD_URL/v1/projects/team-a/clusters/dev/kubeconfig?format=yaml"

  # delete it
  curl -sS -X DELETE -H "Authorization: Bearer \$SHOOTD_TOKEN" \$SHOOTD_URL/v1/projects/team-a/clusters/dev

Ctrl-C stops both.
TEXT
wait -n "$sim_pid" "$shootd_pid" || true
echo "one of the two ended; last lines of the daemon's log:" >&2
tail -20 "$dir/shootd.log" >&2
