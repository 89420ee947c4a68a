#!/usr/bin/env bash
# Sees to it that the release image is here, and takes out of it what everything else starts from: the lists of its images
# and version, and slipway-node with its libraries.
#
# A unit of type oneshot cannot be restarted on failure, so this tries until it works.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh
RELEASE_IMAGE='{{RELEASE_IMAGE}}'
ISSUE=/etc/issue.d/50_release-image.issue
MOUNTED=/run/release-image
crio() { [[ -x /usr/bin/crio ]]; }

is_here() {
    if crio; then
        podman image exists "$RELEASE_IMAGE"
    else
        [[ -n $(ctr --namespace k8s.io images ls --quiet "name==$RELEASE_IMAGE") ]]
    fi
}

pull() {
    if crio; then
        podman pull --quiet --authfile /root/.docker/config.json "$RELEASE_IMAGE"
    else
        ctr --namespace k8s.io images pull --hosts-dir /etc/containerd/certs.d "$RELEASE_IMAGE"
    fi
}

# MESSAGE: what people at the console see, in red, until it works.
tell_console() {
    mkdir -p "${ISSUE%/*}"
    printf '\033[31m%s\033[0m\nMore: journalctl --unit=release-image.service\n' "$1" >"$ISSUE"
    agetty --reload || true
}

architectures() {
    if crio; then
        podman inspect --format '{{ .Architecture }}' "$RELEASE_IMAGE"
    else
        ctr --namespace k8s.io images ls "name==$RELEASE_IMAGE"
    fi
}

mount_image() {
    if crio; then
        SOURCE=$(podman image mount "$RELEASE_IMAGE")
    else
        mkdir -p "$MOUNTED"
        mountpoint --quiet "$MOUNTED" || ctr --namespace k8s.io images mount "$RELEASE_IMAGE" "$MOUNTED" >/dev/null
        SOURCE="$MOUNTED"
    fi
}

unmount_image() {
    if crio; then
        podman image unmount "$RELEASE_IMAGE" >/dev/null
    else
        ctr --namespace k8s.io images unmount --rm "$MOUNTED" >/dev/null
    fi
}

# FROM TO: as one step, since programs that run may be using the old one.
replace() {
    cp --dereference "$1" "$2.new"
    mv --force "$2.new" "$2"
}

pause=1
until is_here; do
    record_service_stage_start pull-release-image
    if pull; then
        record_service_stage_success
        break
    fi
    record_service_stage_failure
    tell_console "The release image $RELEASE_IMAGE cannot be pulled; the next try is in $pause s."
    sleep "$pause"
    pause=$((pause < 32 ? pause * 2 : 60))
done

record_service_stage_start image-metadata-arches-match
case "$(uname -m)" in
    x86_64) machine=amd64 ;;
    aarch64) machine=arm64 ;;
    *) machine=$(uname -m) ;;
esac
if ! architectures | grep --quiet --word-regexp "$machine"; then
    tell_console "The release image $RELEASE_IMAGE is not for this machine, which is $machine."
    record_service_stage_failure "the release image is not for $machine"
    exit 1
fi
record_service_stage_success

record_service_stage_start unpack-release-image
mount_image
mkdir -p /opt/openshift /usr/local/bin /usr/local/lib/slipway
for name in image-references release-metadata; do
    replace "$SOURCE/release-manifests/$name" "/opt/openshift/$name"
done
# A release of others has no slipway-node; then it has to be on the machine already.
if [[ -e $SOURCE/usr/bin/slipway-node ]]; then
    for library in "$SOURCE"/usr/lib/slipway/*; do
        replace "$library" "/usr/local/lib/slipway/${library##*/}"
    done
    replace "$SOURCE/usr/bin/slipway-node" /usr/local/bin/slipway-node
fi
unmount_image
record_service_stage_success

if [[ -e $ISSUE ]]; then
    rm "$ISSUE"
    agetty --reload || true
fi
