#!/usr/bin/env bash
# Runs the kubelet alone, without an API server: it starts the static pods of /etc/kubernetes/manifests and nothing else.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh

arguments=(--config=/etc/kubernetes/kubelet.conf)
# A machine that is a container needs some settings that older kubelets do not know.
if systemd-detect-virt --container --quiet; then
    arguments+=(--config-dir=/etc/kubernetes/kubelet-container.conf.d)
fi
if [[ -x /usr/bin/crio ]]; then
    arguments+=(--container-runtime-endpoint=unix:///var/run/crio/crio.sock)
fi
# Without it, the kubelet looks its own name up for each pod that it takes on, and an answer that is lost costs five seconds.
address=$(ip -oneline address show scope global | awk '!/ vip/ {sub("/.*", "", $4); print $4; exit}')
if [[ -n $address ]]; then
    arguments+=(--node-ip="$address")
fi
exec /usr/bin/kubelet "${arguments[@]}"
