#!/bin/bash
# Makes a bare Debian 12 (debootstrap, minbase) and tries the committed checkout in it: `make run` with README's commands,
# README's "Deploy" (only as the user), then `make test`. It does so as root and as an ordinary user. The user first has no sudo, then
# has it, then loses it again. The packages are built in it and installed in a second Debian without compilers, which is booted
# (systemd-nspawn): tools/fresh_boot.sh.
#   STAGE=run|test|packages   only this stage (default: all)
#   AS=root|user              only as this one (default: both)
#   KEEP=1                    keeps build/fresh/root for inspection
# The base system and the packages stay in build/fresh for the next time; `make clean` removes them.
# All mounts are in a separate namespace, and end with its last process.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=$PWD/build/fresh
root=${FRESH_ROOT:-$cache/root}
booted=$cache/booted
suite=bookworm
read -ra stages <<<"${STAGE:-run test packages}"
read -ra people <<<"${AS:-root user}"

say() { printf '\n== fresh: %s (%d s)\n' "$*" $SECONDS; }
refuse() {
    echo "make fresh: $*" >&2
    exit 64
}

[ "$(id -u)" = 0 ] || refuse "needs root: it makes the root file system of a Debian 12 and enters it (sudo make fresh)"
for one in "${stages[@]}"; do [[ $one =~ ^(run|test|packages)$ ]] || refuse "STAGE is run, test or packages, not '$one'"; done
for one in "${people[@]}"; do [[ $one =~ ^(root|user)$ ]] || refuse "AS is root or user, not '$one'"; done

# ---- inside the namespace: enters the root; $2 is the user, $3 the command to run in the checkout-----------------------------

enter() { # USER COMMAND...
    local user=$1 home=/home/$1 path=/usr/local/bin:/usr/bin:/bin
    shift
    [ "$user" != root ] || home=/root path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    local keep=() name
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY npm_config_registry TEST_WORKERS; do
        [ -z "${!name:-}" ] || keep+=("$name=${!name}")
    done
    [ -e "$root/etc/fresh-ca.pem" ] && keep+=(NODE_EXTRA_CA_CERTS=/etc/fresh-ca.pem)
    # shellcheck disable=SC2016 # the inner shell expands it
    chroot --userspec="$user" "$root" env -i "${keep[@]}" HOME="$home" USER="$user" LOGNAME="$user" LANG=C.UTF-8 TERM=dumb \
        PATH=$path bash -c 'cd "$HOME" && { [ ! -d shootd ] || cd shootd; } && exec "$@"' bash "$@"
}

if [ "${1:-}" = --entered ]; then
    mount --bind "$root" "$root" # a machine's root is a mount, too; tests make namespaces from it
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mkdir -p "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    shift
    enter "$@"
    exit
fi
inside() { unshare --mount --propagation private --pid --fork --kill-child "$PWD/tools/fresh.sh" --entered "$@"; }

# ---- the root --------------------------------------------------------------------------------------------------------

# Lines for sources.list: the sources of Debian 12 in this machine's apt.
sources() {
    # shellcheck disable=SC2016 # apt's own placeholders
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        sed -n "s/^Debian ${suite}[a-z-]* \(deb .* main\)\$/\1/p" | sort -u
}

make_base() {
    local mirror
    mirror=$(sources | awk -v suite=$suite '$3 == suite { print $2; exit }')
    [ -n "$mirror" ] || refuse "this machine's apt has no Debian $suite to take packages from"
    if ! command -v debootstrap >/dev/null; then
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
    fi
    say "debootstrap"
    debootstrap --variant=minbase $suite "$root" "$mirror" >"$cache/debootstrap.log" 2>&1 || {
        tail -20 "$cache/debootstrap.log" >&2
        exit 1
    }
    tar -C "$root" --one-file-system -cf "$cache/base.tar.new" .
    mv "$cache/base.tar.new" "$cache/base.tar"
    remove_root
}

remove_root() {
    ! grep -qF " $root/" /proc/self/mounts || refuse "something is mounted below $root; it is not touched"
    rm -rf --one-file-system "$root" "$booted"
}

settings() { # of $root
    sources >"$root/etc/apt/sources.list"
    apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90machine" || true
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp -rL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
    [ ! -r "${NODE_EXTRA_CA_CERTS:-}" ] || cp -L "$NODE_EXTRA_CA_CERTS" "$root/etc/fresh-ca.pem"
}

keep_packages() { cp -lf "$root"/var/cache/apt/archives/*.deb "$cache/archives/" 2>/dev/null || true; }

unpack_base() { # to $root
    mkdir "$root"
    tar -C "$root" -xpf "$cache/base.tar"
    settings
    cp -lf "$cache"/archives/*.deb "$root/var/cache/apt/archives/" 2>/dev/null || true
}

make_root() { # USER
    remove_root
    mkdir -p "$cache/archives"
    [ -e "$cache/base.tar" ] || make_base
    unpack_base
    local home=$root/root
    if [ "$1" != root ]; then
        chroot "$root" useradd -m -s /bin/bash "$1"
        home=$root/home/$1
    fi
    git clone -q . "$home/shootd"
    [ "$1" = root ] || chroot "$root" chown -R "$1:$1" "/home/$1/shootd"
    # The preparation that README requires before its first command.
    inside root apt-get -qq update
    inside root apt-get -qq install -y --no-install-recommends make >/dev/null
}

# ---- the stages ------------------------------------------------------------------------------------------------------

try() { # USER STAGE
    say "$2 as $1"
    inside "$1" tools/fresh_inside.sh "$2" || {
        keep_packages
        say "FAILED: $2 as $1"
        exit 1
    }
    keep_packages
    say "passed: $2 as $1"
}

# A second Debian that can run the packages but not build them. Its only service tries the packages and shuts it down.
make_booted() { # USER: builder of the packages; runs in a separate process, whose root is the second Debian
    local home=$cache/root/home/$1
    [ "$1" != root ] || home=$cache/root/root
    unpack_base
    inside root apt-get -qq update
    inside root apt-get -qq install -y --no-install-recommends systemd-sysv dbus curl jq ca-certificates sudo >/dev/null
    cp "$home/shootd/README.md" "$root/root/"
    cp -r "$home/shootd/build/debs" "$root/root/debs"
    mv "$root"/root/debs/now/cleura-sim_*.deb "$root/root/debs/"
    # For the dependencies of the packages, because the booted Debian has no network.
    cp -r "$root/root/debs" "$root/tmp/debs"
    inside root bash -c 'apt-get -qq install -y --download-only /tmp/debs/cleura-sim_*.deb /tmp/debs/now/shootd_*.deb >/dev/null'
    keep_packages
    install -m 0755 tools/fresh_boot.sh "$root/root/try"
    cat >"$root/etc/systemd/system/try.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash -c '/root/try >/root/log 2>&1; echo $? >/root/result; systemctl poweroff --no-block'
[Install]
WantedBy=multi-user.target
UNIT
    inside root systemctl -q enable try.service
}

boot_packages() { # USER
    local result
    if ! command -v systemd-nspawn >/dev/null; then
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends systemd-container >/dev/null
    fi
    say "boot of the packages that $1 built"
    FRESH_ROOT=$booted "$PWD/tools/fresh.sh" --make-booted "$1"
    timeout 300 systemd-nspawn -q -D "$booted" --boot --register=no --keep-unit --private-network --machine=shootd-fresh </dev/null >"$cache/boot.log" 2>&1 || true
    result=$(cat "$booted/root/result" 2>/dev/null || echo "it did not boot: $(tail -3 "$cache/boot.log")")
    cat "$booted/root/log" 2>/dev/null || true
    [ "$result" = 0 ] || {
        say "FAILED: packages of $1: $result"
        exit 1
    }
    say "passed: the packages of $1, booted"
}

if [ "${1:-}" = --make-booted ]; then
    make_booted "$2"
    exit
fi

mkdir -p "$cache"
[ -n "${KEEP:-}" ] || trap remove_root EXIT
for person in "${people[@]}"; do
    make_root "$person"
    if [ "$person" = user ]; then
        try user refused
        inside root apt-get -qq install -y --no-install-recommends sudo >/dev/null
        echo 'user ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/user"
        chmod 440 "$root/etc/sudoers.d/user"
    fi
    for stage in "${stages[@]}"; do
        try "$person" "$stage"
        [ "$stage" != packages ] || boot_packages "$person"
        if [ "$person $stage" = "user run" ]; then
            inside root apt-get -qq install -y --no-install-recommends systemd >/dev/null
            try user deploy
        fi
    done
    if [ "$person" = user ]; then
        rm "$root/usr/bin/sudo"
        for stage in "${stages[@]}"; do [ "$stage" = packages ] || try user "nothing-$stage"; done
    fi
done
say "all passed: ${stages[*]} as ${people[*]}"
