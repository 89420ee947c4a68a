#!/usr/bin/env bash
# Runs the kubelet without an API server. It starts the static pods of /etc/kubernetes/manifests and nothing else.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh

arguments=(--config=/etc/kubernetes/kubelet.conf)
# A machine that is a container needs settings that older kubelets do not know.
if systemd-detect-virt --container --quiet; then
    arguments+=(--config-dir=/etc/kubernetes/kubelet-container.conf.d)
fi
if [[ -x /usr/bin/crio ]]; then
    arguments+=(--container-runtime-endpoint=unix:///var/run/crio/crio.sock)
fi
# The address that was set when the configs were generated, else the first one of the IP family of the Services. Without an
# address the kubelet resolves its own name for each pod, and a lost DNS answer costs five seconds.
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
