#!/bin/bash
# Manages Kubernetes clusters on Cleura through shootd, with five verbs. `cleura-shoot.sh --help` has the details. Needs bash, curl and jq.
set -euo pipefail

readonly REFUSED=1 USAGE=2 UNREACHABLE=3 FAILED=4 TIMED_OUT=5

usage() {
    cat <<'TEXT'
cleura-shoot.sh - Kubernetes clusters on Cleura through shootd

  cleura-shoot.sh list
  cleura-shoot.sh create NAME [--kubernetes-version V] [--spec JSON | --spec @FILE] [--wait]
  cleura-shoot.sh wait NAME
  cleura-shoot.sh kubeconfig NAME [--ttl SECONDS] [--output FILE]
  cleura-shoot.sh delete NAME [--wait]

list        list every cluster of the project: name, phase, health, Kubernetes version, message
create      request a cluster; members that --spec leaves out get defaults; --kubernetes-version 1.33 means its newest patch
wait        wait for the end of the cluster's open operation; progress goes to standard error
kubeconfig  write an administrator's kubeconfig to standard output, or to FILE (mode 0600)
delete      delete the cluster; may be repeated

Environment:
  SHOOTD_URL      address of shootd, such as http://127.0.0.1:8080 (needed)
  SHOOTD_TOKEN    a token with the role operator; viewer is enough for list and wait (needed)
  SHOOTD_PROJECT  the project (default: default)
  SHOOTD_TIMEOUT  longest time of wait and --wait in seconds (default: 3600)

Exit codes:
  0  done
  1  shootd refused the request; standard error has the reason and the valid values
  2  wrong usage, or curl or jq is missing
  3  shootd or Cleura cannot be reached now, so try again later; or another server answers at SHOOTD_URL as if it had
     done the work
  4  the operation failed or was cancelled
  5  the time limit was reached; the operation goes on
TEXT
}

die() { # CODE MESSAGE...
    local code=$1
    shift
    printf 'cleura-shoot.sh: %s\n' "$*" >&2
    exit "$code"
}

# ---- requests --------------------------------------------------------------------------------------------------------

# request METHOD PATH [BODY] stores the answer in $answer; any failure ends the program. The token goes through a file descriptor, because
# every user of the machine sees arguments. `-q`: a ~/.curlrc could print the token or change the answer. A token that
# is sent without encryption must not leave the machine, so there is no proxy on loopback.
request() {
    local method=$1 path=$2 status location type
    local more=()
    [[ ! $base/ =~ ^https?://(127(\.[0-9]+){3}|localhost|\[::1])(:[0-9]+)?/ ]] || more+=(--noproxy '*')
    [ $# -lt 3 ] || more+=(-H 'Content-Type: application/json' --data-binary "$3")
    answer=$(curl -q -sS --connect-timeout 10 --max-time 90 -X "$method" ${more[@]+"${more[@]}"} \
        --config <(printf 'header = "Authorization: Bearer %s"\n' "$SHOOTD_TOKEN") \
        -w '\n%{http_code}|%{redirect_url}|%{content_type}' "$base$path") || die "$UNREACHABLE" "shootd does not answer at $base"
    IFS='|' read -r status location type <<<"${answer##*$'\n'}"
    answer=${answer%$'\n'*} type=${type//[^[:print:]]/?} location=${location//[^[:print:]]/?}
    if [ "$status" -lt 400 ]; then
        [ "$status" -ge 300 ] || [ "$(jq -r type <<<"$answer" 2>/dev/null)" != object ] || return 0
        die "$UNREACHABLE" "the answer of $base is not from shootd: HTTP status $status${type:+ with $type}${location:+, to $location}"
    fi
    explain "$status" >&2
    case $status in
    408 | 429 | 500 | 502 | 503 | 504) exit "$UNREACHABLE" ;;
    *) exit "$REFUSED" ;;
    esac
}

# Control characters in texts of an answer (Cleura's, a foreign server's) could rewrite the screen: each becomes `?`, as do the marks
# that turn the direction of a text. Only the kubeconfig stays as it is.
readonly plain='walk(if type == "string" then gsub("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]"; "?") else . end) | '

# Shows the problem in $answer: the fault, its place, the valid values, the advice.
explain() { # STATUS
    jq -er --arg who "cleura-shoot.sh: ${name:+$name: }" "$plain"'if .title and .advice then . else error("no problem") end
        | "\($who)\(.title): \(.detail)",
        (.errors[]? | "  \(.pointer // .parameter // .header // "request"): \(.detail)"
            + (if .valid then " (valid: \(.valid | map(tostring) | join(", ")))" else "" end)),
        "  \(.advice) [\(.request_id)]"' <<<"$answer" 2>/dev/null ||
        printf 'cleura-shoot.sh: HTTP status %s from %s, and no explanation\n' "$1" "$base"
}

get() { # FILTER: of the last answer
    jq -r "$plain$1" <<<"$answer"
}

need() { # MEMBER [raw]: of the last answer; each answer of shootd has it
    local value filter=$plain
    [ "${2:-}" != raw ] || filter=''
    value=$(jq -r "$filter$1 // empty" <<<"$answer" 2>/dev/null)
    [ -n "$value" ] || die "$UNREACHABLE" "the answer of $base is not from shootd: it has no $1"
    printf '%s\n' "$value"
}

# ---- verbs -----------------------------------------------------------------------------------------------------------

list() {
    local cursor='' row='%-16s %-12s %-12s %-9s %s\n' names=(NAME PHASE HEALTH VERSION MESSAGE)
    while :; do
        request GET "$clusters?limit=200${cursor:+&cursor=$cursor}"
        need .items >/dev/null || exit
        # shellcheck disable=SC2059 # the format is the constant above
        [ -n "$cursor" ] || printf "$row" "${names[@]}"
        get '.items[] | [.name, .status.phase, .status.health, .observed.kubernetes_version // .spec.kubernetes_version // "-",
            .status.message // ""] | @tsv' | while IFS=$'\t' read -r name phase health version message; do
            # shellcheck disable=SC2059
            printf "$row" "$name" "$phase" "$health" "$version" "$message"
        done
        cursor=$(get '.next_cursor // "" | @uri')
        [ -n "$cursor" ] || break
    done
}

create() {
    local spec=${option[spec]:-'{}'} body operation
    [ "${spec:0:1}" != @ ] || spec=$(cat -- "${spec:1}") || exit "$USAGE"
    body=$(jq -cn --arg name "$name" --arg version "${option[kubernetes-version]:-}" --argjson spec "$spec" \
        '{$name, spec: ($spec + if $version == "" then {} else {kubernetes_version: $version} end)}' 2>/dev/null) ||
        die "$USAGE" "--spec is not a JSON object: $spec"
    request POST "$clusters" "$body"
    operation=$(need .operation.id) || exit
    printf "%s: accepted as %s\n" "$name" "$operation"
    [ -z "${option[wait]:-}" ] || follow "$operation"
}

delete() {
    local operation
    request DELETE "$clusters/$name"
    operation=$(need .operation.id) || exit
    printf "%s: deletion accepted as %s\n" "$name" "$operation"
    [ -z "${option[wait]:-}" ] || follow "$operation"
}

kubeconfig() {
    local text
    request GET "$clusters/$name/kubeconfig${option[ttl]:+?ttl_seconds=${option[ttl]}}"
    text=$(need .kubeconfig raw) || exit
    if [ -n "${option[output]:-}" ]; then
        (umask 077 && printf '%s\n' "$text" >"${option[output]}") || exit "$USAGE"
    else
        printf '%s\n' "$text"
    fi
}

wait_for() {
    local deadline=$((SECONDS + timeout)) phase
    while :; do
        request GET "$clusters/$name"
        case $(get '.operation.status // "none"') in
        pending | running)
            follow "$(get .operation.id)"
            return
            ;;
        esac
        # shootd has no operation of its own: the phase decides.
        phase=$(need .status.phase) || exit
        case $phase in
        ready | hibernated | degraded)
            printf '%s: %s\n' "$name" "$phase"
            return
            ;;
        failed) die "$FAILED" "$name: failed: $(get '.status.message // "no reason was given"')" ;;
        esac
        [ "$SECONDS" -lt "$deadline" ] || die "$TIMED_OUT" "$name: still $phase after $timeout seconds"
        sleep 5
    done
}

# Waits for one operation; the server delays each answer until the operation ends or 55 seconds pass.
follow() { # OPERATION
    local deadline=$((SECONDS + timeout)) told='' now status left
    while :; do
        left=$((deadline - SECONDS))
        request GET "/v1/operations/$1?wait=$((left < 0 ? 0 : left > 55 ? 55 : left))"
        status=$(need .status) || exit
        now=$(get '"\(.type) \(.progress)%: \(.message // .status)"')
        [ "$now" = "$told" ] || printf '%s: %s\n' "$name" "$now" >&2
        told=$now
        case $status in
        succeeded)
            printf '%s: %s succeeded\n' "$name" "$(get .type)"
            return
            ;;
        failed | cancelled)
            get '.error.upstream_errors[]? | "  \(.code): \(.action)"' >&2
            die "$FAILED" "$name: $(get '"\(.type) \(.status): \(.error.detail // .message // "no reason was given")"')"
            ;;
        esac
        [ "$SECONDS" -lt "$deadline" ] || die "$TIMED_OUT" "$name: $(get .type) still $status after $timeout seconds"
    done
}

# ---- arguments -------------------------------------------------------------------------------------------------------

# Verb: function, whether it takes a name, its options (with = if they take a value).
declare -A verbs=(
    [list]='list no' [create]='create yes kubernetes-version= spec= wait' [wait]='wait_for yes'
    [kubeconfig]='kubeconfig yes ttl= output=' [delete]='delete yes wait')
declare -A option=()
name='' answer=''

case ${1:-} in
-h | --help | help)
    usage
    exit
    ;;
'')
    usage >&2
    exit "$USAGE"
    ;;
esac
[ -n "${verbs[$1]:-}" ] || die "$USAGE" "no verb '$1'; there are list, create, wait, kubeconfig, delete (see --help)"
verb=$1
shift
read -r run takes_name takes <<<"${verbs[$verb]}"
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        usage
        exit
        ;;
    --*)
        key=${1#--}
        if [[ " $takes " == *" $key= "* ]]; then
            [ $# -ge 2 ] || die "$USAGE" "--$key needs a value"
            option[$key]=$2
            shift
        elif [[ " $takes " == *" $key "* ]]; then
            option[$key]=yes
        else
            die "$USAGE" "$verb has no option $1 (see --help)"
        fi
        ;;
    *)
        [ "$takes_name$name" = yes ] || die "$USAGE" "unexpected argument '$1' (see --help)"
        name=$1
        ;;
    esac
    shift
done
[ "$takes_name" = no ] || [ -n "$name" ] || die "$USAGE" "$verb needs the name of a cluster"
# A name is one segment of a path; shootd checks whether it is valid.
[[ $name != *[!a-zA-Z0-9._-]* ]] || die "$USAGE" "'$name' is not a name: only letters, digits, '.', '_' and '-'"

for program in curl jq; do
    command -v "$program" >/dev/null || die "$USAGE" "$program is missing"
done
[ -n "${SHOOTD_URL:-}" ] || die "$USAGE" "SHOOTD_URL is not set"
[ -n "${SHOOTD_TOKEN:-}" ] || die "$USAGE" "SHOOTD_TOKEN is not set"
timeout=${SHOOTD_TIMEOUT:-3600}
[[ $timeout =~ ^[0-9]+$ ]] || die "$USAGE" "SHOOTD_TIMEOUT has to be a number of seconds, not '$timeout'"
base=${SHOOTD_URL%/}
clusters=/v1/projects/${SHOOTD_PROJECT:-default}/clusters

"$run"
