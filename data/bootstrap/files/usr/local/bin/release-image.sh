#!/usr/bin/env bash
# Other scripts source this file: the release image of this cluster, and the images that it names.

RELEASE_IMAGE='{{RELEASE_IMAGE}}'

# podman sees the images of CRI-O. Machines without CRI-O run containerd.
CONTAINER_RUNTIME=containerd
[[ ! -x /usr/bin/crio ]] || CONTAINER_RUNTIME=crio

# REFERENCE of an image on this machine: prints the reference by digest.
by_digest() {
    local digest
    case "$1" in
        *@sha256:*)
            echo "$1"
            return
            ;;
    esac
    if [[ $CONTAINER_RUNTIME == crio ]]; then
        digest=$(podman inspect --format '{{ .Digest }}' "$1")
    else
        digest=$(ctr --namespace k8s.io images ls "name==$1" | awk 'NR == 2 { print $3 }')
    fi
    case "$digest" in
        sha256:*)
            # If a slash follows the last colon, the colon belongs to a port.
            case "${1##*:}" in
                */*) echo "$1@$digest" ;;
                *) echo "${1%:*}@$digest" ;;
            esac
            ;;
        *)
            echo "$1: the digest is not known, using the name" >&2
            echo "$1"
            ;;
    esac
}

RELEASE_IMAGE_DIGEST=$(by_digest "$RELEASE_IMAGE")

# NAME: prints the image of a component of the release, by digest.
image_for() {
    /usr/local/bin/slipway-node image-for "$1"
}
