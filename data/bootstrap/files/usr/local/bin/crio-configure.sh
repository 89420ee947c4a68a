#!/usr/bin/env bash
# Tells the container runtime which image keeps the namespaces of pods: the release's "pod", by digest.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/release-image.sh

pause_image=$(image_for pod)

if [[ $CONTAINER_RUNTIME == crio ]]; then
    mkdir -p /etc/crio/crio.conf.d
    cat >/etc/crio/crio.conf.d/50-bootstrap-override.conf <<EOF
[crio.runtime]
hooks_dir = ["/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d"]

[crio.image]
pause_image = "$pause_image"
pause_command = "/usr/bin/pod"
EOF
    exit 0
fi

# containerd takes a table of an imported file in place of its own, so the whole of it is repeated, with one value changed.
settings=/etc/containerd/config.toml
override=/etc/containerd/conf.d/10-pause-image.toml
socket=/run/containerd/containerd.sock
if ! grep --quiet '^ *sandbox_image *=' "$settings"; then
    echo "$settings names no sandbox_image that could be replaced by $pause_image" >&2
    exit 1
fi
wanted=$(sed -e '/^ *#/d' -e '/^imports *=/d' -e "s|^\( *sandbox_image *=\).*|\1 \"$pause_image\"|" "$settings")
if [[ ! -e $override || $(<"$override") != "$wanted" ]]; then
    mkdir -p "${override%/*}"
    printf '%s\n' "$wanted" >"$override.new"
    mv "$override.new" "$override"
fi
# The socket is as old as the daemon.
if [[ $override -nt $socket ]]; then
    systemctl restart containerd.service
fi
