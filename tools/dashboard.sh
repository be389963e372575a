#!/bin/bash
# Builds the page of dashboard/ into build/dashboard, for tools/embed_dashboard.py. Without npm, or without its registry, that folder
# stays empty, and shootd is built without the page.
#   tools/dashboard.sh auto|required|no      required: whatever is missing is an error
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-auto} out=build/dashboard

leave_out() { # REASON
    if [ "$mode" = required ]; then
        echo "make: the dashboard cannot be built: $1" >&2
        exit 1
    fi
    echo "  the dashboard is left out: $1"
    exit 0
}

rm -rf "$out"
mkdir -p "$out"
[ "$mode" != no ] || leave_out "DASHBOARD=no"
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    leave_out "npm is absent ('apt-get install nodejs npm' installs it)"
fi
if ! [ dashboard/node_modules/.stamp -nt dashboard/package-lock.json ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    # No package's own script runs: esbuild needs none.
    if ! (cd dashboard && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 && touch node_modules/.stamp) >"$log" 2>&1; then
        leave_out "npm ci failed: $(sed -nE 's/^npm (error|ERR!) //p' "$log" | head -1)"
    fi
fi
node dashboard/build.mjs "$out"
