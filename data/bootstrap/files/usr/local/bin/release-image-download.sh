#!/usr/bin/env bash
# Pulls the release image if it is not on the machine. Takes out of it what everything else needs: the lists of its images
# and version, and slipway-node with its libraries. A release of others has no slipway-node; then it comes from another
# image.
#
# systemd cannot restart a unit of type oneshot on failure, so this script retries until it succeeds.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh
RELEASE_IMAGE='{{RELEASE_IMAGE}}'
# One of these images is enough; empty if the release has slipway-node.
read -r -a SLIPWAY_IMAGES <<<'{{SLIPWAY_IMAGES}}'
ISSUE=/etc/issue.d/50_release-image.issue
MOUNTED=/run/release-image
crio() { [[ -x /usr/bin/crio ]]; }

# IMAGE...: succeeds if one of them is on the machine; sets HERE to the first one.
is_here() {
    for HERE in "$@"; do
        if crio; then
            ! podman image exists "$HERE" || return 0
        else
            [[ -z $(ctr --namespace k8s.io images ls --quiet "name==$HERE") ]] || return 0
        fi
    done
    return 1
}

# IMAGE...: pulls the first one that can be pulled; sets HERE to it.
pull() {
    for HERE in "$@"; do
        if crio; then
            ! podman pull --quiet --authfile /root/.docker/config.json "$HERE" || return 0
        else
            ! slipway-pull-image "$HERE" || return 0
        fi
    done
    return 1
}

# MESSAGE: shows it in red at the console, until the image is there.
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

# IMAGE: mounts it; sets SOURCE to the folder.
mount_image() {
    if crio; then
        SOURCE=$(podman image mount "$1")
    else
        mkdir -p "$MOUNTED"
        mountpoint --quiet "$MOUNTED" || ctr --namespace k8s.io images mount "$1" "$MOUNTED" >/dev/null
        SOURCE="$MOUNTED"
    fi
}

# IMAGE
unmount_image() {
    if crio; then
        podman image unmount "$1" >/dev/null
    else
        ctr --namespace k8s.io images unmount --rm "$MOUNTED" >/dev/null
    fi
}

# FROM TO: replaces the file in one step, because running programs may use the old one.
replace() {
    cp --dereference "$1" "$2.new"
    mv --force "$2.new" "$2"
}

# Takes it from $SOURCE; fails if the image has none.
take_slipway_node() {
    local library
    [[ -e $SOURCE/usr/bin/slipway-node ]] || return 1
    for library in "$SOURCE"/usr/lib/slipway/*; do
        replace "$library" "/usr/local/lib/slipway/${library##*/}"
    done
    replace "$SOURCE/usr/bin/slipway-node" /usr/local/bin/slipway-node
}

# STAGE WHAT IMAGE...: retries until one of them is on the machine; sets HERE to it.
obtain() {
    local stage="$1" what="$2" pause=1
    shift 2
    until is_here "$@"; do
        record_service_stage_start "$stage"
        if pull "$@"; then
            record_service_stage_success
            return
        fi
        record_service_stage_failure
        tell_console "The $what $* cannot be pulled; the next try is in $pause s."
        sleep "$pause"
        pause=$((pause < 32 ? pause * 2 : 60))
    done
}

obtain pull-release-image "release image" "$RELEASE_IMAGE"

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
mount_image "$RELEASE_IMAGE"
mkdir -p /opt/openshift /usr/local/bin /usr/local/lib/slipway
for name in image-references release-metadata; do
    replace "$SOURCE/release-manifests/$name" "/opt/openshift/$name"
done
is_taken=false
! take_slipway_node || is_taken=true
unmount_image "$RELEASE_IMAGE"
record_service_stage_success

# Without such an image, slipway-node must be on the machine already.
if [[ $is_taken == false && -n ${SLIPWAY_IMAGES[*]-} ]]; then
    obtain pull-slipway-image "image with slipway-node" "${SLIPWAY_IMAGES[@]}"
    record_service_stage_start unpack-slipway-image
    mount_image "$HERE"
    if ! take_slipway_node; then
        tell_console "The image $HERE has no /usr/bin/slipway-node."
        record_service_stage_failure "$HERE has no /usr/bin/slipway-node"
        exit 1
    fi
    unmount_image "$HERE"
    record_service_stage_success
fi

if [[ -e $ISSUE ]]; then
    rm "$ISSUE"
    agetty --reload || true
fi
