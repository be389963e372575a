#!/bin/bash
# Runs every test against the build in $1 (build, build/asan, build/tsan) and sums up:
# cmocka units, then the black-box suites. Last line: N passed, N failed[, N skipped].
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
out=${1:-build}
export BUILD_DIR=$PWD/$out
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0:exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=exitcode=98:halt_on_error=0:suppressions=$PWD/tests/tsan.suppressions
passed=0 failed=0 skipped=0
# Two units at a time; each leaves its output and its exit code.
logs=$(mktemp -d)
units=$(find "$out/tests" -type f -name 'test_*' -perm -u+x 2>/dev/null | sort)
[ "$out" = build ] && units=$(grep -v '^build/[at]san/' <<<"$units")
run_unit() {
    timeout 1500 "$1" >"$2/$(basename "$1").log" 2>&1
    echo $? >"$2/$(basename "$1").rc"
}
export -f run_unit
xargs -r -P 2 -I{} bash -c 'run_unit {} '"$logs" <<<"$units"
for unit in $units; do
    log=$logs/$(basename "$unit").log
    rc=$(cat "$logs/$(basename "$unit").rc")
    p=$(grep -cE '^\[       OK \]' "$log")
    f=$(grep -cE '^\[  FAILED  \] [a-z]' "$log")
    passed=$((passed + p))
    if [ "$rc" -ne 0 ]; then
        [ "$f" -gt 0 ] || f=1
        failed=$((failed + f))
        echo "FAILED $unit (exit $rc)"
        tail -60 "$log"
    else
        echo "ok     ${unit#"$out"/} ($p)"
    fi
done
rm -rf "$logs"
for suite in tests/simulator tests/api; do
    ls $suite/test_*.py >/dev/null 2>&1 || continue
    log=$(mktemp)
    # Tests wait for processes half of their time: several files at a time, each file in one worker.
    timeout 3600 /usr/bin/python3 -m pytest -q -x --maxfail=20 -p no:cacheprovider -rs -n "${TEST_WORKERS:-4}" \
        --dist loadfile "$suite" 2>&1 | tee "$log"
    rc=${PIPESTATUS[0]}
    line=$(tail -3 "$log" | grep -E '(passed|failed|skipped|error)' | tail -1)
    count() { grep -oE "[0-9]+ $1" <<<"$line" | grep -oE '[0-9]+' || echo 0; }
    p=$(count passed) f=$(count failed) e=$(count error) s=$(count skipped)
    passed=$((passed + p)) failed=$((failed + f + e)) skipped=$((skipped + s))
    [ "$rc" = 0 ] || [ $((f + e)) -gt 0 ] || failed=$((failed + 1))
    rm -f "$log"
done
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ]
