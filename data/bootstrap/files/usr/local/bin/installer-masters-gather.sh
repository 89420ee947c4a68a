#!/usr/bin/env bash
# Gathers diagnostic data of a machine. With --id ID it writes /root/log-bundle-ID.tar.gz, which the bootstrap machine
# fetches. If it is sourced, it only defines gather_machine.

# Secrets with a known form: logins in URLs, content of data URLs (files of MachineConfigs), logins of registries, tokens of
# service accounts. `slipway gather` removes others, by value and in more encodings, when it receives the bundle.
readonly -a SECRETS=(
    's#://[^/@[:space:]"]*:[^/@[:space:]"]*@#://***@#g'
    "s#(data:[A-Za-z0-9/+.;=-]*,)[^[:space:]\"'\\\\<>]+#\\1***#g"
    's#("auth": *")[^"]+#\1***#g'
    's#eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+#***#g'
)
readonly HAS_SECRET='://[^/@[:space:]"]*:[^/@[:space:]"]*@|data:[A-Za-z0-9/+.;=-]*,[^[:space:]"]|"auth": *"|eyJ[A-Za-z0-9_-]+\.eyJ'

# Filters standard input: removes these secrets.
redact() {
    LC_ALL=C sed --regexp-extended "${SECRETS[@]/#/--expression=}"
}

# Logs of a container and the state of its processes stay in /var/log/pods after its end.
gather_containers() {
    mkdir -p "$1/containers"
    if command -v crictl >/dev/null; then
        timeout 20 crictl ps --all >"$1/containers/list.txt" 2>&1
    elif command -v ctr >/dev/null; then
        timeout 20 ctr --namespace k8s.io containers ls >"$1/containers/list.txt" 2>&1
        timeout 20 ctr --namespace k8s.io tasks ls >"$1/containers/tasks.txt" 2>&1
        timeout 20 ctr --namespace k8s.io images ls >"$1/containers/images.txt" 2>&1
    fi
    [[ ! -d /var/log/pods ]] || cp --recursive /var/log/pods "$1/containers/logs"
}

# FOLDER UNIT...
gather_machine() {
    local folder="$1" unit
    shift
    mkdir -p "$folder"/{journals,network,unit-status,ostree}
    systemctl list-units --state=failed --no-legend --plain --no-pager >"$folder/failed-units.txt"
    while read -r unit _; do
        systemctl status --full --no-pager "$unit" >"$folder/unit-status/$unit.txt" 2>&1
        journalctl --boot --no-pager --unit="$unit" >"$folder/unit-status/$unit.log" 2>&1
    done <"$folder/failed-units.txt"
    for unit in "$@"; do
        systemctl cat "$unit.service" >/dev/null 2>&1 || continue
        journalctl --boot --no-pager --output=short-precise --unit="$unit.service" >"$folder/journals/$unit.log" 2>&1
    done
    journalctl --boot --no-pager --output=with-unit 2>/dev/null | redact | gzip >"$folder/journals/journal.log.gz"
    ip address >"$folder/network/ip-addr.txt" 2>&1
    ip route >"$folder/network/ip-route.txt" 2>&1
    hostname >"$folder/network/hostname.txt" 2>&1
    ss --all --numeric --tcp --udp --processes >"$folder/network/netstat.txt" 2>&1
    cp --dereference /etc/resolv.conf /etc/hosts "$folder/network/" 2>/dev/null
    if command -v ostree >/dev/null; then
        ostree admin status >"$folder/ostree/status" 2>&1
    fi
    gather_containers "$folder"
    ps -e --format pid,ppid,stat,etime,time,rss,args >"$folder/processes.txt" 2>&1
    df --human-readable >"$folder/disks.txt" 2>&1
}

# FOLDER: removes files with private keys, in plain text or base64, and secrets in other files.
remove_secrets() {
    LC_ALL=C grep --recursive --files-with-matches --null --extended-regexp 'PRIVATE KEY|UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW|client-key-data' "$1" |
        xargs --null --no-run-if-empty rm --force
    LC_ALL=C grep --recursive --files-with-matches --binary-files=without-match --null --extended-regexp "$HAS_SECRET" "$1" |
        LC_ALL=C xargs --null --no-run-if-empty sed --in-place --regexp-extended "${SECRETS[@]/#/--expression=}"
}

main() {
    local id="" folder
    while [[ $# -gt 0 ]]; do
        case "$1" in
            --id) id="${2:?--id needs a value}" && shift 2 ;;
            *) echo "unknown argument $1; installer-masters-gather.sh --id ID" >&2 && exit 2 ;;
        esac
    done
    [[ -n $id ]] || { echo "installer-masters-gather.sh --id ID" >&2 && exit 2; }
    umask 077
    folder="/tmp/artifacts-$id"
    rm --recursive --force "$folder"
    gather_machine "$folder" containerd crio kubelet kubelet-certificate machine-config-daemon-host machine-config-daemon-firstboot pivot sssd
    mkdir -p "$folder/services"
    cp /var/log/openshift/*.json* "$folder/services/" 2>/dev/null
    remove_secrets "$folder"
    tar --create --gzip --file="/root/log-bundle-$id.tar.gz" --directory="$folder" .
    rm --recursive --force "$folder"
    echo "/root/log-bundle-$id.tar.gz"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    main "$@"
fi
