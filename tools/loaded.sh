#!/bin/bash
# Runs the tests beside busy processes: a test that depends on the machine's speed fails here.
#   LOAD=8     busy processes
#   TIMES=3    runs
#   TESTS=...  arguments for pytest in place of `make test`: files, -k, ...
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
load=${LOAD:-8} times=${TIMES:-3}
busy=()
tests=()
eval "tests+=(${TESTS:-})" # quoted as in a shell
stop() { [ ${#busy[@]} = 0 ] || kill "${busy[@]}" 2>/dev/null; }
trap stop EXIT
trap 'exit 130' INT TERM
for _ in $(seq "$load"); do
    (while :; do :; done) &
    busy+=($!)
done
failed=0
for i in $(seq "$times"); do
    echo "== run $i of $times beside a load of $load"
    if [ ${#tests[@]} -gt 0 ]; then
        BUILD_DIR=$PWD/build /usr/bin/python3 -m pytest -q -p no:cacheprovider -n "${TEST_WORKERS:-4}" --dist loadgroup "${tests[@]}"
    else
        tools/test.py build
    fi || failed=$((failed + 1))
done
echo "$((times - failed)) of $times runs passed beside a load of $load"
[ $failed = 0 ]
