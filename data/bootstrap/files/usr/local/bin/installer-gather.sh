#!/usr/bin/env bash
# installer-gather.sh --id ID [MASTER...]: gathers diagnostic data of this bootstrap into ~/log-bundle-ID.tar.gz (or $TAR_FILE),
# also if the API never started. MASTERs are addresses of control plane machines; the default are those that the API knows.
# Keys, tokens, kubeconfigs and Ignition configs are secrets and stay on the machine.

set -uo pipefail

ID=""
MASTERS=()
while [[ $# -gt 0 ]]; do
    case "$1" in
        --id) ID="${2:?--id needs a value}" && shift 2 ;;
        -*) echo "unknown option $1; installer-gather.sh --id ID [MASTER...]" >&2 && exit 2 ;;
        *) MASTERS+=("$1") && shift ;;
    esac
done
if [[ ! $ID =~ ^[A-Za-z0-9._-]+$ ]]; then
    echo "installer-gather.sh --id ID [MASTER...]: ID may contain letters, digits, dots, underscores and dashes" >&2
    exit 2
fi
TAR_FILE="${TAR_FILE:-$HOME/log-bundle-$ID.tar.gz}"

# All files here belong to root; the bundle belongs to the caller.
if [[ $(id --user) -ne 0 ]]; then
    sudo SSH_AUTH_SOCK="${SSH_AUTH_SOCK:-}" TAR_FILE="$TAR_FILE" "$0" --id "$ID" ${MASTERS[@]+"${MASTERS[@]}"} || exit
    exec sudo chown "$(id --user):$(id --group)" "$TAR_FILE"
fi

. "${BASH_SOURCE[0]%/*}/installer-masters-gather.sh"
. "${BASH_SOURCE[0]%/*}/bootstrap-cluster-gather.sh"

umask 077
ARTIFACTS="/tmp/artifacts-$ID"
rm --recursive --force "$ARTIFACTS"
mkdir -p "$ARTIFACTS"/bootstrap/services "$ARTIFACTS/rendered-assets"
exec > >(tee "$ARTIFACTS/gather.log") 2>&1

echo "Records of the bootstrap services"
cp /var/log/openshift/*.json* "$ARTIFACTS/bootstrap/services/" 2>/dev/null

echo "This machine"
gather_machine "$ARTIFACTS/bootstrap" release-image crio-configure crio containerd kubelet bootkube approve-csr progress ironic ironic-dnsmasq \
    ironic-httpd ironic-ramdisk-logs image-customization master-bmh-update metal3-baremetal-operator sssd
mv "$ARTIFACTS/bootstrap/failed-units.txt" "$ARTIFACTS/bootstrap/unit-status" "$ARTIFACTS/"
[[ ! -d /var/log/bootstrap-control-plane ]] || cp --recursive /var/log/bootstrap-control-plane "$ARTIFACTS/bootstrap/containers/"
if [[ -n $(command -v podman) && -x /usr/bin/crio ]]; then
    mkdir -p "$ARTIFACTS/bootstrap/pods"
    for container in $(podman ps --all --quiet); do
        podman logs "$container" >"$ARTIFACTS/bootstrap/pods/$container.log" 2>&1
    done
fi

# The machine-config-controller and node/os_build also write other files here.
for build in /etc/mcs/bootstrap/os-builds/*/ /var/lib/slipway/os-images/*/; do
    for file in build.json build.log failure.json image.json; do
        [[ ! -s $build$file ]] || install -D --mode=0600 "$build$file" "$ARTIFACTS/bootstrap/os-images/$(basename "$build")/$file"
    done
done
if [[ -d $ARTIFACTS/bootstrap/os-images ]]; then
    echo "Images of the build"
    {
        podman --root=/var/lib/slipway/os-build-storage --runroot=/run/slipway-os-build images --all
        podman --root=/var/lib/slipway/os-build-storage --runroot=/run/slipway-os-build system df
        df --human-readable /var/lib/slipway/os-build-storage /var/lib/slipway/os-images
    } >"$ARTIFACTS/bootstrap/os-images/podman.txt" 2>&1
fi

echo "Rendered files, without secrets"
rendered="$ARTIFACTS/rendered-assets/openshift"
[[ ! -d /opt/openshift ]] || cp --recursive /opt/openshift/. "$rendered"
mkdir -p "$rendered"
find "$rendered" -depth \( -iname '*secret*' -o -name '*kubeconfig*' -o -name '*.key' -o -name '*token*' -o -name '*.ign' -o -name .kube -o -name tls \
    -o -name auth \) -exec rm --recursive --force {} +
# Manifests of Secrets with other file names, and MachineConfigs, whose files and units may contain secrets of users.
grep --recursive --files-with-matches --null --extended-regexp \
    '^("?kind"?|.*"kind"): *"?(Secret|MachineConfig)"?[, }]*($|")|^\{.*"kind": *"(Secret|MachineConfig)"' "$rendered" |
    xargs --null --no-run-if-empty rm --force

cluster_bootstrap_gather "$ARTIFACTS"

if [[ ${#MASTERS[@]} -eq 0 && -s $ARTIFACTS/resources/masters.list ]]; then
    mapfile -t MASTERS <"$ARTIFACTS/resources/masters.list"
fi
# MASTER: runs installer-masters-gather.sh there, with the keys of the caller's SSH agent. Masters generate their host keys, so
# the first one is remembered and required from then on.
gather_master() {
    local folder="$ARTIFACTS/control-plane/$1" options=(-o ConnectTimeout=10 -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=/root/.ssh/known_masters -o BatchMode=yes)
    mkdir -p "$folder" /root/.ssh
    # shellcheck disable=SC2029  # the words are for the other side
    timeout 120 ssh "${options[@]}" "core@$1" "sudo bash -c 'cat >/run/installer-masters-gather.sh; bash /run/installer-masters-gather.sh --id $ID >&2; cat /root/log-bundle-$ID.tar.gz; rm /root/log-bundle-$ID.tar.gz'" \
        <"${BASH_SOURCE[0]%/*}/installer-masters-gather.sh" | tar --extract --gzip --directory="$folder" || echo "$1: data could not be collected"
}
for master in ${MASTERS[@]+"${MASTERS[@]}"}; do
    echo "Control plane machine $master"
    gather_master "$master" &
    masters+=($!)
done
[[ -z ${masters[*]-} ]] || wait "${masters[@]}"

for folder in rendered-assets resources control-plane bootstrap; do
    [[ ! -d $ARTIFACTS/$folder ]] || remove_secrets "$ARTIFACTS/$folder"
done
if [[ -s /var/log/log-bundle-bootstrap.tar.gz ]]; then
    mkdir -p "$ARTIFACTS/log-bundle-bootstrap"
    tar --extract --gzip --file=/var/log/log-bundle-bootstrap.tar.gz --strip-components=1 --directory="$ARTIFACTS/log-bundle-bootstrap"
fi

echo "The bundle is $TAR_FILE"
tar --create --gzip --file="$TAR_FILE.new" --transform="s|^\\.|log-bundle-$ID|" --directory="$ARTIFACTS" . && mv "$TAR_FILE.new" "$TAR_FILE"
status=$?
rm --recursive --force "$ARTIFACTS"
exit "$status"
