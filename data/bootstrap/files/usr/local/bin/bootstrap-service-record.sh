#!/usr/bin/env bash
# Services of the bootstrap machine source this file. It writes /var/log/openshift/SERVICE.json, a JSON array of what a service
# did, for users, installer-gather.sh and "analyze". Sourcing records the start of the service; its exit records the end.
#
#   record_service_stage_start NAME; record_service_stage_success; record_service_stage_failure [MESSAGE]
#
# Set these variables before you source this file: SERVICE_NAME and SERVICE_RECORDS_DIR override the detected values.
# PRE_COMMAND or POST_COMMAND name a script that runs as ExecStartPre or ExecStartPost.
# slipway-node writes the same format itself (src/bootstrap/service_record.h).

set -E
SERVICE_RECORDS_DIR="${SERVICE_RECORDS_DIR:-/var/log/openshift}"
if [[ -z ${SERVICE_NAME:-} ]]; then
    SERVICE_NAME=$(sed -n 's|.*/\([^/]*\)\.service$|\1|p' /proc/self/cgroup | head -n 1)
    SERVICE_NAME="${SERVICE_NAME:-unknown}"
fi
service_record_stage=""
service_record_error_line=""

service_record_escape() {
    tr '\t' ' ' <<<"$1" | tr -d '\000-\011\013-\037' | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }'
}

# NAME VALUE: adds a member to the entry if VALUE is not empty.
service_record_member() {
    [[ -z $2 ]] || service_record_entry+=",\"$1\":\"$(service_record_escape "$2")\""
}

# PHASE RESULT MESSAGE
service_record_add() {
    local file="$SERVICE_RECORDS_DIR/$SERVICE_NAME.json" service_record_entry before="["
    service_record_entry="{\"timestamp\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
    service_record_member preCommand "${PRE_COMMAND:-}"
    service_record_member postCommand "${POST_COMMAND:-}"
    service_record_member stage "$service_record_stage"
    service_record_member phase "$1"
    service_record_member result "$2"
    if [[ $2 == failure ]]; then
        service_record_member errorLine "$service_record_error_line"
        service_record_member errorMessage "${3:-$(journalctl --unit="$SERVICE_NAME.service" --lines=3 --output=cat 2>/dev/null || true)}"
    fi
    mkdir -p "$SERVICE_RECORDS_DIR"
    if [[ -s $file ]]; then
        before=$(<"$file")
        before="${before%]},"
    fi
    printf '%s%s}]\n' "$before" "$service_record_entry" >"$file.new"
    mv "$file.new" "$file"
}

service_record_phase() {
    if [[ -n ${PRE_COMMAND:-} ]]; then
        echo "pre-command $1"
    elif [[ -n ${POST_COMMAND:-} ]]; then
        echo "post-command $1"
    else
        echo "service $1"
    fi
}

record_service_stage_start() {
    if [[ -n $service_record_stage ]]; then
        echo "stage $1: cannot start, because stage $service_record_stage has not ended" >&2
        exit 1
    fi
    service_record_stage="$1"
    service_record_add "stage start" "" ""
}

service_record_end_stage() {
    if [[ -z $service_record_stage ]]; then
        echo "no stage to end: none has started" >&2
        exit 1
    fi
    service_record_add "stage end" "$1" "${2:-}"
    service_record_stage=""
}

record_service_stage_success() {
    service_record_end_stage success
}

record_service_stage_failure() {
    service_record_end_stage failure "${1:-}"
}

service_record_end() {
    local result=success
    [[ $1 -eq 0 ]] || result=failure
    [[ -z $service_record_stage ]] || service_record_end_stage "$result"
    service_record_add "$(service_record_phase end)" "$result" ""
}

trap 'service_record_error_line="line $LINENO, ${FUNCNAME[0]:-main}, ${BASH_SOURCE[0]}"' ERR
trap 'service_record_end $?' EXIT
service_record_add "$(service_record_phase start)" "" ""
