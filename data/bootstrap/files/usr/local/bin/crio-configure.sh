#!/usr/bin/env bash
# Sets the pause image of the container runtime, which holds the namespaces of pods: the release's "pod", by digest.

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

settings=/etc/containerd/config.toml
configured=$(sed -n 's|^ *sandbox_image *= *"\(.*\)" *$|\1|p' "$settings")
if [[ -z $configured ]]; then
    echo "$settings: no sandbox_image found that could be replaced by $pause_image" >&2
    exit 1
fi
# If the image is on the machine, it gets the configured name. containerd does not have to restart for that.
if [[ -n $(ctr --namespace k8s.io images ls --quiet "name==$pause_image") ]]; then
    ctr --namespace k8s.io images tag --force "$pause_image" "$configured" >/dev/null
    exit 0
fi

# A table of an imported file replaces containerd's own table, so this file repeats the whole table with one value changed.
override=/etc/containerd/conf.d/10-pause-image.toml
wanted=$(sed -e '/^ *#/d' -e '/^imports *=/d' -e "s|^\( *sandbox_image *=\).*|\1 \"$pause_image\"|" "$settings")
if [[ ! -e $override || $(<"$override") != "$wanted" ]]; then
    mkdir -p "${override%/*}"
    (umask 077 && printf '%s\n' "$wanted" >"$override.new") # it has the logins of registries
    mv "$override.new" "$override"
fi
# The daemon creates the socket when it starts.
if [[ $override -nt /run/containerd/containerd.sock ]]; then
    systemctl restart containerd.service
fi
