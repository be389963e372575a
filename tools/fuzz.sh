#!/bin/bash
# fuzz.sh SECONDS TARGET...: runs each fuzz target for SECONDS, two at a time, starting from fuzz/corpus and fuzz/found.
# The first finding stops all, and is reported with the path of its input. New inputs stay in build/fuzz/corpus/TARGET.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
seconds=$1
shift
out=${FUZZ_OUT:-build/fuzz}
mkdir -p "$out/log" "$out/findings"
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1

run_target() { # SECONDS TARGET
    local target=$2 log=$out/log/$2.log seeds=()
    if [ "$target" = requests.py ]; then
        exec /usr/bin/python3 fuzz/requests.py "$1" </dev/null >"$log" 2>&1
    fi
    mkdir -p "$out/corpus/$target"
    for one in fuzz/corpus/$target fuzz/found/$target; do
        [ -d "$one" ] && seeds+=("$one")
    done
    # The fuzzer makes new inputs from the words of the seeds.
    [ ${#seeds[@]} = 0 ] || grep -rohaE '[A-Za-z][A-Za-z0-9_.-]{2,40}' "${seeds[@]}" | sort -u | sed 's/.*/"&"/' >"$out/log/$target.words"
    touch "$out/log/$target.words"
    exec "$out/$target" -max_total_time="$1" -timeout=20 -rss_limit_mb=2048 -max_len=16384 \
        -print_final_stats=1 -artifact_prefix="$out/findings/$target-" -dict="$out/log/$target.words" \
        "$out/corpus/$target" "${seeds[@]}" </dev/null >"$log" 2>&1
}

tell() { # TARGET: prints its figures in one line
    local log=$out/log/$1.log
    if [ "$1" = requests.py ]; then
        tail -1 "$log"
    else
        printf '%-12s %s executions, %s edges, %s inputs\n' "$1" \
            "$(sed -n 's/^stat::number_of_executed_units: //p' "$log")" \
            "$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | cut -d' ' -f2)" \
            "$(grep -oE 'corp: [0-9]+' "$log" | tail -1 | cut -d' ' -f2)"
    fi
}

declare -A running=()
stop_all() {
    [ ${#running[@]} = 0 ] || kill "${!running[@]}" 2>/dev/null
    wait
}
trap 'stop_all; exit 130' INT TERM

wait_for_one() {
    local pid rc
    wait -n -p pid "${!running[@]}"
    rc=$?
    local target=${running[$pid]}
    unset "running[$pid]"
    if [ $rc != 0 ]; then
        stop_all
        tail -60 "$out/log/$target.log"
        echo "FAILED $target (exit $rc): $(grep -oE "$out/findings/[^ ]*" "$out/log/$target.log" | tail -1)"
        echo "replay: $out/$target FILE; once mended, keep the file in fuzz/found/$target"
        exit 1
    fi
    tell "$target"
}

for target in "$@"; do
    [ ${#running[@]} -lt 2 ] || wait_for_one
    run_target "$seconds" "$target" &
    running[$!]=$target
done
while [ ${#running[@]} -gt 0 ]; do
    wait_for_one
done
echo "no finding in $seconds s of each target"
