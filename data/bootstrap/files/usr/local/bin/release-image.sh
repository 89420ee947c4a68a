#!/usr/bin/env bash
# Sourced by the scripts beside it: the release image of this cluster, and the images that it names.

RELEASE_IMAGE='{{RELEASE_IMAGE}}'

# Where CRI-O runs the pods, podman sees the same images; everywhere else it is containerd.
CONTAINER_RUNTIME=containerd
[[ ! -x /usr/bin/crio ]] || CONTAINER_RUNTIME=crio

# REFERENCE, once the image is here: the same by digest.
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
            # The last colon is a port's when a slash follows.
            case "${1##*:}" in
                */*) echo "$1@$digest" ;;
                *) echo "${1%:*}@$digest" ;;
            esac
            ;;
        *)
            echo "the digest of $1 is not known; going on with the name as it is" >&2
            echo "$1"
            ;;
    esac
}

RELEASE_IMAGE_DIGEST=$(by_digest "$RELEASE_IMAGE")

# NAME: the image of a component of the release, by digest.
image_for() {
    /usr/local/bin/slipway-node image-for "$1"
}
