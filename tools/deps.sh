#!/bin/bash
# Installs the packages that building and testing need; does nothing when all are there.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(gcc make pkg-config libmicrohttpd-dev libcurl4-openssl-dev libjansson-dev libsqlite3-dev libsodium-dev
    libyaml-dev libsystemd-dev zlib1g-dev libssl-dev uuid-dev uthash-dev libcmocka-dev
    clang-format curl openssl python3 python3-cryptography python3-pytest python3-pytest-xdist python3-httpx python3-jsonschema python3-yaml systemd)
# Programs that other packages than Debian's may also provide: by command, with the package that brings it.
declare -A commands=([kubectl]=kubernetes-client [promtool]=prometheus [node]=nodejs [npm]=npm [jq]=jq [chromium]=chromium
    [shellcheck]=shellcheck [nginx]=nginx-light)

missing=()
for p in "${packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
done
for c in "${!commands[@]}"; do
    command -v "$c" >/dev/null || missing+=("${commands[$c]}")
done
if [ ${#missing[@]} -gt 0 ]; then
    sudo=()
    [ "$(id -u)" = 0 ] || sudo=(sudo)
    echo "installing: ${missing[*]}"
    "${sudo[@]}" apt-get update -qq
    # A test tool must not start a service on this machine.
    policy=/usr/sbin/policy-rc.d
    if ! [ -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee $policy >/dev/null
        "${sudo[@]}" chmod 755 $policy
        trap '"${sudo[@]}" rm -f $policy' EXIT
    fi
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
if [ -f tests/js/package.json ] && ! [ tests/js/node_modules/.stamp -nt tests/js/package.json ]; then
    (cd tests/js && npm install --no-audit --no-fund --silent && touch node_modules/.stamp)
fi
