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
# The address that somebody chose when the configs were made, else the first of the family that Services have. Without one, the
# kubelet looks its own name up for each pod that it takes on, and an answer that is lost costs five seconds.
address='{{BOOTSTRAP_NODE_IP}}'
if [[ -n $address ]]; then
    arguments+=(--address="$address")
else
    address=$(ip -{{NODE_IP_FAMILY}} -oneline address show scope global | awk '!/ vip/ {sub("/.*", "", $4); print $4; exit}')
fi
if [[ -n $address ]]; then
    arguments+=(--node-ip="$address")
fi
exec /usr/bin/kubelet "${arguments[@]}"
