#!/bin/bash
# Installs missing packages. `deps.sh run`: packages for building and running, with DASHBOARD=no without those that build only the page;
# `deps.sh test`: also those for the tests;
# `deps.sh fuzz`: those for `make fuzz`; `deps.sh deb`: those for `make deb`. `deps.sh missing run|test|fuzz|deb` only prints
# the missing packages.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # an ordinary user's PATH lacks nginx

run_packages=(gcc libc6-dev make libmicrohttpd-dev libcurl4-openssl-dev libjansson-dev libsqlite3-dev libsodium-dev uuid-dev
    libyaml-dev libsystemd-dev zlib1g-dev libssl-dev libgnutls28-dev libcjose-dev libutf8proc-dev uthash-dev python3 python3-yaml ca-certificates)
test_packages=(libcmocka-dev openssl python3-cryptography python3-pytest python3-pytest-xdist python3-httpx python3-jsonschema python3-prometheus-client systemd faketime e2fsprogs)
deb_packages=(build-essential debhelper dpkg-dev fakeroot lintian)
fuzz_packages=(clang-14 libclang-rt-14-dev python3-httpx)
# Programs that packages from other sources may also provide: the command, and Debian's package for it.
run_commands=(curl:curl jq:jq)
page_commands=(node:nodejs npm:npm)
test_commands=(clang-format:clang-format git:git kubectl:kubernetes-client promtool:prometheus "${page_commands[@]}"
    chromium:chromium chromium-headless-shell:chromium-headless-shell mandoc:mandoc shellcheck:shellcheck nginx:nginx-light valgrind:valgrind)
fuzz_commands=(clang:clang)
deb_commands=(git:git "${page_commands[@]}")

missing() { # run|test|fuzz|deb
    local packages=("${run_packages[@]}") commands=("${run_commands[@]}") one
    [ "$1" != run ] || [ "${DASHBOARD:-}" = no ] || commands+=("${page_commands[@]}")
    [ "$1" != test ] || packages+=("${test_packages[@]}") commands+=("${test_commands[@]}")
    [ "$1" != deb ] || packages+=("${deb_packages[@]}") commands+=("${deb_commands[@]}")
    [ "$1" != fuzz ] || packages+=("${fuzz_packages[@]}") commands+=("${fuzz_commands[@]}")
    for one in "${packages[@]}"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$one" 2>/dev/null)" = installed ] || echo "$one"
    done
    for one in "${commands[@]}"; do
        command -v "${one%%:*}" >/dev/null || echo "${one#*:}"
    done
}

install_packages() {
    local sudo=() page=''
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "These packages are missing, and there is no sudo to install them with. As root:" >&2
            echo "    apt-get update && apt-get install -y --no-install-recommends $*" >&2
            return 1
        fi
        sudo=(sudo)
    fi
    echo "installing: $*"
    if [[ " $* " == *" npm "* ]]; then
        [ "$what" != run ] || page=' (npm brings 400 packages; DASHBOARD=no leaves it and the dashboard out)'
        echo "  this takes some minutes, once$page"
    fi
    # Another apt may be running, for example for `make run` beside `make test` on a new machine.
    local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600)
    # Installing a test tool must not start a service on this machine.
    local policy=/usr/sbin/policy-rc.d
    if ! [ -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee $policy >/dev/null
        "${sudo[@]}" chmod 755 $policy
        # shellcheck disable=SC2064 # with the present values
        trap "${sudo[*]} rm -f $policy" EXIT
    fi
    "${apt[@]}" update
    "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null
}

install_npm() {
    [ tests/js/node_modules/.stamp -nt tests/js/package-lock.json ] && return
    echo "installing: what tests/js/package-lock.json lists, with npm"
    (cd tests/js && npm ci --no-audit --no-fund --silent && touch node_modules/.stamp)
}

what=${1:-}
case "$*" in
run | test | fuzz | deb)
    mapfile -t packages < <(missing "$what")
    [ ${#packages[@]} = 0 ] || install_packages "${packages[@]}"
    [ "$what" != test ] || install_npm
    ;;
"missing run" | "missing test" | "missing fuzz" | "missing deb") missing "$2" ;;
*)
    echo "usage: tools/deps.sh [missing] run|test|fuzz|deb" >&2
    exit 64
    ;;
esac
